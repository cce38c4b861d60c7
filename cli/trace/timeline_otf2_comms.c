/* timeline_otf2_comms.c - which communicator each creation of a trace makes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranks name communicators by handles of their own, which a creation binds when all members have come.
 * An archive has the members before the first record, and a record is written while one rank is read:
 * therefore the trace is walked twice, at first for the communicator of each creation. */
#include "cli/trace/timeline_otf2.h"

typedef struct {
  TraceCursor *cursor;
  GArray *made;     /* (element-type uint32_t) communicators in the order of the creations */
  uint32_t handle;  /* of the creation that waits for others */
  bool waits, done; /* waits: until all members have come */
} Walk;

struct CliOtf2Comms {
  Trace *trace; /* while it is walked */
  TraceComms *comms;
  Walk *walks; /* [n_ranks] */
  uint32_t n_ranks;
};

static void
add_made (CliOtf2Comms *comms, uint32_t rank, uint32_t handle)
{
  uint32_t comm = trace_comms_resolve (comms->comms, rank, handle);

  g_array_append_val (comms->walks[rank].made, comm);
}

static gboolean
walk_creation (CliOtf2Comms *comms, uint32_t rank, const TraceOp *op, GError **error)
{
  uint32_t parent = trace_comms_resolve (comms->comms, rank, op->comm);
  bool complete;

  comms->walks[rank].handle = op->new_comm;
  if (!trace_comms_create (comms->comms, rank, op, &complete, error))
    return FALSE;
  comms->walks[rank].waits = true;
  for (uint32_t i = 0; complete && i < trace_comms_size (comms->comms, parent); i++) {
    uint32_t member = trace_comms_world_rank (comms->comms, parent, i, rank);

    comms->walks[member].waits = false;
    add_made (comms, member, comms->walks[member].handle);
  }
  return TRUE;
}

/* Until the rank waits or is done. */
static gboolean
walk_rank (CliOtf2Comms *comms, uint32_t rank, GError **error)
{
  Walk *walk = &comms->walks[rank];
  gboolean good = TRUE;
  TraceOp op;

  if (walk->cursor == NULL && !(walk->cursor = trace_cursor_new (comms->trace, rank, error)))
    return FALSE;
  while (good && !walk->waits) {
    TraceNext next = trace_cursor_next (walk->cursor, &op, error);

    if (next == TRACE_NEXT_ERROR)
      return FALSE;
    if (next == TRACE_NEXT_END) {
      g_clear_pointer (&walk->cursor, trace_cursor_free);
      walk->done = true;
      return TRUE;
    }
    if (trace_op_is_creation (op.kind))
      good = walk_creation (comms, rank, &op, error);
    else if (op.kind == TRACE_OP_COMM_DEFINE) {
      good = trace_comms_define (comms->comms, rank, &op, error);
      add_made (comms, rank, op.new_comm);
    } else if (op.kind == TRACE_OP_COMM_FREE)
      trace_comms_release (comms->comms, rank, op.comm);
    else if (op.kind >= TRACE_OP_COMM_GROUP && op.kind <= TRACE_OP_GROUP_FREE)
      good = trace_comms_group (comms->comms, rank, &op, error);
  }
  return good;
}

/* The replay has passed it already: no rank waits for ever. */
static gboolean
walk_all (CliOtf2Comms *comms, GError **error)
{
  bool any = true;

  while (any) {
    any = false;
    for (uint32_t rank = 0; rank < comms->n_ranks; rank++) {
      if (comms->walks[rank].done || comms->walks[rank].waits)
        continue;
      if (!walk_rank (comms, rank, error))
        return FALSE;
      any = true;
    }
  }
  return TRUE;
}

CliOtf2Comms *
cli_otf2_comms_new (Trace *trace, GError **error)
{
  g_autoptr (CliOtf2Comms) comms = g_new0 (CliOtf2Comms, 1);

  comms->trace = trace;
  comms->n_ranks = trace_ranks (trace);
  comms->comms = trace_comms_new (comms->n_ranks);
  comms->walks = g_new0 (Walk, comms->n_ranks);
  for (uint32_t rank = 0; rank < comms->n_ranks; rank++)
    comms->walks[rank].made = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  return walk_all (comms, error) ? g_steal_pointer (&comms) : NULL;
}

void
cli_otf2_comms_free (CliOtf2Comms *comms)
{
  if (comms == NULL)
    return;
  for (uint32_t rank = 0; rank < comms->n_ranks; rank++) {
    trace_cursor_free (comms->walks[rank].cursor);
    g_array_unref (comms->walks[rank].made);
  }
  g_free (comms->walks);
  trace_comms_free (comms->comms);
  g_free (comms);
}

const TraceComms *
cli_otf2_comms_all (const CliOtf2Comms *comms)
{
  return comms->comms;
}

uint32_t
cli_otf2_comms_made (const CliOtf2Comms *comms, uint32_t rank, uint32_t nth)
{
  const GArray *made = comms->walks[rank].made;

  return nth < made->len ? g_array_index (made, uint32_t, nth) : TRACE_COMMS_NULL;
}
