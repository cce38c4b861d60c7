/* otf2_archive.c - the events of an OTF2 archive, through libotf2.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/otf2/otf2_archive.h"

#include "traces/otf2/otf2_library.h"

#include <otf2/otf2.h>
#include <sys/resource.h>

/* Events that are read at a time: few enough that a thousand ranks need
 * little memory; more where the file had to be opened again, for which
 * libotf2 looks at all chunks before the place. */
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
  GArray *batch; /* where callbacks append; borrowed */
} Source;

/* Most recently used first; under the lock of the library. */
static GQueue open_files = G_QUEUE_INIT;

/* A quarter of the descriptors, as others need some. */
static guint
most_open (void)
{
  struct rlimit limit;

  if (getrlimit (RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 4 >= MOST_OPEN)
    return MOST_OPEN;
  return MAX ((guint) (limit.rlim_cur / 4), 1);
}

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
register_callbacks (Source *source)
{
  OTF2_EvtReaderCallbacks *calls = OTF2_EvtReaderCallbacks_New ();

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
  OTF2_Reader_RegisterEvtCallbacks (source->reader, source->events, calls, source);
  OTF2_EvtReaderCallbacks_Delete (calls);
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

/* Numbers of regions and communicators in the events may be the rank's own;
 * its definitions say which ones they are in the archive, and how its clock
 * is to be corrected. */
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

static bool
open_events (Source *source)
{
  OTF2_Reader *reader = source->reader;

  if (OTF2_Reader_SetSerialCollectiveCallbacks (reader) != OTF2_SUCCESS ||
      OTF2_Reader_SelectLocation (reader, source->location) != OTF2_SUCCESS ||
      !read_own_definitions (source) || OTF2_Reader_OpenEvtFiles (reader) != OTF2_SUCCESS)
    return false;
  source->events = OTF2_Reader_GetEvtReader (reader, source->location);
  if (source->events == NULL)
    return false;
  register_callbacks (source);
  return source->position == 0 ||
         OTF2_EvtReader_Seek (source->events, source->position + 1) == OTF2_SUCCESS;
}

/* Under the lock. */
static bool
open_file (Source *source)
{
  while (g_queue_get_length (&open_files) >= most_open ())
    close_file (g_queue_peek_tail (&open_files));
  source->reader = OTF2_Reader_Open (source->anchor);
  if (source->reader == NULL)
    return false;
  source->link.data = source;
  g_queue_push_head_link (&open_files, &source->link);
  if (open_events (source))
    return true;
  close_file (source);
  return false;
}

static void
use_file (Source *source)
{
  g_queue_unlink (&open_files, &source->link);
  g_queue_push_head_link (&open_files, &source->link);
}

/* Under the lock.  Metrics and the like give no records. */
static bool
read_batch (Source *source, gboolean *ended)
{
  guint before = source->batch->len;
  uint64_t wanted = BATCH_EVENTS;

  *ended = FALSE;
  if (source->reader == NULL) {
    wanted = source->position > 0 ? REOPENED_EVENTS : BATCH_EVENTS;
    if (!open_file (source))
      return false;
  }
  use_file (source);
  while (!*ended && source->batch->len == before) {
    uint64_t n = 0;
    OTF2_ErrorCode code = OTF2_Reader_ReadLocalEvents (source->reader, source->events, wanted, &n);

    if (code != OTF2_SUCCESS || otf2_library_failed ())
      return false;
    source->position += n;
    *ended = n < wanted;
  }
  if (*ended)
    close_file (source);
  return true;
}

static gboolean
pull (Otf2Input *input, GArray *records, gboolean *ended, GError **error)
{
  Source *source = (Source *) input;
  g_autofree char *path = otf2_archive_events_path (source->anchor, source->location);
  bool good;

  otf2_library_enter ();
  source->batch = records;
  good = read_batch (source, ended) && !otf2_library_failed ();
  otf2_library_leave (good ? NULL : path, error);
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

  otf2_library_enter ();
  close_file (source);
  otf2_library_leave (NULL, NULL);
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

uint64_t
otf2_archive_position (const Otf2Input *input)
{
  return ((const Source *) input)->position;
}
