/* plan_values.h - {NAME} in the texts of a study file; private to the plan.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A binding says which value each name has, as its index; -1 for the names that a
 * text does not have. */
#pragma once

#include <glib.h>

typedef struct {
  char *name;
  char **values;
  gboolean is_used; /* by any text */
} StudyValue;

typedef struct {
  GArray *all; /* (element-type StudyValue) */
} StudyValues;

StudyValues study_values_new (void);
void study_values_clear (StudyValues *values);

/* Takes the NULL-terminated values, of which there is at least one. */
void study_values_add (StudyValues *values, const char *name, char **list);
gboolean study_values_has (const StudyValues *values, const char *name);

/* The first binding of the names in a text: NULL and *error when it has one that
 * nothing defines.  g_free(). */
int *study_values_bind (const StudyValues *values, const char *text, GError **error);
/* The next one; false after the last. */
gboolean study_values_next (const StudyValues *values, int *binding);
int *study_values_copy (const StudyValues *values, const int *binding);
/* A text with its names replaced. */
char *study_values_fill (const StudyValues *values, const char *text, const int *binding);

/* Whether no name has two values. */
gboolean study_values_agree (const StudyValues *values, const int *left, const int *right);
/* Whether the name either is not in it or has that value. */
gboolean
study_values_allow (const StudyValues *values, const int *binding, const char *name, int value);
