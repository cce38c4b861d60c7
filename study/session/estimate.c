/* estimate.c - how long the runs of a study that are left will take.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/session/estimate.h"

#include "study/session/execute.h"

#include <string.h>
#include <sys/resource.h>

/* What is known of the runs of one case. */
typedef struct {
  double wall_s;
  guint n;
} Sum;

typedef struct {
  const StudyPlan *plan;
  GHashTable *cases;            /* of case_name() to Sum: runs in the store */
  double packet_s, packet_hops; /* of all packet runs in the store */
  StudyBench *bench;
  GHashTable *sizes; /* of case_name() to StudyBenchSize; load_s < 0: cannot be opened */
  StudyEstimate *estimate;
} Estimation;

static char *
case_name (const StudyRow *row)
{
  return g_strdup_printf ("%s %s %s", row->trace_hash != NULL ? row->trace_hash : "",
                          row->machine_hash != NULL ? row->machine_hash : "", row->network);
}

/* --- From the store --- */

static void
add_row (Estimation *it, const StudyRow *row)
{
  char *name = case_name (row);
  Sum *sum = g_hash_table_lookup (it->cases, name);

  if (sum == NULL) {
    sum = g_new0 (Sum, 1);
    g_hash_table_insert (it->cases, name, sum);
  } else
    g_free (name);
  sum->wall_s += row->wall_s;
  sum->n++;
  it->estimate->peak_rss_bytes = MAX (it->estimate->peak_rss_bytes, row->peak_rss_bytes);
  if (!strcmp (row->network, "packet")) {
    it->packet_s += row->wall_s;
    it->packet_hops += (double) row->packet_hops;
  }
}

static gboolean
learn (Estimation *it, const StudySessionOptions *options, GError **error)
{
  g_autofree char *path = study_session_store_path (it->plan, options);
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (GPtrArray) rows = NULL;

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  store = study_store_open (path, STUDY_STORE_READ, error);
  rows = store != NULL ? study_store_rows (store, FALSE, error) : NULL;
  for (guint i = 0; rows != NULL && i < rows->len; i++) {
    const StudyRow *row = g_ptr_array_index (rows, i);

    if (row->status == STUDY_DONE)
      add_row (it, row);
  }
  return rows != NULL;
}

/* --- From a load run --- */

static const StudyBenchSize *
measure (Estimation *it, guint run, const char *name)
{
  StudyBenchSize *size = g_hash_table_lookup (it->sizes, name);

  if (size != NULL)
    return size;
  size = g_new0 (StudyBenchSize, 1);
  if (study_bench_measure (it->bench, run, size))
    it->estimate->run_s += size->read_s;
  else
    size->load_s = -1;
  g_hash_table_insert (it->sizes, g_strdup (name), size);
  return size;
}

static void
add_measured (Estimation *it, guint run, SimNetworkKind network, const char *name)
{
  const StudyBenchSize *size = network != SIM_NETWORK_FLOW ? measure (it, run, name) : NULL;
  double rate = it->packet_s > 0 ? it->packet_hops / it->packet_s : STUDY_ESTIMATE_HOPS_PER_S;

  if (size == NULL || size->load_s < 0)
    it->estimate->n_unknown++;
  else
    it->estimate->run_s += network == SIM_NETWORK_LOAD ? size->load_s : size->packet_hops / rate;
}

static void
add_run (Estimation *it, guint run)
{
  const StudyPlanRun *asked = g_ptr_array_index (it->plan->runs, run);
  g_autoptr (StudyRow) row = study_plan_row (it->plan, run);
  g_autofree char *name = case_name (row);
  const Sum *known = g_hash_table_lookup (it->cases, name);

  if (known == NULL) {
    add_measured (it, run, asked->network, name);
    return;
  }
  it->estimate->run_s += known->wall_s / known->n;
  it->estimate->n_measured++;
}

static uint64_t
own_peak_rss_bytes (void)
{
  struct rusage usage;

  return getrusage (RUSAGE_SELF, &usage) == 0 ? (uint64_t) usage.ru_maxrss * 1024 : 0;
}

gboolean
study_estimate (const StudyPlan *plan, const StudySessionOptions *options, const GArray *todo,
                StudyEstimate *estimate, GError **error)
{
  Estimation it = { .plan = plan,
                    .cases = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                    .sizes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                    .bench = study_bench_new (plan),
                    .estimate = estimate };
  gboolean learned;

  *estimate = (StudyEstimate){ 0 };
  learned = learn (&it, options, error);
  for (guint i = 0; learned && i < todo->len; i++)
    add_run (&it, g_array_index (todo, guint, i));
  estimate->peak_rss_bytes = MAX (estimate->peak_rss_bytes, own_peak_rss_bytes ());
  study_bench_free (it.bench);
  g_hash_table_unref (it.sizes);
  g_hash_table_unref (it.cases);
  return learned;
}
