/* text.h - numbers and fields as every table of ours writes them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Numbers do not depend on the locale and read back to the same double. */
#pragma once

#include <glib.h>
#include <stdio.h>

/* The shortest decimal that reads back to the same value; "" for NaN. */
#define STUDY_NUMBER_SIZE 32
const char *study_number (char text[STUDY_NUMBER_SIZE], double value);

/* "1 run", "2 runs": a number of things whose plural has an s more; g_free(). */
char *study_count (guint n, const char *noun);

/* One CSV field, quoted where it must be (RFC 4180). */
void study_csv_field (FILE *out, const char *text);

/* From here on fields of this process that spreadsheets take for formulas (they begin with = + - @, a tab
 * or a carriage return, and are no numbers) get an apostrophe in front.  Off at first: the text is what
 * other programs compare. */
void study_csv_make_safe (void);
gboolean study_csv_is_safe (void);
