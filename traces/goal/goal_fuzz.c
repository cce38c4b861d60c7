/* goal_fuzz.c - any bytes as a GOAL schedule, text or binary.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_fuzzing.h"

static const char *const files[] = { "t.goal", NULL };

static const char *const words[] = {
  "num_ranks ",
  "rank ",
  "{\\x0a",
  "}\\x0a",
  "send ",
  "recv ",
  "calc ",
  "b to ",
  "b from ",
  " tag ",
  " cpu ",
  " nic ",
  " requires ",
  " irequires ",
  "l1: ",
  "-1",
  "//",
  "/*",
  "*/",
  "put",
  "9223372036854775807",
  "\\x7f\\x10",
  "\\xff\\xff\\xff\\xff",
  "\\x27\\x00\\x00\\x00",
  NULL,
};

static void
put (GByteArray *bytes, guint64 value, guint n)
{
  for (guint i = 0; i < n; i++) {
    guint8 byte = (guint8) (value >> (8 * i));

    g_byte_array_append (bytes, &byte, 1);
  }
}

static void
put_node (GByteArray *bytes, guint kind, guint32 peer, guint n_after, guint n_start)
{
  put (bytes, 1, 4);
  put (bytes, kind, 1);
  put (bytes, peer, 4);
  put (bytes, 100, 8);
  put (bytes, 7, 4);
  put (bytes, 0, 2);
  put (bytes, n_after, 4);
  put (bytes, 0, 4);
  put (bytes, n_start, 4);
  put (bytes, 0, 4);
}

/* Two ranks of a send that waits for a calc. */
static void
seed_binary (FuzzSeeds *seeds)
{
  enum { HEAD = 6 + 2 * 16, RANK = 8 + 4 + 2 * 39 + 4 };
  g_autoptr (GByteArray) bytes = g_byte_array_new ();

  put (bytes, 4223, 8);
  put (bytes, 2, 4);
  put (bytes, 0, 2);
  for (guint rank = 0; rank < 2; rank++) {
    put (bytes, HEAD + rank * RANK, 8);
    put (bytes, HEAD + (rank + 1) * RANK, 8);
  }
  for (guint rank = 0; rank < 2; rank++) {
    put (bytes, 2, 4);
    put (bytes, 1, 4);
    put (bytes, 1, 4);
    put_node (bytes, 1 + rank, 1 - rank, 0, 0);
    put_node (bytes, 3, 0, rank == 0, rank == 1);
    put (bytes, 0, 4);
  }
  fuzz_add (seeds, bytes->data, bytes->len);
}

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_text (seeds, "num_ranks 2\n\nrank 0 {\nl1: calc 100\nl2: send 8b to 1 tag 3\n"
                        "l2 requires l1\n}\n\nrank 1 {\nl1: recv 8b from 0 tag 3 cpu 1 nic 2\n}\n");
  fuzz_add_text (seeds, "// any\nnum_ranks 1 /* one */ rank 0 {\na: recv 1b from -1 tag -1\n"
                        "b: calc 5 cpu 2\nc: calc 6\na irequires c\nb requires a\n}\n");
  seed_binary (seeds);
}

const FuzzTarget fuzz_target = {
  .path = "t.goal",
  .files = files,
  .words = words,
  .seed = seed,
};
