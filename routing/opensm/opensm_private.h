/* opensm_private.h - the parts of running OpenSM; private to routing/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "routing/opensm/opensm.h"

#include <sys/types.h>

/* --- opensm_fabric.c: the fabric in the words of ibsim and OpenSM --- */

/* GUIDs of our own by device, so that what comes back can be told apart whatever the
 * source of the fabric called its devices, in the order in which OpenSM puts
 * the real ones: it decides by them which of several ways to take.  That of
 * an adapter's port is the device's plus the number of the port, as ibsim makes
 * them.  The caller frees them. */
uint64_t *route_opensm_guids (const TopoFabric *fabric);

/* As ibsim reads it.  Switches first: the subnet manager sits on the first
 * device. */
gboolean route_opensm_write_fabric (const TopoFabric *fabric, const char *path, GError **error);

/* OpenSM's dump of the tables of a fabric that was written so. */
RouteForwarding *
route_opensm_load (const TopoFabric *fabric, const char *path, const char *engine, GError **error);

/* --- opensm_folder.c: a temporary folder that goes whatever ends us --- */

typedef struct {
  char *path; /* absolute */
  int input;  /* of the process that removes it */
  pid_t remover;
} RouteOpensmFolder;

gboolean route_opensm_folder_make (RouteOpensmFolder *folder, GError **error);

/* With all that is in it; returns when it is gone. */
void route_opensm_folder_remove (RouteOpensmFolder *folder);

/* --- opensm_query.c: asks a running OpenSM about the path of a pair --- */

typedef struct {
  int control, data; /* sockets to ibsim; -1: none yet */
  uint16_t manager_lid;
} RouteOpensmLine;

typedef struct {
  bool is_answer; /* to a query; else somebody else's talk */
  bool has_path;
  uint32_t transaction; /* of the query */
  uint32_t level;       /* service level, 0..15 */
} RouteOpensmAnswer;

/* Joins the fabric of the ibsim with this socket. */
gboolean route_opensm_connect (RouteOpensmLine *line, const char *socket_name, GError **error);
void route_opensm_disconnect (RouteOpensmLine *line);

/* Sends a query, which may get lost; false when nobody is there any more. */
bool route_opensm_ask (const RouteOpensmLine *line, uint32_t transaction, uint16_t from_lid,
                       uint16_t to_lid);

/* Takes the next datagram; false when none comes for half a second. */
bool route_opensm_answer (const RouteOpensmLine *line, RouteOpensmAnswer *answer);

/* --- opensm_lanes.c: the service levels that OpenSM gives to pairs --- */

typedef struct {
  const char *socket_name; /* of ibsim */
  const char *lids;        /* path of OpenSM's table of GUIDs and LIDs */
  const char *log;         /* path of OpenSM's log */
  uint32_t max_vls;
  gint64 last_us; /* when to give up, of the monotonic clock */
} RouteOpensmLanes;

/* Asks a running OpenSM for the service level of every pair and fills in
 * tables->vl and n_vls. */
gboolean
route_opensm_read_lanes (RouteForwarding *tables, const RouteOpensmLanes *lanes, GError **error);
