/* ib_check.c - the laws that hold at the end of every run.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every packet is delivered, every credit is back, bytes in = bytes out.  When
 * packets are left, nothing can ever move them: the dump names the ports where
 * they wait and, when these wait for each other in a circle, the circle
 * (infiniband.md section A6: not all tables are free of them). */
#include "config.h"

#include "sim/net/ib_state.h"

#define DUMPED_LANES 20u

static bool
is_blocked (const IbNetwork *net, uint32_t index, uint32_t vl)
{
  return ib_lane (net, index, vl)->queued_blocks > 0;
}

/* --- The circle --- */

/* One node of the search: a lane in which packets wait.  It waits for each
 * lane that a packet in the buffer it leads to wants. */
typedef struct {
  const IbNetwork *net;
  uint8_t *state;  /* [port * n_vls + VL] */
  uint32_t *stack; /* lanes on the way, with the output looked at last */
  uint32_t *looked;
  uint32_t depth;
} Search;

enum { UNSEEN, ON_THE_WAY, DONE };

/* The next lane, after number *looked of the switch, that a packet which came
 * in through the far end of this one waits for; PACKET_NONE: none. */
static uint32_t
next_waited_for (const IbNetwork *net, uint32_t lane, uint32_t *looked)
{
  const IbPort *port = &net->port[lane / net->n_vls];
  const TopoDevice *device = &net->fabric->devices[net->fabric->ports[port->peer].device];

  if (port->to_adapter)
    return PACKET_NONE;
  while (*looked < device->n_ports * net->n_vls) {
    uint32_t at = (*looked)++;
    uint32_t out = device->first_port + at / net->n_vls, vl = at % net->n_vls;

    if (net->port[out].peer != PACKET_NONE &&
        ib_queue (net, &net->port[out], vl, port->peer_number)->head != PACKET_NONE)
      return out * net->n_vls + vl;
  }
  return PACKET_NONE;
}

static void
step_on (Search *search, uint32_t lane)
{
  search->state[lane] = ON_THE_WAY;
  search->looked[search->depth] = 0;
  search->stack[search->depth++] = lane;
}

/* Depth first from a lane; true when the way comes back to itself: *first is
 * then where on the stack the circle begins. */
static bool
find_circle (Search *search, uint32_t lane, uint32_t *first)
{
  step_on (search, lane);
  while (search->depth > 0) {
    uint32_t top = search->depth - 1;
    uint32_t next = next_waited_for (search->net, search->stack[top], &search->looked[top]);

    if (next == PACKET_NONE) {
      search->state[search->stack[top]] = DONE;
      search->depth--;
    } else if (search->state[next] == ON_THE_WAY) {
      for (*first = 0; search->stack[*first] != next;)
        ++*first;
      return true;
    } else if (search->state[next] == UNSEEN) {
      step_on (search, next);
    }
  }
  return false;
}

static void
print_lane (const IbNetwork *net, uint32_t lane, GString *out)
{
  g_autofree char *name = topo_fabric_port_name (net->fabric, lane / net->n_vls);

  g_string_append_printf (out, "%s VL %u", name, lane % net->n_vls);
}

static void
print_circle (const IbNetwork *net, GString *out)
{
  uint32_t n_lanes = net->fabric->n_ports * net->n_vls, first;
  g_autofree uint8_t *state = g_new0 (uint8_t, n_lanes);
  g_autofree uint32_t *stack = g_new (uint32_t, n_lanes);
  g_autofree uint32_t *looked = g_new (uint32_t, n_lanes);
  Search search = { net, state, stack, looked, 0 };

  for (uint32_t lane = 0; lane < n_lanes; lane++) {
    if (!is_blocked (net, lane / net->n_vls, lane % net->n_vls) || state[lane] != UNSEEN ||
        !find_circle (&search, lane, &first))
      continue;
    g_string_append (out, "\n  credit loop:");
    for (uint32_t at = first; at < search.depth; at++) {
      g_string_append (out, "\n    ");
      print_lane (net, stack[at], out);
      g_string_append (out, " ->");
    }
    g_string_append (out, "\n    ");
    print_lane (net, stack[first], out);
    return;
  }
}

/* --- The dump --- */

static uint32_t
count_waiting (const IbNetwork *net, uint32_t index, uint32_t vl)
{
  const IbPort *port = &net->port[index];
  uint32_t n = 0;

  for (uint32_t input = 0; input < port->n_queues; input++)
    for (uint32_t packet = ib_queue (net, port, vl, input)->head; packet != PACKET_NONE;
         packet = net->engine.next[packet])
      n++;
  return n;
}

static void
print_blocked (const IbNetwork *net, GString *out)
{
  uint32_t n_printed = 0;

  for (uint32_t index = 0; index < net->fabric->n_ports && n_printed < DUMPED_LANES; index++)
    for (uint32_t vl = 0; vl < net->n_vls; vl++) {
      if (net->port[index].peer == PACKET_NONE || !is_blocked (net, index, vl))
        continue;
      g_string_append (out, "\n  ");
      print_lane (net, index * net->n_vls + vl, out);
      g_string_append_printf (out, ": %u packets wait, %u credits", count_waiting (net, index, vl),
                              ib_lane (net, index, vl)->credits);
      n_printed++;
    }
}

static void
set_stall_error (const IbNetwork *net, GError **error)
{
  g_autoptr (GString) out = g_string_new (NULL);

  g_string_append_printf (
      out, "network stalled at %" G_GINT64_FORMAT " ps: %u packets of %u messages cannot move",
      net->engine.now_ps, net->engine.packets.n_taken, net->engine.messages.n_taken);
  print_circle (net, out);
  print_blocked (net, out);
  g_set_error_literal (error, SIM_ERROR, SIM_ERROR_STALL, out->str);
}

/* --- The laws --- */

/* Credits at the sender plus those on their way back. */
static bool
credits_complete (const IbNetwork *net, uint32_t index)
{
  const TopoParameters *p = net->parameters;
  const IbPort *port = &net->port[index];
  uint64_t buffer_bytes = port->to_adapter ? p->hca_buffer_bytes : p->switch_buffer_bytes;

  for (uint32_t vl = 0; vl < net->n_vls; vl++) {
    uint64_t credits = ib_lane (net, index, vl)->credits;

    for (uint32_t i = 0; i < port->n_returns; i++)
      if ((port->returns[i] >> 8 & 15) == vl)
        credits += port->returns[i] & 255;
    if (credits != buffer_bytes / p->switch_vls / p->block_bytes)
      return false;
  }
  return true;
}

gboolean
ib_check_idle (IbNetwork *net, GError **error)
{
  if (net->refusal != NULL) {
    g_set_error_literal (error, SIM_ERROR, SIM_ERROR_NETWORK, net->refusal);
    return FALSE;
  }
  if (net->engine.packets.n_taken > 0 || net->requests.n_taken > 0) {
    set_stall_error (net, error);
    return FALSE;
  }
  g_assert (net->engine.messages.n_taken == 0);
  g_assert (net->parameters->cc || net->pairs.n_taken == 0);
  g_assert (net->engine.payload_sent == net->engine.payload_received);
  for (uint32_t index = 0; index < net->fabric->n_ports; index++)
    if (net->port[index].peer != PACKET_NONE)
      g_assert (credits_complete (net, index) && net->port[index].listed == 0);
  return TRUE;
}
