/* memory.c - the memory system of nodes: shared caches, copies, adapters.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sections: the room in shared caches, the servers of a copy, construction. */
#include "sim/node/memory.h"

/* An object of the node, as it stays while the simulation runs. */
typedef struct {
  double byte_ps;        /* 0: not a server */
  uint64_t fits_bytes;   /* of a cache: largest buffer that may be at home in it */
  uint32_t room;         /* of a cache of several cores; TOPO_NONE: not one */
  uint32_t first_use;    /* of such a cache; its cores have one each */
  uint32_t shared_above; /* the next such cache above it; TOPO_NONE: none */
  uint32_t package;      /* that it is in; TOPO_NONE: none */
  uint32_t link;         /* server between a core group and the rest; TOPO_NONE: none */
  bool is_meeting;       /* of a package: its own caches meet on its bus */
} Place;

/* The same of a core. */
typedef struct {
  uint32_t cache;     /* its outermost; TOPO_NONE: none */
  uint32_t memory;    /* where its ranks have their buffers */
  uint32_t domain;    /* the ordinary memory near it, which stands for its NUMA domain */
  uint32_t package;   /* TOPO_NONE: none */
  uint32_t shared;    /* the first of its caches that it shares; TOPO_NONE: none */
  uint32_t processor; /* server that threads of a hardware core share; TOPO_NONE: none */
} Site;

/* How far a line is that no cache above the core holds. */
typedef enum { SAME_DOMAIN, OTHER_DOMAIN, OTHER_PACKAGE, DISTANCES } Distance;

/* Of a shared cache in a node. */
typedef struct {
  uint64_t all_bytes;     /* of buffers that have been used, over and over */
  uint64_t largest_bytes; /* the largest buffers of all pairs, each at most the cache, added up */
  uint64_t free_bytes;    /* so large a buffer finds room whatever the others do */
} SharedCache;

/* A point in the use of a cache, by bytes that one, and that all had used. */
typedef struct {
  uint64_t own, all;
} Mark;

/* Of a shared cache: a pair of cores that exchange messages, of which both are
 * below the cache (then the first stands for them) or one is. */
typedef struct {
  Mark last;                /* where its last use ended */
  uint64_t round_end;       /* own bytes, with which its round ends */
  uint64_t footprint_bytes; /* of its largest buffer in this round */
  uint64_t before_bytes;    /* in the round before */
  Mark round[2];            /* where its last two rounds began */
} CacheUse;

/* A cache, bus or memory of one node. */
typedef struct {
  int64_t busy_ps; /* it is taken until then */
  uint64_t passed; /* bytes that it has served */
} Server;

/* The cores that a copy is between; the same twice when only one uses it. */
typedef struct {
  uint32_t node, core, peer;
} CorePair;

struct SimMemory {
  const TopoNode *node;
  uint32_t n_nodes;
  Place *places; /* [n_servers] objects, then servers that are none: links, processors */
  uint32_t n_servers;
  Site *sites; /* [n_cores] */

  Server *servers; /* [node * n_servers + server] */

  SharedCache *rooms; /* [node * n_rooms + room] */
  CacheUse *uses;     /* [node * n_uses + first_use + core of the cache] */
  uint32_t n_rooms, n_uses;
  double buffers; /* that share a cache: 1 / cache_share */

  double core_ps, transfer_ps, memory_ps; /* of a byte, at a core's own rate */
  double slower[DISTANCES];               /* as long as from the same domain */
  int64_t latency_ps[DISTANCES];
  int64_t thread_latency_ps, cache_latency_ps;
  bool updates_memory;
  uint64_t quantum_bytes;

  uint32_t *dma; /* [n_dma] destinations of the bytes that the adapter moves, in equal parts */
  uint32_t n_dma;
  bool dma_to_cache;
};

/* --- Room in the caches that several cores share ---
 *
 * A cache keeps the bytes that were used last.  A byte is still there at its next
 * use if the different bytes that any core used in between fit in the cache: least
 * recently used goes first, and the stack distance decides.  Alone, a pair of cores
 * goes round its buffers and needs room for all of them, its claim.  The use of
 * the others meanwhile adds to that, from each as many bytes as it used in that
 * time, but no more different ones than its own claim (Chandra, Guo, Kim and
 * Solihin, Predicting inter-thread cache contention, HPCA 2005, do the same
 * with measured distances).
 *
 * The last use of the byte that a pair wants now is one claim of its own bytes
 * ago.  To find that, and the use of the others by then, each pair keeps three
 * marks, the beginnings of its last two rounds and its last use; between them its
 * use is taken to be steady.  The clock counts the bytes that all pairs use, so
 * that a cache without use keeps everything:
 *
 *     own bytes
 *         |                   last ,------- silence
 *         |                     ,-'
 *         |        round[1] _.-'
 *         |           _,.-'
 *         |  round[0]'
 *         +---------------------------- bytes of all
 *
 * Two marks would not do: at the beginning of a round nearly all of the one
 * before is looked back on.  A pair without history is assumed to have had its
 * buffers from the start. */

static inline bool
object_holds (const TopoObject *object, uint32_t core)
{
  return core - object->first_core < object->n_cores;
}

static inline SharedCache *
shared_cache (const SimMemory *memory, uint32_t node, uint32_t cache)
{
  return &memory->rooms[(gsize) node * memory->n_rooms + memory->places[cache].room];
}

static inline CacheUse *
cache_uses (const SimMemory *memory, uint32_t node, uint32_t cache)
{
  return &memory->uses[(gsize) node * memory->n_uses + memory->places[cache].first_use];
}

/* Of the two cores of a pair one, `owner`, is surely below the cache. */
static inline CacheUse *
cache_use (const SimMemory *memory, uint32_t cache, const CorePair *pair, uint32_t owner)
{
  const TopoObject *object = &memory->node->objects[cache];
  uint32_t other = pair->core ^ pair->peer ^ owner;
  uint32_t first = object_holds (object, other) ? MIN (owner, other) : owner;

  return cache_uses (memory, pair->node, cache) + (first - object->first_core);
}

static uint64_t
claim_of (const SimMemory *memory, uint64_t footprint_bytes)
{
  double claim = (double) footprint_bytes * memory->buffers;

  return claim < 0x1p62 ? (uint64_t) claim : UINT64_C (1) << 62;
}

/* On the line from (x0, y0) to (x1, y1), x0 <= x <= x1. */
static uint64_t
between (uint64_t x, uint64_t x0, uint64_t y0, uint64_t x1, uint64_t y1)
{
  if (x >= x1)
    return y1;
  return y0 + (uint64_t) ((double) (y1 - y0) * ((double) (x - x0) / (double) (x1 - x0)));
}

/* Bytes that all pairs had used when this one had used `own`; not known further back than
 * two rounds. */
static uint64_t
all_when (const CacheUse *it, uint64_t own)
{
  const Mark *from = own >= it->round[1].own ? &it->round[1] : &it->round[0];
  const Mark *to = from == it->round ? &it->round[1] : &it->last;

  return own <= it->round[0].own ? it->round[0].all
                                 : between (own, from->own, from->all, to->own, to->all);
}

/* Bytes that this pair had used when all had used `all`. */
static uint64_t
own_when (const CacheUse *it, uint64_t all)
{
  const Mark *from = all >= it->round[1].all ? &it->round[1] : &it->round[0];
  const Mark *to = from == it->round ? &it->round[1] : &it->last;

  return all <= it->round[0].all ? it->round[0].own
                                 : between (all, from->all, from->own, to->all, to->own);
}

/* Of its buffers, in the round before and in this one. */
static uint64_t
largest_bytes (const CacheUse *it)
{
  return MAX (it->before_bytes, it->footprint_bytes);
}

/* A buffer that is larger than the free bytes finds room.  O(cores below the cache). */
static bool
has_room (const SimMemory *memory, uint32_t cache, const CorePair *pair, const SimBuffer *buffer)
{
  const TopoObject *object = &memory->node->objects[cache];
  const CacheUse *it = cache_use (memory, cache, pair, buffer->core);
  const CacheUse *uses = cache_uses (memory, pair->node, cache);
  uint64_t claim = claim_of (memory, buffer->footprint_bytes), taken = 0, since;

  if (it->last.own == 0)
    return true;
  since = all_when (it, it->last.own - MIN (claim, it->last.own));
  for (uint32_t core = 0; core < object->n_cores; core++)
    if (&uses[core] != it && uses[core].last.all > since)
      taken += MIN (uses[core].last.own - own_when (&uses[core], since),
                    claim_of (memory, largest_bytes (&uses[core])));
  return taken <= object->cache_bytes - MIN (claim, object->cache_bytes);
}

/* The round of a pair goes on with a buffer of so many bytes, larger than any
 * before, or the next round begins with it. */
static void
set_footprint (const SimMemory *memory, uint32_t cache, SharedCache *room, CacheUse *it,
               uint64_t bytes, bool next_round)
{
  uint64_t cache_bytes = memory->node->objects[cache].cache_bytes;
  uint64_t fits_bytes = memory->places[cache].fits_bytes;
  uint64_t from_bytes = largest_bytes (it), to_bytes;

  if (next_round) {
    it->round[0] = it->round[1];
    it->round[1] = it->last;
    it->before_bytes = it->footprint_bytes;
  } else if (it->last.own == 0) {
    it->round[0] = it->round[1] = (Mark){ 0, room->all_bytes };
  }
  it->footprint_bytes = bytes;
  /* Less than a 64th of the cache is not worth a mark. */
  it->round_end =
      it->round[1].own + CLAMP (claim_of (memory, bytes), cache_bytes / 64, cache_bytes);
  to_bytes = largest_bytes (it);
  if (to_bytes == from_bytes)
    return;
  room->largest_bytes += MIN (to_bytes, cache_bytes) - MIN (from_bytes, cache_bytes);
  room->free_bytes = fits_bytes > room->largest_bytes ? fits_bytes - room->largest_bytes : 0;
}

/* Bytes of a rank's own buffer are used, in all shared caches above its core. */
static void
use_buffer (SimMemory *memory, const CorePair *pair, const SimBuffer *buffer, uint64_t bytes)
{
  for (uint32_t cache = memory->sites[buffer->core].shared; cache != TOPO_NONE;
       cache = memory->places[cache].shared_above) {
    SharedCache *room = shared_cache (memory, pair->node, cache);
    CacheUse *it = cache_use (memory, cache, pair, buffer->core);

    if (buffer->footprint_bytes > it->footprint_bytes)
      set_footprint (memory, cache, room, it, buffer->footprint_bytes, false);
    room->all_bytes += bytes;
    it->last = (Mark){ it->last.own + bytes, room->all_bytes };
    if (it->last.own >= it->round_end)
      set_footprint (memory, cache, room, it, buffer->footprint_bytes, true);
  }
}

/* --- The servers of a copy ---
 *
 * Data has a home, an object of the node's tree: a cache that holds it or the
 * memory it lies in.  Its bytes go from there up to the lowest object above both
 * the home and the core, and down to the core, and occupy every server on that
 * way: shared caches, the buses of packages that are left or entered, and the
 * memory.  Besides reading and writing, hardware causes more such ways:
 *
 *   a write to memory first fetches the line, and writes it back later;
 *   a line that was changed in another cache comes from there, and memory is
 *   brought up to date on the way (implicit write-back, Intel SDM vol. 3, 11.2);
 *   a line that the adapter reads from a cache crosses that package's bus. */

#define LINE_BYTES 64 /* caches, buses and memory move whole lines */

/* One piece of work on its way through the servers of a node. */
typedef struct {
  const SimMemory *memory;
  Server *servers; /* [n_servers] of this node */
  uint64_t bytes;
  int64_t now_ps, end_ps;
} Piece;

static Piece
start (SimMemory *memory, uint32_t node, uint64_t bytes, int64_t now_ps)
{
  gsize first = (gsize) node * memory->n_servers;

  return (Piece){ .memory = memory,
                  .servers = &memory->servers[first],
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
serve (Piece *piece, uint32_t server, uint64_t bytes, uint32_t times)
{
  double ps = piece->memory->places[server].byte_ps;
  Server *it = &piece->servers[server];
  int64_t end_ps;

  if (ps <= 0)
    return;
  end_ps = MAX (it->busy_ps, piece->now_ps) + times * duration_ps (bytes, ps);
  it->busy_ps = end_ps;
  it->passed += times * bytes;
  piece->end_ps = MAX (piece->end_ps, end_ps);
}

/* The link of a core group that bytes leave or enter. */
static inline void
cross (Piece *piece, uint32_t object, uint32_t times)
{
  if (piece->memory->places[object].link != TOPO_NONE)
    serve (piece, piece->memory->places[object].link, piece->bytes, times);
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
  for (; !object_holds (&objects[above], core); above = objects[above].parent)
    if (!in_memory || objects[above].kind != TOPO_OBJECT_CACHE) {
      serve (piece, above, piece->bytes, times);
      cross (piece, above, times);
    }
  if (objects[above].kind == TOPO_OBJECT_CACHE || piece->memory->places[above].is_meeting)
    serve (piece, above, piece->bytes, times);
  for (uint32_t below = objects[piece->memory->node->core[core]].parent; below != above;
       below = objects[below].parent) {
    serve (piece, below, piece->bytes, times);
    cross (piece, below, times);
  }
}

/* The cache of the core, or of another one that shares it. */
static bool
is_near (const SimMemory *memory, uint32_t home, uint32_t core)
{
  const TopoObject *object = &memory->node->objects[home];

  return object->kind == TOPO_OBJECT_CACHE && object_holds (object, core);
}

/* The time of lines from a home at a core's own rate. */
typedef struct {
  double byte_ps;     /* 0: as fast as it copies */
  int64_t latency_ps; /* of the first line */
} Fetching;

/* Two threads of a core, or two cores, as hardware. */
static inline bool
is_same_core (const SimMemory *memory, uint32_t core, uint32_t other)
{
  return core == other || (memory->sites[core].processor != TOPO_NONE &&
                           memory->sites[core].processor == memory->sites[other].processor);
}

/* Of a line that another core has written, when a cache holds both. */
static inline int64_t
shared_latency_ps (const SimMemory *memory, uint32_t core, uint32_t writer)
{
  if (core == writer)
    return 0;
  return is_same_core (memory, core, writer) ? memory->thread_latency_ps : memory->cache_latency_ps;
}

/* Between a core and a domain of a package; a domain that is in no package is near to all. */
static inline Distance
distance_to (const SimMemory *memory, uint32_t core, uint32_t package, uint32_t domain)
{
  if (package != TOPO_NONE && package != memory->sites[core].package)
    return OTHER_PACKAGE;
  return domain == memory->sites[core].domain ? SAME_DOMAIN : OTHER_DOMAIN;
}

static inline Fetching
fetching_from (const SimMemory *memory, uint32_t home, uint32_t core, const SimBuffer *buffer)
{
  bool in_memory = memory->node->objects[home].kind == TOPO_OBJECT_MEMORY;
  double ps = in_memory ? memory->memory_ps : memory->transfer_ps;
  Distance distance;

  if (is_near (memory, home, core))
    return (Fetching){ 0, buffer->kind == SIM_BUFFER_ADAPTER
                              ? 0
                              : shared_latency_ps (memory, core, buffer->core) };
  distance =
      distance_to (memory, core, memory->places[home].package, memory->sites[buffer->core].domain);
  return (Fetching){ ps * memory->slower[distance], memory->latency_ps[distance] };
}

/* Whether a buffer is at home in a cache, beside those of others. */
static inline bool
is_at_home (const SimMemory *memory, uint32_t cache, const CorePair *pair, const SimBuffer *buffer)
{
  const Place *place = &memory->places[cache];

  return buffer->footprint_bytes <= place->fits_bytes &&
         (place->room == TOPO_NONE ||
          buffer->footprint_bytes <= shared_cache (memory, pair->node, cache)->free_bytes ||
          has_room (memory, cache, pair, buffer));
}

/* Where a buffer is. */
static uint32_t
home_of (const SimMemory *memory, const CorePair *pair, const SimBuffer *buffer, bool is_source)
{
  const TopoObject *objects = memory->node->objects;
  const Site *site = &memory->sites[buffer->core];

  /* The smallest cache above the core in which it is at home, or its memory. */
  if (buffer->kind == SIM_BUFFER_PRIVATE) {
    for (uint32_t above = objects[memory->node->core[buffer->core]].parent; above != TOPO_NONE;
         above = objects[above].parent)
      if (is_at_home (memory, above, pair, buffer))
        return above;
    return site->memory;
  }
  if (buffer->kind == SIM_BUFFER_ADAPTER && is_source)
    return memory->dma_to_cache ? memory->dma[0] : site->memory;
  /* Fragments that are used in turn stay in the outermost cache of their writer. */
  if (site->cache != TOPO_NONE && is_at_home (memory, site->cache, pair, buffer))
    return site->cache;
  return site->memory;
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

/* Lines are fetched before they are changed, and leave the core again. */
static void
store (Piece *piece, uint32_t home, uint32_t core, const SimBuffer *buffer)
{
  const SimMemory *memory = piece->memory;
  bool in_cache = memory->node->objects[home].kind == TOPO_OBJECT_CACHE;
  uint32_t package = memory->sites[core].package;

  if (in_cache && !is_near (memory, home, core)) {
    fetch (piece, home, core, buffer->core);
    pass (piece, memory->sites[core].cache, core, 1);
  } else {
    pass (piece, home, core, 2);
  }
  /* Bytes that were copied to be sent lie changed in a cache; the adapter's read
   * drives them out, over the buses between.  The adapter counts memory. */
  if (in_cache && buffer->kind == SIM_BUFFER_ADAPTER && package != TOPO_NONE &&
      package != memory->node->adapter) {
    serve (piece, package, piece->bytes, 1);
    serve (piece, memory->node->adapter, piece->bytes, 1);
  }
}

int64_t
sim_memory_copy (SimMemory *memory, const SimCopy *copy, int64_t now_ps)
{
  const SimBuffer *segment = copy->from.kind == SIM_BUFFER_SHARED ? &copy->from
                             : copy->to.kind == SIM_BUFFER_SHARED ? &copy->to
                                                                  : NULL;
  CorePair pair = { copy->node, segment ? segment->core : copy->from.core,
                    segment ? segment->peer : copy->to.core };
  uint32_t from = home_of (memory, &pair, &copy->from, true);
  uint32_t to = home_of (memory, &pair, &copy->to, false);
  Fetching source = fetching_from (memory, from, copy->core, &copy->from);
  Fetching target = fetching_from (memory, to, copy->core, &copy->to);
  Piece piece = start (memory, copy->node, copy->bytes, now_ps);
  double limit_ps = copy->limit_Bps > 0 ? 1e12 / (double) copy->limit_Bps : 0;
  int64_t core_ps = duration_ps (
      copy->bytes, MAX (MAX (memory->core_ps, limit_ps), source.byte_ps + target.byte_ps));
  uint32_t processor = memory->sites[copy->core].processor;
  int64_t core_end_ps = now_ps + source.latency_ps + core_ps;

  /* Threads of a core take turns in its load and store units; a line that one of them waits for
   * does not keep the other. */
  if (processor != TOPO_NONE) {
    Server *it = &piece.servers[processor];

    it->busy_ps = MAX (it->busy_ps, now_ps) + core_ps;
    it->passed += copy->bytes;
    core_end_ps = it->busy_ps + source.latency_ps;
  }
  fetch (&piece, from, copy->core, copy->from.core);
  store (&piece, to, copy->core, &copy->to);
  if (copy->from.kind == SIM_BUFFER_PRIVATE)
    use_buffer (memory, &pair, &copy->from, copy->bytes);
  if (copy->to.kind == SIM_BUFFER_PRIVATE)
    use_buffer (memory, &pair, &copy->to, copy->bytes);
  return MAX (piece.end_ps, core_end_ps);
}

int64_t
sim_memory_handover_ps (const SimMemory *memory, uint32_t writer, uint32_t reader, uint32_t home)
{
  const TopoNode *node = memory->node;
  uint32_t home_domain, home_package;
  Distance from_writer, from_home, to_home;

  for (uint32_t above = node->core[reader]; above != TOPO_NONE; above = node->objects[above].parent)
    if (is_near (memory, above, writer))
      return shared_latency_ps (memory, reader, writer);
  if (is_same_core (memory, writer, reader))
    return shared_latency_ps (memory, reader, writer);
  /* The home is asked by the reader and asks the writer: the farthest of the three decides. */
  home_domain = memory->sites[home].domain;
  home_package = memory->places[home_domain].package;
  from_writer =
      distance_to (memory, reader, memory->sites[writer].package, memory->sites[writer].domain);
  from_home = distance_to (memory, reader, home_package, home_domain);
  to_home = distance_to (memory, writer, home_package, home_domain);
  return memory->latency_ps[MAX (from_writer, MAX (from_home, to_home))];
}

/* Reading and writing load the same servers. */
int64_t
sim_memory_dma (SimMemory *memory, uint32_t node, G_GNUC_UNUSED bool write, uint64_t bytes,
                int64_t now_ps)
{
  Piece piece = start (memory, node, bytes, now_ps);
  uint64_t left = piece.bytes;

  /* Most adapters are next to one memory alone. */
  if (G_LIKELY (memory->n_dma == 1)) {
    serve (&piece, memory->dma[0], left, 1);
    return piece.end_ps;
  }
  for (uint32_t at = 0; at < memory->n_dma; at++) {
    uint64_t others = memory->n_dma - at - 1, part = others == 0 ? left : left / (others + 1);

    serve (&piece, memory->dma[at], part, 1);
    left -= part;
  }
  return piece.end_ps;
}

/* --- Construction --- */

static double
byte_ps (uint64_t bandwidth_Bps)
{
  return 1e12 / (double) bandwidth_Bps;
}

/* An outermost cache of a part of its package. */
static bool
is_group (const TopoNode *node, uint32_t cache)
{
  const TopoObject *object = &node->objects[cache];
  uint32_t above = object->parent;

  return object->kind == TOPO_OBJECT_CACHE && node->objects[above].kind != TOPO_OBJECT_CACHE &&
         object->n_cores < node->objects[above].n_cores;
}

/* The objects as servers and homes.  The caches of a package without memory meet on its bus. */
static void
make_places (SimMemory *memory, const TopoParameters *parameters)
{
  const TopoNode *node = memory->node;
  uint32_t server = node->n_objects;

  memory->places = g_new0 (Place, memory->n_servers);
  for (uint32_t number = 0; number < node->n_objects; number++) {
    const TopoObject *object = &node->objects[number];
    Place *place = &memory->places[number];
    uint32_t package = number;

    switch ((TopoObjectKind) object->kind) {
    case TOPO_OBJECT_PACKAGE:
      place->byte_ps = byte_ps (parameters->memory.bus_bandwidth_Bps);
      place->is_meeting = true;
      break;
    case TOPO_OBJECT_MEMORY:
      place->byte_ps = byte_ps (object->is_hbm ? parameters->memory.hbm_bandwidth_Bps
                                               : parameters->memory.dram_bandwidth_Bps);
      break;
    case TOPO_OBJECT_CACHE:
      if (!is_same_core (memory, object->first_core, object->first_core + object->n_cores - 1))
        place->byte_ps = byte_ps (parameters->memory.cache_bandwidth_Bps);
      break;
    case TOPO_OBJECT_MACHINE:
    case TOPO_OBJECT_CORE: break;
    }
    while (package != TOPO_NONE && node->objects[package].kind != TOPO_OBJECT_PACKAGE)
      package = node->objects[package].parent;
    place->package = package;
    place->fits_bytes = (uint64_t) (parameters->memory.cache_share * (double) object->cache_bytes);
    place->room = TOPO_NONE;
    place->link = TOPO_NONE;
    if (is_group (node, number) && parameters->memory.group_bandwidth_Bps > 0) {
      place->link = server;
      memory->places[server++].byte_ps = byte_ps (parameters->memory.group_bandwidth_Bps);
    }
  }
  for (uint32_t number = 0; number < node->n_memories; number++) {
    uint32_t package = memory->places[node->memory[number]].package;

    if (package != TOPO_NONE)
      memory->places[package].is_meeting = false;
  }
}

static uint32_t
shared_from (const SimMemory *memory, uint32_t object)
{
  while (object != TOPO_NONE && memory->places[object].room == TOPO_NONE)
    object = memory->node->objects[object].parent;
  return object;
}

/* Caches of several cores, with the uses of each of their cores. */
static void
make_rooms (SimMemory *memory)
{
  const TopoNode *node = memory->node;

  for (uint32_t object = 0; object < node->n_objects; object++) {
    Place *place = &memory->places[object];

    if (node->objects[object].kind != TOPO_OBJECT_CACHE || node->objects[object].n_cores < 2)
      continue;
    place->room = memory->n_rooms++;
    place->first_use = memory->n_uses;
    place->shared_above = shared_from (memory, node->objects[object].parent);
    memory->n_uses += node->objects[object].n_cores;
  }
  for (uint32_t core = 0; core < node->n_cores; core++)
    memory->sites[core].shared = shared_from (memory, node->core[core]);
  memory->rooms = g_new0 (SharedCache, (gsize) memory->n_nodes * memory->n_rooms);
  memory->uses = g_new0 (CacheUse, (gsize) memory->n_nodes * memory->n_uses);
}

/* Whether ranks have buffers in a memory: it is that of a core. */
static bool
is_used (const SimMemory *memory, uint32_t object)
{
  for (uint32_t core = 0; core < memory->node->n_cores; core++)
    if (memory->sites[core].memory == object)
      return true;
  return false;
}

/* The adapter's side: the cache of its first core, where hardware writes
 * there, or all memories below its bridge, since ranks have their buffers in
 * any of them; all memories of the node when it has none of its own. */
static void
make_dma (SimMemory *memory)
{
  const TopoNode *node = memory->node;
  uint32_t cache = memory->sites[node->objects[node->adapter].first_core].cache;

  memory->dma = g_new (uint32_t, node->n_memories);
  if (memory->dma_to_cache && cache != TOPO_NONE) {
    memory->dma[memory->n_dma++] = cache;
    return;
  }
  memory->dma_to_cache = false;
  for (uint32_t number = 0; number < node->n_memories; number++) {
    uint32_t above = node->memory[number];

    while (above != node->adapter && above != TOPO_NONE)
      above = node->objects[above].parent;
    if (above == node->adapter && is_used (memory, node->memory[number]))
      memory->dma[memory->n_dma++] = node->memory[number];
  }
  if (memory->n_dma > 0)
    return;
  for (uint32_t number = 0; number < node->n_memories; number++)
    if (is_used (memory, node->memory[number]))
      memory->dma[memory->n_dma++] = node->memory[number];
}

/* Cores with their caches, domains and memories; and how many servers there are besides objects. */
static void
make_sites (SimMemory *memory, const TopoParameters *parameters)
{
  const TopoNode *node = memory->node;
  bool uses_hbm = parameters->memory.uses_hbm;

  memory->n_servers = node->n_objects;
  for (uint32_t object = 0; object < node->n_objects; object++)
    memory->n_servers += parameters->memory.group_bandwidth_Bps > 0 && is_group (node, object);

  memory->sites = g_new (Site, node->n_cores);
  for (uint32_t core = 0; core < node->n_cores; core++) {
    Site *site = &memory->sites[core];

    *site = (Site){
      .cache = topo_node_above (node, core, TOPO_OBJECT_CACHE),
      .domain = topo_node_above (node, core, TOPO_OBJECT_MEMORY),
      .package = topo_node_above (node, core, TOPO_OBJECT_PACKAGE),
      .processor = TOPO_NONE,
    };
    site->memory = site->domain;
    /* The first thread of a core has its number. */
    if (node->first_thread != NULL)
      site->processor = node->first_thread[core] == core
                            ? memory->n_servers++
                            : memory->sites[node->first_thread[core]].processor;
    for (uint32_t number = 0; number < node->n_memories && uses_hbm; number++)
      if (node->objects[node->memory[number]].is_hbm &&
          object_holds (&node->objects[node->memory[number]], core)) {
        site->memory = node->memory[number];
        break;
      }
  }
}

SimMemory *
sim_memory_new (const TopoMachine *machine)
{
  const TopoParameters *parameters = &machine->parameters;
  int64_t latency_ps = parameters->memory.transfer_latency_ps;
  int64_t more_ps[DISTANCES] = { [OTHER_DOMAIN] = parameters->memory.domain_latency_ps,
                                 [OTHER_PACKAGE] = parameters->memory.package_latency_ps };
  SimMemory *memory = g_new0 (SimMemory, 1);
  gsize n_states;

  g_assert (machine->node != NULL);
  memory->node = machine->node;
  memory->n_nodes = topo_shape_nodes (&machine->shape);
  memory->quantum_bytes = parameters->memory.copy_quantum_bytes;
  memory->core_ps = byte_ps (parameters->memory.core_bandwidth_Bps);
  memory->transfer_ps = byte_ps (parameters->memory.core_transfer_bandwidth_Bps);
  memory->memory_ps = byte_ps (parameters->memory.core_memory_bandwidth_Bps);
  memory->thread_latency_ps = parameters->memory.thread_latency_ps;
  memory->cache_latency_ps = parameters->memory.cache_latency_ps;
  /* As many lines are under way at any distance, each for longer. */
  for (Distance distance = SAME_DOMAIN; distance < DISTANCES; distance++) {
    memory->latency_ps[distance] = latency_ps + more_ps[distance];
    memory->slower[distance] =
        latency_ps > 0 ? ((double) latency_ps + (double) more_ps[distance]) / (double) latency_ps
                       : 1;
  }
  memory->updates_memory = parameters->memory.transfer_updates_memory;
  memory->buffers = parameters->memory.cache_share > 0 ? 1 / parameters->memory.cache_share : 0;
  memory->dma_to_cache = parameters->memory.dma_to_cache;
  make_sites (memory, parameters);
  make_places (memory, parameters);
  make_dma (memory);
  n_states = (gsize) memory->n_nodes * memory->n_servers;
  memory->servers = g_new0 (Server, n_states);
  make_rooms (memory);
  return memory;
}

void
sim_memory_free (SimMemory *memory)
{
  if (memory == NULL)
    return;
  g_free (memory->places);
  g_free (memory->sites);
  g_free (memory->servers);
  g_free (memory->rooms);
  g_free (memory->uses);
  g_free (memory->dma);
  g_free (memory);
}

void
sim_memory_dump (SimMemory *memory, BaseDump *dump)
{
  gsize n_states = (gsize) memory->n_nodes * memory->n_servers;

  base_dump_section (dump, "node memory");
  base_dump_array (dump, memory->servers, n_states, sizeof *memory->servers);
  base_dump_array (dump, memory->rooms, (gsize) memory->n_nodes * memory->n_rooms,
                   sizeof *memory->rooms);
  base_dump_array (dump, memory->uses, (gsize) memory->n_nodes * memory->n_uses,
                   sizeof *memory->uses);
}

uint64_t
sim_memory_quantum_bytes (const SimMemory *memory)
{
  return memory->quantum_bytes;
}

int64_t
sim_memory_pass_ps (const TopoMachine *machine, uint64_t bytes, uint32_t n_loads)
{
  const TopoParameters *parameters = &machine->parameters;
  const TopoNode *node = machine->node;
  /* A copy, one load and one store, is what core_bandwidth is of. */
  double ps = byte_ps (parameters->memory.core_bandwidth_Bps) * (n_loads + 1) / 2;
  uint32_t cache;

  if (node == NULL || bytes == 0)
    return 0;
  cache = topo_node_above (node, 0, TOPO_OBJECT_CACHE);
  /* Two lines come from memory for one of the result: both operands, or the source and the line
   * to be written. */
  if (cache == TOPO_NONE ||
      (double) bytes * node->objects[cache].n_cores >
          parameters->memory.cache_share * (double) node->objects[cache].cache_bytes)
    ps = MAX (ps, 2 * byte_ps (parameters->memory.core_memory_bandwidth_Bps));
  return (double) bytes * ps < 0x1p60 ? duration_ps (bytes, ps) : INT64_C (1) << 60;
}

uint64_t
sim_memory_bytes (const SimMemory *memory, uint32_t node, uint32_t object)
{
  return memory->servers[(gsize) node * memory->n_servers + object].passed;
}
