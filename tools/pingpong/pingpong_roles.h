/* pingpong_roles.h - orders of rank 0, and what a process does when it has one; private to
 * hopcast-pingpong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tools/pingpong/pingpong_ranks.h"

typedef enum {
  PINGPONG_IDLE,  /* no order at all */
  PINGPONG_TELL,  /* where you run */
  PINGPONG_BIND,  /* run on one processor */
  PINGPONG_PING,  /* the observed pair: begins */
  PINGPONG_PONG,  /* any pair: answers, until it is told the last message */
  PINGPONG_NOISE, /* begins, until rank `leader` stops it */
  PINGPONG_CALLS, /* a collective */
  PINGPONG_END,
} PingpongOrderKind;

typedef struct {
  int32_t kind;
  int32_t partner, leader, n_noise; /* n_noise: pairs that report to PING */
  int32_t collective, cpu, status;
  int64_t bytes;
  CliPingpongEffort effort;
} PingpongOrder;

enum {
  PINGPONG_TAG_ORDER,
  PINGPONG_TAG_REPORT,
  PINGPONG_TAG_MESSAGE,
  PINGPONG_TAG_LAST,    /* the same pair: it is over */
  PINGPONG_TAG_RUNNING, /* a pair of noise to PING: our messages go to and fro */
  PINGPONG_TAG_STOP,    /* and back */
};

/* Monotonic. */
double pingpong_now_us (void);

/* Memory for so many bytes to send, and so many to receive, all of it touched. */
void pingpong_buffers (gsize n_bytes, char **sent, char **received);

CliPingpongMedian pingpong_ping (const PingpongOrder *order);
void pingpong_pong (const PingpongOrder *order);
void pingpong_noise (const PingpongOrder *order);

/* What it took is known to rank 0. */
CliPingpongMedian pingpong_calls (const PingpongOrder *order);
