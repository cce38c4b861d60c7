/* scotch_test.c - Scotch as a library: every kind of machine, quietly, always the
 * same, and as good as its own program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/search/scotch.h"
#include "study/search/search_fixture.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

/* Every shape that Scotch is told in a way of its own.  A grid at random has more than
 * three times the hops of one that fits. */
static void
test_machines (void)
{
  static const struct {
    const char *spec;
    uint32_t per_node, rows, columns;
  } cases[] = {
    { "torus:4x16", 1, 8, 8 },
    { "torus:2x4x8", 1, 8, 8 },
    { "bgq:32", 2, 8, 8 },
    { "torus:2x2x2x2x2x2", 1, 8, 8 },
    { "torus:4mx16m", 1, 8, 8 },
    { "torus:16m", 4, 8, 8 },
    { "torus:4x4mx4", 1, 8, 8 },
    { "torus:2mx2mx4mx4m", 1, 8, 8 },
    { "torus:3x1x3x3x3x3", 1, 9, 27 },
    { "fattree:8x8", 1, 8, 8 },
    { "fattree3:8", 1, 8, 16 },
    { "systemg:20", 4, 8, 10 },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Fixture) fixture = fixture_new (cases[i].spec, cases[i].per_node,
                                            fixture_grid (cases[i].rows, cases[i].columns));
    g_autoptr (GError) error = NULL;
    g_autofree uint32_t *shuffled = fixture_shuffled (&fixture, 1);
    g_autofree uint32_t *slot = study_scotch_map (&fixture.problem, fixture.machine, 1, &error);
    g_autofree uint32_t *again = study_scotch_map (&fixture.problem, fixture.machine, 1, NULL);
    gsize size = fixture.graph->n_ranks * sizeof *slot;

    g_assert_no_error (error);
    fixture_check (&fixture, slot);
    g_test_message ("%s: %.2f", cases[i].spec,
                    (double) study_hop_bytes (&fixture.problem, slot) /
                        (double) study_hop_bytes (&fixture.problem, shuffled));
    g_assert_cmpint (memcmp (slot, again, size), ==, 0);
    g_assert_cmpint (study_hop_bytes (&fixture.problem, slot), <,
                     study_hop_bytes (&fixture.problem, shuffled) * 9 / 10);
  }
}

/* Dimensions of different sizes: were they told in the wrong order, ways would have twice
 * as many hops. */
static void
test_order_of_dimensions (void)
{
  g_auto (Fixture) fixture = fixture_new ("torus:4x32", 1, fixture_grid (4, 32));
  g_autofree uint32_t *slot = study_scotch_map (&fixture.problem, fixture.machine, 0, NULL);

  g_assert_nonnull (slot);
  g_assert_cmpint (study_hop_bytes (&fixture.problem, slot), <=, 128 * 4 * 100 * 3 / 2);
}

static void
test_too_large_a_machine_is_refused (void)
{
  g_auto (Fixture) fixture = fixture_new ("torus:4x4x4x4x4x4", 1, fixture_grid (4, 4));
  g_autoptr (GError) error = NULL;

  g_assert_null (study_scotch_map (&fixture.problem, fixture.machine, 0, &error));
  g_assert_nonnull (strstr (error->message, "a torus of these dimensions"));
}

static void
test_silent_ranks (void)
{
  g_auto (Fixture) fixture = fixture_new ("torus:4x4", 1, study_matrix_new (5));
  g_autofree uint32_t *slot = study_scotch_map (&fixture.problem, fixture.machine, 0, NULL);

  g_assert_nonnull (slot);
  fixture_check (&fixture, slot);
}

/* --- Scotch's own program --- */

static void
write_graph (const StudyGraph *graph, const char *path)
{
  FILE *out = g_fopen (path, "w");

  g_assert_nonnull (out);
  fprintf (out, "0\n%u %" G_GUINT64_FORMAT "\n0 010\n", graph->n_ranks,
           graph->first[graph->n_ranks]);
  for (uint32_t rank = 0; rank < graph->n_ranks; rank++) {
    fprintf (out, "%d", (int) (graph->first[rank + 1] - graph->first[rank]));
    for (uint64_t i = graph->first[rank]; i < graph->first[rank + 1]; i++)
      fprintf (out, " %d %u", (int) graph->weight[i], graph->neighbour[i]);
    fprintf (out, "\n");
  }
  fclose (out);
}

/* Nodes as scotch_gmap has them on a torus whose sizes read the same both ways. */
static uint32_t *
gmap (const StudyGraph *graph, const char *target)
{
  g_autofree char *folder = g_dir_make_tmp ("hopcast-scotch-XXXXXX", NULL);
  g_autofree char *source = g_build_filename (folder, "graph.grf", NULL);
  g_autofree char *machine = g_build_filename (folder, "machine.tgt", NULL);
  g_autofree char *result = g_build_filename (folder, "result.map", NULL);
  const char *argv[] = { "scotch_gmap", source, machine, result, NULL };
  g_autofree char *text = NULL;
  uint32_t *node = g_new (uint32_t, graph->n_ranks);
  char *at;

  write_graph (graph, source);
  g_assert_true (g_file_set_contents (machine, target, -1, NULL));
  g_assert_true (g_spawn_sync (NULL, (char **) argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                               NULL, NULL, NULL));
  g_assert_true (g_file_get_contents (result, &text, NULL, NULL));
  g_assert_cmpuint (strtoul (text, &at, 10), ==, graph->n_ranks);
  for (uint32_t i = 0; i < graph->n_ranks; i++) {
    uint32_t rank = (uint32_t) strtoul (at, &at, 10);

    node[rank] = (uint32_t) strtoul (at, &at, 10);
  }
  g_unlink (source);
  g_unlink (machine);
  g_unlink (result);
  g_rmdir (folder);
  return node;
}

/* The library and the program have other streams of random numbers: a tenth apart. */
static void
test_as_good_as_the_program (void)
{
  g_auto (Fixture) fixture = fixture_new ("torus:4x8x4", 1, fixture_grid (16, 8));
  g_autofree char *program = g_find_program_in_path ("scotch_gmap");
  g_autofree uint32_t *node = NULL, *theirs = NULL, *slot = NULL;

  if (!program) {
    g_test_skip ("no scotch_gmap");
    return;
  }
  node = gmap (fixture.graph, "torusXD 3 4 8 4\n");
  theirs = study_placement_repair (&fixture.problem, node);
  slot = study_scotch_map (&fixture.problem, fixture.machine, 0, NULL);
  g_assert_cmpint (study_hop_bytes (&fixture.problem, slot), <=,
                   study_hop_bytes (&fixture.problem, theirs) * 11 / 10);
}

static void
test_refused_without_scotch (void)
{
  g_auto (Fixture) fixture = fixture_new ("torus:4x4", 1, fixture_grid (4, 4));
  g_autoptr (GError) error = NULL;

  g_assert_null (study_scotch_map (&fixture.problem, fixture.machine, 0, &error));
  g_assert_nonnull (strstr (error->message, "built without Scotch"));
}

int
main (int argc, char **argv)
{
#ifdef HAVE_SCOTCH
  const gboolean is_built_in = TRUE;
#else
  const gboolean is_built_in = FALSE;
#endif

  g_test_init (&argc, &argv, NULL);
  if (!is_built_in) {
    g_test_add_func ("/study/scotch/refused-without-scotch", test_refused_without_scotch);
    return g_test_run ();
  }
  g_test_add_func ("/study/scotch/machines", test_machines);
  g_test_add_func ("/study/scotch/dimensions", test_order_of_dimensions);
  g_test_add_func ("/study/scotch/too-large", test_too_large_a_machine_is_refused);
  g_test_add_func ("/study/scotch/silent", test_silent_ranks);
  g_test_add_func ("/study/scotch/program", test_as_good_as_the_program);
  return g_test_run ();
}
