/* pattern_spec.h - "gen:KIND:NAME=VALUE,...": read and printed; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/patterns/pattern.h"

#define PATTERN_MAX_PARAMETERS 24

guint pattern_n_parameters (const TracePattern *pattern);

/* The pattern that a spec names, among NULL-terminated ones. */
const TracePattern *
pattern_spec_find (const char *spec, const TracePattern *const *patterns, GError **error);

/* The values of a spec of this pattern, defaults where it gives none. */
gboolean pattern_spec_read (const char *spec, const TracePattern *pattern,
                            TraceParameterValue values[PATTERN_MAX_PARAMETERS], GError **error);

/* The spec of these values, in the order of the table, without what is
 * absent; the caller frees it. */
char *pattern_spec_print (const TracePattern *pattern, const TraceParameterValue *values);
