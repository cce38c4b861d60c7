/* shrink.c - long messages with a part of their packets.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/shrink.h"

#include <string.h>

/* Messages with so many packets left are some 2 and 3 % off, one by one, under uniform traffic. */
#define AUTO_PACKETS   1000u
#define SCREEN_PACKETS 250u
/* Enough to tell bad placements from good ones: at 16 KiB, rank correlation with exact runs .82 to
 * .88 under halos (84 mappings of 512 nodes). */
#define RACE_PACKETS 2u
#define RACE_MOST    8u
/* Where packets choose their way as they go, waits come out too small (by 20 % with 1,000 packets left,
 * by 2 % with 8,000, uniform traffic), perhaps because the dynamic channel's buffers hold more. */
#define DYNAMIC_TIMES 8u

static const struct {
  const char *name;
  SimShrink shrink;
} named[] = {
  { "off", { 0 } },
  { "auto", { .packets_left = AUTO_PACKETS } },
  { "auto:screen", { .packets_left = SCREEN_PACKETS } },
  { "auto:race", { .packets_left = RACE_PACKETS } },
};

gboolean
sim_shrink_parse (const char *text, SimShrink *shrink)
{
  guint64 factor;

  for (gsize i = 0; i < G_N_ELEMENTS (named); i++)
    if (strcmp (text, named[i].name) == 0) {
      *shrink = named[i].shrink;
      return TRUE;
    }
  if (!g_ascii_string_to_unsigned (text, 10, 2, 1u << 20, &factor, NULL))
    return FALSE;
  *shrink = (SimShrink){ .factor = (uint32_t) factor };
  return TRUE;
}

char *
sim_shrink_text (SimShrink shrink)
{
  for (gsize i = 0; i < G_N_ELEMENTS (named); i++)
    if (shrink.factor == named[i].shrink.factor &&
        shrink.packets_left == named[i].shrink.packets_left)
      return g_strdup (named[i].name);
  return g_strdup_printf ("%u", shrink.factor);
}

/* --- Lengths --- */

typedef struct {
  const TopoMachine *machine;
  const TopoMapping *mapping;
  RoutePolicy policy;
  SimShrink shrink;
  uint32_t most;
  uint64_t packet_bytes;
} Question;

/* Messages between two nodes. */
typedef struct {
  uint64_t shortest_bytes; /* UINT64_MAX: there are none */
  uint64_t longest_bytes, bytes;
  bool is_dynamic; /* any is routed dynamically */
} Lengths;

static const Lengths nothing = { .shortest_bytes = UINT64_MAX };

static bool
goes_dynamic (const Question *question, uint32_t from, uint32_t to, uint64_t bytes, bool direct)
{
  const TopoMachine *machine = question->machine;

  if (machine->fabric != NULL)
    return machine->parameters.switches.adaptive != TOPO_ADAPTIVE_NONE;
  if (direct)
    return route_pami_direct (machine, question->policy).vc == ROUTE_VC_DYNAMIC;
  return bytes > machine->parameters.mpi.eager_bytes &&
         route_pami_data (machine, question->policy, from, to, bytes).vc == ROUTE_VC_DYNAMIC;
}

static void
add_messages (Lengths *lengths, const Question *question, uint32_t source, uint32_t destination,
              uint64_t bytes, uint64_t n, bool direct)
{
  const uint32_t *node = question->mapping->node;

  if (node[source] == node[destination])
    return;
  lengths->shortest_bytes = MIN (lengths->shortest_bytes, bytes);
  lengths->longest_bytes = MAX (lengths->longest_bytes, bytes);
  lengths->bytes += n * bytes;
  if (!lengths->is_dynamic)
    lengths->is_dynamic = goes_dynamic (question, node[source], node[destination], bytes, direct);
}

static void
add_lengths (Lengths *lengths, const Lengths *others)
{
  lengths->shortest_bytes = MIN (lengths->shortest_bytes, others->shortest_bytes);
  lengths->longest_bytes = MAX (lengths->longest_bytes, others->longest_bytes);
  lengths->bytes += others->bytes;
  lengths->is_dynamic |= others->is_dynamic;
}

/* What messages may be shrunk by if the shortest of those in flight has so many bytes. */
static uint32_t
factor_of (const Question *question, uint64_t shortest_bytes, bool is_dynamic)
{
  uint64_t packets =
      shortest_bytes / question->packet_bytes + (shortest_bytes % question->packet_bytes != 0);
  SimShrink shrink = question->shrink;

  if (shrink.factor > 0)
    return packets < shrink.factor ? 1 : MIN (shrink.factor, question->most);
  /* The order of placements needs no true waits, so that dynamic routing is as any other. */
  if (shrink.packets_left == RACE_PACKETS)
    return (uint32_t) CLAMP (packets / RACE_PACKETS, 1, MIN (question->most, RACE_MOST));
  return (uint32_t) CLAMP (packets / shrink.packets_left / (is_dynamic ? DYNAMIC_TIMES : 1), 1,
                           question->most);
}

/* --- Phases --- */

/* A collective on the world, and what comes after it; the first stands for the start. */
typedef struct {
  Lengths own;        /* of its own messages */
  Lengths after;      /* of those that ranks send before the next */
  uint32_t n_quiet;   /* ranks that came with nothing under way, if it synchronises them */
  uint64_t in_flight; /* messages that they had sent, less those received; modulo 2^64 */
} Meeting;

typedef struct {
  Question question;
  GArray *meetings; /* (element-type Meeting) */
  uint32_t *number; /* [rank] meetings that it has entered */
  uint32_t rank;    /* whose turn it is */
  bool is_inside;   /* a meeting */
} Phases;

static Meeting *
meeting_at (const Phases *phases, uint32_t number)
{
  while (phases->meetings->len <= number) {
    Meeting meeting = { .own = nothing, .after = nothing };

    g_array_append_val (phases->meetings, meeting);
  }
  return &g_array_index (phases->meetings, Meeting, number);
}

static void
phases_turn (void *data, uint32_t rank)
{
  ((Phases *) data)->rank = rank;
}

static void
phases_message (void *data, uint32_t source, uint32_t destination, uint64_t bytes, bool direct)
{
  Phases *phases = data;
  Meeting *meeting = meeting_at (phases, phases->number[phases->rank]);

  add_messages (phases->is_inside ? &meeting->own : &meeting->after, &phases->question, source,
                destination, bytes, 1, direct);
}

static void
phases_enter (void *data, uint32_t rank, const SimCensusMeeting *came)
{
  Phases *phases = data;
  Meeting *meeting = meeting_at (phases, came->number);

  phases->number[rank] = came->number;
  phases->is_inside = true;
  meeting->n_quiet += came->synchronizes && !came->is_busy;
  meeting->in_flight += came->sent - came->received;
}

static void
phases_leave (void *data)
{
  ((Phases *) data)->is_inside = false;
}

/* When the last rank comes all messages before it have arrived, and until then no rank sends what
 * comes after it.  Its own are a packet each.  Early ones share the network with long messages,
 * but the last rank's, which end it, do not. */
static bool
ends_phase (const Phases *phases, const Meeting *meeting)
{
  return meeting->n_quiet == phases->question.mapping->n_ranks && meeting->in_flight == 0 &&
         meeting->own.longest_bytes <= phases->question.packet_bytes;
}

/* Meetings [first, end) and the messages after each. */
typedef struct {
  uint32_t first, end;
  uint32_t factor;
  uint64_t bytes;
} Phase;

/* (element-type Phase); the caller unrefs it. */
static GArray *
find_phases (const Phases *phases, SimShrinkPlan *plan)
{
  GArray *found = g_array_new (FALSE, FALSE, sizeof (Phase));
  const Meeting *meetings = &g_array_index (phases->meetings, Meeting, 0);

  for (uint32_t first = 0, end; first < phases->meetings->len; first = end) {
    Lengths lengths = meetings[first].after;
    Phase phase;

    for (end = first + 1; end < phases->meetings->len && !ends_phase (phases, &meetings[end]);
         end++) {
      add_lengths (&lengths, &meetings[end].own);
      add_lengths (&lengths, &meetings[end].after);
    }
    phase = (Phase){ first, end, 0, lengths.bytes };
    if (lengths.shortest_bytes < UINT64_MAX) {
      phase.factor = factor_of (&phases->question, lengths.shortest_bytes, lengths.is_dynamic);
      plan->n_phases++;
    }
    g_array_append_val (found, phase);
  }
  return found;
}

/* Of the factors that phases allow, the one that leaves the fewest bytes' worth of packets. */
static uint32_t
best_factor (const GArray *found, uint32_t most)
{
  g_autofree uint64_t *bytes = g_new0 (uint64_t, most + 1); /* of phases that allow no more */
  uint64_t allowed_bytes = 0;
  double most_saved = 0;
  uint32_t best = 1;

  for (guint i = 0; i < found->len; i++)
    bytes[g_array_index (found, Phase, i).factor] += g_array_index (found, Phase, i).bytes;
  for (uint32_t factor = most; factor > 1; factor--) {
    double saved;

    allowed_bytes += bytes[factor];
    saved = (double) allowed_bytes * (1 - 1. / factor);
    if (bytes[factor] > 0 && saved >= most_saved) {
      most_saved = saved;
      best = factor;
    }
  }
  return best;
}

static void
plan_phases (const Phases *phases, SimShrinkPlan *plan)
{
  g_autoptr (GArray) found = find_phases (phases, plan);
  Lengths all = nothing;
  uint64_t shrunk_bytes = 0;

  for (guint i = 0; i < phases->meetings->len; i++) {
    add_lengths (&all, &g_array_index (phases->meetings, Meeting, i).own);
    add_lengths (&all, &g_array_index (phases->meetings, Meeting, i).after);
  }
  plan->shortest_bytes = all.shortest_bytes;
  plan->factor = best_factor (found, phases->question.most);
  if (plan->factor == 1)
    return;
  plan->n_exact = phases->meetings->len;
  plan->exact = g_new0 (bool, plan->n_exact);
  for (guint i = 0; i < found->len; i++) {
    const Phase *phase = &g_array_index (found, Phase, i);

    for (uint32_t number = phase->first; number < phase->end; number++)
      plan->exact[number] = phase->factor < plan->factor;
    if (phase->factor >= plan->factor) {
      plan->n_shrunk_phases++;
      shrunk_bytes += phase->bytes;
    }
  }
  plan->shrunk_share = (double) shrunk_bytes / (double) all.bytes;
}

static gboolean
read_phases (const Question *question, Trace *trace, SimShrinkPlan *plan, GError **error)
{
  static const SimCensusPhases calls = {
    .turn = phases_turn, .message = phases_message, .enter = phases_enter, .leave = phases_leave
  };
  Phases phases = { .question = *question,
                    .meetings = g_array_new (FALSE, FALSE, sizeof (Meeting)),
                    .number = g_new0 (uint32_t, trace_ranks (trace)) };
  gboolean read;

  meeting_at (&phases, 0);
  read = sim_census_phases (trace, question->machine, &calls, &phases, error);
  if (read)
    plan_phases (&phases, plan);
  g_array_unref (phases.meetings);
  g_free (phases.number);
  return read;
}

/* Whether the lengths of all messages say what reading the phases would: all allow the same. */
static bool
plan_from_traffic (const Question *question, const SimTraffic *traffic, SimShrinkPlan *plan)
{
  Lengths all = nothing;
  uint32_t most;

  for (uint64_t kind = 0; kind < traffic->n_kinds; kind++)
    add_messages (&all, question, traffic->kinds[kind].source, traffic->kinds[kind].destination,
                  traffic->kinds[kind].bytes, traffic->kinds[kind].n, traffic->kinds[kind].direct);
  plan->shortest_bytes = all.shortest_bytes;
  if (all.bytes == 0)
    return true;
  most = factor_of (question, all.longest_bytes, false);
  if (most > 1 && most > factor_of (question, all.shortest_bytes, all.is_dynamic))
    return false;
  plan->factor = most;
  plan->shrunk_share = most > 1;
  return true;
}

SimShrinkPlan *
sim_shrink_plan (SimShrink shrink, Trace *trace, const SimTraffic *traffic,
                 const TopoMachine *machine, const TopoMapping *mapping, RoutePolicy policy,
                 uint32_t most, GError **error)
{
  const TopoParameters *p = &machine->parameters;
  Question question = { .machine = machine,
                        .mapping = mapping,
                        .policy = policy,
                        .shrink = shrink,
                        .most = most,
                        .packet_bytes =
                            machine->fabric != NULL ? p->ib.mtu_bytes : p->packet.payload_bytes };
  g_autoptr (SimShrinkPlan) plan = g_new0 (SimShrinkPlan, 1);

  plan->factor = 1;
  plan->shortest_bytes = UINT64_MAX;
  if (sim_shrink_is_off (shrink) ||
      (traffic != NULL && plan_from_traffic (&question, traffic, plan)))
    return g_steal_pointer (&plan);
  return read_phases (&question, trace, plan, error) ? g_steal_pointer (&plan) : NULL;
}

void
sim_shrink_plan_free (SimShrinkPlan *plan)
{
  if (plan == NULL)
    return;
  g_free (plan->exact);
  g_free (plan);
}
