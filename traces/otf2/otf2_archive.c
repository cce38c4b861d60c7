/* otf2_archive.c - the files of an OTF2 archive, read through libotf2.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/otf2/otf2_private.h"
#include "traces/format.h"

#include "traces/trace.h"
#include "traces/trace_file.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* --- The lock of libotf2, and its errors --- */

static GMutex library_lock;
/* The first error since library_enter(); later ones come from the callers of
 * the function that failed. */
static char *message;
static OTF2_ErrorCallback previous;

/* The header of libotf2 does not declare the format of its callback. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-attribute=format"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static OTF2_ErrorCode
keep_error (void *data, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
            const char *format, va_list arguments)
{
  (void) data, (void) file, (void) line, (void) function;
  if (message == NULL && (code > OTF2_SUCCESS || code == OTF2_ABORT)) {
    g_autofree char *detail = g_strdup_vprintf (format, arguments);

    message = g_strdup_printf ("%s (%s)", OTF2_Error_GetDescription (code), detail);
  }
  return code;
}
#pragma GCC diagnostic pop

/* One thread at a time is between library_enter() and library_leave().  Errors
 * of libotf2 are kept instead of printed. */
static void
library_enter (void)
{
  g_mutex_lock (&library_lock);
  g_clear_pointer (&message, g_free);
  previous = OTF2_Error_RegisterCallback (keep_error, NULL);
}

/* With a path: sets *error to the error that libotf2 reported; NULL: success. */
static void
library_leave (const char *path, GError **error)
{
  OTF2_Error_RegisterCallback (previous, NULL);
  if (path != NULL)
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: libotf2 cannot read it: %s", path,
                 message != NULL ? message : "no reason is given");
  g_clear_pointer (&message, g_free);
  g_mutex_unlock (&library_lock);
}

/* --- The files, and whether they are whole --- */

/* The marks of the end of a chunk and of a file, the last bytes of files of all
 * versions and writers seen so far; in an anchor a zero follows.  Some tools
 * append a new line. */
static const guint8 end_marks[] = { 2, 1 };

/* The path without ".otf2"; also the folder of the archive. */
static char *
stem_of (const char *anchor)
{
  gsize n = strlen (anchor);

  return g_strndup (anchor, g_str_has_suffix (anchor, ".otf2") ? n - 5 : n);
}

char *
otf2_archive_events_path (const char *anchor, uint64_t location)
{
  g_autofree char *stem = stem_of (anchor);

  return g_strdup_printf ("%s%c%" G_GUINT64_FORMAT ".evt", stem, G_DIR_SEPARATOR, location);
}

char *
otf2_archive_definitions_path (const char *anchor, uint64_t location)
{
  g_autofree char *stem = stem_of (anchor);

  return g_strdup_printf ("%s%c%" G_GUINT64_FORMAT ".def", stem, G_DIR_SEPARATOR, location);
}

char *
otf2_archive_global_path (const char *anchor)
{
  g_autofree char *stem = stem_of (anchor);

  return g_strconcat (stem, ".def", NULL);
}

gboolean
otf2_archive_check_file (const char *path, GError **error)
{
  guint8 tail[4] = { 0 };
  gsize n = sizeof tail;
  FILE *file = g_fopen (path, "rb");
  gboolean good;

  if (file == NULL)
    return TRACE_FAIL (TRACE_ERROR_OPEN, error, "%s: %s", path, g_strerror (errno));
  good = fseek (file, -(long) sizeof tail, SEEK_END) == 0 &&
         fread (tail, 1, sizeof tail, file) == sizeof tail;
  fclose (file);
  n -= tail[n - 1] == '\n';
  n -= tail[n - 1] == '\0';
  good = good && memcmp (tail + n - 2, end_marks, 2) == 0;
  if (!good)
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: is cut short: its end is missing",
                 path);
  return good;
}

/* Offset of the three strings of an anchor (machine, creator, description); the
 * number of properties follows them, in 32 bits. */
#define STRINGS_AT 46
/* An anchor has a few hundred bytes. */
#define ANCHOR_BYTES 65536

/* libotf2 trusts the number of properties: a wrong one keeps it busy for
 * minutes.  A property is two strings. */
gboolean
otf2_archive_check_anchor (const char *path, GError **error)
{
  g_autofree guint8 *anchor = g_malloc (ANCHOR_BYTES);
  gssize n_read = trace_file_head (path, anchor, ANCHOR_BYTES, error);
  gsize n, at = STRINGS_AT;
  guint32 n_properties = 0;
  gboolean good = TRUE;

  if (n_read < 0 || !otf2_archive_check_file (path, error))
    return FALSE;
  n = (gsize) n_read;
  for (guint i = 0; i < 3 && good; i++) {
    const guint8 *end = at < n ? memchr (anchor + at, '\0', n - at) : NULL;

    good = end != NULL;
    if (good)
      at = (gsize) (end - anchor) + 1;
  }
  good = good && n - at >= sizeof n_properties;
  if (good) {
    memcpy (&n_properties, anchor + at, sizeof n_properties);
    n_properties =
        anchor[1] == 'B' ? GUINT32_FROM_LE (n_properties) : GUINT32_FROM_BE (n_properties);
    good = n_properties <= (n - at) / 2;
  }
  if (!good)
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                 "%s: has more properties than it has room for", path);
  return good;
}

/* --- Global definitions --- */

static OTF2_CallbackCode
on_clock (void *data, uint64_t ticks_per_s, uint64_t offset, uint64_t length, uint64_t realtime)
{
  (void) offset, (void) length, (void) realtime;
  otf2_definitions_clock (data, ticks_per_s);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_string (void *data, OTF2_StringRef id, const char *text)
{
  otf2_definitions_string (data, id, text);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_location (void *data, OTF2_LocationRef id, OTF2_StringRef name, OTF2_LocationType type,
             uint64_t n_events, OTF2_LocationGroupRef group)
{
  (void) name, (void) type, (void) n_events, (void) group;
  otf2_definitions_location (data, id);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_region (void *data, OTF2_RegionRef id, OTF2_StringRef name, OTF2_StringRef canonical,
           OTF2_StringRef description, OTF2_RegionRole role, OTF2_Paradigm paradigm,
           OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin, uint32_t end)
{
  (void) canonical, (void) description, (void) role, (void) flags, (void) file;
  (void) begin, (void) end;
  otf2_definitions_region (data, id, name, paradigm == OTF2_PARADIGM_MPI);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_group (void *data, OTF2_GroupRef id, OTF2_StringRef name, OTF2_GroupType type,
          OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t n_members, const uint64_t *members)
{
  (void) name, (void) flags;
  if (paradigm != OTF2_PARADIGM_MPI)
    return OTF2_CALLBACK_SUCCESS;
  if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
    otf2_definitions_mpi_locations (data, members, n_members);
  else if (type == OTF2_GROUP_TYPE_COMM_GROUP || type == OTF2_GROUP_TYPE_COMM_SELF)
    otf2_definitions_mpi_group (data, id, type == OTF2_GROUP_TYPE_COMM_SELF, members, n_members);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_comm (void *data, OTF2_CommRef id, OTF2_StringRef name, OTF2_GroupRef group, OTF2_CommRef parent,
         OTF2_CommFlag flags)
{
  (void) parent, (void) flags;
  otf2_definitions_comm (data, id, name, group);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_intercomm (void *data, OTF2_CommRef id, OTF2_StringRef name, OTF2_GroupRef a, OTF2_GroupRef b,
              OTF2_CommRef common, OTF2_CommFlag flags)
{
  (void) name, (void) a, (void) b, (void) common, (void) flags;
  otf2_definitions_intercomm (data, id);
  return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_window (void *data, OTF2_RmaWinRef id, OTF2_StringRef name, OTF2_CommRef comm,
           OTF2_RmaWinFlag flags)
{
  (void) name, (void) flags;
  otf2_definitions_window (data, id, comm);
  return OTF2_CALLBACK_SUCCESS;
}

/* Registers the callbacks and reads; false on any error of libotf2. */
static bool
read_definitions (OTF2_Reader *reader, Otf2Definitions *definitions, char **creator)
{
  OTF2_GlobalDefReader *global;
  OTF2_GlobalDefReaderCallbacks *calls;
  uint64_t events, own, n;
  char *text = NULL;

  /* Memory of the size of a chunk is asked for each file. */
  if (OTF2_Reader_GetChunkSize (reader, &events, &own) != OTF2_SUCCESS ||
      events > OTF2_CHUNK_SIZE_MAX || own > OTF2_CHUNK_SIZE_MAX ||
      OTF2_Reader_SetSerialCollectiveCallbacks (reader) != OTF2_SUCCESS ||
      OTF2_Reader_GetCreator (reader, &text) != OTF2_SUCCESS)
    return false;
  *creator = g_strdup (text != NULL ? text : "");
  /* libotf2 hands out memory of malloc(). */
  free (text);

  global = OTF2_Reader_GetGlobalDefReader (reader);
  if (global == NULL)
    return false;
  calls = OTF2_GlobalDefReaderCallbacks_New ();
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback (calls, on_clock);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback (calls, on_string);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback (calls, on_location);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback (calls, on_region);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback (calls, on_group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback (calls, on_comm);
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback (calls, on_intercomm);
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback (calls, on_window);
  OTF2_Reader_RegisterGlobalDefCallbacks (reader, global, calls, definitions);
  OTF2_GlobalDefReaderCallbacks_Delete (calls);
  return OTF2_Reader_ReadAllGlobalDefinitions (reader, global, &n) == OTF2_SUCCESS;
}

Otf2Definitions *
otf2_archive_definitions (const char *anchor, char **creator, GError **error)
{
  Otf2Definitions *definitions = otf2_definitions_new ();
  OTF2_Reader *reader;
  bool good;

  *creator = NULL;
  library_enter ();
  reader = OTF2_Reader_Open (anchor);
  good = reader != NULL && read_definitions (reader, definitions, creator);
  if (reader != NULL)
    OTF2_Reader_Close (reader);
  good = good && message == NULL;
  library_leave (good ? NULL : anchor, error);
  if (good)
    return definitions;
  otf2_definitions_free (definitions);
  g_clear_pointer (creator, g_free);
  return NULL;
}

/* --- Events --- */

/* Events read at a time: few enough that a thousand ranks need little memory;
 * more where the file had to be opened again, for which libotf2 goes through all
 * chunks before the position. */
#define BATCH_EVENTS    1024
#define REOPENED_EVENTS 4096
#define MOST_OPEN       128

typedef struct {
  Otf2Input input;
  const char *anchor;
  uint64_t location;
  uint64_t position; /* events read */
  OTF2_Reader *reader;
  OTF2_EvtReader *events;
  GList link;    /* in open_files while reader is set */
  GArray *batch; /* callbacks append to it; borrowed */
} Source;

/* Most recently used first; under the lock of the library. */
static GQueue open_files = G_QUEUE_INIT;

#define ADD(...)                                            \
  do {                                                      \
    Otf2Record record_ = { .ticks = time, __VA_ARGS__ };    \
    g_array_append_val (((Source *) data)->batch, record_); \
    (void) location, (void) position, (void) attributes;    \
    return OTF2_CALLBACK_SUCCESS;                           \
  } while (0)

/* The arguments that all events have. */
#define EVENT                                                                    \
  OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position, void *data, \
      OTF2_AttributeList *attributes

static OTF2_CallbackCode
on_enter (EVENT, OTF2_RegionRef region)
{
  ADD (.kind = OTF2_RECORD_ENTER, .id = region);
}

static OTF2_CallbackCode
on_leave (EVENT, OTF2_RegionRef region)
{
  ADD (.kind = OTF2_RECORD_LEAVE, .id = region);
}

static OTF2_CallbackCode
on_measurement (EVENT, OTF2_MeasurementMode mode)
{
  (void) mode;
  ADD (.kind = OTF2_RECORD_MEASUREMENT);
}

static OTF2_CallbackCode
on_flush (EVENT, OTF2_TimeStamp stop)
{
  ADD (.kind = OTF2_RECORD_FLUSH, .request = stop);
}

static OTF2_CallbackCode
on_send (EVENT, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
  ADD (.kind = OTF2_RECORD_SEND, .id = comm, .peer = receiver, .tag = tag, .bytes = bytes);
}

static OTF2_CallbackCode
on_isend (EVENT, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
          uint64_t request)
{
  ADD (.kind = OTF2_RECORD_ISEND, .id = comm, .peer = receiver, .tag = tag, .bytes = bytes,
       .request = request);
}

static OTF2_CallbackCode
on_isend_complete (EVENT, uint64_t request)
{
  ADD (.kind = OTF2_RECORD_ISEND_COMPLETE, .request = request);
}

static OTF2_CallbackCode
on_recv (EVENT, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
  ADD (.kind = OTF2_RECORD_RECV, .id = comm, .peer = sender, .tag = tag, .bytes = bytes);
}

static OTF2_CallbackCode
on_irecv_request (EVENT, uint64_t request)
{
  ADD (.kind = OTF2_RECORD_IRECV_POST, .request = request);
}

static OTF2_CallbackCode
on_irecv (EVENT, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
  ADD (.kind = OTF2_RECORD_IRECV_COMPLETE, .id = comm, .peer = sender, .tag = tag, .bytes = bytes,
       .request = request);
}

static OTF2_CallbackCode
on_tested (EVENT, uint64_t request)
{
  ADD (.kind = OTF2_RECORD_TESTED, .request = request);
}

static OTF2_CallbackCode
on_cancelled (EVENT, uint64_t request)
{
  ADD (.kind = OTF2_RECORD_CANCELLED, .request = request);
}

static OTF2_CallbackCode
on_collective_begin (EVENT)
{
  ADD (.kind = OTF2_RECORD_COLLECTIVE_BEGIN);
}

static OTF2_CallbackCode
on_collective_end (EVENT, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
                   uint64_t received)
{
  ADD (.kind = OTF2_RECORD_COLLECTIVE, .op = op, .id = comm, .peer = root, .bytes = sent,
       .recv_bytes = received);
}

static OTF2_CallbackCode
on_collective_request (EVENT, uint64_t request)
{
  ADD (.kind = OTF2_RECORD_COLLECTIVE_POST, .request = request);
}

static OTF2_CallbackCode
on_collective_complete (EVENT, OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root,
                        uint64_t sent, uint64_t received, uint64_t request)
{
  ADD (.kind = OTF2_RECORD_COLLECTIVE_COMPLETE, .op = op, .id = comm, .peer = root, .bytes = sent,
       .recv_bytes = received, .request = request);
}

static OTF2_CallbackCode
on_rma_collective_end (EVENT, OTF2_CollectiveOp op, OTF2_RmaSyncLevel level, OTF2_RmaWinRef window,
                       uint32_t root, uint64_t sent, uint64_t received)
{
  (void) level, (void) root, (void) sent, (void) received;
  ADD (.kind = OTF2_RECORD_RMA_COLLECTIVE, .op = op, .id = window);
}

static OTF2_CallbackCode
on_rma_put (EVENT, OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes, uint64_t matching)
{
  (void) matching;
  ADD (.kind = OTF2_RECORD_RMA_PUT, .id = window, .peer = remote, .bytes = bytes);
}

static OTF2_CallbackCode
on_rma_get (EVENT, OTF2_RmaWinRef window, uint32_t remote, uint64_t bytes, uint64_t matching)
{
  (void) matching;
  ADD (.kind = OTF2_RECORD_RMA_GET, .id = window, .peer = remote, .recv_bytes = bytes);
}

static OTF2_CallbackCode
on_rma_atomic (EVENT, OTF2_RmaWinRef window, uint32_t remote, OTF2_RmaAtomicType type,
               uint64_t sent, uint64_t received, uint64_t matching)
{
  (void) type, (void) matching;
  ADD (.kind = OTF2_RECORD_RMA_ATOMIC, .id = window, .peer = remote, .bytes = sent,
       .recv_bytes = received);
}

static OTF2_CallbackCode
on_rma_complete (EVENT, OTF2_RmaWinRef window, uint64_t matching)
{
  (void) matching;
  ADD (.kind = OTF2_RECORD_RMA_FLUSH, .id = window);
}

static OTF2_CallbackCode
on_rma_unlock (EVENT, OTF2_RmaWinRef window, uint32_t remote, uint64_t lock)
{
  (void) lock;
  ADD (.kind = OTF2_RECORD_RMA_UNLOCK, .id = window, .peer = remote);
}

static OTF2_CallbackCode
on_rma_group_sync (EVENT, OTF2_RmaSyncLevel level, OTF2_RmaWinRef window, OTF2_GroupRef group)
{
  (void) level, (void) group;
  ADD (.kind = OTF2_RECORD_RMA_GROUP_SYNC, .id = window);
}

static OTF2_CallbackCode
on_rma_wait (EVENT, OTF2_RmaWinRef window)
{
  ADD (.kind = OTF2_RECORD_RMA_WAIT, .id = window);
}

static void
close_file (Source *source)
{
  if (source->reader == NULL)
    return;
  g_queue_unlink (&open_files, &source->link);
  if (source->events != NULL)
    OTF2_Reader_CloseEvtReader (source->reader, source->events);
  OTF2_Reader_CloseEvtFiles (source->reader);
  OTF2_Reader_Close (source->reader);
  source->reader = NULL;
  source->events = NULL;
}

/* Numbers of regions and communicators in the events may be the rank's own; its
 * definitions map them to those of the archive, and correct its clock. */
static bool
read_own_definitions (Source *source)
{
  g_autofree char *path = otf2_archive_definitions_path (source->anchor, source->location);
  OTF2_DefReader *definitions;
  uint64_t n;
  bool good;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return true;
  if (OTF2_Reader_OpenDefFiles (source->reader) != OTF2_SUCCESS)
    return false;
  definitions = OTF2_Reader_GetDefReader (source->reader, source->location);
  good = definitions != NULL &&
         OTF2_Reader_ReadAllLocalDefinitions (source->reader, definitions, &n) == OTF2_SUCCESS;
  if (definitions != NULL)
    OTF2_Reader_CloseDefReader (source->reader, definitions);
  OTF2_Reader_CloseDefFiles (source->reader);
  return good;
}

/* Opens the events and goes to the position. */
static bool
open_file (Source *source)
{
  guint most_open = MOST_OPEN;
  struct rlimit limit;
  OTF2_Reader *reader;
  OTF2_EvtReaderCallbacks *calls;

  /* A quarter of the descriptors, as other parts of the program need some. */
  if (getrlimit (RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 4 < MOST_OPEN)
    most_open = MAX ((guint) (limit.rlim_cur / 4), 1);
  while (g_queue_get_length (&open_files) >= most_open)
    close_file (g_queue_peek_tail (&open_files));
  source->reader = reader = OTF2_Reader_Open (source->anchor);
  if (reader == NULL)
    return false;
  source->link.data = source;
  g_queue_push_head_link (&open_files, &source->link);

  if (OTF2_Reader_SetSerialCollectiveCallbacks (reader) == OTF2_SUCCESS &&
      OTF2_Reader_SelectLocation (reader, source->location) == OTF2_SUCCESS &&
      read_own_definitions (source) && OTF2_Reader_OpenEvtFiles (reader) == OTF2_SUCCESS)
    source->events = OTF2_Reader_GetEvtReader (reader, source->location);
  if (source->events == NULL) {
    close_file (source);
    return false;
  }

  calls = OTF2_EvtReaderCallbacks_New ();
#define ON(event, function) OTF2_EvtReaderCallbacks_Set##event##Callback (calls, function)
  ON (Enter, on_enter);
  ON (Leave, on_leave);
  ON (MeasurementOnOff, on_measurement);
  ON (BufferFlush, on_flush);
  ON (MpiSend, on_send);
  ON (MpiIsend, on_isend);
  ON (MpiIsendComplete, on_isend_complete);
  ON (MpiRecv, on_recv);
  ON (MpiIrecvRequest, on_irecv_request);
  ON (MpiIrecv, on_irecv);
  ON (MpiRequestTest, on_tested);
  ON (MpiRequestCancelled, on_cancelled);
  ON (MpiCollectiveBegin, on_collective_begin);
  ON (MpiCollectiveEnd, on_collective_end);
  ON (NonBlockingCollectiveRequest, on_collective_request);
  ON (NonBlockingCollectiveComplete, on_collective_complete);
  ON (RmaCollectiveEnd, on_rma_collective_end);
  ON (RmaPut, on_rma_put);
  ON (RmaGet, on_rma_get);
  ON (RmaAtomic, on_rma_atomic);
  ON (RmaOpCompleteBlocking, on_rma_complete);
  ON (RmaReleaseLock, on_rma_unlock);
  ON (RmaGroupSync, on_rma_group_sync);
  ON (RmaWaitChange, on_rma_wait);
#undef ON
  OTF2_Reader_RegisterEvtCallbacks (reader, source->events, calls, source);
  OTF2_EvtReaderCallbacks_Delete (calls);
  if (source->position == 0 ||
      OTF2_EvtReader_Seek (source->events, source->position + 1) == OTF2_SUCCESS)
    return true;
  close_file (source);
  return false;
}

/* Other events, such as metrics, give no records. */
static gboolean
pull (Otf2Input *input, GArray *records, gboolean *ended, GError **error)
{
  Source *source = (Source *) input;
  g_autofree char *path = otf2_archive_events_path (source->anchor, source->location);
  guint before = records->len;
  uint64_t wanted;
  bool good;

  library_enter ();
  wanted = source->reader == NULL && source->position > 0 ? REOPENED_EVENTS : BATCH_EVENTS;
  source->batch = records;
  *ended = FALSE;
  good = source->reader != NULL || open_file (source);
  if (good) {
    g_queue_unlink (&open_files, &source->link);
    g_queue_push_head_link (&open_files, &source->link);
  }
  while (good && !*ended && records->len == before) {
    uint64_t n = 0;
    OTF2_ErrorCode code = OTF2_Reader_ReadLocalEvents (source->reader, source->events, wanted, &n);

    good = code == OTF2_SUCCESS && message == NULL;
    source->position += n;
    *ended = good && n < wanted;
  }
  if (*ended)
    close_file (source);
  good = good && message == NULL;
  library_leave (good ? NULL : path, error);
  return good;
}

static Otf2Input *
fork_input (Otf2Input *input)
{
  Source *source = (Source *) input;
  Source *copy = (Source *) otf2_archive_input (source->anchor, source->location);

  copy->position = source->position;
  return &copy->input;
}

static void
free_input (Otf2Input *input)
{
  Source *source = (Source *) input;

  library_enter ();
  close_file (source);
  library_leave (NULL, NULL);
  g_free (source);
}

Otf2Input *
otf2_archive_input (const char *anchor, uint64_t location)
{
  Source *source = g_new0 (Source, 1);

  source->input = (Otf2Input){ pull, fork_input, free_input };
  source->anchor = anchor;
  source->location = location;
  return &source->input;
}
