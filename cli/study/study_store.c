/* study_store.c - opens a store by its own path or by that of its study.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/study_store.h"

#include "cli/command.h"
#include "study/plan/plan.h"

#include <stdio.h>
#include <string.h>

/* Every SQLite database begins with it. */
#define MAGIC "SQLite format 3"

gboolean
cli_is_store (const char *path)
{
  char head[sizeof MAGIC] = "";
  FILE *file;
  gboolean is_one;

  /* Reading would consume the bytes of a pipe, which cannot be a store. */
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return FALSE;
  file = fopen (path, "rb");
  if (!file)
    return FALSE;
  is_one = fread (head, 1, sizeof head, file) == sizeof head && !memcmp (head, MAGIC, sizeof head);
  fclose (file);
  return is_one;
}

StudyStore *
cli_study_store_open (const char *path, GError **error)
{
  g_autoptr (StudyPlan) plan = NULL;
  g_autofree char *text = NULL;
  gsize length;

  /* Text may be a study; anything else is opened, and reported, as a store. */
  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR) || cli_is_store (path) ||
      !g_file_get_contents (path, &text, &length, NULL) || length == 0 ||
      !g_utf8_validate (text, (gssize) length, NULL))
    return study_store_open (path, STUDY_STORE_READ, error);
  plan = study_plan_load (path, error);
  if (!plan)
    return NULL;
  if (!g_file_test (plan->store_path, G_FILE_TEST_EXISTS)) {
    cli_fail (error, "%s: nothing was run yet: there is no %s; see 'hopcast study run'", path,
              plan->store_path);
    return NULL;
  }
  return study_store_open (plan->store_path, STUDY_STORE_READ, error);
}
