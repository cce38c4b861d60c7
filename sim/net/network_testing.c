/* network_testing.c - a machine, a packet network on it, messages and their arrivals, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/network_testing.h"

#include <glib/gstdio.h>

const char *const bench_pinned[] = {
  "ib.mtu=2KiB",
  "ib.header=26B",
  "ib.rdma_header=16B",
  "ib.ack=30B",
  "ib.framing=8B",
  "ib.block=64B",
  "ib.cable_latency=10ns",
  "ib.fec_edr_latency=0ns",
  "ib.fec_hdr_latency=0ns",
  "ib.fec_ndr_latency=0ns",
  "ib.credit_latency=100ns",
  "switch.latency=100ns",
  "switch.buffer=64KiB",
  "switch.vls=4",
  "switch.reads=3",
  "hca.pcie_bandwidth=3.25GB/s",
  "hca.send_latency=300ns",
  "hca.receive_latency=250ns",
  "hca.read_latency=400ns",
  "hca.inline=128B",
  "hca.message_gap=100ns",
  "hca.buffer=64KiB",
  "hca.read_ahead=4",
  "memory.cache_bandwidth=100TB/s",
  "memory.bus_bandwidth=100TB/s",
  "memory.bandwidth=100TB/s",
  NULL,
};

static uint64_t
mix (uint64_t hash, uint64_t value)
{
  return (hash ^ value) * UINT64_C (0x100000001b3) + 0x9e3779b9u;
}

static void
log_delivered (void *client, const SimMessage *message, int64_t now_ps)
{
  Bench *bench = client;
  uint64_t *hash = &bench->node_hash[bench->mapping->node[message->destination_rank]];

  g_assert_cmpint (bench->at_ps[message->cookie], ==, 0);
  bench->at_ps[message->cookie] = now_ps;
  bench->n_delivered++;
  *hash = mix (mix (*hash, message->cookie), (uint64_t) now_ps);
}

static void
log_sent (void *client, const SimMessage *message, int64_t now_ps)
{
  Bench *bench = client;

  g_assert_true (message->acknowledge);
  g_assert_cmpint (bench->sent_ps[message->cookie], ==, 0);
  bench->sent_ps[message->cookie] = now_ps;
}

static void
log_timer (void *client, uint32_t rank, uint64_t cookie, int64_t now_ps)
{
  (void) client;
  (void) rank;
  (void) cookie;
  (void) now_ps;
  g_assert_not_reached ();
}

static const SimClient log_client = { log_delivered, log_timer, log_sent };

static void
set_all (TopoParameters *parameters, const char *const *settings)
{
  GError *error = NULL;

  for (; settings && *settings; settings++) {
    g_auto (GStrv) pair = g_strsplit (*settings, "=", 2);

    topo_parameters_set (parameters, pair[0], pair[1], &error);
    g_assert_no_error (error);
  }
}

/* The machine with its defaults, then the settings. */
static Bench *
bench_new (const char *spec, const char *const *pinned, const char *const *settings,
           uint64_t n_messages)
{
  Bench *bench = g_new0 (Bench, 1);
  GError *error = NULL;

  bench->machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  set_all (&bench->machine->parameters, pinned);
  set_all (&bench->machine->parameters, settings);
  bench->n_nodes = topo_shape_nodes (&bench->machine->shape);
  bench->mapping = topo_mapping_new (NULL, bench->machine, bench->n_nodes, &error);
  g_assert_no_error (error);
  bench->at_ps = g_new0 (int64_t, n_messages);
  bench->sent_ps = g_new0 (int64_t, n_messages);
  bench->node_hash = g_new0 (uint64_t, bench->n_nodes);
  return bench;
}

Bench *
bench_torus (const char *spec, const char *const *settings, RoutePolicy policy, uint64_t n_messages)
{
  Bench *bench = bench_new (spec, NULL, settings, n_messages);
  GError *error = NULL;

  bench->network =
      sim_packet_new (bench->machine, bench->mapping, policy, 1, &log_client, bench, &error);
  g_assert_no_error (error);
  return bench;
}

Bench *
bench_fabric (const char *spec, const char *const *settings, uint32_t n_messages,
              void (*prepare) (RouteForwarding *tables))
{
  Bench *bench = bench_new (spec, bench_pinned, settings, n_messages);
  GError *error = NULL;

  bench->paths = route_paths_new (bench->machine, &error);
  g_assert_no_error (error);
  if (prepare)
    prepare (bench->paths->tables);
  bench->network =
      sim_ib_new (bench->machine, bench->paths, bench->mapping, &log_client, bench, &error);
  g_assert_no_error (error);
  return bench;
}

void
bench_spread_over_lanes (RouteForwarding *tables)
{
  uint32_t n = tables->n_destinations;

  tables->n_vls = 3;
  tables->vl = g_new0 (uint8_t, n * n);
  for (uint32_t pair = 0; pair < n * n; pair++)
    tables->vl[pair] = (uint8_t) (pair % 7 % 3);
}

/* --- Fabrics by their cables --- */

static void
append_id (GString *text, uint32_t device)
{
  g_string_append_printf (text, "\"%c-%016x\"", device < 100 ? 'S' : 'H', 0x1000 + 16 * device);
}

static void
append_end (GString *text, const BenchCable *cable, bool far)
{
  uint32_t port = far ? cable->other_port : cable->port;
  uint32_t peer = far ? cable->device : cable->other_device;

  g_string_append_printf (text, "[%u] ", port);
  append_id (text, peer);
  g_string_append_printf (text, "[%u] # \"\" lid 0 %s\n", far ? cable->port : cable->other_port,
                          cable->rate);
}

static void
append_device (GString *text, uint32_t device, const BenchCable *cables, uint32_t n_cables)
{
  GString *ends = g_string_new (NULL);

  for (uint32_t cable = 0; cable < n_cables; cable++) {
    if (cables[cable].device == device)
      append_end (ends, &cables[cable], false);
    if (cables[cable].other_device == device)
      append_end (ends, &cables[cable], true);
  }
  if (ends->len > 0) {
    g_string_append_printf (text, "%s ", device < 100 ? "Switch 32" : "Ca 2");
    append_id (text, device);
    if (device < 100)
      g_string_append_printf (text, " # \"sw%u\"\n%s\n", device, ends->str);
    else
      g_string_append_printf (text, " # \"node%u HCA-%u\"\n%s\n", device % 100, device / 100,
                              ends->str);
  }
  g_string_free (ends, TRUE);
}

Bench *
bench_cabled (const BenchCable *cables, uint32_t n_cables, const char *routes,
              const char *const *settings, uint32_t n_messages,
              void (*prepare) (RouteForwarding *tables))
{
  g_autofree char *folder = g_dir_make_tmp ("hopcast-ib-XXXXXX", NULL);
  g_autofree char *path = g_build_filename (folder, "cables.topo", NULL);
  g_autofree char *spec = g_strdup_printf ("fabric:%s,routes=%s", path, routes);
  g_autoptr (GString) text = g_string_new (NULL);
  GError *error = NULL;
  Bench *bench;

  for (uint32_t device = 0; device < 1000; device++)
    append_device (text, device, cables, n_cables);
  g_file_set_contents (path, text->str, -1, &error);
  g_assert_no_error (error);
  bench = bench_fabric (spec, settings, n_messages, prepare);
  g_unlink (path);
  g_rmdir (folder);
  return bench;
}

void
bench_free (Bench *bench)
{
  sim_network_free (bench->network);
  topo_mapping_free (bench->mapping);
  route_paths_free (bench->paths);
  topo_machine_free (bench->machine);
  g_free (bench->at_ps);
  g_free (bench->sent_ps);
  g_free (bench->node_hash);
  g_free (bench);
}

/* --- Messages --- */

void
bench_send_kind (Bench *bench, uint32_t from, uint32_t to, uint64_t bytes, SimMessageKind kind,
                 int64_t at_ps)
{
  SimMessage message = {
    .cookie = bench->n_sent++,
    .bytes = bytes,
    .source_rank = from,
    .destination_rank = to,
    .kind = (uint8_t) kind,
    .descriptors = 1,
  };

  sim_network_send (bench->network, &message, at_ps);
}

uint64_t
bench_send (Bench *bench, uint32_t from, uint32_t to, uint64_t bytes, int64_t at_ps)
{
  SimMessage message = {
    .cookie = bench->n_sent++,
    .bytes = bytes,
    .source_rank = from,
    .destination_rank = to,
    .kind = SIM_MESSAGE_SEND,
    .acknowledge = true,
  };

  sim_network_send (bench->network, &message, at_ps);
  return message.cookie;
}

void
bench_all_to_all (Bench *bench, uint64_t bytes)
{
  for (uint32_t shift = 1; shift < bench->n_nodes; shift++)
    for (uint32_t from = 0; from < bench->n_nodes; from++)
      bench_send (bench, from, (from + shift) % bench->n_nodes, bytes, 0);
}

void
bench_run (Bench *bench)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (sim_network_run (bench->network, &error));
  g_assert_no_error (error);
  g_assert_cmpuint (bench->n_delivered, ==, bench->n_sent);
  for (uint64_t cookie = 0; bench->paths && cookie < bench->n_sent; cookie++)
    g_assert_cmpint (bench->sent_ps[cookie], >, 0);
}

uint64_t
bench_hash (const Bench *bench)
{
  const SimCounters *counters = bench->network->counters;
  uint64_t hash = 1;

  for (uint32_t node = 0; node < bench->n_nodes; node++)
    hash = mix (hash, bench->node_hash[node]);
  for (uint64_t cookie = 0; bench->paths && cookie < bench->n_sent; cookie++)
    hash = mix (hash, (uint64_t) bench->sent_ps[cookie]);
  for (uint32_t link = 0; link < counters->n_places; link++) {
    const SimLinkCounters *it = &counters->link[link];
    const uint64_t fabric[] = { it->payload_bytes, it->received_packets, it->buffered_packets,
                                it->buffered_ps,   it->wire_bytes,       it->sent_packets,
                                it->wait_ps };
    const uint64_t torus[] = { it->payload_bytes,   it->dynamic_chunks,   it->bubble_chunks,
                               it->priority_chunks, it->received_packets, it->buffered_packets,
                               it->buffered_ps };

    for (size_t word = 0; word < 7; word++)
      hash = mix (hash, bench->paths ? fabric[word] : torus[word]);
  }
  return hash;
}

uint64_t
bench_hop_bytes (const Bench *bench)
{
  const SimCounters *counters = bench->network->counters;
  uint64_t bytes = 0;

  for (uint32_t link = 0; link < counters->n_places; link++)
    bytes += counters->link[link].payload_bytes;
  return bytes;
}
