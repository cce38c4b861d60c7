/* fabric_files.h - the kinds of files that describe fabrics; private.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/fabric/fabric.h"

/* `text` is cut up. */
bool topo_fabric_is_report (const char *text);
TopoFabric *topo_fabric_report (const char *path, char *text, GError **error);

bool topo_fabric_is_slurm (const char *text);
TopoFabric *topo_fabric_slurm (const char *path, char *text, GError **error);

/* Everything else is taken for the output of ibnetdiscover. */
TopoFabric *topo_fabric_discovered (const char *path, char *text, GError **error);

/* The next line of *text, ended by a NUL, without blanks at its ends; NULL at
 * the end of the text. */
char *topo_fabric_line (char **text);

/* "4xQDR", "4x QDR" or "4x"; the rest of the text in *end.  False when it is
 * not of this form; *bad is set when it is, with a width or speed that does
 * not exist. */
bool topo_fabric_rate (const char *text, uint32_t *lanes, TopoSpeed *speed, bool *bad);
