/* power_test.c - energy worked by hand, and power files that are wrong.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/power.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static gboolean
read_text (const char *text, StudyPower *power, GError **error)
{
  g_autofree char *path = NULL;
  int file = g_file_open_tmp ("power-XXXXXX.conf", &path, NULL);
  gboolean read;

  g_assert_cmpint (file, >=, 0);
  close (file);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  read = study_power_read (path, power, error);
  g_unlink (path);
  return read;
}

/* Four nodes of 100 + 2 * 10 + 4 * 5 W for 3 s, and 2 GB at half a joule each. */
static void
test_energy (void)
{
  const TopoPattern pattern = { .n_nodes = 4, .n_sockets = 2, .n_tasks = 4 };
  g_autoptr (GError) error = NULL;
  StudyPower power;

  g_assert_true (read_text ("[power]\nidle = 0.1 kW\nsocket=10W\ncore = 5000 mW\nmemory = 0.5 "
                            "W/(GB/s)\n",
                            &power, &error));
  g_assert_no_error (error);
  g_assert_cmpfloat_with_epsilon (study_power_energy_J (&power, &pattern, 3, 2e9), 4 * 140 * 3 + 1,
                                  1e-9);
}

static void
test_missing_are_nothing (void)
{
  const TopoPattern pattern = { .n_nodes = 2, .n_sockets = 2, .n_tasks = 8 };
  StudyPower power;

  g_assert_true (read_text ("[power]\nidle = 50 W\n", &power, NULL));
  g_assert_cmpfloat_with_epsilon (study_power_energy_J (&power, &pattern, 1, 1e9), 100, 1e-9);
}

static void
test_errors (void)
{
  static const struct {
    const char *text, *message;
  } cases[] = {
    { "[power]\ncore = 5 W\n", "idle of [power] is missing" },
    { "[power]\nidle = 50\n", ":2: idle: expected a number of at least 0 with W, kW or mW, such as "
                              "12 W, found \"50\"" },
    { "[power]\nidle = 5 W\ncore = 3\\x W\n", "found \"3\\x W\"" },
    { "[power]\nidle = 50 J\n", "found \"50 J\"" },
    { "[power]\nidle = -1 W\n", "found \"-1 W\"" },
    { "[power]\nidle = 1 W\nmemory = 3 W\n", ":3: memory: expected" },
    { "[power]\nidle = 1 W\nsockets = 3 W\n", ":3: unknown key \"sockets\"; did you mean socket" },
    { "[power]\nidle = 1 W\n[energy]\n", ":3: unknown group \"energy\"; known is power" },
    { "idle = 1 W\n", ":1: expected [group]" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error = NULL;
    StudyPower power;

    g_assert_false (read_text (cases[i].text, &power, &error));
    if (strstr (error->message, cases[i].message) == NULL)
      g_error ("\"%s\" has not \"%s\"", error->message, cases[i].message);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/power/energy", test_energy);
  g_test_add_func ("/power/missing", test_missing_are_nothing);
  g_test_add_func ("/power/errors", test_errors);
  return g_test_run ();
}
