/* profile_test.c - calls, bytes and times summed up by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/profile.h"

#include "traces/trace_testing.h"

#include <string.h>

static const char program[] = "0 init\n1 init\n"
                              "0 compute 5e6\n1 compute 1e6\n"
                              "0 send 1 0 100 6\n1 recv 0 0 100 6\n"
                              "0 send 1 0 20 6\n1 recv 0 0 20 6\n"
                              "0 alltoall 7 7 6 6\n1 alltoall 7 7 6 6\n"
                              "0 finalize\n1 finalize\n";

static TraceProfile *
profile_of (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = trace_testing_write_text (folder, "trace.txt", text);
  g_autoptr (Trace) trace = trace_testing_open (path);
  TraceProfile *profile = trace_profile_new (trace, NULL, NULL, &error);

  g_assert_no_error (error);
  return profile;
}

static const TraceCallSite *
site_named (const TraceProfile *profile, const char *name)
{
  for (guint i = 0; i < profile->sites->len; i++) {
    const TraceCallSite *site = &g_array_index (profile->sites, TraceCallSite, i);

    if (!strcmp (site->name, name))
      return site;
  }
  g_error ("no %s", name);
}

static void
test_calls_are_summed_over_ranks (void)
{
  g_autoptr (TraceProfile) profile = profile_of (program);

  g_assert_cmpuint (profile->sites->len, ==, 5);
  g_assert_cmpuint (site_named (profile, "MPI_Send")->calls, ==, 2);
  g_assert_cmpuint (site_named (profile, "MPI_Send")->bytes, ==, 120);
  g_assert_cmpuint (site_named (profile, "MPI_Recv")->bytes, ==, 0);
  g_assert_cmpuint (site_named (profile, "MPI_Alltoall")->calls, ==, 2);
  g_assert_cmpuint (site_named (profile, "MPI_Alltoall")->bytes, ==, 14);
  g_assert_cmpfloat (profile->flops, ==, 6e6);
}

/* Without times the order is that of the bytes. */
static void
test_most_bytes_come_first (void)
{
  g_autoptr (TraceProfile) profile = profile_of (program);

  g_assert_cmpint (profile->call_ps, ==, 0);
  g_assert_cmpstr (g_array_index (profile->sites, TraceCallSite, 0).name, ==, "MPI_Send");
  g_assert_cmpstr (g_array_index (profile->sites, TraceCallSite, 1).name, ==, "MPI_Alltoall");
}

static void
count_progress (void *data, double share)
{
  double *last = data;

  g_assert_cmpfloat (share, >, *last);
  *last = share;
}

static void
test_progress_ends_at_one (void)
{
  g_autofree char *path = trace_testing_shipped ("comd-256.ti.gz");
  g_autoptr (Trace) trace = trace_testing_open (path);
  double last = 0;
  g_autoptr (TraceProfile) profile = trace_profile_new (trace, count_progress, &last, NULL);

  g_assert_nonnull (profile);
  g_assert_cmpfloat (last, ==, 1);
}

static void
test_broken_trace_is_an_error (void)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  static const char text[] = "0 init\n0 send 1 0 x 6\n1 init\n";
  g_autofree char *path = trace_testing_write_text (folder, "trace.txt", text);
  g_autoptr (Trace) trace = trace_testing_open (path);

  g_assert_null (trace_profile_new (trace, NULL, NULL, &error));
  g_assert_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/traces/profile/sums", test_calls_are_summed_over_ranks);
  g_test_add_func ("/traces/profile/order", test_most_bytes_come_first);
  g_test_add_func ("/traces/profile/progress", test_progress_ends_at_one);
  g_test_add_func ("/traces/profile/broken", test_broken_trace_is_an_error);
  return g_test_run ();
}
