/* page_fixture.h - what is in a page, read back as a browser would.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <json-glib/json-glib.h>

/* The object in its element with the id data. */
JsonNode *page_data (const char *page);
/* Base64 of a zlib stream; *n bytes. */
guint8 *page_unpack (const char *text, gsize *n);
/* The text between two marks, the second after the first. */
char *page_between (const char *text, const char *from, const char *to);
