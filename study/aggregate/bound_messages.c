/* bound_messages.c - see bound_private.h: what becomes of messages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/aggregate/bound_private.h"

#include <math.h>

/* --- Events, a binary heap --- */

static bool
is_before (const StudyBoundEvent *a, const StudyBoundEvent *b)
{
  return a->s < b->s || (a->s <= b->s && a->order < b->order);
}

void
study_bound_push (StudyBoundReplay *replay, double s, StudyBoundEventKind kind, uint32_t which)
{
  const StudyBoundEvent event = { s, replay->n_events++, kind, which };
  guint at = replay->heap->len;
  StudyBoundEvent *heap;

  g_array_append_val (replay->heap, event);
  heap = (StudyBoundEvent *) (void *) replay->heap->data;
  while (at > 0 && is_before (&event, &heap[(at - 1) / 2])) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = event;
}

StudyBoundEvent
study_bound_pop (StudyBoundReplay *replay)
{
  StudyBoundEvent *heap = (StudyBoundEvent *) (void *) replay->heap->data;
  const StudyBoundEvent first = heap[0], last = heap[replay->heap->len - 1];
  guint n = replay->heap->len - 1, at = 0;

  for (guint child = 1; child < n; child = 2 * at + 1) {
    if (child + 1 < n && is_before (&heap[child + 1], &heap[child]))
      child++;
    if (!is_before (&heap[child], &last))
      break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = last;
  g_array_set_size (replay->heap, n);
  return first;
}

/* --- Messages --- */

static StudyBoundMessage *
message_at (const StudyBoundReplay *replay, uint32_t number)
{
  return &g_array_index (replay->messages, StudyBoundMessage, number);
}

StudyBoundPost *
study_bound_post_at (const StudyBoundReplay *replay, uint32_t rank, uint32_t number)
{
  return &g_array_index (replay->ranks[rank].posts, StudyBoundPost, number);
}

static uint32_t
message_new (StudyBoundReplay *replay)
{
  const StudyBoundMessage blank = { .recv_post = STUDY_BOUND_NOBODY };
  uint32_t number = replay->free_message;

  if (number == STUDY_BOUND_NOBODY) {
    g_array_append_val (replay->messages, blank);
    return replay->messages->len - 1;
  }
  replay->free_message = message_at (replay, number)->next;
  *message_at (replay, number) = blank;
  return number;
}

static void
message_free (StudyBoundReplay *replay, uint32_t number)
{
  message_at (replay, number)->next = replay->free_message;
  replay->free_message = number;
}

/* The rank's post is done at that time; who waits for it may go on. */
static void
finish (StudyBoundReplay *replay, uint32_t rank, uint32_t number, double s)
{
  StudyBoundRank *r = &replay->ranks[rank];
  StudyBoundPost *post = study_bound_post_at (replay, rank, number);

  post->done_s = s;
  post->message = STUDY_BOUND_NOBODY;
  if (!post->is_waited)
    return;
  r->ready_s = fmax (r->ready_s, s);
  if (--r->n_missing == 0)
    study_bound_push (replay, r->ready_s, STUDY_BOUND_RUN, rank);
}

/* A rank is at an operation for its time, after those before it. */
static double
occupy (StudyBoundReplay *replay, uint32_t rank, double from_s, double time_s)
{
  StudyBoundRank *r = &replay->ranks[rank];

  r->busy_s = fmax (r->busy_s, from_s) + time_s;
  replay->times->sum_s[rank] += time_s;
  return r->busy_s;
}

/* The receiver waits, and the message has begun. */
static void
take_if_begun (StudyBoundReplay *replay, uint32_t number)
{
  const StudyBoundMessage *message = message_at (replay, number);

  if (!isnan (message->leave_s) && !isnan (message->recv_wait_s))
    study_bound_push (replay, fmax (message->leave_s, message->recv_wait_s), STUDY_BOUND_TAKE,
                      number);
}

/* It leaves its sender, whom it occupies when it is not eager. */
void
study_bound_begin (StudyBoundReplay *replay, uint32_t number, double now_s)
{
  StudyBoundMessage *message = message_at (replay, number);
  StudyBoundRank *sender = &replay->ranks[message->from];

  message->leave_s = fmax (sender->leaving_s, now_s);
  sender->leaving_s = message->leave_s + message->time_s;
  if (message->is_eager)
    replay->times->sum_s[message->from] += message->time_s;
  finish (replay, message->from, message->send_post,
          message->is_eager ? now_s : occupy (replay, message->from, now_s, message->time_s));
  take_if_begun (replay, number);
}

void
study_bound_take (StudyBoundReplay *replay, uint32_t number, double now_s)
{
  const StudyBoundMessage message = *message_at (replay, number);

  message_free (replay, number);
  finish (replay, message.to, message.recv_post,
          occupy (replay, message.to, now_s, message.time_s));
}

/* An end waits: a long message begins when both do. */
static void
attend_message (StudyBoundReplay *replay, uint32_t number, bool is_sender, double now_s)
{
  StudyBoundMessage *message = message_at (replay, number);

  if (is_sender)
    message->send_wait_s = now_s;
  else
    message->recv_wait_s = now_s;
  if (message->is_eager)
    take_if_begun (replay, number);
  else if (!isnan (message->send_wait_s) && !isnan (message->recv_wait_s))
    study_bound_push (replay, fmax (message->send_wait_s, message->recv_wait_s), STUDY_BOUND_BEGIN,
                      number);
}

/* A receive and a message have found each other. */
static void
match (StudyBoundReplay *replay, uint32_t number, uint32_t receive)
{
  StudyBoundMessage *message = message_at (replay, number);
  StudyBoundRank *receiver = &replay->ranks[message->to];
  StudyBoundPost *post = study_bound_post_at (replay, message->to, receive);

  post->message = number;
  message->recv_post = receive;
  if (receiver->is_waiting)
    attend_message (replay, number, false, fmax (receiver->now_s, message->posted_s));
  else
    g_array_append_val (receiver->idle, receive);
}

static bool
fits (const StudyBoundPost *post, const StudyBoundMessage *message)
{
  return (post->peer == TRACE_ANY_SOURCE || (uint32_t) post->peer == message->from) &&
         (post->tag == TRACE_ANY_TAG || post->tag == message->tag);
}

/* --- Steps --- */

static double
time_of (StudyBoundReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes)
{
  StudyBoundDoubt doubt = { .extrapolated = false };
  double s = 0;

  if (peer != rank) {
    s = study_noise_message_s (replay->noise, replay->ranks[rank].phase, rank, peer, bytes, &doubt,
                               replay->error);
    replay->times->n_messages++;
  }
  replay->has_failed = replay->has_failed || isnan (s);
  replay->times->n_extrapolated += doubt.extrapolated;
  replay->times->n_substituted += doubt.substituted;
  return s;
}

static bool
is_eager (const StudyBoundReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes)
{
  const StudyReplayLimits *limits = replay->limits;

  return peer == rank || bytes <= (limits->mapping->node[rank] == limits->mapping->node[peer]
                                       ? limits->eager_within
                                       : limits->eager_between);
}

void
study_bound_post_send (StudyBoundReplay *replay, uint32_t rank, const StudyStep *step)
{
  StudyBoundRank *sender = &replay->ranks[rank], *receiver = &replay->ranks[step->peer];
  uint32_t number = message_new (replay), send_post = sender->posts->len,
           peer = (uint32_t) step->peer;
  StudyBoundPost post = { .message = number, .done_s = NAN };
  StudyBoundMessage *message = message_at (replay, number);

  *message = (StudyBoundMessage){ .from = rank,
                                  .to = peer,
                                  .send_post = send_post,
                                  .recv_post = STUDY_BOUND_NOBODY,
                                  .tag = step->tag,
                                  .is_eager = is_eager (replay, rank, peer, step->bytes),
                                  .posted_s = sender->now_s,
                                  .send_wait_s = NAN,
                                  .recv_wait_s = NAN,
                                  .leave_s = NAN,
                                  .time_s = time_of (replay, rank, peer, step->bytes) };
  g_array_append_val (sender->posts, post);
  if (message->is_eager)
    study_bound_begin (replay, number, sender->now_s);
  else
    g_array_append_val (sender->idle, send_post);
  for (guint i = 0; i < receiver->pending->len; i++) {
    uint32_t receive = g_array_index (receiver->pending, uint32_t, i);

    if (fits (study_bound_post_at (replay, peer, receive), message)) {
      g_array_remove_index (receiver->pending, i);
      match (replay, number, receive);
      return;
    }
  }
  g_array_append_val (receiver->arrived, number);
}

void
study_bound_post_receive (StudyBoundReplay *replay, uint32_t rank, const StudyStep *step)
{
  StudyBoundRank *receiver = &replay->ranks[rank];
  uint32_t receive = receiver->posts->len;
  const StudyBoundPost post = {
    .message = STUDY_BOUND_NOBODY, .peer = step->peer, .tag = step->tag, .done_s = NAN
  };

  g_array_append_val (receiver->posts, post);
  for (guint i = 0; i < receiver->arrived->len; i++) {
    uint32_t number = g_array_index (receiver->arrived, uint32_t, i);

    if (fits (&post, message_at (replay, number))) {
      g_array_remove_index (receiver->arrived, i);
      match (replay, number, receive);
      return;
    }
  }
  g_array_append_val (receiver->pending, receive);
}

/* In a call that waits, all that the rank has posted can go on. */
void
study_bound_attend (StudyBoundReplay *replay, uint32_t rank)
{
  StudyBoundRank *r = &replay->ranks[rank];

  for (guint i = 0; i < r->idle->len; i++) {
    uint32_t post = g_array_index (r->idle, uint32_t, i);
    uint32_t number = study_bound_post_at (replay, rank, post)->message;

    attend_message (replay, number,
                    message_at (replay, number)->send_post == post &&
                        message_at (replay, number)->from == rank,
                    r->now_s);
  }
  g_array_set_size (r->idle, 0);
}
