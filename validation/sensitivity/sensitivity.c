/* sensitivity.c - whether intervals, rankings and races of a few replicas hold for many.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * From finished studies with 24 replicas (intervals.study and ranking.study): what `simulate
 * --replicas 4` and `rank` would have said with the first four is compared with the means of the
 * other twenty.  Races are run over the same replicas, each by four that follow one another and by
 * the shrunk runs of screening.study. */
#include "study/race.h"
#include "study/ranking.h"
#include "study/replicas.h"
#include "study/session/racing.h"
#include "study/store/row_fields.h"
#include "study/store/store.h"
#include "validation/suite.h"

#include <math.h>
#include <string.h>

static const char published_csv[] =
#include "validation/sensitivity/sensitivity_published.inc"
    ;

#define N_FIRST   4u  /* replicas that something is said from */
#define N_FURTHER 20u /* that it is compared with */

typedef struct {
  const ValidationWatch *watch;
  GPtrArray *rows; /* (element-type StudyRow) of all stores; NULL: not read yet */
} Sensitivity;

static gpointer
sensitivity_open (const ValidationWatch *watch)
{
  Sensitivity *it = g_new0 (Sensitivity, 1);

  it->watch = watch;
  return it;
}

static void
sensitivity_close (gpointer data)
{
  Sensitivity *it = data;

  g_clear_pointer (&it->rows, g_ptr_array_unref);
  g_free (it);
}

static gboolean
read_rows (Sensitivity *it, GError **error)
{
  if (it->rows != NULL)
    return TRUE;
  it->rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  for (const char *const *path = it->watch->stores; path != NULL && *path != NULL; path++) {
    g_autoptr (StudyStore) store = study_store_open (*path, STUDY_STORE_READ, error);
    g_autoptr (GPtrArray) rows = store != NULL ? study_store_rows (store, FALSE, error) : NULL;
    gsize n;
    g_autofree gpointer *taken = rows != NULL ? g_ptr_array_steal (rows, &n) : NULL;

    if (rows == NULL)
      return FALSE;
    for (gsize i = 0; i < n; i++)
      g_ptr_array_add (it->rows, taken[i]);
  }
  return TRUE;
}

/* The first replicas of the rows, or all others; borrowed. */
static GPtrArray *
pick (const GPtrArray *rows, bool first)
{
  GPtrArray *picked = g_ptr_array_new ();

  for (guint i = 0; i < rows->len; i++) {
    StudyRow *row = g_ptr_array_index (rows, i);

    if ((row->replica < N_FIRST) == first && strcmp (row->network, "packet") == 0)
      g_ptr_array_add (picked, row);
  }
  return picked;
}

/* The mapping of a case by its name; NULL: it has none. */
static const StudyRanked *
find_ranked (const StudyCase *it, const char *mapping)
{
  for (guint i = 0; i < it->ranked->len; i++)
    if (strcmp (g_array_index (it->ranked, StudyRanked, i).mapping, mapping) == 0)
      return &g_array_index (it->ranked, StudyRanked, i);
  return NULL;
}

static const StudyCase *
find_case (const GPtrArray *cases, const char *name)
{
  for (guint i = 0; i < cases->len; i++)
    if (strcmp (((const StudyCase *) g_ptr_array_index (cases, i))->name, name) == 0)
      return g_ptr_array_index (cases, i);
  return NULL;
}

/* What the first replicas and the others say of one column. */
typedef struct {
  guint n_means, n_within; /* means of mappings, and those within the interval */
  guint n_pairs, n_wrong,
      n_tied; /* pairs of different places, those in the other order, tied ones */
} Tally;

static void
compare_case (const StudyCase *said, const StudyCase *further, Tally *tally)
{
  for (guint i = 0; i < said->ranked->len; i++) {
    const StudyRanked *one = &g_array_index (said->ranked, StudyRanked, i);
    const StudyRanked *one_further = find_ranked (further, one->mapping);

    if (one->n_runs < N_FIRST || one_further == NULL || one_further->n_runs < N_FURTHER)
      continue;
    tally->n_means++;
    tally->n_within += one_further->value >= one->lower && one_further->value <= one->upper;
    for (guint j = 0; j < i; j++) {
      const StudyRanked *better = &g_array_index (said->ranked, StudyRanked, j);
      const StudyRanked *better_further = find_ranked (further, better->mapping);

      if (better_further == NULL)
        continue;
      if (better->place == one->place) {
        tally->n_tied++;
      } else {
        tally->n_pairs++;
        tally->n_wrong += better_further->value > one_further->value;
      }
    }
  }
}

static gboolean
compare (Sensitivity *it, const char *column, bool is_ranking, Tally *tally, GError **error)
{
  g_autoptr (GPtrArray) first = pick (it->rows, true), others = pick (it->rows, false);
  g_autoptr (GPtrArray) said = study_cases_new (first, column, STUDY_TIE, NULL, NULL, error);
  g_autoptr (GPtrArray) further =
      said != NULL ? study_cases_new (others, column, STUDY_TIE, NULL, NULL, error) : NULL;

  if (further == NULL)
    return FALSE;
  *tally = (Tally){ 0 };
  for (guint i = 0; i < said->len; i++) {
    const StudyCase *one = g_ptr_array_index (said, i);
    const StudyCase *other = find_case (further, one->name);

    /* The study of rankings has many mappings in a case, that of intervals few. */
    if (other != NULL && (one->ranked->len > 10) == is_ranking)
      compare_case (one, other, tally);
  }
  return TRUE;
}

/* --- Races --- */

#define N_REPLICAS (N_FIRST + N_FURTHER)
#define CONFIDENCE 0.95

/* Many mappings on one machine, with all replicas. */
typedef struct {
  const StudyRow *any;
  GPtrArray *mappings; /* (element-type utf8) borrowed, in the order of the rows */
  GPtrArray *rows;     /* (element-type StudyRow) [mappings][N_REPLICAS] NULL: not there */
  GPtrArray *screens;  /* likewise, of shrunk runs */
} Field;

static void
field_free (gpointer data)
{
  Field *field = data;

  g_ptr_array_unref (field->mappings);
  g_ptr_array_unref (field->rows);
  g_ptr_array_unref (field->screens);
  g_free (field);
}

static Field *
field_of (GPtrArray *fields, const StudyRow *row)
{
  Field *field;

  for (guint i = 0; i < fields->len; i++) {
    field = g_ptr_array_index (fields, i);
    if (strcmp (field->any->trace, row->trace) == 0 &&
        strcmp (field->any->machine, row->machine) == 0 &&
        strcmp (field->any->routing, row->routing) == 0)
      return field;
  }
  field = g_new (Field, 1);
  *field = (Field){ row, g_ptr_array_new (), g_ptr_array_new (), g_ptr_array_new () };
  g_ptr_array_add (fields, field);
  return field;
}

/* (element-type Field) */
static GPtrArray *
fields_new (const GPtrArray *rows)
{
  GPtrArray *fields = g_ptr_array_new_with_free_func (field_free);

  for (guint i = 0; i < rows->len; i++) {
    StudyRow *row = g_ptr_array_index (rows, i);
    bool is_exact = strcmp (row->shrink, "off") == 0;
    Field *field;
    guint mapping = 0;

    if (strcmp (row->network, "packet") != 0 || row->status != STUDY_DONE ||
        row->replica >= N_REPLICAS || !(is_exact || strcmp (row->shrink, "auto:race") == 0))
      continue;
    field = field_of (fields, row);
    while (mapping < field->mappings->len &&
           strcmp (g_ptr_array_index (field->mappings, mapping), row->mapping) != 0)
      mapping++;
    if (mapping == field->mappings->len) {
      g_ptr_array_add (field->mappings, row->mapping);
      g_ptr_array_set_size (field->rows, (int) ((mapping + 1) * N_REPLICAS));
      g_ptr_array_set_size (field->screens, (int) ((mapping + 1) * N_REPLICAS));
    }
    (is_exact ? field->rows : field->screens)->pdata[mapping * N_REPLICAS + row->replica] = row;
  }
  return fields;
}

static const StudyRow *
row_at (const Field *field, guint mapping, guint replica)
{
  return g_ptr_array_index (field->rows, mapping * N_REPLICAS + replica);
}

/* Many mappings, and nothing is missing. */
static bool
is_whole (const Field *field)
{
  for (guint i = 0; i < field->rows->len; i++)
    if (g_ptr_array_index (field->rows, i) == NULL)
      return false;
  return field->mappings->len > 10;
}

/* Of the races over one field, which begin at each replica in turn. */
typedef struct {
  guint n_races, n_best, n_within;
  double cost; /* mean share of the packet hops of four replicas of all */
  double most_cost;
  double most_behind; /* how much slower the winner truly was, at most */
} Races;

/* The mean logarithm of times of a mapping's replicas that are not of the race. */
static double
truth_of (const Field *field, guint mapping, guint first)
{
  double sum = 0;

  for (guint replica = 0; replica < N_REPLICAS; replica++)
    if (replica < first || replica >= first + N_FIRST)
      sum += log (row_at (field, mapping, replica)->time_s);
  return sum / N_FURTHER;
}

/* Whether four replicas of both would mostly not tell them apart, or they are a tie. */
static bool
is_within_noise (const Field *field, guint one, guint other, double difference)
{
  double differences[N_REPLICAS];
  StudySpread spread;

  for (guint replica = 0; replica < N_REPLICAS; replica++)
    differences[replica] =
        log (row_at (field, one, replica)->time_s) - log (row_at (field, other, replica)->time_s);
  spread = study_spread (differences, N_REPLICAS);
  return difference <= MAX (log1p (STUDY_TIE),
                            (spread.upper - spread.mean) * sqrt ((double) N_REPLICAS / N_FIRST));
}

/* One race by the replicas from `first` on. */
static void
race_once (const Field *field, guint first, Races *races)
{
  guint n = field->mappings->len, winner, best = 0;
  g_autofree double *measures = g_new (double, n *STUDY_RACING_MEASURES);
  g_autofree double *times = g_new (double, n *N_FIRST);
  g_autofree StudyRacer *racers = g_new (StudyRacer, n);
  const StudyRace race = { n,          N_FIRST,   1,        STUDY_RACING_MEASURES,
                           CONFIDENCE, STUDY_TIE, measures, times };
  g_autoptr (GArray) order = NULL;
  double hops = 0, all = 0, behind;

  for (guint mapping = 0; mapping < n; mapping++) {
    const StudyRow *screen = g_ptr_array_index (field->screens, mapping * N_REPLICAS + first);
    const StudyRow *row = row_at (field, mapping, first);
    double *measure = &measures[mapping * STUDY_RACING_MEASURES];

    /* Without a shrunk run the bytes on links, which a load run has too, and one whole run in which
     * it shows that messages are too short. */
    measure[0] = row->features[SIM_FEATURE_MAX_BYTES];
    measure[1] = row->features[SIM_FEATURE_AVG_BYTES];
    measure[2] = (double) NAN;
    if (screen != NULL)
      study_racing_measures (screen, measure);
    if (screen != NULL)
      hops += (double) screen->packet_hops;
    else if (mapping == 0 && study_race_screens (n, 1))
      hops += (double) row->packet_hops;
    for (guint draw = 0; draw < N_FIRST; draw++) {
      times[mapping * N_FIRST + draw] = (double) NAN;
      all += (double) row_at (field, mapping, first + draw)->packet_hops;
    }
    if (truth_of (field, mapping, first) < truth_of (field, best, first))
      best = mapping;
  }
  for (bool is_over = false; !is_over;) {
    g_autoptr (GArray) wanted = study_race_step (&race, racers);

    for (guint i = 0; i < wanted->len; i++) {
      StudyRaceRun run = g_array_index (wanted, StudyRaceRun, i);
      const StudyRow *row = row_at (field, run.candidate, first + run.draw);

      times[run.candidate * N_FIRST + run.draw] = row->time_s;
      hops += (double) row->packet_hops;
    }
    is_over = wanted->len == 0;
  }
  order = study_race_order (&race, racers);
  winner = g_array_index (order, guint, 0);
  behind = truth_of (field, winner, first) - truth_of (field, best, first);
  races->n_races++;
  races->n_best += winner == best;
  races->n_within += is_within_noise (field, winner, best, behind);
  races->cost += (hops / all - races->cost) / races->n_races;
  races->most_cost = MAX (races->most_cost, hops / all);
  races->most_behind = MAX (races->most_behind, expm1 (behind));
}

/* A figure of the program that is worst by it. */
static bool
measure_races (const Sensitivity *it, const char *name, double *worst, GError **error)
{
  g_autoptr (GPtrArray) fields = fields_new (it->rows);
  guint n = 0;

  for (guint i = 0; i < fields->len; i++) {
    const Field *field = g_ptr_array_index (fields, i);
    Races races = { 0 };
    double value;
    bool is_share = g_str_has_suffix (name, "_best") || g_str_has_suffix (name, "_within_noise");

    if (!is_whole (field))
      continue;
    for (guint first = 0; first < N_FURTHER; first++)
      race_once (field, first, &races);
    value = g_str_has_suffix (name, "_best")           ? races.n_best
            : g_str_has_suffix (name, "_within_noise") ? races.n_within
            : g_str_has_suffix (name, "_cost")         ? 100 * races.cost
            : g_str_has_suffix (name, "_cost_of_one")  ? 100 * races.most_cost
                                                       : 100 * races.most_behind;
    if (it->watch->details != NULL)
      validation_detail (it->watch->details, name, field->any->trace, (double) NAN, value,
                         is_share ? "races" : "%");
    *worst = n == 0 ? value : is_share ? MIN (*worst, value) : MAX (*worst, value);
    n++;
  }
  if (n == 0)
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NOT_RUN,
                 "no store of validation/sensitivity/ranking.study");
  return n > 0;
}

/* --- The figures --- */

static bool
measure_figure (gpointer state, const ValidationPublished *published, double *simulated,
                GError **error)
{
  Sensitivity *it = state;
  const char *column = g_str_has_suffix (published->name, "_mean_end") ? "mean_end" : "time";
  bool is_ranking = g_str_has_prefix (published->name, "ranking");
  Tally tally;

  if (!read_rows (it, error))
    return false;
  if (g_str_has_prefix (published->name, "races"))
    return measure_races (it, published->name, simulated, error);
  if (!compare (it, column, is_ranking, &tally, error))
    return false;
  if ((is_ranking ? tally.n_pairs + tally.n_tied : tally.n_means) == 0) {
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NOT_RUN,
                 "no store of validation/sensitivity/%s.study",
                 is_ranking ? "ranking" : "intervals");
    return false;
  }
  if (g_str_has_prefix (published->name, "intervals_hold"))
    *simulated = 100.0 * tally.n_within / tally.n_means;
  else if (g_str_has_prefix (published->name, "ranking_wrong"))
    *simulated = tally.n_pairs == 0 ? 0 : 100.0 * tally.n_wrong / tally.n_pairs;
  else if (g_str_has_prefix (published->name, "ranking_told_apart"))
    *simulated = 100.0 * tally.n_pairs / (tally.n_pairs + tally.n_tied);
  else
    return validation_no_experiment (published, error);
  return true;
}

const ValidationSuite validation_sensitivity = {
  .name = "sensitivity",
  .figures = published_csv,
  .path = "sensitivity_published.csv",
  .open = sensitivity_open,
  .close = sensitivity_close,
  .measure = measure_figure,
};
