/* racing.c - the races of a study: each case's mappings against each other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/session/racing.h"

#include "study/race.h"
#include "study/ranking.h"

#include <math.h>
#include <string.h>

#define NO_RUN G_MAXUINT

typedef struct {
  const char *mapping;
  GArray *draws; /* (element-type guint) runs of the plan */
  guint shrunk, load;
} Candidate;

typedef enum { FIRST_SHRUNK, SHRUNK, LOAD, DRAWS, OVER } Stage;

typedef struct {
  GPtrArray *candidates;  /* (element-type Candidate) in the order of the plan */
  GHashTable *of_mapping; /* mapping -> Candidate */
  gboolean is_raced;
  Stage stage;
  guint n_pending;
  guint n_draws, n_measures;
  gboolean is_cheap;        /* the first shrunk run was much less work than an exact one */
  double *measures, *times; /* as StudyRace has them */
  StudyRacer *racers;       /* of the last step */
} Case;

typedef struct {
  Case *of;
  guint candidate, draw; /* draw NO_RUN: it screens */
  gboolean is_asked;
} Where;

struct StudyRacing {
  const StudyPlan *plan;
  guint n_best;
  double confidence;
  GPtrArray *cases; /* (element-type Case) in the order of the plan */
  Where *where;     /* [runs of the plan] */
};

static const StudyPlanRun *
run_at (const StudyRacing *racing, guint run)
{
  return g_ptr_array_index (racing->plan->runs, run);
}

static Candidate *
candidate_at (const Case *it, guint candidate)
{
  return g_ptr_array_index (it->candidates, candidate);
}

/* Of a shrunk run its time, the mean end of its ranks and the share of packets that waited: of all
 * columns of runs, with these three the logarithm of the exact time was predicted best, for two halos of
 * 16 KiB under 84 mappings together; the mean wait in cycles does as well.  Of a load run the most and
 * the mean bytes on links. */
void
study_racing_measures (const StudyRow *screen, double measures[STUDY_RACING_MEASURES])
{
  gboolean is_load = strcmp (screen->network, "load") == 0;

  measures[0] = is_load ? screen->features[SIM_FEATURE_MAX_BYTES] : screen->time_s;
  measures[1] = is_load ? screen->features[SIM_FEATURE_AVG_BYTES] : screen->mean_end_s;
  measures[2] = is_load ? (double) NAN : screen->features[SIM_FEATURE_AVG_WAITED];
}

/* --- Cases and candidates --- */

static void
candidate_free (gpointer data)
{
  Candidate *candidate = data;

  g_array_unref (candidate->draws);
  g_free (candidate);
}

static void
case_free (gpointer data)
{
  Case *it = data;

  g_ptr_array_unref (it->candidates);
  g_hash_table_unref (it->of_mapping);
  g_free (it->measures);
  g_free (it->times);
  g_free (it->racers);
  g_free (it);
}

/* Variants of a machine are one machine here. */
static char *
case_name (const StudyRacing *racing, const StudyPlanRun *run)
{
  const StudyMachine *machine = g_ptr_array_index (racing->plan->machines, run->machine);
  g_autofree char *shrink = sim_shrink_text (run->shrink);

  return g_strdup_printf ("%u\n%s\n%s\n%d\n%d\n%a\n%s", run->trace, machine->text, machine->spec,
                          (int) run->network, (int) run->policy, run->compute_scale, shrink);
}

static Case *
case_of (StudyRacing *racing, GHashTable *by_name, const StudyPlanRun *run)
{
  g_autofree char *name = case_name (racing, run);
  Case *it = g_hash_table_lookup (by_name, name);

  if (it != NULL)
    return it;
  it = g_new0 (Case, 1);
  it->candidates = g_ptr_array_new_with_free_func (candidate_free);
  it->of_mapping = g_hash_table_new (g_str_hash, g_str_equal);
  it->is_raced = run->network != SIM_NETWORK_LOAD;
  g_ptr_array_add (racing->cases, it);
  g_hash_table_insert (by_name, g_steal_pointer (&name), it);
  return it;
}

static Candidate *
candidate_of (Case *it, const char *mapping)
{
  Candidate *candidate = g_hash_table_lookup (it->of_mapping, mapping);

  if (candidate != NULL)
    return candidate;
  candidate = g_new (Candidate, 1);
  *candidate = (Candidate){ mapping, g_array_new (FALSE, FALSE, sizeof (guint)), NO_RUN, NO_RUN };
  g_ptr_array_add (it->candidates, candidate);
  g_hash_table_insert (it->of_mapping, (gpointer) mapping, candidate);
  return candidate;
}

/* Runs that are the same count once: repetitions without jitter, or replicas that two repetitions
 * share. */
static void
add_draw (const StudyRacing *racing, Candidate *candidate, guint run)
{
  for (guint i = 0; i < candidate->draws->len; i++)
    if (strcmp (run_at (racing, g_array_index (candidate->draws, guint, i))->key,
                run_at (racing, run)->key) == 0)
      return;
  g_array_append_val (candidate->draws, run);
}

/* A mapping with the places of another one would never be told from it. */
static void
drop_twins (const StudyRacing *racing, Case *it)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < it->candidates->len;) {
    guint first = g_array_index (candidate_at (it, i)->draws, guint, 0);

    if (g_hash_table_add (seen, run_at (racing, first)->key))
      i++;
    else
      g_ptr_array_remove_index (it->candidates, i);
  }
}

/* Races know as many draws as each mapping has; of {seed} in a mapping one for each repetition.  With
 * jitter a draw is the same for all mappings only if it has the same seed. */
static gboolean
check_draws (const StudyRacing *racing, Case *it, GError **error)
{
  const GArray *first = candidate_at (it, 0)->draws;
  gboolean has_jitter = run_at (racing, g_array_index (first, guint, 0))->jitter_ps > 0;

  it->n_draws = first->len;
  for (guint i = 1; i < it->candidates->len; i++)
    it->n_draws = MIN (it->n_draws, candidate_at (it, i)->draws->len);
  for (guint i = 1; i < it->candidates->len; i++) {
    const GArray *draws = candidate_at (it, i)->draws;

    for (guint at = 0; has_jitter && at < it->n_draws; at++)
      if (run_at (racing, g_array_index (draws, guint, at))->seed !=
          run_at (racing, g_array_index (first, guint, at))->seed) {
        g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                     "mappings %s and %s have not the same seeds, so that they cannot race; give a "
                     "number in place of {seed}",
                     candidate_at (it, 0)->mapping, candidate_at (it, i)->mapping);
        return FALSE;
      }
  }
  return TRUE;
}

/* Everything is known of the case but results. */
static void
prepare (StudyRacing *racing, Case *it)
{
  guint n = it->candidates->len;

  for (guint i = 0; i < n && !it->is_raced; i++)
    it->n_draws = MAX (it->n_draws, candidate_at (it, i)->draws->len);
  it->measures = g_new (double, n *STUDY_RACING_MEASURES);
  it->times = g_new (double, n * it->n_draws);
  it->racers = g_new0 (StudyRacer, n);
  for (guint i = 0; i < n * STUDY_RACING_MEASURES; i++)
    it->measures[i] = NAN;
  for (guint i = 0; i < n * it->n_draws; i++)
    it->times[i] = NAN;
  for (guint i = 0; i < n; i++) {
    const Candidate *candidate = candidate_at (it, i);

    for (guint draw = 0; draw < candidate->draws->len; draw++)
      racing->where[g_array_index (candidate->draws, guint, draw)] =
          (Where){ .of = it, .candidate = i, .draw = draw };
    if (candidate->shrunk != NO_RUN)
      racing->where[candidate->shrunk] = (Where){ .of = it, .candidate = i, .draw = NO_RUN };
    if (candidate->load != NO_RUN)
      racing->where[candidate->load] = (Where){ .of = it, .candidate = i, .draw = NO_RUN };
  }
  it->stage = !it->is_raced || !study_race_screens (n, racing->n_best) ? DRAWS
              : candidate_at (it, 0)->shrunk != NO_RUN                 ? FIRST_SHRUNK
                                                                       : LOAD;
}

static void
add_runs (StudyRacing *racing)
{
  const StudyPlan *plan = racing->plan;
  g_autoptr (GHashTable) by_name = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) of_run = g_hash_table_new (NULL, NULL); /* listed run -> Candidate */

  for (guint at = 0; at < plan->runs->len; at++) {
    const StudyPlanRun *run = run_at (racing, at);
    Candidate *candidate;

    if (run->role == STUDY_RUN_LISTED) {
      candidate = candidate_of (case_of (racing, by_name, run), run->mapping);
      add_draw (racing, candidate, at);
      g_hash_table_insert (of_run, (gpointer) run, candidate);
      continue;
    }
    candidate = g_hash_table_lookup (of_run, run->screened);
    if (run->role == STUDY_RUN_SHRUNK)
      candidate->shrunk = at;
    else
      candidate->load = at;
  }
}

StudyRacing *
study_racing_new (const StudyPlan *plan, guint n_best, double confidence, GError **error)
{
  g_autoptr (StudyRacing) racing = g_new0 (StudyRacing, 1);

  racing->plan = plan;
  racing->n_best = n_best;
  racing->confidence = confidence;
  racing->cases = g_ptr_array_new_with_free_func (case_free);
  racing->where = g_new0 (Where, plan->runs->len);
  add_runs (racing);
  for (guint i = 0; i < racing->cases->len; i++) {
    Case *it = g_ptr_array_index (racing->cases, i);

    drop_twins (racing, it);
    if (it->is_raced && !check_draws (racing, it, error))
      return NULL;
    prepare (racing, it);
  }
  return g_steal_pointer (&racing);
}

void
study_racing_free (StudyRacing *racing)
{
  if (racing == NULL)
    return;
  g_ptr_array_unref (racing->cases);
  g_free (racing->where);
  g_free (racing);
}

/* --- What is needed next --- */

/* A run that screens and cannot be made, as where no routes are known, is no measure. */
static void
ask (StudyRacing *racing, Case *it, guint run, GArray *wanted)
{
  Where *where = &racing->where[run];

  if (where->is_asked || (where->draw == NO_RUN && run_at (racing, run)->problem != NULL))
    return;
  where->is_asked = TRUE;
  it->n_pending++;
  g_array_append_val (wanted, run);
}

static void
ask_screens (StudyRacing *racing, Case *it, GArray *wanted)
{
  for (guint i = 0; i < it->candidates->len; i++)
    ask (racing, it, it->stage == LOAD ? candidate_at (it, i)->load : candidate_at (it, i)->shrunk,
         wanted);
}

static void
ask_draws (StudyRacing *racing, Case *it, GArray *wanted)
{
  const StudyRace race = { .n_candidates = it->candidates->len,
                           .n_draws = it->n_draws,
                           .n_best = racing->n_best,
                           .n_measures = it->n_measures,
                           .confidence = racing->confidence,
                           .tie = STUDY_TIE,
                           .measures = it->measures,
                           .times = it->times };
  g_autoptr (GArray) runs = study_race_step (&race, it->racers);

  for (guint at = 0; at < runs->len; at++) {
    StudyRaceRun run = g_array_index (runs, StudyRaceRun, at);

    ask (racing, it, g_array_index (candidate_at (it, run.candidate)->draws, guint, run.draw),
         wanted);
  }
  if (runs->len == 0)
    it->stage = OVER;
}

/* All runs of a case that is no race, or the next ones of a race. */
static void
step (StudyRacing *racing, Case *it, GArray *wanted)
{
  while (it->n_pending == 0 && it->stage != OVER)
    switch (it->stage) {
    case FIRST_SHRUNK:
      /* Messages that are too short, all or most, show in the first run. */
      ask (racing, it, candidate_at (it, 0)->shrunk, wanted);
      if (it->n_pending == 0)
        it->stage = it->is_cheap ? SHRUNK : LOAD;
      break;
    case SHRUNK:
    case LOAD:
      ask_screens (racing, it, wanted);
      if (it->n_pending == 0) {
        it->n_measures = STUDY_RACING_MEASURES;
        it->stage = DRAWS;
      }
      break;
    case DRAWS:
      if (it->is_raced) {
        ask_draws (racing, it, wanted);
        break;
      }
      for (guint i = 0; i < it->candidates->len; i++) {
        const GArray *draws = candidate_at (it, i)->draws;

        for (guint draw = 0; draw < draws->len; draw++)
          ask (racing, it, g_array_index (draws, guint, draw), wanted);
      }
      if (it->n_pending == 0)
        it->stage = OVER;
      break;
    case OVER: break;
    }
}

GArray *
study_racing_wanted (StudyRacing *racing)
{
  GArray *wanted = g_array_new (FALSE, FALSE, sizeof (guint));

  for (guint i = 0; i < racing->cases->len; i++)
    step (racing, g_ptr_array_index (racing->cases, i), wanted);
  return wanted;
}

/* Whether at most half of the packets were simulated, by the bytes that went over links. */
static gboolean
is_cheap (const StudyRacing *racing, guint run, const StudyRow *row)
{
  const StudyMachine *machine =
      g_ptr_array_index (racing->plan->machines, run_at (racing, run)->machine);

  return row->shrink_factor > 1 &&
         2 * (double) row->packet_hops * (double) machine->payload_bytes <=
             row->features[SIM_FEATURE_HOP_BYTES];
}

void
study_racing_tell (StudyRacing *racing, guint run, const StudyRow *row)
{
  const Where *where = &racing->where[run];
  Case *it = where->of;

  it->n_pending--;
  if (where->draw != NO_RUN) {
    it->times[where->candidate * it->n_draws + where->draw] =
        row->status == STUDY_DONE && !isnan (row->time_s) ? row->time_s : (double) INFINITY;
    return;
  }
  if (row->status != STUDY_DONE)
    return;
  if (it->stage == FIRST_SHRUNK)
    it->is_cheap = is_cheap (racing, run, row);
  study_racing_measures (row, &it->measures[where->candidate * STUDY_RACING_MEASURES]);
}

/* --- What came of it --- */

void
study_racing_count (const StudyRacing *racing, guint *n_races, guint *n_over)
{
  *n_races = *n_over = 0;
  for (guint i = 0; i < racing->cases->len; i++) {
    const Case *it = g_ptr_array_index (racing->cases, i);

    *n_races += it->is_raced;
    *n_over += it->is_raced && it->stage == OVER;
  }
}

static const char *
outcome_of (const StudyRacer *racer, gboolean is_best)
{
  switch (racer->end) {
  case STUDY_RACER_SCREENED: return "screened";
  case STUDY_RACER_BEATEN: return "beaten";
  case STUDY_RACER_FAILED: return "failed";
  case STUDY_RACER_EQUAL: return "not told apart";
  case STUDY_RACER_IN: break;
  }
  return is_best ? "best" : "not told apart";
}

GPtrArray *
study_racing_outcome (const StudyRacing *racing)
{
  GPtrArray *outcome = g_ptr_array_new_with_free_func ((GDestroyNotify) study_race_row_free);
  guint number = 0;

  for (guint i = 0; i < racing->cases->len; i++) {
    const Case *it = g_ptr_array_index (racing->cases, i);
    const StudyRace race = { .n_candidates = it->candidates->len };
    g_autoptr (GArray) order = NULL;

    if (!it->is_raced || it->stage != OVER)
      continue;
    order = study_race_order (&race, it->racers);
    for (guint at = 0; at < order->len; at++) {
      guint candidate = g_array_index (order, guint, at);
      const StudyRacer *racer = &it->racers[candidate];
      guint first = g_array_index (candidate_at (it, candidate)->draws, guint, 0);
      StudyRaceRow *row = g_new0 (StudyRaceRow, 1);

      row->number = number;
      row->key = g_strdup (run_at (racing, first)->key);
      row->outcome = g_strdup (outcome_of (racer, at < racing->n_best));
      row->n_draws = racer->n_draws;
      row->time_s = racer->time;
      row->behind = racer->behind;
      row->margin = racer->margin;
      g_ptr_array_add (outcome, row);
    }
    number++;
  }
  return outcome;
}
