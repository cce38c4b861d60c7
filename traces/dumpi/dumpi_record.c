/* dumpi_record.c - the bytes of a DUMPI record into its meaningful arguments.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A record is: u2 id, u1 mask, then by the mask [0x40] u2 thread, [4] processor
 * times, [8] wall times, [0x80] performance counters; then the arguments, in
 * the order of the call's layout string.  Letters of a layout:
 *
 *   lower and upper case letters   an argument with a role, see fields[]
 *   1 2 4 8                        a number of so many bytes without one
 *   i j e                          an array of 4-, 1-, 2-byte numbers without one
 *   a S W                          a string, an array, an array of arrays of them
 *   ( )                            only on the root of the call
 *   v I K                          layouts that changed between versions */
#include "traces/dumpi/dumpi_format.h"

#include <string.h>

enum {
  MASK_STATUSES = 0x03,
  MASK_CPU = 0x04,
  MASK_WALL = 0x08,
  MASK_THREAD = 0x40,
  MASK_COUNTERS = 0x80
};

#define NO_SLOT       0xff
#define NS_PER_SECOND 1000000000u

typedef enum {
  FIELD_NONE,
  FIELD_U1,
  FIELD_U2,
  FIELD_I4,
  FIELD_I8,
  FIELD_ARRAY_U1,
  FIELD_ARRAY_U2,
  FIELD_ARRAY_I4,
  FIELD_ARRAY2_I4,
  FIELD_STRING,
  FIELD_ARRAY_STRING,
  FIELD_ARRAY2_STRING,
  FIELD_STATUS,
  FIELD_ARGV,        /* argc stood twice before 0.6.2 */
  FIELD_INDICES,     /* one number before 0.6.9 */
  FIELD_COORDINATES, /* one number before 0.6.8 */
} FieldType;

typedef struct {
  uint8_t type; /* FieldType */
  uint8_t slot; /* DumpiScalar or DumpiArray */
} Field;

static const Field fields[128] = {
  ['n'] = { FIELD_I4, DUMPI_COUNT },
  ['d'] = { FIELD_U2, DUMPI_TYPE },
  ['p'] = { FIELD_I4, DUMPI_PEER },
  ['t'] = { FIELD_I4, DUMPI_TAG },
  ['c'] = { FIELD_U2, DUMPI_COMM },
  ['r'] = { FIELD_I4, DUMPI_REQUEST },
  ['o'] = { FIELD_I4, DUMPI_ROOT },
  ['m'] = { FIELD_I4, DUMPI_RANK },
  ['N'] = { FIELD_I4, DUMPI_RECV_COUNT },
  ['D'] = { FIELD_U2, DUMPI_RECV_TYPE },
  ['P'] = { FIELD_I4, DUMPI_RECV_PEER },
  ['T'] = { FIELD_I4, DUMPI_RECV_TAG },
  ['k'] = { FIELD_U2, DUMPI_NEW_COMM },
  ['g'] = { FIELD_U2, DUMPI_GROUP },
  ['h'] = { FIELD_U2, DUMPI_GROUP2 },
  ['q'] = { FIELD_U2, DUMPI_NEW_GROUP },
  ['u'] = { FIELD_U2, DUMPI_WINDOW },
  ['f'] = { FIELD_I4, DUMPI_FLAG },
  ['x'] = { FIELD_I4, DUMPI_INDEX },
  ['l'] = { FIELD_I4, DUMPI_COLOR },
  ['y'] = { FIELD_I4, DUMPI_KEY },
  ['b'] = { FIELD_I4, DUMPI_BLOCK_LENGTH },
  ['w'] = { FIELD_U2, DUMPI_NEW_TYPE },
  ['R'] = { FIELD_ARRAY_I4, DUMPI_REQUESTS },
  ['X'] = { FIELD_ARRAY_I4, DUMPI_INDICES },
  ['A'] = { FIELD_ARRAY_I4, DUMPI_VALUES },
  ['B'] = { FIELD_ARRAY_I4, DUMPI_VALUES2 },
  ['J'] = { FIELD_ARRAY2_I4, DUMPI_VALUES },
  ['L'] = { FIELD_ARRAY_I4, DUMPI_COUNTS },
  ['M'] = { FIELD_ARRAY_I4, DUMPI_RECV_COUNTS },
  ['U'] = { FIELD_ARRAY_U2, DUMPI_TYPES },
  ['V'] = { FIELD_ARRAY_U2, DUMPI_RECV_TYPES },
  ['s'] = { FIELD_STATUS, NO_SLOT },
  ['1'] = { FIELD_U1, NO_SLOT },
  ['2'] = { FIELD_U2, NO_SLOT },
  ['4'] = { FIELD_I4, NO_SLOT },
  ['8'] = { FIELD_I8, NO_SLOT },
  ['i'] = { FIELD_ARRAY_I4, NO_SLOT },
  ['j'] = { FIELD_ARRAY_U1, NO_SLOT },
  ['e'] = { FIELD_ARRAY_U2, NO_SLOT },
  ['a'] = { FIELD_STRING, NO_SLOT },
  ['S'] = { FIELD_ARRAY_STRING, NO_SLOT },
  ['W'] = { FIELD_ARRAY2_STRING, NO_SLOT },
  ['v'] = { FIELD_ARGV, NO_SLOT },
  ['I'] = { FIELD_INDICES, NO_SLOT },
  ['K'] = { FIELD_COORDINATES, NO_SLOT },
};

static const guint8 *
take (DumpiReader *reader, gsize n)
{
  static const guint8 nothing[8];

  if (reader->failed || reader->end - reader->at < n) {
    reader->failed = TRUE;
    return nothing;
  }
  reader->at += n;
  return reader->data + reader->at - n;
}

uint8_t
dumpi_read_u1 (DumpiReader *reader)
{
  return *take (reader, 1);
}

uint16_t
dumpi_read_u2 (DumpiReader *reader)
{
  const guint8 *bytes = take (reader, 2);

  return (uint16_t) (bytes[0] << 8 | bytes[1]);
}

uint32_t
dumpi_read_u4 (DumpiReader *reader)
{
  const guint8 *bytes = take (reader, 4);

  return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 |
         bytes[3];
}

int32_t
dumpi_read_i4 (DumpiReader *reader)
{
  return (int32_t) dumpi_read_u4 (reader);
}

int64_t
dumpi_read_i8 (DumpiReader *reader)
{
  uint64_t high = dumpi_read_u4 (reader);

  return (int64_t) (high << 32 | dumpi_read_u4 (reader));
}

void
dumpi_skip (DumpiReader *reader, int32_t n, gsize element_bytes)
{
  if (n < 0 || (reader->end - reader->at) / element_bytes < (gsize) n)
    reader->failed = TRUE;
  else
    reader->at += (gsize) n * element_bytes;
}

/* The count of an array whose elements take at least so many bytes; 0 when
 * so many cannot follow. */
static int32_t
read_array_count (DumpiReader *reader, gsize element_bytes)
{
  int32_t n = dumpi_read_i4 (reader);

  if (n < 0 || (reader->end - reader->at) / element_bytes < (gsize) n)
    reader->failed = TRUE;
  return reader->failed ? 0 : n;
}

static void
read_array (DumpiReader *reader, GArray *array, gsize element_bytes)
{
  int32_t n = read_array_count (reader, element_bytes);

  for (int32_t i = 0; i < n; i++) {
    int32_t value = element_bytes == 2 ? dumpi_read_u2 (reader) : dumpi_read_i4 (reader);

    g_array_append_val (array, value);
  }
}

static void
skip_array (DumpiReader *reader, gsize element_bytes)
{
  dumpi_skip (reader, dumpi_read_i4 (reader), element_bytes);
}

static void
skip_strings (DumpiReader *reader)
{
  int32_t n = read_array_count (reader, 4);

  for (int32_t i = 0; i < n && !reader->failed; i++)
    skip_array (reader, 1);
}

static void
read_statuses (DumpiReader *reader, uint32_t version, GArray *statuses)
{
  gboolean tagged = version >= DUMPI_VERSION (0, 6, 3);
  int32_t n = read_array_count (reader, tagged ? 14 : 10);

  for (int32_t i = 0; i < n; i++) {
    DumpiStatus status;

    dumpi_read_i4 (reader);
    status.source = dumpi_read_i4 (reader);
    status.cancelled = dumpi_read_u1 (reader) != 0;
    dumpi_read_u1 (reader);
    if (tagged)
      dumpi_read_i4 (reader);
    g_array_append_val (statuses, status);
  }
}

/* One number in old versions, an array since. */
static void
skip_array_since (DumpiReader *reader, uint32_t version, uint32_t since)
{
  if (version < since)
    dumpi_read_i4 (reader);
  else
    skip_array (reader, 4);
}

static void
read_array_field (DumpiReader *reader, Field field, gsize element_bytes, DumpiRecord *record)
{
  if (field.slot == NO_SLOT)
    skip_array (reader, element_bytes);
  else
    read_array (reader, record->array[field.slot], element_bytes);
}

static void
read_scalar (DumpiReader *reader, Field field, DumpiRecord *record)
{
  int32_t value;

  switch (field.type) {
  case FIELD_U1: value = dumpi_read_u1 (reader); break;
  case FIELD_U2: value = dumpi_read_u2 (reader); break;
  default: value = dumpi_read_i4 (reader); break;
  }
  if (field.slot != NO_SLOT)
    record->scalar[field.slot] = value;
}

/* i4[][] and str[][]: each inner array has its own count. */
static void
read_nested (DumpiReader *reader, Field field, DumpiRecord *record)
{
  int32_t n = read_array_count (reader, 4);

  for (int32_t i = 0; i < n && !reader->failed; i++)
    if (field.type == FIELD_ARRAY2_STRING)
      skip_strings (reader);
    else
      read_array_field (reader, field, 4, record);
}

static void
read_field (DumpiReader *reader, uint32_t version, gboolean statuses, Field field,
            DumpiRecord *record)
{
  switch ((FieldType) field.type) {
  case FIELD_U1:
  case FIELD_U2:
  case FIELD_I4: read_scalar (reader, field, record); break;
  case FIELD_I8: dumpi_read_i8 (reader); break;
  case FIELD_ARRAY_U1: read_array_field (reader, field, 1, record); break;
  case FIELD_ARRAY_U2: read_array_field (reader, field, 2, record); break;
  case FIELD_ARRAY_I4: read_array_field (reader, field, 4, record); break;
  case FIELD_STRING: skip_array (reader, 1); break;
  case FIELD_ARRAY_STRING: skip_strings (reader); break;
  case FIELD_ARRAY2_I4:
  case FIELD_ARRAY2_STRING: read_nested (reader, field, record); break;
  case FIELD_STATUS:
    if (statuses)
      read_statuses (reader, version, record->statuses);
    break;
  case FIELD_ARGV:
    if (version < DUMPI_VERSION (0, 6, 2))
      dumpi_read_i4 (reader);
    skip_strings (reader);
    break;
  case FIELD_INDICES: skip_array_since (reader, version, DUMPI_VERSION (0, 6, 9)); break;
  case FIELD_COORDINATES: skip_array_since (reader, version, DUMPI_VERSION (0, 6, 8)); break;
  case FIELD_NONE: g_assert_not_reached ();
  }
}

static void
read_arguments (DumpiReader *reader, uint32_t version, gboolean statuses, DumpiRecord *record)
{
  const char *letter = dumpi_calls[record->id].layout;

  for (; *letter != '\0' && !reader->failed; letter++)
    if (*letter == '(') {
      if (record->scalar[DUMPI_RANK] != record->scalar[DUMPI_ROOT])
        letter = strchr (letter, ')');
    } else if (*letter != ')')
      read_field (reader, version, statuses, fields[(guint8) *letter], record);
}

static DumpiTime
read_time (DumpiReader *reader)
{
  DumpiTime time;

  time.seconds = dumpi_read_u2 (reader);
  time.ns = dumpi_read_u4 (reader);
  return time;
}

/* Wall times are preferred: processor times stand still while a rank is
 * preempted or sleeps. */
static void
read_times (DumpiReader *reader, uint8_t mask, DumpiRecord *record)
{
  record->timed = (mask & (MASK_CPU | MASK_WALL)) != 0;
  record->wall = (mask & MASK_WALL) != 0;
  if (mask & MASK_CPU) {
    record->start = read_time (reader);
    record->stop = read_time (reader);
  }
  if (mask & MASK_WALL) {
    record->start = read_time (reader);
    record->stop = read_time (reader);
  }
}

static void
read_counters (DumpiReader *reader)
{
  uint8_t n = dumpi_read_u1 (reader);

  dumpi_skip (reader, n, 16);
}

void
dumpi_record_init (DumpiRecord *record)
{
  *record = (DumpiRecord){ 0 };
  for (guint i = 0; i < DUMPI_N_ARRAYS; i++)
    record->array[i] = g_array_new (FALSE, FALSE, sizeof (int32_t));
  record->statuses = g_array_new (FALSE, FALSE, sizeof (DumpiStatus));
}

void
dumpi_record_clear (DumpiRecord *record)
{
  for (guint i = 0; i < DUMPI_N_ARRAYS; i++)
    g_array_unref (record->array[i]);
  g_array_unref (record->statuses);
}

static void
record_reset (DumpiRecord *record, gsize at, uint16_t id)
{
  record->at = at;
  record->id = id;
  memset (record->scalar, 0, sizeof record->scalar);
  for (guint i = 0; i < DUMPI_N_ARRAYS; i++)
    g_array_set_size (record->array[i], 0);
  g_array_set_size (record->statuses, 0);
}

static TraceNext
fail (const DumpiFile *file, const DumpiRecord *record, const char *what, GError **error)
{
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s:0x%" G_GSIZE_MODIFIER "x: %s: %s",
               file->name, record->at, dumpi_calls[record->id].name, what);
  return TRACE_NEXT_ERROR;
}

/* The rest of a record behind its id. */
static TraceNext
read_record (const DumpiFile *file, DumpiReader *reader, DumpiRecord *record, GError **error)
{
  uint8_t mask = dumpi_read_u1 (reader);

  if (mask & MASK_THREAD)
    dumpi_read_u2 (reader);
  read_times (reader, mask, record);
  if (mask & MASK_COUNTERS)
    read_counters (reader);
  if (record->timed && (record->start.ns >= NS_PER_SECOND || record->stop.ns >= NS_PER_SECOND))
    return fail (file, record, "a time of more nanoseconds than a second has", error);
  read_arguments (reader, file->version, (mask & MASK_STATUSES) != 0, record);
  if (reader->failed)
    return fail (file, record, "the record runs beyond the end of the records", error);
  return TRACE_NEXT_OPERATION;
}

/* What the body must end with, given the place of the id that was read. */
static TraceNext
body_end (const DumpiFile *file, gsize at, GError **error)
{
  if (file->salvage || at == file->body_end)
    return TRACE_NEXT_END;
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
               "%s:0x%" G_GSIZE_MODIFIER "x: the records end here, but the header that should "
               "follow is at 0x%" G_GSIZE_MODIFIER "x",
               file->name, at, file->body_end);
  return TRACE_NEXT_ERROR;
}

TraceNext
dumpi_record_next (const DumpiFile *file, gsize *at, gboolean finalized, DumpiRecord *record,
                   GError **error)
{
  DumpiReader reader = { file->data, *at, file->body_end, FALSE };
  TraceNext next;
  uint16_t id;

  if (*at >= file->body_end)
    return TRACE_NEXT_END;
  id = dumpi_read_u2 (&reader);
  if (id == DUMPI_END)
    return body_end (file, reader.at, error);
  if (id == 0 && finalized && reader.at >= file->body_end)
    return TRACE_NEXT_END;
  if (reader.failed || id >= DUMPI_N_IDS || dumpi_calls[id].name == NULL) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                 "%s:0x%" G_GSIZE_MODIFIER "x: %u is not the number of an MPI call", file->name,
                 *at, id);
    return TRACE_NEXT_ERROR;
  }
  record_reset (record, *at, id);
  next = read_record (file, &reader, record, error);
  *at = reader.at;
  return next;
}

static void
append_all (GArray *completed, guint n)
{
  for (uint32_t i = 0; i < n; i++)
    g_array_append_val (completed, i);
}

static void
append_listed (const DumpiRecord *record, GArray *completed, guint n_requests)
{
  const GArray *indices = record->array[DUMPI_INDICES];

  for (guint i = 0; i < indices->len && (int32_t) i < record->scalar[DUMPI_INDEX]; i++) {
    uint32_t index = (uint32_t) dumpi_array_at (record, DUMPI_INDICES, i);

    if (index < n_requests)
      g_array_append_val (completed, index);
  }
}

void
dumpi_record_completed (const DumpiRecord *record, GArray *completed)
{
  guint n_requests = record->array[DUMPI_REQUESTS]->len;
  uint32_t index = (uint32_t) record->scalar[DUMPI_INDEX];
  gboolean flag = record->scalar[DUMPI_FLAG] != 0;

  switch (record->id) {
  case DUMPI_ID_WAIT: append_all (completed, 1); break;
  case DUMPI_ID_TEST: append_all (completed, flag ? 1 : 0); break;
  case DUMPI_ID_WAITALL: append_all (completed, n_requests); break;
  case DUMPI_ID_TESTALL: append_all (completed, flag ? n_requests : 0); break;
  case DUMPI_ID_WAITSOME:
  case DUMPI_ID_TESTSOME: append_listed (record, completed, n_requests); break;
  case DUMPI_ID_TESTANY:
    if (!flag)
      break;
    /* fall through */
  case DUMPI_ID_WAITANY:
    /* An index outside the list, negative or MPI_UNDEFINED, means none. */
    if (index < n_requests)
      g_array_append_val (completed, index);
    break;
  default: break;
  }
}

const DumpiStatus *
dumpi_record_status (const DumpiRecord *record, guint nth, uint32_t index)
{
  gboolean per_request = record->id == DUMPI_ID_WAITALL || record->id == DUMPI_ID_TESTALL;
  guint at = per_request ? index : nth;

  return at < record->statuses->len ? &g_array_index (record->statuses, DumpiStatus, at) : NULL;
}
