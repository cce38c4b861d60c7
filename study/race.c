/* race.c - which of many placements is best, with as few runs as possible.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/race.h"

#include "base/student.h"

#include <math.h>

/* Chosen on halos of 16 KiB under 84 mappings (`hopcast validate sensitivity` has what it gives). */
#define N_FIRST        8u /* that are run by their first measure, and then at a time */
#define N_SPREAD       6u /* evenly from the others: a fit of the best alone is biased */
#define N_SCOUTS       8u /* that get a second draw before others, so that the noise is known */
#define SCREENING_RISK .5 /* share of 1 - confidence */
/* The noise is known from few runs: the fit's deviation is not all taken for noise. */
#define LEAST_VARIANCE .25

#define MOST_MEASURES 4u

typedef struct {
  const StudyRace *race;
  StudyRacer *racers;
  double *logs;   /* [n_candidates][n_draws] NaN: not made, or failed */
  GArray *wanted; /* (element-type StudyRaceRun) */
} Judge;

static double
log_at (const Judge *judge, guint candidate, guint draw)
{
  return judge->logs[candidate * judge->race->n_draws + draw];
}

/* --- Runs --- */

/* Asks for the draws of a candidate up to so many, and counts those that are there. */
static void
want (Judge *judge, guint candidate, guint n_draws)
{
  StudyRacer *racer = &judge->racers[candidate];

  while (racer->end == STUDY_RACER_IN && racer->n_draws < n_draws) {
    double time = judge->race->times[candidate * judge->race->n_draws + racer->n_draws];

    if (isnan (time)) {
      const StudyRaceRun run = { candidate, racer->n_draws };

      g_array_append_val (judge->wanted, run);
      return;
    }
    if (!(time > 0 && isfinite (time)))
      racer->end = STUDY_RACER_FAILED;
    else
      racer->n_draws++;
  }
}

static double
mean_log (const Judge *judge, guint candidate, guint n_draws)
{
  double sum = 0;

  for (guint draw = 0; draw < n_draws; draw++)
    sum += log_at (judge, candidate, draw);
  return sum / n_draws;
}

static gboolean
has_run (const Judge *judge, guint candidate)
{
  const StudyRacer *racer = &judge->racers[candidate];

  return racer->n_draws > 0 && racer->end != STUDY_RACER_FAILED;
}

/* --- Orders of candidates --- */

typedef struct {
  guint candidate;
  double value; /* less is better */
} Place;

static int
compare_places (gconstpointer a, gconstpointer b)
{
  const Place *left = a, *right = b;

  if (left->value != right->value)
    return left->value < right->value ? -1 : 1;
  return (left->candidate > right->candidate) - (left->candidate < right->candidate);
}

static GArray *
places_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (Place));
}

static void
add_place (GArray *places, guint candidate, double value)
{
  const Place place = { candidate, value };

  g_array_append_val (places, place);
}

static guint
place_at (const GArray *places, guint at)
{
  return g_array_index (places, Place, at).candidate;
}

/* --- What the draws say --- */

/* The effects of draws: those of the first are in the candidates' means.  Later draws are of fewer
 * candidates, so that a mean of more draws would else not compare with one of fewer. */
static double *
effects_new (const Judge *judge)
{
  const StudyRace *race = judge->race;
  double *effects = g_new0 (double, race->n_draws + 1);

  for (guint draw = 1; draw < race->n_draws; draw++) {
    double sum = 0;
    guint n = 0;

    for (guint i = 0; i < race->n_candidates; i++)
      if (has_run (judge, i) && judge->racers[i].n_draws > draw) {
        double before = 0;

        for (guint at = 0; at < draw; at++)
          before += (log_at (judge, i, at) - effects[at]) / draw;
        sum += log_at (judge, i, draw) - before;
        n++;
      }
    effects[draw] = n > 0 ? sum / n : 0;
  }
  return effects;
}

/* The mean logarithm of a candidate's draws, less their effects. */
static double
adjusted_log (const Judge *judge, const double *effects, guint candidate)
{
  guint n_draws = judge->racers[candidate].n_draws;
  double sum = 0;

  for (guint draw = 0; draw < n_draws; draw++)
    sum += log_at (judge, candidate, draw) - effects[draw];
  return sum / n_draws;
}

/* Those with a run that are in the race, best first. */
static GArray *
leaders (const Judge *judge)
{
  g_autofree double *effects = effects_new (judge);
  GArray *places = places_new ();

  for (guint i = 0; i < judge->race->n_candidates; i++)
    if (judge->racers[i].end == STUDY_RACER_IN && judge->racers[i].n_draws > 0)
      add_place (places, i, adjusted_log (judge, effects, i));
  g_array_sort (places, compare_places);
  return places;
}

/* The noise of a single run, pooled over candidates: among those with as many draws, what neither
 * the candidate nor the draw explains. */
static double
noise_of (const Judge *judge, guint *degrees)
{
  const StudyRace *race = judge->race;
  double squares = 0;

  *degrees = 0;
  for (guint n_draws = 2; n_draws <= race->n_draws; n_draws++) {
    g_autofree double *effect =
        g_new0 (double, n_draws); /* of a draw, about the candidates' means */
    guint n = 0;

    for (guint i = 0; i < race->n_candidates; i++)
      if (has_run (judge, i) && judge->racers[i].n_draws == n_draws) {
        double mean = mean_log (judge, i, n_draws);

        n++;
        for (guint draw = 0; draw < n_draws; draw++)
          effect[draw] += log_at (judge, i, draw) - mean;
      }
    /* Of one candidate alone the draws' effects count as noise. */
    for (guint draw = 0; draw < n_draws; draw++)
      effect[draw] = n > 1 ? effect[draw] / n : 0;
    for (guint i = 0; i < race->n_candidates; i++)
      if (has_run (judge, i) && judge->racers[i].n_draws == n_draws) {
        double mean = mean_log (judge, i, n_draws);

        for (guint draw = 0; draw < n_draws; draw++) {
          double off = log_at (judge, i, draw) - mean - effect[draw];

          squares += off * off;
        }
      }
    *degrees += n > 1 ? (n - 1) * (n_draws - 1) : n * (n_draws - 1);
  }
  return *degrees > 0 ? sqrt (squares / *degrees) : (double) INFINITY;
}

/* --- Screening --- */

/* Linear least squares with an intercept, by orthogonal columns (modified Gram-Schmidt), so that
 * measures that say the same do no harm. */
typedef struct {
  guint n_measures;
  double *logs; /* [n_candidates][n_measures] of the measures */
  double mean[MOST_MEASURES], projection[MOST_MEASURES][MOST_MEASURES];
  double square[MOST_MEASURES]; /* of the column over the runs; 0: not used */
  double slope[MOST_MEASURES];
  double mean_time, deviation;
  guint n, degrees;
} Fit;

/* The measures of a candidate in the columns of the fit. */
static void
columns_of (const Fit *fit, guint candidate, double *column)
{
  for (guint k = 0; k < fit->n_measures; k++) {
    column[k] = fit->logs[candidate * fit->n_measures + k] - fit->mean[k];
    for (guint j = 0; j < k; j++)
      if (fit->square[j] > 0)
        column[k] -= fit->projection[k][j] * column[j];
  }
}

static double
predicted (const Fit *fit, guint candidate, double *leverage)
{
  double column[MOST_MEASURES], time = fit->mean_time;

  columns_of (fit, candidate, column);
  *leverage = 1.0 / fit->n;
  for (guint k = 0; k < fit->n_measures; k++)
    if (fit->square[k] > 0) {
      time += fit->slope[k] * column[k];
      *leverage += column[k] * column[k] / fit->square[k];
    }
  return time;
}

static void
fit_column (const Judge *judge, Fit *fit, guint k)
{
  double before = 0, product = 0, column[MOST_MEASURES];
  guint n_candidates = judge->race->n_candidates;

  fit->mean[k] = 0;
  for (guint i = 0; i < n_candidates; i++)
    if (has_run (judge, i))
      fit->mean[k] += fit->logs[i * fit->n_measures + k] / fit->n;
  for (guint j = 0; j < k; j++) {
    double sum = 0;

    for (guint i = 0; fit->square[j] > 0 && i < n_candidates; i++)
      if (has_run (judge, i)) {
        columns_of (fit, i, column);
        sum += column[j] * column[k] / fit->square[j];
      }
    fit->projection[k][j] = sum;
  }
  fit->square[k] = 0;
  for (guint i = 0; i < n_candidates; i++)
    if (has_run (judge, i)) {
      double plain = fit->logs[i * fit->n_measures + k] - fit->mean[k];

      columns_of (fit, i, column);
      before += plain * plain;
      fit->square[k] += column[k] * column[k];
      product += column[k] * (log_at (judge, i, 0) - fit->mean_time);
    }
  /* A column that the others explain, or that does not vary, would divide noise by noise. */
  if (fit->square[k] <= 1e-9 * before || fit->square[k] <= 1e-18)
    fit->square[k] = 0;
  else
    fit->slope[k] = product / fit->square[k];
}

static void
fit_runs (const Judge *judge, Fit *fit)
{
  double squares = 0, leverage;
  guint n_used = 0;

  fit->n = 0;
  fit->mean_time = 0;
  for (guint i = 0; i < judge->race->n_candidates; i++)
    fit->n += has_run (judge, i);
  for (guint i = 0; i < judge->race->n_candidates; i++)
    if (has_run (judge, i))
      fit->mean_time += log_at (judge, i, 0) / fit->n;
  for (guint k = 0; k < fit->n_measures; k++) {
    for (guint j = 0; j < MOST_MEASURES; j++)
      fit->projection[k][j] = 0;
    fit->square[k] = 0;
  }
  for (guint k = 0; k < fit->n_measures; k++) {
    fit_column (judge, fit, k);
    n_used += fit->square[k] > 0;
  }
  for (guint i = 0; i < judge->race->n_candidates; i++)
    if (has_run (judge, i)) {
      double off = log_at (judge, i, 0) - predicted (fit, i, &leverage);

      squares += off * off;
    }
  fit->degrees = fit->n > n_used + 1 ? fit->n - n_used - 1 : 0;
  fit->deviation = fit->degrees > 0 ? sqrt (squares / fit->degrees) : (double) INFINITY;
}

/* The measures as logarithms.  One that any candidate does not have, or that is not above 0, is left
 * out. */
static Fit
fit_new (const StudyRace *race)
{
  guint used[MOST_MEASURES];
  Fit fit = { .logs = NULL };

  for (guint k = 0; k < race->n_measures && fit.n_measures < MOST_MEASURES; k++) {
    gboolean usable = TRUE;

    for (guint i = 0; i < race->n_candidates; i++) {
      double measure = race->measures[i * race->n_measures + k];

      usable = usable && measure > 0 && isfinite (measure);
    }
    if (usable)
      used[fit.n_measures++] = k;
  }
  fit.logs = g_new (double, race->n_candidates *fit.n_measures + 1);
  for (guint i = 0; i < race->n_candidates; i++)
    for (guint k = 0; k < fit.n_measures; k++)
      fit.logs[i * fit.n_measures + k] = log (race->measures[i * race->n_measures + used[k]]);
  return fit;
}

/* The variance of true times about the fit: its residuals have the noise of one draw in them. */
static double
variance_about (const Judge *judge, const Fit *fit)
{
  double all = fit->deviation * fit->deviation, noise;
  guint degrees;

  noise = noise_of (judge, &degrees);
  return degrees == 0 ? all : MAX (all - noise * noise, LEAST_VARIANCE * all);
}

/* A candidate of which nothing is known but measures. */
typedef struct {
  guint candidate;
  double behind, deviation; /* as the fit predicts, in logarithms */
  double chance;            /* that it is better than the last of the best */
} Guess;

static int
compare_chances (gconstpointer a, gconstpointer b)
{
  const Guess *left = a, *right = b;

  if (left->chance != right->chance)
    return left->chance < right->chance ? -1 : 1;
  return (left->candidate > right->candidate) - (left->candidate < right->candidate);
}

/* Drops those of the candidates without a run that hardly are among the best, and returns the others,
 * best first. */
static GArray *
screen (Judge *judge, Fit *fit)
{
  const StudyRace *race = judge->race;
  g_autoptr (GArray) best = leaders (judge);
  g_autoptr (GArray) guesses = g_array_new (FALSE, FALSE, sizeof (Guess));
  GArray *left = places_new ();
  double risk = SCREENING_RISK * (1 - race->confidence), variance, chances = 0;
  double tie = log1p (race->tie);
  double last = best->len < race->n_best ? (double) INFINITY
                                         : g_array_index (best, Place, race->n_best - 1).value;

  fit_runs (judge, fit);
  variance = variance_about (judge, fit);
  for (guint i = 0; i < race->n_candidates; i++) {
    Guess guess = { .candidate = i, .chance = 1 };
    double leverage;

    if (judge->racers[i].end != STUDY_RACER_IN || judge->racers[i].n_draws > 0)
      continue;
    guess.behind = predicted (fit, i, &leverage) - last;
    guess.deviation = sqrt (variance + fit->deviation * fit->deviation * leverage);
    if (fit->degrees > 0 && best->len >= race->n_best)
      guess.chance = guess.deviation > 0
                         ? base_student_above ((guess.behind + tie) / guess.deviation, fit->degrees)
                         : guess.behind < -tie;
    g_array_append_val (guesses, guess);
  }
  g_array_sort (guesses, compare_chances);
  for (guint at = 0; at < guesses->len; at++) {
    const Guess *guess = &g_array_index (guesses, Guess, at);
    StudyRacer *racer = &judge->racers[guess->candidate];

    chances += guess->chance;
    if (chances <= risk) {
      racer->end = STUDY_RACER_SCREENED;
      racer->behind = expm1 (guess->behind);
      racer->margin = expm1 (guess->deviation * base_student_within (1 - 2 * risk, fit->degrees));
    } else
      add_place (left, guess->candidate, guess->behind);
  }
  g_array_sort (left, compare_places);
  return left;
}

static guint
n_first_of (guint n_best)
{
  return MAX (N_FIRST, 2 * n_best);
}

gboolean
study_race_screens (guint n_candidates, guint n_best)
{
  return n_candidates > n_first_of (n_best) + N_SPREAD;
}

/* The second draws of the best. */
static void
run_scouts (Judge *judge)
{
  g_autoptr (GArray) scouts = leaders (judge);

  for (guint at = 0; at < MIN (scouts->len, MAX (N_SCOUTS, 2 * judge->race->n_best)); at++)
    want (judge, place_at (scouts, at), MIN (2, judge->race->n_draws));
}

/* The first draw of all that may win. */
static void
run_first (Judge *judge)
{
  const StudyRace *race = judge->race;
  Fit fit = fit_new (race);
  guint n_first = n_first_of (race->n_best), n = race->n_candidates;
  g_autofree double *logs = fit.logs;
  g_autoptr (GArray) order = places_new ();

  if (fit.n_measures == 0 || !study_race_screens (n, race->n_best)) {
    for (guint i = 0; i < n; i++)
      want (judge, i, 1);
    return;
  }
  for (guint i = 0; i < n; i++)
    add_place (order, i, logs[i * fit.n_measures]);
  g_array_sort (order, compare_places);
  for (guint at = 0; at < n_first; at++)
    want (judge, place_at (order, at), 1);
  for (guint at = 0; at < N_SPREAD; at++)
    want (judge, place_at (order, n_first + (2 * at + 1) * (n - n_first) / (2 * N_SPREAD)), 1);
  if (judge->wanted->len == 0)
    run_scouts (judge);
  while (judge->wanted->len == 0) {
    g_autoptr (GArray) left = screen (judge, &fit);

    if (left->len == 0)
      return;
    for (guint at = 0; at < MIN (left->len, N_FIRST); at++)
      want (judge, place_at (left, at), 1);
  }
}

/* --- Draws --- */

static void
drop (Judge *judge, guint candidate, double behind, double margin)
{
  StudyRacer *racer = &judge->racers[candidate];

  racer->end = behind > margin ? STUDY_RACER_BEATEN : STUDY_RACER_EQUAL;
  racer->behind = expm1 (behind);
  racer->margin = expm1 (margin);
}

/* Of one draw of each the noise is not known: as in a ranking of single runs the tie decides. */
static void
drop_by_tie (Judge *judge)
{
  g_autoptr (GArray) best = leaders (judge);

  for (guint at = judge->race->n_best; at < best->len; at++)
    drop (judge, place_at (best, at),
          g_array_index (best, Place, at).value -
              g_array_index (best, Place, judge->race->n_best - 1).value,
          log1p (judge->race->tie));
}

/* Drops those that are behind by more than noise explains, and those that cannot be ahead. */
static void
drop_beaten (Judge *judge)
{
  const StudyRace *race = judge->race;
  double risk = (1 - SCREENING_RISK) * (1 - race->confidence) / race->n_draws;
  g_autoptr (GArray) best = leaders (judge);
  guint degrees, last;
  double noise = noise_of (judge, &degrees);

  if (degrees == 0 || best->len <= race->n_best)
    return;
  last = place_at (best, race->n_best - 1);
  for (guint at = race->n_best; at < best->len; at++) {
    guint i = place_at (best, at);
    guint n = MIN (judge->racers[i].n_draws, judge->racers[last].n_draws);
    double behind = mean_log (judge, i, n) - mean_log (judge, last, n);
    double margin = base_student_within (1 - 2 * risk, degrees) * noise * sqrt (2.0 / n);

    if (behind > margin || behind - margin >= -log1p (race->tie))
      drop (judge, i, behind, margin);
  }
}

/* Further draws of those that are left, until no more than the best are. */
static void
run_draws (Judge *judge)
{
  const StudyRace *race = judge->race;

  if (race->n_draws < 2) {
    drop_by_tie (judge);
    return;
  }
  run_scouts (judge);
  for (guint n_draws = 2; judge->wanted->len == 0 && n_draws <= race->n_draws; n_draws++) {
    g_autoptr (GArray) left = NULL;

    drop_beaten (judge);
    left = leaders (judge);
    if (left->len <= race->n_best)
      return;
    for (guint at = 0; at < left->len; at++)
      want (judge, place_at (left, at), n_draws);
  }
  if (judge->wanted->len == 0)
    drop_beaten (judge);
}

GArray *
study_race_step (const StudyRace *race, StudyRacer *racers)
{
  guint n_times = race->n_candidates * race->n_draws;
  g_autofree double *logs = g_new (double, n_times + 1);
  g_autofree double *effects = NULL;
  Judge judge = { race, racers, logs, g_array_new (FALSE, FALSE, sizeof (StudyRaceRun)) };

  for (guint at = 0; at < n_times; at++)
    logs[at] =
        race->times[at] > 0 && isfinite (race->times[at]) ? log (race->times[at]) : (double) NAN;
  for (guint i = 0; i < race->n_candidates; i++)
    racers[i] = (StudyRacer){ .behind = NAN, .margin = NAN, .time = NAN };
  run_first (&judge);
  if (judge.wanted->len == 0)
    run_draws (&judge);
  effects = effects_new (&judge);
  for (guint i = 0; i < race->n_candidates; i++)
    if (has_run (&judge, i))
      racers[i].time = exp (adjusted_log (&judge, effects, i));
  return judge.wanted;
}

/* In a race that is not over some that are in have no time yet. */
static double
value_of (const StudyRacer *racer)
{
  switch (racer->end) {
  case STUDY_RACER_SCREENED: return racer->behind;
  case STUDY_RACER_FAILED: return 0;
  case STUDY_RACER_IN:
  case STUDY_RACER_EQUAL:
  case STUDY_RACER_BEATEN: break;
  }
  return racer->n_draws > 0 ? racer->time : (double) INFINITY;
}

GArray *
study_race_order (const StudyRace *race, const StudyRacer *racers)
{
  static const StudyRacerEnd ends[] = { STUDY_RACER_IN, STUDY_RACER_EQUAL, STUDY_RACER_BEATEN,
                                        STUDY_RACER_SCREENED, STUDY_RACER_FAILED };
  GArray *order = g_array_new (FALSE, FALSE, sizeof (guint));

  for (gsize at = 0; at < G_N_ELEMENTS (ends); at++) {
    g_autoptr (GArray) places = places_new ();

    for (guint i = 0; i < race->n_candidates; i++)
      if (racers[i].end == ends[at])
        add_place (places, i, value_of (&racers[i]));
    g_array_sort (places, compare_places);
    for (guint i = 0; i < places->len; i++) {
      guint candidate = place_at (places, i);

      g_array_append_val (order, candidate);
    }
  }
  return order;
}
