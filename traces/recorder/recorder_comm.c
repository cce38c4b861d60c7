/* recorder_comm.c - wrappers of communicators, windows and calls that move nothing.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recorder_wrap.h"

#include <stdlib.h>
#include <string.h>

/* --- Communicators --- */

/* Duplicates and splits are recorded as such.  For all others the list of
 * members, as ranks of MPI_COMM_WORLD, is written after the call that made
 * them: in most of these calls all members of the parent meet, so the call is
 * written as a barrier.
 *
 * All members write the same number with the list of members.  The first of
 * them makes it, unlike any that it or another rank made before, and sends it
 * to the others over the new communicator. */

/* --- Members --- */

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

/* Mixes numbers, for communicators whose members cannot exchange messages yet. */
static uint64_t
mix (uint64_t a, uint64_t b)
{
  uint64_t mixed = (a ^ b * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;

  return mixed ^ mixed >> 31;
}

/* A communicator that came out of `parent`, in a call of all its members or
 * only of its own.  All members compute the same identity without
 * messages, as they make communicators in the same order. */
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

/* kind_of_call has the cost of the call, and `leave` records the result; the statements after the
 * arguments run first. */
#define COMM_CREATE(name, kind_of_call, leave, parameters, arguments, ...) \
  int MPI_##name parameters                                                \
  {                                                                        \
    WRAP_BEGIN (name, arguments);                                          \
    int code;                                                              \
                                                                           \
    __VA_ARGS__;                                                           \
    recorder_describe_collective (&call, kind_of_call, parent);            \
    code = real arguments;                                                 \
    leave (&call, parent, made, code);                                     \
    return code;                                                           \
  }                                                                        \
  PROFILED (name)

COMM_CREATE (Comm_dup, TRACE_OP_COMM_DUP, leave_with_new, (MPI_Comm parent, MPI_Comm *made),
             (parent, made), )
COMM_CREATE (Comm_dup_with_info, TRACE_OP_COMM_DUP, leave_with_new,
             (MPI_Comm parent, MPI_Info info, MPI_Comm *made), (parent, info, made), )
COMM_CREATE (Comm_split, TRACE_OP_COMM_SPLIT, leave_with_new,
             (MPI_Comm parent, int color, int key, MPI_Comm *made), (parent, color, key, made),
             call.op.color = color == MPI_UNDEFINED ? TRACE_UNDEFINED : color;
             call.op.key = key)

/* --- All others --- */

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
    static _Atomic (int32_t) n_made;

    const RecorderComm *world;
    int32_t color;

    recorder_lock ();
    world = recorder_comm (recorder_mpi.world);
    recorder_unlock ();
    color = comm->rank == 0 ? n_made++ * world->size + world->rank : 0;
    recorder_mpi.Bcast (&color, 1, recorder_mpi.integer, 0, *made);
    define.color = color;
    call->then = &define;
  }
  recorder_leave (call, code);
}

#define COMM_DEFINE(name, kind_of_call, parameters, arguments) \
  COMM_CREATE (name, kind_of_call, leave_with_defined, parameters, arguments, )

COMM_DEFINE (Comm_create, TRACE_OP_BARRIER, (MPI_Comm parent, MPI_Group group, MPI_Comm *made),
             (parent, group, made))
COMM_DEFINE (Comm_create_group, TRACE_OP_CALL,
             (MPI_Comm parent, MPI_Group group, int tag, MPI_Comm *made),
             (parent, group, tag, made))
COMM_DEFINE (Comm_split_type, TRACE_OP_BARRIER,
             (MPI_Comm parent, int type, int key, MPI_Info info, MPI_Comm *made),
             (parent, type, key, info, made))
COMM_DEFINE (Cart_create, TRACE_OP_BARRIER,
             (MPI_Comm parent, int n_dims, const int *dims, const int *periods, int reorder,
              MPI_Comm *made),
             (parent, n_dims, dims, periods, reorder, made))
COMM_DEFINE (Cart_sub, TRACE_OP_BARRIER, (MPI_Comm parent, const int *remain, MPI_Comm *made),
             (parent, remain, made))
COMM_DEFINE (Graph_create, TRACE_OP_BARRIER,
             (MPI_Comm parent, int n, const int *index, const int *edges, int reorder,
              MPI_Comm *made),
             (parent, n, index, edges, reorder, made))
COMM_DEFINE (Dist_graph_create, TRACE_OP_BARRIER,
             (MPI_Comm parent, int n, const int *sources, const int *degrees, const int *targets,
              const int *weights, MPI_Info info, int reorder, MPI_Comm *made),
             (parent, n, sources, degrees, targets, weights, info, reorder, made))
COMM_DEFINE (Dist_graph_create_adjacent, TRACE_OP_BARRIER,
             (MPI_Comm parent, int n_in, const int *in, const int *in_weights, int n_out,
              const int *out, const int *out_weights, MPI_Info info, int reorder, MPI_Comm *made),
             (parent, n_in, in, in_weights, n_out, out, out_weights, info, reorder, made))
COMM_DEFINE (Intercomm_merge, TRACE_OP_UNSUPPORTED, (MPI_Comm parent, int high, MPI_Comm *made),
             (parent, high, made))
COMM_DEFINE (Intercomm_create, TRACE_OP_UNSUPPORTED,
             (MPI_Comm parent, int leader, MPI_Comm peer, int remote_leader, int tag,
              MPI_Comm *made),
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

/* The call does not wait for the other members, so no message to them is
 * possible in it: the number of the duplicate follows from its identity. */
int
MPI_Comm_idup (MPI_Comm parent, MPI_Comm *made, MPI_Request *request)
{
  WRAP_BEGIN (Comm_idup, (parent, made, request));
  RecorderComm *comm = calloc (1, sizeof *comm), *original;
  TraceOp define;
  int code;

  recorder_describe_collective (&call, TRACE_OP_BARRIER, parent);
  recorder_describe_nonblocking (&call, request);
  recorder_post (&call);
  code = real (parent, made, request);
  if (comm == NULL)
    abort ();
  recorder_lock ();
  original = recorder_comm (parent);
  *comm = *original;
  comm->number = recorder_comm_number ();
  comm->has_neighbors = false;
  comm->in = comm->out = NULL;
  comm->identity = mix (original->identity, ++original->n_made);
  comm->n_made = 0;
  if (define_comm (&define, parent, comm)) {
    define.new_comm = comm->number;
    define.color = (int32_t) (comm->identity & 0x3fffffff) | 0x40000000;
    call.then = &define;
  }
  recorder_leave (&call, code);
  pending.all = realloc (pending.all, (pending.n + 1) * sizeof *pending.all);
  if (pending.all == NULL)
    abort ();
  pending.all[pending.n].request = call.op.request;
  pending.all[pending.n].where = made;
  pending.all[pending.n++].comm = comm;
  recorder_unlock ();
  return code;
}
PROFILED (Comm_idup)

/* --- Freeing --- */

/* A window outlives the communicator that it was made of, but is recorded by
 * its number, so that one is kept.  No number is used twice. */
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

/* --- One-sided communication --- */

/* --- Windows --- */

static void
leave_with_window (RecorderCall *call, const MPI_Win *made, int code)
{
  call->leave_ns = recorder_now_ns ();
  recorder_lock ();
  if (code == MPI_SUCCESS)
    call->op.window = recorder_window_add (*made, call->op.comm)->number;
  recorder_leave (call, code);
  recorder_unlock ();
}

#define WINDOW_CREATE(name, parameters, arguments)                   \
  int MPI_##name parameters                                          \
  {                                                                  \
    WRAP_BEGIN (name, arguments);                                    \
    int code;                                                        \
                                                                     \
    recorder_describe_collective (&call, TRACE_OP_WIN_CREATE, comm); \
    code = real arguments;                                           \
    leave_with_window (&call, made, code);                           \
    return code;                                                     \
  }                                                                  \
  PROFILED (name)

WINDOW_CREATE (Win_create,
               (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *made),
               (base, size, unit, info, comm, made))
WINDOW_CREATE (Win_allocate,
               (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),
               (size, unit, info, comm, base, made))
WINDOW_CREATE (Win_allocate_shared,
               (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *made),
               (size, unit, info, comm, base, made))
WINDOW_CREATE (Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *made),
               (info, comm, made))

/* Its numbers are copied: another thread may be freeing another window. */
static RecorderWindow *
describe_window (RecorderCall *call, TraceOpKind kind, MPI_Win handle)
{
  RecorderWindow *window;

  recorder_lock ();
  window = recorder_window (handle);
  recorder_unlock ();
  call->op.kind = kind;
  if (window != NULL) {
    call->op.window = window->number;
    call->op.comm = window->comm;
  }
  if (window == NULL || window->comm == 0)
    call->op.kind = TRACE_OP_UNSUPPORTED;
  return window;
}

static void
describe_win_free (RecorderCall *call, MPI_Win handle)
{
  describe_window (call, TRACE_OP_WIN_FREE, handle);
  recorder_lock ();
  recorder_window_remove (handle);
  recorder_unlock ();
}

WRAP (Win_free, (MPI_Win * window), (window), describe_win_free (&call, *window))

/* --- Accesses --- */

static void
describe_access (RecorderCall *call, TraceOpKind kind, int target, uint64_t bytes,
                 uint64_t recv_bytes, MPI_Win handle)
{
  call->op.peer = recorder_peer (target);
  call->op.bytes = bytes;
  call->op.recv_bytes = recv_bytes;
  describe_window (call, kind, handle);
}

/* MPI_name and, with a request, MPI_rname. */
#define ACCESS(name, rname, parameters, arguments, ...)                                      \
  WRAP (name, (UNPACK parameters), (UNPACK arguments), describe_access (&call, __VA_ARGS__)) \
  WRAP (rname, (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request),      \
        describe_access (&call, __VA_ARGS__);                                                \
        recorder_describe_nonblocking (&call, request); recorder_post (&call))

ACCESS (Put, Rput,
        (const void *data, int count, MPI_Datatype type, int target, MPI_Aint place,
         int target_count, MPI_Datatype target_type, MPI_Win window),
        (data, count, type, target, place, target_count, target_type, window), TRACE_OP_PUT, target,
        recorder_bytes (count, type), 0, window)

ACCESS (Get, Rget,
        (void *data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,
         MPI_Datatype target_type, MPI_Win window),
        (data, count, type, target, place, target_count, target_type, window), TRACE_OP_GET, target,
        0, recorder_bytes (count, type), window)

ACCESS (Accumulate, Raccumulate,
        (const void *data, int count, MPI_Datatype type, int target, MPI_Aint place,
         int target_count, MPI_Datatype target_type, MPI_Op operation, MPI_Win window),
        (data, count, type, target, place, target_count, target_type, operation, window),
        TRACE_OP_PUT, target, recorder_bytes (count, type), 0, window)

/* With MPI_NO_OP the origin has nothing to give. */
ACCESS (Get_accumulate, Rget_accumulate,
        (const void *data, int count, MPI_Datatype type, void *result, int result_count,
         MPI_Datatype result_type, int target, MPI_Aint place, int target_count,
         MPI_Datatype target_type, MPI_Op operation, MPI_Win window),
        (data, count, type, result, result_count, result_type, target, place, target_count,
         target_type, operation, window),
        TRACE_OP_FETCH, target,
        operation == recorder_mpi.no_operation ? 0 : recorder_bytes (count, type),
        recorder_bytes (result_count, result_type), window)

WRAP (Fetch_and_op,
      (const void *data, void *result, MPI_Datatype type, int target, MPI_Aint place,
       MPI_Op operation, MPI_Win window),
      (data, result, type, target, place, operation, window),
      describe_access (&call, TRACE_OP_FETCH, target,
                       operation == recorder_mpi.no_operation ? 0 : recorder_bytes (1, type),
                       recorder_bytes (1, type), window))

/* The value to compare with and its replacement go to the target. */
WRAP (Compare_and_swap,
      (const void *data, const void *compare, void *result, MPI_Datatype type, int target,
       MPI_Aint place, MPI_Win window),
      (data, compare, result, type, target, place, window),
      describe_access (&call, TRACE_OP_FETCH, target, recorder_bytes (2, type),
                       recorder_bytes (1, type), window))

/* --- Synchronization --- */

static void
describe_flush (RecorderCall *call, int32_t target, MPI_Win handle)
{
  call->op.peer = target;
  describe_window (call, TRACE_OP_WIN_FLUSH, handle);
}

WRAP (Win_fence, (int assertion, MPI_Win window), (assertion, window),
      describe_window (&call, TRACE_OP_WIN_FENCE, window))
WRAP (Win_lock, (int type, int target, int assertion, MPI_Win window),
      (type, target, assertion, window))
WRAP (Win_lock_all, (int assertion, MPI_Win window), (assertion, window))
WRAP (Win_sync, (MPI_Win window), (window))

#define FLUSH(name)                                           \
  WRAP (name, (int target, MPI_Win window), (target, window), \
        describe_flush (&call, recorder_peer (target), window))
#define FLUSH_ALL(name) \
  WRAP (name, (MPI_Win window), (window), describe_flush (&call, TRACE_ANY_SOURCE, window))

FLUSH (Win_unlock)
FLUSH (Win_flush)
FLUSH (Win_flush_local)
FLUSH_ALL (Win_unlock_all)
FLUSH_ALL (Win_flush_all)
FLUSH_ALL (Win_flush_local_all)

/* --- Post, start, complete, wait --- */

/* Ranks of a group in the communicator of the window; the caller frees. */
static int32_t *
ranks_of (MPI_Group group, MPI_Win handle, uint32_t *n_ranks)
{
  MPI_Group all;
  int n;
  int32_t *ranks, *members;

  recorder_mpi.Group_size (group, &n);
  members = recorder_scratch (RECORDER_INDICES, (size_t) n * sizeof *members);
  ranks = calloc ((size_t) n + 1, sizeof *ranks);
  if (ranks == NULL)
    abort ();
  for (int i = 0; i < n; i++)
    members[i] = i;
  recorder_mpi.Win_get_group (handle, &all);
  recorder_mpi.Group_translate_ranks (group, n, members, all, ranks);
  recorder_mpi.Group_free (&all);
  *n_ranks = (uint32_t) n;
  return ranks;
}

/* The ranks stay with the window until the epoch ends. */
static void
describe_epoch (RecorderCall *call, TraceOpKind kind, MPI_Group group, MPI_Win handle)
{
  RecorderWindow *window = describe_window (call, kind, handle);
  int32_t **ranks;
  uint32_t *n;

  if (window == NULL)
    return;
  ranks = kind == TRACE_OP_WIN_POST ? &window->exposed : &window->accessed;
  n = kind == TRACE_OP_WIN_POST ? &window->n_exposed : &window->n_accessed;
  free (*ranks);
  *ranks = ranks_of (group, handle, n);
  call->op.values = *ranks;
  call->op.n_values = *n;
}

static void
describe_epoch_end (RecorderCall *call, TraceOpKind kind, MPI_Win handle)
{
  const RecorderWindow *window = describe_window (call, kind, handle);

  if (window == NULL)
    return;
  call->op.values = kind == TRACE_OP_WIN_WAIT ? window->exposed : window->accessed;
  call->op.n_values = kind == TRACE_OP_WIN_WAIT ? window->n_exposed : window->n_accessed;
}

WRAP (Win_post, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window),
      describe_epoch (&call, TRACE_OP_WIN_POST, group, window))
WRAP (Win_start, (MPI_Group group, int assertion, MPI_Win window), (group, assertion, window),
      describe_epoch (&call, TRACE_OP_WIN_START, group, window))
WRAP (Win_complete, (MPI_Win window), (window),
      describe_epoch_end (&call, TRACE_OP_WIN_COMPLETE, window))
WRAP (Win_wait, (MPI_Win window), (window), describe_epoch_end (&call, TRACE_OP_WIN_WAIT, window))

int
MPI_Win_test (MPI_Win window, int *flag)
{
  WRAP_BEGIN (Win_test, (window, flag));
  int code = real (window, flag);

  if (code == MPI_SUCCESS && *flag)
    describe_epoch_end (&call, TRACE_OP_WIN_WAIT, window);
  recorder_leave (&call, code);
  return code;
}
PROFILED (Win_test)

/* --- The beginning, the end, and calls that only cost time --- */

/* Local calls that are not here (sizes, types, groups, attributes) count as
 * computation. */

#define REAL(name) ((__typeof__ (&MPI_##name)) recorder_real ("PMPI_" #name))

int
MPI_Init (int *argc, char ***argv)
{
  int64_t enter_ns = recorder_now_ns ();
  int code = REAL (Init) (argc, argv);

  if (code == MPI_SUCCESS)
    recorder_start ("MPI_Init", __builtin_return_address (0), enter_ns);
  return code;
}
PROFILED (Init)

int
MPI_Init_thread (int *argc, char ***argv, int required, int *provided)
{
  int64_t enter_ns = recorder_now_ns ();
  int code = REAL (Init_thread) (argc, argv, required, provided);

  if (code == MPI_SUCCESS)
    recorder_start ("MPI_Init_thread", __builtin_return_address (0), enter_ns);
  return code;
}
PROFILED (Init_thread)

int
MPI_Finalize (void)
{
  WRAP_BEGIN (Finalize, ());
  int code;

  call.op.kind = TRACE_OP_FINALIZE;
  recorder_save ();
  code = real ();
  recorder_leave (&call, code);
  recorder_finish ();
  return code;
}
PROFILED (Finalize)

/* It does not return. */
int
MPI_Abort (MPI_Comm comm, int code)
{
  recorder_save ();
  return REAL (Abort) (comm, code);
}
PROFILED (Abort)

/* --- Calls that a replay does not support --- */

WRAP (Comm_spawn,
      (const char *command, char *argv[], int n, MPI_Info info, int root, MPI_Comm comm,
       MPI_Comm *made, int codes[]),
      (command, argv, n, info, root, comm, made, codes), op->kind = TRACE_OP_UNSUPPORTED)
WRAP (Comm_spawn_multiple,
      (int n_commands, char *commands[], char **argvs[], const int n[], const MPI_Info infos[],
       int root, MPI_Comm comm, MPI_Comm *made, int codes[]),
      (n_commands, commands, argvs, n, infos, root, comm, made, codes),
      op->kind = TRACE_OP_UNSUPPORTED)
WRAP (Comm_accept, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
      (port, info, root, comm, made), op->kind = TRACE_OP_UNSUPPORTED)
WRAP (Comm_connect, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
      (port, info, root, comm, made), op->kind = TRACE_OP_UNSUPPORTED)

/* --- Calls that wait without moving data between ranks --- */

WRAP (Buffer_detach, (void *buffer, int *size), (buffer, size))

/* --- Files --- */

WRAP (File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file),
      (comm, name, mode, info, file))
WRAP (File_close, (MPI_File * file), (file))
WRAP (File_delete, (const char *name, MPI_Info info), (name, info))
WRAP (File_sync, (MPI_File file), (file))
WRAP (File_set_size, (MPI_File file, MPI_Offset size), (file, size))
WRAP (File_preallocate, (MPI_File file, MPI_Offset size), (file, size))
WRAP (File_get_size, (MPI_File file, MPI_Offset *size), (file, size))
WRAP (File_seek, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))
WRAP (File_seek_shared, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))
WRAP (File_set_view,
      (MPI_File file, MPI_Offset place, MPI_Datatype unit, MPI_Datatype type, const char *format,
       MPI_Info info),
      (file, place, unit, type, format, info))

/* in: const or nothing; last: the result of the call, a status or a request. */
#define FILE_ACCESS(name, in, last)                                               \
  WRAP (name, (MPI_File file, in void *data, int count, MPI_Datatype type, last), \
        (file, data, count, type, result))
#define FILE_ACCESS_AT(name, in, last)                                                        \
  WRAP (name,                                                                                 \
        (MPI_File file, MPI_Offset place, in void *data, int count, MPI_Datatype type, last), \
        (file, place, data, count, type, result))
#define FILE_BEGIN(name, in)                                                \
  WRAP (name, (MPI_File file, in void *data, int count, MPI_Datatype type), \
        (file, data, count, type))
#define FILE_BEGIN_AT(name, in)                                                               \
  WRAP (name, (MPI_File file, MPI_Offset place, in void *data, int count, MPI_Datatype type), \
        (file, place, data, count, type))
#define FILE_END(name, in) \
  WRAP (name, (MPI_File file, in void *data, MPI_Status *status), (file, data, status))

FILE_ACCESS (File_read, , MPI_Status *result)
FILE_ACCESS (File_read_all, , MPI_Status *result)
FILE_ACCESS (File_read_shared, , MPI_Status *result)
FILE_ACCESS (File_read_ordered, , MPI_Status *result)
FILE_ACCESS (File_iread, , MPI_Request *result)
FILE_ACCESS (File_iread_all, , MPI_Request *result)
FILE_ACCESS (File_iread_shared, , MPI_Request *result)
FILE_ACCESS (File_write, const, MPI_Status *result)
FILE_ACCESS (File_write_all, const, MPI_Status *result)
FILE_ACCESS (File_write_shared, const, MPI_Status *result)
FILE_ACCESS (File_write_ordered, const, MPI_Status *result)
FILE_ACCESS (File_iwrite, const, MPI_Request *result)
FILE_ACCESS (File_iwrite_all, const, MPI_Request *result)
FILE_ACCESS (File_iwrite_shared, const, MPI_Request *result)
FILE_ACCESS_AT (File_read_at, , MPI_Status *result)
FILE_ACCESS_AT (File_read_at_all, , MPI_Status *result)
FILE_ACCESS_AT (File_iread_at, , MPI_Request *result)
FILE_ACCESS_AT (File_iread_at_all, , MPI_Request *result)
FILE_ACCESS_AT (File_write_at, const, MPI_Status *result)
FILE_ACCESS_AT (File_write_at_all, const, MPI_Status *result)
FILE_ACCESS_AT (File_iwrite_at, const, MPI_Request *result)
FILE_ACCESS_AT (File_iwrite_at_all, const, MPI_Request *result)
FILE_BEGIN (File_read_all_begin, )
FILE_BEGIN (File_read_ordered_begin, )
FILE_BEGIN (File_write_all_begin, const)
FILE_BEGIN (File_write_ordered_begin, const)
FILE_BEGIN_AT (File_read_at_all_begin, )
FILE_BEGIN_AT (File_write_at_all_begin, const)
FILE_END (File_read_all_end, )
FILE_END (File_read_ordered_end, )
FILE_END (File_read_at_all_end, )
FILE_END (File_write_all_end, const)
FILE_END (File_write_ordered_end, const)
FILE_END (File_write_at_all_end, const)
