/* pingpong.c - two ranks of an MPI program, replayed on the packet network.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validation/pingpong.h"

#include "sim/replay.h"

#include <glib/gstdio.h>
#include <unistd.h>

#define ROUNDS    10
#define WINDOW    8
#define BYTE_TYPE 6 /* MPI_BYTE in a time-independent trace */

/* One file for both ranks; the caller removes it and frees the path. */
static char *
save_trace (const char *text, GError **error)
{
  char *path;
  int file = g_file_open_tmp ("hopcast-XXXXXX.ti", &path, error);

  if (file < 0)
    return NULL;
  close (file);
  if (g_file_set_contents (path, text, -1, error))
    return path;
  g_unlink (path);
  g_free (path);
  return NULL;
}

/* The end of the last of two ranks on nodes[]; -1 and *error on failure. */
static int64_t
replay_ps (Trace *trace, const TopoMachine *machine, const TopoMapping *mapping, GError **error)
{
  const SimReplayOptions options = { .compute_scale = 1 };
  SimReplay *replay = sim_replay_new (trace, machine, mapping, &options, error);
  SimNetwork *network = NULL;
  int64_t time_ps = -1;

  if (replay != NULL)
    network =
        sim_packet_new (machine, mapping, ROUTE_POLICY_DEFAULT, &sim_replay_client, replay, error);
  if (network != NULL && sim_replay_run (replay, network, error))
    time_ps = sim_replay_result (replay)->time_ps;
  sim_network_free (network);
  sim_replay_free (replay);
  return time_ps;
}

static int64_t
program_ps (const char *text, const TopoMachine *machine, uint32_t from, uint32_t to,
            GError **error)
{
  uint32_t node[] = { from, to };
  uint8_t slot[] = { 0, 0 };
  const TopoMapping mapping = { (char *) "two nodes", 2, node, slot };
  g_autofree char *path = save_trace (text, error);
  g_autoptr (Trace) trace =
      path == NULL ? NULL : trace_open (path, &(TraceOptions){ .n_ranks = 2 }, error);
  int64_t time_ps = trace == NULL ? -1 : replay_ps (trace, machine, &mapping, error);

  if (path != NULL)
    g_unlink (path);
  return time_ps;
}

static int64_t
rounds_ps (uint32_t n_rounds, const TopoMachine *machine, uint32_t from, uint32_t to,
           uint64_t bytes, GError **error)
{
  g_autoptr (GString) text = g_string_new ("0 init\n1 init\n");

  for (uint32_t round = 0; round < n_rounds; round++)
    g_string_append_printf (text,
                            "0 send 1 0 %" G_GUINT64_FORMAT " %d\n1 recv 0 0 %" G_GUINT64_FORMAT
                            " %d\n1 send 0 0 %" G_GUINT64_FORMAT
                            " %d\n0 recv 1 0 %" G_GUINT64_FORMAT " %d\n",
                            bytes, BYTE_TYPE, bytes, BYTE_TYPE, bytes, BYTE_TYPE, bytes, BYTE_TYPE);
  g_string_append (text, "0 finalize\n1 finalize\n");
  return program_ps (text->str, machine, from, to, error);
}

double
validation_latency_ps (const TopoMachine *machine, uint32_t from, uint32_t to, uint64_t bytes,
                       GError **error)
{
  int64_t none_ps = rounds_ps (0, machine, from, to, bytes, error);
  int64_t all_ps = none_ps < 0 ? -1 : rounds_ps (ROUNDS, machine, from, to, bytes, error);

  return all_ps < 0 ? 0 : (double) (all_ps - none_ps) / (2 * ROUNDS);
}

double
validation_bandwidth_Bps (const TopoMachine *machine, uint32_t from, uint32_t to, uint64_t bytes,
                          GError **error)
{
  g_autoptr (GString) text = g_string_new ("0 init\n1 init\n");
  int64_t time_ps;

  for (uint32_t i = 0; i < WINDOW; i++)
    g_string_append_printf (
        text, "0 isend 1 0 %" G_GUINT64_FORMAT " %d\n1 irecv 0 0 %" G_GUINT64_FORMAT " %d\n", bytes,
        BYTE_TYPE, bytes, BYTE_TYPE);
  g_string_append (text, "0 waitall\n1 waitall\n0 finalize\n1 finalize\n");
  time_ps = program_ps (text->str, machine, from, to, error);
  return time_ps <= 0 ? 0 : (double) (WINDOW * bytes) / ((double) time_ps * 1e-12);
}
