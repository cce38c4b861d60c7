/* execute.c - makes one run of a plan, here and now.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A trace is read lazily and a map file at every run: they may have been edited since
 * the plan was resolved.  So the key of a run is computed again from the inputs that are
 * really used, and the files of a trace are checked again after the run.  Machines are
 * the plan's own, but for those with a part out, which are opened again. */
#include "study/session/execute.h"

#include "sim/run.h"
#include "study/store/store.h"

#include <string.h>

/* 128 MB; a trace with more kinds of messages is read for every run. */
#define MAX_TRAFFIC_KINDS (1u << 22)
/* No two edges of a trace are of one kind, so whatever edges there are can be stored. */
G_STATIC_ASSERT (MAX_TRAFFIC_KINDS <= STUDY_STORE_MAX_EDGES);

struct StudyBench {
  const StudyPlan *plan;
  guint trace_index; /* of trace */
  Trace *trace;      /* NULL: none is open */
  guint machine_index;
  RoutePaths *paths;   /* likewise */
  TopoMachine *opened; /* whose they are; NULL: the plan has the machine */
  SimTraffic *traffic; /* of both; NULL: not known, or too much of it */
  gboolean traffic_tried;
  GHashTable *known; /* set of utf8, hashes of the mappings that the master has */
};

StudyBench *
study_bench_new (const StudyPlan *plan)
{
  StudyBench *bench = g_new0 (StudyBench, 1);

  bench->plan = plan;
  bench->known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return bench;
}

static void
drop_traffic (StudyBench *bench)
{
  g_clear_pointer (&bench->traffic, sim_traffic_free);
  bench->traffic_tried = FALSE;
}

static void
drop_machine (StudyBench *bench)
{
  drop_traffic (bench);
  g_clear_pointer (&bench->paths, route_paths_free);
  g_clear_pointer (&bench->opened, topo_machine_free);
}

void
study_bench_free (StudyBench *bench)
{
  if (bench == NULL)
    return;
  drop_machine (bench);
  g_clear_pointer (&bench->trace, trace_free);
  g_hash_table_unref (bench->known);
  g_free (bench);
}

/* --- The inputs that runs share --- */

static const StudyPlanRun *
run_at (const StudyBench *bench, guint run)
{
  return g_ptr_array_index (bench->plan->runs, run);
}

/* Opens the trace and finds the routes of a run, unless the last run had the same. */
static gboolean
open_inputs (StudyBench *bench, const StudyPlanRun *run, GError **error)
{
  const StudyTrace *trace = g_ptr_array_index (bench->plan->traces, run->trace);
  const StudyMachine *machine = g_ptr_array_index (bench->plan->machines, run->machine);

  if (bench->trace == NULL || bench->trace_index != run->trace ||
      !trace_is_unchanged (bench->trace)) {
    drop_traffic (bench);
    g_clear_pointer (&bench->trace, trace_free);
    bench->trace = trace_open (trace->path, &trace->options, error);
    bench->trace_index = run->trace;
  }
  if (bench->trace == NULL)
    return FALSE;
  if (bench->paths == NULL || bench->machine_index != run->machine) {
    drop_machine (bench);
    if (machine->machine == NULL && !(bench->opened = study_plan_open_machine (machine, error)))
      return FALSE;
    bench->paths =
        route_paths_new (machine->machine != NULL ? machine->machine : bench->opened, error);
    bench->machine_index = run->machine;
  }
  return bench->paths != NULL;
}

/* NULL also after a failure, which the run will find too. */
static const SimTraffic *
find_traffic (StudyBench *bench)
{
  if (!bench->traffic_tried)
    bench->traffic =
        sim_traffic_new (bench->trace, bench->paths->machine, MAX_TRAFFIC_KINDS, NULL, NULL, NULL);
  bench->traffic_tried = TRUE;
  return bench->traffic;
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

  if (!open_inputs (bench, job->asked, error))
    return FALSE;
  job->mapping = study_plan_mapping (bench->plan, run, bench->paths->machine, error);
  job->options = (SimRunOptions){ .trace_path = trace_path (bench->trace),
                                  .network = job->asked->network,
                                  .policy = job->asked->policy,
                                  .compute_scale = job->asked->compute_scale,
                                  .seed = job->asked->seed,
                                  .jitter_ps = job->asked->jitter_ps,
                                  .shrink = job->asked->shrink,
                                  .critical_path = bench->plan->keep_path,
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
               "%s: has changed since the study began; start it again", what);
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
  if (job->asked->network == SIM_NETWORK_LOAD || !sim_shrink_is_off (job->asked->shrink))
    job->options.traffic = find_traffic (bench);
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

/* Never NULL: the row of a failed run has the reason.  *placement is that of a run that is done. */
static StudyRow *
make_row (StudyBench *bench, guint run, TopoMapping **placement, gboolean *changed)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) made = NULL;
  StudyRow *row = study_plan_row (bench->plan, run);
  Job job = { .bench = bench, .asked = run_at (bench, run) };

  if (job.asked->problem != NULL)
    return row;
  made = simulate (&job, run, &error);
  if (made != NULL) {
    study_row_take (row, made, job.asked->network, bench->plan->keep_links,
                    bench->plan->keep_ranks);
    /* Warnings of a trace are found while it is read, in the order of the first of the runs that
     * read it; the row must not depend on which run that was. */
    qsort (row->warnings, g_strv_length (row->warnings), sizeof (char *), compare_texts);
    *placement = g_steal_pointer (&job.mapping);
  } else {
    row->status = STUDY_FAILED;
    g_free (row->error);
    row->error = g_strdup (error->message);
    /* Without a key an input of the plan has gone since. */
    *changed = job.key == NULL || g_error_matches (error, STUDY_ERROR, STUDY_ERROR_CHANGED);
  }
  topo_mapping_free (job.mapping);
  g_free (job.key);
  return row;
}

/* --- Measuring --- */

/* That of a torus; a fabric's packets hold less, 31 of 2 KiB. */
#define MOST_SHRINK 64u

/* The share of the packets that shrinking leaves; 1 also when it cannot be found out. */
static double
share_left (StudyBench *bench, const Job *job)
{
  g_autoptr (SimShrinkPlan) plan =
      sim_shrink_plan (job->asked->shrink, bench->trace, find_traffic (bench),
                       bench->paths->machine, job->mapping, job->asked->policy, MOST_SHRINK, NULL);

  return plan == NULL ? 1 : 1 - plan->shrunk_share + plan->shrunk_share / plan->factor;
}

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
    job.options.shrink = (SimShrink){ 0 };
    job.options.traffic = find_traffic (bench);
    size->read_s = (double) (g_get_monotonic_time () - begin_us) * 1e-6;
    made = sim_run (bench->trace, bench->paths->machine, job.mapping, &job.options, NULL);
  }
  if (made != NULL) {
    machine = bench->paths->machine;
    payload_bytes = (double) (machine->fabric != NULL ? machine->parameters.ib.mtu_bytes
                                                      : machine->parameters.packet.payload_bytes);
    size->load_s = made->wall_s;
    size->packet_hops =
        (made->features[SIM_FEATURE_HOP_BYTES] / payload_bytes +
         (double) made->result.messages * made->features[SIM_FEATURE_AVG_DILATION]) *
        share_left (bench, &job);
  }
  topo_mapping_free (job.mapping);
  g_free (job.key);
  return made != NULL;
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
  StudyBench *bench = data;
  guint n_runs = bench->plan->runs->len;
  const StudyPlanRun *run = run_at (bench, job < n_runs ? job : job - n_runs);
  g_autoptr (GBytes) places = NULL, packed_edges = NULL;
  g_autoptr (GVariant) packed_row = NULL, block = NULL;
  gboolean changed = FALSE;
  uint64_t n_edges = 0;

  if (job < n_runs) {
    g_autoptr (TopoMapping) placement = NULL;
    g_autoptr (StudyRow) row = make_row (bench, job, &placement, &changed);

    /* Every placement is sent once. */
    if (placement != NULL && row->mapping_hash != NULL &&
        g_hash_table_add (bench->known, g_strdup (row->mapping_hash)))
      places = study_store_pack_places (placement);
    packed_row = study_row_pack (row);
    *spent = run->network == SIM_NETWORK_FLOW;
  } else if (run->problem == NULL && open_inputs (bench, run, NULL)) {
    const SimTraffic *traffic = find_traffic (bench);

    n_edges = traffic != NULL ? traffic->n_edges : 0;
    packed_edges = n_edges > 0 ? study_store_pack_edges (traffic->edges, n_edges) : NULL;
  }
  block = g_variant_ref_sink (g_variant_new (BLOCK_MAKE, packed_row, changed, variant_of (places),
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
study_job_read (StudyBench *bench, GBytes *block, StudyJobResult *result)
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
  if (result->places != NULL && result->row != NULL && result->row->mapping_hash != NULL)
    g_hash_table_add (bench->known, g_strdup (result->row->mapping_hash));
  return TRUE;
}
