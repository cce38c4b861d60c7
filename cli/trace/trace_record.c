/* trace_record.c - `hopcast trace record`: runs an MPI program and records its MPI calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The MPI decides which recorder is loaded.  One word of the command is the program, and the libraries
 * that it is linked with name the MPI.  If no word is such a program (an interpreter, a script), the
 * version that the launcher prints names it. */
#include "base/file.h"
#include "base/library.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/parse.h"
#include "cli/print/terminal.h"
#include "cli/trace/trace_write.h"
#include "traces/recorder/recording.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  const char *name;
  const char *library;  /* part of the name of its library */
  const char *launcher; /* part of the output of its mpirun --version */
  const char *packages;
} Mpi;

static const Mpi known[] = {
  { "openmpi", "libmpi.so.40", "(Open", "openmpi-bin libopenmpi-dev" },
  { "mpich", "libmpich.so.", "HYDRA", "mpich libmpich-dev" },
};

/* The output of a program; NULL when it cannot be run or fails. */
static char *
output_of (const char *program, const char *argument)
{
  const char *command[] = { program, argument, NULL };
  char *output = NULL;

  if (!g_spawn_sync (NULL, (char **) command, NULL,
                     G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &output, NULL,
                     NULL, NULL))
    return NULL;
  return output;
}

/* The MPI that `command` (NULL-terminated) uses. */
static const Mpi *
find_mpi (char *const *command, GError **error)
{
  /* A program that is linked with an MPI goes before a launcher. */
  for (char *const *word = command; *word; word++) {
    g_autofree char *path = g_find_program_in_path (*word), *libraries = NULL;
    FILE *file = path ? fopen (path, "rb") : NULL;
    char head[4] = "";

    /* ldd runs a file that is no compiled program. */
    if (file && fread (head, 1, sizeof head, file) == sizeof head &&
        !memcmp (head, "\177ELF", sizeof head))
      libraries = output_of ("ldd", path);
    if (file)
      fclose (file);
    for (gsize i = 0; libraries && i < G_N_ELEMENTS (known); i++)
      if (strstr (libraries, known[i].library))
        return &known[i];
  }
  for (char *const *word = command; *word; word++) {
    g_autofree char *path = g_find_program_in_path (*word), *version = NULL;
    g_autofree char *base = g_path_get_basename (*word);

    if (path && (g_str_has_prefix (base, "mpirun") || g_str_has_prefix (base, "mpiexec")))
      version = output_of (path, "--version");
    for (gsize i = 0; version && i < G_N_ELEMENTS (known); i++)
      if (strstr (version, known[i].launcher))
        return &known[i];
  }
  cli_fail (
      error,
      "no program of the command '%s' is linked with Open MPI or MPICH, and none is their mpirun; --mpi openmpi or --mpi mpich names the MPI",
      command[0]);
  return NULL;
}

/* Path of the recorder's library.  The caller frees it; NULL and *error. */
static char *
find_library (const Mpi *mpi, GError **error)
{
  g_autofree char *name = g_strdup_printf ("libhopcast-record-%s.so", mpi->name);
  char *path = base_library_find (name);

  if (path == NULL)
    cli_fail (error,
              "this build cannot record %s programs: there is no %s; install its headers "
              "(Debian: %s), then configure and build again",
              mpi->name, name, mpi->packages);
  return path;
}

/* --- Options --- */

typedef struct {
  char *output;
  char *mpi_name;
  gboolean force, keep, no_counters;
  CliTalkOptions talk;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->output);
  g_free (options->mpi_name);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* --- The folder --- */

/* The ranks write into FILE.rec, which is converted to FILE.hct when the program has succeeded.
 * `output` is either, or FILE. */
static char *
sibling (const char *output, const char *ending)
{
  gsize length = strlen (output);
  g_autofree char *stem = NULL;
  g_autofree char *named = NULL;

  if (g_str_has_suffix (output, ".rec") || g_str_has_suffix (output, ".hct"))
    length -= strlen (".rec");
  stem = g_strndup (output, length);
  named = g_strconcat (stem, ending, NULL);
  return g_canonicalize_filename (named, NULL);
}

/* The names in the folder; NULL and *error. */
static GPtrArray *
list_folder (const char *path, GError **error)
{
  g_autoptr (GDir) dir = base_folder_open (path, error);
  GPtrArray *names = dir ? g_ptr_array_new_with_free_func (g_free) : NULL;
  const char *name;

  while (dir && (name = g_dir_read_name (dir)) != NULL)
    g_ptr_array_add (names, g_strdup (name));
  return names;
}

/* Removes an earlier recording, which may have had more ranks.  A folder with other files stays as
 * it is. */
static gboolean
empty_folder (const char *path, GError **error)
{
  g_autoptr (GPtrArray) names = list_folder (path, error);

  for (guint i = 0; names && i < names->len; i++) {
    const char *name = names->pdata[i];

    if ((g_str_has_prefix (name, "rank-") && g_str_has_suffix (name, ".rec")) ||
        g_str_has_prefix (name, RECORDING_REFUSED_PREFIX))
      continue;
    return cli_fail (error, "%s: holds more than a recording (%s), so it is not replaced", path,
                     name);
  }
  for (guint i = 0; names && i < names->len; i++) {
    g_autofree char *child = g_build_filename (path, names->pdata[i], NULL);

    if (g_unlink (child) != 0)
      return cli_fail (error, "%s: %s", child, g_strerror (errno));
  }
  return names != NULL;
}

/* Makes the folder `path` of the ranks, or empties it.  The trace must not exist yet either. */
static gboolean
make_folder (const char *path, const Options *options, GError **error)
{
  g_autofree char *trace = sibling (options->output, ".hct");

  if (!options->force && !g_str_has_suffix (options->output, ".rec") &&
      g_file_test (trace, G_FILE_TEST_EXISTS))
    return cli_fail (error, "%s: exists already; --force replaces it, -o names another", trace);
  if (g_mkdir (path, 0777) == 0)
    return TRUE;
  if (errno != EEXIST)
    return cli_fail (error, "%s: %s", path, g_strerror (errno));
  if (g_file_test (path, G_FILE_TEST_IS_SYMLINK))
    return cli_fail (error, "%s: is a symbolic link, which is not followed; -o names another",
                     path);
  if (!options->force)
    return cli_fail (error, "%s: exists already; --force replaces it, -o names another", path);
  return empty_folder (path, error);
}

/* --- The recorded command --- */

static volatile sig_atomic_t child_pid;

/* Signals end the command, and this process ends after the command.  The command has already got
 * a signal of the terminal (SI_KERNEL): a second one makes some launchers exit without cleaning up. */
static void
pass_on (int signal_number, siginfo_t *information, void *context G_GNUC_UNUSED)
{
  if (child_pid > 0 && information->si_code != SI_KERNEL)
    kill ((pid_t) child_pid, signal_number);
}

/* *status: the exit status that a shell would show. */
static gboolean
run_and_wait (char **command, char **environment, int *status, GError **error)
{
  static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
  struct sigaction action = { .sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO };
  struct sigaction before[G_N_ELEMENTS (signals)];
  pid_t child;
  int result;

  fflush (NULL);
  sigemptyset (&action.sa_mask);
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    sigaction (signals[i], &action, &before[i]);
  child = fork ();
  if (child == 0) {
    /* The handlers that this process began with are unknown; the command can be interrupted. */
    for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
      signal (signals[i], SIG_DFL);
    environ = environment;
    execvp (command[0], command);
    cli_printf (stderr, "hopcast: %s: %s\n", command[0], g_strerror (errno));
    _exit (errno == ENOENT ? 127 : 126);
  }
  if (child < 0)
    return cli_fail (error, "%s: %s", command[0], g_strerror (errno));
  child_pid = (sig_atomic_t) child;
  do
    result = waitpid (child, status, 0) < 0 ? errno : 0;
  while (result == EINTR);
  *status = result != 0             ? (int) CLI_FAILED
            : WIFSIGNALED (*status) ? 128 + WTERMSIG (*status)
                                    : WEXITSTATUS (*status);
  /* From here on, signals are meant for this process. */
  child_pid = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    sigaction (signals[i], &before[i], NULL);
  return TRUE;
}

/* --- The result --- */

/* After the trace is written, a folder that cannot be removed is worth a warning only. */
static void
remove_folder (const char *folder)
{
  g_autoptr (GError) error = NULL;

  if (!empty_folder (folder, &error))
    cli_printf (stderr, "hopcast: warning: %s\n", error->message);
  else if (g_rmdir (folder) < 0)
    cli_printf (stderr, "hopcast: warning: %s: %s\n", folder, g_strerror (errno));
}

/* --- Processes that were not recorded --- */

/* The lines KEY=VALUE of a file; utf8 to utf8. */
static GHashTable *
read_header (const char *path)
{
  GHashTable *header = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  g_file_get_contents (path, &text, NULL, NULL);
  lines = g_strsplit (text ? text : "", "\n", -1);
  for (guint i = 0; lines[i]; i++) {
    char *value = strchr (lines[i], '=');

    if (value)
      g_hash_table_insert (header, g_strndup (lines[i], (gsize) (value - lines[i])),
                           g_utf8_make_valid (value + 1, -1));
  }
  return header;
}

static const char *
header_value (GHashTable *header, const char *key)
{
  const char *value = g_hash_table_lookup (header, key);

  return value && *value ? value : "an unknown one";
}

/* FALSE and *error when processes found their rank recorded already.
 *
 * The processes that another MPI's launcher starts are each rank 0 of 1, because it does not connect
 * them: *is_launcher.  Without a variable of a launcher, a script that starts one program after another
 * looks the same. */
static gboolean
check_refused (const char *folder, gboolean *is_launcher, GError **error)
{
  g_autoptr (GPtrArray) names = list_folder (folder, NULL);
  g_autoptr (GHashTable) example = NULL; /* header of a process; with a launcher if there is any */
  const char *program, *mpi;
  gboolean all_single = TRUE;
  guint n = 0;

  for (guint i = 0; names && i < names->len; i++) {
    g_autofree char *path = g_build_filename (folder, names->pdata[i], NULL);
    g_autoptr (GHashTable) header = NULL;

    if (!g_str_has_prefix (names->pdata[i], RECORDING_REFUSED_PREFIX))
      continue;
    header = read_header (path);
    n++;
    all_single &= !g_strcmp0 (g_hash_table_lookup (header, "ranks"), "1");
    if (!example || (g_hash_table_contains (header, "launcher") &&
                     !g_hash_table_contains (example, "launcher"))) {
      g_clear_pointer (&example, g_hash_table_unref);
      example = g_steal_pointer (&header);
    }
  }
  if (n == 0)
    return TRUE;
  program = header_value (example, "program");
  mpi = header_value (example, "mpi");
  *is_launcher = all_single && g_hash_table_contains (example, "launcher");
  if (*is_launcher)
    return cli_fail (
        error,
        "%u processes are each rank 0 of 1: %s started them, but %s is linked with %s, which that "
        "launcher cannot connect; start the program with the launcher of its own MPI (on Debian "
        "mpirun.%s)",
        n + 1, header_value (example, "launcher"), program, mpi,
        g_str_has_prefix (mpi, "Open MPI") ? "openmpi" : "mpich");
  if (all_single)
    return cli_fail (
        error,
        "%u processes are each rank 0 of 1, and %s has the first of them only: either the "
        "command starts several programs of one rank (record them one by one), or its "
        "launcher is not that of %s, which %s is linked with",
        n + 1, folder, mpi, program);
  return cli_fail (
      error,
      "the command starts more than one MPI program, and %s has the first process of each "
      "rank only: %u more processes (of %s) found their rank recorded already; "
      "record the programs one by one",
      folder, n, program);
}

/* Converts the folder of the ranks, or reports why not; returns the exit status.  A command that
 * failed leaves the folder as it is, for inspection; its own status counts more than an error in its
 * recording, which is only printed. */
static int
finish_recording (const char *folder, const Options *options, int status, GError **error)
{
  g_autofree char *name = g_strdup_printf (RECORDING_FILE, 0u);
  g_autofree char *first = g_build_filename (folder, name, NULL);
  gboolean has_recording = g_file_test (first, G_FILE_TEST_IS_REGULAR), is_launcher = FALSE;
  g_autofree char *path = NULL; /* of the trace file */
  g_autoptr (Trace) trace = NULL;

  if (status != CLI_DONE && !has_recording) {
    g_rmdir (folder);
    cli_printf (stderr, "hopcast: the command failed before anything was recorded\n");
    return status;
  }
  if (!check_refused (folder, &is_launcher, error)) {
    if (is_launcher && !options->keep)
      remove_folder (folder);
  } else if (!has_recording) {
    g_rmdir (folder);
    cli_fail (error, "nothing was recorded: no process of the command completed MPI_Init");
  } else
    trace = trace_open (folder, NULL, error);
  if (trace == NULL) {
    if (status == CLI_DONE)
      return CLI_FAILED;
    cli_printf (stderr, "hopcast: %s\n", (*error)->message);
    g_clear_error (error);
    return status;
  }
  if (status == CLI_DONE && !g_str_has_suffix (options->output, ".rec")) {
    path = sibling (options->output, ".hct");
    if (!cli_trace_write (trace, &(CliTraceWriteOptions){ .path = path }, &options->talk, error)) {
      g_prefix_error (error, "the recording stays in %s: ", folder);
      return CLI_FAILED;
    }
    if (!options->keep)
      remove_folder (folder);
  }
  if (!options->talk.quiet)
    cli_printf (stderr, "hopcast: recorded %u ranks in %s\n", trace_ranks (trace),
                path ? path : folder);
  return status;
}

/* --- The command --- */

/* Leaves the command to record in argv[1] and later. */
static gboolean
parse (Options *options, int *argc, char ***argv, GError **error)
{
  g_autoptr (GOptionContext) context = cli_context_new (
      "-- COMMAND...", "Runs an MPI program, such as 'mpirun -np 16 ./program', and records what "
                       "it asks of MPI.");
  const GOptionEntry entries[] = {
    { "output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output,
      "The trace (default: recording.hct); an ending .rec leaves the folder of the ranks", "FILE" },
    { "mpi", 0, 0, G_OPTION_ARG_STRING, &options->mpi_name,
      "The MPI of the program: openmpi or mpich (default: found out)", "NAME" },
    { "keep", 0, 0, G_OPTION_ARG_NONE, &options->keep,
      "Keep the folder of the ranks beside the trace", NULL },
    { "force", 0, 0, G_OPTION_ARG_NONE, &options->force, "Replace a recording that is there",
      NULL },
    { "no-counters", 0, 0, G_OPTION_ARG_NONE, &options->no_counters,
      "Do not count instructions and cycles", NULL },
    { NULL },
  };

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_strict_posix (context, TRUE);
  cli_add_talk_options (context, &options->talk);
  if (!cli_parse_options (context, NULL, argc, argv, error))
    return FALSE;
  if (*argc > 1 && !strcmp ((*argv)[1], "--")) {
    (*argc)--;
    (*argv)++;
  }
  return *argc > 1 || cli_refuse (error, "the command to record is missing");
}

/* The command is looked up as execvp() does: a launcher would blame its program. */
static gboolean
check_command (const char *word, GError **error)
{
  g_autofree char *path = g_find_program_in_path (word);
  int number = ENOENT;

  if (path != NULL)
    return TRUE;
  if (strchr (word, '/') != NULL && access (word, X_OK) != 0)
    number = errno;
  else if (g_file_test (word, G_FILE_TEST_IS_DIR))
    number = EISDIR;
  return cli_fail (error, "%s: %s", word, g_strerror (number));
}

int
cli_trace_record (int argc, char **argv, GError **error)
{
  const char *others = g_getenv ("LD_PRELOAD");
  g_auto (Options) options = { 0 };
  const Mpi *mpi = NULL;
  g_autofree char *library = NULL, *folder = NULL, *preload = NULL;
  g_auto (GStrv) environment = g_get_environ ();
  int status;

  if (!parse (&options, &argc, &argv, error) || !check_command (argv[1], error))
    return CLI_FAILED;
  for (gsize i = 0; options.mpi_name && i < G_N_ELEMENTS (known); i++)
    if (!strcmp (known[i].name, options.mpi_name))
      mpi = &known[i];
  if (options.mpi_name && mpi == NULL)
    cli_refuse (error, "--mpi: '%s' is not one of openmpi, mpich", options.mpi_name);
  else if (mpi == NULL)
    mpi = find_mpi (argv + 1, error);
  if (mpi == NULL || !(library = find_library (mpi, error)))
    return CLI_FAILED;
  if (!options.output)
    options.output = g_strdup ("recording.hct");
  folder = sibling (options.output, ".rec");
  if (!make_folder (folder, &options, error))
    return CLI_FAILED;
  if (options.talk.verbose)
    cli_printf (stderr, "hopcast: the recorder is %s\n", library);

  /* The recorder goes first; other libraries that are preloaded stay. */
  preload = others && *others ? g_strconcat (library, ":", others, NULL) : g_strdup (library);
  environment = g_environ_setenv (environment, "LD_PRELOAD", preload, TRUE);
  environment = g_environ_setenv (environment, RECORDING_FOLDER_VARIABLE, folder, TRUE);
  if (options.no_counters)
    environment = g_environ_setenv (environment, RECORDING_COUNTERS_VARIABLE, "off", TRUE);
  if (!run_and_wait (argv + 1, environment, &status, error))
    return CLI_FAILED;
  return finish_recording (folder, &options, status, error);
}
