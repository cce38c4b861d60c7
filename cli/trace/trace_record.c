/* trace_record.c - `hopcast trace record`: which MPI a command uses, the recorder for it, the run.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The words of the command are tried in turn: one of them is the program, and
 * the libraries that it is linked with tell.  When none does (an interpreter,
 * a script), the launcher is asked for its version. */
#include "config.h"

#include "base/file.h"
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
  const char *library;  /* part of the name of what programs are linked with */
  const char *launcher; /* part of what its mpirun --version says */
  const char *packages;
} Mpi;

static const Mpi known[] = {
  { "openmpi", "libmpi.so.40", "(Open", "openmpi-bin libopenmpi-dev" },
  { "mpich", "libmpich.so.", "HYDRA", "mpich libmpich-dev" },
};

static const Mpi *
find_name (const char *name, GError **error)
{
  for (gsize i = 0; i < G_N_ELEMENTS (known); i++)
    if (!strcmp (known[i].name, name))
      return &known[i];
  g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "--mpi: '%s' is not one of openmpi, mpich", name);
  return NULL;
}

/* What a program prints, or NULL when it cannot be run or fails. */
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

/* Only of compiled programs: what ldd does with others is not our business. */
static gboolean
is_compiled (const char *path)
{
  char head[4] = "";
  FILE *file = fopen (path, "rb");
  gboolean good = file && fread (head, 1, sizeof head, file) == sizeof head &&
                  !memcmp (head, "\177ELF", sizeof head);

  if (file)
    fclose (file);
  return good;
}

/* The MPI that a word of the command is linked with, or NULL. */
static const Mpi *
mpi_of_program (const char *word)
{
  g_autofree char *path = g_find_program_in_path (word);
  g_autofree char *libraries = NULL;

  if (!path || !is_compiled (path))
    return NULL;
  libraries = output_of ("ldd", path);
  for (gsize i = 0; libraries && i < G_N_ELEMENTS (known); i++)
    if (strstr (libraries, known[i].library))
      return &known[i];
  return NULL;
}

static const Mpi *
mpi_of_launcher (const char *word)
{
  g_autofree char *path = g_find_program_in_path (word);
  g_autofree char *base = g_path_get_basename (word);
  g_autofree char *version = NULL;

  if (!path || (!g_str_has_prefix (base, "mpirun") && !g_str_has_prefix (base, "mpiexec")))
    return NULL;
  version = output_of (path, "--version");
  for (gsize i = 0; version && i < G_N_ELEMENTS (known); i++)
    if (strstr (version, known[i].launcher))
      return &known[i];
  return NULL;
}

static const Mpi *
find_mpi (char *const *command, GError **error)
{
  const Mpi *found = NULL;

  for (char *const *word = command; *word && !found; word++)
    found = mpi_of_program (*word);
  for (char *const *word = command; *word && !found; word++)
    found = mpi_of_launcher (*word);
  if (!found)
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
                 "nothing in '%s' is a program that is linked with Open MPI or MPICH, nor their "
                 "mpirun; --mpi openmpi or --mpi mpich tells which MPI it will use",
                 command[0]);
  return found;
}

/* The folder of the recorder as it lies to `folder`, that of the program, in the tree that was
 * configured, wherever that tree was installed or moved; the caller frees it. */
static char *
installed_folder (const char *folder)
{
  const char *program = PROGRAM_FOLDER, *recorder = RECORDER_FOLDER;
  gsize same = 0;
  g_autoptr (GString) path = g_string_new (folder);

  for (gsize at = 0;; at++) {
    if ((program[at] == '/' || program[at] == '\0') &&
        (recorder[at] == '/' || recorder[at] == '\0'))
      same = at;
    if (program[at] == '\0' || program[at] != recorder[at])
      break;
  }
  for (const char *rest = program + same; *rest != '\0'; rest++)
    if (rest[0] == '/' && rest[1] != '/' && rest[1] != '\0')
      g_string_append (path, "/..");
  g_string_append_printf (path, "/%s", recorder + same);
  return g_canonicalize_filename (path->str, "/");
}

/* Beside the program, as it is built; where both are installed; or where they were configured to be. */
static char *
find_library (const Mpi *mpi, GError **error)
{
  g_autofree char *self = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = self ? g_path_get_dirname (self) : g_strdup (".");
  g_autofree char *installed = installed_folder (folder);
  g_autofree char *name = g_strdup_printf ("libhopcast-record-%s.so", mpi->name);
  const char *folders[] = { folder, installed, RECORDER_FOLDER };

  for (gsize i = 0; i < G_N_ELEMENTS (folders); i++) {
    g_autofree char *path = g_build_filename (folders[i], name, NULL);

    if (g_file_test (path, G_FILE_TEST_IS_REGULAR))
      return g_steal_pointer (&path);
  }
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
               "this build cannot record %s programs: there is no %s; install its headers "
               "(Debian: %s), then configure and build again",
               mpi->name, name, mpi->packages);
  return NULL;
}

/* Path of the recorder's library for the MPI called `name`, or, if that is
 * NULL, for the one that the command (NULL-terminated) uses; NULL and *error
 * when it cannot be told or there is none. */
static char *
record_library (const char *name, char *const *command, GError **error)
{
  const Mpi *mpi = name ? find_name (name, error) : find_mpi (command, error);

  return mpi ? find_library (mpi, error) : NULL;
}

/* --- `hopcast trace record`: runs an MPI program and keeps what --- */

/* it asks of MPI. */

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

/* The ranks write into FILE.rec, which is made into FILE.hct when the program
 * has ended well.  The user may name either. */
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

static gboolean
is_of_recording (const char *name)
{
  return (g_str_has_prefix (name, "rank-") && g_str_has_suffix (name, ".rec")) ||
         g_str_has_prefix (name, RECORDING_REFUSED_PREFIX);
}

/* What is in the folder, or NULL. */
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

/* Nothing of an earlier recording may stay in it: it may have had more ranks.
 * Either all of it goes or nothing. */
static gboolean
empty_folder (const char *path, GError **error)
{
  g_autoptr (GPtrArray) names = list_folder (path, error);

  for (guint i = 0; names && i < names->len; i++)
    if (!is_of_recording (names->pdata[i])) {
      g_set_error (error, CLI_ERROR, CLI_ERROR_WRITE,
                   "%s: holds more than a recording (%s), so it is not replaced", path,
                   (const char *) names->pdata[i]);
      return FALSE;
    }
  for (guint i = 0; names && i < names->len; i++) {
    g_autofree char *child = g_build_filename (path, names->pdata[i], NULL);

    if (g_unlink (child) != 0) {
      g_set_error (error, CLI_ERROR, CLI_ERROR_WRITE, "%s: %s", child, g_strerror (errno));
      return FALSE;
    }
  }
  return names != NULL;
}

/* Whether the command can leave its recording there. */
static gboolean
make_folder (const char *path, gboolean force, GError **error)
{
  if (g_mkdir (path, 0777) == 0)
    return TRUE;
  if (errno != EEXIST) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_WRITE, "%s: %s", path, g_strerror (errno));
    return FALSE;
  }
  if (g_file_test (path, G_FILE_TEST_IS_SYMLINK)) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_WRITE,
                 "%s: is a symbolic link, which is not followed; -o names another", path);
    return FALSE;
  }
  if (!force) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_WRITE,
                 "%s: exists already; --force replaces it, -o names another", path);
    return FALSE;
  }
  return empty_folder (path, error);
}

/* The trace must not be there yet, nor its place be missing. */
static gboolean
check_result (const Options *options, GError **error)
{
  g_autofree char *path = sibling (options->output, ".hct");

  if (options->force || g_str_has_suffix (options->output, ".rec") ||
      !g_file_test (path, G_FILE_TEST_EXISTS))
    return TRUE;
  g_set_error (error, CLI_ERROR, CLI_ERROR_WRITE,
               "%s: exists already; --force replaces it, -o names another", path);
  return FALSE;
}

/* --- The command --- */

static volatile sig_atomic_t child_pid;

/* The command ends by a signal, and this process when the command has ended.
 * What a terminal sends (SI_KERNEL) the command has got as well: a second one
 * would make some launchers leave without cleaning up. */
static void
pass_on (int signal_number, siginfo_t *information, void *context G_GNUC_UNUSED)
{
  if (child_pid > 0 && information->si_code != SI_KERNEL)
    kill ((pid_t) child_pid, signal_number);
}

static const int signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
static struct sigaction before[G_N_ELEMENTS (signals)];

static void
handle_signals (void)
{
  struct sigaction action = { .sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO };

  sigemptyset (&action.sa_mask);
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    sigaction (signals[i], &action, &before[i]);
}

/* The command is gone: from here on this process is meant. */
static void
restore_signals (void)
{
  child_pid = 0;
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    sigaction (signals[i], &before[i], NULL);
}

/* What was ignored when this process began is not known any more; a command
 * that is started here can be interrupted. */
static void
unhandle_signals (void)
{
  for (gsize i = 0; i < G_N_ELEMENTS (signals); i++)
    signal (signals[i], SIG_DFL);
}

static void
run_command (char **command, char **environment)
{
  unhandle_signals ();
  environ = environment;
  execvp (command[0], command);
  cli_printf (stderr, "hopcast: %s: %s\n", command[0], g_strerror (errno));
  _exit (errno == ENOENT ? 127 : 126);
}

/* The exit status that a shell would show. */
static int
wait_for (pid_t child)
{
  int status;

  while (waitpid (child, &status, 0) < 0)
    if (errno != EINTR)
      return CLI_FAILED;
  return WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
}

static gboolean
run_and_wait (char **command, char **environment, int *status, GError **error)
{
  pid_t child;

  fflush (NULL);
  handle_signals ();
  child = fork ();
  if (child == 0)
    run_command (command, environment);
  if (child < 0) {
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: %s", command[0], g_strerror (errno));
    return FALSE;
  }
  child_pid = (sig_atomic_t) child;
  *status = wait_for (child);
  restore_signals ();
  return TRUE;
}

/* Our library goes first, other ones that are wanted stay. */
static char **
environment_for (const char *library, const char *folder, const Options *options)
{
  const char *others = g_getenv ("LD_PRELOAD");
  g_autofree char *preload = others && *others ? g_strconcat (library, ":", others, NULL) : NULL;
  char **environment = g_get_environ ();

  environment = g_environ_setenv (environment, "LD_PRELOAD", preload ? preload : library, TRUE);
  environment = g_environ_setenv (environment, RECORDING_FOLDER_VARIABLE, folder, TRUE);
  if (options->no_counters)
    environment = g_environ_setenv (environment, RECORDING_COUNTERS_VARIABLE, "off", TRUE);
  return environment;
}

/* --- The result --- */

static gboolean
has_recording (const char *folder)
{
  g_autofree char *name = g_strdup_printf (RECORDING_FILE, 0u);
  g_autofree char *first = g_build_filename (folder, name, NULL);

  return g_file_test (first, G_FILE_TEST_IS_REGULAR);
}

/* The trace is there already: what cannot be removed is only in the way. */
static void
remove_folder (const char *folder)
{
  g_autoptr (GError) error = NULL;

  if (!empty_folder (folder, &error))
    cli_printf (stderr, "hopcast: warning: %s\n", error->message);
  else if (g_rmdir (folder) < 0)
    cli_printf (stderr, "hopcast: warning: %s: %s\n", folder, g_strerror (errno));
}

/* One file instead of the folder. */
static gboolean
convert (Trace *trace, const char *folder, const Options *options, GError **error)
{
  g_autofree char *path = sibling (options->output, ".hct");
  const CliTraceWriteOptions write = { .path = path };

  if (!cli_trace_write (trace, &write, &options->talk, error))
    return FALSE;
  if (!options->keep)
    remove_folder (folder);
  if (!options->talk.quiet)
    cli_printf (stderr, "hopcast: recorded %u ranks in %s\n", trace_ranks (trace), path);
  return TRUE;
}

/* Of a command that failed the status counts more than what is wrong with its
 * recording. */
static int
tell_instead (GError **error, int status)
{
  cli_printf (stderr, "hopcast: %s\n", (*error)->message);
  g_clear_error (error);
  return status;
}

/* --- Processes that were not recorded --- */

/* Processes that found their rank recorded already. */
typedef struct {
  guint n;
  gboolean all_single; /* each is rank 0 of 1 */
  GHashTable
      *example; /* header of one of them, of utf8 to utf8; one with a launcher if there is any */
} Refused;

static void
refused_clear (Refused *refused)
{
  g_clear_pointer (&refused->example, g_hash_table_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Refused, refused_clear)

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

static void
find_refused (const char *folder, Refused *refused)
{
  g_autoptr (GPtrArray) names = list_folder (folder, NULL);

  *refused = (Refused){ .all_single = TRUE };
  for (guint i = 0; names && i < names->len; i++) {
    g_autofree char *path = g_build_filename (folder, names->pdata[i], NULL);
    g_autoptr (GHashTable) header = NULL;

    if (!g_str_has_prefix (names->pdata[i], RECORDING_REFUSED_PREFIX))
      continue;
    header = read_header (path);
    refused->n++;
    refused->all_single &= !g_strcmp0 (g_hash_table_lookup (header, "ranks"), "1");
    if (!refused->example || (g_hash_table_contains (header, "launcher") &&
                              !g_hash_table_contains (refused->example, "launcher"))) {
      g_clear_pointer (&refused->example, g_hash_table_unref);
      refused->example = g_steal_pointer (&header);
    }
  }
}

static const char *
recorded_value (const Refused *refused, const char *key)
{
  const char *value = g_hash_table_lookup (refused->example, key);

  return value && *value ? value : "an unknown one";
}

/* A process of another MPI's launcher gets no word from it, and is rank 0 of 1; without a variable of a
 * launcher a script that starts one program after another looks the same. */
static void
set_refused_error (const char *folder, const Refused *refused, gboolean *is_launcher,
                   GError **error)
{
  *is_launcher = refused->all_single && g_hash_table_contains (refused->example, "launcher");
  if (*is_launcher)
    g_set_error (
        error, CLI_ERROR, CLI_ERROR_INPUT,
        "%u processes are each rank 0 of 1: %s started them, but %s is linked with %s, which that "
        "launcher cannot connect; start the program with the launcher of its own MPI (on Debian "
        "mpirun.%s)",
        refused->n + 1, recorded_value (refused, "launcher"), recorded_value (refused, "program"),
        recorded_value (refused, "mpi"),
        g_str_has_prefix (recorded_value (refused, "mpi"), "Open MPI") ? "openmpi" : "mpich");
  else if (refused->all_single)
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
                 "%u processes are each rank 0 of 1, and %s has the first of them only: either the "
                 "command starts several programs of one rank (record them one by one), or its "
                 "launcher is not that of %s, which %s is linked with",
                 refused->n + 1, folder, recorded_value (refused, "mpi"),
                 recorded_value (refused, "program"));
  else
    g_set_error (
        error, CLI_ERROR, CLI_ERROR_INPUT,
        "the command starts more than one MPI program, and %s has the first process of each "
        "rank only: %u more processes (of %s) found their rank recorded already; "
        "record the programs one by one",
        folder, refused->n, recorded_value (refused, "program"));
}

/* What becomes of the folder of the ranks; the status that the command ended
 * with is ours.  A command that failed leaves the folder as it is: it may be
 * looked at, and says what was going on. */
static int
finish_recording (const char *folder, const Options *options, int status, GError **error)
{
  g_autoptr (Trace) trace = NULL;
  g_auto (Refused) refused = { 0 };

  find_refused (folder, &refused);
  if (refused.n > 0) {
    gboolean is_launcher;

    set_refused_error (folder, &refused, &is_launcher, error);
    if (is_launcher && !options->keep)
      remove_folder (folder);
    return status == CLI_DONE ? CLI_FAILED : tell_instead (error, status);
  }
  if (!has_recording (folder)) {
    g_rmdir (folder);
    g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT,
                 "nothing was recorded: no process of the command came out of MPI_Init");
    return CLI_FAILED;
  }
  trace = trace_open (folder, NULL, error);
  if (!trace)
    return status == CLI_DONE ? CLI_FAILED : tell_instead (error, status);
  if (status == CLI_DONE && !g_str_has_suffix (options->output, ".rec")) {
    if (convert (trace, folder, options, error))
      return CLI_DONE;
    g_prefix_error (error, "the recording stays in %s: ", folder);
    return CLI_FAILED;
  }
  if (!options->talk.quiet)
    cli_printf (stderr, "hopcast: recorded %u ranks in %s\n", trace_ranks (trace), folder);
  return status;
}

/* --- The command line --- */

static GOptionContext *
make_context (Options *options)
{
  GOptionContext *context = cli_context_new (
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
  return context;
}

static gboolean
parse (Options *options, int *argc, char ***argv, GError **error)
{
  g_autoptr (GOptionContext) context = make_context (options);

  cli_add_talk_options (context, &options->talk);
  if (!cli_parse_options (context, NULL, argc, argv, error))
    return FALSE;
  if (*argc > 1 && !strcmp ((*argv)[1], "--")) {
    (*argc)--;
    (*argv)++;
  }
  if (*argc > 1)
    return TRUE;
  g_set_error (error, CLI_ERROR, CLI_ERROR_USAGE, "the command to record is missing");
  return FALSE;
}

/* A launcher would say it of its program; the command itself is found as execvp() does. */
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
  g_set_error (error, CLI_ERROR, CLI_ERROR_INPUT, "%s: %s", word, g_strerror (number));
  return FALSE;
}

int
cli_trace_record (int argc, char **argv, GError **error)
{
  g_auto (Options) options = { 0 };
  g_autofree char *library = NULL;
  g_autofree char *folder = NULL;
  g_auto (GStrv) environment = NULL;
  int status;

  if (!parse (&options, &argc, &argv, error) || !check_command (argv[1], error))
    return CLI_FAILED;
  library = record_library (options.mpi_name, argv + 1, error);
  if (!library)
    return CLI_FAILED;
  if (!options.output)
    options.output = g_strdup ("recording.hct");
  folder = sibling (options.output, ".rec");
  if (!check_result (&options, error) || !make_folder (folder, options.force, error))
    return CLI_FAILED;
  if (options.talk.verbose)
    cli_printf (stderr, "hopcast: the recorder is %s\n", library);
  environment = environment_for (library, folder, &options);
  if (!run_and_wait (argv + 1, environment, &status, error))
    return CLI_FAILED;
  if (status != CLI_DONE && !has_recording (folder)) {
    g_rmdir (folder);
    cli_printf (stderr, "hopcast: the command failed before anything was recorded\n");
    return status;
  }
  return finish_recording (folder, &options, status, error);
}
