/* collective_levels.c - collectives in stages on nodes and among their leaders.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A stage is a collective of its own on a group of the ranks, with ranks numbered within it.
 * Segment s of a call goes through stage k in turn s + k:
 *
 *            segment  0     1     2
 *   turn 0            node
 *   turn 1            lead  node
 *   turn 2            node' lead  node
 *   turn 3                  node' lead
 *   turn 4                        node'
 *
 * In a turn a leader has stages of its node and stages among the leaders.  Open MPI's coll/han
 * posts the latter as nonblocking calls, makes the former, blocking ones, and waits for all.
 * Here the n-th step among the leaders is posted with the n-th step in the node, and the rank
 * waits for both: the two overlap, in lockstep.  Several stages among the leaders follow one
 * another, where coll/han has them at once.
 *
 * This cannot deadlock.  A chain of waits that leaves the leaders stays within one node, which
 * has one leader, and comes back to that leader at an earlier step, as in the node's collective
 * alone.  So a circle would be one of the leaders' collective, which has none. */
#include "sim/collective/collective_steps.h"

#include <glib.h>
#include <string.h>

/* More turns than this, counted for all ranks, are not worth a pipeline: the call has one segment
 * then, and its steps can be counted. */
#define MOST_SEGMENTS_OF_RANKS (UINT64_C (1) << 28)

/* --- The ranks of a communicator by nodes --- */

typedef struct {
  uint32_t node, rank;
} Located;

static int
by_node_and_rank (const void *a, const void *b)
{
  const Located *x = a, *y = b;

  if (x->node != y->node)
    return x->node < y->node ? -1 : 1;
  return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Numbers nodes by their first ranks. */
static void
number_nodes (SimGroups *groups, const uint32_t *node, uint32_t n_ranks)
{
  g_autofree Located *located = g_new (Located, n_ranks);
  g_autofree uint32_t *first = g_new (uint32_t, n_ranks);

  for (uint32_t rank = 0; rank < n_ranks; rank++)
    located[rank] = (Located){ node[rank], rank };
  qsort (located, n_ranks, sizeof *located, by_node_and_rank);
  for (uint32_t i = 0; i < n_ranks; i++)
    first[located[i].rank] = i > 0 && located[i].node == located[i - 1].node
                                 ? first[located[i - 1].rank]
                                 : located[i].rank;
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    groups->node[rank] = first[rank] == rank ? groups->n_nodes++ : groups->node[first[rank]];
}

/* Lists the ranks by their keys: those of key k are list[start[k]] .. list[start[k + 1] - 1], and
 * nth[rank] is a rank's number among them. */
static void
list_by (const uint32_t *key, uint32_t n_ranks, uint32_t n_keys, uint32_t *start, uint32_t *list,
         uint32_t *nth)
{
  memset (start, 0, (n_keys + 1) * sizeof *start);
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    nth[rank] = start[key[rank] + 1]++;
  for (uint32_t k = 0; k < n_keys; k++)
    start[k + 1] += start[k];
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    list[start[key[rank]] + nth[rank]] = rank;
}

static void
groups_clear (gpointer data)
{
  SimGroups *groups = data;

  g_free (groups->node);
  g_free (groups->local);
  g_free (groups->place);
  g_free (groups->first_member);
  g_free (groups->members);
  g_free (groups->first_peer);
  g_free (groups->peers);
}

SimGroups *
sim_groups_new (const uint32_t *node, uint32_t n_ranks)
{
  SimGroups *groups = g_rc_box_new0 (SimGroups);
  uint32_t n_local = 0, least = n_ranks;

  groups->node = g_new (uint32_t, n_ranks);
  number_nodes (groups, node, n_ranks);
  if (groups->n_nodes == 1 || groups->n_nodes == n_ranks) {
    sim_groups_unref (groups);
    return NULL;
  }
  groups->local = g_new (uint32_t, n_ranks);
  groups->members = g_new (uint32_t, n_ranks);
  groups->first_member = g_new (uint32_t, groups->n_nodes + 1);
  list_by (groups->node, n_ranks, groups->n_nodes, groups->first_member, groups->members,
           groups->local);
  for (uint32_t k = 0; k < groups->n_nodes; k++) {
    uint32_t n = groups->first_member[k + 1] - groups->first_member[k];

    n_local = MAX (n_local, n);
    least = MIN (least, n);
  }
  groups->place = g_new (uint32_t, n_ranks);
  groups->peers = g_new (uint32_t, n_ranks);
  groups->first_peer = g_new (uint32_t, n_local + 1);
  list_by (groups->local, n_ranks, n_local, groups->first_peer, groups->peers, groups->place);
  groups->even = least == n_local;
  groups->in_order = true;
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    groups->in_order = groups->in_order && groups->members[rank] == rank;
  return groups;
}

SimGroups *
sim_groups_ref (SimGroups *groups)
{
  return groups == NULL ? NULL : g_rc_box_acquire (groups);
}

void
sim_groups_unref (SimGroups *groups)
{
  if (groups != NULL)
    g_rc_box_release_full (groups, groups_clear);
}

/* --- The group of a stage --- */

/* Of which this rank is one; all numbers but `ranks` count within it. */
typedef struct {
  uint32_t n, rank, root;
  const uint32_t *ranks; /* NULL: the pair */
  uint32_t pair[2];
  bool swapped; /* number 0 stands for the root, and the root's for 0 */
} Group;

static bool
has_root (const SimCollective *collective)
{
  return collective->kind == TRACE_OP_BCAST || collective->kind == TRACE_OP_REDUCE ||
         collective->kind == TRACE_OP_GATHER || collective->kind == TRACE_OP_SCATTER;
}

static bool
is_among_leaders (const SimStage *stage)
{
  return stage->group == SIM_GROUP_LEADERS;
}

/* The number that leaders have in their nodes. */
static uint32_t
local_of_leaders (const SimCollective *collective)
{
  return collective->stages->root_leads ? collective->groups->local[collective->root] : 0;
}

static void
set_node (const SimCollective *collective, uint32_t root, Group *group)
{
  const SimGroups *groups = collective->groups;
  uint32_t node = groups->node[collective->rank];

  group->n = groups->first_member[node + 1] - groups->first_member[node];
  group->ranks = &groups->members[groups->first_member[node]];
  group->rank = groups->local[collective->rank];
  group->root = root;
}

static void
set_leaders (const SimCollective *collective, const SimStage *stage, Group *group)
{
  const SimGroups *groups = collective->groups;
  uint32_t local = local_of_leaders (collective);

  if (groups->local[collective->rank] != local)
    return;
  group->n = groups->first_peer[local + 1] - groups->first_peer[local];
  group->ranks = &groups->peers[groups->first_peer[local]];
  group->rank = groups->place[collective->rank];
  if (collective->stages->root_leads)
    group->root = groups->place[collective->root];
  else if (has_root (collective) && !stage->to_first)
    group->root = groups->node[collective->root]; /* nodes are in the order of their leaders */
}

static void
set_pair (const SimCollective *collective, uint32_t first, uint32_t second, uint32_t root,
          Group *group)
{
  if (first == second || (collective->rank != first && collective->rank != second))
    return;
  group->n = 2;
  group->pair[0] = first;
  group->pair[1] = second;
  group->rank = collective->rank == second;
  group->root = root;
}

/* False when this rank has nothing to do in the stage. */
static bool
find_group (const SimCollective *collective, const SimStage *stage, Group *group)
{
  const SimGroups *groups = collective->groups;
  uint32_t root = has_root (collective) ? (uint32_t) collective->root : 0;
  uint32_t node = groups->node[root];
  bool with_root = groups->node[collective->rank] == node;

  *group = (Group){ .n = 0 };
  switch ((SimGroupKind) stage->group) {
  case SIM_GROUP_NODE: set_node (collective, local_of_leaders (collective), group); break;
  case SIM_GROUP_ROOT_NODE:
    if (with_root)
      set_node (collective, groups->local[root], group);
    break;
  case SIM_GROUP_OTHER_NODES:
    if (!with_root)
      set_node (collective, 0, group);
    break;
  case SIM_GROUP_LEADERS: set_leaders (collective, stage, group); break;
  case SIM_GROUP_ROOT_TO_LEADER:
    set_pair (collective, groups->members[groups->first_member[node]], root, 1, group);
    break;
  case SIM_GROUP_FIRST_TO_ROOT: set_pair (collective, 0, root, 0, group); break;
  }
  return group->n > 1;
}

static uint32_t
swap_with_root (const Group *group, uint32_t number)
{
  if (!group->swapped || (number != 0 && number != group->root))
    return number;
  return number == 0 ? group->root : 0;
}

static uint32_t
rank_of (const Group *group, uint32_t number)
{
  if (number == TOPO_NONE)
    return TOPO_NONE;
  number = swap_with_root (group, number);
  return group->ranks == NULL ? group->pair[number] : group->ranks[number];
}

/* --- The call of a stage --- */

/* Of the message, or of one block of it. */
static uint64_t
stage_bytes (const SimCollective *collective, const SimStage *stage, uint32_t segment)
{
  uint64_t bytes = collective->bytes, segment_bytes = collective->stages->segment_bytes;
  uint64_t n_local = collective->n_ranks / collective->groups->n_nodes;

  switch ((int) collective->kind) {
  case TRACE_OP_BARRIER: return stage->kind == TRACE_OP_BCAST ? 1 : 0;
  case TRACE_OP_GATHER:
  case TRACE_OP_SCATTER:
    return sim_block_bytes (collective) * (is_among_leaders (stage) ? n_local : 1);
  case TRACE_OP_ALLGATHER:
    if (stage->kind == TRACE_OP_BCAST)
      return bytes * collective->n_ranks;
    return bytes * (is_among_leaders (stage) ? n_local : 1);
  default:
    if (collective->n_segments == 1)
      return bytes;
    return MIN (segment_bytes, bytes - segment * segment_bytes);
  }
}

static SimCollective
part_of (const SimCollective *collective, const SimStage *stage, uint32_t segment, Group *group)
{
  SimCollective part = { .kind = stage->kind,
                         .n_ranks = group->n,
                         .rank = group->rank,
                         .root = (int32_t) group->root,
                         .bytes = stage_bytes (collective, stage, segment) };
  SimChoice choice;

  part.recv_bytes = part.bytes;
  choice =
      collective->stages->choose (&part, stage->posted && (segment > 0 || !stage->blocks_first));
  g_assert (choice.second == NULL && choice.stages == NULL);
  part.algorithm = choice.algorithm;
  part.segment_bytes = choice.segment_bytes;
  /* libnbc's trees exchange the root with rank 0, where all others here turn the ranks. */
  if (stage->posted && group->root != 0 && choice.algorithm != &sim_reduce_scatter_gather) {
    group->swapped = true;
    part.rank = swap_with_root (group, group->rank);
    part.root = 0;
  }
  return part;
}

/* --- Turns --- */

/* Which of n_stage_steps[]. */
enum { FIRST_SEGMENT, MIDDLE_SEGMENT, LAST_SEGMENT };

/* Of this rank in the first n segments of a stage. */
static uint64_t
steps_of_segments (const SimCollective *collective, uint32_t stage, uint32_t n)
{
  const uint32_t *n_steps = collective->n_stage_steps[stage];

  if (n == 0)
    return 0;
  if (n == 1)
    return n_steps[FIRST_SEGMENT];
  if (n < collective->n_segments)
    return n_steps[FIRST_SEGMENT] + (uint64_t) (n - 1) * n_steps[MIDDLE_SEGMENT];
  return n_steps[FIRST_SEGMENT] + (uint64_t) (n - 2) * n_steps[MIDDLE_SEGMENT] +
         n_steps[LAST_SEGMENT];
}

static uint32_t
steps_of_segment (const SimCollective *collective, uint32_t stage, uint32_t segment)
{
  if (segment == 0)
    return collective->n_stage_steps[stage][FIRST_SEGMENT];
  return collective
      ->n_stage_steps[stage][segment + 1 < collective->n_segments ? MIDDLE_SEGMENT : LAST_SEGMENT];
}

/* In all turns before this one. */
static uint64_t
steps_before (const SimCollective *collective, uint32_t turn)
{
  uint64_t n = 0;

  for (uint32_t stage = 0; stage < collective->stages->n; stage++)
    n += steps_of_segments (collective, stage,
                            turn < stage ? 0 : MIN (turn - stage, collective->n_segments));
  return n;
}

static uint32_t
n_turns (const SimCollective *collective)
{
  return collective->n_segments + collective->stages->n - 1;
}

static uint32_t
turn_of (const SimCollective *collective, uint32_t step)
{
  uint32_t first = 0, end = n_turns (collective);

  while (end - first > 1) {
    uint32_t middle = first + (end - first) / 2;

    if (steps_before (collective, middle) <= step)
      first = middle;
    else
      end = middle;
  }
  return first;
}

/* The stages of a turn that are among the leaders follow one another, a track, and so do the
 * others: among the leaders the oldest segment is first, in a node the youngest one. */
static bool
is_on_track (const SimCollective *collective, uint32_t turn, uint32_t stage, bool leaders)
{
  return is_among_leaders (&collective->stages->stage[stage]) == leaders && turn >= stage &&
         turn - stage < collective->n_segments;
}

static uint32_t
track_steps (const SimCollective *collective, uint32_t turn, bool leaders)
{
  uint32_t n = 0;

  for (uint32_t stage = 0; stage < collective->stages->n; stage++)
    if (is_on_track (collective, turn, stage, leaders))
      n += steps_of_segment (collective, stage, turn - stage);
  return n;
}

/* Blocks that the leaders have by nodes go to the order of the ranks, or come from there. */
static void
add_reordering (const SimCollective *collective, uint32_t stage, bool first, bool last,
                SimStep *step)
{
  bool is_root = collective->rank == (uint32_t) collective->root;
  SimLocalWork work = { .n_blocks = collective->n_ranks };

  if (collective->groups->in_order)
    return;
  switch ((int) collective->kind) {
  case TRACE_OP_SCATTER:
    work.copy_bytes = sim_block_bytes (collective) * collective->n_ranks;
    if (is_root && first && stage == 0)
      step->before = sim_local_work_sum (step->before, work);
    break;
  case TRACE_OP_GATHER:
    work.copy_bytes = sim_block_bytes (collective) * collective->n_ranks;
    if (is_root && last && stage + 1 == collective->stages->n)
      step->after = sim_local_work_sum (step->after, work);
    break;
  case TRACE_OP_ALLGATHER:
    work.copy_bytes = collective->bytes * collective->n_ranks;
    if (is_among_leaders (&collective->stages->stage[stage]) && last)
      step->after = sim_local_work_sum (step->after, work);
    break;
  default: break;
  }
}

static SimStep
track_step (const SimCollective *collective, uint32_t turn, bool leaders, uint32_t nth)
{
  const SimStages *stages = collective->stages;
  uint32_t stage = leaders ? stages->n - 1 : 0, n;
  SimCollective part;
  SimStep step;
  Group group;

  for (;; stage += leaders ? -1u : 1u) {
    if (!is_on_track (collective, turn, stage, leaders))
      continue;
    n = steps_of_segment (collective, stage, turn - stage);
    if (nth < n)
      break;
    nth -= n;
  }
  find_group (collective, &stages->stage[stage], &group);
  part = part_of (collective, &stages->stage[stage], turn - stage, &group);
  step = part.algorithm->step (&part, nth);
  step.send_to = rank_of (&group, step.send_to);
  step.recv_from = rank_of (&group, step.recv_from);
  /* A stage is complete before the next one of the track, or the next turn, begins. */
  step.wait |= nth + 1 == n;
  add_reordering (collective, stage, nth == 0, nth + 1 == n, &step);
  return step;
}

void
sim_stages_set (SimCollective *collective, const SimStages *stages)
{
  uint64_t n = 1, segment_bytes = stages->segment_bytes;

  collective->stages = stages;
  if (segment_bytes > 0)
    n = collective->bytes / segment_bytes + (collective->bytes % segment_bytes != 0);
  collective->n_segments =
      n > MOST_SEGMENTS_OF_RANKS / collective->n_ranks ? 1 : (uint32_t) MAX (n, 1);
  for (uint32_t stage = 0; stage < stages->n; stage++) {
    uint32_t examples[] = { 0, 1, collective->n_segments - 1 };
    Group group;

    for (uint32_t i = 0; i < G_N_ELEMENTS (examples); i++) {
      SimCollective part;

      collective->n_stage_steps[stage][i] = 0;
      if (examples[i] >= collective->n_segments ||
          !find_group (collective, &stages->stage[stage], &group))
        continue;
      part = part_of (collective, &stages->stage[stage], examples[i], &group);
      collective->n_stage_steps[stage][i] = part.algorithm->n_steps (&part);
    }
  }
  n = steps_before (collective, n_turns (collective));
  g_assert (n <= UINT32_MAX);
  collective->n_steps = (uint32_t) n;
}

SimStep
sim_stages_step (const SimCollective *collective, uint32_t step)
{
  uint32_t turn = turn_of (collective, step);
  uint32_t n_leaders = track_steps (collective, turn, true);
  uint32_t n_both = MIN (n_leaders, track_steps (collective, turn, false));
  SimStep result, other;

  step -= (uint32_t) steps_before (collective, turn);
  if (step >= 2 * n_both)
    return track_step (collective, turn, n_leaders > n_both, step - n_both);
  result = track_step (collective, turn, step % 2 == 0, step / 2);
  if (step % 2 == 0) {
    result.wait = false;
    return result;
  }
  other = track_step (collective, turn, true, step / 2);
  result.wait |= other.wait;
  return result;
}
