/* messages_at_once.c - a set of messages, all sent at once, on the packet network.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/messages_at_once.h"

static void
on_delivered (void *client, const SimMessage *message, int64_t now_ps)
{
  int64_t *delivered_ps = client;

  delivered_ps[message->cookie] = now_ps;
}

static void
on_timer (void *client G_GNUC_UNUSED, uint32_t rank G_GNUC_UNUSED, uint64_t cookie G_GNUC_UNUSED,
          int64_t now_ps G_GNUC_UNUSED)
{
  g_assert_not_reached ();
}

static const SimClient pattern_client = { on_delivered, on_timer };

int64_t *
validation_pattern_run (const TopoMachine *machine, RoutePolicy policy, const RoutePaths *paths,
                        const ValidationMessage *messages, uint32_t n_messages, GError **error)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  g_autofree uint32_t *nodes = g_new (uint32_t, n_nodes);
  g_autofree uint8_t *slots = g_new0 (uint8_t, n_nodes);
  const TopoMapping mapping = { (char *) "one rank per node", n_nodes, nodes, slots };
  g_autofree int64_t *delivered_ps = g_new0 (int64_t, n_messages);
  gboolean done = FALSE;
  SimNetwork *network;

  for (uint32_t node = 0; node < n_nodes; node++)
    nodes[node] = node;
  network =
      paths != NULL
          ? sim_ib_new (machine, paths, &mapping, &pattern_client, delivered_ps, error)
          : sim_packet_new (machine, &mapping, policy, 1, &pattern_client, delivered_ps, error);
  if (network == NULL)
    return NULL;
  for (uint32_t i = 0; i < n_messages; i++)
    sim_network_send (network,
                      &(SimMessage){
                          .cookie = i,
                          .bytes = messages[i].bytes,
                          .source_rank = messages[i].from,
                          .destination_rank = messages[i].to,
                          .kind = (uint8_t) messages[i].kind,
                          .descriptors = 1,
                      },
                      0);
  done = sim_network_run (network, error);
  sim_network_free (network);
  return done ? g_steal_pointer (&delivered_ps) : NULL;
}

int64_t
validation_pattern_end_ps (const int64_t *delivered_ps, uint32_t n_messages)
{
  int64_t end_ps = 0;

  for (uint32_t i = 0; i < n_messages; i++)
    end_ps = MAX (end_ps, delivered_ps[i]);
  return end_ps;
}
