/* ipc_terms.h - what the IPC of a pattern is a linear function of: equations 1 to 3.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The paper on task aggregation (section III) predicts the instructions per cycle of a program in one
 * pattern from its IPC and event rates e in a few sample patterns S.  Multiplied out, its equations are
 * a sum, with a coefficient each, of
 *
 *     1                          sigma + l, which no data can tell apart
 *     IPC_s                      of each sample: y_1 + ... + y_n + z, likewise one coefficient
 *     IPC_s e_(j,s)              of each event and sample
 *     e_(j,s) e_(j,r)            of each event and pair of samples
 *     IPC_s IPC_r                of each pair of samples
 *
 * That is 1 + |S| (n + 1) + |S| (|S| - 1) / 2 (n + 1): 7 coefficients of two samples and one event, 10 of
 * two events, 13 of three. */
#pragma once

#include <glib.h>

/* A product of one or two factors, of which the first is an IPC where `event` is NONE or `second`
 * is. */
#define PREDICT_IPC_NONE G_MAXUINT
typedef struct {
  guint sample, second; /* NONE: a term of one sample */
  guint event;          /* NONE: of no event */
} PredictIpcTerm;

/* Larger models than any machine has counters for; a broken file does not ask for gigabytes. */
#define PREDICT_IPC_MAX_TERMS 1000u

/* The terms but the constant, sample by sample and then the pairs; *n_terms of them, g_free().  NULL:
 * none, or more than there may be. */
PredictIpcTerm *predict_ipc_terms (guint n_samples, guint n_events, guint *n_terms);

/* Its value, from ipc[n_samples] and rates[n_samples][n_events]. */
double predict_ipc_term_value (const PredictIpcTerm *term, guint n_events, const double *ipc,
                               const double *rates);

/* "ipc(4)*misses(4)", "misses(4)*misses(5)"; g_free(). */
char *predict_ipc_term_name (const PredictIpcTerm *term, const char *const *samples,
                             const char *const *events);
