/* outfile.h - result files that are complete or not there at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file is written under a temporary name beside its place and renamed when it is complete; a run
 * that fails or is interrupted leaves an earlier file as it was.  A device or a pipe is written
 * directly, and so is a file that /dev or /proc names (/dev/stdout).  Another symbolic link is
 * replaced, not followed: a link in a shared folder cannot choose the file that is overwritten. */
#pragma once

#include <glib.h>
#include <stdio.h>

typedef struct CliOutfile CliOutfile;

/* "-" and NULL are standard output.  NULL and *error when it cannot be written, or would replace a store,
 * whose runs may have taken days: `report s.store -o s.store` is soon typed. */
CliOutfile *cli_outfile_new (const char *path, GError **error);

/* The same; a file whose path ends in .gz is compressed. */
CliOutfile *cli_outfile_new_gzip (const char *path, GError **error);

/* Drops the file unless it was committed. */
void cli_outfile_free (CliOutfile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliOutfile, cli_outfile_free)

FILE *cli_outfile_stream (CliOutfile *file);

/* Completes the file. */
gboolean cli_outfile_commit (CliOutfile *file, GError **error);

/* Writes a file of that text. */
gboolean cli_outfile_write (const char *path, const char *text, GError **error);

/* False and *error when data for standard output got lost. */
gboolean cli_stdout_flush (GError **error);

/* Temporary files are removed when a signal ends the program. */
void cli_outfile_handle_signals (void);
