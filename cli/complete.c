/* complete.c - the shell's completion: the words that may stand at a place of the command line.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The commands are those of the program's table, the options those of the command's own context
 * (cli_parse_hook), and the values those that the command checks against. */
#include "cli/complete.h"

#include "cli/parse.h"
#include "predictors/correction/loss.h"
#include "predictors/model/method.h"
#include "predictors/scoring/scores.h"
#include "study/plan/plan.h"
#include "topology/launcher/launcher.h"
#include "topology/recipe/recipe.h"
#include "traces/patterns/pattern.h"
#include "traces/writer.h"

#include <stdio.h>
#include <string.h>

static const char *const formats[] = { "table", "csv", "json", NULL };
static const char *const forms[] = { "csv", "json", "jsonl", "npz", NULL };
static const char *const contents[] = { "runs", "links", "ranks", "placements", NULL };
static const char *const core_orders[] = { "compact", "scatter", "os", NULL };
static const char *const mpis[] = { "openmpi", "mpich", NULL };
static const char *const objectives[] = { "hop-bytes", "max-bytes", "both", NULL };
static const char *const rules[] = { "half", "paper", NULL };
static const char *const normalizations[] = { "none", "set", NULL };
static const char *const importances[] = { "none", "impurity", "permutation", NULL };
static const char *const validations[] = { "splits:", "folds:", "none", NULL };
static const char *const modes[] = { "best", "paper", NULL };
static const char *const computations[] = { "unchanged", "ipc", "node", NULL };
static const char *const bases[] = { "simulation", "bound", NULL };
static const char *const fits[] = { "ridge", "least-squares", NULL };
static const char *const nears[] = { "phase", "run", "none", NULL };
static const char *const group_methods[] = { "kl", "paper", "scotch", NULL };
static const char *const costs[] = { "mended", "literal", NULL };
static const char *const suites[] = { "all",     "bgq",         "infiniband",  "aggregation",
                                      "simgrid", "modern",      "modern-full", "evh1",
                                      "sc13",    "sensitivity", "shrink",      NULL };
static const char *const timed_networks[] = { "packet", "flow", NULL };
static const char *const races[] = { "best", "top:", NULL };
static const char *const shrinks[] = { "off", "auto", "auto:screen", "auto:race", NULL };

/* The word to be completed, and the words that begin with it. */
static const char *partial;
static GPtrArray *found;
/* The command whose options are completed. */
static const char *command_name;

static void
add (const char *word)
{
  if (g_str_has_prefix (word, partial))
    g_ptr_array_add (found, g_strdup (word));
}

static void
add_all (const char *const *words)
{
  for (; *words != NULL; words++)
    add (*words);
}

/* suffixes: such as ".csv .gz", "": any file. */
static void
add_files (const char *suffixes)
{
  g_ptr_array_add (found, g_strconcat (":files", *suffixes != '\0' ? " " : "", suffixes, NULL));
}

/* --- Values --- */

static void
add_machines (void)
{
  for (const char *const *kind = topo_machine_kinds (); *kind != NULL; kind++) {
    g_autofree char *spec = g_strconcat (*kind, ":", NULL);

    add (spec);
  }
  /* The systems whose size is known. */
  add ("systemg");
  add ("stampede");
  if (g_str_has_prefix (partial, "fabric:"))
    add_files ("");
  else if (strchr (partial, ':') == NULL)
    add_files (".conf");
}

static void
add_mappings (void)
{
  add ("default");
  add_all (topo_recipe_words ());
  for (const TopoLauncher *const *launcher = topo_launchers; *launcher != NULL; launcher++) {
    g_autofree char *kind = g_strconcat ((*launcher)->name, ":", NULL);

    add (kind);
  }
  add_files ("");
}

static void
add_families (void)
{
  for (const TopoRecipeFamily *family = topo_recipe_families; family->name != NULL; family++)
    add (family->name);
}

static void
add_launchers (void)
{
  for (const TopoLauncher *const *launcher = topo_launchers; *launcher != NULL; launcher++)
    add ((*launcher)->name);
}

static void
add_trace_formats (void)
{
  for (const TraceWriter *const *writer = trace_writers (); *writer != NULL; writer++)
    add ((*writer)->name);
}

static void
add_run_columns (void)
{
  for (guint column = 0; column < study_row_n_columns (TRUE); column++)
    if (study_row_column_is_number (column))
      add (study_row_column_name (column));
}

/* The first row that fits counts.  command: the beginning of its name, "" of all. */
static const struct {
  const char *option, *command;
  const char *const *words;
  void (*more) (void);
} values[] = {
  { "--format", "study export", forms, NULL },
  { "--format", "", formats, NULL },
  { "--what", "", contents, NULL },
  { "--machine", "", NULL, add_machines },
  { "--network", "advise", timed_networks, NULL },
  { "--network", "", study_network_names, NULL },
  { "--routing", "", study_routing_names, NULL },
  { "--cores", "", core_orders, NULL },
  { "--mapping", "", NULL, add_mappings },
  { "--start", "", NULL, add_mappings },
  { "--family", "", NULL, add_families },
  { "--to", "trace", NULL, add_trace_formats },
  { "--to", "", NULL, add_launchers },
  { "--mpi", "", mpis, NULL },
  { "--objective", "", objectives, NULL },
  { "--by", "rank", NULL, add_run_columns },
  { "--by", "aggregate", bases, NULL },
  { "--computation", "", computations, NULL },
  { "--fit", "", fits, NULL },
  { "--near", "", nears, NULL },
  { "--shrink", "", shrinks, NULL },
  { "--method", "train", predict_method_names, NULL },
  { "--method", "aggregate group", group_methods, NULL },
  { "--cost", "", costs, NULL },
  { "--score", "", predict_score_names, NULL },
  { "--importances", "", importances, NULL },
  { "--normalize", "", normalizations, NULL },
  { "--validate", "", validations, NULL },
  { "--race", "", races, NULL },
  { "--rcc", "", rules, NULL },
  { "--mode", "", modes, NULL },
  { "--loss", "", predict_loss_names, NULL },
};

/* Placeholders of the help that stand for a path, with the endings that it may have. */
static const struct {
  const char *placeholder, *suffixes;
} paths[] = {
  { "FILE", "" },
  { "MAPFILE", "" },
  { "MEASURED", "" },
  { "STORE", ".store" },
  { "SHARD", ".store" },
  { "STUDY", ".study" },
  { "STORE|STUDY", ".store .study" },
  { "STORE|STUDY|LINKS.csv", ".store .study .csv .gz" },
  { "MODEL", ".json .model" },
  { "MODEL.json", ".json" },
  { "TABLE", ".csv .gz" },
  { "TABLE.csv", ".csv .gz" },
  { "RUNS.csv", ".csv .gz" },
  { "TABLE.csv|STORE", ".csv .gz .store" },
  { "[TRAIN]", ".csv .gz" },
  { "TRACE", "" },
  { "FILE.xml", ".xml" },
  { "PAGE.html", ".html" },
  { "MATRIX", "" },
  { "FOLDER", "" },
  { "PROGRAM", "" },
  { "PREFIX", "" },
};

static void
add_paths (const char *placeholder)
{
  for (gsize at = 0; at < G_N_ELEMENTS (paths); at++)
    if (strcmp (paths[at].placeholder, placeholder) == 0)
      add_files (paths[at].suffixes);
}

static void
add_values (const CliOption *option)
{
  for (gsize at = 0; at < G_N_ELEMENTS (values); at++) {
    if (strcmp (values[at].option, option->name) != 0 ||
        !g_str_has_prefix (command_name, values[at].command))
      continue;
    if (values[at].words != NULL)
      add_all (values[at].words);
    else
      values[at].more ();
    return;
  }
  add_paths (option->argument);
}

/* --- Places --- */

static void
complete_command (GOptionContext *context, const char *const *names, int argc, char **argv)
{
  g_autoptr (GPtrArray) options = cli_options_of (context);
  const CliOption *before = argc > 1 ? cli_option_find (options, argv[argc - 1]) : NULL;
  const char *equals = strchr (partial, '='), *name;
  guint n_given = 0, n = 0;

  if (before != NULL && before->argument != NULL) {
    add_values (before);
    return;
  }
  /* "--format=js": the candidates keep the option before them. */
  if (*partial == '-' && equals != NULL) {
    g_autofree char *typed = g_strndup (partial, (gsize) (equals - partial));
    const CliOption *option = cli_option_find (options, typed);
    guint first = found->len;

    if (option == NULL || option->argument == NULL)
      return;
    partial = equals + 1;
    add_values (option);
    for (guint at = first; at < found->len; at++) {
      char *word = found->pdata[at];

      if (g_str_has_prefix (word, ":files"))
        continue;
      found->pdata[at] = g_strconcat (typed, "=", word, NULL);
      g_free (word);
    }
    return;
  }
  if (*partial == '-') {
    for (guint at = 0; at < options->len; at++)
      add (((CliOption *) options->pdata[at])->name);
    return;
  }
  if (names == NULL) {
    add_files ("");
    return;
  }

  /* A positional argument: count those before it. */
  for (int at = 1; at < argc; at++) {
    const CliOption *option = argv[at][0] == '-' ? cli_option_find (options, argv[at]) : NULL;

    if (option != NULL && option->argument != NULL)
      at++;
    n_given += argv[at < argc ? at : argc - 1][0] != '-' && option == NULL;
  }
  while (names[n] != NULL)
    n++;
  /* Several files may stand in the place of the last argument of some commands. */
  if (n == 0 || (n_given >= n && strcmp (names[n - 1], "SHARD") != 0 &&
                 strcmp (names[n - 1], "MEASURED") != 0))
    return;
  name = names[MIN (n_given, n - 1)];
  if (strcmp (name, "TRACE") == 0 || strcmp (name, "MATRIX|TRACE") == 0) {
    gboolean is_pattern = g_str_has_prefix (partial, "gen:");

    for (const TracePattern *const *pattern = trace_patterns (); *pattern != NULL; pattern++) {
      g_autofree char *spec = g_strconcat ("gen:", (*pattern)->name, ":", NULL);

      if (is_pattern)
        add (spec);
    }
    if (!is_pattern) {
      add ("gen:");
      add_files ("");
    }
  } else if (strcmp (name, "SPEC") == 0)
    add_machines ();
  else if (strcmp (name, "M") == 0)
    add_mappings ();
  else if (strcmp (name, "KIND") == 0)
    for (const TracePattern *const *pattern = trace_patterns (); *pattern != NULL; pattern++)
      add ((*pattern)->name);
  else if (strcmp (name, "SUITE") == 0)
    add_all (suites);
  else
    add_paths (name);
}

/* The first words of the commands, or the second words of those that begin with `first`. */
static void
complete_name (const CliCommand *commands, gsize n, const char *first)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (gsize at = 0; at < n; at++) {
    g_auto (GStrv) words = g_strsplit (commands[at].name, " ", 2);
    const char *word = first == NULL ? words[0] : strcmp (words[0], first) == 0 ? words[1] : NULL;

    if (word != NULL && g_hash_table_add (seen, g_strdup (word)))
      add (word);
  }
}

void
cli_complete (const CliCommand *commands, gsize n, int argc, char **argv)
{
  int n_words = MAX (argc - 1, 0), n_name = 0;
  const CliCommand *command = NULL;

  partial = argc > 0 ? argv[argc - 1] : "";
  found = g_ptr_array_new_with_free_func (g_free);
  if (n_words > 0 && strcmp (argv[0], "help") == 0) {
    if (n_words <= 2)
      complete_name (commands, n, n_words == 2 ? argv[1] : NULL);
  } else if (n_words == 0) {
    complete_name (commands, n, NULL);
    add_all ((const char *const[]){ "help", "--help", "--version", NULL });
  } else if (n_words == 1) {
    complete_name (commands, n, argv[0]);
  }
  /* A name of two words goes before its first word. */
  for (n_name = MIN (n_words, 2); n_name > 0 && command == NULL; n_name -= command == NULL) {
    g_autofree char *name =
        n_name == 2 ? g_strjoin (" ", argv[0], argv[1], NULL) : g_strdup (argv[0]);

    for (gsize at = 0; at < n && command == NULL; at++)
      if (strcmp (commands[at].name, name) == 0)
        command = &commands[at];
  }
  if (command != NULL) {
    g_autoptr (GError) ignored = NULL;
    g_autofree char **words = g_new0 (char *, (gsize) (n_words - n_name) + 2);

    for (int at = 0; at <= n_words - n_name; at++)
      words[at] = argv[n_name - 1 + at];
    command_name = command->name;
    cli_parse_hook = complete_command;
    command->run (n_words - n_name + 1, words, &ignored);
  }
  for (guint at = 0; at < found->len; at++)
    puts (found->pdata[at]);
  g_ptr_array_unref (found);
}
