/* otf2_library.c - the one lock around libotf2, and its errors.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/otf2/otf2_library.h"

#include "traces/trace.h"

#include <otf2/otf2.h>

static GMutex lock;
/* The first error since otf2_library_enter(): those behind it are of the
 * functions that called the one that failed. */
static char *message;
static OTF2_ErrorCallback previous;

/* The header of libotf2 does not say that its callback is given a format. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-attribute=format"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static OTF2_ErrorCode
keep_error (void *data, const char *file, uint64_t line, const char *function, OTF2_ErrorCode code,
            const char *format, va_list arguments)
{
  (void) data, (void) file, (void) line, (void) function;
  if (message == NULL && (code > OTF2_SUCCESS || code == OTF2_ABORT)) {
    g_autofree char *detail = g_strdup_vprintf (format, arguments);

    message = g_strdup_printf ("%s (%s)", OTF2_Error_GetDescription (code), detail);
  }
  return code;
}
#pragma GCC diagnostic pop

void
otf2_library_enter (void)
{
  g_mutex_lock (&lock);
  g_clear_pointer (&message, g_free);
  previous = OTF2_Error_RegisterCallback (keep_error, NULL);
}

void
otf2_library_leave (const char *path, GError **error)
{
  OTF2_Error_RegisterCallback (previous, NULL);
  if (path != NULL)
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s: libotf2 cannot read it: %s", path,
                 message != NULL ? message : "no reason is given");
  g_clear_pointer (&message, g_free);
  g_mutex_unlock (&lock);
}

bool
otf2_library_failed (void)
{
  return message != NULL;
}
