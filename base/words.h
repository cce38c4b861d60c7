/* words.h - the known word that a misspelt one was probably meant to be.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Options, commands, columns, metrics, features, groups and keys of files are all looked up by
 * name; an error about an unknown name offers the nearest known one. */
#pragma once

#include <glib.h>

/* The NULL-terminated word that was probably meant, NULL when none is near: a third of the letters
 * may be edited (inserted, removed, replaced, or exchanged with a neighbour), at most three, and the
 * case of letters does not count; or the only word with this beginning.  Of equally near words the
 * first. */
const char *base_nearest (const char *word, const char *const *words);

/* "; did you mean WORD?", or "" when no word is near: the end of an error's message.  The caller
 * frees it. */
char *base_did_you_mean (const char *word, const char *const *words);

/* "1 run", "2 runs": a number of things whose plural has an s more.  The caller frees it. */
char *base_count (guint n, const char *noun);
