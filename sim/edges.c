/* edges.c - the communication graph: messages and bytes between ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/edges.h"

#include "base/small_map.h"

#include <glib.h>
#include <stdlib.h>

#define FREE           UINT32_MAX
#define FIRST_CAPACITY 4u

typedef struct {
  uint32_t destination; /* FREE: a free place */
  uint32_t sent;        /* messages by sim_edges_send(), modulo 2^32 */
  uint64_t bytes;
} Edge;

/* The edges from one source: linear probing, no removal; with a capacity of all ranks, in the
 * order of the destinations.  A rank that sends nothing owns no memory, one that sends all its
 * messages by sim_edges_send() no second array. */
typedef struct {
  Edge *edges;
  uint64_t *others;     /* [capacity] messages that `sent` does not count; NULL: none */
  uint32_t n, capacity; /* capacity: 0, a power of two below the number of ranks, or that */
} EdgeTable;

struct SimEdges {
  EdgeTable *tables; /* [n_ranks] by source */
  uint32_t n_ranks;
};

/* The place of a destination, or the free place where it belongs. */
static Edge *
table_place (const EdgeTable *table, uint32_t n_ranks, uint32_t destination)
{
  uint32_t mask = table->capacity - 1;
  uint32_t place = base_map_hash (destination) & mask;

  if (table->capacity == n_ranks)
    return &table->edges[destination];
  while (table->edges[place].destination != FREE && table->edges[place].destination != destination)
    place = (place + 1) & mask;
  return &table->edges[place];
}

static void
table_grow (EdgeTable *table, uint32_t n_ranks)
{
  EdgeTable old = *table;

  table->capacity = MIN (n_ranks, MAX (FIRST_CAPACITY, 2 * old.capacity));
  table->edges = g_new (Edge, table->capacity);
  table->others = old.others == NULL ? NULL : g_new0 (uint64_t, table->capacity);
  for (uint32_t place = 0; place < table->capacity; place++)
    table->edges[place].destination = FREE;
  for (uint32_t place = 0; place < old.capacity; place++) {
    Edge *edge;

    if (old.edges[place].destination == FREE)
      continue;
    edge = table_place (table, n_ranks, old.edges[place].destination);
    *edge = old.edges[place];
    if (old.others != NULL)
      table->others[edge - table->edges] = old.others[place];
  }
  g_free (old.edges);
  g_free (old.others);
}

/* Found or made.  At least one place is free, where a search ends; an eighth, as a rank of a halo
 * exchange has 14 neighbours. */
static Edge *
edge_at (SimEdges *edges, uint32_t source, uint32_t destination)
{
  EdgeTable *table = &edges->tables[source];
  Edge *edge = NULL;

  g_assert (source < edges->n_ranks && destination < edges->n_ranks);
  if (table->capacity > 0)
    edge = table_place (table, edges->n_ranks, destination);
  if (edge != NULL && edge->destination == destination)
    return edge;
  if (table->capacity < edges->n_ranks &&
      table->n + 1 + MAX (1u, table->capacity / 8) > table->capacity) {
    table_grow (table, edges->n_ranks);
    edge = table_place (table, edges->n_ranks, destination);
  }
  *edge = (Edge){ .destination = destination };
  table->n++;
  return edge;
}

SimEdges *
sim_edges_new (uint32_t n_ranks)
{
  SimEdges *edges = g_new0 (SimEdges, 1);

  edges->tables = g_new0 (EdgeTable, n_ranks);
  edges->n_ranks = n_ranks;
  return edges;
}

void
sim_edges_free (SimEdges *edges)
{
  if (edges == NULL)
    return;
  for (uint32_t source = 0; source < edges->n_ranks; source++) {
    g_free (edges->tables[source].edges);
    g_free (edges->tables[source].others);
  }
  g_free (edges->tables);
  g_free (edges);
}

void
sim_edges_dump (SimEdges *edges, BaseDump *dump)
{
  base_dump_section (dump, "edges");
  for (uint32_t source = 0; source < edges->n_ranks; source++) {
    EdgeTable *table = &edges->tables[source];
    uint32_t n_others = table->others == NULL ? 0 : table->capacity, n_places = table->capacity;

    BASE_DUMP_VALUE (dump, table->n);
    base_dump_list (dump, (void **) &table->others, &n_others, &n_others, sizeof *table->others);
    base_dump_list (dump, (void **) &table->edges, &n_places, &table->capacity,
                    sizeof *table->edges);
  }
}

static void
count_others (EdgeTable *table, const Edge *edge, uint64_t messages)
{
  if (table->others == NULL)
    table->others = g_new0 (uint64_t, table->capacity);
  table->others[edge - table->edges] += messages;
}

void
sim_edges_add (SimEdges *edges, uint32_t source, uint32_t destination, uint64_t messages,
               uint64_t bytes)
{
  Edge *edge;

  if (source == destination)
    return;
  edge = edge_at (edges, source, destination);
  edge->bytes += bytes;
  count_others (&edges->tables[source], edge, messages);
}

uint32_t
sim_edges_send (SimEdges *edges, uint32_t source, uint32_t destination, uint64_t bytes)
{
  Edge *edge = edge_at (edges, source, destination);

  edge->bytes += bytes;
  if (edge->sent == UINT32_MAX) /* back to 0 */
    count_others (&edges->tables[source], edge, UINT64_C (1) << 32);
  return edge->sent++;
}

/* Messages of an edge of the table. */
static uint64_t
edge_messages (const EdgeTable *table, uint32_t place)
{
  return table->edges[place].sent + (table->others == NULL ? 0 : table->others[place]);
}

void
sim_edges_merge (SimEdges *to, const SimEdges *from)
{
  for (uint32_t source = 0; source < from->n_ranks; source++) {
    const EdgeTable *table = &from->tables[source];

    for (uint32_t place = 0; place < table->capacity; place++)
      if (table->edges[place].destination != FREE)
        sim_edges_add (to, source, table->edges[place].destination, edge_messages (table, place),
                       table->edges[place].bytes);
  }
}

static int
compare_destinations (const void *a, const void *b)
{
  const SimEdge *edge_a = a, *edge_b = b;

  return (edge_a->destination > edge_b->destination) - (edge_a->destination < edge_b->destination);
}

SimEdge *
sim_edges_sorted (const SimEdges *edges, uint64_t *n_edges)
{
  uint64_t n_places = 0;
  SimEdge *sorted, *next;

  for (uint32_t source = 0; source < edges->n_ranks; source++)
    n_places += edges->tables[source].n;
  next = sorted = g_new (SimEdge, MAX (1, n_places)); /* never NULL */
  for (uint32_t source = 0; source < edges->n_ranks; source++) {
    const EdgeTable *table = &edges->tables[source];
    SimEdge *first = next;

    for (uint32_t place = 0; place < table->capacity; place++) {
      const Edge *edge = &table->edges[place];

      if (edge->destination != FREE && edge->destination != source)
        *next++ = (SimEdge){ source, edge->destination, edge_messages (table, place), edge->bytes };
    }
    if (table->capacity < edges->n_ranks && next > first + 1)
      qsort (first, (size_t) (next - first), sizeof *first, compare_destinations);
  }
  *n_edges = (uint64_t) (next - sorted);
  return sorted;
}
