/* torus_state.h - state of the packet network of a torus; private to torus*.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The life of a packet (bgq.md sections 2 and 3):
 *
 *   rank -> descriptor -> memory FIFO -> network FIFO -> port ~~link~~> receive buffer
 *                                                          ^                |   |
 *                                                          +----- hop ------+   v
 *                                                            reception FIFO -> memory
 *
 * A packet exists from the moment it is at the head of its network injection
 * FIFO until its last byte is in memory; before, it is only a count in a
 * descriptor.  What makes a hop cheap:
 *
 *  - A packet joins the list of its next port when it leaves the last one,
 *    marked with the time at which its head will be there.  No event of its own
 *    brings it there.
 *  - A packet at the head of an injection FIFO is announced to its port when
 *    the packet before it leaves.
 *  - A token on its way back is the time from which its buffer slot counts as
 *    free.  A port compares its slots with the clock.
 *  - What nodes do to each other takes effect in a later window, so a port sees
 *    before a window begins all that can want it in that window, and ports do
 *    not affect each other within it.  They are visited in any order: a window
 *    is an array of port numbers, and the exact time is in the port.
 *  - Effects on other nodes go through a short queue, so that their memory is
 *    fetched before it is changed.
 *
 * The events left are "a port looks for something to send" and "a packet is
 * received".  A window has three phases: the client's callbacks and injections
 * in the order of time of each node, then receptions in the order of time, then
 * ports.  A window is shorter than the latency between nodes and than the
 * shortest packet, so nothing that a phase decides belongs to an earlier one.
 *
 * A packet of the dynamic VC looks at several ports of its node, and they share
 * the queues that such packets wait in.  So a node that has some, or to which
 * some come, visits its ports in the order of time in that window, and the
 * arrival of such a packet is an event (torus_dynamic.c).  All other nodes do
 * not know that there is a dynamic VC.
 *
 * For threads the nodes are cut into parts, runs of their numbers.  Each part
 * has all of the above for its nodes, goes through the windows by itself, and
 * notes what affects nodes of other parts; before a window it takes in what
 * others have noted.  Since effects of nodes on each other take effect in a
 * later window, and in any order, no node sees to which part it belongs. */
#pragma once

#include "base/barrier.h"
#include "routing/pami.h"
#include "routing/torus.h"
#include "sim/net/packet_engine.h"

#define RARE __attribute__ ((noinline))

#define MAX_WINDOW_BITS 15u
#define RING_PS         (INT64_C (8) << 20) /* time ahead that buckets cover; events beyond are rare */
#define MAX_RING        16384u
#define MAX_PORTS       (2 * TOPO_MAX_DIMENSIONS)
#define NOWHERE         128u /* a mark beside a port's number: there is none */

/* Virtual channels; the first two have slots for packets and know their port. */
enum { BUBBLE, PRIORITY, VCS, DYNAMIC = VCS };

/* Event codes of the schedule, in the order in which they fire at equal times. */
enum {
  CODE_INJECT,          /* argument = descriptor */
  CODE_DELIVER,         /* argument = message */
  CODE_TIMER,           /* argument = timer */
  CODE_WAKE,            /* argument = port number: a look that lay beyond the ring */
  CODE_RECEIVE,         /* argument = place of the packet: a reception that lay beyond it */
  CODE_RECEIVE_DYNAMIC, /* argument = dynamic packet, likewise */
  CODE_ARRIVE,          /* argument = dynamic packet: an arrival that lay beyond it */
  CODE_ESCAPED,         /* argument = input port << 16 | slot, likewise */
  CODE_STEP,            /* + StepClass << 4 | index; argument: a step that lay beyond it */
};

/* A packet in a receive buffer.  `way`: hops left, a field of bits per
 * dimension, in the deterministic order from the lowest bit on; above them the
 * signs. */
typedef struct {
  uint32_t way;
  uint32_t message;
  union {
    uint32_t since;       /* its head is here from then on; low 32 bits of the time */
    uint32_t next_feeder; /* of the head of a FIFO: where the packet behind it comes from */
  };
  uint16_t payload_bytes;
  uint8_t chunks;
  uint8_t dynamic; /* IS_DYNAMIC | its zone << ZONE_SHIFT, 0: deterministic */
} Packet;

enum { IS_DYNAMIC = 1, ZONE_SHIFT = 1 };

/* Packet.chunks: those of one packet, with IS_SHRUNK if it stands for SimNetwork.shrink of them. */
#define IS_SHRUNK 64u

static inline uint32_t
room_chunks (uint32_t chunks)
{
  return chunks & (IS_SHRUNK - 1);
}

/* How many packets a packet stands for.  Without a branch, as it is asked at every hop. */
static inline uint32_t
packet_weight (uint32_t chunks, uint32_t shrink)
{
  return 1 + chunks / IS_SHRUNK * (shrink - 1);
}

/* Which of a port's four lists a packet waits in: straight on or turning, on
 * either virtual channel.  The bits of Port.listed. */
#define LIST(vc, turns) (2u * (vc) + (turns))
#define PRIORITY_LISTS  (1u << LIST (PRIORITY, 0) | 1u << LIST (PRIORITY, 1))

/* The packets that want a port on one virtual channel, in the order in which
 * they come: by time, then by input port. */
typedef struct {
  uint16_t head[2], tail[2]; /* [turns] input port << shift | slot */
  uint32_t turning_since;    /* of the last packet that turns */
} Lists;

/* A port: the sender's end of a link.  Before it in memory, in a cache line or
 * more: for each slot of the bubble VC's receive buffer at the other end, the
 * time from which it counts as free, NEVER_PS when a packet has it; and in the
 * last place the mark of starved_mark(). */
typedef struct {
  int64_t free_ps; /* the link is idle from then on */
  int64_t wake_ps; /* when it looks next, NEVER_PS: not before something wakes it */
  union {
    struct {
      uint16_t want[VCS]; /* bit FIFO: its head wants to go here on that VC */
      uint16_t future;    /* bit FIFO: its head will, from the FIFO's ready_ps on */
      uint8_t listed;     /* bit list: packets are in it, or on their way */
      uint8_t grants;     /* to receivers since the last one to injection */
    };
    uint64_t word; /* all of these, to look at several at once */
  };
  uint16_t early;    /* bit FIFO, also in want: its head came at free_ps or at the last look */
  uint8_t next;      /* TURN_NEXT: of two lists that can both send, the turning one is next;
                      * BUBBLE_NEXT: the bubble VC has its turn before the dynamic one */
  uint8_t last_fifo; /* served last */
  Lists lists;       /* of the bubble VC */
  uint64_t payload_bytes, packets, bubble_chunks;
} Port;

enum { TURN_NEXT = 1, BUBBLE_NEXT = 2 };

_Static_assert(sizeof (Port) == 64, "a port is its slots and one cache line");

/* Port.word of a port that something wants, and of one to which more than the bubble VC's lists
 * and heads matters. */
static const union {
  Port port;
  struct {
    int64_t unused[2];
    uint64_t word;
  };
} wanted_port = { .port.want = { UINT16_MAX, UINT16_MAX },
                  .port.future = UINT16_MAX,
                  .port.listed = UINT8_MAX },
  unusual_port = { .port.want[PRIORITY] = UINT16_MAX,
                   .port.future = UINT16_MAX,
                   .port.listed = PRIORITY_LISTS };

/* The part of a port that only the priority VC needs.  The slots of its receive buffer follow it. */
typedef struct {
  Lists lists;
  uint64_t chunks;
} PriorityPort;

typedef struct {
  uint32_t neighbour[MAX_PORTS];
  int64_t memory_ps;  /* the memory port is busy until here */
  uint16_t far;       /* bit port: its link leaves the midplane */
  uint32_t n_dynamic; /* packets in its dynamic queues, and heads of FIFOs that wait for a port */
  /* What a hop needs is in the first cache line. */
  uint16_t next_reception[MAX_PORTS]; /* place of each reception FIFO that is used next */
} Node;

/* --- The dynamic VC --- */

/* A packet on the dynamic VC, in a receive buffer or on its way to it. */
typedef struct {
  int64_t since_ps; /* waits since */
  uint32_t way, message;
  uint32_t next; /* in its queue */
  uint32_t node; /* where it is or arrives */
  uint16_t payload_bytes;
  uint8_t chunks, zone;
  uint8_t pending; /* bit dimension: it has hops left */
  uint8_t in_port;
  uint16_t unused;
} DynamicPacket;

_Static_assert(sizeof (DynamicPacket) == 32, "two to a cache line");

/* What a node does in the order of time, for its dynamic packets: a key that sorts.
 *
 *   time in the window << 49 | class << 46 | index << 42 | IS_SLOT or IS_NEWCOMER | argument
 *
 * index: input port, FIFO or port. */
typedef enum {
  STEP_TOKEN,  /* argument = chunks: they are free at the other end of the port's link */
  STEP_ARRIVE, /* a packet from the input port: argument = dynamic packet, or IS_SLOT | slot of the
                  * bubble VC */
  STEP_INJECTED, /* a descriptor's packet is the head of FIFO number `argument`; index 0 */
  STEP_HEAD,     /* a packet is the head of a FIFO that had another */
  STEP_LOOK,     /* the port looks for something to send */
} StepClass;

#define STEP_TIME_SHIFT  49u
#define STEP_CLASS_SHIFT 46u
#define STEP_INDEX_SHIFT 42u
#define IS_SLOT          (UINT64_C (1) << 41)
#define IS_NEWCOMER      (UINT64_C (1) << 40) /* argument = FIFO << 4 | port: see try_newcomer() */

typedef struct {
  uint64_t key;
  uint32_t node;
  uint32_t unused;
} Step;

/* Torus.node_steps, beside their number: they are not all tokens. */
#define HAS_OTHERS (1u << 31)

#define MAX_QUEUES 5u /* of dynamic packets per receiver: 12 * 5 bits in a word */

typedef struct {
  uint32_t head, tail; /* one more than the packet's number; head 0: empty */
} Queue;

#define NODE_QUEUES 64u /* MAX_PORTS * MAX_QUEUES, rounded up */
#define NODE_PORTS  16u

_Static_assert(offsetof (Node, next_reception) == 64, "the first line has what a hop needs");

/* What a node keeps for the dynamic VC; zeroed until it sees a packet of it.  A queue's
 * number, and its bit, is receiver * MAX_QUEUES + queue.  What each step looks at comes first. */
typedef struct {
  uint16_t waited_for; /* bit port: the head of a queue, or a dynamic one of a FIFO, wants it */
  uint16_t starved;    /* bit port: looked in vain since it sent last */
  uint8_t last_queue[MAX_PORTS]; /* of those that a port served */
  uint16_t used[NODE_PORTS];     /* chunks of the receive buffer whose token is not back */
  _Alignas(64) int64_t busy_ps[NODE_PORTS]; /* a dynamic packet has the port until here */
  uint16_t fifo_ports[NODE_PORTS];          /* [FIFO] bit port: its head wants it */
  uint16_t queue_ports[NODE_QUEUES];        /* [queue] bit port: its head wants it */
  uint8_t head_chunks[NODE_QUEUES];
  uint64_t chunks[MAX_PORTS]; /* sent on the dynamic VC */
  Waited waited[MAX_PORTS];   /* [input port] of packets that waited in its queues */
  Queue queue[MAX_PORTS * MAX_QUEUES];
} DynamicNode;

/* A network injection FIFO: the packet at its head and the memory FIFOs behind. */
typedef struct {
  int64_t ready_ps;  /* the head is there from then on; without one: the last packet is gone */
  int64_t chosen_ps; /* descriptors injected up to this time precede the choice of the head */
  Packet packet;     /* the head */
  uint8_t vc;        /* of the head */
  bool has_head;
  bool injected;            /* the head was chosen when its descriptor came */
  bool stayed;              /* the head's memory FIFO has descriptors left */
  uint32_t sequence;        /* of that injection among all */
  uint32_t last_feeder;     /* circle of memory FIFOs with descriptors: the last served */
  uint32_t previous_feeder; /* ... before the head was chosen */
  uint32_t first_incoming, last_incoming; /* descriptors that came since */
  uint32_t head_owner;                    /* of the memory FIFO that the head came from */
  uint32_t full_packets : 31; /* that follow from the same descriptor, while it is alone */
  uint32_t full_exact : 1;    /* it is exact */
} Fifo;

_Static_assert(sizeof (Fifo) == 64, "a FIFO is a cache line");

/* What is left of a descriptor to become packets. */
typedef struct {
  uint32_t way, message;
  uint64_t bytes_left; /* user bytes not yet in packets */
  uint8_t vc, zone;
  bool data_left : 1;      /* a data packet is due even if bytes_left is 0 */
  bool exact : 1;          /* SimMessage.exact */
  uint8_t envelope_chunks; /* payload chunks of a packet that carries no user data, 0: none */
  uint8_t software_bytes;  /* in the payload of a data packet, before the user's */
  uint8_t owner;           /* of the memory FIFO: slot of the rank, or ranks_per_node for the
                            * remote-get FIFO */
  uint8_t fifo;            /* network injection FIFO */
} __attribute__ ((packed, aligned (4))) Load;

/* A memory FIFO that has descriptors.  The first is in it, as a packet is taken from each of a circle
 * of them in turn: what that needs is in one place, fetched while the packet before it is sent. */
typedef struct {
  Load load;
  uint32_t second, last; /* descriptors behind it, PACKET_NONE: none */
  uint32_t next;         /* feeder of the same network FIFO */
} Feeder;

_Static_assert(sizeof (Feeder) == 36, "no more than what a packet needs");

/* What the messaging unit has been told to send: one message, or one of its halves. */
typedef struct {
  Load load;
  uint32_t next;
  uint32_t sequence; /* of the injection among all */
  int64_t at_ps;     /* injected */
} Descriptor;

_Static_assert(sizeof (Descriptor) == 40, "large runs have tens of millions");

/* A packet on its way to another node, kept back until that node's memory has been fetched. */
typedef struct {
  int64_t at_ps;
  Packet packet;
  uint32_t node;
  uint16_t slot;
  uint8_t in_port, vc;
  uint8_t port; /* which it wants next; with NOWHERE: it is received */
} Going;

/* A token on its way back to the sender, kept back likewise. */
typedef struct {
  int64_t at_ps;
  uint32_t node;
  uint16_t slot;
  uint8_t port, vc;
} Token;

#define MAX_KEPT 16u

/* The ports that may look in a window, the packets that are received in it, and
 * what nodes do in the order of time.
 *
 * Reception: time in the window << 41 | input port << 37, then RECEIVES_DYNAMIC | packet, or
 * VC << 35 | slot << 23 | node. */
typedef struct {
  uint32_t *ports;
  uint64_t *receptions;
  Step *steps;
  uint32_t n_ports, ports_capacity, n_receptions, receptions_capacity, n_steps, steps_capacity;
} Bucket;

#define RECEIVES_DYNAMIC (UINT64_C (1) << 36)
#define RECEIVED_NODE    ((1u << 23) - 1)

/* What a part does to another in a window. */
typedef struct {
  GArray *going;         /* element-type Going */
  GArray *tokens;        /* element-type Token */
  GArray *dynamic;       /* element-type DynamicGoing */
  GArray *chunks;        /* element-type Chunks */
  GArray *shared_timers; /* element-type SharedTimer */
  GArray *messages;      /* element-type uint32_t: records that go back to their part */
  uint64_t unused[2];    /* a cache line */
} Mail;

/* A packet of the dynamic VC that goes to another part, with its record. */
typedef struct {
  int64_t at_ps;
  DynamicPacket packet;
} DynamicGoing;

/* Tokens of the dynamic VC on their way back to a port of another part. */
typedef struct {
  int64_t at_ps;
  uint32_t node, chunks;
  uint8_t port;
} Chunks;

typedef struct {
  int64_t at_ps;
  uint64_t cookie;
  uint32_t rank;
} SharedTimer;

/* What the parts tell each other before a window. */
typedef struct {
  int64_t window; /* the next that has events, NO_WINDOW: none */
  uint64_t progress, n_events;
  uint64_t in_flight; /* of all parts: packets that have left their FIFO and are not received; of
                       * one: those that left it there, less those received there */
} PartState;

#define NO_WINDOW INT64_MAX

/* Arrays of past windows, for reuse by later ones: the last array is still in the cache, and a
 * burst that visits each bucket in turn does not enlarge them all. */
typedef struct {
  void *entries;
  uint32_t capacity;
} Array;

typedef struct {
  Array *array; /* [n_ring] */
  uint32_t n;
} Spare;

/* Where things are in a node's memory, in bytes, and slots of the receive buffers. */
typedef struct {
  uint32_t n_slots[VCS];
  uint32_t n_lines[VCS];   /* cache lines of the times of slots */
  uint32_t last_line[VCS]; /* bit: a slot is there, in the last line */
  uint32_t id_shift[VCS];  /* of the input port in an id of Lists */
  uint32_t links_at, receptions_at, ports_at, inputs_at, fifos_at;
  uint32_t port_bytes, input_bytes, node_bytes, priority_bytes;
} Places;

/* The last place of the bubble VC's lines is the mark of starved_mark(). */
#define LINES(bytes)                  (((uint32_t) (bytes) + 63) / 64 * 64)
#define SLOT_LINES(places)            (((places) + 7) / 8)
#define LAST_LINE(slots)              ((1u << ((slots) < 8 ? (slots) : 8)) - 1)
#define LINKS_AT                      ((uint32_t) sizeof (Node))
#define RECEPTIONS_AT(ports, shift)   LINES (LINKS_AT + ((2u * (ports)) << (shift)))
#define INPUT_BYTES(slots)            LINES (sizeof (Packet) * (slots) + sizeof (Waited))
#define PORT_BYTES(slots)             (64 * (SLOT_LINES ((slots) + 1) + 1))
#define SLOTS_AT(ports, shift, depth) (RECEPTIONS_AT (ports, shift) + LINES (8 * (ports) * (depth)))
#define INPUTS_AT(ports, slots, shift, depth) \
  (SLOTS_AT (ports, shift, depth) + (ports) *PORT_BYTES (slots))
#define FIFOS_AT(ports, slots, shift, depth) \
  (INPUTS_AT (ports, slots, shift, depth) + (ports) *INPUT_BYTES (slots))

/* Slots and ids of either VC, reception FIFOs of `depth` packets.  The line behind a
 * node keeps nodes from falling on the same sets of a cache. */
#define PLACES(ports, bubble, bubble_shift, priority, priority_shift, depth)                      \
  {                                                                                               \
    .n_slots = { bubble, priority },                                                              \
    .n_lines = { SLOT_LINES ((bubble) + 1), SLOT_LINES (priority) },                              \
    .last_line = { LAST_LINE (bubble), LAST_LINE (priority) },                                    \
    .id_shift = { bubble_shift, priority_shift }, .links_at = LINKS_AT,                           \
    .receptions_at = RECEPTIONS_AT (ports, bubble_shift),                                         \
    .ports_at = SLOTS_AT (ports, bubble_shift, depth) + PORT_BYTES (bubble) - 64,                 \
    .inputs_at = INPUTS_AT (ports, bubble, bubble_shift, depth),                                  \
    .fifos_at = FIFOS_AT (ports, bubble, bubble_shift, depth), .port_bytes = PORT_BYTES (bubble), \
    .input_bytes = INPUT_BYTES (bubble),                                                          \
    .node_bytes = FIFOS_AT (ports, bubble, bubble_shift, depth) +                                 \
                  ((ports) + 1) * (uint32_t) sizeof (Fifo) + 64,                                  \
    .priority_bytes = (uint32_t) sizeof (PriorityPort) + 64 * SLOT_LINES (priority),              \
  }

/* The places of a Blue Gene/Q with its default parameters. */
static const Places torus_bgq_places = PLACES (10, 7, 3, 7, 3, 4);

/* An array has so many places beyond its capacity, as memory is fetched that far ahead. */
#define AHEAD 32u

typedef struct {
  PacketEngine engine; /* first: a SimNetwork * is a Torus * */
  RoutePolicy policy;
  RouteTorus route;

  /* The machine in the units of the hot path. */
  uint32_t n_nodes, n_ports, n_fifos;
  uint32_t chunk_bytes, payload_bytes;
  uint32_t full_bytes[2]; /* that a packet carries at most; of an exact message */
  int64_t wire_ps[2 * IS_SHRUNK], memory_ps[2 * IS_SHRUNK]; /* by Packet.chunks */
  int64_t latency_ps[2]; /* of a link; of one that leaves a midplane */
  int64_t token_latency_ps, injection_latency_ps, reception_latency_ps;
  uint32_t reception_depth, receiver_grants;
  uint8_t full_chunks[2]; /* Packet.chunks of a packet with full_bytes */
  uint32_t n_queues, dynamic_tokens;
  bool has_steps; /* nodes may be in the order of time: there have been steps */
  bool escape, stay_on_bubble;
  uint32_t hops_mask;                           /* of Packet.way */
  uint32_t hops_of[TOPO_MAX_DIMENSIONS];        /* likewise, of one dimension */
  uint16_t ports_of[1u << TOPO_MAX_DIMENSIONS]; /* bit port: the minus port of these dimensions */
  struct {
    uint8_t port, sign;
  } of_bit[32]; /* of Packet.way: the minus port, and the bit that says which of two; NOWHERE at the
                 * first sign */
  uint8_t first_bit[TOPO_MAX_DIMENSIONS];
  uint32_t one_hop[MAX_PORTS]; /* of Packet.way */
  uint8_t first_sign;

  Places places;
  char *nodes;
  char *priority_ports;     /* [node * n_ports + port] of priority_bytes */
  Packet *priority_slots;   /* [(node * n_ports + input) << shift | slot] */
  uint16_t *priority_links; /* as priority_slots */
  uint32_t *direct_sent;    /* [node] messages of direct collectives so far */
  uint64_t *fifo_messages;  /* [node * n_ports + torus FIFO] */
  uint32_t *feeder_of; /* [(node * n_fifos + FIFO) * n_owners + owner] one more than it, 0: none */
  uint32_t n_owners;   /* of memory FIFOs at a node */
  Feeder *feeder;
  Descriptor *descriptor;
  Pool feeders, descriptors;
  uint32_t n_injected;

  DynamicNode *dynamic; /* [node] */
  DynamicPacket *dynamic_packet;
  Pool dynamic_packets;
  /* Steps of the current window. */
  /* [own node] how many it has | HAS_OTHERS; while they are made, where they end in `step`. */
  uint32_t *node_steps;
  Step *step; /* those of a node next to each other */
  uint32_t step_capacity;
  uint32_t *stepping; /* nodes that have some */
  uint32_t n_stepping;
  uint64_t *keys; /* of one node, those from next_key on to be made; in order */
  uint32_t n_keys, next_key, keys_capacity;

  uint32_t window_bits;
  int64_t window, window_ps; /* the current one, and when it begins */
  int64_t window_end_ps, ring_end_ps;
  int64_t now_ps;
  int64_t sweep_ps, sweep_every_ps; /* when Packet.since must be looked after */
  uint64_t in_flight;               /* as PartState.in_flight */
  uint32_t n_ring;                  /* windows in the ring of buckets, a power of two */
  Bucket *bucket;                   /* [n_ring] */
  uint64_t *occupied;               /* bit bucket */
  Spare spare_ports, spare_receptions, spare_steps;
  uint64_t *scratch;
  uint32_t scratch_capacity;

  /* Parts.  `here` is read by others. */
  uint32_t n_own;
  PartState all;         /* of all parts */
  Mail *mail;            /* [n_parts] for whom */
  GArray *shared_timers; /* element-type SharedTimer: for this part, of all parts */
  BaseBarrier *barrier;  /* of all parts; owned by the first */
  bool goes_on;          /* of the first part: what SimClient.running returned last */
  _Alignas(64) PartState here;

  uint32_t n_kept; /* how many of each kind are kept back: 2 or MAX_KEPT */
  uint32_t n_going, n_tokens;
  Going going[MAX_KEPT];
  Token token[MAX_KEPT];
} Torus;

/* --- Places in memory --- */

/* torus_router_bgq.c is torus_router.c with the numbers of a Blue Gene/Q as constants. */
static ALWAYS_INLINE const Places *
places_of (const Torus *net)
{
#ifdef TORUS_BGQ
  (void) net;
  return &torus_bgq_places;
#else
  return &net->places;
#endif
}

static ALWAYS_INLINE Node *
node_at (const Torus *net, uint32_t node)
{
  return (Node *) (net->nodes + (size_t) node * places_of (net)->node_bytes);
}

static ALWAYS_INLINE Port *
port_of (const Torus *net, Node *node, uint32_t port)
{
  return (Port *) ((char *) node + places_of (net)->ports_at + port * places_of (net)->port_bytes);
}

static ALWAYS_INLINE int64_t *
bubble_slots (const Torus *net, Port *port)
{
  return (int64_t *) ((char *) port - 8 * 8 * (size_t) places_of (net)->n_lines[BUBBLE]);
}

/* Nonzero while something waits for tokens: those that come must wake the port. */
static ALWAYS_INLINE int64_t *
starved_mark (Port *port)
{
  return (int64_t *) port - 1;
}

static ALWAYS_INLINE Packet *
bubble_packets (const Torus *net, Node *node, uint32_t in_port)
{
  return (Packet *) ((char *) node + places_of (net)->inputs_at +
                     in_port * places_of (net)->input_bytes);
}

static ALWAYS_INLINE Waited *
waited_at (const Torus *net, Node *node, uint32_t in_port)
{
  return (Waited *) &bubble_packets (net, node, in_port)[places_of (net)->n_slots[BUBBLE]];
}

static ALWAYS_INLINE uint16_t *
bubble_links (const Torus *net, Node *node)
{
  return (uint16_t *) ((char *) node + places_of (net)->links_at);
}

static ALWAYS_INLINE Fifo *
fifo_of (const Torus *net, Node *node, uint32_t fifo)
{
  return (Fifo *) ((char *) node + places_of (net)->fifos_at) + fifo;
}

static ALWAYS_INLINE PriorityPort *
priority_port (const Torus *net, uint32_t node, uint32_t port)
{
  return (PriorityPort *) (net->priority_ports +
                           ((size_t) node * net->n_ports + port) * places_of (net)->priority_bytes);
}

static ALWAYS_INLINE int64_t *
vc_slots (const Torus *net, uint32_t node, uint32_t port, uint32_t vc)
{
  return vc == BUBBLE ? bubble_slots (net, port_of (net, node_at (net, node), port))
                      : (int64_t *) (priority_port (net, node, port) + 1);
}

static ALWAYS_INLINE Lists *
vc_lists (const Torus *net, uint32_t node, uint32_t port, uint32_t vc)
{
  return vc == BUBBLE ? &port_of (net, node_at (net, node), port)->lists
                      : &priority_port (net, node, port)->lists;
}

static ALWAYS_INLINE Packet *
vc_packet (const Torus *net, uint32_t node, uint32_t vc, uint32_t id)
{
  uint32_t shift = places_of (net)->id_shift[vc], in_port = id >> shift,
           slot = id & ((1u << shift) - 1);

  return vc == BUBBLE
             ? &bubble_packets (net, node_at (net, node), in_port)[slot]
             : &net->priority_slots[((size_t) node * net->n_ports + in_port) << shift | slot];
}

static ALWAYS_INLINE uint16_t *
vc_links (const Torus *net, uint32_t node, uint32_t vc)
{
  return vc == BUBBLE ? bubble_links (net, node_at (net, node))
                      : &net->priority_links[((size_t) node * net->n_ports)
                                             << places_of (net)->id_shift[PRIORITY]];
}

/* --- Parts --- */

static ALWAYS_INLINE Torus *
part_at (const Torus *net, uint32_t part)
{
  return (Torus *) net->engine.base.parts[part];
}

static ALWAYS_INLINE bool
is_own (const Torus *net, uint32_t node)
{
  return node - net->engine.base.first_node < net->n_own;
}

static inline uint32_t
part_of (const Torus *net, uint32_t node)
{
  return (uint32_t) ((uint64_t) node * net->engine.base.n_parts / net->n_nodes);
}

/* --- Ways --- */

static ALWAYS_INLINE uint32_t
next_port (const Torus *net, uint32_t way)
{
  uint32_t bit = (uint32_t) __builtin_ctz (way);

  return net->of_bit[bit].port + (way >> net->of_bit[bit].sign & 1);
}

/* Likewise, or NOWHERE when no hops are left.  Without a branch: one packet in six has arrived. */
static ALWAYS_INLINE uint32_t
next_port_if_any (const Torus *net, uint32_t way)
{
  uint32_t bit = (uint32_t) __builtin_ctz ((way & net->hops_mask) | (net->hops_mask + 1));

  return net->of_bit[bit].port + (way >> net->of_bit[bit].sign & 1);
}

/* --- Without branches, where none can be foretold --- */

static ALWAYS_INLINE uint32_t
select_u32 (bool condition, uint32_t yes, uint32_t no)
{
  uint32_t selected = condition ? yes : no;

  /* Compilers make a branch again where a store follows, unless they do not see the value. */
  __asm__("" : "+r"(selected));
  return selected;
}

static ALWAYS_INLINE uint16_t *
select_u16_pointer (bool condition, uint16_t *yes, uint16_t *no)
{
  uint16_t *selected = condition ? yes : no;

  __asm__("" : "+r"(selected));
  return selected;
}

/* --- Windows --- */

/* Room for more entries of `size` in an array of a bucket, which counts as occupied from then on: a
 * spare array if it has none. */
RARE void torus_grow (Torus *net, Bucket *bucket, Spare *spare, void **entries, uint32_t *capacity,
                      size_t size);

static inline void
set_window (Torus *net, int64_t window)
{
  int64_t window_ps = INT64_C (1) << net->window_bits;

  net->window = window;
  net->window_ps = window * window_ps;
  net->window_end_ps = (window + 1) * window_ps;
  net->ring_end_ps = (window + net->n_ring) * window_ps;
}

static ALWAYS_INLINE Bucket *
bucket_at (const Torus *net, int64_t at_ps)
{
  return &net->bucket[(uint32_t) (at_ps >> net->window_bits) & (net->n_ring - 1)];
}

static ALWAYS_INLINE bool
is_beyond_ring (const Torus *net, int64_t at_ps)
{
  return at_ps >= net->ring_end_ps;
}

/* The port looks at at_ps, or before. */
static ALWAYS_INLINE void
wake (Torus *net, uint32_t node, uint32_t port_index, Port *port, int64_t at_ps)
{
  Bucket *bucket;

  if (at_ps >= port->wake_ps)
    return;
  port->wake_ps = at_ps;
  if (G_UNLIKELY (is_beyond_ring (net, at_ps))) {
    sim_schedule_push (net->engine.schedule, node, CODE_WAKE, node << 4 | port_index, at_ps);
    return;
  }
  bucket = bucket_at (net, at_ps);
  if (G_UNLIKELY (bucket->n_ports == bucket->ports_capacity))
    torus_grow (net, bucket, &net->spare_ports, (void **) &bucket->ports, &bucket->ports_capacity,
                sizeof (uint32_t));
  bucket->ports[bucket->n_ports++] = node << 4 | port_index;
}

static ALWAYS_INLINE void
add_reception (Torus *net, int64_t at_ps, uint64_t reception)
{
  Bucket *bucket = bucket_at (net, at_ps);

  if (G_UNLIKELY (bucket->n_receptions == bucket->receptions_capacity))
    torus_grow (net, bucket, &net->spare_receptions, (void **) &bucket->receptions,
                &bucket->receptions_capacity, sizeof (uint64_t));
  bucket->receptions[bucket->n_receptions++] =
      (uint64_t) (at_ps & ((1 << net->window_bits) - 1)) << 41 | reception;
}

/* A packet is received at at_ps; place: input port << 13 | VC << 12 | slot. */
static ALWAYS_INLINE void
expect_reception (Torus *net, uint32_t node, uint32_t place, int64_t at_ps)
{
  if (G_UNLIKELY (is_beyond_ring (net, at_ps)))
    sim_schedule_push (net->engine.schedule, node, CODE_RECEIVE, place, at_ps);
  else
    add_reception (net, at_ps,
                   (uint64_t) (place >> 13) << 37 | (uint64_t) (place & 0x1fff) << 23 | node);
}

static ALWAYS_INLINE void
expect_dynamic_reception (Torus *net, uint32_t packet, int64_t at_ps)
{
  const DynamicPacket *record = &net->dynamic_packet[packet];

  if (G_UNLIKELY (is_beyond_ring (net, at_ps)))
    sim_schedule_push (net->engine.schedule, record->node, CODE_RECEIVE_DYNAMIC, packet, at_ps);
  else
    add_reception (net, at_ps, (uint64_t) record->in_port << 37 | RECEIVES_DYNAMIC | packet);
}

static ALWAYS_INLINE uint64_t
step_key (const Torus *net, StepClass class, uint32_t index, uint64_t what, int64_t at_ps)
{
  return (uint64_t) (at_ps & ((1 << net->window_bits) - 1)) << STEP_TIME_SHIFT |
         (uint64_t) class << STEP_CLASS_SHIFT | (uint64_t) index << STEP_INDEX_SHIFT | what;
}

static ALWAYS_INLINE void
add_step (Torus *net, Bucket *bucket, uint32_t node, uint64_t key)
{
  if (G_UNLIKELY (bucket->n_steps == bucket->steps_capacity))
    torus_grow (net, bucket, &net->spare_steps, (void **) &bucket->steps, &bucket->steps_capacity,
                sizeof (Step));
  bucket->steps[bucket->n_steps++] = (Step){ .key = key, .node = node };
}

static ALWAYS_INLINE void
expect_step (Torus *net, StepClass class, uint32_t index, uint32_t node, uint32_t argument,
             int64_t at_ps)
{
  if (G_UNLIKELY (is_beyond_ring (net, at_ps)))
    sim_schedule_push (net->engine.schedule, node, CODE_STEP + (class << 4 | index), argument,
                       at_ps);
  else
    add_step (net, bucket_at (net, at_ps), node, step_key (net, class, index, argument, at_ps));
}

/* A packet on the dynamic VC comes to its `node`. */
static ALWAYS_INLINE void
expect_arrival (Torus *net, uint32_t packet, int64_t at_ps)
{
  const DynamicPacket *record = &net->dynamic_packet[packet];

  if (G_UNLIKELY (is_beyond_ring (net, at_ps)))
    sim_schedule_push (net->engine.schedule, record->node, CODE_ARRIVE, packet, at_ps);
  else
    add_step (net, bucket_at (net, at_ps), record->node,
              step_key (net, STEP_ARRIVE, record->in_port, packet, at_ps));
}

/* One that has escaped comes into a slot of the bubble VC. */
static ALWAYS_INLINE void
expect_escaped (Torus *net, uint32_t in_port, uint32_t node, uint32_t slot, int64_t at_ps)
{
  if (G_UNLIKELY (is_beyond_ring (net, at_ps)))
    sim_schedule_push (net->engine.schedule, node, CODE_ESCAPED, in_port << 16 | slot, at_ps);
  else
    add_step (net, bucket_at (net, at_ps), node,
              step_key (net, STEP_ARRIVE, in_port, IS_SLOT | slot, at_ps));
}

/* The head will be there at ready_ps: its port looks then. */
static ALWAYS_INLINE void
announce (Torus *net, uint32_t node_index, Node *node, uint32_t fifo_index, const Fifo *fifo)
{
  uint32_t port_index = next_port (net, fifo->packet.way);
  Port *port = port_of (net, node, port_index);

  if (G_UNLIKELY (fifo->vc == DYNAMIC)) {
    if (fifo->injected)
      expect_step (net, STEP_INJECTED, 0, node_index, fifo_index, fifo->ready_ps);
    else
      expect_step (net, STEP_HEAD, fifo_index, node_index, fifo_index, fifo->ready_ps);
    return;
  }
  port->future |= (uint16_t) (1u << fifo_index);
  wake (net, node_index, port_index, port, MAX (port->free_ps, fifo->ready_ps));
}

static ALWAYS_INLINE bool
is_wanted (const Port *port)
{
  return (port->word & wanted_port.word) != 0;
}

/* Where the packet behind the head comes from is looked at when the head has gone. */
static PREFETCHES
prefetch_feeder (const Torus *net, const Fifo *fifo)
{
  if (fifo->full_packets == 0)
    __builtin_prefetch (&net->feeder[fifo->packet.next_feeder], 1);
}

static inline uint32_t
payload_chunks (const Torus *net, uint64_t bytes)
{
  return (uint32_t) ((bytes + net->chunk_bytes - 1) / net->chunk_bytes);
}

/* --- torus_inject.c --- */

/* Chooses the head for ready_ps, when the FIFO can take one, or for later if
 * nothing is there by then.  False: there is nothing. */
bool
torus_choose_head (Torus *net, uint32_t node, uint32_t fifo_index, Fifo *fifo, int64_t ready_ps);

/* A descriptor is in its memory FIFO now. */
void torus_inject (Torus *net, uint32_t node, uint32_t descriptor);

/* SimNetworkClass.send */
void torus_send (SimNetwork *base, const SimMessage *message, int64_t at_ps);

/* --- torus_network.c --- */

/* SimNetworkClass.timer; of a rank of this part. */
void torus_timer (SimNetwork *base, uint32_t rank, uint64_t cookie, int64_t at_ps);

/* Sorts keys by the 22 bits from `shift` on, stably. */
void torus_sort (Torus *net, uint64_t *keys, uint32_t n, uint32_t shift);

/* torus_router_bgq.c has these once more, for nodes whose places are torus_bgq_places. */
#ifdef TORUS_BGQ
#define torus_count_steps   torus_bgq_count_steps
#define torus_look_in_order torus_bgq_look_in_order
#define torus_step          torus_bgq_step
#define torus_run_windows   torus_bgq_run_windows
#endif

/* --- torus_dynamic.c: nodes that go in the order of time, as they have dynamic packets --- */

static ALWAYS_INLINE bool
is_in_order (const Torus *net, uint32_t node)
{
  return (net->node_steps[node - net->engine.base.first_node] & HAS_OTHERS) != 0 ||
         node_at (net, node)->n_dynamic != 0;
}

/* Tells which nodes have steps in this window. */
void torus_count_steps (Torus *net, const Bucket *bucket);

/* A port of a node that goes in the order of time looks in this window. */
void torus_look_in_order (Torus *net, Bucket *bucket, uint32_t number);

/* All steps of the window. */
void torus_step (Torus *net, const Bucket *bucket);

/* --- torus_parts.c --- */

/* Makes the ring of buckets, which is empty, of n_ring windows. */
void torus_make_ring (Torus *net, uint32_t n_ring);

/* Note what other parts take in before the next window. */
RARE void torus_post_going (Torus *net, const Going *going);
RARE void torus_post_token (Torus *net, const Token *token);
RARE void torus_post_dynamic (Torus *net, const DynamicPacket *packet, int64_t at_ps);
RARE void torus_post_chunks (Torus *net, const Chunks *chunks);
/* The message's record is free again. */
RARE void torus_post_message (Torus *net, uint32_t message);
/* SimNetworkClass.shared_timer */
void torus_shared_timer (SimNetwork *base, uint32_t rank, uint64_t cookie, int64_t at_ps);

/* Between two windows, when all that was noted has been taken in: tells the others what comes next
 * here, and sets `all`. */
void torus_compare_parts (Torus *net);
/* Returns when all parts have called it. */
void torus_wait_for_parts (Torus *net);
/* Runs all parts, this one in the calling thread; as torus_run_windows(). */
bool torus_run_parts (Torus *net);

/* Cuts a torus that is complete but for what each part has for itself. */
void torus_make_parts (Torus *net, uint32_t n_threads);
/* Frees what torus_make_parts() has made, and the engines. */
void torus_free_parts (Torus *net);

/* --- torus_router.c --- */

/* All windows of a part, until nothing is left to do or nothing moves any more; false when the client ended
 * the run before. */
bool torus_run_windows (Torus *net);
#ifndef TORUS_BGQ
bool torus_bgq_run_windows (Torus *net);
#endif
