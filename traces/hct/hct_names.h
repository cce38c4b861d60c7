/* hct_names.h - the strings that records of the native format name; private
 * to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/hct/hct_bytes.h"
#include "mpi/operation.h"

typedef struct HctNames HctNames;

/* What a record is of. */
typedef struct {
  TraceOpKind kind;
  char *name; /* not empty */
} HctCall;

HctNames *hct_names_new (void);
void hct_names_free (HctNames *names);

/* For writing: the number of a (kind, name) or of a site, which is entered
 * when it is new.  The strings must stay where they are.  An operation without
 * a name gets that of its kind; a site that is empty is none. */
uint32_t hct_names_call (HctNames *names, TraceOpKind kind, const char *name);
uint32_t hct_names_site (HctNames *names, const char *site);

/* For reading: NULL when there is none of that number. */
const HctCall *hct_names_find_call (const HctNames *names, uint64_t number);
const char *hct_names_find_site (const HctNames *names, uint64_t number);

void hct_names_put (const HctNames *names, HctBuffer *out);
bool hct_names_take (HctNames *names, HctReader *in);

/* NULL and "" are told apart. */
void hct_put_string (HctBuffer *out, const char *string);
/* The caller frees; NULL for NULL and for what is bad. */
char *hct_take_string (HctReader *in);
