/* traffic.c - all messages of a trace, equal ones counted.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/traffic.h"

#include "base/small_map.h"

#include <glib.h>

#define FIRST_CAPACITY 8u

/* The kinds that one source sends: linear probing, no removal; n = 0 is a free
 * place. */
typedef struct {
  SimTrafficKind *kinds;
  uint32_t n, capacity; /* capacity: 0 or a power of two */
} KindTable;

typedef struct {
  KindTable *tables; /* [n_ranks] by source */
  SimEdges *edges;
  SimTraffic *traffic;
  uint64_t max_kinds;
} Collection;

/* The place of a kind, or the free place where it belongs. */
static SimTrafficKind *
table_place (const KindTable *table, uint32_t destination, uint64_t bytes, bool direct)
{
  uint32_t mask = table->capacity - 1;
  uint32_t content =
      base_map_hash ((uint32_t) bytes ^ (uint32_t) (bytes >> 32) ^ ((uint32_t) direct << 31));

  for (uint32_t place = base_map_hash (destination + content) & mask;; place = (place + 1) & mask) {
    SimTrafficKind *kind = &table->kinds[place];

    if (kind->n == 0 ||
        (kind->destination == destination && kind->bytes == bytes && kind->direct == direct))
      return kind;
  }
}

/* Beyond max_kinds nothing is kept: the census cannot be stopped. */
static void
collect (void *data, uint32_t source, uint32_t destination, uint64_t bytes, bool direct)
{
  Collection *collection = data;
  KindTable *table = &collection->tables[source];
  SimTrafficKind *kind;

  if (collection->traffic->n_kinds > collection->max_kinds)
    return;
  if (4 * (table->n + 1) > 3 * table->capacity) {
    KindTable old = *table;

    table->capacity = MAX (FIRST_CAPACITY, 2 * old.capacity);
    table->kinds = g_new0 (SimTrafficKind, table->capacity);
    for (uint32_t place = 0; place < old.capacity; place++) {
      const SimTrafficKind *it = &old.kinds[place];

      if (it->n > 0)
        *table_place (table, it->destination, it->bytes, it->direct) = *it;
    }
    g_free (old.kinds);
  }
  kind = table_place (table, destination, bytes, direct);
  if (kind->n++ == 0) {
    *kind = (SimTrafficKind){ source, destination, direct, bytes, 1 };
    table->n++;
    collection->traffic->n_kinds++;
  }
  collection->traffic->messages++;
  collection->traffic->bytes += bytes;
  sim_edges_add (collection->edges, source, destination, 1, bytes);
}

SimTraffic *
sim_traffic_new (Trace *trace, const TopoMachine *machine, uint64_t max_kinds,
                 TraceProgress progress, void *progress_data, GError **error)
{
  uint32_t n_ranks = trace_ranks (trace);
  g_autoptr (SimTraffic) traffic = g_new0 (SimTraffic, 1);
  Collection collection = { .tables = g_new0 (KindTable, n_ranks),
                            .edges = sim_edges_new (n_ranks),
                            .traffic = traffic,
                            .max_kinds = max_kinds };
  gboolean done = sim_census (trace, machine, SIM_CENSUS_COLLECTIVES, false, collect, &collection,
                              progress, progress_data, &traffic->census, error);

  done = done && traffic->n_kinds <= max_kinds;
  if (done) { /* from the tables into one array */
    uint64_t n = 0;

    traffic->kinds = g_new (SimTrafficKind, traffic->n_kinds);
    for (uint32_t source = 0; source < n_ranks; source++)
      for (uint32_t place = 0; place < collection.tables[source].capacity; place++)
        if (collection.tables[source].kinds[place].n > 0)
          traffic->kinds[n++] = collection.tables[source].kinds[place];
    g_assert (n == traffic->n_kinds);
    traffic->edges = sim_edges_sorted (collection.edges, &traffic->n_edges);
  }
  for (uint32_t source = 0; source < n_ranks; source++)
    g_free (collection.tables[source].kinds);
  g_free (collection.tables);
  sim_edges_free (collection.edges);
  return done ? g_steal_pointer (&traffic) : NULL;
}

void
sim_traffic_free (SimTraffic *traffic)
{
  if (traffic == NULL)
    return;
  g_free (traffic->kinds);
  g_free (traffic->edges);
  g_free (traffic);
}

void
sim_traffic_load (const SimTraffic *traffic, SimCounters *counters, const RoutePaths *paths,
                  const TopoMapping *mapping)
{
  for (uint64_t i = 0; i < traffic->n_kinds; i++) {
    const SimTrafficKind *kind = &traffic->kinds[i];

    sim_load_add_many (counters, paths, mapping, kind->source, kind->destination, kind->bytes,
                       kind->direct, kind->n);
  }
}
