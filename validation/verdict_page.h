/* verdict_page.h - one HTML page of the results of suites, with a picture of each.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The page needs no script, no network and no other file.  At the top are the counts of each suite, then
 * by suite a picture and a table.  The same results give the same bytes. */
#pragma once

#include "validation/suite.h"

typedef struct ValidationPage ValidationPage;

ValidationPage *validation_page_new (void);
void validation_page_free (ValidationPage *page);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ValidationPage, validation_page_free)

/* Copies the result.  Those of a suite come one after the other. */
void validation_page_add (ValidationPage *page, const ValidationResult *result);

/* program: as in "hopcast 0.2.0".  Errors of the stream are the caller's to find. */
void validation_page_write (const ValidationPage *page, const char *program, FILE *out);

/* The published figure as people read it: "2.8 +-5%", "0.85..0.95", ">= 1.2"; the caller frees it. */
char *validation_published_text (const ValidationPublished *published);
