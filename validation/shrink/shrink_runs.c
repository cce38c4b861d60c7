/* shrink_runs.c - the runs that shrunk messages are measured by.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "validation/shrink/shrink.h"

#include "base/decimal.h"
#include "predictors/table/table.h"
#include "sim/run.h"
#include "study/session/worker_pool.h"
#include "topology/recipe/recipe.h"
#include "validation/published.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- The cases --- */

/* Each is run exactly, once more with other starts, and with each factor.  With several mappings, of
 * those of the SC13 family, their order is looked at. */
typedef struct {
  const char *name, *pattern, *machine, *mapping;
  RoutePolicy policy;
  const char *factors;
  guint n_mappings;
} Experiment;

#define ONE_BY_ONE 1
#define FAMILY     20

#define DETERMINISTIC ROUTE_POLICY_DETERMINISTIC
#define DYNAMIC       ROUTE_POLICY_ZONE0

static const Experiment experiments[] = {
  { "uniform 64K", "gen:random:ranks=512,bytes=64K,messages=2,iterations=1", "bgq:512", "ABCDET",
    DETERMINISTIC, "2,4,8", ONE_BY_ONE },
  { "uniform 256K", "gen:random:ranks=512,bytes=256K,messages=2,iterations=1", "bgq:512", "ABCDET",
    DETERMINISTIC, "2,4,8,16", ONE_BY_ONE },
  { "uniform 1M", "gen:random:ranks=512,bytes=1M,messages=2,iterations=1", "bgq:512", "ABCDET",
    DETERMINISTIC, "2,4,8,16", ONE_BY_ONE },
  { "uniform 4M", "gen:random:ranks=512,bytes=4M,messages=2,iterations=1", "bgq:512", "ABCDET",
    DETERMINISTIC, "2,4,8,16,32", ONE_BY_ONE },
  { "uniform 16M", "gen:random:ranks=512,bytes=16M,messages=2,iterations=1", "bgq:512", "ABCDET",
    DETERMINISTIC, "8,16,32,64", ONE_BY_ONE },
  { "uniform 4M dynamic", "gen:random:ranks=512,bytes=4M,messages=2,iterations=1", "bgq:512",
    "ABCDET", DYNAMIC, "4,8,16", ONE_BY_ONE },
  { "uniform 16M dynamic", "gen:random:ranks=512,bytes=16M,messages=2,iterations=1", "bgq:512",
    "ABCDET", DYNAMIC, "4,8,16", ONE_BY_ONE },
  { "uniform 1M on 1024", "gen:random:ranks=1024,bytes=1M,messages=2,iterations=1", "bgq:1024",
    "ABCDET", DETERMINISTIC, "2,4,8", ONE_BY_ONE },
  { "halo2d 1M", "gen:halo2d:ranks=512,bytes=1M,iterations=1", "bgq:512", "random(1)",
    DETERMINISTIC, "2,4,8", ONE_BY_ONE },
  { "halo2d 4M", "gen:halo2d:ranks=512,bytes=4M,iterations=1", "bgq:512", "random(1)",
    DETERMINISTIC, "2,4,8,16,32", ONE_BY_ONE },
  { "halo2d 4M ordered", "gen:halo2d:ranks=512,bytes=4M,iterations=1", "bgq:512", "ABCDET",
    DETERMINISTIC, "2,4,8,16", ONE_BY_ONE },
  { "halo2d 1M dynamic", "gen:halo2d:ranks=512,bytes=1M,iterations=1", "bgq:512", "random(1)",
    DYNAMIC, "2,4,8", ONE_BY_ONE },
  { "halo2d 16M on 1024", "gen:halo2d:ranks=1024,bytes=16M,iterations=1", "bgq:1024", "ABCDET",
    DETERMINISTIC, "16,32,64", ONE_BY_ONE },
  { "halo3d 64K", "gen:halo3d:ranks=512,bytes=64K,iterations=1", "bgq:512", "random(1)",
    DETERMINISTIC, "2,4", ONE_BY_ONE },
  { "halo3d 256K", "gen:halo3d:ranks=512,bytes=256K,iterations=1", "bgq:512", "random(1)",
    DETERMINISTIC, "2,4,8", ONE_BY_ONE },
  { "halo3d 1M", "gen:halo3d:ranks=512,bytes=1M,iterations=1", "bgq:512", "random(1)",
    DETERMINISTIC, "2,4,8", ONE_BY_ONE },
  { "halo3d 1M ordered", "gen:halo3d:ranks=512,bytes=1M,iterations=1", "bgq:512", "ABCDET",
    DETERMINISTIC, "2,4,8", ONE_BY_ONE },
  { "halo3d 4M on 1024", "gen:halo3d:ranks=1024,bytes=4M,iterations=1", "bgq:1024", "ABCDET",
    DETERMINISTIC, "4,8,16,32", ONE_BY_ONE },
  { "halo3d 1M six times", "gen:halo3d:ranks=512,bytes=1M,iterations=6", "bgq:512", "ABCDET",
    DETERMINISTIC, "2,4,8", ONE_BY_ONE },
  { "groups of 16 1M", "gen:suba2a:ranks=512,bytes=1M,size=16,iterations=1", "bgq:512", "ABCDET",
    DETERMINISTIC, "2,4,8", ONE_BY_ONE },
  { "permutation 4M", "gen:permutation:ranks=512,bytes=4M,kind=random,iterations=1", "bgq:512",
    "ABCDET", DETERMINISTIC, "2,4,8,16", ONE_BY_ONE },
  { "permutation 16M", "gen:permutation:ranks=512,bytes=16M,kind=random,iterations=1", "bgq:512",
    "ABCDET", DETERMINISTIC, "16,32,64", ONE_BY_ONE },
  { "chain 4M", "gen:ring:ranks=512,bytes=4M,iterations=4", "bgq:512", "random(1)", DETERMINISTIC,
    "2,4,8,16", ONE_BY_ONE },
  { "uniform 4M fat tree", "gen:random:ranks=324,bytes=4M,messages=2,iterations=1", "fattree:18x18",
    "AT", DETERMINISTIC, "2,4,8", ONE_BY_ONE },
  { "halo3d 4M fat tree", "gen:halo3d:ranks=324,bytes=4M,iterations=1", "fattree:18x18",
    "random(1)", DETERMINISTIC, "2,4,8", ONE_BY_ONE },
  { "halo2d 4M tree 2:1", "gen:halo2d:ranks=256,bytes=4M,iterations=1", "fattree:16x16:8",
    "random(1)", DETERMINISTIC, "2,4,8", ONE_BY_ONE },
  { "order of halo2d 1M", "gen:halo2d:ranks=512,bytes=1M,iterations=1", "bgq:512", NULL,
    DETERMINISTIC, "2,4,8", FAMILY },
  { "order of halo3d 1M", "gen:halo3d:ranks=512,bytes=1M,iterations=1", "bgq:512", NULL,
    DETERMINISTIC, "2,4,8", FAMILY },
};

static const char *const run_columns[] = { "end_s",       "mean_end_s", "message_error",
                                           "message_p95", "waits_s",    "max_bytes",
                                           "avg_bytes",   "links_off",  "packet_hops",
                                           "cpu_s" };

static double *
number_at (ShrinkRun *run, guint column)
{
  double *const numbers[] = { &run->end_s,       &run->mean_end_s, &run->message_error,
                              &run->message_p95, &run->waits_s,    &run->max_bytes,
                              &run->avg_bytes,   &run->links_off,  &run->packet_hops,
                              &run->cpu_s };

  return numbers[column];
}

static void
run_free (gpointer data)
{
  ShrinkRun *run = data;

  g_free (run->experiment);
  g_free (run->run);
  g_free (run);
}

/* --- One case, in a worker --- */

/* Of the k-th message between two ranks, in that order. */
typedef struct {
  uint32_t source, destination;
  int64_t begin_ps, end_ps;
} Message;

static int
compare_messages (gconstpointer a, gconstpointer b)
{
  const Message *left = a, *right = b;

  if (left->source != right->source)
    return left->source < right->source ? -1 : 1;
  if (left->destination != right->destination)
    return left->destination < right->destination ? -1 : 1;
  return (left->begin_ps > right->begin_ps) - (left->begin_ps < right->begin_ps);
}

static GArray *
messages_of (const SimTimeline *timeline)
{
  GArray *messages = g_array_new (FALSE, FALSE, sizeof (Message));
  SimTimelineEvent event;

  for (uint64_t i = 0; i < sim_timeline_size (timeline); i++)
    if (sim_timeline_event (timeline, i, &event) && event.is_message) {
      const Message message = { event.lane, event.destination, event.begin_ps, event.end_ps };

      g_array_append_val (messages, message);
    }
  g_array_sort (messages, compare_messages);
  return messages;
}

static int
compare_doubles (gconstpointer left, gconstpointer right)
{
  double a = *(const double *) left, b = *(const double *) right;

  return (a > b) - (a < b);
}

/* A run and what it is compared by. */
typedef struct {
  SimRun *run;
  GArray *messages; /* (element-type Message) */
  double cpu_s;     /* other processes do not count */
} Made;

static void
made_clear (Made *made)
{
  sim_run_free (made->run);
  if (made->messages != NULL)
    g_array_unref (made->messages);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Made, made_clear)

static void
compare_times (const Made *made, const Made *exact, ShrinkRun *result)
{
  guint n = exact->messages->len;
  g_autofree double *errors = g_new (double, n + 1);

  g_assert (made->messages->len == n);
  for (guint i = 0; i < n; i++) {
    const Message *one = &g_array_index (made->messages, Message, i);
    const Message *other = &g_array_index (exact->messages, Message, i);

    errors[i] = fabs ((double) (one->end_ps - one->begin_ps) /
                          (double) MAX (1, other->end_ps - other->begin_ps) -
                      1);
    result->message_error += errors[i] / n;
  }
  qsort (errors, n, sizeof *errors, compare_doubles);
  result->message_p95 = n == 0 ? (double) NAN : errors[(n * 95 - 1) / 100];
}

static void
append_run (GString *text, const Experiment *experiment, guint mapping, const char *name,
            const Made *made, const Made *exact)
{
  const SimCounters *counters = made->run->counters;
  const SimReplayResult *times = &made->run->result;
  ShrinkRun result = { .end_s = (double) times->time_ps / 1e12,
                       .message_error = made->messages->len == 0 ? (double) NAN : 0,
                       .max_bytes = made->run->features[SIM_FEATURE_MAX_BYTES],
                       .avg_bytes = made->run->features[SIM_FEATURE_AVG_BYTES],
                       .packet_hops = (double) counters->packet_hops,
                       .cpu_s = made->cpu_s };
  char number[BASE_DECIMAL_SIZE];

  for (uint32_t rank = 0; rank < times->n_ranks; rank++)
    result.mean_end_s += (double) times->ranks[rank].end_ps / 1e12 / times->n_ranks;
  for (uint32_t link = 0; link < counters->n_places; link++) {
    result.waits_s += (double) counters->link[link].buffered_ps / 1e12;
    result.links_off +=
        counters->link[link].payload_bytes != exact->run->counters->link[link].payload_bytes;
  }
  if (experiment->policy != DETERMINISTIC)
    result.links_off = (double) NAN;
  compare_times (made, exact, &result);
  g_string_append_printf (text, "\"%s\",%u,%s", experiment->name, mapping, name);
  for (guint i = 0; i < G_N_ELEMENTS (run_columns); i++)
    g_string_append_printf (text, ",%s", base_decimal_print (number, *number_at (&result, i)));
  g_string_append_c (text, '\n');
}

/* The inputs of a case. */
typedef struct {
  Trace *trace;
  TopoMachine *machine;
  RoutePaths *paths;
  TopoMapping *mapping;
} Inputs;

static void
inputs_clear (Inputs *inputs)
{
  trace_free (inputs->trace);
  topo_mapping_free (inputs->mapping);
  route_paths_free (inputs->paths);
  topo_machine_free (inputs->machine);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Inputs, inputs_clear)

static gboolean
inputs_open (Inputs *inputs, const Experiment *experiment, guint mapping, GError **error)
{
  g_auto (GStrv) family = NULL;
  const char *name = experiment->mapping;

  if ((inputs->trace = trace_open (experiment->pattern, NULL, error)) == NULL ||
      (inputs->machine = topo_machine_new (experiment->machine, error)) == NULL ||
      (inputs->paths = route_paths_new (inputs->machine, error)) == NULL)
    return FALSE;
  if (name == NULL) {
    family =
        topo_recipe_family ("sc13-shared", inputs->machine, trace_ranks (inputs->trace), error);
    if (family == NULL)
      return FALSE;
    /* Spread over the whole family. */
    name = family[mapping * g_strv_length (family) / experiment->n_mappings];
  }
  inputs->mapping = topo_mapping_new (name, inputs->machine, trace_ranks (inputs->trace), error);
  return inputs->mapping != NULL;
}

#define JITTER_PS INT64_C (1000000)

static gboolean
make (const Inputs *inputs, const Experiment *experiment, const char *shrink, uint64_t seed,
      Made *made, GError **error)
{
  g_autoptr (SimTimeline) timeline =
      sim_timeline_new (trace_ranks (inputs->trace), NULL, UINT64_MAX);
  SimRunOptions options = { .compute_scale = 1,
                            .policy = experiment->policy,
                            .seed = seed,
                            .jitter_ps = JITTER_PS,
                            .timeline = timeline,
                            .paths = inputs->paths };
  clock_t begin;

  sim_shrink_parse (shrink, &options.shrink);
  /* A fabric's tables are deterministic. */
  if (inputs->machine->fabric != NULL)
    options.policy = ROUTE_POLICY_DEFAULT;
  begin = clock ();
  made->run = sim_run (inputs->trace, inputs->machine, inputs->mapping, &options, error);
  made->cpu_s = (double) (clock () - begin) / CLOCKS_PER_SEC;
  if (made->run == NULL)
    return FALSE;
  made->messages = messages_of (timeline);
  return TRUE;
}

/* The lines of a case's mapping. */
static char *
make_case (const Experiment *experiment, guint mapping, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_auto (GStrv) factors = g_strsplit (experiment->factors, ",", -1);
  g_auto (Inputs) inputs = { NULL };
  g_auto (Made) exact = { NULL }, replica = { NULL };

  if (!inputs_open (&inputs, experiment, mapping, error) ||
      !make (&inputs, experiment, "off", 1, &exact, error) ||
      !make (&inputs, experiment, "off", 2, &replica, error))
    return NULL;
  append_run (text, experiment, mapping, "exact", &exact, &exact);
  append_run (text, experiment, mapping, "replica", &replica, &exact);
  for (char **factor = factors; *factor != NULL; factor++) {
    g_auto (Made) shrunk = { NULL };

    if (!make (&inputs, experiment, *factor, 1, &shrunk, error))
      return NULL;
    append_run (text, experiment, mapping, *factor, &shrunk, &exact);
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* --- All of them --- */

typedef struct {
  guint experiment, mapping;
} Job;

typedef struct {
  const char *path; /* NULL: none */
  GArray *jobs;     /* (element-type Job) */
  GString *text;    /* all lines */
  void (*progress) (void *data, double share);
  void *data;
} Work;

/* A StudyJobFunction: the lines, or "!" and the error. */
static GBytes *
make_job (void *data, guint number, gboolean *spent)
{
  const Job *job = &g_array_index (((Work *) data)->jobs, Job, number);
  g_autoptr (GError) error = NULL;
  char *text = make_case (&experiments[job->experiment], job->mapping, &error);

  (void) spent;
  if (text == NULL)
    text = g_strconcat ("!", error->message, NULL);
  return g_bytes_new_take (text, strlen (text));
}

/* One write, so that a file that was cut off lacks whole cases, or has an incomplete last one. */
static gboolean
append_to_file (const char *path, const char *text, gsize n, GError **error)
{
  FILE *file = fopen (path, "a");
  gboolean done = file != NULL && fwrite (text, 1, n, file) == n;

  if (file != NULL)
    done = fclose (file) == 0 && done;
  if (!done)
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT, "%s: %s", path,
                 g_strerror (errno));
  return done;
}

/* A StudyPoolLook. */
static gboolean
look (void *data, const StudyPoolResult *result, guint n_done, GError **error)
{
  Work *work = data;
  gsize n = 0;
  const char *text =
      result == NULL || result->block == NULL ? NULL : g_bytes_get_data (result->block, &n);

  if (result != NULL && (text == NULL || *text == '!')) {
    const Job *job = &g_array_index (work->jobs, Job, result->job);

    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_EXPERIMENT, "%s: %.*s",
                 experiments[job->experiment].name, text == NULL ? -1 : (int) n - 1,
                 text == NULL ? result->lost : text + 1);
    return FALSE;
  }
  if (text != NULL) {
    g_string_append_len (work->text, text, (gssize) n);
    if (work->path != NULL && !append_to_file (work->path, text, n, error))
      return FALSE;
  }
  if (work->progress != NULL)
    work->progress (work->data, (double) n_done / MAX (1u, work->jobs->len));
  return TRUE;
}

static const ShrinkRun *
find_run (const GPtrArray *runs, const char *experiment, guint mapping, const char *name)
{
  for (guint i = 0; i < runs->len; i++) {
    const ShrinkRun *run = g_ptr_array_index (runs, i);

    if (run->mapping == mapping && strcmp (run->experiment, experiment) == 0 &&
        strcmp (run->run, name) == 0)
      return run;
  }
  return NULL;
}

static bool
is_complete (const GPtrArray *runs, const Experiment *experiment, guint mapping)
{
  g_auto (GStrv) factors = g_strsplit (experiment->factors, ",", -1);
  bool complete = find_run (runs, experiment->name, mapping, "exact") != NULL &&
                  find_run (runs, experiment->name, mapping, "replica") != NULL;

  for (char **factor = factors; *factor != NULL; factor++)
    complete = complete && find_run (runs, experiment->name, mapping, *factor) != NULL;
  return complete;
}

/* Appends the runs of a table of them. */
static gboolean
add_runs (GPtrArray *runs, const char *path, GError **error)
{
  g_autoptr (PredictTable) table = predict_table_read (path, error);
  const PredictColumn *names, *labels, *mapping;
  const double *numbers[G_N_ELEMENTS (run_columns)];

  if (table == NULL)
    return FALSE;
  if (table->n_rows == 0 && predict_table_find (table, "links_off") != NULL)
    return TRUE; /* nothing was done yet */
  if (!(mapping = predict_table_numbers (table, "mapping", error)))
    return FALSE;
  names = predict_table_find (table, "case");
  labels = predict_table_find (table, "run");
  if (names == NULL || names->texts == NULL || labels == NULL || labels->texts == NULL) {
    g_set_error (error, VALIDATION_ERROR, VALIDATION_ERROR_DATA, "%s: not a table of shrunk runs",
                 path);
    return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS (run_columns); i++) {
    const PredictColumn *column = predict_table_numbers (table, run_columns[i], error);

    if (column == NULL)
      return FALSE;
    numbers[i] = column->numbers;
  }
  for (uint64_t row = 0; row < table->n_rows; row++) {
    ShrinkRun *run = g_new0 (ShrinkRun, 1);

    run->experiment = g_strdup (g_ptr_array_index (names->labels, names->texts[row]));
    run->mapping = (guint) mapping->numbers[row];
    run->run = g_strdup (g_ptr_array_index (labels->labels, labels->texts[row]));
    for (guint i = 0; i < G_N_ELEMENTS (run_columns); i++)
      *number_at (run, i) = numbers[i][row];
    g_ptr_array_add (runs, run);
  }
  return TRUE;
}

static char *
heading (void)
{
  g_autoptr (GString) text = g_string_new ("case,mapping,run");

  for (guint i = 0; i < G_N_ELEMENTS (run_columns); i++)
    g_string_append_printf (text, ",%s", run_columns[i]);
  g_string_append_c (text, '\n');
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* Makes the file if there is none or nothing in it, and removes a line that was cut off. */
static gboolean
mend_file (const char *path, const char *first, GError **error)
{
  g_autofree char *text = NULL;
  gsize length = 0, whole;

  if (g_file_test (path, G_FILE_TEST_EXISTS) && !g_file_get_contents (path, &text, &length, error))
    return FALSE;
  whole = length;
  while (whole > 0 && text[whole - 1] != '\n')
    whole--;
  if (whole == 0)
    return g_file_set_contents (path, first, -1, error);
  return whole == length || g_file_set_contents (path, text, (gssize) whole, error);
}

GPtrArray *
shrink_runs (const char *path, const char *const *only, guint n_workers,
             void (*progress) (void *data, double share), void *data, GError **error)
{
  g_autoptr (GPtrArray) runs = g_ptr_array_new_with_free_func (run_free);
  g_autoptr (GArray) jobs = g_array_new (FALSE, FALSE, sizeof (Job));
  g_autofree char *first = heading ();
  g_autoptr (GString) text = g_string_new (first);
  Work work = { path, jobs, text, progress, data };
  g_autofree char *made = NULL;
  int fd;

  if (path != NULL && (!mend_file (path, first, error) || !add_runs (runs, path, error)))
    return NULL;
  for (guint i = 0; i < G_N_ELEMENTS (experiments); i++)
    for (guint mapping = 0; mapping < experiments[i].n_mappings; mapping++) {
      const Job job = { i, mapping };

      if ((only == NULL || g_strv_contains (only, experiments[i].name)) &&
          !is_complete (runs, &experiments[i], mapping))
        g_array_append_val (jobs, job);
    }
  if (jobs->len == 0)
    return g_steal_pointer (&runs);
  if (!study_pool_run (n_workers, jobs->len, make_job, look, &work, error))
    return NULL;
  /* The lines are read as they would be from the file. */
  if ((fd = g_file_open_tmp ("hopcast-shrink-XXXXXX.csv", &made, error)) < 0)
    return NULL;
  close (fd);
  if (!g_file_set_contents (made, text->str, (gssize) text->len, error) ||
      !add_runs (runs, made, error))
    g_clear_pointer (&runs, g_ptr_array_unref);
  remove (made);
  return g_steal_pointer (&runs);
}

/* --- What they say --- */

/* What "auto" with so many packets would take, of the case's pattern "...bytes=4M...". */
static guint
auto_factor (const Experiment *experiment, guint packets_left)
{
  const char *at = strstr (experiment->pattern, "bytes=") + strlen ("bytes=");
  char *end;
  uint64_t bytes = g_ascii_strtoull (at, &end, 10);

  /* The unit only after the number has been read: both in one expression have no order. */
  bytes <<= *end == 'M' ? 20 : *end == 'K' ? 10 : 0;
  bytes /= g_str_has_prefix (experiment->machine, "bgq") ? 512 : 2048;
  return (guint) (bytes / packets_left / (experiment->policy == DYNAMIC ? 8 : 1));
}

/* Share of the pairs of mappings whose numbers are in the order of the exact run's. */
static double
order_of (const GPtrArray *runs, const Experiment *experiment, const char *name, guint column)
{
  guint n_right = 0, n = 0;

  for (guint i = 0; i < experiment->n_mappings; i++)
    for (guint j = 0; j < i; j++) {
      double one[2], other[2];
      const char *const names[] = { "exact", name };

      for (guint k = 0; k < 2; k++) {
        one[k] = *number_at ((ShrinkRun *) find_run (runs, experiment->name, i, names[k]), column);
        other[k] =
            *number_at ((ShrinkRun *) find_run (runs, experiment->name, j, names[k]), column);
      }
      n++;
      n_right += (one[0] < other[0]) == (one[1] < other[1]);
    }
  return n == 0 ? (double) NAN : (double) n_right / n;
}

static double
mean_over (const GPtrArray *runs, const Experiment *experiment, const char *name, guint column,
           bool is_relative)
{
  double sum = 0;

  for (guint mapping = 0; mapping < experiment->n_mappings; mapping++) {
    double value =
        *number_at ((ShrinkRun *) find_run (runs, experiment->name, mapping, name), column);
    double exact =
        *number_at ((ShrinkRun *) find_run (runs, experiment->name, mapping, "exact"), column);

    sum += is_relative ? (exact > 0 ? value / exact - 1 : 0) : value;
  }
  return sum / experiment->n_mappings;
}

enum {
  END,
  MEAN_END,
  MESSAGE_ERROR,
  MESSAGE_P95,
  WAITS,
  MAX_BYTES,
  AVG_BYTES,
  LINKS_OFF,
  HOPS,
  CPU
};

GArray *
shrink_cells (const GPtrArray *runs)
{
  GArray *cells = g_array_new (FALSE, FALSE, sizeof (ShrinkCell));

  for (guint i = 0; i < G_N_ELEMENTS (experiments); i++) {
    const Experiment *it = &experiments[i];
    g_auto (GStrv) factors = g_strsplit (it->factors, ",", -1);
    bool complete = true;

    for (guint mapping = 0; mapping < it->n_mappings; mapping++)
      complete = complete && is_complete (runs, it, mapping);
    for (char **text = factors; complete && *text != NULL; text++) {
      guint factor = (guint) g_ascii_strtoull (*text, NULL, 10);
      const ShrinkCell cell = {
        .experiment = it->name,
        .factor = factor,
        .is_auto = factor == auto_factor (it, 1000),
        .is_screen = factor == auto_factor (it, 250),
        .end = mean_over (runs, it, *text, END, true),
        .mean_end = mean_over (runs, it, *text, MEAN_END, true),
        .message_error = mean_over (runs, it, *text, MESSAGE_ERROR, false),
        .message_p95 = mean_over (runs, it, *text, MESSAGE_P95, false),
        .waits = mean_over (runs, it, *text, WAITS, true),
        .max_bytes = mean_over (runs, it, *text, MAX_BYTES, true),
        .avg_bytes = mean_over (runs, it, *text, AVG_BYTES, true),
        .links_off = mean_over (runs, it, *text, LINKS_OFF, false),
        .times_faster = 1 / (1 + mean_over (runs, it, *text, CPU, true)),
        .floor_end = fabs (mean_over (runs, it, "replica", END, true)),
        .floor_message_error = mean_over (runs, it, "replica", MESSAGE_ERROR, false),
        .floor_waits = fabs (mean_over (runs, it, "replica", WAITS, true)),
        .order_end = order_of (runs, it, *text, END),
        .order_mean_end = order_of (runs, it, *text, MEAN_END),
        .floor_order_end = order_of (runs, it, "replica", END),
        .floor_order_mean_end = order_of (runs, it, "replica", MEAN_END),
      };

      g_array_append_val (cells, cell);
    }
  }
  return cells;
}
