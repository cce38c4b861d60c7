/* task_counters_test.c - counters of perf and likwid, good and bad.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "predictors/aggregation/task_counters.h"

#include "predictors/predict_error.h"
#include "predictors/predict_testing.h"

#include <time.h>

/* Laid out as perf 6.1 does; the counts are invented. */
static const char plain[] = "# started on Sun Nov 22 05:31:57 2026\n\n"
                            "1000,,cycles:u,564188,100.00,1.2,GHz\n"
                            "1500,,instructions:u,564188,100.00,1.50,insn per cycle\n"
                            "250,,cache-misses:u,564188,50.00,,\n"
                            "125,,cpu/event=0x3c,umask=0x1/u,564188,100.00,,\n"
                            "0.56,msec,task-clock,564188,100.00,0.465,CPUs utilized\n"
                            "<not supported>,,L1-dcache-loads,0,100.00,,\n"
                            ",,,,,,24.5,%  frontend_bound\n";
static const char repeated[] = "1000,,cycles,0.00%,533632,100.00,,\n"
                               "500,,instructions,1.06%,533632,100.00,,\n"
                               "10,,page-faults,1.06%,533632,100.00,85.544,K/sec\n";
static const char intervals[] = "     0.059030727;CPU0;100;;cycles;7;100.00;;\n"
                                "     0.059030727;CPU1;200;;cycles;7;100.00;;\n"
                                "     0.059030727;CPU0;50;;instructions;7;100.00;;\n"
                                "     0.109255927;CPU0;100;;cycles;7;100.00;;\n"
                                "     0.109255927;CPU0;150;;instructions;7;100.00;;\n";
static const char likwid[] = "STRUCT,Info,3,\nCPU name:,Intel,\n"
                             "TABLE,Region solve,Group 1 Raw,L2,4,\n"
                             "Event,Counter,HWThread 0,HWThread 4\n"
                             "Runtime (RDTSC) [s],TSC,0.1,0.1\n"
                             "INSTR_RETIRED_ANY,FIXC0,200,100\n"
                             "CPU_CLK_UNHALTED_CORE,FIXC1,100,400\n"
                             "CPU_CLK_UNHALTED_REF,FIXC2,90,-\n"
                             "L1D_REPLACEMENT,PMC0,25,40\n"
                             "TABLE,Region solve,Group 1 Raw STAT,L2,4,\n"
                             "Event,Counter,Sum,Min,Max,Avg\n"
                             "L1D_REPLACEMENT STAT,PMC0,65,25,40,32.5\n"
                             "TABLE,Region solve,Group 2 Raw,L3,3,\n"
                             "Event,Counter,HWThread 0,HWThread 4\n"
                             "INSTR_RETIRED_ANY,FIXC0,100,100\n"
                             "CPU_CLK_UNHALTED_CORE,FIXC1,100,400\n"
                             "L2_LINES_IN,PMC0,50,4\n"
                             "TABLE,Region solve,Group 2 Metric,L3,1,\n"
                             "Metric,HWThread 0,HWThread 4\n"
                             "CPI,1,4\n";

typedef struct {
  GPtrArray *tasks, *notes;
} Counted;

static void
counted_clear (Counted *counted)
{
  g_clear_pointer (&counted->tasks, g_ptr_array_unref);
  g_clear_pointer (&counted->notes, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Counted, counted_clear)

static Counted
count_text (const char *text, const PredictCounterOptions *options, GError **error)
{
  Counted counted = { g_ptr_array_new_with_free_func ((GDestroyNotify) predict_task_free),
                      g_ptr_array_new_with_free_func (g_free) };
  const PredictCounterOptions defaults = { NULL, NULL, NULL };
  g_autofree char *path = NULL;
  GError *own = NULL;

  g_close (g_file_open_tmp ("hopcast-counters-XXXXXX", &path, NULL), NULL);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_true (predict_counters_read (path, options != NULL ? options : &defaults, counted.tasks,
                                        counted.notes, &own) == (own == NULL));
  if (error == NULL)
    g_assert_no_error (own);
  else
    *error = own;
  g_unlink (path);
  return counted;
}

static double
rate_of (const Counted *counted, guint task, const char *name)
{
  const PredictRate *rate = predict_task_rate (g_ptr_array_index (counted->tasks, task), name);

  return rate != NULL ? rate->rate : -1;
}

static double
ipc_of (const Counted *counted, guint task)
{
  return ((const PredictTask *) g_ptr_array_index (counted->tasks, task))->ipc;
}

static void
test_notes (void)
{
  g_auto (Counted) counted = count_text (plain, NULL, NULL);

  g_assert_cmpuint (counted.notes->len, ==, 1);
  g_assert_nonnull (strstr (g_ptr_array_index (counted.notes, 0), "\"L1-dcache-loads\" could not"));
}

/* The time to join the parts of an event grows as their number, not as its square. */
static void
test_many_parts (void)
{
  const gsize n = 200000;
  g_autofree char *commas = g_strnfill (n, ','), *event = g_strdup_printf ("cpu/a%sb/", commas);
  g_autofree char *text =
      g_strdup_printf ("1000,,cycles:u,1,100\n1500,,instructions:u,1,100\n250,,%s,1,100\n", event);
  G_GNUC_UNUSED clock_t begun = clock ();
  g_auto (Counted) counted = count_text (text, NULL, NULL);

  g_assert_cmpfloat (rate_of (&counted, 0, event), ==, 0.25);
#ifndef __SANITIZE_ADDRESS__ /* whose strstr() looks at the whole text for each part */
  g_assert_cmpint (clock () - begun, <, 5 * CLOCKS_PER_SEC);
#endif
}

/* The IPC and rates of tasks; -1: none.  Means of repetitions; sums over intervals and processors: 200
 * instructions in 400 cycles; groups of likwid, which are measured one after the other, so that an
 * event's cycles are those of its group. */
static void
test_rates (void)
{
  static const struct {
    const char *text;
    guint task;
    const char *event; /* NULL: the IPC */
    double rate;
  } cases[] = {
    { plain, 0, NULL, 1.5 },
    { plain, 0, "cache-misses:u", 0.25 },
    { plain, 0, "cpu/event=0x3c,umask=0x1/u", 0.125 },
    { plain, 0, "task-clock", -1 },
    { plain, 0, "L1-dcache-loads", -1 },
    { repeated, 0, NULL, 0.5 },
    { repeated, 0, "page-faults", 0.01 },
    { intervals, 0, NULL, 0.5 },
    { likwid, 0, NULL, 1.5 },
    { likwid, 1, NULL, 0.25 },
    { likwid, 0, "L1D_REPLACEMENT", 0.25 },
    { likwid, 0, "L2_LINES_IN", 0.5 },
    { likwid, 1, "L2_LINES_IN", 0.01 },
    { likwid, 0, "CPU_CLK_UNHALTED_REF", 0.9 },
    { likwid, 1, "CPU_CLK_UNHALTED_REF", -1 },
    { likwid, 0, "Runtime (RDTSC) [s]", -1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Counted) counted = count_text (cases[i].text, NULL, NULL);

    g_test_message ("%.20s: task %u, %s", cases[i].text, cases[i].task,
                    cases[i].event != NULL ? cases[i].event : "IPC");
    g_assert_cmpuint (counted.tasks->len, ==, cases[i].text == likwid ? 2 : 1);
    g_assert_cmpfloat (cases[i].event != NULL ? rate_of (&counted, cases[i].task, cases[i].event)
                                              : ipc_of (&counted, cases[i].task),
                       ==, cases[i].rate);
  }
}

static gpointer
parse (const char *text, GError **error)
{
  g_auto (Counted) counted = count_text (text, NULL, error);

  return NULL;
}

static void
test_refused (void)
{
  static const TestingChange of_plain[] = {
    { "1000,,", "<not counted>,,", ":3: \"cycles:u\": could not be counted" },
    { "1500,,", "<not supported>,,", ":4: \"instructions:u\": could not be counted" },
    { "1000,,", "0,,", ":3: \"cycles:u\": counted nothing" },
    { "1000,,cycles:u", "1000,,ticks", "no event in it is known to count cycles" },
    { "cache-misses:u", "cycles:k", ":5: both \"cycles:u\" and \"cycles:k\" count cycles" },
    { "cache-misses:u", "cycles:u", ":5: \"cycles:u\" is counted twice" },
    { "250,,", "-250,,", ":5: \"-250\" is no count" },
    { "250,,", "1e999,,", ":5: \"1e999\" is no count" },
    { "# started", "hello world\n# started", ":1: no line of perf stat -x" },
  };
  static const TestingChange of_repeated[] = {
    { "1000,,cycles", "1000 cycles", ":1: no line of perf stat -x" },
    { repeated, "# nothing\n\n", "there is no counter in it" },
  };
  static const TestingChange of_likwid[] = {
    { "Region solve,Group 2 Raw", "Region start,Group 2 Raw",
      ":14: region \"start\" besides \"solve\": choose one by --region" },
    { "200,100", "200", ":6: \"INSTR_RETIRED_ANY\" has fewer than 2 counts" },
    { "200,100", "200,many", ":6: \"many\" is no count" },
    { "200,100", "-,100", ":6: \"INSTR_RETIRED_ANY\": could not be counted" },
    { "L1D_REPLACEMENT", "INSTR_RETIRED_ANY", ":9: \"INSTR_RETIRED_ANY\" is counted twice" },
  };

  testing_refuse (parse, plain, of_plain, G_N_ELEMENTS (of_plain), PREDICT_ERROR);
  testing_refuse (parse, repeated, of_repeated, G_N_ELEMENTS (of_repeated), PREDICT_ERROR);
  testing_refuse (parse, likwid, of_likwid, G_N_ELEMENTS (of_likwid), PREDICT_ERROR);
}

static void
test_options (void)
{
  static const PredictCounterOptions events = { "cache-misses:u", "cycles:u", NULL };
  static const PredictCounterOptions region = { NULL, NULL, "solve" }, other = { NULL, NULL, "x" };
  g_autoptr (GError) error = NULL;
  g_auto (Counted) chosen = count_text (plain, &events, NULL);
  g_auto (Counted) of_region = count_text (likwid, &region, NULL);
  g_auto (Counted) of_other = count_text (likwid, &other, &error);

  g_assert_cmpfloat (ipc_of (&chosen, 0), ==, 4);
  g_assert_cmpfloat (rate_of (&chosen, 0, "instructions:u"), ==, 6);
  g_assert_cmpuint (of_region.tasks->len, ==, 2);
  g_assert_nonnull (strstr (error->message, "there is no region \"x\""));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/counters/rates", test_rates);
  g_test_add_func ("/predictors/counters/notes", test_notes);
  g_test_add_func ("/predictors/counters/many-parts", test_many_parts);
  g_test_add_func ("/predictors/counters/refused", test_refused);
  g_test_add_func ("/predictors/counters/options", test_options);
  return g_test_run ();
}
