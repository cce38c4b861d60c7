/* opensm_lanes.c - the service levels that OpenSM gives to pairs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * No file of OpenSM's has them, so they are queried.  A few queries
 * are under way at a time: a datagram socket holds no more than ten.  Adapters
 * on one switch share their routes, and the engines give all of them the same
 * layer, so the queries are sent for one of them.
 *
 * A service level is the virtual lane of the same number here, as in OpenSM's
 * initial tables.  The engine dfsssp gives the remaining lanes to its largest
 * layers, and answers each query with a random lane of the layer.  Its log has
 * the number of lanes of each layer.  Therefore the layer is derived from the
 * answer, the lanes of the machine are distributed by the same rule, and the
 * lanes of a layer are used in turn: the same fabric gives the same lanes. */
#include "base/file.h"
#include "routing/opensm/opensm.h"
#include "topology/machine.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* --- Queries for the path of a pair ---
 *
 * The subnet administrator answers queries for the path record of a pair
 * (InfiniBand Architecture, volume 1, chapter 15).  They are sent over ibsim's
 * socket: each datagram is an envelope and one management datagram. */

typedef struct {
  int control, data; /* sockets to ibsim; -1: none yet */
  uint16_t manager_lid;
} Line;

#define WAIT_US (G_USEC_PER_SEC / 2) /* for an answer */
#define OUR_QP  7                    /* any but 0 and 1, the managers' own */

/* --- ibsim's envelopes --- */

#define MAGIC          0xdeadbeefu
#define KIND_CONNECT   1u
#define NAME_BYTES     32
#define CONTROL_BYTES  64
#define DATAGRAM_BYTES 256

typedef struct {
  uint32_t magic, client, kind, bytes;
  uint32_t id, qp, is_manager;
  char node[NAME_BYTES];
  char rest[CONTROL_BYTES - 3 * sizeof (uint32_t) - NAME_BYTES];
} Control;

/* Numbers are in network order, LIDs in the first half of theirs. */
typedef struct {
  uint16_t to_lid[2], from_lid[2];
  uint32_t to_qp, from_qp, status, pad;
  uint64_t bytes;
  uint8_t datagram[DATAGRAM_BYTES];
} Envelope;

/* --- A query for a path record --- */

enum {
  AT_METHOD = 3,
  AT_STATUS = 4,
  AT_TRANSACTION = 8, /* 8 bytes, the last four ours */
  AT_ATTRIBUTE = 16,
  AT_MASK = 48, /* the fields of the record that the query gives */
  AT_RECORD = 56,
  RECORD_TO_LID = 40,
  RECORD_FROM_LID = 42,
  RECORD_N_PATHS = 49,
  RECORD_LEVEL = 53, /* low half */
  METHOD_GET_TABLE = 0x12,
  METHOD_RESPONSE = 0x92,
  ATTRIBUTE_PATH_RECORD = 0x35,
  MASK_TO_LID = 1 << 4,
  MASK_FROM_LID = 1 << 5,
  MASK_N_PATHS = 1 << 12,
};

static void
put16 (uint8_t *bytes, uint16_t value)
{
  bytes[0] = (uint8_t) (value >> 8);
  bytes[1] = (uint8_t) value;
}

/* --- Sockets --- */

/* Names are in the abstract space and end with a zero. */
static socklen_t
set_name (struct sockaddr_un *name, const char *text)
{
  *name = (struct sockaddr_un){ .sun_family = AF_UNIX };
  g_strlcpy (name->sun_path + 1, text, sizeof name->sun_path - 1);
  return (socklen_t) (offsetof (struct sockaddr_un, sun_path) + strlen (text) + 2);
}

static int
open_socket (const char *own)
{
  struct sockaddr_un name;
  struct timeval wait = { .tv_usec = WAIT_US };
  socklen_t length = set_name (&name, own);
  int fd = socket (AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

  if (fd >= 0 && bind (fd, (struct sockaddr *) &name, length) == 0 &&
      setsockopt (fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) == 0 &&
      setsockopt (fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait) == 0)
    return fd;
  if (fd >= 0)
    close (fd);
  return -1;
}

static bool
connect_socket (int fd, const char *other)
{
  struct sockaddr_un name;
  socklen_t length = set_name (&name, other);

  return connect (fd, (const struct sockaddr *) &name, length) == 0;
}

/* Sends a query, which may get lost; false when ibsim is gone. */
static bool
query_send (const Line *line, uint32_t transaction, uint16_t from_lid, uint16_t to_lid)
{
  Envelope query = { .to_lid = { GUINT16_TO_BE (line->manager_lid) },
                     .to_qp = GUINT32_TO_BE (1),
                     .from_qp = GUINT32_TO_BE (OUR_QP),
                     .bytes = GUINT64_TO_BE (DATAGRAM_BYTES),
                     .datagram = { 1, 3, 2, METHOD_GET_TABLE } };
  uint8_t *record = query.datagram + AT_RECORD;

  put16 (query.datagram + AT_TRANSACTION + 4, (uint16_t) (transaction >> 16));
  put16 (query.datagram + AT_TRANSACTION + 6, (uint16_t) transaction);
  put16 (query.datagram + AT_ATTRIBUTE, ATTRIBUTE_PATH_RECORD);
  put16 (query.datagram + AT_MASK + 6, MASK_TO_LID | MASK_FROM_LID | MASK_N_PATHS);
  put16 (record + RECORD_TO_LID, to_lid);
  put16 (record + RECORD_FROM_LID, from_lid);
  record[RECORD_N_PATHS] = 0x7f;

  return send (line->data, &query, sizeof query, 0) >= 0 || errno == EAGAIN;
}

/* --- LIDs and layers of all pairs --- */

#define AT_ONCE   8
#define MOST_LIDS 0xc000

typedef struct {
  RouteForwarding *tables;
  const RouteOpensmLanes *lanes;
  Line line;
  uint32_t *switch_of;            /* [destination] */
  uint16_t *lid;                  /* [destination] 0: not known */
  uint8_t layer[16];              /* [service level] */
  uint8_t first[16], n_lanes[16]; /* [layer] its lanes */
} Lanes;

static gboolean
failed (const Lanes *work, const char *what, GError **error)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "routes=%s: %s", work->tables->engine, what);
  return FALSE;
}

static gboolean
too_many (const Lanes *work, uint32_t n_vls, GError **error)
{
  g_autofree char *what =
      g_strdup_printf ("OpenSM needs %u virtual lanes, and the switches have %u (switch.vls)",
                       n_vls, work->lanes->max_vls);

  return failed (work, what, error);
}

/* Lines of a GUID and the first and last of its LIDs. */
static gboolean
read_lids (Lanes *work, GError **error)
{
  const TopoFabric *fabric = work->tables->fabric;
  g_autofree char *contents = NULL;
  g_auto (GStrv) lines = NULL;
  g_autoptr (GHashTable) lids = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autofree uint64_t *guids = route_opensm_guids (fabric);
  uint32_t first = 0; /* with cables, on which the subnet manager runs */
  guint64 manager;

  while (first + 1 < work->tables->n_switches &&
         !topo_fabric_has_cable (fabric, work->tables->switch_device[first]))
    first++;
  manager = guids[work->tables->switch_device[first]];
  if (!base_file_read (work->lanes->lids, &contents, NULL, error))
    return FALSE;
  lines = g_strsplit (contents, "\n", -1);
  for (guint at = 0; lines[at] != NULL; at++) {
    unsigned long long guid;
    unsigned lid;
    guint64 key;

    if (sscanf (lines[at], "0x%16llx 0x%6x", &guid, &lid) != 2 || lid >= MOST_LIDS)
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
  return work->line.manager_lid != 0 || failed (work, "OpenSM has not stored its LIDs", error);
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

/* The lanes of a layer follow each other in shares[n], each with an equal share of the layer's
 * paths; returns their number, 0 when the shares do not fit. */
static guint
count_lanes (uint64_t paths, const uint64_t *shares, guint n)
{
  for (guint n_lanes = 1; n_lanes <= n; n_lanes++) {
    guint n_equal = 0;

    while (n_equal < n_lanes && shares[n_equal] == paths / n_lanes)
      n_equal++;
    if (n_equal == n_lanes)
      return n_lanes;
  }
  return 0;
}

static gboolean
read_layers (Lanes *work, GError **error)
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
    guint n_lanes = count_lanes (before[n_layers], after + level, n_after - level);

    if (n_lanes == 0)
      return failed (work, "OpenSM's log does not give the lanes of its layers", error);
    while (n_lanes-- > 0)
      work->layer[level++] = (uint8_t) n_layers;
  }
  if (n_layers > work->lanes->max_vls)
    return too_many (work, n_layers, error);
  if (n_layers > 0) {
    /* Each layer gets a lane; each further lane of the machine goes to the layer with the
     * most paths per lane. */
    guint lane = 0;

    for (guint left = work->lanes->max_vls - n_layers; left > 0; left--) {
      guint most = 0;

      for (guint layer = 1; layer < n_layers; layer++)
        if (before[layer] / work->n_lanes[layer] > before[most] / work->n_lanes[most])
          most = layer;
      work->n_lanes[most]++;
    }
    for (guint layer = 0; layer < n_layers; layer++) {
      work->first[layer] = (uint8_t) lane;
      lane += work->n_lanes[layer];
    }
  }
  return TRUE;
}

/* --- Queries --- */

/* Receives one datagram; false when none comes within half a second.  *open has a bit for
 * each destination from `first` on whose answer is outstanding. */
static bool
take_answer (Lanes *work, uint32_t at, uint32_t first, uint32_t *open)
{
  RouteForwarding *tables = work->tables;
  Envelope envelope;
  const uint8_t *datagram = envelope.datagram, *bytes = datagram + AT_TRANSACTION + 4;
  uint32_t transaction, destination, layer;

  if (recv (work->line.data, &envelope, sizeof envelope, 0) != sizeof envelope)
    return false;
  transaction =
      (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 | bytes[3];
  destination = transaction - at * tables->n_destinations;
  if (datagram[AT_METHOD] != METHOD_RESPONSE || destination < first ||
      destination >= first + AT_ONCE || !(*open >> (destination - first) & 1))
    return true;
  *open &= ~(1u << (destination - first));
  /* A pair without a path has none in OpenSM's tables either. */
  if (datagram[AT_STATUS] != 0 || datagram[AT_STATUS + 1] != 0)
    return true;
  /* The level holds for all sources on the switch. */
  layer = work->layer[datagram[AT_RECORD + RECORD_LEVEL] & 15];
  for (uint32_t source = 0; source < tables->n_destinations; source++) {
    uint32_t lane = work->first[layer] + (source + destination) % work->n_lanes[layer];

    if (work->switch_of[source] != at)
      continue;
    tables->vl[(size_t) source * tables->n_destinations + destination] = (uint8_t) lane;
    tables->n_vls = MAX (tables->n_vls, lane + 1u);
  }
  return true;
}

/* Queries all paths from a switch, as from the first adapter on it. */
static bool
ask_from (Lanes *work, uint32_t at)
{
  uint32_t source = 0;

  while (source < work->tables->n_destinations &&
         (work->switch_of[source] != at || work->lid[source] == 0))
    source++;
  if (source == work->tables->n_destinations)
    return true;
  for (uint32_t first = 0; first < work->tables->n_destinations; first += AT_ONCE) {
    /* Repeats the queries for some destinations until all have been answered.  Pairs on
     * one switch share no link with other pairs. */
    uint32_t n = MIN (AT_ONCE, work->tables->n_destinations - first), open = 0;

    for (uint32_t i = 0; i < n; i++)
      if (work->switch_of[first + i] != at && work->lid[first + i] != 0)
        open |= 1u << i;
    while (open != 0) {
      for (uint32_t i = 0; i < n; i++)
        if ((open >> i & 1) &&
            !query_send (&work->line, at * work->tables->n_destinations + first + i,
                         work->lid[source], work->lid[first + i]))
          return false;
      while (open != 0 && take_answer (work, at, first, &open))
        continue;
      if (g_get_monotonic_time () > work->lanes->last_us)
        return false;
    }
  }
  return true;
}

/* Joins the fabric of the ibsim with this socket. */
static gboolean
connect_to_ibsim (Lanes *work, GError **error)
{
  const char *base = work->lanes->socket_name;
  uint32_t id = (uint32_t) getpid ();
  g_autofree char *control = g_strdup_printf ("%s:ctl%u", base, id);
  g_autofree char *their_control = g_strdup_printf ("%s:ctl", base);
  g_autofree char *data = g_strdup_printf ("%s:in%u", base, id);
  g_autofree char *their_data = NULL;
  Control message = { .magic = MAGIC,
                      .kind = KIND_CONNECT,
                      .bytes = 3 * sizeof (uint32_t) + NAME_BYTES,
                      .id = id,
                      .qp = OUR_QP };

  work->line.control = open_socket (control);
  work->line.data = open_socket (data);
  if (work->line.control < 0 || !connect_socket (work->line.control, their_control))
    return failed (work, "cannot reach ibsim", error);
  if (work->line.data < 0 ||
      send (work->line.control, &message, sizeof message, 0) != sizeof message ||
      recv (work->line.control, &message, sizeof message, 0) != sizeof message ||
      message.kind != KIND_CONNECT)
    return failed (work, "ibsim refuses a second client", error);
  their_data = g_strdup_printf ("%s:out%u", base, message.id);
  return connect_socket (work->line.data, their_data) || failed (work, "cannot reach ibsim", error);
}

gboolean
route_opensm_read_lanes (RouteForwarding *tables, const RouteOpensmLanes *lanes, GError **error)
{
  gsize n = tables->n_destinations;
  g_autofree uint16_t *lid = g_new0 (uint16_t, n + 1);
  g_autofree uint32_t *switch_of = g_new (uint32_t, n + 1);
  Lanes work = { .tables = tables,
                 .lanes = lanes,
                 .line = { .control = -1, .data = -1 },
                 .switch_of = switch_of,
                 .lid = lid };
  gboolean done;

  for (uint32_t source = 0; source < n; source++)
    switch_of[source] = route_forwarding_behind (tables, tables->destination_port[source]);
  tables->vl = g_new0 (uint8_t, n * n + 1);
  tables->n_vls = 1;
  done = read_lids (&work, error) && read_layers (&work, error) && connect_to_ibsim (&work, error);
  for (uint32_t at = 0; done && at < tables->n_switches; at++)
    if (!ask_from (&work, at))
      done = failed (&work, "OpenSM did not answer the queries of all pairs in time", error);
  if (done && tables->n_vls > lanes->max_vls)
    done = too_many (&work, tables->n_vls, error);
  if (work.line.control >= 0)
    close (work.line.control);
  if (work.line.data >= 0)
    close (work.line.data);
  return done;
}
