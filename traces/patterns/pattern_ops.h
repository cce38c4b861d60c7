/* pattern_ops.h - operations kept until they are asked for; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every rank of a replay holds one of these lists, and there may be a million of them:
 * operations are kept packed: messages in a few bytes, others as their differences from a blank
 * one.
 * A list is filled (with the functions of pattern.h), sealed, and read. */
#pragma once

#include "traces/patterns/pattern.h"

PatternOps *pattern_ops_new (void);
void pattern_ops_free (PatternOps *ops);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (PatternOps, pattern_ops_free)

/* Empties the list, to be filled again; operations read from it are gone. */
void pattern_ops_clear (PatternOps *ops);

/* It is full: from now on it can be read, and takes no more room than it must. */
void pattern_ops_seal (PatternOps *ops);

/* Reads the operation at *at, which is 0 for the first, and moves *at to the
 * next.  FALSE when there is none.  Arrays of the operation belong to the list. */
gboolean pattern_ops_read (const PatternOps *ops, guint *at, TraceOp *op);

/* No operation comes at `at` or later, and what was read does not need the list. */
gboolean pattern_ops_is_over (const PatternOps *ops, guint at);
