/* ib_state.h - state of the network of a fabric; private to ib.c and ib_traffic.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The life of a packet (infiniband.md sections A3 to A7):
 *
 *   rank -> work request -> queue pair -> PCIe -> port ~~link~~> input buffer of a switch
 *                                                   ^                       |
 *                                                   +--------- hop ---------+--> adapter -> PCIe
 *
 * Units of the schedule are the switches, then the nodes: all adapters of a
 * node are one, because its ranks and its memory belong to all of them.  Ports
 * are numbered as in the fabric; a port is the sender's end of a link, and the
 * input buffer at the other end of the link that arrives there.
 *
 * A lane is one virtual lane of a port: the credits of the buffer it leads to,
 * and the packets of its own device that wait for it.  In a switch they wait in
 * one queue per input port and lane, so that packets for another port or lane
 * pass them; in an adapter in two, protocol packets and data.
 *
 * Credits travel back as the torus's tokens do: a return is not an event but
 * an entry in a short list at the sender's port, read when the port looks for
 * something to send; an event is sent only when the port already starves, or the
 * list is full. */
#pragma once

#include "sim/net/packet_engine.h"

/* Event codes: a kind and the number of a port, so that what arrives at one
 * instant is in the order of the ports.  Kinds fire in this order: what
 * comes from outside first, then what the unit does about it. */
typedef enum {
  IB_CREDIT,   /* argument = VL << 8 | blocks */
  IB_ARRIVE,   /* argument = packet: at a switch its head, at an adapter its last byte */
  IB_READY,    /* argument = packet: so much of it is here that it cannot run dry */
  IB_POST,     /* argument = request */
  IB_ACTIVATE, /* argument = pair */
  IB_READ,     /* argument = packet: its payload is in the adapter */
  IB_PORT,     /* look for something to send; argument = port of the fabric */
  IB_SENT,     /* argument = message */
  IB_DELIVER,  /* argument = message */
  IB_TIMER,    /* argument = timer */
} IbKind;

#define IB_MAX_NUMBERS 256 /* port numbers, 0 for none */
#define IB_WORDS       (IB_MAX_NUMBERS / 64)
#define IB_RETURNS     4                   /* credit returns kept per port */
#define IB_RETURNS_MAX (INT64_C (1) << 51) /* the 52 bits of their times; 37 minutes */
#define IB_MAX_BLOCKS  255                 /* of one packet */

enum { IB_PACKET_DATA, IB_PACKET_ACK, IB_PACKET_CN };
enum { IB_FLAG_FECN = 1, IB_FLAG_BECN = 2 };

/* Queues of an adapter's lane. */
enum { IB_QUEUE_PROTOCOL, IB_QUEUE_DATA, IB_QUEUES };

/* 32 bytes. */
typedef struct {
  int64_t time_ps; /* on the way: its last byte will be there; waiting: since */
  uint32_t message;
  uint32_t port;        /* it came in through this one, or leaves its source through it */
  uint32_t out;         /* of a switch: where it goes, once that is decided */
  uint16_t destination; /* number in the tables */
  uint16_t user_bytes;
  uint16_t frame_bytes; /* payload and headers */
  uint16_t payload_bytes;
  uint8_t blocks;
  uint8_t vl;
  uint8_t kind;
  uint8_t flags;
} IbPacket;

_Static_assert(sizeof (IbPacket) == 32, "two packets a cache line");

typedef struct {
  /* Who waits, and whether it may go. */
  int64_t free_ps;    /* the link is idle from here on */
  int64_t wake_ps;    /* pending IB_PORT event, NEVER_PS when none */
  int64_t blocked_ps; /* idle since, while something waits; NEVER_PS: it is not */
  uint64_t ps_q32;    /* time of a byte on the link, 32 bits of fraction */
  uint32_t peer;      /* port at the other end, PACKET_NONE: no link */
  uint32_t peer_unit;
  uint32_t latency_ps; /* to the peer's decision; to an adapter: the cable alone */
  uint32_t queues;     /* its first in queue[]: [VL * n_queues + input] */
  uint16_t n_queues;   /* of a lane */
  uint16_t listed;     /* bit VL: something waits */
  uint8_t number;      /* within its unit */
  uint8_t peer_number;
  bool to_adapter;
  uint8_t n_claims; /* of outputs on the input buffer that is this port's */

  /* Credits on their way back, and what was sent. */
  uint64_t returns[IB_RETURNS]; /* time << 12 | VL << 8 | blocks */
  uint64_t payload_bytes, wire_bytes, packets, wait_ps;
  uint8_t n_returns;
  bool starved; /* something waits for credits: wake with an event */
} IbPort;

_Static_assert(sizeof (IbPort) == 128, "a port is two cache lines");

typedef struct {
  uint64_t waiting[IB_WORDS]; /* bit input: its queue is not empty */
  uint32_t credits;           /* blocks */
  uint32_t queued_blocks;     /* of all that waits */
  uint32_t unmarked;          /* packets since the last one that was marked */
  uint32_t ring;              /* adapter: circular list of pairs with work: the last served */
  uint32_t next_pair;         /* ... and the one behind it, whose turn is next */
  uint32_t staged;            /* adapter: data packets read, or being read, and not sent */
  uint8_t last_in;            /* queue served last */
} IbLane;

_Static_assert(sizeof (IbLane) <= 64, "a lane is one cache line");

/* Outputs of a switch that found an input buffer busy and have not been able to
 * read from it since. */
typedef struct {
  uint64_t outputs[IB_WORDS]; /* bit number of the port */
  uint8_t last_out;           /* that has read last */
} IbClaims;

/* Weighted turns in one table of the VL arbiter. */
typedef struct {
  uint32_t at;
  int32_t left; /* weight of the entry that is not used up */
} IbTurn;

typedef struct {
  IbTurn high, low;
  int64_t high_left_bytes; /* before a packet of low priority has its turn */
} IbArbiter;

/* One adapter: what its ports share. */
typedef struct {
  int64_t post_ps;     /* the next work request may begin */
  int64_t complete_ps; /* the next received message may complete */
  int64_t write_ps;    /* PCIe towards memory is busy until here */
  bool reading;        /* PCIe from memory is busy */
  uint32_t turn;       /* lane of its ports that was read for last */
} IbAdapter;

/* A message from its send to its acknowledgement. */
typedef struct {
  int64_t ready_ps;       /* its first packet may be read, or sent when inline */
  uint64_t payload_left;  /* not yet in packets: software's bytes and the user's */
  uint64_t software_left; /* of these, software's: they come first */
  uint32_t message, pair;
  uint32_t next;              /* of the pair, or free */
  uint32_t ends;              /* what has still to happen before it is forgotten */
  uint16_t destination, back; /* numbers in the tables: there, and of the way back */
  uint8_t vl, back_vl;
  bool begins_write; /* an RDMA write whose first packet is not made yet */
  bool is_inline;
} IbRequest;

_Static_assert(sizeof (IbRequest) == 48, "four requests in three cache lines");

/* A queue pair: the requests of one rank to another, in order.  RDMA writes
 * have one of their own, as in Open MPI, which writes on the last of its queue
 * pairs and sends control messages on the first (btl_openib_component.c:
 * rdma_qp, credits_qp): an answer does not wait behind megabytes. */
typedef struct {
  uint32_t source_rank, destination_rank;
  uint32_t head, tail;   /* requests, PACKET_NONE: none */
  uint32_t next;         /* of a ring, or free */
  uint32_t port;         /* of the source */
  int64_t not_before_ps; /* congestion control holds it back until then */
  int64_t ccti_ps;       /* the index was right then; it falls with time */
  uint32_t n_open;       /* congestion control: requests that are not forgotten */
  uint8_t ccti;
  uint8_t vl;
  bool rdma;
} IbPair;

_Static_assert(sizeof (IbPair) == 48, "four pairs in three cache lines");

typedef struct {
  PacketEngine engine; /* first: a SimNetwork * is an IbNetwork * */
  const RoutePaths *paths;
  const RouteForwarding *tables;
  const TopoFabric *fabric;
  const TopoParameters *parameters;
  char *refusal; /* why a message could not be sent; NULL: all could */

  uint32_t n_switches, n_units, n_vls; /* VLs in use */
  uint32_t n_words;                    /* of a bit per port number, those that some switch has */
  uint32_t framing_bytes, mtu_bytes, n_reads;
  uint32_t block_bytes, read_ahead;
  uint64_t pcie_ps_q32; /* time of a byte, 32 bits of fraction */
  int64_t credit_latency_ps;
  uint32_t mark_blocks; /* congestion control: waiting blocks above which is marked */
  bool adaptive, is_arbitrated;

  uint32_t *unit_first; /* [n_units] index of number 0 in unit_port[] */
  uint32_t *unit_port;  /* [unit_first + number] port of the fabric */
  uint32_t *home;       /* [destination] switch it hangs on, PACKET_NONE: none */
  IbPort *port;         /* [port of the fabric] */
  IbLane *lane;         /* [port * n_vls + VL] */
  PacketList *queue;    /* see IbPort.queues */
  int64_t *read_ps;     /* [port * n_reads] of input buffers: the slot is free from here on */
  IbClaims *claims;     /* [input port] */
  Waited *waited;       /* [input port] */
  IbArbiter *arbiter;   /* [port], when there are VLs to choose among */
  IbAdapter *adapter;   /* [device] */

  IbPacket *packet;
  IbRequest *request;
  IbPair *pair;
  Pool requests, pairs;
  uint32_t *pair_slot; /* hash table: pair + 1, 0 for none */
  uint32_t n_pair_slots, n_paired;
} IbNetwork;

static inline IbLane *
ib_lane (const IbNetwork *net, uint32_t port, uint32_t vl)
{
  return &net->lane[(size_t) port * net->n_vls + vl];
}

static inline PacketList *
ib_queue (const IbNetwork *net, const IbPort *port, uint32_t vl, uint32_t input)
{
  return &net->queue[port->queues + vl * port->n_queues + input];
}

static inline uint32_t
ib_node_unit (const IbNetwork *net, uint32_t node)
{
  return net->n_switches + node;
}

static inline void
ib_push (IbNetwork *net, uint32_t unit, IbKind kind, uint32_t number, uint32_t argument,
         int64_t at_ps)
{
  sim_schedule_push (net->engine.schedule, unit, (uint32_t) kind << 8 | number, argument, at_ps);
}

/* Time of so many bytes at ps_q32 each, to the nearest picosecond. */
static inline int64_t
ib_bytes_ps (uint32_t bytes, uint64_t ps_q32)
{
  return (int64_t) ((bytes * ps_q32 + (UINT64_C (1) << 31)) >> 32);
}

/* Time of a packet on the link, to the nearest picosecond. */
static inline int64_t
ib_wire_ps (const IbNetwork *net, const IbPort *port, const IbPacket *packet)
{
  return ib_bytes_ps (packet->frame_bytes + net->framing_bytes, port->ps_q32);
}

/* Blocks of a buffer that a packet takes. */
static inline uint32_t
ib_blocks (const IbNetwork *net, uint32_t frame_bytes)
{
  return MAX (1, (frame_bytes + net->block_bytes - 1) / net->block_bytes);
}

/* --- ib_traffic.c: the events of switches and adapters --- */

/* Credits that were sent as an event come to port `number` of a unit. */
void ib_credit (IbNetwork *net, uint32_t unit, uint32_t number, uint32_t argument);
/* The head of a packet has arrived at a switch. */
void ib_switch_arrive (IbNetwork *net, uint32_t unit, uint32_t packet);
/* It goes out through packet->out now, or waits. */
void ib_switch_enter (IbNetwork *net, uint32_t unit, uint32_t packet);
/* A request has reached its adapter. */
void ib_post (IbNetwork *net, uint32_t unit, uint32_t request);
/* A pair has work that may begin. */
void ib_activate (IbNetwork *net, uint32_t unit, uint32_t pair);
/* The payload of a packet has been read. */
void ib_read_done (IbNetwork *net, uint32_t unit, uint32_t packet);
/* The last byte of a packet has arrived at an adapter. */
void ib_receive (IbNetwork *net, uint32_t unit, uint32_t packet);
void ib_deliver (IbNetwork *net, uint32_t message);
void ib_sent (IbNetwork *net, uint32_t message);
/* A port looks for something to send: at most one packet. */
void ib_port_wake (IbNetwork *net, uint32_t unit, uint32_t port);
