/* plan_fuzz.c - any bytes as a study file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is read must be of use: texts that are there, and for small studies of small traces and
 * machines every run with its row. */
#include ".ci/fuzzing.h"
#include "study/plan/plan.h"

#include <string.h>

#define MAX_RUNS 200

static const char *const safe_traces[] = { "gen:halo2d:ranks=16,bytes=64,iterations=1",
                                           "gen:ring:ranks=8,bytes=1", NULL };
static const char *const safe_machines[] = { "torus:4x4", "bgq:32", "fattree:4x4:2", NULL };

static const char *const words[] = {
  "[study]\\x0a",
  "[traces]\\x0a",
  "[machines]\\x0a",
  "[mappings]\\x0a",
  "[runs]\\x0a",
  "trace = ",
  "machine = ",
  "mapping = ",
  "network = load",
  "repetitions = 3",
  "values = 1;2",
  "{seed}",
  "family = sc13-shared",
  "skip-unfit = true",
  "set = ",
  "compute-scale = 0;1",
  "pattern = 1;2",
  "cores = ",
  "random({seed})",
  "ranks-per-node = 1;2",
  "routing = zone0",
  "trace-ranks = ",
  "failures = cables 1x every 2",
  "failures = leaf*; nodes sample 2 seed 1",
  NULL,
};

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_text (seeds, "[traces]\ntrace = gen:halo2d:ranks=16,bytes={b},iterations=1\n"
                        "[machines]\nmachine = torus:4x4;bgq:32\nranks-per-node = 1;2\n"
                        "[mappings]\nmapping = default;BAT;random({seed});ABCDET\n"
                        "[runs]\nnetwork = packet;load\nrepetitions = 2\nkeep-links = true\n"
                        "[b]\nvalues = 64;128\n");
  fuzz_add_text (seeds,
                 "[study]\nname = s\nstore = x.store\n[traces]\n"
                 "trace = gen:ring:ranks=8,bytes=1\ncompute-scale = 0;1;2.5\n"
                 "[machines]\nmachine = fattree:4x4:2\npattern = 1;2\n"
                 "set = link.bandwidth=1GB/s\n[mappings]\nfamily = sc13-shared\nskip-unfit = true\n"
                 "[runs]\nrouting = default;deterministic\nseed = 7\n");
  fuzz_add_text (seeds,
                 "[traces]\ntrace = gen:ring:ranks=8,bytes=1\n[machines]\nmachine = fattree:4x4:2\n"
                 "failures = cables every 4; spine*; leaf0:5 1x; nodes sample 2 seed 1\n"
                 "[runs]\nnetwork = load\n");
  fuzz_add_words (seeds, words);
}

/* Neither large nor a file. */
static gboolean
is_small (const StudyPlan *plan)
{
  for (guint at = 0; at < plan->traces->len; at++)
    if (!g_strv_contains (safe_traces,
                          ((const StudyTrace *) g_ptr_array_index (plan->traces, at))->path))
      return FALSE;
  for (guint at = 0; at < plan->machines->len; at++)
    if (!g_strv_contains (safe_machines,
                          ((const StudyMachine *) g_ptr_array_index (plan->machines, at))->spec))
      return FALSE;
  /* Each machine has dozens of parts that may be out. */
  if (strstr (plan->text, "failures") != NULL && plan->machines->len > 2)
    return FALSE;
  return plan->traces->len * plan->machines->len <= MAX_RUNS && strchr (plan->text, '/') == NULL &&
         strstr (plan->text, "repetitions") == NULL;
}

static void
check (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyPlan) plan = study_plan_load (fuzz_file (data, size), &error);

  g_assert_true ((plan == NULL) == (error != NULL));
  if (plan == NULL)
    return;
  g_assert_cmpuint (plan->traces->len, >, 0);
  g_assert_cmpuint (plan->machines->len, >, 0);
  g_assert_nonnull (plan->name);
  g_assert_nonnull (plan->store_path);
  if (!is_small (plan))
    return;
  g_assert_true (study_plan_resolve (plan, NULL, NULL, &error) == (error == NULL));
  for (guint run = 0; run < plan->runs->len; run++) {
    g_autoptr (StudyRow) row = study_plan_row (plan, run);

    g_assert_nonnull (row->key);
    g_assert_nonnull (row->mapping);
  }
}

const FuzzProgram fuzz_program = { NULL, seed, check };
