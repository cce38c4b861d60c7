/* recorder_comm.c - communicators, as they come and go.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Duplicates and splits are recorded as such.  Of all others the members are
 * written down, as ranks of MPI_COMM_WORLD, after the call that made them: in
 * most of them all members of the parent meet, so it is written as a barrier.
 *
 * All members write the same number with the list of members.  The first of
 * them makes it, unlike any that it or another rank made before, and tells
 * the others over the new communicator. */
#include "traces/recorder/recorder_wrap.h"

#include <stdlib.h>

/* --- Who is in it --- */

/* World ranks of the first n members, in memory of the thread; NULL when
 * there are processes among them that are not in MPI_COMM_WORLD. */
static int32_t *
world_ranks (MPI_Comm handle, int n)
{
  int32_t *ranks = recorder_scratch (RECORDER_INDICES, (size_t) n * sizeof *ranks);
  int32_t *members = recorder_scratch (RECORDER_VALUES, (size_t) n * sizeof *members);
  MPI_Group group, world;

  for (int i = 0; i < n; i++)
    ranks[i] = i;
  recorder_mpi.Comm_group (handle, &group);
  recorder_mpi.Comm_group (recorder_mpi.world, &world);
  recorder_mpi.Group_translate_ranks (group, n, ranks, world, members);
  recorder_mpi.Group_free (&group);
  recorder_mpi.Group_free (&world);
  for (int i = 0; i < n; i++)
    if (members[i] == MPI_UNDEFINED)
      return NULL;
  return members;
}

/* Mixes numbers, for communicators whose members cannot talk yet. */
static uint64_t
mix (uint64_t a, uint64_t b)
{
  uint64_t mixed = (a ^ b * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;

  return mixed ^ mixed >> 31;
}

/* A communicator that came out of `parent`, in a call of all its members or
 * only of its own.  All members find the same identity without a word: they
 * make communicators in the same order. */
static RecorderComm *
add_comm (MPI_Comm handle, RecorderComm *parent, bool all_of_parent)
{
  RecorderComm *comm = recorder_comm_add (handle);
  const int32_t *first = comm->is_inter ? NULL : world_ranks (handle, 1);

  comm->identity = mix (parent->identity, all_of_parent ? ++parent->n_made : 0);
  comm->identity = mix (comm->identity, first != NULL ? (uint64_t) first[0] + 1 : 0);
  return comm;
}

/* --- Duplicates and splits --- */

/* The handle that the program got, or MPI_COMM_NULL. */
static void
leave_with_new (RecorderCall *call, MPI_Comm parent, const MPI_Comm *made, int code)
{
  call->leave_ns = recorder_now_ns ();
  recorder_lock ();
  call->op.new_comm = TRACE_COMM_NULL;
  if (code == MPI_SUCCESS && *made != recorder_mpi.no_comm)
    call->op.new_comm = add_comm (*made, recorder_comm (parent), true)->number;
  else if (code == MPI_SUCCESS)
    recorder_comm (parent)->n_made++;
  recorder_leave (call, code);
  recorder_unlock ();
}

int
MPI_Comm_dup (MPI_Comm parent, MPI_Comm *made)
{
  WRAP_BEGIN (Comm_dup, (parent, made));
  int code;

  recorder_describe_collective (&call, TRACE_OP_COMM_DUP, parent);
  code = real (parent, made);
  leave_with_new (&call, parent, made, code);
  return code;
}
PROFILED (Comm_dup)

int
MPI_Comm_dup_with_info (MPI_Comm parent, MPI_Info info, MPI_Comm *made)
{
  WRAP_BEGIN (Comm_dup_with_info, (parent, info, made));
  int code;

  recorder_describe_collective (&call, TRACE_OP_COMM_DUP, parent);
  code = real (parent, info, made);
  leave_with_new (&call, parent, made, code);
  return code;
}
PROFILED (Comm_dup_with_info)

int
MPI_Comm_split (MPI_Comm parent, int color, int key, MPI_Comm *made)
{
  WRAP_BEGIN (Comm_split, (parent, color, key, made));
  int code;

  call.op.color = color == MPI_UNDEFINED ? TRACE_UNDEFINED : color;
  call.op.key = key;
  recorder_describe_collective (&call, TRACE_OP_COMM_SPLIT, parent);
  code = real (parent, color, key, made);
  leave_with_new (&call, parent, made, code);
  return code;
}
PROFILED (Comm_split)

/* --- All others --- */

static int32_t
agree_on_color (MPI_Comm handle, const RecorderComm *comm)
{
  static _Atomic (int32_t) n_made;
  const RecorderComm *world;
  int32_t color;

  recorder_lock ();
  world = recorder_comm (recorder_mpi.world);
  recorder_unlock ();
  color = comm->rank == 0 ? n_made++ * world->size + world->rank : 0;
  recorder_mpi.Bcast (&color, 1, recorder_mpi.integer, 0, handle);
  return color;
}

static const TraceOp comm_define = { .kind = TRACE_OP_COMM_DEFINE,
                                     .comm = TRACE_COMM_WORLD,
                                     .root = TRACE_NO_ROOT,
                                     .matched_source = TRACE_ANY_SOURCE };

/* Describes the members of a new communicator in *define; false when a replay
 * could not have it. */
static bool
define_comm (TraceOp *define, MPI_Comm handle, RecorderComm *comm)
{
  *define = comm_define;
  if (comm->is_inter)
    return false;
  define->values = world_ranks (handle, comm->size);
  if (define->values == NULL) {
    comm->number = 0;
    return false;
  }
  define->n_values = (uint32_t) comm->size;
  define->new_comm = comm->number;
  return true;
}

static void
leave_with_defined (RecorderCall *call, MPI_Comm parent, const MPI_Comm *made, int code)
{
  bool all_of_parent = call->op.kind != TRACE_OP_CALL;
  RecorderComm *comm = NULL;
  TraceOp define;

  call->leave_ns = recorder_now_ns ();
  recorder_lock ();
  if (code == MPI_SUCCESS && *made != recorder_mpi.no_comm)
    comm = add_comm (*made, recorder_comm (parent), all_of_parent);
  else if (code == MPI_SUCCESS && all_of_parent)
    recorder_comm (parent)->n_made++;
  recorder_unlock ();
  if (comm != NULL && define_comm (&define, *made, comm)) {
    define.color = agree_on_color (*made, comm);
    call->then = &define;
  }
  recorder_leave (call, code);
}

/* kind is what the call costs. */
#define CREATE(name, kind_of_call, parameters, arguments)       \
  int MPI_##name parameters                                     \
  {                                                             \
    WRAP_BEGIN (name, arguments);                               \
    int code;                                                   \
                                                                \
    recorder_describe_collective (&call, kind_of_call, parent); \
    code = real arguments;                                      \
    leave_with_defined (&call, parent, made, code);             \
    return code;                                                \
  }                                                             \
  PROFILED (name)

CREATE (Comm_create, TRACE_OP_BARRIER, (MPI_Comm parent, MPI_Group group, MPI_Comm *made),
        (parent, group, made))
CREATE (Comm_create_group, TRACE_OP_CALL,
        (MPI_Comm parent, MPI_Group group, int tag, MPI_Comm *made), (parent, group, tag, made))
CREATE (Comm_split_type, TRACE_OP_BARRIER,
        (MPI_Comm parent, int type, int key, MPI_Info info, MPI_Comm *made),
        (parent, type, key, info, made))
CREATE (Cart_create, TRACE_OP_BARRIER,
        (MPI_Comm parent, int n_dims, const int *dims, const int *periods, int reorder,
         MPI_Comm *made),
        (parent, n_dims, dims, periods, reorder, made))
CREATE (Cart_sub, TRACE_OP_BARRIER, (MPI_Comm parent, const int *remain, MPI_Comm *made),
        (parent, remain, made))
CREATE (Graph_create, TRACE_OP_BARRIER,
        (MPI_Comm parent, int n, const int *index, const int *edges, int reorder, MPI_Comm *made),
        (parent, n, index, edges, reorder, made))
CREATE (Dist_graph_create, TRACE_OP_BARRIER,
        (MPI_Comm parent, int n, const int *sources, const int *degrees, const int *targets,
         const int *weights, MPI_Info info, int reorder, MPI_Comm *made),
        (parent, n, sources, degrees, targets, weights, info, reorder, made))
CREATE (Dist_graph_create_adjacent, TRACE_OP_BARRIER,
        (MPI_Comm parent, int n_in, const int *in, const int *in_weights, int n_out, const int *out,
         const int *out_weights, MPI_Info info, int reorder, MPI_Comm *made),
        (parent, n_in, in, in_weights, n_out, out, out_weights, info, reorder, made))
CREATE (Intercomm_merge, TRACE_OP_UNSUPPORTED, (MPI_Comm parent, int high, MPI_Comm *made),
        (parent, high, made))
CREATE (Intercomm_create, TRACE_OP_UNSUPPORTED,
        (MPI_Comm parent, int leader, MPI_Comm peer, int remote_leader, int tag, MPI_Comm *made),
        (parent, leader, peer, remote_leader, tag, made))

/* --- A duplicate that is there when its request is complete --- */

/* Handles that MPI will store when the request of that number is complete. */
static struct {
  struct {
    uint32_t request;
    MPI_Comm *where;
    RecorderComm *comm;
  } * all;
  size_t n;
} pending;

static void
await_comm (uint32_t request, MPI_Comm *where, RecorderComm *comm)
{
  pending.all = realloc (pending.all, (pending.n + 1) * sizeof *pending.all);
  if (pending.all == NULL)
    abort ();
  pending.all[pending.n].request = request;
  pending.all[pending.n].where = where;
  pending.all[pending.n++].comm = comm;
}

void
recorder_comm_arrived (uint32_t request)
{
  for (size_t i = 0; i < pending.n; i++)
    if (pending.all[i].request == request) {
      recorder_comm_put (*pending.all[i].where, pending.all[i].comm);
      pending.all[i] = pending.all[--pending.n];
      return;
    }
}

/* A copy of the parent under another number. */
static RecorderComm *
copy_comm (RecorderComm *parent)
{
  RecorderComm *comm = calloc (1, sizeof *comm);

  if (comm == NULL)
    abort ();
  *comm = *parent;
  comm->number = recorder_comm_number ();
  comm->has_neighbors = false;
  comm->in = comm->out = NULL;
  comm->identity = mix (parent->identity, ++parent->n_made);
  comm->n_made = 0;
  return comm;
}

/* Nobody waits in the call, and so nobody can be asked in it. */
int
MPI_Comm_idup (MPI_Comm parent, MPI_Comm *made, MPI_Request *request)
{
  WRAP_BEGIN (Comm_idup, (parent, made, request));
  RecorderComm *comm;
  TraceOp define;
  int code;

  recorder_describe_collective (&call, TRACE_OP_BARRIER, parent);
  recorder_describe_nonblocking (&call, request);
  recorder_post (&call);
  code = real (parent, made, request);
  recorder_lock ();
  comm = copy_comm (recorder_comm (parent));
  if (define_comm (&define, parent, comm)) {
    define.new_comm = comm->number;
    define.color = (int32_t) (comm->identity & 0x3fffffff) | 0x40000000;
    call.then = &define;
  }
  recorder_leave (&call, code);
  await_comm (call.op.request, made, comm);
  recorder_unlock ();
  return code;
}
PROFILED (Comm_idup)

/* --- The end of one --- */

/* A window outlives the communicator that it was made of, but is recorded by
 * its number: that one stays.  No number is used twice. */
static void
describe_free (RecorderCall *call, MPI_Comm handle)
{
  recorder_describe_collective (call, TRACE_OP_COMM_FREE, handle);
  recorder_lock ();
  if (recorder_is_supported (call) && recorder_window_has_comm (call->op.comm)) {
    call->op.kind = TRACE_OP_CALL;
    call->op.comm = TRACE_COMM_WORLD;
  }
  recorder_comm_remove (handle);
  recorder_unlock ();
}

WRAP (Comm_free, (MPI_Comm * comm), (comm), describe_free (&call, *comm))
WRAP (Comm_disconnect, (MPI_Comm * comm), (comm), describe_free (&call, *comm))
