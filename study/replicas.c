/* replicas.c - one run several times, its ranks starting a little apart.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/replicas.h"

#include "base/student.h"
#include "study/plan/plan.h"
#include "study/session/worker_pool.h"
#include "study/store/row_fields.h"
#include "study/study_error.h"

#include <math.h>
#include <sys/mman.h>

#define CONFIDENCE 0.95

/* --- Spreads --- */

StudySpread
study_spread (const double *values, guint n)
{
  StudySpread spread = { .mean = 0, .least = INFINITY, .most = -INFINITY };
  double squares = 0, half;

  for (guint i = 0; i < n; i++)
    if (!isnan (values[i])) {
      double off = values[i] - spread.mean;

      /* Welford's update: times that differ in the seventh digit keep their variance. */
      spread.n++;
      spread.mean += off / spread.n;
      squares += off * (values[i] - spread.mean);
      spread.least = MIN (spread.least, values[i]);
      spread.most = MAX (spread.most, values[i]);
    }
  if (spread.n == 0)
    spread.mean = spread.least = spread.most = (double) NAN;
  half = spread.n < 2 ? (double) NAN
                      : base_student_within (CONFIDENCE, spread.n - 1) *
                            sqrt (squares / (spread.n - 1) / spread.n);
  spread.lower = spread.mean - half;
  spread.upper = spread.mean + half;
  return spread;
}

StudySpread
study_rows_spread (const GPtrArray *rows, const char *column)
{
  const StudyField *field = study_row_find_field (column);
  g_autofree double *values = g_new (double, rows->len + 1);

  for (guint i = 0; i < rows->len; i++)
    values[i] = study_row_number (g_ptr_array_index (rows, i), field);
  return study_spread (values, rows->len);
}

static void
add_warnings (GPtrArray *all, const StudyRow *row)
{
  for (char **warning = row->warnings; *warning != NULL; warning++)
    if (!g_ptr_array_find_with_equal_func (all, *warning, g_str_equal, NULL))
      g_ptr_array_add (all, g_strdup (*warning));
}

StudyRow *
study_rows_extrapolate (const StudyRow *of_s, const StudyRow *of_2s, GError **error)
{
  g_autoptr (GVariant) block = study_row_pack (of_s);
  g_autoptr (GChecksum) keys = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr (GPtrArray) warnings = g_ptr_array_new ();
  StudyRow *row;

  if (of_2s->shrink_factor != 2 * of_s->shrink_factor ||
      of_s->shrink_share != of_2s->shrink_share) {
    g_set_error (
        error, STUDY_ERROR, STUDY_ERROR_INPUT,
        "nothing can be extrapolated from %.3g %% of the bytes shrunk %u times and %.3g %% "
        "shrunk %u times",
        100 * of_s->shrink_share, of_s->shrink_factor, 100 * of_2s->shrink_share,
        of_2s->shrink_factor);
    return NULL;
  }
  row = study_row_unpack (block);
  for (guint at = 0; at < study_row_n_fields (); at++) {
    const StudyField *field = study_row_field (at);

    if (field->offset >= G_STRUCT_OFFSET (StudyRow, time_s) && field->kind == STUDY_FIELD_REAL)
      *(double *) study_row_at (row, field) =
          MAX (0, 2 * study_row_number (of_s, field) - study_row_number (of_2s, field));
  }
  row->packets += of_2s->packets;
  row->packet_hops += of_2s->packet_hops;
  row->events += of_2s->events;
  row->wall_s = of_s->wall_s + of_2s->wall_s;
  row->peak_rss_bytes = MAX (of_s->peak_rss_bytes, of_2s->peak_rss_bytes);
  g_checksum_update (keys, (const guchar *) of_s->key, -1);
  g_checksum_update (keys, (const guchar *) of_2s->key, -1);
  g_free (row->key);
  row->key = g_strdup (g_checksum_get_string (keys));
  add_warnings (warnings, of_s);
  add_warnings (warnings, of_2s);
  g_ptr_array_add (warnings, NULL);
  g_strfreev (row->warnings);
  row->warnings = (char **) g_ptr_array_free (g_steal_pointer (&warnings), FALSE);
  return row;
}

StudyRow *
study_rows_mean (const GPtrArray *rows)
{
  const StudyRow *first = g_ptr_array_index (rows, 0);
  g_autoptr (GVariant) block = study_row_pack (first);
  g_autoptr (GChecksum) keys = g_checksum_new (G_CHECKSUM_SHA256);
  g_autoptr (GPtrArray) warnings = g_ptr_array_new ();
  StudyRow *mean = study_row_unpack (block);

  for (guint at = 0; at < study_row_n_fields (); at++) {
    const StudyField *field = study_row_field (at);
    StudySpread spread;

    if (field->offset < G_STRUCT_OFFSET (StudyRow, time_s) || !study_field_is_number (field))
      continue;
    spread = study_rows_spread (rows, field->name);
    if (field->kind == STUDY_FIELD_REAL)
      *(double *) study_row_at (mean, field) = spread.mean;
    else if (spread.n > 0)
      study_row_set_integer (mean, field, (uint64_t) (spread.mean + 0.5));
  }
  mean->wall_s = 0;
  for (guint i = 0; i < rows->len; i++) {
    const StudyRow *row = g_ptr_array_index (rows, i);

    g_checksum_update (keys, (const guchar *) row->key, -1);
    mean->wall_s += row->wall_s;
    mean->peak_rss_bytes = MAX (mean->peak_rss_bytes, row->peak_rss_bytes);
    add_warnings (warnings, row);
  }
  g_free (mean->key);
  mean->key = g_strdup (g_checksum_get_string (keys));
  g_ptr_array_add (warnings, NULL);
  g_strfreev (mean->warnings);
  mean->warnings = (char **) g_ptr_array_free (g_steal_pointer (&warnings), FALSE);
  return mean;
}

/* --- Making them --- */

typedef struct {
  const StudyReplicas *replicas;
  double *shares;  /* [n_replicas] that are done, shared with the workers */
  guint making;    /* in a worker */
  GPtrArray *rows; /* (element-type StudyRow) NULL: not made yet */
} Work;

static void
tell_share (void *data, double share, int64_t now_ps)
{
  const Work *work = data;

  (void) now_ps;
  __atomic_store (&work->shares[work->making], &share, __ATOMIC_RELAXED);
}

/* A StudyJobFunction. */
static GBytes *
make_replica (void *data, guint job, gboolean *spent)
{
  Work *work = data;
  const StudyReplicas *replicas = work->replicas;
  SimRunOptions options = replicas->options;
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) run = NULL;
  g_autoptr (StudyRow) row = study_row_new ();
  g_autoptr (GVariant) block = NULL;

  work->making = job;
  options.seed += job;
  options.progress = tell_share;
  options.progress_data = work;
  options.key = NULL;
  run = sim_run (replicas->trace, replicas->machine, replicas->mapping, &options, &error);
  row->network = g_strdup (study_network_names[options.network]);
  row->seed = options.seed;
  row->jitter_s = (double) options.jitter_ps / 1e12;
  if (run != NULL) {
    row->key = g_strdup (run->key);
    study_row_take (row, run, options.network, FALSE, FALSE);
  } else
    row->error = g_strdup (error->message);
  *spent = options.network == SIM_NETWORK_FLOW;
  block = study_row_pack (row);
  return g_variant_get_data_as_bytes (block);
}

static gboolean
take_replica (Work *work, const StudyPoolResult *result, GError **error)
{
  g_autoptr (GVariant) block = NULL;
  g_autoptr (StudyRow) row = NULL;

  if (result->block == NULL) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER, "replica %u: %s", result->job + 1,
                 result->lost);
    return FALSE;
  }
  block = g_variant_ref_sink (g_variant_new_from_bytes (STUDY_ROW_BLOCK, result->block, FALSE));
  row = study_row_unpack (block);
  if (row == NULL) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER, "a worker sent an invalid result");
    return FALSE;
  }
  if (row->status != STUDY_DONE) {
    g_set_error_literal (error, STUDY_ERROR, STUDY_ERROR_INPUT, row->error);
    return FALSE;
  }
  work->rows->pdata[result->job] = g_steal_pointer (&row);
  return TRUE;
}

/* A StudyPoolLook. */
static gboolean
look (void *data, const StudyPoolResult *result, guint n_done, GError **error)
{
  Work *work = data;
  const StudyReplicas *replicas = work->replicas;
  double sum = 0;

  (void) n_done;
  if (result != NULL && !take_replica (work, result, error))
    return FALSE;
  for (guint i = 0; i < replicas->n_replicas; i++) {
    double share;

    __atomic_load (&work->shares[i], &share, __ATOMIC_RELAXED);
    sum += work->rows->pdata[i] != NULL ? 1 : share;
  }
  if (replicas->options.progress != NULL)
    replicas->options.progress (replicas->options.progress_data, sum / replicas->n_replicas, 0);
  return TRUE;
}

static void
free_row (gpointer row)
{
  study_row_free (row);
}

GPtrArray *
study_replicas_run (const StudyReplicas *replicas, GError **error)
{
  size_t n_bytes = replicas->n_replicas * sizeof (double);
  guint n_workers = replicas->n_workers > 0 ? replicas->n_workers : g_get_num_processors ();
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (free_row);
  Work work = { .replicas = replicas, .rows = rows };
  gboolean done;

  g_ptr_array_set_size (rows, (int) replicas->n_replicas);
  work.shares = mmap (NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (work.shares == MAP_FAILED) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_WORKER, "cannot share memory with workers");
    return NULL;
  }
  done = study_pool_run (MIN (n_workers, replicas->n_replicas), replicas->n_replicas, make_replica,
                         look, &work, error);
  munmap (work.shares, n_bytes);
  return done ? g_steal_pointer (&rows) : NULL;
}
