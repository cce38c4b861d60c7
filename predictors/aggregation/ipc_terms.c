/* ipc_terms.c - see ipc_terms.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "predictors/aggregation/ipc_terms.h"

/* Of the sample, or of the pair: one of the IPCs, and one of each event. */
static PredictIpcTerm *
put_terms (PredictIpcTerm *term, guint sample, guint second, guint n_events)
{
  *term++ = (PredictIpcTerm){ sample, second, PREDICT_IPC_NONE };
  for (guint event = 0; event < n_events; event++)
    *term++ = (PredictIpcTerm){ sample, second, event };
  return term;
}

PredictIpcTerm *
predict_ipc_terms (guint n_samples, guint n_events, guint *n_terms)
{
  PredictIpcTerm *terms, *next;

  if (n_samples == 0 || n_samples > PREDICT_IPC_MAX_TERMS || n_events >= PREDICT_IPC_MAX_TERMS)
    return NULL;
  *n_terms = (n_samples + n_samples * (n_samples - 1) / 2) * (n_events + 1);
  if (*n_terms > PREDICT_IPC_MAX_TERMS)
    return NULL;
  next = terms = g_new (PredictIpcTerm, *n_terms);
  for (guint sample = 0; sample < n_samples; sample++)
    next = put_terms (next, sample, PREDICT_IPC_NONE, n_events);
  for (guint sample = 0; sample < n_samples; sample++)
    for (guint second = sample + 1; second < n_samples; second++)
      next = put_terms (next, sample, second, n_events);
  g_assert (next == terms + *n_terms);
  return terms;
}

double
predict_ipc_term_value (const PredictIpcTerm *term, guint n_events, const double *ipc,
                        const double *rates)
{
  if (term->second == PREDICT_IPC_NONE)
    return ipc[term->sample] *
           (term->event == PREDICT_IPC_NONE ? 1 : rates[term->sample * n_events + term->event]);
  if (term->event == PREDICT_IPC_NONE)
    return ipc[term->sample] * ipc[term->second];
  return rates[term->sample * n_events + term->event] *
         rates[term->second * n_events + term->event];
}

char *
predict_ipc_term_name (const PredictIpcTerm *term, const char *const *samples,
                       const char *const *events)
{
  const char *sample = samples[term->sample];
  const char *event = term->event == PREDICT_IPC_NONE ? NULL : events[term->event];

  if (term->second == PREDICT_IPC_NONE)
    return event == NULL ? g_strdup_printf ("ipc(%s)", sample)
                         : g_strdup_printf ("ipc(%s)*%s(%s)", sample, event, sample);
  event = event != NULL ? event : "ipc";
  return g_strdup_printf ("%s(%s)*%s(%s)", event, sample, event, samples[term->second]);
}
