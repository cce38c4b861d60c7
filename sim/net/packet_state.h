/* packet_state.h - state of the packet network; private to packet.c and packet_router.c.
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
 * descriptor.  At each router its head arrives (one event), and at that
 * instant it leaves again when a port it may take is idle and has tokens, or
 * waits in the receive buffer until the port's arbiter picks it.
 *
 * Waiting is kept from the ports' point of view.  A deterministic packet wants
 * one port and waits in one of that port's lists; straight on and turning
 * apart, because the bubble rule asks one free slot downstream of the former
 * and two of the latter, and the latter must never block the former.  Dynamic
 * packets wait in a few queues per receiver; the head of a queue raises a bit
 * at every port it may take, and one at its deterministic port, through which
 * it may escape to the bubble VC.  So the arbiter scans words, not lists.
 *
 * Tokens travel back with a link's latency.  A returned token is not an event:
 * it is put, with the time from which it counts, in a short list at the
 * sender's port, and read when the port looks for something to send.  An event
 * is sent only when the port already waits for tokens, or the list cannot hold
 * the return; what the port sees is the same.  A network split over threads
 * would send events to ports of other threads, and lists within its own. */
#pragma once

#include "sim/net/packet_engine.h"
#include "sim/net/torus_messages.h"

/* Event codes, in the order in which they fire at equal times: what arrives
 * from outside first, then what the node does about it. */
enum {
  CODE_TOKEN = 0,    /* + port: argument = vc << 8 | amount */
  CODE_ARRIVE = 16,  /* + input port: argument = packet */
  CODE_INJECT = 32,  /* argument = descriptor */
  CODE_FIFO = 48,    /* + FIFO: its head is sent, the next may come; argument: index in fifo[] */
  CODE_PORT = 64,    /* + port: look for something to send; argument: index in port[] */
  CODE_DELIVER = 80, /* argument = message */
  CODE_TIMER = 81,   /* argument = timer */
};

#define MAX_QUEUES       5 /* dynamic queues per receiver: 12 * 5 bits in a word */
#define RETURNS          3 /* token returns kept per port */
#define RETURNS_UNTIL_PS (INT64_C (1) << 55) /* the 56 bits of their times; 10 hours */

enum {
  FLAG_DYNAMIC = 1, /* routed dynamically (it may still be on the bubble VC) */
  FLAG_STAY = 2,    /* fell to the bubble VC and may not come back */
  FLAG_ZONE_SHIFT = 4,
};

/* 32 bytes.  `way` is what is left of it. */
typedef struct {
  RouteWay way;
  uint8_t chunks;         /* in buffers: header and payload */
  uint8_t vc;             /* RouteVc it is on, or wants at its source */
  uint8_t flags;          /* FLAG_*, and the zone of a dynamic packet */
  uint8_t in_port;        /* receiver it waits in */
  uint16_t payload_bytes; /* user bytes */
  uint32_t message;
  uint32_t unused;
  int64_t since_ps; /* waiting in a receive buffer since */
} Packet;

/* Which of a port's four lists a deterministic packet waits in.  The bits of
 * Port.listed; the last one tells that want_dynamic is not 0. */
enum { LIST_BUBBLE_STRAIGHT, LIST_BUBBLE_TURN, LIST_PRIORITY_STRAIGHT, LIST_PRIORITY_TURN, LISTS };
#define LISTED_PRIORITY (1u << LIST_PRIORITY_STRAIGHT | 1u << LIST_PRIORITY_TURN)
#define LISTED_DYNAMIC  (1u << LISTS)

/* A port: the sender's end of a link, in three cache lines.  Deterministic
 * packets need only the first while they wait, and the second when they go;
 * the third is for the other virtual channels.  What another node writes (the
 * tokens it returns) is in the second. */
typedef struct {
  /* Who waits, and whether there is room. */
  int64_t free_ps; /* the link is idle from here on */
  int64_t wake_ps; /* pending CODE_PORT event, NEVER_PS when none */
  union {
    struct {
      uint16_t want_inject[ROUTE_VCS]; /* bit FIFO: its head wants to go here on that VC */
      uint16_t listed;                 /* bit list: list is not empty; LISTED_DYNAMIC */
    };
    uint64_t waiting; /* all of the above: 0 when nothing waits */
  };
  uint16_t tokens[ROUTE_VCS]; /* chunks for the dynamic VC, packets for the others */
  uint8_t grants;             /* to receivers since the last one to injection */
  uint8_t turns;              /* bit: which of two classes goes first next time */
  uint32_t neighbour;         /* node at the other end, PACKET_NONE: no link */
  uint32_t latency_ps;        /* head of a packet to the neighbour's router */
  PacketList bubble[2];       /* LIST_BUBBLE_*: straight on, and turning */
  uint8_t last_bit;           /* last dynamic queue served */
  uint8_t last_fifo;          /* last injection FIFO served */
  uint8_t unused[6];

  /* Tokens on their way back, and what was sent. */
  uint64_t returns[RETURNS]; /* time << 8 | vc << 6 | amount */
  uint64_t payload_bytes, packets, dynamic_chunks, bubble_chunks;
  uint8_t n_returns;
  bool starved; /* something waits for tokens: wake with an event */
  uint8_t unused2[6];

  /* The other virtual channels. */
  uint64_t want_dynamic;  /* bit receiver * MAX_QUEUES + queue: its head may go here */
  uint64_t want_escape;   /* same, as the escape of that head */
  PacketList priority[2]; /* LIST_PRIORITY_* */
  uint64_t priority_chunks;
  uint8_t unused3[24];
} Port;

enum { TURN_LIST = 1, TURN_VC = 2 }; /* bits of Port.turns */

_Static_assert(sizeof (Port) == 192, "a port is three cache lines");

/* Queues of the dynamic VC at the receiving end of a link. */
typedef struct {
  PacketList queue[MAX_QUEUES];
} Receiver;

/* A network injection FIFO with the memory FIFOs that feed it. */
typedef struct {
  int64_t ready_ps;         /* its last packet has left it by then */
  uint32_t packet;          /* at its head, PACKET_NONE when none */
  uint32_t last_feeder;     /* circular list of memory FIFOs with descriptors: the last served */
  uint32_t next_descriptor; /* whose packet is next; any number when there is none */
  bool pending;             /* a CODE_FIFO event is on its way */
} Fifo;

/* A memory FIFO that has descriptors. */
typedef struct {
  uint32_t head, tail; /* descriptors */
  uint32_t next;       /* feeder of the same network FIFO */
  uint32_t owner;      /* slot of the rank, or ranks_per_node for the remote-get FIFO */
} Feeder;

typedef struct {
  int64_t memory_ps; /* the memory port is busy until here */
} NodeMemory;

typedef struct {
  PacketEngine engine; /* first: a SimNetwork * is a PacketNetwork * */
  TorusMessages messages;

  /* The machine in the units of the hot path. */
  uint32_t n_nodes, n_ports, n_fifos, n_queues;
  int64_t wire_ps[64];   /* by chunks: time on the link, header and trailer included */
  int64_t memory_ps[64]; /* by chunks: time of the memory port */
  int64_t token_latency_ps, injection_latency_ps, reception_latency_ps;
  uint32_t reception_depth, receiver_grants;
  bool escape, stay_on_bubble;
  bool is_large; /* does not fit in the cache: fetch ahead in more stages */

  /* The table that an event's argument is an index of, by code / 16: for
   * fetching ahead.  Size 0 where it is none. */
  struct {
    const char *table;
    size_t size;
  } named[8];

  /* Per node, all ports of a node together. */
  Port *port;              /* [node * n_ports + port] */
  Receiver *receiver;      /* [node * n_ports + input port] */
  int64_t *reception_ps;   /* [(node * n_ports + input port) * (1 + depth)]: next, then slots */
  uint32_t *neighbour;     /* [node * n_ports + port] as in the ports, but dense */
  Waited *waited;          /* [node * n_ports + input port] */
  Fifo *fifo;              /* [node * n_fifos + fifo] */
  uint64_t *fifo_messages; /* [node * n_ports + torus FIFO] */
  NodeMemory *memory;      /* [node] */

  Packet *packet;
  Feeder *feeder;
  TorusDescriptor *descriptor;
  Pool feeders, descriptors;
} PacketNetwork;

static inline Port *
port_at (const PacketNetwork *net, uint32_t node, uint32_t port)
{
  return &net->port[(size_t) node * net->n_ports + port];
}

static inline uint32_t
neighbour_at (const PacketNetwork *net, uint32_t node, uint32_t port)
{
  return net->neighbour[(size_t) node * net->n_ports + port];
}

/* --- packet_router.c --- */

/* The head of a packet has arrived through an input port. */
void packet_arrive (PacketNetwork *net, uint32_t node, uint32_t in_port, uint32_t packet);

/* Tokens that were sent as an event. */
void packet_token (PacketNetwork *net, uint32_t node, uint32_t port, uint32_t argument);

/* A new head of a network injection FIFO looks for its port. */
void packet_fifo_head (PacketNetwork *net, uint32_t node, uint32_t fifo);

/* The arbiter of a port: sends what it can, at most one packet. */
void packet_port_wake (PacketNetwork *net, uint32_t node, uint32_t port);

/* --- packet.c --- */

/* A packet has reached its destination's router; returns when its last byte
 * has left the receive buffer. */
int64_t packet_receive (PacketNetwork *net, uint32_t node, uint32_t in_port, uint32_t packet);
