/* session_private.h - what the parts of a session share; private to them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/session/session.h"

/* --- session_todo.c --- */

/* As study_session_todo(), of a store that is open; NULL: there is none yet. */
GArray *study_session_left (const StudyPlan *plan, const StudySessionOptions *options,
                            StudyStore *store, StudyTally *tally, GError **error);
