/* modern.c - benchmarks that were measured on clusters of today, and how far their simulation is off.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/modern/modern.h"

#include "study/aggregate/program_file.h"
#include "validation/replayed_program.h"

#include <math.h>
#include <string.h>

/* The CSV files of validation/data as strings, made by the build. */
static const char published_csv[] =
#include "validation/modern/modern_published.inc"
    ;
static const char measured_csv[] =
#include "validation/modern/modern_measured.inc"
    ;
static const char leonardo_nodes_csv[] =
#include "validation/modern/modern_leonardo_nodes.inc"
    ;
static const char leonardo_fabric[] =
#include "validation/modern/modern_leonardo_fabric.inc"
    ;

/* Packets of a point: `modern` makes those of seconds, `modern-full` those of minutes. */
#define MOST_PACKETS      4e5
#define FULL_MOST_PACKETS 2e7

/* --- The machines --- */

/* What is known of each cluster beside its generation: the years of its UCX, the rules of its Open MPI
 * (those of 3.1 and 4.0 are 1.3's).  No node of 2 x 16 Broadwell cores is in the table: cores of
 * Skylake with Broadwell's memory. */
static const char *const alaska[] = { "mpi.collectives=ompi-1.3",
                                      "ucx.version=8",
                                      "memory.bandwidth=61.4 GB/s",
                                      "memory.bus_bandwidth=48 GB/s",
                                      "memory.core_transfer_bandwidth=7.1 GB/s",
                                      "memory.transfer_latency=90 ns",
                                      "memory.package_latency=44 ns",
                                      NULL };
/* Not over UCX: libfabric's verbs. */
static const char *const impi[] = { "mpi.collectives=mpich",
                                    "mpi.leave_pinned=true",
                                    "memory.bandwidth=61.4 GB/s",
                                    "memory.bus_bandwidth=48 GB/s",
                                    "memory.core_transfer_bandwidth=7.1 GB/s",
                                    "memory.transfer_latency=90 ns",
                                    "memory.package_latency=44 ns",
                                    NULL };
static const char *const csd3[] = { "mpi.collectives=ompi-1.3", "ucx.version=8", NULL };
static const char *const abci_v[] = { "mpi.collectives=ompi-1.3", "ucx.version=7", NULL };
static const char *const abci_a[] = { "mpi.collectives=ompi-1.3", "ucx.version=9", NULL };
static const char *const orfeo[] = { "ucx.version=15", NULL };
static const char *const leonardo[] = { "ucx.version=15", "switch.adaptive=free", NULL };

#define LEONARDO "fabric:FILE,spines=18,cables=1,speed=HDR,node=icelake"

/* A line for each set: what its machine is.  The two nodes of alaska that OSU's tests ran on are on two
 * leaves: 1.0 us, as the farther of all pairs. */
const ModernSet modern_sets[] = {
  { "alaska", "fattree:2x1:1,speed=EDR,node=skylake", alaska, MODERN_UNBOUND },
  { "impi", "fattree:2x1:1,speed=EDR,node=skylake,library=ompi-1.3", impi, MODERN_HALVES },
  { "csd3", "hdr100:2,node=cascadelake", csd3, MODERN_SLURM },
  { "abci_v", "edr:32,rails=2,node=skylake", abci_v, MODERN_HALVES },
  { "abci_a", "hdr:16,rails=4,node=icelake", abci_a, MODERN_HALVES },
  { "orfeo", "hdr100:2,node=rome", orfeo, MODERN_COMPACT },
  { "leonardo", LEONARDO, leonardo, MODERN_COMPACT },
  { "leonardo_busy", LEONARDO, leonardo, MODERN_COMPACT },
};
const guint modern_n_sets = G_N_ELEMENTS (modern_sets);

static double
percent (double spread)
{
  return 100 * expm1 (spread);
}

/* --- The state --- */

typedef struct {
  const ModernPoint *point;
  double simulated, log_time; /* of simulated over measured time, for rates too */
} Done;

/* What is printed of a figure. */
typedef struct {
  const ValidationPublished *published;
  guint first, n;  /* of done */
  guint n_long;    /* points of too many packets, left out */
  guint n_unknown; /* points of algorithms that are not known */
} Figure;

typedef struct {
  GString *details; /* borrowed; may be NULL */
  bool full;
  GPtrArray *points; /* (element-type ModernPoint) */
  StudyTextFile *fabric;
  ModernSite **sites; /* [modern_n_sets]; NULL until needed */
  GArray *done;       /* (element-type Done) */
  GArray *figures;    /* (element-type Figure) */
} Modern;

static gpointer
open_state (const ValidationWatch *watch, bool full)
{
  Modern *modern = g_new0 (Modern, 1);

  modern->details = watch->details;
  modern->full = full;
  modern->points = modern_points_parse (measured_csv, "measured.csv", NULL);
  g_assert (modern->points != NULL); /* a test reads it too */
  modern->sites = g_new0 (ModernSite *, modern_n_sets);
  modern->done = g_array_new (FALSE, FALSE, sizeof (Done));
  modern->figures = g_array_new (FALSE, FALSE, sizeof (Figure));
  return modern;
}

static gpointer
open_usual (const ValidationWatch *watch)
{
  return open_state (watch, false);
}

static gpointer
open_full (const ValidationWatch *watch)
{
  return open_state (watch, true);
}

static void
close_state (gpointer state)
{
  Modern *modern = state;

  for (guint set = 0; set < modern_n_sets; set++)
    modern_site_free (modern->sites[set]);
  g_free (modern->sites);
  study_text_file_free (modern->fabric);
  g_ptr_array_unref (modern->points);
  g_array_unref (modern->done);
  g_array_unref (modern->figures);
  g_free (modern);
}

static const ModernSite *
site_of (Modern *modern, const ModernSet *set, GError **error)
{
  guint at = (guint) (set - modern_sets);
  g_auto (GStrv) parts = g_strsplit (set->spec, "FILE", 2);
  bool is_leonardo = g_strv_length (parts) > 1;
  g_autofree char *spec = NULL;
  TopoMachine *machine;

  if (modern->sites[at] != NULL)
    return modern->sites[at];
  if (is_leonardo && modern->fabric == NULL &&
      (modern->fabric = study_text_file_new (leonardo_fabric, error)) == NULL)
    return NULL;
  spec = g_strjoinv (is_leonardo ? modern->fabric->path : "", parts);
  machine = validation_machine_new (spec, set->settings, error);
  if (machine != NULL)
    modern->sites[at] =
        modern_site_new (set, machine, is_leonardo ? leonardo_nodes_csv : NULL, error);
  return modern->sites[at];
}

/* --- The figures --- */

static bool
is_of_figure (const ModernPoint *point, const char *name)
{
  g_autofree char *figure = modern_point_figure (point);

  return strcmp (figure, name) == 0;
}

static char *
point_text (const ModernPoint *point)
{
  return g_strdup_printf ("%s ranks=%u per_node=%u bytes=%" G_GUINT64_FORMAT "%s%s",
                          point->run.benchmark->name, point->run.n_ranks, point->ranks_per_node,
                          point->table_bytes, *point->variant == '\0' ? "" : " ", point->variant);
}

/* Simulates a point of the figure that is not too long. */
static bool
do_point (Modern *modern, const ModernPoint *point, Figure *figure, GError **error)
{
  const ModernSite *site = site_of (modern, point->set, error);
  g_autofree char *text = point_text (point);
  Done done = { .point = point };
  double packets;

  if (site == NULL)
    return false;
  packets = modern_point_packets (site, point);
  if (packets > (modern->full ? FULL_MOST_PACKETS : MOST_PACKETS)) {
    figure->n_unknown += isinf (packets);
    figure->n_long += !isinf (packets);
    return true;
  }
  done.simulated = modern_point_simulate (site, point, error);
  if (isnan (done.simulated)) {
    g_prefix_error (error, "%s: ", text);
    return false;
  }
  done.log_time = study_benchmark_log_time (&point->run, done.simulated, point->measured);
  g_array_append_val (modern->done, done);
  figure->n++;
  validation_detail (modern->details, point->set->name, text, point->measured, done.simulated,
                     study_benchmark_units[point->run.unit]);
  return true;
}

static StudyBenchmarkSummary
summary_of (const Modern *modern, guint first, guint n)
{
  g_autofree double *logs = g_new (double, MAX (n, 1));

  for (guint i = 0; i < n; i++)
    logs[i] = g_array_index (modern->done, Done, first + i).log_time;
  return study_benchmark_summary (logs, n);
}

static bool
measure (gpointer state, const ValidationPublished *published, double *simulated, GError **error)
{
  Modern *modern = state;
  Figure figure = { .published = published, .first = modern->done->len };
  bool known = false;

  for (guint i = 0; i < modern->points->len; i++) {
    const ModernPoint *point = g_ptr_array_index (modern->points, i);

    if (!is_of_figure (point, published->name))
      continue;
    known = true;
    if ((modern->full || modern_point_is_usual (point)) &&
        !do_point (modern, point, &figure, error))
      return false;
  }
  if (!known)
    return validation_no_experiment (published, error);
  g_array_append_val (modern->figures, figure);
  if (figure.n == 0) {
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_NOT_RUN, "all %u points are too long",
                 figure.n_long + figure.n_unknown);
    return false;
  }
  *simulated = percent (summary_of (modern, figure.first, figure.n).spread);
  return true;
}

/* Seen at short messages on one node: 0.5 to 0.6 us of a call do not depend on the number of ranks, and bcast has
 * nothing of the kind.  What takes them is a suspicion.  An Open MPI 4.1.4 without GPUs needs 0.1 us more
 * for an allreduce of two ranks than for the exchange in it. */
#define ASKS_WHERE \
  "0.5 to 0.6 us of a call are missing: Open MPI was built for GPUs, and coll/cuda may ask whose memory the buffers are"

#define SENT_AGAIN \
  "the same bytes are sent again and again, and may come out of the receiver's own cache: 10 GB/s between packages too"

/* What is known to be missing, by the beginning of a figure's name. */
static const char *
cause_of (const char *name)
{
  static const struct {
    const char *begin, *cause;
  } causes[] = {
    { "impi_",
      "Intel MPI over libfabric's verbs is not simulated: Open MPI's messages stand for it" },
    { "alaska_node_bandwidth", SENT_AGAIN },
    { "alaska_node_rate",
      "ranks are taken as unbound, and messages of 256 B to 4 KiB take twice as long as here" },
    { "alaska_all",
      "ranks are taken as unbound; messages of 256 B to 4 KiB within a node take twice as long as here" },
    { "csd3_node_bandwidth",
      "from 16 KiB on all pairs of the node have 25 GB/s together, whichever way they send: not explained" },
    { "csd3_all",
      "ranks are taken as unbound; messages of 256 B to 1 KiB within a node take 0.07 us more each" },
    { "abci_a_pairs", "nodes have four adapters, of which two are simulated" },
    { "abci_a_latency", "0.6 us more at every size: UCX was built for GPUs, and may ask for each "
                        "buffer whose memory it is" },
    { "abci_a_allreduce", ASKS_WHERE },
    { "abci_v_allreduce", ASKS_WHERE },
    { "leonardo_reduce", "reducing the data takes no time" },
    { "leonardo_busy",
      "slower than smaller and larger jobs: taken for the traffic of others, which is not simulated" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (causes); i++)
    if (g_str_has_prefix (name, causes[i].begin))
      return causes[i].cause;
  return NULL;
}

/* --- The table behind the figures --- */

static void
print_summary (FILE *out, const char *name, const Modern *modern, StudyBenchmarkSummary summary,
               guint first)
{
  const Done *worst = &g_array_index (modern->done, Done, first + summary.worst);
  g_autofree char *text = point_text (worst->point);

  fprintf (out, "%-26s %6u %7.3f %6.1f%% %+7.3f %7.2f  %s\n", name, summary.n, summary.spread,
           percent (summary.spread), summary.bias, exp (worst->log_time), text);
}

static int
compare_sizes (const void *a, const void *b)
{
  uint64_t x = ((const Done *) a)->point->table_bytes, y = ((const Done *) b)->point->table_bytes;

  return (x > y) - (x < y);
}

static int
compare_sets (const void *a, const void *b)
{
  const ModernSet *x = ((const Done *) a)->point->set, *y = ((const Done *) b)->point->set;

  return (x > y) - (x < y);
}

/* Prints the group of points, of those that `compare` calls equal, with the largest median; groups of
 * fewer points than `least` do not count. */
static void
print_worst (Modern *modern, int (*compare) (const void *a, const void *b), guint least, FILE *out)
{
  guint n = modern->done->len, worst_first = 0;
  StudyBenchmarkSummary worst = { .n = 0, .spread = -1 };

  g_array_sort (modern->done, compare);
  for (guint first = 0, end; first < n; first = end) {
    const Done *done = (const Done *) (gpointer) modern->done->data;
    StudyBenchmarkSummary summary;

    for (end = first + 1; end < n && compare (&done[first], &done[end]) == 0; end++)
      ;
    summary = summary_of (modern, first, end - first);
    if (summary.n >= least && summary.spread > worst.spread) {
      worst = summary;
      worst_first = first;
    }
  }
  if (worst.n > 0) {
    const ModernPoint *point = g_array_index (modern->done, Done, worst_first).point;
    g_autofree char *name =
        compare == compare_sets
            ? g_strdup_printf ("worst set: %s", point->set->name)
            : g_strdup_printf ("worst size: %" G_GUINT64_FORMAT " B", point->table_bytes);

    print_summary (out, name, modern, worst, worst_first);
  }
}

static void
print_figures (gpointer state, FILE *out)
{
  Modern *modern = state;
  guint n_long = 0, n_unknown = 0;

  if (modern->done->len == 0)
    return;
  fprintf (out, "\n%-26s %6s %7s %7s %7s %7s  %s\n", "simulated to measured time", "points",
           "|log|", "", "bias", "worst", "at");
  for (guint i = 0; i < modern->figures->len; i++) {
    const Figure *figure = &g_array_index (modern->figures, Figure, i);

    n_long += figure->n_long;
    n_unknown += figure->n_unknown;
    if (figure->n > 0)
      print_summary (out, figure->published->name, modern,
                     summary_of (modern, figure->first, figure->n), figure->first);
  }
  print_worst (modern, compare_sets, 1, out);
  print_worst (modern, compare_sizes, 5, out);
  if (n_long > 0)
    fprintf (out, "left out: %u points of too many packets%s\n", n_long,
             modern->full ? "" : "; modern-full has more");
  if (n_unknown > 0)
    fprintf (out, "left out: %u points of algorithms that are not simulated\n", n_unknown);
}

const ValidationSuite validation_modern = {
  .name = "modern",
  .figures = published_csv,
  .path = "modern_published.csv",
  .open = open_usual,
  .close = close_state,
  .measure = measure,
  .print = print_figures,
  .cause = cause_of,
};

const ValidationSuite validation_modern_full = {
  .name = "modern-full",
  .figures = published_csv,
  .path = "modern_published.csv",
  .open = open_full,
  .close = close_state,
  .measure = measure,
  .print = print_figures,
  .cause = cause_of,
};
