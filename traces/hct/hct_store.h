/* hct_store.h - an open native trace file, and what its cursors share; private
 * to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Programs are made ready when the first cursor comes to them, are shared by
 * all cursors that run them, and go some time after the last has left; so do
 * blocks.  All may be called from any thread. */
#pragma once

#include "traces/hct/hct_file.h"
#include "traces/hct/hct_program.h"

typedef struct HctStoreCache HctStoreCache;

/* Constant but for the cache. */
typedef struct {
  char *path;
  GBytes *contents;
  HctIndex *index;
  HctStoreCache *cache;
} HctStore;

/* NULL and *error when it cannot be opened. */
HctStore *hct_store_new (const char *path, GError **error);
void hct_store_free (HctStore *store);

/* A block of the index, unpacked; the caller unrefs. */
GBytes *hct_store_block (HctStore *store, uint32_t number, GError **error);

/* A program of the index, until it is released. */
const HctProgram *hct_store_program (HctStore *store, uint32_t number, GError **error);
void hct_store_release (HctStore *store, uint32_t number);
