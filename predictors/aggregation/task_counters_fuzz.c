/* task_counters_fuzz.c - any bytes as the output of a counter tool.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include ".ci/fuzzing.h"
#include "predictors/aggregation/task_counters.h"

static const char *const texts[] = {
  "# started\n100,,cycles:u,5,100.00,,\n150,,instructions:u,5,100.00,1.5,insn per cycle\n"
  "<not counted>,,cpu/a,b=1/u,0,0.00,,\n",
  "     0.1,CPU0,100,,cycles,5.0%,1,100\n     0.1,CPU0,90,,instructions,5.0%,1,100\n,,,,,,1,%\n",
  "TABLE,Region a,Group 1 Raw,L2,3,\nEvent,Counter,HWThread 0,HWThread 1\nRuntime,TSC,1,2\n"
  "INSTR_RETIRED_ANY,FIXC0,5,6\nCPU_CLK_UNHALTED_CORE,FIXC1,7,8\nL2,PMC0,-,9\nMetric,HWThread 0\n",
  NULL,
};

static const char *const words[] = {
  "cycles:u",      "instructions", "<not counted>",     "<not supported>",       "TABLE,",
  "Event,Counter", "HWThread 0",   "INSTR_RETIRED_ANY", "CPU_CLK_UNHALTED_CORE", "Region",
  "1e308",         NULL,
};

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_texts (seeds, texts);
  fuzz_add_words (seeds, words);
}

static void
check (const uint8_t *data, size_t size)
{
  const PredictCounterOptions options = { NULL, NULL, NULL };
  g_autoptr (GPtrArray) tasks = g_ptr_array_new_with_free_func ((GDestroyNotify) predict_task_free);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  gboolean good = predict_counters_read (fuzz_file (data, size), &options, tasks, notes, &error);

  g_assert_true (good == (error == NULL));
  for (guint i = 0; error == NULL && i < tasks->len; i++) {
    const PredictTask *task = g_ptr_array_index (tasks, i);

    g_assert_true (task->ipc >= 0);
    for (guint k = 0; k < task->rates->len; k++)
      g_assert_true (g_array_index (task->rates, PredictRate, k).rate >= 0);
  }
}

const FuzzProgram fuzz_program = { NULL, seed, check };
