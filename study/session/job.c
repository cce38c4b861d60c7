/* job.c - what master and workers of a study tell each other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/session/job.h"

#include "study/store/store.h"

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

/* --- Made by the worker --- */

/* NULL: none. */
static GVariant *
variant_of (GBytes *bytes)
{
  gsize n_bytes = 0;
  gconstpointer data = bytes != NULL ? g_bytes_get_data (bytes, &n_bytes) : NULL;

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

  *spent = notes.spent;
  return g_variant_new (BLOCK_MAKE, packed, notes.changed, variant_of (told), variant_of (NULL),
                        (guint64) 0);
}

/* Packed here too: the master has to write, and to hand out runs meanwhile. */
static GVariant *
make_edges (StudyJobMaker *maker, guint run)
{
  uint64_t n_edges;
  g_autofree SimEdge *edges =
      study_bench_edges (maker->bench, run, STUDY_STORE_MAX_EDGES, &n_edges);
  g_autoptr (GBytes) packed = n_edges > 0 ? study_store_pack_edges (edges, n_edges) : NULL;

  return g_variant_new (BLOCK_MAKE, NULL, FALSE, variant_of (NULL), variant_of (packed),
                        (guint64) n_edges);
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
