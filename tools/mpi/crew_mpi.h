/* crew_mpi.h - the processes of an MPI job as the crew of a study.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rank 0 is the master.  Every other one makes its runs in a child process, so that a run
 * that crashes takes no rank of the job with it. */
#pragma once

#include "study/session/worker_pool.h"

extern const StudyPoolKind cli_crew_of_mpi;

void cli_mpi_begin (int *argc, char ***argv);

/* Tells the others that there is no more to do, unless that was done, and leaves
 * MPI; returns the exit status to use. */
int cli_mpi_end (int status);
