/* fabric.h - a switched fabric: switches, host adapters and the cables.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Index spaces:
 *
 *   device  0 .. n_devices-1, as the source lists them: switches and adapters
 *   port    of the fabric: port number p of a device (1 .. n_ports, as printed
 *           on the case) is first_port + p - 1.  A port is also the directed
 *           link that leaves it; ports[port].peer is where that link arrives.
 *   node    a computer: the adapters whose descriptions begin with the same
 *           host name are the rails of one node.  In the order of their first
 *           adapter.
 *
 * The struct is public and read-only once made. */
#pragma once

#include "topology/shape.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum {
  TOPO_SPEED_SDR,
  TOPO_SPEED_DDR,
  TOPO_SPEED_QDR,
  TOPO_SPEED_FDR10,
  TOPO_SPEED_FDR,
  TOPO_SPEED_EDR,
  TOPO_SPEED_HDR,
  TOPO_SPEED_NDR,
  TOPO_SPEEDS
} TopoSpeed;

typedef struct {
  char *id;   /* as the source names it: "S-0008f10500200b50" */
  char *name; /* its description: "leaf0", "node17 HCA-1" */
  uint64_t guid;
  bool is_switch;
  uint32_t n_ports;
  uint32_t first_port;
  uint32_t lid;   /* of a switch; 0: not known */
  uint32_t model; /* PCI device id (ibnetdiscover's devid); 0: not known */
  uint32_t node;  /* of an adapter with a cable; else TOPO_NONE */
} TopoDevice;

typedef struct {
  uint32_t device;
  uint32_t peer; /* port at the other end of the cable; TOPO_NONE: nothing is plugged in */
  uint64_t guid; /* of an adapter's port; 0: not known */
  uint32_t lid;  /* of an adapter's port; 0: not known */
  uint8_t lmc;   /* it has 2^lmc LIDs from `lid` on */
  uint8_t lanes; /* 1, 2, 4, 8 or 12 */
  uint8_t speed; /* TopoSpeed, of each lane */
} TopoPort;

typedef struct {
  char *name;
  uint32_t first_rail, n_rails; /* of rails[] */
} TopoHost;

typedef struct {
  char *source; /* path or preset, for messages */
  TopoDevice *devices;
  uint32_t n_devices, n_switches, n_adapters;
  TopoPort *ports;
  uint32_t n_ports;
  uint32_t n_links; /* directed */
  TopoHost *hosts;  /* [n_hosts] by node */
  uint32_t n_hosts;
  uint32_t *rails;     /* adapters (devices) by node */
  GPtrArray *warnings; /* (element-type utf8) what the source has twice or in two ways */
} TopoFabric;

/* Width and speed of a cable. */
typedef struct {
  uint8_t lanes;
  TopoSpeed speed; /* of each lane */
} TopoRate;

/* The cables of a file without them; zeros: the defaults of its kind. */
typedef struct {
  TopoRate rate;
  uint32_t cables; /* between two switches, or from a spine to every other group */
  uint32_t spines; /* of a group */
} TopoCabling;

/* From a file: the output of ibnetdiscover (as ibsim reads it too), its ports
 * report (ibnetdiscover -p), a Slurm topology.conf, or a table of the groups and leaves of nodes;
 * told apart by their content.  Only the last two need *cabling (NULL: the
 * defaults); numbers in it that do not apply to a file are an error.  Errors
 * name file and line. */
TopoFabric *topo_fabric_load (const char *path, const TopoCabling *cabling, GError **error);

/* Two levels of switches: `leaves` with `nodes` each, and `spines`, every leaf
 * having nodes / spines cables (at least one) to each.  0 spines: as many as
 * give all nodes their full bandwidth with the cables of one leaf spread over
 * half as many spines as it has nodes. */
TopoFabric *
topo_fabric_tree (uint32_t leaves, uint32_t nodes, uint32_t spines, TopoRate rate, GError **error);

/* A full three-level fat tree of switches of `radix` ports: radix^3 / 4 nodes. */
TopoFabric *topo_fabric_tree3 (uint32_t radix, TopoRate rate, GError **error);

typedef struct {
  uint32_t groups;
  uint32_t leaves, spines; /* of a group */
  uint32_t nodes;          /* of a leaf */
  uint32_t global;         /* cables of a spine to other groups; 0: one to each */
} TopoDragonfly;

/* A Dragonfly+: groups of leaves and spines, every leaf cabled to every spine of its group; the
 * spines' cables to other groups are spread evenly (topology/fabric/fabric_dragonfly.c has the
 * wiring).  *error when they cannot be. */
TopoFabric *topo_fabric_dragonfly (const TopoDragonfly *shape, TopoRate rate, GError **error);

#define TOPO_STAMPEDE_NODES 6400

/* Of TACC's Stampede of 2013: as many leaves as hold `n_nodes`, 20 nodes each, 36 ports,
 * and the parts of the eight 648-port directors that these leaves' cables, two to each
 * director, reach. */
TopoFabric *topo_fabric_stampede (uint32_t n_nodes, TopoRate rate, GError **error);

void topo_fabric_free (TopoFabric *fabric);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopoFabric, topo_fabric_free)

/* "SDR" ... "NDR"; case does not matter.  False when there is no such speed. */
bool topo_speed_parse (const char *text, gsize length, TopoSpeed *speed);
const char *topo_speed_name (TopoSpeed speed);

/* The rate of a cable by its name: a speed, with four lanes, or HDR100 or NDR200, which are
 * two lanes of HDR and NDR; case does not matter.  False when there is no such rate. */
bool topo_rate_parse (const char *text, TopoRate *rate);
const char *topo_rate_name (TopoRate rate);

/* Data of one direction, after the line code, in bytes per second. */
uint64_t topo_link_bandwidth_Bps (uint32_t lanes, TopoSpeed speed);

static inline uint32_t
topo_fabric_port_number (const TopoFabric *fabric, uint32_t port)
{
  return port - fabric->devices[fabric->ports[port].device].first_port + 1;
}

/* False of a device that `failed` took out. */
bool topo_fabric_has_cable (const TopoFabric *fabric, uint32_t device);

/* "leaf0 port 19", for messages; the caller frees it. */
char *topo_fabric_port_name (const TopoFabric *fabric, uint32_t port);
