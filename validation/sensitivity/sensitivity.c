/* sensitivity.c - whether intervals and rankings of a few replicas hold for many.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * From finished studies with 24 replicas (intervals.study and ranking.study): what `simulate
 * --replicas 4` and `rank` would have said with the first four is compared with the means of the
 * other twenty. */
#include "study/ranking.h"
#include "study/replicas.h"
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

static bool
measure_figure (gpointer state, const ValidationPublished *published, double *simulated,
                GError **error)
{
  Sensitivity *it = state;
  const char *column = g_str_has_suffix (published->name, "_mean_end") ? "mean_end" : "time";
  bool is_ranking = g_str_has_prefix (published->name, "ranking");
  Tally tally;

  if (!read_rows (it, error) || !compare (it, column, is_ranking, &tally, error))
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
