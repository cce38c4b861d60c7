/* bound_fill.c - fills the table of bounds by simulation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/bound_fill.h"

#include "routing/paths.h"
#include "study/aggregate/network_pingpong.h"
#include "study/session/worker_pool.h"
#include "study/study_error.h"
#include "topology/mapping/message_placement.h"

#include <math.h>
#include <string.h>

/* A curve to be made: of messages when `op` is 0. */
typedef struct {
  PredictBoundKind kind;
  char *placement;
  TraceOpKind op;
  GArray *node, *core; /* (element-type guint32, guint8) of the ranks */
  uint32_t n_nodes;    /* of a collective */
} Curve;

typedef struct {
  const StudyBoundFill *fill;
  const TopoMachine *machine; /* whose slots are cores */
  RoutePaths *paths;
  GPtrArray *curves; /* (element-type Curve) */
  GArray *runs;      /* (element-type Run) in the order of the rows */
  double *us;        /* [runs] */
} Work;

/* A simulation for a row of the table. */
typedef struct {
  guint curve;
  uint64_t bytes;
} Run;

static void
curve_free (gpointer data)
{
  Curve *curve = data;

  g_free (curve->placement);
  g_array_unref (curve->node);
  g_array_unref (curve->core);
  g_free (curve);
}

static Curve *
add_curve (Work *work, const char *operation, char *placement)
{
  Curve *curve = g_new0 (Curve, 1);

  curve->placement = placement;
  curve->kind = (PredictBoundKind){ .operation = operation, .placement = placement };
  curve->node = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  curve->core = g_array_new (FALSE, FALSE, sizeof (uint8_t));
  g_ptr_array_add (work->curves, curve);
  return curve;
}

static void
add_rank (Curve *curve, uint32_t node, uint32_t core)
{
  uint8_t slot = (uint8_t) core;

  g_array_append_val (curve->node, node);
  g_array_append_val (curve->core, slot);
}

/* --- Placements of messages --- */

/* The ends of every ping-pong: first[i] plays with second[i], the observed one is number 0.  An
 * end is node * n_places + place. */
typedef struct {
  uint32_t first[2 * TOPO_MAX_RANKS_PER_NODE], second[2 * TOPO_MAX_RANKS_PER_NODE], n;
} Ends;

static void
add_ends (Ends *ends, uint32_t first, uint32_t second)
{
  ends->first[ends->n] = first;
  ends->second[ends->n++] = second;
}

/* All ping-pongs with both ends in node 0 that have the mark; mirrored: also those in node 1. */
static void
add_marked_pair (Ends *ends, const uint8_t *mark, uint32_t n_places, uint8_t wanted, bool mirrored)
{
  uint32_t first = n_places;

  for (uint32_t place = 0; place < n_places; place++) {
    if (mark[place] != wanted)
      continue;
    if (first == n_places) {
      first = place;
      continue;
    }
    add_ends (ends, first, place);
    if (mirrored)
      add_ends (ends, n_places + first, n_places + place);
  }
}

/* All ping-pongs between the nodes that have the mark. */
static void
add_crossing (Ends *ends, const uint8_t *mark, uint32_t n_places, uint8_t wanted)
{
  for (uint32_t place = 0; place < n_places; place++)
    if (mark[place] == wanted)
      add_ends (ends, place, n_places + place);
}

/* The runs of the curves from first_curve on.  A barrier has no size. */
static gboolean
add_runs (Work *work, guint first_curve, GError **error)
{
  for (guint i = first_curve; i < work->curves->len; i++) {
    const Curve *curve = g_ptr_array_index (work->curves, i);
    guint n_bytes = curve->op == TRACE_OP_BARRIER ? 1 : work->fill->n_bytes;

    for (guint size = 0; size < n_bytes; size++) {
      Run run = { i, curve->op == TRACE_OP_BARRIER ? 0 : work->fill->bytes[size] };

      g_array_append_val (work->runs, run);
    }
  }
  if (work->runs->len <= STUDY_BOUND_MAX_RUNS)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_OPTION,
               "more than %u simulations would be needed: fewer sizes, or less noise",
               STUDY_BOUND_MAX_RUNS);
  return FALSE;
}

static gboolean
add_messages (Work *work, const TopoLevels *levels, PredictBoundWhere where, GError **error)
{
  const StudyBoundNoise *noise = &work->fill->noise;
  bool between = where == PREDICT_BOUND_BETWEEN;
  uint32_t n_observed = between ? 1 : 2, n = levels->n_places;

  for (uint32_t pairs = 0; pairs <= noise->max_pairs && n_observed + 2 * pairs <= n; pairs++)
    for (uint32_t outside = 0;
         outside <= noise->max_outside && n_observed + 2 * pairs + outside <= n; outside++) {
      g_autoptr (TopoPlacements) found =
          topo_placements_new (levels, (TopoPlacementKind){ n_observed, pairs, outside });
      guint first = work->curves->len;

      for (uint32_t i = 0; i < found->n; i++) {
        const uint8_t *mark = found->mark + (gsize) i * n;
        Curve *curve = add_curve (work, PREDICT_BOUND_MESSAGE, topo_placement_class (levels, mark));
        Ends ends = { .n = 0 };

        curve->kind.where = where;
        curve->kind.pairs = pairs;
        curve->kind.outside = outside;
        curve->kind.ranks = 2;
        if (between)
          add_crossing (&ends, mark, n, TOPO_PLACE_OBSERVED);
        else
          add_marked_pair (&ends, mark, n, TOPO_PLACE_OBSERVED, false);
        for (uint32_t pair = 0; pair < pairs; pair++)
          add_marked_pair (&ends, mark, n, (uint8_t) (TOPO_PLACE_PAIR + pair), between);
        add_crossing (&ends, mark, n, TOPO_PLACE_OUTSIDE);
        for (uint32_t j = 0; j < ends.n; j++)
          add_rank (curve, ends.first[j] / n, levels->core[ends.first[j] % n]);
        for (uint32_t j = 0; j < ends.n; j++)
          add_rank (curve, ends.second[j] / n, levels->core[ends.second[j] % n]);
      }
      if (!add_runs (work, first, error))
        return FALSE;
    }
  return TRUE;
}

/* --- Placements of collectives --- */

char *
study_bound_pattern_class (const TopoLevels *levels, const uint32_t *places, uint32_t n)
{
  g_autofree uint8_t *mark = g_new0 (uint8_t, levels->n_places);

  for (uint32_t i = 0; i < n; i++)
    mark[places[i]] = TOPO_PLACE_OBSERVED;
  return topo_placement_class (levels, mark);
}

static gboolean
add_collective (Work *work, const TopoPatterns *patterns, const StudyBoundCollective *collective,
                GError **error)
{
  guint before = work->curves->len;

  if (!study_collective_is_known (collective->kind)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_OPTION,
                 "%s: no table can be made of this collective", trace_op_name (collective->kind));
    return FALSE;
  }
  for (uint32_t i = 0; i < patterns->n; i++) {
    const TopoPattern *pattern = &patterns->pattern[i];

    if (collective->n_ranks % pattern->n_tasks == 0 &&
        collective->n_ranks / pattern->n_tasks <= topo_shape_nodes (&work->machine->shape)) {
      Curve *curve = add_curve (
          work, trace_op_name (collective->kind),
          study_bound_pattern_class (patterns->levels, pattern->place, pattern->n_tasks));

      curve->op = collective->kind;
      curve->kind.ranks = collective->n_ranks;
      curve->n_nodes = collective->n_ranks / pattern->n_tasks;
      for (uint32_t rank = 0; rank < collective->n_ranks; rank++)
        add_rank (curve, rank / pattern->n_tasks,
                  patterns->levels->core[pattern->place[rank % pattern->n_tasks]]);
    }
  }
  if (work->curves->len > before)
    return add_runs (work, before, error);
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_OPTION,
               "%s of %u ranks: no pattern of the node is filled evenly on the %u nodes there are",
               trace_op_name (collective->kind), collective->n_ranks,
               topo_shape_nodes (&work->machine->shape));
  return FALSE;
}

/* --- Runs --- */

/* 4 KiB and 12 KiB, less the headers, are the eager limits within and between nodes; up to
 * 64 bytes go with the request itself; 1 MiB and 12 KiB more is where RDMA begins. */
const uint64_t study_bound_sizes[] = {
  1,     64,    65,    1024,       4032,        4096,    12224,   12288,
  16384, 32768, 65536, 256 * 1024, 1024 * 1024, 1060864, 4194304,
};
const guint study_bound_n_sizes = G_N_ELEMENTS (study_bound_sizes);

typedef struct {
  double us; /* NaN: error */
  char error[240];
} Made;

/* Whether ranks that follow each other share a node, or are on different ones, is not part of the
 * class of a collective: the longer time counts. */
static double
simulate (const Work *work, const Curve *curve, uint64_t bytes, GError **error)
{
  const uint32_t *node = (const uint32_t *) (const void *) curve->node->data;
  const uint8_t *core = (const uint8_t *) curve->core->data;
  uint32_t n = curve->node->len, per_node;
  g_autofree uint32_t *turn_node = NULL;
  g_autofree uint8_t *turn_core = NULL;
  double us, turn_us;

  if (curve->op == 0)
    return study_pingpong_us (work->machine, work->paths, n, node, core, bytes, error);
  us = study_collective_us (work->machine, work->paths, curve->op, n, node, core, bytes, error);
  per_node = n / curve->n_nodes;
  if (isnan (us) || per_node == 1 || curve->n_nodes == 1)
    return us;
  turn_node = g_new (uint32_t, n);
  turn_core = g_new (uint8_t, n);
  for (uint32_t rank = 0; rank < n; rank++) {
    uint32_t other = rank % curve->n_nodes * per_node + rank / curve->n_nodes;

    turn_node[rank] = node[other];
    turn_core[rank] = core[other];
  }
  turn_us = study_collective_us (work->machine, work->paths, curve->op, n, turn_node, turn_core,
                                 bytes, error);
  return isnan (turn_us) ? turn_us : fmax (us, turn_us);
}

static GBytes *
make_run (void *data, guint job, gboolean *spent)
{
  const Work *work = data;
  const Run *run = &g_array_index (work->runs, Run, job);
  g_autoptr (GError) error = NULL;
  Made made = { .us = 0 };

  (void) spent;
  made.us = simulate (work, g_ptr_array_index (work->curves, run->curve), run->bytes, &error);
  if (error != NULL)
    g_strlcpy (made.error, error->message, sizeof made.error);
  else if (!(made.us > 0)) {
    made.us = NAN;
    g_strlcpy (made.error, "an operation took no time", sizeof made.error);
  }
  return g_bytes_new (&made, sizeof made);
}

static gboolean
take_run (void *data, const StudyPoolResult *result, guint n_done, GError **error)
{
  Work *work = data;

  if (result != NULL) {
    Made made = { .us = NAN };

    if (result->block != NULL)
      memcpy (&made, g_bytes_get_data (result->block, NULL), sizeof made);
    if (isnan (made.us)) {
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER, "a simulation for the table failed: %s",
                   result->block != NULL ? made.error : result->lost);
      return FALSE;
    }
    work->us[result->job] = made.us;
  }
  if (work->fill->progress != NULL)
    work->fill->progress (work->fill->progress_data, (double) n_done / MAX (work->runs->len, 1));
  return TRUE;
}

static gboolean
check_machine (const TopoMachine *machine, GError **error)
{
  if (machine->node == NULL) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_OPTION,
                 "%s is a torus: nothing is said of the inside of its nodes", machine->spec);
    return FALSE;
  }
  if (topo_shape_nodes (&machine->shape) < 2) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_OPTION,
                 "%s has one node: messages between nodes need two", machine->spec);
    return FALSE;
  }
  if (machine->node->n_cores > TOPO_MAX_RANKS_PER_NODE) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_OPTION,
                 "%s: its nodes have %u cores; at most %d are supported", machine->spec,
                 machine->node->n_cores, TOPO_MAX_RANKS_PER_NODE);
    return FALSE;
  }
  return TRUE;
}

PredictBoundTable *
study_bound_fill (const StudyBoundFill *fill, GError **error)
{
  TopoMachine machine;
  g_autoptr (GPtrArray) curves = g_ptr_array_new_with_free_func (curve_free);
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (Run));
  g_autoptr (TopoPatterns) patterns = NULL;
  g_autoptr (RoutePaths) paths = NULL;
  g_autofree double *us = NULL;
  Work work = { .fill = fill, .machine = &machine, .curves = curves, .runs = runs };
  PredictBoundTable *table;

  if (!check_machine (fill->machine, error))
    return NULL;
  machine = *fill->machine; /* but for its slots */
  study_slots_are_cores (&machine);

  patterns = topo_patterns_new (machine.node, 0);
  if (!fill->no_messages && (!add_messages (&work, patterns->levels, PREDICT_BOUND_WITHIN, error) ||
                             !add_messages (&work, patterns->levels, PREDICT_BOUND_BETWEEN, error)))
    return NULL;
  for (guint i = 0; i < fill->n_collectives; i++)
    if (!add_collective (&work, patterns, &fill->collectives[i], error))
      return NULL;
  work.paths = paths = route_paths_new (&machine, error);
  if (paths == NULL)
    return NULL;

  work.us = us = g_new (double, runs->len + 1);
  if (!study_pool_run (fill->n_threads, runs->len, make_run, take_run, &work, error))
    return NULL;
  table = predict_bound_table_new ("simulated");
  for (guint i = 0; i < runs->len; i++) {
    const Run *run = &g_array_index (runs, Run, i);
    const Curve *curve = g_ptr_array_index (curves, run->curve);

    predict_bound_table_add (table, &curve->kind, run->bytes, us[i]);
  }
  return table;
}
