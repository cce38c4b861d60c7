/* feature_search.c - the features that together predict best.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/scoring/feature_search.h"

#include "predictors/forest/work_threads.h"
#include "predictors/predict_error.h"
#include "predictors/table/samples.h"

#include <math.h>
#include <string.h>

/* Of sets that are all tried: hours of work. */
#define MAX_SETS 1000000

/* The share of all small sets in the progress of a search that also grows and shrinks sets. */
#define SMALL_SETS_SHARE 0.75

/* One search among the features of some samples. */
typedef struct {
  const PredictSamples *samples;
  const uint32_t *group;
  uint32_t n_groups;
  const PredictSettings *settings;
  const PredictSearch *search;
  uint64_t seed;
  GArray *tried;   /* (element-type PredictFeatureChoice) */
  GError **errors; /* [of the batch] */
  guint first;     /* of the batch, in tried */
  PredictWorkShare share;
} Searcher;

/* -- sets of features ------------------------------------------------------ */

static void
choice_clear (gpointer data)
{
  g_free (((PredictFeatureChoice *) data)->features);
}

static GArray *
choices_new (void)
{
  GArray *choices = g_array_new (FALSE, FALSE, sizeof (PredictFeatureChoice));

  g_array_set_clear_func (choices, choice_clear);
  return choices;
}

static PredictFeatureChoice *
choice_at (const Searcher *searcher, guint number)
{
  return &g_array_index (searcher->tried, PredictFeatureChoice, number);
}

static gboolean
was_tried (const Searcher *searcher, const guint *features, guint n)
{
  for (guint i = 0; i < searcher->tried->len; i++) {
    const PredictFeatureChoice *choice = choice_at (searcher, i);

    if (choice->n == n && memcmp (choice->features, features, n * sizeof *features) == 0)
      return TRUE;
  }
  return FALSE;
}

/* Copies the features. */
static void
add_choice (Searcher *searcher, const guint *features, guint n)
{
  PredictFeatureChoice choice = { n, g_memdup2 (features, n * sizeof *features), NAN };

  g_array_append_val (searcher->tried, choice);
}

/* Lexicographically the next of n of n_features; FALSE after the last. */
static gboolean
next_combination (guint *features, guint n, guint n_features)
{
  guint at = n;

  while (at > 0 && features[at - 1] == n_features - n + at - 1)
    at--;
  if (at == 0)
    return FALSE;
  features[at - 1]++;
  for (; at < n; at++)
    features[at] = features[at - 1] + 1;
  return TRUE;
}

/* `from` with `feature` if it was without, or else without. */
static guint
toggle (const PredictFeatureChoice *from, guint feature, guint *features)
{
  guint n = 0, next = 0;

  for (; next < from->n && from->features[next] < feature; next++)
    features[n++] = from->features[next];
  if (next < from->n && from->features[next] == feature)
    next++;
  else
    features[n++] = feature;
  for (; next < from->n; next++)
    features[n++] = from->features[next];
  return n;
}

/* The best first: by score, then the smaller, then the one with the earlier features. */
static int
compare_choices (gconstpointer left, gconstpointer right, gpointer direction)
{
  const PredictFeatureChoice *a = left, *b = right;

  if (isnan (a->score) != isnan (b->score))
    return isnan (a->score) ? 1 : -1;
  if (a->score != b->score && !isnan (a->score))
    return (a->score < b->score) == (GPOINTER_TO_INT (direction) > 0) ? 1 : -1;
  if (a->n != b->n)
    return a->n < b->n ? -1 : 1;
  for (guint i = 0; i < a->n; i++)
    if (a->features[i] != b->features[i])
      return a->features[i] < b->features[i] ? -1 : 1;
  return 0;
}

/* -- inner scores ---------------------------------------------------------- */

/* A set may have fewer features than each node shall try. */
static PredictSettings
settings_for (const PredictSettings *settings, guint n_features)
{
  PredictSettings copy = *settings;

  copy.max_features = MIN (settings->max_features, n_features);
  copy.threads = 1;
  return copy;
}

/* The folds are the same for every set, so that sets differ in nothing else. */
static void
score_choice (void *data, guint number)
{
  Searcher *searcher = data;
  const PredictSearch *search = searcher->search;
  PredictFeatureChoice *choice = choice_at (searcher, searcher->first + number);
  g_autoptr (PredictSamples) samples =
      predict_samples_project (searcher->samples, choice->features, choice->n);
  PredictSettings settings = settings_for (searcher->settings, choice->n);
  const PredictTrial trial = {
    .repeats = 1, .folds = search->folds, .seed = searcher->seed, .log_target = search->log_target
  };
  g_auto (PredictEvaluation) evaluation = { 0 };

  if (predict_evaluate (samples, searcher->group, searcher->n_groups, &settings, &trial,
                        &evaluation, NULL, NULL, &searcher->errors[number]))
    choice->score = evaluation.scores[search->score].mean;
}

/* Scores the sets that were added from the `first` on; their work is `part` of the rest. */
static gboolean
score_batch (Searcher *searcher, guint first, double part, GError **error)
{
  guint n = searcher->tried->len - first;
  g_autofree GError **errors = g_new0 (GError *, n);
  PredictWorkShare share = searcher->share;

  share.to = share.from + part * (share.to - share.from);
  searcher->share.from = share.to;
  searcher->first = first;
  searcher->errors = errors;
  predict_work (score_choice, searcher, n, predict_threads (searcher->settings), &share);
  return predict_first_error (errors, n, error);
}

/* -- a search -------------------------------------------------------------- */

/* Which of the tried ones from `first` on is the best; the first of none. */
static guint
best_from (const Searcher *searcher, guint first)
{
  gpointer direction = GINT_TO_POINTER (predict_score_direction (searcher->search->score));
  guint best = first;

  for (guint i = first + 1; i < searcher->tried->len; i++)
    if (compare_choices (choice_at (searcher, i), choice_at (searcher, best), direction) < 0)
      best = i;
  return best;
}

/* Tries the best set with each feature more, or less; *gained when one of them scores better.  Those
 * that were tried before did not. */
static gboolean
step (Searcher *searcher, gboolean grow, guint *best, gboolean *gained, GError **error)
{
  int direction = predict_score_direction (searcher->search->score);
  guint n_features = searcher->samples->n_features, first = searcher->tried->len, winner;
  PredictFeatureChoice from = *choice_at (searcher, *best);
  guint wanted = grow ? from.n + 1 : from.n - 1;
  g_autofree guint *features = g_new (guint, from.n + 1);

  *gained = FALSE;
  for (guint feature = 0; feature < n_features; feature++)
    if (wanted > 0 && wanted <= searcher->search->max_size &&
        toggle (&from, feature, features) == wanted && !was_tried (searcher, features, wanted))
      add_choice (searcher, features, wanted);
  if (searcher->tried->len == first)
    return TRUE;
  if (!score_batch (searcher, first, 0.5, error))
    return FALSE;
  winner = best_from (searcher, first);
  *gained = direction * (choice_at (searcher, winner)->score - from.score) > 0;
  if (*gained)
    *best = winner;
  return TRUE;
}

/* searcher->tried gets all sets, the best first. */
static gboolean
run_search (Searcher *searcher, GError **error)
{
  const PredictSearch *search = searcher->search;
  gpointer direction = GINT_TO_POINTER (predict_score_direction (search->score));
  guint n_features = searcher->samples->n_features;
  guint largest = MIN (MIN (search->exhaustive, search->max_size), n_features), best;
  g_autofree guint *features = g_new (guint, largest);
  gboolean gained = TRUE;

  for (guint n = 1; n <= largest; n++) {
    for (guint i = 0; i < n; i++)
      features[i] = i;
    do
      add_choice (searcher, features, n);
    while (next_combination (features, n, n_features));
  }
  if (!score_batch (searcher, 0, search->max_size > largest ? SMALL_SETS_SHARE : 1, error))
    return FALSE;
  best = best_from (searcher, 0);
  while (gained)
    if (!step (searcher, TRUE, &best, &gained, error) ||
        (!gained && !step (searcher, FALSE, &best, &gained, error)))
      return FALSE;
  g_array_sort_with_data (searcher->tried, compare_choices, direction);
  return TRUE;
}

/* -- outer scores ---------------------------------------------------------- */

/* Searches among the samples that are not tested, and scores the winner on those that are. */
static gboolean
make_outer (const Searcher *whole, guint number, PredictScores *scores, guint *times_chosen,
            GError **error)
{
  const PredictSearch *search = whole->search;
  uint64_t n = whole->samples->n_samples;
  BaseRandom random = base_random_stream (search->seed, number);
  g_autofree bool *is_test = g_new (bool, n);
  g_autofree uint32_t *group = NULL;
  g_autoptr (PredictSamples) training = NULL;
  g_autoptr (PredictSamples) projected = NULL;
  g_autoptr (GArray) tried = choices_new ();
  Searcher searcher = *whole;
  const PredictFeatureChoice *choice;
  PredictSettings settings;

  predict_split_draw (&random, whole->group, n, whole->n_groups, search->test_share, is_test);
  searcher.group = group =
      predict_split_groups (whole->group, is_test, false, n, whole->n_groups, &searcher.n_groups);
  searcher.samples = training = predict_samples_select (whole->samples, is_test, false);
  searcher.seed = base_random_next (&random);
  searcher.tried = tried;
  if (!run_search (&searcher, error))
    return FALSE;
  choice = choice_at (&searcher, 0);
  for (guint i = 0; i < choice->n; i++)
    times_chosen[choice->features[i]]++;
  settings = settings_for (whole->settings, choice->n);
  projected = predict_samples_project (whole->samples, choice->features, choice->n);
  return predict_holdout (projected, is_test, &settings, search->log_target, NULL, NULL, scores,
                          error);
}

/* -- the whole ------------------------------------------------------------- */

static PredictWorkShare
share_of (PredictProgress progress, void *progress_data, guint number, guint n)
{
  return (PredictWorkShare){ progress, progress_data, (double) number / n,
                             (double) (number + 1) / n };
}

gboolean
predict_feature_search (const PredictSamples *samples, const uint32_t *group, uint32_t n_groups,
                        const PredictSettings *settings, const PredictSearch *search,
                        PredictSearchResult *result, PredictProgress progress, void *progress_data,
                        GError **error)
{
  guint n_features = samples->n_features, largest = MIN (search->exhaustive, search->max_size);
  g_autofree PredictScores *scores = g_new0 (PredictScores, search->outer);
  g_auto (PredictSearchResult) made = { .tried = choices_new (),
                                        .times_chosen = g_new0 (guint, n_features),
                                        .n_outer = search->outer };
  Searcher searcher = { samples, group, n_groups, settings, search, search->seed, made.tried };
  double sets = 0, of_size = 1;

  for (guint n = 1; n <= MIN (largest, n_features); n++) {
    of_size *= (double) (n_features - n + 1) / n;
    sets += of_size;
  }
  if (largest == 0) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "a search begins with all sets of at least 1 feature");
    return FALSE;
  }
  if (sets > MAX_SETS) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "%u features have %.3g sets of up to %u; an exhaustive search tries at most %d",
                 n_features, sets, largest, MAX_SETS);
    return FALSE;
  }
  if (search->outer > 0 && !(search->test_share > 0 && search->test_share < 1)) {
    g_set_error (error, PREDICT_ERROR, PREDICT_ERROR_OPTION,
                 "the test share of the outer splits must be between 0 and 1");
    return FALSE;
  }
  searcher.share = share_of (progress, progress_data, 0, search->outer + 1);
  if (!run_search (&searcher, error))
    return FALSE;
  for (guint i = 0; i < search->outer; i++) {
    searcher.share = share_of (progress, progress_data, i + 1, search->outer + 1);
    if (!make_outer (&searcher, i, &scores[i], made.times_chosen, error))
      return FALSE;
  }
  predict_spread_scores (scores, search->outer, made.outer);
  *result = made;
  made = (PredictSearchResult){ 0 };
  return TRUE;
}

void
predict_search_result_clear (PredictSearchResult *result)
{
  g_clear_pointer (&result->tried, g_array_unref);
  g_clear_pointer (&result->times_chosen, g_free);
}
