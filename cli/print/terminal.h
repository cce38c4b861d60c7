/* terminal.h - the user's locale, and text of files on its way to a terminal.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names in traces, stores, tables and fabrics may have any bytes.  Control characters in them could
 * control the terminal (colours, titles, the cursor) and forge lines, so tables and messages show them
 * as \x1b.  CSV and JSON are data and are not changed: JSON has escapes of its own. */
#pragma once

#include <glib.h>
#include <stdio.h>

/* The user's encoding for option text, and nothing else of the locale: numbers, the order of letters
 * and their case are those of C. */
void cli_locale_set (void);

/* The text with control characters (C0, DEL, C1 in UTF-8 or as single bytes) as \xNN, line ends and tabs
 * too; other bytes that are no UTF-8 stay.  The caller frees it. */
char *cli_visible (const char *text);

/* The message without its middle when it is longer than about 1,000 bytes.  The caller frees it. */
char *cli_shorten (const char *message);

/* fprintf() that makes each %s argument visible.  Conversions of GLib and C except %n and $ positions. */
void cli_printf (FILE *out, const char *format, ...) G_GNUC_PRINTF (2, 3);
