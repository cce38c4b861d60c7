/* otf2_losses.c - receives that an archive lost, and what they may have been.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Here is what the ranks did; otf2_guess.c makes the guess. */
#include "traces/otf2/otf2_losses.h"

#include "traces/otf2/otf2_guess.h"
#include "traces/otf2/otf2_stream.h"

#include <string.h>

/* What is equal for a send and the receive that got it. */
typedef struct {
  uint32_t source, handle, tag;
  uint64_t bytes;
} Channel;

struct Otf2Losses {
  const Otf2Definitions *definitions;
  Otf2LossCounts counts;
  uint64_t *n_lost;      /* [n_ranks] */
  GArray **messages;     /* [n_ranks] (element-type Otf2Message), by destination */
  GArray **acts;         /* [n_ranks] (element-type Otf2Act) */
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
    losses->messages[rank] = g_array_new (FALSE, FALSE, sizeof (Otf2Message));
    losses->acts[rank] = g_array_new (FALSE, FALSE, sizeof (Otf2Act));
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
  const Otf2Region *entered; /* by the last record; or NULL */
  GHashTable *sends;         /* request (guint64, owned) -> act that is a PENDING, + 1 */
} Scan;

static void
add_act (Scan *scan, Otf2ActKind kind, uint32_t destination, uint32_t message)
{
  Otf2Act act = { kind, destination, message };

  g_array_append_val (scan->losses->acts[scan->rank], act);
}

/* The world rank of rank `peer` of a communicator; false when it has none. */
static bool
world_rank (const Otf2Comm *comm, uint32_t rank, uint32_t peer, uint32_t *world)
{
  if (comm == NULL || comm->refused != NULL || peer >= comm->n_ranks)
    return false;
  *world = comm->ranks != NULL ? (uint32_t) comm->ranks[peer] : rank;
  return true;
}

static bool
rank_in (const Otf2Comm *comm, uint32_t rank, uint32_t *me)
{
  *me = 0;
  if (comm->ranks == NULL)
    return true;
  for (; *me < comm->n_ranks; (*me)++)
    if (comm->ranks[*me] == (int32_t) rank)
      return true;
  return false;
}

static void
add_send (Scan *scan, const Otf2Record *record)
{
  const Otf2Comm *comm = otf2_definitions_find_comm (scan->losses->definitions, record->id);
  Otf2Message message = { .source = scan->rank,
                          .phase = scan->phase,
                          .comm = record->id,
                          .tag = record->tag,
                          .bytes = record->bytes };
  GArray *n_sends = scan->losses->n_sends[scan->rank];
  uint32_t destination;

  if (n_sends->len <= scan->phase)
    g_array_set_size (n_sends, scan->phase + 1);
  message.turn = g_array_index (n_sends, uint32_t, scan->phase)++;
  if (!world_rank (comm, scan->rank, record->peer, &destination) ||
      !rank_in (comm, scan->rank, &message.peer))
    return;
  g_array_append_val (scan->losses->messages[destination], message);
  add_act (scan, OTF2_ACT_SEND, destination, scan->losses->messages[destination]->len - 1);
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

static void
add_post (Scan *scan, const Otf2Record *record)
{
  scan->losses->counts.receives++;
  if (record->fate == OTF2_FATE_DONE) {
    add_receive (scan, record);
  } else if (record->fate == OTF2_FATE_LOST) {
    scan->losses->counts.lost++;
    scan->losses->n_lost[scan->rank]++;
    add_act (scan, OTF2_ACT_POST, 0, 0);
  }
}

static void
add_pending (Scan *scan, const Otf2Record *record)
{
  guint64 *request = g_memdup2 (&record->request, sizeof record->request);

  add_act (scan, OTF2_ACT_PENDING, 0, 0);
  g_hash_table_replace (scan->sends, request,
                        GUINT_TO_POINTER (scan->losses->acts[scan->rank]->len));
}

/* Its completion is recorded. */
static void
remove_pending (Scan *scan, const Otf2Record *record)
{
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (scan->sends, &record->request));

  if (number == 0)
    return;
  g_array_index (scan->losses->acts[scan->rank], Otf2Act, number - 1).kind = OTF2_ACT_NOTHING;
  g_hash_table_remove (scan->sends, &record->request);
}

/* A call that has left nothing is left. */
static void
add_bare_call (Scan *scan, const Otf2Region *region)
{
  if (region->kind == OTF2_CALL_SENDRECV)
    scan->losses->counts.sendrecvs++;
  else if (region->kind == OTF2_CALL_WAIT || region->kind == OTF2_CALL_WAIT_SOME)
    add_act (scan, strcmp (region->name, "MPI_Waitall") == 0 ? OTF2_ACT_WAITALL : OTF2_ACT_WAIT, 0,
             0);
}

static void
add_collective (Scan *scan, const Otf2Record *record)
{
  const Otf2Comm *comm = otf2_definitions_find_comm (scan->losses->definitions, record->id);

  if (comm != NULL && comm->n_ranks == otf2_definitions_ranks (scan->losses->definitions))
    scan->phase++;
}

static void
scan_data (Scan *scan, const Otf2Record *record)
{
  Otf2LossCounts *counts = &scan->losses->counts;

  if (record->kind == OTF2_RECORD_SEND || record->kind == OTF2_RECORD_ISEND)
    add_send (scan, record);
  if (record->kind == OTF2_RECORD_ISEND)
    add_pending (scan, record);
  else if (record->kind == OTF2_RECORD_ISEND_COMPLETE)
    remove_pending (scan, record);
  else if (record->kind == OTF2_RECORD_RECV)
    add_receive (scan, record);
  else if (record->kind == OTF2_RECORD_IRECV_POST)
    add_post (scan, record);
  else if (record->kind == OTF2_RECORD_COLLECTIVE_BEGIN)
    counts->collectives++;
  else if (record->kind == OTF2_RECORD_COLLECTIVE)
    add_collective (scan, record);
  if (record->kind == OTF2_RECORD_COLLECTIVE && counts->collectives > 0)
    counts->collectives--;
}

static void
scan_record (Scan *scan, const Otf2Record *record)
{
  const Otf2Definitions *definitions = scan->losses->definitions;
  const Otf2Region *entered = scan->entered;

  scan->entered = NULL;
  if (record->kind == OTF2_RECORD_ENTER)
    scan->entered = otf2_definitions_find_region (definitions, record->id);
  else if (record->kind != OTF2_RECORD_LEAVE)
    scan_data (scan, record);
  else if (entered != NULL && entered == otf2_definitions_find_region (definitions, record->id))
    add_bare_call (scan, entered);
}

gboolean
otf2_losses_scan (Otf2Losses *losses, uint32_t rank, Otf2Input *input, GError **error)
{
  Otf2Stream *stream = otf2_stream_new (input, 0);
  Scan scan = { .losses = losses, .rank = rank };
  Otf2Record record;
  TraceNext next;

  scan.sends = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  while ((next = otf2_stream_next (stream, &record, error)) == TRACE_NEXT_OPERATION)
    scan_record (&scan, &record);
  g_hash_table_unref (scan.sends);
  otf2_stream_free (stream);
  return next == TRACE_NEXT_END;
}

/* Sends that recorded receives took: the earliest of equal ones.  Returns
 * how many others there are. */
static guint
mark_received (GArray *messages, GHashTable *received, const Otf2Definitions *definitions)
{
  guint n_left = 0;

  for (guint i = 0; i < messages->len; i++) {
    Otf2Message *message = &g_array_index (messages, Otf2Message, i);
    const Otf2Comm *comm = otf2_definitions_find_comm (definitions, message->comm);
    Channel channel = { message->source, comm->handle, message->tag, message->bytes };
    gpointer key, count;

    message->taken = g_hash_table_lookup_extended (received, &channel, &key, &count) &&
                     GPOINTER_TO_UINT (count) > 0;
    n_left += !message->taken;
    if (message->taken) {
      g_hash_table_steal (received, key);
      g_hash_table_insert (received, key, GUINT_TO_POINTER (GPOINTER_TO_UINT (count) - 1));
    }
  }
  return n_left;
}

static void
set_shares (const Otf2Losses *losses, GArray *messages)
{
  for (guint i = 0; i < messages->len; i++) {
    Otf2Message *message = &g_array_index (messages, Otf2Message, i);
    const GArray *n_sends = losses->n_sends[message->source];

    message->n_turns = g_array_index (n_sends, uint32_t, message->phase);
  }
}

void
otf2_losses_match (Otf2Losses *losses)
{
  uint32_t n_ranks = otf2_definitions_ranks (losses->definitions);

  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    uint64_t n_left =
        mark_received (losses->messages[rank], losses->received[rank], losses->definitions);

    g_hash_table_remove_all (losses->received[rank]);
    set_shares (losses, losses->messages[rank]);
    losses->counts.guessed += MIN (n_left, losses->n_lost[rank]);
    if (n_left > losses->n_lost[rank])
      losses->counts.unmatched += n_left - losses->n_lost[rank];
  }
  losses->orders = otf2_guess (losses->acts, losses->messages, n_ranks);
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
  const Otf2Message *message;

  if (index >= order->len)
    return false;
  message =
      &g_array_index (losses->messages[rank], Otf2Message, g_array_index (order, uint32_t, index));
  post->fate = OTF2_FATE_DONE;
  post->id = message->comm;
  post->peer = message->peer;
  post->tag = message->tag;
  post->bytes = message->bytes;
  return true;
}
