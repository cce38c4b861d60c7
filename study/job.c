/* job.c - what master and workers of a study tell each other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/job.h"

#include "study/store.h"

/* The graph of a trace that has more edges than this is not kept: 96 MB, and no
 * picture shows it. */
#define MAX_EDGES (1u << 22)

/* The row, whether inputs changed, the packed places, edges. */
#define BLOCK_TYPE "(mvbayay)"

void
study_job_result_clear (StudyJobResult *result)
{
  g_clear_pointer (&result->row, study_row_free);
  g_clear_pointer (&result->places, g_bytes_unref);
  g_clear_pointer (&result->edges, g_free);
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

/* --- Made by the worker --- */

static GVariant *
bytes (gconstpointer data, gsize n_bytes)
{
  return g_variant_new_fixed_array (G_VARIANT_TYPE_BYTE, data, n_bytes, 1);
}

/* Every placement is told once, and packed here, where there are several at it. */
static GBytes *
news (StudyJobMaker *maker, const StudyRow *row, const TopoMapping *placement)
{
  if (placement == NULL || row->mapping_hash == NULL ||
      !g_hash_table_add (maker->known, g_strdup (row->mapping_hash)))
    return NULL;
  return study_store_pack_places (placement);
}

static GVariant *
make_run (StudyJobMaker *maker, guint run, gboolean *spent)
{
  StudyBenchNotes notes;
  g_autoptr (StudyRow) row = study_bench_run (maker->bench, run, &notes);
  g_autoptr (TopoMapping) placement = notes.placement;
  g_autoptr (GBytes) told = news (maker, row, placement);
  g_autoptr (GVariant) packed = study_row_pack (row);
  gsize n_bytes = 0;
  gconstpointer places = told != NULL ? g_bytes_get_data (told, &n_bytes) : NULL;

  *spent = notes.spent;
  return g_variant_new ("(mvb@ay@ay)", packed, notes.changed, bytes (places, n_bytes),
                        bytes (NULL, 0));
}

static GVariant *
make_edges (StudyJobMaker *maker, guint run)
{
  uint64_t n_edges;
  g_autofree SimEdge *edges = study_bench_edges (maker->bench, run, MAX_EDGES, &n_edges);

  return g_variant_new ("(mvb@ay@ay)", NULL, FALSE, bytes (NULL, 0),
                        bytes (edges, n_edges * sizeof (SimEdge)));
}

GBytes *
study_job_make (void *data, guint job, gboolean *spent)
{
  StudyJobMaker *maker = data;
  g_autoptr (GVariant) block = g_variant_ref_sink (
      job < maker->n_runs ? make_run (maker, job, spent) : make_edges (maker, job - maker->n_runs));

  return g_variant_get_data_as_bytes (block);
}

/* --- Read by the master --- */

gboolean
study_job_read (GBytes *block, StudyJobResult *result)
{
  g_autoptr (GVariant) all =
      g_variant_ref_sink (g_variant_new_from_bytes (G_VARIANT_TYPE (BLOCK_TYPE), block, FALSE));
  g_autoptr (GVariant) row = NULL, places = NULL, edges = NULL;
  gconstpointer data;
  gsize n_bytes;

  *result = (StudyJobResult){ 0 };
  if (!g_variant_is_normal_form (all))
    return FALSE;
  g_variant_get (all, "(mvb@ay@ay)", &row, &result->changed, &places, &edges);
  if (row != NULL && (result->row = study_row_unpack (row)) == NULL)
    return FALSE;
  if (g_variant_n_children (places) > 0)
    result->places = g_variant_get_data_as_bytes (places);
  data = g_variant_get_fixed_array (edges, &n_bytes, 1);
  result->edges = g_memdup2 (data, n_bytes);
  result->n_edges = n_bytes / sizeof (SimEdge);
  return TRUE;
}
