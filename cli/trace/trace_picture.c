/* trace_picture.c - calls, message sizes and communication of a trace, drawn with letters.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/trace/trace_picture.h"

#include "base/decimal.h"
#include "cli/print/output.h"
#include "cli/print/terminal.h"

#include <math.h>
#include <string.h>

#define TOP_SITES 15
#define BAR_WIDTH 32
#define MAP_CELLS 32u

void
cli_sizes_add (CliSizes *sizes, uint64_t bytes)
{
  guint class = bytes == 0 ? 0 : 64 - (guint) __builtin_clzll (bytes);

  sizes->messages[class]++;
  sizes->bytes[class] += bytes;
}

CliPartners
cli_partners (const StudyMatrix *matrix)
{
  uint32_t n_ranks = study_matrix_ranks (matrix);
  g_autofree uint32_t *degree = g_new0 (uint32_t, n_ranks);
  CliPartners partners = { .min = n_ranks };
  uint64_t n_edges;
  g_autofree SimEdge *edges = sim_edges_sorted (study_matrix_edges (matrix), &n_edges);

  for (uint64_t edge = 0; edge < n_edges; edge++)
    degree[edges[edge].source]++;
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    partners.min = MIN (partners.min, degree[rank]);
    partners.max = MAX (partners.max, degree[rank]);
  }
  partners.pairs = n_edges;
  partners.average = n_ranks > 0 ? (double) n_edges / n_ranks : 0;
  return partners;
}

/* "1.5 MB"; three digits are enough to compare by eye. */
static const char *
bytes_text (char text[BASE_DECIMAL_SIZE], double bytes)
{
  static const char *const units[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
  guint unit = 0;

  for (; bytes >= 999.5 && unit + 1 < G_N_ELEMENTS (units); unit++)
    bytes /= 1000;
  g_snprintf (text, BASE_DECIMAL_SIZE, unit == 0 || bytes >= 99.95 ? "%.0f %s" : "%.3g %s", bytes,
              units[unit]);
  return text;
}

void
cli_draw_call_sites (FILE *out, const TraceProfile *profile)
{
  guint n = MIN (profile->sites->len, TOP_SITES);
  int64_t total_ps = profile->call_ps;

  if (n == 0)
    return;
  fputc ('\n', out);
  cli_print_heading (out, total_ps > 0 ? "Calls, by the time that they took when recorded"
                                       : "Calls (the source does not tell how long they took)");
  fprintf (out, "%s       calls       sent  call\n",
           total_ps > 0 ? "   share   seconds x rank" : "");
  for (guint i = 0; i < n; i++) {
    const TraceCallSite *site = &g_array_index (profile->sites, TraceCallSite, i);
    char bytes[BASE_DECIMAL_SIZE];

    if (total_ps > 0)
      fprintf (out, "%6.1f %% %12.6f", 100.0 * (double) site->time_ps / (double) total_ps,
               (double) site->time_ps * 1e-12);
    cli_printf (out, "%12" G_GUINT64_FORMAT " %10s  %s%s%s\n", site->calls,
                bytes_text (bytes, (double) site->bytes), site->name, site->site ? " in " : "",
                site->site ? site->site : "");
  }
  if (profile->sites->len > n)
    fprintf (out, "... and %u more\n", profile->sites->len - n);
}

void
cli_draw_sizes (FILE *out, const CliSizes *sizes)
{
  static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
  uint64_t most = 0;

  for (guint class = 0; class < CLI_SIZE_CLASSES; class ++)
    most = MAX (most, sizes->messages[class]);
  if (most == 0)
    return;
  fputc ('\n', out);
  cli_print_heading (out,
                     "Messages by size (from this size to below twice of it), and their bytes");
  for (guint class = 0; class < CLI_SIZE_CLASSES; class ++) {
    uint64_t n = sizes->messages[class];
    guint power = class > 0 ? class - 1 : 0;
    char from[BASE_DECIMAL_SIZE], total[BASE_DECIMAL_SIZE], bar[BAR_WIDTH + 1] = "";

    if (n == 0)
      continue;
    /* The least size of the class: 0, 1, 2 ... 512 B, 1, 2 ... KiB. */
    g_snprintf (from, sizeof from, "%u %s", class == 0 ? 0 : 1u << power % 10, units[power / 10]);
    memset (bar, '#', (gsize) ceil ((double) n / (double) most * BAR_WIDTH));
    cli_printf (out, "%8s %12" G_GUINT64_FORMAT " %10s  %s\n", from, n,
                bytes_text (total, (double) sizes->bytes[class]), bar);
  }
}

void
cli_draw_matrix (FILE *out, const StudyMatrix *matrix)
{
  static const char shades[] = "@#*+=-:."; /* each a factor of 4, the first one the most */
  uint64_t n_ranks = study_matrix_ranks (matrix), n_edges;
  uint32_t cells = (uint32_t) MIN (n_ranks, MAP_CELLS);
  g_autofree SimEdge *edges = sim_edges_sorted (study_matrix_edges (matrix), &n_edges);
  g_autofree double *blocks = g_new0 (double, (gsize) cells *cells); /* bytes between ranks */
  CliPartners partners = cli_partners (matrix);
  double most = 0;

  for (uint64_t edge = 0; edge < n_edges; edge++) {
    uint64_t row = edges[edge].source * (uint64_t) cells / n_ranks;
    uint64_t column = edges[edge].destination * (uint64_t) cells / n_ranks;

    blocks[row * cells + column] += (double) edges[edge].bytes + 1;
  }
  for (uint32_t cell = 0; cell < cells * cells; cell++)
    most = MAX (most, blocks[cell]);
  if (partners.pairs == 0)
    return;
  fputc ('\n', out);
  cli_print_heading (out, "Who sends to whom (row: sender; @ most bytes, each shade a quarter)");
  for (uint32_t row = 0; row < cells; row++) {
    fprintf (out, "%9" G_GUINT64_FORMAT " |", (row * n_ranks + cells - 1) / cells);
    for (uint32_t column = 0; column < cells; column++) {
      double bytes = blocks[row * cells + column];
      guint step = bytes > 0 ? (guint) (log2 (most / bytes) / 2) : 0;

      fputc (bytes == 0 ? ' ' : shades[MIN (step, sizeof shades - 2)], out);
    }
    fputs ("|\n", out);
  }
  fprintf (out, "%" G_GUINT64_FORMAT " pairs; a rank sends to %u .. %u others, %.1f on average\n",
           partners.pairs, partners.min, partners.max, partners.average);
}
