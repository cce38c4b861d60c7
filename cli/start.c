/* start.c - main() of `hopcast`, whose workers are processes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/pool_kind.h"

const StudyPoolKind *const cli_pool_kind = &study_pool_of_processes;

int
main (int argc, char **argv)
{
  return cli_main (argc, argv);
}
