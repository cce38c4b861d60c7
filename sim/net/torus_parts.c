/* torus_parts.c - a torus in parts, each run by a thread of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * All parts go from window to window together:
 *
 *     run the window, noting what affects nodes of other parts
 *     -- all have --
 *     take in what others have noted, tell what comes next here
 *     -- all have --
 *     the next window is the first of all parts
 *
 * What is noted takes effect where it would without parts: between two windows.
 * So each part makes the same events at the same times, whatever their number. */
#include "sim/net/torus_state.h"

#include <string.h>

/* --- Notes --- */

static inline Mail *
mail_to (const Torus *net, uint32_t node)
{
  return &net->mail[part_of (net, node)];
}

void
torus_post_going (Torus *net, const Going *going)
{
  g_array_append_vals (mail_to (net, going->node)->going, going, 1);
}

void
torus_post_token (Torus *net, const Token *token)
{
  g_array_append_vals (mail_to (net, token->node)->tokens, token, 1);
}

void
torus_post_dynamic (Torus *net, const DynamicPacket *packet, int64_t at_ps)
{
  DynamicGoing going = { at_ps, *packet };

  g_array_append_val (mail_to (net, packet->node)->dynamic, going);
}

void
torus_post_chunks (Torus *net, const Chunks *chunks)
{
  g_array_append_vals (mail_to (net, chunks->node)->chunks, chunks, 1);
}

void
torus_post_message (Torus *net, uint32_t message)
{
  g_array_append_val (net->mail[message_home (&net->engine, message)].messages, message);
}

void
torus_shared_timer (SimNetwork *base, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  Torus *net = (Torus *) base;
  SharedTimer timer = { at_ps, cookie, rank };

  g_assert (at_ps >= net->engine.now_ps + base->lookahead_ps);
  g_array_append_val (mail_to (net, net->engine.mapping->node[rank])->shared_timers, timer);
}

static int
by_cookie (const void *a, const void *b)
{
  const SharedTimer *left = a, *right = b;

  if (left->cookie != right->cookie)
    return left->cookie < right->cookie ? -1 : 1;
  return (left->rank > right->rank) - (left->rank < right->rank);
}

/* Who has noted them does not matter: the first of equal times is that of the lowest cookie. */
static void
take_shared_timers (Torus *net)
{
  GArray *all = net->shared_timers;

  for (uint32_t part = 0; part < net->engine.base.n_parts; part++) {
    GArray *timers = part_at (net, part)->mail[net->engine.part].shared_timers;

    if (timers->len == 0)
      continue;
    g_array_append_vals (all, timers->data, timers->len);
    g_array_set_size (timers, 0);
  }
  if (all->len == 0)
    return;
  g_array_sort (all, by_cookie);
  for (uint32_t i = 0; i < all->len; i++) {
    const SharedTimer *timer = &g_array_index (all, SharedTimer, i);

    torus_timer (&net->engine.base, timer->rank, timer->cookie, timer->at_ps);
  }
  g_array_set_size (all, 0);
}

/* --- Windows of all parts --- */

/* First occupied window of the ring from the current one on, or NO_WINDOW. */
static int64_t
first_in_ring (const Torus *net)
{
  for (uint32_t step = 0; step < net->n_ring;) {
    uint32_t index = (uint32_t) (net->window + step) & (net->n_ring - 1);
    uint64_t bits = net->occupied[index / 64] >> (index % 64);

    if (bits)
      return net->window + step + __builtin_ctzll (bits);
    step += 64 - index % 64;
  }
  return NO_WINDOW;
}

static int64_t
first_window (const Torus *net)
{
  int64_t in_ring = first_in_ring (net), scheduled = sim_schedule_peek (net->engine.schedule);

  return scheduled >= 0 ? MIN (in_ring, scheduled) : in_ring;
}

void
torus_wait_for_parts (Torus *net)
{
  if (net->engine.base.n_parts > 1)
    base_barrier_wait (net->barrier);
}

void
torus_compare_parts (Torus *net)
{
  const PacketEngine *engine = &net->engine;
  PartState all = { .window = NO_WINDOW };

  take_shared_timers (net);
  net->here = (PartState){ first_window (net), packet_engine_progress (engine),
                           engine->n_hops + engine->schedule->n_events, net->in_flight };
  torus_wait_for_parts (net);
  for (uint32_t part = 0; part < engine->base.n_parts; part++) {
    const PartState *here = &part_at (net, part)->here;

    all.window = MIN (all.window, here->window);
    all.progress += here->progress;
    all.n_events += here->n_events;
    all.in_flight += here->in_flight;
  }
  net->all = all;
}

static bool
run_part (Torus *net)
{
  bool is_bgq = memcmp (&net->places, &torus_bgq_places, sizeof net->places) == 0;

  return is_bgq ? torus_bgq_run_windows (net) : torus_run_windows (net);
}

static gpointer
run_in_thread (gpointer part)
{
  run_part (part);
  return NULL;
}

bool
torus_run_parts (Torus *net)
{
  uint32_t n_parts = net->engine.base.n_parts;
  g_autofree GThread **threads = g_new (GThread *, n_parts);
  bool done;

  for (uint32_t part = 1; part < n_parts; part++)
    threads[part] = g_thread_new ("part of a torus", run_in_thread, part_at (net, part));
  done = run_part (net);
  for (uint32_t part = 1; part < n_parts; part++)
    g_thread_join (threads[part]);
  return done;
}

/* --- Construction --- */

static void
free_spare (Spare *spare)
{
  for (uint32_t i = 0; i < spare->n; i++)
    g_free (spare->array[i].entries);
  g_free (spare->array);
  *spare = (Spare){ 0 };
}

static void
free_ring (Torus *net)
{
  for (uint32_t window = 0; window < net->n_ring; window++) {
    g_free (net->bucket[window].ports);
    g_free (net->bucket[window].receptions);
    g_free (net->bucket[window].steps);
  }
  free_spare (&net->spare_ports);
  free_spare (&net->spare_receptions);
  free_spare (&net->spare_steps);
  g_free (net->bucket);
  g_free (net->occupied);
}

static void
init_mail (Mail *mail)
{
  mail->going = g_array_new (FALSE, FALSE, sizeof (Going));
  mail->tokens = g_array_new (FALSE, FALSE, sizeof (Token));
  mail->dynamic = g_array_new (FALSE, FALSE, sizeof (DynamicGoing));
  mail->chunks = g_array_new (FALSE, FALSE, sizeof (Chunks));
  mail->shared_timers = g_array_new (FALSE, FALSE, sizeof (SharedTimer));
  mail->messages = g_array_new (FALSE, FALSE, sizeof (uint32_t));
}

static void
clear_mail (Mail *mail)
{
  g_array_unref (mail->going);
  g_array_unref (mail->tokens);
  g_array_unref (mail->dynamic);
  g_array_unref (mail->chunks);
  g_array_unref (mail->shared_timers);
  g_array_unref (mail->messages);
}

void
torus_make_ring (Torus *net, uint32_t n_ring)
{
  free_ring (net);
  net->n_ring = n_ring;
  net->bucket = g_new0 (Bucket, n_ring);
  net->spare_ports.array = g_new (Array, n_ring);
  net->spare_receptions.array = g_new (Array, n_ring);
  net->spare_steps.array = g_new (Array, n_ring);
  net->occupied = g_new0 (uint64_t, n_ring / 64);
  set_window (net, -1);
}

/* What each part has for itself. */
static void
init_part (Torus *net, uint32_t part)
{
  SimNetwork *base = &net->engine.base;
  uint32_t n_nodes = net->n_nodes, n_parts = base->n_parts;

  net->engine.part = part;
  base->first_node = (uint32_t) (((uint64_t) part * n_nodes + n_parts - 1) / n_parts);
  base->end_node = (uint32_t) (((uint64_t) (part + 1) * n_nodes + n_parts - 1) / n_parts);
  net->n_own = base->end_node - base->first_node;
  net->node_steps = g_new0 (uint32_t, net->n_own);
  net->stepping = g_new (uint32_t, net->n_own + AHEAD);
  net->engine.schedule = sim_schedule_new (n_nodes, INT64_C (1) << net->window_bits);
  net->shared_timers = g_array_new (FALSE, FALSE, sizeof (SharedTimer));
  net->mail = packet_table_new (n_parts * sizeof *net->mail);
  for (uint32_t to = 0; to < n_parts; to++)
    init_mail (&net->mail[to]);
}

void
torus_make_parts (Torus *net, uint32_t n_threads)
{
  SimNetwork *base = &net->engine.base;

  base->n_parts = CLAMP (n_threads, 1, MIN (net->n_nodes, UINT16_MAX));
  base->parts = g_new (SimNetwork *, base->n_parts);
  base->parts[0] = base;
  net->barrier = packet_table_new (sizeof *net->barrier);
  base_barrier_init (net->barrier, base->n_parts);
  for (uint32_t part = 1; part < base->n_parts; part++) {
    Torus *other = packet_table_new (sizeof *other);

    *other = *net;
    base->parts[part] = &other->engine.base;
    init_part (other, part);
  }
  init_part (net, 0);
}

static void
free_part (Torus *net)
{
  free_ring (net);
  g_free (net->scratch);
  g_free (net->feeder);
  g_free (net->descriptor);
  g_free (net->dynamic_packet);
  g_free (net->node_steps);
  g_free (net->step);
  g_free (net->stepping);
  g_free (net->keys);
  g_array_unref (net->shared_timers);
  for (uint32_t to = 0; to < net->engine.base.n_parts; to++)
    clear_mail (&net->mail[to]);
  packet_table_free (net->mail);
  packet_engine_free (&net->engine);
}

void
torus_free_parts (Torus *net)
{
  uint32_t n_parts = net->engine.base.n_parts;
  SimNetwork **parts = net->engine.base.parts;

  for (uint32_t part = 1; part < n_parts; part++) {
    free_part ((Torus *) parts[part]);
    packet_table_free (parts[part]);
  }
  base_barrier_clear (net->barrier);
  packet_table_free (net->barrier);
  free_part (net);
  g_free (parts);
}
