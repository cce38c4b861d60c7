/* ti_text.h - texts of time-independent traces: their lines, lists of them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdint.h>

/* More ranks than any machine has: such a number is a mistake. */
#define TI_MAX_RANKS (1u << 24)

/* A text in memory. */
typedef struct {
  char *name; /* without its folder, for messages */
  GBytes *bytes;
  const char *data;
  gsize size;
} TiText;

TiText *ti_text_open (const char *path, GError **error);
void ti_text_close (TiText *text);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TiText, ti_text_close)

/* The line at *at without its end; *at moves to the next.  FALSE at the end. */
gboolean ti_next_line (const char *data, gsize size, gsize *at, const char **line, gsize *length);
/* The first line that is neither empty nor a comment. */
gboolean ti_first_line (const char *data, gsize size, const char **line, gsize *length);
/* Nothing, or a comment. */
gboolean ti_line_is_empty (const char *line, gsize length);
/* The rank in front of a line; *rest is where it ends. */
gboolean ti_line_rank (const char *line, gsize length, uint32_t *rank, gsize *rest);
/* A rank and a word. */
gboolean ti_line_is_action (const char *line, gsize length);

/* The number, from 1, of the line that starts at `at`: counted when it is
 * asked for, which is seldom. */
uint64_t ti_line_number (const TiText *text, gsize at);
/* Sets the error of a line that cannot be read.  Always FALSE. */
gboolean ti_bad_line (const char *name, uint64_t number, const char *line, gsize length,
                      const char *what, GError **error);

/* The file that an entry of a list means, or NULL. */
char *ti_list_find (const char *list, const char *entry);
/* The files that a list names, in its order (element-type filename). */
GPtrArray *ti_list_read (const char *path, GError **error);
