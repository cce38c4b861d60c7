/* memory_copy.c - which servers the bytes of copies and adapters occupy.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Data has a home, an object of the node's tree: a cache that holds it or the
 * memory it lies in.  Its bytes go from there up to the lowest object above both
 * the home and the core, and down to the core, and occupy every server on that
 * way: shared caches, the buses of packages that are left or entered, and the
 * memory.  What hardware does besides reading and writing is more such ways:
 *
 *   a write to memory first fetches the line, and writes it back later;
 *   a line that was changed in another cache comes from there, and memory is
 *   brought up to date on the way (implicit write-back, Intel SDM vol. 3, 11.2);
 *   a line that the adapter reads from a cache crosses that package's bus. */
#include "sim/node/memory_state.h"

#define LINE_BYTES 64 /* caches, buses and memory move whole lines */

/* One piece of work on its way through the servers of a node. */
typedef struct {
  const SimMemory *memory;
  int64_t *busy_ps; /* [n_objects] of this node */
  uint64_t *passed;
  uint64_t bytes;
  int64_t now_ps, end_ps;
} Piece;

static Piece
start (SimMemory *memory, uint32_t node, uint64_t bytes, int64_t now_ps)
{
  gsize first = (gsize) node * memory->node->n_objects;

  return (Piece){ .memory = memory,
                  .busy_ps = &memory->busy_ps[first],
                  .passed = &memory->passed[first],
                  .bytes = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES,
                  .now_ps = now_ps,
                  .end_ps = now_ps };
}

static int64_t
duration_ps (uint64_t bytes, double ps)
{
  return (int64_t) ((double) bytes * ps + 0.5);
}

static inline void
serve (Piece *piece, uint32_t object, uint64_t bytes, uint32_t times)
{
  double ps = piece->memory->places[object].byte_ps;
  int64_t end_ps;

  if (ps <= 0)
    return;
  end_ps = MAX (piece->busy_ps[object], piece->now_ps) + times * duration_ps (bytes, ps);
  piece->busy_ps[object] = end_ps;
  piece->passed[object] += times * bytes;
  piece->end_ps = MAX (piece->end_ps, end_ps);
}

/* The piece once or more between a home and a core.  Lines from memory pass no
 * caches but those of the core that wants them. */
static void
pass (Piece *piece, uint32_t home, uint32_t core, uint32_t times)
{
  const TopoObject *objects = piece->memory->node->objects;
  bool in_memory = objects[home].kind == TOPO_OBJECT_MEMORY;
  uint32_t above = home;

  if (in_memory) {
    serve (piece, home, piece->bytes, times);
    above = objects[home].parent;
  }
  for (; !sim_object_holds (&objects[above], core); above = objects[above].parent)
    if (!in_memory || objects[above].kind != TOPO_OBJECT_CACHE)
      serve (piece, above, piece->bytes, times);
  if (objects[above].kind == TOPO_OBJECT_CACHE || piece->memory->places[above].is_meeting)
    serve (piece, above, piece->bytes, times);
  for (uint32_t below = objects[piece->memory->node->core[core]].parent; below != above;
       below = objects[below].parent)
    serve (piece, below, piece->bytes, times);
}

/* The cache of the core, or of another one that shares it. */
static bool
is_near (const SimMemory *memory, uint32_t home, uint32_t core)
{
  const TopoObject *object = &memory->node->objects[home];

  return object->kind == TOPO_OBJECT_CACHE && sim_object_holds (object, core);
}

static bool
is_far (const SimMemory *memory, uint32_t home, uint32_t core)
{
  uint32_t package = memory->places[home].package;

  return package != TOPO_NONE && package != memory->sites[core].package;
}

/* What a core's own rate makes of lines that come from a home. */
typedef struct {
  double byte_ps;     /* 0: as fast as it copies */
  int64_t latency_ps; /* of the first line */
} Fetching;

static inline Fetching
fetching_from (const SimMemory *memory, uint32_t home, uint32_t core)
{
  bool in_memory = memory->node->objects[home].kind == TOPO_OBJECT_MEMORY;
  double ps = in_memory ? memory->memory_ps : memory->transfer_ps;

  if (is_near (memory, home, core))
    return (Fetching){ 0, 0 };
  if (is_far (memory, home, core))
    return (Fetching){ ps * memory->far, memory->transfer_latency_ps + memory->package_latency_ps };
  return (Fetching){ ps, memory->transfer_latency_ps };
}

/* Whether a buffer is at home in a cache, beside those of others. */
static inline bool
is_at_home (const SimMemory *memory, uint32_t cache, const SimParty *party, const SimBuffer *buffer)
{
  const SimPlace *place = &memory->places[cache];

  return buffer->footprint_bytes <= place->fits_bytes &&
         (place->room == TOPO_NONE ||
          buffer->footprint_bytes <= sim_memory_room (memory, party->node, cache)->free_bytes ||
          sim_memory_has_room (memory, cache, party, buffer));
}

/* The smallest cache above the core in which it is at home, its memory when
 * there is none. */
static uint32_t
home_of_private (const SimMemory *memory, const SimParty *party, const SimBuffer *buffer)
{
  const TopoObject *objects = memory->node->objects;

  for (uint32_t above = objects[memory->node->core[buffer->core]].parent; above != TOPO_NONE;
       above = objects[above].parent)
    if (is_at_home (memory, above, party, buffer))
      return above;
  return memory->sites[buffer->core].memory;
}

/* Fragments that are used in turn stay in the outermost cache of their
 * writer. */
static uint32_t
home_of_shared (const SimMemory *memory, const SimParty *party, const SimBuffer *buffer)
{
  const SimSite *site = &memory->sites[buffer->core];

  if (site->cache != TOPO_NONE && is_at_home (memory, site->cache, party, buffer))
    return site->cache;
  return site->memory;
}

static uint32_t
home_of_source (const SimMemory *memory, const SimParty *party, const SimBuffer *buffer)
{
  if (buffer->kind == SIM_BUFFER_PRIVATE)
    return home_of_private (memory, party, buffer);
  if (buffer->kind == SIM_BUFFER_SHARED)
    return home_of_shared (memory, party, buffer);
  return memory->dma_to_cache ? memory->dma[0] : memory->sites[buffer->core].memory;
}

static uint32_t
home_of_target (const SimMemory *memory, const SimParty *party, const SimBuffer *buffer)
{
  return buffer->kind == SIM_BUFFER_PRIVATE ? home_of_private (memory, party, buffer)
                                            : home_of_shared (memory, party, buffer);
}

static SimParty
party_of (const SimCopy *copy)
{
  if (copy->from.kind == SIM_BUFFER_SHARED)
    return (SimParty){ copy->node, copy->from.core, copy->from.peer };
  if (copy->to.kind == SIM_BUFFER_SHARED)
    return (SimParty){ copy->node, copy->to.core, copy->to.peer };
  return (SimParty){ copy->node, copy->from.core, copy->to.core };
}

/* Lines come to the core; changed ones of other caches by way of memory. */
static void
fetch (Piece *piece, uint32_t home, uint32_t core, uint32_t owner)
{
  const SimMemory *memory = piece->memory;

  pass (piece, home, core, 1);
  if (memory->updates_memory && memory->node->objects[home].kind == TOPO_OBJECT_CACHE &&
      !is_near (memory, home, core))
    serve (piece, memory->sites[owner].memory, piece->bytes, 1);
}

/* What was copied to be sent lies changed in a cache; the adapter's read
 * drives it out, over the buses between.  Memory is counted by the adapter. */
static void
flush (Piece *piece, uint32_t core)
{
  const SimMemory *memory = piece->memory;
  uint32_t package = memory->sites[core].package;

  if (package == TOPO_NONE || package == memory->node->adapter)
    return;
  serve (piece, package, piece->bytes, 1);
  serve (piece, memory->node->adapter, piece->bytes, 1);
}

/* Lines are fetched before they are changed, and leave the core again. */
static void
store (Piece *piece, uint32_t home, uint32_t core, const SimBuffer *buffer)
{
  const SimMemory *memory = piece->memory;
  bool in_cache = memory->node->objects[home].kind == TOPO_OBJECT_CACHE;

  if (in_cache && !is_near (memory, home, core)) {
    fetch (piece, home, core, buffer->core);
    pass (piece, memory->sites[core].cache, core, 1);
  } else
    pass (piece, home, core, 2);
  if (in_cache && buffer->kind == SIM_BUFFER_ADAPTER)
    flush (piece, core);
}

int64_t
sim_memory_copy (SimMemory *memory, const SimCopy *copy, int64_t now_ps)
{
  SimParty party = party_of (copy);
  uint32_t from = home_of_source (memory, &party, &copy->from);
  uint32_t to = home_of_target (memory, &party, &copy->to);
  Fetching source = fetching_from (memory, from, copy->core);
  Fetching target = fetching_from (memory, to, copy->core);
  Piece piece = start (memory, copy->node, copy->bytes, now_ps);
  int64_t core_end_ps =
      now_ps + source.latency_ps +
      duration_ps (copy->bytes, MAX (memory->core_ps, source.byte_ps + target.byte_ps));

  fetch (&piece, from, copy->core, copy->from.core);
  store (&piece, to, copy->core, &copy->to);
  if (copy->from.kind == SIM_BUFFER_PRIVATE)
    sim_memory_use (memory, &party, &copy->from, copy->bytes);
  if (copy->to.kind == SIM_BUFFER_PRIVATE)
    sim_memory_use (memory, &party, &copy->to, copy->bytes);
  return MAX (piece.end_ps, core_end_ps);
}

/* Reading and writing load the same servers. */
int64_t
sim_memory_dma (SimMemory *memory, uint32_t node, G_GNUC_UNUSED bool write, uint64_t bytes,
                int64_t now_ps)
{
  Piece piece = start (memory, node, bytes, now_ps);
  uint64_t left = piece.bytes;

  for (uint32_t at = 0; at < memory->n_dma; at++) {
    uint64_t others = memory->n_dma - at - 1, part = others == 0 ? left : left / (others + 1);

    serve (&piece, memory->dma[at], part, 1);
    left -= part;
  }
  return piece.end_ps;
}
