/* rank_fixture.c - a small store, and the output of `hopcast rank` for it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/rank_fixture.h"

#include "cli/command.h"
#include "study/inputs.h"
#include "study/store/store_fixture.h"

#include <stdio.h>
#include <string.h>

#define RANKS 8

static const char *const mappings[] = { "ABT", "BAT", "TAB", "ATB", "TBA" };
/* Of trace a and of trace b. */
static const double times_s[2][G_N_ELEMENTS (mappings)] = { { 4, 2, 3, 2.01, 8 },
                                                            { 5, 5.01, 6, 7, 10 } };

static void
put_row (StudyStore *store, GPtrArray *rows, TopoMachine *machine, guint trace, guint number)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMapping) mapping = study_mapping_new (mappings[number], machine, RANKS, &error);
  StudyRow *row = fixture_row (trace * 10 + number);

  g_assert_no_error (error);
  g_free (row->trace);
  row->trace = g_strdup (trace == 0 ? "a.hct" : "b,\"b\".hct");
  g_free (row->machine);
  row->machine = g_strdup ("torus:4x2");
  g_free (row->machine_hash);
  row->machine_hash = study_machine_hash (machine);
  g_free (row->mapping);
  row->mapping = g_strdup (mappings[number]);
  g_free (row->mapping_hash);
  row->mapping_hash = study_mapping_hash (mapping);
  row->nodes = topo_shape_nodes (&machine->shape);
  row->time_s = times_s[trace][number];
  row->features[SIM_FEATURE_MAX_BYTES] = 100 - number;
  fixture_put_places (store, row->mapping_hash, mapping);
  g_ptr_array_add (rows, row);
}

static void
row_free (gpointer row)
{
  study_row_free (row);
}

/* The store without its last n_missing runs. */
static void
make_store (const char *path, guint n_missing)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (StudyStore) store = fixture_open (path, STUDY_STORE_CREATE);
  g_autoptr (TopoMachine) machine = topo_machine_new ("torus:4x2", &error);
  g_autofree char *text = topo_machine_print (machine), *hash = study_machine_hash (machine);
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (row_free);

  study_store_put_machine (store, hash, text, &error);
  g_assert_no_error (error);
  for (guint trace = 0; trace < 2; trace++)
    for (guint number = 0; number < G_N_ELEMENTS (mappings); number++)
      put_row (store, rows, machine, trace, number);
  study_store_set_plan (store, "little", "[study]\n", (StudyRow *const *) rows->pdata, rows->len,
                        &error);
  g_assert_no_error (error);
  fixture_put (store, (StudyRow *const *) rows->pdata, rows->len - n_missing, &error);
  g_assert_no_error (error);
}

char *
rank_fixture_run (const RankFiles *files, const char *arguments)
{
  g_autofree char *path = g_strconcat (files->store, ".out", NULL);
  g_auto (GStrv) words = g_strsplit (arguments, " ", -1);
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  FILE *out = stdout;
  char *text = NULL;

  g_ptr_array_add (argv, (gpointer) "rank");
  for (guint i = 0; words[i] != NULL; i++)
    g_ptr_array_add (argv, strcmp (words[i], "STORE") == 0   ? files->store
                           : strcmp (words[i], "MAP") == 0   ? files->map
                           : strcmp (words[i], "MODEL") == 0 ? files->model
                                                             : words[i]);
  fflush (stdout);
  stdout = fopen (path, "w");
  g_assert_nonnull (stdout);
  cli_rank ((int) argv->len, (char **) argv->pdata, &error);
  fclose (stdout);
  stdout = out;
  if (error != NULL)
    return g_strdup (error->message);
  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  return text;
}

void
rank_fixture_assert (const RankFiles *files, const char *arguments, const char *expected)
{
  g_autofree char *text = rank_fixture_run (files, arguments);

  if (strstr (text, expected) == NULL)
    g_error ("%s: \"%s\", expected \"%s\"", arguments, text, expected);
}

RankFiles
rank_fixture_new (guint n_missing)
{
  RankFiles files = { .folder = fixture_folder () };

  files.store = g_build_filename (files.folder, "little.store", NULL);
  files.map = g_build_filename (files.folder, "best.map", NULL);
  files.model = g_build_filename (files.folder, "model.json", NULL);
  make_store (files.store, n_missing);
  return files;
}

void
rank_fixture_clear (RankFiles *files)
{
  g_free (files->store);
  g_free (files->map);
  g_free (files->model);
  fixture_remove (files->folder);
}
