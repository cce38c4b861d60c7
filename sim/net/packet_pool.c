/* packet_pool.c - records of the torus by index, reused when free.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "sim/net/packet_state.h"

uint32_t
packet_take (PacketNetwork *net)
{
  return packet_engine_take_packet (&net->engine, (void **) &net->packet, sizeof (Packet));
}

void
packet_give (PacketNetwork *net, uint32_t packet)
{
  packet_engine_give_packet (&net->engine, packet);
}

uint32_t
packet_take_feeder (PacketNetwork *net)
{
  return pool_take (&net->feeders, (void **) &net->feeder, sizeof (Feeder),
                    offsetof (Feeder, next));
}

void
packet_give_feeder (PacketNetwork *net, uint32_t feeder)
{
  pool_give (&net->feeders, net->feeder, sizeof (Feeder), offsetof (Feeder, next), feeder);
}

uint32_t
packet_take_descriptor (PacketNetwork *net)
{
  return pool_take (&net->descriptors, (void **) &net->descriptor, sizeof (Descriptor),
                    offsetof (Descriptor, next));
}

void
packet_give_descriptor (PacketNetwork *net, uint32_t descriptor)
{
  pool_give (&net->descriptors, net->descriptor, sizeof (Descriptor), offsetof (Descriptor, next),
             descriptor);
}

void
packet_pools_free (PacketNetwork *net)
{
  g_free (net->packet);
  g_free (net->feeder);
  g_free (net->descriptor);
}
