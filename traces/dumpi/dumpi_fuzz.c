/* dumpi_fuzz.c - any bytes as the .bin file of both ranks of a DUMPI trace.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/dumpi/dumpi_testing.h"
#include "traces/trace_fuzzing.h"
#include "traces/trace_testing.h"

#include <string.h>
#include <unistd.h>

enum { INT = 9, DOUBLE = 14, WORLD = TRACE_COMM_WORLD };

static const char *const files[] = { "t-0000.bin", NULL };

/* Counts that are at the edges of what there may be. */
static const char *const words[] = {
  "\\xff\\xaa\\xdd"
  "DUMPI",
  "\\x7f\\xff\\xff\\xff",
  "\\xff\\xff\\xff\\xff",
  "\\x80\\x00\\x00\\x00",
  "\\x00\\x00\\x00\\x01",
  "\\x00\\x00\\xf0\\x07\\xfe\\xe7",
  "\\x01\\x25",
  NULL,
};

/* Both ranks have the same file. */
static void
prepare (const char *folder)
{
  static const char text[] = "hostname=h\nnumprocs=2\nfileprefix=t\n";
  g_autofree char *meta = trace_testing_write (folder, "t.meta", text, strlen (text));
  g_autofree char *link = g_build_filename (folder, "t-0001.bin", NULL);

  g_assert_cmpint (symlink ("t-0000.bin", link), ==, 0);
}

static void
add (FuzzSeeds *seeds, DumpiBuild *build, guint n_offsets)
{
  g_autoptr (GByteArray) bytes = dumpi_build_end (build, n_offsets);

  fuzz_add (seeds, bytes->data, bytes->len);
}

/* Without counts, which are most of a file, and without anything behind it. */
static void
add_cut (FuzzSeeds *seeds, DumpiBuild *build)
{
  gsize n = build->bytes->len;
  g_autoptr (GByteArray) bytes = dumpi_build_end (build, 7);

  fuzz_add (seeds, bytes->data, n);
}

static void
build_messages (DumpiBuild *b)
{
  dumpi_build_init (b);
  dumpi_build_call (b, 0, "4 2 4 4 2", 8, INT, 1, 5, WORLD);
  dumpi_build_call (b, 1, "4 2 4 4 2 4 4 4 1 1 4", 8, INT, -1, 5, WORLD, 1, 32, 1, 0, 0, 5);
  dumpi_build_call (b, 12, "4 2 4 4 2 4", 8, INT, -1, -1, WORLD, 4);
  dumpi_build_call (b, 8, "4 2 4 4 2 4", 8, INT, 1, 5, WORLD, 5);
  dumpi_build_call (b, 18, "4 4 4 4  4 4 4 1 1 4 4 4 1 1 4", 2, 2, 4, 5, 2, 32, 1, 0, 0, 5, 0, 0, 0,
                    0, 0);
  dumpi_build_call (b, 30, "4 2 4 4 2 4", 8, INT, 1, 5, WORLD, 6);
  dumpi_build_call (b, 31, "4", 6);
  dumpi_build_call (b, 19, "4 4 4 4 4", 1, 1, 6, 1, 0);
  dumpi_build_call (b, 33, "4 2 4 4 4 2 4 4 2 4", 1, INT, 1, 0, 1, INT, 1, 0, WORLD, 0);
  dumpi_build_call (b, 22, "4 4 2 4 4", 1, 0, WORLD, 1, 0);
}

static void
build_collectives (DumpiBuild *b)
{
  dumpi_build_init (b);
  dumpi_build_call (b, 36, "4 4 4 2 2", 3, 2, 7, DOUBLE, 29);
  dumpi_build_call (b, 52, "2", WORLD);
  dumpi_build_call (b, 53, "4 2 4 2", 5, 29, 0, WORLD);
  dumpi_build_call (b, 61, "4  4 4 4 4 4 4 2  4 4 4 4 4 4 2  2", 2, 2, 1, 2, 2, 0, 1, INT, 2, 2, 1,
                    2, 0, 1, INT, WORLD);
  dumpi_build_call (b, 65, "4 2 1 2", 9, DOUBLE, 3, WORLD);
  dumpi_build_call (b, 86, "2 4 4 2", WORLD, 1, 0, 4);
  dumpi_build_call (b, 72, "2 2", WORLD, 3);
  dumpi_build_call (b, 78, "2 4 4 4 4 4 4 2", 3, 1, 1, 3, 0, 1, 1, 4);
  dumpi_build_call (b, 99, "2 4 4 4 4 4 4 4 4 4 2", WORLD, 2, 2, 2, 1, 2, 1, 0, 0, 5);
  dumpi_build_finalize (b);
}

static void
build_windows (DumpiBuild *b)
{
  dumpi_build_init (b);
  dumpi_build_call (b, 145, "4 4 2 2 2", 4096, 1, 0, WORLD, 3);
  dumpi_build_call (b, 146, "1 2", 0, 3);
  dumpi_build_call (b, 143, "4 2 4 4 4 2 2", 8, DOUBLE, 1, 0, 8, DOUBLE, 3);
  dumpi_build_call (b, 142, "4 2 4 4 4 2 2", 8, DOUBLE, 1, 0, 8, DOUBLE, 3);
  dumpi_build_call (b, 141, "4 2 4 4 4 2 1 2", 8, DOUBLE, 1, 0, 8, DOUBLE, 3, 3);
  dumpi_build_call (b, 148, "2 2", 3, 4);
  dumpi_build_call (b, 78, "2 4 4 4 4 4 4 2", 4, 1, 1, 3, 1, 0, -1, 5);
  dumpi_build_call (b, 77, "2 4 4 4 2", 5, 1, 1, 1, 6);
  dumpi_build_call (b, 150, "2 1 2", 5, 0, 3);
  dumpi_build_call (b, 151, "2 1 2", 6, 0, 3);
  dumpi_build_call (b, 144, "2", 3);
  dumpi_build_call (b, 152, "2 4", 3, 1);
  dumpi_build_call (b, 153, "4 2", 1, 3);
  dumpi_build_call (b, 147, "2", 3);
}

static void
seed (FuzzSeeds *seeds)
{
  static void (*const builds[]) (DumpiBuild *) = { build_messages, build_collectives,
                                                   build_windows };

  for (guint i = 0; i < G_N_ELEMENTS (builds); i++) {
    DumpiBuild *old = dumpi_build_new (0, 6, 0), *now = dumpi_build_new (13, 0, 0),
               *cut = dumpi_build_new (1, 1, 0);

    old->mask = 0x0d;
    now->n_sizes = 30;
    builds[i](old);
    builds[i](now);
    builds[i](cut);
    add (seeds, old, 4);
    add (seeds, now, 7);
    add_cut (seeds, cut);
  }
}

const FuzzTarget fuzz_target = {
  .path = "t.meta",
  .files = files,
  .words = words,
  .prepare = prepare,
  .seed = seed,
};
