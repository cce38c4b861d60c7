/* plan.c - the traces, machines and mappings of a study file, and the runs that it asks for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/plan/plan.h"

#include "sim/run.h"
#include "study/inputs.h"
#include "study/plan/plan_file.h"
#include "topology/recipe/recipe.h"

#include <string.h>

/* One mapping of a study on one machine for one number of ranks. */
typedef struct {
  char *text;   /* as rows name it, after substitution */
  char *path;   /* NULL: the default */
  char *source; /* what the file asks for it by: that of a family is one for all its members */
  char *problem;
  int *binding;
} PlanMapping;

static void unfit_free (StudyUnfit *unfit);

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

static void
run_free (StudyPlanRun *run)
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
  plan->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) run_free);
  plan->unfit = g_ptr_array_new_with_free_func ((GDestroyNotify) unfit_free);
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

StudyRow *
study_plan_row (const StudyPlan *plan, guint run)
{
  const StudyPlanRun *it = g_ptr_array_index (plan->runs, run);
  const StudyTrace *trace = g_ptr_array_index (plan->traces, it->trace);
  const StudyMachine *machine = g_ptr_array_index (plan->machines, it->machine);
  StudyRow *row = study_row_new ();

  row->key = g_strdup (it->key);
  row->trace = g_strdup (trace->text);
  row->trace_hash = g_strdup (trace->hash);
  row->machine = g_strdup (machine->text);
  row->machine_hash = g_strdup (machine->hash);
  if (machine->machine != NULL) {
    row->ranks_per_node = machine->machine->ranks_per_node;
    row->nodes = topo_shape_nodes (&machine->machine->shape);
    row->links = machine->n_links;
  }
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

/* --- The mappings that a study file asks for on a machine --- */

/* How a whole family is called. */
#define FAMILY_PREFIX "family "

static void
mapping_clear (gpointer data)
{
  PlanMapping *mapping = data;

  g_free (mapping->text);
  g_free (mapping->path);
  g_free (mapping->source);
  g_free (mapping->problem);
  g_free (mapping->binding);
  g_free (mapping);
}

/* The mappings of a machine while they are collected. */
typedef struct {
  const StudyPlanFile *file;
  GPtrArray *all;
  GHashTable *seen; /* (element-type utf8) texts, borrowed from them */
} Collection;

static Collection
collection_new (const StudyPlanFile *file)
{
  return (Collection){ file, g_ptr_array_new_with_free_func (mapping_clear),
                       g_hash_table_new (g_str_hash, g_str_equal) };
}

static GPtrArray *
collection_end (Collection *collection)
{
  g_hash_table_unref (collection->seen);
  return collection->all;
}

/* A text of capital letters alone is a permutation, even if there is such a file. */
static gboolean
is_permutation (const char *text)
{
  for (; *text != '\0'; text++)
    if (!g_ascii_isupper (*text))
      return FALSE;
  return TRUE;
}

/* What topo_mapping_new() is to open: a file by its path from here, its kind in front
 * if that is said.  Whatever is no file is for topo_mapping_new() to understand. */
static char *
path_of (const StudyPlanFile *file, const char *text)
{
  g_autofree char *path = study_plan_file_path (file, text);
  const char *colon = strchr (text, ':');
  g_autofree char *behind = colon != NULL ? study_plan_file_path (file, colon + 1) : NULL;

  if (is_permutation (text))
    return g_strdup (text);
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&path);
  if (behind != NULL && g_file_test (behind, G_FILE_TEST_EXISTS))
    return g_strdup_printf ("%.*s:%s", (int) (colon - text), text, behind);
  return g_strdup (text);
}

/* The default is called by its letters, as in `simulate`'s record.  family: whose member it
 * is; NULL: it is listed by itself. */
static void
add (Collection *collection, const char *text, const char *family, const char *default_name,
     const char *problem, const int *binding)
{
  gboolean is_default = !strcmp (text, "default");
  const char *listed = text;
  PlanMapping *mapping;

  if (is_default && default_name != NULL)
    text = default_name;
  if (g_hash_table_contains (collection->seen, text))
    return;
  mapping = g_new0 (PlanMapping, 1);
  mapping->text = g_strdup (text);
  mapping->path = is_default ? NULL : path_of (collection->file, text);
  mapping->source = family != NULL ? g_strconcat (FAMILY_PREFIX, family, NULL) : g_strdup (listed);
  mapping->problem = g_strdup (problem);
  mapping->binding = study_values_copy (&collection->file->values, binding);
  g_ptr_array_add (collection->all, mapping);
  g_hash_table_add (collection->seen, mapping->text);
}

static void
add_listed (Collection *collection, const char *default_name, const char *problem)
{
  const StudyValues *values = &collection->file->values;

  for (char **text = collection->file->mappings; *text != NULL; text++) {
    g_autofree int *binding = study_values_bind (values, *text, NULL);

    do {
      g_autofree char *filled = study_values_fill (values, *text, binding);

      add (collection, filled, NULL, default_name, problem, binding);
    } while (study_values_next (values, binding));
  }
}

static void
add_family_that_fails (Collection *collection, const char *family, const char *problem)
{
  g_autofree int *unbound = study_values_bind (&collection->file->values, "", NULL);
  g_autofree char *text = g_strconcat (FAMILY_PREFIX, family, NULL);

  add (collection, text, family, NULL, problem, unbound);
}

static void
add_family (Collection *collection, const char *family, const TopoMachine *machine,
            uint32_t n_ranks)
{
  g_autofree int *unbound = study_values_bind (&collection->file->values, "", NULL);
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) members = topo_recipe_family (family, machine, n_ranks, &error);

  if (members == NULL) {
    add_family_that_fails (collection, family, error->message);
    return;
  }
  for (char **member = members; *member != NULL; member++)
    add (collection, *member, family, NULL, NULL, unbound);
}

/* The same where there is no trace or machine: families are one each. */
static GPtrArray *
mappings_unknown (const StudyPlanFile *file, const char *problem)
{
  Collection collection = collection_new (file);

  add_listed (&collection, NULL, problem);
  for (char **family = file->families; *family != NULL; family++)
    add_family_that_fails (&collection, *family, problem);
  return collection_end (&collection);
}

/* --- Opens the traces and machines of a study --- */

static TopoMachine *
make_machine (const StudyMachine *machine, GError **error)
{
  const StudyMachineInputs inputs = { machine->spec, machine->ranks_per_node, machine->cores,
                                      machine->pattern, (const char *const *) machine->settings };
  g_autoptr (TopoMachine) made = study_machine_new (&inputs, error);

  if (made != NULL && machine->all_cores &&
      !topo_machine_set_ranks_per_node (made, made->node->n_cores, error))
    return NULL;
  if (made != NULL && machine->not_adaptive)
    made->parameters.adaptive = TOPO_ADAPTIVE_NONE;
  return g_steal_pointer (&made);
}

/* NULL and machine->error when there is none; to be freed before the machine. */
static RoutePaths *
open_machine (StudyMachine *machine)
{
  RoutePaths *paths = NULL;
  SimCounters *counters;

  machine->machine = make_machine (machine, &machine->error);
  if (machine->machine != NULL)
    paths = route_paths_new (machine->machine, &machine->error);
  if (paths == NULL) {
    g_clear_pointer (&machine->machine, topo_machine_free);
    return NULL;
  }
  machine->hash = study_machine_hash (machine->machine);
  machine->machine_text = study_machine_text (machine->machine);
  counters = sim_counters_new (machine->machine);
  machine->n_links = counters->n_links;
  sim_counters_free (counters);
  return paths;
}

/* The same machine but for these two, not yet open. */
static StudyMachine *
variant_new (const StudyPlanFile *file, const StudyMachine *origin, gboolean all_cores,
             gboolean not_adaptive)
{
  StudyMachine *variant = g_new0 (StudyMachine, 1);

  variant->text = g_strdup (origin->text);
  variant->spec = g_strdup (origin->spec);
  variant->cores = g_strdup (origin->cores);
  variant->settings = g_strdupv (origin->settings);
  variant->ranks_per_node = origin->ranks_per_node;
  variant->pattern = origin->pattern;
  variant->binding = study_values_copy (&file->values, origin->binding);
  variant->all_cores = all_cores;
  variant->not_adaptive = not_adaptive;
  return variant;
}

/* --- Mappings that do not fit all machines of a study --- */

/* What fits nowhere is not left out, whatever the file says: it is more often a mistake in
 * a name than meant. */

/* Which mappings fit where, while a plan is resolved. */
typedef struct {
  GHashTable *fitting; /* (element-type utf8) sources that fit somewhere */
  GHashTable *unfit;   /* (element-type StudyPlanRun utf8) sources of those that do not */
} Fits;

/* The run's trace and machine are there; fits: so is the mapping. */
static void
fits_add (Fits *fits, const StudyPlanRun *run, const char *source, gboolean does_fit)
{
  if (!does_fit)
    g_hash_table_insert (fits->unfit, (gpointer) run, g_strdup (source));
  else if (!g_hash_table_contains (fits->fitting, source))
    g_hash_table_add (fits->fitting, g_strdup (source));
}

static void
unfit_free (StudyUnfit *unfit)
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
sort_out (const Fits *fits, StudyPlan *plan, GHashTable *known, const StudyPlanRun *run)
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

/* --- Opens what a study names, lists its runs and computes their keys --- */

#define NONE G_MAXUINT

/* The traces that have the same number of ranks have the same mappings. */
typedef struct {
  gboolean is_first; /* of its kind; so is one that cannot be opened */
  guint next;        /* of its kind; NONE: it is the last */
} Kin;

/* What is open while a plan is resolved. */
typedef struct {
  StudyPlan *plan;
  Kin *kin; /* [traces] */
  Fits *fits;
  GPtrArray *paths; /* (element-type RoutePaths) of each machine, NULL where there are none */
  TraceProgress progress;
  void *data;
  guint n_steps, done;
} Resolve;

static void
tell (Resolve *resolve)
{
  resolve->done++;
  if (resolve->progress != NULL)
    resolve->progress (resolve->data, (double) resolve->done / resolve->n_steps);
}

/* The number of a machine that differs from another in these alone. */
static guint
variant_of (Resolve *resolve, guint of, gboolean all_cores, gboolean not_adaptive)
{
  GPtrArray *machines = resolve->plan->machines;
  const StudyMachine *origin = g_ptr_array_index (machines, of);
  StudyMachine *variant;

  for (guint at = of; at < machines->len; at++) {
    variant = g_ptr_array_index (machines, at);
    if (!strcmp (variant->text, origin->text) && !strcmp (variant->spec, origin->spec) &&
        variant->all_cores == all_cores && variant->not_adaptive == not_adaptive)
      return at;
  }
  variant = variant_new (resolve->plan->file, origin, all_cores, not_adaptive);
  g_ptr_array_add (machines, variant);
  g_ptr_array_add (resolve->paths, open_machine (variant));
  return machines->len - 1;
}

/* --- Keys --- */

static void
add_text (GChecksum *sum, const char *text)
{
  g_checksum_update (sum, (const guchar *) text, (gssize) strlen (text) + 1);
}

/* Of a run that cannot be made: it is to be known again, and to be another one
 * when it can be made. */
static char *
key_of_texts (const StudyPlan *plan, const StudyPlanRun *run)
{
  const StudyTrace *trace = g_ptr_array_index (plan->traces, run->trace);
  const StudyMachine *machine = g_ptr_array_index (plan->machines, run->machine);
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *numbers = g_strdup_printf ("%d %d %a %" G_GUINT64_FORMAT, (int) run->network,
                                              (int) run->policy, run->compute_scale, run->seed);

  add_text (sum, "not made by " PACKAGE_VERSION);
  add_text (sum, trace->text);
  add_text (sum, machine->text);
  add_text (sum, run->mapping);
  add_text (sum, numbers);
  return g_strdup (g_checksum_get_string (sum));
}

/* What sim_run() would refuse, or `simulate` before it. */
static const char *
policy_problem (const StudyMachine *machine, const StudyPlanRun *run)
{
  if (run->policy < ROUTE_POLICY_ZONE0)
    return NULL;
  if (machine->machine->fabric != NULL)
    return "routing zones are a torus's; a fabric's packets follow its forwarding tables";
  return run->network == SIM_NETWORK_LOAD ? "the load network knows deterministic paths only"
                                          : NULL;
}

/* --- Runs --- */

/* All runs of a trace, a machine and a mapping, which is made once and not kept. */
typedef struct {
  guint trace, machine;
  const PlanMapping *mapping;
  char *hash; /* of the mapping */
  TopoMapping *made;
  char *problem; /* NULL: both are made */
} Group;

static Group
group_new (Resolve *resolve, guint trace, guint machine, const PlanMapping *mapping)
{
  const StudyTrace *its_trace = g_ptr_array_index (resolve->plan->traces, trace);
  const StudyMachine *its_machine = g_ptr_array_index (resolve->plan->machines, machine);
  Group group = { .trace = trace, .machine = machine, .mapping = mapping };
  g_autoptr (GError) error = NULL;

  if (mapping->problem != NULL) {
    group.problem = g_strdup (mapping->problem);
    return group;
  }
  if (mapping->path != NULL && its_machine->machine->node != NULL &&
      topo_mapping_is_rankfile (mapping->path)) {
    group.machine = variant_of (resolve, machine, TRUE, its_machine->not_adaptive);
    its_machine = g_ptr_array_index (resolve->plan->machines, group.machine);
  }
  group.made = topo_mapping_new (mapping->path, its_machine->machine, its_trace->n_ranks, &error);
  if (group.made == NULL)
    group.problem = g_strdup (error->message);
  else
    group.hash = study_mapping_hash (group.made);
  return group;
}

static void
set_key (Resolve *resolve, StudyPlanRun *run, const Group *group)
{
  const StudyTrace *trace = g_ptr_array_index (resolve->plan->traces, run->trace);
  const StudyMachine *machine = g_ptr_array_index (resolve->plan->machines, run->machine);
  const SimRunOptions options = { .network = run->network,
                                  .policy = run->policy,
                                  .compute_scale = run->compute_scale,
                                  .seed = run->seed };

  run->problem = g_strdup (group->problem);
  if (run->problem == NULL)
    run->problem = g_strdup (policy_problem (machine, run));
  if (run->problem == NULL) {
    run->mapping_hash = g_strdup (group->hash);
    run->key = sim_run_key_of_hash (trace->hash, g_ptr_array_index (resolve->paths, run->machine),
                                    group->made, &options);
  } else
    run->key = key_of_texts (resolve->plan, run);
}

/* One way to run a mapping; its runs are collected here. */
typedef struct {
  StudyPlanRun pattern;
  GPtrArray *runs; /* (element-type StudyPlanRun) borrowed */
} Way;

static StudyPlanRun *
run_new (Resolve *resolve, const Group *group, const StudyPlanRun *pattern)
{
  const StudyTrace *trace = g_ptr_array_index (resolve->plan->traces, group->trace);
  const StudyMachine *machine = g_ptr_array_index (resolve->plan->machines, group->machine);
  StudyPlanRun *run = g_memdup2 (pattern, sizeof *pattern);

  run->trace = group->trace;
  run->machine = group->machine;
  if (pattern->policy == ROUTE_POLICY_DETERMINISTIC && machine->machine != NULL &&
      machine->machine->fabric != NULL &&
      machine->machine->parameters.adaptive != TOPO_ADAPTIVE_NONE)
    run->machine = variant_of (resolve, group->machine, machine->all_cores, TRUE);
  run->mapping = g_strdup (group->mapping->text);
  run->mapping_path = g_strdup (group->mapping->path);
  set_key (resolve, run, group);
  if (trace->error == NULL && machine->error == NULL)
    fits_add (resolve->fits, run, group->mapping->source, group->problem == NULL);
  return run;
}

static void
way_clear (gpointer data)
{
  g_ptr_array_unref (((Way *) data)->runs);
}

/* A trace on a machine. */
typedef struct {
  gboolean is_wanted; /* the two have the same values of their names */
  int *binding;       /* of both together */
  GArray *ways;       /* (element-type Way) */
} Pair;

static Pair
pair_new (const StudyPlan *plan, const StudyTrace *trace, const StudyMachine *machine)
{
  const StudyValues *values = &plan->file->values;
  Pair pair = { 0 };

  pair.is_wanted = study_values_agree (values, trace->binding, machine->binding);
  /* A binding with the values of both. */
  int *binding = study_values_copy (values, trace->binding);

  for (guint at = 0; at < values->all->len; at++)
    binding[at] = MAX (binding[at], machine->binding[at]);
  pair.binding = binding;

  /* In the order of the runs.  binding: of the trace and the machine together. */
  const StudyPlanFile *file = plan->file;
  GArray *ways = g_array_new (FALSE, FALSE, sizeof (Way));

  g_array_set_clear_func (ways, way_clear);
  for (guint network = 0; network < file->networks->len; network++)
    for (guint routing = 0; routing < file->routings->len; routing++)
      for (guint scale = 0; scale < file->compute_scales->len; scale++)
        for (guint repetition = 0; repetition < file->repetitions; repetition++) {
          Way way = { .pattern = {
                          .network = (SimNetworkKind) g_array_index (file->networks, int, network),
                          .policy = (RoutePolicy) g_array_index (file->routings, int, routing),
                          .compute_scale = g_array_index (file->compute_scales, double, scale),
                          .seed = file->seed + repetition,
                          .repetition = repetition,
                      } };

          if (!study_values_allow (&file->values, pair.binding, "seed", (int) repetition))
            continue;
          way.runs = g_ptr_array_new ();
          g_array_append_val (ways, way);
        }
  pair.ways = ways;
  return pair;
}

static void
add_group (Resolve *resolve, const Group *group, const Pair *pair)
{
  const StudyValues *values = &resolve->plan->file->values;
  const int *binding = group->mapping->binding;

  for (guint at = 0; at < pair->ways->len; at++) {
    Way *way = &g_array_index (pair->ways, Way, at);

    if (study_values_allow (values, binding, "seed", (int) way->pattern.repetition))
      g_ptr_array_add (way->runs, run_new (resolve, group, &way->pattern));
  }
}

static GPtrArray *
mappings_of (const StudyPlan *plan, const StudyTrace *trace, const StudyMachine *machine)
{
  if (trace->error != NULL)
    return mappings_unknown (plan->file, trace->error->message);
  if (machine->error != NULL)
    return mappings_unknown (plan->file, machine->error->message);

  /* How topo_mapping_new() calls the default; NULL when there is none: too many
   * ranks, which the run will tell. */
  g_autoptr (TopoMapping) mapping = topo_mapping_new (NULL, machine->machine, trace->n_ranks, NULL);

  g_autofree char *default_name = mapping != NULL ? g_strdup (mapping->name) : NULL;
  Collection collection = collection_new (plan->file);

  add_listed (&collection, default_name, NULL);
  for (char **family = plan->file->families; *family != NULL; family++)
    add_family (&collection, *family, machine->machine, trace->n_ranks);
  return collection_end (&collection);
}

static Kin *
kin_new (const GPtrArray *traces)
{
  Kin *kin = g_new (Kin, traces->len);
  g_autoptr (GHashTable) last = g_hash_table_new (NULL, NULL); /* ranks -> trace */

  for (guint at = 0; at < traces->len; at++) {
    const StudyTrace *trace = g_ptr_array_index (traces, at);
    gpointer ranks = GUINT_TO_POINTER (trace->n_ranks), before;

    kin[at] = (Kin){ .is_first = TRUE, .next = NONE };
    if (trace->error != NULL)
      continue;
    if (g_hash_table_lookup_extended (last, ranks, NULL, &before)) {
      kin[at].is_first = FALSE;
      kin[GPOINTER_TO_UINT (before)].next = at;
    }
    g_hash_table_insert (last, ranks, GUINT_TO_POINTER (at));
  }
  return kin;
}

/* All runs on a machine: pairs has one for each trace. */
static void
resolve_machine (Resolve *resolve, guint machine, const Pair *pairs)
{
  const StudyPlan *plan = resolve->plan;

  for (guint trace = 0; trace < plan->traces->len; trace++, tell (resolve)) {
    g_autoptr (GPtrArray) mappings = NULL;

    if (!resolve->kin[trace].is_first)
      continue;
    mappings = mappings_of (plan, g_ptr_array_index (plan->traces, trace),
                            g_ptr_array_index (plan->machines, machine));
    for (guint at = 0; at < mappings->len; at++) {
      /* The runs of a mapping for the first trace of a kind and all others of it. */
      const PlanMapping *mapping = g_ptr_array_index (mappings, at);
      const StudyValues *values = &resolve->plan->file->values;
      Group group = group_new (resolve, trace, machine, mapping);

      for (guint i = trace; i != NONE; i = resolve->kin[i].next) {
        if (!pairs[i].is_wanted || !study_values_agree (values, pairs[i].binding, mapping->binding))
          continue;
        group.trace = i;
        add_group (resolve, &group, &pairs[i]);
      }
      topo_mapping_free (group.made);
      g_free (group.hash);
      g_free (group.problem);
    }
  }
}

/* A mapping is made once for all traces, but the runs of a trace are together.
 * Machines that are added meanwhile are variants of the n_machines. */
static void
resolve_runs (Resolve *resolve, guint n_machines)
{
  const StudyPlan *plan = resolve->plan;
  guint n_traces = plan->traces->len;
  g_autofree Pair *pairs = g_new (Pair, (gsize) n_traces * n_machines);

  for (guint machine = 0; machine < n_machines; machine++) {
    for (guint trace = 0; trace < n_traces; trace++)
      pairs[machine * n_traces + trace] = pair_new (plan, g_ptr_array_index (plan->traces, trace),
                                                    g_ptr_array_index (plan->machines, machine));
    resolve_machine (resolve, machine, &pairs[machine * n_traces]);
  }
  for (guint trace = 0; trace < n_traces; trace++)
    for (guint machine = 0; machine < n_machines; machine++) {
      Pair *pair = &pairs[machine * n_traces + trace];

      for (guint at = 0; at < pair->ways->len; at++)
        g_ptr_array_extend (plan->runs, g_array_index (pair->ways, Way, at).runs, NULL, NULL);
      g_free (pair->binding);
      g_array_unref (pair->ways);
    }
}

gboolean
study_plan_resolve (StudyPlan *plan, TraceProgress progress, void *data, GError **error)
{
  guint n_traces = plan->traces->len, n_machines = plan->machines->len;
  Resolve resolve = { .plan = plan,
                      .progress = progress,
                      .data = data,
                      .n_steps = n_traces + n_machines + n_traces * n_machines };

  resolve.paths = g_ptr_array_new_with_free_func ((GDestroyNotify) route_paths_free);
  for (guint at = 0; at < n_traces; at++, tell (&resolve)) {
    StudyTrace *trace = g_ptr_array_index (plan->traces, at);
    g_autoptr (Trace) opened = trace_open (trace->path, &trace->options, &trace->error);

    if (opened != NULL) {
      trace->n_ranks = trace_ranks (opened);
      trace->hash = g_strdup (trace_hash (opened, &trace->error));
    }
  }
  for (guint at = 0; at < n_machines; at++, tell (&resolve))
    g_ptr_array_add (resolve.paths, open_machine (g_ptr_array_index (plan->machines, at)));
  resolve.kin = kin_new (plan->traces);

  Fits *fits = g_new (Fits, 1);

  fits->fitting = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  fits->unfit = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  resolve.fits = fits;
  resolve_runs (&resolve, n_machines);

  /* When all runs are in the plan: tells plan->unfit, and takes those out that the file
   * wants to be left out. */
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gsize n_runs;
  g_autofree gpointer *runs = g_ptr_array_steal (plan->runs, &n_runs);

  for (gsize at = 0; at < n_runs; at++)
    if (sort_out (resolve.fits, plan, known, runs[at]))
      g_ptr_array_add (plan->runs, runs[at]);
    else
      run_free (runs[at]);
  g_hash_table_unref (resolve.fits->fitting);
  g_hash_table_unref (resolve.fits->unfit);
  g_free (resolve.fits);
  g_free (resolve.kin);
  g_ptr_array_unref (resolve.paths);
  if (plan->runs->len > 0)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
               "%s: no run is left: no trace, machine and mapping have the same values of their "
               "{names}",
               plan->path);
  return FALSE;
}
