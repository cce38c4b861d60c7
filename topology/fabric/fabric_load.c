/* fabric_load.c - which kind of file describes a fabric.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/fabric/fabric.h"

#include "base/file.h"
#include "topology/fabric/fabric_files.h"
#include "topology/machine.h"

#include <string.h>

TopoFabric *
topo_fabric_load (const char *path, GError **error)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) cause = NULL;
  gsize length;

  if (!base_file_read (path, &text, &length, &cause)) {
    g_set_error_literal (error, TOPO_ERROR, TOPO_ERROR_FILE, cause->message);
    return NULL;
  }
  if (strlen (text) != length) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: not a text", path);
    return NULL;
  }
  if (topo_fabric_is_report (text))
    return topo_fabric_report (path, text, error);
  if (topo_fabric_is_slurm (text))
    return topo_fabric_slurm (path, text, error);
  return topo_fabric_discovered (path, text, error);
}
