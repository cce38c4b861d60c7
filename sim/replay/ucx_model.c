/* ucx_model.c - what UCX estimates of the ways that it has, and what it chooses by that.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The names of files in comments are those of UCX's source. */
#include "sim/replay/ucx_model.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define MIB_PER_S 1048576.0

/* ucp_context.c: rendezvous of sends that have to complete at once locally. */
#define FAST_RENDEZVOUS_BYTES 262144

#define MAX_RAILS 2

/* Connections of a reliable transport that UCX keeps (UCX_RC_MAX_NUM_EPS). */
#define MAX_CONNECTED 256

/* How UCX estimates. */
typedef enum {
  THRESHOLDS, /* ucp_ep.c: from which size another way is as fast */
  STAGES,     /* proto_init.c: times of what follows on each other */
  FACTORS,    /* proto_perf.c: times of processors, wire and latency */
} Model;

/* Constants that changed, with the first version that has them.  Where a release was not seen, the
 * change is dated by the logs around it. */
typedef struct {
  uint32_t since;
  Model model;
  double copy_MiBps, amd_copy_MiBps; /* memcpy into a buffer of UCX */
  double register_ns;                /* memory whose registration is cached */
  double shared_MiBps;               /* shared memory as a transport (mm_iface.c) */
  uint32_t segment_bytes, shared_segment_bytes;
  double numa_ns, own_numa; /* latency of a unit of distance, from this distance on */
  double bias;              /* of a rendezvous: it is preferred slightly */
  double ack_ns;            /* more than a plain message, at the end of a rendezvous */
  bool fragments_cost;      /* a threshold counts what starting a fragment costs; since 1.12.1 */
  bool waits;               /* messages that are not copied, and reads: for an acknowledgement */
} Rules;

static const Rules all_rules[] = {
  { 7, THRESHOLDS, 5800, 5800, 90, 12179, 8192, 8192, 20, 10, .99, 0, false, false },
  { 8, THRESHOLDS, 5800, 5008, 90, 12179, 8192, 8256, 20, 10, .99, 0, false, false },
  { 9, THRESHOLDS, 5800, 5008, 90, 12179, 8256, 8256, 20, 10, .99, 0, false, false },
  { 10, THRESHOLDS, 5800, 5008, 180, 12179, 8256, 8256, 20, 10, .99, 0, false, false },
  { 12, THRESHOLDS, 5800, 5008, 180, 12179, 8256, 8256, 20, 10, .99, 0, true, false },
  { 14, THRESHOLDS, 5800, 5008, 180, 15360, 8256, 8256, 20, 10, .99, 0, true, false },
  { 16, STAGES, 7000, 7000, 50, 15360, 8256, 8256, 10, 0, .99, 150, false, false },
  { 18, FACTORS, 7000, 7000, 50, 15360, 8256, 8256, 10, 0, 1, 50, false, true },
  { 19, FACTORS, 7000, 7000, 50, 15360, 8256, 8256, 10, 0, .99, 50, false, true },
  { 20, FACTORS, 7000, 7000, 50, 15360, 8256, 8256, 10, 0, .99, 50, false, false },
};

/* A time that grows with the message. */
typedef struct {
  double ns, ns_per_byte;
} Line;

/* A transport on a device, as UCX sees it. */
typedef struct {
  double latency_ns;
  double fetch_ns; /* more, of all but the short messages: the adapter has to read them */
  double post_ns, bcopy_post_ns;  /* what a processor does to send, and more for a copy */
  double after_ns, completion_ns; /* after that: the doorbell; and if UCX has to see the end */
  double receive_ns;
  double ns_per_byte;
  bool registers;                     /* memory, before it is read where it is */
  uint64_t short_bytes, packet_bytes; /* of the user */
} Lane;

static double
line_at (Line line, double bytes)
{
  return line.ns + line.ns_per_byte * bytes;
}

static const Rules *
find_rules (uint32_t version)
{
  size_t k = G_N_ELEMENTS (all_rules) - 1;

  while (k > 0 && all_rules[k].since > version)
    k--;
  return &all_rules[k];
}

static double
copy_ns_per_byte (const SimUcxSituation *situation, const Rules *rules)
{
  double MiBps = situation->vendor == SIM_UCX_AMD ? rules->amd_copy_MiBps : rules->copy_MiBps;

  return 1e9 / (MiBps * MIB_PER_S);
}

/* -- lanes --------------------------------------------------------------- */

/* ib_iface.c: rate after the coding of the lanes and with the headers of RC in each packet.  All
 * ranks of the node share it. */
static double
wire_ns_per_byte (const SimUcxSituation *situation)
{
  double coding = situation->link_Gbps <= 40 ? 8. / 10 : 64. / 66;
  double header_bytes = 44;
  double Bps = situation->link_Gbps * 1e9 / 8 * coding * situation->mtu_bytes /
               (situation->mtu_bytes + header_bytes);

  if (situation->pcie_Bps > 0)
    Bps = fmin (Bps, situation->pcie_Bps);
  return 1e9 * MAX (situation->ranks_per_node, 1) / Bps;
}

/* ib_iface.c, by the speed of the port. */
static double
port_latency_ns (double link_Gbps)
{
  if (link_Gbps <= 10)
    return 5000; /* SDR */
  if (link_Gbps <= 20)
    return 2500; /* DDR */
  if (link_Gbps <= 40)
    return 1300; /* QDR */
  return link_Gbps < 60 ? 700 /* FDR10, FDR */ : 600;
}

/* The latency of a reliable transport grows with the number of peers, whose contexts fall out of
 * the adapter's cache; the others' does not. */
static double
transport_latency_ns (SimUcxTransport transport, uint32_t n_endpoints)
{
  switch (transport) {
  case SIM_UCX_RC_MLX5:
  case SIM_UCX_RC_VERBS: return n_endpoints;
  case SIM_UCX_DC_MLX5: return 60;
  case SIM_UCX_UD_MLX5:
  case SIM_UCX_UD_VERBS: return 30;
  }
  g_return_val_if_reached (0);
}

static double
transport_overhead_ns (SimUcxTransport transport)
{
  switch (transport) {
  case SIM_UCX_RC_MLX5:
  case SIM_UCX_DC_MLX5: return 40;
  case SIM_UCX_UD_MLX5: return 80;
  case SIM_UCX_RC_VERBS: return 75;
  case SIM_UCX_UD_VERBS: return 105;
  }
  g_return_val_if_reached (0);
}

/* What fits in a work request of 256 bytes: mlx5 has 20 bytes of control, and 48 of address for dc,
 * UCX's header 2 and the tag 8.  The others' limits are as UCX prints them.  Device memory has
 * 2 KiB. */
static uint64_t
inline_bytes (SimUcxTransport transport, SimUcxAdapter adapter)
{
  bool device_memory = adapter >= SIM_UCX_CONNECTX5;

  switch (transport) {
  case SIM_UCX_RC_MLX5: return device_memory ? 2038 : 226;
  case SIM_UCX_DC_MLX5: return device_memory ? 2038 : 178;
  case SIM_UCX_UD_MLX5: return 172;
  case SIM_UCX_RC_VERBS: return adapter <= SIM_UCX_CONNECTX3 ? 79 : 115;
  case SIM_UCX_UD_VERBS: return 108;
  }
  g_return_val_if_reached (0);
}

/* A packet of ud is one of the network, of the others a segment; less headers and the tag. */
static uint64_t
packet_bytes (SimUcxTransport transport, const SimUcxSituation *situation, const Rules *rules)
{
  switch (transport) {
  case SIM_UCX_RC_MLX5:
  case SIM_UCX_DC_MLX5: return rules->segment_bytes - 10;
  case SIM_UCX_RC_VERBS: return rules->segment_bytes - 9;
  case SIM_UCX_UD_MLX5:
  case SIM_UCX_UD_VERBS: return situation->mtu_bytes - 16;
  }
  g_return_val_if_reached (0);
}

static bool
is_datagram (SimUcxTransport transport)
{
  return transport == SIM_UCX_UD_MLX5 || transport == SIM_UCX_UD_VERBS;
}

static Lane
adapter_lane (const SimUcxSituation *situation, const Rules *rules, SimUcxTransport transport)
{
  double distance = situation->numa_distance > 0 ? situation->numa_distance : 10;
  double overhead_ns = transport_overhead_ns (transport);

  return (Lane){
    .latency_ns = port_latency_ns (situation->link_Gbps) +
                  transport_latency_ns (transport, situation->n_endpoints) +
                  fmax (distance - rules->own_numa, 0) * rules->numa_ns,
    .fetch_ns = 350,
    .post_ns = overhead_ns,
    .bcopy_post_ns = 5,
    .after_ns = 40,
    .completion_ns = 20,
    .receive_ns = overhead_ns,
    .ns_per_byte = wire_ns_per_byte (situation),
    .registers = true,
    .short_bytes = inline_bytes (transport, situation->adapter),
    .packet_bytes = packet_bytes (transport, situation, rules),
  };
}

/* Segments of shared memory (mm_iface.c): no ranks share its bandwidth. */
static Lane
shared_lane (const Rules *rules)
{
  return (Lane){
    .latency_ns = 80,
    .post_ns = 10,
    .receive_ns = 10,
    .ns_per_byte = 1e9 / (rules->shared_MiBps * MIB_PER_S),
    .short_bytes = 92,
    .packet_bytes = rules->shared_segment_bytes - 8,
  };
}

/* The kernel copies (cma_iface.c, knem_iface.c), not divided by the ranks. */
static Lane
kernel_lane (SimUcxSingleCopy single_copy)
{
  double MiBps = single_copy == SIM_UCX_KNEM ? 13862 : 11145;

  return (Lane){
    .latency_ns = 80,
    .post_ns = 500,
    .ns_per_byte = 1e9 / (MiBps * MIB_PER_S),
    .registers = single_copy == SIM_UCX_KNEM,
  };
}

/* -- transport ----------------------------------------------------------- */

/* wireup/select.c: the score of active messages; the most is taken. */
static double
transport_score (const SimUcxSituation *situation, SimUcxTransport transport)
{
  return 1e6 / (port_latency_ns (situation->link_Gbps) +
                transport_latency_ns (transport, situation->n_endpoints) +
                2 * transport_overhead_ns (transport));
}

static bool
transport_exists (const SimUcxSituation *situation, SimUcxTransport transport)
{
  bool mlx4 = situation->adapter <= SIM_UCX_CONNECTX3;

  switch (transport) {
  case SIM_UCX_RC_MLX5: return !mlx4 && situation->n_endpoints <= MAX_CONNECTED;
  case SIM_UCX_RC_VERBS: return situation->n_endpoints <= MAX_CONNECTED;
  case SIM_UCX_DC_MLX5:
  case SIM_UCX_UD_MLX5: return !mlx4;
  case SIM_UCX_UD_VERBS: return true;
  }
  g_return_val_if_reached (false);
}

static SimUcxTransport
choose_transport (const SimUcxSituation *situation)
{
  static const SimUcxTransport all[] = { SIM_UCX_RC_MLX5, SIM_UCX_DC_MLX5, SIM_UCX_UD_MLX5,
                                         SIM_UCX_RC_VERBS, SIM_UCX_UD_VERBS };
  SimUcxTransport best = SIM_UCX_UD_VERBS;
  double score = 0;

  for (size_t k = 0; k < G_N_ELEMENTS (all); k++)
    if (transport_exists (situation, all[k]) && transport_score (situation, all[k]) > score) {
      best = all[k];
      score = transport_score (situation, best);
    }
  return best;
}

/* -- up to 1.15: thresholds of an endpoint (ucp_ep.c) ---------------------- */

/* From where registering costs less than copying. */
static double
zcopy_threshold (const Lane *lane, const Rules *rules, double copy)
{
  return copy > lane->ns_per_byte ? rules->register_ns / (copy - lane->ns_per_byte)
                                  : (double) INFINITY;
}

/* From where a rendezvous, with the control messages that it needs, is as fast as the eager ways.
 * There are two: by remote reads over all rails, for which the receiver registers too, and by plain
 * messages over one, after the receiver has answered. */
static double
rendezvous_threshold (const Lane *lane, const Rules *rules, double copy, uint32_t n_rails,
                      bool reads)
{
  double segment_bytes = (double) lane->packet_bytes + 8;
  double fragment = rules->fragments_cost ? lane->post_ns / segment_bytes : 0;
  double slowest = fmax (lane->ns_per_byte + fragment, copy);
  double registered_ns = n_rails * rules->register_ns * (reads ? 2 : 1);
  double messages_ns = 2 * (1 + n_rails) * lane->latency_ns + (2 + n_rails) * lane->post_ns;
  double fixed_ns =
      rules->bias * (registered_ns + messages_ns) - rules->register_ns - lane->post_ns;
  double saved = slowest - rules->bias * lane->ns_per_byte / n_rails;

  return fixed_ns > 0 && saved > 0 ? fmax (fixed_ns / saved, segment_bytes) : (double) INFINITY;
}

/* The last size below a threshold, which is the first of the next way. */
static uint64_t
below (double threshold)
{
  return threshold < 1e18 ? (uint64_t) threshold - 1 : UINT64_MAX;
}

static void
set_limits (SimUcxLimits *limits, uint64_t short_bytes, uint64_t bcopy_bytes, uint64_t zcopy_bytes)
{
  limits->short_bytes = short_bytes;
  limits->bcopy_bytes = MAX (limits->short_bytes, bcopy_bytes);
  limits->zcopy_bytes = MAX (limits->bcopy_bytes, zcopy_bytes);
}

static void
threshold_limits (const SimUcxSituation *situation, const Rules *rules, const Lane *lane,
                  uint32_t n_rails, bool can_read, SimUcxLimits *limits)
{
  double copy = copy_ns_per_byte (situation, rules);
  double rendezvous = rendezvous_threshold (lane, rules, copy, 1, false);

  if (can_read)
    rendezvous = fmin (rendezvous, rendezvous_threshold (lane, rules, copy, n_rails, true));
  if (situation->fast_completion)
    set_limits (limits, lane->short_bytes, FAST_RENDEZVOUS_BYTES - 1, 0);
  else
    set_limits (limits, lane->short_bytes,
                below (fmin (zcopy_threshold (lane, rules, copy), rendezvous)), below (rendezvous));
}

/* Shared memory has nothing to register, and only two latencies stand against the copy: that is
 * 1.5 to 2 KB with all constants, and UCX takes no threshold below a segment. */
static void
threshold_limits_within (const SimUcxSituation *situation, const Lane *lane, SimUcxLimits *limits)
{
  uint64_t rendezvous_bytes =
      situation->fast_completion ? FAST_RENDEZVOUS_BYTES : lane->packet_bytes + 8;

  set_limits (limits, lane->short_bytes, rendezvous_bytes - 1, 0);
}

/* -- from 1.16: the way that is estimated to be fastest (proto_*.c) -------- */

typedef enum { SHORT, BCOPY, ZCOPY, RENDEZVOUS } Kind;

/* What a message costs in a way.  A line each, as UCX has them. */
typedef struct {
  Line own, wire, peer; /* the sender's processor, the network, the receiver's processor */
  double after_ns;      /* of own, which delays the next message but not this one */
  double latency_ns;    /* which delays no other */
} Cost;

#define MAX_LINES 3

/* The time of a way: the most of its lines. */
typedef struct {
  Kind kind;
  uint64_t above_bytes, max_bytes; /* sizes that it can take */
  Line lines[MAX_LINES];
  uint32_t n_lines;
} Way;

#define MAX_WAYS 8

typedef struct {
  const SimUcxSituation *situation;
  const Rules *rules;
  double copy_ns_per_byte;
  Way ways[MAX_WAYS];
  uint32_t n_ways;
} Choice;

static Line
line_sum (Line a, Line b)
{
  return (Line){ a.ns + b.ns, a.ns_per_byte + b.ns_per_byte };
}

static Line
line_scaled (Line line, double by)
{
  return (Line){ line.ns * by, line.ns_per_byte * by };
}

/* The time of one message: everything after another. */
static Line
cost_of_one (const Cost *cost)
{
  Line sum = line_sum (line_sum (cost->own, cost->wire), cost->peer);

  sum.ns += cost->latency_ns;
  return sum;
}

/* The time of each of many: what is slowest. */
static void
cost_of_many (const Cost *cost, Line lines[MAX_LINES])
{
  lines[0] = cost->own;
  lines[0].ns += cost->after_ns;
  lines[1] = cost->wire;
  lines[2] = cost->peer;
}

static void
add_way (Choice *choice, Kind kind, uint64_t above_bytes, uint64_t max_bytes, const Cost *cost)
{
  Way *way = &choice->ways[choice->n_ways++];
  double bias = kind == RENDEZVOUS ? choice->rules->bias : 1;

  g_assert (choice->n_ways <= MAX_WAYS);
  *way = (Way){ kind, above_bytes, max_bytes, .n_lines = 1 };
  way->lines[0] = cost_of_one (cost);
  if (choice->situation->multi_send) {
    way->n_lines = MAX_LINES;
    cost_of_many (cost, way->lines);
  }
  for (uint32_t k = 0; k < way->n_lines; k++)
    way->lines[k] = line_scaled (way->lines[k], bias);
}

/* As factors, or if UCX waits for the end, all that the sender does counts. */
static void
count_after (Cost *cost)
{
  cost->own.ns += cost->after_ns;
  cost->after_ns = 0;
}

/* proto_single.c: a message in one packet.  OVERHEAD_NS is what the protocol costs a processor
 * beside the lane.  A sender that has to be done at once does not count the receiver, nor the wire
 * if the data is copied away. */
static Cost
eager_cost (const Choice *choice, const Lane *lane, Kind kind, double overhead_ns)
{
  const Rules *rules = choice->rules;
  bool fast = choice->situation->fast_completion;
  Cost cost = { .latency_ns = lane->latency_ns, .after_ns = lane->after_ns };

  cost.own.ns = lane->post_ns + overhead_ns;
  if (kind == ZCOPY) {
    cost.own.ns += rules->register_ns;
    cost.after_ns += lane->completion_ns;
  } else
    cost.own.ns_per_byte = choice->copy_ns_per_byte;
  if (kind == BCOPY)
    cost.own.ns += lane->bcopy_post_ns;
  if (kind != SHORT)
    cost.latency_ns += lane->fetch_ns;
  if (kind == ZCOPY && (fast || rules->waits))
    cost.latency_ns *= 2;
  if (!fast || kind == ZCOPY)
    cost.wire.ns_per_byte = lane->ns_per_byte;
  if (!fast)
    cost.peer = (Line){ lane->receive_ns + overhead_ns, choice->copy_ns_per_byte };
  if (rules->model == FACTORS || (kind == ZCOPY && fast))
    count_after (&cost);
  return cost;
}

/* A line of a fragment, repeated for as many as the message needs. */
static Line
repeated (Line line, double fragment_bytes)
{
  return (Line){ line.ns, line.ns_per_byte + line.ns / fragment_bytes };
}

/* proto_multi.c: a message in fragments.  They overlap in all but what is slowest, which the
 * message takes for all of them, and the rest once: factors as they are for a fragment; of stages,
 * all that the first fragment takes longer. */
static Cost
fragments_cost (const Choice *choice, const Lane *lane, Kind kind, double fragment_bytes)
{
  double overhead_ns = 10; /* of a protocol of many fragments */
  Cost cost = eager_cost (choice, lane, kind, overhead_ns);
  Line one = repeated (cost_of_one (&cost), fragment_bytes);
  Line lines[MAX_LINES];
  uint32_t most = 0;

  cost_of_many (&cost, lines);
  for (uint32_t k = 1; k < MAX_LINES; k++)
    if (line_at (lines[k], fragment_bytes) > line_at (lines[most], fragment_bytes))
      most = k;
  for (uint32_t k = 0; k < MAX_LINES; k++)
    if (k == most)
      lines[k] = repeated (lines[k], fragment_bytes);
    else if (choice->rules->model == FACTORS)
      lines[k] = (Line){ line_at (lines[k], fragment_bytes), 0 };
    else
      lines[k] = (Line){ 0, 0 };
  if (choice->rules->model == STAGES)
    cost.latency_ns =
        fmax (line_at (one, fragment_bytes) - line_at (lines[most], fragment_bytes), 0);
  return (Cost){ lines[0], lines[1], lines[2], .latency_ns = cost.latency_ns };
}

static Cost
cost_sum (const Cost *a, const Cost *b)
{
  return (Cost){
    .own = line_sum (a->own, b->own),
    .wire = line_sum (a->wire, b->wire),
    .peer = line_sum (a->peer, b->peer),
    .after_ns = a->after_ns + b->after_ns,
    .latency_ns = a->latency_ns + b->latency_ns,
  };
}

/* A message without data, which a copy sends; OWN_NS and PEER_NS more on its two sides. */
static Cost
control_cost (const Lane *lane, double own_ns, double peer_ns)
{
  return (Cost){
    .own.ns = lane->post_ns + lane->bcopy_post_ns + lane->after_ns + own_ns,
    .peer.ns = lane->receive_ns + peer_ns,
    .latency_ns = lane->latency_ns + lane->fetch_ns,
  };
}

/* The same, of the side that receives the rendezvous. */
static Cost
reversed (Cost cost)
{
  Line own = cost.own;

  cost.own = cost.peer;
  cost.peer = own;
  return cost;
}

/* How the data of a rendezvous goes. */
typedef enum {
  READ,  /* by the receiver */
  WRITE, /* by the sender, after an answer that says where to */
  MAP,   /* copied by the receiver, who maps the sender's memory */
} Move;

static Cost
data_cost (const Choice *choice, const Lane *rails, uint32_t n_rails, Move move)
{
  const Rules *rules = choice->rules;
  double bytes_per_ns = 0;
  Cost cost = { 0 };

  for (uint32_t k = 0; k < n_rails; k++) {
    cost.own.ns += rails[k].post_ns;
    cost.after_ns += rails[k].after_ns + rails[k].completion_ns;
    cost.latency_ns = fmax (cost.latency_ns, rails[k].latency_ns + rails[k].fetch_ns);
    bytes_per_ns += 1 / rails[k].ns_per_byte;
  }
  cost.wire.ns_per_byte = 1 / bytes_per_ns;
  if (move == READ && (rules->model == STAGES || rules->waits))
    cost.latency_ns *= 2;
  if (rules->model == FACTORS || move == READ)
    count_after (&cost);
  return cost;
}

/* proto_rndv.c: a request and perhaps an answer come BEFORE the data, and after it perhaps an
 * acknowledgement.  Of many, the stages before it delay the sender. */
static void
add_rendezvous (Choice *choice, const Cost *before, const Cost *data, const Cost *ack)
{
  Cost sum = cost_sum (before, data);

  if (choice->rules->model == STAGES && choice->situation->multi_send) {
    sum = *data;
    sum.own = line_sum (line_sum (sum.own, ack->own), cost_of_one (before));
  } else
    sum = cost_sum (&sum, ack);
  add_way (choice, RENDEZVOUS, 0, UINT64_MAX, &sum);
}

static Cost
request_cost (const Lane *control, double register_ns)
{
  double overhead_ns = 275;

  return control_cost (control, register_ns + overhead_ns, overhead_ns);
}

static Cost
answer_cost (const Lane *control, double register_ns)
{
  double overhead_ns = 40;

  return reversed (control_cost (control, register_ns + overhead_ns, overhead_ns));
}

/* What the registration of a message costs that several rails may carry: once. */
static double
rails_register_ns (const Choice *choice, const Lane *rails, uint32_t n_rails)
{
  for (uint32_t k = 0; k < n_rails; k++)
    if (rails[k].registers)
      return choice->rules->register_ns;
  return 0;
}

/* rndv_get.c, rndv_put.c, rndv_rkey_ptr.c */
static void
add_rendezvous_by_memory (Choice *choice, const Lane *control, const Lane *rails, uint32_t n_rails,
                          Move move)
{
  double register_ns = rails_register_ns (choice, rails, n_rails);
  Cost before = request_cost (control, register_ns);
  Cost answer = answer_cost (control, register_ns);
  Cost data = data_cost (choice, rails, n_rails, move);
  Cost ack = control_cost (control, choice->rules->ack_ns, 0);

  data.own.ns += register_ns;
  if (move == WRITE)
    before = cost_sum (&before, &answer);
  else if (choice->rules->model == FACTORS) {
    data = reversed (data);
    ack = reversed (ack);
  }
  add_rendezvous (choice, &before, &data, &ack);
}

/* rndv_am.c: fragments like eager ones, with a header of the same size in all of them.  What the
 * request says of memory is for all ways. */
static void
add_rendezvous_by_messages (Choice *choice, const Lane *lane, const Lane *rails, uint32_t n_rails,
                            Kind kind)
{
  double fragment_bytes = (double) lane->packet_bytes - 8;
  Cost request = request_cost (lane, rails_register_ns (choice, rails, n_rails));
  Cost answer = answer_cost (lane, 0);
  Cost before = cost_sum (&request, &answer);
  Cost data = fragments_cost (choice, lane, kind, fragment_bytes);
  Cost no_ack = { 0 };

  add_rendezvous (choice, &before, &data, &no_ack);
}

static double
way_at (const Way *way, double bytes)
{
  double most = 0;

  for (uint32_t k = 0; k < way->n_lines; k++)
    most = fmax (most, line_at (way->lines[k], bytes));
  return most;
}

static int
compare_doubles (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

#define MAX_CROSSINGS (MAX_WAYS * MAX_LINES * MAX_WAYS * MAX_LINES / 2)

/* All sizes between FROM and TO where a line crosses another, in order. */
static uint32_t
find_crossings (const Choice *choice, double from, double to, double crossings[MAX_CROSSINGS])
{
  Line lines[MAX_WAYS * MAX_LINES];
  uint32_t n_lines = 0, n = 0;

  for (uint32_t w = 0; w < choice->n_ways; w++)
    for (uint32_t k = 0; k < choice->ways[w].n_lines; k++)
      lines[n_lines++] = choice->ways[w].lines[k];
  for (uint32_t a = 0; a < n_lines; a++)
    for (uint32_t b = 0; b < a; b++) {
      double at = (lines[a].ns - lines[b].ns) / (lines[b].ns_per_byte - lines[a].ns_per_byte);

      if (isfinite (at) && at > from && at < to)
        crossings[n++] = at;
    }
  qsort (crossings, n, sizeof *crossings, compare_doubles);
  return n;
}

static bool
way_takes (const Way *way, uint64_t from, uint64_t to)
{
  return way->above_bytes <= from && to <= way->max_bytes;
}

/* Of the ways that take all sizes between FROM and TO. */
static Kind
fastest (const Choice *choice, double bytes, uint64_t from, uint64_t to)
{
  const Way *best = NULL;

  for (uint32_t w = 0; w < choice->n_ways; w++)
    if (way_takes (&choice->ways[w], from, to) &&
        (best == NULL || way_at (&choice->ways[w], bytes) < way_at (best, bytes)))
      best = &choice->ways[w];
  g_assert (best != NULL);
  return best->kind;
}

/* LAST: the largest size of each kind so far.  No way begins or ends between FROM and TO.  UCX
 * rounds the size where two ways are alike, and takes the first way up to it. */
static void
follow_fastest (const Choice *choice, uint64_t from, uint64_t to, uint64_t last[RENDEZVOUS + 1])
{
  double crossings[MAX_CROSSINGS];
  uint32_t n = find_crossings (choice, (double) from, (double) to, crossings);
  double begin = (double) from;

  for (uint32_t k = 0; k < n; k++) {
    double middle = (begin + crossings[k]) / 2;

    last[fastest (choice, middle, from, to)] = (uint64_t) (crossings[k] + .5);
    begin = crossings[k];
  }
  last[fastest (choice, fmin ((begin + (double) to) / 2, 2 * begin + 1), from, to)] = to;
}

static void
fastest_limits (Choice *choice, const Lane *lane, SimUcxLimits *limits)
{
  uint64_t end = choice->situation->fast_completion ? FAST_RENDEZVOUS_BYTES - 1 : UINT64_MAX;
  uint64_t last[RENDEZVOUS + 1] = { 0 };

  follow_fastest (choice, 0, lane->short_bytes, last);
  follow_fastest (choice, lane->short_bytes, lane->packet_bytes, last);
  follow_fastest (choice, lane->packet_bytes, end, last);
  set_limits (limits, last[SHORT], last[BCOPY], last[ZCOPY]);
}

static void
add_single (Choice *choice, const Lane *lane, Kind kind, uint64_t max_bytes, double overhead_ns)
{
  Cost cost = eager_cost (choice, lane, kind, overhead_ns);

  add_way (choice, kind, 0, max_bytes, &cost);
}

/* A header of 24 bytes of the first fragment, 16 more than of a message in one packet. */
static void
add_fragments (Choice *choice, const Lane *lane, Kind kind)
{
  Cost cost = fragments_cost (choice, lane, kind, (double) lane->packet_bytes - 16);

  add_way (choice, kind, lane->packet_bytes, UINT64_MAX, &cost);
}

/* All that one lane can do, eager and as a rendezvous; RAILS are those that reach memory. */
static void
add_messages (Choice *choice, const Lane *lane, const Lane *rails, uint32_t n_rails)
{
  bool fast = choice->situation->fast_completion;
  double packet_overhead_ns = 5;

  add_single (choice, lane, SHORT, lane->short_bytes, 0);
  add_single (choice, lane, BCOPY, lane->packet_bytes, packet_overhead_ns);
  add_fragments (choice, lane, BCOPY);
  if (!fast)
    add_rendezvous_by_messages (choice, lane, rails, n_rails, BCOPY);
  if (lane->registers) {
    add_single (choice, lane, ZCOPY, lane->packet_bytes, 0);
    add_fragments (choice, lane, ZCOPY);
    if (!fast)
      add_rendezvous_by_messages (choice, lane, rails, n_rails, ZCOPY);
  }
}

static Choice
choice_new (const SimUcxSituation *situation, const Rules *rules)
{
  return (Choice){
    .situation = situation,
    .rules = rules,
    .copy_ns_per_byte = copy_ns_per_byte (situation, rules),
  };
}

static void
fastest_limits_between (const SimUcxSituation *situation, const Rules *rules, const Lane *lane,
                        const Lane *reader, uint32_t n_rails, SimUcxLimits *limits)
{
  Choice choice = choice_new (situation, rules);
  Lane rails[MAX_RAILS] = { { 0 } };

  if (reader == NULL)
    n_rails = 0;
  for (uint32_t k = 0; k < n_rails; k++)
    rails[k] = *reader;
  add_messages (&choice, lane, rails, n_rails);
  if (n_rails > 0 && !situation->fast_completion)
    add_rendezvous_by_memory (&choice, lane, rails, n_rails, READ);
  fastest_limits (&choice, lane, limits);
}

/* proto_multi.c takes lanes together whose rates differ by no more than 4: within a node the
 * adapter may carry a part. */
static uint32_t
rails_within (const SimUcxSituation *situation, const Lane *shared, const Lane *adapter,
              Lane rails[MAX_RAILS])
{
  const double max_ratio = 4;
  uint32_t n = 0;

  if (situation->single_copy == SIM_UCX_XPMEM) {
    rails[n] = *shared;
    rails[n++].registers = true;
    return n;
  }
  if (situation->single_copy != SIM_UCX_NO_SINGLE_COPY)
    rails[n++] = kernel_lane (situation->single_copy);
  if (adapter != NULL && (n == 0 || adapter->ns_per_byte <= max_ratio * rails[0].ns_per_byte))
    rails[n++] = *adapter;
  return n;
}

static void
fastest_limits_within (const SimUcxSituation *situation, const Rules *rules, const Lane *adapter,
                       SimUcxLimits *limits)
{
  Choice choice = choice_new (situation, rules);
  Lane shared = shared_lane (rules);
  Lane rails[MAX_RAILS];
  uint32_t n_rails = rails_within (situation, &shared, adapter, rails);

  add_messages (&choice, &shared, rails, n_rails);
  if (n_rails > 0 && !situation->fast_completion) {
    if (situation->single_copy == SIM_UCX_XPMEM)
      add_rendezvous_by_memory (&choice, &shared, rails, n_rails, MAP);
    else {
      add_rendezvous_by_memory (&choice, &shared, rails, n_rails, READ);
      add_rendezvous_by_memory (&choice, &shared, rails, n_rails, WRITE);
    }
  }
  fastest_limits (&choice, &shared, limits);
}

/* -- both ---------------------------------------------------------------- */

/* Each lane carries by its rate.  Where nothing but the adapter reaches memory it carries all, but
 * from 1.16 only if it is not slower than a copy. */
static double
adapter_part_within (const SimUcxSituation *situation, const Rules *rules, const Lane *adapter)
{
  bool alone = situation->single_copy == SIM_UCX_NO_SINGLE_COPY;
  Lane shared = shared_lane (rules);
  Lane rails[MAX_RAILS];
  uint32_t n_rails = rails_within (situation, &shared, adapter, rails);

  if (adapter == NULL)
    return 0;
  if (rules->model == THRESHOLDS)
    return alone ? 1 : 0;
  if (alone)
    return adapter->ns_per_byte <= copy_ns_per_byte (situation, rules) ? 1 : 0;
  return n_rails == 2 ? rails[0].ns_per_byte / (rails[0].ns_per_byte + rails[1].ns_per_byte) : 0;
}

void
sim_ucx_choose (const SimUcxSituation *situation, SimUcxChoice *choice)
{
  const Rules *rules = find_rules (situation->version);
  SimUcxTransport transport = choose_transport (situation);
  Lane lane = adapter_lane (situation, rules, transport);
  Lane shared = shared_lane (rules);
  Lane reader = lane;
  bool can_read = !is_datagram (transport);

  /* Datagrams cannot read: the data of a rendezvous goes over connections, while there are few. */
  if (!can_read && transport_exists (situation, SIM_UCX_RC_VERBS)) {
    reader = adapter_lane (situation, rules, SIM_UCX_RC_VERBS);
    can_read = true;
  }
  *choice = (SimUcxChoice){
    .transport = transport,
    .fragment_bytes = lane.packet_bytes,
    .fragment_within_bytes = shared.packet_bytes,
    .n_rails = can_read ? CLAMP (situation->n_adapters, 1, MAX_RAILS) : 1,
  };
  const Lane *data = can_read ? &reader : NULL;

  choice->adapter_part_within = adapter_part_within (situation, rules, data);
  if (rules->model == THRESHOLDS) {
    threshold_limits (situation, rules, &lane, choice->n_rails, can_read, &choice->between);
    threshold_limits_within (situation, &shared, &choice->within);
  } else {
    fastest_limits_between (situation, rules, &lane, data, choice->n_rails, &choice->between);
    fastest_limits_within (situation, rules, data, &choice->within);
  }
}
