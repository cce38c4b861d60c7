/* paraver_broken_test.c - Paraver files that are not as they should be.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_testing.h"

#include <string.h>

#define HEADER "#Paraver (d):9000_ns:1(2):1:2(1:1,1:1),1\n"
#define WORLD  "c:1:1:2:1:2\n"

static void
check_with (const char *prv, const char *pcf, TraceError code, const char *part)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write_text (folder, "t.prv", prv);
  g_autofree char *beside = trace_testing_write_text (folder, "t.pcf", pcf);

  trace_testing_bad (path, code, part);
}

static void
check (const char *prv, TraceError code, const char *part)
{
  trace_testing_bad_file ("t.prv", prv, strlen (prv), code, part);
}

static void
test_headers (void)
{
  static const char *const bad[] = {
    "#Paraver ",
    "#Paraver (1/1/2026 at 10:00",
    "#Paraver (d):x_ns:0:1:1(1:1)\n",
    "#Paraver (d):99999999999999999999_ns:0:1:1(1:1)\n",
    "#Paraver (d):9_ns:1(2:1:1(1:1)\n",
    "#Paraver (d):9_ns:0:0\n",
    "#Paraver (d):9_ns:0:2:1(1:1)\n",
    "#Paraver (d):9_ns:0:1:0()\n",
    "#Paraver (d):9_ns:0:1:2(1:1)\n",
    "#Paraver (d):9_ns:0:1:16000000(1:1)\n",
    "#Paraver (d):9_ns:0:1:4000000000(1:1)\n",
    "#Paraver (d):9_ns:0:1:1(1:1)x\n",
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++)
    check (bad[i], TRACE_ERROR_FORMAT, "t.prv:1: expected \"#Paraver (DATE)");
  check ("#Paraver", TRACE_ERROR_FORMAT, "not a trace");
  check ("", TRACE_ERROR_FORMAT, "not a trace");
}

static void
test_communicators (void)
{
  static const char *const bad[] = { "c:1:1:3:1:2\n",       "c:1:1:2:1:2:x\n", "c:1:1:0\n",
                                     "c:9:1:2:1:2\n",       "c:1:1:2:0:1\n",   "c\n",
                                     "c:1:1:4000000000:1\n" };
  const char use[] = "2:1:1:1:1:10:50000002:8:50100004:1\n2:1:1:1:1:20:50000002:0\n";

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *prv = g_strconcat (HEADER, bad[i], NULL);

    check (prv, TRACE_ERROR_FORMAT, "t.prv:2: expected a communicator");
  }
  for (guint i = 0; i < 4; i++) {
    static const char *const lines[] = { "c:1:2:2:1:2\n", "c:1:1:1:2\n", "c:1:1:2:1:9\n",
                                         "c:1:1:2:1:1\n" };
    static const char *const parts[] = { "3: expected a communicator that the header has",
                                         "3: task 1 is not in communicator 1",
                                         "2: communicator 1 has tasks that",
                                         "2: communicator 1 has a task twice" };
    g_autofree char *prv = g_strconcat (HEADER, lines[i], use, NULL);

    check (prv, i == 0 ? TRACE_ERROR_LOST : TRACE_ERROR_RANGE, parts[i]);
  }
  check (HEADER "2:1:1:1:1:10:50000001:1\n" WORLD, TRACE_ERROR_FORMAT,
         "t.prv:3: expected communicators before");
}

static void
test_records (void)
{
  static const struct {
    const char *line;
    TraceError code;
    const char *part;
  } bad[] = {
    { "4:1:1:1:1:10\n", TRACE_ERROR_FORMAT, "t.prv:2: expected a record" },
    { "x\n", TRACE_ERROR_FORMAT, "t.prv:2: expected a record" },
    { "1\n", TRACE_ERROR_FORMAT, "t.prv:2: expected a record" },
    { "\n\r\n#\nd:1\n", TRACE_ERROR_FORMAT, "t.prv:5: expected a record" },
    { "2:1:1:1:1\n", TRACE_ERROR_FORMAT, "t.prv:2: expected a record" },
    { "2:1:1:1:1:10:50000001\n", TRACE_ERROR_FORMAT, "t.prv:2: expected a record" },
    { "2:1:1:1:1:10:50000001:-1\n", TRACE_ERROR_FORMAT, "t.prv:2: expected a record" },
    { "2:1:1:1:2:10:50000001:\n", TRACE_ERROR_FORMAT, "t.prv:2: expected a record" },
    { "2:1:1:1:1:99999999999999999:1:1\n", TRACE_ERROR_FORMAT, "t.prv:2: expected a record" },
    { "2:1:1:3:1:10:50000001:1\n", TRACE_ERROR_RANGE, "t.prv:2: expected a task" },
    { "2:1:1:0:1:10:50000001:1\n", TRACE_ERROR_RANGE, "t.prv:2: expected a task" },
    { "2:1:1:1:1:10:1:1\n2:1:1:1:1:9:1:1\n", TRACE_ERROR_RANGE, "t.prv:3: expected records in" },
    { "2:1:1:1:1:10:50100001:999999999999999\n", TRACE_ERROR_RANGE, "a size is impossible" },
    { "3:1:1:1:1:1:2:1:1:2:1:1:2:64\n", TRACE_ERROR_FORMAT, "t.prv:2: expected a record" },
    { "3:1:1:1:1:1:2:1:1:2:1:1:2:64:7:8\n", TRACE_ERROR_FORMAT, "t.prv:2: expected a record" },
    { "3:1:1:1:1:1:2:1:1:3:1:1:2:64:7\n", TRACE_ERROR_RANGE, "t.prv:2: expected a task" },
    { "3:1:1:1:1:1:2:1:1:2:1:1:2:999999999999999:7\n", TRACE_ERROR_FORMAT, "expected a record" },
    { "1:1:1:1:1:0:9:1\n", TRACE_ERROR_LOST, "no MPI calls" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    g_autofree char *prv = g_strconcat (HEADER, bad[i].line, NULL);

    check (prv, bad[i].code, bad[i].part);
  }
}

static void
test_pcf (void)
{
  const char prv[] = HEADER "2:1:1:1:1:10:50000001:1\n2:1:1:1:1:20:50000001:0\n";

  check_with (prv, "\nEVENT_TYPE\n9\n", TRACE_ERROR_FORMAT, "t.pcf:3: expected \"COLOUR TYPE");
  check_with (prv, "EVENT_TYPE\n9 1 x\nVALUES\n99999999999999999999 x\n", TRACE_ERROR_FORMAT,
              "t.pcf:4: expected \"VALUE LABEL\"");
}

/* One rank calls a barrier where the other calls a broadcast. */
#define DISAGREE                                      \
  HEADER WORLD "2:1:1:1:1:10:50000002:8:50100004:1\n" \
               "2:1:1:2:1:10:50000002:7:50100004:1\n" \
               "2:1:1:1:1:20:50000002:0\n2:1:1:2:1:20:50000002:0\n"

static void
test_collectives_disagree (void)
{
  TraceOptions options = { .allow_lossy = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (Trace) trace = NULL;
  g_autofree char *path = NULL;
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();

  path = trace_testing_write (folder, "t.prv", DISAGREE, strlen (DISAGREE));
  trace_testing_bad (path, TRACE_ERROR_LOST,
                     "t.prv:4: MPI_Bcast of task 2 is MPI_Barrier of task 1 in line 3");
  trace = trace_open (path, &options, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (trace_testing_totals (trace).n_ops[TRACE_OP_CALL], ==, 2);
}

/* What is left of a file that was cut anywhere is read, or is one error. */
static void
test_truncated (void)
{
  static const char text[] =
      HEADER WORLD "2:1:1:1:1:10:50000001:3\n2:1:1:1:1:20:50000001:0\n"
                   "3:1:1:1:1:10:20:1:1:2:1:35:50:64:7\n"
                   "2:1:1:2:1:30:50000001:4\n2:1:1:2:1:35:50000001:0\n"
                   "2:1:1:2:1:40:50000001:5\n2:1:1:2:1:50:50000001:0\n"
                   "2:1:1:1:1:60:50000002:10:50100001:8:50100002:8:50100004:1\n"
                   "2:1:1:2:1:60:50000002:10:50100001:8:50100002:8:50100004:1\n"
                   "2:1:1:1:1:70:50000002:0\n2:1:1:2:1:70:50000002:0\n";
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  guint n_good = 0;

  for (gsize n = 0; n < sizeof text; n++) {
    g_autofree char *path = trace_testing_write (folder, "t.prv", text, n);
    g_autoptr (GError) error = NULL;
    g_autoptr (Trace) trace = trace_open (path, NULL, &error);

    g_assert_true ((trace == NULL) == (error != NULL));
    n_good += trace != NULL;
    if (trace != NULL)
      trace_testing_totals (trace);
  }
  g_assert_cmpuint (n_good, >, 10);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/paraver/broken/headers", test_headers);
  g_test_add_func ("/traces/paraver/broken/communicators", test_communicators);
  g_test_add_func ("/traces/paraver/broken/records", test_records);
  g_test_add_func ("/traces/paraver/broken/pcf", test_pcf);
  g_test_add_func ("/traces/paraver/broken/collectives-disagree", test_collectives_disagree);
  g_test_add_func ("/traces/paraver/broken/truncated", test_truncated);
  return g_test_run ();
}
