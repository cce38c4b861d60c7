/* dump.h - the state of a program in a file, written and read by the same functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A module that has state has one function that visits it, field by field; the dump writes each
 * of them or, when it loads, fills it in.  So nothing can be written and not read:
 *
 *     void
 *     queue_dump (Queue *queue, BaseDump *dump)
 *     {
 *       base_dump_section (dump, "queue");
 *       BASE_DUMP_VALUE (dump, queue->last_ps);
 *       base_dump_list (dump, (void **) &queue->items, &queue->n, &queue->capacity,
 *                       sizeof *queue->items);
 *     }
 *
 * The bytes are those of memory: a dump is for the program that made it, on a machine of the same
 * kind, and is trusted like that program.  What is checked is that it is whole: its length and a
 * checksum (CRC-32) stand at its end, and base_dump_load() compares them before anything of it is used.
 *
 *     kind, newline | the values | length of all before : 8 | checksum : 4 | "END\n" */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct BaseDump BaseDump;

/* `kind` says what the file is and in which version of its form: "hopcast checkpoint 1". */
BaseDump *base_dump_save (FILE *stream, const char *kind);
/* NULL and *error when the file cannot be read, is of another kind, torn or damaged. */
BaseDump *base_dump_load (const char *path, const char *kind, GError **error);
void base_dump_free (BaseDump *dump);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (BaseDump, base_dump_free)

bool base_dump_loads (const BaseDump *dump);

/* What is loaded does not fit: "PATH: ...".  The first failure counts, and all that is loaded after
 * it is zero and empty. */
void base_dump_fail (BaseDump *dump, const char *format, ...) G_GNUC_PRINTF (2, 3);
bool base_dump_has_failed (const BaseDump *dump);

/* After the last value.  False and *error when the dump could not be written, did not fit, or has
 * more values than were asked for. */
gboolean base_dump_end (BaseDump *dump, GError **error);

/* A mark: what follows belongs to `name`.  Fails when another mark is there. */
void base_dump_section (BaseDump *dump, const char *name);

void base_dump_bytes (BaseDump *dump, void *bytes, size_t n);
#define BASE_DUMP_VALUE(dump, value) base_dump_bytes ((dump), &(value), sizeof (value))

/* How many records of a size follow; to be visited by the caller.  Returns n or, when it loads, the
 * number that was saved: 0 when their size is another one, or when there is not room for so many. */
uint64_t base_dump_count (BaseDump *dump, uint64_t n, size_t size);

/* Records whose number is known; fails when another number was saved.  Pages of zeros take no room. */
void base_dump_array (BaseDump *dump, void *records, uint64_t n, size_t size);
/* Records in memory of g_malloc(), which is made as large as they need; NULL when there are none. */
void base_dump_list (BaseDump *dump, void **records, uint32_t *n, uint32_t *capacity, size_t size);
void base_dump_garray (BaseDump *dump, GArray *array);
/* Text of g_malloc(), or NULL; what was there is freed. */
void base_dump_text (BaseDump *dump, char **text);
/* The next value of a table of which all are saved; when it loads, zeroed memory of g_malloc() for the
 * caller to fill in and to put into the table. */
gpointer base_dump_entry (BaseDump *dump, GHashTableIter *entries, size_t size);
