/* bound_fill.c - see bound_fill.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/aggregate/bound_fill.h"

#include "study/aggregate/bound_curves.h"
#include "study/session/crew.h"
#include "study/study_error.h"
#include "study/aggregate/network_pingpong.h"

#include <math.h>
#include <string.h>

/* Milliseconds between two looks at who is finished. */
#define LOOK_MS 100

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

/* -- runs ------------------------------------------------------------------------ */

/* Whether ranks that follow each other share a node, or are on different ones, is not part of the
 * class: the longer time counts. */
static double
simulate_collective (const StudyBoundWork *work, const StudyBoundCurve *curve, uint64_t bytes,
                     GError **error)
{
  const uint32_t *node = (const uint32_t *) (const void *) curve->node->data;
  const uint8_t *core = (const uint8_t *) curve->core->data;
  uint32_t n = curve->node->len, per_node = n / curve->n_nodes;
  g_autofree uint32_t *turn_node = g_new (uint32_t, n);
  g_autofree uint8_t *turn_core = g_new (uint8_t, n);
  double us, turn_us;

  us = study_collective_us (work->machine, work->paths, curve->op, n, node, core, bytes, error);
  if (isnan (us) || per_node == 1 || curve->n_nodes == 1)
    return us;
  for (uint32_t rank = 0; rank < n; rank++) {
    uint32_t other = rank % curve->n_nodes * per_node + rank / curve->n_nodes;

    turn_node[rank] = node[other];
    turn_core[rank] = core[other];
  }
  turn_us = study_collective_us (work->machine, work->paths, curve->op, n, turn_node, turn_core,
                                 bytes, error);
  return isnan (turn_us) ? turn_us : fmax (us, turn_us);
}

static double
simulate (const StudyBoundWork *work, const StudyBoundCurve *curve, uint64_t bytes, GError **error)
{
  if (curve->op != 0)
    return simulate_collective (work, curve, bytes, error);
  return study_pingpong_us (work->machine, work->paths, curve->node->len,
                            (const uint32_t *) (const void *) curve->node->data,
                            (const uint8_t *) curve->core->data, bytes, error);
}

static GBytes *
make_run (void *data, guint job, gboolean *spent)
{
  const StudyBoundWork *work = data;
  const StudyBoundRun *run = &g_array_index (work->runs, StudyBoundRun, job);
  g_autoptr (GError) error = NULL;
  Made made = { .us = 0 };

  (void) spent;
  made.us = simulate (work, g_ptr_array_index (work->curves, run->curve), run->bytes, &error);
  if (error != NULL)
    g_strlcpy (made.error, error->message, sizeof made.error);
  else if (!(made.us > 0)) {
    made.us = NAN;
    g_strlcpy (made.error, "an operation took no time at all", sizeof made.error);
  }
  return g_bytes_new (&made, sizeof made);
}

static gboolean
take_run (const StudyCrewResult *result, Made *made, GError **error)
{
  const char *failure = result->lost;

  if (result->block != NULL) {
    memcpy (made, g_bytes_get_data (result->block, NULL), sizeof *made);
    failure = isnan (made->us) ? made->error : NULL;
  }
  if (failure == NULL)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER, "a simulation for the table failed: %s",
               failure);
  return FALSE;
}

static gboolean
make_all (StudyBoundWork *work, Made *made, guint n_jobs, GError **error)
{
  g_autoptr (StudyCrew) crew = study_workers_new (work->fill->n_threads, make_run, work, error);
  guint next = 0, n_done = 0;
  int worker;

  while (crew != NULL && n_done < n_jobs) {
    StudyCrewResult result = { 0 };
    StudyCrewTaken taken;
    gboolean good = TRUE;

    while (next < n_jobs && (worker = crew->idlest (crew)) >= 0)
      crew->give (crew, (guint) worker, next++);
    taken = crew->take (crew, LOOK_MS, NULL, &result, error);
    if (taken == STUDY_CREW_ERROR)
      return FALSE;
    if (taken == STUDY_CREW_RESULT) {
      good = take_run (&result, &made[result.job], error);
      study_crew_result_clear (&result);
      n_done++;
    }
    if (!good)
      return FALSE;
    if (work->fill->progress != NULL)
      work->fill->progress (work->fill->progress_data, (double) n_done / n_jobs);
  }
  return crew != NULL;
}

static PredictBoundTable *
table_of (const StudyBoundWork *work, const Made *made)
{
  PredictBoundTable *table = predict_bound_table_new ("simulated");

  for (guint i = 0; i < work->runs->len; i++) {
    const StudyBoundRun *run = &g_array_index (work->runs, StudyBoundRun, i);
    const StudyBoundCurve *curve = g_ptr_array_index (work->curves, run->curve);

    predict_bound_table_add (table, &curve->kind, run->bytes, made[i].us);
  }
  return table;
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
                 "%s: a node of %u cores; at most %d can be", machine->spec, machine->node->n_cores,
                 TOPO_MAX_RANKS_PER_NODE);
    return FALSE;
  }
  return TRUE;
}

PredictBoundTable *
study_bound_fill (const StudyBoundFill *fill, GError **error)
{
  TopoMachine machine;
  g_autoptr (GPtrArray) curves = g_ptr_array_new_with_free_func (study_bound_curve_free);
  g_autoptr (GArray) runs = g_array_new (FALSE, FALSE, sizeof (StudyBoundRun));
  g_autoptr (RoutePaths) paths = NULL;
  g_autofree Made *made = NULL;
  StudyBoundWork work = { .fill = fill, .machine = &machine, .curves = curves, .runs = runs };

  if (!check_machine (fill->machine, error))
    return NULL;
  machine = *fill->machine; /* but for its slots */
  study_slots_are_cores (&machine);
  if (!study_bound_list_curves (&work, error) ||
      (paths = route_paths_new (&machine, error)) == NULL)
    return NULL;
  work.paths = paths;
  made = g_new0 (Made, runs->len + 1);
  return make_all (&work, made, runs->len, error) ? table_of (&work, made) : NULL;
}
