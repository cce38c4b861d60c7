/* predict_testing.h - errors, changed texts, files, noise and methods of tests.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/random.h"
#include "predictors/model/method.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

/* Asserts an error of this domain, whose message holds the part, and clears it. */
static inline void
testing_take_error (GError **error, GQuark domain, const char *part)
{
  g_assert_nonnull (*error);
  g_assert_cmpstr (g_quark_to_string ((*error)->domain), ==, g_quark_to_string (domain));
  if (strstr ((*error)->message, part) == NULL)
    g_error ("\"%s\" is not in: %s", part, (*error)->message);
  g_clear_error (error);
}

typedef gpointer (*TestingRead) (const char *path, GError **error);

/* Reads a file with the first n bytes of the text; -1: all. */
static inline gpointer
testing_read (TestingRead read, const char *text, gssize n, GError **error)
{
  g_autofree char *path = NULL;
  gpointer object;

  g_close (g_file_open_tmp ("hopcast-test-XXXXXX", &path, NULL), NULL);
  g_assert_true (g_file_set_contents (path, text, n, NULL));
  object = read (path, error);
  g_unlink (path);
  return object;
}

/* A text that is refused once `from` in it is `to`, with this part of a message. */
typedef struct {
  const char *from, *to, *message;
} TestingChange;

typedef gpointer (*TestingParse) (const char *text, GError **error);

/* Makes each of n changes alone, and asserts that the text is refused. */
static inline void
testing_refuse (TestingParse parse, const char *text, const TestingChange *changes, gsize n,
                GQuark domain)
{
  for (gsize i = 0; i < n; i++) {
    g_auto (GStrv) parts = g_strsplit (text, changes[i].from, 2);
    g_autofree char *changed = g_strjoinv (changes[i].to, parts);
    GError *error = NULL;

    g_test_message ("\"%s\" in the place of \"%s\"", changes[i].to, changes[i].from);
    g_assert_cmpuint (g_strv_length (parts), ==, 2);
    g_assert_null (parse (changed, &error));
    testing_take_error (&error, domain, changes[i].message);
  }
}

/* Mean 0 and standard deviation 1: nearly normal, as the sum of twelve uniform numbers. */
static inline double
testing_normal (BaseRandom *random)
{
  double sum = -6;

  for (int i = 0; i < 12; i++)
    sum += base_random_unit (random);
  return sum;
}

/* Progress that grows, up to 1; data: the last share. */
static inline void
testing_note_share (void *data, double share)
{
  double *last = data;

  g_assert_cmpfloat (share, >, *last);
  g_assert_cmpfloat (share, <=, 1);
  *last = share;
}

/* Whether this build has the method: SVR is libsvm's. */
static inline gboolean
testing_has_method (PredictMethod method)
{
#ifdef HAVE_SVM
  return method < PREDICT_N_METHODS;
#else
  return method < PREDICT_N_METHODS && method != PREDICT_SVR;
#endif
}
