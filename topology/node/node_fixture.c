/* node_fixture.c - nodes for tests: real ones, and made-up ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/node/node_fixture.h"

#include ".ci/test_data.h"

#include <glib/gstdio.h>
#include <hwloc.h>

char *
node_fixture_path (const char *name)
{
  g_autofree char *in_data = g_build_filename ("nodes", name, NULL);

  return test_data (in_data);
}

TopoNode *
node_fixture_load (const char *name)
{
  g_autofree char *path = node_fixture_path (name);
  g_autoptr (GError) error = NULL;
  TopoNode *node = path != NULL ? topo_node_load (path, &error) : NULL;

  g_assert_no_error (error);
  return node;
}

TopoNode *
node_fixture_text (const char *text, GError **error)
{
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("node-XXXXXX", &path, NULL);
  TopoNode *node;

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  node = topo_node_load (path, error);
  g_close (file, NULL);
  g_unlink (path);
  return node;
}

TopoNode *
node_fixture_export (const char *description, unsigned long flags, GError **error)
{
  hwloc_topology_t topology;
  char *xml;
  int length;
  TopoNode *node;

  g_assert_cmpint (hwloc_topology_init (&topology), ==, 0);
  g_assert_cmpint (hwloc_topology_set_synthetic (topology, description), ==, 0);
  g_assert_cmpint (hwloc_topology_load (topology), ==, 0);
  g_assert_cmpint (hwloc_topology_export_xmlbuffer (topology, &xml, &length, flags), ==, 0);
  node = node_fixture_text (xml, error);
  hwloc_free_xmlbuffer (topology, xml);
  hwloc_topology_destroy (topology);
  return node;
}

TopoNode *
node_fixture_synthetic (const char *description, GError **error)
{
  return node_fixture_export (description, 0, error);
}

TopoNode *
node_fixture_of (const char *description)
{
  g_autoptr (GError) error = NULL;
  TopoNode *node = node_fixture_synthetic (description, &error);

  g_assert_no_error (error);
  return node;
}
