/* study_error.c - errors of studies, their files and their stores.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/study_error.h"

GQuark
study_error_quark (void)
{
  return g_quark_from_static_string ("hopcast-study-error");
}
