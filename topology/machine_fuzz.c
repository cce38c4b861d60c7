/* machine_fuzz.c - any bytes as a machine file.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is read is printed, and that must read back as the same machine. */
#include ".ci/fuzzing.h"
#include "topology/machine.h"

#include <string.h>

static const char *const texts[] = {
  "[machine]\nspec = bgq:32\nranks_per_node = 16\n\n[link]\nhop_latency = 40ns\n",
  "[machine]\nspec = torus:4x3x2m\n# a remark\n[fifo]\n",
  "[machine]\nspec = fattree:4x2:2\nroutes = ftree\nnode = sandybridge\nranks_per_node = 4\n"
  "cores = 0,4,2,6\n",
  "[machine]\nspec = systemg:16\ncores = scatter\nnode = harpertown\n",
  "[machine]\nspec = fattree:2x1:1\nnode = rome\nthreads = 1\n[memory]\nuse_hbm = true\n",
  "[machine]\nspec = fabric:input\n",
  "[machine]\nspec = edr:4\n[mpi]\nsharp = on\n[sharp]\npayload = 256 B\n",
  "[machine]\nspec = fattree:2x2:2\nfailed = leaf0:3; node3\ndegraded = leaf1:3 1x\n",
  NULL,
};

static const char *const words[] = {
  "[machine]", "spec = ",     "ranks_per_node = ",
  "cores = ",  "node = ",     "threads = ",
  "routes = ", "bgq:",        "torus:",
  "fattree:",  "systemg:",    "fabric:",
  "stampede",  "minhop",      "input",
  "failed = ", "degraded = ", "leaf0:3",
  "ns\\x0a",   "GB/s",        "18446744073709551616",
  NULL,
};

/* The groups and keys of the parameters, as machines print them. */
static void
seed (FuzzSeeds *seeds)
{
  static const char *const specs[] = { "bgq:32", "systemg:4", "torus:3x3", NULL };

  fuzz_add_texts (seeds, texts);
  fuzz_add_words (seeds, words);
  for (guint at = 0; specs[at] != NULL; at++) {
    g_autoptr (TopoMachine) machine = topo_machine_new (specs[at], NULL);
    g_autofree char *text = topo_machine_print (machine);

    fuzz_add_text (seeds, text);
  }
}

static void
check (const uint8_t *data, size_t size)
{
  const char *path = fuzz_file (data, size);
  g_autofree char *text = NULL, *again_text = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine = NULL, again = NULL;

  machine = topo_machine_new (path, &error);
  g_assert_true ((machine == NULL) == (error != NULL));
  if (machine == NULL) {
    g_assert_true (error->domain == TOPO_ERROR && strchr (error->message, '\n') == NULL);
    return;
  }
  text = topo_machine_print (machine);
  again = topo_machine_new (fuzz_file ((const uint8_t *) text, strlen (text)), &error);
  g_assert_no_error (error);
  again_text = topo_machine_print (again);
  g_assert_cmpstr (again_text, ==, text);
}

const FuzzProgram fuzz_program = { NULL, seed, check };
