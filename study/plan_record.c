/* plan_record.c - what a plan puts into its store before any run is made.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/plan.h"

#include "study/inputs.h"

static gboolean
record_machines (const StudyPlan *plan, StudyStore *store, GError **error)
{
  for (guint at = 0; at < plan->machines->len; at++) {
    const StudyMachine *machine = g_ptr_array_index (plan->machines, at);

    if (machine->hash != NULL &&
        !study_store_put_machine (store, machine->hash, machine->machine_text, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean
record_placement (const StudyPlan *plan, guint run, StudyStore *store, GError **error)
{
  const StudyPlanRun *it = g_ptr_array_index (plan->runs, run);
  g_autoptr (TopoMapping) mapping = NULL;
  g_autofree char *hash = NULL;

  if (it->mapping_hash == NULL || study_store_has_placement (store, it->mapping_hash))
    return TRUE;
  /* A file that has changed since is the run's trouble. */
  mapping = study_plan_mapping (plan, run, NULL);
  hash = mapping != NULL ? study_mapping_hash (mapping) : NULL;
  return g_strcmp0 (hash, it->mapping_hash) != 0 ||
         study_store_put_placement (store, it->mapping_hash, mapping, error);
}

static gboolean
record_plan (const StudyPlan *plan, StudyStore *store, GError **error)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);

  for (guint at = 0; at < plan->runs->len; at++)
    g_ptr_array_add (rows, study_plan_row (plan, at));
  return study_store_set_plan (store, plan->name, plan->text, (StudyRow *const *) rows->pdata,
                               rows->len, error);
}

gboolean
study_plan_record (const StudyPlan *plan, StudyStore *store, GError **error)
{
  if (!record_machines (plan, store, error))
    return FALSE;
  for (guint at = 0; at < plan->runs->len; at++)
    if (!record_placement (plan, at, store, error))
      return FALSE;
  return record_plan (plan, store, error);
}
