/* terminal.c - the user's locale, and text of files on its way to a terminal.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/terminal.h"

#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

/* SimGrid, hwloc and others fold the case of their own keywords with tolower() and toupper(), in which a
 * Turkish i differs from ours.  C.UTF-8 has the encoding without these rules; other encodings have no
 * such locale.  ASCII is the encoding of the locale C, in which file names may be UTF-8 all the same. */
void
cli_locale_set (void)
{
  const char *encoding;

  setlocale (LC_CTYPE, "");
  if (g_get_charset (&encoding) || g_str_equal (encoding, "ANSI_X3.4-1968"))
    setlocale (LC_CTYPE, "C.UTF-8");
}

char *
cli_visible (const char *text)
{
  GString *visible = g_string_new (NULL);

  while (*text != '\0') {
    const guchar *bytes = (const guchar *) text;
    gsize length = *bytes < 0x20 || *bytes == 0x7f                           ? 1
                   : bytes[0] == 0xc2 && bytes[1] >= 0x80 && bytes[1] < 0xa0 ? 2
                                                                             : 0;
    gunichar letter = g_utf8_get_char_validated (text, -1);

    if (length > 0) { /* a control character */
      g_string_append_printf (visible, "\\x%02x", (guchar) text[length - 1]);
      text += length;
    } else if (letter != (gunichar) -1 && letter != (gunichar) -2) {
      const char *next = g_utf8_next_char (text);

      g_string_append_len (visible, text, next - text);
      text = next;
    } else {
      /* A terminal of an 8-bit encoding takes 0x80 to 0x9f for C1. */
      if ((guchar) *text < 0xa0)
        g_string_append_printf (visible, "\\x%02x", (guchar) *text);
      else
        g_string_append_c (visible, *text);
      text++;
    }
  }
  return g_string_free (visible, FALSE);
}

/* Characters of a message that are printed, from its begin and from its end.  Both matter: the place
 * comes first, and the reason may come after a quoted line, which can be as long as the file. */
#define MESSAGE_HEAD 700
#define MESSAGE_TAIL 250

char *
cli_shorten (const char *message)
{
  gsize length = strlen (message);
  const char *head, *tail;

  if (length <= MESSAGE_HEAD + MESSAGE_TAIL)
    return g_strdup (message);
  head = message + MESSAGE_HEAD;
  tail = message + length - MESSAGE_TAIL;
  /* No character of UTF-8 is cut: its later bytes are 10xxxxxx. */
  while (head > message && (*head & 0xc0) == 0x80)
    head--;
  while (*tail != '\0' && (*tail & 0xc0) == 0x80)
    tail++;
  return g_strdup_printf ("%.*s ... %s", (int) (head - message), message, tail);
}

/* --- printf --- */

typedef struct {
  char text[32]; /* "%-18s", without its asterisks' values */
  int stars[2];
  guint n_stars;
  char modifier; /* 'l', 'L' (ll), 'h', 'z', 'j', 't' or 0 */
  char kind;
} Conversion;

/* The conversion behind the '%' at `format`; returns what follows it. */
static const char *
take_conversion (const char *format, Conversion *conversion)
{
  const char *start = format++;
  gsize n_flags = strspn (format, "-+ #0123456789.*"), n_modifiers;

  *conversion = (Conversion){ 0 };
  for (gsize i = 0; i < n_flags; i++)
    conversion->n_stars += format[i] == '*';
  format += n_flags;
  n_modifiers = strspn (format, "hlzjt");
  if (n_modifiers > 0)
    conversion->modifier = g_str_has_prefix (format, "ll") ? 'L' : *format;
  format += n_modifiers;
  conversion->kind = *format++;
  g_assert (conversion->n_stars <= 2 && (gsize) (format - start) < sizeof conversion->text);
  memcpy (conversion->text, start, (gsize) (format - start));
  return format;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

#define PUT(value)                                                      \
  (conversion->n_stars == 0 ? fprintf (out, conversion->text, (value))  \
   : conversion->n_stars == 1                                           \
       ? fprintf (out, conversion->text, conversion->stars[0], (value)) \
       : fprintf (out, conversion->text, conversion->stars[0], conversion->stars[1], (value)))

static void
put_text (FILE *out, const Conversion *conversion, va_list *arguments)
{
  const char *text = va_arg (*arguments, const char *);
  g_autofree char *visible = NULL, *part = NULL;

  /* "%.*s" may be of a text without an end. */
  if (conversion->n_stars > 0 && strstr (conversion->text, ".*") != NULL &&
      conversion->stars[conversion->n_stars - 1] >= 0) {
    part = g_strndup (text, (gsize) conversion->stars[conversion->n_stars - 1]);
    visible = cli_visible (part);
    if (conversion->n_stars == 2)
      fprintf (out, "%*s", conversion->stars[0], visible);
    else
      fputs (visible, out);
    return;
  }
  visible = cli_visible (text != NULL ? text : "(null)");
  PUT (visible);
}

static void
put_conversion (FILE *out, Conversion *conversion, va_list *arguments)
{
  for (guint i = 0; i < conversion->n_stars; i++)
    conversion->stars[i] = va_arg (*arguments, int);
  switch (conversion->kind) {
  case '%': fputc ('%', out); break;
  case 's': put_text (out, conversion, arguments); break;
  case 'd':
  case 'i':
  case 'u':
  case 'x':
  case 'X':
  case 'o':
  case 'c':
    switch (conversion->modifier) {
    case 'l': PUT (va_arg (*arguments, long)); break;
    case 'L': PUT (va_arg (*arguments, long long)); break;
    case 'z': PUT (va_arg (*arguments, size_t)); break;
    case 'j': PUT (va_arg (*arguments, intmax_t)); break;
    case 't': PUT (va_arg (*arguments, ptrdiff_t)); break;
    default: PUT (va_arg (*arguments, int)); break;
    }
    break;
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G': PUT (va_arg (*arguments, double)); break;
  case 'p': PUT (va_arg (*arguments, void *)); break;
  default: g_assert_not_reached ();
  }
}

#pragma GCC diagnostic pop

void
cli_printf (FILE *out, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  while (*format != '\0') {
    gsize plain = strcspn (format, "%");
    Conversion conversion;

    fwrite (format, 1, plain, out);
    format += plain;
    if (*format == '\0')
      break;
    format = take_conversion (format, &conversion);
    put_conversion (out, &conversion, &arguments);
  }
  va_end (arguments);
}
