/* mutate_seeds.c - the sound inputs of mutate.py that only a library can write.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Usage: mutate_seeds FOLDER
 * Writes DUMPI traces (NAME/t.meta), OTF2 archives (NAME/traces.otf2) and nodes
 * in both formats of hwloc (NAME.xml) to the folder, which must exist.  The
 * other seeds are texts of mutate_cases.py. */
#include "traces/dumpi/dumpi_testing.h"
#include "traces/trace_testing.h"

#include <glib/gstdio.h>
#include <hwloc.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_OTF2
#include "traces/otf2/otf2_testing.h"

#include <otf2/otf2.h>
#endif

enum { INT = 9, DOUBLE = 14, WORLD = TRACE_COMM_WORLD };

static char *
make_folder (const char *folder, const char *name)
{
  char *path = g_build_filename (folder, name, NULL);

  if (g_mkdir_with_parents (path, 0777) != 0)
    g_error ("%s: cannot be made", path);
  return path;
}

/* --- DUMPI --- */

/* Both ranks do the same, or rank 1 what `other` says. */
static void
write_dumpi (const char *parent, const char *name, DumpiBuild *build, DumpiBuild *other)
{
  static const char text[] = "hostname=h\nnumprocs=2\nfileprefix=t\n";
  g_autofree char *folder = make_folder (parent, name);
  g_autofree char *meta = trace_testing_write (folder, "t.meta", text, strlen (text));
  g_autoptr (GByteArray) bytes = dumpi_build_end (build, 7);
  g_autoptr (GByteArray) others = other ? dumpi_build_end (other, 7) : g_byte_array_ref (bytes);
  g_autofree char *first = trace_testing_write (folder, "t-0000.bin", bytes->data, bytes->len);
  g_autofree char *second = trace_testing_write (folder, "t-0001.bin", others->data, others->len);
}

/* Rank 0 sends to rank 1, once blocking and once not. */
static void
write_dumpi_messages (const char *parent)
{
  DumpiBuild *sender = dumpi_build_new (13, 0, 0), *receiver = dumpi_build_new (13, 0, 0);

  sender->n_sizes = receiver->n_sizes = 30;
  dumpi_build_init (sender);
  dumpi_build_call (sender, 0, "4 2 4 4 2", 8, INT, 1, 5, WORLD);
  dumpi_build_call (sender, 8, "4 2 4 4 2 4", 800, INT, 1, 6, WORLD, 5);
  dumpi_build_call (sender, 12, "4 2 4 4 2 4", 8, INT, 1, 7, WORLD, 4);
  dumpi_build_call (sender, 18, "4 4 4 4  4 4 4 1 1 4 4 4 1 1 4", 2, 2, 4, 5, 2, 32, 1, 0, 0, 5, 0,
                    0, 0, 0, 0);
  dumpi_build_finalize (sender);
  dumpi_build_init (receiver);
  dumpi_build_call (receiver, 1, "4 2 4 4 2 4 4 4 1 1 4", 8, INT, -1, 5, WORLD, 1, 32, 0, 0, 0, 5);
  dumpi_build_call (receiver, 1, "4 2 4 4 2 4 4 4 1 1 4", 800, INT, 0, 6, WORLD, 1, 3200, 0, 0, 0,
                    6);
  dumpi_build_call (receiver, 0, "4 2 4 4 2", 8, INT, 0, 7, WORLD);
  dumpi_build_finalize (receiver);
  write_dumpi (parent, "dumpi-messages", sender, receiver);
}

static void
write_dumpi_collectives (const char *parent)
{
  DumpiBuild *b = dumpi_build_new (13, 0, 0);

  dumpi_build_init (b);
  dumpi_build_call (b, 36, "4 4 4 2 2", 3, 2, 7, DOUBLE, 29);
  dumpi_build_call (b, 52, "2", WORLD);
  dumpi_build_call (b, 53, "4 2 4 2", 5, 29, 0, WORLD);
  dumpi_build_call (b, 61, "4  4 4 4 4 4 4 2  4 4 4 4 4 4 2  2", 2, 2, 1, 2, 2, 0, 1, INT, 2, 2, 1,
                    2, 0, 1, INT, WORLD);
  dumpi_build_call (b, 65, "4 2 1 2", 9, DOUBLE, 3, WORLD);
  dumpi_build_call (b, 86, "2 4 4 2", WORLD, 1, 0, 4);
  dumpi_build_call (b, 52, "2", 4);
  dumpi_build_finalize (b);
  write_dumpi (parent, "dumpi-collectives", b, NULL);
}

static void
write_dumpi_windows (const char *parent)
{
  DumpiBuild *b = dumpi_build_new (13, 0, 0);

  dumpi_build_init (b);
  dumpi_build_call (b, 145, "4 4 2 2 2", 4096, 1, 0, WORLD, 3);
  dumpi_build_call (b, 146, "1 2", 0, 3);
  dumpi_build_call (b, 143, "4 2 4 4 4 2 2", 8, DOUBLE, 1, 0, 8, DOUBLE, 3);
  dumpi_build_call (b, 142, "4 2 4 4 4 2 2", 8, DOUBLE, 1, 0, 8, DOUBLE, 3);
  dumpi_build_call (b, 146, "1 2", 0, 3);
  dumpi_build_call (b, 144, "2", 3);
  dumpi_build_finalize (b);
  write_dumpi (parent, "dumpi-windows", b, NULL);
}

/* --- OTF2 --- */

#ifdef HAVE_OTF2
static void
write_otf2 (const char *parent)
{
  static const Otf2Record sender[] = {
    ENTER (0, AT_MAIN),
    ENTER (10, AT_INIT),
    LEAVE (20, AT_INIT),
    ENTER (30, AT_SEND),
    SEND (30, ON_WORLD, 1, 5, 900),
    LEAVE (40, AT_SEND),
    ENTER (41, AT_ISEND),
    ISEND (41, ON_WORLD, 1, 6, 80000, 1),
    LEAVE (42, AT_ISEND),
    ENTER (50, AT_WAIT),
    SENT (52, 1),
    LEAVE (55, AT_WAIT),
    ENTER (60, AT_COLLECTIVE),
    BEGUN (60),
    COLLECTIVE (70, OTF2_COLLECTIVE_OP_ALLREDUCE, ON_WORLD, UINT32_MAX, 8, 8),
    LEAVE (70, AT_COLLECTIVE),
    ENTER (80, AT_FINALIZE),
    LEAVE (90, AT_FINALIZE),
    LEAVE (95, AT_MAIN),
  };
  static const Otf2Record receiver[] = {
    ENTER (0, AT_MAIN),
    ENTER (10, AT_INIT),
    LEAVE (20, AT_INIT),
    ENTER (30, AT_RECV),
    RECV (45, ON_WORLD, 0, 5, 900),
    LEAVE (46, AT_RECV),
    ENTER (47, AT_IRECV),
    POST (47, 1),
    LEAVE (48, AT_IRECV),
    ENTER (50, AT_WAIT),
    GOT (57, ON_WORLD, 0, 6, 80000, 1),
    LEAVE (58, AT_WAIT),
    ENTER (60, AT_COLLECTIVE),
    BEGUN (60),
    COLLECTIVE (70, OTF2_COLLECTIVE_OP_ALLREDUCE, ON_WORLD, UINT32_MAX, 8, 8),
    LEAVE (70, AT_COLLECTIVE),
    ENTER (80, AT_FINALIZE),
    LEAVE (90, AT_FINALIZE),
    LEAVE (95, AT_MAIN),
  };
  static const Otf2Record silent[] = {
    ENTER (10, AT_INIT),
    LEAVE (20, AT_INIT),
    ENTER (60, AT_COLLECTIVE),
    BEGUN (60),
    COLLECTIVE (70, OTF2_COLLECTIVE_OP_ALLREDUCE, ON_WORLD, UINT32_MAX, 8, 8),
    LEAVE (70, AT_COLLECTIVE),
    ENTER (80, AT_FINALIZE),
    LEAVE (90, AT_FINALIZE),
  };
  const Otf2Testing testing = { "Score-P 8.0",      1000000000,       RANK (0, sender),
                                RANK (1, receiver), RANK (2, silent), RANK (3, silent) };
  g_autofree char *folder = make_folder (parent, "otf2");
  g_autofree char *anchor = otf2_testing_write (folder, &testing);
}
#endif

/* --- Nodes --- */

static void
write_node (const char *parent, const char *name, const char *description, unsigned long flags)
{
  g_autofree char *path = g_build_filename (parent, name, NULL);
  hwloc_topology_t topology;

  if (hwloc_topology_init (&topology) != 0 ||
      hwloc_topology_set_synthetic (topology, description) != 0 ||
      hwloc_topology_load (topology) != 0 || hwloc_topology_export_xml (topology, path, flags) != 0)
    g_error ("%s: cannot be written", path);
  hwloc_topology_destroy (topology);
}

int
main (int argc, char **argv)
{
  if (argc != 2) {
    fputs ("Usage: mutate_seeds FOLDER\n", stderr);
    return 2;
  }
  write_dumpi_messages (argv[1]);
  write_dumpi_collectives (argv[1]);
  write_dumpi_windows (argv[1]);
#ifdef HAVE_OTF2
  write_otf2 (argv[1]);
#endif
  write_node (argv[1], "two-sockets.xml", "pack:2 l2:2 core:2 pu:1", 0);
  write_node (argv[1], "threads.xml", "[numa] pack:1 l3:1 core:4 pu:2", 0);
  write_node (argv[1], "old.xml", "pack:2 core:2 pu:1", HWLOC_TOPOLOGY_EXPORT_XML_FLAG_V1);
  return 0;
}
