/* command.c - the commands of the program, one function each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

GQuark
cli_error_quark (void)
{
  return g_quark_from_static_string ("hopcast-cli-error");
}

gboolean
cli_refuse (GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_propagate_error (error, g_error_new_valist (CLI_ERROR, CLI_ERROR_USAGE, format, arguments));
  va_end (arguments);
  return FALSE;
}

gboolean
cli_fail (GError **error, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_propagate_error (error, g_error_new_valist (CLI_ERROR, CLI_ERROR_FILE, format, arguments));
  va_end (arguments);
  return FALSE;
}

void
cli_blame_usage (GError *error)
{
  error->domain = CLI_ERROR;
  error->code = CLI_ERROR_USAGE;
}
