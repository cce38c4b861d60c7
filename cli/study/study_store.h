/* study_store.h - the store that a command line names, itself or by its study.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/store/store.h"

/* Whether it begins as a store does; FALSE also when it cannot be read. */
gboolean cli_is_store (const char *path);

/* The store at `path`, or that of the study file there, to be read. */
StudyStore *cli_study_store_open (const char *path, GError **error);
