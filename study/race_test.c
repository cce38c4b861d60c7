/* race_test.c - races over made-up candidates whose true times are known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/race.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

#define N       84u
#define N_DRAWS 4u

/* A field whose measure and times are about the true ones. */
typedef struct {
  guint n, n_draws;
  double truth[N];
  double measures[N * 2];
  double all[N * N_DRAWS];   /* every time there would be */
  double times[N * N_DRAWS]; /* those that were made */
  StudyRacer racers[N];
} Field;

/* Normally distributed, by the sum of twelve. */
static double
normal (BaseRandom *random)
{
  double sum = -6;

  for (guint i = 0; i < 12; i++)
    sum += base_random_unit (random);
  return sum;
}

/* Logarithms are spread by .2 among candidates, and off by so much. */
static Field *
field_new (guint64 seed, double measure_noise, double time_noise)
{
  BaseRandom random = base_random_stream (seed, 1);
  Field *field = g_new0 (Field, 1);
  double effect[N_DRAWS];

  field->n = N;
  field->n_draws = N_DRAWS;
  for (guint draw = 0; draw < N_DRAWS; draw++)
    effect[draw] = .1 * normal (&random);
  for (guint i = 0; i < N; i++) {
    field->truth[i] = .2 * normal (&random);
    field->measures[2 * i] = 3 * exp (.8 * field->truth[i] + measure_noise * normal (&random));
    field->measures[2 * i + 1] = 1 + i % 3; /* says nothing */
    for (guint draw = 0; draw < N_DRAWS; draw++)
      field->all[i * N_DRAWS + draw] =
          exp (field->truth[i] + effect[draw] + time_noise * normal (&random));
  }
  for (guint at = 0; at < N * N_DRAWS; at++)
    field->times[at] = NAN;
  return field;
}

static StudyRace
race_of (const Field *field, guint n_best, guint n_measures)
{
  return (StudyRace){ field->n, field->n_draws,  n_best,      n_measures, .95,
                      0,        field->measures, field->times };
}

/* Makes what the race asks for, `at_once` runs at a time; returns their number. */
static guint
run (Field *field, const StudyRace *race, guint at_once)
{
  guint n = 0;

  for (;;) {
    g_autoptr (GArray) wanted = study_race_step (race, field->racers);

    if (wanted->len == 0)
      return n;
    for (guint i = 0; i < MIN (wanted->len, at_once); i++) {
      StudyRaceRun it = g_array_index (wanted, StudyRaceRun, wanted->len - 1 - i);
      guint at = it.candidate * race->n_draws + it.draw;

      g_assert_true (isnan (field->times[at]));
      field->times[at] = field->all[at];
      n++;
    }
  }
}

static guint
true_best (const Field *field)
{
  guint best = 0;

  for (guint i = 1; i < field->n; i++)
    if (field->truth[i] < field->truth[best])
      best = i;
  return best;
}

static guint
winner_of (const Field *field, const StudyRace *race)
{
  g_autoptr (GArray) order = study_race_order (race, field->racers);

  g_assert_cmpuint (order->len, ==, field->n);
  return g_array_index (order, guint, 0);
}

/* The true best is dropped in no more than the 5 % of races that the confidence allows (of 400, 30
 * are 2.2 standard deviations more), and the runs are few. */
static void
test_risk (void)
{
  static const struct {
    double measure_noise;
    guint n_measures;
    double most_runs; /* share of all */
  } cases[] = { { .05, 2, .15 }, { .1, 2, .2 }, { 0, 0, .4 } };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    guint n_dropped = 0, n_runs = 0;

    for (guint seed = 1; seed <= 400; seed++) {
      g_autofree Field *field = field_new (seed, cases[at].measure_noise, .03);
      const StudyRace race = race_of (field, 1, cases[at].n_measures);

      n_runs += run (field, &race, G_MAXUINT);
      n_dropped += field->racers[true_best (field)].end != STUDY_RACER_IN;
      g_assert_cmpint (field->racers[winner_of (field, &race)].end, ==, STUDY_RACER_IN);
    }
    g_test_message ("measures off by %g: best dropped in %u of 400, %.3f of all runs",
                    cases[at].measure_noise, n_dropped, n_runs / (400.0 * N * N_DRAWS));
    g_assert_cmpuint (n_dropped, <=, 30);
    g_assert_cmpfloat (n_runs, <, cases[at].most_runs * 400 * N * N_DRAWS);
  }
}

/* Without noise one draw of all (by a measure without noise: of the first and the spread ones) and
 * the second draws of the scouts tell everything. */
static void
test_certain (void)
{
  g_autofree Field *field = field_new (7, 0, 0);
  StudyRace race = race_of (field, 1, 0);
  guint best = true_best (field);

  g_assert_cmpuint (run (field, &race, G_MAXUINT), ==, N + 8);
  g_assert_cmpuint (winner_of (field, &race), ==, best);
  for (guint i = 0; i < N; i++)
    g_assert_cmpint (field->racers[i].end, ==, i == best ? STUDY_RACER_IN : STUDY_RACER_BEATEN);
  for (guint at = 0; at < N * N_DRAWS; at++)
    field->times[at] = NAN;
  race.n_measures = 2;
  g_assert_cmpuint (run (field, &race, G_MAXUINT), ==, 8 + 6 + 8);
  g_assert_cmpuint (winner_of (field, &race), ==, best);
  for (guint i = 0, n_screened = 0; i < N; i++) {
    n_screened += field->racers[i].end == STUDY_RACER_SCREENED;
    if (i == N - 1)
      g_assert_cmpuint (n_screened, ==, N - 14);
    if (field->racers[i].end == STUDY_RACER_SCREENED)
      g_assert_cmpfloat_with_epsilon (field->racers[i].behind,
                                      expm1 (field->truth[i] - field->truth[best]), 1e-6);
  }
}

/* In whatever order and however many at a time runs are made, and with runs that nobody asked for. */
static void
test_order (void)
{
  g_autofree Field *first = field_new (3, .05, .03), *second = field_new (3, .05, .03);
  g_autofree Field *third = field_new (3, .05, .03);
  const StudyRace race = race_of (first, 2, 2), again = race_of (second, 2, 2);
  const StudyRace full = race_of (third, 2, 2);
  guint n = run (first, &race, G_MAXUINT);

  g_assert_cmpuint (run (second, &again, 1), ==, n);
  g_assert_cmpmem (first->racers, sizeof first->racers, second->racers, sizeof second->racers);
  memcpy (third->times, third->all, sizeof third->times);
  g_assert_cmpuint (run (third, &full, 1), ==, 0);
  g_assert_cmpmem (first->racers, sizeof first->racers, third->racers, sizeof third->racers);
}

/* All are the same: with a tie the first draws and the scouts' second ones are
 * enough, and nothing is beaten. */
static void
test_equal (void)
{
  g_autofree Field *field = field_new (17, .1, 0);
  StudyRace race = race_of (field, 1, 2);

  race.tie = .01;
  for (guint at = 0; at < N * N_DRAWS; at++)
    field->all[at] = .3;
  g_assert_cmpuint (run (field, &race, G_MAXUINT), ==, 8 + 6 + 8);
  for (guint i = 0; i < N; i++)
    g_assert_true (field->racers[i].end == STUDY_RACER_SCREENED ||
                   field->racers[i].end == STUDY_RACER_EQUAL || i == winner_of (field, &race));
  /* Nothing screens: one draw of all. */
  race.n_measures = 0;
  g_assert_cmpuint (run (field, &race, G_MAXUINT), <=, N - 14 + 8);
}

/* One draw of each: those within the tie are equal, the others beaten. */
static void
test_single_draws (void)
{
  g_autofree Field *field = field_new (19, 0, 0);
  static const double times[] = { 1.009, 1, 1.02, 3 };
  static const StudyRacerEnd ends[] = { STUDY_RACER_EQUAL, STUDY_RACER_IN, STUDY_RACER_BEATEN,
                                        STUDY_RACER_BEATEN };
  StudyRace race;

  field->n = G_N_ELEMENTS (times);
  field->n_draws = 1;
  race = race_of (field, 1, 0);
  race.tie = .01;
  for (guint i = 0; i < field->n; i++)
    field->all[i] = times[i];
  g_assert_cmpuint (run (field, &race, 1), ==, 4);
  for (guint i = 0; i < field->n; i++)
    g_assert_cmpint (field->racers[i].end, ==, ends[i]);
  g_assert_cmpfloat_with_epsilon (field->racers[3].behind, 2, 1e-12);
}

/* Whenever it is looked at, the first one is in and has the least time of those that have one. */
static void
test_order_on_the_way (void)
{
  g_autofree Field *field = field_new (13, .1, .03);
  const StudyRace race = race_of (field, 1, 2);

  for (gboolean is_over = FALSE; !is_over;) {
    g_autoptr (GArray) wanted = study_race_step (&race, field->racers);
    const StudyRacer *first = &field->racers[winner_of (field, &race)];

    is_over = wanted->len == 0;
    for (guint i = 0; i < N; i++)
      if (field->racers[i].end == STUDY_RACER_IN && field->racers[i].n_draws > 0) {
        g_assert_cmpint (first->end, ==, STUDY_RACER_IN);
        g_assert_cmpfloat (first->time, <=, field->racers[i].time);
      }
    if (!is_over) {
      StudyRaceRun run = g_array_index (wanted, StudyRaceRun, 0);
      guint at = run.candidate * N_DRAWS + run.draw;

      field->times[at] = field->all[at];
    }
  }
}

/* The best three stay, in most fields. */
static void
test_several (void)
{
  guint n_right = 0;

  for (guint seed = 1; seed <= 50; seed++) {
    g_autofree Field *field = field_new (seed, .05, .01);
    const StudyRace race = race_of (field, 3, 2);
    guint n_in = 0, n_better = 0, best = true_best (field);

    run (field, &race, G_MAXUINT);
    for (guint i = 0; i < N; i++) {
      n_in += field->racers[i].end == STUDY_RACER_IN;
      n_better += field->racers[i].end != STUDY_RACER_IN && field->truth[i] <= field->truth[best];
    }
    g_assert_cmpuint (n_in, >=, 3);
    n_right += n_better == 0;
  }
  g_assert_cmpuint (n_right, >=, 45);
}

static void
test_failures (void)
{
  g_autofree Field *field = field_new (11, .02, .01);
  const StudyRace race = race_of (field, 1, 2);
  guint best = true_best (field);

  for (guint draw = 0; draw < N_DRAWS; draw++)
    field->all[best * N_DRAWS + draw] = INFINITY;
  field->all[20 * N_DRAWS] = INFINITY;
  run (field, &race, G_MAXUINT);
  g_assert_cmpint (field->racers[best].end, ==, STUDY_RACER_FAILED);
  g_assert_cmpuint (winner_of (field, &race), !=, best);
  /* All fail. */
  for (guint at = 0; at < N * N_DRAWS; at++) {
    field->all[at] = INFINITY;
    field->times[at] = NAN;
  }
  run (field, &race, G_MAXUINT);
  g_assert_cmpint (field->racers[winner_of (field, &race)].end, ==, STUDY_RACER_FAILED);
}

/* Measures that are missing, zero, the same for all or the same as others. */
static void
test_poor_measures (void)
{
  for (guint kind = 0; kind < 4; kind++) {
    g_autofree Field *field = field_new (5, 0, .001);
    const StudyRace race = race_of (field, 1, 2);
    guint n;

    for (guint i = 0; i < N; i++) {
      double *measures = &field->measures[2 * i];

      if (kind == 0)
        measures[0] = measures[1] = NAN;
      else if (kind == 1)
        measures[0] = i == 40 ? 0 : 1;
      else if (kind == 2)
        measures[0] = measures[1] = 5;
      else
        measures[1] = 2 * measures[0] * measures[0];
    }
    n = run (field, &race, G_MAXUINT);
    g_assert_cmpint (field->racers[true_best (field)].end, ==, STUDY_RACER_IN);
    if (kind < 3)
      g_assert_cmpuint (n, >=, N);
    else
      g_assert_cmpuint (n, <, N / 2);
  }
}

/* One candidate, two, one draw each. */
static void
test_small (void)
{
  static const guint sizes[] = { 1, 2, 14, 15 };

  for (gsize i = 0; i < G_N_ELEMENTS (sizes); i++)
    for (guint n_draws = 1; n_draws <= 2; n_draws++) {
      g_autofree Field *field = field_new (9, 0, .001);
      StudyRace race;

      field->n = sizes[i];
      field->n_draws = n_draws;
      race = race_of (field, 1, 2);
      g_assert_true (study_race_screens (sizes[i], 1) == (sizes[i] == 15));
      for (guint at = 0; at < sizes[i]; at++)
        for (guint draw = 0; draw < n_draws; draw++)
          field->all[at * n_draws + draw] = exp (field->truth[at]);
      run (field, &race, G_MAXUINT);
      g_assert_cmpuint (winner_of (field, &race), ==, true_best (field));
      if (n_draws == 1)
        g_assert_cmpuint (field->racers[true_best (field)].n_draws, ==, 1);
      for (guint at = 0; at < sizes[i]; at++)
        if (at != true_best (field) && field->racers[at].end != STUDY_RACER_SCREENED)
          g_assert_cmpint (field->racers[at].end, ==, STUDY_RACER_BEATEN);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/study/race/risk", test_risk);
  g_test_add_func ("/study/race/certain", test_certain);
  g_test_add_func ("/study/race/equal", test_equal);
  g_test_add_func ("/study/race/single-draws", test_single_draws);
  g_test_add_func ("/study/race/order", test_order);
  g_test_add_func ("/study/race/order-on-the-way", test_order_on_the_way);
  g_test_add_func ("/study/race/several", test_several);
  g_test_add_func ("/study/race/failures", test_failures);
  g_test_add_func ("/study/race/poor-measures", test_poor_measures);
  g_test_add_func ("/study/race/small", test_small);
  return g_test_run ();
}
