/* otf2_requests.h - requests of one rank that are under way, by the archive's numbers; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * OTF2 numbers requests with 64 bits, and may use a number again when its
 * request is complete.  Operations have handles of 32 bits. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct Otf2Requests Otf2Requests;

Otf2Requests *otf2_requests_new (void);
void otf2_requests_free (Otf2Requests *requests);

/* Gives the request a handle.  Whoever had the number before has lost it: ask
 * with otf2_requests_take() first. */
uint32_t otf2_requests_bind (Otf2Requests *requests, uint64_t id);
/* The request is known, but nothing is replayed for it: its handle is
 * TRACE_REQUEST_NULL. */
void otf2_requests_bind_nothing (Otf2Requests *requests, uint64_t id);

/* The handle of a request, or false.  taken: it is complete, and the handle
 * can be given to another. */
bool otf2_requests_find (Otf2Requests *requests, uint64_t id, bool taken, uint32_t *handle);
/* The one that was bound first, of those with a real handle. */
bool otf2_requests_take_oldest (Otf2Requests *requests, uint32_t *handle);
/* Forgets all. */
void otf2_requests_take_all (Otf2Requests *requests);
uint32_t otf2_requests_count (const Otf2Requests *requests);
