/* counters_fuzz.c - any bytes as the output of a counter tool.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/counters.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

static char *path; /* of the input, as a file */

static const char *const seeds[] = {
  "# started\n100,,cycles:u,5,100.00,,\n150,,instructions:u,5,100.00,1.5,insn per cycle\n"
  "<not counted>,,cpu/a,b=1/u,0,0.00,,\n",
  "     0.1,CPU0,100,,cycles,5.0%,1,100\n     0.1,CPU0,90,,instructions,5.0%,1,100\n,,,,,,1,%\n",
  "TABLE,Region a,Group 1 Raw,L2,3,\nEvent,Counter,HWThread 0,HWThread 1\nRuntime,TSC,1,2\n"
  "INSTR_RETIRED_ANY,FIXC0,5,6\nCPU_CLK_UNHALTED_CORE,FIXC1,7,8\nL2,PMC0,-,9\nMetric,HWThread 0\n",
};

static const char words[] =
    "\"cycles:u\"\n\"instructions\"\n\"<not counted>\"\n\"<not supported>\"\n\"TABLE,\"\n\"Event,Counter\"\n"
    "\"HWThread 0\"\n\"INSTR_RETIRED_ANY\"\n\"CPU_CLK_UNHALTED_CORE\"\n\"Region\"\n\"1e308\"\n";

static void
write_seeds (const char *folder)
{
  g_autofree char *dictionary = g_strconcat (folder, ".dict", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (seeds); i++) {
    g_autofree char *seed = g_strdup_printf ("%s/seed-%02u", folder, i);

    g_assert_true (g_file_set_contents (seed, seeds[i], -1, NULL));
  }
  g_assert_true (g_file_set_contents (dictionary, words, -1, NULL));
}

static void
remove_input (void)
{
  g_unlink (path);
}

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  const char *folder = g_getenv ("FUZZ_SEEDS");

  (void) argc, (void) argv;
  if (folder != NULL) {
    write_seeds (folder);
    exit (0);
  }
  g_close (g_file_open_tmp ("counters-fuzz-XXXXXX", &path, NULL), NULL);
  atexit (remove_input);
  return 0;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  const PredictCounterOptions options = { NULL, NULL, NULL };
  g_autoptr (GPtrArray) tasks = g_ptr_array_new_with_free_func ((GDestroyNotify) predict_task_free);
  g_autoptr (GPtrArray) notes = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  FILE *file = g_fopen (path, "wb");

  g_assert_true (file != NULL && fwrite (data, 1, size, file) == size && fclose (file) == 0);
  g_assert_true (predict_counters_read (path, &options, tasks, notes, &error) == (error == NULL));
  for (guint i = 0; error == NULL && i < tasks->len; i++) {
    const PredictTask *task = g_ptr_array_index (tasks, i);

    g_assert_true (task->ipc >= 0);
    for (guint k = 0; k < task->rates->len; k++)
      g_assert_true (g_array_index (task->rates, PredictRate, k).rate >= 0);
  }
  return 0;
}
