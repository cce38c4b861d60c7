/* bound_replay.c - an upper bound of communication: a program replayed with the times of a table.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A simulation by events, in order of time, then of their creation.  A message begins to leave its
 * sender, after those that left before: an eager one when it is sent, a longer one when both ends
 * wait.  Once its receiver waits too, the receiver takes it, after others that are under way.
 *
 * This is a second simulator of MPI beside sim/replay, and a network of that (sim/net/network.h)
 * cannot take its place:
 *  - A time of the table is measured from end to end, with the library at both ends, and both ends
 *    of a long message are occupied for all of it.  The replay adds requests and the costs of its
 *    protocol around each send() and delivered(), which would count twice.
 *  - A rank takes one message after the other, in the order in which they begin, and only while it
 *    is in a call that waits.  A network sees messages and timers: neither receives nor the
 *    beginning of a wait, so it cannot decide when a message is delivered.
 *  - A time depends on the phase, that is the number of collectives before it, and on all ranks of
 *    both nodes that communicate in that phase (bound_noise.h).  A SimMessage has no phase.
 *  - A collective of all ranks has one time of the table; the replay takes it apart into messages.
 * A message's time is fixed when it is sent: nothing is shared out anew while it is under way.  So
 * the place for it in sim/replay would be a protocol, beside ob1 and PAMI, that sees waiting ranks.
 *
 * Seconds are `double`: ends and waits are printed with all their digits, and picoseconds would
 * change the last ones, as the times of the table are interpolated. */
#include "study/aggregate/bound_noise.h"
#include "study/aggregate/bound_replay.h"
#include "study/aggregate/network_pingpong.h"
#include "study/study_error.h"
#include "traces/lower.h"
#include "traces/trace.h"

#include <math.h>
#include <stdbool.h>

/* A trace in memory: computation, messages that are posted and waited for, and collectives of all
 * ranks; other operations are taken apart as for formats of messages (traces/lower.h).  24 bytes a
 * step, of which a message has two at each end. */
typedef enum {
  STEP_COMPUTE,
  STEP_POST,
  STEP_AWAIT,
  STEP_COLLECTIVE,
} StepKind;

typedef struct {
  uint8_t kind;
  bool is_send; /* POST */
  int32_t peer; /* POST: world rank, or TRACE_ANY_SOURCE.  COLLECTIVE: its TraceOpKind */
  int32_t tag;  /* POST: or TRACE_ANY_TAG */
  uint32_t n;   /* AWAIT: how many of awaited[] */
  union {
    uint64_t bytes; /* POST, COLLECTIVE */
    uint64_t first; /* AWAIT: of awaited[] */
    double s;       /* COMPUTE */
  };
} Step;

typedef struct {
  GArray *steps;   /* (element-type Step) */
  GArray *awaited; /* (element-type guint32): number of a post among those of the rank */
  uint32_t n_posts;
  uint32_t n_collectives;
} RankSteps;

typedef struct {
  uint32_t n_ranks;
  RankSteps *ranks;
} Program;

static void
program_free (Program *program)
{
  if (program == NULL)
    return;
  for (uint32_t rank = 0; rank < program->n_ranks; rank++) {
    g_clear_pointer (&program->ranks[rank].steps, g_array_unref);
    g_clear_pointer (&program->ranks[rank].awaited, g_array_unref);
  }
  g_free (program->ranks);
  g_free (program);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC (Program, program_free)

typedef struct {
  uint64_t eager_within, eager_between; /* longest messages that leave before they are requested */
  const TopoMapping *mapping;
} Limits;

typedef struct {
  double *end_s, *sum_s, *compute_s; /* [n_ranks], zeroed by the caller */
  uint64_t n_messages, n_collectives, n_extrapolated, n_substituted;
} Times;

#define NONE UINT32_MAX

typedef enum { EVENT_RUN, EVENT_BEGIN, EVENT_TAKE } EventKind;

typedef struct {
  double s;
  uint64_t order;
  uint32_t kind, which; /* rank of RUN, else message */
} Event;

/* Times that are not known yet are NaN. */
typedef struct {
  uint32_t from, to;
  uint32_t send_post, recv_post; /* numbers at their ranks; NONE: not posted yet */
  uint32_t next;                 /* free ones */
  int32_t tag;
  bool is_eager;
  double posted_s;                 /* when sent */
  double send_wait_s, recv_wait_s; /* since when that end waits */
  double leave_s;                  /* when it begins to leave */
  double time_s;
} Message;

typedef struct {
  uint32_t message;  /* NONE: a receive that has no message yet */
  int32_t peer, tag; /* of such a receive */
  double done_s;     /* NaN: not known */
  bool is_waited;
} Post;

typedef struct {
  guint at; /* step */
  double now_s;
  double busy_s;    /* until then it is at operations that have begun */
  double leaving_s; /* when its last message has left */
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
  const Program *program;
  StudyNoise *noise;
  const Limits *limits;
  Times *times;
  Rank *ranks;
  GArray *messages; /* (element-type Message) */
  uint32_t free_message;
  GArray *heap; /* (element-type Event) */
  uint64_t n_events;
  uint32_t n_gathered; /* ranks in the collective */
  double gathered_s;
  Step gathered; /* of the first of them */
  GError **error;
  bool has_failed;
} Replay;

typedef struct {
  TraceSink sink;
  RankSteps *rank;
  double s_per_flop, compute_scale;
} Keeper;

static void
keep_compute (TraceSink *sink, int64_t gap_ps, double flops)
{
  Keeper *keeper = (Keeper *) sink;
  double s = ((double) gap_ps * 1e-12 + flops * keeper->s_per_flop) * keeper->compute_scale;
  const Step step = { .kind = STEP_COMPUTE, .s = s };

  if (s > 0)
    g_array_append_val (keeper->rank->steps, step);
}

static uint64_t
keep_post (TraceSink *sink, const TracePost *post)
{
  Keeper *keeper = (Keeper *) sink;
  const Step step = { .kind = STEP_POST,
                      .is_send = post->is_send,
                      .peer = post->peer,
                      .tag = post->tag,
                      .bytes = post->bytes };

  g_array_append_val (keeper->rank->steps, step);
  return keeper->rank->n_posts++;
}

static void
keep_await (TraceSink *sink, const TracePost *posts, uint32_t n, gboolean waits_for_all)
{
  Keeper *keeper = (Keeper *) sink;
  const Step step = { .kind = STEP_AWAIT, .n = n, .first = keeper->rank->awaited->len };

  (void) waits_for_all;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t number = (uint32_t) posts[i].token;

    g_array_append_val (keeper->rank->awaited, number);
  }
  g_array_append_val (keeper->rank->steps, step);
}

static gboolean
keep_collective (TraceSink *sink, const TraceOp *op)
{
  Keeper *keeper = (Keeper *) sink;
  const Step step = { .kind = STEP_COLLECTIVE,
                      .peer = (int32_t) op->kind,
                      .bytes = op->kind == TRACE_OP_BARRIER ? 0 : op->bytes };

  if (!study_collective_is_known (op->kind))
    return FALSE;
  g_array_append_val (keeper->rank->steps, step);
  keeper->rank->n_collectives++;
  return TRUE;
}

/* Computation in operations takes flops / compute_Flops, recorded computation its time; both are
 * multiplied by compute_scale.  Collectives that a table can have are kept whole, others become
 * messages.  Errors are the trace's: also a trace that is a graph, or uses one-sided
 * communication. */
static Program *
program_new (Trace *trace, double compute_Flops, const StudyBoundOptions *options, GError **error)
{
  g_autoptr (Program) program = g_new0 (Program, 1);
  g_autoptr (TraceSurvey) survey = NULL;
  Keeper keeper = { .sink = { .compute = keep_compute,
                              .post = keep_post,
                              .await = keep_await,
                              .collective = keep_collective },
                    .s_per_flop = 1 / compute_Flops,
                    .compute_scale = options->compute_scale > 0 ? options->compute_scale : 1 };

  if (trace_is_graph (trace)) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                 "%s: its operations form a graph, which has no order to replay",
                 trace_path (trace));
    return NULL;
  }
  survey = trace_survey_new (trace, error);
  if (survey == NULL)
    return NULL;
  program->n_ranks = trace_ranks (trace);
  program->ranks = g_new0 (RankSteps, program->n_ranks);
  for (uint32_t rank = 0; rank < program->n_ranks; rank++) {
    keeper.rank = &program->ranks[rank];
    keeper.rank->steps = g_array_new (FALSE, FALSE, sizeof (Step));
    keeper.rank->awaited = g_array_new (FALSE, FALSE, sizeof (uint32_t));
    if (!trace_lower (trace, survey, rank, &keeper.sink, error))
      return NULL;
    if (options->progress != NULL)
      options->progress (options->progress_data, (double) (rank + 1) / program->n_ranks);
  }
  return g_steal_pointer (&program);
}

/* --- Events, a binary heap --- */

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

/* Takes the next event; there must be one. */
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

/* --- Messages --- */

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

/* The rank's post is done at that time; a rank that waits for it may go on. */
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

/* A message leaves its sender, which it occupies unless it is eager. */
static void
begin_message (Replay *replay, uint32_t number, double now_s)
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
take_message (Replay *replay, uint32_t number, double now_s)
{
  const Message message = *message_at (replay, number);

  message_at (replay, number)->next = replay->free_message;
  replay->free_message = number;
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

/* --- Steps --- */

static void
post_send (Replay *replay, uint32_t rank, const Step *step)
{
  Rank *sender = &replay->ranks[rank], *receiver = &replay->ranks[step->peer];
  const uint32_t *node = replay->limits->mapping->node;
  uint32_t number = replay->free_message, peer = (uint32_t) step->peer;
  uint32_t send_post = sender->posts->len;
  uint64_t eager_bytes =
      node[rank] == node[peer] ? replay->limits->eager_within : replay->limits->eager_between;
  StudyBoundDoubt doubt = { .extrapolated = false };
  Message message = { .from = rank,
                      .to = peer,
                      .send_post = send_post,
                      .recv_post = NONE,
                      .tag = step->tag,
                      .is_eager = peer == rank || step->bytes <= eager_bytes,
                      .posted_s = sender->now_s,
                      .send_wait_s = NAN,
                      .recv_wait_s = NAN,
                      .leave_s = NAN };
  Post post = { .done_s = NAN };

  if (peer != rank) {
    message.time_s = study_noise_message_s (replay->noise, sender->phase, rank, peer, step->bytes,
                                            &doubt, replay->error);
    replay->has_failed = replay->has_failed || isnan (message.time_s);
    replay->times->n_messages++;
    replay->times->n_extrapolated += doubt.extrapolated;
    replay->times->n_substituted += doubt.substituted;
  }
  if (number == NONE) {
    number = replay->messages->len;
    g_array_append_val (replay->messages, message);
  } else {
    replay->free_message = message_at (replay, number)->next;
    *message_at (replay, number) = message;
  }
  post.message = number;
  g_array_append_val (sender->posts, post);
  if (message.is_eager)
    begin_message (replay, number, sender->now_s);
  else
    g_array_append_val (sender->idle, send_post);
  for (guint i = 0; i < receiver->pending->len; i++) {
    uint32_t receive = g_array_index (receiver->pending, uint32_t, i);

    if (fits (post_at (replay, peer, receive), &message)) {
      g_array_remove_index (receiver->pending, i);
      match (replay, number, receive);
      return;
    }
  }
  g_array_append_val (receiver->arrived, number);
}

static void
post_receive (Replay *replay, uint32_t rank, const Step *step)
{
  Rank *receiver = &replay->ranks[rank];
  uint32_t receive = receiver->posts->len;
  const Post post = { .message = NONE, .peer = step->peer, .tag = step->tag, .done_s = NAN };

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

/* In a call that waits, all messages that the rank has posted can go on. */
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

/* --- Ranks --- */

static void
await (Replay *replay, uint32_t rank, const Step *step)
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
}

static void
gather (Replay *replay, uint32_t rank, const Step *step)
{
  Rank *r = &replay->ranks[rank];
  StudyBoundDoubt doubt = { .extrapolated = false };
  double s;

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
  /* Ranks may record different sizes: the largest counts. */
  replay->gathered.bytes = MAX (replay->gathered.bytes, step->bytes);
  replay->gathered_s = fmax (replay->gathered_s, fmax (r->now_s, r->busy_s));
  r->is_waiting = true;
  attend (replay, rank);
  if (replay->n_gathered < replay->program->n_ranks)
    return;

  /* The last rank is there. */
  s = study_noise_collective_s (replay->noise, (TraceOpKind) replay->gathered.peer,
                                replay->gathered.bytes, &doubt, replay->error);
  replay->has_failed = isnan (s);
  replay->times->n_collectives++;
  replay->times->n_extrapolated += doubt.extrapolated;
  replay->times->n_substituted += doubt.substituted;
  replay->n_gathered = 0;
  for (uint32_t other = 0; other < replay->program->n_ranks; other++) {
    replay->ranks[other].phase++;
    replay->times->sum_s[other] += s;
    push (replay, replay->gathered_s + s, EVENT_RUN, other);
  }
  replay->gathered_s = 0;
}

/* Until the rank must wait, or computes: others may post before it goes on. */
static void
run (Replay *replay, uint32_t rank, double now_s)
{
  Rank *r = &replay->ranks[rank];
  const GArray *steps = replay->program->ranks[rank].steps;

  r->now_s = now_s;
  r->is_waiting = false;
  while (r->at < steps->len && !replay->has_failed) {
    const Step *step = &g_array_index (steps, Step, r->at++);

    switch ((StepKind) step->kind) {
    case STEP_COMPUTE:
      replay->times->compute_s[rank] += step->s;
      push (replay, r->now_s + step->s, EVENT_RUN, rank);
      return;
    case STEP_POST:
      if (step->is_send)
        post_send (replay, rank, step);
      else
        post_receive (replay, rank, step);
      break;
    case STEP_AWAIT: await (replay, rank, step); return;
    case STEP_COLLECTIVE: gather (replay, rank, step); return;
    }
  }
  r->is_done = r->at == steps->len;
  r->is_waiting = true; /* in MPI_Finalize: its posts go on */
  attend (replay, rank);
  replay->times->end_s[rank] = r->now_s;
}

static GArray *
numbers_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (uint32_t));
}

/* Errors: those of the noise's times; STUDY_ERROR_INPUT when ranks wait for ever, with the ranks. */
static gboolean
replay_program (const Program *program, StudyNoise *noise, const Limits *limits, Times *times,
                GError **error)
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
  uint32_t n_stuck = 0;

  for (uint32_t rank = 0; rank < program->n_ranks; rank++) {
    ranks[rank].posts = g_array_new (FALSE, FALSE, sizeof (Post));
    ranks[rank].pending = numbers_new ();
    ranks[rank].arrived = numbers_new ();
    ranks[rank].idle = numbers_new ();
  }
  for (uint32_t rank = 0; rank < program->n_ranks; rank++)
    push (&replay, 0, EVENT_RUN, rank);
  while (heap->len > 0 && !replay.has_failed) {
    const Event event = pop (&replay);

    switch ((EventKind) event.kind) {
    case EVENT_RUN: run (&replay, event.which, event.s); break;
    case EVENT_BEGIN: begin_message (&replay, event.which, event.s); break;
    case EVENT_TAKE: take_message (&replay, event.which, event.s); break;
    }
  }
  if (failure == NULL) {
    g_autoptr (GString) stuck = g_string_new (NULL);

    for (uint32_t rank = 0; rank < program->n_ranks; rank++)
      if (!ranks[rank].is_done && n_stuck++ < 10)
        g_string_append_printf (stuck, "%s%u (step %u)", n_stuck > 1 ? ", " : "", rank,
                                ranks[rank].at);
    if (n_stuck > 0)
      g_set_error (&failure, STUDY_ERROR, STUDY_ERROR_INPUT, "%u of %u ranks wait for ever: %s%s",
                   n_stuck, program->n_ranks, stuck->str, n_stuck > 10 ? " ..." : "");
  }
  for (uint32_t rank = 0; rank < program->n_ranks; rank++) {
    g_array_unref (ranks[rank].posts);
    g_array_unref (ranks[rank].pending);
    g_array_unref (ranks[rank].arrived);
    g_array_unref (ranks[rank].idle);
  }
  if (failure == NULL)
    return TRUE;
  g_propagate_error (error, failure);
  return FALSE;
}

/* --- The bound --- */

/* The eager limits of machine files are with the largest header (sim/replay/ob1.h). */
#define HEADER_BYTES 72

static uint64_t
without_header (uint64_t eager_bytes)
{
  return eager_bytes > HEADER_BYTES ? eager_bytes - HEADER_BYTES : 0;
}

static uint32_t
largest (const double *seconds, uint32_t n)
{
  uint32_t at = 0;

  for (uint32_t i = 1; i < n; i++)
    if (seconds[i] > seconds[at])
      at = i;
  return at;
}

static gboolean
bound_program (const Program *program, const TopoMachine *machine, const TopoMapping *mapping,
               const PredictBoundTable *table, const StudyBoundOptions *options,
               StudyCommBound *bound, GError **error)
{
  g_autoptr (TopoLevels) levels = topo_levels_new (machine->node, false);
  g_autoptr (StudyNoise) noise = NULL;
  g_autofree double *end_s = g_new0 (double, program->n_ranks);
  const Limits limits = { .eager_within = without_header (machine->parameters.ompi.sm_eager_bytes),
                          .eager_between = without_header (machine->parameters.mpi.eager_bytes),
                          .mapping = mapping };
  Times times = { .end_s = end_s };

  for (uint32_t rank = 1; rank < program->n_ranks; rank++)
    if (program->ranks[rank].n_collectives != program->ranks[0].n_collectives) {
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                   "rank 0 takes part in %u collectives of all ranks, rank %u in %u",
                   program->ranks[0].n_collectives, rank, program->ranks[rank].n_collectives);
      return FALSE;
    }
  g_assert (mapping->n_ranks == program->n_ranks);
  noise = study_noise_new (machine, levels, mapping, table, options->near);
  for (uint32_t rank = 0; rank < program->n_ranks; rank++) {
    /* A send makes both ends partners: the receiver may take messages from any rank. */
    uint32_t phase = 0;

    for (guint i = 0; i < program->ranks[rank].steps->len; i++) {
      const Step *step = &g_array_index (program->ranks[rank].steps, Step, i);

      if (step->kind == STEP_COLLECTIVE)
        phase++;
      if (step->kind != STEP_POST || !step->is_send || (uint32_t) step->peer == rank)
        continue;
      study_noise_add (noise, phase, rank, (uint32_t) step->peer);
    }
  }
  *bound = (StudyCommBound){ .n_ranks = program->n_ranks,
                             .rank_path_s = g_new0 (double, program->n_ranks),
                             .rank_sum_s = g_new0 (double, program->n_ranks),
                             .rank_compute_s = g_new0 (double, program->n_ranks) };
  times.sum_s = bound->rank_sum_s;
  times.compute_s = bound->rank_compute_s;
  if (!replay_program (program, noise, &limits, &times, error)) {
    study_comm_bound_clear (bound);
    return FALSE;
  }
  for (uint32_t rank = 0; rank < bound->n_ranks; rank++) {
    bound->rank_path_s[rank] = times.end_s[rank] - times.compute_s[rank];
    bound->end_s = MAX (bound->end_s, times.end_s[rank]);
  }
  bound->path_rank = largest (bound->rank_path_s, bound->n_ranks);
  bound->sum_rank = largest (bound->rank_sum_s, bound->n_ranks);
  bound->path_s = bound->rank_path_s[bound->path_rank];
  bound->sum_s = bound->rank_sum_s[bound->sum_rank];
  bound->n_messages = times.n_messages;
  bound->n_collectives = times.n_collectives;
  bound->n_extrapolated = times.n_extrapolated;
  bound->n_substituted = times.n_substituted;
  bound->n_classes = study_noise_classes (noise);
  return TRUE;
}

gboolean
study_comm_bound (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
                  const PredictBoundTable *table, const StudyBoundOptions *options,
                  StudyCommBound *bound, GError **error)
{
  g_autoptr (Program) program = NULL;

  if (machine->node == NULL || machine->node->n_cores > STUDY_MAX_PLACES) {
    g_set_error (error, STUDY_ERROR, STUDY_ERROR_OPTION,
                 machine->node == NULL ? "%s is a torus: nothing is said of the inside of its nodes"
                                       : "%s: its nodes have more than 64 cores",
                 machine->spec);
    return FALSE;
  }
  program = program_new (trace, machine->parameters.node.compute_Flops, options, error);
  if (program == NULL)
    return FALSE;
  if (bound_program (program, machine, mapping, table, options, bound, error))
    return TRUE;
  g_prefix_error (error, "%s: ", trace_path (trace));
  return FALSE;
}

void
study_comm_bound_clear (StudyCommBound *bound)
{
  g_free (bound->rank_path_s);
  g_free (bound->rank_sum_s);
  g_free (bound->rank_compute_s);
  *bound = (StudyCommBound){ .n_ranks = 0 };
}
