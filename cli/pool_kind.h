/* pool_kind.h - the kind of workers that make the runs of a study.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * `hopcast` and `hopcast-mpi` differ in nothing else. */
#pragma once

#include "study/session/worker_pool.h"

extern const StudyPoolKind *const cli_pool_kind;
