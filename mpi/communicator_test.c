/* communicator_test.c - communicators and groups come out as MPI says.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Expected members are worked out by hand from the rules of the MPI standard. */
#include "mpi/communicator.h"

#include "mpi/trace_error.h"

#include <glib.h>
#include <string.h>

#define NEW_COMM  10u
#define NEW_COMM2 11u
#define NEW_GROUP 20u

/* The contribution of a rank to a creation. */
static TraceOp
creation (TraceOpKind kind, uint32_t parent, uint32_t new_comm)
{
  return (TraceOp){ .kind = kind, .comm = parent, .new_comm = new_comm };
}

static TraceOp
split (uint32_t parent, uint32_t new_comm, int32_t color, int32_t key)
{
  return (TraceOp){
    .kind = TRACE_OP_COMM_SPLIT, .comm = parent, .new_comm = new_comm, .color = color, .key = key
  };
}

static bool
create (TraceComms *comms, uint32_t rank, TraceOp op)
{
  GError *error = NULL;
  bool complete;

  g_assert_true (trace_comms_create (comms, rank, &op, &complete, &error));
  g_assert_no_error (error);
  return complete;
}

/* The same by ranks 0 to n - 1. */
static void
create_all (TraceComms *comms, uint32_t n, TraceOp op)
{
  for (uint32_t rank = 0; rank < n; rank++)
    create (comms, rank, op);
}

static void
assert_fails (TraceComms *comms, uint32_t rank, TraceOp op, const char *text)
{
  g_autoptr (GError) error = NULL;
  bool complete;

  g_assert_false (trace_comms_create (comms, rank, &op, &complete, &error));
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_RANGE);
  g_assert_nonnull (strstr (error->message, text));
}

static void
group (TraceComms *comms, uint32_t rank, TraceOp op)
{
  GError *error = NULL;

  g_assert_true (trace_comms_group (comms, rank, &op, &error));
  g_assert_no_error (error);
}

static void
assert_group_fails (TraceComms *comms, TraceOp op, const char *text)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (trace_comms_group (comms, 0, &op, &error));
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_RANGE);
  g_assert_nonnull (strstr (error->message, text));
}

/* The handle of `rank` means a communicator of exactly these world ranks. */
static void
assert_members (const TraceComms *comms, uint32_t rank, uint32_t handle, uint32_t n,
                const uint32_t *members)
{
  uint32_t comm = trace_comms_resolve (comms, rank, handle);

  g_assert_cmpuint (comm, !=, TRACE_COMMS_NULL);
  g_assert_cmpuint (trace_comms_size (comms, comm), ==, n);
  for (uint32_t member = 0; member < n; member++) {
    g_assert_cmpuint (trace_comms_world_rank (comms, comm, member, rank), ==, members[member]);
    g_assert_cmpuint (trace_comms_rank (comms, comm, members[member]), ==, member);
  }
}

#define ASSERT_MEMBERS(comms, rank, handle, ...)                                     \
  assert_members (comms, rank, handle, G_N_ELEMENTS (((uint32_t[]){ __VA_ARGS__ })), \
                  (uint32_t[]){ __VA_ARGS__ })

static void
test_fixed_handles (void)
{
  g_autoptr (TraceComms) comms = trace_comms_new (4);

  g_assert_cmpuint (trace_comms_resolve (comms, 3, TRACE_COMM_NULL), ==, TRACE_COMMS_NULL);
  g_assert_cmpuint (trace_comms_resolve (comms, 3, 77), ==, TRACE_COMMS_NULL);
  ASSERT_MEMBERS (comms, 3, TRACE_COMM_WORLD, 0, 1, 2, 3);
  ASSERT_MEMBERS (comms, 3, TRACE_COMM_SELF, 3);
  g_assert_cmpuint (trace_comms_rank (comms, TRACE_COMMS_WORLD, 4), ==, TRACE_NO_MEMBER);
  g_assert_true (trace_comms_is_world (comms, TRACE_COMMS_WORLD));
  g_assert_false (trace_comms_is_world (comms, TRACE_COMMS_SELF));
  g_assert_cmpuint (trace_comms_created (comms), ==, 0);
  trace_comms_free (NULL);
}

/* Colours 5 and 2; keys turn the order around; equal keys keep it. */
static void
test_split_orders_by_key_then_rank (void)
{
  g_autoptr (TraceComms) comms = trace_comms_new (6);
  static const int32_t colors[] = { 5, 2, 5, 2, 5, 2 }, keys[] = { 9, 0, 3, 0, 3, -1 };

  for (uint32_t rank = 0; rank < 6; rank++)
    g_assert_true (
        create (comms, rank, split (TRACE_COMM_WORLD, NEW_COMM, colors[rank], keys[rank])) ==
        (rank == 5));
  for (uint32_t rank = 0; rank < 6; rank += 2)
    ASSERT_MEMBERS (comms, rank, NEW_COMM, 2, 4, 0);
  for (uint32_t rank = 1; rank < 6; rank += 2)
    ASSERT_MEMBERS (comms, rank, NEW_COMM, 5, 1, 3);
  g_assert_cmpuint (trace_comms_rank (comms, trace_comms_resolve (comms, 0, NEW_COMM), 1), ==,
                    TRACE_NO_MEMBER);
  g_assert_cmpuint (trace_comms_created (comms), ==, 2);
}

static void
test_members_come_in_any_order (void)
{
  static const uint32_t order[] = { 3, 0, 2, 1 };
  g_autoptr (TraceComms) comms = trace_comms_new (4);

  for (uint32_t i = 0; i < 4; i++) {
    g_assert_cmpuint (trace_comms_resolve (comms, 3, NEW_COMM), ==, TRACE_COMMS_NULL);
    g_assert_true (create (comms, order[i], split (TRACE_COMM_WORLD, NEW_COMM + order[i], 1, 0)) ==
                   (i == 3));
  }
  for (uint32_t rank = 0; rank < 4; rank++)
    ASSERT_MEMBERS (comms, rank, NEW_COMM + rank, 0, 1, 2, 3);
}

/* A rank without colour gets nothing, and what its handle meant before is
 * gone. */
static void
test_undefined_color (void)
{
  g_autoptr (TraceComms) comms = trace_comms_new (3);

  create_all (comms, 3, creation (TRACE_OP_COMM_DUP, TRACE_COMM_WORLD, NEW_COMM));
  for (uint32_t rank = 0; rank < 3; rank++)
    create (comms, rank, split (TRACE_COMM_WORLD, NEW_COMM, rank == 1 ? TRACE_UNDEFINED : 0, 0));
  ASSERT_MEMBERS (comms, 0, NEW_COMM, 0, 2);
  ASSERT_MEMBERS (comms, 2, NEW_COMM, 0, 2);
  g_assert_cmpuint (trace_comms_resolve (comms, 1, NEW_COMM), ==, TRACE_COMMS_NULL);
}

static void
test_dup_of_world_is_served_by_the_network (void)
{
  g_autoptr (TraceComms) comms = trace_comms_new (3);

  create_all (comms, 3, creation (TRACE_OP_COMM_DUP, TRACE_COMM_WORLD, NEW_COMM));
  ASSERT_MEMBERS (comms, 1, NEW_COMM, 0, 1, 2);
  g_assert_true (trace_comms_is_world (comms, trace_comms_resolve (comms, 1, NEW_COMM)));
  g_assert_cmpuint (trace_comms_resolve (comms, 1, NEW_COMM), !=, TRACE_COMMS_WORLD);
}

/* Rows {0,1} and {2,3} of four, the second turned around, then its double:
 * the doubles are made at different times. */
static void
test_dup_of_split (void)
{
  g_autoptr (TraceComms) comms = trace_comms_new (4);

  for (uint32_t rank = 0; rank < 4; rank++)
    create (comms, rank, split (TRACE_COMM_WORLD, NEW_COMM, (int32_t) rank / 2, rank == 2 ? 1 : 0));
  g_assert_false (create (comms, 3, creation (TRACE_OP_COMM_DUP, NEW_COMM, NEW_COMM2)));
  g_assert_false (create (comms, 0, creation (TRACE_OP_COMM_DUP, NEW_COMM, NEW_COMM2)));
  g_assert_true (create (comms, 2, creation (TRACE_OP_COMM_DUP, NEW_COMM, NEW_COMM2)));
  ASSERT_MEMBERS (comms, 2, NEW_COMM2, 3, 2);
  g_assert_cmpuint (trace_comms_resolve (comms, 0, NEW_COMM2), ==, TRACE_COMMS_NULL);
  g_assert_true (create (comms, 1, creation (TRACE_OP_COMM_DUP, NEW_COMM, NEW_COMM2)));
  ASSERT_MEMBERS (comms, 0, NEW_COMM2, 0, 1);
  g_assert_false (trace_comms_is_world (comms, trace_comms_resolve (comms, 0, NEW_COMM2)));
  g_assert_cmpuint (trace_comms_created (comms), ==, 4);
}

static void
test_handle_is_used_again (void)
{
  g_autoptr (TraceComms) comms = trace_comms_new (2);
  uint32_t first, second;

  for (uint32_t rank = 0; rank < 2; rank++)
    create (comms, rank, split (TRACE_COMM_WORLD, NEW_COMM, 0, -(int32_t) rank));
  first = trace_comms_resolve (comms, 0, NEW_COMM);
  ASSERT_MEMBERS (comms, 0, NEW_COMM, 1, 0);
  g_assert_cmpuint (trace_comms_release (comms, 0, NEW_COMM), ==, first);
  g_assert_cmpuint (trace_comms_resolve (comms, 0, NEW_COMM), ==, TRACE_COMMS_NULL);
  ASSERT_MEMBERS (comms, 1, NEW_COMM, 1, 0);
  trace_comms_release (comms, 1, NEW_COMM);
  for (uint32_t rank = 0; rank < 2; rank++)
    create (comms, rank, split (TRACE_COMM_WORLD, NEW_COMM, (int32_t) rank, 0));
  second = trace_comms_resolve (comms, 0, NEW_COMM);
  g_assert_cmpuint (first, !=, second);
  ASSERT_MEMBERS (comms, 0, NEW_COMM, 0);
  g_assert_cmpuint (trace_comms_release (comms, 0, NEW_COMM), ==, second);
  g_assert_cmpuint (trace_comms_release (comms, 0, NEW_COMM), ==, TRACE_COMMS_NULL);
  g_assert_cmpuint (trace_comms_release (comms, 0, TRACE_COMM_WORLD), ==, TRACE_COMMS_NULL);
  ASSERT_MEMBERS (comms, 0, TRACE_COMM_WORLD, 0, 1);
}

/* --- Grids and graphs --- */

static TraceOp
grid (uint32_t new_comm, uint32_t n_dims, const int32_t *dims)
{
  return (TraceOp){ .kind = TRACE_OP_CART_CREATE,
                    .comm = TRACE_COMM_WORLD,
                    .new_comm = new_comm,
                    .values = dims,
                    .n_values = n_dims };
}

static TraceOp
cart_sub (uint32_t parent, uint32_t new_comm, uint32_t n_dims, const int32_t *remain)
{
  return (TraceOp){ .kind = TRACE_OP_CART_SUB,
                    .comm = parent,
                    .new_comm = new_comm,
                    .values = remain,
                    .n_values = n_dims };
}

/* A grid of 2 x 3 out of seven ranks: the seventh gets nothing. */
static void
test_cart_create_leaves_some_out (void)
{
  static const int32_t dims[] = { 2, 3 };
  g_autoptr (TraceComms) comms = trace_comms_new (7);

  create_all (comms, 7, grid (NEW_COMM, 2, dims));
  ASSERT_MEMBERS (comms, 4, NEW_COMM, 0, 1, 2, 3, 4, 5);
  g_assert_cmpuint (trace_comms_resolve (comms, 6, NEW_COMM), ==, TRACE_COMMS_NULL);
}

/* 2 x 3 x 2, ranks row-major: rank = 6 a + 2 b + c. */
static void
test_cart_sub (void)
{
  static const int32_t dims[] = { 2, 3, 2 }, middle[] = { 0, 1, 0 }, outer[] = { 1, 0, 1 };
  g_autoptr (TraceComms) comms = trace_comms_new (12);

  create_all (comms, 12, grid (NEW_COMM, 3, dims));
  for (uint32_t rank = 12; rank-- > 0;)
    create (comms, rank, cart_sub (NEW_COMM, NEW_COMM2, 3, middle));
  ASSERT_MEMBERS (comms, 0, NEW_COMM2, 0, 2, 4);
  ASSERT_MEMBERS (comms, 9, NEW_COMM2, 7, 9, 11);
  create_all (comms, 12, cart_sub (NEW_COMM, NEW_COMM2, 3, outer));
  ASSERT_MEMBERS (comms, 8, NEW_COMM2, 2, 3, 8, 9);
}

/* What a cart_sub leaves is a grid again, and so is its double: {1,0,1} of
 * 2 x 3 x 2 is 2 x 2, of which {0,1} are lines along c. */
static void
test_cart_sub_of_dup_of_cart_sub (void)
{
  static const int32_t dims[] = { 2, 3, 2 }, outer[] = { 1, 0, 1 }, last[] = { 0, 1 };
  g_autoptr (TraceComms) comms = trace_comms_new (12);

  create_all (comms, 12, grid (NEW_COMM, 3, dims));
  create_all (comms, 12, cart_sub (NEW_COMM, NEW_COMM2, 3, outer));
  create_all (comms, 12, creation (TRACE_OP_COMM_DUP, NEW_COMM2, NEW_COMM));
  create_all (comms, 12, cart_sub (NEW_COMM, NEW_COMM2, 2, last));
  ASSERT_MEMBERS (comms, 9, NEW_COMM2, 8, 9);
  ASSERT_MEMBERS (comms, 2, NEW_COMM2, 2, 3);
}

static void
test_graph_create (void)
{
  g_autoptr (TraceComms) comms = trace_comms_new (4);
  TraceOp op = creation (TRACE_OP_GRAPH_CREATE, TRACE_COMM_WORLD, NEW_COMM);

  op.color = 3;
  create_all (comms, 4, op);
  ASSERT_MEMBERS (comms, 1, NEW_COMM, 0, 1, 2);
  g_assert_cmpuint (trace_comms_resolve (comms, 3, NEW_COMM), ==, TRACE_COMMS_NULL);
}

/* --- COMM_SELF --- */

static void
test_creations_on_self_are_complete_at_once (void)
{
  static const int32_t dims[] = { 1, 1 };
  g_autoptr (TraceComms) comms = trace_comms_new (3);
  TraceOp op = grid (NEW_COMM2, 2, dims);

  op.comm = TRACE_COMM_SELF;
  g_assert_true (create (comms, 2, creation (TRACE_OP_COMM_DUP, TRACE_COMM_SELF, NEW_COMM)));
  g_assert_true (create (comms, 1, op));
  ASSERT_MEMBERS (comms, 2, NEW_COMM, 2);
  ASSERT_MEMBERS (comms, 1, NEW_COMM2, 1);
}

/* --- Groups --- */

static TraceOp
group_op (TraceOpKind kind, uint32_t first, uint32_t second, uint32_t new_group,
          const int32_t *values, uint32_t n_values)
{
  return (TraceOp){ .kind = kind,
                    .comm = TRACE_COMM_WORLD,
                    .group = first,
                    .group2 = second,
                    .new_group = new_group,
                    .values = values,
                    .n_values = n_values };
}

/* All ranks make the group in the same way, and then its communicator. */
static void
make_group (TraceComms *comms, uint32_t n, TraceOp op)
{
  for (uint32_t rank = 0; rank < n; rank++)
    group (comms, rank, op);
}

static void
make_comm (TraceComms *comms, uint32_t n, uint32_t group_handle)
{
  TraceOp op = creation (TRACE_OP_COMM_CREATE, TRACE_COMM_WORLD, NEW_COMM);

  op.group = group_handle;
  create_all (comms, n, op);
}

/* Groups 20 = all six, 21 = {4,1,2}, 22 = {2,3,4}. */
static TraceComms *
six_with_groups (void)
{
  static const int32_t first[] = { 4, 1, 2 }, second[] = { 2, 4, 1 };
  TraceComms *comms = trace_comms_new (6);

  make_group (comms, 6, group_op (TRACE_OP_COMM_GROUP, 0, 0, 20, NULL, 0));
  make_group (comms, 6, group_op (TRACE_OP_GROUP_INCL, 20, 0, 21, first, 3));
  make_group (comms, 6, group_op (TRACE_OP_GROUP_RANGE_INCL, 20, 0, 22, second, 3));
  return comms;
}

static void
test_comm_of_a_group (void)
{
  g_autoptr (TraceComms) comms = six_with_groups ();

  make_comm (comms, 6, 21);
  ASSERT_MEMBERS (comms, 1, NEW_COMM, 4, 1, 2);
  g_assert_cmpuint (trace_comms_resolve (comms, 0, NEW_COMM), ==, TRACE_COMMS_NULL);
  make_comm (comms, 6, 22);
  ASSERT_MEMBERS (comms, 2, NEW_COMM, 2, 3, 4);
  g_assert_cmpuint (trace_comms_resolve (comms, 1, NEW_COMM), ==, TRACE_COMMS_NULL);
  make_comm (comms, 6, 20);
  g_assert_true (trace_comms_is_world (comms, trace_comms_resolve (comms, 5, NEW_COMM)));
}

static void
test_group_algebra (void)
{
  g_autoptr (TraceComms) comms = six_with_groups ();

  make_group (comms, 6, group_op (TRACE_OP_GROUP_UNION, 21, 22, 23, NULL, 0));
  make_comm (comms, 6, 23);
  ASSERT_MEMBERS (comms, 1, NEW_COMM, 4, 1, 2, 3);
  make_group (comms, 6, group_op (TRACE_OP_GROUP_INTERSECTION, 21, 22, 23, NULL, 0));
  make_comm (comms, 6, 23);
  ASSERT_MEMBERS (comms, 2, NEW_COMM, 4, 2);
  make_group (comms, 6, group_op (TRACE_OP_GROUP_DIFFERENCE, 21, 22, 23, NULL, 0));
  make_comm (comms, 6, 23);
  ASSERT_MEMBERS (comms, 1, NEW_COMM, 1);
}

/* Out of {4,1,2}: without the middle one; without the first and the last. */
static void
test_group_exclusion (void)
{
  static const int32_t middle[] = { 1 }, ends[] = { 0, 2, 2 };
  g_autoptr (TraceComms) comms = six_with_groups ();

  make_group (comms, 6, group_op (TRACE_OP_GROUP_EXCL, 21, 0, 23, middle, 1));
  make_comm (comms, 6, 23);
  ASSERT_MEMBERS (comms, 2, NEW_COMM, 4, 2);
  make_group (comms, 6, group_op (TRACE_OP_GROUP_RANGE_EXCL, 21, 0, 23, ends, 3));
  make_comm (comms, 6, 23);
  ASSERT_MEMBERS (comms, 1, NEW_COMM, 1);
}

/* Triples may run down: 5, 3, 1. */
static void
test_group_range_downwards (void)
{
  static const int32_t down[] = { 5, 0, -2 };
  g_autoptr (TraceComms) comms = six_with_groups ();

  make_group (comms, 6, group_op (TRACE_OP_GROUP_RANGE_INCL, 20, 0, 23, down, 3));
  make_comm (comms, 6, 23);
  ASSERT_MEMBERS (comms, 3, NEW_COMM, 5, 3, 1);
}

/* Group ranks of a split count within it: rank 1 of {5,3,1} is 3. */
static void
test_group_of_a_split (void)
{
  static const int32_t one[] = { 1 };
  g_autoptr (TraceComms) comms = trace_comms_new (6);
  TraceOp op = group_op (TRACE_OP_COMM_GROUP, 0, 0, 20, NULL, 0);

  for (uint32_t rank = 0; rank < 6; rank++)
    create (comms, rank, split (TRACE_COMM_WORLD, NEW_COMM, rank % 2, -(int32_t) rank));
  op.comm = NEW_COMM;
  make_group (comms, 6, op);
  make_group (comms, 6, group_op (TRACE_OP_GROUP_INCL, 20, 0, 21, one, 1));
  make_comm (comms, 6, 21);
  ASSERT_MEMBERS (comms, 3, NEW_COMM, 3);
  ASSERT_MEMBERS (comms, 2, NEW_COMM, 2);
  g_assert_cmpuint (trace_comms_created (comms), ==, 4);
}

static void
test_nobody_in_the_group (void)
{
  g_autoptr (TraceComms) comms = trace_comms_new (2);

  make_comm (comms, 2, TRACE_GROUP_EMPTY);
  g_assert_cmpuint (trace_comms_resolve (comms, 0, NEW_COMM), ==, TRACE_COMMS_NULL);
  g_assert_cmpuint (trace_comms_created (comms), ==, 0);
}

static void
test_group_errors (void)
{
  static const int32_t beyond[] = { 6 }, twice[] = { 1, 1 }, no_stride[] = { 0, 1, 0 };
  g_autoptr (TraceComms) comms = six_with_groups ();
  TraceOp unknown_comm = group_op (TRACE_OP_COMM_GROUP, 0, 0, 23, NULL, 0);

  unknown_comm.comm = 99;
  assert_group_fails (comms, unknown_comm, "unknown communicator 99");
  assert_group_fails (comms, group_op (TRACE_OP_GROUP_INCL, 99, 0, 23, beyond, 1),
                      "unknown group 99");
  assert_group_fails (comms, group_op (TRACE_OP_GROUP_UNION, 20, TRACE_GROUP_NULL, 23, NULL, 0),
                      "unknown group 1");
  assert_group_fails (comms, group_op (TRACE_OP_GROUP_INCL, 20, 0, 23, beyond, 1), "rank 6");
  assert_group_fails (comms, group_op (TRACE_OP_GROUP_EXCL, 20, 0, 23, twice, 2), "twice");
  assert_group_fails (comms, group_op (TRACE_OP_GROUP_RANGE_INCL, 20, 0, 23, no_stride, 3),
                      "stride 0");
  assert_group_fails (comms, group_op (TRACE_OP_GROUP_RANGE_INCL, 20, 0, 23, no_stride, 2),
                      "triples");
  group (comms, 0, group_op (TRACE_OP_GROUP_FREE, 21, 0, 0, NULL, 0));
  assert_group_fails (comms, group_op (TRACE_OP_GROUP_UNION, 20, 21, 23, NULL, 0),
                      "unknown group 21");
}

/* --- Creations that cannot be --- */

static void
test_unknown_parent (void)
{
  g_autoptr (TraceComms) comms = trace_comms_new (2);

  assert_fails (comms, 1, creation (TRACE_OP_COMM_DUP, 99, NEW_COMM), "rank 1: comm_dup");
}

static void
test_members_disagree (void)
{
  static const int32_t dims[] = { 2, 1 }, others[] = { 1, 2 };
  g_autoptr (TraceComms) comms = trace_comms_new (2);

  create (comms, 0, grid (NEW_COMM, 2, dims));
  assert_fails (comms, 1, creation (TRACE_OP_COMM_DUP, TRACE_COMM_WORLD, NEW_COMM),
                "something else");
  assert_fails (comms, 1, grid (NEW_COMM, 2, others), "something else");
  g_assert_true (create (comms, 1, grid (NEW_COMM, 2, dims)));
}

static void
test_impossible_arguments (void)
{
  static const int32_t large[] = { 2, 2 }, none[] = { 0 }, remain[] = { 1 };
  g_autoptr (TraceComms) comms = trace_comms_new (3);
  TraceOp graph = creation (TRACE_OP_GRAPH_CREATE, TRACE_COMM_WORLD, NEW_COMM);

  graph.color = 4;
  assert_fails (comms, 0, graph, "number of nodes");
  assert_fails (comms, 0, grid (NEW_COMM, 2, large), "number of nodes");
  assert_fails (comms, 0, grid (NEW_COMM, 1, none), "number of nodes");
  assert_fails (comms, 0, cart_sub (TRACE_COMM_WORLD, NEW_COMM, 1, remain), "not a grid");
  assert_fails (comms, 0, split (TRACE_COMM_WORLD, NEW_COMM, -2, 0), "negative colour");
}

/* Rank 0 makes a communicator with rank 1, which thinks of another group. */
static void
test_groups_that_differ (void)
{
  static const int32_t both[] = { 0, 1 }, alone[] = { 1 };
  g_autoptr (TraceComms) comms = trace_comms_new (2);
  TraceOp op = creation (TRACE_OP_COMM_CREATE, TRACE_COMM_WORLD, NEW_COMM);

  make_group (comms, 2, group_op (TRACE_OP_COMM_GROUP, 0, 0, 20, NULL, 0));
  group (comms, 0, group_op (TRACE_OP_GROUP_INCL, 20, 0, 21, both, 2));
  group (comms, 1, group_op (TRACE_OP_GROUP_INCL, 20, 0, 21, alone, 1));
  op.group = 21;
  create (comms, 0, op);
  assert_fails (comms, 1, op, "did not name itself");
}

/* MPI allows groups that do not meet to be made in one call. */
static void
test_disjoint_groups (void)
{
  static const int32_t first[] = { 1, 0 }, second[] = { 2 };
  g_autoptr (TraceComms) comms = trace_comms_new (3);
  TraceOp op = creation (TRACE_OP_COMM_CREATE, TRACE_COMM_WORLD, NEW_COMM);

  make_group (comms, 3, group_op (TRACE_OP_COMM_GROUP, 0, 0, 20, NULL, 0));
  for (uint32_t rank = 0; rank < 3; rank++)
    group (comms, rank,
           group_op (TRACE_OP_GROUP_INCL, 20, 0, 21, rank < 2 ? first : second, rank < 2 ? 2 : 1));
  op.group = 21;
  create_all (comms, 3, op);
  ASSERT_MEMBERS (comms, 0, NEW_COMM, 1, 0);
  ASSERT_MEMBERS (comms, 2, NEW_COMM, 2);
}

/* --- Definition --- */

static TraceOp
definition (uint32_t handle, int32_t color, const int32_t *members, uint32_t n)
{
  return (TraceOp){ .kind = TRACE_OP_COMM_DEFINE,
                    .new_comm = handle,
                    .color = color,
                    .values = members,
                    .n_values = n };
}

static void
define (TraceComms *comms, uint32_t rank, TraceOp op)
{
  GError *error = NULL;

  g_assert_true (trace_comms_define (comms, rank, &op, &error));
  g_assert_no_error (error);
}

static void
assert_definition_fails (TraceComms *comms, uint32_t rank, TraceOp op, const char *text)
{
  g_autoptr (GError) error = NULL;

  g_assert_false (trace_comms_define (comms, rank, &op, &error));
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_RANGE);
  g_assert_nonnull (strstr (error->message, text));
}

/* The same under different handles; another colour, or order, is another. */
static void
test_definition (void)
{
  static const int32_t members[] = { 3, 1 }, turned[] = { 1, 3 };
  g_autoptr (TraceComms) comms = trace_comms_new (4);

  define (comms, 3, definition (NEW_COMM, 7, members, 2));
  define (comms, 1, definition (NEW_COMM2, 7, members, 2));
  ASSERT_MEMBERS (comms, 3, NEW_COMM, 3, 1);
  g_assert_cmpuint (trace_comms_resolve (comms, 3, NEW_COMM), ==,
                    trace_comms_resolve (comms, 1, NEW_COMM2));
  g_assert_cmpuint (trace_comms_created (comms), ==, 1);
  define (comms, 3, definition (NEW_COMM2, 8, members, 2));
  define (comms, 1, definition (NEW_COMM, 7, turned, 2));
  g_assert_cmpuint (trace_comms_created (comms), ==, 3);
  g_assert_cmpuint (trace_comms_release (comms, 3, NEW_COMM), ==, TRACE_COMMS_NULL);
}

static void
test_definition_again (void)
{
  static const int32_t all[] = { 0, 1, 2 }, self[] = { 1 };
  g_autoptr (TraceComms) comms = trace_comms_new (3);

  define (comms, 1, definition (NEW_COMM, 0, self, 1));
  define (comms, 1, definition (NEW_COMM, 0, all, 3));
  ASSERT_MEMBERS (comms, 1, NEW_COMM, 0, 1, 2);
  g_assert_true (trace_comms_is_world (comms, trace_comms_resolve (comms, 1, NEW_COMM)));
}

static void
test_definition_errors (void)
{
  static const int32_t twice[] = { 2, 0, 2 }, outside[] = { 0, 3 }, negative[] = { -1, 0 },
                       others[] = { 1, 2 };
  g_autoptr (TraceComms) comms = trace_comms_new (3);

  assert_definition_fails (comms, 0, definition (NEW_COMM, 0, twice, 3), "a member twice");
  assert_definition_fails (comms, 0, definition (NEW_COMM, 0, outside, 2),
                           "member 3 of a trace of 3 ranks");
  assert_definition_fails (comms, 0, definition (NEW_COMM, 0, negative, 2), "member -1");
  assert_definition_fails (comms, 0, definition (NEW_COMM, 0, others, 2), "not a member");
  assert_definition_fails (comms, 0, definition (NEW_COMM, 0, NULL, 0), "no members");
  assert_definition_fails (comms, 1, definition (TRACE_COMM_WORLD, 0, others, 2), "predefined");
  g_assert_cmpuint (trace_comms_resolve (comms, 0, NEW_COMM), ==, TRACE_COMMS_NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/communicator/fixed-handles", test_fixed_handles);
  g_test_add_func ("/traces/communicator/split-order", test_split_orders_by_key_then_rank);
  g_test_add_func ("/traces/communicator/any-order", test_members_come_in_any_order);
  g_test_add_func ("/traces/communicator/undefined-color", test_undefined_color);
  g_test_add_func ("/traces/communicator/dup-of-world", test_dup_of_world_is_served_by_the_network);
  g_test_add_func ("/traces/communicator/dup-of-split", test_dup_of_split);
  g_test_add_func ("/traces/communicator/handle-used-again", test_handle_is_used_again);
  g_test_add_func ("/traces/communicator/cart-create", test_cart_create_leaves_some_out);
  g_test_add_func ("/traces/communicator/cart-sub", test_cart_sub);
  g_test_add_func ("/traces/communicator/cart-sub-of-cart-sub", test_cart_sub_of_dup_of_cart_sub);
  g_test_add_func ("/traces/communicator/graph-create", test_graph_create);
  g_test_add_func ("/traces/communicator/on-self", test_creations_on_self_are_complete_at_once);
  g_test_add_func ("/traces/communicator/comm-of-group", test_comm_of_a_group);
  g_test_add_func ("/traces/communicator/group-algebra", test_group_algebra);
  g_test_add_func ("/traces/communicator/group-exclusion", test_group_exclusion);
  g_test_add_func ("/traces/communicator/group-range-downwards", test_group_range_downwards);
  g_test_add_func ("/traces/communicator/group-of-split", test_group_of_a_split);
  g_test_add_func ("/traces/communicator/empty-group", test_nobody_in_the_group);
  g_test_add_func ("/traces/communicator/disjoint-groups", test_disjoint_groups);
  g_test_add_func ("/traces/communicator/group-errors", test_group_errors);
  g_test_add_func ("/traces/communicator/unknown-parent", test_unknown_parent);
  g_test_add_func ("/traces/communicator/members-disagree", test_members_disagree);
  g_test_add_func ("/traces/communicator/impossible-arguments", test_impossible_arguments);
  g_test_add_func ("/traces/communicator/groups-that-differ", test_groups_that_differ);
  g_test_add_func ("/traces/communicator/definition", test_definition);
  g_test_add_func ("/traces/communicator/definition-again", test_definition_again);
  g_test_add_func ("/traces/communicator/definition-errors", test_definition_errors);
  return g_test_run ();
}
