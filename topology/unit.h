/* unit.h - numbers with units, as people write them: 40 ns, 2 GB/s, 3 %.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define TOPO_VL_ENTRIES      64
#define TOPO_VL_WEIGHT_BYTES 64   /* unit of a weight */
#define TOPO_VL_LIMIT_BYTES  4096 /* unit of the limit of high priority */
#define TOPO_VL_NO_LIMIT     255

/* A table of a VL arbiter, as OpenSM writes it (0:4,1:8): data lanes 0..14 in turn, each with so much weight. */
typedef struct {
  uint8_t n;
  uint8_t vl[TOPO_VL_ENTRIES], weight[TOPO_VL_ENTRIES];
} TopoVlWeights;

typedef enum {
  TOPO_UNIT_TIME,       /* whole picoseconds */
  TOPO_UNIT_BYTES,      /* whole bytes */
  TOPO_UNIT_BANDWIDTH,  /* whole bytes per second */
  TOPO_UNIT_COUNT,      /* whole, no unit */
  TOPO_UNIT_BOOLEAN,    /* whole, 0 or 1: false or true */
  TOPO_UNIT_SHARE,      /* real, in percent in the text */
  TOPO_UNIT_FLOPS,      /* real, operations per second */
  TOPO_UNIT_VL_WEIGHTS, /* a table of a VL arbiter */
} TopoUnit;

/* Whole for the whole units, real or weights for the others. */
typedef struct {
  uint64_t whole;
  double real;
  TopoVlWeights weights;
} TopoValue;

static inline bool
topo_unit_is_real (TopoUnit unit)
{
  return unit == TOPO_UNIT_SHARE || unit == TOPO_UNIT_FLOPS;
}

/* False and *error (TOPO_ERROR) when the text is not a number with a unit of
 * this kind, or not a whole number of the kind's smallest unit. */
gboolean topo_unit_parse (TopoUnit unit, const char *text, TopoValue *value, GError **error);

/* Text that topo_unit_parse() reads back to the very same value, in the
 * largest unit that says it with few digits; the caller frees it. */
char *topo_unit_print (TopoUnit unit, TopoValue value);
