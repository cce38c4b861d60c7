/* messages_at_once.c - a set of messages, all sent at once, on the packet network.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validation/messages_at_once.h"

static void
on_delivered (void *client, const SimMessage *message, int64_t now_ps)
{
  int64_t *delivered_ps = client;

  delivered_ps[message->cookie] = now_ps;
}

static void
on_timer (void *client, uint32_t rank, uint64_t cookie, int64_t now_ps)
{
  (void) client;
  (void) rank;
  (void) cookie;
  (void) now_ps;
  g_assert_not_reached ();
}

static const SimClient pattern_client = { on_delivered, on_timer };

static void
send_all (SimNetwork *network, const ValidationMessage *messages, uint32_t n_messages)
{
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
}

/* Rank r is on node r. */
static TopoMapping
mapping_in_order (const TopoMachine *machine)
{
  uint32_t n_nodes = topo_shape_nodes (&machine->shape);
  TopoMapping mapping = { (char *) "one rank per node", n_nodes, g_new (uint32_t, n_nodes),
                          g_new0 (uint8_t, n_nodes) };

  for (uint32_t node = 0; node < n_nodes; node++)
    mapping.node[node] = node;
  return mapping;
}

/* With `paths` on a fabric, else on a torus. */
static int64_t *
run (const TopoMachine *machine, RoutePolicy policy, const RoutePaths *paths,
     const ValidationMessage *messages, uint32_t n_messages, GError **error)
{
  TopoMapping mapping = mapping_in_order (machine);
  g_autofree int64_t *delivered_ps = g_new0 (int64_t, n_messages);
  gboolean done = FALSE;
  SimNetwork *network =
      paths != NULL
          ? sim_ib_new (machine, paths, &mapping, &pattern_client, delivered_ps, error)
          : sim_packet_new (machine, &mapping, policy, &pattern_client, delivered_ps, error);

  if (network != NULL) {
    send_all (network, messages, n_messages);
    done = sim_network_run (network, error);
  }
  sim_network_free (network);
  g_free (mapping.node);
  g_free (mapping.slot);
  return done ? g_steal_pointer (&delivered_ps) : NULL;
}

int64_t *
validation_pattern_run (const TopoMachine *machine, RoutePolicy policy,
                        const ValidationMessage *messages, uint32_t n_messages, GError **error)
{
  return run (machine, policy, NULL, messages, n_messages, error);
}

int64_t *
validation_pattern_run_fabric (const TopoMachine *machine, const RoutePaths *paths,
                               const ValidationMessage *messages, uint32_t n_messages,
                               GError **error)
{
  return run (machine, ROUTE_POLICY_DEFAULT, paths, messages, n_messages, error);
}

int64_t
validation_pattern_end_ps (const int64_t *delivered_ps, uint32_t n_messages)
{
  int64_t end_ps = 0;

  for (uint32_t i = 0; i < n_messages; i++)
    end_ps = MAX (end_ps, delivered_ps[i]);
  return end_ps;
}
