/* recorder_file.c - writes the file of a rank, block by block.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A block is put together in memory and written by one write(): the file of a
 * killed process is complete up to its last block. */
#include "traces/recorder/recorder.h"

#include "traces/recorder/recorder_map.h"
#include "traces/recorder/recording.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NUMBER_BYTES 10 /* of the longest */
#define FLUSH_NS     1000000000

typedef struct {
  uint8_t *data;
  size_t n, capacity;
} Bytes;

static struct {
  int descriptor; /* -1: there is none, or no more */
  Bytes block;    /* room for the head, then the payload */
  Bytes sources;
  uint32_t n_operations;
  int64_t flushed_ns;
  uint64_t source_at;  /* the receive of the last pair + 1 */
  RecorderMap strings; /* address -> number */
  uint32_t n_strings;
  uint8_t codes[TRACE_N_OPS];
} file = { .descriptor = -1 };

/* --- CRC-32 (IEEE 802.3), eight bytes at a time --- */

static uint32_t crc_tables[8][256];

static uint32_t
recorder_crc32 (uint32_t crc, const void *data, size_t n)
{
  const uint8_t *at = data;

  crc = ~crc;
  for (; n >= 8; n -= 8, at += 8) {
    uint32_t next = 0;

    crc ^=
        (uint32_t) at[0] | (uint32_t) at[1] << 8 | (uint32_t) at[2] << 16 | (uint32_t) at[3] << 24;
    for (int i = 0; i < 4; i++)
      next ^= crc_tables[7 - i][(crc >> 8 * i) & 255] ^ crc_tables[3 - i][at[4 + i]];
    crc = next;
  }
  for (; n > 0; n--, at++)
    crc = (crc >> 8) ^ crc_tables[0][(crc ^ *at) & 255];
  return ~crc;
}

/* --- Numbers --- */

static void
reserve (Bytes *bytes, size_t n)
{
  if (bytes->n + n <= bytes->capacity)
    return;
  bytes->capacity = 2 * bytes->capacity > bytes->n + n ? 2 * bytes->capacity : bytes->n + n;
  bytes->data = realloc (bytes->data, bytes->capacity);
  if (bytes->data == NULL)
    abort ();
}

static void
put (Bytes *bytes, uint64_t value)
{
  while (value >= 128) {
    bytes->data[bytes->n++] = (uint8_t) (value | 128);
    value >>= 7;
  }
  bytes->data[bytes->n++] = (uint8_t) value;
}

static void
put_signed (Bytes *bytes, int64_t value)
{
  put (bytes, ((uint64_t) value << 1) ^ (uint64_t) (value >> 63));
}

static void
put_word (uint8_t *at, uint32_t value)
{
  for (int i = 0; i < 4; i++)
    at[i] = (uint8_t) (value >> 8 * i);
}

/* --- Blocks --- */

static void
empty_block (void)
{
  file.block.n = RECORDING_HEAD_BYTES;
  file.sources.n = 0;
  file.n_operations = 0;
}

static void
write_all (const uint8_t *data, size_t n)
{
  while (n > 0) {
    ssize_t written = write (file.descriptor, data, n);

    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0) {
      /* A recording that cannot be written must not stop the program. */
      fprintf (stderr, "hopcast recorder: cannot go on recording: %s\n", strerror (errno));
      close (file.descriptor);
      file.descriptor = -1;
      return;
    }
    data += written;
    n -= (size_t) written;
  }
}

void
recorder_file_flush (void)
{
  uint8_t *head = file.block.data;
  size_t n_payload = file.block.n - RECORDING_HEAD_BYTES, n_sources = file.sources.n;
  uint32_t crc;

  if (file.descriptor < 0 || n_payload + n_sources == 0)
    return;
  reserve (&file.block, n_sources);
  head = file.block.data;
  put_word (head, (uint32_t) n_payload);
  put_word (head + 4, (uint32_t) n_sources);
  put_word (head + 8, file.n_operations);
  if (n_sources > 0)
    memcpy (head + file.block.n, file.sources.data, n_sources);
  crc = recorder_crc32 (0, head, 12);
  crc = recorder_crc32 (crc, head + RECORDING_HEAD_BYTES, n_payload + n_sources);
  put_word (head + 12, crc);
  put_word (head + 16, RECORDING_BLOCK);
  write_all (head, file.block.n + n_sources);
  empty_block ();
}

void
recorder_file_flush_due (int64_t now_ns)
{
  if (file.block.n + file.sources.n < RECORDING_FULL_BYTES && now_ns - file.flushed_ns < FLUSH_NS)
    return;
  file.flushed_ns = now_ns;
  recorder_file_flush ();
}

bool
recorder_file_open (const char *folder, int rank, const char *header, const char *launcher)
{
  char path[4096];
  size_t n = strlen (header);

  snprintf (path, sizeof path, "%s/" RECORDING_FILE, folder, (unsigned) rank);
  file.descriptor = open (path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file.descriptor < 0) {
    int error_number = errno;

    FILE *refused = NULL;
    char host[256] = "", refused_path[4096];

    /* The name has host and process in it, so that processes need not agree
     * about one file. */
    if (error_number == EEXIST) {
      gethostname (host, sizeof host - 1);
      snprintf (refused_path, sizeof refused_path, "%s/" RECORDING_REFUSED, folder, host,
                (long) getpid ());
      refused = fopen (refused_path, "we");
    }
    if (refused != NULL)
      fprintf (refused, "%s%s", header, launcher);
    if (refused == NULL || fclose (refused) != 0)
      fprintf (stderr, "hopcast recorder: %s: %s\n", path, strerror (error_number));
    return false;
  }
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t crc = i;

    for (int bit = 0; bit < 8; bit++)
      crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
    crc_tables[0][i] = crc;
  }
  for (int table = 1; table < 8; table++)
    for (uint32_t i = 0; i < 256; i++) {
      uint32_t before = crc_tables[table - 1][i];

      crc_tables[table][i] = (before >> 8) ^ crc_tables[0][before & 255];
    }
  for (size_t code = 0; code < sizeof recording_kinds; code++)
    file.codes[recording_kinds[code]] = (uint8_t) code;
  reserve (&file.block, RECORDING_FULL_BYTES + 4096);
  reserve (&file.sources, 4096);
  write_all ((const uint8_t *) RECORDING_MAGIC, RECORDING_MAGIC_SIZE);
  empty_block ();
  memcpy (file.block.data + file.block.n, header, n);
  file.block.n += n;
  recorder_file_flush ();
  file.flushed_ns = recorder_now_ns ();
  return true;
}

void
recorder_file_close (void)
{
  if (file.descriptor >= 0)
    close (file.descriptor);
  file.descriptor = -1;
}

/* --- Strings --- */

static uint32_t
put_string (const void *address, const char *text)
{
  size_t n = strlen (text);

  reserve (&file.block, 1 + NUMBER_BYTES + n);
  file.block.data[file.block.n++] = RECORDING_STRING;
  put (&file.block, n);
  memcpy (file.block.data + file.block.n, text, n);
  file.block.n += n;
  recorder_map_set (&file.strings, (uintptr_t) address, ++file.n_strings);
  return file.n_strings;
}

/* The place of a call in the program: the file and the offset in it, as for
 * addr2line.  0 for calls from the MPI itself, as those in Fortran are. */
static uint32_t
site_string (const void *site)
{
  const uint64_t *number = recorder_map_find (&file.strings, (uintptr_t) site);
  char text[512];
  const char *base;
  Dl_info info;

  if (number != NULL)
    return (uint32_t) *number;
  if (dladdr (site, &info) == 0 || info.dli_fname == NULL)
    return 0;
  base = strrchr (info.dli_fname, '/');
  base = base != NULL ? base + 1 : info.dli_fname;
  if (strncmp (base, "libmpi", 6) == 0) {
    recorder_map_set (&file.strings, (uintptr_t) site, 0);
    return 0;
  }
  snprintf (text, sizeof text, "%s+0x%zx", base,
            (size_t) ((const char *) site - (const char *) info.dli_fbase));
  return put_string (site, text);
}

/* --- Operations --- */

#define PUT_LIST(bit, put_one, list, n) \
  if (mask & (bit)) {                   \
    put (&file.block, (n));             \
    for (uint32_t i = 0; i < (n); i++)  \
      put_one (&file.block, (list)[i]); \
  }

void
recorder_file_write (const TraceOp *op, const RecorderExtra *extra)
{
  size_t n_listed = (size_t) op->n_requests + op->n_completed + op->n_counts + op->n_recv_counts +
                    op->n_values + extra->n_values2;
  uint32_t name, site, mask = RECORDING_NAME;
  const uint64_t *number;

  if (file.descriptor < 0)
    return;
  number = recorder_map_find (&file.strings, (uintptr_t) op->name);
  name = number != NULL ? (uint32_t) *number : put_string (op->name, op->name);
  site = site_string (extra->site);

#define FIELD(bit, member, absent) mask |= op->member != (absent) ? 1u << (bit) : 0;
  RECORDING_NUMBERS (FIELD, FIELD)
#undef FIELD
  mask |= extra->gap_ns > 0 ? RECORDING_GAP : 0;
  mask |= extra->time_ns > 0 ? RECORDING_TIME : 0;
  mask |= site != 0 ? RECORDING_SITE : 0;
  mask |= op->n_requests > 0 ? RECORDING_REQUESTS : 0;
  mask |= op->n_completed > 0 ? RECORDING_COMPLETED : 0;
  mask |= op->n_counts > 0 ? RECORDING_COUNTS : 0;
  mask |= op->n_recv_counts > 0 ? RECORDING_RECV_COUNTS : 0;
  mask |= op->n_values > 0 ? RECORDING_VALUES : 0;
  mask |= extra->n_values2 > 0 ? RECORDING_VALUES2 : 0;
  mask |= extra->counters.instructions > 0 ? RECORDING_COUNTERS : 0;
  mask |= op->nonblocking ? RECORDING_NONBLOCKING : 0;
  mask |= extra->is_wildcard ? RECORDING_WILDCARD : 0;

  /* Room for the longest form of an operation. */
  reserve (&file.block, (40 + n_listed) * NUMBER_BYTES);
  file.block.data[file.block.n++] = file.codes[op->kind];
  put (&file.block, mask);
  if (mask & RECORDING_GAP)
    put (&file.block, (uint64_t) extra->gap_ns);
  if (mask & RECORDING_TIME)
    put (&file.block, (uint64_t) extra->time_ns);
  put (&file.block, name);
  if (mask & RECORDING_SITE)
    put (&file.block, site);
#define UNSIGNED(bit, member, absent) \
  if (mask & 1u << (bit))             \
    put (&file.block, op->member);
#define SIGNED(bit, member, absent) \
  if (mask & 1u << (bit))           \
    put_signed (&file.block, op->member);
  RECORDING_NUMBERS (UNSIGNED, SIGNED)
#undef UNSIGNED
#undef SIGNED
  PUT_LIST (RECORDING_REQUESTS, put, op->requests, op->n_requests)
  PUT_LIST (RECORDING_COMPLETED, put, op->completed, op->n_completed)
  PUT_LIST (RECORDING_COUNTS, put, op->counts, op->n_counts)
  PUT_LIST (RECORDING_RECV_COUNTS, put, op->recv_counts, op->n_recv_counts)
  PUT_LIST (RECORDING_VALUES, put_signed, op->values, op->n_values)
  PUT_LIST (RECORDING_VALUES2, put_signed, op->values2, extra->n_values2)
  if (mask & RECORDING_COUNTERS) {
    put (&file.block, extra->counters.instructions);
    put (&file.block, extra->counters.cycles);
  }
  file.n_operations++;
}

void
recorder_file_source (uint64_t receive, int32_t source)
{
  if (file.descriptor < 0)
    return;
  reserve (&file.sources, 2 * NUMBER_BYTES);
  put_signed (&file.sources, (int64_t) (receive - file.source_at));
  put_signed (&file.sources, source);
  file.source_at = receive;
}
