/* pool_kind.h - who makes the runs of a study in this program.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * `hopcast` and `hopcast-mpi` are the same program but for this. */
#pragma once

#include "study/session/worker_pool.h"

extern const StudyPoolKind *const cli_pool_kind;
