/* bound_noise.c - placement classes of messages and collectives, and their times in the table.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/bound_noise.h"

#include "predictors/aggregation/bound_table.h"
#include "study/study_error.h"
#include "topology/mapping/core_tree.h"
#include "topology/mapping/message_placement.h"

#include <math.h>
#include <string.h>

/* The most ways of a node that are tried, in a fixed order: 232 are all of a node of 8 cores. */
#define MAX_WAYS 4096u

/* The messages of the task on a place of the node, beside the observed one. */
typedef struct {
  uint8_t is_observed; /* an end of it: nothing else */
  uint8_t is_outside;  /* exchanges messages with other nodes */
  uint64_t partners;   /* bit of each place whose task it exchanges messages with; both have it */
} Activity;

typedef struct {
  const TopoLevels *levels;
  const Activity *activity; /* [n_places] */
  PredictBoundWhere where;
  GPtrArray *kinds;
  GHashTable *seen; /* texts of classes */
  uint8_t mark[64];
  uint32_t n_pairs, n_outside, n_ways;
} Ways;

/* Every place from `place` on takes one of its possible activities; none when all its partners are
 * taken.  A way whose class is new is added to the kinds. */
static void
try_ways (Ways *ways, uint32_t place)
{
  uint32_t n_places = ways->levels->n_places;
  bool is_free = true;

  while (place < n_places && ways->mark[place] != TOPO_PLACE_FREE)
    place++;
  if (ways->n_ways >= MAX_WAYS)
    return;
  if (place == n_places) {
    g_autofree char *placement = topo_placement_class (ways->levels, ways->mark);
    PredictBoundKind *kind;

    ways->n_ways++;
    if (g_hash_table_contains (ways->seen, placement))
      return;
    kind = g_new (PredictBoundKind, 1);
    *kind =
        (PredictBoundKind){ PREDICT_BOUND_MESSAGE, ways->where,     g_steal_pointer (&placement),
                            ways->n_pairs,         ways->n_outside, 2 };
    g_hash_table_add (ways->seen, (char *) kind->placement);
    g_ptr_array_add (ways->kinds, kind);
    return;
  }
  for (uint32_t other = place + 1; other < n_places; other++) {
    if ((ways->activity[place].partners >> other & 1) == 0 || ways->mark[other] != TOPO_PLACE_FREE)
      continue;
    is_free = false;
    ways->mark[place] = ways->mark[other] = (uint8_t) (TOPO_PLACE_PAIR + ways->n_pairs++);
    try_ways (ways, place + 1);
    ways->mark[place] = ways->mark[other] = TOPO_PLACE_FREE;
    ways->n_pairs--;
  }
  if (ways->activity[place].is_outside) {
    is_free = false;
    ways->mark[place] = TOPO_PLACE_OUTSIDE;
    ways->n_outside++;
    try_ways (ways, place + 1);
    ways->n_outside--;
    ways->mark[place] = TOPO_PLACE_FREE;
  }
  if (is_free)
    try_ways (ways, place + 1);
}

static void
kind_free (gpointer data)
{
  PredictBoundKind *kind = data;

  g_free ((char *) kind->placement);
  g_free (kind);
}

/* The classes that count for a message.  Times of the last size are kept, as messages of
 * one size follow each other. */
typedef struct {
  GPtrArray *kinds; /* (element-type PredictBoundKind), each owns its placement */
  uint64_t bytes;
  double time_s; /* of that size; NaN: not known yet */
  StudyBoundDoubt doubt;
} Classes;

struct StudyNoise {
  const TopoMachine *machine;
  const TopoLevels *levels;
  const TopoMapping *mapping;
  const PredictBoundTable *table;
  StudyNear near;
  uint32_t n_ranks, n_phases;
  uint32_t *place;         /* [n_ranks] in its node */
  uint32_t *at;            /* [n_nodes * n_places] rank, TOPO_NONE: none */
  GHashTable *partners;    /* phase and rank -> GHashTable of ranks (a set) */
  GHashTable *messages;    /* phase, from, to as text -> Classes, borrowed from the next */
  GHashTable *classes;     /* activities of a node (GBytes) -> Classes */
  GHashTable *collectives; /* TraceOpKind -> Classes */
  GHashTable *names;       /* every class that was looked up */
};

/* --- The ranks that communicate --- */

static gpointer
key_of (uint32_t phase, uint32_t rank)
{
  return GSIZE_TO_POINTER ((gsize) phase << 32 | rank);
}

static uint32_t
phase_of (const StudyNoise *noise, uint32_t phase)
{
  return noise->near == STUDY_NEAR_PHASE ? phase : 0;
}

static void
add_partner (StudyNoise *noise, uint32_t phase, uint32_t rank, uint32_t other)
{
  gpointer key = key_of (phase_of (noise, phase), rank);
  GHashTable *set = g_hash_table_lookup (noise->partners, key);

  if (set == NULL) {
    set = g_hash_table_new (NULL, NULL);
    g_hash_table_insert (noise->partners, key, set);
  }
  g_hash_table_add (set, GUINT_TO_POINTER (other));
}

void
study_noise_add (StudyNoise *noise, uint32_t phase, uint32_t rank, uint32_t other)
{
  if (noise->near == STUDY_NEAR_NONE)
    return;
  add_partner (noise, phase, rank, other);
  add_partner (noise, phase, other, rank);
}

/* --- The noise --- */

static void
classes_free (gpointer data)
{
  Classes *classes = data;

  g_ptr_array_unref (classes->kinds);
  g_free (classes);
}

static uint32_t
count_nodes (const TopoMapping *mapping)
{
  uint32_t n = 0;

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
    n = MAX (n, mapping->node[rank] + 1);
  return n;
}

StudyNoise *
study_noise_new (const TopoMachine *machine, const TopoLevels *levels, const TopoMapping *mapping,
                 const PredictBoundTable *table, StudyNear near)
{
  StudyNoise *noise = g_new0 (StudyNoise, 1);
  uint32_t n_places = levels->n_places;
  gsize n = (gsize) count_nodes (mapping) * n_places;
  g_assert (levels->n_places <= STUDY_MAX_PLACES);
  noise->machine = machine;
  noise->levels = levels;
  noise->mapping = mapping;
  noise->table = table;
  noise->near = near;
  noise->n_ranks = mapping->n_ranks;
  noise->partners = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_hash_table_unref);
  noise->messages = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  noise->classes = g_hash_table_new_full (g_bytes_hash, g_bytes_equal,
                                          (GDestroyNotify) g_bytes_unref, classes_free);
  noise->collectives = g_hash_table_new_full (NULL, NULL, NULL, classes_free);
  noise->names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  noise->place = g_new (uint32_t, noise->n_ranks);
  noise->at = g_new (uint32_t, n);
  memset (noise->at, 0xff, n * sizeof *noise->at);
  for (uint32_t rank = 0; rank < noise->n_ranks; rank++) {
    uint32_t core = machine->slot_core[mapping->slot[rank]], place = 0;

    while (place < n_places && levels->core[place] != core)
      place++;
    noise->place[rank] = place;
    noise->at[(gsize) mapping->node[rank] * n_places + place] = rank;
  }
  return noise;
}

void
study_noise_free (StudyNoise *noise)
{
  if (noise == NULL)
    return;
  g_hash_table_unref (noise->partners);
  g_hash_table_unref (noise->messages);
  g_hash_table_unref (noise->classes);
  g_hash_table_unref (noise->collectives);
  g_hash_table_unref (noise->names);
  g_free (noise->place);
  g_free (noise->at);
  g_free (noise);
}

uint32_t
study_noise_classes (const StudyNoise *noise)
{
  return g_hash_table_size (noise->names);
}

/* --- Placements --- */

static Classes *
classes_new (void)
{
  Classes *classes = g_new0 (Classes, 1);

  classes->kinds = g_ptr_array_new_with_free_func (kind_free);
  classes->time_s = NAN;
  return classes;
}

/* The classes of a message as a node sees it: of every way in which each task is in a pair with one
 * of its partners or at a message to another node, or idle when all its partners are taken. */
static Classes *
classes_on (StudyNoise *noise, uint32_t phase, uint32_t node, uint32_t from, uint32_t to)
{
  bool within = noise->mapping->node[from] == noise->mapping->node[to];
  uint32_t n = noise->levels->n_places;
  g_autofree Activity *activity = g_new0 (Activity, n); /* padding too is part of the key */
  g_autoptr (GHashTable) seen = NULL;
  g_autoptr (GBytes) key = NULL;
  Ways ways = { .levels = noise->levels,
                .activity = activity,
                .where = within ? PREDICT_BOUND_WITHIN : PREDICT_BOUND_BETWEEN };
  Classes *classes;

  for (uint32_t place = 0; place < n; place++) {
    uint32_t rank = noise->at[(gsize) node * n + place];
    GHashTable *set = NULL;
    GHashTableIter iter;
    gpointer partner;

    if (rank == TOPO_NONE)
      continue;
    if (rank == from || rank == to) {
      activity[place].is_observed = true;
      ways.mark[place] = TOPO_PLACE_OBSERVED;
    } else
      set = g_hash_table_lookup (noise->partners, key_of (phase_of (noise, phase), rank));
    if (set == NULL)
      continue;
    g_hash_table_iter_init (&iter, set);
    while (g_hash_table_iter_next (&iter, &partner, NULL)) {
      uint32_t other = GPOINTER_TO_UINT (partner);

      if (noise->mapping->node[other] != node)
        activity[place].is_outside = true;
      else if (other != from && other != to)
        activity[place].partners |= UINT64_C (1) << noise->place[other];
    }
  }
  key = g_bytes_new (activity, n * sizeof *activity);
  classes = g_hash_table_lookup (noise->classes, key);
  if (classes != NULL)
    return classes;
  classes = classes_new ();
  ways.kinds = classes->kinds;
  ways.seen = seen = g_hash_table_new (g_str_hash, g_str_equal);
  try_ways (&ways, 0);
  for (guint i = 0; i < classes->kinds->len; i++) {
    const PredictBoundKind *kind = g_ptr_array_index (classes->kinds, i);

    g_hash_table_add (noise->names, g_strdup_printf ("%d %s", (int) kind->where, kind->placement));
  }
  g_hash_table_insert (noise->classes, g_steal_pointer (&key), classes);
  return classes;
}

/* --- Times --- */

static double
kind_s (const StudyNoise *noise, const PredictBoundKind *kind, double bytes, StudyBoundDoubt *doubt,
        GError **error)
{
  const PredictBoundCurve *curve = predict_bound_table_find (noise->table, kind);
  double time_s;

  if (curve != NULL)
    return predict_bound_curve_s (curve, bytes, &doubt->extrapolated);
  time_s = predict_bound_table_longest_s (noise->table, kind, bytes, &doubt->extrapolated);
  doubt->substituted = true;
  if (!isnan (time_s))
    return time_s;
  if (kind->where == PREDICT_BOUND_ALL)
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: no entry for %s of %u ranks ('hopcast aggregate table --collectives %s:%u' "
                 "adds it)",
                 predict_bound_table_source (noise->table), kind->operation, kind->ranks,
                 kind->operation, kind->ranks);
  else
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: no entry for a message %s in placement %s, nor for more noise than its %u "
                 "pairs and %u messages to other nodes",
                 predict_bound_table_source (noise->table),
                 kind->where == PREDICT_BOUND_WITHIN ? "within a node" : "between nodes",
                 kind->placement, kind->pairs, kind->outside);
  return time_s;
}

/* The longest of the classes. */
static double
classes_s (const StudyNoise *noise, Classes *classes, uint64_t bytes, StudyBoundDoubt *doubt,
           GError **error)
{
  if (isnan (classes->time_s) || classes->bytes != bytes) {
    classes->bytes = bytes;
    classes->time_s = 0;
    classes->doubt = (StudyBoundDoubt){ .extrapolated = false };
    for (guint i = 0; i < classes->kinds->len && !isnan (classes->time_s); i++) {
      StudyBoundDoubt this_doubt = { .extrapolated = false };
      double time_s =
          kind_s (noise, g_ptr_array_index (classes->kinds, i), (double) bytes, &this_doubt, error);

      if (isnan (time_s) || time_s > classes->time_s) {
        classes->time_s = time_s;
        classes->doubt = this_doubt;
      }
    }
  }
  doubt->extrapolated |= classes->doubt.extrapolated;
  doubt->substituted |= classes->doubt.substituted;
  return classes->time_s;
}

double
study_noise_message_s (StudyNoise *noise, uint32_t phase, uint32_t from, uint32_t to,
                       uint64_t bytes, StudyBoundDoubt *doubt, GError **error)
{
  const uint32_t node[] = { noise->mapping->node[from], noise->mapping->node[to] };
  double longest_s = 0;

  for (guint end = 0; end < (node[0] == node[1] ? 1 : 2); end++) {
    char name[64];
    Classes *classes;
    double time_s;

    g_snprintf (name, sizeof name, "%u %u %u %u", phase_of (noise, phase), from, to, end);
    classes = g_hash_table_lookup (noise->messages, name);
    if (classes == NULL) {
      classes = classes_on (noise, phase, node[end], from, to);
      g_hash_table_insert (noise->messages, g_strdup (name), classes);
    }
    time_s = classes_s (noise, classes, bytes, doubt, error);
    if (isnan (time_s))
      return time_s;
    longest_s = fmax (longest_s, time_s);
  }
  return longest_s;
}

/* One class for each way in which the nodes are filled. */
static Classes *
collective_classes_new (StudyNoise *noise, TraceOpKind kind)
{
  uint32_t n_places = noise->levels->n_places, n_nodes = count_nodes (noise->mapping);
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  g_autofree uint8_t *mark = g_new (uint8_t, n_places);
  Classes *classes = classes_new ();

  for (uint32_t node = 0; node < n_nodes; node++) {
    PredictBoundKind wanted = { .operation = trace_op_name (kind), .ranks = noise->n_ranks };
    bool is_used = false;
    char *placement;

    for (uint32_t place = 0; place < n_places; place++) {
      bool is_task = noise->at[(gsize) node * n_places + place] != TOPO_NONE;

      mark[place] = is_task ? TOPO_PLACE_OBSERVED : TOPO_PLACE_FREE;
      is_used = is_used || is_task;
    }
    placement = topo_placement_class (noise->levels, mark);
    if (!is_used || g_hash_table_contains (seen, placement)) {
      g_free (placement);
      continue;
    }
    wanted.placement = placement;
    g_hash_table_add (seen, placement);
    g_ptr_array_add (classes->kinds, g_memdup2 (&wanted, sizeof wanted));
  }
  return classes;
}

double
study_noise_collective_s (StudyNoise *noise, TraceOpKind kind, uint64_t bytes,
                          StudyBoundDoubt *doubt, GError **error)
{
  Classes *classes = g_hash_table_lookup (noise->collectives, GINT_TO_POINTER (kind));

  if (classes == NULL) {
    classes = collective_classes_new (noise, kind);
    g_hash_table_insert (noise->collectives, GINT_TO_POINTER (kind), classes);
  }
  return classes_s (noise, classes, bytes, doubt, error);
}
