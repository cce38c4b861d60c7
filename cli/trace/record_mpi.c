/* record_mpi.c - which MPI a command will use, and the recorder for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The words of the command are tried in turn: one of them is the program, and
 * the libraries that it is linked with tell.  When none does (an interpreter,
 * a script), the launcher is asked for its version. */
#include "config.h"

#include "cli/trace/record_mpi.h"

#include "cli/command.h"

#include <stdio.h>
#include <string.h>

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

char *
cli_record_library (const char *name, char *const *command, GError **error)
{
  const Mpi *mpi = name ? find_name (name, error) : find_mpi (command, error);

  return mpi ? find_library (mpi, error) : NULL;
}
