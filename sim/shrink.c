/* shrink.c - long messages with a part of their packets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/shrink.h"

#include <string.h>

/* Messages with so many packets left are some 2 and 3 % off, one by one, under uniform traffic. */
#define AUTO_PACKETS   1000u
#define SCREEN_PACKETS 250u
/* Enough to tell bad placements from good ones: at 16 KiB, rank correlation with exact runs .82 to
 * .88 under halos (84 mappings of 512 nodes). */
#define RACE_PACKETS 4u
#define RACE_MOST    8u
/* Where packets choose their way as they go, waits come out too small (by 20 % with 1,000 packets left,
 * by 2 % with 8,000, uniform traffic), perhaps because the dynamic channel's buffers hold more. */
#define DYNAMIC_TIMES 8u

static const struct {
  const char *name;
  SimShrink shrink;
} named[] = {
  { "off", { 0 } },
  { "auto", { .packets_left = AUTO_PACKETS } },
  { "auto:screen", { .packets_left = SCREEN_PACKETS } },
  { "auto:race", { .packets_left = RACE_PACKETS } },
};

gboolean
sim_shrink_parse (const char *text, SimShrink *shrink)
{
  guint64 factor;

  for (gsize i = 0; i < G_N_ELEMENTS (named); i++)
    if (strcmp (text, named[i].name) == 0) {
      *shrink = named[i].shrink;
      return TRUE;
    }
  if (!g_ascii_string_to_unsigned (text, 10, 2, 1u << 20, &factor, NULL))
    return FALSE;
  *shrink = (SimShrink){ .factor = (uint32_t) factor };
  return TRUE;
}

char *
sim_shrink_text (SimShrink shrink)
{
  for (gsize i = 0; i < G_N_ELEMENTS (named); i++)
    if (shrink.factor == named[i].shrink.factor &&
        shrink.packets_left == named[i].shrink.packets_left)
      return g_strdup (named[i].name);
  return g_strdup_printf ("%u", shrink.factor);
}

/* The shortest message between two nodes, and whether any is routed dynamically. */
typedef struct {
  const TopoMachine *machine;
  const TopoMapping *mapping;
  RoutePolicy policy;
  uint64_t bytes;
  bool is_dynamic;
} Shortest;

static bool
goes_dynamic (const Shortest *shortest, uint32_t from, uint32_t to, uint64_t bytes, bool direct)
{
  const TopoMachine *machine = shortest->machine;

  if (machine->fabric != NULL)
    return machine->parameters.switches.adaptive != TOPO_ADAPTIVE_NONE;
  if (direct)
    return route_pami_direct (machine, shortest->policy).vc == ROUTE_VC_DYNAMIC;
  return bytes > machine->parameters.mpi.eager_bytes &&
         route_pami_data (machine, shortest->policy, from, to, bytes).vc == ROUTE_VC_DYNAMIC;
}

static void
compare (void *data, uint32_t source, uint32_t destination, uint64_t bytes, bool direct)
{
  Shortest *shortest = data;
  const uint32_t *node = shortest->mapping->node;

  if (node[source] == node[destination])
    return;
  shortest->bytes = MIN (shortest->bytes, bytes);
  if (!shortest->is_dynamic)
    shortest->is_dynamic = goes_dynamic (shortest, node[source], node[destination], bytes, direct);
}

uint32_t
sim_shrink_factor (SimShrink shrink, Trace *trace, const SimTraffic *traffic,
                   const TopoMachine *machine, const TopoMapping *mapping, RoutePolicy policy,
                   uint32_t most, uint64_t *shortest_bytes, GError **error)
{
  const TopoParameters *p = &machine->parameters;
  uint64_t packet_bytes = machine->fabric != NULL ? p->ib.mtu_bytes : p->packet.payload_bytes;
  Shortest shortest = {
    .machine = machine, .mapping = mapping, .policy = policy, .bytes = UINT64_MAX
  };
  SimCensus census;
  uint64_t packets;

  *shortest_bytes = UINT64_MAX;
  if (sim_shrink_is_off (shrink))
    return 1;
  for (uint64_t kind = 0; traffic != NULL && kind < traffic->n_kinds; kind++)
    compare (&shortest, traffic->kinds[kind].source, traffic->kinds[kind].destination,
             traffic->kinds[kind].bytes, traffic->kinds[kind].direct);
  if (traffic == NULL && !sim_census (trace, machine, SIM_CENSUS_COLLECTIVES, false, compare,
                                      &shortest, NULL, NULL, &census, error))
    return 0;
  *shortest_bytes = shortest.bytes;
  if (shortest.bytes == UINT64_MAX)
    return 1;
  packets = shortest.bytes / packet_bytes + (shortest.bytes % packet_bytes != 0);
  if (shrink.factor > 0)
    return packets < shrink.factor ? 1 : MIN (shrink.factor, most);
  /* The order of placements needs no true waits, so that dynamic routing is as any other. */
  if (shrink.packets_left == RACE_PACKETS)
    return (uint32_t) CLAMP (packets / RACE_PACKETS, 1, MIN (most, RACE_MOST));
  return (uint32_t) CLAMP (
      packets / shrink.packets_left / (shortest.is_dynamic ? DYNAMIC_TIMES : 1), 1, most);
}
