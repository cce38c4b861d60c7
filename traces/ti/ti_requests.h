/* ti_requests.h - requests of one rank that are under way, for traces without handles.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Time-independent traces name a request by its source, destination and tag;
 * of equal ones the oldest is meant.  Here each gets a number of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  int32_t source, destination; /* world ranks, or TRACE_ANY_SOURCE, TRACE_PROC_NULL */
  int32_t tag;
} TiTriple;

typedef struct TiRequests TiRequests;

TiRequests *ti_requests_new (void);
void ti_requests_free (TiRequests *requests);

/* Returns the number of the request. */
uint32_t ti_requests_start (TiRequests *requests, TiTriple triple);
/* The oldest that fits; a posted wildcard fits what was asked for by name.
 * false when there is none.  taken: it is forgotten. */
bool ti_requests_find (TiRequests *requests, TiTriple triple, bool taken, uint32_t *request);
/* The youngest of all, as a wait without arguments means it. */
bool ti_requests_take_last (TiRequests *requests, uint32_t *request);
void ti_requests_forget (TiRequests *requests);
