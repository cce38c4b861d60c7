/* resume_testing.c - runs that are saved on the way, ended, and resumed, for tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/resume_testing.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Some runs reach it. */
#define TIMELINE_LIMIT 5000

typedef struct {
  const char *path;
  uint64_t n, save_at; /* pauses so far, and the one at which the run is saved; 0: none */
  bool ends;           /* then */
} Pauses;

static gboolean
on_pause (void *data, SimRunning *running, GError **error)
{
  Pauses *pauses = data;
  FILE *file;

  if (++pauses->n != pauses->save_at)
    return TRUE;
  file = fopen (pauses->path, "w");
  g_assert_true (sim_run_save (running, file, error));
  g_assert_cmpint (fclose (file), ==, 0);
  if (pauses->ends)
    g_set_error_literal (error, SIM_ERROR, SIM_ERROR_STOPPED, "saved");
  return !pauses->ends;
}

/* A run, how it ended, and its timeline. */
typedef struct {
  SimRun *run;
  GError *error;
  SimTimeline *timeline;
} Outcome;

static void
outcome_clear (Outcome *outcome)
{
  g_clear_pointer (&outcome->run, sim_run_free);
  g_clear_pointer (&outcome->timeline, sim_timeline_free);
  g_clear_error (&outcome->error);
}

static Outcome
simulate_part (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
               const SimRunOptions *options, Pauses *pauses, const char *resume)
{
  Outcome outcome = { .timeline = sim_timeline_new (mapping->n_ranks, NULL, TIMELINE_LIMIT) };
  SimRunOptions all = *options;

  all.network = SIM_NETWORK_PACKET;
  all.timeline = outcome.timeline;
  all.pause = on_pause;
  all.pause_data = pauses;
  all.resume = resume;
  outcome.run = sim_run (trace, machine, mapping, &all, &outcome.error);
  return outcome;
}

static void
assert_same_timeline (const SimTimeline *one, const SimTimeline *other)
{
  g_assert_cmpuint (sim_timeline_size (one), ==, sim_timeline_size (other));
  g_assert_cmpuint (sim_timeline_lanes (one), ==, sim_timeline_lanes (other));
  g_assert_cmpuint (sim_timeline_states (one), ==, sim_timeline_states (other));
  g_assert_cmpint (sim_timeline_end_ps (one), ==, sim_timeline_end_ps (other));
  g_assert_cmpuint (sim_timeline_left_out (one), ==, sim_timeline_left_out (other));
  for (uint32_t lane = 0; lane < sim_timeline_lanes (one); lane++) {
    SimLane first = sim_timeline_lane (one, lane), second = sim_timeline_lane (other, lane);

    g_assert_cmpuint (first.rank, ==, second.rank);
    g_assert_cmpuint (first.processor, ==, second.processor);
  }
  for (uint32_t state = 0; state < sim_timeline_states (one); state++)
    g_assert_cmpstr (sim_timeline_state (one, state)->name, ==,
                     sim_timeline_state (other, state)->name);
  for (uint64_t number = 0; number < sim_timeline_size (one); number++) {
    SimTimelineEvent first = { 0 }, second = { 0 };

    g_assert_true (sim_timeline_event (one, number, &first) ==
                   sim_timeline_event (other, number, &second));
    g_assert_cmpint (first.begin_ps, ==, second.begin_ps);
    g_assert_cmpint (first.end_ps, ==, second.end_ps);
    g_assert_cmpuint (first.lane, ==, second.lane);
    g_assert_cmpuint (first.bytes, ==, second.bytes);
    g_assert_true (first.is_message == second.is_message && first.first == second.first &&
                   first.waits == second.waits && first.state == second.state &&
                   first.destination == second.destination);
  }
}

static void
assert_same_bytes (const void *one, const void *other, size_t n)
{
  g_assert_true (memcmp (one, other, n) == 0);
}

static void
assert_same_iterations (const SimIterations *one, const SimIterations *other)
{
  g_assert_true ((one == NULL) == (other == NULL));
  if (one == NULL)
    return;
  g_assert_cmpuint (one->count, ==, other->count);
  g_assert_cmpuint (one->messages, ==, other->messages);
  g_assert_cmpuint (one->message_bytes, ==, other->message_bytes);
  assert_same_bytes (one->ends_ps, other->ends_ps, (one->count + 1) * sizeof *one->ends_ps);
  assert_same_bytes (one->ranks, other->ranks, one->n_ranks * sizeof *one->ranks);
}

static void
assert_same_outcome (const Outcome *one, const Outcome *other)
{
  const SimRun *run = one->run, *again = other->run;

  if (one->error != NULL || other->error != NULL) {
    g_assert_cmpstr (one->error == NULL ? "" : one->error->message, ==,
                     other->error == NULL ? "" : other->error->message);
    return;
  }
  g_assert_cmpstr (run->key, ==, again->key);
  g_assert_cmpint (run->result.time_ps, ==, again->result.time_ps);
  g_assert_cmpuint (run->result.n_ranks, ==, again->result.n_ranks);
  assert_same_bytes (run->result.ranks, again->result.ranks,
                     run->result.n_ranks * sizeof (SimRankTimes));
  g_assert_true (run->result.has_path == again->result.has_path);
  assert_same_bytes (&run->result.path, &again->result.path, sizeof run->result.path);
  g_assert_cmpuint (run->result.messages, ==, again->result.messages);
  g_assert_cmpuint (run->result.message_bytes, ==, again->result.message_bytes);
  g_assert_cmpuint (run->result.unmatched_sends, ==, again->result.unmatched_sends);
  g_assert_cmpuint (run->result.unmatched_receives, ==, again->result.unmatched_receives);
  g_assert_cmpuint (run->result.collectives, ==, again->result.collectives);
  assert_same_bytes (run->features, again->features, sizeof run->features);
  g_assert_cmpuint (run->warnings->len, ==, again->warnings->len);
  for (guint i = 0; i < run->warnings->len; i++)
    g_assert_cmpstr (run->warnings->pdata[i], ==, again->warnings->pdata[i]);
  g_assert_cmpuint (run->counters->packets, ==, again->counters->packets);
  g_assert_cmpuint (run->counters->packet_hops, ==, again->counters->packet_hops);
  g_assert_cmpuint (run->counters->events, ==, again->counters->events);
  g_assert_cmpuint (run->counters->messages, ==, again->counters->messages);
  assert_same_bytes (run->counters->link, again->counters->link,
                     run->counters->n_places * sizeof (SimLinkCounters));
  assert_same_bytes (run->counters->fifo_messages, again->counters->fifo_messages,
                     run->counters->n_fifo_places * sizeof (uint64_t));
  assert_same_iterations (run->iterations, again->iterations);
  assert_same_timeline (one->timeline, other->timeline);
}

void
resume_check (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping,
              const SimRunOptions *options, uint32_t n_parts)
{
  g_autofree char *path = NULL;
  Pauses pauses = { 0 }, saved = { 0 };
  Outcome whole, other;
  uint64_t n_windows, done = 0;
  const char *resume = NULL;
  int file = g_file_open_tmp ("hopcast-run-XXXXXX", &path, NULL);

  g_assert_cmpint (file, >=, 0);
  close (file);
  whole = simulate_part (trace, machine, mapping, options, &pauses, NULL);
  n_windows = pauses.n;
  saved = (Pauses){ .path = path, .save_at = 1 + n_windows / 2 };
  other = simulate_part (trace, machine, mapping, options, &saved, NULL);
  assert_same_outcome (&whole, &other);
  outcome_clear (&other);
  for (uint32_t part = 0; part < n_parts && done < n_windows; part++) {
    saved = (Pauses){ .path = path, .ends = true };
    saved.save_at = 1 + (uint64_t) g_test_rand_int_range (0, (gint32) (n_windows - done));
    done += saved.save_at - 1;
    other = simulate_part (trace, machine, mapping, options, &saved, resume);
    g_assert_error (other.error, SIM_ERROR, SIM_ERROR_STOPPED);
    outcome_clear (&other);
    resume = path;
  }
  if (resume != NULL) {
    saved = (Pauses){ .path = path };
    other = simulate_part (trace, machine, mapping, options, &saved, resume);
    g_assert_cmpuint (saved.n, ==, n_windows - done);
    assert_same_outcome (&whole, &other);
    outcome_clear (&other);
  }
  outcome_clear (&whole);
  g_unlink (path);
}
