/* benchmark_output.c - output files of OSU, IMB and hopcast-pingpong, and the places of their ranks.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/calibrate/benchmark_output.h"

#include "base/file.h"
#include "study/study_error.h"
#include "topology/mapping/aggregation.h"
#include "topology/mapping/message_placement.h"

#include <math.h>
#include <string.h>

#define MAX_RANKS 65535

/* The heading of hopcast-pingpong's table (predictors/aggregation/bound_table.h). */
static const char pingpong_heading[] = "operation,where,class,pairs,outside,ranks,bytes,time_us";
enum { OPERATION, WHERE, CLASS, PAIRS, OUTSIDE, RANKS, BYTES, TIME_US, N_CELLS };

/* The titles of OSU's programs, between "# OSU MPI " and the version. */
static const struct {
  const char *title, *name;
} osu_titles[] = {
  { "Latency Test", "osu_latency" },
  { "Multi Latency Test", "osu_multi_lat" },
  { "Bandwidth Test", "osu_bw" },
  { "Bi-Directional Bandwidth Test", "osu_bibw" },
  { "Multiple Bandwidth / Message Rate Test", "osu_mbw_mr" },
  { "All-to-All Personalized Exchange Latency Test", "osu_alltoall" },
  { "Allgather Latency Test", "osu_allgather" },
  { "Allreduce Latency Test", "osu_allreduce" },
  { "Broadcast Latency Test", "osu_bcast" },
  { "Reduce Latency Test", "osu_reduce" },
  { "Gather Latency Test", "osu_gather" },
  { "Scatter Latency Test", "osu_scatter" },
  { "Barrier Latency Test", "osu_barrier" },
};

/* --- Reading --- */

static gboolean
refuse (const char *path, guint line, GError **error, const char *format, ...) G_GNUC_PRINTF (4, 5);

static gboolean
refuse (const char *path, guint line, GError **error, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s:%u: %s", path, line, text);
  return FALSE;
}

typedef enum { NO_SUITE, OSU, IMB } Suite;

typedef struct {
  GPtrArray *tables;
  const char *path;
  guint line;
  Suite suite;          /* of the table that is open */
  StudyMeasured *table; /* borrowed; NULL: none is open */
  guint value_column;   /* of the figure that counts, from 0; set by the headings */
  StudyBenchmarkUnit unit;
  bool has_headings, has_size;
  uint32_t window;
  /* From the last "# hopcast:" line. */
  uint32_t n_ranks, ranks_per_node;
  char *nodes, *cores;
} Reader;

static void
reader_clear (Reader *reader)
{
  g_free (reader->nodes);
  g_free (reader->cores);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reader, reader_clear)

void
study_measured_free (gpointer data)
{
  StudyMeasured *measured = data;

  g_free (measured->name);
  g_free (measured->path);
  g_free (measured->nodes);
  g_free (measured->cores);
  g_free (measured->class);
  g_array_unref (measured->points);
  g_free (measured);
}

/* Takes the name. */
static StudyMeasured *
add_table (Reader *reader, char *name)
{
  StudyMeasured *table = g_new0 (StudyMeasured, 1);

  *table = (StudyMeasured){ .name = name,
                            .benchmark = study_benchmark_find (name),
                            .path = g_strdup (reader->path),
                            .n_ranks = reader->n_ranks,
                            .ranks_per_node = reader->ranks_per_node,
                            .nodes = g_strdup (reader->nodes),
                            .cores = g_strdup (reader->cores),
                            .points = g_array_new (FALSE, FALSE, sizeof (StudyMeasuredPoint)) };
  g_ptr_array_add (reader->tables, table);
  reader->table = table;
  reader->window = STUDY_BENCHMARK_WINDOW;
  reader->has_headings = false;
  return table;
}

static gboolean
read_count (const Reader *reader, const char *what, const char *text, uint32_t *count,
            GError **error)
{
  guint64 value;

  if (!g_ascii_string_to_unsigned (text, 10, 1, MAX_RANKS, &value, NULL))
    return refuse (reader->path, reader->line, error, "%s: expected 1 to %d, found \"%s\"", what,
                   MAX_RANKS, text);
  *count = (uint32_t) value;
  return TRUE;
}

/* The words behind "# hopcast:". */
static gboolean
read_places (Reader *reader, const char *text, GError **error)
{
  g_auto (GStrv) words = g_strsplit_set (text, " \t", -1);

  reader->n_ranks = reader->ranks_per_node = 0;
  g_clear_pointer (&reader->nodes, g_free);
  g_clear_pointer (&reader->cores, g_free);
  for (guint at = 0; words[at] != NULL; at++) {
    g_auto (GStrv) parts = g_strsplit (words[at], "=", 2);

    if (*words[at] == '\0')
      continue;
    if (g_strv_length (parts) != 2 || *parts[1] == '\0')
      return refuse (reader->path, reader->line, error, "expected KEY=VALUE, found \"%s\"",
                     words[at]);
    if (strcmp (parts[0], "nodes") == 0) {
      g_free (reader->nodes);
      reader->nodes = g_strdup (parts[1]);
    } else if (strcmp (parts[0], "cores") == 0) {
      g_free (reader->cores);
      reader->cores = g_strdup (parts[1]);
    } else if (strcmp (parts[0], "ranks") == 0 || strcmp (parts[0], "ranks-per-node") == 0) {
      if (!read_count (reader, parts[0], parts[1],
                       parts[0][strlen ("ranks")] == '\0' ? &reader->n_ranks
                                                          : &reader->ranks_per_node,
                       error))
        return FALSE;
    } else
      return refuse (reader->path, reader->line, error,
                     "unknown key \"%s\" (known: ranks, ranks-per-node, nodes, cores)", parts[0]);
  }
  return TRUE;
}

/* "OSU MPI Latency Test v5.6.2", with "OSU" at the beginning. */
static void
begin_osu (Reader *reader, const char *title)
{
  const char *begin = title + strlen ("OSU ");
  const char *version = g_strrstr (begin, " v");
  g_autofree char *text =
      g_strndup (begin, version == NULL ? strlen (begin) : (gsize) (version - begin));

  reader->suite = OSU;
  if (g_str_has_prefix (text, "MPI "))
    for (guint at = 0; at < G_N_ELEMENTS (osu_titles); at++)
      if (strcmp (text + strlen ("MPI "), osu_titles[at].title) == 0) {
        StudyMeasured *table = add_table (reader, g_strdup (osu_titles[at].name));

        reader->unit = table->benchmark->quantity == STUDY_BENCHMARK_BANDWIDTH
                           ? STUDY_BENCHMARK_MBPS
                           : STUDY_BENCHMARK_US;
        return;
      }
  add_table (reader, g_strconcat ("OSU ", text, NULL));
}

static void
begin_imb (Reader *reader, const char *name)
{
  g_autofree char *stripped = g_strstrip (g_strdup (name));
  g_autofree char *lower = g_ascii_strdown (stripped, -1);
  g_autofree char *known = g_strconcat ("imb_", lower, NULL);

  reader->suite = IMB;
  if (study_benchmark_find (known) != NULL)
    add_table (reader, g_steal_pointer (&known));
  else
    add_table (reader, g_strconcat ("IMB ", stripped, NULL));
}

/* The number behind `label` in the line; NULL: it is not there. */
static char *
number_behind (const char *line, const char *label)
{
  const char *at = strstr (line, label);

  if (at == NULL)
    return NULL;
  at += strlen (label);
  at += strspn (at, " \t");
  return g_strndup (at, strspn (at, "0123456789"));
}

/* The words of a line; the caller frees with g_ptr_array_unref(). */
static GPtrArray *
words_of (const char *line)
{
  g_auto (GStrv) parts = g_strsplit_set (line, " \t", -1);
  GPtrArray *words = g_ptr_array_new_with_free_func (g_free);

  for (guint at = 0; parts[at] != NULL; at++)
    if (*parts[at] != '\0')
      g_ptr_array_add (words, g_strdup (parts[at]));
  return words;
}

static gboolean
is_word (const GPtrArray *words, guint at, const char *word)
{
  return at < words->len && strcmp (words->pdata[at], word) == 0;
}

/* The headings of the columns: "# Size  Avg Latency(us)", "#bytes #repetitions  t[usec] ...". */
static void
read_headings (Reader *reader, const char *line)
{
  g_autoptr (GPtrArray) words = words_of (line);

  reader->has_headings = true;
  reader->has_size = !(is_word (words, 0, "#repetitions") ||
                       (is_word (words, 1, "Avg") && is_word (words, 0, "#")));
  if (reader->suite == OSU) {
    reader->value_column = reader->has_size ? 1 : 0;
    /* Behind the bandwidth, which has fewer digits. */
    if (strstr (line, "Messages/s") != NULL) {
      reader->value_column = 2;
      reader->unit = STUDY_BENCHMARK_PER_S;
    }
    return;
  }
  reader->unit = STUDY_BENCHMARK_US;
  reader->value_column = reader->has_size ? 2 : 1;
  for (guint at = 0; at < words->len; at++)
    if (strcmp (words->pdata[at], "t_avg[usec]") == 0)
      reader->value_column = at;
    else if (strcmp (words->pdata[at], "Msg/sec") == 0) {
      reader->value_column = at;
      reader->unit = STUDY_BENCHMARK_PER_S;
    }
}

/* A line that begins with #. */
static gboolean
read_comment (Reader *reader, const char *line, GError **error)
{
  const char *text = line + 1 + strspn (line + 1, " \t");
  StudyMeasured *table = reader->table;
  g_autofree char *number = NULL;

  if (g_str_has_prefix (text, "hopcast:")) {
    reader->table = NULL;
    return read_places (reader, text + strlen ("hopcast:"), error);
  }
  if (g_str_has_prefix (text, "OSU "))
    begin_osu (reader, text);
  else if (g_str_has_prefix (text, "Benchmarking "))
    begin_imb (reader, text + strlen ("Benchmarking "));
  else if (table == NULL)
    return TRUE;
  else if (g_str_has_prefix (text, "Size") || g_str_has_prefix (text, "Avg Latency") ||
           g_str_has_prefix (line, "#bytes") || g_str_has_prefix (line, "#repetitions"))
    read_headings (reader, line);
  else if ((number = number_behind (text, "#processes =")) != NULL)
    return read_count (reader, "#processes", number, &table->n_ranks, error);
  else if ((number = number_behind (text, "pairs:")) != NULL) {
    uint32_t n_pairs;
    g_autofree char *window = number_behind (text, "window size:");

    if (!read_count (reader, "pairs", number, &n_pairs, error) ||
        (window != NULL && !read_count (reader, "window size", window, &reader->window, error)))
      return FALSE;
    table->n_ranks = 2 * n_pairs;
  } else if (strstr (text, "additional processes waiting") != NULL && table->ranks_per_node == 0)
    /* These processes are on the same nodes, in an order that IMB does not print. */
    return refuse (
        reader->path, reader->line, error,
        "%s on a part of the processes: a line \"# hopcast: ranks-per-node=N\" must stand "
        "before the table",
        table->name);
  return TRUE;
}

static gboolean
read_figures (Reader *reader, const char *line, GError **error)
{
  StudyMeasured *table = reader->table;
  g_autoptr (GPtrArray) words = words_of (line);
  StudyMeasuredPoint point = {
    .run = { .benchmark = table->benchmark, .window = reader->window, .unit = reader->unit }
  };
  guint column = reader->value_column;
  guint64 bytes = 0;
  char *end = NULL;

  if (!reader->has_headings)
    return refuse (reader->path, reader->line, error,
                   "%s: figures before the headings of their columns", table->name);
  if (column < words->len)
    point.measured = g_ascii_strtod (words->pdata[column], &end);
  if ((reader->has_size &&
       !g_ascii_string_to_unsigned (words->pdata[0], 10, 0, G_MAXUINT32, &bytes, NULL)) ||
      end == NULL || *end != '\0' || !isfinite (point.measured) || point.measured < 0)
    return refuse (reader->path, reader->line, error,
                   "%s: expected %sa figure in column %u, found \"%s\"", table->name,
                   reader->has_size ? "a size and " : "", column + 1, line);
  table->last_line = reader->line;
  if (table->points->len == 0)
    table->first_line = reader->line;
  point.run.bytes = bytes;
  /* The bandwidth of messages without content, and times below the last digit that is printed. */
  if (point.measured > 0)
    g_array_append_val (table->points, point);
  return TRUE;
}

/* --- The table of hopcast-pingpong --- */

static bool
is_table_of (const StudyMeasured *table, const char *name, char **cells)
{
  return strcmp (table->name, name) == 0 && strcmp (table->class, cells[CLASS]) == 0 &&
         table->is_within == (strcmp (cells[WHERE], "within") == 0) &&
         table->n_ranks == g_ascii_strtoull (cells[RANKS], NULL, 10);
}

static gboolean
read_row (Reader *reader, const char *line, GError **error)
{
  g_auto (GStrv) cells = g_strsplit (line, ",", -1);
  StudyMeasured *table = reader->table;
  StudyMeasuredPoint point = { .run = { .unit = STUDY_BENCHMARK_US,
                                        .window = STUDY_BENCHMARK_WINDOW } };
  g_autofree char *name = NULL;
  guint64 bytes;
  char *end;

  if (g_strv_length (cells) != N_CELLS)
    return refuse (reader->path, reader->line, error, "expected %s, found \"%s\"", pingpong_heading,
                   line);
  point.measured = g_ascii_strtod (cells[TIME_US], &end);
  if (!g_ascii_string_to_unsigned (cells[BYTES], 10, 0, G_MAXUINT32, &bytes, NULL) ||
      end == cells[TIME_US] || *end != '\0' || !isfinite (point.measured) || point.measured <= 0)
    return refuse (reader->path, reader->line, error,
                   "expected bytes and a time above 0, found \"%s\"", line);
  name = strcmp (cells[PAIRS], "0") == 0 && strcmp (cells[OUTSIDE], "0") == 0
             ? g_strdup (cells[OPERATION])
             : g_strconcat (cells[OPERATION], " beside noise", NULL);
  if (table == NULL || !is_table_of (table, name, cells)) {
    uint32_t n_ranks = 0;

    if (!read_count (reader, "ranks", cells[RANKS], &n_ranks, error))
      return FALSE;
    table = add_table (reader, g_steal_pointer (&name));
    table->class = g_strdup (cells[CLASS]);
    table->is_within = strcmp (cells[WHERE], "within") == 0;
    table->n_ranks = n_ranks;
    table->first_line = reader->line;
  }
  table->last_line = reader->line;
  point.run.benchmark = table->benchmark;
  point.run.bytes = bytes;
  g_array_append_val (table->points, point);
  return TRUE;
}

/* --- Files --- */

/* After the last line: the ranks of every table that can be simulated are known, and tables without
 * figures go. */
static gboolean
finish (Reader *reader, guint n_before, GError **error)
{
  for (guint at = n_before; at < reader->tables->len;) {
    StudyMeasured *table = g_ptr_array_index (reader->tables, at);
    bool is_collective =
        table->benchmark != NULL && table->benchmark->program >= STUDY_BENCHMARK_COLLECTIVE;

    if (table->points->len == 0) {
      g_ptr_array_remove_index (reader->tables, at);
      continue;
    }
    if (table->n_ranks == 0 && is_collective)
      return refuse (reader->path, table->first_line, error,
                     "%s: the number of ranks is not known; a line \"# hopcast: ranks=N "
                     "ranks-per-node=M\" must stand before the table",
                     table->name);
    if (table->n_ranks == 0)
      table->n_ranks = 2;
    if (table->benchmark != NULL && (table->n_ranks < 2 || (!is_collective && table->n_ranks % 2)))
      return refuse (reader->path, table->first_line, error, "%s: %u ranks are no pairs",
                     table->name, table->n_ranks);
    for (guint i = 0; i < table->points->len; i++)
      g_array_index (table->points, StudyMeasuredPoint, i).run.n_ranks = table->n_ranks;
    at++;
  }
  return TRUE;
}

gboolean
study_measured_read (GPtrArray *tables, const char *path, GError **error)
{
  g_auto (Reader) reader = { .tables = tables, .path = path };
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  bool is_csv = false;
  guint n_before = tables->len;
  gsize length;

  if (!base_file_read (path, &text, &length, error))
    return FALSE;
  lines = g_strsplit (text, "\n", -1);
  if (strlen (text) != length)
    return refuse (path, g_strv_length (lines), error, "not a text");
  for (guint at = 0; lines[at] != NULL; at++) {
    const char *line = g_strstrip (lines[at]);
    gboolean done = TRUE;

    reader.line = at + 1;
    if (!g_utf8_validate (line, -1, NULL))
      return refuse (path, at + 1, error, "not a text");
    if (!is_csv && strcmp (line, pingpong_heading) == 0) {
      is_csv = true;
      reader.table = NULL;
    } else if (*line == '#')
      done = read_comment (&reader, line, error);
    else if (*line == '\0')
      /* Behind a table of IMB; OSU has one before its figures. */
      reader.table = reader.table != NULL && reader.table->points->len == 0 ? reader.table : NULL;
    else if (is_csv)
      done = read_row (&reader, line, error);
    else if (reader.table != NULL && g_ascii_isdigit (*line))
      done = read_figures (&reader, line, error);
    else if (reader.table != NULL && reader.has_headings)
      done = refuse (path, at + 1, error, "%s: expected figures, found \"%s\"", reader.table->name,
                     line);
    if (!done)
      return FALSE;
  }
  return finish (&reader, n_before, error);
}

/* --- Places --- */

bool
study_measured_same_place (const StudyMeasured *a, const StudyMeasured *b)
{
  return a->n_ranks == b->n_ranks && a->ranks_per_node == b->ranks_per_node &&
         a->is_within == b->is_within && g_strcmp0 (a->nodes, b->nodes) == 0 &&
         g_strcmp0 (a->cores, b->cores) == 0 && g_strcmp0 (a->class, b->class) == 0;
}

/* Puts the ranks on so many nodes, on the places of a node whose marks are TOPO_PLACE_OBSERVED. */
static void
put_on (const TopoLevels *levels, const uint8_t *mark, uint32_t n_ranks, uint32_t *node,
        uint8_t *core)
{
  uint32_t rank = 0;

  for (uint32_t at = 0; rank < n_ranks; at++)
    for (uint32_t place = 0; place < levels->n_places && rank < n_ranks; place++)
      if (mark[place] == TOPO_PLACE_OBSERVED) {
        node[rank] = at;
        core[rank++] = (uint8_t) levels->core[place];
      }
}

/* The placement of a class of hopcast-pingpong: a ping-pong has two places of one node, or the same of
 * two nodes; a collective uses a pattern of each node. */
static gboolean
place_class (const StudyMeasured *measured, const TopoMachine *machine, uint32_t *node,
             uint8_t *core, GError **error)
{
  bool is_message = measured->benchmark->program < STUDY_BENCHMARK_COLLECTIVE;
  g_autoptr (TopoPatterns) patterns = topo_patterns_new (machine->node, TOPO_PATTERNS_DEFAULT);
  const TopoLevels *levels = patterns->levels;
  g_autofree uint8_t *mark = g_new (uint8_t, levels->n_places);
  TopoPlacementKind kind = { .n_observed = measured->is_within ? 2 : 1 };
  g_autoptr (TopoPlacements) placements = is_message ? topo_placements_new (levels, kind) : NULL;
  uint32_t n = is_message ? placements->n : patterns->n;

  for (uint32_t at = 0; at < n; at++) {
    g_autofree char *class = NULL;

    memset (mark, TOPO_PLACE_FREE, levels->n_places);
    if (is_message)
      memcpy (mark, placements->mark + (gsize) at * levels->n_places, levels->n_places);
    else
      for (uint32_t task = 0; task < patterns->pattern[at].n_tasks; task++)
        mark[patterns->pattern[at].place[task]] = TOPO_PLACE_OBSERVED;
    class = topo_placement_class (levels, mark);
    if (strcmp (class, measured->class) == 0) {
      put_on (levels, mark, measured->n_ranks, node, core);
      return TRUE;
    }
  }
  return refuse (measured->path, measured->first_line, error,
                 "no placement of the machine's node has the class %s", measured->class);
}

static gboolean
read_nodes (const StudyMeasured *measured, GArray *nodes, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (measured->nodes, ",", -1);

  for (guint at = 0; parts[at] != NULL; at++) {
    guint64 number;
    uint32_t node;

    if (!g_ascii_string_to_unsigned (parts[at], 10, 0, G_MAXUINT32 - 1, &number, NULL))
      return refuse (measured->path, measured->first_line, error,
                     "nodes: expected numbers from 0, found \"%s\"", measured->nodes);
    node = (uint32_t) number;
    g_array_append_val (nodes, node);
  }
  return TRUE;
}

gboolean
study_measured_place (const StudyMeasured *measured, const TopoMachine *machine, uint32_t *node,
                      uint8_t *core, GError **error)
{
  uint32_t n = measured->n_ranks, per_node = measured->ranks_per_node;
  uint32_t most = machine->node != NULL ? machine->node->n_cores : TOPO_MAX_TORUS_RANKS;
  uint32_t n_nodes, n_there = topo_shape_nodes (&machine->shape);
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  TopoMachine view = *machine; /* but for its slots */

  if (measured->class != NULL && machine->node == NULL)
    return refuse (measured->path, measured->first_line, error,
                   "%s is a torus, whose nodes have no classes", machine->spec);
  if (measured->class != NULL) {
    if (!place_class (measured, machine, node, core, error))
      return FALSE;
    if (node[n - 1] >= n_there)
      return refuse (measured->path, measured->first_line, error,
                     "needs %u nodes; the machine has %u", node[n - 1] + 1, n_there);
    return TRUE;
  }
  if (per_node == 0)
    per_node =
        measured->benchmark->program < STUDY_BENCHMARK_COLLECTIVE ? n / 2 : machine->ranks_per_node;
  if (per_node > MIN (most, TOPO_MAX_RANKS_PER_NODE))
    return refuse (measured->path, measured->first_line, error,
                   "%u ranks on a node; those of the machine have %u cores", per_node,
                   MIN (most, TOPO_MAX_RANKS_PER_NODE));
  n_nodes = (n + per_node - 1) / per_node;
  if (measured->nodes != NULL && !read_nodes (measured, nodes, error))
    return FALSE;
  for (uint32_t at = nodes->len; measured->nodes == NULL && at < n_nodes; at++)
    g_array_append_val (nodes, at);
  for (guint at = 0; at < nodes->len; at++)
    if (g_array_index (nodes, uint32_t, at) >= n_there)
      return refuse (measured->path, measured->first_line, error,
                     "%u ranks, %u on a node: no node %u among the %u of %s", n, per_node,
                     g_array_index (nodes, uint32_t, at), n_there, machine->spec);
  if (nodes->len < n_nodes)
    return refuse (measured->path, measured->first_line, error,
                   "%u ranks, %u on a node, need %u nodes; nodes=%s", n, per_node, n_nodes,
                   measured->nodes);
  if (measured->cores != NULL && !topo_machine_set_cores (&view, measured->cores, error)) {
    g_prefix_error (error, "%s:%u: %s: cores=%s: ", measured->path, measured->first_line,
                    measured->name, measured->cores);
    return FALSE;
  }
  for (uint32_t rank = 0; rank < n; rank++) {
    node[rank] = g_array_index (nodes, uint32_t, rank / per_node);
    core[rank] =
        (uint8_t) (machine->node != NULL ? view.slot_core[rank % per_node] : rank % per_node);
  }
  return TRUE;
}
