/* node_fixture.h - nodes for tests: real ones, and made-up ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/node/node.h"

#define E5420     "netloc-plafrim-Intel_Xeon_CPU_E5420__2.50GHz.xml"
#define X5550     "netloc-plafrim-Intel_Xeon_CPU_X5550__2.67GHz.xml"
#define X5675     "netloc-avakas-Intel_Xeon_CPU_X5675__3.07GHz.xml"
#define E5_2660   "netloc-avakas-Intel_Xeon_CPU_E5-2660_0__2.20GHz.xml"
#define E5_2680   "netloc-plafrim2-Intel_Xeon_CPU_E5-2680_v3__2.50GHz.xml"
#define EPYC_7763 "hwloc2-AMD-19h-Zen3-2xEpyc-7763.xml"
#define GOLD_6140 "hwloc2-Intel-Skylake-2xXeon6140.xml"
#define MAX_9460  "hwloc2-Intel-SapphireRapids-2xXeonMax9460.xml"
#define HWLOC3    "hwloc3-Intel-CascadeLake-2xXeon6230.xml"

/* Path in the shared data, which is not part of the project; NULL, and the
 * test marked as skipped, when it is not there.  The caller frees it. */
char *node_fixture_path (const char *name);

/* The node of such a file; NULL when it is not there. */
TopoNode *node_fixture_load (const char *name);

/* The node of a file with this text. */
TopoNode *node_fixture_text (const char *text, GError **error);

/* A synthetic machine in hwloc's notation; flags: of the export.  node_fixture_of() is for
 * machines that must be accepted. */
TopoNode *node_fixture_export (const char *description, unsigned long flags, GError **error);
TopoNode *node_fixture_of (const char *description);
TopoNode *node_fixture_synthetic (const char *description, GError **error);
