/* run_test.c - whole runs: keys, records, and agreement of networks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/run.h"

#include "sim/resume_testing.h"
#include "traces/dumpi/dumpi_testing.h"
#include "traces/trace_testing.h"

#include <glib/gstdio.h>
#include <string.h>

/* A ring of four, then a reduction: a TI trace that all ranks share. */
static const char ring[] = "0 init\n1 init\n2 init\n3 init\n"
                           "0 isend 1 7 20000\n0 recv 3 7 20000\n0 wait 0 1 7\n"
                           "1 isend 2 7 20000\n1 recv 0 7 20000\n1 wait 1 2 7\n"
                           "2 isend 3 7 20000\n2 recv 1 7 20000\n2 wait 2 3 7\n"
                           "3 isend 0 7 20000\n3 recv 2 7 20000\n3 wait 3 0 7\n"
                           "0 allReduce 4 1\n1 allReduce 4 1\n2 allReduce 4 1\n3 allReduce 4 1\n"
                           "0 finalize\n1 finalize\n2 finalize\n3 finalize\n";

enum { MPI_SEND = 0, MPI_RECV = 1, MPI_SSEND = 4, INT = 9 };
enum { TAG_ASK = 1, TAG_DATA = 2 };

typedef struct {
  Trace *trace;
  TopoMachine *machine;
  TopoMapping *mapping;
  SimRunOptions options;
} Inputs;

static void
inputs_open (Inputs *inputs, const char *path, const char *spec, const char *mapping)
{
  GError *error = NULL;

  *inputs = (Inputs){ .options = { .trace_path = path, .compute_scale = 1 } };
  inputs->trace = trace_open (path, NULL, &error);
  g_assert_no_error (error);
  inputs->machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  inputs->mapping =
      topo_mapping_new (mapping, inputs->machine, trace_ranks (inputs->trace), &error);
  g_assert_no_error (error);
}

static void
inputs_clear (Inputs *inputs)
{
  trace_free (inputs->trace);
  topo_mapping_free (inputs->mapping);
  topo_machine_free (inputs->machine);
}

static SimRun *
run (const Inputs *inputs)
{
  GError *error = NULL;
  SimRun *result =
      sim_run (inputs->trace, inputs->machine, inputs->mapping, &inputs->options, &error);

  g_assert_no_error (error);
  return result;
}

/* A trace in a temporary file. */
static char *
text_write (const char *text)
{
  char *path = NULL;
  GError *error = NULL;
  int file = g_file_open_tmp ("hopcast-run-XXXXXX.txt", &path, &error);

  g_assert_no_error (error);
  g_close (file, NULL);
  g_assert_true (g_file_set_contents (path, text, -1, &error));
  return path;
}

static char *
ring_write (void)
{
  return text_write (ring);
}

static void
ring_remove (char *path)
{
  g_remove (path);
  g_free (path);
}

static void
test_record (void)
{
  char *path = ring_write ();
  Inputs inputs;
  g_autoptr (SimRun) result = NULL;

  inputs_open (&inputs, path, "torus:4", NULL);
  result = run (&inputs);
  g_assert_cmpuint (strlen (result->key), ==, 64);
  g_assert_cmpuint (result->result.messages, >=, 4);
  g_assert_cmpuint (result->result.collectives, ==, 4);
  g_assert_cmpint (result->result.time_ps, >, 0);
  g_assert_cmpuint (result->result.n_ranks, ==, 4);
  g_assert_cmpuint (result->counters->packets, >, 0);
  g_assert_cmpfloat (result->features[SIM_FEATURE_HOP_BYTES], >=, 80000);
  g_assert_cmpuint (result->peak_rss_bytes, >, 0);
  inputs_clear (&inputs);
  ring_remove (path);
}

static void
test_same_inputs_same_record (void)
{
  char *path = ring_write ();
  Inputs inputs;
  g_autoptr (SimRun) first = NULL, second = NULL;

  inputs_open (&inputs, path, "torus:4", NULL);
  first = run (&inputs);
  second = run (&inputs);
  g_assert_cmpstr (first->key, ==, second->key);
  g_assert_cmpint (first->result.time_ps, ==, second->result.time_ps);
  g_assert_cmpmem (first->result.ranks, 4 * sizeof (SimRankTimes), second->result.ranks,
                   4 * sizeof (SimRankTimes));
  g_assert_cmpuint (first->counters->events, ==, second->counters->events);
  inputs_clear (&inputs);
  ring_remove (path);
}

/* Each change of an input gives a key that no other has. */
static void
test_key_tells_inputs_apart (void)
{
  char *path = ring_write ();
  g_autoptr (GHashTable) keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Inputs inputs;

  inputs_open (&inputs, path, "torus:2x2", NULL);
  inputs.options.network = SIM_NETWORK_LOAD;
  for (uint32_t change = 0; change < 6; change++) {
    SimRun *result;

    inputs.options.seed = change == 1 ? 5 : 0;
    inputs.options.compute_scale = change == 2 ? 0.1 : 1;
    inputs.options.policy = change == 3 ? ROUTE_POLICY_DETERMINISTIC : ROUTE_POLICY_DEFAULT;
    inputs.machine->parameters.link.hop_latency_ps += change == 4;
    if (change == 5) {
      inputs.mapping->node[0] = 1;
      inputs.mapping->node[1] = 0;
    }
    result = run (&inputs);
    g_assert_true (g_hash_table_add (keys, g_strdup (result->key)));
    sim_run_free (result);
  }
  inputs_clear (&inputs);
  ring_remove (path);
}

static void
test_wrong_number_of_ranks (void)
{
  static const SimNetworkKind kinds[] = { SIM_NETWORK_PACKET, SIM_NETWORK_LOAD };
  char *path = ring_write ();
  Inputs inputs;

  inputs_open (&inputs, path, "torus:4", NULL);
  inputs.mapping->n_ranks = 3;
  for (uint32_t i = 0; i < G_N_ELEMENTS (kinds); i++) {
    g_autoptr (GError) error = NULL;

    inputs.options.network = kinds[i];
    g_assert_null (sim_run (inputs.trace, inputs.machine, inputs.mapping, &inputs.options, &error));
    g_assert_error (error, SIM_ERROR, SIM_ERROR_TRACE);
    g_assert_nonnull (strstr (error->message, "4 ranks, but the mapping places 3"));
  }
  inputs_clear (&inputs);
  ring_remove (path);
}

/* -- real traces --------------------------------------------------------- */

/* Whatever the placement: the same bytes on every link. */
static void
test_load_and_packet_agree (gconstpointer data)
{
  g_autofree char *path = trace_testing_shared (data);
  g_autoptr (SimRun) packet = NULL, load = NULL;
  Inputs inputs;

  if (path == NULL)
    return;
  inputs_open (&inputs, path, "bgq:32", "EDCBAT");
  inputs.options.policy = ROUTE_POLICY_DETERMINISTIC;
  packet = run (&inputs);
  inputs.options.network = SIM_NETWORK_LOAD;
  load = run (&inputs);
  g_assert_cmpuint (packet->result.messages, ==, load->result.messages);
  g_assert_cmpuint (packet->result.message_bytes, ==, load->result.message_bytes);
  g_assert_cmpuint (packet->result.collectives, ==, load->result.collectives);
  g_assert_cmpuint (packet->result.unmatched_sends, ==, 0);
  for (uint32_t link = 0; link < load->counters->n_nodes * load->counters->n_ports; link++)
    g_assert_cmpuint (packet->counters->link[link].payload_bytes, ==,
                      load->counters->link[link].payload_bytes);
  for (SimFeature feature = SIM_FEATURE_MAX_DILATION; feature <= SIM_FEATURE_AVG_BYTES_TO;
       feature++)
    g_assert_cmpfloat (packet->features[feature], ==, load->features[feature]);
  inputs_clear (&inputs);
}

static void
test_compute_scale (void)
{
  g_autofree char *path =
      trace_testing_shared ("dumpi/gen-lulesh-27/dumpi-2026.11.20.12.00.06.meta");
  g_autoptr (SimRun) slow = NULL, fast = NULL;
  Inputs inputs;

  if (path == NULL)
    return;
  inputs_open (&inputs, path, "bgq:32", NULL);
  slow = run (&inputs);
  inputs.options.compute_scale = 0;
  fast = run (&inputs);
  /* Without computing the same messages take less time, but some. */
  g_assert_cmpint (fast->result.time_ps, >, 0);
  g_assert_cmpint (fast->result.time_ps, <, slow->result.time_ps);
  g_assert_cmpuint (fast->result.messages, ==, slow->result.messages);
  inputs_clear (&inputs);
}

static void
add_send (DumpiBuild *build, uint16_t id, int tag)
{
  dumpi_build_call (build, id, "4 2 4 4 2", 1, INT, 0, tag, TRACE_COMM_WORLD);
}

/* From `source`, which may be any; it got a message of `got`. */
static void
add_receive (DumpiBuild *build, int source, int got, int tag)
{
  dumpi_build_call (build, MPI_RECV, "4 2 4 4 2  4 4 4 1 1 4", 1, INT, source, tag,
                    TRACE_COMM_WORLD, 1, 4, got, 0, 0, tag);
}

/* A master serves requests in the order of their arrival.  When recorded rank 1's came
 * first.  Now it comes last, and rank 1 stays in its synchronous send until the master
 * takes requests again; but the master waits for the data that rank 1 sends after it. */
static char *
master_write (const char *folder)
{
  for (int rank = 0; rank < 3; rank++) {
    DumpiBuild *build = dumpi_build_new (13, 0, 0);
    g_autofree char *name = g_strdup_printf ("t-%04d.bin", rank);
    g_autofree char *path = NULL;
    g_autoptr (GByteArray) bytes = NULL;

    build->between_ns = rank == 1 ? 1000000 : 0;
    dumpi_build_init (build);
    for (int worker = 1; rank == 0 && worker <= 2; worker++) {
      add_receive (build, TRACE_ANY_SOURCE, worker, TAG_ASK);
      add_receive (build, worker, worker, TAG_DATA);
    }
    if (rank > 0) {
      add_send (build, MPI_SSEND, TAG_ASK);
      add_send (build, MPI_SEND, TAG_DATA);
    }
    dumpi_build_finalize (build);
    bytes = dumpi_build_end (build, 7);
    path = trace_testing_write (folder, name, bytes->data, bytes->len);
  }
  return trace_testing_write (folder, "t.meta", "numprocs=3\n", 11);
}

/* Two ranks exchange a message of 1 MB after each has computed as told. */
static SimRun *
run_pair (double first_s, double second_s, SimNetworkKind network, double compute_scale)
{
  g_autofree char *text =
      g_strdup_printf ("0 init\n1 init\n0 sleep %.9f\n1 sleep %.9f\n0 send 1 7 1000000\n"
                       "1 recv 0 7 1000000\n1 send 0 7 1000000\n0 recv 1 7 1000000\n"
                       "0 finalize\n1 finalize\n",
                       first_s, second_s);
  char *path = text_write (text);
  Inputs inputs;
  SimRun *result;

  inputs_open (&inputs, path, "torus:4", NULL);
  inputs.options.network = network;
  inputs.options.compute_scale = compute_scale;
  result = run (&inputs);
  inputs_clear (&inputs);
  ring_remove (path);
  return result;
}

static const char *
imbalance_of (const SimRun *result)
{
  for (guint at = 0; at < result->warnings->len; at++)
    if (g_str_has_prefix (result->warnings->pdata[at], SIM_IMBALANCE_WARNING))
      return result->warnings->pdata[at];
  return NULL;
}

static void
test_recorded_sources (void)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = master_write (folder);
  g_autoptr (SimRun) result = NULL;
  const char *warning;
  Inputs inputs;

  inputs_open (&inputs, path, "torus:4", NULL);
  result = run (&inputs);
  g_assert_cmpuint (result->result.messages, ==, 4);
  /* One rank computes, the others wait for it. */
  g_assert_cmpuint (result->warnings->len, ==, 2);
  g_assert_nonnull (imbalance_of (result));
  warning = g_ptr_array_index (result->warnings, 0);
  g_assert_nonnull (strstr (warning, "sources they got when recorded"));
  /* Saved in the first replay or in the second. */
  inputs.options.windows_per_pause = 1;
  for (guint round = 0; round < 20; round++)
    resume_check (inputs.trace, inputs.machine, inputs.mapping, &inputs.options, 3);
  inputs_clear (&inputs);
}

/* Both messages take 1 MB / 1.8 GB/s, 1.1 ms in all, after the slower rank's computation.  A third of
 * that is 0.37 ms.  Of two ranks one computes longer than the average by half of their difference. */
static void
test_imbalance (void)
{
  static const struct {
    double first_s, second_s;
    SimNetworkKind network;
    double compute_scale;
    bool warns;
  } cases[] = {
    { 0, 0, SIM_NETWORK_PACKET, 1, false },
    { 0.1, 0.1, SIM_NETWORK_PACKET, 1, false }, /* long, but the same */
    { 0.1, 0.1006, SIM_NETWORK_PACKET, 1, false },
    { 0.1, 0.1009, SIM_NETWORK_PACKET, 1, true },
    { 0.0009, 0, SIM_NETWORK_PACKET, 1, true },
    { 0.0009, 0, SIM_NETWORK_PACKET, 0.5, false },
    { 0.1, 0.2, SIM_NETWORK_PACKET, 1, true },
    { 0.1, 0.2, SIM_NETWORK_PACKET, 0, false },
    { 0.1, 0.2, SIM_NETWORK_LOAD, 1, false }, /* no time */
  };

  for (gsize i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (SimRun) result =
        run_pair (cases[i].first_s, cases[i].second_s, cases[i].network, cases[i].compute_scale);
    const char *warning = imbalance_of (result);

    g_test_message ("%g and %g s: %s", cases[i].first_s, cases[i].second_s,
                    warning != NULL ? warning : "nothing");
    g_assert_true ((warning != NULL) == cases[i].warns);
    g_assert_true (warning == NULL || strstr (warning, "--compute-scale 0") != NULL);
    if (i == 0) {
      g_assert_cmpint (result->result.time_ps, >, INT64_C (1050000000));
      g_assert_cmpint (result->result.time_ps, <, INT64_C (1200000000));
    }
    if (cases[i].first_s == 0.1 && cases[i].second_s == 0.2 && warning != NULL)
      g_assert_nonnull (strstr (warning, " 0.05 s longer"));
  }
}

typedef struct {
  guint n;
  double share[64];
  gint64 now_ps[64];
} Calls;

static void
keep_call (void *data, double share, int64_t now_ps)
{
  Calls *calls = data;

  if (calls->n == G_N_ELEMENTS (calls->share))
    return;
  calls->share[calls->n] = share;
  calls->now_ps[calls->n++] = now_ps;
}

/* Two messages that take a second or so of computation, and nothing else happens meanwhile: all
 * operations are under way from the beginning, and the share done is the share that has arrived. */
static void
test_long_messages_show_progress (gconstpointer spec)
{
  const char *mapping = g_str_equal (spec, "torus:2x2") ? "TAB" : "TA"; /* a rank on each node */
  Calls calls = { .n = 0 };
  Inputs inputs;
  SimRun *result;

  inputs_open (&inputs, "gen:ring:ranks=2,bytes=2147483648,iterations=1", spec, mapping);
  inputs.options.progress = keep_call;
  inputs.options.progress_data = &calls;
  result = run (&inputs);
  g_assert_cmpuint (calls.n, >, 0);
  for (guint i = 0; i < calls.n; i++) {
    double done = (double) calls.now_ps[i] / (double) result->result.time_ps;

    /* The operation in which a rank blocks does not count, one of five; and on a fabric the memory
     * of a message is registered, 7 % of the time, before its first byte moves. */
    g_assert_cmpfloat (calls.share[i], <, done + 0.02);
    g_assert_cmpfloat (calls.share[i], >, 0.8 * done - 0.1);
  }
  sim_run_free (result);
  inputs_clear (&inputs);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/run/record", test_record);
  g_test_add_func ("/sim/run/same-inputs", test_same_inputs_same_record);
  g_test_add_func ("/sim/run/key", test_key_tells_inputs_apart);
  g_test_add_func ("/sim/run/wrong-ranks", test_wrong_number_of_ranks);
  g_test_add_data_func ("/sim/run/load-and-packet/lulesh-27",
                        "dumpi/gen-lulesh-27/dumpi-2026.11.20.12.00.06.meta",
                        test_load_and_packet_agree);
  g_test_add_data_func ("/sim/run/load-and-packet/lammps-16",
                        "dumpi/gen-lammps-lj-16/dumpi-2026.11.20.11.54.52.meta",
                        test_load_and_packet_agree);
  g_test_add_data_func ("/sim/run/load-and-packet/amg-27",
                        "dumpi/amg-27-hopper/dumpi-2014.03.03.14.55.00.meta",
                        test_load_and_packet_agree);
  g_test_add_data_func ("/sim/run/load-and-packet/is-16", "ti/gen-nas-is-S-16/nas-is-S-16.txt",
                        test_load_and_packet_agree);
  g_test_add_func ("/sim/run/compute-scale", test_compute_scale);
  g_test_add_data_func ("/sim/run/progress/torus", "torus:2x2", test_long_messages_show_progress);
  g_test_add_data_func ("/sim/run/progress/fabric", "fattree:2x1",
                        test_long_messages_show_progress);
  g_test_add_func ("/sim/run/recorded-sources", test_recorded_sources);
  g_test_add_func ("/sim/run/imbalance", test_imbalance);
  return g_test_run ();
}
