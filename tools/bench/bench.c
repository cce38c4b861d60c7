/* bench.c - `make bench`: how fast hopcast is, beside what bounds it, as one table.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The program starts itself for each row (see bench.h), so that the rows take turns on the machine
 * one at a time.  --against runs another build of it by turns with this one. */
#include "tools/bench/bench.h"

#include "cli/options.h"
#include "cli/print/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  LEAST_SAMPLES = 3,
  LEAST_TURNS = 3,
  MOST_SAMPLES = 100,
  /* With less time in all, rows whose samples take several seconds are left out. */
  LARGE_SECONDS = 300,
};

static const double default_seconds = 600, unknown = NAN;

/* --- What rows use --- */

double
bench_seconds (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* A line of /proc/self/status in kB: of this program alone, where getrusage() has the peak of the
 * one that started it too. */
static double
status_bytes (const char *name)
{
  g_autofree char *text = NULL;
  const char *line;

  if (!g_file_get_contents ("/proc/self/status", &text, NULL, NULL) ||
      !(line = strstr (text, name)))
    return NAN;
  return 1024 * g_ascii_strtod (line + strlen (name), NULL);
}

static double start_bytes;

double
bench_peak_bytes (void)
{
  return status_bytes ("VmHWM:") - start_bytes;
}

char *
bench_spec (const BenchRow *row, const char *spec)
{
  guint64 n_nodes = g_ascii_strtoull (strchr (spec, ':') + 1, NULL, 10);

  if (row->most_nodes == 0)
    return g_strdup (spec);
  if (g_str_has_prefix (spec, "bgq:"))
    return g_strdup_printf ("bgq:%u", (guint) MIN (n_nodes, row->most_nodes));
  return g_strdup ("fattree:4x4:2");
}

char *
bench_built (const char *name)
{
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  g_autofree char *folder = g_path_get_dirname (program != NULL ? program : ".");

  return g_build_filename (folder, "..", "..", name, NULL);
}

/* --- The process of one row --- */

static int
measure (BenchRow *row, double seconds)
{
  g_autofree char *top = bench_built (".");
  g_autoptr (GError) error = NULL;
  gint64 end_us = g_get_monotonic_time () + (gint64) (1e6 * seconds);
  gpointer state;
  guint n = 0;

  g_setenv ("HOPCAST_LIBRARIES", top, FALSE);
  start_bytes = status_bytes ("VmRSS:");
  if (!(state = row->kind->open (row, &error))) {
    printf ("skipped %s\n", error->message);
    return EXIT_SUCCESS;
  }
  printf ("size %u %u\n", row->n_nodes, row->n_ranks);
  do {
    BenchSample sample;
    char value[G_ASCII_DTOSTR_BUF_SIZE], beside[G_ASCII_DTOSTR_BUF_SIZE];
    char peak_bytes[G_ASCII_DTOSTR_BUF_SIZE];

    row->kind->sample (state, &sample);
    printf ("sample %s %s %s\n", g_ascii_dtostr (value, sizeof value, sample.value),
            g_ascii_dtostr (beside, sizeof beside, sample.beside),
            g_ascii_dtostr (peak_bytes, sizeof peak_bytes, sample.peak_bytes));
  } while (!row->once && ++n < MOST_SAMPLES &&
           (n < LEAST_SAMPLES || g_get_monotonic_time () < end_us));
  row->kind->close (state);
  return EXIT_SUCCESS;
}

/* --- Rows of the table --- */

typedef struct {
  BenchRow *row;
  const char *name, *unit, *beside_name, *bound; /* of the row */
  GArray *values, *besides;                      /* of double */
  double median, low, high;                      /* quartiles; those of the ratios with --against */
  double beside, ratio; /* medians; ratio to the yardstick, or to the other program */
  double peak_bytes, bytes_per_node, bytes_per_rank;
  guint n;
  char *skipped; /* the reason */
  const char *commit, *date, *compiler, *processor;
} Figures;

static int
compare (gconstpointer left, gconstpointer right)
{
  double a = *(const double *) left, b = *(const double *) right;

  return (a > b) - (a < b);
}

/* Sorts the values. */
static double
quantile (GArray *values, double share)
{
  double at, low, high;
  guint below;

  if (values->len == 0)
    return NAN;
  g_array_sort (values, compare);
  at = share * (values->len - 1);
  below = (guint) at;
  low = g_array_index (values, double, below);
  high = g_array_index (values, double, MIN (below + 1, values->len - 1));
  return low + (at - below) * (high - low);
}

static double
median (GArray *values)
{
  return quantile (values, 0.5);
}

typedef struct {
  gboolean list;
  double seconds;
  char *rows, *against, *commit;
  int most_nodes;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->rows);
  g_free (options->against);
  g_free (options->commit);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* What a program prints; NULL: it failed. */
static char *
output_of (const char *const *words, gboolean is_quiet)
{
  g_autofree char *text = NULL;
  int status = 0;

  if (!g_spawn_sync (NULL, (char **) words, NULL, is_quiet ? G_SPAWN_STDERR_TO_DEV_NULL : 0, NULL,
                     NULL, &text, NULL, &status, NULL) ||
      status != 0)
    return NULL;
  return g_steal_pointer (&text);
}

static void
take_lines (Figures *figures, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  gboolean is_first = TRUE;

  for (char **line = lines; *line != NULL; line++) {
    g_auto (GStrv) words = g_strsplit (*line, " ", 4);
    guint n = g_strv_length (words);

    if (n > 1 && g_str_equal (words[0], "skipped")) {
      g_free (figures->skipped);
      figures->skipped = g_strdup (*line + strlen ("skipped "));
    } else if (n == 3 && g_str_equal (words[0], "size")) {
      figures->row->n_nodes = (uint32_t) g_ascii_strtoull (words[1], NULL, 10);
      figures->row->n_ranks = (uint32_t) g_ascii_strtoull (words[2], NULL, 10);
    } else if (n == 4 && g_str_equal (words[0], "sample")) {
      double value = g_ascii_strtod (words[1], NULL), beside = g_ascii_strtod (words[2], NULL);

      g_array_append_val (figures->values, value);
      if (isfinite (beside))
        g_array_append_val (figures->besides, beside);
      if (is_first && isnan (figures->peak_bytes))
        figures->peak_bytes = g_ascii_strtod (words[3], NULL);
      is_first = FALSE;
    }
  }
}

/* Runs PROGRAM --measure for the row; FALSE: it does not know it. */
static gboolean
take_turn (const char *program, const Options *options, Figures *figures, double seconds,
           gboolean is_quiet)
{
  g_autofree char *most_nodes = g_strdup_printf ("--most-nodes=%d", options->most_nodes);
  g_autofree char *share = g_strdup_printf ("%u", (guint) (1000 * seconds));
  const char *words[] = {
    program, "--measure", figures->name, share, options->most_nodes > 0 ? most_nodes : NULL, NULL
  };
  g_autofree char *text = output_of (words, is_quiet);

  if (text != NULL)
    take_lines (figures, text);
  return text != NULL;
}

static Figures *
figures_new (BenchRow *row)
{
  Figures *figures = g_new0 (Figures, 1);

  *figures = (Figures){ .row = row,
                        .name = row->name,
                        .unit = row->unit,
                        .beside_name = row->beside,
                        .bound = row->bound,
                        .values = g_array_new (FALSE, FALSE, sizeof (double)),
                        .besides = g_array_new (FALSE, FALSE, sizeof (double)),
                        .peak_bytes = NAN };
  return figures;
}

static void
figures_clear (gpointer data)
{
  Figures *figures = data;

  g_array_unref (figures->values);
  g_array_unref (figures->besides);
  g_free (figures->skipped);
}

static void
summarise (Figures *figures)
{
  figures->median = median (figures->values);
  figures->low = quantile (figures->values, 0.25);
  figures->high = quantile (figures->values, 0.75);
  figures->n = figures->values->len;
  figures->beside = median (figures->besides);
  figures->ratio = figures->median / figures->beside;
  figures->bytes_per_node =
      figures->row->n_nodes > 0 ? round (figures->peak_bytes / figures->row->n_nodes) : unknown;
  figures->bytes_per_rank =
      figures->row->n_ranks > 0 ? round (figures->peak_bytes / figures->row->n_ranks) : unknown;
}

static void
measure_row (const char *program, const Options *options, Figures *figures, double seconds)
{
  gint64 end_us = g_get_monotonic_time () + (gint64) (1e6 * seconds);

  do {
    double left_s = MAX (0, 1e-6 * (double) (end_us - g_get_monotonic_time ()));

    if (!take_turn (program, options, figures, left_s, FALSE)) {
      figures->skipped = g_strdup ("the process that measures it failed");
      break;
    }
  } while (figures->skipped == NULL &&
           (figures->values->len < LEAST_SAMPLES || g_get_monotonic_time () < end_us) &&
           figures->values->len < MOST_SAMPLES);
  summarise (figures);
}

/* --- Another build by turns --- */

/* The figure of packet_bench, which earlier versions of the project have instead: the number before
 * " M hops/s".  NAN: it has none. */
static double
old_figure (const char *program, const char *old_words)
{
  g_auto (GStrv) three = g_strsplit (old_words, " ", 3);
  const char *words[] = { program, three[0], three[1], three[2], NULL };
  g_autofree char *text = output_of (words, TRUE);
  char *end = text != NULL ? strstr (text, " M hops/s") : NULL;

  while (end != NULL && end > text && (g_ascii_isdigit (end[-1]) || end[-1] == '.'))
    end--;
  return end != NULL ? g_ascii_strtod (end, NULL) : unknown;
}

/* The median of one turn of the other program; NAN: it does not have the row. */
static double
other_figure (const char *program, const Options *options, const Figures *figures, double seconds)
{
  Figures *other = figures_new (figures->row);
  double value = NAN;

  if (take_turn (program, options, other, seconds, TRUE))
    value = median (other->values);
  else if (figures->row->old_words != NULL && options->most_nodes == 0)
    value = old_figure (program, figures->row->old_words);
  figures_clear (other);
  g_free (other);
  return value;
}

static void
compare_row (const char *program, const Options *options, Figures *figures, double seconds)
{
  gint64 end_us = g_get_monotonic_time () + (gint64) (1e6 * seconds);
  g_autoptr (GArray) ratios = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) ours = g_array_new (FALSE, FALSE, sizeof (double));
  g_autoptr (GArray) theirs = g_array_new (FALSE, FALSE, sizeof (double));

  for (guint turn = 0; turn < LEAST_TURNS || g_get_monotonic_time () < end_us; turn++) {
    double share_s = seconds / (2 * (LEAST_TURNS + 2)), our, their, ratio;

    g_array_set_size (figures->values, 0);
    their = other_figure (options->against, options, figures, share_s);
    if (isnan (their) || !take_turn (program, options, figures, share_s, FALSE) ||
        figures->skipped != NULL) {
      if (figures->skipped == NULL)
        figures->skipped = g_strdup_printf ("%s does not have it", options->against);
      break;
    }
    our = median (figures->values);
    ratio = our / their;
    g_array_append_val (ours, our);
    g_array_append_val (theirs, their);
    g_array_append_val (ratios, ratio);
  }
  figures->median = median (ours);
  figures->beside = median (theirs);
  figures->ratio = median (ratios);
  figures->low = quantile (ratios, 0.25);
  figures->high = quantile (ratios, 0.75);
  figures->n = ratios->len;
}

/* --- Printing --- */

#define ROW_COLUMNS                                                                   \
  { "row", "row", CLI_CELL_TEXT, offsetof (Figures, name) },                          \
      { "unit", "unit", CLI_CELL_TEXT, offsetof (Figures, unit) },                    \
  {                                                                                   \
    "median", "median", CLI_CELL_NUMBER, offsetof (Figures, median), .format = "%.3g" \
  }

static const CliColumn columns[] = {
  { "commit", NULL, CLI_CELL_TEXT, offsetof (Figures, commit) },
  { "date", NULL, CLI_CELL_TEXT, offsetof (Figures, date) },
  { "compiler", NULL, CLI_CELL_TEXT, offsetof (Figures, compiler) },
  { "processor", NULL, CLI_CELL_TEXT, offsetof (Figures, processor) },
  ROW_COLUMNS,
  { "quartile1", "from", CLI_CELL_NUMBER, offsetof (Figures, low), .format = "%.3g" },
  { "quartile3", "to", CLI_CELL_NUMBER, offsetof (Figures, high), .format = "%.3g" },
  { "samples", "n", CLI_CELL_U32, offsetof (Figures, n) },
  { "beside", "beside", CLI_CELL_TEXT, offsetof (Figures, beside_name) },
  { "beside_median", "its", CLI_CELL_NUMBER, offsetof (Figures, beside), .format = "%.3g" },
  { "ratio", "ratio", CLI_CELL_NUMBER, offsetof (Figures, ratio), .format = "%.3f" },
  { "bytes_per_node", "B/node", CLI_CELL_NUMBER, offsetof (Figures, bytes_per_node),
    .format = "%.0f" },
  { "bytes_per_rank", "B/rank", CLI_CELL_NUMBER, offsetof (Figures, bytes_per_rank),
    .format = "%.0f" },
  { NULL, "bound by", CLI_CELL_TEXT, offsetof (Figures, bound) },
};

static const CliColumn against_columns[] = {
  ROW_COLUMNS,
  { "against", "against", CLI_CELL_NUMBER, offsetof (Figures, beside), .format = "%.3g" },
  { "ratio", "ratio", CLI_CELL_NUMBER, offsetof (Figures, ratio), .format = "%.3f" },
  { "ratio_quartile1", "from", CLI_CELL_NUMBER, offsetof (Figures, low), .format = "%.3f" },
  { "ratio_quartile3", "to", CLI_CELL_NUMBER, offsetof (Figures, high), .format = "%.3f" },
  { "turns", "turns", CLI_CELL_U32, offsetof (Figures, n) },
};

static void
print_figures (const GArray *all, const Options *options, CliFormat format)
{
  gboolean against = options->against != NULL;
  CliRows rows = { .columns = against ? against_columns : columns,
                   .n_columns = against ? G_N_ELEMENTS (against_columns) : G_N_ELEMENTS (columns),
                   .rows = all->data,
                   .row_size = sizeof (Figures),
                   .n_rows = all->len };

  if (format == CLI_FORMAT_CSV)
    cli_rows_print_csv (stdout, &rows);
  else if (format == CLI_FORMAT_JSON) {
    g_autoptr (JsonBuilder) builder = json_builder_new ();

    json_builder_begin_object (builder);
    cli_add_string (builder, "schema", "hopcast.bench/1");
    cli_rows_add_json (builder, "rows", &rows);
    cli_print_object (stdout, builder);
  } else
    cli_rows_print_table (stdout, &rows, "");
}

/* Without commas and quotes, so that scripts may cut the history at commas. */
static char *
plain (const char *text)
{
  return g_strstrip (g_strdelimit (g_strdup (text), ",\"\n\t", ' '));
}

static char *
processor_name (void)
{
  g_autofree char *text = NULL;
  const char *name;

  if (!g_file_get_contents ("/proc/cpuinfo", &text, NULL, NULL) ||
      !(name = strstr (text, "model name")) || !(name = strchr (name, ':')))
    return g_strdup ("unknown");
  *strchrnul (name, '\n') = '\0';
  return plain (name + 1);
}

static char *
compiler_name (void)
{
#ifdef __clang__
  return plain (__VERSION__);
#else
  return plain ("gcc " __VERSION__);
#endif
}

/* --- All rows --- */

static void
free_row (gpointer data)
{
  BenchRow *row = data;

  g_free (row->name);
  g_free (row->old_words);
  g_free (row);
}

static GPtrArray *
all_rows (void)
{
  GPtrArray *rows = g_ptr_array_new_with_free_func (free_row);

  bench_add_networks (rows);
  bench_add_traces (rows);
  return rows;
}

static gboolean
is_wanted (const BenchRow *row, const char *patterns)
{
  g_auto (GStrv) words = g_strsplit (patterns != NULL ? patterns : "*", ",", -1);

  for (char **word = words; *word != NULL; word++)
    if (g_pattern_match_simple (*word, row->name))
      return TRUE;
  return FALSE;
}

static void
report_progress (const Figures *figures, guint at, guint n)
{
  if (figures->skipped != NULL)
    g_printerr ("%u/%u  %s: skipped: %s\n", at, n, figures->name, figures->skipped);
  else
    g_printerr ("%u/%u  %s: %.3g %s\n", at, n, figures->name, figures->median, figures->unit);
}

static int
run (GPtrArray *rows, const char *program, const Options *options, CliFormat format)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Figures));
  g_autoptr (GDateTime) now = g_date_time_new_now_utc ();
  g_autofree char *date = g_date_time_format (now, "%Y-%m-%d"), *compiler = compiler_name ();
  g_autofree char *processor = processor_name (), *commit = plain (options->commit);
  gint64 end_us = g_get_monotonic_time () + (gint64) (1e6 * options->seconds);
  guint n = rows->len;

  g_array_set_clear_func (all, figures_clear);
  for (guint at = 0; at < n; at++) {
    double left_s = MAX (0, 1e-6 * (double) (end_us - g_get_monotonic_time ()));
    g_autofree Figures *figures = figures_new (rows->pdata[at]);

    figures->commit = commit;
    figures->date = date;
    figures->compiler = compiler;
    figures->processor = processor;
    if (figures->row->large && options->seconds < LARGE_SECONDS && options->most_nodes == 0)
      figures->skipped = g_strdup_printf ("takes %d seconds in all or more", LARGE_SECONDS);
    else if (options->against != NULL)
      compare_row (program, options, figures, left_s / (n - at));
    else
      measure_row (program, options, figures, left_s / (n - at));
    report_progress (figures, at + 1, n);
    if (figures->skipped == NULL)
      g_array_append_val (all, *figures);
    else
      figures_clear (figures);
  }
  print_figures (all, options, format);
  return EXIT_SUCCESS;
}

static void
keep_rows (GPtrArray *rows, const Options *options)
{
  for (guint at = rows->len; at-- > 0;) {
    BenchRow *row = rows->pdata[at];

    row->most_nodes = (uint32_t) MAX (0, options->most_nodes);
    if (!is_wanted (row, options->rows))
      g_ptr_array_remove_index (rows, at);
  }
}

/* NAME MILLISECONDS behind --measure. */
static int
measure_named (GPtrArray *rows, const char *name, const char *milliseconds)
{
  for (guint at = 0; at < rows->len; at++) {
    BenchRow *row = rows->pdata[at];

    if (g_str_equal (row->name, name))
      return measure (row, 1e-3 * g_ascii_strtod (milliseconds, NULL));
  }
  g_printerr ("bench: no row is called %s\n", name);
  return 2;
}

int
main (int argc, char **argv)
{
  g_auto (Options) options = { .seconds = default_seconds };
  gboolean is_child = FALSE;
  g_auto (CliFormatOptions) format = { 0 };
  const GOptionEntry entries[] = {
    { "seconds", 's', 0, G_OPTION_ARG_DOUBLE, &options.seconds,
      "About how long all rows may take (default 600)", "S" },
    { "rows", 'r', 0, G_OPTION_ARG_STRING, &options.rows,
      "Only rows whose names match one of these, with * and ?", "NAME,..." },
    { "against", 0, 0, G_OPTION_ARG_FILENAME, &options.against,
      "By turns with the same program of another build, or with packet_bench", "PROGRAM" },
    { "most-nodes", 0, 0, G_OPTION_ARG_INT, &options.most_nodes, "Make no machine larger", "N" },
    { "commit", 0, 0, G_OPTION_ARG_STRING, &options.commit, "The commit, for CSV and JSON",
      "NAME" },
    { "list", 0, 0, G_OPTION_ARG_NONE, &options.list,
      "Print the names of the rows, and after a tab each what it is bound by", NULL },
    { "measure", 0, 0, G_OPTION_ARG_NONE, &is_child,
      "Print the samples of the row NAME for MILLISECONDS; two arguments", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = cli_context_new (NULL, "Measures how fast hopcast is.");
  g_autoptr (GPtrArray) rows = all_rows ();
  g_autoptr (GError) error = NULL;
  g_autofree char *program = g_file_read_link ("/proc/self/exe", NULL);
  int status;

  g_option_context_add_main_entries (context, entries, NULL);
  cli_add_format_options (context, &format);
  if (!g_option_context_parse (context, &argc, &argv, &error) ||
      !cli_parse_format (&format, &error)) {
    g_printerr ("bench: %s\n", error->message);
    return 2;
  }
  keep_rows (rows, &options);
  if (argc != (is_child ? 3 : 1) || rows->len == 0) {
    g_printerr ("bench: %s\n", argc != 1 ? "wrong number of arguments" : "no such row");
    return 2;
  }
  if (is_child)
    status = measure_named (rows, argv[1], argv[2]);
  else if (options.list) {
    for (guint at = 0; at < rows->len; at++) {
      const BenchRow *row = rows->pdata[at];

      printf ("%s\t%s\n", row->name, row->bound);
    }
    status = EXIT_SUCCESS;
  } else {
    if (options.commit == NULL)
      options.commit = g_strdup ("unknown");
    status = run (rows, program != NULL ? program : argv[0], &options, format.format);
  }
  return status;
}
