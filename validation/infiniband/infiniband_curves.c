/* infiniband_curves.c - latency and bandwidth over message sizes, between two ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/network_pingpong.h"
#include "validation/infiniband/infiniband.h"

#include <math.h>
#include <string.h>

#define WINDOW    64 /* messages in flight, as the OSU bandwidth tests have */
#define BYTE_TYPE 6  /* MPI_BYTE in a time-independent trace */

typedef enum { PINGPONG, ONE_WAY, BOTH_WAYS } Kind;

static const char *const no_settings[] = { NULL };

/* Open MPI 1.5 keeps long buffers registered unless told otherwise, whatever
 * the machine's default is. */
static const char *const open_mpi_15[] = { "mpi.leave_pinned=true", NULL };

static const struct {
  const char *name, *machine;
  const char *const *settings;
  uint32_t node[2];
  uint8_t core[2];
  Kind kind;
} curves[IB_CURVES] = {
  [IB_CURVE_STAMPEDE_BETWEEN] = { "stampede-between",
                                  "stampede:2",
                                  no_settings,
                                  { 0, 1 },
                                  { 0, 0 },
                                  PINGPONG },
  [IB_CURVE_STAMPEDE_INSIDE] = { "stampede-inside",
                                 "stampede:2",
                                 no_settings,
                                 { 0, 0 },
                                 { 0, 1 },
                                 PINGPONG },
  [IB_CURVE_CONNECTX_LATENCY] = { "connectx-latency",
                                  "systemg:2",
                                  open_mpi_15,
                                  { 0, 1 },
                                  { 0, 0 },
                                  PINGPONG },
  [IB_CURVE_CONNECTX_BANDWIDTH] = { "connectx-bandwidth",
                                    "systemg:2",
                                    open_mpi_15,
                                    { 0, 1 },
                                    { 0, 0 },
                                    ONE_WAY },
  [IB_CURVE_CONNECTX_BIBANDWIDTH] = { "connectx-bibandwidth",
                                      "systemg:2",
                                      open_mpi_15,
                                      { 0, 1 },
                                      { 0, 0 },
                                      BOTH_WAYS },
};

/* A program of n windows of messages in flight; NaN and *error on failure. */
static double
windows_ps (const TopoMachine *machine, const uint32_t *node, const uint8_t *core, Kind kind,
            uint64_t bytes, uint32_t n_windows, GError **error)
{
  g_autoptr (GString) text = g_string_new ("0 init\n1 init\n");
  ValidationRun run;

  for (uint32_t window = 0; window < n_windows; window++) {
    for (uint32_t from = 0; from < (kind == BOTH_WAYS ? 2 : 1); from++)
      for (uint32_t i = 0; i < WINDOW; i++)
        g_string_append_printf (text,
                                "%u irecv %u 0 %" G_GUINT64_FORMAT " %d\n"
                                "%u isend %u 0 %" G_GUINT64_FORMAT " %d\n",
                                1 - from, from, bytes, BYTE_TYPE, from, 1 - from, bytes, BYTE_TYPE);
    g_string_append (text, "0 waitall\n1 waitall\n");
    if (kind == ONE_WAY)
      g_string_append_printf (text, "1 send 0 1 4 %d\n0 recv 1 1 4 %d\n", BYTE_TYPE, BYTE_TYPE);
  }
  g_string_append (text, "0 finalize\n1 finalize\n");
  return validation_replay_text (text->str, machine, 2, node, core, &run, error) ? run.time_ps
                                                                                 : (double) NAN;
}

/* The simulated values of a curve, made once; NULL and *error. */
static const double *
simulated_curve (InfiniBand *ib, IbCurve which, GError **error)
{
  const ValidationCurve *measured = validation_curve_find (ib->curves, curves[which].name);
  const uint32_t *node = curves[which].node;
  const uint8_t *core = curves[which].core;
  Kind kind = curves[which].kind;
  g_autoptr (TopoMachine) machine = NULL;
  g_autofree double *values = NULL;

  if (ib->simulated[which] != NULL)
    return ib->simulated[which];
  g_assert (measured != NULL);
  machine = validation_machine_new (curves[which].machine, curves[which].settings, error);
  if (machine == NULL)
    return NULL;
  values = g_new (double, measured->bytes->len);
  for (guint i = 0; i < measured->bytes->len; i++) {
    uint64_t bytes = g_array_index (measured->bytes, guint64, i);
    g_autofree char *point = g_strdup_printf ("%" G_GUINT64_FORMAT, bytes);

    if (kind == PINGPONG)
      values[i] = study_pingpong_us (machine, NULL, 2, node, core, bytes, error);
    else {
      /* MB/s of the second of two windows. */
      double first_ps = windows_ps (machine, node, core, kind, bytes, 1, error);
      double both_ps =
          isnan (first_ps) ? first_ps : windows_ps (machine, node, core, kind, bytes, 2, error);
      double directions = kind == BOTH_WAYS ? 2 : 1;

      values[i] = directions * WINDOW * (double) bytes / ((both_ps - first_ps) * 1e-6);
    }
    if (isnan (values[i]))
      return NULL;
    validation_detail (ib->details, measured->name, point,
                       g_array_index (measured->values, double, i), values[i], measured->unit);
  }
  return ib->simulated[which] = g_steal_pointer (&values);
}

double
ib_curve_error (gpointer state, uint32_t which, GError **error)
{
  InfiniBand *ib = state;
  const double *simulated = simulated_curve (ib, which, error);

  if (simulated == NULL)
    return (double) NAN;
  return validation_curve_error (validation_curve_find (ib->curves, curves[which].name), simulated);
}

/* At a size of the connectx-latency curve. */
static double
latency_at (InfiniBand *ib, uint64_t bytes, GError **error)
{
  const ValidationCurve *measured =
      validation_curve_find (ib->curves, curves[IB_CURVE_CONNECTX_LATENCY].name);
  const double *simulated = simulated_curve (ib, IB_CURVE_CONNECTX_LATENCY, error);

  for (guint i = 0; simulated != NULL && i < measured->bytes->len; i++)
    if (g_array_index (measured->bytes, guint64, i) == bytes)
      return simulated[i];
  g_assert (simulated == NULL);
  return (double) NAN;
}

double
ib_curve_first (gpointer ib, uint32_t which, GError **error)
{
  const double *simulated = simulated_curve (ib, which, error);

  return simulated == NULL ? (double) NAN : simulated[0];
}

double
ib_curve_last (gpointer state, uint32_t which, GError **error)
{
  InfiniBand *ib = state;
  const ValidationCurve *measured = validation_curve_find (ib->curves, curves[which].name);
  const double *simulated = simulated_curve (ib, which, error);
  double last = simulated == NULL ? (double) NAN : simulated[measured->bytes->len - 1];

  return strcmp (measured->unit, "MB/s") == 0 ? last * 1e-3 : last;
}

double
ib_inline_step_us (gpointer ib, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  double below_us = latency_at (ib, 64, error);

  return isnan (below_us) ? below_us : latency_at (ib, 128, error) - below_us;
}

double
ib_bidirectional_ratio (gpointer ib, uint32_t unused G_GNUC_UNUSED, GError **error)
{
  double one_way = ib_curve_last (ib, IB_CURVE_CONNECTX_BANDWIDTH, error);

  return isnan (one_way) ? one_way
                         : ib_curve_last (ib, IB_CURVE_CONNECTX_BIBANDWIDTH, error) / one_way;
}
