/* parameters_test.c - the table of parameters: defaults, files, bad values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/parameters.h"

#include "topology/topology_testing.h"

#include <glib/gstdio.h>
#include <string.h>

static TopoParameters
defaults (TopoFamily family)
{
  TopoParameters parameters;

  topo_parameters_default (&parameters, family);
  return parameters;
}

static GKeyFile *
key_file (const char *text)
{
  GKeyFile *file = g_key_file_new ();

  g_assert_true (g_key_file_load_from_data (file, text, (gsize) -1, G_KEY_FILE_NONE, NULL));
  return file;
}

static char *
printed (const TopoParameters *parameters)
{
  GString *text = g_string_new (NULL);

  topo_parameters_print (parameters, text);
  return g_string_free (text, FALSE);
}

/* The facts of the reference that a typing error in the table would break. */
static void
test_defaults (void)
{
  TopoParameters parameters = defaults (TOPO_FAMILY_TORUS);

  g_assert_cmpuint (parameters.link.bandwidth_Bps, ==, 2000000000);
  g_assert_true (parameters.link.overhead == 0.03);
  g_assert_cmpint (parameters.link.hop_latency_ps, ==, 40000);
  g_assert_cmpuint (parameters.packet.payload_bytes, ==, 512);
  g_assert_cmpuint (parameters.packet.header_bytes, ==, 32);
  g_assert_cmpuint (parameters.packet.trailer_bytes, ==, 8);
  g_assert_cmpuint (parameters.packet.chunk_bytes, ==, 32);
  g_assert_cmpuint (parameters.router.dynamic_tokens, ==, 126);
  g_assert_cmpuint (parameters.router.bubble_tokens, ==, 7);
  g_assert_cmpuint (parameters.router.priority_tokens, ==, 7);
  g_assert_cmpuint (parameters.router.receiver_grants, ==, 16);
  g_assert_true (parameters.router.escape);
  g_assert_false (parameters.router.stay_on_bubble);
  g_assert_cmpuint (parameters.mpi.immediate_bytes, ==, 112);
  g_assert_cmpuint (parameters.mpi.eager_bytes, ==, 4096);
  g_assert_cmpuint (parameters.mpi.e_split_bytes, ==, 2048);
  g_assert_cmpuint (parameters.mpi.dynamic_bytes, ==, 65536);
  g_assert_cmpuint (parameters.mpi.dynamic_messages, ==, 64);
  g_assert_true (parameters.mpi.pacing);
  g_assert_true (parameters.collective.in_network);
  g_assert_true (parameters.node.compute_Flops == 12.8e9);
}

/* Hardware path between neighbours: the 80 ns of bgq.md section 1. */
static void
test_nearest_neighbour_headline (void)
{
  TopoParameters parameters = defaults (TOPO_FAMILY_TORUS);

  g_assert_cmpint (parameters.messaging.injection_latency_ps + parameters.link.hop_latency_ps +
                       parameters.messaging.reception_latency_ps,
                   ==, 80000);
}

/* 512 of 552 bytes at 2 GB/s less the overhead is the measured 1.8 GB/s. */
static void
test_effective_bandwidth (void)
{
  TopoParameters parameters = defaults (TOPO_FAMILY_TORUS);
  double wire_bytes, effective;

  wire_bytes = (double) (parameters.packet.payload_bytes + parameters.packet.header_bytes +
                         parameters.packet.trailer_bytes);
  effective = (double) parameters.link.bandwidth_Bps * (1 - parameters.link.overhead) *
              (double) parameters.packet.payload_bytes / wire_bytes;
  g_assert_cmpfloat_with_epsilon (effective, 1.8e9, 0.005e9);
}

static void
assert_survives_print (const TopoParameters *odd, TopoFamily family)
{
  g_autofree char *text = printed (odd);
  g_autoptr (GKeyFile) file = key_file (text);
  g_autoptr (GError) error = NULL;
  TopoParameters read = defaults (family);

  topo_parameters_load (&read, file, "printed", NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpmem (&read, sizeof read, odd, sizeof *odd);
}

static void
test_print_survives_load (void)
{
  TopoParameters odd = defaults (TOPO_FAMILY_TORUS);

  odd.link.hop_latency_ps = 34567;
  odd.link.bandwidth_Bps = 1999999999;
  odd.link.overhead = 1.0 / 3;
  odd.node.compute_Flops = 1e10 / 3;
  odd.router.escape = false;
  odd.mpi.eager_bytes = 20001;
  assert_survives_print (&odd, TOPO_FAMILY_TORUS);
}

/* Tables of the VL arbiter in OpenSM's form; what is none of these changes
 * nothing. */
static void
test_vl_weights (void)
{
  static const char *const wrong[] = { "",     "0",       "0:",   "15:1",  "0:256",
                                       "0:1,", "0:1;1:2", "-1:4", "0:1:2", "0:4x" };
  GString *entries = g_string_new ("0:1");
  TopoParameters parameters = defaults (TOPO_FAMILY_FABRIC);
  g_autoptr (GError) error = NULL;

  g_assert_cmpuint (parameters.switches.vlarb_high.n, ==, 0);
  g_assert_cmpuint (parameters.switches.vlarb_low.n, ==, 15);
  g_assert_true (topo_parameters_set (&parameters, "switch.vlarb_high", "3:255, 14:0,3:1", &error));
  g_assert_cmpuint (parameters.switches.vlarb_high.n, ==, 3);
  g_assert_cmpuint (parameters.switches.vlarb_high.vl[0], ==, 3);
  g_assert_cmpuint (parameters.switches.vlarb_high.weight[0], ==, 255);
  g_assert_cmpuint (parameters.switches.vlarb_high.vl[1], ==, 14);
  g_assert_cmpuint (parameters.switches.vlarb_high.weight[2], ==, 1);
  for (gsize at = 0; at < G_N_ELEMENTS (wrong); at++) {
    g_assert_false (topo_parameters_set (&parameters, "switch.vlarb_high", wrong[at], &error));
    g_assert_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX);
    g_assert_nonnull (strstr (error->message, "switch.vlarb_high"));
    g_clear_error (&error);
    g_assert_cmpuint (parameters.switches.vlarb_high.n, ==, 3);
  }
  for (guint entry = 1; entry < TOPO_VL_ENTRIES; entry++)
    g_string_append (entries, ",1:2");
  g_assert_true (topo_parameters_set (&parameters, "switch.vlarb_high", entries->str, &error));
  g_assert_cmpuint (parameters.switches.vlarb_high.n, ==, 64);
  g_string_append (entries, ",1:2");
  g_assert_false (topo_parameters_set (&parameters, "switch.vlarb_high", entries->str, &error));
  g_assert_error (error, TOPO_ERROR, TOPO_ERROR_RANGE);
  g_string_free (entries, TRUE);
}

static void
test_vl_weights_survive_printing (void)
{
  TopoParameters odd = defaults (TOPO_FAMILY_FABRIC);
  g_autofree char *text = NULL;

  g_assert_true (topo_parameters_set (&odd, "switch.vlarb_low", "none", NULL));
  g_assert_true (topo_parameters_set (&odd, "switch.vlarb_high", "1:2,0:4", NULL));
  text = printed (&odd);
  g_assert_nonnull (strstr (text, "vlarb_high = 1:2,0:4\n"));
  assert_survives_print (&odd, TOPO_FAMILY_FABRIC);
}

/* Gives a parameter another legal value: the flipped truth, one more, twice
 * as much or one less, whichever is possible first. */
static void
change (TopoParameters *parameters, const char *key, const char *value)
{
  double number = g_ascii_strtod (value, NULL);
  double others[] = { number + 1, 2 * number, number - 1 };

  if (g_str_equal (value, "true") || g_str_equal (value, "false")) {
    const char *flipped = g_str_equal (value, "true") ? "false" : "true";

    g_assert_true (topo_parameters_set (parameters, key, flipped, NULL));
    return;
  }
  if (g_str_equal (key, "mpi.collectives")) {
    g_assert_true (topo_parameters_set (parameters, key, "mpich", NULL));
    return;
  }
  for (gsize at = 0; at < G_N_ELEMENTS (others); at++) {
    g_autofree char *other =
        g_strdup_printf ("%.3f%s", others[at], value + strspn (value, "0123456789."));

    if (topo_parameters_set (parameters, key, other, NULL))
      return;
  }
  g_error ("no other value of %s", key);
}

/* The lines of the print, without comments.  The caller frees. */
static GStrv
printed_lines (const TopoParameters *parameters)
{
  g_autofree char *text = printed (parameters);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GStrv kept = g_new0 (char *, g_strv_length (lines) + 1);
  gsize n = 0;

  for (gsize at = 0; lines[at] != NULL; at++)
    if (lines[at][0] != '#')
      kept[n++] = g_strdup (lines[at]);
  return kept;
}

/* Each key has a field of its own: a change shows in one line of the print
 * and in no other.  There are as many keys as the struct has numbers. */
static void
test_every_key_has_its_field (void)
{
  TopoParameters plain;
  g_autofree char *group = NULL;
  g_auto (GStrv) lines = NULL;
  uint32_t n_keys = 0;

  topo_parameters_default (&plain, TOPO_FAMILY_TORUS);
  lines = printed_lines (&plain);
  for (gsize at = 0; lines[at] != NULL; at++) {
    g_auto (GStrv) parts = g_strsplit (lines[at], " = ", 2);
    g_autofree char *key = g_strconcat (group != NULL ? group : "", ".", parts[0], NULL);
    g_auto (GStrv) changed_lines = NULL;
    TopoParameters changed = plain;

    if (lines[at][0] == '[') {
      g_free (group);
      group = g_strndup (lines[at] + 1, strlen (lines[at]) - 2);
    }
    if (g_strv_length (parts) != 2)
      continue;
    n_keys++;
    change (&changed, key, parts[1]);
    changed_lines = printed_lines (&changed);
    for (gsize other = 0; lines[other] != NULL; other++)
      g_assert_true (g_str_equal (changed_lines[other], lines[other]) == (other != at));
  }
  g_assert_cmpuint (n_keys, ==, 42);
}

/* The count at the end is that of the keys whose comments have the word. */
static void
assert_guesses_are_counted (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autofree char *last = NULL;
  guint n = 0, n_guesses = 0;
  bool guessed = false;

  for (gsize at = 0; lines[at] != NULL; at++) {
    if (lines[at][0] == '#') {
      guessed |= strstr (lines[at], "guess") != NULL;
      continue;
    }
    n += strstr (lines[at], " = ") != NULL;
    n_guesses += strstr (lines[at], " = ") != NULL && guessed;
    guessed = false;
  }
  last = g_strdup_printf ("\n# %u of these %u are guesses, whole or in part\n", n_guesses, n);
  g_assert_true (g_str_has_suffix (text, last));
  g_assert_cmpuint (n_guesses, >, 0);
}

/* All that a library brings goes with it when another one is set. */
static void
test_library_goes_with_its_values (void)
{
  const TopoParameters first = defaults (TOPO_FAMILY_FABRIC);
  TopoParameters parameters = first;

  g_assert_true (topo_parameters_set (&parameters, "mpi.library", "ompi-4.1", NULL));
  g_assert_cmpint (parameters.mpi.datatype_ps, >, first.mpi.datatype_ps);
  g_assert_cmpint (parameters.mpi.datatype_description_ps, <, first.mpi.datatype_description_ps);
  g_assert_cmpint (parameters.mpi.datatype_block_ps, <, first.mpi.datatype_block_ps);
  g_assert_true (topo_parameters_set (&parameters, "mpi.library", "ompi-1.3", NULL));
  g_assert_cmpint (parameters.mpi.datatype_ps, ==, first.mpi.datatype_ps);
  g_assert_cmpint (parameters.mpi.datatype_description_ps, ==, first.mpi.datatype_description_ps);
  g_assert_cmpint (parameters.mpi.datatype_block_ps, ==, first.mpi.datatype_block_ps);
}

/* A value that is not the default is not explained as the default is, and what a library does not read is
 * left out until it is set. */
static void
test_what_is_printed (void)
{
  TopoParameters parameters = defaults (TOPO_FAMILY_FABRIC);
  g_autofree char *before = printed (&parameters), *after = NULL, *over_ucx = NULL;

  g_assert_nonnull (strstr (before, "guess: ten million a second"));
  assert_guesses_are_counted (before);
  g_assert_nonnull (strstr (before, "sm_depth = 3"));
  g_assert_null (strstr (before, "\n[ucx]\n"));
  g_assert_true (topo_parameters_set (&parameters, "hca.message_gap", "5ns", NULL));
  g_assert_true (topo_parameters_set (&parameters, "ucx.rails", "1", NULL));
  after = printed (&parameters);
  g_assert_null (strstr (after, "guess: ten million a second"));
  g_assert_nonnull (strstr (after, "message_gap = 5 ns"));
  g_assert_nonnull (strstr (after, "rails = 1"));
  assert_survives_print (&parameters, TOPO_FAMILY_FABRIC);
  g_assert_true (topo_parameters_set (&parameters, "mpi.library", "mpich-4", NULL));
  over_ucx = printed (&parameters);
  assert_guesses_are_counted (over_ucx);
  g_assert_null (strstr (over_ucx, "sm_depth"));
  g_assert_nonnull (strstr (over_ucx, "rails = 2"));
  assert_survives_print (&parameters, TOPO_FAMILY_FABRIC);
}

static void
test_set (void)
{
  g_autoptr (GError) error = NULL;
  TopoParameters parameters = defaults (TOPO_FAMILY_TORUS);

  topo_parameters_set (&parameters, "link.hop_latency", "35ns", &error);
  topo_parameters_set (&parameters, "mpi.async_progress", " true ", &error);
  g_assert_no_error (error);
  g_assert_cmpint (parameters.link.hop_latency_ps, ==, 35000);
  g_assert_true (parameters.mpi.async_progress);
}

static void
test_bad_settings (void)
{
  static const struct {
    const char *key, *value, *named;
  } cases[] = {
    { "hop_latency", "35 ns", "hop_latency" },
    { "", "1", "group.key" },
    { "wire.hop_latency", "35 ns", "wire" },
    { "link.hops", "35 ns", "hops" },
    { "link.hop_latency", "35", "unit" },
    { "link.hop_latency", "0 ns", "1 ns" },
    { "link.token_latency", "999 ps", "1 ns" },
    { "link.hop_latency", "35 B", "unit" },
    { "link.bandwidth", "0 GB/s", "1 MB/s" },
    { "link.overhead", "100 %", "90 %" },
    { "packet.payload", "520 B", "packet.chunk" },
    { "packet.payload", "0 B", "32 B" },
    { "router.dynamic_tokens", "16", "full packet" },
    { "router.bubble_tokens", "1", "2" },
    { "router.priority_tokens", "1", "2" },
    { "router.dynamic_queues", "0", "1" },
    { "router.dynamic_queues", "6", "5" },
    { "router.escape", "maybe", "true or false" },
    { "mpi.immediate", "500 B", "one packet" },
    { "mpi.eager", "100 B", "mpi.immediate" },
    { "node.compute", "0 flop/s", "1 flop/s" },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;
    TopoParameters parameters = defaults (TOPO_FAMILY_TORUS), before = parameters;

    g_test_message ("%s = %s", cases[at].key, cases[at].value);
    g_assert_false (topo_parameters_set (&parameters, cases[at].key, cases[at].value, &error));
    topo_testing_refused (error, -1, NULL, cases[at].named);
    g_assert_cmpmem (&parameters, sizeof parameters, &before, sizeof before);
  }
}

/* 17 chunks are one full packet: the least that cannot block for ever. */
static void
test_smallest_dynamic_buffer (void)
{
  g_autoptr (GError) error = NULL;
  TopoParameters parameters = defaults (TOPO_FAMILY_TORUS);

  topo_parameters_set (&parameters, "router.dynamic_tokens", "17", &error);
  g_assert_no_error (error);
}

static void
test_errors_name_the_line (void)
{
  static const struct {
    const char *text, *line;
  } cases[] = {
    { "[link]\n\nhop_latency = 0 ns\n", ":3: " },
    { "# x\n[link]\nbandwidth = 2\n", ":3: " },
    { "[link]\nbandwidth = 2 GB/s\n[wire]\na = 1\n", ":3: " },
    { "[link]\nspeed = 2 GB/s\n", ":2: " },
    { "[mpi]\neager = 1 B\n", ":2: " },
    { "[packet]\nheader = 32 B\n[router]\n  dynamic_tokens=3\n", ":4: " },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *path = topo_testing_file (cases[at].text);
    g_autofree char *where = g_strconcat (path, cases[at].line, NULL);
    g_autoptr (GKeyFile) file = key_file (cases[at].text);
    g_autoptr (GError) error = NULL;
    TopoParameters parameters = defaults (TOPO_FAMILY_TORUS);

    g_test_message ("%s", cases[at].text);
    g_assert_false (topo_parameters_load (&parameters, file, path, NULL, &error));
    topo_testing_refused (error, -1, where, "");
    g_unlink (path);
  }
}

/* A good key before a bad one must not be applied either. */
static void
test_failed_load_changes_nothing (void)
{
  g_autoptr (GKeyFile) file = key_file ("[link]\nhop_latency = 50 ns\nbandwidth = fast\n");
  g_autoptr (GError) error = NULL;
  TopoParameters parameters = defaults (TOPO_FAMILY_TORUS), before = parameters;

  g_assert_false (topo_parameters_load (&parameters, file, "no such file", NULL, &error));
  g_assert_cmpmem (&parameters, sizeof parameters, &before, sizeof before);
}

static void
test_ignored_groups (void)
{
  static const char *const ignored[] = { "machine", NULL };
  g_autoptr (GKeyFile) file = key_file ("[machine]\nx = 1\n[link]\nhop_latency = 50 ns\n");
  g_autoptr (GError) error = NULL;
  TopoParameters parameters = defaults (TOPO_FAMILY_TORUS);

  topo_parameters_load (&parameters, file, "-", ignored, &error);
  g_assert_no_error (error);
  g_assert_cmpint (parameters.link.hop_latency_ps, ==, 50000);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/parameters/vl-weights", test_vl_weights);
  g_test_add_func ("/topology/parameters/vl-weights-printed", test_vl_weights_survive_printing);
  g_test_add_func ("/topology/parameters/defaults", test_defaults);
  g_test_add_func ("/topology/parameters/headline", test_nearest_neighbour_headline);
  g_test_add_func ("/topology/parameters/effective-bandwidth", test_effective_bandwidth);
  g_test_add_func ("/topology/parameters/print-load", test_print_survives_load);
  g_test_add_func ("/topology/parameters/every-key", test_every_key_has_its_field);
  g_test_add_func ("/topology/parameters/what-is-printed", test_what_is_printed);
  g_test_add_func ("/topology/parameters/library", test_library_goes_with_its_values);
  g_test_add_func ("/topology/parameters/set", test_set);
  g_test_add_func ("/topology/parameters/bad", test_bad_settings);
  g_test_add_func ("/topology/parameters/smallest-buffer", test_smallest_dynamic_buffer);
  g_test_add_func ("/topology/parameters/lines", test_errors_name_the_line);
  g_test_add_func ("/topology/parameters/untouched", test_failed_load_changes_nothing);
  g_test_add_func ("/topology/parameters/ignored", test_ignored_groups);
  return g_test_run ();
}
