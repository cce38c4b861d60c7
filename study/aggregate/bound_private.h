/* bound_private.h - messages under way while a program is replayed with the times of a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Private to bound_replay.c (what ranks do) and bound_messages.c (what becomes of messages).
 *
 * A simulation by events, in order of time, then of their making.  A message begins to
 * leave its sender, after those that left before: an eager one when it is sent, a longer one when
 * both ends wait.  Once its receiver waits too, that takes it, after others that it has under
 * way.  Until a rank's `busy_s` it is at operations that have begun; at `leaving_s` the
 * last message has left. */
#pragma once

#include "study/aggregate/bound_replay.h"

#define STUDY_BOUND_NOBODY UINT32_MAX

typedef enum { STUDY_BOUND_RUN, STUDY_BOUND_BEGIN, STUDY_BOUND_TAKE } StudyBoundEventKind;

typedef struct {
  double s;
  uint64_t order;
  uint32_t kind, which; /* rank of RUN, else message */
} StudyBoundEvent;

typedef struct {
  uint32_t from, to;
  uint32_t send_post, recv_post; /* numbers at their ranks; STUDY_BOUND_NOBODY: not posted yet */
  uint32_t next;                 /* free ones */
  int32_t tag;
  bool is_eager;
  double posted_s;                 /* when sent */
  double send_wait_s, recv_wait_s; /* since when that end waits; NaN: it does not yet */
  double leave_s;                  /* when it begins to leave; NaN: it has not begun */
  double time_s;
} StudyBoundMessage;

typedef struct {
  uint32_t message;  /* STUDY_BOUND_NOBODY: a receive that has no message yet */
  int32_t peer, tag; /* of such a receive */
  double done_s;     /* NaN: not known */
  bool is_waited;
} StudyBoundPost;

typedef struct {
  guint at; /* step */
  double now_s, busy_s, leaving_s;
  uint32_t phase;
  GArray *posts;      /* (element-type StudyBoundPost) all of the rank */
  GArray *pending;    /* (element-type guint32) receives without a message, oldest first */
  GArray *arrived;    /* (element-type guint32) messages to it without a receive, oldest first */
  GArray *idle;       /* (element-type guint32) posts since it last waited that have a message, but
                      * for eager sends */
  uint32_t n_missing; /* posts of the await it is in */
  double ready_s;     /* when those that are known are done */
  bool is_waiting, is_done;
} StudyBoundRank;

typedef struct {
  const StudyProgram *program;
  StudyNoise *noise;
  const StudyReplayLimits *limits;
  StudyReplayTimes *times;
  StudyBoundRank *ranks;
  GArray *messages; /* (element-type StudyBoundMessage) */
  uint32_t free_message;
  GArray *heap; /* (element-type StudyBoundEvent) */
  uint64_t n_events;
  uint32_t n_gathered; /* ranks in the collective */
  double gathered_s;
  StudyStep gathered; /* of the first of them */
  GError **error;
  bool has_failed;
} StudyBoundReplay;

void
study_bound_push (StudyBoundReplay *replay, double s, StudyBoundEventKind kind, uint32_t which);
/* The next one; there must be one. */
StudyBoundEvent study_bound_pop (StudyBoundReplay *replay);

StudyBoundPost *
study_bound_post_at (const StudyBoundReplay *replay, uint32_t rank, uint32_t number);

/* What a rank posts at its time. */
void study_bound_post_send (StudyBoundReplay *replay, uint32_t rank, const StudyStep *step);
void study_bound_post_receive (StudyBoundReplay *replay, uint32_t rank, const StudyStep *step);

/* The rank waits: all that it has posted can go on. */
void study_bound_attend (StudyBoundReplay *replay, uint32_t rank);

/* The events of a message. */
void study_bound_begin (StudyBoundReplay *replay, uint32_t number, double now_s);
void study_bound_take (StudyBoundReplay *replay, uint32_t number, double now_s);
