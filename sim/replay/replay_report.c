/* replay_report.c - what a replay has to say: deadlocks, warnings, the result.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/replay_private.h"

/* Ranks that a deadlock's message names. */
#define RANKS_NAMED 10

static const char *
place_of (const SimReplay *replay, uint32_t rank)
{
  TraceCursor *cursor = replay->ranks[rank].cursor;

  return cursor == NULL ? trace_path (replay->trace) : trace_cursor_place (cursor);
}

void
sim_report_fail (SimReplay *replay, uint32_t rank, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  if (replay->error != NULL)
    return;
  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (&replay->error, SIM_ERROR, SIM_ERROR_TRACE, "rank %u, %s at %s: %s", rank,
               replay->ranks[rank].call, place_of (replay, rank), text);
}

void
sim_report_warn (SimReplay *replay, uint32_t rank, SimWarning warning)
{
  if (replay->warnings[warning].n++ > 0)
    return;
  replay->warnings[warning].rank = rank;
  replay->warnings[warning].place = g_strdup (place_of (replay, rank));
}

/* -- deadlocks ----------------------------------------------------------- */

static void
append_envelope (GString *text, const SimReplay *replay, bool is_send, uint32_t peer,
                 SimEnvelope envelope)
{
  g_string_append (text, is_send ? " to " : " from ");
  if (peer == TOPO_NONE)
    g_string_append (text, "any rank");
  else
    g_string_append_printf (text, "%u", peer);
  /* Tags of collectives are ours, not the program's; communicators have odd
   * contexts for them. */
  if ((envelope.context & 1u) != 0 || envelope.context / 2 > trace_comms_created (replay->comms))
    return;
  if (envelope.tag == TRACE_ANY_TAG)
    g_string_append (text, " any tag");
  else
    g_string_append_printf (text, " tag %d", envelope.tag);
}

static void
append_request (GString *text, const SimReplay *replay, const SimRequest *request)
{
  const SimActive *active = request->collective ? sim_active_of (replay, request) : NULL;

  if (active != NULL)
    g_string_append_printf (text, " for other ranks in %s",
                            trace_op_name (active->collective.kind));
  else
    append_envelope (text, replay, request->is_send, request->peer, request->envelope);
}

/* The oldest request the rank waits for, and how many others. */
static void
append_requests (GString *text, const SimReplay *replay, uint32_t rank)
{
  const SimRequest *first = NULL;

  for (uint32_t request = 0; request < replay->n_requests && first == NULL; request++) {
    const SimRequest *it = &replay->requests[request];

    if (it->used && it->awaited && it->rank == rank)
      first = it;
  }
  if (first != NULL)
    append_request (text, replay, first);
  if (replay->ranks[rank].pending > 1)
    g_string_append_printf (text, " and %u more", replay->ranks[rank].pending - 1);
}

/* Its oldest operation has all that it comes after, so it is a message that
 * waits for another rank. */
static void
append_graph_rank (GString *text, const SimReplay *replay, uint32_t rank)
{
  uint32_t request, n_open, number = sim_graph_oldest (replay, rank, &request, &n_open);
  g_autoptr (TraceCursor) cursor = trace_cursor_new (replay->trace, rank, NULL);
  TraceOp op = { .name = "a call" };

  for (uint32_t i = 0; cursor != NULL && i <= number; i++)
    if (trace_cursor_next (cursor, &op, NULL) != TRACE_NEXT_OPERATION)
      break;
  g_string_append_printf (text, "rank %u waits in operation %u, %s", rank, number, op.name);
  if (request != TOPO_NONE)
    append_request (text, replay, &replay->requests[request]);
  if (n_open > 1)
    g_string_append_printf (text, " and %u more", n_open - 1);
  g_string_append_printf (
      text, " at %s", cursor == NULL ? trace_path (replay->trace) : trace_cursor_place (cursor));
}

static void
append_rank (GString *text, const SimReplay *replay, uint32_t rank)
{
  const SimRank *it = &replay->ranks[rank];

  g_string_append_printf (text, "rank %u waits in %s", rank, it->call);
  switch ((SimRankState) it->state) {
  case SIM_RANK_WAITING: append_requests (text, replay, rank); break;
  case SIM_RANK_PROBING: append_envelope (text, replay, false, it->probe.source, it->probe); break;
  case SIM_RANK_MEETING:
  case SIM_RANK_GATHERING: g_string_append (text, " for other ranks"); break;
  case SIM_RANK_READY:
  case SIM_RANK_RUNNING:
  case SIM_RANK_BUSY:
  case SIM_RANK_GRAPH:
  case SIM_RANK_DONE: break;
  }
  g_string_append_printf (text, " at %s", place_of (replay, rank));
}

void
sim_report_deadlock (const SimReplay *replay, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  uint32_t n_stuck = replay->n_ranks - replay->n_done, named = 0;

  for (uint32_t rank = 0; rank < replay->n_ranks && named < RANKS_NAMED; rank++) {
    if (replay->ranks[rank].state == SIM_RANK_DONE)
      continue;
    if (named++ > 0)
      g_string_append (text, "; ");
    if (replay->graphs != NULL)
      append_graph_rank (text, replay, rank);
    else
      append_rank (text, replay, rank);
  }
  if (n_stuck > named)
    g_string_append_printf (text, "; and %u more ranks", n_stuck - named);
  g_set_error (error, SIM_ERROR, SIM_ERROR_DEADLOCK, "%s: the trace cannot end: %s",
               trace_path (replay->trace), text->str);
}

/* -- the result ---------------------------------------------------------- */

static const char *const warning_texts[SIM_N_WARNINGS] = {
  [SIM_WARNING_UNKNOWN_REQUEST] = "completions or starts of unknown requests were skipped",
  [SIM_WARNING_TRUNCATED] = "messages were longer than the receives they matched",
  [SIM_WARNING_UNKNOWN_SIZE] = "messages of unknown size were replayed as empty ones",
};

static void
warnings_add (SimReplay *replay)
{
  for (uint32_t warning = 0; warning < SIM_N_WARNINGS; warning++)
    if (replay->warnings[warning].n > 0)
      g_ptr_array_add (replay->result.warnings,
                       g_strdup_printf ("%" G_GUINT64_FORMAT " %s; the first: rank %u at %s",
                                        replay->warnings[warning].n, warning_texts[warning],
                                        replay->warnings[warning].rank,
                                        replay->warnings[warning].place));
}

static void
leftovers_count (SimReplay *replay)
{
  SimReplayResult *result = &replay->result;
  char *collectives = sim_agreement_left (replay->agreement);

  for (uint32_t rank = 0; rank < replay->n_ranks; rank++) {
    result->unmatched_sends += sim_protocol_left (replay, rank);
    result->unmatched_receives += replay->ranks[rank].matching.n_posted;
  }
  if (result->unmatched_sends > 0)
    g_ptr_array_add (result->warnings,
                     g_strdup_printf ("%" G_GUINT64_FORMAT " messages were sent but never received",
                                      result->unmatched_sends));
  if (result->unmatched_receives > 0)
    g_ptr_array_add (result->warnings, g_strdup_printf ("%" G_GUINT64_FORMAT
                                                        " receives were posted but never matched",
                                                        result->unmatched_receives));
  if (collectives != NULL)
    g_ptr_array_add (result->warnings, collectives);
}

void
sim_report_finish (SimReplay *replay)
{
  for (uint32_t rank = 0; rank < replay->n_ranks; rank++)
    replay->result.time_ps = MAX (replay->result.time_ps, replay->result.ranks[rank].end_ps);
  warnings_add (replay);
  leftovers_count (replay);
}
