/* ob1.c - the messaging library of a fabric: Open MPI's PML ob1 and its BTLs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources are files of open-mpi/ompi around v1.3.2, below ompi/mca/.
 *
 * A message that fits the BTL's eager limit goes with its envelope, and its
 * send is complete when it is copied (pml_ob1_sendreq.c: start_copy).  Longer
 * ones, and synchronous ones, are a rendezvous: a first piece of the same size
 * (start_rndv), and an acknowledgement once it has matched, before the piece is
 * copied out (pml_ob1_recvreq.c: progress_rndv, recv_request_ack), which says
 * where copied fragments begin; the part before is RDMA.
 *
 *   all fragments     send_depth or sm_depth of them in flight
 *   RDMA, fragments   the last rdma_offset bytes in fragments, without a limit,
 *                     to hide the registrations of the rest; pieces of
 *                     rdma_fragment, rdma_depth of them asked for at a time
 *   all RDMA          leave_pinned: no first piece, no acknowledgement, one piece
 *
 * An unexpected first piece is copied out of the BTL's buffer as soon as the
 * library sees it, and once more when it matches (pml_ob1_recvfrag.h).
 *
 * Between nodes (BTL openib) pieces that are sent are copied into registered
 * buffers and out of them.  RDMA needs no copies, but both sides register the
 * piece first: the receiver and then, when its request has come, the sender, who
 * writes it (pml_ob1_recvreq.c: recv_request_schedule_once; pml_ob1_sendreq.c:
 * send_request_put_frag).  Without leave_pinned every piece is registered
 * anew; the parameter is the price of both ways.  With it the buffers that a pair of
 * ranks has registered stay registered, and as a trace has no addresses a message is
 * taken to lie where the largest one before it of this pair and direction lay.
 *
 * Within a node (BTLs sm and self) the sender copies into a fragment of the
 * shared segment and writes its address into the receiver's FIFO; the receiver
 * copies out and writes the address back into the sender's, which may then use
 * the fragment again (btl_sm_component.c: FRAG_SEND, FRAG_ACK).  The free list
 * gives back the fragment that was freed last, so few fragments are used over and over.  With
 * sm_single_copy (later versions: KNEM, CMA) the receiver of a long message
 * copies it from the sender's buffer and says so; so does a rank that sends to
 * itself (btl_self_component.c: SEND_INPLACE, PUT).
 *
 * One-sided accesses and direct collectives run past ob1, as writes that cost
 * the target's processor nothing: the target's adapter writes back the data that a get
 * asks for.  Within a node the caller copies.
 *
 * A rank has one processor, and everything that costs it time is a piece of
 * work; one is done after the other.  Work that the rank's calls ask for is done
 * before the calls end, as MPI_Isend copies before it returns (pml_ob1_isend.c);
 * messages are handled in the order in which they came, while the rank is blocked
 * in MPI, or when it makes a call after the network has caught up with it: then those
 * that are there.  With [mpi] async_progress an agent handles messages, and does
 * the work of posted collectives, at once and in no time of the rank's;
 * in a graph it does everything.
 *
 * A copy is made at the time of the network, in pieces, as the memory of a node
 * is shared and copies of other ranks come between: a rank that is ahead waits
 * for the network.  Work without a copy is done ahead, as on a torus. */
#include "sim/replay/ob1.h"

#include "sim/node/memory.h"
#include "sim/replay/replay_private.h"

#define PAGE_BYTES 4096u

/* btl_self_component.c */
#define SELF_EAGER_BYTES (128u * 1024)

/* The meaning of a message or timer for the rank that it comes to. */
typedef enum {
  EVENT_ENVELOPE, /* with the first piece of the data */
  EVENT_ACK,      /* send fragments */
  EVENT_FRAGMENT,
  EVENT_RETURN, /* within a node: a piece is taken out, its buffer is free */
  EVENT_PUT,    /* write a piece */
  EVENT_WRITE,  /* the piece; software at its destination sees nothing */
  EVENT_FIN,    /* the piece is there */
  EVENT_ACCESS, /* a one-sided get or fetch, at its target */
  EVENT_STORE,  /* the data of a one-sided put; as WRITE */
  EVENT_CLOCK,  /* a processor's time has come */
  EVENT_AGENT,  /* the same, of the one that works while the rank computes */
  EVENT_DUE,    /* work for which it was too early has its time */
} Event;

typedef enum {
  WORK_SEND,            /* the first piece */
  WORK_COPY,            /* of a message that runs past ob1 */
  WORK_STASH,           /* an unexpected first piece out of the library's buffer */
  WORK_TAKE,            /* the first piece of a matched message */
  WORK_ACKED,           /* learn of an acknowledgement */
  WORK_SEND_FRAGMENT,   /* copy in and send */
  WORK_TAKE_FRAGMENT,   /* copy out */
  WORK_FIRST_DELIVERED, /* learn that the first piece is out of the way */
  WORK_DELIVERED,       /* or that a fragment is */
  WORK_ASK,             /* register a piece and ask for it */
  WORK_ANSWER,          /* register it and write it */
  WORK_FINISH,          /* tell that it is written */
  WORK_FINISHED,        /* learn it */
  WORK_NOTHING,         /* not needed any more */
} WorkKind;

typedef struct {
  int64_t at_ps;         /* not before */
  uint64_t bytes;        /* of the piece */
  uint64_t copied_bytes; /* so far */
  uint64_t cookie;       /* COPY: of the timer that ends it */
  uint32_t transfer;     /* COPY: the rank of the other memory */
  uint32_t notify;       /* COPY: the timer's rank */
  uint32_t next;
  uint8_t kind; /* WorkKind */
  bool begun;
} Work;

/* When something is done. */
typedef enum {
  TURN_CALL,    /* by the call that the rank is in, before it ends */
  TURN_NEXT,    /* at once after the present work */
  TURN_ARRIVED, /* when the rank is in MPI, after all that came before */
} Turn;

typedef struct {
  uint32_t first, last, n; /* of work */
} Queue;

typedef struct {
  Queue calls, arrived;
  int64_t clock_ps;
  uint32_t work; /* the present one; TOPO_NONE */
} Processor;

typedef struct {
  Processor own, agent;
  Queue early;    /* of the agent: messages for receives of a rank that is ahead */
  BaseMap pinned; /* peer -> pages registered to send to it, to receive from it */
  uint32_t round; /* BUSY: so many arrived pieces are done before the rank goes on */
} Ob1Rank;

/* The state of a transfer.  Each side changes its own half. */
typedef struct {
  uint64_t first_bytes; /* with the envelope */
  bool eager;
  bool single; /* the receiver copies it once, from the sender's buffer */
  bool pinned; /* all of it by RDMA, in one piece */

  /* the sender's */
  uint64_t next_bytes;     /* where the next fragment begins */
  uint64_t put_bytes;      /* where the next piece that the receiver asks for begins */
  uint64_t returned_bytes; /* within a node: where the next one that comes back begins */
  uint64_t delivered_bytes;
  uint32_t in_flight; /* fragments */
  bool acked, first_returned, first_delivered, sent;

  /* the receiver's */
  uint64_t rdma_end_bytes; /* where RDMA ends and fragments begin: in its first message */
  uint64_t ask_bytes;      /* where the next piece to ask for begins */
  uint64_t finished_bytes; /* and where the next one that is told to be there */
  uint64_t came_bytes;     /* within a node: where the next fragment that comes begins */
  uint64_t received_bytes; /* in the buffer of the receive */
  uint32_t asked;          /* pieces asked for, not there */
  uint32_t stash;          /* work that waits to stash it; TOPO_NONE */
  bool stashed, received;
} Message;

typedef struct {
  SimMemory *memory;
  SimMemory *own_memory; /* NULL: it is the network's */
  Ob1Rank *ranks;        /* [n_ranks] */
  Work *works;
  uint32_t n_works, works_capacity, first_free_work;
  Message *messages; /* [messages_capacity] of a transfer */
  uint32_t messages_capacity;
} Ob1;

static Ob1 *
ob1_of (const SimReplay *replay)
{
  return replay->library;
}

static Message *
message_of (const SimReplay *replay, uint32_t transfer)
{
  return &ob1_of (replay)->messages[transfer];
}

static uint32_t
source_of (const SimReplay *replay, uint32_t transfer)
{
  return replay->transfers[transfer].envelope.source;
}

static uint64_t
event_cookie (Event event, uint32_t transfer)
{
  return sim_cookie (SIM_COOKIE_PROTOCOL, (uint32_t) event, transfer);
}

/* -- the BTLs: sizes --------------------------------------------------------- */

static bool
is_local (const SimReplay *replay, uint32_t transfer)
{
  return sim_transfer_is_local (replay, &replay->transfers[transfer]);
}

static bool
is_self (const SimReplay *replay, uint32_t transfer)
{
  return source_of (replay, transfer) == replay->transfers[transfer].destination;
}

/* Largest message that goes with its envelope.  pml_ob1_sendreq.h, start_btl:
 * the limit is less the largest header. */
static uint64_t
eager_limit_bytes (const SimReplay *replay, uint32_t transfer)
{
  uint64_t limit_bytes = is_self (replay, transfer)    ? SELF_EAGER_BYTES
                         : is_local (replay, transfer) ? replay->parameters->sm_eager_bytes
                                                       : replay->parameters->eager_bytes;

  return limit_bytes - MIN (limit_bytes, SIM_OB1_LARGEST_HEADER_BYTES);
}

/* The user bytes of the fragment that begins there. */
static uint64_t
fragment_bytes (const SimReplay *replay, uint32_t transfer, uint64_t begin)
{
  uint64_t limit_bytes = is_local (replay, transfer) ? replay->parameters->sm_fragment_bytes
                                                     : replay->parameters->send_fragment_bytes;

  return MIN (limit_bytes - SIM_OB1_FRAGMENT_HEADER_BYTES,
              replay->transfers[transfer].bytes - begin);
}

/* Size of an RDMA piece that begins there. */
static uint64_t
piece_bytes (const SimReplay *replay, uint32_t transfer, uint64_t begin)
{
  const Message *it = message_of (replay, transfer);
  uint64_t left_bytes = it->rdma_end_bytes - begin;

  return it->pinned ? left_bytes : MIN (left_bytes, replay->parameters->rdma_fragment_bytes);
}

/* Where RDMA ends and copied fragments begin between nodes, as the receiver
 * decides.  RDMA is for messages above eager_limit + rdma_pipeline_send_length
 * (btl_base_mca.c raises min_rdma_pipeline_size to that), and leaves the last
 * rdma_pipeline_send_length to fragments. */
static uint64_t
rdma_end_bytes (const SimReplay *replay, uint32_t transfer)
{
  const Message *it = message_of (replay, transfer);
  uint64_t bytes = replay->transfers[transfer].bytes;
  uint64_t offset_bytes = replay->parameters->rdma_offset_bytes;

  if (it->pinned)
    return bytes;
  if (bytes <= replay->parameters->eager_bytes + offset_bytes)
    return it->first_bytes;
  return MAX (bytes - offset_bytes, it->first_bytes);
}

/* Whether the receiver answers the first piece, before it copies it out. */
static bool
is_acknowledged (const SimReplay *replay, uint32_t transfer)
{
  const Message *it = message_of (replay, transfer);
  uint64_t bytes = replay->transfers[transfer].bytes;

  if (it->eager || it->single || it->pinned)
    return false;
  return it->first_bytes == bytes || is_local (replay, transfer) ||
         rdma_end_bytes (replay, transfer) < bytes;
}

/* -- the BTLs: messages ------------------------------------------------------- */

/* Sends a message of the transfer between nodes; bytes: user bytes in it.  The
 * header of the BTL and, on a first piece, that of matching are in the envelope. */
static void
post_openib (SimReplay *replay, uint32_t transfer, Event event, uint64_t bytes, int64_t at_ps)
{
  const SimTransfer *it = &replay->transfers[transfer];
  bool eager = message_of (replay, transfer)->eager, waits = false, to_source = false;
  /* ob1's own messages are as software's own of other machines: they carry
   * nothing of the user's.  A message without bytes is its envelope. */
  SimMessageKind kind = bytes > 0 ? SIM_MESSAGE_SEND : SIM_MESSAGE_CONTROL;
  uint64_t header_bytes = SIM_OB1_MATCH_HEADER_BYTES;
  uint64_t software_bytes;

  switch (event) {
  case EVENT_ENVELOPE:
    waits = !eager;
    header_bytes = eager ? SIM_OB1_MATCH_HEADER_BYTES : SIM_OB1_RENDEZVOUS_HEADER_BYTES;
    if (it->bytes == 0)
      kind = SIM_MESSAGE_SEND;
    break;
  case EVENT_ACK:
    to_source = true;
    header_bytes = SIM_OB1_ACK_HEADER_BYTES;
    break;
  case EVENT_FRAGMENT:
    waits = true;
    header_bytes = SIM_OB1_FRAGMENT_HEADER_BYTES;
    break;
  case EVENT_PUT:
    to_source = true;
    header_bytes = SIM_OB1_PUT_HEADER_BYTES;
    break;
  case EVENT_FIN: header_bytes = SIM_OB1_FIN_HEADER_BYTES; break;
  case EVENT_WRITE:
    waits = true;
    kind = SIM_MESSAGE_WRITE;
    break;
  case EVENT_ACCESS:
  case EVENT_STORE:
  case EVENT_RETURN:
  case EVENT_CLOCK:
  case EVENT_AGENT:
  case EVENT_DUE: g_assert_not_reached ();
  }
  software_bytes = replay->parameters->envelope_bytes + header_bytes - SIM_OB1_MATCH_HEADER_BYTES;
  sim_network_send (
      replay->network,
      &(SimMessage){ .cookie = event_cookie (event, transfer),
                     .bytes = bytes,
                     .source_rank = to_source ? it->destination : it->envelope.source,
                     .destination_rank = to_source ? it->envelope.source : it->destination,
                     .kind = (uint8_t) kind,
                     .acknowledge = waits,
                     .software_bytes = event == EVENT_WRITE ? 0 : (uint16_t) software_bytes },
      at_ps);
}

/* The same; within a node it writes a pointer into the FIFO of the transfer's
 * source or destination. */
static void
post (SimReplay *replay, uint32_t transfer, Event event, uint64_t bytes, int64_t at_ps)
{
  const SimTransfer *it = &replay->transfers[transfer];
  bool to_source = event == EVENT_ACK || event == EVENT_RETURN;

  if (is_local (replay, transfer))
    sim_network_timer (replay->network, to_source ? it->envelope.source : it->destination,
                       event_cookie (event, transfer),
                       at_ps +
                           (is_self (replay, transfer) ? 0 : replay->parameters->sm_latency_ps));
  else
    post_openib (replay, transfer, event, bytes, at_ps);
}

/* -- the cost of work: processor time ------------------------------------------ */

/* Registers a piece of a buffer of the sender or receiver. */
static int64_t
register_ps (SimReplay *replay, uint32_t transfer, bool sender, uint64_t bytes)
{
  uint64_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;

  if (message_of (replay, transfer)->pinned) {
    const SimTransfer *it = &replay->transfers[transfer];
    uint32_t rank = sender ? it->envelope.source : it->destination;
    uint32_t peer = sender ? it->destination : it->envelope.source;
    uint32_t *known = &base_map_add (&ob1_of (replay)->ranks[rank].pinned, peer, 0)->value[!sender];

    if (pages <= *known)
      return 0;
    *known = (uint32_t) MIN (pages, UINT32_MAX);
  }
  return (int64_t) MIN ((double) replay->parameters->registration_ps +
                            (double) pages * (double) replay->parameters->registration_page_ps,
                        (double) SIM_LAST_PS);
}

/* Handling one piece or control message, on either side: a fragment of the
 * shared segment and its FIFO, or a work request and its completion. */
static int64_t
handling_ps (const SimReplay *replay, uint32_t transfer)
{
  if (is_self (replay, transfer))
    return 0;
  return is_local (replay, transfer) ? replay->parameters->sm_overhead_ps
                                     : replay->parameters->fragment_overhead_ps;
}

/* Processor time before the copy. */
static int64_t
work_lead_ps (SimReplay *replay, const Work *work)
{
  uint32_t transfer = work->transfer;
  const Message *it;
  int64_t lead_ps = 0;

  switch ((WorkKind) work->kind) {
  case WORK_SEND:
    if (replay->graphs == NULL)
      lead_ps = replay->parameters->send_overhead_ps;
    if (message_of (replay, transfer)->pinned)
      lead_ps += register_ps (replay, transfer, true, replay->transfers[transfer].bytes);
    return lead_ps + handling_ps (replay, transfer);
  case WORK_TAKE:
    it = message_of (replay, transfer);
    if (replay->graphs == NULL)
      lead_ps = replay->parameters->receive_overhead_ps;
    /* Else it was paid when the first piece was put aside. */
    if (!it->stashed)
      lead_ps += handling_ps (replay, transfer);
    if (is_acknowledged (replay, transfer))
      lead_ps += handling_ps (replay, transfer);
    return lead_ps;
  case WORK_STASH:
  case WORK_ACKED:
  case WORK_SEND_FRAGMENT:
  case WORK_TAKE_FRAGMENT:
  case WORK_FINISH:
  case WORK_FINISHED: return handling_ps (replay, transfer);
  case WORK_ASK:
  case WORK_ANSWER:
    return handling_ps (replay, transfer) +
           register_ps (replay, transfer, work->kind == WORK_ANSWER, work->bytes);
  case WORK_COPY:
  case WORK_FIRST_DELIVERED:
  case WORK_DELIVERED:
  case WORK_NOTHING: return 0;
  }
  g_assert_not_reached ();
}

/* -- the cost of work: copies ---------------------------------------------------- */

/* The bytes that a piece of work copies in all. */
static uint64_t
work_copy_bytes (const SimReplay *replay, const Work *work)
{
  const SimTransfer *it;
  const Message *message;
  uint64_t first_bytes;

  switch ((WorkKind) work->kind) {
  case WORK_SEND:
    it = &replay->transfers[work->transfer];
    message = message_of (replay, work->transfer);
    /* BTL self sends from where the data is (btl_self_component.c: SEND_INPLACE). */
    first_bytes = is_self (replay, work->transfer) ? 0 : message->first_bytes;
    if (!message->eager && replay->requests[it->send_request].mode == TRACE_SEND_BUFFERED)
      return it->bytes - message->first_bytes + first_bytes;
    return first_bytes;
  case WORK_TAKE:
    message = message_of (replay, work->transfer);
    return message->single ? replay->transfers[work->transfer].bytes : message->first_bytes;
  case WORK_COPY:
  case WORK_STASH:
  case WORK_SEND_FRAGMENT:
  case WORK_TAKE_FRAGMENT: return work->bytes;
  case WORK_ACKED:
  case WORK_FIRST_DELIVERED:
  case WORK_DELIVERED:
  case WORK_ASK:
  case WORK_ANSWER:
  case WORK_FINISH:
  case WORK_FINISHED:
  case WORK_NOTHING: return 0;
  }
  g_assert_not_reached ();
}

static uint8_t
core_of (const SimReplay *replay, uint32_t rank)
{
  return replay->machine->slot_core[replay->mapping->slot[rank]];
}

static SimBuffer
private_of (const SimReplay *replay, uint32_t rank, uint64_t footprint_bytes)
{
  return (SimBuffer){ .kind = SIM_BUFFER_PRIVATE,
                      .core = core_of (replay, rank),
                      .footprint_bytes = footprint_bytes };
}

/* The BTL's buffer of the first piece or of the fragments: between nodes the
 * sender's or the receiver's. */
static SimBuffer
library_buffer (const SimReplay *replay, uint32_t transfer, bool sender, bool first)
{
  const SimTransfer *it = &replay->transfers[transfer];
  const TopoParameters *parameters = replay->parameters;
  uint32_t source = it->envelope.source, destination = it->destination;

  if (is_local (replay, transfer))
    return (SimBuffer){ .kind = SIM_BUFFER_SHARED,
                        .core = core_of (replay, source),
                        .peer = core_of (replay, destination),
                        .footprint_bytes =
                            first ? parameters->sm_eager_bytes
                                  : parameters->sm_depth * parameters->sm_fragment_bytes };
  return (SimBuffer){ .kind = SIM_BUFFER_ADAPTER,
                      .core = core_of (replay, sender ? source : destination),
                      .footprint_bytes =
                          first ? parameters->eager_bytes : parameters->send_fragment_bytes };
}

/* From where to where the next part of the copy goes. */
static void
work_copy_between (const SimReplay *replay, const Work *work, SimCopy *copy)
{
  uint32_t transfer = work->transfer;
  const Message *message;
  const SimTransfer *it;

  if (work->kind == WORK_COPY) { /* of the rank that `transfer` is then */
    copy->from = (SimBuffer){ .core = copy->core, .footprint_bytes = work->bytes };
    copy->to = private_of (replay, transfer, work->bytes);
    return;
  }
  it = &replay->transfers[transfer];
  message = message_of (replay, transfer);
  copy->from = private_of (replay, it->envelope.source, it->bytes);
  copy->to = private_of (replay, it->destination, it->bytes);
  if (work->kind == WORK_SEND) /* then the rest of a buffered one */
    copy->to = work->copied_bytes < message->first_bytes
                   ? library_buffer (replay, transfer, true, true)
                   : private_of (replay, it->envelope.source, it->bytes);
  else if (work->kind == WORK_SEND_FRAGMENT)
    copy->to = library_buffer (replay, transfer, true, false);
  else if (work->kind == WORK_STASH) {
    copy->from = library_buffer (replay, transfer, false, true);
    copy->to = private_of (replay, it->destination, work->bytes);
  } else if (work->kind == WORK_TAKE_FRAGMENT)
    copy->from = library_buffer (replay, transfer, false, false);
  else if (message->stashed)
    copy->from = private_of (replay, it->destination, message->first_bytes);
  else if (!message->single && !is_self (replay, transfer))
    copy->from = library_buffer (replay, transfer, false, true);
}

/* -- work that waits -------------------------------------------------------------- */

static void
queue_append (Ob1 *ob1, Queue *queue, uint32_t work)
{
  if (queue->n++ == 0)
    queue->first = work;
  else
    ob1->works[queue->last].next = work;
  queue->last = work;
}

static uint32_t
queue_pop (const Ob1 *ob1, Queue *queue)
{
  uint32_t work = queue->first;

  queue->first = ob1->works[work].next;
  queue->n--;
  return work;
}

static void
work_give (SimReplay *replay, uint32_t work)
{
  Ob1 *ob1 = ob1_of (replay);

  replay->n_works--;
  ob1->works[work].next = ob1->first_free_work;
  ob1->first_free_work = work;
}

/* Notes work for a rank; returns its number. */
static uint32_t
work_add (SimReplay *replay, uint32_t rank, Work work, Turn turn)
{
  Ob1 *ob1 = ob1_of (replay);
  Ob1Rank *it = &ob1->ranks[rank];
  bool agent = replay->graphs != NULL || (replay->parameters->async_progress && turn != TURN_CALL);
  Processor *processor = agent ? &it->agent : &it->own;
  uint32_t number = ob1->first_free_work;

  if (number != TOPO_NONE)
    ob1->first_free_work = ob1->works[number].next;
  else {
    if (ob1->n_works == ob1->works_capacity) {
      ob1->works_capacity = MAX (256u, 2 * ob1->works_capacity);
      ob1->works = g_renew (Work, ob1->works, ob1->works_capacity);
    }
    number = ob1->n_works++;
  }
  replay->n_works++;
  ob1->works[number] = work;
  ob1->works[number].next = TOPO_NONE;

  if (agent && work.at_ps > replay->now_ps) {
    /* By time, then in the order in which they came; they are few, as a rank makes
     * few calls ahead of the network. */
    uint32_t *link = &it->early.first;

    while (*link != TOPO_NONE && ob1->works[*link].at_ps <= work.at_ps)
      link = &ob1->works[*link].next;
    ob1->works[number].next = *link;
    *link = number;
    it->early.n++;
    sim_network_timer (replay->network, rank, event_cookie (EVENT_DUE, 0), work.at_ps);
  } else if (turn == TURN_NEXT) {
    ob1->works[number].next = processor->calls.first;
    processor->calls.first = number;
    if (processor->calls.n++ == 0)
      processor->calls.last = number;
  } else
    queue_append (ob1, turn == TURN_CALL ? &processor->calls : &processor->arrived, number);
  return number;
}

/* Some of the agent's work may begin now. */
static void
work_due (SimReplay *replay, uint32_t rank)
{
  Ob1 *ob1 = ob1_of (replay);
  Ob1Rank *it = &ob1->ranks[rank];

  while (it->early.n > 0 && ob1->works[it->early.first].at_ps <= replay->now_ps) {
    uint32_t work = queue_pop (ob1, &it->early);

    ob1->works[work].next = TOPO_NONE;
    queue_append (ob1, &it->agent.arrived, work);
  }
}

/* -- from one piece of work to the next ---------------------------------------------- */

/* A fragment is out of the way when the adapter says so, or when its receiver
 * gives the buffer back; the send is complete when all are (frag_completion,
 * put_completion).  A buffered send is complete when the rest is copied too
 * (start_buffered). */

static void
message_give (SimReplay *replay, uint32_t transfer)
{
  const Message *it = message_of (replay, transfer);

  if (it->sent && it->received)
    sim_transfer_give (replay, transfer);
}

static void
send_complete (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  uint32_t request = replay->transfers[transfer].send_request;

  replay->transfers[transfer].send_request = TOPO_NONE;
  if (request != TOPO_NONE)
    sim_request_complete (replay, request, at_ps);
}

/* The sender's side may be over. */
static void
sender_check (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  Message *it = message_of (replay, transfer);

  if (!it->acked || !it->first_delivered || it->delivered_bytes < replay->transfers[transfer].bytes)
    return;
  it->sent = true;
  replay->ranks[source_of (replay, transfer)].open_sends--;
  send_complete (replay, transfer, at_ps);
  message_give (replay, transfer);
}

static void
receive_complete (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  uint32_t request = replay->transfers[transfer].receive_request;

  message_of (replay, transfer)->received = true;
  sim_message_received (replay, transfer, at_ps);
  message_give (replay, transfer);
  sim_request_complete (replay, request, at_ps);
}

/* The receiver's side may be over. */
static void
receiver_check (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  const SimTransfer *it = &replay->transfers[transfer];

  if (message_of (replay, transfer)->received_bytes < it->bytes)
    return;
  if (replay->graphs != NULL)
    sim_graph_arrived (replay, it->receive_request, transfer);
  else
    receive_complete (replay, transfer, at_ps);
}

static void
ob1_taken (SimReplay *replay, uint32_t transfer)
{
  receive_complete (replay, transfer, replay->now_ps);
}

/* One fragment more, if the pipeline has room (send_request_schedule_once). */
static void
fragment_schedule (SimReplay *replay, uint32_t transfer)
{
  const Message *it = message_of (replay, transfer);
  const TopoParameters *parameters = replay->parameters;
  uint64_t depth = is_local (replay, transfer) ? parameters->sm_depth : parameters->send_depth;
  bool limited = it->rdma_end_bytes == it->first_bytes;

  if (!it->acked || it->single || it->next_bytes >= replay->transfers[transfer].bytes ||
      (limited && it->in_flight >= depth))
    return;
  work_add (replay, source_of (replay, transfer),
            (Work){ .kind = WORK_SEND_FRAGMENT,
                    .transfer = transfer,
                    .bytes = fragment_bytes (replay, transfer, it->next_bytes) },
            TURN_NEXT);
}

static void
message_acked (SimReplay *replay, uint32_t transfer)
{
  Message *it = message_of (replay, transfer);

  if (!it->acked)
    it->next_bytes = it->rdma_end_bytes;
  it->acked = true;
}

/* One RDMA piece more (recv_request_schedule_once). */
static void
ask_schedule (SimReplay *replay, uint32_t transfer)
{
  const Message *it = message_of (replay, transfer);

  if (it->ask_bytes >= it->rdma_end_bytes || it->asked >= replay->parameters->rdma_depth)
    return;
  work_add (replay, replay->transfers[transfer].destination,
            (Work){ .kind = WORK_ASK,
                    .transfer = transfer,
                    .bytes = piece_bytes (replay, transfer, it->ask_bytes) },
            TURN_NEXT);
}

/* After the lead.  No pointer into a pool holds, here and below. */
static void
work_begin (SimReplay *replay, const Work *work, int64_t at_ps)
{
  uint32_t transfer = work->transfer;
  Message *it;

  if (work->kind == WORK_STASH)
    message_of (replay, transfer)->stash = TOPO_NONE;
  if (work->kind != WORK_TAKE)
    return;
  it = message_of (replay, transfer);
  it->rdma_end_bytes =
      is_local (replay, transfer) ? it->first_bytes : rdma_end_bytes (replay, transfer);
  if (is_acknowledged (replay, transfer))
    post (replay, transfer, EVENT_ACK, 0, at_ps);
}

static void
send_end (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  Message *it = message_of (replay, transfer);
  bool eager = it->eager;
  bool done = eager || replay->requests[replay->transfers[transfer].send_request].mode ==
                           TRACE_SEND_BUFFERED;

  it->sent = eager;
  replay->ranks[source_of (replay, transfer)].open_sends += !eager;
  post (replay, transfer, EVENT_ENVELOPE, it->first_bytes, at_ps);
  if (done)
    send_complete (replay, transfer, at_ps);
}

/* After the copy. */
static void
work_end (SimReplay *replay, const Work *work, int64_t at_ps)
{
  uint32_t transfer = work->transfer;
  Message *it;

  if (work->kind == WORK_COPY) {
    sim_network_timer (replay->network, work->notify, work->cookie,
                       at_ps + replay->parameters->sm_latency_ps);
    return;
  }
  it = message_of (replay, transfer);
  switch ((WorkKind) work->kind) {
  case WORK_SEND: send_end (replay, transfer, at_ps); break;
  case WORK_TAKE:
    if (it->single)
      it->received_bytes = replay->transfers[transfer].bytes;
    if (!it->eager && is_local (replay, transfer))
      post (replay, transfer, EVENT_RETURN, 0, at_ps);
    ask_schedule (replay, transfer);
    receiver_check (replay, transfer, at_ps);
    break;
  case WORK_STASH: it->stashed = true; break;
  case WORK_ACKED:
    message_acked (replay, transfer);
    fragment_schedule (replay, transfer);
    sender_check (replay, transfer, at_ps);
    break;
  case WORK_SEND_FRAGMENT:
    it->next_bytes += work->bytes;
    it->in_flight++;
    post (replay, transfer, EVENT_FRAGMENT, work->bytes, at_ps);
    fragment_schedule (replay, transfer);
    break;
  case WORK_TAKE_FRAGMENT:
    it->received_bytes += work->bytes;
    if (is_local (replay, transfer))
      post (replay, transfer, EVENT_RETURN, 0, at_ps);
    receiver_check (replay, transfer, at_ps);
    break;
  case WORK_FIRST_DELIVERED:
  case WORK_DELIVERED:
    it->delivered_bytes += work->bytes;
    if (work->kind == WORK_FIRST_DELIVERED)
      it->first_delivered = true;
    else
      it->in_flight--;
    if (it->single)
      message_acked (replay, transfer);
    fragment_schedule (replay, transfer);
    sender_check (replay, transfer, at_ps);
    break;
  case WORK_ASK:
    it->ask_bytes += work->bytes;
    it->asked++;
    post (replay, transfer, EVENT_PUT, 0, at_ps);
    ask_schedule (replay, transfer);
    break;
  case WORK_ANSWER:
    /* The request stands for the acknowledgement when there is no other. */
    if (it->rdma_end_bytes == replay->transfers[transfer].bytes)
      message_acked (replay, transfer);
    post (replay, transfer, EVENT_WRITE, work->bytes, at_ps);
    break;
  case WORK_FINISH:
    post (replay, transfer, EVENT_FIN, 0, at_ps);
    it->delivered_bytes += work->bytes;
    sender_check (replay, transfer, at_ps);
    break;
  case WORK_FINISHED:
    it->received_bytes += work->bytes;
    it->asked--;
    ask_schedule (replay, transfer);
    receiver_check (replay, transfer, at_ps);
    break;
  case WORK_COPY:
  case WORK_NOTHING: break;
  }
}

/* -- processors ---------------------------------------------------------------------- */

/* The clock of a rank's own processor is the rank's. */
static void
processor_advance (SimReplay *replay, uint32_t rank, Processor *processor, int64_t at_ps)
{
  SimRank *it = &replay->ranks[rank];

  processor->clock_ps = at_ps;
  if (processor == &ob1_of (replay)->ranks[rank].own)
    it->local_ps = MAX (it->local_ps, at_ps);
}

/* Until the processor has to wait for its clock, or is done.  In a graph all
 * is done at the network's time. */
static void
work_go_on (SimReplay *replay, uint32_t rank, Processor *processor)
{
  Ob1 *ob1 = ob1_of (replay);
  bool agent = processor == &ob1->ranks[rank].agent;
  Work work;

  while (true) {
    Work *it = &ob1->works[processor->work];
    uint64_t left_bytes = work_copy_bytes (replay, it) - it->copied_bytes;

    if (processor->clock_ps > replay->now_ps && (left_bytes > 0 || replay->graphs != NULL)) {
      sim_network_timer (replay->network, rank, event_cookie (agent ? EVENT_AGENT : EVENT_CLOCK, 0),
                         processor->clock_ps);
      return;
    }
    if (!it->begun) {
      it->begun = true;
      work = *it;
      work_begin (replay, &work, processor->clock_ps);
    } else if (left_bytes > 0) {
      SimCopy copy = { .node = replay->mapping->node[rank],
                       .core = core_of (replay, rank),
                       .bytes = MIN (left_bytes, sim_memory_quantum_bytes (ob1->memory)) };

      /* The memory serves calls in the order of their times. */
      g_assert (processor->clock_ps == replay->now_ps);
      work_copy_between (replay, it, &copy);
      it->copied_bytes += copy.bytes;
      processor_advance (replay, rank, processor,
                         sim_memory_copy (ob1->memory, &copy, processor->clock_ps));
    } else
      break;
  }
  work = ob1->works[processor->work];
  work_give (replay, processor->work);
  work_end (replay, &work, processor->clock_ps);
  processor->work = TOPO_NONE;
}

/* Whether the processor took something up. */
static bool
processor_turn (SimReplay *replay, uint32_t rank, Processor *processor, bool may_progress)
{
  Ob1 *ob1 = ob1_of (replay);
  Queue *queue = processor->calls.n > 0 ? &processor->calls : &processor->arrived;
  uint32_t number;
  int64_t begin_ps;
  Work work;

  if (processor->work != TOPO_NONE || queue->n == 0 ||
      (queue == &processor->arrived && !may_progress))
    return false;
  number = queue_pop (ob1, queue);
  work = ob1->works[number];
  if (work.kind == WORK_NOTHING) {
    work_give (replay, number);
    return true;
  }
  begin_ps = MAX (MAX (replay->now_ps, processor->clock_ps), work.at_ps);
  if (processor == &ob1->ranks[rank].own) {
    begin_ps = MAX (begin_ps, replay->ranks[rank].local_ps);
    sim_rank_wait_until (replay, rank, begin_ps);
  }
  processor->work = number;
  processor_advance (replay, rank, processor, begin_ps + work_lead_ps (replay, &work));
  work_go_on (replay, rank, processor);
  return true;
}

static bool
is_blocked (const SimRank *rank)
{
  switch ((SimRankState) rank->state) {
  case SIM_RANK_WAITING:
  case SIM_RANK_PROBING:
  case SIM_RANK_MEETING:
  case SIM_RANK_GATHERING:
  case SIM_RANK_DONE: return true;
  case SIM_RANK_READY:
  case SIM_RANK_RUNNING:
  case SIM_RANK_BUSY:
  case SIM_RANK_GRAPH: return false;
  }
  g_assert_not_reached ();
}

/* The processor is busy, or the rank's calls have left something to do. */
static bool
ob1_is_busy (const SimReplay *replay, uint32_t rank)
{
  const Processor *own = &ob1_of (replay)->ranks[rank].own;

  return own->work != TOPO_NONE || own->calls.n > 0;
}

static bool
own_turn (SimReplay *replay, uint32_t rank)
{
  Ob1Rank *it = &ob1_of (replay)->ranks[rank];
  const SimRank *state = &replay->ranks[rank];
  bool round = state->state == SIM_RANK_BUSY && it->round > 0;

  if (round && !ob1_is_busy (replay, rank))
    it->round--;
  return processor_turn (replay, rank, &it->own, round || is_blocked (state));
}

static void
ob1_progress (SimReplay *replay, uint32_t rank, SimMoment moment)
{
  Ob1Rank *it = &ob1_of (replay)->ranks[rank];
  SimRank *state = &replay->ranks[rank];

  if (moment == SIM_MOMENT_ENTERED) { /* work that came until now is done before the rank goes on */
    it->round = it->own.arrived.n;
    if (state->state == SIM_RANK_READY && (it->round > 0 || ob1_is_busy (replay, rank)))
      state->state = SIM_RANK_BUSY;
    return;
  }
  if (moment == SIM_MOMENT_CALLED) {
    while (processor_turn (replay, rank, &it->own, false))
      continue;
    return;
  }
  while (replay->error == NULL) {
    if (!processor_turn (replay, rank, &it->agent, true) && !own_turn (replay, rank)) {
      /* The rank may go on that was held up here, or its posted collectives. */
      if (state->state == SIM_RANK_BUSY && !ob1_is_busy (replay, rank)) {
        state->state = SIM_RANK_READY;
        sim_ops_take_back (replay, rank);
      } else if (!state->active_ready || !is_blocked (state))
        return;
    }
    sim_rank_wake (replay, rank);
  }
}

/* -- for the replay --------------------------------------------------------------------- */

static void
ob1_send (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *it = &replay->transfers[transfer];
  const SimRequest *request = &replay->requests[it->send_request];
  uint32_t rank = it->envelope.source;
  /* The agent of a rank does the work of a posted collective. */
  Turn turn = request->owned && replay->parameters->async_progress ? TURN_ARRIVED : TURN_CALL;
  uint64_t eager_bytes = eager_limit_bytes (replay, transfer);
  bool local = is_local (replay, transfer);
  Ob1 *ob1 = ob1_of (replay);
  Message message = { .first_bytes = it->bytes, .stash = TOPO_NONE };

  message.eager = it->bytes <= eager_bytes && request->mode != TRACE_SEND_SYNCHRONOUS;
  if (it->bytes > eager_bytes) {
    message.single = local && (is_self (replay, transfer) || replay->parameters->sm_single_copy);
    /* A copy that is made aside first lies in memory that is not registered. */
    message.pinned =
        !local && replay->parameters->leave_pinned && request->mode != TRACE_SEND_BUFFERED;
    message.first_bytes = message.single || message.pinned ? 0 : eager_bytes;
  }
  message.put_bytes = message.ask_bytes = message.finished_bytes = message.came_bytes =
      message.received_bytes = message.first_bytes;
  if (transfer >= ob1->messages_capacity) {
    ob1->messages_capacity = replay->transfers_capacity;
    ob1->messages = g_renew (Message, ob1->messages, ob1->messages_capacity);
  }
  ob1->messages[transfer] = message;
  work_add (
      replay, rank,
      (Work){ .kind = WORK_SEND, .transfer = transfer, .at_ps = replay->ranks[rank].local_ps },
      turn);
}

static void
ob1_matched (SimReplay *replay, uint32_t transfer, SimMatched how)
{
  Message *it = message_of (replay, transfer);
  const SimRequest *receive;
  bool call;

  if (how == SIM_UNMATCHED) {
    if (it->first_bytes > 0)
      it->stash =
          work_add (replay, replay->transfers[transfer].destination,
                    (Work){ .kind = WORK_STASH, .transfer = transfer, .bytes = it->first_bytes },
                    TURN_ARRIVED);
    return;
  }
  receive = &replay->requests[replay->transfers[transfer].receive_request];
  call = how == SIM_MATCHED_BY_POST && !(receive->owned && replay->parameters->async_progress);
  if (it->stash != TOPO_NONE)
    ob1_of (replay)->works[it->stash].kind = WORK_NOTHING;
  it->stash = TOPO_NONE;
  work_add (replay, receive->rank,
            (Work){ .kind = WORK_TAKE, .transfer = transfer, .at_ps = receive->at_ps },
            call ? TURN_CALL : TURN_ARRIVED);
}

static void
write_to (SimReplay *replay, uint32_t from, uint32_t to, uint64_t bytes, uint64_t cookie,
          bool acknowledge, int64_t at_ps)
{
  sim_network_send (replay->network,
                    &(SimMessage){ .cookie = cookie,
                                   .bytes = bytes,
                                   .source_rank = from,
                                   .destination_rank = to,
                                   .kind = SIM_MESSAGE_WRITE,
                                   .acknowledge = acknowledge },
                    at_ps);
}

/* `rank` copies between its memory and the peer's, then `notify` is told. */
static void
copy_within (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes, uint32_t notify,
             uint64_t cookie)
{
  work_add (replay, rank,
            (Work){ .kind = WORK_COPY,
                    .at_ps = replay->ranks[rank].local_ps,
                    .bytes = bytes,
                    .transfer = peer,
                    .notify = notify,
                    .cookie = cookie },
            TURN_CALL);
}

static void
ob1_direct (SimReplay *replay, uint32_t rank, uint32_t peer, uint64_t bytes, uint64_t cookie)
{
  SimRank *it = &replay->ranks[rank];

  it->local_ps += replay->parameters->send_overhead_ps;
  if (it->node == replay->ranks[peer].node) {
    copy_within (replay, rank, peer, bytes, peer, cookie);
    return;
  }
  it->local_ps += replay->parameters->fragment_overhead_ps;
  write_to (replay, rank, peer, bytes, cookie, false, it->local_ps);
}

static void
ob1_access (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *access = &replay->transfers[transfer];
  uint32_t origin = access->envelope.source, target = access->destination;
  bool put = access->state == TRACE_OP_PUT;

  if (sim_transfer_is_local (replay, access)) {
    copy_within (replay, origin, target, access->bytes + access->back_bytes, origin,
                 sim_cookie (SIM_COOKIE_ACCESSED, 0, transfer));
    return;
  }
  replay->ranks[origin].local_ps += replay->parameters->fragment_overhead_ps;
  write_to (replay, origin, target, access->bytes,
            event_cookie (put ? EVENT_STORE : EVENT_ACCESS, transfer), put,
            replay->ranks[origin].local_ps);
}

static void
arrived (SimReplay *replay, uint32_t rank, uint32_t transfer, WorkKind kind, uint64_t bytes)
{
  work_add (replay, rank, (Work){ .kind = (uint8_t) kind, .transfer = transfer, .bytes = bytes },
            TURN_ARRIVED);
}

/* An acknowledgement of the network. */
static void
event_acknowledged (SimReplay *replay, const SimProtocolEvent *event)
{
  uint32_t transfer = sim_cookie_low (event->cookie);

  switch (sim_cookie_high (event->cookie)) {
  case EVENT_ENVELOPE:
    arrived (replay, event->rank, transfer, WORK_FIRST_DELIVERED, event->bytes);
    break;
  case EVENT_FRAGMENT: arrived (replay, event->rank, transfer, WORK_DELIVERED, event->bytes); break;
  case EVENT_WRITE: arrived (replay, event->rank, transfer, WORK_FINISH, event->bytes); break;
  case EVENT_STORE: sim_window_accessed (replay, transfer); break;
  default: g_assert_not_reached ();
  }
}

/* Within a node pieces come in their order, so their sizes need not be told.
 * Requests for pieces, and notices that they are there, name no size either:
 * all are equal but the last, and only their sum counts. */
static void
ob1_event (SimReplay *replay, const SimProtocolEvent *event)
{
  uint32_t transfer = sim_cookie_low (event->cookie), rank = event->rank;
  Ob1Rank *processors = &ob1_of (replay)->ranks[rank];
  Event kind = (Event) sim_cookie_high (event->cookie);
  const SimTransfer *access;
  uint64_t bytes = event->bytes;
  Message *it;
  bool first;

  if (event->acknowledged) {
    event_acknowledged (replay, event);
    return;
  }
  switch (kind) {
  case EVENT_ENVELOPE: sim_message_arrive (replay, transfer); break;
  case EVENT_ACK: arrived (replay, rank, transfer, WORK_ACKED, 0); break;
  case EVENT_FRAGMENT:
    it = message_of (replay, transfer);
    if (is_local (replay, transfer))
      bytes = fragment_bytes (replay, transfer, it->came_bytes);
    it->came_bytes += bytes;
    arrived (replay, rank, transfer, WORK_TAKE_FRAGMENT, bytes);
    break;
  case EVENT_RETURN:
    it = message_of (replay, transfer);
    first = !it->first_returned;
    bytes = it->single ? replay->transfers[transfer].bytes
            : first    ? it->first_bytes
                       : fragment_bytes (replay, transfer, it->returned_bytes);
    it->first_returned = true;
    it->returned_bytes += bytes;
    arrived (replay, rank, transfer, first ? WORK_FIRST_DELIVERED : WORK_DELIVERED, bytes);
    break;
  case EVENT_PUT:
    it = message_of (replay, transfer);
    bytes = piece_bytes (replay, transfer, it->put_bytes);
    it->put_bytes += bytes;
    arrived (replay, rank, transfer, WORK_ANSWER, bytes);
    break;
  case EVENT_FIN:
    it = message_of (replay, transfer);
    bytes = piece_bytes (replay, transfer, it->finished_bytes);
    it->finished_bytes += bytes;
    arrived (replay, rank, transfer, WORK_FINISHED, bytes);
    break;
  case EVENT_WRITE:
  case EVENT_STORE: break;
  case EVENT_ACCESS:
    access = &replay->transfers[transfer];
    if (access->state != TRACE_OP_GET)
      sim_window_arrived (replay, transfer);
    write_to (replay, rank, access->envelope.source, access->back_bytes,
              sim_cookie (SIM_COOKIE_ACCESSED, 0, transfer), false, replay->now_ps);
    break;
  case EVENT_CLOCK:
  case EVENT_AGENT:
    work_go_on (replay, rank, kind == EVENT_AGENT ? &processors->agent : &processors->own);
    sim_rank_wake (replay, rank);
    break;
  case EVENT_DUE: work_due (replay, rank); break;
  }
}

/* Copies go through the memory of the replay's network, or one of its own. */
static void
ob1_begin (SimReplay *replay)
{
  static const Queue empty = { TOPO_NONE, TOPO_NONE, 0 };
  Ob1 *ob1 = replay->library = g_new0 (Ob1, 1);

  ob1->ranks = g_new0 (Ob1Rank, replay->n_ranks);
  ob1->first_free_work = TOPO_NONE;
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++) {
    ob1->ranks[rank].own = ob1->ranks[rank].agent =
        (Processor){ .calls = empty, .arrived = empty, .work = TOPO_NONE };
    ob1->ranks[rank].early = empty;
  }
  ob1->memory = replay->network->memory;
  if (ob1->memory == NULL)
    ob1->memory = ob1->own_memory = sim_memory_new (replay->machine);
}

static void
ob1_free (SimReplay *replay)
{
  Ob1 *ob1 = ob1_of (replay);

  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    base_map_clear (&ob1->ranks[rank].pinned);
  if (ob1->own_memory != NULL)
    sim_memory_free (ob1->own_memory);
  g_free (ob1->ranks);
  g_free (ob1->works);
  g_free (ob1->messages);
  g_free (ob1);
}

const SimProtocol sim_ob1 = {
  .begin = ob1_begin,
  .free = ob1_free,
  .send = ob1_send,
  .matched = ob1_matched,
  .taken = ob1_taken,
  .direct = ob1_direct,
  .access = ob1_access,
  .event = ob1_event,
  .progress = ob1_progress,
  .is_busy = ob1_is_busy,
};
