/* profile.c - what a program spends its calls and its time on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/profile.h"

#include <string.h>

/* The contents of both strings; the pointers of a name differ between formats
 * and those of a site between cursors. */
static guint
site_hash (gconstpointer data)
{
  const TraceCallSite *site = data;

  return g_str_hash (site->name) * 33 + (site->site != NULL ? g_str_hash (site->site) : 0);
}

static gboolean
site_equal (gconstpointer left, gconstpointer right)
{
  const TraceCallSite *a = left, *b = right;

  return !strcmp (a->name, b->name) && !g_strcmp0 (a->site, b->site);
}

/* Calls outside the collectives whose `bytes` leave the caller.  Persistent
 * operations count when they are made, with what one start moves: a profile
 * is of calls, not of messages. */
static const bool sends[TRACE_N_OPS] = {
  [TRACE_OP_SEND] = true,     [TRACE_OP_ISEND] = true, [TRACE_OP_SEND_INIT] = true,
  [TRACE_OP_SENDRECV] = true, [TRACE_OP_PUT] = true,   [TRACE_OP_FETCH] = true,
};

static uint64_t
contributed_bytes (const TraceOp *op)
{
  uint64_t bytes = 0;

  for (uint32_t i = 0; i < op->n_counts; i++)
    bytes += op->counts[i];
  if (op->n_counts > 0 || op->bytes == TRACE_UNKNOWN_BYTES || op->peer == TRACE_PROC_NULL)
    return bytes;
  return sends[op->kind] || trace_op_is_collective (op->kind) ? op->bytes : 0;
}

/* Ties are broken by name, so that the order does not depend on addresses. */
static gint
compare_sites (gconstpointer left, gconstpointer right)
{
  const TraceCallSite *a = left, *b = right;

  if (a->time_ps != b->time_ps)
    return a->time_ps > b->time_ps ? -1 : 1;
  if (a->bytes != b->bytes)
    return a->bytes > b->bytes ? -1 : 1;
  if (a->calls != b->calls)
    return a->calls > b->calls ? -1 : 1;
  return strcmp (a->name, b->name) != 0 ? strcmp (a->name, b->name) : g_strcmp0 (a->site, b->site);
}

static void
collect_sites (TraceProfile *profile, GHashTable *sites)
{
  GHashTableIter iter;
  gpointer site;

  g_hash_table_iter_init (&iter, sites);
  while (g_hash_table_iter_next (&iter, &site, NULL))
    g_array_append_vals (profile->sites, site, 1);
  g_array_sort (profile->sites, compare_sites);
}

TraceProfile *
trace_profile_new (Trace *trace, TraceProgress progress, void *data, GError **error)
{
  g_autoptr (TraceProfile) profile = g_new0 (TraceProfile, 1);
  g_autoptr (GHashTable) sites = g_hash_table_new_full (site_hash, site_equal, g_free, NULL);

  profile->sites = g_array_new (FALSE, FALSE, sizeof (TraceCallSite));
  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, error);
    TraceNext next = TRACE_NEXT_ERROR;
    TraceOp op;

    if (cursor == NULL)
      return NULL;
    while ((next = trace_cursor_next (cursor, &op, error)) == TRACE_NEXT_OPERATION)
      if (op.kind == TRACE_OP_COMPUTE) {
        profile->compute_ps += op.gap_ps;
        profile->flops += op.flops;
        profile->instructions += op.instructions;
        profile->cycles += op.cycles;
      } else {
        const TraceCallSite key = { .name = op.name != NULL ? op.name : trace_op_name (op.kind),
                                    .site = op.site };
        TraceCallSite *site = g_hash_table_lookup (sites, &key);

        if (site == NULL) {
          site = g_memdup2 (&key, sizeof key);
          g_hash_table_add (sites, site);
        }
        site->calls++;
        site->bytes += contributed_bytes (&op);
        site->time_ps += op.call_ps;
        profile->call_ps += op.call_ps;
      }
    if (next != TRACE_NEXT_END)
      return NULL;
    if (progress != NULL)
      progress (data, (rank + 1.0) / trace_ranks (trace));
  }
  collect_sites (profile, sites);
  return g_steal_pointer (&profile);
}

void
trace_profile_free (TraceProfile *profile)
{
  if (profile == NULL)
    return;
  g_array_unref (profile->sites);
  g_free (profile);
}
