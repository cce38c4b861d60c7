/* study_merge.c - `hopcast study merge`: merges the stores of shards.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/parse.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/print/terminal.h"
#include "study/store/store.h"
#include "base/words.h"

#include <string.h>

int
cli_study_merge (int argc, char **argv, GError **error)
{
  static const char *const names[] = { "STORE", "SHARD", NULL };
  CliTalkOptions talk = { 0 };
  g_autoptr (GOptionContext) context =
      cli_context_new ("STORE SHARD...", "Adds the runs of other stores to a store, which is made "
                                         "if it is not there.");
  g_autoptr (StudyStore) store = NULL;
  g_autoptr (GPtrArray) rows = NULL;
  g_autofree char *runs = NULL;
  guint n_runs = 0;
  int first = 1; /* of the positional arguments: STORE and one SHARD or more */

  cli_add_quiet_option (context, &talk);
  if (!cli_parse_options (context, names, &argc, &argv, error))
    return CLI_FAILED;
  if (first < argc && !strcmp (argv[first], "--"))
    first++;
  if (argc - first < 2) {
    cli_refuse (error, "%s is missing", argc - first < 1 ? "STORE" : "SHARD");
    return CLI_FAILED;
  }
  if (!(store = study_store_open (argv[first], STUDY_STORE_CREATE, error)))
    return CLI_FAILED;
  for (int at = first + 1; at < argc; at++)
    if (!study_store_merge (store, argv[at], error))
      return CLI_FAILED;
  if (!(rows = study_store_rows (store, FALSE, error)) ||
      !study_store_plan_size (store, &n_runs, error))
    return CLI_FAILED;
  runs = base_count (n_runs, "run");
  if (!talk.quiet)
    cli_printf (stderr, "hopcast: %s: %u of %s\n", argv[first], rows->len, runs);
  return CLI_DONE;
}
