/* pingpong_table.h - what hopcast-pingpong measures, one after the other, and the table of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The table is that of predictors/aggregation/bound_table.h. */
#pragma once

#include "tools/pingpong/pingpong_options.h"

typedef struct {
  const CliPingpongOptions *options;
  const CliPingpongPlan *plan; /* NULL: no messages */
  const char *tasks_class;     /* of collectives; NULL: there are none */
  uint32_t n_ranks;
} CliPingpongJob;

/* How many times there will be. */
guint cli_pingpong_count (const CliPingpongJob *job);

/* Rows as of the table, without sizes and times but with the number of sizes: 0 where processes
 * lack for it.  How long all takes is told on standard error. */
char *cli_pingpong_list (const CliPingpongJob *job);

/* The table; the caller frees the text.  How sure its times are is told on standard error, unless
 * the options are quiet. */
char *cli_pingpong_table (const CliPingpongJob *job);
