/* machine_test.c - specs, machine files and what a machine says of itself.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/machine.h"
#include "topology/topology_testing.h"

#include <glib/gstdio.h>
#include <string.h>

/* "2M 2M 4T 2M 2T" */
static char *
describe (const TopoShape *shape)
{
  GString *text = g_string_new (NULL);

  for (uint32_t dimension = 0; dimension < shape->n_dimensions; dimension++)
    g_string_append_printf (text, "%s%u%c", dimension > 0 ? " " : "", shape->size[dimension],
                            shape->wrap[dimension] ? 'T' : 'M');
  return g_string_free (text, FALSE);
}

/* The partitions are those of bgq.md section 1. */
static void
test_shapes (void)
{
  static const struct {
    const char *spec;
    uint32_t n_nodes;
    const char *shape;
  } cases[] = {
    { "bgq:32", 32, "2M 2M 2M 2M 2T" },
    { "bgq:64", 64, "2M 2M 4T 2M 2T" },
    { "bgq:128", 128, "2M 2M 4T 4T 2T" },
    { "bgq:256", 256, "4T 2M 4T 4T 2T" },
    { "bgq:512", 512, "4T 4T 4T 4T 2T" },
    { "bgq:1024", 1024, "4T 4T 4T 8T 2T" },
    { "bgq:2048", 2048, "4T 4T 4T 16T 2T" },
    { "bgq:4096", 4096, "4T 4T 8T 16T 2T" },
    { "bgq:8192", 8192, "4T 4T 16T 16T 2T" },
    { "bgq:16384", 16384, "8T 8T 8T 16T 2T" },
    { "bgq:24576", 24576, "4T 12T 16T 16T 2T" },
    { "bgq:32768", 32768, "8T 8T 16T 16T 2T" },
    { "bgq:49152", 49152, "8T 12T 16T 16T 2T" },
    { "bgq:98304", 98304, "16T 12T 16T 16T 2T" },
    { "bgq:4x4x4x8x2", 1024, "4T 4T 4T 8T 2T" },
    { "bgq:4x4x8x8x2", 2048, "4T 4T 8T 8T 2T" },
    { "bgq:2x2x4x4x2", 128, "2M 2M 4T 4T 2T" },
    { "bgq:1x1x1x1x1", 1, "1M 1M 1M 1M 1T" },
    { "bgq:3x4x2x1x2", 48, "3M 4T 2M 1M 2T" },
    { "bgq:4x4x4x8mx2", 1024, "4T 4T 4T 8M 2T" },
    { "bgq:4mx4x4x4x2", 512, "4M 4T 4T 4T 2T" },
    { "torus:8x8x8m", 512, "8T 8T 8M" },
    { "torus:511", 511, "511T" },
    { "torus:256m", 256, "256M" },
    { "torus:2x2x2x2x2x1", 32, "2T 2T 2T 2T 2T 1T" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, 0);
    g_autofree char *found = describe (&machine->shape);

    g_test_message ("%s", cases[at].spec);
    g_assert_cmpstr (found, ==, cases[at].shape);
    g_assert_cmpuint (topo_shape_nodes (&machine->shape), ==, cases[at].n_nodes);
    g_assert_cmpint (machine->is_bgq, ==, g_str_has_prefix (cases[at].spec, "bgq:"));
    g_assert_cmpuint (machine->ranks_per_node, ==, 1);
  }
}

static void
test_canonical_spec (void)
{
  static const char *const cases[][2] = {
    { "bgq:512", "bgq:4x4x4x4x2" },        { "bgq:32", "bgq:2x2x2x2x2" },
    { "bgq:128", "bgq:2x2x4x4x2" },        { "bgq:4x4x4x8mx2", "bgq:4x4x4x8mx2" },
    { "bgq:2mx2x2x2x2", "bgq:2x2x2x2x2" }, { "torus:8x8x8m", "torus:8x8x8m" },
    { "bgq:04x4x4x4x2", "bgq:4x4x4x4x2" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at][0], 0);

    g_assert_cmpstr (machine->spec, ==, cases[at][1]);
  }
}

static void
test_bad_specs (void)
{
  static const struct {
    const char *spec, *named; /* what the message must tell */
  } cases[] = {
    { "", "neither" },
    { "bgq", "bgq:512" },
    { "bgq:", "node counts" },
    { "bgq:0", "node counts" },
    { "bgq:100", "512" },
    { "bgq:-32", "node counts" },
    { "bgq:32 ", "node counts" },
    { "bgq:99999999999999999999", "node counts" },
    { "bgq:5x4x4x4x2", "multiples of 4" },
    { "bgq:2x2x2x8x2", "multiples of 4" },
    { "bgq:4x4x4x4x4", "multiples of 4" },
    { "bgq:4x4x4x8x1", "multiples of 4" },
    { "bgq:4x4x4x68x2", "multiples of 4" },
    { "bgq:64x64x64x64x2", "1048576" },
    { "bgq:4x4x4x4", "five dimensions" },
    { "bgq:4x4x4x4x2x1", "five dimensions" },
    { "bgq:4x4x4x4x2m", "always a torus" },
    { "bgq:4x4x0x4x2", "\"0\"" },
    { "bgq:4x4xx4x2", "\"\"" },
    { "bgq:4x4x-4x4x2", "\"-4\"" },
    { "bgq:4x4x4.0x4x2", "\"4.0\"" },
    { "bgq:512,pacing=no", "pacing=no" },
    { "torus:", "1 to 6" },
    { "torus:m", "\"m\"" },
    { "torus:8x8mm", "\"8m\"" },
    { "torus:0", "\"0\"" },
    { "torus:512", "511" },
    { "torus:257m", "256" },
    { "torus:500x500x500", "1048576" },
    { "torus:511x511x511x511x511x511", "1048576" },
    { "torus:4294967297", "found" },
    { "torus:2x2x2x2x2x2x2", "1 to 6" },
    { "torus:8x8,routes=x", "routes=x" },
    { "bgq:32,failed=0,0,0,0,0", "bgq:32 needs a block without it" },
    { "torus:8x8,degraded=0,0 1x", "torus:8x8 is a torus" },
    { "mesh:8x8", "torus:8x8x8m" },
    { "/no/such/file.conf", "neither" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;

    g_test_message ("%s", cases[at].spec);
    g_assert_null (topo_machine_new (cases[at].spec, &error));
    topo_testing_refused (error, -1, NULL, cases[at].named);
  }
}

/* The machine of a file with this text; the file is removed. */
static TopoMachine *
machine_of_text (const char *text, GError **error, char **path)
{
  TopoMachine *machine;

  *path = topo_testing_file (text);
  machine = topo_machine_new (*path, error);
  g_unlink (*path);
  return machine;
}

static void
assert_survives_print (const TopoMachine *machine)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  g_autofree char *text = topo_machine_print (machine);
  g_autoptr (TopoMachine) read = machine_of_text (text, &error, &path);
  g_autofree char *again = NULL;

  g_assert_no_error (error);
  again = topo_machine_print (read);
  g_assert_cmpstr (read->spec, ==, machine->spec);
  g_assert_cmpint (read->is_bgq, ==, machine->is_bgq);
  g_assert_cmpuint (read->ranks_per_node, ==, machine->ranks_per_node);
  g_assert_cmpmem (&read->shape, sizeof read->shape, &machine->shape, sizeof machine->shape);
  g_assert_cmpmem (&read->parameters, sizeof read->parameters, &machine->parameters,
                   sizeof machine->parameters);
  g_assert_cmpstr (text, ==, again);
}

static void
test_print_survives (void)
{
  static const char *const specs[] = { "bgq:32",         "bgq:128",      "bgq:512", "bgq:98304",
                                       "bgq:4x4x4mx8x2", "torus:8x8x8m", "torus:7" };

  for (gsize at = 0; at < G_N_ELEMENTS (specs); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (specs[at], 0);

    machine->ranks_per_node = 16;
    machine->parameters.link.hop_latency_ps = 34567;
    machine->parameters.link.overhead = 0.1 / 3;
    assert_survives_print (machine);
  }
}

static void
test_file_sets_what_it_names (void)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  g_autoptr (TopoMachine) machine = machine_of_text ("# mine\n"
                                                     "[machine]\nspec = bgq:512\n"
                                                     "ranks_per_node = 16\n\n"
                                                     "[link]\nhop_latency = 35 ns\n",
                                                     &error, &path);

  g_assert_no_error (error);
  g_assert_cmpstr (machine->spec, ==, "bgq:4x4x4x4x2");
  g_assert_cmpuint (machine->ranks_per_node, ==, 16);
  g_assert_cmpint (machine->parameters.link.hop_latency_ps, ==, 35000);
  g_assert_cmpint (machine->parameters.link.token_latency_ps, ==, 40000);
}

static void
test_bad_files (void)
{
  static const struct {
    const char *text, *where, *named;
  } cases[] = {
    { "", "", "no spec" },
    { "[machine]\nranks_per_node = 2\n", "", "no spec" },
    { "[machine]\nspec = bgq:100\n", ":2: ", "node counts" },
    { "[machine]\nspec = other.conf\n", ":2: ", "other.conf" },
    { "[machine]\nspec = bgq:512\nranks_per_node = 0\n", ":3: ", "1 to 64" },
    { "[machine]\nspec = bgq:512\nranks_per_node = 65\n", ":3: ", "1 to 64" },
    { "[machine]\nspec = bgq:512\nranks_per_node = many\n", ":3: ", "many" },
    { "[machine]\nspec = bgq:512\nranks = 2\n", ":3: ", "ranks" },
    { "[machine]\nspec = bgq:512\nspec = bgq:32\n", ":3: ", "twice" },
    { "spec = bgq:512\n", ":1: ", "[group]" },
    { "[machine]\nspec = bgq:512\nfast\n", ":3: ", "fast" },
    { "[machine]\nspec = bgq:512\n\n[link]\nbandwidth = 2\n", ":5: ", "unit" },
    { "[machine]\nspec = bgq:512\n[links]\nbandwidth = 2 GB/s\n", ":3: ", "links" },
    { "[machine]\nspec = bgq:512\n\xff\xfe\n", "", "text file" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *path = NULL;
    g_autofree char *where = NULL;

    g_test_message ("%s", cases[at].text);
    g_assert_null (machine_of_text (cases[at].text, &error, &path));
    where = g_strconcat (path, cases[at].where, NULL);
    topo_testing_refused (error, -1, where, cases[at].named);
  }
}

static void
test_racks (void)
{
  static const struct {
    const char *spec;
    uint32_t racks;
  } cases[] = { { "bgq:512", 0 },  { "bgq:1024", 1 },   { "bgq:4x4x4x12x2", 1 },
                { "bgq:2048", 2 }, { "bgq:98304", 96 }, { "torus:16x16x16", 0 } };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, 0);

    g_test_message ("%s", cases[at].spec);
    g_assert_cmpuint (topo_machine_racks (machine), ==, cases[at].racks);
  }
}

/* Directed links that leave a midplane: each midplane of 4x4x4x8x2 has two
 * faces of 4 x 4 x 4 x 2 nodes towards the other. */
static void
test_links_that_leave_a_midplane (void)
{
  static const struct {
    const char *spec;
    uint32_t n_long;
  } cases[] = { { "bgq:512", 0 },
                { "bgq:1024", 2 * 2 * 128 },
                { "bgq:4x4x4x8mx2", 2 * 128 },
                { "bgq:4x4x8x8x2", 4 * 4 * 128 },
                { "torus:8x8", 0 } };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, 0);
    uint32_t n_ports = topo_shape_ports (&machine->shape), n_long = 0;

    for (uint32_t port = 0; port < topo_shape_nodes (&machine->shape) * n_ports; port++) {
      int64_t extra_ps = topo_machine_extra_latency_ps (machine, port / n_ports, port % n_ports);

      g_assert_true (extra_ps == 0 || extra_ps == machine->parameters.link.midplane_latency_ps);
      n_long += extra_ps > 0;
    }
    g_test_message ("%s", cases[at].spec);
    g_assert_cmpuint (n_long, ==, cases[at].n_long);
  }
}

static void
test_fabrics (void)
{
  g_autoptr (TopoMachine) tree = topo_machine_new ("fattree:4x3:2,speed=FDR,routes=ftree", NULL);
  g_autoptr (TopoMachine) part = topo_machine_new ("systemg:16", NULL);

  g_assert_cmpuint (topo_shape_nodes (&tree->shape), ==, 12);
  g_assert_cmpuint (tree->fabric->n_switches, ==, 6);
  g_assert_cmpint (tree->fabric->ports[0].speed, ==, TOPO_SPEED_FDR);
  g_assert_cmpstr (tree->routes, ==, "ftree");
  g_assert_cmpuint (topo_shape_nodes (&part->shape), ==, 16);
  g_assert_cmpuint (part->fabric->n_hosts, ==, 324);
  g_assert_cmpstr (part->routes, ==, "minhop");
}

static void
test_bad_fabrics (void)
{
  static const char *const specs[] = {
    "fattree",       "fattree:",        "fattree:4",      "fattree:4x",      "fattree:4x4x4",
    "fattree:0x4",   "fattree:4x4:2:1", "fattree3:5",     "fattree3:x",      "systemg:0",
    "systemg:325",   "systemg:1x1",     "fabric:",        "fabric:/nowhere", "systemg,routes=",
    "systemg,speed", "systemg,speed=X", "systemg,what=1", "fattree:99999x9",
  };

  for (gsize at = 0; at < G_N_ELEMENTS (specs); at++) {
    g_autoptr (GError) error = NULL;
    g_autoptr (TopoMachine) machine = topo_machine_new (specs[at], &error);

    if (machine != NULL)
      g_error ("\"%s\" is taken for a machine", specs[at]);
    g_assert_true (error->domain == TOPO_ERROR);
  }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/machine/shapes", test_shapes);
  g_test_add_func ("/topology/machine/canonical", test_canonical_spec);
  g_test_add_func ("/topology/machine/bad-specs", test_bad_specs);
  g_test_add_func ("/topology/machine/print", test_print_survives);
  g_test_add_func ("/topology/machine/file", test_file_sets_what_it_names);
  g_test_add_func ("/topology/machine/bad-files", test_bad_files);
  g_test_add_func ("/topology/machine/racks", test_racks);
  g_test_add_func ("/topology/machine/midplanes", test_links_that_leave_a_midplane);
  g_test_add_func ("/topology/machine/fabrics", test_fabrics);
  g_test_add_func ("/topology/machine/bad-fabrics", test_bad_fabrics);
  return g_test_run ();
}
