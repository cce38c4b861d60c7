/* otf2_events.c - one rank's records into operations: regions and time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call is what is inside the outermost region of MPI: its records are
 * gathered until it is left, as only then it is known what they are together
 * and how long the call took.  What is between the end of one call and the
 * beginning of the next is computation, whatever regions of the program come
 * and go; unless the recording was off in between, when nobody knows. */
#include "traces/otf2/otf2_events.h"

#include "traces/otf2/otf2_calls.h"

/* A stack of regions that is deeper than this is a broken one. */
#define DEEPEST  65536
#define PS_PER_S 1000000000000u

struct Otf2Events {
  const Otf2Reading *reading;
  uint32_t rank;
  Otf2Calls *calls;
  GPtrArray *stack; /* (element-type Otf2Region), borrowed; the innermost last */
  guint n_mpi;      /* regions of MPI in it */
  guint n_from;     /* regions called reading->from_region in it */

  gboolean started;
  uint64_t first_ticks;
  int64_t begin_ps; /* of the call */
  const char *site; /* of the call */
  gboolean has_gap; /* whether end_ps is the beginning of a gap that was recorded */
  int64_t end_ps;   /* of the last call */
  int64_t flush_ps; /* since then, writing the trace itself */
};

Otf2Events *
otf2_events_new (const Otf2Reading *reading, uint32_t rank)
{
  Otf2Events *events = g_new0 (Otf2Events, 1);

  events->reading = reading;
  events->rank = rank;
  events->calls = otf2_calls_new (reading, rank);
  events->stack = g_ptr_array_new ();
  return events;
}

void
otf2_events_free (Otf2Events *events)
{
  if (events == NULL)
    return;
  otf2_calls_free (events->calls);
  g_ptr_array_unref (events->stack);
  g_free (events);
}

/* Since the first record; each time is rounded by itself, so that gaps do not
 * add up rounding errors.  What is before the first, or centuries later, is
 * at the end of the scale: no clock is right there. */
static int64_t
ps_of (const Otf2Events *events, uint64_t ticks)
{
  uint64_t ticks_per_s = otf2_definitions_ticks_per_s (events->reading->definitions);
  __extension__ unsigned __int128 ps;

  if (ticks <= events->first_ticks)
    return 0;
  ps = (__extension__(unsigned __int128) (ticks - events->first_ticks)) * PS_PER_S / ticks_per_s;
  return ps > INT64_MAX ? INT64_MAX : (int64_t) ps;
}

static gboolean
is_replayed (const Otf2Events *events)
{
  return events->reading->from_region == NULL || events->n_from > 0;
}

static void
compute_until (Otf2Events *events, int64_t now_ps)
{
  int64_t elapsed_ps = now_ps - events->end_ps;

  if (events->has_gap && elapsed_ps > events->flush_ps && is_replayed (events))
    otf2_calls_compute (events->calls, elapsed_ps - events->flush_ps);
}

static void
gap_begins (Otf2Events *events, int64_t now_ps)
{
  events->end_ps = now_ps;
  events->flush_ps = 0;
  events->has_gap = TRUE;
}

/* The end of the scale is where two long flushes stay. */
static void
add_flush (Otf2Events *events, int64_t flush_ps)
{
  events->flush_ps += CLAMP (flush_ps, 0, INT64_MAX - events->flush_ps);
}

static void
begin_call (Otf2Events *events, const Otf2Region *region, int64_t now_ps)
{
  guint n = events->stack->len;

  compute_until (events, now_ps);
  events->begin_ps = now_ps;
  events->site = n > 0 ? ((const Otf2Region *) events->stack->pdata[n - 1])->name : NULL;
  otf2_calls_begin (events->calls, region, is_replayed (events));
}

static gboolean
end_call (Otf2Events *events, int64_t now_ps, GError **error)
{
  int64_t call_ps = MAX (now_ps - events->begin_ps, 0);

  gap_begins (events, now_ps);
  return otf2_calls_end (events->calls, call_ps, events->site, error);
}

static gboolean
enter (Otf2Events *events, const Otf2Record *record, int64_t now_ps, GError **error)
{
  const Otf2Region *region =
      otf2_definitions_find_region (events->reading->definitions, record->id);

  if (region == NULL) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "region %u is not defined", record->id);
    return FALSE;
  }
  if (events->stack->len == DEEPEST) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "regions are nested %d deep", DEEPEST);
    return FALSE;
  }
  if (region->kind != OTF2_CALL_USER && events->n_mpi++ == 0)
    begin_call (events, region, now_ps);
  if (region->kind == OTF2_CALL_USER && region->name == events->reading->from_region &&
      events->n_from++ == 0)
    gap_begins (events, now_ps);
  g_ptr_array_add (events->stack, (gpointer) region);
  return TRUE;
}

static gboolean
pop (Otf2Events *events, int64_t now_ps, GError **error)
{
  const Otf2Region *region = g_ptr_array_steal_index (events->stack, events->stack->len - 1);

  if (region->kind != OTF2_CALL_USER && --events->n_mpi == 0)
    return end_call (events, now_ps, error);
  if (region->kind == OTF2_CALL_USER && region->name == events->reading->from_region) {
    if (events->n_from == 1 && events->n_mpi == 0)
      compute_until (events, now_ps);
    events->n_from--;
  }
  return TRUE;
}

/* Regions inside it that were not left are left with it; one that was never
 * entered is none.  EZTrace crosses regions at the end of the program. */
static gboolean
leave (Otf2Events *events, const Otf2Record *record, int64_t now_ps, GError **error)
{
  const Otf2Region *region =
      otf2_definitions_find_region (events->reading->definitions, record->id);
  guint at = events->stack->len;

  while (at > 0 && events->stack->pdata[at - 1] != region)
    at--;
  if (at == 0)
    return TRUE;
  while (events->stack->len >= at)
    if (!pop (events, now_ps, error))
      return FALSE;
  return TRUE;
}

/* A record outside regions of MPI is a call by itself. */
static gboolean
add_to_call (Otf2Events *events, const Otf2Record *record, int64_t now_ps, GError **error)
{
  gboolean alone = events->n_mpi == 0;

  if (alone && record->kind == OTF2_RECORD_COLLECTIVE_BEGIN)
    return TRUE;
  if (alone)
    begin_call (events, NULL, now_ps);
  otf2_calls_add (events->calls, record);
  return !alone || end_call (events, now_ps, error);
}

gboolean
otf2_events_add (Otf2Events *events, const Otf2Record *record, GError **error)
{
  int64_t now_ps;

  if (!events->started)
    events->first_ticks = record->ticks;
  events->started = TRUE;
  now_ps = ps_of (events, record->ticks);
  otf2_calls_clear (events->calls);

  switch ((Otf2RecordKind) record->kind) {
  case OTF2_RECORD_ENTER: return enter (events, record, now_ps, error);
  case OTF2_RECORD_LEAVE: return leave (events, record, now_ps, error);
  case OTF2_RECORD_MEASUREMENT: events->has_gap = FALSE; return TRUE;
  case OTF2_RECORD_FLUSH:
    if (events->n_mpi == 0)
      add_flush (events, ps_of (events, record->request) - now_ps);
    return TRUE;
  case OTF2_RECORD_SEND:
  case OTF2_RECORD_ISEND:
  case OTF2_RECORD_ISEND_COMPLETE:
  case OTF2_RECORD_RECV:
  case OTF2_RECORD_IRECV_POST:
  case OTF2_RECORD_IRECV_COMPLETE:
  case OTF2_RECORD_TESTED:
  case OTF2_RECORD_CANCELLED:
  case OTF2_RECORD_COLLECTIVE_BEGIN:
  case OTF2_RECORD_COLLECTIVE:
  case OTF2_RECORD_COLLECTIVE_POST:
  case OTF2_RECORD_COLLECTIVE_COMPLETE:
  case OTF2_RECORD_RMA_COLLECTIVE:
  case OTF2_RECORD_RMA_PUT:
  case OTF2_RECORD_RMA_GET:
  case OTF2_RECORD_RMA_ATOMIC:
  case OTF2_RECORD_RMA_FLUSH:
  case OTF2_RECORD_RMA_UNLOCK:
  case OTF2_RECORD_RMA_GROUP_SYNC:
  case OTF2_RECORD_RMA_WAIT:
  case OTF2_RECORD_KINDS: break;
  }
  return add_to_call (events, record, now_ps, error);
}

/* Recording may stop inside a call, which then has no end. */
gboolean
otf2_events_end (Otf2Events *events, GError **error)
{
  otf2_calls_clear (events->calls);
  if (events->n_mpi > 0) {
    events->n_mpi = 0;
    if (!otf2_calls_end (events->calls, 0, events->site, error))
      return FALSE;
  }
  otf2_calls_finish (events->calls);
  return TRUE;
}

gboolean
otf2_events_take (Otf2Events *events, TraceOp *op)
{
  return otf2_calls_take (events->calls, op);
}
