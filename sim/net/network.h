/* network.h - the contract of every network: send now, delivered later.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A network owns simulated time.  The client (the replay of the ranks) sends
 * messages and sets timers; the network calls it back when a message has
 * arrived or a timer has run out.  Nothing else crosses.
 *
 * A callback happens in the context of one rank's node, at one time.  It may
 * touch only the state of ranks of that node, and may send and set timers
 * only from that node - so that a network may run nodes in parallel.  What
 * ranks of different nodes share (the hardware collectives) goes through
 * sim_network_shared_timer().
 *
 * A network may be cut into parts, runs of nodes that threads of their own
 * simulate.  Each part is a SimNetwork, the first is the network itself; its
 * callbacks come on its thread with its client_data, and send and set timers
 * with it.  Before the run, all parts may be used from one thread, each for its
 * ranks.  What a client gives out must not depend on the parts.
 *
 * Callbacks of one node come in the order of their times; equal times in an
 * order that depends on the messages alone, never on the order of execution;
 * timers of one node at one instant fire in the order in which they were set. */
#pragma once

#include "base/dump.h"
#include "routing/pami.h"
#include "routing/paths.h"
#include "topology/mapping/mapping.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_ERROR (sim_error_quark ())
typedef enum {
  SIM_ERROR_STALL,    /* packets pending, nothing moves */
  SIM_ERROR_DEADLOCK, /* the trace itself waits for what never comes */
  SIM_ERROR_TRACE,    /* the trace cannot be replayed */
  SIM_ERROR_MISMATCH, /* its ranks make collective calls that do not match */
  SIM_ERROR_NETWORK,  /* the network cannot be built */
  SIM_ERROR_STOPPED,  /* by its client */
} SimError;
GQuark sim_error_quark (void);

/* What a message is decides how the messaging unit carries it
 * (bgq.md sections 2.7, 3.2, 3.3). */
typedef enum {
  SIM_MESSAGE_EAGER,      /* memory-FIFO packets, deterministic, software envelope */
  SIM_MESSAGE_CONTROL,    /* of software alone: request to send, acknowledge */
  SIM_MESSAGE_REMOTE_GET, /* one packet, high priority, to the owner of the data */
  SIM_MESSAGE_DATA,       /* the data that a remote get asked for: direct put */
  SIM_MESSAGE_DIRECT,     /* direct (many-to-many) collective, dynamic */
  SIM_MESSAGE_SEND,       /* fabrics: into a buffer of the receiver's library, software sees it */
  SIM_MESSAGE_WRITE,      /* fabrics: RDMA write into the receiver's memory */
  SIM_MESSAGE_READ, /* fabrics: an RDMA read's request, to an adapter; its answer is a WRITE */
} SimMessageKind;

/* Where the adapter of a fabric finds what it sends. */
typedef enum {
  SIM_DATA_BY_SIZE,    /* up to hca.inline in the work request, else in memory */
  SIM_DATA_IN_REQUEST, /* the processor has written it into the adapter with the request */
  SIM_DATA_IN_ADAPTER, /* and this into the adapter's own memory */
  SIM_DATA_IN_MEMORY,
  SIM_DATA_ASKED_FOR, /* in memory; no software rings the adapter: the answer to a READ */
} SimDataPlace;

typedef struct {
  uint64_t cookie; /* the client's; comes back in delivered() */
  uint64_t bytes;  /* user payload; 0 is legal */
  uint32_t source_rank;
  uint32_t destination_rank;
  uint8_t kind; /* SimMessageKind */
  union {
    uint8_t descriptors; /* REMOTE_GET: descriptors carried, 1 or 2 */
    uint8_t rail;        /* fabrics: so many adapters after the usual one of the two ranks */
  };
  uint8_t place;            /* SimDataPlace */
  bool force_deterministic; /* DATA: its receiver has its limit of dynamic transfers in flight */
  bool acknowledge; /* SEND, WRITE: sent() when the sender's adapter has the acknowledgement */
  bool exact;       /* every packet of it is simulated, see sim_network_set_shrink() */
  uint16_t
      software_bytes;   /* SEND, CONTROL of fabrics: software's headers, in the payload before the
                            * user's bytes */
  uint64_t whole_bytes; /* DATA: of the transfer that this is a piece of, whose routing it
                             * shares; 0: not a piece */
} SimMessage;

/* Payload of software's own packets, beside the envelope: what a request or an
 * acknowledgement needs to say (guess: two 8-byte words). */
#define SIM_CONTROL_WORDS_BYTES 16u

/* A remote get carries the descriptors that the source is to inject. */
#define SIM_DESCRIPTOR_BYTES 64u

typedef struct {
  /* The last byte of a message is in the memory of its destination and
   * software there may see it. */
  void (*delivered) (void *client, const SimMessage *message, int64_t now_ps);
  /* A timer of `rank` has run out; `cookie` is the one it was set with. */
  void (*timer) (void *client, uint32_t rank, uint64_t cookie, int64_t now_ps);
  /* The acknowledgement of a message that asked for it has reached its
   * source, whose software may see it; in the context of the source.  NULL:
   * the client never asks. */
  void (*sent) (void *client, const SimMessage *message, int64_t now_ps);
  /* The run goes on: some ten times a second, so that a long message shows as progress.  With the
   * first part's client_data, between two windows, while no part works: the network's state, and its
   * client's, may be dumped.  False: the run ends here, with SIM_ERROR_STOPPED.  NULL: not needed.
   * Packet networks alone. */
  bool (*running) (void *client, int64_t now_ps);
  /* The message will be delivered soon, unless something comes between: the client may fetch into
   * the caches what it is going to touch, and nothing else.  Called with steps 0, 1 ...
   * SIM_PREFETCH_STEPS - 1, so far apart that what one step has fetched the next can read.  NULL:
   * not needed.  The packet network of tori alone. */
  void (*prefetch) (void *client, const SimMessage *message, uint32_t step);
} SimClient;

#define SIM_PREFETCH_STEPS 4u

typedef struct SimNetwork SimNetwork;
typedef struct SimCounters SimCounters;
typedef struct SimMemory SimMemory;
typedef struct SimLinkLoads SimLinkLoads;

/* What a network kind must provide; `self` is its own state. */
typedef struct {
  const char *name; /* --network NAME */
  const char *summary;
  void (*free) (SimNetwork *self);
  void (*send) (SimNetwork *self, const SimMessage *message, int64_t at_ps);
  void (*timer) (SimNetwork *self, uint32_t rank, uint64_t cookie, int64_t at_ps);
  /* NULL: as timer */
  void (*shared_timer) (SimNetwork *self, uint32_t rank, uint64_t cookie, int64_t at_ps);
  gboolean (*run) (SimNetwork *self, GError **error);
  void (*dump) (SimNetwork *self, BaseDump *dump); /* NULL: it cannot be saved */
  /* Fills the counters as they are between two windows.  NULL: only when the run is over. */
  void (*count) (SimNetwork *self);
  /* NULL: it has no packets */
  void (*set_shrink) (SimNetwork *self, uint32_t shrink);
} SimNetworkClass;

struct SimNetwork {
  const SimNetworkClass *class;
  SimNetwork **parts;            /* [n_parts] the first is this; NULL: it is in one piece */
  uint32_t n_parts;              /* of the whole network */
  uint32_t first_node, end_node; /* of this part; without parts: 0, 0 */
  const SimClient *client;
  void *client_data;
  int64_t lookahead_ps;  /* shortest time in which nodes can affect each other */
  SimCounters *counters; /* owned; filled while running; never NULL */
  SimMemory *memory;     /* owned; of the nodes; NULL: their parts do not share any */
  /* SimClient.running is called after so many windows at the latest; 0: the usual number. */
  uint32_t windows_per_call;
  SimLinkLoads *loads; /* borrowed; see sim_network_watch(); NULL: none */
  /* So far, of the messages that were sent from this part, and of those that arrived in it.  Packet
   * networks alone. */
  uint64_t bytes_sent, bytes_received;
  bool dynamic_connections; /* of a fabric: ranks have few queue pairs, which change their peers */
  uint32_t shrink, most_shrink; /* see sim_network_set_shrink(); most: what its packets can hold */
};

static inline uint32_t
sim_network_n_parts (const SimNetwork *network)
{
  return network->parts == NULL ? 1 : network->n_parts;
}

static inline SimNetwork *
sim_network_part (SimNetwork *network, uint32_t part)
{
  return network->parts == NULL ? network : network->parts[part];
}

/* at_ps must not be before the time of the callback it is called from (0
 * before the run). */
static inline void
sim_network_send (SimNetwork *network, const SimMessage *message, int64_t at_ps)
{
  network->class->send (network, message, at_ps);
}

static inline void
sim_network_timer (SimNetwork *network, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  network->class->timer (network, rank, cookie, at_ps);
}

/* The same for what ranks of several nodes share, such as that all have met: the rank may be of any
 * node and any part; at_ps is at least the lookahead after the callback.  It does not matter in
 * whose callback of a window they are set: those of one node at one instant fire by cookie, equal
 * ones in the order in which they were set. */
static inline void
sim_network_shared_timer (SimNetwork *network, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  if (network->class->shared_timer != NULL)
    network->class->shared_timer (network, rank, cookie, at_ps);
  else
    network->class->timer (network, rank, cookie, at_ps);
}

/* Before the run.  User data beyond one packet's, of messages that are not exact, travel in packets
 * that stand for `shrink` packets each: they carry the bytes and take the time of so many on links, buses and in memory, but only one
 * packet's place in buffers, one decision of an arbiter and one latency.  So long messages of n
 * packets contend as messages of n / shrink packets do on a slower network; bytes per link stay
 * exact, and those packets, their chunks and waits are counted `shrink` times.  At most the network's
 * most_shrink; 1: every packet.  On a network without packets only 1 is possible. */
static inline void
sim_network_set_shrink (SimNetwork *network, uint32_t shrink)
{
  g_assert (shrink == 1 || (network->class->set_shrink != NULL && shrink <= network->most_shrink));
  network->shrink = shrink;
  if (network->class->set_shrink != NULL)
    network->class->set_shrink (network, shrink);
}

/* Before the run, of a packet network: what its links send in each interval goes to `loads`, which
 * outlives the run.  SimClient.running is called before each window then. */
void sim_network_watch (SimNetwork *network, SimLinkLoads *loads);

/* Runs until nothing is left to do. */
static inline gboolean
sim_network_run (SimNetwork *network, GError **error)
{
  return network->class->run (network, error);
}

void sim_network_free (SimNetwork *network);

/* Saves the state, called by SimClient.running; or loads it into a network that was made alike and
 * has not been used, which then runs on from there. */
static inline void
sim_network_dump (SimNetwork *network, BaseDump *dump)
{
  network->class->dump (network, dump);
}

/* Both borrow machine and mapping until freed.  `client` is called with
 * client_data, which the caller may change for each part.  In at most n_threads
 * parts; 0 counts as 1. */
SimNetwork *
sim_packet_new (const TopoMachine *machine, const TopoMapping *mapping, RoutePolicy policy,
                uint32_t n_threads, const SimClient *client, void *client_data, GError **error);
/* The same for a fabric; borrows `paths` too. */
SimNetwork *
sim_ib_new (const TopoMachine *machine, const RoutePaths *paths, const TopoMapping *mapping,
            const SimClient *client, void *client_data, GError **error);
/* For any machine; borrows `paths` too.  NULL and SIM_ERROR_NETWORK when built
 * without SimGrid, or when a flow network was made before in this process
 * (SimGrid allows one). */
SimNetwork *
sim_flow_new (const TopoMachine *machine, const RoutePaths *paths, const TopoMapping *mapping,
              RoutePolicy policy, const SimClient *client, void *client_data, GError **error);
