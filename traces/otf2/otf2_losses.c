/* otf2_losses.c - receives that an archive lost, and the messages they may have received.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/otf2/otf2_private.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct {
  uint32_t source; /* world rank */
  uint32_t phase;
  uint32_t turn, n_turns; /* among all sends of its source in its phase */
  uint32_t comm, peer, tag;
  bool taken; /* by a recorded receive, or by a lost one */
  uint64_t bytes;
} Message;

typedef enum {
  ACT_SEND,    /* destination, message */
  ACT_PENDING, /* a nonblocking send that no recorded wait completes */
  ACT_POST,    /* a lost receive */
  ACT_WAIT,    /* for an unknown request */
  ACT_WAITALL, /* the same */
  ACT_NOTHING,
} ActKind;

/* An action of a rank that matters to the guess. */
typedef struct {
  ActKind kind;
  uint32_t destination;
  uint32_t message; /* index into the messages of the destination */
} Act;

/* --- The guess ---
 *
 * The ranks are run as far as their records go: sends end at once, and a wait
 * whose oldest receive is lost takes a message that was sent by then, or blocks
 * until there is one.  Ranks take turns wait by wait.  A received message was
 * thus sent before, so that the guess itself cannot make ranks wait for each
 * other, as long as messages are eager.
 *
 * Of several messages the earliest in its sender's program is taken: collectives
 * of all ranks count phases alike in every rank, whatever their clocks, and
 * within a phase the position of a send is its number among its sender's sends
 * there, as a share of them. */

typedef struct {
  guint at;            /* of the next act */
  GArray *outstanding; /* (element-type gboolean) is a lost receive; from `oldest` on */
  guint oldest;
  GArray *sent;  /* (element-type uint32_t) messages that have arrived, not taken */
  GArray *order; /* (element-type uint32_t) messages taken */
} Rank;

typedef struct {
  GArray *const *acts;
  GArray *const *messages;
  Rank *ranks;
} Run;

static int
compare (const Message *x, const Message *y)
{
  uint64_t x_place = (2 * (uint64_t) x->turn + 1) * y->n_turns;
  uint64_t y_place = (2 * (uint64_t) y->turn + 1) * x->n_turns;

  if (x->phase != y->phase)
    return x->phase < y->phase ? -1 : 1;
  if (x_place != y_place)
    return x_place < y_place ? -1 : 1;
  if (x->source != y->source)
    return x->source < y->source ? -1 : 1;
  return x->turn < y->turn ? -1 : x->turn > y->turn;
}

/* Gives the next lost receive of the rank a message, if one has arrived. */
static bool
take_message (Run *run, uint32_t rank)
{
  Rank *state = &run->ranks[rank];
  const GArray *messages = run->messages[rank];
  guint best = 0;
  uint32_t number;

  if (state->sent->len == 0)
    return false;
  for (guint i = 1; i < state->sent->len; i++) {
    uint32_t a = g_array_index (state->sent, uint32_t, i);
    uint32_t b = g_array_index (state->sent, uint32_t, best);

    if (compare (&g_array_index (messages, Message, a), &g_array_index (messages, Message, b)) < 0)
      best = i;
  }
  number = g_array_index (state->sent, uint32_t, best);
  g_array_append_val (state->order, number);
  g_array_remove_index_fast (state->sent, best);
  return true;
}

/* Runs up to and with the next wait; false when nothing could be done. */
static bool
run_rank (Run *run, uint32_t rank)
{
  Rank *state = &run->ranks[rank];
  GArray *outstanding = state->outstanding;
  const GArray *acts = run->acts[rank];
  guint start = state->at, n_lost = 0;
  gboolean is_receive, all;

  for (; state->at < acts->len; state->at++) {
    const Act *act = &g_array_index (acts, Act, state->at);

    switch (act->kind) {
    case ACT_SEND:
      if (!g_array_index (run->messages[act->destination], Message, act->message).taken)
        g_array_append_val (run->ranks[act->destination].sent, act->message);
      break;
    case ACT_PENDING:
    case ACT_POST:
      is_receive = act->kind == ACT_POST;
      g_array_append_val (outstanding, is_receive);
      break;
    case ACT_NOTHING: break;
    case ACT_WAIT:
    case ACT_WAITALL:
      /* All lost receives that it completes need a message: the best of some
       * may be the wrong one. */
      all = act->kind == ACT_WAITALL;
      for (guint i = state->oldest; i < outstanding->len && (all || i == state->oldest); i++)
        n_lost += g_array_index (outstanding, gboolean, i);
      if (state->sent->len < n_lost)
        return state->at > start;
      for (; n_lost > 0; n_lost--)
        take_message (run, rank);
      state->oldest = all ? outstanding->len : state->oldest + 1;
      if (state->oldest >= outstanding->len) {
        g_array_set_size (outstanding, 0);
        state->oldest = 0;
      }
      state->at++;
      return true;
    }
  }
  return state->at > start;
}

/* acts (element-type Act) and messages (element-type Message) of each
 * rank.  Returns for each rank the indices of its messages
 * (element-type uint32_t) in the order of its lost receives; the number of
 * either may be larger. */
static GArray **
guess (GArray *const *acts, GArray *const *messages, uint32_t n_ranks)
{
  Run run = { acts, messages, g_new0 (Rank, n_ranks) };
  GArray **orders = g_new (GArray *, n_ranks);
  bool going;

  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    run.ranks[rank].outstanding = g_array_new (FALSE, FALSE, sizeof (gboolean));
    run.ranks[rank].sent = g_array_new (FALSE, FALSE, sizeof (uint32_t));
    run.ranks[rank].order = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  }
  do {
    going = false;
    for (uint32_t rank = 0; rank < n_ranks; rank++)
      going = run_rank (&run, rank) || going;
    /* When no rank can go on the guess has failed; the first waits for nothing. */
    for (uint32_t rank = 0; rank < n_ranks && !going; rank++)
      if (run.ranks[rank].at < acts[rank]->len) {
        run.ranks[rank].at++;
        going = true;
      }
  } while (going);
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    while (take_message (&run, rank))
      continue;
    g_array_unref (run.ranks[rank].outstanding);
    g_array_unref (run.ranks[rank].sent);
    orders[rank] = run.ranks[rank].order;
  }
  g_free (run.ranks);
  return orders;
}

/* --- The acts of the ranks --- */

/* The fields that a send and its receive have in common. */
typedef struct {
  uint32_t source, handle, tag;
  uint64_t bytes;
} Channel;

struct Otf2Losses {
  const Otf2Definitions *definitions;
  Otf2LossCounts counts;
  uint64_t *n_lost;      /* [n_ranks] */
  GArray **messages;     /* [n_ranks] (element-type Message), by destination */
  GArray **acts;         /* [n_ranks] (element-type Act) */
  GArray **orders;       /* [n_ranks] (element-type uint32_t) of messages; NULL before the match */
  GArray **n_sends;      /* [n_ranks] (element-type uint32_t), by source: in each phase */
  GHashTable **received; /* [n_ranks] Channel -> count: of recorded receives */
};

static guint
channel_hash (gconstpointer data)
{
  const Channel *c = data;

  return ((c->source * 31 + c->handle) * 31 + c->tag) * 31 + (guint) c->bytes;
}

static gboolean
channel_equal (gconstpointer a, gconstpointer b)
{
  const Channel *x = a, *y = b;

  return x->source == y->source && x->handle == y->handle && x->tag == y->tag &&
         x->bytes == y->bytes;
}

static void
add_act (GArray *acts, ActKind kind, uint32_t destination, uint32_t message)
{
  Act act = { kind, destination, message };

  g_array_append_val (acts, act);
}

Otf2Losses *
otf2_losses_new (const Otf2Definitions *definitions)
{
  Otf2Losses *losses = g_new0 (Otf2Losses, 1);
  uint32_t n_ranks = otf2_definitions_ranks (definitions);

  losses->definitions = definitions;
  losses->n_lost = g_new0 (uint64_t, n_ranks);
  losses->messages = g_new (GArray *, n_ranks);
  losses->acts = g_new (GArray *, n_ranks);
  losses->n_sends = g_new (GArray *, n_ranks);
  losses->received = g_new (GHashTable *, n_ranks);
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    losses->messages[rank] = g_array_new (FALSE, FALSE, sizeof (Message));
    losses->acts[rank] = g_array_new (FALSE, FALSE, sizeof (Act));
    losses->n_sends[rank] = g_array_new (FALSE, TRUE, sizeof (uint32_t));
    losses->received[rank] = g_hash_table_new_full (channel_hash, channel_equal, g_free, NULL);
  }
  return losses;
}

void
otf2_losses_free (Otf2Losses *losses)
{
  if (losses == NULL)
    return;
  for (uint32_t rank = 0; rank < otf2_definitions_ranks (losses->definitions); rank++) {
    g_array_unref (losses->messages[rank]);
    g_array_unref (losses->acts[rank]);
    if (losses->orders != NULL)
      g_array_unref (losses->orders[rank]);
    g_array_unref (losses->n_sends[rank]);
    g_hash_table_unref (losses->received[rank]);
  }
  g_free (losses->n_lost);
  g_free (losses->messages);
  g_free (losses->acts);
  g_free (losses->orders);
  g_free (losses->n_sends);
  g_free (losses->received);
  g_free (losses);
}

/* The scan of one rank. */
typedef struct {
  Otf2Losses *losses;
  uint32_t rank;
  uint32_t phase;
} Scan;

/* The world rank of rank `peer` of a communicator; false when it has none. */
static bool
world_rank (const Otf2Comm *comm, uint32_t rank, uint32_t peer, uint32_t *world)
{
  if (comm == NULL || comm->refused != NULL || peer >= comm->n_ranks)
    return false;
  *world = comm->ranks != NULL ? (uint32_t) comm->ranks[peer] : rank;
  return true;
}

static void
add_send (Scan *scan, const Otf2Record *record)
{
  const Otf2Comm *comm = otf2_definitions_find_comm (scan->losses->definitions, record->id);
  Message message = { .source = scan->rank,
                      .phase = scan->phase,
                      .comm = record->id,
                      .tag = record->tag,
                      .bytes = record->bytes };
  GArray *n_sends = scan->losses->n_sends[scan->rank];
  GArray *acts = scan->losses->acts[scan->rank];
  uint32_t destination;

  if (n_sends->len <= scan->phase)
    g_array_set_size (n_sends, scan->phase + 1);
  message.turn = g_array_index (n_sends, uint32_t, scan->phase)++;
  if (!world_rank (comm, scan->rank, record->peer, &destination))
    return;
  while (comm->ranks != NULL && message.peer < comm->n_ranks &&
         comm->ranks[message.peer] != (int32_t) scan->rank)
    message.peer++;
  if (comm->ranks != NULL && message.peer == comm->n_ranks)
    return;
  g_array_append_val (scan->losses->messages[destination], message);
  add_act (acts, ACT_SEND, destination, scan->losses->messages[destination]->len - 1);
}

static void
add_receive (Scan *scan, const Otf2Record *record)
{
  const Otf2Comm *comm = otf2_definitions_find_comm (scan->losses->definitions, record->id);
  GHashTable *received = scan->losses->received[scan->rank];
  Channel *channel;
  uint32_t source;
  guint count;

  if (!world_rank (comm, scan->rank, record->peer, &source))
    return;
  channel = g_new0 (Channel, 1);
  *channel = (Channel){ source, comm->handle, record->tag, record->bytes };
  count = GPOINTER_TO_UINT (g_hash_table_lookup (received, channel)) + 1;
  g_hash_table_replace (received, channel, GUINT_TO_POINTER (count));
}

gboolean
otf2_losses_scan (Otf2Losses *losses, uint32_t rank, Otf2Input *input, GError **error)
{
  Otf2Stream *stream = otf2_stream_new (input, 0);
  Scan scan = { .losses = losses, .rank = rank };
  /* request (guint64, owned) -> number of its PENDING act, + 1 */
  g_autoptr (GHashTable) sends = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  const Otf2Definitions *definitions = losses->definitions;
  Otf2LossCounts *counts = &losses->counts;
  GArray *acts = losses->acts[rank];
  const Otf2Region *entered = NULL; /* by the last record */
  Otf2Record record;
  TraceNext next;

  while ((next = otf2_stream_next (stream, &record, error)) == TRACE_NEXT_OPERATION) {
    const Otf2Region *before = entered;
    const Otf2Comm *comm;
    guint number;

    entered = NULL;
    switch ((Otf2RecordKind) record.kind) {
    case OTF2_RECORD_ENTER: entered = otf2_definitions_find_region (definitions, record.id); break;
    case OTF2_RECORD_LEAVE:
      /* Only calls without a record count. */
      if (before == NULL || before != otf2_definitions_find_region (definitions, record.id))
        break;
      if (before->kind == OTF2_CALL_SENDRECV)
        counts->sendrecvs++;
      else if (before->kind == OTF2_CALL_WAIT || before->kind == OTF2_CALL_WAIT_SOME)
        add_act (acts, strcmp (before->name, "MPI_Waitall") == 0 ? ACT_WAITALL : ACT_WAIT, 0, 0);
      break;
    case OTF2_RECORD_SEND: add_send (&scan, &record); break;
    case OTF2_RECORD_ISEND:
      add_send (&scan, &record);
      add_act (acts, ACT_PENDING, 0, 0);
      g_hash_table_replace (sends, g_memdup2 (&record.request, sizeof record.request),
                            GUINT_TO_POINTER (acts->len));
      break;
    case OTF2_RECORD_ISEND_COMPLETE:
      number = GPOINTER_TO_UINT (g_hash_table_lookup (sends, &record.request));
      if (number != 0) {
        g_array_index (acts, Act, number - 1).kind = ACT_NOTHING;
        g_hash_table_remove (sends, &record.request);
      }
      break;
    case OTF2_RECORD_RECV: add_receive (&scan, &record); break;
    case OTF2_RECORD_IRECV_POST:
      counts->receives++;
      if (record.post == OTF2_POST_DONE)
        add_receive (&scan, &record);
      else if (record.post == OTF2_POST_LOST) {
        counts->lost++;
        losses->n_lost[rank]++;
        add_act (acts, ACT_POST, 0, 0);
      }
      break;
    case OTF2_RECORD_COLLECTIVE_BEGIN: counts->collectives++; break;
    case OTF2_RECORD_COLLECTIVE:
      comm = otf2_definitions_find_comm (definitions, record.id);
      if (comm != NULL && comm->n_ranks == otf2_definitions_ranks (definitions))
        scan.phase++;
      if (counts->collectives > 0)
        counts->collectives--;
      break;
    case OTF2_RECORD_IRECV_COMPLETE:
    case OTF2_RECORD_TESTED:
    case OTF2_RECORD_CANCELLED:
    case OTF2_RECORD_COLLECTIVE_POST:
    case OTF2_RECORD_COLLECTIVE_COMPLETE:
    case OTF2_RECORD_MEASUREMENT:
    case OTF2_RECORD_FLUSH:
    case OTF2_RECORD_RMA_COLLECTIVE:
    case OTF2_RECORD_RMA_PUT:
    case OTF2_RECORD_RMA_GET:
    case OTF2_RECORD_RMA_ATOMIC:
    case OTF2_RECORD_RMA_FLUSH:
    case OTF2_RECORD_RMA_UNLOCK:
    case OTF2_RECORD_RMA_GROUP_SYNC:
    case OTF2_RECORD_RMA_WAIT:
    case OTF2_RECORD_KINDS: break;
    }
  }
  otf2_stream_free (stream);
  return next == TRACE_NEXT_END;
}

void
otf2_losses_match (Otf2Losses *losses)
{
  uint32_t n_ranks = otf2_definitions_ranks (losses->definitions);

  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    GHashTable *received = losses->received[rank];
    uint64_t n_left = 0; /* sends that no recorded receive took */

    for (guint i = 0; i < losses->messages[rank]->len; i++) {
      Message *message = &g_array_index (losses->messages[rank], Message, i);
      const Otf2Comm *comm = otf2_definitions_find_comm (losses->definitions, message->comm);
      Channel channel = { message->source, comm->handle, message->tag, message->bytes };
      gpointer key, count;

      message->n_turns = g_array_index (losses->n_sends[message->source], uint32_t, message->phase);
      /* A recorded receive took the earliest of equal sends. */
      message->taken = g_hash_table_lookup_extended (received, &channel, &key, &count) &&
                       GPOINTER_TO_UINT (count) > 0;
      n_left += !message->taken;
      if (message->taken) {
        g_hash_table_steal (received, key);
        g_hash_table_insert (received, key, GUINT_TO_POINTER (GPOINTER_TO_UINT (count) - 1));
      }
    }
    g_hash_table_remove_all (received);
    losses->counts.guessed += MIN (n_left, losses->n_lost[rank]);
    if (n_left > losses->n_lost[rank])
      losses->counts.unmatched += n_left - losses->n_lost[rank];
  }
  losses->orders = guess (losses->acts, losses->messages, n_ranks);
}

const Otf2LossCounts *
otf2_losses_counts (const Otf2Losses *losses)
{
  return &losses->counts;
}

bool
otf2_losses_guess (const Otf2Losses *losses, uint32_t rank, uint64_t index, Otf2Record *post)
{
  const GArray *order = losses->orders[rank];
  const Message *message;

  if (index >= order->len)
    return false;
  message =
      &g_array_index (losses->messages[rank], Message, g_array_index (order, uint32_t, index));
  post->post = OTF2_POST_DONE;
  post->id = message->comm;
  post->peer = message->peer;
  post->tag = message->tag;
  post->bytes = message->bytes;
  return true;
}
