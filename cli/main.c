/* main.c - the program: finds the command, runs it, prints its error.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"
#include "cli/command.h"
#include "cli/complete.h"
#include "cli/print/outfile.h"
#include "cli/print/terminal.h"

#include <stdio.h>
#include <string.h>

/* In the order in which `hopcast --help` lists them. */
static const CliCommand commands[] = {
  { "simulate", "replay a trace on a machine: time, waits, congestion", cli_simulate },
  { "trace info", "what a trace contains, and what it lacks", cli_trace_info },
  { "trace matrix", "who sent how much to whom, as CSV", cli_trace_matrix },
  { "trace convert", "write a trace in another format", cli_trace_convert },
  { "trace generate", "make a trace of a communication pattern", cli_trace_generate },
  { "trace record", "run an MPI program and record what it sends", cli_trace_record },
  { "machine show", "the complete machine file of a spec", cli_machine_show },
  { "machine check", "routes of all pairs: hops, link load, loops", cli_machine_check },
  { "machine links", "every link of a machine, as CSV", cli_machine_links },
  { "machine test", "what was measured on a machine and its prediction", cli_machine_test },
  { "calibrate", "a machine file from measured messages", cli_calibrate },
  { "map check", "is a mapping sound on a machine?", cli_map_check },
  { "map generate", "write the map file of a mapping", cli_map_generate },
  { "map convert", "write a mapping for a launcher", cli_map_convert },
  { "map metrics", "static congestion metrics of a mapping", cli_map_metrics },
  { "study run", "make the runs that a study file asks for", cli_study_run },
  { "study status", "how far a study is, and what failed", cli_study_status },
  { "study failures", "what each single part that is out costs", cli_study_failures },
  { "study merge", "bring the stores of shards together", cli_study_merge },
  { "study export", "a study's runs as CSV, JSON or NumPy arrays", cli_study_export },
  { "rank", "the mappings of a study, best first; the best one's map file", cli_rank },
  { "score", "how well a column or a model predicts another column", cli_score },
  { "train", "learn to predict a column of a table, or the time of runs", cli_train },
  { "predict", "a table with what a model predicts of its rows", cli_predict },
  { "report", "one page that shows a study, or the links of a run over time", cli_report },
  { "map optimize", "search for a better mapping", cli_map_optimize },
  { "advise", "how to launch a program: mapping, ranks per node, gain, launch line", cli_advise },
  { "correct", "mend a performance model by measured times", cli_correct },
  { "aggregate", "how many ranks should share a node, which, on which cores", cli_aggregate },
  { "aggregate patterns", "which cores of a node a job can use, and how many nodes",
    cli_aggregate_patterns },
  { "aggregate group", "which ranks are to share a node, by what they send", cli_aggregate_group },
  { "aggregate table", "how long messages take among others of their node", cli_aggregate_table },
  { "aggregate bound", "how long ranks communicate at most, by pattern", cli_aggregate_bound },
  { "aggregate counters", "a row of counter rates, from perf, likwid or a trace",
    cli_aggregate_counters },
  { "aggregate train-ipc", "learn what aggregation does to the IPC", cli_aggregate_train_ipc },
  { "aggregate predict-ipc", "the IPC in patterns that were not run", cli_aggregate_predict_ipc },
  { "aggregate memory-share", "what programs ask of memory, from times in two patterns",
    cli_aggregate_memory_share },
  { "validate", "published measurements and their simulation, side by side", cli_validate },
};

static void
print_help (FILE *out, const char *group)
{
  fprintf (out, "Usage: hopcast %s%sCOMMAND [options]\n\nCommands:\n", group ? group : "",
           group ? " " : "");
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    if (!group ||
        (g_str_has_prefix (commands[i].name, group) && commands[i].name[strlen (group)] == ' '))
      fprintf (out, "  %-21s  %s\n", commands[i].name, commands[i].summary);
  fputs ("\n'hopcast help COMMAND' or 'hopcast COMMAND --help' prints the options of a command.\n",
         out);
}

/* The nearest command, or NULL when nothing is near. */
static const char *
did_you_mean (const char *typed)
{
  const char *names[G_N_ELEMENTS (commands) + 1] = { NULL };

  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    names[i] = commands[i].name;
  return base_nearest (typed, names);
}

static gboolean
is_group (const char *word)
{
  for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
    if (g_str_has_prefix (commands[i].name, word) && commands[i].name[strlen (word)] == ' ')
      return TRUE;
  return FALSE;
}

/* The command that argv[1], or argv[1] and argv[2], name; *n_words of them.  Two words go before one:
 * "aggregate" is a command and begins others. */
static const CliCommand *
find_command (int argc, char **argv, int *n_words)
{
  g_autofree char *two = argc > 2 ? g_strjoin (" ", argv[1], argv[2], NULL) : g_strdup ("");

  for (*n_words = 2; *n_words > 0; --*n_words)
    for (gsize i = 0; i < G_N_ELEMENTS (commands); i++)
      if (!strcmp (commands[i].name, *n_words == 2 ? two : argv[1]))
        return &commands[i];
  return NULL;
}

/* Where a file may stand behind a command that also begins others: a word that is no file, but nearly
 * one of theirs. */
static gboolean
is_mistyped (int argc, char **argv)
{
  g_autofree char *two = argc > 2 ? g_strjoin (" ", argv[1], argv[2], NULL) : NULL;
  const char *near = two && *argv[2] != '-' ? did_you_mean (two) : NULL;

  return near && strchr (near, ' ') && is_group (argv[1]) &&
         strspn (argv[2], G_CSET_a_2_z "-") == strlen (argv[2]) &&
         !g_file_test (argv[2], G_FILE_TEST_EXISTS);
}

static int
unknown_command (int argc, char **argv)
{
  gboolean grouped = is_group (argv[1]) && argc > 2;
  g_autofree char *typed = grouped ? g_strjoin (" ", argv[1], argv[2], NULL) : g_strdup (argv[1]);
  const char *near = did_you_mean (typed);

  if (is_group (argv[1]) && argc == 2)
    cli_printf (stderr, "hopcast: '%s' needs one more word; see 'hopcast %s --help'\n", typed,
                typed);
  else if (near)
    cli_printf (stderr, "hopcast: unknown command '%s'; did you mean '%s'?\n", typed, near);
  else
    cli_printf (stderr, "hopcast: unknown command '%s'; see 'hopcast --help'\n", typed);
  return CLI_USAGE;
}

/* What this build can do, a name and a value per line. */
static void
print_version (void)
{
  static const struct {
    const char *name, *value;
  } features[] = {
#ifdef HAVE_OTF2
    { "otf2", "with" },
#else
    { "otf2", "without" },
#endif
#ifdef HAVE_SVM
    { "svm", "with" },
#else
    { "svm", "without" },
#endif
#ifdef HAVE_SCOTCH
    { "scotch", "with" },
#else
    { "scotch", "without" },
#endif
#ifdef HAVE_SIMGRID
    { "simgrid", "with" },
#else
    { "simgrid", "without" },
#endif
    { "mpi", MPI_VERSIONS },
  };

  printf ("hopcast %s\n", PACKAGE_VERSION);
  for (gsize i = 0; i < G_N_ELEMENTS (features); i++)
    printf ("  %-8s %s\n", features[i].name, features[i].value);
}

static gboolean
asks (const char *word, const char *brief, const char *full)
{
  return word && (!strcmp (word, full) || (brief && !strcmp (word, brief)));
}

static int
run_command (const CliCommand *command, int argc, char **argv)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *name = g_strconcat ("hopcast ", command->name, NULL), *message = NULL;
  int status;

  g_set_prgname (name);
  status = command->run (argc, argv, &error);
  if (!error)
    cli_stdout_flush (&error);
  if (!error)
    return status;
  message = cli_shorten (error->message);
  if (g_error_matches (error, CLI_ERROR, CLI_ERROR_USAGE)) {
    cli_printf (stderr, "hopcast: %s%s '%s --help'\n", message,
                g_str_has_suffix (message, "?") ? " See" : "; see", name);
    return CLI_USAGE;
  }
  cli_printf (stderr, "hopcast: %s\n", message);
  return CLI_FAILED;
}

/* Output that could not be written is an error. */
static int
finish_stdout (void)
{
  g_autoptr (GError) error = NULL;

  if (cli_stdout_flush (&error))
    return CLI_DONE;
  cli_printf (stderr, "hopcast: %s\n", error->message);
  return CLI_FAILED;
}

/* `hopcast help [COMMAND [KIND]]`: the help of the program, of a group of commands or of a command. */
static int
help_command (int argc, char **argv)
{
  static char option[] = "--help";
  g_autofree char **words = g_new0 (char *, (gsize) argc + 2);
  int n_words, n = 0;
  const CliCommand *command = argc > 1 ? find_command (argc, argv, &n_words) : NULL;

  if (command != NULL && !(n_words == 1 && is_mistyped (argc, argv))) {
    for (int at = n_words; at < argc; at++)
      words[n++] = argv[at];
    words[n++] = option;
    return run_command (command, n, words);
  }
  if (argc > 2 || (argc == 2 && !is_group (argv[1])))
    return unknown_command (argc, argv);
  print_help (stdout, argv[1]);
  return finish_stdout ();
}

int
cli_main (int argc, char **argv)
{
  const CliCommand *command;
  int n_words;

  cli_locale_set ();
  cli_outfile_handle_signals ();
  if (argc < 2) {
    print_help (stderr, NULL);
    return CLI_USAGE;
  }
  if (asks (argv[1], NULL, "--version")) {
    print_version ();
    return finish_stdout ();
  }
  if (asks (argv[1], "-h", "--help")) {
    print_help (stdout, NULL);
    return finish_stdout ();
  }
  if (asks (argv[1], NULL, "help"))
    return help_command (argc - 1, argv + 1);
  if (asks (argv[1], NULL, "--complete")) {
    cli_complete (commands, G_N_ELEMENTS (commands), argc - 2, argv + 2);
    return finish_stdout ();
  }
  command = find_command (argc, argv, &n_words);
  if (command == NULL && is_group (argv[1]) && asks (argv[2], "-h", "--help")) {
    print_help (stdout, argv[1]);
    return finish_stdout ();
  }
  if (!command || (n_words == 1 && is_mistyped (argc, argv)))
    return unknown_command (argc, argv);
  return run_command (command, argc - n_words, argv + n_words);
}
