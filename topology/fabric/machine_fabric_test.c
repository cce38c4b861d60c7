/* machine_fabric_test.c - machine files of fabrics, their presets and options.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/machine.h"
#include ".ci/test_data.h"
#include "topology/topology_testing.h"

#include <glib/gstdio.h>
#include <string.h>

/* Two nodes on one switch, as ibnetdiscover prints them. */
#define SMALL_FABRIC                                           \
  "Switch 4 \"S-0000000000000001\" # \"leaf\" lid 1\n"         \
  "[1] \"H-0000000000000010\"[1] # \"alpha HCA-1\" 4xQDR\n"    \
  "[2] \"H-0000000000000020\"[1] # \"beta HCA-1\" 4xQDR\n"     \
  "\n"                                                         \
  "Ca 1 \"H-0000000000000010\" # \"alpha HCA-1\"\n"            \
  "[1](11) \"S-0000000000000001\"[1] # lid 2 \"leaf\" 4xQDR\n" \
  "\n"                                                         \
  "Ca 1 \"H-0000000000000020\" # \"beta HCA-1\"\n"             \
  "[1](21) \"S-0000000000000001\"[2] # lid 3 \"leaf\" 4xQDR\n"

/* A folder with small.net, tables.dump, a site's table of nodes and machine.conf. */
typedef struct {
  char *folder, *fabric, *tables, *conf, *table;
} Files;

static void
files_set_up (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  files->folder = g_dir_make_tmp ("machine-XXXXXX", NULL);
  files->fabric = g_build_filename (files->folder, "small.net", NULL);
  files->tables = g_build_filename (files->folder, "tables.dump", NULL);
  files->conf = g_build_filename (files->folder, "machine.conf", NULL);
  files->table = g_build_filename (files->folder, "site.txt", NULL);
  g_assert_true (g_file_set_contents (
      files->table, "NODE a CELL 1 SWITCH s\nNODE b CELL 2 SWITCH t\n", -1, NULL));
  g_assert_true (g_file_set_contents (files->fabric, SMALL_FABRIC, -1, NULL));
  g_assert_true (g_file_set_contents (files->tables, "tables\n", -1, NULL));
}

static void
files_tear_down (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  g_unlink (files->fabric);
  g_unlink (files->tables);
  g_unlink (files->table);
  g_unlink (files->conf);
  g_assert_cmpint (g_rmdir (files->folder), ==, 0);
  g_free (files->folder);
  g_free (files->fabric);
  g_free (files->tables);
  g_free (files->table);
  g_free (files->conf);
}

/* The machine of a machine file with this text, and options behind its path. */
static TopoMachine *
machine_of_text (const Files *files, const char *text, const char *options, GError **error)
{
  g_autofree char *spec = g_strconcat (files->conf, options, NULL);

  g_assert_true (g_file_set_contents (files->conf, text, -1, NULL));
  return topo_machine_new (spec, error);
}

static void
assert_same (const TopoMachine *left, const TopoMachine *right)
{
  g_autofree char *node = topo_node_print (left->node), *other = topo_node_print (right->node);

  g_assert_cmpint (left->parameters.family, ==, TOPO_FAMILY_FABRIC);
  g_assert_cmpmem (&left->parameters, sizeof left->parameters, &right->parameters,
                   sizeof right->parameters);
  g_assert_cmpmem (&left->shape, sizeof left->shape, &right->shape, sizeof right->shape);
  g_assert_cmpmem (left->slot_core, left->node->n_cores, right->slot_core, right->node->n_cores);
  g_assert_cmpuint (left->ranks_per_node, ==, right->ranks_per_node);
  g_assert_cmpuint (left->fabric->n_links, ==, right->fabric->n_links);
  g_assert_cmpint (left->fabric->ports[0].speed, ==, right->fabric->ports[0].speed);
  g_assert_cmpstr (node, ==, other);
}

/* What machine show prints makes the same machine, which prints the same. */
static void
assert_survives_print (const Files *files, const TopoMachine *machine)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *text = topo_machine_print (machine);
  g_autoptr (TopoMachine) read = machine_of_text (files, text, NULL, &error);
  g_autofree char *again = NULL;

  g_assert_no_error (error);
  assert_same (read, machine);
  again = topo_machine_print (read);
  g_assert_cmpstr (text, ==, again);
}

static void
test_print_survives (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  g_autofree char *fabric = g_strdup_printf ("fabric:%s", files->fabric);
  g_autofree char *routed = g_strdup_printf ("fabric:%s,routes=%s", files->fabric, files->tables);
  g_autofree char *layered =
      g_strdup_printf ("fabric:%s,routes=layers:%s", files->fabric, files->tables);
  g_autofree char *tabled =
      g_strdup_printf ("fabric:%s,speed=NDR,cables=2,spines=3,routes=updn", files->table);
  g_autofree char *xml = test_data_find ("nodes/hwloc2-Intel-Skylake-2xXeon6140.xml");
  g_autofree char *threads =
      xml != NULL ? g_strdup_printf ("fattree:4x3,node=%s,threads=2", xml) : g_strdup ("systemg");
  const char *const specs[] = {
    "systemg",
    "systemg:16",
    "stampede:2",
    "fattree3:4",
    "fattree:4x3",
    "fattree:4x3:2,speed=FDR,routes=ftree",
    "fattree3:4,speed=HDR100",
    "dragonflyplus:3x2x2:2",
    "dragonflyplus:3x2x2:2:4,speed=NDR200,routes=layers:minhop",
    tabled,
    fabric,
    routed,
    "systemg:2,node=sandybridge,routes=opensm:ftree",
    layered,
    "systemg:4,routes=layers:opensm:minhop",
    "fattree:4x3,node=genoa",
    "edr:40",
    "hdr100:4,node=rome,library=mpich-4",
    "fattree:2x2,rails=4,speed=HDR,library=ompi-1.3",
    threads,
  };

  for (gsize at = 0; at < G_N_ELEMENTS (specs); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (specs[at], 0);

    assert_survives_print (files, machine);
    g_assert_true (topo_machine_set_cores (machine, "7,3", NULL));
    g_assert_true (topo_machine_set_ranks_per_node (machine, 5, NULL));
    machine->parameters.switches.latency_ps = 34567;
    machine->parameters.congestion.is_on = true;
    machine->parameters.memory.cache_share = 0.1 / 3;
    assert_survives_print (files, machine);
  }
}

/* Full trees of three levels are routed by ftree: minhop would use one cable of 18 upwards. */
static void
test_usual_routes (void)
{
  static const char *const cases[][2] = {
    { "fattree:4x4:2", "minhop" },     { "fattree3:4", "ftree" },
    { "edr:648", "minhop" },           { "edr:649", "ftree" },
    { "systemg", "minhop" },           { "stampede:2", "minhop" },
    { "edr:649,routes=updn", "updn" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at][0], 0);

    g_assert_cmpstr (machine->routes, ==, cases[at][1]);
    g_assert_cmpstr (machine->spec, ==, cases[at][0]);
  }
}

/* With what is not the default, in one order. */
static void
test_canonical_spec (void)
{
  static const char *const cases[][2] = {
    { "systemg", "systemg" },
    { "systemg:16,routes=minhop", "systemg:16" },
    { "systemg:16,node=harpertown", "systemg:16" },
    { "systemg:16,routes=ftree,speed=FDR", "systemg:16,speed=FDR,routes=ftree" },
    { "fattree:4x4,node=sandybridge", "fattree:4x4,node=sandybridge" },
    { "stampede:8,node=sandybridge,speed=fdr", "stampede:8" },
    { "stampede:8,speed=EDR", "stampede:8,speed=EDR" },
    { "fattree:4x4,speed=ndr200", "fattree:4x4,speed=NDR200" },
    { "dragonflyplus:3x2x2:2,speed=hdr", "dragonflyplus:3x2x2:2" },
    { "dragonflyplus:3x2x2:2,routes=updn,speed=EDR",
      "dragonflyplus:3x2x2:2,speed=EDR,routes=updn" },
    { "stampede:8,node=harpertown", "stampede:8,node=harpertown" },
    { "fattree:4x4,threads=1,node=rome", "fattree:4x4,node=rome" },
    { "edr:16,node=broadwell,rails=1", "edr:16" },
    { "hdr:16,node=rome,library=ompi-5.0,rails=2", "hdr:16,rails=2,library=ompi-5.0,node=rome" },
    { "fattree:4x4,speed=HDR,node=icelake", "fattree:4x4,speed=HDR" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at][0], 0);

    g_assert_cmpstr (machine->spec, ==, cases[at][1]);
  }
}

static void
test_file_sets_what_it_names (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine =
      machine_of_text (files,
                       "[machine]\nspec = fabric:small.net\nroutes = tables.dump\n"
                       "node = sandybridge\nranks_per_node = 3\ncores = 8-10,0\n"
                       "[switch]\nlatency = 90 ns\n",
                       NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (topo_shape_nodes (&machine->shape), ==, 2);
  g_assert_cmpstr (machine->routes, ==, files->tables);
  g_assert_cmpstr (machine->node->source, ==, "sandybridge");
  g_assert_cmpuint (machine->ranks_per_node, ==, 3);
  g_assert_cmpmem (machine->slot_core, 6, "\x08\x09\x0a\x00\x01\x02", 6);
  g_assert_cmpint (machine->parameters.switches.latency_ps, ==, 90000);
}

/* Behind the spec in the file beats the key, behind the path beats both. */
static void
test_options_beat_the_file (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  const char *text = "[machine]\nspec = systemg:4,routes=updn\nroutes = dor\nnode = sandybridge\n";
  g_autoptr (TopoMachine) inner = machine_of_text (files, text, NULL, NULL);
  g_autoptr (TopoMachine) outer =
      machine_of_text (files, text, ",node=harpertown,routes=ftree", NULL);

  g_assert_cmpstr (inner->routes, ==, "updn");
  g_assert_cmpstr (inner->node->source, ==, "sandybridge");
  g_assert_cmpstr (outer->routes, ==, "ftree");
  g_assert_cmpstr (outer->node->source, ==, "harpertown");
  g_assert_cmpstr (outer->spec, ==, "systemg:4,routes=ftree");
}

static void
test_bad_files (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  static const struct {
    const char *text, *options, *where, *named;
  } cases[] = {
    { "[machine]\nspec = systemg:999\n", NULL, ":2: ", "1 to 324" },
    { "[machine]\nspec = fabric:none.net\n", NULL, ":2: ", "none.net" },
    { "[machine]\nspec = systemg,speed=NO\n", NULL, ":2: ", "speed=NO" },
    { "[machine]\nspec = systemg,cables=2\n", NULL, ":2: ", "cables=2" },
    { "[machine]\nspec = systemg,routes=dor,routes=ftree\n", NULL,
      ":2: ", "routes is there twice" },
    { "[machine]\nspec = systemg\n", ",node=rome,threads=2,node=milan", ": ",
      "\"node=milan\": node is there twice" },
    { "[machine]\nspec = fattree:2x2:2\n", ",failed=leaf0:3,failed=leaf0:4", ": ",
      "parts go between + in one" },
    { "[machine]\nspec = fabric:site.txt,spines=0\n", NULL, ":2: ", "spines=0" },
    { "[machine]\nspec = fabric:site.txt,spines=255\n", NULL, ":2: ", "spines=255" },
    { "[machine]\nspec = fabric:small.net,speed=HDR\n", NULL, ":2: ", "speed= does not apply" },
    { "[machine]\nspec = dragonflyplus:4x2x2:2:2\n", NULL, ":2: ", "no multiple of the 3" },
    { "[machine]\nspec = dragonflyplus:4x2x2\n", NULL, ":2: ", "GROUPSxLEAVESxSPINES:NODES" },
    { "[machine]\nspec = systemg\nroutes = none.dump\n", NULL, ":3: ", "none.dump" },
    { "[machine]\nspec = systemg\nnode = none.xml\n", NULL, ":3: ", "none.xml" },
    { "[machine]\nspec = systemg\nnode = tables.dump\n", NULL, ":3: ", "tables.dump" },
    { "[machine]\nspec = systemg\nranks_per_node = 9\n", NULL, ":3: ", "8 cores" },
    { "[machine]\nspec = systemg\nranks_per_node = 0\n", NULL, ":3: ", "1 to 256" },
    { "[machine]\nspec = systemg\ncores = 0,8\n", NULL, ":3: ", "cores 0 to 7" },
    { "[machine]\nspec = systemg\ncores = 0,1,0\n", NULL, ":3: ", "twice" },
    { "[machine]\nspec = systemg\ncores = 3-1\n", NULL, ":3: ", "3-1" },
    { "[machine]\nspec = systemg\ncores = \n", NULL, ":3: ", "no core" },
    { "[machine]\nspec = systemg\nspeed = QDR\n", NULL, ":3: ", "routes, node" },
    { "[machine]\nspec = systemg\n[link]\nbandwidth = 2 GB/s\n", NULL, ":3: ", "link" },
    { "[machine]\nspec = systemg\n[switch]\nlatency = 2\n", NULL, ":4: ", "unit" },
    { "[machine]\nspec = systemg\n\nroutes = minhops\n", NULL,
      ":4: ", "neither an engine (minhop, " },
    { "[machine]\nspec = systemg\nroutes = opensm:\n", NULL, ":3: ", "neither an engine" },
    { "[machine]\nspec = systemg\nroutes = layers:\n", NULL, ":3: ", "neither an engine" },
    { "[machine]\nspec = bgq:32\nroutes = ftree\n", NULL, ":3: ", "torus" },
    { "[machine]\nspec = bgq:32\nnode = harpertown\n", NULL, ":3: ", "torus" },
    { "[machine]\nspec = bgq:32\ncores = 0,2\n", NULL, ":3: ", "torus" },
    { "[machine]\nspec = bgq:32\nthreads = 2\n", NULL, ":3: ", "torus" },
    { "[machine]\nspec = systemg\nthreads = 0\n", NULL, ":3: ", "1 to 256" },
    { "[machine]\nspec = systemg\nnode = rome\nthreads = 2\n", NULL, ":4: ", "(rome) have 1" },
    { "[machine]\nspec = bgq:32\n", ",routes=ftree", ": ", "torus" },
    { "[machine]\nspec = systemg\n", ",route=ftree", ": ", "found \"route=ftree\"" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;
    g_autofree char *where = g_strconcat (files->conf, cases[at].where, NULL);

    g_assert_null (machine_of_text (files, cases[at].text, cases[at].options, &error));
    g_assert_true (error->domain == TOPO_ERROR);
    if (!g_str_has_prefix (error->message, where) || !strstr (error->message, cases[at].named) ||
        strchr (error->message, '\n'))
      g_error ("%s instead of %s... %s", error->message, where, cases[at].named);
  }
}

/* TACC's guide: 20 nodes and 16 cables to the core on a leaf, eight
 * directors.  At 9 leaves one board of each director has them all; at 10
 * there are two boards and 18 spine chips. */
static void
test_stampede (void)
{
  static const struct {
    const char *spec;
    uint32_t switches, cables;
  } cases[] = {
    { "stampede:2", 1, 2 },
    { "stampede:20", 1, 20 },
    { "stampede:21", 2 + 8, 21 + 2 * 16 },
    { "stampede:180", 9 + 8, 180 + 9 * 16 },
    { "stampede:181", 10 + 8 * 2 + 8 * 18, 181 + 10 * 16 + 8 * 2 * 18 },
    { "stampede", 320 + 8 * 36 + 8 * 18, 6400 + 320 * 16 + 8 * 36 * 18 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, 0);

    g_assert_cmpuint (machine->fabric->n_switches, ==, cases[at].switches);
    g_assert_cmpuint (machine->fabric->n_links, ==, 2 * cases[at].cables);
    g_assert_cmpuint (machine->fabric->n_hosts, ==, topo_shape_nodes (&machine->shape));
    g_assert_cmpint (machine->fabric->ports[0].speed, ==, TOPO_SPEED_FDR);
    g_assert_cmpuint (machine->parameters.mpi.eager_bytes, ==, 17408);
    g_assert_cmpuint (machine->parameters.mpi.collectives, ==, TOPO_COLLECTIVES_MPICH);
  }
}

/* The name of an engine is the engine, whatever lies about. */
static void
test_engine_beats_file (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  g_autofree char *path = g_build_filename (files->folder, "ftree", NULL);
  g_autofree char *dotted = g_build_filename (files->folder, "./ftree", NULL);
  g_autoptr (TopoMachine) engine = NULL, file = NULL;
  g_autoptr (GError) error = NULL;

  g_assert_true (g_file_set_contents (path, "tables\n", -1, NULL));
  engine = machine_of_text (files, "[machine]\nspec = systemg\nroutes = ftree\n", NULL, &error);
  g_assert_no_error (error);
  file = machine_of_text (files, "[machine]\nspec = systemg\nroutes = ./ftree\n", NULL, &error);
  g_assert_no_error (error);
  g_unlink (path);
  g_assert_cmpstr (engine->routes, ==, "ftree");
  g_assert_cmpstr (file->routes, ==, dotted);
}

/* Two packages of eight cores that share an L3 and have a memory. */
static void
test_sandybridge (void)
{
  g_autoptr (TopoNode) node = topo_node_named ("sandybridge");
  uint32_t l3 = topo_node_above (node, 0, TOPO_OBJECT_CACHE);

  g_assert_cmpuint (node->n_cores, ==, 16);
  g_assert_cmpuint (node->n_memories, ==, 2);
  g_assert_cmpint (node->objects[l3].kind, ==, TOPO_OBJECT_CACHE);
  g_assert_cmpuint (node->objects[l3].cache_bytes, ==, 20 << 20);
  g_assert_cmpuint (topo_node_above (node, 7, TOPO_OBJECT_CACHE), ==, l3);
  g_assert_cmpuint (topo_node_above (node, 7, TOPO_OBJECT_PACKAGE), !=,
                    topo_node_above (node, 8, TOPO_OBJECT_PACKAGE));
  g_assert_cmpuint (topo_node_above (node, 8, TOPO_OBJECT_MEMORY), ==, node->memory[1]);
  g_assert_cmpuint (topo_node_above (node, 3, TOPO_OBJECT_PACKAGE), ==, node->adapter);
  for (uint32_t core = 0; core < 16; core++) {
    const TopoObject *it = &node->objects[node->core[core]];

    g_assert_cmpuint (it->first_core, ==, core);
    g_assert_cmpuint (node->objects[it->parent].cache_bytes, ==, 256 << 10);
  }
}

/* The node of 2008 (Xeon E5462) is the default of trees and files up to QDR, later ones have one of their
 * years; System G and Stampede have their own.  QDR is of 2008, FDR of 2011; 0x1013 is ConnectX-4 and 0x673c ConnectX with QDR (pci.ids).  PCIe 2 x8
 * carries 3.25 GB/s, a 4x FDR link 14.0625 * 4 * 64 / 66 / 8 = 6.8 GB/s, and a 4x QDR link 4 GB/s. */
static void
test_assumptions (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  static const struct {
    const char *spec, *was, *is; /* of a file: this text in it becomes that one */
    bool node, newer, memory, pcie;
  } cases[] = {
    { "systemg:4", NULL, NULL, false, false, false, false },
    { "stampede:4", NULL, NULL, false, false, false, false },
    { "fattree:2x2:1", NULL, NULL, true, false, false, false },
    { "fattree3:4", NULL, NULL, true, false, false, false },
    { "fattree:2x2:1,node=harpertown", NULL, NULL, false, false, false, false },
    { "fattree:2x2:1,node=sandybridge", NULL, NULL, false, false, false, false },
    { "fattree:2x2:1,speed=FDR", NULL, NULL, true, false, false, true },
    { "systemg:4,speed=EDR", NULL, NULL, false, true, false, true },
    { "stampede:4,speed=HDR", NULL, NULL, false, true, false, true },
    { "dragonflyplus:2x1x1:1", NULL, NULL, true, false, false, false },
    { "edr:2", NULL, NULL, true, false, false, false },
    { NULL, "4xQDR", "4xQDR", true, false, false, false },
    { NULL, "4xQDR", "4xSDR", true, false, false, false },
    { NULL, "4xQDR", "4xFDR", true, false, false, true },
    { NULL, "alpha HCA-1", "alpha mlx5_0", true, true, false, false },
    { NULL, "Ca 1 \"H-0000000000000020", "devid=0x1013\nCa 1 \"H-0000000000000020", true, true,
      false, false },
    { NULL, "Ca 1 \"H-0000000000000020", "devid=0x673c\nCa 1 \"H-0000000000000020", true, false,
      false, false },
    /* A switch is no adapter, and its device id not that of the adapter behind it. */
    { NULL, "Switch 4", "devid=0x1013\nSwitch 4", true, false, false, false },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *file = g_strdup_printf ("fabric:%s", files->fabric);
    g_autoptr (GString) text = g_string_new (SMALL_FABRIC);
    g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
    g_autoptr (TopoMachine) machine = NULL;
    g_autofree char *all = NULL;

    if (cases[at].was != NULL)
      g_string_replace (text, cases[at].was, cases[at].is, 0);
    g_assert_true (g_file_set_contents (files->fabric, text->str, -1, NULL));
    machine = topo_testing_machine (cases[at].spec != NULL ? cases[at].spec : file, 0);
    topo_machine_assumptions (machine, lines);
    g_ptr_array_add (lines, NULL);
    all = g_strjoinv ("\n", (char **) lines->pdata);
    g_test_message ("%u: %s", (guint) at, all);
    g_assert_true (topo_machine_assumes_node (machine) == cases[at].node);
    g_assert_true ((strstr (all, " (assumed): ") != NULL) == cases[at].node);
    g_assert_true ((strstr (all, "newer than the node") != NULL) == cases[at].newer);
    g_assert_true ((strstr (all, "[memory]: ") != NULL) == cases[at].memory);
    g_assert_true ((strstr (all, "hca.pcie_bandwidth: ") != NULL) == cases[at].pcie);
  }
}

/* A speed has the same switches whether an option or a file names it; the fastest cable of a switch tells
 * its generation, a preset and a machine file beat it. */
static void
test_generations (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  static const char *const speeds[] = { "SDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR" };
  g_autofree char *file = g_strdup_printf ("fabric:%s", files->fabric);
  int64_t qdr_ps = 0, before_ps = 0;

  for (gsize at = 0; at < G_N_ELEMENTS (speeds); at++) {
    g_autofree char *spec = g_strdup_printf ("fattree:2x2:1,speed=%s", speeds[at]);
    g_autofree char *rate = g_strdup_printf ("4x%s", speeds[at]);
    g_autoptr (TopoMachine) tree = topo_testing_machine (spec, 0), described = NULL;
    g_autoptr (GString) text = g_string_new (SMALL_FABRIC);
    int64_t here_ps = tree->parameters.switches.latency_ps;

    /* Of its two cables the second stays at QDR. */
    g_string_replace (text, "alpha HCA-1\" 4xQDR", "alpha HCA-1\" 4xNDR", 0);
    g_string_replace (text, "lid 2 \"leaf\" 4xQDR", "lid 2 \"leaf\" 4xNDR", 0);
    g_string_replace (text, "4xNDR", rate, 0);
    g_assert_true (g_file_set_contents (files->fabric, text->str, -1, NULL));
    described = topo_testing_machine (file, 0);
    g_assert_cmpint (described->parameters.switches.latency_ps, ==, here_ps);
    if (g_str_equal (speeds[at], "QDR"))
      qdr_ps = here_ps;
    if (g_str_equal (speeds[at], "FDR"))
      g_assert_cmpint (here_ps, ==, before_ps);
    else if (at > 1)
      g_assert_cmpint (here_ps, !=, before_ps);
    before_ps = here_ps;
  }
  g_assert_cmpint (qdr_ps, ==, 100000);
  {
    g_autoptr (TopoMachine) old = topo_testing_machine ("fattree:2x2:1", 0);
    g_autoptr (TopoMachine) new = topo_testing_machine ("fattree:2x2:1,speed=HDR100", 0);

    g_assert_cmpuint (new->parameters.hca.contexts, >, old->parameters.hca.contexts);
    g_assert_cmpint (new->parameters.hca.context_miss_ps, <, old->parameters.hca.context_miss_ps);
    g_assert_cmpuint (new->parameters.hca.context_fetches, ==, 8);
    g_assert_cmpuint (old->parameters.hca.context_fetches, ==, 1);
  }

  g_autoptr (TopoMachine) preset = topo_testing_machine ("stampede:2,speed=HDR", 0);
  g_autoptr (TopoMachine) stated = machine_of_text (
      files, "[machine]\nspec = fattree:2x2:1,speed=HDR\n[switch]\nlatency = 77 ns\n", NULL, NULL);
  g_autofree char *shown = topo_machine_print (stated);

  g_assert_cmpint (preset->parameters.switches.latency_ps, ==, 170000);
  g_assert_cmpint (stated->parameters.switches.latency_ps, ==, 77000);
  g_assert_null (strstr (shown, "Quantum"));
}

/* One switch, two levels, three levels; every level with as many cables up as down. */
static void
test_clusters (void)
{
  static const struct {
    const char *spec;
    uint32_t n_nodes, n_hosts, n_switches, n_links;
  } cases[] = {
    { "edr:36", 36, 36, 2, 2 * (36 + 36) },                     /* a spine that nothing needs */
    { "edr:37", 37, 54, 3 + 2, 2 * (3 * 18 + 3 * 18) },         /* nine cables to each */
    { "edr:648", 648, 648, 36 + 18, 2 * (648 + 648) },          /* one */
    { "edr:649", 649, 11664, 1620, 2 * 3 * 11664 },             /* 36^3 / 4 */
    { "ndr:65", 65, 96, 3 + 2, 2 * (96 + 96) },                 /* 64 ports */
    { "hdr100:81", 81, 120, 3 + 2, 2 * (120 + 120) },           /* 80 */
    { "hdr:12,rails=4", 12, 15, 3 + 2, 2 * (3 * 20 + 3 * 20) }, /* five nodes on a leaf */
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, 0);

    g_test_message ("%s", cases[at].spec);
    g_assert_cmpuint (topo_shape_nodes (&machine->shape), ==, cases[at].n_nodes);
    g_assert_cmpuint (machine->fabric->n_hosts, ==, cases[at].n_hosts);
    g_assert_cmpuint (machine->fabric->n_switches, ==, cases[at].n_switches);
    g_assert_cmpuint (machine->fabric->n_links, ==, cases[at].n_links);
  }
}

/* What belongs together comes together: links, adapter, the older one's PCIe, node and library. */
static void
test_cluster_parts (void)
{
  static const struct {
    const char *spec, *node;
    uint64_t library, model, pcie_Bps, mtu_bytes;
  } cases[] = {
    { "qdr:2", "westmere", TOPO_LIBRARY_OMPI41, TOPO_CONNECTX2, 3250000000, 2048 },
    { "fdr:2", "sandybridge", TOPO_LIBRARY_OMPI41, TOPO_CONNECTX3, 6400000000, 2048 },
    { "edr:2", "broadwell", TOPO_LIBRARY_OMPI41, TOPO_CONNECTX4, 14100000000, 4096 },
    { "hdr100:2", "cascadelake", TOPO_LIBRARY_OMPI41, TOPO_CONNECTX6, 14100000000, 4096 },
    { "hdr:2", "icelake", TOPO_LIBRARY_OMPI41, TOPO_CONNECTX6, 28200000000, 4096 },
    { "hdr:2,node=cascadelake", "cascadelake", TOPO_LIBRARY_OMPI41, TOPO_CONNECTX6, 14100000000,
      4096 },
    { "ndr:2,library=mpich-4", "sapphirerapids", TOPO_LIBRARY_MPICH4, TOPO_CONNECTX7, 56400000000,
      4096 },
    { "ndr200:2,node=rome", "rome", TOPO_LIBRARY_OMPI41, TOPO_CONNECTX7, 28200000000, 4096 },
    { "fattree:2x2:1,speed=EDR", "broadwell", TOPO_LIBRARY_OMPI41, TOPO_CONNECTX4, 14100000000,
      4096 },
    { "fattree:2x2:1,speed=FDR", "sandybridge", TOPO_LIBRARY_OMPI13, TOPO_CONNECTX3, 6400000000,
      2048 },
    { "fattree:2x2:1", "harpertown", TOPO_LIBRARY_OMPI13, TOPO_CONNECTX2, 3250000000, 2048 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, 0);
    const TopoParameters *parameters = &machine->parameters;

    g_test_message ("%s", cases[at].spec);
    g_assert_cmpstr (machine->node->source, ==, cases[at].node);
    g_assert_cmpuint (parameters->mpi.library, ==, cases[at].library);
    g_assert_cmpuint (parameters->hca.model, ==, cases[at].model);
    g_assert_cmpuint (parameters->hca.pcie_bandwidth_Bps, ==, cases[at].pcie_Bps);
    g_assert_cmpuint (parameters->ib.mtu_bytes, ==, cases[at].mtu_bytes);
    g_assert_cmpuint (parameters->mpi.collectives, ==,
                      cases[at].library == TOPO_LIBRARY_OMPI13   ? TOPO_COLLECTIVES_OMPI13
                      : cases[at].library == TOPO_LIBRARY_MPICH4 ? TOPO_COLLECTIVES_MPICH4
                                                                 : TOPO_COLLECTIVES_OMPI41);
  }
}

/* A library brings its keys, those of a file beat it wherever they stand, and another one sets them
 * back; what does not go with it stays. */
static void
test_library (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  g_autoptr (TopoMachine) machine =
      machine_of_text (files,
                       "[machine]\nspec = edr:2\n[ucx]\npost = 91 ns\n[hca]\nmessage_gap = 7 ns\n"
                       "[mpi]\nsm_lines = 5\nlibrary = ompi-5.0\n",
                       NULL, NULL);

  g_assert_nonnull (machine);
  g_assert_cmpint (machine->parameters.ucx.post_ps, ==, 91000);
  g_assert_cmpuint (machine->parameters.ompi.sm_lines, ==, 5);
  g_assert_cmpuint (machine->parameters.ucx.version, ==, 16);
  g_assert_cmpuint (machine->parameters.mpi.collectives, ==, TOPO_COLLECTIVES_OMPI50);
  g_assert_true (topo_parameters_set (&machine->parameters, "mpi.library", "ompi-1.3", NULL));
  g_assert_cmpint (machine->parameters.ucx.post_ps, ==, 80000);
  g_assert_cmpuint (machine->parameters.ompi.sm_lines, ==, 0);
  g_assert_cmpuint (machine->parameters.mpi.collectives, ==, TOPO_COLLECTIVES_OMPI13);
  g_assert_cmpint (machine->parameters.hca.message_gap_ps, ==, 7000);
}

/* Nothing is assumed of what a machine file states. */
static void
test_stated (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine =
      machine_of_text (files,
                       "[machine]\nspec = fattree:2x2:1,speed=FDR\nnode = sandybridge\n"
                       "[hca]\npcie_bandwidth = 6.5 GB/s\n[memory]\nbandwidth = 40 GB/s\n",
                       NULL, &error);

  g_assert_no_error (error);
  topo_machine_assumptions (machine, lines);
  g_assert_cmpuint (lines->len, ==, 0);
}

/* A node with one core and these signs of a processor. */
#define SETS "cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\""
#define NODE_XML(infos)                                                         \
  "<topology version=\"2.0\"><object type=\"Machine\" os_index=\"0\" " SETS ">" \
  "<object type=\"NUMANode\" os_index=\"0\" " SETS "/>"                         \
  "<object type=\"Package\" os_index=\"0\" " SETS ">" infos                     \
  "<object type=\"Core\" os_index=\"0\" " SETS ">"                              \
  "<object type=\"PU\" os_index=\"0\" " SETS "/></object></object></object></topology>"
#define INFO(name, value) "<info name=\"" name "\" value=\"" value "\"/>"

/* The processor of a file gives the numbers: 16 GB/s is Rome's, 12 Sapphire Rapids', 4.5 the default.
 * A warning names what was assumed. */
static void
test_processors (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  static const struct {
    const char *xml;
    uint64_t fetch_MBps;
    const char *warning; /* NULL: none */
  } cases[] = {
    { NODE_XML (INFO ("CPUModel", "AMD EPYC 7742 64-Core Processor")), 16000, NULL },
    { NODE_XML (INFO ("CPUVendor", "AuthenticAMD") INFO ("CPUFamilyNumber", "23")
                    INFO ("CPUModelNumber", "49")),
      16000, NULL },
    { NODE_XML (INFO ("CPUVendor", "AuthenticAMD") INFO ("CPUFamilyNumber", "23")
                    INFO ("CPUModelNumber", "1") INFO ("CPUModel", "AMD EPYC 7551\a 32-Core")),
      16000, "(AMD EPYC 7551? 32-Core) is not in our table" },
    { NODE_XML (INFO ("CPUVendor", "GenuineIntel") INFO ("CPUFamilyNumber", "6")
                    INFO ("CPUModelNumber", "207")),
      12000, "bandwidths of Intel Xeon Scalable, fourth (Sapphire Rapids) (assumed)" },
    { NODE_XML (INFO ("CPUModel", "Cavium ThunderX2")), 4500, "(Cavium ThunderX2) is not" },
    { NODE_XML (""), 4500, "bandwidths of harpertown (assumed)" },
    { NODE_XML (INFO ("CPUFamilyNumber", "-1") INFO ("CPUModelNumber", "x")), 4500, "not named" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *spec = g_strdup_printf ("fattree:2x2:1,node=%s", files->tables);
    g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
    g_autoptr (TopoMachine) machine = NULL;

    g_assert_true (g_file_set_contents (files->tables, cases[at].xml, -1, NULL));
    machine = topo_testing_machine (spec, 0);
    g_assert_cmpuint (machine->parameters.memory.core_memory_bandwidth_Bps, ==,
                      cases[at].fetch_MBps * 1000000);
    topo_machine_assumptions (machine, lines);
    g_assert_cmpuint (lines->len, ==, cases[at].warning != NULL);
    if (cases[at].warning == NULL)
      continue;
    g_test_message ("%s", (char *) lines->pdata[0]);
    g_assert_nonnull (strstr (lines->pdata[0], cases[at].warning));
    /* What the user states is not assumed. */
    machine->parameters.memory.dram_bandwidth_Bps++;
    g_ptr_array_set_size (lines, 0);
    topo_machine_assumptions (machine, lines);
    g_assert_cmpuint (lines->len, ==, 0);
  }
}

/* A key of the file beats the processor, the processor a preset; the rest is the processor's. */
static void
test_precedence (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine = machine_of_text (
      files, "[machine]\nspec = stampede:2\nnode = rome\n[memory]\nbandwidth = 50 GB/s\n", NULL,
      &error);
  g_autoptr (TopoMachine) other = NULL;

  g_assert_no_error (error);
  g_assert_cmpuint (machine->parameters.memory.dram_bandwidth_Bps, ==, 50000000000);
  g_assert_cmpuint (machine->parameters.memory.group_bandwidth_Bps, ==, 22000000000);
  g_assert_cmpuint (machine->parameters.mpi.eager_bytes, ==, 17 * 1024); /* Stampede's */
  other =
      machine_of_text (files, "[machine]\nspec = stampede:2\nnode = rome\n", ",node=milan", &error);
  g_assert_no_error (error);
  g_assert_cmpuint (other->parameters.memory.cache_latency_ps, ==, 23000);
}

/* The processor of a preset whose numbers were measured on it, and of one named by hand. */
static void
test_sandybridge_is_stampedes (void)
{
  g_autoptr (TopoMachine) stampede = topo_testing_machine ("stampede:2", 0);
  g_autoptr (TopoMachine) tree = topo_testing_machine ("fattree:2x2:1,node=sandybridge", 0);
  g_autoptr (TopoMachine) old = topo_testing_machine ("fattree:2x2:1", 0);

  g_assert_cmpmem (&stampede->parameters.memory, sizeof stampede->parameters.memory,
                   &tree->parameters.memory, sizeof tree->parameters.memory);
  g_assert_cmpuint (tree->parameters.memory.core_bandwidth_Bps, ==, 12000000000);
  g_assert_cmpuint (tree->parameters.memory.transfer_latency_ps, ==, 60000);
  g_assert_cmpuint (tree->parameters.mpi.eager_bytes, ==, old->parameters.mpi.eager_bytes);
  g_assert_cmpuint (old->parameters.memory.core_bandwidth_Bps, ==, 5000000000);
}

/* What no part of the machine reads is printed once it is set. */
static void
test_unused_keys (void)
{
  static const struct {
    const char *spec, *key, *setting;
    bool is_printed;
  } cases[] = {
    { "edr:4", "fec_edr_latency", NULL, true },
    { "edr:4", "fec_hdr_latency", NULL, false },
    { "edr:4", "fec_hdr_latency", "60ns", true },
    { "ndr200:4", "fec_ndr_latency", NULL, true },
    { "ndr200:4", "fec_edr_latency", NULL, false },
    { "edr:4", "hbm_bandwidth", NULL, false },
    { "edr:4", "detour_factor", NULL, false },
    { "edr:4", "domain_latency", NULL, false },
    { "edr:4", "sharp", NULL, true },
    { "edr:4", "min_leaders", NULL, false },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, 0);
    g_autofree char *line = g_strdup_printf ("\n%s = ", cases[at].key), *text = NULL;

    if (cases[at].setting != NULL)
      g_assert_true (topo_parameters_set (&machine->parameters, "ib.fec_hdr_latency",
                                          cases[at].setting, NULL));
    text = topo_machine_print (machine);
    g_assert_true ((strstr (text, line) != NULL) == cases[at].is_printed);
  }
}

/* Half of what they had when their generations were new here: 57 with EDR, 54 with HDR. */
static void
test_few_guesses (void)
{
  static const struct {
    const char *spec;
    unsigned most;
  } cases[] = { { "edr:16", 28 }, { "hdr100:56", 27 }, { "hdr:16", 27 }, { "ndr200:32", 28 } };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = topo_testing_machine (cases[at].spec, 0);
    g_autofree char *text = topo_machine_print (machine);
    unsigned guesses = 0;

    g_assert_cmpint (sscanf (strrchr (text, '#'), "# %u of these", &guesses), ==, 1);
    g_assert_cmpuint (guesses, <=, cases[at].most);
  }
}

/* --- Parts that are out --- */

/* Two leaves with two nodes each and two spines, a cable from every leaf to every spine. */
#define SMALL_TREE "fattree:2x2:2"

static TopoMachine *
tree_without (const char *options)
{
  g_autofree char *spec = g_strconcat (SMALL_TREE, options, NULL);
  g_autoptr (GError) error = NULL;
  TopoMachine *machine = topo_machine_new (spec, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (machine->spec, ==, spec);
  return machine;
}

static void
test_failed_parts (void)
{
  /* Eight cables in all: a spine has two of them, a node one. */
  static const struct {
    const char *options;
    uint32_t cables, nodes;
    const char *first, *last; /* names of nodes */
  } cases[] = {
    { "", 8, 4, "node0", "node3" },
    { ",failed=spine1", 6, 4, "node0", "node3" },
    { ",failed=leaf0:3", 7, 4, "node0", "node3" },
    { ",failed=spine0:1", 7, 4, "node0", "node3" },
    { ",failed=node0", 7, 3, "node1", "node3" },
    { ",failed=node3+spine1+leaf0:3", 4, 3, "node0", "node2" },
    /* The leaf's nodes have no cable left. */
    { ",failed=leaf0", 4, 2, "node2", "node3" },
    { ",failed=S-0002c90003000010", 6, 4, "node0", "node3" },
  };

  for (guint at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (TopoMachine) machine = tree_without (cases[at].options);
    const TopoFabric *fabric = machine->fabric;
    uint32_t n_links = 0;

    g_test_message ("%s", cases[at].options);
    for (uint32_t port = 0; port < fabric->n_ports; port++)
      if (fabric->ports[port].peer != TOPO_NONE) {
        g_assert_cmpuint (fabric->ports[fabric->ports[port].peer].peer, ==, port);
        n_links++;
      }
    g_assert_cmpuint (n_links, ==, 2 * cases[at].cables);
    g_assert_cmpuint (fabric->n_links, ==, n_links);
    g_assert_cmpuint (fabric->n_hosts, ==, cases[at].nodes);
    g_assert_cmpuint (topo_shape_nodes (&machine->shape), ==, cases[at].nodes);
    g_assert_cmpstr (fabric->hosts[0].name, ==, cases[at].first);
    g_assert_cmpstr (fabric->hosts[fabric->n_hosts - 1].name, ==, cases[at].last);
    for (uint32_t node = 0; node < fabric->n_hosts; node++)
      for (uint32_t rail = 0; rail < fabric->hosts[node].n_rails; rail++)
        g_assert_cmpuint (
            fabric->devices[fabric->rails[fabric->hosts[node].first_rail + rail]].node, ==, node);
  }
}

/* A node with two rails stays when one of its adapters is out, not when the node is. */
static void
test_failed_rails (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine =
      topo_machine_new ("fattree:2x2:2,rails=2,failed=node1+node0 HCA-2", &error);

  g_assert_no_error (error);
  g_assert_cmpuint (machine->fabric->n_hosts, ==, 3);
  g_assert_cmpuint (machine->fabric->hosts[0].n_rails, ==, 1);
  g_assert_cmpuint (machine->fabric->hosts[1].n_rails, ==, 2);
  g_assert_cmpuint (machine->fabric->hosts[2].n_rails, ==, 2);
}

/* Of a preset's first nodes, those that are left. */
static void
test_failed_of_the_first (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) all = topo_machine_new ("systemg:16", &error);
  g_autofree char *spec = g_strdup_printf ("systemg:16,failed=%s+%s", all->fabric->hosts[3].name,
                                           all->fabric->hosts[20].name);
  g_autoptr (TopoMachine) machine = topo_machine_new (spec, &error);

  g_assert_no_error (error);
  g_assert_cmpuint (topo_shape_nodes (&machine->shape), ==, 15);
  g_assert_cmpuint (machine->fabric->n_hosts, ==, all->fabric->n_hosts - 2);
}

/* Devices whose names cannot stand in a list, or are not unique, go by their ids; the machine without a
 * part takes its name. */
static void
test_parts (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  static const char *const wanted[][2] = {
    { "cables", "S-0000000000000001:3;S-0000000000000002:3" },
    { "switches", "S-0000000000000001;S-0000000000000002;S-0000000000000003" },
    { "nodes", "alpha;beta;gamma" },
    { "leaf", "" },
    { "gamma HCA-1:*", "gamma HCA-1:1" },
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine = NULL;

  g_assert_true (
      g_file_set_contents (files->fabric,
                           "Switch 4 \"S-0000000000000001\" # \"leaf\" lid 1\n"
                           "[1] \"H-0000000000000010\"[1] # \"alpha HCA-1\" lid 4 4xQDR\n"
                           "[2] \"H-0000000000000020\"[1] # \"beta HCA-1\" lid 5 4xQDR\n"
                           "[3] \"S-0000000000000003\"[1] # \"top,1\" lid 3 4xQDR\n\n"
                           "Switch 4 \"S-0000000000000002\" # \"leaf\" lid 2\n"
                           "[1] \"H-0000000000000030\"[1] # \"gamma HCA-1\" lid 6 4xQDR\n"
                           "[3] \"S-0000000000000003\"[2] # \"top,1\" lid 3 4xQDR\n\n"
                           "Switch 4 \"S-0000000000000003\" # \"top,1\" lid 3\n"
                           "[1] \"S-0000000000000001\"[3] # \"leaf\" lid 1 4xQDR\n"
                           "[2] \"S-0000000000000002\"[3] # \"leaf\" lid 2 4xQDR\n\n"
                           "Ca 1 \"H-0000000000000010\" # \"alpha HCA-1\"\n"
                           "[1](11) \"S-0000000000000001\"[1] # lid 4 \"leaf\" 4xQDR\n\n"
                           "Ca 1 \"H-0000000000000020\" # \"beta HCA-1\"\n"
                           "[1](21) \"S-0000000000000001\"[2] # lid 5 \"leaf\" 4xQDR\n\n"
                           "Ca 1 \"H-0000000000000030\" # \"gamma HCA-1\"\n"
                           "[1](31) \"S-0000000000000002\"[1] # lid 6 \"leaf\" 4xQDR\n",
                           -1, NULL));
  machine = machine_of_text (files, "[machine]\nspec = fabric:small.net\n", NULL, &error);
  g_assert_no_error (error);
  for (guint at = 0; at < G_N_ELEMENTS (wanted); at++) {
    g_auto (GStrv) parts = topo_machine_parts (machine, wanted[at][0], 0);
    g_autofree char *list = g_strjoinv (";", parts);

    g_assert_cmpstr (list, ==, wanted[at][1]);
  }
}

static void
test_degraded (void)
{
  g_autoptr (TopoMachine) machine = tree_without (",degraded=leaf0:3 width 1x+spine1:2 2x");
  const TopoFabric *fabric = machine->fabric;
  uint32_t of_lanes[5] = { 0 };

  for (uint32_t port = 0; port < fabric->n_ports; port++)
    if (fabric->ports[port].peer != TOPO_NONE)
      of_lanes[fabric->ports[port].lanes]++;
  /* Both directions of each cable. */
  g_assert_cmpuint (of_lanes[1], ==, 2);
  g_assert_cmpuint (of_lanes[2], ==, 2);
  g_assert_cmpuint (of_lanes[4], ==, 12);
}

/* A machine file has them, and reading what is printed gives the same machine. */
static void
test_faults_in_a_file (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TopoMachine) machine =
      machine_of_text (files,
                       "[machine]\nspec = " SMALL_TREE "\nfailed = node3 ; spine1\n"
                       "degraded = leaf0:3 1x\n",
                       NULL, &error);
  g_autofree char *text = machine != NULL ? topo_machine_print (machine) : NULL;
  g_autoptr (TopoMachine) again = NULL;

  g_assert_no_error (error);
  g_assert_nonnull (strstr (text, "\nfailed = node3 ; spine1\n"));
  g_assert_nonnull (strstr (text, "\ndegraded = leaf0:3 1x\n"));
  g_assert_nonnull (strstr (text, "\nspec = " SMALL_TREE "\n"));
  again = machine_of_text (files, text, NULL, &error);
  g_assert_no_error (error);
  assert_same (machine, again);
  g_assert_cmpuint (again->fabric->n_hosts, ==, 3);
}

static void
test_wrong_faults (Files *files, gconstpointer unused G_GNUC_UNUSED)
{
  static const struct {
    const char *spec, *fault, *message;
  } cases[] = {
    { SMALL_TREE, "failed = spine7", "conf:3: machine.failed: \"spine7\": no device or node" },
    { SMALL_TREE, "failed = spine7:1", "no device of the fabric has this name" },
    { SMALL_TREE, "failed = spine1:99", "the ports of spine1 are 1 to" },
    { SMALL_TREE, "failed = spine1; spine1:1", "\"spine1:1\": the port has no cable" },
    { SMALL_TREE, "failed = spine1; spine0;spine1", "\"spine1\": is named twice" },
    { SMALL_TREE, "failed = spine1;", "expected names between" },
    { SMALL_TREE, "failed =", "expected the name of" },
    { SMALL_TREE, "failed = node0:1", "it is the only cable of node0" },
    { SMALL_TREE, "failed = leaf0:1", "it is the only cable of node0" },
    { SMALL_TREE, "failed = leaf0; leaf1", "no node is left" },
    { SMALL_TREE, "degraded = leaf0:3",
      "conf:3: machine.degraded: \"leaf0:3\": expected DEVICE:PORT" },
    { SMALL_TREE, "degraded = leaf0:3 4x", "the cable has only 4x" },
    { SMALL_TREE, "degraded = leaf0:3 1x; leaf0:3 1x", "\"leaf0:3 1x\": is named twice" },
    { SMALL_TREE, "degraded = leaf0:3 1x; leaf0:3 2x", "the cable has only 1x" },
    { SMALL_TREE, "degraded = leaf0:3 width", "a width of 1x, 2x, 4x or 8x" },
    { SMALL_TREE, "degraded = leaf0:3 3x", "a width of 1x, 2x, 4x or 8x" },
    { SMALL_TREE, "degraded = leaf0:3 -1x", "a width of 1x, 2x, 4x or 8x" },
    { "bgq:32", "failed = 5",
      "conf:3: machine.failed: a Blue Gene/Q block with a node or link that is out "
      "does not boot" },
    { "torus:4x4", "degraded = 5", "only fabrics are routed around parts that are out" },
  };

  for (guint at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *text =
        g_strdup_printf ("[machine]\nspec = %s\n%s\n", cases[at].spec, cases[at].fault);
    g_autoptr (GError) error = NULL;

    g_test_message ("%s", cases[at].fault);
    g_assert_null (machine_of_text (files, text, NULL, &error));
    topo_testing_refused (error, TOPO_ERROR_RANGE, NULL, cases[at].message);
  }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add ("/topology/machine-fabric/print", Files, NULL, files_set_up, test_print_survives,
              files_tear_down);
  g_test_add_func ("/topology/machine-fabric/clusters", test_clusters);
  g_test_add_func ("/topology/machine-fabric/cluster-parts", test_cluster_parts);
  g_test_add_func ("/topology/machine-fabric/canonical", test_canonical_spec);
  g_test_add ("/topology/machine-fabric/file", Files, NULL, files_set_up,
              test_file_sets_what_it_names, files_tear_down);
  g_test_add ("/topology/machine-fabric/options", Files, NULL, files_set_up,
              test_options_beat_the_file, files_tear_down);
  g_test_add ("/topology/machine-fabric/bad-files", Files, NULL, files_set_up, test_bad_files,
              files_tear_down);
  g_test_add ("/topology/machine-fabric/engine", Files, NULL, files_set_up, test_engine_beats_file,
              files_tear_down);
  g_test_add ("/topology/machine-fabric/assumptions", Files, NULL, files_set_up, test_assumptions,
              files_tear_down);
  g_test_add ("/topology/machine-fabric/generations", Files, NULL, files_set_up, test_generations,
              files_tear_down);
  g_test_add ("/topology/machine-fabric/library", Files, NULL, files_set_up, test_library,
              files_tear_down);
  g_test_add ("/topology/machine-fabric/stated", Files, NULL, files_set_up, test_stated,
              files_tear_down);
  g_test_add ("/topology/machine-fabric/processors", Files, NULL, files_set_up, test_processors,
              files_tear_down);
  g_test_add ("/topology/machine-fabric/precedence", Files, NULL, files_set_up, test_precedence,
              files_tear_down);
  g_test_add_func ("/topology/machine-fabric/sandybridge-numbers", test_sandybridge_is_stampedes);
  g_test_add_func ("/topology/machine-fabric/failed-parts", test_failed_parts);
  g_test_add_func ("/topology/machine-fabric/failed-rails", test_failed_rails);
  g_test_add ("/topology/machine-fabric/parts", Files, NULL, files_set_up, test_parts,
              files_tear_down);
  g_test_add_func ("/topology/machine-fabric/failed-of-the-first", test_failed_of_the_first);
  g_test_add_func ("/topology/machine-fabric/degraded", test_degraded);
  g_test_add ("/topology/machine-fabric/faults-in-a-file", Files, NULL, files_set_up,
              test_faults_in_a_file, files_tear_down);
  g_test_add ("/topology/machine-fabric/wrong-faults", Files, NULL, files_set_up, test_wrong_faults,
              files_tear_down);
  g_test_add_func ("/topology/machine-fabric/unused-keys", test_unused_keys);
  g_test_add_func ("/topology/machine-fabric/few-guesses", test_few_guesses);
  g_test_add_func ("/topology/machine-fabric/stampede", test_stampede);
  g_test_add_func ("/topology/machine-fabric/usual-routes", test_usual_routes);
  g_test_add_func ("/topology/machine-fabric/sandybridge", test_sandybridge);
  return g_test_run ();
}
