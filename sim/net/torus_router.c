/* torus_router.c - packets at the ports of a torus, window by window.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/torus_port.h"

/* What torus_dynamic.c's arbiter does where nothing wants the dynamic VC. */
static bool
arbitrate (Look *look)
{
  Port *port = look->port;
  bool injection_waits = port->want[BUBBLE] != 0;
  bool injection_first = injection_waits && port->grants >= look->net->receiver_grants;

  if (serve_lists (look, PRIORITY) || serve_heads (look, PRIORITY) ||
      (injection_first && serve_heads (look, BUBBLE)))
    return true;
  if (serve_lists (look, BUBBLE)) {
    if (injection_waits && port->grants < UINT8_MAX)
      port->grants++;
    return true;
  }
  return !injection_first && serve_heads (look, BUBBLE);
}

/* Both virtual channels, newcomers that meet, and the turn of injection. */
static RARE bool
look_at_all (Torus *net, uint32_t node_index, Node *node, uint32_t port_index)
{
  Look look = survey (net, node_index, node, port_index);

  return (!look.old && serve_newcomer (&look)) || arbitrate (&look);
}

static RARE void
starve (Torus *net, uint32_t node_index, Node *node, uint32_t port_index, Port *port)
{
  int64_t next_ps = next_chance_ps (net, node_index, node, port_index, port);

  if (next_ps != NEVER_PS)
    wake (net, node_index, port_index, port, next_ps);
}

/* The first of a list of the bubble VC; of an empty one some packet whose memory is wanted anyway. */
static ALWAYS_INLINE uint32_t
first_listed (const Port *port, uint32_t turns)
{
  return select_u32 (port->listed >> turns & 1, port->lists.head[turns],
                     port->lists.head[1 - turns]);
}

static ALWAYS_INLINE void
look (Torus *net, uint32_t number)
{
  uint32_t node_index = number >> 4, port_index = number & 15;
  Node *node = node_at (net, node_index);
  Port *port = port_of (net, node, port_index);
  bool sent;

  if (G_UNLIKELY (port->wake_ps >= net->window_end_ps))
    return; /* an earlier wake took its place */
  net->now_ps = port->wake_ps;
  port->wake_ps = NEVER_PS;
  if (G_UNLIKELY (port->free_ps > net->now_ps)) {
    wake (net, node_index, port_index, port, port->free_ps);
    return;
  }
  if (G_UNLIKELY (port->word & unusual_port.word) && port->future)
    meet_future (net, node, port);
  if (G_UNLIKELY (port->word & unusual_port.word) &&
      ((port->listed & PRIORITY_LISTS) | port->want[PRIORITY]) != 0) {
    sent = look_at_all (net, node_index, node, port_index);
  } else {
    const uint32_t shift = places_of (net)->id_shift[BUBBLE], slot_mask = (1u << shift) - 1;
    uint32_t straight = first_listed (port, 0), turning = first_listed (port, 1);
    int32_t straight_ps =
        (int32_t) ((uint32_t) net->now_ps -
                   bubble_packets (net, node, straight >> shift)[straight & slot_mask].since);
    int32_t turning_ps =
        (int32_t) ((uint32_t) net->now_ps -
                   bubble_packets (net, node, turning >> shift)[turning & slot_mask].since);
    bool goes_here = (port->listed & 1) & (straight_ps >= 0);
    bool turns_here = (port->listed >> 1 & 1) & (turning_ps >= 0);
    bool injects = port->want[BUBBLE] != 0;
    bool old = (goes_here & (straight_ps > 0)) | (turns_here & (turning_ps > 0)) |
               ((port->want[BUBBLE] & ~port->early) != 0);

    if (G_UNLIKELY ((old & injects & (port->grants >= net->receiver_grants)) |
                    (!old & goes_here & turns_here))) {
      sent = look_at_all (net, node_index, node, port_index);
    } else {
      Room room = room_on (net, bubble_slots (net, port), BUBBLE);
      bool may_go = goes_here & room.one, may_turn = turns_here & room.two;

      sent = true;
      if (G_LIKELY (may_go | may_turn)) {
        bool both = may_go & may_turn;
        uint32_t turns = select_u32 (both, port->next & TURN_NEXT, may_turn);

        port->next = (uint8_t) ((port->next ^ both) & ~(old * BUBBLE_NEXT));
        port->grants += (uint8_t) (old & injects & (port->grants < UINT8_MAX));
        send_listed (net, node_index, node, port_index, port, BUBBLE, turns, room.slot, old);
      } else if (injects & room.two) {
        uint32_t fifo = old ? next_bit (port->want[BUBBLE], port->last_fifo + 1u)
                            : first_newcomer (net, node, port->early);

        port->last_fifo = old ? (uint8_t) fifo : port->last_fifo;
        port->grants = old ? 0 : port->grants;
        send_head (net, node_index, node, port_index, port, fifo, room.slot);
      } else {
        sent = false;
      }
    }
  }
  if (G_UNLIKELY (!sent))
    starve (net, node_index, node, port_index, port);
  else if (is_wanted (port))
    wake (net, node_index, port_index, port, port->free_ps);
}

/* --- Reception ---
 *
 * Each input port has a network reception FIFO of a few packets (guess); the
 * messaging unit empties them into memory, whose write bandwidth all of a
 * node's ports share.  A packet leaves its receive buffer when the reception
 * FIFO has room for it, so memory that cannot keep up fills the buffers and
 * in the end stops the links: the congestion that SC13 section 3.1 describes.
 * All its times are known when its head is there. */

static ALWAYS_INLINE void
receive (Torus *net, uint64_t reception)
{
  bool is_dynamic = (reception & RECEIVES_DYNAMIC) != 0;
  uint32_t node_index = reception & RECEIVED_NODE, slot = reception >> 23 & 0xfff;
  uint32_t vc = reception >> 35 & 1, in_port = reception >> 37 & 15;
  int64_t now_ps = net->window_ps + (int64_t) (reception >> 41);
  Packet received;

  if (G_UNLIKELY (is_dynamic)) {
    const DynamicPacket *dynamic = &net->dynamic_packet[(uint32_t) reception];

    received = (Packet){ .message = dynamic->message,
                         .payload_bytes = dynamic->payload_bytes,
                         .chunks = dynamic->chunks };
    node_index = dynamic->node;
    vc = DYNAMIC;
    slot = room_chunks (dynamic->chunks);
    pool_give (&net->dynamic_packets, net->dynamic_packet, sizeof (DynamicPacket),
               offsetof (DynamicPacket, next), (uint32_t) reception);
  } else {
    received = vc == BUBBLE ? bubble_packets (net, node_at (net, node_index), in_port)[slot]
                            : *vc_packet (net, node_index, vc,
                                          in_port << places_of (net)->id_shift[vc] | slot);
  }

  Node *node = node_at (net, node_index);
  const Packet *packet = &received;
  uint32_t place = node->next_reception[in_port];
  int64_t *place_ps = (int64_t *) ((char *) node + places_of (net)->receptions_at) +
                      (size_t) in_port * net->reception_depth + place;
  /* The place is free once the packet that had it last is in memory. */
  int64_t enter_ps = MAX (now_ps, *place_ps);
  int64_t left_ps = enter_ps + net->wire_ps[packet->chunks];
  /* Memory takes the packet as it streams in, at its own rate. */
  int64_t written_ps = MAX (node->memory_ps, enter_ps) + net->memory_ps[packet->chunks];

  node->memory_ps = written_ps;
  written_ps = MAX (written_ps, left_ps);
  *place_ps = written_ps;
  node->next_reception[in_port] =
      (uint16_t) select_u32 (place + 1 == net->reception_depth, 0, place + 1);
  if (G_UNLIKELY (enter_ps > now_ps)) {
    Waited *waited = waited_at (net, node, in_port);

    waited->packets += packet_weight (packet->chunks, net->engine.base.shrink);
    waited->ps += (uint64_t) (enter_ps - now_ps);
  }
  net->in_flight--;
  if (packet_engine_received (&net->engine, packet->message, packet->payload_bytes, written_ps))
    sim_schedule_push (net->engine.schedule, node_index, CODE_DELIVER, packet->message,
                       message_at (&net->engine, packet->message)->last_ps +
                           net->reception_latency_ps);
  if (G_UNLIKELY (is_dynamic))
    return_chunks (net, node, in_port, slot, left_ps);
  else
    return_token (net, node, in_port, vc, slot, left_ps);
}

/* --- Windows --- */

/* Packet.since has the low 32 bits of a time, and differences of them are right
 * up to 2.1 ms.  So packets that are here since before at_ps count as waited up to
 * now, and begin again. */
static RARE void
sweep (Torus *net, int64_t at_ps)
{
  uint32_t begin = (uint32_t) (at_ps - 1);

  for (uint32_t node = net->engine.base.first_node; node < net->engine.base.end_node; node++)
    for (uint32_t port_index = 0; port_index < net->n_ports; port_index++) {
      Port *port = port_of (net, node_at (net, node), port_index);

      for (uint32_t list = 0; list < LIST (VCS, 0); list++) {
        uint32_t vc = list / 2, turns = list % 2;
        Lists *lists = vc_lists (net, node, port_index, vc);

        if (!(port->listed >> list & 1))
          continue;
        for (uint32_t id = lists->head[turns];; id = vc_links (net, node, vc)[id]) {
          Packet *packet = vc_packet (net, node, vc, id);

          if ((int32_t) (begin - packet->since) > 0) {
            waited_at (net, node_at (net, node), id >> places_of (net)->id_shift[vc])->ps +=
                begin - packet->since;
            packet->since = begin;
          }
          if (turns)
            lists->turning_since = packet->since;
          if (id == lists->tail[turns])
            break;
        }
      }
    }
}

static void
deliver (Torus *net, uint32_t index)
{
  SimMessage message = message_at (&net->engine, index)->public;

  g_assert (message_at (&net->engine, index)->bytes_left == 0);
  if (G_LIKELY (message_home (&net->engine, index) == net->engine.part))
    packet_engine_give_message (&net->engine, index);
  else
    torus_post_message (net, index);
  net->engine.base.client->delivered (net->engine.base.client_data, &message, net->engine.now_ps);
}

/* Events between two steps of the client's prefetch; the message of a delivery is fetched before
 * the first. */
#define CLIENT_STRIDE 3u
#define CLIENT_AHEAD  (SIM_PREFETCH_STEPS * CLIENT_STRIDE)

/* Step 0 fetches the message of event number `at`, later ones are the client's. */
static inline void
prefetch_delivery (const Torus *net, uint32_t at, uint32_t step)
{
  const SimSchedule *schedule = net->engine.schedule;
  const SimNetwork *base = &net->engine.base;
  const Message *message;

  if (at >= schedule->n_due || sim_event_code (schedule->due[at]) != CODE_DELIVER)
    return;
  message = message_at (&net->engine, schedule->due[at].argument);
  if (step > 0) {
    base->client->prefetch (base->client_data, &message->public, step - 1);
    return;
  }
  __builtin_prefetch (message, 1);
  __builtin_prefetch (&message->public.source_rank, 1);
}

/* The client's callbacks and injections, in the order of time of each node. */
static void
call_client (Torus *net)
{
  const SimSchedule *schedule = net->engine.schedule;
  /* In a window of few events the steps cost more than they save. */
  bool prefetches = net->engine.base.client->prefetch != NULL && schedule->n_due > CLIENT_AHEAD;
  SimEvent event;

  /* What the steps of earlier events would have been for the first of the window. */
  for (uint32_t step = 0; step <= SIM_PREFETCH_STEPS && prefetches; step++)
    for (uint32_t at = 0; at <= CLIENT_AHEAD - step * CLIENT_STRIDE; at++)
      prefetch_delivery (net, at, step);
  while (sim_schedule_pop (net->engine.schedule, &event)) {
    uint32_t node = sim_event_node (event);

    for (uint32_t step = 0; step <= SIM_PREFETCH_STEPS && prefetches; step++)
      prefetch_delivery (net, schedule->next_due + CLIENT_AHEAD - step * CLIENT_STRIDE, step);
    net->engine.now_ps = event.at_ps;
    switch (sim_event_code (event)) {
    case CODE_INJECT: torus_inject (net, node, event.argument); break;
    case CODE_DELIVER: deliver (net, event.argument); break;
    case CODE_TIMER: packet_engine_timer_due (&net->engine, event.argument); break;
    case CODE_WAKE: {
      Port *port = port_of (net, node_at (net, node), event.argument & 15);

      /* As in look(): an earlier wake may have taken its place. */
      if (port->wake_ps == event.at_ps) {
        port->wake_ps = NEVER_PS;
        wake (net, node, event.argument & 15, port, event.at_ps);
      }
      break;
    }
    case CODE_RECEIVE: expect_reception (net, node, event.argument, event.at_ps); break;
    case CODE_RECEIVE_DYNAMIC: expect_dynamic_reception (net, event.argument, event.at_ps); break;
    case CODE_ARRIVE: expect_arrival (net, event.argument, event.at_ps); break;
    case CODE_ESCAPED:
      expect_escaped (net, event.argument >> 16, node, event.argument & 0xffff, event.at_ps);
      break;
    default: {
      uint32_t step = sim_event_code (event) - CODE_STEP;

      expect_step (net, step >> 4, step & 15, node, event.argument, event.at_ps);
      break;
    }
    }
  }
}

/* What a reception and a port touch is fetched so many entries ahead, first
 * what the entry names, then what that names. */
#define PORTS_FAR  12u
#define PORTS_NEAR 6u

static PREFETCHES
prefetch_receiver (const Torus *net, uint64_t reception)
{
  const Node *node = node_at (net, reception & RECEIVED_NODE);

  if (G_UNLIKELY (reception & RECEIVES_DYNAMIC)) {
    __builtin_prefetch (&net->dynamic_packet[(uint32_t) reception], 1);
    return;
  }
  __builtin_prefetch (node, 1);
  __builtin_prefetch (&bubble_packets (net, node_at (net, reception & RECEIVED_NODE),
                                       reception >> 37 & 15)[reception >> 23 & 7],
                      1);
  __builtin_prefetch ((const char *) node + places_of (net)->receptions_at +
                          8 * (size_t) net->reception_depth * (reception >> 37 & 15),
                      1);
}

static PREFETCHES
prefetch_received (const Torus *net, uint64_t reception)
{
  uint32_t message;

  if (G_UNLIKELY (reception & RECEIVES_DYNAMIC)) {
    const DynamicPacket *packet = &net->dynamic_packet[(uint32_t) reception];
    const Node *node = node_at (net, packet->node);

    __builtin_prefetch (node, 1);
    __builtin_prefetch ((const char *) node + places_of (net)->receptions_at +
                            8 * (size_t) net->reception_depth * (reception >> 37 & 15),
                        1);
    message = packet->message;
  } else {
    Node *node = node_at (net, reception & RECEIVED_NODE);

    message = bubble_packets (net, node, reception >> 37 & 15)[reception >> 23 & 7].message;
  }
  __builtin_prefetch (message_at (&net->engine, message), 1);
}

static void
receive_all (Torus *net, Bucket *bucket)
{
  uint64_t *keys = bucket->receptions;
  uint32_t n = bucket->n_receptions;

  /* By time, then by input port. */
  torus_sort (net, keys, n, 37);
  for (uint32_t i = 0; i < AHEAD; i++)
    keys[n + i] = keys[n - 1];
  for (uint32_t i = 0; i < n; i++) {
    prefetch_receiver (net, keys[i + PORTS_FAR]);
    prefetch_received (net, keys[i + PORTS_NEAR]);
    receive (net, keys[i]);
  }
}

static PREFETCHES
prefetch_port (const Torus *net, uint32_t number, bool has_steps)
{
  Port *port = port_of (net, node_at (net, number >> 4), number & 15);

  __builtin_prefetch (port, 1);
  if (has_steps) /* asked whether it is in the order of time */
    __builtin_prefetch (node_at (net, number >> 4), 1);
  __builtin_prefetch (starved_mark (port), 1);
}

static PREFETCHES
prefetch_waiting (const Torus *net, uint32_t number)
{
  Node *node = node_at (net, number >> 4);
  const Port *port = port_of (net, node, number & 15);
  uint32_t shift = places_of (net)->id_shift[BUBBLE], slot_mask = (1u << shift) - 1;
  uint32_t straight = first_listed (port, 0), turning = first_listed (port, 1);
  uint32_t wanting = port->want[BUBBLE];

  __builtin_prefetch (&bubble_packets (net, node, straight >> shift)[straight & slot_mask], 1);
  __builtin_prefetch (&bubble_packets (net, node, turning >> shift)[turning & slot_mask], 1);
  __builtin_prefetch (waited_at (net, node, straight >> shift), 1);
  __builtin_prefetch (waited_at (net, node, turning >> shift), 1);
  __builtin_prefetch (&bubble_links (net, node)[straight], 1);
  __builtin_prefetch (&bubble_links (net, node)[turning], 1);
  __builtin_prefetch (node, 1);
  __builtin_prefetch (
      fifo_of (net, node, next_bit (wanting | (uint32_t) !wanting, port->last_fifo + 1u)), 1);
}

static ALWAYS_INLINE void
look_at_ports (Torus *net, Bucket *bucket, bool has_steps)
{
  /* Ports that look again in this window join the end. */
  for (uint32_t i = 0; i < bucket->n_ports;) {
    uint32_t n = bucket->n_ports;

    for (uint32_t ahead = 0; ahead < AHEAD; ahead++)
      bucket->ports[n + ahead] = bucket->ports[n - 1];
    for (; i < n; i++) {
      uint32_t number = bucket->ports[i];

      prefetch_port (net, bucket->ports[i + PORTS_FAR], has_steps);
      if (!has_steps || !is_in_order (net, bucket->ports[i + PORTS_NEAR] >> 4))
        prefetch_waiting (net, bucket->ports[i + PORTS_NEAR]);
      if (has_steps && G_UNLIKELY (is_in_order (net, number >> 4)))
        torus_look_in_order (net, bucket, number);
      else
        look (net, number);
    }
  }
}

/* A part without dynamic packets does not look at nodes for them. */
static void
look_all (Torus *net, Bucket *bucket)
{
  if (G_LIKELY (!net->has_steps)) {
    look_at_ports (net, bucket, false);
    return;
  }
  torus_count_steps (net, bucket);
  look_at_ports (net, bucket, true);
  torus_step (net, bucket);
}

static void
enter (Torus *net, int64_t window)
{
  int64_t window_ps = window << net->window_bits;

  /* Nothing happens in between, so the sweeps that are due may all be now. */
  for (; net->sweep_ps <= window_ps; net->sweep_ps += net->sweep_every_ps) {
    if (net->all.in_flight == 0) {
      net->sweep_ps = window_ps + net->sweep_every_ps;
      break;
    }
    sweep (net, net->sweep_ps);
  }
  set_window (net, window);
  sim_schedule_enter (net->engine.schedule, window);
}

/* The window ends: what was kept back takes effect. */
static void
apply_all (Torus *net)
{
  uint32_t n_going = MIN (net->n_going, net->n_kept), n_tokens = MIN (net->n_tokens, net->n_kept);

  for (uint32_t k = net->n_going - n_going; k != net->n_going; k++)
    apply_kept_going (net, &net->going[k & (net->n_kept - 1)]);
  for (uint32_t k = net->n_tokens - n_tokens; k != net->n_tokens; k++)
    apply_token (net, &net->token[k & (net->n_kept - 1)]);
  net->n_going = net->n_tokens = 0;
}

static void
spare (Spare *spares, void *entries, uint32_t capacity)
{
  if (capacity > 0)
    spares->array[spares->n++] = (Array){ entries, capacity };
}

static void
run_window (Torus *net)
{
  uint32_t index = (uint32_t) net->window & (net->n_ring - 1);
  Bucket *bucket = &net->bucket[index];

  call_client (net);
  if (bucket->n_receptions > 0)
    receive_all (net, bucket);
  look_all (net, bucket);
  spare (&net->spare_ports, bucket->ports, bucket->ports_capacity);
  spare (&net->spare_receptions, bucket->receptions, bucket->receptions_capacity);
  spare (&net->spare_steps, bucket->steps, bucket->steps_capacity);
  *bucket = (Bucket){ 0 };
  net->occupied[index / 64] &= ~(UINT64_C (1) << (index % 64));
  apply_all (net);
}

/* --- Parts --- */

static void
take_dynamic (Torus *net, const DynamicGoing *going)
{
  uint32_t index = pool_take (&net->dynamic_packets, (void **) &net->dynamic_packet,
                              sizeof (DynamicPacket), offsetof (DynamicPacket, next));

  net->dynamic_packet[index] = going->packet;
  if (going->packet.pending == 0)
    expect_dynamic_reception (net, index, going->at_ps);
  else
    expect_arrival (net, index, going->at_ps);
}

/* What another part has noted for this one. */
static void
take_mail (Torus *net, Mail *mail)
{
  for (uint32_t i = 0; i < mail->going->len; i++)
    apply_kept_going (net, &g_array_index (mail->going, Going, i));
  for (uint32_t i = 0; i < mail->tokens->len; i++)
    apply_token (net, &g_array_index (mail->tokens, Token, i));
  for (uint32_t i = 0; i < mail->dynamic->len; i++)
    take_dynamic (net, &g_array_index (mail->dynamic, DynamicGoing, i));
  for (uint32_t i = 0; i < mail->chunks->len; i++) {
    const Chunks *chunks = &g_array_index (mail->chunks, Chunks, i);

    expect_step (net, STEP_TOKEN, chunks->port, chunks->node, chunks->chunks, chunks->at_ps);
  }
  for (uint32_t i = 0; i < mail->messages->len; i++)
    packet_engine_give_message (&net->engine, g_array_index (mail->messages, uint32_t, i));
  g_array_set_size (mail->going, 0);
  g_array_set_size (mail->tokens, 0);
  g_array_set_size (mail->dynamic, 0);
  g_array_set_size (mail->chunks, 0);
  g_array_set_size (mail->messages, 0);
}

static void
meet_parts (Torus *net)
{
  const SimNetwork *base = &net->engine.base;

  torus_wait_for_parts (net);
  for (uint32_t part = 0; part < base->n_parts; part++)
    if (part != net->engine.part)
      take_mail (net, &part_at (net, part)->mail[net->engine.part]);
  torus_compare_parts (net);
}

bool
torus_run_windows (Torus *net)
{
  PacketEngine *engine = &net->engine;
  const PartState *all = &net->all;

  meet_parts (net);
  engine->progress = all->progress;
  while (all->window != NO_WINDOW) {
    if (G_UNLIKELY (packet_engine_call_is_due (engine, all->n_events))) {
      torus_wait_for_parts (net);
      if (engine->part == 0)
        net->goes_on = packet_engine_call (engine, all->window << net->window_bits);
      torus_wait_for_parts (net);
      if (!part_at (net, 0)->goes_on)
        return false;
    }
    enter (net, all->window);
    run_window (net);
    meet_parts (net);
    if (!packet_engine_moves (engine, all->progress, all->in_flight > 0))
      return true;
  }
  return true;
}
