/* library.c - the MPI libraries of fabrics, as parameters.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tags as in parameters.c; [M] the sets of validation/data/modern. */
#include "topology/library.h"

/* What Open MPI and MPICH have in common over UCX.  A message of 2 B between two cores of one core
 * group of Rome takes 0.14 us [M] orfeo-epyc-ompi4, 0.65 us to the other package; a line from core to
 * core takes 25 and 236 to 278 ns [M] core to core: two lines, and little for the software. */
#define OVER_UCX                                                                                \
  { "mpi.envelope", "9 B",                                                                      \
    "over UCX: [S] UCX's identifier of active messages and the tag, ucp/tag/tag_match.h" },     \
      { "mpi.call_overhead", "20 ns", "over UCX: guess: as send_overhead" },                    \
      { "mpi.datatype", "1.5 us",                                                               \
        "over UCX: UCX has a datatype of its own for it, made and freed with it [M] Open MPI\n" \
        "4.1.4 on a Milan that others shared; half of it in its fastest moments" },             \
      { "mpi.datatype_description", "30 ns", "over UCX: as datatype [M]" },                     \
      { "mpi.datatype_block", "5 ns", "over UCX: as datatype [M]" },                            \
      { "mpi.sm_latency", "25 ns",                                                              \
        "over UCX: calibrated: with two lines the 0.14 us between cores of one core group of\n" \
        "Rome [M] orfeo-epyc-ompi4" },                                                          \
      { "mpi.sm_lines", "2",                                                                    \
        "over UCX: the element comes to be written, then to be read [S] uct, mm_ep.c; 2.0 to\n" \
        "2.6 on Rome, of the further cores [M] orfeo-epyc-ompi4" },                             \
  {                                                                                             \
    "mpi.sm_overhead", "10 ns", "over UCX: [S] uct, mm_iface.c"                                 \
  }

static const TopoParameterNote ompi13[] = { { NULL, NULL, NULL } };

#define OPEN_MPI_SEND                                                                            \
  {                                                                                              \
    "mpi.send_overhead", "20 ns",                                                                \
        "over UCX: guess: with receive_overhead what two lines leave of 0.14 us, see sm_latency" \
  }
#define OPEN_MPI_RECEIVE                                                 \
  {                                                                      \
    "mpi.receive_overhead", "25 ns", "over UCX: guess, as send_overhead" \
  }

static const TopoParameterNote ompi41[] = {
  { "mpi.collectives", "ompi-4.1", "ompi-4.1: coll/tuned" },
  OPEN_MPI_SEND,
  OPEN_MPI_RECEIVE,
  OVER_UCX,
  { NULL, NULL, NULL },
};

static const TopoParameterNote ompi50[] = {
  { "mpi.collectives", "ompi-5.0", "ompi-5.0: coll/han before coll/tuned" },
  OPEN_MPI_SEND,
  OPEN_MPI_RECEIVE,
  OVER_UCX,
  { "ucx.version", "16", "ompi-5.0: guess: of the same years" },
  { "ucx.registration", "50 ns", "from UCX 1.16 on [S] uct, ib_md.c" },
  { NULL, NULL, NULL },
};

static const TopoParameterNote mpich4[] = {
  { "mpi.collectives", "mpich-4", "mpich-4: its own, with ch4" },
  OPEN_MPI_SEND,
  OPEN_MPI_RECEIVE,
  OVER_UCX,
  { "ucx.version", "16", "mpich-4: guess: of the same years" },
  { "ucx.registration", "50 ns", "from UCX 1.16 on [S] uct, ib_md.c" },
  { NULL, NULL, NULL },
};

/* In the order of TopoLibrary. */
static const TopoParameterNote *const libraries[] = { ompi13, ompi41, ompi50, mpich4 };

const TopoParameterNote *
topo_library_notes (TopoLibrary library)
{
  return libraries[library];
}

bool
topo_library_has (const char *group, const char *key)
{
  static const char *const keys[] = {
    "send_overhead", "receive_overhead", "call_overhead",        "envelope",
    "collectives",   "datatype",         "datatype_description", "datatype_block",
    "sm_latency",    "sm_lines",         "sm_overhead",          NULL
  };

  return g_str_equal (group, "ucx") || (g_str_equal (group, "mpi") && g_strv_contains (keys, key));
}

bool
topo_library_ignores (TopoLibrary library, const char *group, const char *key)
{
  /* Of ob1 and its BTLs. */
  static const char *const keys[] = {
    "eager",        "sm_eager",      "sm_fragment",       "sm_depth",          "sm_single_copy",
    "rdma_depth",   "send_fragment", "send_depth",        "rdma_offset",       "rdma_fragment",
    "leave_pinned", "registration",  "registration_page", "fragment_overhead", NULL
  };

  if (library == TOPO_LIBRARY_OMPI13)
    return g_str_equal (group, "ucx");
  return g_str_equal (group, "mpi") && g_strv_contains (keys, key);
}
