/* recording_fuzz.c - any bytes as the files of the ranks of a recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each block carries a checksum, which would stop nearly every input, so it is
 * made right before a file is read.  A block whose checksum is 0 in the input
 * also gets the length that it has, up to the next: what is put into it or
 * taken out leaves the blocks behind it in their places.  That a wrong
 * checksum is noticed, recording_test shows for every byte. */
#include "traces/trace_fuzzing.h"
#include "traces/recorder/recording.h"

#include <string.h>
#include <zlib.h>

enum { AT_SOURCES = 4, AT_OPERATIONS = 8, AT_SUM = 12, AT_MARK = 16 };

static const char *const files[] = { "rank-0.rec", "rank-1.rec", NULL };

static const char *const words[] = {
  "hopcast\\x01",
  "\\x00\\x00\\x00\\x00hblk",
  "version=1\\x0a",
  "ranks=2\\x0a",
  "rank=1\\x0a",
  "counters=none",
  "\\xff\\x08MPI_Init",
  "\\xff\\xff\\xff\\xff\\x0f",
  "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x01",
  "\\x80\\x80\\x80\\x80\\x01",
  "\\x84\\x80\\x80\\x1f",
  "\\x80\\x80\\xc0\\x00",
  "\\xff\\xff\\xff\\xff\\x01",
  NULL,
};

/* --- Making blocks whole --- */

static uint32_t
word_at (const guint8 *at)
{
  uint32_t word;

  memcpy (&word, at, sizeof word);
  return GUINT32_FROM_LE (word);
}

static void
put_word_at (guint8 *at, gsize value)
{
  uint32_t word = GUINT32_TO_LE ((uint32_t) value);

  memcpy (at, &word, sizeof word);
}

static gboolean
is_head (const guint8 *at, const guint8 *end)
{
  return end - at >= RECORDING_HEAD_BYTES && word_at (at + AT_MARK) == RECORDING_BLOCK;
}

static const guint8 *
next_head (const guint8 *at, const guint8 *end)
{
  while (at < end && !is_head (at, end))
    at++;
  return at;
}

static void
fit_length (guint8 *head, const guint8 *end)
{
  const guint8 *data = head + RECORDING_HEAD_BYTES;
  gsize n = (gsize) (next_head (data, end) - data), n_sources = word_at (head + AT_SOURCES);

  if (n_sources <= n)
    put_word_at (head, n - n_sources);
}

/* The number of bytes of the block, or 0 when they are not all there. */
static gsize
seal_block (guint8 *head, const guint8 *end)
{
  const guint8 *data = head + RECORDING_HEAD_BYTES;
  gsize n = (gsize) word_at (head) + word_at (head + AT_SOURCES);

  if (n > (gsize) (end - data))
    return 0;
  put_word_at (head + AT_SUM, crc32_z (crc32_z (0, head, AT_SUM), data, n));
  return RECORDING_HEAD_BYTES + n;
}

static void
mend (guint8 *bytes, gsize size)
{
  guint8 *at = bytes + MIN (size, RECORDING_MAGIC_SIZE), *end = bytes + size;
  gsize n = 1;

  while (n > 0 && is_head (at, end)) {
    if (word_at (at + AT_SUM) == 0)
      fit_length (at, end);
    at += n = seal_block (at, end);
  }
}

/* The line break before a line of "%%" is not of the file. */
static void
assemble (const char *folder)
{
  for (guint i = 0; files[i] != NULL; i++) {
    g_autofree char *path = g_build_filename (folder, files[i], NULL), *bytes = NULL;
    g_autoptr (GError) error = NULL;
    gsize size;

    if (!g_file_get_contents (path, &bytes, &size, NULL))
      continue;
    size -= size > 0 && bytes[size - 1] == '\n';
    mend ((guint8 *) bytes, size);
    if (!g_file_set_contents (path, bytes, (gssize) size, &error))
      g_error ("%s", error->message);
  }
}

/* --- Seeds --- */

static void
put (GByteArray *to, const void *bytes, gsize n)
{
  g_byte_array_append (to, bytes, (guint) n);
}

#define PUT(to, literal) put (to, literal, sizeof (literal) - 1)

static void
put_number (GByteArray *to, uint64_t value)
{
  do {
    guint8 byte = (guint8) (value & 127) | (value > 127 ? 128 : 0);

    put (to, &byte, 1);
    value >>= 7;
  } while (value > 0);
}

/* What begins here ends where the next block does: see above. */
static void
put_head (GByteArray *to, uint32_t n_sources, uint32_t n_operations)
{
  guint8 head[RECORDING_HEAD_BYTES] = { 0 };

  put_word_at (head + AT_SOURCES, n_sources);
  put_word_at (head + AT_OPERATIONS, n_operations);
  put_word_at (head + AT_MARK, RECORDING_BLOCK);
  put (to, head, sizeof head);
}

static void
put_header (GByteArray *to, guint rank, guint ranks)
{
  g_autofree char *text =
      g_strdup_printf ("version=1\nrank=%u\nranks=%u\ncounters=none: not permitted\n", rank, ranks);

  PUT (to, RECORDING_MAGIC);
  put_head (to, 0, 0);
  put (to, text, strlen (text));
}

/* MPI_Init and a receive from anyone; then its source, 3, and its end. */
static void
seed_receive (FuzzSeeds *seeds)
{
  g_autoptr (GByteArray) file = g_byte_array_new ();

  put_header (file, 0, 1);
  put_head (file, 0, 2);
  PUT (file, "\xff\x08MPI_Init\xff\x07prog+12\x01\x0e\xdc\x0b\x01\x02");
  PUT (file, "\xff\x09MPI_Irecv\x07\xf5\x81\x80\x80\x01\xac\x02\x03\x01\x0a\x40\x02");
  put_head (file, 2, 2);
  PUT (file, "\xff\x08MPI_Wait\x0f\x84\x80\xc0\x00\x04\x01\x02");
  PUT (file, "\xff\x0cMPI_Finalize\x02\x04\x05\x00\x06");
  fuzz_add (seeds, file->data, file->len);
}

/* One of a kind, with a name and every list of one element. */
static void
put_kind (GByteArray *to, guint8 kind)
{
  put (to, &kind, 1);
  put_number (to, RECORDING_NAME | RECORDING_REQUESTS | RECORDING_COMPLETED | RECORDING_COUNTS |
                      RECORDING_RECV_COUNTS | RECORDING_VALUES | RECORDING_VALUES2);
  PUT (to, "\x01\x01\x02\x01\x00\x01\x08\x01\x08\x01\x02\x01\x02");
}

static void
seed_kinds (FuzzSeeds *seeds)
{
  g_autoptr (GByteArray) both = g_byte_array_new ();

  for (guint rank = 0; rank < 2; rank++) {
    if (rank > 0)
      PUT (both, "\n%%\n");
    put_header (both, rank, 2);
    put_head (both, 0, sizeof recording_kinds);
    PUT (both, "\xff\x01x");
    for (guint8 kind = 0; kind < sizeof recording_kinds; kind++)
      put_kind (both, kind);
  }
  fuzz_add (seeds, both->data, both->len);
}

/* Everything that an operation can have: each number is 1, each list has one. */
static void
seed_fields (FuzzSeeds *seeds)
{
  const guint8 kind = 9, one = 1;
  g_autoptr (GByteArray) file = g_byte_array_new ();

  put_header (file, 0, 1);
  put_head (file, 0, 1);
  PUT (file, "\xff\x01x");
  put (file, &kind, 1);
  put_number (file, RECORDING_ALL_FIELDS);
  for (guint bit = 0; bit <= 18; bit++)
    put (file, &one, 1);
  PUT (file, "\x01\x02\x01\x00\x01\x08\x01\x08\x01\x02\x01\x02\x64\x64");
  fuzz_add (seeds, file->data, file->len);
}

static void
seed (FuzzSeeds *seeds)
{
  seed_receive (seeds);
  seed_kinds (seeds);
  seed_fields (seeds);
}

const FuzzTarget fuzz_target = {
  .path = "rank-0.rec",
  .files = files,
  .words = words,
  .seed = seed,
  .assemble = assemble,
};
