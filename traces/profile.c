/* profile.c - the calls of a program, their bytes and their time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/profile.h"

#include <string.h>

/* Hashes the contents of both strings: pointers of a name differ between
 * formats, and pointers of a site between cursors. */
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

/* Sites that a rank has called, found again by the pointers of their strings: hashing the strings
 * costs more than all else that is done for an operation. */
#define RECENT_SITES 64

typedef struct {
  const char *name, *site;
  TraceCallSite *found;
} RecentSite;

/* The site in `sites`, added when it is new; `recent` has RECENT_SITES. */
static TraceCallSite *
find_site (GHashTable *sites, RecentSite *recent, const char *name, const char *site)
{
  RecentSite *last =
      &recent[((guintptr) name ^ (guintptr) name >> 6 ^ (guintptr) site >> 3) % RECENT_SITES];
  const TraceCallSite called = { .name = name, .site = site };

  if (last->found != NULL && last->name == name && last->site == site)
    return last->found;
  *last = (RecentSite){ name, site, g_hash_table_lookup (sites, &called) };
  if (last->found == NULL) {
    last->found = g_memdup2 (&called, sizeof called);
    g_hash_table_add (sites, last->found);
  }
  return last->found;
}

/* Calls outside the collectives whose `bytes` leave the caller.  Persistent
 * operations count when they are made, with the bytes of one start: a profile is
 * of calls, not of messages. */
static const bool sends[TRACE_N_OPS] = {
  [TRACE_OP_SEND] = true,     [TRACE_OP_ISEND] = true, [TRACE_OP_SEND_INIT] = true,
  [TRACE_OP_SENDRECV] = true, [TRACE_OP_PUT] = true,   [TRACE_OP_FETCH] = true,
};

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

TraceProfile *
trace_profile_new (Trace *trace, TraceProgress progress, void *data, GError **error)
{
  g_autoptr (TraceProfile) profile = g_new0 (TraceProfile, 1);
  g_autoptr (GHashTable) sites = g_hash_table_new_full (site_hash, site_equal, g_free, NULL);
  GHashTableIter iter;
  gpointer key;

  profile->sites = g_array_new (FALSE, FALSE, sizeof (TraceCallSite));
  for (uint32_t rank = 0; rank < trace_ranks (trace); rank++) {
    g_autoptr (TraceCursor) cursor = trace_cursor_new (trace, rank, error);
    RecentSite recent[RECENT_SITES] = { 0 };
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
        TraceCallSite *site =
            find_site (sites, recent, op.name != NULL ? op.name : trace_op_name (op.kind), op.site);

        site->calls++;
        for (uint32_t i = 0; i < op.n_counts; i++)
          site->bytes += op.counts[i];
        if (op.n_counts == 0 && op.bytes != TRACE_UNKNOWN_BYTES && op.peer != TRACE_PROC_NULL &&
            (sends[op.kind] || trace_op_is_collective (op.kind)))
          site->bytes += op.bytes;
        site->time_ps += op.call_ps;
        profile->call_ps += op.call_ps;
      }
    if (next != TRACE_NEXT_END)
      return NULL;
    if (progress != NULL)
      progress (data, (rank + 1.0) / trace_ranks (trace));
  }
  g_hash_table_iter_init (&iter, sites);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_array_append_vals (profile->sites, key, 1);
  g_array_sort (profile->sites, compare_sites);
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
