/* plan_resolve.c - opens what a study names, lists its runs and computes their keys.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/plan/plan.h"

#include "sim/run.h"
#include "study/inputs.h"
#include "study/plan/plan_private.h"

#include <string.h>

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
  StudyFits *fits;
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
  variant = study_plan_variant_new (resolve->plan->file, origin, all_cores, not_adaptive);
  g_ptr_array_add (machines, variant);
  g_ptr_array_add (resolve->paths, study_plan_open_machine (variant));
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
  const StudyPlanMapping *mapping;
  char *hash; /* of the mapping */
  TopoMapping *made;
  char *problem; /* NULL: both are made */
} Group;

static void
group_clear (Group *group)
{
  topo_mapping_free (group->made);
  g_free (group->hash);
  g_free (group->problem);
}

static Group
group_new (Resolve *resolve, guint trace, guint machine, const StudyPlanMapping *mapping)
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
    study_fits_add (resolve->fits, run, group->mapping->source, group->problem == NULL);
  return run;
}

static void
way_clear (gpointer data)
{
  g_ptr_array_unref (((Way *) data)->runs);
}

/* In the order of the runs.  binding: of the trace and the machine together. */
static GArray *
ways_new (const StudyPlanFile *file, const int *binding)
{
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

          if (!study_values_allow (&file->values, binding, "seed", (int) repetition))
            continue;
          way.runs = g_ptr_array_new ();
          g_array_append_val (ways, way);
        }
  return ways;
}

/* A trace on a machine. */
typedef struct {
  gboolean is_wanted; /* the two have the same values of their names */
  int *binding;       /* of both together */
  GArray *ways;       /* (element-type Way) */
} Pair;

/* A binding with the values of both. */
static int *
both (const StudyValues *values, const int *left, const int *right)
{
  int *binding = study_values_copy (values, left);

  for (guint at = 0; at < values->all->len; at++)
    binding[at] = MAX (binding[at], right[at]);
  return binding;
}

static Pair
pair_new (const StudyPlan *plan, const StudyTrace *trace, const StudyMachine *machine)
{
  const StudyValues *values = &plan->file->values;
  Pair pair = { 0 };

  pair.is_wanted = study_values_agree (values, trace->binding, machine->binding);
  pair.binding = both (values, trace->binding, machine->binding);
  pair.ways = ways_new (plan->file, pair.binding);
  return pair;
}

static void
pair_clear (Pair *pair)
{
  g_free (pair->binding);
  g_array_unref (pair->ways);
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
    return study_plan_mappings_unknown (plan->file, trace->error->message);
  if (machine->error != NULL)
    return study_plan_mappings_unknown (plan->file, machine->error->message);
  return study_plan_mappings_new (plan->file, machine->machine, trace->n_ranks);
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

/* The runs of a mapping for the first trace of a kind and all others of it. */
static void
add_mapping (Resolve *resolve, guint first, guint machine, const StudyPlanMapping *mapping,
             const Pair *pairs)
{
  const StudyValues *values = &resolve->plan->file->values;
  Group group = group_new (resolve, first, machine, mapping);

  for (guint at = first; at != NONE; at = resolve->kin[at].next) {
    if (!pairs[at].is_wanted || !study_values_agree (values, pairs[at].binding, mapping->binding))
      continue;
    group.trace = at;
    add_group (resolve, &group, &pairs[at]);
  }
  group_clear (&group);
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
    for (guint at = 0; at < mappings->len; at++)
      add_mapping (resolve, trace, machine, g_ptr_array_index (mappings, at), pairs);
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
      pair_clear (pair);
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
  for (guint at = 0; at < n_traces; at++, tell (&resolve))
    study_plan_open_trace (g_ptr_array_index (plan->traces, at));
  for (guint at = 0; at < n_machines; at++, tell (&resolve))
    g_ptr_array_add (resolve.paths,
                     study_plan_open_machine (g_ptr_array_index (plan->machines, at)));
  resolve.kin = kin_new (plan->traces);
  resolve.fits = study_fits_new ();
  resolve_runs (&resolve, n_machines);
  study_fits_end (resolve.fits, plan);
  study_fits_free (resolve.fits);
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
