/* plan.c - the traces, machines and mappings of a study file, and the runs that it asks for.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/plan/plan.h"

#include "base/random.h"
#include "base/words.h"
#include "sim/run.h"
#include "study/failures.h"
#include "study/inputs.h"
#include "study/plan/plan_file.h"
#include "topology/recipe/recipe.h"

#include <string.h>

/* The largest number of traces or machines: the values of several {NAME}s multiply, and more are
 * a mistake. */
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

static void
plan_trace_free (gpointer data)
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
      StudyTrace *trace;

      if (!check_number (file, plan->traces, "traces", "trace", error))
        return FALSE;
      trace = g_new0 (StudyTrace, 1);
      trace->text = study_values_fill (&file->values, *text, binding);
      trace->path = g_str_has_prefix (trace->text, "gen:")
                        ? g_strdup (trace->text)
                        : study_plan_file_path (file, trace->text);
      trace->options = (TraceOptions){ .n_ranks = file->trace_ranks,
                                       .from_region = file->from_region,
                                       .allow_lossy = file->allow_lossy };
      trace->binding = study_values_copy (&file->values, binding);
      g_ptr_array_add (plan->traces, trace);
    } while (study_values_next (&file->values, binding));
  }
  return TRUE;
}

/* --- Machines --- */

static StudyMachine *
machine_new (const StudyPlanFile *file, const char *template, const int *binding,
             int ranks_per_node, int pattern)
{
  StudyMachine *machine = g_new0 (StudyMachine, 1);
  const StudyValues *values = &file->values;
  g_autofree char *spec = study_values_fill (values, template, binding);
  guint n_settings = g_strv_length (file->settings);

  /* The paths of fabrics and of machine files start at the study file's folder. */
  gsize kind = g_str_has_prefix (spec, "fabric:") ? strlen ("fabric:") : 0;
  gsize length = kind + strcspn (spec + kind, ",");
  g_autofree char *name = g_strndup (spec + kind, length - kind);
  g_autofree char *path = study_plan_file_path (file, name);

  machine->spec = g_file_test (path, G_FILE_TEST_EXISTS)
                      ? g_strdup_printf ("%.*s%s%s", (int) kind, spec, path, spec + length)
                      : g_strdup (spec);
  machine->cores = file->cores != NULL ? study_values_fill (values, file->cores, binding) : NULL;
  machine->settings = g_new0 (char *, n_settings + 1);
  for (guint at = 0; at < n_settings; at++)
    machine->settings[at] = study_values_fill (values, file->settings[at], binding);
  machine->asked_ranks_per_node = ranks_per_node;
  machine->pattern = pattern;
  machine->binding = study_values_copy (values, binding);

  /* The name in tables has the settings that no other column shows. */
  GString *text = g_string_new (spec);

  if (ranks_per_node != G_MININT && file->ranks_per_node->len > 1)
    g_string_append_printf (text, " ranks-per-node=%d", ranks_per_node);
  if (pattern != G_MININT)
    g_string_append_printf (text, " pattern=%d", pattern);
  if (machine->cores != NULL)
    g_string_append_printf (text, " cores=%s", machine->cores);
  for (char **setting = machine->settings; *setting != NULL; setting++)
    g_string_append_printf (text, " %s", *setting);
  machine->text = g_string_free (text, FALSE);
  return machine;
}

/* The same machine under the same name, yet to be opened. */
static StudyMachine *
machine_copy (const StudyPlanFile *file, const StudyMachine *origin)
{
  StudyMachine *copy = g_new0 (StudyMachine, 1);

  copy->text = g_strdup (origin->text);
  copy->spec = g_strdup (origin->spec);
  copy->cores = g_strdup (origin->cores);
  copy->settings = g_strdupv (origin->settings);
  copy->asked_ranks_per_node = origin->asked_ranks_per_node;
  copy->pattern = origin->pattern;
  copy->binding = study_values_copy (&file->values, origin->binding);
  copy->whole = origin->whole;
  return copy;
}

static void
plan_machine_free (gpointer data)
{
  StudyMachine *machine = data;

  g_free (machine->text);
  g_free (machine->spec);
  g_free (machine->cores);
  g_strfreev (machine->settings);
  g_free (machine->binding);
  if (machine->shares)
    g_free (machine->machine);
  else
    topo_machine_free (machine->machine);
  g_free (machine->hash);
  g_free (machine->machine_text);
  g_clear_error (&machine->error);
  g_free (machine);
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
      for (guint ranks = 0; ranks < file->ranks_per_node->len; ranks++)
        for (guint pattern = 0; pattern < file->patterns->len; pattern++)
          g_ptr_array_add (plan->machines,
                           machine_new (file, *text, binding,
                                        g_array_index (file->ranks_per_node, int, ranks),
                                        g_array_index (file->patterns, int, pattern)));
    } while (study_values_next (&file->values, binding));
  }
  return TRUE;
}

/* --- The plan --- */

static void
unfit_free (gpointer data)
{
  StudyUnfit *unfit = data;

  g_free (unfit->mapping);
  g_free (unfit->machine);
  g_free (unfit->problem);
  g_free (unfit);
}

static void
run_free (StudyPlanRun *run)
{
  g_free (run->mapping);
  g_free (run->mapping_path);
  topo_mapping_free (run->places);
  g_free (run->key);
  g_free (run->mapping_hash);
  g_free (run->problem);
  g_free (run);
}

StudyPlan *
study_plan_new (const char *name, const char *text)
{
  StudyPlan *plan = g_new0 (StudyPlan, 1);

  plan->name = g_strdup (name);
  plan->text = g_strdup (text);
  plan->traces = g_ptr_array_new_with_free_func (plan_trace_free);
  plan->machines = g_ptr_array_new_with_free_func (plan_machine_free);
  plan->runs = g_ptr_array_new_with_free_func ((GDestroyNotify) run_free);
  plan->unfit = g_ptr_array_new_with_free_func (unfit_free);
  plan->failures = g_ptr_array_new_with_free_func (g_free);
  return plan;
}

StudyPlan *
study_plan_load (const char *path, GError **error)
{
  g_autoptr (StudyPlan) plan = study_plan_new (NULL, NULL);
  StudyPlanFile *file;

  plan->file = file = study_plan_file_load (path, error);
  if (file == NULL)
    return NULL;
  plan->name = g_strdup (file->name);
  plan->path = g_strdup (path);
  plan->text = g_strdup (file->text);
  plan->store_path = g_strdup (file->store);
  plan->keep_links = file->keep_links;
  plan->keep_ranks = file->keep_ranks;
  plan->keep_path = file->keep_path;
  if (!add_traces (plan, error) || !add_machines (plan, error))
    return NULL;

  /* Mappings are made when the machines are known; their {NAME}s are checked now. */
  for (char **text = file->mappings; *text != NULL; text++) {
    g_autofree int *binding = study_values_bind (&file->values, *text, error);

    if (binding == NULL) {
      study_plan_file_blame (file, "mappings", "mapping", error);
      return NULL;
    }
  }
  /* All values must be used but the last, which is {seed}. */
  for (guint at = 0; at + 1 < file->values.all->len; at++) {
    const StudyValue *value = &g_array_index (file->values.all, StudyValue, at);

    if (!value->is_used) {
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "no trace, machine or mapping names {%s}",
                   value->name);
      study_plan_file_blame (file, value->name, "values", error);
      return NULL;
    }
  }
  return g_steal_pointer (&plan);
}

void
study_plan_free (StudyPlan *plan)
{
  if (plan == NULL)
    return;
  g_ptr_array_unref (plan->failures);
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

static TopoMapping *
copy_mapping (const TopoMapping *mapping)
{
  TopoMapping *copy = g_new (TopoMapping, 1);

  *copy =
      (TopoMapping){ .name = g_strdup (mapping->name),
                     .n_ranks = mapping->n_ranks,
                     .node = g_memdup2 (mapping->node, mapping->n_ranks * sizeof *mapping->node),
                     .slot = g_memdup2 (mapping->slot, mapping->n_ranks * sizeof *mapping->slot) };
  return copy;
}

TopoMapping *
study_plan_mapping (const StudyPlan *plan, guint run, const TopoMachine *machine, GError **error)
{
  const StudyPlanRun *it = g_ptr_array_index (plan->runs, run);
  const StudyTrace *trace = g_ptr_array_index (plan->traces, it->trace);

  if (it->problem != NULL) {
    g_set_error_literal (error, STUDY_ERROR, STUDY_ERROR_INPUT, it->problem);
    return NULL;
  }
  if (it->places != NULL)
    return copy_mapping (it->places);
  return topo_mapping_new (it->mapping_path, machine, trace->n_ranks, error);
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
  row->ranks_per_node = machine->ranks_per_node;
  row->nodes = machine->n_nodes;
  row->links = machine->n_links;
  row->mapping = g_strdup (it->mapping);
  row->mapping_hash = g_strdup (it->mapping_hash);
  row->network = g_strdup (study_network_names[it->network]);
  row->routing = g_strdup (study_routing_names[it->policy]);
  row->shrink = sim_shrink_text (it->shrink);
  row->version = g_strdup (PACKAGE_VERSION);
  row->ranks = trace->n_ranks;
  row->compute_scale = it->compute_scale;
  row->seed = it->seed;
  row->repetition = it->repetition;
  row->replica = it->replica;
  row->jitter_s = (double) it->jitter_ps / 1e12;
  row->error = g_strdup (it->problem);
  return row;
}

/* --- The mappings that a study file asks for on a machine --- */

#define FAMILY_PREFIX "family "

/* One mapping of a study on one machine for one number of ranks. */
typedef struct {
  char *text;   /* as rows name it, after substitution */
  char *path;   /* for topo_mapping_new(); NULL: the default */
  char *source; /* the text in the file: all members of a family have one */
  char *problem;
  int *binding;
} PlanMapping;

static void
mapping_free (gpointer data)
{
  PlanMapping *mapping = data;

  g_free (mapping->text);
  g_free (mapping->path);
  g_free (mapping->source);
  g_free (mapping->problem);
  g_free (mapping->binding);
  g_free (mapping);
}

/* The argument of topo_mapping_new() for a text of the file.  The path of a file starts at the
 * study file's folder, behind its kind and a colon if it has one. */
static char *
mapping_path (const StudyPlanFile *file, const char *text)
{
  g_autofree char *path = study_plan_file_path (file, text);
  const char *colon = strchr (text, ':');
  g_autofree char *behind = colon != NULL ? study_plan_file_path (file, colon + 1) : NULL;
  const char *letter = text;

  /* Capital letters alone are a permutation, even if there is such a file. */
  while (g_ascii_isupper (*letter))
    letter++;
  if (*letter == '\0')
    return g_strdup (text);
  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&path);
  if (behind != NULL && g_file_test (behind, G_FILE_TEST_EXISTS))
    return g_strdup_printf ("%.*s:%s", (int) (colon - text), text, behind);
  return g_strdup (text);
}

/* The mappings of a machine while they are collected. */
typedef struct {
  const StudyPlanFile *file;
  GPtrArray *all;           /* (element-type PlanMapping) */
  GHashTable *seen;         /* (element-type utf8) texts, borrowed from them */
  const char *default_name; /* the letters of the default, as in the record of `simulate` */
} Collection;

/* family: the family that the text is a member of; NULL: it is listed by itself. */
static void
add_mapping (Collection *collection, const char *text, const char *family, const char *problem,
             const int *binding)
{
  gboolean is_default = !strcmp (text, "default");
  const char *name =
      is_default && family == NULL && collection->default_name ? collection->default_name : text;
  PlanMapping *mapping;

  if (g_hash_table_contains (collection->seen, name))
    return;
  mapping = g_new0 (PlanMapping, 1);
  mapping->text = g_strdup (name);
  mapping->path = is_default ? NULL : mapping_path (collection->file, name);
  mapping->source = family != NULL ? g_strconcat (FAMILY_PREFIX, family, NULL) : g_strdup (text);
  mapping->problem = g_strdup (problem);
  mapping->binding = study_values_copy (&collection->file->values, binding);
  g_ptr_array_add (collection->all, mapping);
  g_hash_table_add (collection->seen, mapping->text);
}

/* (element-type PlanMapping)  A family that cannot be made is one mapping with a problem. */
static GPtrArray *
mappings_of (const StudyPlanFile *file, const StudyTrace *trace, const StudyMachine *machine)
{
  const StudyValues *values = &file->values;
  g_autofree int *unbound = study_values_bind (values, "", NULL);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (TopoMapping) default_mapping = NULL;
  Collection collection = { file, g_ptr_array_new_with_free_func (mapping_free), seen, NULL };
  const char *problem = trace->error != NULL     ? trace->error->message
                        : machine->error != NULL ? machine->error->message
                                                 : NULL;

  /* A mapping has one name with and without a part that is out, also where it cannot be made then. */
  const StudyMachine *whole = machine->whole != NULL ? machine->whole : machine;
  gboolean has_whole = trace->error == NULL && whole->machine != NULL;

  /* With too many ranks there is no default mapping, which is the problem of its runs. */
  if (has_whole)
    default_mapping = topo_mapping_new (NULL, whole->machine, trace->n_ranks, NULL);
  if (default_mapping != NULL)
    collection.default_name = default_mapping->name;
  for (char **text = file->mappings; *text != NULL; text++) {
    g_autofree int *binding = study_values_bind (values, *text, NULL);

    do {
      g_autofree char *filled = study_values_fill (values, *text, binding);

      add_mapping (&collection, filled, NULL, problem, binding);
    } while (study_values_next (values, binding));
  }
  for (char **family = file->families; *family != NULL; family++) {
    g_autofree char *name = g_strconcat (FAMILY_PREFIX, *family, NULL);
    g_autoptr (GError) error = NULL;
    g_auto (GStrv) members = NULL;

    if (has_whole)
      members = topo_recipe_family (*family, whole->machine, trace->n_ranks, &error);
    if (members == NULL)
      add_mapping (&collection, name, *family, error != NULL ? error->message : problem, unbound);
    for (gsize at = 0; members != NULL && members[at] != NULL; at++)
      add_mapping (&collection, members[at], *family, problem, unbound);
  }
  return collection.all;
}

/* --- Resolving: opens the traces and machines, lists the runs and computes their keys --- */

#define NONE G_MAXUINT

/* Traces that have the same number of ranks have the same mappings. */
typedef struct {
  gboolean is_first; /* with this number of ranks; a trace that cannot be opened is alone */
  guint next;        /* trace with this number of ranks; NONE: it is the last */
} SameRanks;

typedef struct {
  StudyPlan *plan;
  SameRanks *same_ranks; /* [traces] */
  GHashTable *fitting;   /* (element-type utf8) sources of mappings that fit some machine */
  GHashTable *unfit;     /* (key-type StudyPlanRun) (value-type utf8) sources of those that do not
                            fit the machine of the run */
  GPtrArray *paths;      /* (element-type RoutePaths) of each machine, NULL where there are none */
  TraceProgress progress;
  void *data;
  guint n_steps, done;
} Resolve;

static void
step_done (Resolve *resolve)
{
  resolve->done++;
  if (resolve->progress != NULL)
    resolve->progress (resolve->data, (double) resolve->done / resolve->n_steps);
}

static void
take_machine (StudyMachine *machine, TopoMachine *made)
{
  SimCounters *counters = sim_counters_new (made);

  machine->machine = made;
  machine->ranks_per_node = made->ranks_per_node;
  machine->n_nodes = topo_shape_nodes (&made->shape);
  machine->payload_bytes =
      made->fabric != NULL ? made->parameters.ib.mtu_bytes : made->parameters.packet.payload_bytes;
  machine->hash = study_machine_hash (made);
  machine->machine_text = study_machine_text (made);
  machine->n_links = counters->n_links;
  sim_counters_free (counters);
}

TopoMachine *
study_plan_open_machine (const StudyMachine *machine, GError **error)
{
  const StudyMachineInputs inputs = { machine->spec, machine->asked_ranks_per_node, machine->cores,
                                      machine->pattern, (const char *const *) machine->settings };
  g_autoptr (TopoMachine) made = study_machine_new (&inputs, error);

  if (made == NULL ||
      (machine->all_cores && !topo_machine_set_ranks_per_node (made, made->node->n_cores, error)))
    return NULL;
  if (machine->not_adaptive)
    made->parameters.switches.adaptive = TOPO_ADAPTIVE_NONE;
  return g_steal_pointer (&made);
}

/* NULL and machine->error when there is none; to be freed before the machine. */
static RoutePaths *
open_machine (StudyMachine *machine)
{
  g_autoptr (TopoMachine) made = study_plan_open_machine (machine, &machine->error);
  RoutePaths *paths = made != NULL ? route_paths_new (made, &machine->error) : NULL;

  if (paths != NULL)
    take_machine (machine, g_steal_pointer (&made));
  return paths;
}

/* The index of the machine that differs from another in these alone; it is added when it is new. */
static guint
variant_of (Resolve *resolve, guint of, gboolean all_cores, gboolean not_adaptive)
{
  GPtrArray *machines = resolve->plan->machines;
  const StudyMachine *origin = g_ptr_array_index (machines, of);
  StudyMachine *variant;

  for (guint at = of; at < machines->len; at++) {
    variant = g_ptr_array_index (machines, at);
    if (!strcmp (variant->text, origin->text) && !strcmp (variant->spec, origin->spec) &&
        variant->all_cores == all_cores && variant->not_adaptive == not_adaptive &&
        (variant->machine != NULL || variant->error != NULL))
      return at;
  }
  variant = machine_copy (resolve->plan->file, origin);
  variant->all_cores = all_cores;
  variant->not_adaptive = not_adaptive;
  g_ptr_array_add (machines, variant);
  g_ptr_array_add (resolve->paths, open_machine (variant));
  return machines->len - 1;
}

/* --- Machines with a part out --- */

/* Moves the wanted ones of the parts to the front; how many they are. */
static guint
choose_parts (const StudyFailures *failures, char **parts)
{
  guint n_parts = g_strv_length (parts), n = 0;
  BaseRandom random = base_random_stream (failures->seed, 0);

  for (guint at = 0; at < n_parts; at++) {
    gboolean is_wanted =
        failures->every > 0 ? at % failures->every == 0
        /* Knuth's selection sampling: each choice of so many parts is as probable, in their order. */
        : failures->sample > 0 ? n < failures->sample && base_random_below (&random, n_parts - at) <
                                                             failures->sample - n
                               : TRUE;

    if (is_wanted) {
      char *part = parts[n];

      parts[n++] = parts[at];
      parts[at] = part;
    }
  }
  return n;
}

/* Why these parts of a machine cannot be out; NULL: they can. */
static char *
failures_problem (const StudyFailures *failures, const StudyMachine *machine, char **parts)
{
  static const char *const kinds[] = { "cables", "switches", "nodes", NULL };
  g_autofree char *meant = NULL;

  if (machine->machine->fabric == NULL)
    return g_strdup_printf ("only fabrics are routed around parts that are out; %s is a torus",
                            machine->text);
  if (failures->lanes == 0 && topo_machine_has_dumped_routes (machine->machine))
    return g_strdup_printf (
        "%s has dumped forwarding tables, which know no way around a part that is "
        "out; routes=ENGINE computes them",
        machine->text);
  if (parts[0] != NULL)
    return NULL;
  meant = base_did_you_mean (failures->what, kinds);
  return failures->lanes > 0
             ? g_strdup_printf ("\"%s\": no cable of %s has more lanes", failures->text,
                                machine->text)
             : g_strdup_printf ("\"%s\" is no part of %s%s", failures->what, machine->text, meant);
}

/* Adds an open machine with each single part out behind those that are there.  seen: texts of
 * machines, each of which is added once. */
static gboolean
add_failures (StudyPlan *plan, const StudyMachine *whole, const StudyFailures *failures,
              GHashTable *seen, GError **error)
{
  g_auto (GStrv) parts = whole->machine->fabric != NULL
                             ? topo_machine_parts (whole->machine, failures->what, failures->lanes)
                             : g_new0 (char *, 1);
  g_autofree char *problem = failures_problem (failures, whole, parts);
  guint n_parts = g_strv_length (parts), n = choose_parts (failures, parts);

  if (problem == NULL && plan->machines->len + n > MAX_INPUTS)
    problem = g_strdup_printf ("more than %d machines; \"every K\" or \"sample N\" takes fewer",
                               MAX_INPUTS);
  if (problem != NULL) {
    g_set_error_literal (error, STUDY_ERROR, STUDY_ERROR_INPUT, problem);
    return study_plan_file_blame (plan->file, "machines", "failures", error);
  }
  for (guint at = 0; at < n; at++) {
    g_autofree char *text = study_failure_machine (whole->text, parts[at], failures->lanes);
    StudyMachine *machine;

    if (g_hash_table_contains (seen, text))
      continue;
    machine = machine_copy (plan->file, whole);
    machine->whole = whole;
    g_free (machine->spec);
    machine->spec =
        topo_machine_spec_without (whole->machine, whole->spec, parts[at], failures->lanes);
    g_free (machine->text);
    machine->text = g_steal_pointer (&text);
    g_hash_table_add (seen, machine->text);
    g_ptr_array_add (plan->machines, machine);
  }
  g_ptr_array_add (plan->failures,
                   g_strdup_printf ("%s on %s: %u of %u", failures->text, whole->text, n, n_parts));
  return TRUE;
}

/* Opens the file's machines, and puts those with a part out behind each. */
static gboolean
open_machines (Resolve *resolve, GError **error)
{
  StudyPlan *plan = resolve->plan;
  const GArray *failures = plan->file->failures;
  gsize n_machines;
  g_autofree gpointer *machines = g_ptr_array_steal (plan->machines, &n_machines);
  gboolean good = TRUE;

  for (gsize at = 0; at < n_machines; at++) {
    StudyMachine *whole = machines[at];
    g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

    g_ptr_array_add (plan->machines, whole);
    if (!good)
      continue;
    g_ptr_array_add (resolve->paths, open_machine (whole));
    for (guint which = 0; good && whole->machine != NULL && which < failures->len; which++)
      good =
          add_failures (plan, whole, &g_array_index (failures, StudyFailures, which), seen, error);
    while (resolve->paths->len < plan->machines->len)
      g_ptr_array_add (resolve->paths, NULL);
    step_done (resolve);
  }
  return good;
}

/* Only the file's machines are kept. */
static void
close_machine (Resolve *resolve, guint at)
{
  StudyMachine *machine = g_ptr_array_index (resolve->plan->machines, at);
  gpointer *paths = &g_ptr_array_index (resolve->paths, at);

  if (machine->whole == NULL)
    return;
  g_clear_pointer ((RoutePaths **) paths, route_paths_free);
  g_clear_pointer (&machine->machine, topo_machine_free);
}

/* --- Runs --- */

static void
add_text (GChecksum *sum, const char *text)
{
  g_checksum_update (sum, (const guchar *) text, (gssize) strlen (text) + 1);
}

/* The key of a run that cannot be made: the same every time, and another one when the run can be
 * made. */
static char *
key_of_texts (const StudyPlan *plan, const StudyPlanRun *run)
{
  const StudyTrace *trace = g_ptr_array_index (plan->traces, run->trace);
  const StudyMachine *machine = g_ptr_array_index (plan->machines, run->machine);
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree char *numbers = g_strdup_printf ("%d %d %a %" G_GUINT64_FORMAT, (int) run->network,
                                              (int) run->policy, run->compute_scale, run->seed);
  g_autofree char *shrink = sim_shrink_text (run->shrink);

  add_text (sum, "not made by " PACKAGE_VERSION);
  add_text (sum, trace->text);
  add_text (sum, machine->text);
  add_text (sum, run->mapping);
  add_text (sum, numbers);
  if (!sim_shrink_is_off (run->shrink))
    add_text (sum, shrink);
  return g_strdup (g_checksum_get_string (sum));
}

/* A reason for sim_run(), or `simulate` before it, to refuse the policy; NULL: none. */
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

/* A mapping on a machine, made once for all runs and not kept. */
typedef struct {
  guint machine; /* perhaps a variant */
  const PlanMapping *mapping;
  TopoMapping *made;
  char *hash;    /* of made */
  char *problem; /* NULL: it is made */
} MadeMapping;

static MadeMapping
make_mapping (Resolve *resolve, guint trace, guint machine, const PlanMapping *mapping)
{
  const StudyTrace *on_trace = g_ptr_array_index (resolve->plan->traces, trace);
  const StudyMachine *on_machine = g_ptr_array_index (resolve->plan->machines, machine);
  MadeMapping made = { .machine = machine, .mapping = mapping };
  g_autoptr (GError) error = NULL;

  if (mapping->problem != NULL) {
    made.problem = g_strdup (mapping->problem);
    return made;
  }
  if (mapping->path != NULL && on_machine->machine->node != NULL &&
      topo_mapping_is_rankfile (mapping->path)) {
    made.machine = variant_of (resolve, machine, TRUE, on_machine->not_adaptive);
    on_machine = g_ptr_array_index (resolve->plan->machines, made.machine);
  }
  made.made = topo_mapping_new (mapping->path, on_machine->machine, on_trace->n_ranks, &error);
  if (made.made == NULL)
    made.problem = g_strdup (error->message);
  else
    made.hash = study_mapping_hash (made.made);
  return made;
}

static SimRunOptions
options_of (const StudyPlanRun *run)
{
  return (SimRunOptions){ .network = run->network,
                          .policy = run->policy,
                          .compute_scale = run->compute_scale,
                          .seed = run->seed,
                          .jitter_ps = run->jitter_ps,
                          .shrink = run->shrink };
}

/* pattern: the run without its inputs. */
static StudyPlanRun *
run_new (Resolve *resolve, guint trace, const MadeMapping *made, const StudyPlanRun *pattern)
{
  const StudyTrace *on_trace = g_ptr_array_index (resolve->plan->traces, trace);
  const StudyMachine *on_machine = g_ptr_array_index (resolve->plan->machines, made->machine);
  gboolean has_inputs = on_trace->error == NULL && on_machine->error == NULL;
  const char *source = made->mapping->source;
  StudyPlanRun *run = g_memdup2 (pattern, sizeof *pattern);
  const SimRunOptions options = options_of (run);

  run->trace = trace;
  run->machine = made->machine;
  if (pattern->policy == ROUTE_POLICY_DETERMINISTIC && on_machine->machine != NULL &&
      on_machine->machine->fabric != NULL &&
      on_machine->machine->parameters.switches.adaptive != TOPO_ADAPTIVE_NONE) {
    run->machine = variant_of (resolve, made->machine, on_machine->all_cores, TRUE);
    on_machine = g_ptr_array_index (resolve->plan->machines, run->machine);
  }
  run->mapping = g_strdup (made->mapping->text);
  run->mapping_path = g_strdup (made->mapping->path);
  run->problem =
      g_strdup (made->problem != NULL ? made->problem : policy_problem (on_machine, run));
  if (run->problem != NULL)
    run->key = key_of_texts (resolve->plan, run);
  else {
    run->mapping_hash = g_strdup (made->hash);
    run->key = sim_run_key_of_hash (
        on_trace->hash, g_ptr_array_index (resolve->paths, run->machine), made->made, &options);
  }
  if (has_inputs && made->problem != NULL)
    g_hash_table_insert (resolve->unfit, run, g_strdup (source));
  else if (has_inputs && !g_hash_table_contains (resolve->fitting, source))
    g_hash_table_add (resolve->fitting, g_strdup (source));
  return run;
}

/* The runs of a trace on a machine that differ in the mapping alone. */
typedef struct {
  StudyPlanRun pattern; /* without inputs */
  guint screened;       /* of runs that screen, the series whose mappings they are of */
  GPtrArray *runs;      /* (element-type StudyPlanRun) borrowed */
} Series;

static void
series_clear (gpointer data)
{
  g_ptr_array_unref (((Series *) data)->runs);
}

/* A trace on a machine. */
typedef struct {
  gboolean is_wanted; /* the two have the same values of their names */
  int *binding;       /* of both together */
  GArray *series;     /* (element-type Series) in the order of the plan */
} Pair;

/* All repetitions and replicas of a run.  What has no time has no replicas. */
static void
add_series (Pair *pair, const StudyPlanFile *file, StudyPlanRun *pattern)
{
  guint n_replicas = file->replicas;

  if (pattern->network == SIM_NETWORK_LOAD) {
    pattern->jitter_ps = 0;
    n_replicas = 1;
  }
  for (guint repetition = 0; repetition < file->repetitions; repetition++)
    for (guint replica = 0; replica < n_replicas; replica++) {
      Series series = { .pattern = *pattern };

      if (!study_values_allow (&file->values, pair->binding, "seed", (int) repetition))
        continue;
      series.pattern.seed = file->seed + repetition + replica;
      series.pattern.repetition = repetition;
      series.pattern.replica = replica;
      series.runs = g_ptr_array_new ();
      g_array_append_val (pair->series, series);
    }
}

static void
add_screen (Pair *pair, guint screened, const StudyPlanRun *pattern)
{
  const Series series = { *pattern, screened, g_ptr_array_new () };

  g_array_append_val (pair->series, series);
}

/* What screens the mappings of a race over the runs of a series. */
static void
add_screens (Pair *pair, guint screened)
{
  StudyPlanRun pattern = g_array_index (pair->series, Series, screened).pattern;

  if (pattern.network == SIM_NETWORK_LOAD)
    return;
  if (pattern.network == SIM_NETWORK_PACKET && sim_shrink_is_off (pattern.shrink)) {
    pattern.role = STUDY_RUN_SHRUNK;
    sim_shrink_parse ("auto:race", &pattern.shrink);
    add_screen (pair, screened, &pattern);
  }
  pattern.role = STUDY_RUN_LOAD;
  pattern.network = SIM_NETWORK_LOAD;
  pattern.shrink = (SimShrink){ 0 };
  pattern.jitter_ps = 0;
  if (pattern.policy != ROUTE_POLICY_DETERMINISTIC)
    pattern.policy = ROUTE_POLICY_DEFAULT;
  add_screen (pair, screened, &pattern);
}

static Pair
pair_new (const StudyPlan *plan, const StudyTrace *trace, const StudyMachine *machine)
{
  const StudyPlanFile *file = plan->file;
  const StudyValues *values = &file->values;
  Pair pair = { .is_wanted = study_values_agree (values, trace->binding, machine->binding),
                .binding = study_values_copy (values, trace->binding),
                .series = g_array_new (FALSE, FALSE, sizeof (Series)) };

  for (guint at = 0; at < values->all->len; at++)
    pair.binding[at] = MAX (pair.binding[at], machine->binding[at]);
  g_array_set_clear_func (pair.series, series_clear);
  for (guint network = 0; network < file->networks->len; network++)
    for (guint routing = 0; routing < file->routings->len; routing++)
      for (guint scale = 0; scale < file->compute_scales->len; scale++)
        for (guint shrink = 0; shrink < file->shrinks->len; shrink++) {
          SimNetworkKind kind = (SimNetworkKind) g_array_index (file->networks, int, network);
          StudyPlanRun pattern = {
            .network = kind,
            .policy = (RoutePolicy) g_array_index (file->routings, int, routing),
            .compute_scale = g_array_index (file->compute_scales, double, scale),
            .jitter_ps = file->jitter_ps,
            .shrink = g_array_index (file->shrinks, SimShrink, shrink),
          };

          /* Other networks have no packets: once is enough. */
          if (kind != SIM_NETWORK_PACKET)
            pattern.shrink = (SimShrink){ 0 };
          guint first = pair.series->len;

          if (kind != SIM_NETWORK_PACKET && shrink > 0)
            continue;
          add_series (&pair, file, &pattern);
          if (plan->is_raced && pair.series->len > first)
            add_screens (&pair, first);
        }
  return pair;
}

/* All runs of one mapping: on the first trace with a number of ranks and all others with it.
 * pairs: of the machine with each trace. */
static void
resolve_mapping (Resolve *resolve, guint first, guint machine, const PlanMapping *mapping,
                 const Pair *pairs)
{
  const StudyValues *values = &resolve->plan->file->values;
  MadeMapping made = make_mapping (resolve, first, machine, mapping);

  for (guint trace = first; trace != NONE; trace = resolve->same_ranks[trace].next) {
    const Pair *pair = &pairs[trace];

    if (!pair->is_wanted || !study_values_agree (values, pair->binding, mapping->binding))
      continue;
    for (guint at = 0; at < pair->series->len; at++) {
      Series *series = &g_array_index (pair->series, Series, at);

      if (study_values_allow (values, mapping->binding, "seed", (int) series->pattern.repetition))
        g_ptr_array_add (series->runs, run_new (resolve, trace, &made, &series->pattern));
    }
  }
  topo_mapping_free (made.made);
  g_free (made.hash);
  g_free (made.problem);
}

/* The runs that the study asks for, or those that screen for them. */
static void
take_runs (const StudyPlan *plan, const Pair *pairs, guint n_machines, gboolean listed)
{
  for (guint trace = 0; trace < plan->traces->len; trace++)
    for (guint machine = 0; machine < n_machines; machine++) {
      const GArray *series = pairs[machine * plan->traces->len + trace].series;

      for (guint at = 0; at < series->len; at++) {
        const Series *it = &g_array_index (series, Series, at);
        const GPtrArray *screened = g_array_index (series, Series, it->screened).runs;

        if ((it->pattern.role == STUDY_RUN_LISTED) != listed)
          continue;
        g_ptr_array_extend (plan->runs, it->runs, NULL, NULL);
        /* Both have a run of each mapping with the same {seed}, in the same order. */
        for (guint run = 0; !listed && run < it->runs->len; run++)
          ((StudyPlanRun *) g_ptr_array_index (it->runs, run))->screened =
              g_ptr_array_index (screened, run);
      }
    }
}

/* A mapping is made once for all traces, but the runs of a trace are together in the plan.  The
 * machines that are added meanwhile are variants of the n_machines. */
static void
resolve_runs (Resolve *resolve, guint n_machines)
{
  const StudyPlan *plan = resolve->plan;
  guint n_traces = plan->traces->len;
  g_autofree Pair *pairs = g_new (Pair, (gsize) n_traces * n_machines);

  for (guint machine = 0; machine < n_machines; machine++) {
    StudyMachine *on_machine = g_ptr_array_index (plan->machines, machine);
    Pair *of_machine = &pairs[(gsize) machine * n_traces];
    guint n_before = plan->machines->len;

    if (on_machine->whole != NULL)
      g_ptr_array_index (resolve->paths, machine) = open_machine (on_machine);
    for (guint trace = 0; trace < n_traces; trace++)
      of_machine[trace] = pair_new (plan, g_ptr_array_index (plan->traces, trace), on_machine);
    for (guint trace = 0; trace < n_traces; trace++, step_done (resolve)) {
      g_autoptr (GPtrArray) mappings = NULL;

      if (!resolve->same_ranks[trace].is_first)
        continue;
      mappings = mappings_of (plan->file, g_ptr_array_index (plan->traces, trace), on_machine);
      for (guint at = 0; at < mappings->len; at++)
        resolve_mapping (resolve, trace, machine, g_ptr_array_index (mappings, at), of_machine);
    }
    close_machine (resolve, machine);
    for (guint variant = n_before; variant < plan->machines->len; variant++)
      close_machine (resolve, variant);
  }
  take_runs (plan, pairs, n_machines, TRUE);
  take_runs (plan, pairs, n_machines, FALSE);
  for (gsize at = 0; at < (gsize) n_traces * n_machines; at++) {
    g_free (pairs[at].binding);
    g_array_unref (pairs[at].series);
  }
}

/* Fills plan->unfit, and removes the runs that the file wants to be left out.  A mapping that fits
 * no machine stays whatever the file says: it is mostly a mistake in a name. */
static void
sort_out_unfit (Resolve *resolve)
{
  StudyPlan *plan = resolve->plan;
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  gsize n_runs;
  g_autofree gpointer *runs = g_ptr_array_steal (plan->runs, &n_runs);

  for (gsize at = 0; at < n_runs; at++) {
    StudyPlanRun *run = runs[at];
    const StudyMachine *machine = g_ptr_array_index (plan->machines, run->machine);
    const char *source = g_hash_table_lookup (resolve->unfit, run);
    g_autofree char *kind = NULL;
    StudyUnfit *unfit;

    if (source == NULL) {
      g_ptr_array_add (plan->runs, run);
      continue;
    }
    kind = g_strjoin ("\n", run->mapping, machine->text, run->problem, NULL);
    unfit = g_hash_table_lookup (known, kind);
    if (unfit == NULL) {
      unfit = g_new0 (StudyUnfit, 1);
      unfit->mapping = g_strdup (run->mapping);
      unfit->machine = g_strdup (machine->text);
      unfit->problem = g_strdup (run->problem);
      g_ptr_array_add (plan->unfit, unfit);
      g_hash_table_insert (known, g_steal_pointer (&kind), unfit);
    }
    unfit->n_runs += run->role == STUDY_RUN_LISTED;
    unfit->is_left_out = plan->file->skip_unfit && machine->whole == NULL &&
                         g_hash_table_contains (resolve->fitting, source);
    if (unfit->is_left_out)
      run_free (run);
    else
      g_ptr_array_add (plan->runs, run);
  }
}

gboolean
study_plan_resolve (StudyPlan *plan, TraceProgress progress, void *data, GError **error)
{
  guint n_traces = plan->traces->len, n_machines = plan->machines->len;
  gboolean good;
  Resolve resolve = { .plan = plan,
                      .progress = progress,
                      .data = data,
                      .n_steps = n_traces + n_machines + n_traces * n_machines };
  g_autoptr (GHashTable) last = g_hash_table_new (NULL, NULL); /* ranks -> the last such trace */

  resolve.paths = g_ptr_array_new_with_free_func ((GDestroyNotify) route_paths_free);
  resolve.same_ranks = g_new (SameRanks, n_traces);
  resolve.fitting = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  resolve.unfit = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  for (guint at = 0; at < n_traces; at++, step_done (&resolve)) {
    StudyTrace *trace = g_ptr_array_index (plan->traces, at);
    g_autoptr (Trace) opened = trace_open (trace->path, &trace->options, &trace->error);
    gpointer before;

    if (opened != NULL) {
      trace->n_ranks = trace_ranks (opened);
      trace->hash = g_strdup (trace_hash (opened, &trace->error));
    }
    resolve.same_ranks[at] = (SameRanks){ .is_first = TRUE, .next = NONE };
    if (trace->error != NULL)
      continue;
    if (g_hash_table_lookup_extended (last, GUINT_TO_POINTER (trace->n_ranks), NULL, &before)) {
      resolve.same_ranks[at].is_first = FALSE;
      resolve.same_ranks[GPOINTER_TO_UINT (before)].next = at;
    }
    g_hash_table_insert (last, GUINT_TO_POINTER (trace->n_ranks), GUINT_TO_POINTER (at));
  }
  good = open_machines (&resolve, error);
  if (good) {
    n_machines = plan->machines->len;
    resolve.n_steps = resolve.done + n_traces * n_machines;
    resolve_runs (&resolve, n_machines);
    sort_out_unfit (&resolve);
  }
  g_hash_table_unref (resolve.fitting);
  g_hash_table_unref (resolve.unfit);
  g_free (resolve.same_ranks);
  g_ptr_array_unref (resolve.paths);
  if (!good)
    return FALSE;
  for (guint run = 0; run < plan->runs->len; run++)
    plan->n_listed +=
        ((const StudyPlanRun *) g_ptr_array_index (plan->runs, run))->role == STUDY_RUN_LISTED;
  if (plan->n_listed > 0)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
               "%s: no run is left: no trace, machine and mapping have the same values of their "
               "{names}",
               plan->path);
  return FALSE;
}

/* --- A plan without a file --- */

guint
study_plan_add_trace (StudyPlan *plan, const char *text, const TraceOptions *options, Trace *trace,
                      GError **error)
{
  const char *hash = trace_hash (trace, error);
  StudyTrace *added;

  if (hash == NULL)
    return G_MAXUINT;
  added = g_new0 (StudyTrace, 1);
  added->text = g_strdup (text);
  added->path = g_strdup (trace_path (trace));
  added->options = *options;
  added->hash = g_strdup (hash);
  added->n_ranks = trace_ranks (trace);
  g_ptr_array_add (plan->traces, added);
  return plan->traces->len - 1;
}

guint
study_plan_add_machine (StudyPlan *plan, const char *text, const TopoMachine *machine)
{
  StudyMachine *added = g_new0 (StudyMachine, 1);

  added->text = g_strdup (text);
  added->spec = g_strdup (machine->spec);
  added->asked_ranks_per_node = added->pattern = G_MININT;
  added->shares = TRUE;
  take_machine (added, g_memdup2 (machine, sizeof *machine));
  g_ptr_array_add (plan->machines, added);
  return plan->machines->len - 1;
}

guint
study_plan_add_run (StudyPlan *plan, const StudyPlanRun *pattern, const TopoMapping *mapping,
                    const RoutePaths *paths)
{
  const StudyTrace *trace = g_ptr_array_index (plan->traces, pattern->trace);
  const StudyMachine *machine = g_ptr_array_index (plan->machines, pattern->machine);
  StudyPlanRun *run = g_memdup2 (pattern, sizeof *pattern);
  const SimRunOptions options = options_of (run);
  RoutePaths of_machine = *paths; /* the same routes, and the parameters of this machine */

  g_assert (run->role != STUDY_RUN_LISTED || plan->n_listed == plan->runs->len);
  of_machine.machine = machine->machine;
  run->mapping = g_strdup (mapping->name);
  run->places = copy_mapping (mapping);
  run->mapping_hash = study_mapping_hash (mapping);
  run->key = sim_run_key_of_hash (trace->hash, &of_machine, mapping, &options);
  plan->n_listed += run->role == STUDY_RUN_LISTED;
  g_ptr_array_add (plan->runs, run);
  return plan->runs->len - 1;
}
