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
 * piece first: the receiver and then, when its request has come, the sender, which
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
 * work.h has the processors of the ranks, which do all this. */
#include "sim/replay/ob1.h"
#include "sim/replay/critical.h"
#include "sim/replay/work.h"

/* btl_self_component.c */
#define SELF_EAGER_BYTES (128u * 1024)

#define PAGE_BYTES 4096u

/* The meaning of a message or timer for the rank that it comes to. */
typedef enum {
  EVENT_ENVELOPE = SIM_WORK_EVENTS, /* with the first piece of the data */
  EVENT_ACK,                        /* send fragments */
  EVENT_FRAGMENT,
  EVENT_RETURN, /* within a node: a piece is taken out, its buffer is free */
  EVENT_PUT,    /* write a piece */
  EVENT_WRITE,  /* the piece; software at its destination sees nothing */
  EVENT_FIN,    /* the piece is there */
} Event;

typedef enum {
  WORK_SEND = SIM_WORK_LIBRARY, /* the first piece */
  WORK_STASH,                   /* an unexpected first piece out of the library's buffer */
  WORK_TAKE,                    /* the first piece of a matched message */
  WORK_ACKED,                   /* learn of an acknowledgement */
  WORK_SEND_FRAGMENT,           /* copy in and send */
  WORK_TAKE_FRAGMENT,           /* copy out */
  WORK_FIRST_DELIVERED,         /* learn that the first piece is out of the way */
  WORK_DELIVERED,               /* or that a fragment is */
  WORK_ASK,                     /* register a piece and ask for it */
  WORK_ANSWER,                  /* register it and write it */
  WORK_FINISH,                  /* tell that it is written */
  WORK_FINISHED,                /* learn it */
} WorkKind;

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
  SimWorkers work;   /* first: see there */
  BaseMap *pinned;   /* [n_ranks] peer -> pages registered to send to it, to receive from it */
  Message *messages; /* [messages_capacity] of a transfer */
  uint32_t messages_capacity;
} Ob1;

static inline Ob1 *
ob1_of (const SimReplay *replay)
{
  return replay->library;
}

static inline Message *
message_of (const SimReplay *replay, uint32_t transfer)
{
  return &ob1_of (replay)->messages[transfer];
}

/* -- the BTLs: sizes --------------------------------------------------------- */

/* The user bytes of the fragment that begins there. */
static uint64_t
fragment_bytes (const SimReplay *replay, uint32_t transfer, uint64_t begin)
{
  uint64_t limit_bytes = sim_work_is_local (replay, transfer)
                             ? replay->parameters->ompi.sm_fragment_bytes
                             : replay->parameters->ompi.send_fragment_bytes;

  return MIN (limit_bytes - SIM_OB1_FRAGMENT_HEADER_BYTES,
              sim_transfer_at (replay, transfer)->bytes - begin);
}

/* Size of an RDMA piece that begins there. */
static uint64_t
piece_bytes (const SimReplay *replay, uint32_t transfer, uint64_t begin)
{
  const Message *it = message_of (replay, transfer);
  uint64_t left_bytes = it->rdma_end_bytes - begin;

  return it->pinned ? left_bytes : MIN (left_bytes, replay->parameters->ompi.rdma_fragment_bytes);
}

/* Where RDMA ends and copied fragments begin between nodes, as the receiver
 * decides.  RDMA is for messages above eager_limit + rdma_pipeline_send_length
 * (btl_base_mca.c raises min_rdma_pipeline_size to that), and leaves the last
 * rdma_pipeline_send_length to fragments. */
static uint64_t
rdma_end_bytes (const SimReplay *replay, uint32_t transfer)
{
  const Message *it = message_of (replay, transfer);
  uint64_t bytes = sim_transfer_at (replay, transfer)->bytes;
  uint64_t offset_bytes = replay->parameters->ompi.rdma_offset_bytes;

  if (it->pinned)
    return bytes;
  if (bytes <= replay->parameters->mpi.eager_bytes + offset_bytes)
    return it->first_bytes;
  return MAX (bytes - offset_bytes, it->first_bytes);
}

/* The receiver answers the first piece, before it copies it out. */
static bool
is_acknowledged (const SimReplay *replay, uint32_t transfer)
{
  const Message *it = message_of (replay, transfer);
  uint64_t bytes = sim_transfer_at (replay, transfer)->bytes;

  if (it->eager || it->single || it->pinned)
    return false;
  return it->first_bytes == bytes || sim_work_is_local (replay, transfer) ||
         rdma_end_bytes (replay, transfer) < bytes;
}

/* -- the cost of work: processor time ------------------------------------------ */

/* Registers a piece of a buffer of the sender or receiver. */
static int64_t
register_ps (SimReplay *replay, uint32_t transfer, bool sender, uint64_t bytes)
{
  uint64_t pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;

  if (message_of (replay, transfer)->pinned) {
    const SimTransfer *it = sim_transfer_at (replay, transfer);
    uint32_t rank = sender ? it->envelope.source : it->destination;
    uint32_t peer = sender ? it->destination : it->envelope.source;
    uint32_t *known = &base_map_add (&ob1_of (replay)->pinned[rank], peer, 0)->value[!sender];

    if (pages <= *known)
      return 0;
    *known = (uint32_t) MIN (pages, UINT32_MAX);
  }
  return (int64_t) MIN ((double) replay->parameters->ompi.registration_ps +
                            (double) pages * (double) replay->parameters->ompi.registration_page_ps,
                        (double) SIM_LAST_PS);
}

/* Handling one piece or control message, on either side: a fragment of the
 * shared segment and its FIFO, or a work request and its completion. */
static int64_t
handling_ps (const SimReplay *replay, uint32_t transfer)
{
  if (sim_work_is_self (replay, transfer))
    return 0;
  return sim_work_is_local (replay, transfer) ? replay->parameters->ompi.sm_overhead_ps
                                              : replay->parameters->ompi.fragment_overhead_ps;
}

/* Processor time before the copy. */
static int64_t
work_lead_ps (SimReplay *replay, const SimWork *work, G_GNUC_UNUSED int64_t begin_ps)
{
  uint32_t transfer = work->transfer;
  const Message *it;
  int64_t lead_ps = 0;

  switch ((WorkKind) work->kind) {
  case WORK_SEND:
    if (replay->graphs == NULL)
      lead_ps = replay->parameters->mpi.send_overhead_ps;
    if (message_of (replay, transfer)->pinned)
      lead_ps += register_ps (replay, transfer, true, sim_transfer_at (replay, transfer)->bytes);
    return lead_ps + handling_ps (replay, transfer);
  case WORK_TAKE:
    it = message_of (replay, transfer);
    if (replay->graphs == NULL)
      lead_ps = replay->parameters->mpi.receive_overhead_ps;
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
  case WORK_FIRST_DELIVERED:
  case WORK_DELIVERED: return 0;
  }
  g_assert_not_reached ();
}

/* -- the cost of work: copies ---------------------------------------------------- */

/* The bytes that a piece of work copies in all. */
static uint64_t
work_copy_bytes (const SimReplay *replay, const SimWork *work)
{
  const SimTransfer *it;
  const Message *message;
  uint64_t first_bytes;

  switch ((WorkKind) work->kind) {
  case WORK_SEND:
    it = sim_transfer_at (replay, work->transfer);
    message = message_of (replay, work->transfer);
    /* BTL self sends from where the data is (btl_self_component.c: SEND_INPLACE). */
    first_bytes = sim_work_is_self (replay, work->transfer) ? 0 : message->first_bytes;
    if (!message->eager && replay->requests[it->send_request].mode == TRACE_SEND_BUFFERED)
      return it->bytes - message->first_bytes + first_bytes;
    return first_bytes;
  case WORK_TAKE:
    message = message_of (replay, work->transfer);
    return message->single ? sim_transfer_at (replay, work->transfer)->bytes : message->first_bytes;
  case WORK_STASH:
  case WORK_SEND_FRAGMENT:
  case WORK_TAKE_FRAGMENT: return work->bytes;
  case WORK_ACKED:
  case WORK_FIRST_DELIVERED:
  case WORK_DELIVERED:
  case WORK_ASK:
  case WORK_ANSWER:
  case WORK_FINISH:
  case WORK_FINISHED: return 0;
  }
  g_assert_not_reached ();
}

/* The BTL's buffer of the first piece or of the fragments: between nodes the
 * sender's or the receiver's. */
static SimBuffer
library_buffer (const SimReplay *replay, uint32_t transfer, bool sender, bool first)
{
  const SimTransfer *it = sim_transfer_at (replay, transfer);
  const TopoParameters *parameters = replay->parameters;
  uint32_t source = it->envelope.source, destination = it->destination;

  if (sim_work_is_local (replay, transfer))
    return (SimBuffer){ .kind = SIM_BUFFER_SHARED,
                        .core = sim_core_of (replay, source),
                        .peer = sim_core_of (replay, destination),
                        .footprint_bytes = first ? parameters->ompi.sm_eager_bytes
                                                 : parameters->ompi.sm_depth *
                                                       parameters->ompi.sm_fragment_bytes };
  return (SimBuffer){ .kind = SIM_BUFFER_ADAPTER,
                      .core = sim_core_of (replay, sender ? source : destination),
                      .footprint_bytes = first ? parameters->mpi.eager_bytes
                                               : parameters->ompi.send_fragment_bytes };
}

/* From where to where the next part of the copy goes. */
static void
work_copy_between (const SimReplay *replay, const SimWork *work, SimCopy *copy)
{
  uint32_t transfer = work->transfer;
  const Message *message;
  const SimTransfer *it;

  it = sim_transfer_at (replay, transfer);
  message = message_of (replay, transfer);
  copy->from = sim_private_buffer (replay, it->envelope.source, it->bytes);
  copy->to = sim_private_buffer (replay, it->destination, it->bytes);
  if (work->kind == WORK_SEND) /* then the rest of a buffered one */
    copy->to = work->copied_bytes < message->first_bytes
                   ? library_buffer (replay, transfer, true, true)
                   : sim_private_buffer (replay, it->envelope.source, it->bytes);
  else if (work->kind == WORK_SEND_FRAGMENT)
    copy->to = library_buffer (replay, transfer, true, false);
  else if (work->kind == WORK_STASH) {
    copy->from = library_buffer (replay, transfer, false, true);
    copy->to = sim_private_buffer (replay, it->destination, work->bytes);
  } else if (work->kind == WORK_TAKE_FRAGMENT)
    copy->from = library_buffer (replay, transfer, false, false);
  else if (message->stashed)
    copy->from = sim_private_buffer (replay, it->destination, message->first_bytes);
  else if (!message->single && !sim_work_is_self (replay, transfer))
    copy->from = library_buffer (replay, transfer, false, true);
}

/* -- the BTLs: messages ------------------------------------------------------- */

/* Sends a message of the transfer; bytes: user bytes in it.  Within a node it writes
 * a pointer into the FIFO of the transfer's source or destination.  Between nodes the
 * header of the BTL and, on a first piece, that of matching are in the envelope. */
static void
post (SimReplay *replay, uint32_t transfer, Event event, uint64_t bytes, int64_t at_ps)
{
  const SimTransfer *it = sim_transfer_at (replay, transfer);
  uint32_t source = it->envelope.source, destination = it->destination;
  bool eager = message_of (replay, transfer)->eager, waits = false;
  bool to_source = event == EVENT_ACK || event == EVENT_RETURN || event == EVENT_PUT;
  /* ob1's own messages are as software's own of other machines: they carry
   * nothing of the user's.  A message without bytes is its envelope. */
  SimMessageKind kind = bytes > 0 ? SIM_MESSAGE_SEND : SIM_MESSAGE_CONTROL;
  uint64_t header_bytes = SIM_OB1_MATCH_HEADER_BYTES;
  uint64_t software_bytes;

  if (sim_work_is_local (replay, transfer)) {
    sim_critical_send (replay, transfer, to_source ? destination : source, at_ps);
    if (!sim_work_is_self (replay, transfer))
      at_ps += to_source ? sim_fifo_ps (replay, destination, source)
                         : sim_fifo_ps (replay, source, destination);
    sim_network_timer (replay->network, to_source ? source : destination,
                       sim_event_cookie (event, transfer), at_ps);
    return;
  }
  switch (event) {
  case EVENT_ENVELOPE:
    waits = !eager;
    header_bytes = eager ? SIM_OB1_MATCH_HEADER_BYTES : SIM_OB1_RENDEZVOUS_HEADER_BYTES;
    if (it->bytes == 0)
      kind = SIM_MESSAGE_SEND;
    break;
  case EVENT_ACK: header_bytes = SIM_OB1_ACK_HEADER_BYTES; break;
  case EVENT_FRAGMENT:
    waits = true;
    header_bytes = SIM_OB1_FRAGMENT_HEADER_BYTES;
    break;
  case EVENT_PUT: header_bytes = SIM_OB1_PUT_HEADER_BYTES; break;
  case EVENT_FIN: header_bytes = SIM_OB1_FIN_HEADER_BYTES; break;
  case EVENT_WRITE:
    waits = true;
    kind = SIM_MESSAGE_WRITE;
    break;
  case EVENT_RETURN: g_assert_not_reached ();
  }
  software_bytes =
      replay->parameters->mpi.envelope_bytes + header_bytes - SIM_OB1_MATCH_HEADER_BYTES;
  sim_message_transmit (
      replay,
      (SimMessage){ .cookie = sim_event_cookie (event, transfer),
                    .bytes = bytes,
                    .source_rank = to_source ? destination : source,
                    .destination_rank = to_source ? source : destination,
                    .kind = (uint8_t) kind,
                    .acknowledge = waits,
                    .software_bytes = event == EVENT_WRITE ? 0 : (uint16_t) software_bytes },
      at_ps);
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

/* The sender's side may be over. */
static void
sender_check (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  Message *it = message_of (replay, transfer);

  if (!it->acked || !it->first_delivered ||
      it->delivered_bytes < sim_transfer_at (replay, transfer)->bytes)
    return;
  it->sent = true;
  replay->ranks[sim_work_source (replay, transfer)].open_sends--;
  sim_work_send_complete (replay, transfer, at_ps);
  message_give (replay, transfer);
}

static void
receive_complete (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  uint32_t request = sim_transfer_at (replay, transfer)->receive_request;

  message_of (replay, transfer)->received = true;
  sim_message_received (replay, transfer, at_ps);
  message_give (replay, transfer);
  sim_request_complete (replay, request, at_ps);
}

/* The receiver's side may be over. */
static void
receiver_check (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  const SimTransfer *it = sim_transfer_at (replay, transfer);

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
  uint64_t depth = sim_work_is_local (replay, transfer) ? parameters->ompi.sm_depth
                                                        : parameters->ompi.send_depth;
  bool limited = it->rdma_end_bytes == it->first_bytes;

  if (!it->acked || it->single || it->next_bytes >= sim_transfer_at (replay, transfer)->bytes ||
      (limited && it->in_flight >= depth))
    return;
  sim_work_add (replay, sim_work_source (replay, transfer),
                (SimWork){ .kind = WORK_SEND_FRAGMENT,
                           .transfer = transfer,
                           .bytes = fragment_bytes (replay, transfer, it->next_bytes) },
                SIM_TURN_NEXT);
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

  if (it->ask_bytes >= it->rdma_end_bytes || it->asked >= replay->parameters->ompi.rdma_depth)
    return;
  sim_work_add (replay, sim_transfer_at (replay, transfer)->destination,
                (SimWork){ .kind = WORK_ASK,
                           .transfer = transfer,
                           .bytes = piece_bytes (replay, transfer, it->ask_bytes) },
                SIM_TURN_NEXT);
}

static void
work_begins (SimReplay *replay, const SimWork *work, int64_t at_ps)
{
  uint32_t transfer = work->transfer;
  Message *it;

  if (work->kind == WORK_STASH)
    message_of (replay, transfer)->stash = TOPO_NONE;
  if (work->kind != WORK_TAKE)
    return;
  it = message_of (replay, transfer);
  it->rdma_end_bytes =
      sim_work_is_local (replay, transfer) ? it->first_bytes : rdma_end_bytes (replay, transfer);
  if (is_acknowledged (replay, transfer))
    post (replay, transfer, EVENT_ACK, 0, at_ps);
}

static void
send_end (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  Message *it = message_of (replay, transfer);
  bool eager = it->eager;
  bool done = eager || replay->requests[sim_transfer_at (replay, transfer)->send_request].mode ==
                           TRACE_SEND_BUFFERED;

  it->sent = eager;
  replay->ranks[sim_work_source (replay, transfer)].open_sends += !eager;
  post (replay, transfer, EVENT_ENVELOPE, it->first_bytes, at_ps);
  if (done)
    sim_work_send_complete (replay, transfer, at_ps);
}

static void
work_ends (SimReplay *replay, uint32_t rank, const SimWork *work, int64_t at_ps)
{
  uint32_t transfer = work->transfer;
  Message *it;

  (void) rank;
  it = message_of (replay, transfer);
  switch ((WorkKind) work->kind) {
  case WORK_SEND: send_end (replay, transfer, at_ps); break;
  case WORK_TAKE:
    if (it->single)
      it->received_bytes = sim_transfer_at (replay, transfer)->bytes;
    if (!it->eager && sim_work_is_local (replay, transfer))
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
    if (sim_work_is_local (replay, transfer))
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
    if (it->rdma_end_bytes == sim_transfer_at (replay, transfer)->bytes)
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
  }
}

/* -- for the replay --------------------------------------------------------------------- */

static void
ob1_send (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *it = sim_transfer_at (replay, transfer);
  const SimRequest *request = &replay->requests[it->send_request];
  uint32_t rank = it->envelope.source;
  /* The agent of a rank does the work of a posted collective. */
  SimTurn turn =
      request->owned && replay->parameters->mpi.async_progress ? SIM_TURN_ARRIVED : SIM_TURN_CALL;
  const TopoParameters *parameters = replay->parameters;
  bool local = sim_work_is_local (replay, transfer), self = sim_work_is_self (replay, transfer);
  /* Largest message that goes with its envelope.  pml_ob1_sendreq.h, start_btl: the
   * limit is less the largest header. */
  uint64_t limit_bytes = self    ? SELF_EAGER_BYTES
                         : local ? parameters->ompi.sm_eager_bytes
                                 : parameters->mpi.eager_bytes;
  uint64_t eager_bytes = limit_bytes - MIN (limit_bytes, SIM_OB1_LARGEST_HEADER_BYTES);
  Ob1 *ob1 = ob1_of (replay);
  Message message = { .first_bytes = it->bytes, .stash = TOPO_NONE };

  message.eager = it->bytes <= eager_bytes && request->mode != TRACE_SEND_SYNCHRONOUS;
  if (it->bytes > eager_bytes) {
    message.single = self || (local && parameters->ompi.sm_single_copy);
    /* A copy that is made aside first lies in memory that is not registered. */
    message.pinned =
        !local && parameters->ompi.leave_pinned && request->mode != TRACE_SEND_BUFFERED;
    message.first_bytes = message.single || message.pinned ? 0 : eager_bytes;
  }
  message.put_bytes = message.ask_bytes = message.finished_bytes = message.came_bytes =
      message.received_bytes = message.first_bytes;
  if (transfer >= ob1->messages_capacity) {
    ob1->messages_capacity = MAX (MAX (256u, 2 * ob1->messages_capacity), transfer + 1);
    ob1->messages = g_renew (Message, ob1->messages, ob1->messages_capacity);
  }
  ob1->messages[transfer] = message;
  sim_work_add (
      replay, rank,
      (SimWork){ .kind = WORK_SEND, .transfer = transfer, .at_ps = replay->ranks[rank].local_ps },
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
      it->stash = sim_work_add (
          replay, sim_transfer_at (replay, transfer)->destination,
          (SimWork){ .kind = WORK_STASH, .transfer = transfer, .bytes = it->first_bytes },
          SIM_TURN_ARRIVED);
    return;
  }
  receive = &replay->requests[sim_transfer_at (replay, transfer)->receive_request];
  call = how == SIM_MATCHED_BY_POST && !(receive->owned && replay->parameters->mpi.async_progress);
  if (it->stash != TOPO_NONE)
    sim_workers (replay)->works[it->stash].kind = SIM_WORK_NOTHING;
  it->stash = TOPO_NONE;
  sim_work_add (replay, receive->rank,
                (SimWork){ .kind = WORK_TAKE, .transfer = transfer, .at_ps = receive->at_ps },
                call ? SIM_TURN_CALL : SIM_TURN_ARRIVED);
}

/* An acknowledgement of the network. */
static void
event_acknowledged (SimReplay *replay, const SimProtocolEvent *event)
{
  uint32_t transfer = sim_cookie_low (event->cookie);

  switch (sim_cookie_high (event->cookie)) {
  case EVENT_ENVELOPE:
    sim_work_arrived (replay, event->rank, transfer, WORK_FIRST_DELIVERED, event->bytes);
    break;
  case EVENT_FRAGMENT:
    sim_work_arrived (replay, event->rank, transfer, WORK_DELIVERED, event->bytes);
    break;
  case EVENT_WRITE:
    sim_work_arrived (replay, event->rank, transfer, WORK_FINISH, event->bytes);
    break;
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
  Event kind = (Event) sim_cookie_high (event->cookie);
  uint64_t bytes = event->bytes;
  Message *it;
  bool first;

  if (sim_work_event (replay, event))
    return;
  if (event->acknowledged) {
    event_acknowledged (replay, event);
    return;
  }
  switch (kind) {
  case EVENT_ENVELOPE: sim_message_arrive (replay, transfer); break;
  case EVENT_ACK: sim_work_arrived (replay, rank, transfer, WORK_ACKED, 0); break;
  case EVENT_FRAGMENT:
    it = message_of (replay, transfer);
    if (sim_work_is_local (replay, transfer))
      bytes = fragment_bytes (replay, transfer, it->came_bytes);
    it->came_bytes += bytes;
    sim_work_arrived (replay, rank, transfer, WORK_TAKE_FRAGMENT, bytes);
    break;
  case EVENT_RETURN:
    it = message_of (replay, transfer);
    first = !it->first_returned;
    bytes = it->single ? sim_transfer_at (replay, transfer)->bytes
            : first    ? it->first_bytes
                       : fragment_bytes (replay, transfer, it->returned_bytes);
    it->first_returned = true;
    it->returned_bytes += bytes;
    sim_work_arrived (replay, rank, transfer, first ? WORK_FIRST_DELIVERED : WORK_DELIVERED, bytes);
    break;
  case EVENT_PUT:
    it = message_of (replay, transfer);
    bytes = piece_bytes (replay, transfer, it->put_bytes);
    it->put_bytes += bytes;
    sim_work_arrived (replay, rank, transfer, WORK_ANSWER, bytes);
    break;
  case EVENT_FIN:
    it = message_of (replay, transfer);
    bytes = piece_bytes (replay, transfer, it->finished_bytes);
    it->finished_bytes += bytes;
    sim_work_arrived (replay, rank, transfer, WORK_FINISHED, bytes);
    break;
  case EVENT_WRITE: break;
  }
}

static const SimWorkRules ob1_rules = {
  .lead_ps = work_lead_ps,
  .copy_bytes = work_copy_bytes,
  .copy_between = work_copy_between,
  .begins = work_begins,
  .ends = work_ends,
};

static void
ob1_begin (SimReplay *replay)
{
  Ob1 *ob1 = replay->library = g_new0 (Ob1, 1);

  sim_workers_init (replay, &ob1->work, &ob1_rules, replay->parameters->ompi.fragment_overhead_ps);
  ob1->pinned = g_new0 (BaseMap, replay->n_ranks);
}

static void
ob1_free (SimReplay *replay)
{
  Ob1 *ob1 = ob1_of (replay);

  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    base_map_clear (&ob1->pinned[rank]);
  sim_workers_clear (&ob1->work);
  g_free (ob1->pinned);
  g_free (ob1->messages);
  g_free (ob1);
}

static void
ob1_dump (SimReplay *replay, BaseDump *dump)
{
  Ob1 *ob1 = ob1_of (replay);

  base_dump_section (dump, "ob1");
  sim_workers_dump (replay, dump);
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    base_map_dump (&ob1->pinned[rank], dump);
  base_dump_list (dump, (void **) &ob1->messages, &ob1->messages_capacity, &ob1->messages_capacity,
                  sizeof *ob1->messages);
}

const SimProtocol sim_ob1 = {
  .begin = ob1_begin,
  .free = ob1_free,
  .dump = ob1_dump,
  .send = ob1_send,
  .matched = ob1_matched,
  .taken = ob1_taken,
  .direct = sim_work_direct,
  .access = sim_work_access,
  .event = ob1_event,
  .progress = sim_work_progress,
  .is_busy = sim_work_is_busy,
};
