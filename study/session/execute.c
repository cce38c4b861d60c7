/* execute.c - makes one run of a plan, here and now.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A trace is read lazily and a map file at every run: they may have been edited since
 * the plan was resolved.  So the key of a run is computed again from the inputs that are
 * really used, and the files of a trace are checked again after the run.  Machines are
 * the plan's own. */
#include "study/session/execute.h"

#include "sim/run.h"
#include "study/store/store.h"

#include <string.h>

#define NONE G_MAXUINT
/* 128 MB; a trace with more kinds of messages is read for every run. */
#define MAX_TRAFFIC_KINDS (1u << 22)

struct StudyBench {
  const StudyPlan *plan;

  guint trace_index; /* of trace; NONE: none is open */
  Trace *trace;      /* NULL: trace_error */
  GError *trace_error;

  guint machine_index; /* of paths; NONE: there are none */
  RoutePaths *paths;   /* NULL: paths_error */
  GError *paths_error;

  SimTraffic *traffic; /* of both; NULL: not known, or too much of it */
  gboolean traffic_tried;
};

StudyBench *
study_bench_new (const StudyPlan *plan)
{
  StudyBench *bench = g_new0 (StudyBench, 1);

  bench->plan = plan;
  bench->trace_index = bench->machine_index = NONE;
  return bench;
}

static void
drop_traffic (StudyBench *bench)
{
  g_clear_pointer (&bench->traffic, sim_traffic_free);
  bench->traffic_tried = FALSE;
}

static void
drop_trace (StudyBench *bench)
{
  drop_traffic (bench);
  g_clear_pointer (&bench->trace, trace_free);
  g_clear_error (&bench->trace_error);
  bench->trace_index = NONE;
}

static void
drop_paths (StudyBench *bench)
{
  drop_traffic (bench);
  g_clear_pointer (&bench->paths, route_paths_free);
  g_clear_error (&bench->paths_error);
  bench->machine_index = NONE;
}

void
study_bench_free (StudyBench *bench)
{
  if (bench == NULL)
    return;
  drop_trace (bench);
  drop_paths (bench);
  g_free (bench);
}

/* --- The inputs that runs share --- */

static const StudyPlanRun *
run_at (const StudyBench *bench, guint run)
{
  return g_ptr_array_index (bench->plan->runs, run);
}

static gboolean
again (const GError *known, GError **error)
{
  g_propagate_error (error, g_error_copy (known));
  return FALSE;
}

static gboolean
open_trace (StudyBench *bench, guint index, GError **error)
{
  const StudyTrace *asked = g_ptr_array_index (bench->plan->traces, index);

  if (bench->trace_index != index || (bench->trace != NULL && !trace_is_unchanged (bench->trace))) {
    drop_trace (bench);
    bench->trace = trace_open (asked->path, &asked->options, &bench->trace_error);
    bench->trace_index = index;
  }
  return bench->trace != NULL || again (bench->trace_error, error);
}

static gboolean
open_paths (StudyBench *bench, guint index, GError **error)
{
  const StudyMachine *asked = g_ptr_array_index (bench->plan->machines, index);

  if (bench->machine_index != index) {
    drop_paths (bench);
    bench->paths = route_paths_new (asked->machine, &bench->paths_error);
    bench->machine_index = index;
  }
  return bench->paths != NULL || again (bench->paths_error, error);
}

/* NULL also after a failure, which the run will find too. */
static const SimTraffic *
find_traffic (StudyBench *bench, SimNetworkKind network)
{
  if (network == SIM_NETWORK_LOAD && !bench->traffic_tried) {
    bench->traffic =
        sim_traffic_new (bench->trace, bench->paths->machine, MAX_TRAFFIC_KINDS, NULL, NULL, NULL);
    bench->traffic_tried = TRUE;
  }
  return network == SIM_NETWORK_LOAD ? bench->traffic : NULL;
}

/* --- One run --- */

typedef struct {
  StudyBench *bench;
  const StudyPlanRun *asked;
  TopoMapping *mapping;
  char *key; /* of the inputs that are really used */
  SimRunOptions options;
} Job;

static gboolean
prepare (Job *job, guint run, GError **error)
{
  StudyBench *bench = job->bench;

  if (!open_trace (bench, job->asked->trace, error) ||
      !open_paths (bench, job->asked->machine, error))
    return FALSE;
  job->mapping = study_plan_mapping (bench->plan, run, error);
  job->options = (SimRunOptions){ .trace_path = trace_path (bench->trace),
                                  .network = job->asked->network,
                                  .policy = job->asked->policy,
                                  .compute_scale = job->asked->compute_scale,
                                  .seed = job->asked->seed,
                                  .paths = bench->paths };
  if (job->mapping == NULL)
    return FALSE;
  job->key = sim_run_key (bench->trace, bench->paths, job->mapping, &job->options, error);
  job->options.key = job->key;
  return job->key != NULL;
}

static gboolean
refuse_changed (const char *what, GError **error)
{
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_CHANGED,
               "%s: is no longer what it was when the study began; begin again", what);
  return FALSE;
}

static SimRun *
simulate (Job *job, guint run_index, GError **error)
{
  StudyBench *bench = job->bench;
  g_autoptr (SimRun) run = NULL;

  if (!prepare (job, run_index, error))
    return NULL;
  if (strcmp (job->key, job->asked->key) != 0) {
    const StudyTrace *trace = g_ptr_array_index (bench->plan->traces, job->asked->trace);
    gboolean is_trace = g_strcmp0 (trace_hash (bench->trace, NULL), trace->hash) != 0;

    refuse_changed (is_trace ? trace->text : job->asked->mapping, error);
    return NULL;
  }
  job->options.traffic = find_traffic (bench, job->asked->network);
  run = sim_run (bench->trace, bench->paths->machine, job->mapping, &job->options, error);
  if (run != NULL && !trace_is_unchanged (bench->trace)) {
    refuse_changed (trace_path (bench->trace), error);
    return NULL;
  }
  return g_steal_pointer (&run);
}

static int
compare_texts (const void *a, const void *b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

StudyRow *
study_bench_run (StudyBench *bench, guint run, StudyBenchNotes *notes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) made = NULL;
  StudyRow *row = study_plan_row (bench->plan, run);
  Job job = { .bench = bench, .asked = run_at (bench, run) };

  *notes = (StudyBenchNotes){ .spent = job.asked->network == SIM_NETWORK_FLOW };
  if (job.asked->problem != NULL)
    return row;
  made = simulate (&job, run, &error);
  if (made != NULL) {
    study_row_take (row, made, job.asked->network, bench->plan->keep_links,
                    bench->plan->keep_ranks);
    /* Warnings of a trace are found while it is read, in the order of the first of the runs that
     * read it; the row must not depend on which run that was. */
    qsort (row->warnings, g_strv_length (row->warnings), sizeof (char *), compare_texts);
    notes->placement = g_steal_pointer (&job.mapping);
  } else {
    row->status = STUDY_FAILED;
    g_free (row->error);
    row->error = g_strdup (error->message);
    /* Without a key an input of the plan has gone since. */
    notes->changed = job.key == NULL || g_error_matches (error, STUDY_ERROR, STUDY_ERROR_CHANGED);
  }
  topo_mapping_free (job.mapping);
  g_free (job.key);
  return row;
}

/* --- Measuring --- */

gboolean
study_bench_measure (StudyBench *bench, guint run, StudyBenchSize *size)
{
  Job job = { .bench = bench, .asked = run_at (bench, run) };
  g_autoptr (SimRun) made = NULL;
  gint64 begin_us = g_get_monotonic_time ();
  const TopoMachine *machine;
  double payload_bytes;

  *size = (StudyBenchSize){ 0 };
  if (job.asked->problem == NULL && prepare (&job, run, NULL)) {
    job.options.network = SIM_NETWORK_LOAD;
    job.options.traffic = find_traffic (bench, SIM_NETWORK_LOAD);
    size->read_s = (double) (g_get_monotonic_time () - begin_us) * 1e-6;
    made = sim_run (bench->trace, bench->paths->machine, job.mapping, &job.options, NULL);
  }
  if (made != NULL) {
    machine = bench->paths->machine;
    payload_bytes = (double) (machine->fabric != NULL ? machine->parameters.ib.mtu_bytes
                                                      : machine->parameters.packet.payload_bytes);
    size->load_s = made->wall_s;
    size->packet_hops = made->features[SIM_FEATURE_HOP_BYTES] / payload_bytes +
                        (double) made->result.messages * made->features[SIM_FEATURE_AVG_DILATION];
  }
  topo_mapping_free (job.mapping);
  g_free (job.key);
  return made != NULL;
}

/* --- The communication graph --- */

SimEdge *
study_bench_edges (StudyBench *bench, guint run, uint64_t max_edges, uint64_t *n_edges)
{
  const StudyPlanRun *asked = run_at (bench, run);
  const SimTraffic *traffic;

  *n_edges = 0;
  if (asked->problem != NULL || !open_trace (bench, asked->trace, NULL) ||
      !open_paths (bench, asked->machine, NULL))
    return NULL;
  traffic = find_traffic (bench, SIM_NETWORK_LOAD);
  if (traffic == NULL || traffic->n_edges > max_edges)
    return NULL;
  *n_edges = traffic->n_edges;
  return g_memdup2 (traffic->edges, traffic->n_edges * sizeof (SimEdge));
}

/* --- Jobs and their results, as the master and the workers of a study exchange them --- */

/* The row, whether inputs changed, the packed places, the edges packed and their number. */
#define BLOCK_TYPE "(mvbayayt)"
#define BLOCK_MAKE "(mvb@ay@ayt)"

void
study_job_result_clear (StudyJobResult *result)
{
  g_clear_pointer (&result->row, study_row_free);
  g_clear_pointer (&result->places, g_bytes_unref);
  g_clear_pointer (&result->edges, g_bytes_unref);
}

StudyJobMaker *
study_job_maker_new (const StudyPlan *plan)
{
  StudyJobMaker *maker = g_new0 (StudyJobMaker, 1);

  maker->bench = study_bench_new (plan);
  maker->n_runs = plan->runs->len;
  maker->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return maker;
}

void
study_job_maker_free (StudyJobMaker *maker)
{
  if (maker == NULL)
    return;
  study_bench_free (maker->bench);
  g_hash_table_unref (maker->known);
  g_free (maker);
}

/* --- In a worker --- */

/* NULL: none. */
static GVariant *
variant_of (GBytes *bytes)
{
  gsize n_bytes = 0;
  gconstpointer data = bytes != NULL ? g_bytes_get_data (bytes, &n_bytes) : NULL;

  return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, data, n_bytes, 1);
}

/* Places and edges are packed here, where there are several workers: the master has to write, and
 * to hand out runs meanwhile. */
GBytes *
study_job_make (void *data, guint job, gboolean *spent)
{
  StudyJobMaker *maker = data;
  g_autoptr (GBytes) places = NULL, packed_edges = NULL;
  g_autoptr (GVariant) packed_row = NULL, block = NULL;
  StudyBenchNotes notes = { 0 };
  uint64_t n_edges = 0;

  if (job < maker->n_runs) {
    g_autoptr (StudyRow) row = study_bench_run (maker->bench, job, &notes);
    g_autoptr (TopoMapping) placement = notes.placement;

    /* Every placement is sent once. */
    if (placement != NULL && row->mapping_hash != NULL &&
        g_hash_table_add (maker->known, g_strdup (row->mapping_hash)))
      places = study_store_pack_places (placement);
    packed_row = study_row_pack (row);
    *spent = notes.spent;
  } else {
    g_autofree SimEdge *edges =
        study_bench_edges (maker->bench, job - maker->n_runs, STUDY_STORE_MAX_EDGES, &n_edges);

    packed_edges = n_edges > 0 ? study_store_pack_edges (edges, n_edges) : NULL;
  }
  block =
      g_variant_ref_sink (g_variant_new (BLOCK_MAKE, packed_row, notes.changed, variant_of (places),
                                         variant_of (packed_edges), (guint64) n_edges));
  return g_variant_get_data_as_bytes (block);
}

/* --- In the master --- */

static GBytes *
bytes_of (GVariant *variant)
{
  return g_variant_n_children (variant) > 0 ? g_variant_get_data_as_bytes (variant) : NULL;
}

gboolean
study_job_read (GBytes *block, StudyJobResult *result)
{
  g_autoptr (GVariant) all =
      g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (BLOCK_TYPE), block, FALSE));
  g_autoptr (GVariant) row = NULL, places = NULL, edges = NULL;

  *result = (StudyJobResult){ 0 };
  if (!g_variant_is_normal_form (all))
    return FALSE;
  g_variant_get (all, BLOCK_MAKE, &row, &result->changed, &places, &edges, &result->n_edges);
  if (row != NULL && (result->row = study_row_unpack (row)) == NULL)
    return FALSE;
  result->places = bytes_of (places);
  result->edges = bytes_of (edges);
  return TRUE;
}
