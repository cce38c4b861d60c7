/* replay_parts_testing.c - a network of constant latency in parts, each in a thread of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As network.h has it, and no more: windows as long as they may be, the order of a node's events from
 * the events alone, and in a window no order between nodes of different parts.  Threads
 * stop at random, so that each run has another one. */
#include "base/random.h"
#include "sim/replay/replay_testing.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

/* Kinds of events, in their order at one instant. */
enum { MESSAGE, TIMER, SHARED_TIMER };

typedef struct {
  int64_t at_ps;
  uint64_t key, serial; /* messages: source, number among those of its node; shared timers: cookie,
                         * number among those of the part */
  SimMessage message;
  uint64_t cookie;
  uint32_t rank, kind;
} Event;

typedef struct {
  Event *heap;
  uint32_t n, capacity;
  uint64_t n_sent, n_timers;
  uint64_t hash; /* of all that has happened here */
} Node;

typedef struct Parts Parts;

typedef struct {
  SimNetwork base;
  Parts *all;
  GArray **mail; /* [n_parts] (element-type Event) for the others */
  int64_t now_ps, next_ps;
  uint32_t node; /* of the callback; TOPO_NONE: before the run */
  uint64_t n_shared;
} Part;

struct Parts {
  const TopoMapping *mapping;
  int64_t latency_ps, byte_ps, jitter_ps;
  uint32_t n_nodes, n_parts, window_bits;
  Node *nodes;
  Part *parts;
  SimNetwork **networks;
  pthread_barrier_t barrier;
};

/* -- events -------------------------------------------------------------- */

static bool
is_before (const Event *one, const Event *other)
{
  if (one->at_ps != other->at_ps)
    return one->at_ps < other->at_ps;
  if (one->kind != other->kind)
    return one->kind < other->kind;
  return one->key != other->key ? one->key < other->key : one->serial < other->serial;
}

static void
push (Node *node, Event event)
{
  uint32_t at = node->n++;

  if (node->n > node->capacity) {
    node->capacity = MAX (16u, 2 * node->capacity);
    node->heap = g_renew (Event, node->heap, node->capacity);
  }
  for (; at > 0 && is_before (&event, &node->heap[(at - 1) / 2]); at = (at - 1) / 2)
    node->heap[at] = node->heap[(at - 1) / 2];
  node->heap[at] = event;
}

static Event
pop (Node *node)
{
  Event first = node->heap[0], last = node->heap[--node->n];
  uint32_t at = 0, child;

  while ((child = 2 * at + 1) < node->n) {
    child += child + 1 < node->n && is_before (&node->heap[child + 1], &node->heap[child]);
    if (!is_before (&node->heap[child], &last))
      break;
    node->heap[at] = node->heap[child];
    at = child;
  }
  node->heap[at] = last;
  return first;
}

static void
note (Node *node, uint64_t value)
{
  node->hash = base_random_mix (node->hash ^ value);
}

/* The part that a node is in. */
static Part *
part_of (const Parts *all, uint32_t node)
{
  Part *part = all->parts;

  while (node >= part->base.end_node)
    part++;
  return part;
}

static void
post (Part *part, Event event)
{
  Part *to = part_of (part->all, part->all->mapping->node[event.rank]);

  if (to == part)
    push (&part->all->nodes[part->all->mapping->node[event.rank]], event);
  else
    g_array_append_val (part->mail[to - part->all->parts], event);
}

/* -- the class ----------------------------------------------------------- */

static void
parts_send (SimNetwork *self, const SimMessage *message, int64_t at_ps)
{
  Part *part = (Part *) self;
  const Parts *all = part->all;
  Node *node = &all->nodes[all->mapping->node[message->source_rank]];
  Event event = { .kind = MESSAGE,
                  .key = message->source_rank,
                  .serial = node->n_sent++,
                  .message = *message,
                  .rank = message->destination_rank };
  uint64_t dice = base_random_mix (event.key << 32 | event.serial);

  g_assert_cmpint (at_ps, >=, part->now_ps);
  g_assert_cmpuint (all->mapping->node[message->source_rank], ==, part->node);
  g_assert_cmpuint (all->mapping->node[message->destination_rank], !=, part->node);
  g_assert_false (message->acknowledge);
  note (node, (uint64_t) at_ps);
  note (node, (uint64_t) message->destination_rank << 40 | message->bytes << 8 | message->kind);
  event.at_ps = at_ps + all->latency_ps + (int64_t) message->bytes * all->byte_ps;
  if (all->jitter_ps > 0)
    event.at_ps += (int64_t) (dice % (uint64_t) all->jitter_ps);
  post (part, event);
}

static void
parts_timer (SimNetwork *self, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  Part *part = (Part *) self;
  uint32_t place = part->all->mapping->node[rank];
  Node *node = &part->all->nodes[place];

  g_assert_cmpint (at_ps, >=, part->now_ps);
  g_assert_true (part->node == TOPO_NONE ? part_of (part->all, place) == part
                                         : place == part->node);
  push (node, (Event){ .at_ps = at_ps,
                       .kind = TIMER,
                       .serial = node->n_timers++,
                       .rank = rank,
                       .cookie = cookie });
}

static void
parts_shared_timer (SimNetwork *self, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  Part *part = (Part *) self;

  g_assert_cmpint (at_ps, >=, part->now_ps + self->lookahead_ps);
  post (part, (Event){ .at_ps = at_ps,
                       .kind = SHARED_TIMER,
                       .key = cookie,
                       .serial = part->n_shared++,
                       .rank = rank,
                       .cookie = cookie });
}

/* -- running ------------------------------------------------------------- */

static void
run_event (Part *part, const Event *event)
{
  const SimNetwork *base = &part->base;

  part->now_ps = event->at_ps;
  part->node = part->all->mapping->node[event->rank];
  note (&part->all->nodes[part->node],
        (uint64_t) event->at_ps << 16 ^ event->rank << 2 ^ event->kind);
  if (event->kind == MESSAGE)
    base->client->delivered (base->client_data, &event->message, event->at_ps);
  else
    base->client->timer (base->client_data, event->rank, event->cookie, event->at_ps);
}

/* What other parts have sent, and when the first of all events is. */
static void
take_mail (Part *part)
{
  const Parts *all = part->all;

  for (uint32_t from = 0; from < all->n_parts; from++) {
    GArray *mail = all->parts[from].mail[part - all->parts];

    for (uint32_t i = 0; i < mail->len; i++)
      post (part, g_array_index (mail, Event, i));
    g_array_set_size (mail, 0);
  }
  part->next_ps = INT64_MAX;
  for (uint32_t node = part->base.first_node; node < part->base.end_node; node++)
    if (all->nodes[node].n > 0)
      part->next_ps = MIN (part->next_ps, all->nodes[node].heap[0].at_ps);
}

static void
run_window (Part *part, int64_t window)
{
  const Parts *all = part->all;

  for (uint32_t place = part->base.first_node; place < part->base.end_node; place++) {
    Node *node = &all->nodes[place];

    if (g_random_int_range (0, 16) == 0)
      sched_yield ();
    while (node->n > 0 && node->heap[0].at_ps >> all->window_bits == window) {
      Event event = pop (node);

      run_event (part, &event);
    }
  }
}

static void *
run_part (void *data)
{
  Part *part = data;
  Parts *all = part->all;

  while (true) {
    int64_t next_ps = INT64_MAX;

    take_mail (part);
    pthread_barrier_wait (&all->barrier);
    for (uint32_t other = 0; other < all->n_parts; other++)
      next_ps = MIN (next_ps, all->parts[other].next_ps);
    if (next_ps == INT64_MAX)
      return NULL;
    if (part == all->parts && g_random_int_range (0, 8) == 0)
      part->base.client->running (part->base.client_data, next_ps);
    pthread_barrier_wait (&all->barrier);
    run_window (part, next_ps >> all->window_bits);
    pthread_barrier_wait (&all->barrier);
  }
}

static gboolean
parts_run (SimNetwork *self, GError **error)
{
  Parts *all = ((Part *) self)->all;
  g_autofree pthread_t *threads = g_new (pthread_t, all->n_parts);

  (void) error;
  for (uint32_t part = 1; part < all->n_parts; part++)
    g_assert_cmpint (pthread_create (&threads[part], NULL, run_part, &all->parts[part]), ==, 0);
  run_part (self);
  for (uint32_t part = 1; part < all->n_parts; part++)
    pthread_join (threads[part], NULL);
  return TRUE;
}

/* -- life ---------------------------------------------------------------- */

static void
parts_free (SimNetwork *self)
{
  Parts *all = ((Part *) self)->all;

  for (uint32_t part = 0; part < all->n_parts; part++) {
    for (uint32_t to = 0; to < all->n_parts; to++)
      g_array_unref (all->parts[part].mail[to]);
    g_free (all->parts[part].mail);
  }
  for (uint32_t node = 0; node < all->n_nodes; node++)
    g_free (all->nodes[node].heap);
  pthread_barrier_destroy (&all->barrier);
  g_free (all->networks);
  g_free (all->parts);
  g_free (all->nodes);
  g_free (all);
}

static const SimNetworkClass parts_class = { .name = "parts",
                                             .summary = "constant latency, in parts",
                                             .free = parts_free,
                                             .send = parts_send,
                                             .timer = parts_timer,
                                             .shared_timer = parts_shared_timer,
                                             .run = parts_run };

SimNetwork *
parts_network_new (const TopoMapping *mapping, uint32_t n_nodes, uint32_t n_parts,
                   int64_t latency_ps, int64_t byte_ps, int64_t jitter_ps, const SimClient *client,
                   void *client_data)
{
  Parts *all = g_new0 (Parts, 1);

  n_parts = MIN (n_parts, n_nodes);
  all->mapping = mapping;
  all->latency_ps = latency_ps;
  all->byte_ps = byte_ps;
  all->jitter_ps = jitter_ps;
  all->n_nodes = n_nodes;
  all->n_parts = n_parts;
  all->nodes = g_new0 (Node, n_nodes);
  all->parts = g_new0 (Part, n_parts);
  all->networks = g_new (SimNetwork *, n_parts);
  while (INT64_C (2) << all->window_bits <= latency_ps)
    all->window_bits++;
  pthread_barrier_init (&all->barrier, NULL, n_parts);
  for (uint32_t number = 0; number < n_parts; number++) {
    Part *part = &all->parts[number];

    all->networks[number] = &part->base;
    *part = (Part){ .base = { .class = &parts_class,
                              .parts = all->networks,
                              .n_parts = n_parts,
                              .first_node = n_nodes * number / n_parts,
                              .end_node = n_nodes * (number + 1) / n_parts,
                              .client = client,
                              .client_data = client_data,
                              .lookahead_ps = latency_ps },
                    .all = all,
                    .mail = g_new (GArray *, n_parts),
                    .node = TOPO_NONE };
    for (uint32_t to = 0; to < n_parts; to++)
      part->mail[to] = g_array_new (FALSE, FALSE, sizeof (Event));
  }
  return all->networks[0];
}

uint64_t
parts_network_hash (const SimNetwork *network)
{
  const Parts *all = ((const Part *) network)->all;
  uint64_t hash = 0;

  for (uint32_t node = 0; node < all->n_nodes; node++)
    hash = base_random_mix (hash ^ all->nodes[node].hash);
  return hash;
}
