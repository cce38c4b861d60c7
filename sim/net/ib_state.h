/* ib_state.h - state of the network of a fabric; private to ib_*.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The life of a packet (infiniband.md sections A3 to A7):
 *
 *   rank -> work request -> queue pair -> PCIe -> port ~~link~~> input buffer of a switch
 *                                                   ^                       |
 *                                                   +--------- hop ---------+--> adapter -> PCIe
 *
 * Switches and nodes are the units that events belong to: all adapters of a node
 * are one, because its ranks and its memory belong to all of them.  Ports are
 * numbered as in the fabric; a port is the sender's end of a link, and the
 * input buffer at the other end of the link that arrives there.
 *
 * A lane is one virtual lane of a port: the credits of the buffer it leads to,
 * and the packets of its own device that wait for it.  In a switch they wait in
 * one queue per input port and lane, so that packets for another port or lane
 * pass them; in an adapter in two, protocol packets and data.
 *
 * What makes a hop cheap:
 *
 *  - A packet joins the queue of its next port when it leaves the last one, marked with
 *    the time from which its head is there.  No event of its own brings it there,
 *    except where what is there decides about it: adaptive switches look for the
 *    least loaded port, and congestion control counts what waits.
 *  - A packet that finds nothing in the queues of its next port waits, or will, in the port itself.
 *    When its time comes and nothing keeps it, it goes on without a look at queues and lanes.
 *  - Credits on their way back are times in a short list at the sender's lane,
 *    read when its port looks for something to send; they wake the port only
 *    when it starves.
 *  - Windows are no longer than what reaches a switch from outside takes, so that in each of them the
 *    switches can have their turns one after the other.  What a switch has to do in a window is a
 *    handful of events, which are cheap to sort, and its state is fetched once for them.
 *
 * The outputs of a switch are not independent of each other, because an input buffer can feed only
 * some of them at a time.  So the events of a switch go in the order of time, and those of all
 * adapters, which come after the switches in a window. */
#pragma once

#include "sim/net/packet_engine.h"

#include "sim/net/calendar.h"
#include "sim/net/ib_contexts.h"

/* Classes of events.  At one time they come in this order: what comes from
 * outside first, then what the unit does about it; those of one class by the
 * number of the port in its unit. */
typedef enum {
  IB_CREDIT,   /* argument = (VL << 8 | blocks) << IB_PORT_BITS | port */
  IB_NEWCOMER, /* argument = port: the head of a packet comes when it is idle */
  IB_ARRIVE,   /* argument = packet: its head, at a switch that must decide then */
  IB_RECEIVE,  /* argument = packet: its last byte, at an adapter */
  IB_READY,    /* argument = packet: so much of it is here that it cannot run dry */
  IB_TAKE_UP,  /* argument = packet: the adapter has its context now */
  IB_POST,     /* argument = request */
  IB_ACTIVATE, /* argument = pair */
  IB_READ,     /* argument = packet: its payload is in the adapter */
  IB_LOOK,     /* argument = port: it looks for something to send */
  IB_SENT,     /* argument = message */
  IB_DELIVER,  /* argument = message */
  IB_TIMER,    /* argument = timer */
} IbClass;

#define IB_MAX_NUMBERS 256 /* ports of a unit */
#define IB_PORT_BITS   20u
#define IB_MAX_PORTS   (1u << IB_PORT_BITS)
#define IB_RETURNS     4                   /* credit returns kept per lane */
#define IB_RETURNS_MAX (INT64_C (1) << 55) /* of their times; 10 hours */
#define IB_NO_RETURN   UINT64_MAX
#define IB_ALL_TAKEN   ((1u << IB_RETURNS) - 1)
#define IB_MAX_BLOCKS  255 /* of one packet */

enum { IB_PACKET_DATA, IB_PACKET_ACK, IB_PACKET_CN };
enum {
  IB_FLAG_FECN = 1,
  IB_FLAG_BECN = 2,
  IB_FLAG_DELAYED = 4, /* it starts later than its head comes, so that it cannot run dry */
  IB_FLAG_RISEN = 8,   /* in the buffer of the lane below its own, which it leaves for that */
  IB_FLAG_WAITED = 16, /* it waited in the buffer that it is in */
};

/* Queues of an adapter's lane. */
enum { IB_QUEUE_PROTOCOL, IB_QUEUE_DATA, IB_QUEUES };

typedef struct {
  int64_t time_ps; /* waits, or will, since; before it is decided where: its last byte is there */
  uint32_t message;
  uint32_t next;        /* of its queue, or free */
  uint32_t port;        /* it came in through this one, or leaves its source through it */
  uint16_t destination; /* number in the tables */
  uint16_t user_bytes;
  uint16_t frame_bytes; /* payload and headers; of all packets that it stands for */
  uint16_t payload_bytes;
  uint8_t blocks;
  uint8_t vl;
  uint8_t kind;
  uint8_t flags;
} IbPacket;

_Static_assert(sizeof (IbPacket) == 32, "two packets a cache line");

typedef struct {
  int64_t since_ps;    /* time_ps of its head */
  uint32_t head, tail; /* packets; nothing when no bit of the lane says that there are */
} IbQueue;

enum {
  IB_STARVED = 1,   /* something waits for credits: those that come must wake the port */
  IB_WILL_LOOK = 2, /* it looks at wake_ps, even if no newcomer comes before */
  IB_BLOCKED = 4, /* idle while something waits; IbSent.wait_ps lacks the time at which that ends */
};

typedef struct {
  int64_t free_ps;     /* the link is idle from here on */
  int64_t wake_ps;     /* when it looks next, NEVER_PS: not before something wakes it */
  uint64_t ps_q32;     /* time of a byte on the link, 32 bits of fraction */
  uint32_t peer;       /* port at the other end, PACKET_NONE: no link */
  uint32_t peer_first; /* first port of the peer's device */
  uint32_t peer_switch;
  uint32_t first;      /* first port of its own device */
  uint32_t latency_ps; /* to the peer's decision; to an adapter: the cable alone */
  uint32_t queues;     /* its first in queue[]: [VL * n_queues + input] */
  uint32_t alone;      /* the only packet that waits, or will, when no queue has it; PACKET_NONE */
  uint16_t n_queues;   /* of a lane */
  uint16_t listed;     /* bit VL: something is queued */
  uint8_t number;      /* within its unit */
  uint8_t peer_number; /* of the peer in its unit */
  bool is_switch, to_adapter;
  uint8_t marks; /* the above */
} IbPort;

_Static_assert(sizeof (IbPort) == 64, "a port is a cache line");

/* What was sent through a port. */
typedef struct {
  uint64_t payload_bytes, wire_bytes, packets;
  uint64_t wait_ps; /* idle while something waited; modulo 2^64 */
} IbSent;

/* A lane; behind it in memory two sets of inputs, n_words each: those whose
 * queue has a head that is here, and those whose head is still on its way. */
typedef struct {
  uint64_t returns[IB_RETURNS]; /* time << 8 | blocks, IB_NO_RETURN: none */
  uint32_t credits;             /* blocks */
  uint32_t queued_blocks;       /* of all that is queued */
  uint32_t unmarked;            /* packets since the last one that was marked */
  uint8_t last_in;              /* input served last */
  uint8_t taken;                /* bit i: returns[i] is not empty */
  bool is_starved;              /* the port may be */
  uint64_t sets[];
} IbLane;

_Static_assert(sizeof (IbLane) == 48, "with two sets of 64 inputs a lane is one cache line");

/* The data of an adapter's lane on their way to it. */
typedef struct {
  uint32_t ring;      /* circular list of pairs with work: the last served */
  uint32_t next_pair; /* ... and the one behind it, whose turn is next */
  uint32_t staged;    /* packets read, or being read, and not sent */
  uint32_t taken;     /* packets that it has given in its turn */
} IbStage;

/* The input buffer of a port: what waited in it, and who reads from it.  Outputs
 * that found it busy have a claim until they read from it.  Behind it in memory
 * the time from which each of n_reads slots is free, then the set of outputs
 * with a claim. */
typedef struct {
  Waited waited;
  uint16_t n_claims;
  uint8_t last_out; /* that has read last */
  uint32_t sender;  /* the port at the other end of the link, which gets the credits */
  int64_t slots[];
} IbInput;

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
  uint32_t node, first_port, n_ports;
  uint32_t turn; /* lane of its ports that was read for last */
  bool reading;  /* PCIe from memory is busy */
} IbAdapter;

/* A message from its send to its acknowledgement. */
typedef struct {
  int64_t ready_ps;       /* its first packet may be read, or sent when inline */
  uint64_t payload_bytes; /* software's and the user's */
  uint32_t message, pair;
  uint32_t next;          /* of the pair, or free */
  uint32_t ends;          /* what has still to happen before it is forgotten */
  uint32_t context;       /* of its connection, at the source; Message.context is the other one */
  uint32_t queue_context; /* of its receive queue; PACKET_NONE: not looked up yet */
  uint16_t software_bytes;
  uint16_t destination, back; /* numbers in the tables: there, and of the way back */
  uint8_t vl : 4, back_vl : 4;
  bool is_write : 1;
  bool is_inline : 1;
  bool exact : 1; /* SimMessage.exact */
} IbRequest;

/* A queue pair: the requests of one rank to another, in order.  RDMA writes
 * have one of their own, as in Open MPI, which writes on the last of its queue
 * pairs and sends control messages on the first (btl_openib_component.c:
 * rdma_qp, credits_qp): an answer does not wait behind megabytes. */
typedef struct {
  /* What each packet of its first request needs: between two packets of a node those of others pass,
   * and each record that is read must then be fetched again. */
  uint64_t payload_left; /* not yet in packets: software's bytes and the user's */
  uint32_t head;         /* PACKET_NONE: it has none */
  uint32_t message;
  uint32_t next;          /* of a ring, or free */
  uint32_t port;          /* of the source */
  uint16_t software_left; /* software's bytes of the payload: they come first */
  uint16_t destination;
  uint8_t vl : 4;
  bool begins_write : 1; /* an RDMA write whose first packet is not made yet */
  bool is_inline : 1;
  bool exact : 1;
  uint8_t number; /* see ib_pair_number() */
  uint8_t ccti;
  uint32_t source_rank, destination_rank;
  uint32_t tail;         /* the last of its requests */
  uint32_t n_open;       /* congestion control: requests that are not forgotten */
  int64_t not_before_ps; /* congestion control holds it back until then */
  int64_t ccti_ps;       /* the index was right then; it falls with time */
} IbPair;

_Static_assert(sizeof (IbPair) == 64, "a pair is a cache line");

/* Among the queue pairs from one rank to another. */
static inline uint8_t
ib_pair_number (const SimMessage *message)
{
  return (uint8_t) (message->rail << 1 | (message->kind == SIM_MESSAGE_WRITE));
}

typedef struct {
  PacketEngine engine; /* first: a SimNetwork * is an IbNetwork * */
  const RoutePaths *paths;
  const RouteForwarding *tables;
  const TopoFabric *fabric;
  const TopoParameters *parameters;
  char *refusal; /* why a message could not be sent; NULL: all could */

  uint32_t n_switches, n_vls; /* VLs in use */
  uint32_t n_words;           /* of a set of ports */
  uint32_t n_queues;
  uint32_t framing_bytes, mtu_bytes, n_reads;
  uint32_t full_bytes[2]; /* payload that a packet has at most; of an exact message */
  uint32_t block_bytes, read_ahead;
  uint32_t turn_packets; /* that a pair gives in its turn; congestion control: one */
  uint64_t pcie_ps_q32;  /* time of a byte, 32 bits of fraction */
  int64_t credit_latency_ps;
  uint32_t mark_blocks; /* congestion control: waiting blocks above which is marked */
  bool adaptive;
  uint32_t buffer_blocks; /* of a lane of a switch */

  Calendar switches;  /* what is to come at switches; engine.calendar: at adapters */
  uint32_t *n_events; /* [switch] in the window; the first of them while it is sorted */
  uint32_t *unit;     /* [port] the switch that it belongs to, or the device of the adapter */

  uint32_t *home;     /* [destination] switch it hangs on, PACKET_NONE: none */
  IbPort *port;       /* [port of the fabric] */
  IbSent *sent;       /* [port] */
  char *lanes;        /* [port * n_vls + VL] of ib_lane_bytes() */
  char *inputs;       /* [input port] of ib_input_bytes() */
  IbQueue *queue;     /* [n_queues] see IbPort.queues */
  IbStage *stage;     /* [port * n_vls + VL] */
  IbArbiter *arbiter; /* [port], when there are VLs to choose among */
  IbAdapter *adapter; /* [device] */

  IbPacket *packet;
  IbRequest *request;
  IbPair *pair;
  Pool packets, requests, pairs;
  uint32_t *pair_slot; /* hash table: pair + 1, 0 for none */
  uint32_t n_pair_slots, n_paired;
  IbContexts contexts;
  IbContexts receive_queues; /* of a rank: its connection with the device */

} IbNetwork;

/* The queue pairs of dynamic connections are few. */
static inline bool
ib_uses_contexts (const IbNetwork *net)
{
  return net->contexts.capacity > 0 && !net->engine.base.dynamic_connections;
}

/* --- Places in memory --- */

/* ib_traffic_usual.c is ib_adapter.c and ib_traffic.c with the numbers of most machines as
 * constants: one lane, switches of up to 64 ports that read three packets from
 * an input at a time, neither adaptive nor with congestion control. */
enum { IB_USUAL_READS = 3 };

static inline uint32_t
ib_vls (const IbNetwork *net)
{
#ifdef IB_USUAL
  (void) net;
  return 1;
#else
  return net->n_vls;
#endif
}

static inline uint32_t
ib_words (const IbNetwork *net)
{
#ifdef IB_USUAL
  (void) net;
  return 1;
#else
  return net->n_words;
#endif
}

static inline uint32_t
ib_reads (const IbNetwork *net)
{
#ifdef IB_USUAL
  (void) net;
  return IB_USUAL_READS;
#else
  return net->n_reads;
#endif
}

static inline bool
ib_is_controlled (const IbNetwork *net)
{
#ifdef IB_USUAL
  (void) net;
  return false;
#else
  return net->parameters->congestion.is_on;
#endif
}

/* A packet that finds nothing in the queues of its next port does without one. */
static inline bool
ib_leaves_alone (const IbNetwork *net)
{
  (void) net;
#ifdef IB_USUAL
  return true;
#else
  return false;
#endif
}

/* Where a packet goes, or how much waits, is decided when it arrives. */
static inline bool
ib_arrivals (const IbNetwork *net)
{
#ifdef IB_USUAL
  (void) net;
  return false;
#else
  return net->adaptive || net->parameters->congestion.is_on;
#endif
}

static inline size_t
ib_whole_lines (size_t bytes)
{
  return (bytes + 63) / 64 * 64;
}

static inline size_t
ib_lane_bytes (const IbNetwork *net)
{
  return ib_whole_lines (sizeof (IbLane) + 2 * ib_words (net) * sizeof (uint64_t));
}

static inline size_t
ib_input_bytes (const IbNetwork *net)
{
  return ib_whole_lines (sizeof (IbInput) + ib_reads (net) * sizeof (int64_t) +
                         ib_words (net) * sizeof (uint64_t));
}

static inline IbLane *
ib_lane (const IbNetwork *net, uint32_t port, uint32_t vl)
{
  return (IbLane *) (net->lanes + ((size_t) port * ib_vls (net) + (ib_vls (net) > 1 ? vl : 0)) *
                                      ib_lane_bytes (net));
}

/* Inputs whose queue has a head that is here. */
static inline uint64_t *
ib_waiting (IbLane *lane)
{
  return lane->sets;
}

/* Inputs whose queue has a head that is on its way. */
static inline uint64_t *
ib_future (const IbNetwork *net, IbLane *lane)
{
  return lane->sets + ib_words (net);
}

static inline IbStage *
ib_stage (const IbNetwork *net, uint32_t port, uint32_t vl)
{
  return &net->stage[(size_t) port * ib_vls (net) + vl];
}

static inline IbAdapter *
ib_adapter (const IbNetwork *net, uint32_t port)
{
  return &net->adapter[net->unit[port]];
}

static inline IbInput *
ib_input (const IbNetwork *net, uint32_t port)
{
  return (IbInput *) (net->inputs + (size_t) port * ib_input_bytes (net));
}

static inline uint64_t *
ib_claims (const IbNetwork *net, IbInput *input)
{
  return (uint64_t *) input->slots + ib_reads (net);
}

static inline IbQueue *
ib_queue (const IbNetwork *net, const IbPort *port, uint32_t vl, uint32_t input)
{
  return &net->queue[port->queues + (ib_vls (net) > 1 ? vl * port->n_queues : 0) + input];
}

/* The packet that waits alone goes into the queue of its input. */
static inline void
ib_queue_alone (IbNetwork *net, uint32_t index)
{
  IbPort *port = &net->port[index];
  IbLane *lane = ib_lane (net, index, 0);
  uint32_t input;
  IbPacket *packet;

  if (port->alone == PACKET_NONE)
    return;
  packet = &net->packet[port->alone];
  input = packet->port - port->first;
  *ib_queue (net, port, 0, input) = (IbQueue){ packet->time_ps, port->alone, port->alone };
  ib_future (net, lane)[input / 64] |= UINT64_C (1) << (input % 64);
  lane->queued_blocks += packet->blocks;
  port->alone = PACKET_NONE;
}

/* Something to come at the switch or the adapter of a port. */
static inline void
ib_add (IbNetwork *net, IbClass class, const IbPort *port, uint32_t argument, int64_t at_ps)
{
  calendar_add (port->is_switch ? &net->switches : &net->engine.calendar, class, port->number,
                argument, at_ps);
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

/* How many packets a packet stands for. */
static inline uint32_t
ib_weight (const IbNetwork *net, const IbPacket *packet)
{
  return packet->payload_bytes > net->mtu_bytes ? net->engine.base.shrink : 1;
}

/* Blocks of a buffer that a packet takes. */
static inline uint32_t
ib_blocks (const IbNetwork *net, uint32_t frame_bytes)
{
  return MAX (1, (frame_bytes + net->block_bytes - 1) / net->block_bytes);
}

/* --- ib.c --- */

/* Before the first message; no longer than what reaches a switch takes. */
void ib_set_windows (IbNetwork *net, int64_t most_ps);

/* ib_traffic_usual.c has these once more. */
#ifdef IB_USUAL
#define ib_adapter_post         ib_usual_adapter_post
#define ib_adapter_activate     ib_usual_adapter_activate
#define ib_adapter_read_done    ib_usual_adapter_read_done
#define ib_adapter_receive      ib_usual_adapter_receive
#define ib_adapter_take_up      ib_usual_adapter_take_up
#define ib_adapter_deliver      ib_usual_adapter_deliver
#define ib_adapter_acknowledged ib_usual_adapter_acknowledged
#define ib_adapter_read_more    ib_usual_adapter_read_more
#define ib_run_windows          ib_usual_run_windows
#endif

/* --- ib_adapter.c --- */

/* What happens now: a request has reached its adapter; a pair has its turn behind the others of its lane; the
 * payload of a packet has been read. */
void ib_adapter_post (IbNetwork *net, uint32_t request);
void ib_adapter_activate (IbNetwork *net, uint32_t pair);
void ib_adapter_read_done (IbNetwork *net, uint32_t packet);

/* Begins to read what the adapter of this port has room for. */
void ib_adapter_read_more (IbNetwork *net, uint32_t port);

/* The last byte of a packet has arrived, and stays in the buffer until its context is there; the context is
 * there. */
void ib_adapter_receive (IbNetwork *net, uint32_t packet);
void ib_adapter_take_up (IbNetwork *net, uint32_t packet);

/* All of a message is in memory; its acknowledgement is back. */
void ib_adapter_deliver (IbNetwork *net, uint32_t message);
void ib_adapter_acknowledged (IbNetwork *net, uint32_t message);

/* --- ib_traffic.c --- */

/* All windows, until nothing is left to do or nothing moves any more; false when the client ended
 * the run before. */
bool ib_run_windows (IbNetwork *net);
#ifndef IB_USUAL
bool ib_usual_run_windows (IbNetwork *net);
#endif
