/* start_mpi.c - where `hopcast-mpi` begins.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/crew_maker.h"
#include "tools/mpi/crew_mpi.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

const StudyPoolKind *const cli_crew_maker = &cli_crew_of_mpi;

/* What there is to say, the master says. */
static void
be_silent (void)
{
  int null = open ("/dev/null", O_WRONLY | O_CLOEXEC);

  if (null < 0)
    return;
  dup2 (null, STDOUT_FILENO);
  dup2 (null, STDERR_FILENO);
  close (null);
}

static gboolean
is_study_run (int argc, char **argv)
{
  return argc > 2 && !strcmp (argv[1], "study") && !strcmp (argv[2], "run");
}

int
main (int argc, char **argv)
{
  int status = CLI_DONE;

  cli_mpi_begin (&argc, &argv);
  if (!cli_crew_maker->is_master ())
    be_silent ();
  if (cli_crew_maker->is_master () || is_study_run (argc, argv))
    status = cli_main (argc, argv);
  return cli_mpi_end (status);
}
