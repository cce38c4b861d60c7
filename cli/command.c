/* command.c - see command.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

GQuark
cli_error_quark (void)
{
  return g_quark_from_static_string ("hopcast-cli-error");
}
