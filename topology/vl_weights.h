/* vl_weights.h - tables of VL arbiters, as OpenSM writes them: 0:4,1:8.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdint.h>

#define TOPO_VL_ENTRIES      64
#define TOPO_VL_WEIGHT_BYTES 64   /* unit of a weight */
#define TOPO_VL_LIMIT_BYTES  4096 /* unit of the limit of high priority */
#define TOPO_VL_NO_LIMIT     255

/* Data lanes 0..14 in turn, each with so much weight. */
typedef struct {
  uint8_t n;
  uint8_t vl[TOPO_VL_ENTRIES], weight[TOPO_VL_ENTRIES];
} TopoVlWeights;

/* "none", or VL:weight up to 64 times with commas; FALSE and *error
 * (TOPO_ERROR) when it is neither. */
gboolean topo_vl_weights_parse (const char *text, TopoVlWeights *weights, GError **error);

/* Text that the parser reads back; the caller frees it. */
char *topo_vl_weights_print (const TopoVlWeights *weights);
