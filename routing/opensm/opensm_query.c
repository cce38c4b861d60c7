/* opensm_query.c - asks a running OpenSM about the path of a pair.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program of the cluster asks the subnet administrator by a query for the
 * path record of a pair (InfiniBand Architecture, volume 1, chapter 15).  So
 * do we over ibsim's socket: each datagram is an envelope and one management
 * datagram. */
#include "config.h"

#include "routing/opensm/opensm_private.h"
#include "topology/machine.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

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
  AT_MASK = 48, /* which fields of the record the query gives */
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

static uint32_t
get32 (const uint8_t *bytes)
{
  return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 |
         bytes[3];
}

static Envelope
make_query (const RouteOpensmLine *line, uint32_t transaction, uint16_t from_lid, uint16_t to_lid)
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
  return query;
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

static gboolean
failed (const char *what, GError **error)
{
  g_set_error_literal (error, TOPO_ERROR, TOPO_ERROR_RANGE, what);
  return FALSE;
}

gboolean
route_opensm_connect (RouteOpensmLine *line, const char *base, GError **error)
{
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

  line->control = open_socket (control);
  line->data = open_socket (data);
  if (line->control < 0 || !connect_socket (line->control, their_control))
    return failed ("cannot reach ibsim", error);
  if (line->data < 0 || send (line->control, &message, sizeof message, 0) != sizeof message ||
      recv (line->control, &message, sizeof message, 0) != sizeof message ||
      message.kind != KIND_CONNECT)
    return failed ("ibsim does not take a second program", error);
  their_data = g_strdup_printf ("%s:out%u", base, message.id);
  return connect_socket (line->data, their_data) || failed ("cannot reach ibsim", error);
}

bool
route_opensm_ask (const RouteOpensmLine *line, uint32_t transaction, uint16_t from_lid,
                  uint16_t to_lid)
{
  Envelope query = make_query (line, transaction, from_lid, to_lid);

  return send (line->data, &query, sizeof query, 0) >= 0 || errno == EAGAIN;
}

bool
route_opensm_answer (const RouteOpensmLine *line, RouteOpensmAnswer *answer)
{
  Envelope envelope;
  const uint8_t *datagram = envelope.datagram;

  if (recv (line->data, &envelope, sizeof envelope, 0) != sizeof envelope)
    return false;
  answer->is_answer = datagram[AT_METHOD] == METHOD_RESPONSE;
  answer->transaction = get32 (datagram + AT_TRANSACTION + 4);
  answer->has_path = datagram[AT_STATUS] == 0 && datagram[AT_STATUS + 1] == 0;
  answer->level = datagram[AT_RECORD + RECORD_LEVEL] & 15;
  return true;
}

void
route_opensm_disconnect (RouteOpensmLine *line)
{
  if (line->control >= 0)
    close (line->control);
  if (line->data >= 0)
    close (line->data);
}
