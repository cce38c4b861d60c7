/* fake_network.c - a network for tests of the replay: constant latency.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/fake_network.h"

#define NO_NODE UINT32_MAX

typedef struct {
  int64_t at_ps;
  uint64_t serial;
  uint32_t rank; /* whose callback it is */
  uint64_t cookie;
  uint32_t record;  /* UINT32_MAX: a timer */
  bool acknowledge; /* of the record, at its source */
} Event;

typedef struct {
  SimNetwork base;
  const TopoMapping *mapping;
  int64_t latency_ps, byte_ps, jitter_ps, now_ps;
  uint32_t node; /* of the callback that runs */
  uint64_t n_events, n_timers;
  GSequence *events;
  GArray *log;
} FakeNetwork;

static int
event_compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const Event *x = a, *y = b;

  (void) data;
  if (x->at_ps != y->at_ps)
    return x->at_ps < y->at_ps ? -1 : 1;
  return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static Event *
event_copy (Event event)
{
  Event *copy = g_new (Event, 1);

  *copy = event;
  return copy;
}

static void
event_add (FakeNetwork *fake, Event event)
{
  event.serial = fake->n_events++;
  g_sequence_insert_sorted (fake->events, event_copy (event), event_compare, NULL);
}

static void
fake_send (SimNetwork *self, const SimMessage *message, int64_t at_ps)
{
  FakeNetwork *fake = (FakeNetwork *) self;
  uint32_t hash = (fake->log->len + 1) * 2654435761u;
  int64_t jitter_ps = fake->jitter_ps > 0 ? hash % fake->jitter_ps : 0;
  FakeRecord record = {
    *message, at_ps, at_ps + fake->latency_ps + (int64_t) message->bytes * fake->byte_ps + jitter_ps
  };

  g_assert_cmpint (at_ps, >=, fake->now_ps);
  g_assert_cmpuint (fake->mapping->node[message->source_rank], ==, fake->node);
  g_assert_cmpuint (fake->mapping->node[message->destination_rank], !=, fake->node);
  event_add (fake, (Event){ .at_ps = record.delivered_ps,
                            .rank = message->destination_rank,
                            .record = fake->log->len });
  if (message->acknowledge)
    event_add (fake, (Event){ .at_ps = record.delivered_ps + fake->latency_ps,
                              .rank = message->source_rank,
                              .record = fake->log->len,
                              .acknowledge = true });
  g_array_append_val (fake->log, record);
}

static void
fake_timer (SimNetwork *self, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  FakeNetwork *fake = (FakeNetwork *) self;
  bool foreign = fake->node != NO_NODE && fake->mapping->node[rank] != fake->node;

  g_assert_cmpint (at_ps, >=, fake->now_ps + (foreign ? self->lookahead_ps : 0));
  fake->n_timers++;
  event_add (fake, (Event){ .at_ps = at_ps, .rank = rank, .cookie = cookie, .record = UINT32_MAX });
}

/* An acknowledgement takes the latency back. */
static void
fake_call (FakeNetwork *fake, Event event)
{
  const SimClient *client = fake->base.client;
  SimMessage message;

  if (event.record == UINT32_MAX) {
    client->timer (fake->base.client_data, event.rank, event.cookie, event.at_ps);
    return;
  }
  message = g_array_index (fake->log, FakeRecord, event.record).message;
  if (event.acknowledge) {
    client->sent (fake->base.client_data, &message, event.at_ps);
    return;
  }
  client->delivered (fake->base.client_data, &message, event.at_ps);
}

static gboolean
fake_run (SimNetwork *self, GError **error)
{
  FakeNetwork *fake = (FakeNetwork *) self;

  (void) error;
  while (!g_sequence_is_empty (fake->events)) {
    GSequenceIter *first = g_sequence_get_begin_iter (fake->events);
    Event event = *(const Event *) g_sequence_get (first);

    g_sequence_remove (first);
    fake->now_ps = event.at_ps;
    fake->node = fake->mapping->node[event.rank];
    fake_call (fake, event);
  }
  return TRUE;
}

static void
fake_free (SimNetwork *self)
{
  FakeNetwork *fake = (FakeNetwork *) self;

  g_sequence_free (fake->events);
  g_array_unref (fake->log);
  g_free (fake);
}

static const SimNetworkClass fake_class = { "fake",    "constant latency", fake_free,
                                            fake_send, fake_timer,         fake_run };

SimNetwork *
fake_network_new (const TopoMapping *mapping, int64_t latency_ps, int64_t byte_ps,
                  int64_t jitter_ps, const SimClient *client, void *client_data)
{
  FakeNetwork *fake = g_new0 (FakeNetwork, 1);

  fake->base.class = &fake_class;
  fake->base.client = client;
  fake->base.client_data = client_data;
  fake->base.lookahead_ps = latency_ps;
  fake->mapping = mapping;
  fake->latency_ps = latency_ps;
  fake->byte_ps = byte_ps;
  fake->jitter_ps = jitter_ps;
  fake->node = NO_NODE;
  fake->events = g_sequence_new (g_free);
  fake->log = g_array_new (FALSE, FALSE, sizeof (FakeRecord));
  return &fake->base;
}

const GArray *
fake_network_log (const SimNetwork *network)
{
  return ((const FakeNetwork *) network)->log;
}

uint64_t
fake_network_timers (const SimNetwork *network)
{
  return ((const FakeNetwork *) network)->n_timers;
}
