/* random_testing.c - random programs of messages on a packet network, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/net/random_testing.h"

#include "sim/counters.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <unistd.h>

const char *
random_text (BaseRandom *random, const char *const *texts)
{
  return texts[base_random_below (random, g_strv_length ((char **) texts))];
}

void
random_set_parameters (TopoParameters *parameters, const RandomSetting *settings, size_t n,
                       BaseRandom *random)
{
  for (size_t i = 0; i < n; i++) {
    g_autoptr (GError) error = NULL;
    const char *value = random_text (random, settings[i].values);

    if (value[0] == '\0')
      continue;
    topo_parameters_set (parameters, settings[i].key, value, &error);
    g_assert_no_error (error);
  }
}

/* What belongs to a part of the network. */
typedef struct {
  const RandomProgram *program;
  SimNetwork *network; /* the part */
  uint64_t *order;     /* [node] deliveries, acknowledgements and timers, with their times */
  uint64_t n_sent, n_delivered, n_timers;
  uint32_t windows_left; /* of the first part: until the network is saved; 0: it is not */
  FILE *saved;           /* likewise */
} Run;

static void
send_one (Run *run, uint64_t cookie, uint32_t source, int64_t at_ps)
{
  const RandomProgram *program = run->program;
  const uint32_t *node = program->mapping->node;
  BaseRandom random = base_random_stream (program->seed, cookie);
  SimMessage message = { .cookie = cookie, .source_rank = source };

  do
    message.destination_rank = (uint32_t) base_random_below (&random, program->n_ranks);
  while (node[message.destination_rank] == node[source]);
  program->draw_message (&message, program->most_bytes, &random);
  run->n_sent++;
  sim_network_send (run->network, &message, at_ps);
}

static void
note (Run *run, uint32_t rank, uint64_t what, int64_t now_ps)
{
  uint64_t *hash = &run->order[run->program->mapping->node[rank]];

  *hash = (*hash ^ what) * UINT64_C (0x100000001b3);
  *hash = (*hash ^ (uint64_t) now_ps) * UINT64_C (0x100000001b3);
}

/* Numbers of answers and timers follow from those of the messages. */
static void
on_delivered (void *client, const SimMessage *message, int64_t now_ps)
{
  Run *run = client;
  const RandomProgram *program = run->program;
  uint64_t next = message->cookie + (UINT64_C (1) << 32);
  BaseRandom random = base_random_stream (program->seed, ~message->cookie);

  run->n_delivered++;
  note (run, message->destination_rank, message->cookie, now_ps);
  if (base_random_below (&random, 256) >= program->answers || next >> 32 > 6)
    return;
  if (program->shares && base_random_below (&random, 2) == 0)
    sim_network_shared_timer (
        run->network, (uint32_t) base_random_below (&random, program->n_ranks), next,
        now_ps + run->network->lookahead_ps + (int64_t) base_random_below (&random, 2) * 1300000);
  else if (base_random_below (&random, 3) == 0)
    sim_network_timer (run->network, message->destination_rank, next,
                       now_ps + (int64_t) base_random_below (&random, 3000000));
  else
    send_one (run, next, message->destination_rank,
              now_ps + (int64_t) base_random_below (&random, 2) * 1300000);
}

static void
on_timer (void *client, uint32_t rank, uint64_t cookie, int64_t now_ps)
{
  Run *run = client;

  run->n_timers++;
  note (run, rank, ~cookie, now_ps);
  send_one (run, cookie, rank, now_ps);
}

static void
on_sent (void *client, const SimMessage *message, int64_t now_ps)
{
  g_assert_true (message->acknowledge);
  note (client, message->source_rank, message->cookie ^ UINT64_C (1) << 63, now_ps);
}

/* Saves the network at the window that was chosen, and ends it. */
static bool
on_running (void *data, int64_t now_ps)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (BaseDump) dump = NULL;
  Run *run = data;

  (void) now_ps;
  if (run->windows_left == 0 || --run->windows_left > 0)
    return true;
  dump = base_dump_save (run->saved, "network");
  sim_network_dump (run->network, dump);
  base_dump_end (dump, &error);
  g_assert_no_error (error);
  return false;
}

static const SimClient client = {
  .delivered = on_delivered,
  .timer = on_timer,
  .sent = on_sent,
  .running = on_running,
};

/* runs: one for each part of the network. */
static void
take_network (Run *runs, SimNetwork *network)
{
  for (uint32_t part = 0; part < sim_network_n_parts (network); part++) {
    SimNetwork *it = runs[part].network = sim_network_part (network, part);

    it->client = &client;
    it->client_data = &runs[part];
    it->windows_per_call = 1;
  }
}

/* Runs the program; again and again from where it was saved.  Early windows as often as late ones. */
static void
run_in_pieces (Run *run)
{
  const RandomProgram *program = run->program;
  BaseRandom random = base_random_stream (program->seed, 4711);
  g_autofree char *path = NULL;
  g_autoptr (GError) error = NULL;
  int file = g_file_open_tmp ("hopcast-network-XXXXXX", &path, &error);

  g_assert_no_error (error);
  close (file);
  for (uint32_t piece = 0; piece < 3; piece++) {
    SimNetwork *again = program->make_again (program->again_data);
    g_autoptr (BaseDump) dump = NULL;

    run->windows_left =
        1 + (uint32_t) base_random_below (&random, 1u << base_random_below (&random, 13));
    run->saved = fopen (path, "w");
    if (sim_network_run (run->network, &error)) {
      sim_network_free (again);
      fclose (run->saved);
      break;
    }
    g_assert_error (error, SIM_ERROR, SIM_ERROR_STOPPED);
    g_clear_error (&error);
    g_assert_cmpint (fclose (run->saved), ==, 0);
    sim_network_free (run->network);
    take_network (run, again);
    dump = base_dump_load (path, "network", &error);
    g_assert_no_error (error);
    sim_network_dump (again, dump);
    base_dump_end (dump, &error);
    g_assert_no_error (error);
    run->windows_left = 0;
    if (piece == 2)
      sim_network_run (run->network, &error);
    g_assert_no_error (error);
  }
  g_unlink (path);
}

static uint64_t
mix (uint64_t hash, const uint64_t *words, size_t n)
{
  for (size_t i = 0; i < n; i++)
    hash = (hash ^ words[i]) * UINT64_C (0x100000001b3);
  return hash;
}

uint64_t
random_program_run (const RandomProgram *program, SimNetwork *network)
{
  g_autoptr (GError) error = NULL;
  g_autofree uint64_t *order = g_new0 (uint64_t, program->n_nodes);
  uint32_t n_parts = sim_network_n_parts (network), part = 0;
  g_autofree Run *runs = g_new0 (Run, n_parts);
  Run *run = &runs[0];
  const SimCounters *counters;
  uint64_t hash;

  for (part = 0; part < n_parts; part++)
    runs[part] = (Run){ .program = program, .order = order };
  take_network (runs, network);
  for (uint32_t i = 0; i < program->n_first; i++) {
    BaseRandom random = base_random_stream (program->seed ^ 77, i);
    int64_t at_ps = program->within_ps == 0
                        ? 0
                        : (int64_t) base_random_below (&random, (uint64_t) program->within_ps);
    uint32_t source = (uint32_t) base_random_below (&random, program->n_ranks);

    for (part = 0;
         part + 1 < n_parts && program->mapping->node[source] >= runs[part].network->end_node;
         part++)
      ;
    send_one (&runs[part], i, source, at_ps);
  }
  if (program->make_again != NULL)
    run_in_pieces (run);
  else
    sim_network_run (run->network, &error);
  g_assert_no_error (error);
  for (part = 1; part < n_parts; part++) {
    run->n_sent += runs[part].n_sent;
    run->n_delivered += runs[part].n_delivered;
    run->n_timers += runs[part].n_timers;
  }
  g_assert_cmpuint (run->n_delivered, ==, run->n_sent);
  counters = run->network->counters;
  hash = mix (0, order, program->n_nodes);
  hash = mix (hash, (const uint64_t *) counters->link,
              counters->n_places * sizeof *counters->link / sizeof (uint64_t));
  hash = mix (hash, counters->fifo_messages, counters->n_fifo_places);
  hash = mix (hash,
              (const uint64_t[]){ run->n_sent, run->n_timers, counters->packets,
                                  counters->packet_hops, counters->messages },
              5);
  sim_network_free (run->network);
  return hash;
}

void
random_program_golden (const char *variable, uint64_t (*hash) (uint64_t seed),
                       const uint64_t *golden, size_t n_golden)
{
  const char *seeds = g_getenv (variable);
  unsigned first, n;

  if (seeds == NULL) {
    for (size_t i = 0; i < n_golden; i++)
      g_assert_cmphex (hash (1 + i), ==, golden[i]);
    return;
  }
  g_assert_cmpint (sscanf (seeds, "%u %u", &first, &n), ==, 2);
  for (unsigned seed = first; seed < first + n; seed++)
    hash (seed);
}
