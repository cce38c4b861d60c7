/* plan_unfit.c - mappings that do not fit all machines of a study.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What fits nowhere is not left out, whatever the file says: it is more often a mistake in
 * a name than meant. */
#include "config.h"

#include "study/plan/plan_private.h"

#include <string.h>

struct StudyFits {
  GHashTable *fitting; /* (element-type utf8) sources that fit somewhere */
  GHashTable *unfit;   /* (element-type StudyPlanRun utf8) sources of those that do not */
};

StudyFits *
study_fits_new (void)
{
  StudyFits *fits = g_new (StudyFits, 1);

  fits->fitting = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  fits->unfit = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  return fits;
}

void
study_fits_free (StudyFits *fits)
{
  g_hash_table_unref (fits->fitting);
  g_hash_table_unref (fits->unfit);
  g_free (fits);
}

void
study_fits_add (StudyFits *fits, const StudyPlanRun *run, const char *source, gboolean does_fit)
{
  if (!does_fit)
    g_hash_table_insert (fits->unfit, (gpointer) run, g_strdup (source));
  else if (!g_hash_table_contains (fits->fitting, source))
    g_hash_table_add (fits->fitting, g_strdup (source));
}

void
study_unfit_free (StudyUnfit *unfit)
{
  g_free (unfit->mapping);
  g_free (unfit->machine);
  g_free (unfit->problem);
  g_free (unfit);
}

/* The one of a run, which is new for the first of its kind. */
static StudyUnfit *
unfit_of (StudyPlan *plan, GHashTable *known, const StudyPlanRun *run)
{
  const StudyMachine *machine = g_ptr_array_index (plan->machines, run->machine);
  g_autofree char *kind = g_strjoin ("\n", run->mapping, machine->text, run->problem, NULL);
  StudyUnfit *unfit = g_hash_table_lookup (known, kind);

  if (unfit != NULL)
    return unfit;
  unfit = g_new0 (StudyUnfit, 1);
  unfit->mapping = g_strdup (run->mapping);
  unfit->machine = g_strdup (machine->text);
  unfit->problem = g_strdup (run->problem);
  g_ptr_array_add (plan->unfit, unfit);
  g_hash_table_insert (known, g_steal_pointer (&kind), unfit);
  return unfit;
}

/* Whether the run stays in the plan. */
static gboolean
sort_out (const StudyFits *fits, StudyPlan *plan, GHashTable *known, const StudyPlanRun *run)
{
  const char *source = g_hash_table_lookup (fits->unfit, run);
  StudyUnfit *unfit;

  if (source == NULL)
    return TRUE;
  unfit = unfit_of (plan, known, run);
  unfit->n_runs++;
  unfit->is_left_out = plan->file->skip_unfit && g_hash_table_contains (fits->fitting, source);
  return !unfit->is_left_out;
}

void
study_fits_end (const StudyFits *fits, StudyPlan *plan)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gsize n_runs;
  g_autofree gpointer *runs = g_ptr_array_steal (plan->runs, &n_runs);

  for (gsize at = 0; at < n_runs; at++)
    if (sort_out (fits, plan, known, runs[at]))
      g_ptr_array_add (plan->runs, runs[at]);
    else
      study_plan_run_free (runs[at]);
}
