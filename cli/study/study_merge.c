/* study_merge.c - `hopcast study merge`: brings the stores of shards together.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cli/parse.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/terminal.h"
#include "study/store/store.h"
#include "base/words.h"

#include <string.h>

static gboolean
merge (const char *path, char *const *shards, gboolean is_quiet, GError **error)
{
  g_autoptr (StudyStore) store = study_store_open (path, STUDY_STORE_CREATE, error);
  g_autoptr (GPtrArray) rows = NULL;
  g_autofree char *runs = NULL;
  guint n_runs = 0;

  if (!store)
    return FALSE;
  for (char *const *shard = shards; *shard; shard++)
    if (!study_store_merge (store, *shard, error))
      return FALSE;
  rows = study_store_rows (store, FALSE, error);
  if (!rows || !study_store_plan_size (store, &n_runs, error))
    return FALSE;
  runs = base_count (n_runs, "run");
  if (!is_quiet)
    cli_printf (stderr, "hopcast: %s: %u of %s\n", path, rows->len, runs);
  return TRUE;
}

/* STORE and at least one SHARD are what is left of the command line. */
int
cli_study_merge (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "STORE", "SHARD", NULL };
  CliTalkOptions talk = { 0 };
  g_autoptr (GOptionContext) context =
      cli_context_new ("STORE SHARD...", "Adds the runs of other stores to a store, which is made "
                                         "if it is not there.");
  int first = 1;

  cli_add_quiet_option (context, &talk);
  if (!cli_parse_options (context, names, &argc, &argv, error))
    return CLI_FAILED;
  if (first < argc && !strcmp (argv[first], "--"))
    first++;
  if (argc - first < 2) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "%s is missing",
                 argc - first < 1 ? "STORE" : "SHARD");
    return CLI_FAILED;
  }
  return merge (argv[first], argv + first + 1, talk.quiet, error) ? CLI_DONE : CLI_FAILED;
}
