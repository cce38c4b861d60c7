/* text_file.h - the bytes of a text file, in blocks of whole lines.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Plain or gzip, from a disk or a pipe.  A block ends with a line feed, also when
 * the file does not, and grows with the piece that its reader needs. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  const char *name;     /* in errors */
  const char *at, *end; /* the unread bytes: whole lines.  The reader moves `at` */
  uint64_t line;        /* of `at`, from 1; the reader counts */
  struct BaseTextFile *file;
} BaseText;

/* A small gzip file can unpack to gigabytes: a file that unpacks to more than 16 MiB and more than
 * 100 times its own size is refused, until this is called. */
void base_text_unpack_all (void);

/* "-" is standard input.  Borrows `path`.  A pipe is copied to a temporary file first. */
gboolean base_text_open (BaseText *text, const char *path, GError **error);
void base_text_close (BaseText *text);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (BaseText, base_text_close)

/* Adds at least one line behind `end` (which moves, as does `at`, with the bytes between them);
 * *any: whether there was one.  FALSE and *error when it cannot be read, or has a NUL byte. */
gboolean base_text_more (BaseText *text, gboolean *any, GError **error);

/* Starts again. */
gboolean base_text_rewind (BaseText *text, GError **error);
