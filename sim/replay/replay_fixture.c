/* replay_fixture.c - a small machine with round numbers, to replay scripts on.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/replay_fixture.h"

static void
set_parameters (TopoParameters *parameters)
{
  parameters->send_overhead_ps = 300 * NS;
  parameters->receive_overhead_ps = 700 * NS;
  parameters->call_overhead_ps = 100 * NS;
  parameters->direct_overhead_ps = 50 * NS;
  parameters->eager_bytes = 1000;
  parameters->async_progress = false;
  parameters->shm_latency_ps = 200 * NS;
  parameters->shm_bandwidth_Bps = 10000000000u;
  parameters->compute_Flops = 1e9;
}

void
fixture_init_spec (Fixture *fixture, const char *spec, uint32_t n_ranks, uint32_t per_node)
{
  GError *error = NULL;

  *fixture = (Fixture){ .compute_scale = 1 };
  fixture->machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  fixture->machine->ranks_per_node = per_node;
  set_parameters (&fixture->machine->parameters);
  fixture->mapping = topo_mapping_new (NULL, fixture->machine, n_ranks, &error);
  g_assert_no_error (error);
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    fixture->mapping->node[rank] = rank / per_node;
    fixture->mapping->slot[rank] = (uint8_t) (rank % per_node);
  }
  fixture->trace = script_new (n_ranks);
}

void
fixture_init (Fixture *fixture, uint32_t n_ranks, uint32_t per_node)
{
  g_autofree char *spec = g_strdup_printf ("torus:%ux2", MAX (2, n_ranks));

  fixture_init_spec (fixture, spec, n_ranks, per_node);
}

/* Nothing but the core limits a copy. */
static void
set_fabric_parameters (TopoParameters *parameters)
{
  parameters->core_bandwidth_Bps = 10000000000u;
  parameters->core_memory_bandwidth_Bps = parameters->core_transfer_bandwidth_Bps =
      parameters->cache_bandwidth_Bps = parameters->bus_bandwidth_Bps =
          parameters->dram_bandwidth_Bps = UINT64_C (1000000000000000000);
  parameters->transfer_latency_ps = parameters->package_latency_ps = 0;
  parameters->tree_bandwidth_Bps = 2000000000u;
  parameters->eager_bytes = 12288;
  parameters->sm_latency_ps = 200 * NS;
  parameters->sm_overhead_ps = 40 * NS;
  parameters->fragment_overhead_ps = 60 * NS;
  parameters->leave_pinned = false;
  parameters->registration_ps = 2000 * NS;
  parameters->registration_page_ps = 10 * NS;
}

void
fixture_init_fabric (Fixture *fixture, uint32_t n_ranks, uint32_t per_node)
{
  g_autofree char *spec =
      g_strdup_printf ("fattree:2x%u,node=harpertown", MAX (2, (n_ranks + 1) / 2));

  fixture_init_spec (fixture, spec, n_ranks, per_node);
  set_fabric_parameters (&fixture->machine->parameters);
  for (uint32_t slot = 0; slot < per_node; slot++)
    fixture->machine->slot_core[slot] = (uint8_t) slot;
}

void
fixture_lower_limits (Fixture *fixture, uint32_t ways)
{
  TopoParameters *parameters = &fixture->machine->parameters;

  parameters->sm_eager_bytes = 72 + 300;
  parameters->sm_fragment_bytes = 32 + 200;
  parameters->eager_bytes = 72 + 500;
  parameters->send_fragment_bytes = 32 + 150;
  parameters->rdma_fragment_bytes = 256;
  parameters->copy_quantum_bytes = 64;
  parameters->rdma_offset_bytes = (ways & 1) != 0 ? 400 : 0;
  parameters->sm_single_copy = (ways & 2) != 0;
  parameters->leave_pinned = (ways & 4) != 0;
}

static void
run_clear (Fixture *fixture)
{
  g_clear_pointer (&fixture->network, sim_network_free);
  g_clear_pointer (&fixture->replay, sim_replay_free);
  g_clear_error (&fixture->error);
  fixture->result = NULL;
}

void
fixture_clear (Fixture *fixture)
{
  run_clear (fixture);
  trace_free (fixture->trace);
  topo_mapping_free (fixture->mapping);
  topo_machine_free (fixture->machine);
}

/* What the events of a timeline add up to. */
typedef struct {
  int64_t *lane_end_ps;          /* [lanes] */
  int64_t *compute_ps, *wait_ps; /* [ranks] */
  uint64_t n_messages;
} Sums;

static void
add_event (Sums *sums, const SimTimeline *timeline, const SimTimelineEvent *event)
{
  uint32_t rank = sim_timeline_lane (timeline, event->lane).rank;
  int64_t span_ps = event->end_ps - event->begin_ps;

  if (event->is_message) {
    g_assert_cmpint (span_ps, >=, 0);
    sums->n_messages++;
    return;
  }
  g_assert_cmpint (span_ps, >, 0);
  g_assert_cmpint (event->begin_ps, ==, sums->lane_end_ps[event->lane]);
  sums->lane_end_ps[event->lane] = event->end_ps;
  if (event->waits)
    sums->wait_ps[rank] += span_ps;
  else if (sim_timeline_state (timeline, event->state)->kind == SIM_STATE_COMPUTE)
    sums->compute_ps[rank] += span_ps;
}

/* How many messages it has. */
static uint64_t
check_timeline (const SimTimeline *timeline, const SimReplayResult *result)
{
  uint32_t n_ranks = result->n_ranks;
  g_autofree int64_t *lane_end_ps = g_new0 (int64_t, sim_timeline_lanes (timeline));
  g_autofree int64_t *compute_ps = g_new0 (int64_t, n_ranks);
  g_autofree int64_t *wait_ps = g_new0 (int64_t, n_ranks);
  Sums sums = { lane_end_ps, compute_ps, wait_ps, 0 };
  SimTimelineEvent event;

  for (uint64_t number = 0; number < sim_timeline_size (timeline); number++) {
    g_assert_true (sim_timeline_event (timeline, number, &event));
    add_event (&sums, timeline, &event);
  }
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    const SimRankTimes *times = &result->ranks[rank];

    g_assert_cmpint (lane_end_ps[rank], ==, times->end_ps);
    g_assert_cmpint (compute_ps[rank], ==, times->compute_ps);
    g_assert_cmpint (wait_ps[rank], ==, times->wait_ps);
  }
  g_assert_cmpuint (sim_timeline_left_out (timeline), ==, 0);
  return sums.n_messages;
}

uint64_t
fixture_check_timeline (const Fixture *fixture)
{
  return check_timeline (fixture->timeline, fixture->result);
}

void
fixture_run (Fixture *fixture)
{
  g_autoptr (SimTimeline) own = NULL;
  SimReplayOptions options = { .compute_scale = fixture->compute_scale,
                               .timeline = fixture->timeline };
  GError *error = NULL;

  run_clear (fixture);
  if (options.timeline == NULL)
    options.timeline = own = sim_timeline_new (fixture->mapping->n_ranks, NULL, UINT64_MAX);
  fixture->replay =
      sim_replay_new (fixture->trace, fixture->machine, fixture->mapping, &options, &error);
  g_assert_no_error (error);
  fixture->network = fake_network_new (fixture->mapping, 1000 * NS, 1 * NS, fixture->jitter_ps,
                                       &sim_replay_client, fixture->replay);
  if (sim_replay_run (fixture->replay, fixture->network, &fixture->error))
    fixture->result = sim_replay_result (fixture->replay);
  if (fixture->result != NULL && own != NULL)
    check_timeline (own, fixture->result);
}

double
fixture_end_ns (const Fixture *fixture, uint32_t rank)
{
  g_assert_no_error (fixture->error);
  return (double) fixture->result->ranks[rank].end_ps / NS;
}

const FakeRecord *
fixture_record (const Fixture *fixture, SimMessageKind kind, uint32_t i)
{
  const GArray *log = fake_network_log (fixture->network);

  for (uint32_t record = 0; record < log->len; record++) {
    const FakeRecord *it = &g_array_index (log, FakeRecord, record);

    if (it->message.kind == kind && i-- == 0)
      return it;
  }
  return NULL;
}

uint32_t
fixture_count (const Fixture *fixture, SimMessageKind kind)
{
  uint32_t n = 0;

  while (fixture_record (fixture, kind, n) != NULL)
    n++;
  return n;
}
