/* fabric_survey.h - reachability, loads and credit loops of a fabric's forwarding tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every ordered pair of destinations (plugged-in adapter ports) is one route;
 * they are followed together, one destination at a time, as those of the
 * adapters on one switch share their way.  Credit loops are also those of what adaptive
 * switches may choose, when the tables have it. */
#pragma once

#include "routing/forwarding/forwarding.h"

typedef struct {
  uint64_t pairs;
  uint64_t unreachable;        /* pairs whose route ends elsewhere, or never */
  uint64_t circling;           /* those of them that come by a switch again and again */
  uint32_t lost_from, lost_to; /* the first unreachable pair, as destinations; TOPO_NONE: none */
  uint32_t *cut_off;           /* [n_cut_off] destinations that no other adapter reaches */
  uint32_t n_cut_off;
  uint32_t max_hops;           /* switches on the way */
  uint64_t *pairs_by_hops;     /* [max_hops + 1] */
  uint32_t links;              /* directed, between switches */
  uint64_t load_min, load_max; /* routes over a link between switches that has any */
  double load_median;
  uint32_t unused; /* links between switches without a route */
  uint64_t *load;  /* [n_ports] routes over each link of the fabric */
  uint32_t n_vls;  /* lanes that the tables use */
  /* Groups of links whose buffers can wait for each other all around, on one lane. */
  uint32_t credit_loops;
  uint32_t *loops_by_vl; /* [n_vls] */
  uint32_t *loop; /* [n_loop] the links of one of them, each waiting for the next; NULL: none */
  uint32_t n_loop;
} RouteFabricSurvey;

RouteFabricSurvey *route_fabric_survey_new (const RouteForwarding *tables);
void route_fabric_survey_free (RouteFabricSurvey *survey);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (RouteFabricSurvey, route_fabric_survey_free)
