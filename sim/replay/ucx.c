/* ucx.c - the messaging library of today's fabrics: UCX's tagged messages (UCP) and its transports.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources are files of openucx/ucx around v1.12 and v1.17, below src/; what MPI libraries add on top is
 * in [mpi] send_overhead and receive_overhead.  ucx_model.c decides between the ways:
 *
 *   short        in the work request, or by the processor into the adapter's memory
 *   bcopy        copied into a registered buffer; long ones in fragments
 *   zcopy        the adapter reads the user's buffer; fragments, complete when acknowledged
 *   rendezvous   get_zcopy: a request to send (RTS); the receiver's adapter reads the data when that has
 *                matched, over n_rails adapters at once; then the receiver tells the sender (ATS)
 *
 * (ucp/tag/eager_snd.c, ucp/rndv/rndv_get.c).  A receiver has what came in its buffers until it
 * matches, also what nobody asked for yet, and copies it once (ucp/tag/eager_rcv.c keeps
 * the receive descriptor).  Buffers stay registered: a look-up each (ucs/memory/rcache.c).
 *
 * Within a node messages go through a FIFO in the receiver's memory (uct/sm/mm); short ones are in its
 * elements, bcopy fragments in segments of the receiver's, of which a few are taken to be used in turn; they
 * go from its cache to the sender's and back.  A rendezvous is an RTS, one copy by the receiver
 * out of the sender's memory (CMA, KNEM, XPMEM) and an ATS.  A rank that sends to itself
 * copies once.
 *
 * Not modelled: credits and the length of send queues and FIFOs, which make a sender wait that is
 * hundreds of messages ahead.
 *
 * One-sided accesses and direct collectives run past UCP's messages, as in ob1.c. */
#include "sim/replay/ucx.h"
#include "sim/replay/critical.h"
#include "sim/replay/work.h"
#include "topology/node/processor.h"

/* Headers in the payload, beside [mpi] envelope: ucp/tag/eager.h, ucp/rndv/rndv.h.  That of an RTS is with
 * the packed key of one memory region. */
enum {
  FIRST_HEADER_BYTES = 16,
  MIDDLE_HEADER_BYTES = 8,
  RTS_HEADER_BYTES = 64,
  ATS_HEADER_BYTES = 8,
};

/* Of a fragment, beside its data: ucp/core/ucp_am.h, uct/ib/rc/base/rc_iface.h. */
#define SEGMENT_HEADER_BYTES 10u
#define LEAST_SEGMENT_BYTES  (SEGMENT_HEADER_BYTES + FIRST_HEADER_BYTES + 1)

/* Elements of a FIFO of which a stream of fragments uses the segments in turn. */
#define SEGMENTS_IN_TURN 8u

/* The meaning of a message or timer for the rank that it comes to. */
typedef enum {
  EVENT_FIRST = SIM_WORK_EVENTS, /* the first fragment, or an RTS */
  EVENT_FRAGMENT,
  EVENT_READ, /* a request to the adapter of the sender */
  EVENT_DATA, /* its answer */
  EVENT_ATS,
} Event;

typedef enum {
  WORK_SEND = SIM_WORK_LIBRARY, /* the first fragment, or the RTS */
  WORK_SEND_FRAGMENT,
  WORK_TAKE, /* all that has come of a message when it matches */
  WORK_TAKE_FRAGMENT,
  WORK_READ,       /* learn that the data of a rendezvous is there */
  WORK_TOLD,       /* the sender: learn that it is */
  WORK_COMPLETION, /* of zcopy: learn that the last fragment is acknowledged */
} WorkKind;

typedef enum { WAY_SHORT, WAY_BCOPY, WAY_ZCOPY, WAY_RENDEZVOUS } Way;

/* The state of a transfer.  Each side changes its own half. */
typedef struct {
  uint8_t way;
  bool synchronous; /* the sender is told when it has matched */

  /* the sender's */
  bool told, completed; /* ATS, and the adapter's completion of zcopy, are known */
  bool sent;
  uint64_t next_bytes;         /* where the next fragment begins */
  uint64_t acknowledged_bytes; /* of zcopy */

  /* the receiver's */
  bool matched, received;
  uint64_t came_bytes;
  uint64_t received_bytes; /* in the buffer of the receive */
} Message;

typedef struct {
  SimWorkers work;       /* first: see there */
  SimUcxChoice choice;   /* for a rendezvous, and for sends that complete later */
  SimUcxChoice blocking; /* for sends that must complete at once */
  Message *messages;     /* [messages_capacity] of a transfer */
  uint32_t *last_sender; /* [rank] whose cache has the head of its FIFO; TOPO_NONE */
  int64_t *stored_ps;    /* [rank] when the last line that it writes is in its cache */
  uint32_t messages_capacity;
} Ucx;

static inline Ucx *
ucx_of (const SimReplay *replay)
{
  return replay->library;
}

static inline Message *
message_of (const SimReplay *replay, uint32_t transfer)
{
  return &ucx_of (replay)->messages[transfer];
}

/* The user bytes of the fragment that begins there; a rendezvous has none with its RTS. */
static uint64_t
fragment_bytes (const SimReplay *replay, uint32_t transfer, uint64_t begin)
{
  const SimUcxChoice *choice = &ucx_of (replay)->choice;
  uint64_t bytes = sim_transfer_at (replay, transfer)->bytes;
  uint64_t packet_bytes =
      sim_work_is_local (replay, transfer) ? choice->fragment_within_bytes : choice->fragment_bytes;

  switch ((Way) message_of (replay, transfer)->way) {
  case WAY_RENDEZVOUS: return 0;
  case WAY_SHORT: return bytes - begin;
  case WAY_BCOPY:
  case WAY_ZCOPY:
    if (bytes <= packet_bytes)
      return bytes;
    return MIN (bytes - begin,
                packet_bytes - (begin == 0 ? FIRST_HEADER_BYTES : MIDDLE_HEADER_BYTES));
  }
  g_assert_not_reached ();
}

/* -- the cost of work ---------------------------------------------------------------- */

/* A line of the FIFO in the memory of `to` that comes to the processor of `reader`, which waits for
 * it. */
static int64_t
line_ps (const SimReplay *replay, uint32_t writer, uint32_t reader, uint32_t to)
{
  return sim_memory_handover_ps (sim_workers (replay)->memory, sim_core_of (replay, writer),
                                 sim_core_of (replay, reader), sim_core_of (replay, to));
}

/* Processor time of one work request, or of one element of a FIFO (uct/sm/mm/base/mm_ep.c).  The FIFO's head
 * is in the cache of who has counted it up last: another sender waits for its line to read it, and where the
 * line stays with both once more to change it.  To count it up is a locked instruction, which waits until
 * all that was written before has its lines (Intel SDM vol. 3, 8.2.5).  A short message is only written
 * into the element, and the processor goes on while its line comes: see post().  Another one is copied to
 * where the element says, whose line the receiver has. */
static int64_t
post_ps (const SimReplay *replay, uint32_t from, uint32_t to, bool is_short, int64_t at_ps)
{
  const TopoParameters *parameters = replay->parameters;
  uint32_t *last_sender = &ucx_of (replay)->last_sender[to], last = *last_sender;
  int64_t cost_ps = MAX (ucx_of (replay)->stored_ps[from] - at_ps, 0);

  if (from == to)
    return 0;
  if (replay->ranks[from].node != replay->ranks[to].node)
    return parameters->ucx.post_ps;
  *last_sender = from;
  cost_ps += parameters->ompi.sm_overhead_ps;
  if (parameters->ompi.sm_lines == 0)
    return cost_ps;
  if (last != from && last != TOPO_NONE)
    cost_ps += (parameters->memory.migratory ? 1 : 2) * line_ps (replay, last, from, to);
  return is_short ? cost_ps : cost_ps + line_ps (replay, to, from, to);
}

/* The same of one that has come: its receiver reads the other lines. */
static int64_t
poll_ps (const SimReplay *replay, uint32_t from, uint32_t to)
{
  const TopoParameters *parameters = replay->parameters;
  uint64_t n_lines = parameters->ompi.sm_lines;

  if (from == to)
    return 0;
  if (replay->ranks[from].node != replay->ranks[to].node)
    return parameters->ucx.receive_ps;
  return parameters->ompi.sm_overhead_ps +
         (n_lines > 1 ? (int64_t) (n_lines - 1) * line_ps (replay, from, to, to) : 0);
}

/* The buffer is found among the registered ones; within a node CMA and its like begin. */
static int64_t
buffer_ps (const SimReplay *replay, uint32_t transfer)
{
  if (sim_work_is_self (replay, transfer))
    return 0;
  return sim_work_is_local (replay, transfer) ? replay->parameters->ucx.single_copy_overhead_ps
                                              : replay->parameters->ucx.registration_ps;
}

/* Processor time before the copy. */
static int64_t
work_lead_ps (SimReplay *replay, const SimWork *work, int64_t begin_ps)
{
  const TopoParameters *parameters = replay->parameters;
  uint32_t transfer = work->transfer;
  const SimTransfer *it = sim_transfer_at (replay, transfer);
  uint32_t source = it->envelope.source, destination = it->destination;
  Way way = message_of (replay, transfer)->way;
  bool local = sim_work_is_local (replay, transfer);
  int64_t lead_ps = 0;

  switch ((WorkKind) work->kind) {
  case WORK_SEND:
    if (replay->graphs == NULL)
      lead_ps = parameters->mpi.send_overhead_ps;
    if (!local && (way == WAY_ZCOPY || way == WAY_RENDEZVOUS))
      lead_ps += buffer_ps (replay, transfer);
    return lead_ps + post_ps (replay, source, destination, way == WAY_SHORT, begin_ps + lead_ps);
  case WORK_SEND_FRAGMENT: return post_ps (replay, source, destination, false, begin_ps);
  case WORK_TAKE:
    if (replay->graphs == NULL)
      lead_ps = parameters->mpi.receive_overhead_ps;
    lead_ps += poll_ps (replay, source, destination);
    if (way == WAY_RENDEZVOUS)
      lead_ps += buffer_ps (replay, transfer) + (local ? 0 : parameters->ucx.post_ps);
    return lead_ps;
  case WORK_TAKE_FRAGMENT: return poll_ps (replay, source, destination);
  case WORK_TOLD: return poll_ps (replay, destination, source);
  case WORK_READ: return parameters->ucx.completion_ps + parameters->ucx.post_ps;
  case WORK_COMPLETION: return parameters->ucx.completion_ps;
  }
  g_assert_not_reached ();
}

/* The bytes that a piece of work copies in all. */
static uint64_t
work_copy_bytes (const SimReplay *replay, const SimWork *work)
{
  const SimTransfer *it = sim_transfer_at (replay, work->transfer);
  const Message *message = message_of (replay, work->transfer);
  bool once = sim_work_is_self (replay, work->transfer) ||
              (sim_work_is_local (replay, work->transfer) && message->way == WAY_RENDEZVOUS);
  /* A short message within a node comes and goes with its element, which sm_lines counts. */
  bool element = message->way == WAY_SHORT && sim_work_is_local (replay, work->transfer);

  switch ((WorkKind) work->kind) {
  case WORK_SEND:
    if (replay->requests[it->send_request].mode == TRACE_SEND_BUFFERED)
      return it->bytes;
    return message->way == WAY_ZCOPY || once || element ? 0 : work->bytes;
  case WORK_SEND_FRAGMENT: return message->way == WAY_ZCOPY ? 0 : work->bytes;
  case WORK_TAKE: return once ? it->bytes : element ? 0 : work->bytes;
  case WORK_TAKE_FRAGMENT: return work->bytes;
  case WORK_READ:
  case WORK_TOLD:
  case WORK_COMPLETION: return 0;
  }
  g_assert_not_reached ();
}

/* The library's buffer: between nodes the sender's or the receiver's. */
static SimBuffer
library_buffer (const SimReplay *replay, uint32_t transfer, bool sender)
{
  const SimUcxChoice *choice = &ucx_of (replay)->choice;
  const SimTransfer *it = sim_transfer_at (replay, transfer);
  uint32_t source = it->envelope.source, destination = it->destination;

  /* What it wrote is in the sender's cache; what it writes is where it was read last, in the
   * receiver's. */
  if (sim_work_is_local (replay, transfer))
    return (SimBuffer){ .kind = SIM_BUFFER_SHARED,
                        .core = sim_core_of (replay, sender ? destination : source),
                        .peer = sim_core_of (replay, sender ? source : destination),
                        .footprint_bytes = SEGMENTS_IN_TURN * choice->fragment_within_bytes };
  return (SimBuffer){ .kind = SIM_BUFFER_ADAPTER,
                      .core = sim_core_of (replay, sender ? source : destination),
                      .footprint_bytes = choice->fragment_bytes };
}

/* From where to where the next part of the copy goes. */
static void
work_copy_between (const SimReplay *replay, const SimWork *work, SimCopy *copy)
{
  uint32_t transfer = work->transfer;
  const SimTransfer *it = sim_transfer_at (replay, transfer);
  const Message *message = message_of (replay, transfer);

  copy->from = sim_private_buffer (replay, it->envelope.source, it->bytes);
  copy->to = sim_private_buffer (replay, it->destination, it->bytes);
  if (work->kind == WORK_SEND && replay->requests[it->send_request].mode == TRACE_SEND_BUFFERED) {
    /* All of it is copied aside; the copy into the library's buffer is then warm. */
    copy->to = sim_private_buffer (replay, it->envelope.source, it->bytes);
  } else if (work->kind == WORK_SEND || work->kind == WORK_SEND_FRAGMENT) {
    copy->to = library_buffer (replay, transfer, true);
    if (!sim_work_is_local (replay, transfer) && message->way == WAY_BCOPY)
      copy->limit_Bps = replay->parameters->ucx.copy_bandwidth_Bps;
  } else if (!sim_work_is_self (replay, transfer) && message->way != WAY_RENDEZVOUS) {
    copy->from = library_buffer (replay, transfer, false);
  }
}

/* -- messages -------------------------------------------------------------------------- */

/* Sends a message of the transfer; bytes: user bytes in it. */
static void
post (SimReplay *replay, uint32_t transfer, Event event, uint64_t bytes, int64_t at_ps)
{
  const SimTransfer *it = sim_transfer_at (replay, transfer);
  uint32_t source = it->envelope.source, destination = it->destination;
  bool to_source = event == EVENT_ATS;
  Way way = message_of (replay, transfer)->way;
  uint64_t header_bytes = replay->parameters->mpi.envelope_bytes;
  /* UCX's own messages are as software's own of other machines: they carry nothing of the
   * user's.  A message without bytes is its envelope. */
  SimMessageKind kind = bytes > 0 || (event == EVENT_FIRST && it->bytes == 0) ? SIM_MESSAGE_SEND
                                                                              : SIM_MESSAGE_CONTROL;
  SimDataPlace place = SIM_DATA_IN_REQUEST;

  if (sim_work_is_local (replay, transfer)) {
    uint32_t from = to_source ? destination : source, to = to_source ? source : destination;

    sim_critical_send (replay, transfer, from, at_ps);
    if (from != to) {
      /* The line of the element is in the reader's cache; who has read it here may have it for
       * himself. */
      if (replay->parameters->ompi.sm_lines > 0 &&
          (way == WAY_SHORT || !replay->parameters->memory.migratory))
        at_ps += line_ps (replay, to, from, to);
      ucx_of (replay)->stored_ps[from] = at_ps;
      at_ps += replay->parameters->ompi.sm_latency_ps;
    }
    sim_network_timer (replay->network, to, sim_event_cookie (event, transfer), at_ps);
    return;
  }
  if (event == EVENT_ATS)
    header_bytes += ATS_HEADER_BYTES;
  else if (event == EVENT_FRAGMENT)
    header_bytes += MIDDLE_HEADER_BYTES;
  else if (way == WAY_RENDEZVOUS)
    header_bytes += RTS_HEADER_BYTES;
  else if (bytes < it->bytes)
    header_bytes += FIRST_HEADER_BYTES;
  if (way == WAY_BCOPY || way == WAY_ZCOPY)
    place = SIM_DATA_IN_MEMORY;
  else if (way == WAY_SHORT && bytes > replay->parameters->hca.inline_bytes)
    place = SIM_DATA_IN_ADAPTER;
  if (event == EVENT_ATS)
    place = SIM_DATA_IN_REQUEST;
  sim_message_transmit (replay,
                        (SimMessage){ .cookie = sim_event_cookie (event, transfer),
                                      .bytes = bytes,
                                      .source_rank = to_source ? destination : source,
                                      .destination_rank = to_source ? source : destination,
                                      .kind = (uint8_t) kind,
                                      .place = (uint8_t) place,
                                      .acknowledge = way == WAY_ZCOPY && !to_source,
                                      .software_bytes = (uint16_t) header_bytes },
                        at_ps);
}

/* The receiver's adapter asks the sender's for the data, each rail for its share. */
static void
post_reads (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  const SimTransfer *it = sim_transfer_at (replay, transfer);

  for (uint32_t rail = 0; rail < ucx_of (replay)->choice.n_rails; rail++)
    sim_message_transmit (replay,
                          (SimMessage){ .cookie = sim_event_cookie (EVENT_READ, transfer),
                                        .source_rank = it->destination,
                                        .destination_rank = it->envelope.source,
                                        .kind = SIM_MESSAGE_READ,
                                        .rail = (uint8_t) rail },
                          at_ps);
}

static void
answer_read (SimReplay *replay, uint32_t transfer, uint32_t rail)
{
  const SimTransfer *it = sim_transfer_at (replay, transfer);
  uint32_t n_rails = ucx_of (replay)->choice.n_rails;

  sim_message_transmit (
      replay,
      (SimMessage){ .cookie = sim_event_cookie (EVENT_DATA, transfer),
                    .bytes = it->bytes * (rail + 1) / n_rails - it->bytes * rail / n_rails,
                    .source_rank = it->envelope.source,
                    .destination_rank = it->destination,
                    .kind = SIM_MESSAGE_WRITE,
                    .place = SIM_DATA_ASKED_FOR,
                    .rail = (uint8_t) rail },
      replay->now_ps);
}

static void
message_give (SimReplay *replay, uint32_t transfer)
{
  const Message *it = message_of (replay, transfer);

  if (it->sent && it->received)
    sim_transfer_give (replay, transfer);
}

/* Nothing more happens at the sender. */
static void
send_over (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  message_of (replay, transfer)->sent = true;
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
  if (message_of (replay, transfer)->way == WAY_RENDEZVOUS)
    post (replay, transfer, EVENT_ATS, 0, at_ps);
  if (replay->graphs != NULL)
    sim_graph_arrived (replay, it->receive_request, transfer);
  else
    receive_complete (replay, transfer, at_ps);
}

static void
ucx_taken (SimReplay *replay, uint32_t transfer)
{
  receive_complete (replay, transfer, replay->now_ps);
}

/* The sender's part may be over: all is on its way, the adapter has told of what it reads, and the
 * receiver of what it has to tell. */
static void
sender_check (SimReplay *replay, uint32_t transfer, int64_t at_ps)
{
  const Message *it = message_of (replay, transfer);
  uint64_t bytes = sim_transfer_at (replay, transfer)->bytes;

  if (it->way == WAY_RENDEZVOUS ? it->told
                                : it->next_bytes == bytes && (it->told || !it->synchronous) &&
                                      (it->way != WAY_ZCOPY || it->completed))
    send_over (replay, transfer, at_ps);
}

/* A fragment is on its way: the next one, or the end of the sender's part. */
static void
fragment_sent (SimReplay *replay, uint32_t transfer, uint64_t bytes, int64_t at_ps)
{
  Message *it = message_of (replay, transfer);

  it->next_bytes += bytes;
  if (it->way == WAY_RENDEZVOUS)
    return;
  if (it->next_bytes < sim_transfer_at (replay, transfer)->bytes)
    sim_work_add (replay, sim_work_source (replay, transfer),
                  (SimWork){ .kind = WORK_SEND_FRAGMENT,
                             .transfer = transfer,
                             .bytes = fragment_bytes (replay, transfer, it->next_bytes) },
                  SIM_TURN_NEXT);
  else
    sender_check (replay, transfer, at_ps);
}

static void
work_ends (SimReplay *replay, uint32_t rank G_GNUC_UNUSED, const SimWork *work, int64_t at_ps)
{
  uint32_t transfer = work->transfer;
  Message *it = message_of (replay, transfer);

  switch ((WorkKind) work->kind) {
  case WORK_SEND:
    post (replay, transfer, EVENT_FIRST, work->bytes, at_ps);
    if (replay->requests[sim_transfer_at (replay, transfer)->send_request].mode ==
        TRACE_SEND_BUFFERED)
      sim_work_send_complete (replay, transfer, at_ps);
    fragment_sent (replay, transfer, work->bytes, at_ps);
    break;
  case WORK_SEND_FRAGMENT:
    post (replay, transfer, EVENT_FRAGMENT, work->bytes, at_ps);
    fragment_sent (replay, transfer, work->bytes, at_ps);
    break;
  case WORK_TAKE:
    if (it->synchronous && it->way != WAY_RENDEZVOUS)
      post (replay, transfer, EVENT_ATS, 0, at_ps);
    if (it->way == WAY_RENDEZVOUS && !sim_work_is_local (replay, transfer)) {
      post_reads (replay, transfer, at_ps);
      break;
    }
    it->received_bytes +=
        it->way == WAY_RENDEZVOUS ? sim_transfer_at (replay, transfer)->bytes : work->bytes;
    receiver_check (replay, transfer, at_ps);
    break;
  case WORK_TAKE_FRAGMENT:
  case WORK_READ:
    it->received_bytes += work->bytes;
    receiver_check (replay, transfer, at_ps);
    break;
  case WORK_TOLD:
    it->told = true;
    sender_check (replay, transfer, at_ps);
    break;
  case WORK_COMPLETION:
    it->completed = true;
    sender_check (replay, transfer, at_ps);
    break;
  }
}

/* -- for the replay --------------------------------------------------------------------- */

static void
ucx_send (SimReplay *replay, uint32_t transfer)
{
  const SimTransfer *it = sim_transfer_at (replay, transfer);
  const SimRequest *request = &replay->requests[it->send_request];
  uint32_t rank = it->envelope.source;
  /* The agent of a rank does the work of a posted collective. */
  SimTurn turn =
      request->owned && replay->parameters->mpi.async_progress ? SIM_TURN_ARRIVED : SIM_TURN_CALL;
  Ucx *ucx = ucx_of (replay);
  const SimUcxChoice *choice = request->blocking ? &ucx->blocking : &ucx->choice;
  const SimUcxLimits *limits =
      sim_work_is_local (replay, transfer) ? &choice->within : &choice->between;
  Message message = { .synchronous = request->mode == TRACE_SEND_SYNCHRONOUS };

  if (sim_work_is_self (replay, transfer))
    message.way = WAY_SHORT;
  else if (it->bytes <= limits->short_bytes)
    message.way = WAY_SHORT;
  else if (it->bytes <= limits->bcopy_bytes)
    message.way = WAY_BCOPY;
  else
    message.way = it->bytes <= limits->zcopy_bytes ? WAY_ZCOPY : WAY_RENDEZVOUS;
  if (transfer >= ucx->messages_capacity) {
    ucx->messages_capacity = MAX (MAX (256u, 2 * ucx->messages_capacity), transfer + 1);
    ucx->messages = g_renew (Message, ucx->messages, ucx->messages_capacity);
  }
  ucx->messages[transfer] = message;
  sim_work_add (replay, rank,
                (SimWork){ .kind = WORK_SEND,
                           .transfer = transfer,
                           .bytes = fragment_bytes (replay, transfer, 0),
                           .at_ps = replay->ranks[rank].local_ps },
                turn);
}

static void
ucx_matched (SimReplay *replay, uint32_t transfer, SimMatched how)
{
  Message *it = message_of (replay, transfer);
  const SimRequest *receive;
  bool call;

  if (how == SIM_UNMATCHED)
    return;
  receive = &replay->requests[sim_transfer_at (replay, transfer)->receive_request];
  call = how == SIM_MATCHED_BY_POST && !(receive->owned && replay->parameters->mpi.async_progress);
  it->matched = true;
  sim_work_add (replay, receive->rank,
                (SimWork){ .kind = WORK_TAKE,
                           .transfer = transfer,
                           .bytes = it->came_bytes,
                           .at_ps = receive->at_ps },
                call ? SIM_TURN_CALL : SIM_TURN_ARRIVED);
}

/* The first fragment, or one more; within a node timers bring them, in their order. */
static void
fragment_came (SimReplay *replay, const SimProtocolEvent *event, uint32_t transfer)
{
  Message *it = message_of (replay, transfer);
  uint64_t bytes = sim_work_is_local (replay, transfer)
                       ? fragment_bytes (replay, transfer, it->came_bytes)
                       : event->bytes;

  it->came_bytes += bytes;
  if (sim_cookie_high (event->cookie) == EVENT_FIRST)
    sim_message_arrive (replay, transfer);
  else if (it->matched)
    sim_work_arrived (replay, event->rank, transfer, WORK_TAKE_FRAGMENT, bytes);
}

static void
acknowledged (SimReplay *replay, const SimProtocolEvent *event)
{
  uint32_t transfer = sim_cookie_low (event->cookie);
  Message *it;

  it = message_of (replay, transfer);
  it->acknowledged_bytes += event->bytes;
  if (it->acknowledged_bytes == sim_transfer_at (replay, transfer)->bytes)
    sim_work_arrived (replay, event->rank, transfer, WORK_COMPLETION, 0);
}

static void
ucx_event (SimReplay *replay, const SimProtocolEvent *event)
{
  uint32_t transfer = sim_cookie_low (event->cookie), rank = event->rank;

  if (sim_work_event (replay, event))
    return;
  if (event->acknowledged) {
    acknowledged (replay, event);
    return;
  }
  switch ((Event) sim_cookie_high (event->cookie)) {
  case EVENT_FIRST:
  case EVENT_FRAGMENT: fragment_came (replay, event, transfer); break;
  case EVENT_READ: answer_read (replay, transfer, event->rail); break;
  case EVENT_DATA: sim_work_arrived (replay, rank, transfer, WORK_READ, event->bytes); break;
  case EVENT_ATS: sim_work_arrived (replay, rank, transfer, WORK_TOLD, 0); break;
  }
}

static const SimWorkRules ucx_rules = {
  .lead_ps = work_lead_ps,
  .copy_bytes = work_copy_bytes,
  .copy_between = work_copy_between,
  .ends = work_ends,
};

/* As UCX has them: uct/ib/base/ib_iface.c. */
static const double lane_Gbps[TOPO_SPEEDS] = {
  2.5, 5, 10, 10.3125, 14.0625, 25.78125, 51.5625, 100
};

static SimUcxVendor
vendor_of (const TopoNode *node)
{
  const char *vendor =
      node->processor != NULL ? topo_processor_vendor (node->processor) : "GenuineIntel";

  return g_str_equal (vendor, "AuthenticAMD") ? SIM_UCX_AMD : SIM_UCX_INTEL;
}

/* Longer messages are a rendezvous. */
static void
limit_ways (SimUcxLimits *limits, uint64_t bytes)
{
  limits->zcopy_bytes = bytes;
  limits->bcopy_bytes = MIN (limits->bcopy_bytes, bytes);
  limits->short_bytes = MIN (limits->short_bytes, bytes);
}

void
sim_ucx_choose_for (const TopoMachine *machine, const TopoMapping *mapping, bool blocking,
                    SimUcxChoice *choice)
{
  const TopoParameters *parameters = &machine->parameters;
  const TopoFabric *fabric = machine->fabric;
  uint32_t node = mapping->n_ranks > 0 ? mapping->node[0] : 0;
  const TopoHost *host = &fabric->hosts[node];
  uint32_t n_here = 0;
  SimUcxSituation situation = {
    .version = (uint32_t) parameters->ucx.version,
    .n_endpoints = MAX (1, mapping->n_ranks),
    .adapter = (SimUcxAdapter) parameters->hca.model,
    .n_adapters = (uint32_t) MIN (MAX (1, host->n_rails), parameters->ucx.rails),
    .mtu_bytes = (uint32_t) parameters->ib.mtu_bytes,
    .pcie_Bps = (double) parameters->hca.pcie_bandwidth_Bps,
    .vendor = vendor_of (machine->node),
    .single_copy = (SimUcxSingleCopy) parameters->ucx.single_copy,
    /* Open MPI asks for it in MPI_Send (pml_ucx.c), MPICH does not. */
    .fast_completion = blocking && parameters->mpi.library != TOPO_LIBRARY_MPICH4,
  };

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++)
    n_here += mapping->node[rank] == node;
  /* MPICH 4.2 does not say how many (src/mpid/ch4/netmod/ucx/ucx_init.c). */
  situation.ranks_per_node = parameters->mpi.library == TOPO_LIBRARY_MPICH4 ? 1 : MAX (1, n_here);
  for (uint32_t at = 0; at < host->n_rails; at++) {
    const TopoDevice *device = &fabric->devices[fabric->rails[host->first_rail + at]];

    for (uint32_t port = device->first_port; port < device->first_port + device->n_ports; port++)
      if (fabric->ports[port].peer != TOPO_NONE)
        situation.link_Gbps = fabric->ports[port].lanes * lane_Gbps[fabric->ports[port].speed];
  }
  sim_ucx_choose (&situation, choice);
  if (parameters->ucx.segment_bytes > 0)
    choice->fragment_bytes = choice->fragment_within_bytes =
        MAX (parameters->ucx.segment_bytes, LEAST_SEGMENT_BYTES) - SEGMENT_HEADER_BYTES;
  if (parameters->ucx.rndv_thresh_bytes > 0) {
    limit_ways (&choice->between, parameters->ucx.rndv_thresh_bytes);
    limit_ways (&choice->within, parameters->ucx.rndv_thresh_bytes);
    choice->within.bcopy_bytes = choice->within.zcopy_bytes;
  }
  if (parameters->ucx.zcopy_thresh_bytes > 0) {
    choice->between.bcopy_bytes =
        MIN (parameters->ucx.zcopy_thresh_bytes, choice->between.zcopy_bytes);
    choice->between.short_bytes = MIN (choice->between.short_bytes, choice->between.bcopy_bytes);
  }
}

static void
ucx_begin (SimReplay *replay)
{
  Ucx *ucx = replay->library = g_new0 (Ucx, 1);

  sim_workers_init (replay, &ucx->work, &ucx_rules, replay->parameters->ucx.post_ps);
  ucx->last_sender = g_new (uint32_t, replay->n_ranks);
  ucx->stored_ps = g_new0 (int64_t, replay->n_ranks);
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    ucx->last_sender[rank] = TOPO_NONE;
  sim_ucx_choose_for (replay->machine, replay->mapping, false, &ucx->choice);
  sim_ucx_choose_for (replay->machine, replay->mapping, true, &ucx->blocking);
  replay->network->dynamic_connections = ucx->choice.transport == SIM_UCX_DC_MLX5;
}

static void
ucx_free (SimReplay *replay)
{
  Ucx *ucx = ucx_of (replay);

  sim_workers_clear (&ucx->work);
  g_free (ucx->messages);
  g_free (ucx->last_sender);
  g_free (ucx->stored_ps);
  g_free (ucx);
}

static void
ucx_dump (SimReplay *replay, BaseDump *dump)
{
  Ucx *ucx = ucx_of (replay);

  base_dump_section (dump, "ucx");
  sim_workers_dump (replay, dump);
  base_dump_list (dump, (void **) &ucx->messages, &ucx->messages_capacity, &ucx->messages_capacity,
                  sizeof *ucx->messages);
  base_dump_array (dump, ucx->last_sender, replay->n_ranks, sizeof *ucx->last_sender);
  base_dump_array (dump, ucx->stored_ps, replay->n_ranks, sizeof *ucx->stored_ps);
}

const SimProtocol sim_ucx = {
  .begin = ucx_begin,
  .free = ucx_free,
  .dump = ucx_dump,
  .send = ucx_send,
  .matched = ucx_matched,
  .taken = ucx_taken,
  .direct = sim_work_direct,
  .access = sim_work_access,
  .event = ucx_event,
  .progress = sim_work_progress,
  .is_busy = sim_work_is_busy,
};
