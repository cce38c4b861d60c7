/* opensm_lanes.c - the service levels that OpenSM gives to pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * No file of OpenSM's has them, so we ask it (opensm_query.c).  A few queries
 * are under way at a time: a datagram socket holds no more than ten.  Adapters
 * on one switch share their routes, and the engines give all of them the same
 * layer, so one of them asks.
 *
 * A service level is the virtual lane of the same number here: OpenSM's
 * tables of one to the other start so.  The engine dfsssp gives the lanes that
 * it has left to its largest layers, and draws one of a layer's lanes by lot
 * whenever it is asked.  Its log says how many lanes each layer has, so we
 * learn the layer, share out the lanes of the machine by the same rule, and
 * take turns among those of a layer, so that the same fabric gives the same
 * lanes. */
#include "config.h"

#include "routing/opensm/opensm_private.h"

#include "base/file.h"
#include "topology/machine.h"

#include <stdio.h>
#include <string.h>

#define AT_ONCE   8
#define MOST_LIDS 0xc000

typedef struct {
  RouteForwarding *tables;
  const RouteOpensmLanes *lanes;
  RouteOpensmLine line;
  uint32_t *switch_of;            /* [destination] */
  uint16_t *lid;                  /* [destination] 0: not known */
  uint8_t layer[16];              /* [service level] */
  uint8_t first[16], n_lanes[16]; /* [layer] its lanes */
} Work;

static gboolean
failed (const Work *work, const char *what, GError **error)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "routes=%s: %s", work->tables->engine, what);
  return FALSE;
}

static gboolean
too_many (const Work *work, uint32_t n_vls, GError **error)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "routes=%s: OpenSM needs %u virtual lanes, and the switches have %u (switch.vls)",
               work->tables->engine, n_vls, work->lanes->max_vls);
  return FALSE;
}

/* --- LIDs and layers --- */

/* Lines of a GUID and the first and last of its LIDs. */
static gboolean
read_lids (Work *work, GError **error)
{
  const TopoFabric *fabric = work->tables->fabric;
  g_autofree char *contents = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GHashTable) lids = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autofree uint64_t *guids = route_opensm_guids (fabric);
  guint64 manager = guids[work->tables->switch_device[0]];

  if (!base_file_read (work->lanes->lids, &contents, NULL, error))
    return FALSE;
  lines = g_strsplit (contents, "\n", -1);
  for (guint at = 0; lines[at] != NULL; at++) {
    unsigned long long guid;
    unsigned lid;
    guint64 key;

    if (sscanf (lines[at], "0x%llx 0x%x", &guid, &lid) != 2 || lid >= MOST_LIDS)
      continue;
    key = guid;
    g_hash_table_replace (lids, g_memdup2 (&key, sizeof key), GUINT_TO_POINTER (lid));
  }
  for (uint32_t destination = 0; destination < work->tables->n_destinations; destination++) {
    uint32_t port = work->tables->destination_port[destination];
    guint64 guid = guids[fabric->ports[port].device] + topo_fabric_port_number (fabric, port);

    work->lid[destination] = (uint16_t) GPOINTER_TO_UINT (g_hash_table_lookup (lids, &guid));
  }
  work->line.manager_lid = (uint16_t) GPOINTER_TO_UINT (g_hash_table_lookup (lids, &manager));
  return work->line.manager_lid != 0 || failed (work, "OpenSM's LIDs are not known", error);
}

/* The numbers of the lines "N. lane: PATHS" after the one with `head`. */
static guint
read_counts (const char *log, const char *head, uint64_t *counts)
{
  const char *at = strstr (log, head);
  guint n = 0;

  for (at = at != NULL ? strchr (at, '\n') : NULL; at != NULL && n < 16;
       at = strchr (at + 1, '\n')) {
    g_autofree char *line = g_strndup (at + 1, strcspn (at + 1, "\n"));
    const char *text = strstr (line, " lane: ");

    if (text == NULL)
      break;
    counts[n++] = g_ascii_strtoull (text + strlen (" lane: "), NULL, 10);
  }
  return n;
}

/* How many lanes in a row a layer of `paths` got: an equal share is noted
 * with each of them. */
static guint
count_shares (uint64_t paths, const uint64_t *shares, guint n)
{
  for (guint k = 1; k <= n; k++) {
    guint equal = 0;

    while (equal < k && shares[equal] == paths / k)
      equal++;
    if (equal == k)
      return k;
  }
  return 0;
}

/* One lane for each layer, then one after the other for the layer with most
 * paths per lane, until the machine has no more. */
static void
share_lanes (Work *work, const uint64_t *paths, guint n_layers)
{
  guint lane = 0;

  for (guint left = work->lanes->max_vls - n_layers; left > 0; left--) {
    guint most = 0;

    for (guint layer = 1; layer < n_layers; layer++)
      if (paths[layer] / work->n_lanes[layer] > paths[most] / work->n_lanes[most])
        most = layer;
    work->n_lanes[most]++;
  }
  for (guint layer = 0; layer < n_layers; layer++) {
    work->first[layer] = (uint8_t) lane;
    lane += work->n_lanes[layer];
  }
}

static gboolean
read_layers (Work *work, GError **error)
{
  g_autofree char *log = NULL;
  uint64_t before[16], after[16];
  guint n_before, n_after, n_layers = 0, level = 0;

  for (guint layer = 0; layer < 16; layer++) {
    work->layer[layer] = work->first[layer] = (uint8_t) layer;
    work->n_lanes[layer] = 1;
  }
  if (!base_file_read (work->lanes->log, &log, NULL, error))
    return FALSE;
  n_before = read_counts (log, "(before balancing)", before);
  n_after = read_counts (log, "(after balancing)", after);
  for (; n_layers < n_before && before[n_layers] > 0; n_layers++) {
    guint k = count_shares (before[n_layers], after + level, n_after - level);

    if (k == 0)
      return failed (work, "the lanes of OpenSM's layers are not known", error);
    while (k-- > 0)
      work->layer[level++] = (uint8_t) n_layers;
  }
  if (n_layers > work->lanes->max_vls)
    return too_many (work, n_layers, error);
  if (n_layers > 0)
    share_lanes (work, before, n_layers);
  return TRUE;
}

/* --- Queries --- */

/* Level of a route to all sources on its switch. */
static void
set_level (Work *work, uint32_t at, uint32_t destination, uint32_t level)
{
  RouteForwarding *tables = work->tables;
  uint32_t layer = work->layer[level];

  for (uint32_t source = 0; source < tables->n_destinations; source++) {
    uint32_t lane;

    if (work->switch_of[source] != at)
      continue;
    lane = work->first[layer] + (source + destination) % work->n_lanes[layer];
    tables->vl[(size_t) source * tables->n_destinations + destination] = (uint8_t) lane;
    tables->n_vls = MAX (tables->n_vls, lane + 1u);
  }
}

/* One answer; false when none comes.  *open has a bit for each destination
 * from `first` on that is asked for. */
static bool
take_answer (Work *work, uint32_t at, uint32_t first, uint32_t *open)
{
  RouteOpensmAnswer answer;
  uint32_t destination;

  if (!route_opensm_answer (&work->line, &answer))
    return false;
  destination = answer.transaction - at * work->tables->n_destinations;
  if (!answer.is_answer || destination < first || destination >= first + AT_ONCE ||
      !(*open >> (destination - first) & 1))
    return true;
  *open &= ~(1u << (destination - first));
  /* Where OpenSM knows no path, neither do its tables. */
  if (answer.has_path)
    set_level (work, at, destination, answer.level);
  return true;
}

/* Asks for some destinations until all have been answered.  Pairs on one
 * switch share no link with another. */
static bool
ask_some (Work *work, uint32_t at, uint16_t from_lid, uint32_t first)
{
  uint32_t n = MIN (AT_ONCE, work->tables->n_destinations - first), open = 0;

  for (uint32_t i = 0; i < n; i++)
    if (work->switch_of[first + i] != at && work->lid[first + i] != 0)
      open |= 1u << i;
  while (open != 0) {
    for (uint32_t i = 0; i < n; i++)
      if ((open >> i & 1) &&
          !route_opensm_ask (&work->line, at * work->tables->n_destinations + first + i, from_lid,
                             work->lid[first + i]))
        return false;
    while (open != 0 && take_answer (work, at, first, &open))
      continue;
    if (g_get_monotonic_time () > work->lanes->last_us)
      return false;
  }
  return true;
}

/* All that leave one switch, as the first adapter on it would ask. */
static bool
ask_from (Work *work, uint32_t at)
{
  uint32_t source = 0;

  while (source < work->tables->n_destinations &&
         (work->switch_of[source] != at || work->lid[source] == 0))
    source++;
  if (source == work->tables->n_destinations)
    return true;
  for (uint32_t first = 0; first < work->tables->n_destinations; first += AT_ONCE)
    if (!ask_some (work, at, work->lid[source], first))
      return false;
  return true;
}

static gboolean
connect_to_ibsim (Work *work, GError **error)
{
  if (route_opensm_connect (&work->line, work->lanes->socket_name, error))
    return TRUE;
  g_prefix_error (error, "routes=%s: ", work->tables->engine);
  return FALSE;
}

static gboolean
ask_all (Work *work, GError **error)
{
  for (uint32_t at = 0; at < work->tables->n_switches; at++)
    if (!ask_from (work, at))
      return failed (work, "OpenSM has not told the lanes of all pairs in time", error);
  return work->tables->n_vls <= work->lanes->max_vls || too_many (work, work->tables->n_vls, error);
}

gboolean
route_opensm_read_lanes (RouteForwarding *tables, const RouteOpensmLanes *lanes, GError **error)
{
  gsize n = tables->n_destinations;
  g_autofree uint16_t *lid = g_new0 (uint16_t, n + 1);
  g_autofree uint32_t *switch_of = g_new (uint32_t, n + 1);
  Work work = { .tables = tables,
                .lanes = lanes,
                .line = { .control = -1, .data = -1 },
                .switch_of = switch_of,
                .lid = lid };
  gboolean done;

  for (uint32_t source = 0; source < n; source++)
    switch_of[source] = route_forwarding_behind (tables, tables->destination_port[source]);

  tables->vl = g_new0 (uint8_t, n * n + 1);
  tables->n_vls = 1;
  done = read_lids (&work, error) && read_layers (&work, error) &&
         connect_to_ibsim (&work, error) && ask_all (&work, error);
  route_opensm_disconnect (&work.line);
  return done;
}
