/* recording_file.h - reads the file of one rank of a recording; private to
 * traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/trace.h"

typedef struct RecordingFile RecordingFile;

/* Strings of all files of a trace; lives as long as it. */
typedef struct {
  GMutex lock;
  GHashTable *strings; /* set of utf8, owned */
} RecordingStrings;

void recording_strings_init (RecordingStrings *strings);
void recording_strings_clear (RecordingStrings *strings);

/* NULL and *error when it cannot be opened or has no sound header. */
RecordingFile *recording_file_open (const char *path, RecordingStrings *strings, GError **error);
void recording_file_close (RecordingFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RecordingFile, recording_file_close)

/* The value of a key of the header, or NULL. */
const char *recording_file_key (const RecordingFile *file, const char *key);
/* The same, as a number that must be there and at most `limit`. */
gboolean recording_file_number (const RecordingFile *file, const char *key, uint32_t limit,
                                uint32_t *value, GError **error);

/* The next operation, and the computation before it in *compute: its kind is
 * TRACE_OP_COMPUTE when there was any, else it is not set.  Arrays live until
 * the next call. */
TraceNext recording_file_next (RecordingFile *file, TraceOp *compute, TraceOp *op, GError **error);
/* After the end: whether the file ends in the middle of a block. */
gboolean recording_file_is_cut (const RecordingFile *file);
/* Of the operation last read. */
goffset recording_file_offset (const RecordingFile *file);
