/* ti_arguments.h - the arguments of a line of a time-independent trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each ti_take_*() reads the next argument; `what` names it in the error.  A
 * line's errors do not say where it is: the caller knows. */
#pragma once

#include "traces/trace.h"

typedef enum { TI_TYPE_NULL = -1, TI_TYPE_DOUBLE = 0, TI_TYPE_BYTE = 6 } TiType;

typedef struct {
  Trace *trace; /* for warnings */
  uint32_t n_ranks;
  uint64_t default_bytes; /* of a datatype that is not given, or unknown */
  const char *next;       /* token of the line being read; the line's text is borrowed */
  guint left;             /* tokens from it on */
} TiArguments;

TiArguments *ti_arguments_new (Trace *trace, uint32_t n_ranks);
void ti_arguments_free (TiArguments *arguments);

/* Starts with a line; overwrites its blanks, and borrows it. */
void ti_arguments_split (TiArguments *arguments, char *text);
guint ti_arguments_left (const TiArguments *arguments);
/* The next word, NULL at the end. */
const char *ti_arguments_next (TiArguments *arguments);
void ti_arguments_skip (TiArguments *arguments);

uint64_t ti_type_bytes (TiType type);

/* Always FALSE. */
gboolean
ti_line_error (GError **error, TraceError code, const char *format, ...) G_GNUC_PRINTF (3, 4);

gboolean ti_take_number (TiArguments *arguments, const char *what, double *value, GError **error);
/* At most `max` in either direction. */
gboolean ti_take_integer (TiArguments *arguments, const char *what, double max, int64_t *value,
                          GError **error);
gboolean ti_take_length (TiArguments *arguments, const char *what, int64_t *length, GError **error);
gboolean ti_take_count (TiArguments *arguments, const char *what, uint64_t *count, GError **error);
/* One for each rank; *counts is allocated when it is NULL. */
gboolean
ti_take_counts (TiArguments *arguments, const char *what, uint64_t **counts, GError **error);
gboolean ti_take_tag (TiArguments *arguments, int32_t *tag, GError **error);
gboolean ti_take_rank (TiArguments *arguments, const char *what, gboolean wildcard, int32_t *rank,
                       GError **error);
gboolean ti_take_work (TiArguments *arguments, double *flops, GError **error);

/* These may be left out at the end of a line. */
gboolean ti_take_root (TiArguments *arguments, int32_t *root, GError **error);
gboolean ti_take_type (TiArguments *arguments, uint64_t *bytes, GError **error);
gboolean
ti_take_types (TiArguments *arguments, uint64_t *send_bytes, uint64_t *recv_bytes, GError **error);
