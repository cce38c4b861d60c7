/* film.h - one page that shows the loads of links over time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdio.h>

/* Reads a CSV file that `simulate --links-over-time` wrote, plain or gzip, "-": standard input, and writes
 * a page of the form that report.h describes.  title NULL: the name of the file.  The same input gives the
 * same bytes.  Nothing is written when there is an error (BASE_ERROR, STUDY_ERROR_INPUT), which names file
 * and line; errors of the stream are the caller's to find. */
gboolean study_film_write (FILE *out, const char *path, const char *title, GError **error);
