/* plan.c - a study file's traces and machines, and rows of its runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/plan/plan.h"

#include "study/plan/plan_file.h"
#include "study/plan/plan_private.h"

#include <string.h>

/* More would not be meant so: values of several names multiply. */
#define MAX_INPUTS 100000

static gboolean
check_number (const StudyPlanFile *file, const GPtrArray *inputs, const char *group,
              const char *key, GError **error)
{
  if (inputs->len < MAX_INPUTS)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "the values of its {names} make more than %d",
               MAX_INPUTS);
  return study_plan_file_blame (file, group, key, error);
}

/* --- Traces --- */

static StudyTrace *
trace_new (const StudyPlanFile *file, const char *template, const int *binding)
{
  StudyTrace *trace = g_new0 (StudyTrace, 1);

  trace->text = study_values_fill (&file->values, template, binding);
  trace->path = g_str_has_prefix (trace->text, "gen:") ? g_strdup (trace->text)
                                                       : study_plan_file_path (file, trace->text);
  trace->options = (TraceOptions){ .n_ranks = file->trace_ranks,
                                   .from_region = file->from_region,
                                   .allow_lossy = file->allow_lossy };
  trace->binding = study_values_copy (&file->values, binding);
  return trace;
}

static void
trace_clear (gpointer data)
{
  StudyTrace *trace = data;

  g_free (trace->text);
  g_free (trace->path);
  g_free (trace->binding);
  g_free (trace->hash);
  g_clear_error (&trace->error);
  g_free (trace);
}

static gboolean
add_traces (StudyPlan *plan, GError **error)
{
  const StudyPlanFile *file = plan->file;

  for (char **text = file->traces; *text != NULL; text++) {
    g_autofree int *binding = study_values_bind (&file->values, *text, error);

    if (binding == NULL)
      return study_plan_file_blame (file, "traces", "trace", error);
    do {
      if (!check_number (file, plan->traces, "traces", "trace", error))
        return FALSE;
      g_ptr_array_add (plan->traces, trace_new (file, *text, binding));
    } while (study_values_next (&file->values, binding));
  }
  return TRUE;
}

/* --- Machines --- */

/* Relative paths in specs start at the file's folder: those of fabrics and of
 * machine files. */
static char *
spec_from_here (const StudyPlanFile *file, const char *spec)
{
  gsize kind = g_str_has_prefix (spec, "fabric:") ? strlen ("fabric:") : 0;
  const char *comma = strchr (spec + kind, ',');
  gsize length = comma != NULL ? (gsize) (comma - spec) : strlen (spec);
  g_autofree char *name = g_strndup (spec + kind, length - kind);
  g_autofree char *path = study_plan_file_path (file, name);

  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return g_strdup (spec);
  return g_strdup_printf ("%.*s%s%s", (int) kind, spec, path, spec + length);
}

/* What a table cannot show otherwise is part of the name. */
static char *
machine_text (const StudyPlanFile *file, const StudyMachine *machine, const char *spec)
{
  GString *text = g_string_new (spec);

  if (machine->ranks_per_node != G_MININT && file->ranks_per_node->len > 1)
    g_string_append_printf (text, " ranks-per-node=%d", machine->ranks_per_node);
  if (machine->pattern != G_MININT)
    g_string_append_printf (text, " pattern=%d", machine->pattern);
  if (machine->cores != NULL)
    g_string_append_printf (text, " cores=%s", machine->cores);
  for (char **setting = machine->settings; *setting != NULL; setting++)
    g_string_append_printf (text, " %s", *setting);
  return g_string_free (text, FALSE);
}

static StudyMachine *
machine_new (const StudyPlanFile *file, const char *template, const int *binding,
             int ranks_per_node, int pattern)
{
  StudyMachine *machine = g_new0 (StudyMachine, 1);
  const StudyValues *values = &file->values;
  g_autofree char *spec = study_values_fill (values, template, binding);
  guint n_settings = g_strv_length (file->settings);

  machine->spec = spec_from_here (file, spec);
  machine->cores = file->cores != NULL ? study_values_fill (values, file->cores, binding) : NULL;
  machine->settings = g_new0 (char *, n_settings + 1);
  for (guint at = 0; at < n_settings; at++)
    machine->settings[at] = study_values_fill (values, file->settings[at], binding);
  machine->ranks_per_node = ranks_per_node;
  machine->pattern = pattern;
  machine->binding = study_values_copy (values, binding);
  machine->text = machine_text (file, machine, spec);
  return machine;
}

static void
machine_clear (gpointer data)
{
  StudyMachine *machine = data;

  g_free (machine->text);
  g_free (machine->spec);
  g_free (machine->cores);
  g_strfreev (machine->settings);
  g_free (machine->binding);
  topo_machine_free (machine->machine);
  g_free (machine->hash);
  g_free (machine->machine_text);
  g_clear_error (&machine->error);
  g_free (machine);
}

static void
add_slots_of_machine (StudyPlan *plan, const char *template, const int *binding)
{
  const StudyPlanFile *file = plan->file;

  for (guint ranks = 0; ranks < file->ranks_per_node->len; ranks++)
    for (guint pattern = 0; pattern < file->patterns->len; pattern++)
      g_ptr_array_add (plan->machines,
                       machine_new (file, template, binding,
                                    g_array_index (file->ranks_per_node, int, ranks),
                                    g_array_index (file->patterns, int, pattern)));
}

static gboolean
add_machines (StudyPlan *plan, GError **error)
{
  const StudyPlanFile *file = plan->file;
  g_autofree char *settings = g_strjoinv ("\n", file->settings);

  for (char **text = file->machines; *text != NULL; text++) {
    g_autofree char *all =
        g_strconcat (*text, "\n", file->cores != NULL ? file->cores : "", "\n", settings, NULL);
    g_autofree int *binding = study_values_bind (&file->values, all, error);

    if (binding == NULL)
      return study_plan_file_blame (file, "machines", "machine", error);
    do {
      if (!check_number (file, plan->machines, "machines", "machine", error))
        return FALSE;
      add_slots_of_machine (plan, *text, binding);
    } while (study_values_next (&file->values, binding));
  }
  return TRUE;
}

/* --- The plan --- */

/* Mappings are made when the machines are known; their names are looked at now. */
static gboolean
check_mappings (const StudyPlanFile *file, GError **error)
{
  for (char **text = file->mappings; *text != NULL; text++) {
    g_autofree int *binding = study_values_bind (&file->values, *text, error);

    if (binding == NULL)
      return study_plan_file_blame (file, "mappings", "mapping", error);
  }
  return TRUE;
}

/* The last value is {seed}, which may be left alone. */
static gboolean
check_values (const StudyPlanFile *file, GError **error)
{
  for (guint at = 0; at + 1 < file->values.all->len; at++) {
    const StudyValue *value = &g_array_index (file->values.all, StudyValue, at);

    if (!value->is_used) {
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "no trace, machine or mapping names {%s}",
                   value->name);
      return study_plan_file_blame (file, value->name, "values", error);
    }
  }
  return TRUE;
}

void
study_plan_run_free (StudyPlanRun *run)
{
  g_free (run->mapping);
  g_free (run->mapping_path);
  g_free (run->key);
  g_free (run->mapping_hash);
  g_free (run->problem);
  g_free (run);
}

StudyPlan *
study_plan_load (const char *path, GError **error)
{
  g_autoptr (StudyPlan) plan = g_new0 (StudyPlan, 1);

  plan->traces = g_ptr_array_new_with_free_func (trace_clear);
  plan->machines = g_ptr_array_new_with_free_func (machine_clear);
  plan->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) study_plan_run_free);
  plan->unfit = g_ptr_array_new_with_free_func ((GDestroyNotify) study_unfit_free);
  plan->file = study_plan_file_load (path, error);
  if (plan->file == NULL)
    return NULL;
  plan->name = g_strdup (plan->file->name);
  plan->path = g_strdup (path);
  plan->text = g_strdup (plan->file->text);
  plan->store_path = g_strdup (plan->file->store);
  plan->keep_links = plan->file->keep_links;
  plan->keep_ranks = plan->file->keep_ranks;
  if (!add_traces (plan, error) || !add_machines (plan, error) ||
      !check_mappings (plan->file, error) || !check_values (plan->file, error))
    return NULL;
  return g_steal_pointer (&plan);
}

void
study_plan_free (StudyPlan *plan)
{
  if (plan == NULL)
    return;
  g_ptr_array_unref (plan->unfit);
  g_ptr_array_unref (plan->runs);
  g_ptr_array_unref (plan->machines);
  g_ptr_array_unref (plan->traces);
  study_plan_file_free (plan->file);
  g_free (plan->name);
  g_free (plan->path);
  g_free (plan->text);
  g_free (plan->store_path);
  g_free (plan);
}

/* --- Runs --- */

TopoMapping *
study_plan_mapping (const StudyPlan *plan, guint run, GError **error)
{
  const StudyPlanRun *it = g_ptr_array_index (plan->runs, run);
  const StudyTrace *trace = g_ptr_array_index (plan->traces, it->trace);
  const StudyMachine *machine = g_ptr_array_index (plan->machines, it->machine);

  if (it->problem != NULL) {
    g_set_error_literal (error, STUDY_ERROR, STUDY_ERROR_INPUT, it->problem);
    return NULL;
  }
  return topo_mapping_new (it->mapping_path, machine->machine, trace->n_ranks, error);
}

static void
add_machine_to_row (StudyRow *row, const StudyMachine *machine)
{
  row->machine = g_strdup (machine->text);
  row->machine_hash = g_strdup (machine->hash);
  if (machine->machine == NULL)
    return;
  row->ranks_per_node = machine->machine->ranks_per_node;
  row->nodes = topo_shape_nodes (&machine->machine->shape);
  row->links = machine->n_links;
}

StudyRow *
study_plan_row (const StudyPlan *plan, guint run)
{
  const StudyPlanRun *it = g_ptr_array_index (plan->runs, run);
  const StudyTrace *trace = g_ptr_array_index (plan->traces, it->trace);
  StudyRow *row = study_row_new ();

  row->key = g_strdup (it->key);
  row->trace = g_strdup (trace->text);
  row->trace_hash = g_strdup (trace->hash);
  add_machine_to_row (row, g_ptr_array_index (plan->machines, it->machine));
  row->mapping = g_strdup (it->mapping);
  row->mapping_hash = g_strdup (it->mapping_hash);
  row->network = g_strdup (study_network_names[it->network]);
  row->routing = g_strdup (study_routing_names[it->policy]);
  row->grain = g_strdup ("exact");
  row->version = g_strdup (PACKAGE_VERSION);
  row->ranks = trace->n_ranks;
  row->compute_scale = it->compute_scale;
  row->seed = it->seed;
  row->repetition = it->repetition;
  row->error = g_strdup (it->problem);
  return row;
}
