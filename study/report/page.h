/* page.h - pages of one file: JSON text that may stand in them, and frames that are filled.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The generator of json-glib writes all digits of a double and leaves '<' as it is; here numbers are
 * the shortest that read back, and no text ends a script. */
#pragma once

#include <glib.h>
#include <stdio.h>

/* Text that is not UTF-8 gets U+FFFD where it is not.  NULL is null. */
void study_page_add_string (GString *json, const char *text);
/* NaN and infinity are null. */
void study_page_add_number (GString *json, double value);
/* A comma unless the object or array was just opened. */
void study_page_add_comma (GString *json);
/* "name": with a comma before it unless the object or array was just opened. */
void study_page_add_member (GString *json, const char *name);
/* A member and its value. */
void study_page_add_string_member (GString *json, const char *name, const char *text);
void study_page_add_number_member (GString *json, const char *name, double value);
/* Base64 of the zlib stream of n bytes, as a string. */
void study_page_pack (GString *json, const void *bytes, gsize n);

/* The text as that of an element or attribute; the caller frees it. */
char *study_page_escape (const char *text);

typedef enum { STUDY_PAGE_TEXT, STUDY_PAGE_SCRIPT, STUDY_PAGE_STYLE } StudyPageKind;

typedef struct {
  const char *name, *text;
  StudyPageKind kind;
} StudyPagePart;

/* The looks of all pages, and uPlot, which draws curves. */
extern const char study_page_style[], study_page_vendor[];

/* Writes the frame with each @NAME@ replaced by the part of that name; the last part has no name.  @POLICY@
 * is a content security policy: the page may run and load nothing but the scripts and styles among the
 * parts. */
void study_page_write (FILE *out, const char *frame, const StudyPagePart *parts);
