/* pattern.c - a set of messages, all sent at once, on the packet network.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validation/pattern.h"

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

int64_t *
validation_pattern_run (const TopoMachine *machine, RoutePolicy policy,
                        const ValidationMessage *messages, uint32_t n_messages, GError **error)
{
  g_autoptr (TopoMapping) mapping =
      topo_mapping_new (NULL, machine, topo_shape_nodes (&machine->shape), error);
  g_autofree int64_t *delivered_ps = g_new0 (int64_t, n_messages);
  SimNetwork *network;
  gboolean done;

  if (mapping == NULL)
    return NULL;
  network = sim_packet_new (machine, mapping, policy, &pattern_client, delivered_ps, error);
  if (network == NULL)
    return NULL;
  send_all (network, messages, n_messages);
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
