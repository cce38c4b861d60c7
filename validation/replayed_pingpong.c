/* replayed_pingpong.c - two ranks of an MPI program, replayed on the packet network.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validation/replayed_pingpong.h"

#include "validation/replayed_program.h"

#define ROUNDS    10
#define WINDOW    8
#define BYTE_TYPE 6 /* MPI_BYTE in a time-independent trace */

/* The end of the last of two ranks; -1 and *error on failure. */
static int64_t
program_ps (const char *text, const TopoMachine *machine, uint32_t from, uint32_t to,
            GError **error)
{
  const uint32_t node[] = { from, to };
  const uint8_t core[] = { 0, 0 };
  ValidationRun run;

  if (!validation_replay_text (text, machine, 2, node, core, &run, error))
    return -1;
  g_free (run.end_ps);
  return (int64_t) run.time_ps;
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
