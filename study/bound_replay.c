/* bound_replay.c - see bound_replay.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A simulation by events, in order of time, then of their making.  A message begins (BEGIN) to
 * leave its sender, after those that left before: an eager one when it is sent, a longer one when
 * both ends wait.  Once its receiver waits too, that takes it (TAKE), after others that it has under
 * way.  Until a rank's `busy_s` it is at operations that have begun; at `leaving_s` the
 * last message has left. */
#include "config.h"

#include "study/bound_replay.h"

#include "study/error.h"

#include <math.h>

#define NONE UINT32_MAX

typedef enum { EVENT_RUN, EVENT_BEGIN, EVENT_TAKE } EventKind;

typedef struct {
  double s;
  uint64_t order;
  uint32_t kind, which; /* rank of RUN, else message */
} Event;

typedef struct {
  uint32_t from, to;
  uint32_t send_post, recv_post; /* numbers at their ranks; NONE: not posted yet */
  uint32_t next;                 /* free ones */
  int32_t tag;
  bool is_eager;
  double posted_s;                 /* when sent */
  double send_wait_s, recv_wait_s; /* since when that end waits; NaN: it does not yet */
  double leave_s;                  /* when it begins to leave; NaN: it has not begun */
  double time_s;
} Message;

typedef struct {
  uint32_t message;  /* NONE: a receive that has no message yet */
  int32_t peer, tag; /* of such a receive */
  double posted_s;
  double done_s; /* NaN: not known */
  bool is_waited;
} Post;

typedef struct {
  guint at; /* step */
  double now_s, busy_s, leaving_s;
  uint32_t phase;
  GArray *posts;      /* (element-type Post) all of the rank */
  GArray *pending;    /* (element-type guint32) receives without a message, oldest first */
  GArray *arrived;    /* (element-type guint32) messages to it without a receive, oldest first */
  GArray *idle;       /* (element-type guint32) posts since it last waited that have a message, but
                      * for eager sends */
  uint32_t n_missing; /* posts of the await it is in */
  double ready_s;     /* when those that are known are done */
  bool is_waiting, is_done;
} Rank;

typedef struct {
  const StudyProgram *program;
  StudyNoise *noise;
  const StudyReplayLimits *limits;
  StudyReplayTimes *times;
  Rank *ranks;
  GArray *messages; /* (element-type Message) */
  uint32_t free_message;
  GArray *heap; /* (element-type Event) */
  uint64_t n_events;
  uint32_t n_gathered; /* ranks in the collective */
  double gathered_s;
  StudyStep gathered; /* of the first of them */
  GError **error;
  bool has_failed;
} Replay;

/* -- events, a binary heap ------------------------------------------------------- */

static bool
is_before (const Event *a, const Event *b)
{
  return a->s < b->s || (a->s <= b->s && a->order < b->order);
}

static void
push (Replay *replay, double s, EventKind kind, uint32_t which)
{
  const Event event = { s, replay->n_events++, kind, which };
  guint at = replay->heap->len;
  Event *heap;

  g_array_append_val (replay->heap, event);
  heap = (Event *) (void *) replay->heap->data;
  while (at > 0 && is_before (&event, &heap[(at - 1) / 2])) {
    heap[at] = heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap[at] = event;
}

static Event
pop (Replay *replay)
{
  Event *heap = (Event *) (void *) replay->heap->data;
  const Event first = heap[0], last = heap[replay->heap->len - 1];
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

/* -- messages -------------------------------------------------------------------- */

static Message *
message_at (const Replay *replay, uint32_t number)
{
  return &g_array_index (replay->messages, Message, number);
}

static Post *
post_at (const Replay *replay, uint32_t rank, uint32_t number)
{
  return &g_array_index (replay->ranks[rank].posts, Post, number);
}

static uint32_t
message_new (Replay *replay)
{
  const Message blank = { .recv_post = NONE };
  uint32_t number = replay->free_message;

  if (number == NONE) {
    g_array_append_val (replay->messages, blank);
    return replay->messages->len - 1;
  }
  replay->free_message = message_at (replay, number)->next;
  *message_at (replay, number) = blank;
  return number;
}

static void
message_free (Replay *replay, uint32_t number)
{
  message_at (replay, number)->next = replay->free_message;
  replay->free_message = number;
}

/* The rank's post is done at that time; who waits for it may go on. */
static void
finish (Replay *replay, uint32_t rank, uint32_t number, double s)
{
  Rank *r = &replay->ranks[rank];
  Post *post = post_at (replay, rank, number);

  post->done_s = s;
  post->message = NONE;
  if (!post->is_waited)
    return;
  r->ready_s = fmax (r->ready_s, s);
  if (--r->n_missing == 0)
    push (replay, r->ready_s, EVENT_RUN, rank);
}

/* A rank is at an operation for its time, after those before it. */
static double
occupy (Replay *replay, uint32_t rank, double from_s, double time_s)
{
  Rank *r = &replay->ranks[rank];

  r->busy_s = fmax (r->busy_s, from_s) + time_s;
  replay->times->sum_s[rank] += time_s;
  return r->busy_s;
}

/* The receiver waits, and the message has begun. */
static void
take_if_begun (Replay *replay, uint32_t number)
{
  const Message *message = message_at (replay, number);

  if (!isnan (message->leave_s) && !isnan (message->recv_wait_s))
    push (replay, fmax (message->leave_s, message->recv_wait_s), EVENT_TAKE, number);
}

/* It leaves its sender, whom it occupies when it is not eager. */
static void
begin (Replay *replay, uint32_t number, double now_s)
{
  Message *message = message_at (replay, number);
  Rank *sender = &replay->ranks[message->from];

  message->leave_s = fmax (sender->leaving_s, now_s);
  sender->leaving_s = message->leave_s + message->time_s;
  if (message->is_eager)
    replay->times->sum_s[message->from] += message->time_s;
  finish (replay, message->from, message->send_post,
          message->is_eager ? now_s : occupy (replay, message->from, now_s, message->time_s));
  take_if_begun (replay, number);
}

static void
take (Replay *replay, uint32_t number, double now_s)
{
  const Message message = *message_at (replay, number);

  message_free (replay, number);
  finish (replay, message.to, message.recv_post,
          occupy (replay, message.to, now_s, message.time_s));
}

/* An end waits: a long message begins when both do. */
static void
attend_message (Replay *replay, uint32_t number, bool is_sender, double now_s)
{
  Message *message = message_at (replay, number);

  if (is_sender)
    message->send_wait_s = now_s;
  else
    message->recv_wait_s = now_s;
  if (message->is_eager)
    take_if_begun (replay, number);
  else if (!isnan (message->send_wait_s) && !isnan (message->recv_wait_s))
    push (replay, fmax (message->send_wait_s, message->recv_wait_s), EVENT_BEGIN, number);
}

/* A receive and a message have found each other. */
static void
match (Replay *replay, uint32_t number, uint32_t receive)
{
  Message *message = message_at (replay, number);
  Rank *receiver = &replay->ranks[message->to];
  Post *post = post_at (replay, message->to, receive);

  post->message = number;
  message->recv_post = receive;
  if (receiver->is_waiting)
    attend_message (replay, number, false, fmax (receiver->now_s, message->posted_s));
  else
    g_array_append_val (receiver->idle, receive);
}

static bool
fits (const Post *post, const Message *message)
{
  return (post->peer == TRACE_ANY_SOURCE || (uint32_t) post->peer == message->from) &&
         (post->tag == TRACE_ANY_TAG || post->tag == message->tag);
}

/* -- steps ----------------------------------------------------------------------- */

static double
time_of (Replay *replay, uint32_t rank, uint32_t peer, uint64_t bytes)
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
is_eager (const Replay *replay, uint32_t rank, uint32_t peer, uint64_t bytes)
{
  const StudyReplayLimits *limits = replay->limits;

  return peer == rank || bytes <= (limits->mapping->node[rank] == limits->mapping->node[peer]
                                       ? limits->eager_within
                                       : limits->eager_between);
}

static void
post_send (Replay *replay, uint32_t rank, const StudyStep *step)
{
  Rank *sender = &replay->ranks[rank], *receiver = &replay->ranks[step->peer];
  uint32_t number = message_new (replay), send_post = sender->posts->len,
           peer = (uint32_t) step->peer;
  Post post = { .message = number, .posted_s = sender->now_s, .done_s = NAN };
  Message *message = message_at (replay, number);

  *message = (Message){ .from = rank,
                        .to = peer,
                        .send_post = send_post,
                        .recv_post = NONE,
                        .tag = step->tag,
                        .is_eager = is_eager (replay, rank, peer, step->bytes),
                        .posted_s = sender->now_s,
                        .send_wait_s = NAN,
                        .recv_wait_s = NAN,
                        .leave_s = NAN,
                        .time_s = time_of (replay, rank, peer, step->bytes) };
  g_array_append_val (sender->posts, post);
  if (message->is_eager)
    begin (replay, number, sender->now_s);
  else
    g_array_append_val (sender->idle, send_post);
  for (guint i = 0; i < receiver->pending->len; i++) {
    uint32_t receive = g_array_index (receiver->pending, uint32_t, i);

    if (fits (post_at (replay, peer, receive), message)) {
      g_array_remove_index (receiver->pending, i);
      match (replay, number, receive);
      return;
    }
  }
  g_array_append_val (receiver->arrived, number);
}

static void
post_receive (Replay *replay, uint32_t rank, const StudyStep *step)
{
  Rank *receiver = &replay->ranks[rank];
  uint32_t receive = receiver->posts->len;
  const Post post = { .message = NONE,
                      .peer = step->peer,
                      .tag = step->tag,
                      .posted_s = receiver->now_s,
                      .done_s = NAN };

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
static void
attend (Replay *replay, uint32_t rank)
{
  Rank *r = &replay->ranks[rank];

  for (guint i = 0; i < r->idle->len; i++) {
    uint32_t post = g_array_index (r->idle, uint32_t, i);
    uint32_t number = post_at (replay, rank, post)->message;

    attend_message (replay, number,
                    message_at (replay, number)->send_post == post &&
                        message_at (replay, number)->from == rank,
                    r->now_s);
  }
  g_array_set_size (r->idle, 0);
}

/* FALSE: the rank must wait. */
static bool
await (Replay *replay, uint32_t rank, const StudyStep *step)
{
  Rank *r = &replay->ranks[rank];
  const uint32_t *awaited =
      &g_array_index (replay->program->ranks[rank].awaited, uint32_t, step->first);

  r->ready_s = r->now_s;
  r->n_missing = 0;
  for (uint32_t i = 0; i < step->n; i++) {
    Post *post = post_at (replay, rank, awaited[i]);

    post->is_waited = true;
    if (isnan (post->done_s))
      r->n_missing++;
    else
      r->ready_s = fmax (r->ready_s, post->done_s);
  }
  r->is_waiting = true;
  attend (replay, rank);
  if (r->n_missing == 0)
    push (replay, r->ready_s, EVENT_RUN, rank);
  return false;
}

static void
end_collective (Replay *replay)
{
  StudyBoundDoubt doubt = { .extrapolated = false };
  double s = study_noise_collective_s (replay->noise, (TraceOpKind) replay->gathered.peer,
                                       replay->gathered.bytes, &doubt, replay->error);

  replay->has_failed = isnan (s);
  replay->times->n_collectives++;
  replay->times->n_extrapolated += doubt.extrapolated;
  replay->times->n_substituted += doubt.substituted;
  replay->n_gathered = 0;
  for (uint32_t rank = 0; rank < replay->program->n_ranks; rank++) {
    replay->ranks[rank].phase++;
    replay->times->sum_s[rank] += s;
    push (replay, replay->gathered_s + s, EVENT_RUN, rank);
  }
  replay->gathered_s = 0;
}

static void
gather (Replay *replay, uint32_t rank, const StudyStep *step)
{
  Rank *r = &replay->ranks[rank];

  if (replay->n_gathered++ == 0)
    replay->gathered = *step;
  else if (replay->gathered.peer != step->peer) {
    g_set_error (replay->error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "rank %u is in %s when others are in %s", rank,
                 trace_op_name ((TraceOpKind) step->peer),
                 trace_op_name ((TraceOpKind) replay->gathered.peer));
    replay->has_failed = true;
    return;
  }
  /* The ranks may tell it differently: the largest counts. */
  replay->gathered.bytes = MAX (replay->gathered.bytes, step->bytes);
  replay->gathered_s = fmax (replay->gathered_s, fmax (r->now_s, r->busy_s));
  r->is_waiting = true;
  attend (replay, rank);
  if (replay->n_gathered == replay->program->n_ranks)
    end_collective (replay);
}

/* Until it must wait, or computes: others may post before it goes on. */
static void
run (Replay *replay, uint32_t rank, double now_s)
{
  Rank *r = &replay->ranks[rank];
  const GArray *steps = replay->program->ranks[rank].steps;

  r->now_s = now_s;
  r->is_waiting = false;
  while (r->at < steps->len && !replay->has_failed) {
    const StudyStep *step = &g_array_index (steps, StudyStep, r->at++);

    switch ((StudyStepKind) step->kind) {
    case STUDY_STEP_COMPUTE:
      replay->times->compute_s[rank] += step->s;
      push (replay, r->now_s + step->s, EVENT_RUN, rank);
      return;
    case STUDY_STEP_POST:
      if (step->is_send)
        post_send (replay, rank, step);
      else
        post_receive (replay, rank, step);
      break;
    case STUDY_STEP_AWAIT: await (replay, rank, step); return;
    case STUDY_STEP_COLLECTIVE: gather (replay, rank, step); return;
    }
  }
  r->is_done = r->at == steps->len;
  r->is_waiting = true; /* in MPI_Finalize: what it has posted goes on */
  attend (replay, rank);
  replay->times->end_s[rank] = r->now_s;
}

static gboolean
check_done (const Replay *replay, GError **error)
{
  g_autoptr (GString) who = g_string_new (NULL);
  uint32_t n = 0;

  for (uint32_t rank = 0; rank < replay->program->n_ranks; rank++)
    if (!replay->ranks[rank].is_done && n++ < 10)
      g_string_append_printf (who, "%s%u (step %u)", n > 1 ? ", " : "", rank,
                              replay->ranks[rank].at);
  if (n == 0)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%u of %u ranks wait for ever: %s%s", n,
               replay->program->n_ranks, who->str, n > 10 ? " ..." : "");
  return FALSE;
}

static void
replay_all (Replay *replay)
{
  for (uint32_t rank = 0; rank < replay->program->n_ranks; rank++)
    push (replay, 0, EVENT_RUN, rank);
  while (replay->heap->len > 0 && !replay->has_failed) {
    const Event event = pop (replay);

    switch ((EventKind) event.kind) {
    case EVENT_RUN: run (replay, event.which, event.s); break;
    case EVENT_BEGIN: begin (replay, event.which, event.s); break;
    case EVENT_TAKE: take (replay, event.which, event.s); break;
    }
  }
}

static GArray *
numbers_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (uint32_t));
}

static void
rank_clear (Rank *rank)
{
  g_array_unref (rank->posts);
  g_array_unref (rank->pending);
  g_array_unref (rank->arrived);
  g_array_unref (rank->idle);
}

gboolean
study_bound_replay (const StudyProgram *program, StudyNoise *noise, const StudyReplayLimits *limits,
                    StudyReplayTimes *times, GError **error)
{
  GError *failure = NULL;
  g_autofree Rank *ranks = g_new0 (Rank, program->n_ranks);
  g_autoptr (GArray) messages = g_array_new (FALSE, FALSE, sizeof (Message));
  g_autoptr (GArray) heap = g_array_new (FALSE, FALSE, sizeof (Event));
  Replay replay = { .program = program,
                    .noise = noise,
                    .limits = limits,
                    .times = times,
                    .ranks = ranks,
                    .messages = messages,
                    .free_message = NONE,
                    .heap = heap,
                    .error = &failure };
  gboolean good;

  for (uint32_t rank = 0; rank < program->n_ranks; rank++) {
    ranks[rank].posts = g_array_new (FALSE, FALSE, sizeof (Post));
    ranks[rank].pending = numbers_new ();
    ranks[rank].arrived = numbers_new ();
    ranks[rank].idle = numbers_new ();
  }
  replay_all (&replay);
  good = failure == NULL && check_done (&replay, &failure);
  for (uint32_t rank = 0; rank < program->n_ranks; rank++)
    rank_clear (&ranks[rank]);
  if (!good)
    g_propagate_error (error, failure);
  return good;
}
