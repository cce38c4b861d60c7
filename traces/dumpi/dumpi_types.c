/* dumpi_types.c - how many bytes an element of each DUMPI datatype has.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Files list the sizes of all datatypes that were alive at the end.  User
 * datatypes are ids that are given again after MPI_Type_free, so a size that
 * follows from the records before goes before the listed one. */
#include "traces/dumpi/dumpi_format.h"

/* MPI_Type_size of the ids below the first user datatype, on 64-bit Linux;
 * the list in the file goes before (Blue Gene/P: long has 4 bytes). */
static const uint32_t builtin_bytes[] = {
  0, 0,                /* error, NULL */
  1, 1,  1,  1, 4,     /* CHAR, SIGNED_CHAR, UNSIGNED_CHAR, BYTE, WCHAR */
  2, 2,  4,  4, 8, 8,  /* SHORT, UNSIGNED_SHORT, INT, UNSIGNED, LONG, UNSIGNED_LONG */
  4, 8,  16,           /* FLOAT, DOUBLE, LONG_DOUBLE */
  8, 8,  8,            /* LONG_LONG_INT, UNSIGNED_LONG_LONG, LONG_LONG */
  1, 0,  0,            /* PACKED, LB, UB */
  8, 12, 12, 6, 8, 20, /* FLOAT_INT, DOUBLE_INT, LONG_INT, SHORT_INT, 2INT, LONG_DOUBLE_INT */
};
#define N_BUILTIN G_N_ELEMENTS (builtin_bytes)
/* Every file lists 0 for it. */
#define LONG_LONG_INT 16

/* MPI_Type_size is an int; anything larger is capped, so that a count times
 * a size cannot overflow. */
#define MAX_TYPE_BYTES G_MAXUINT32
#define UNKNOWN_BYTES  G_MAXUINT64

struct DumpiTypes {
  Trace *trace;
  GArray *bytes; /* (element-type uint64_t), by datatype */
};

static uint64_t
type_bytes (const DumpiTypes *types, int32_t type)
{
  return (guint) type < types->bytes->len ? g_array_index (types->bytes, uint64_t, type)
                                          : UNKNOWN_BYTES;
}

static void
set_bytes (DumpiTypes *types, int32_t type, uint64_t bytes)
{
  while (types->bytes->len <= (guint) type) {
    uint64_t unknown = UNKNOWN_BYTES;

    g_array_append_val (types->bytes, unknown);
  }
  g_array_index (types->bytes, uint64_t, type) = bytes;
}

static void
read_list (DumpiTypes *types, const DumpiFile *file)
{
  DumpiReader reader = { file->data, file->sizes, file->size, FALSE };
  int32_t n = dumpi_read_i4 (&reader);

  /* Ids are 16 bits wide. */
  n = MIN (n, G_MAXUINT16 + 1);
  for (int32_t type = 0; type < n; type++) {
    int32_t bytes = dumpi_read_i4 (&reader);

    if (!reader.failed && bytes >= 0 && !(type == LONG_LONG_INT && bytes == 0))
      set_bytes (types, type, (uint64_t) bytes);
  }
}

DumpiTypes *
dumpi_types_new (Trace *trace, const DumpiFile *file)
{
  DumpiTypes *types = g_new (DumpiTypes, 1);

  types->trace = trace;
  types->bytes = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  for (guint type = 0; type < N_BUILTIN; type++)
    set_bytes (types, (int32_t) type, builtin_bytes[type]);
  if (file->sizes != 0)
    read_list (types, file);
  return types;
}

void
dumpi_types_free (DumpiTypes *types)
{
  if (types == NULL)
    return;
  g_array_unref (types->bytes);
  g_free (types);
}

static uint64_t
product (uint64_t count, uint64_t bytes)
{
  if (count == 0)
    return 0;
  return bytes > MAX_TYPE_BYTES / count ? MAX_TYPE_BYTES : count * bytes;
}

static uint64_t
count_of (int32_t count)
{
  return count > 0 ? (uint64_t) count : 0;
}

static uint64_t
sum_of (const DumpiRecord *record, DumpiArray array)
{
  uint64_t sum = 0;

  for (guint i = 0; i < record->array[array]->len; i++)
    sum += count_of (dumpi_array_at (record, array, i));
  return sum;
}

static uint64_t
product_of (const DumpiRecord *record, DumpiArray array)
{
  uint64_t n = 1;

  for (guint i = 0; i < record->array[array]->len; i++)
    n = product (n, count_of (dumpi_array_at (record, array, i)));
  return n;
}

static uint64_t
struct_bytes (const DumpiTypes *types, const DumpiRecord *record)
{
  guint n = MIN (record->array[DUMPI_COUNTS]->len, record->array[DUMPI_TYPES]->len);
  uint64_t bytes = 0;

  for (guint i = 0; i < n; i++) {
    uint64_t count = count_of (dumpi_array_at (record, DUMPI_COUNTS, i));
    uint64_t element_bytes = type_bytes (types, dumpi_array_at (record, DUMPI_TYPES, i));

    if (element_bytes == UNKNOWN_BYTES)
      return UNKNOWN_BYTES;
    bytes = MIN (bytes + product (count, element_bytes), MAX_TYPE_BYTES);
  }
  return bytes;
}

/* How many elements of the old datatype one of the new has. */
static gboolean
elements_of (const DumpiRecord *record, uint64_t *n)
{
  uint64_t count = count_of (record->scalar[DUMPI_COUNT]);

  switch (record->id) {
  case DUMPI_ID_TYPE_CONTIGUOUS: *n = count; return TRUE;
  case DUMPI_ID_TYPE_VECTOR:
  case DUMPI_ID_TYPE_HVECTOR:
  case DUMPI_ID_TYPE_CREATE_HVECTOR:
  case DUMPI_ID_TYPE_CREATE_INDEXED_BLOCK:
    *n = product (count, count_of (record->scalar[DUMPI_BLOCK_LENGTH]));
    return TRUE;
  case DUMPI_ID_TYPE_INDEXED:
  case DUMPI_ID_TYPE_HINDEXED:
  case DUMPI_ID_TYPE_CREATE_HINDEXED: *n = sum_of (record, DUMPI_COUNTS); return TRUE;
  case DUMPI_ID_TYPE_CREATE_SUBARRAY: *n = product_of (record, DUMPI_VALUES); return TRUE;
  case DUMPI_ID_TYPE_DUP:
  case DUMPI_ID_TYPE_CREATE_RESIZED: *n = 1; return TRUE;
  default: return FALSE;
  }
}

void
dumpi_types_note (DumpiTypes *types, const DumpiRecord *record)
{
  int32_t new_type = record->scalar[DUMPI_NEW_TYPE];
  uint64_t bytes, n;

  if (record->id == DUMPI_ID_TYPE_STRUCT || record->id == DUMPI_ID_TYPE_CREATE_STRUCT)
    bytes = struct_bytes (types, record);
  else if (elements_of (record, &n)) {
    bytes = type_bytes (types, record->scalar[DUMPI_TYPE]);
    bytes = bytes == UNKNOWN_BYTES ? UNKNOWN_BYTES : product (n, bytes);
  } else
    return;

  /* The share of a distributed array is left to the list in the file. */
  if (bytes != UNKNOWN_BYTES && new_type >= (int32_t) N_BUILTIN)
    set_bytes (types, new_type, bytes);
}

uint64_t
dumpi_types_bytes (const DumpiTypes *types, int32_t count, int32_t type)
{
  uint64_t bytes = type_bytes (types, type);

  if (count < 0) {
    trace_warn (types->trace, "negative counts are read as 0");
    return 0;
  }
  if (bytes == UNKNOWN_BYTES && count > 0) {
    trace_warn (types->trace, "datatype %d " TRACE_WARNING_NO_SIZE ": its elements count as 1 byte",
                type);
    bytes = 1;
  }
  return count == 0 ? 0 : (uint64_t) count * bytes;
}
