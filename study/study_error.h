/* study_error.h - errors of studies, their files and their stores.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>

#define STUDY_ERROR (study_error_quark ())
typedef enum {
  STUDY_ERROR_INPUT,   /* a file that was read is not of its form */
  STUDY_ERROR_OPTION,  /* an option is wrong whatever the files say */
  STUDY_ERROR_STORE,   /* the store cannot be read or written */
  STUDY_ERROR_DAMAGED, /* the store holds values that no store can hold */
  STUDY_ERROR_MOVED,   /* the store was renamed or removed while it was written to */
  STUDY_ERROR_VERSION, /* made by another version */
  STUDY_ERROR_BUSY,    /* another process writes to it */
  STUDY_ERROR_CHANGED, /* an input has changed */
  STUDY_ERROR_WORKER,  /* no worker can be started */
  STUDY_ERROR_SEARCH,  /* a mapping cannot be searched for */
} StudyError;
GQuark study_error_quark (void);
