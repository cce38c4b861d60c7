/* unit.c - numbers with units, and tables of VL arbiters, as people write them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/unit.h"

#include "topology/machine.h"

#include <math.h>
#include <string.h>

/* --- Tables of VL arbiters --- */

#define MAX_VL     14 /* 15 is management's */
#define MAX_WEIGHT 255

/* "none", or VL:weight up to 64 times with commas; otherwise FALSE and *error (TOPO_ERROR). */
static gboolean
vl_weights_parse (const char *text, TopoVlWeights *weights, GError **error)
{
  g_auto (GStrv) entries = g_strsplit (text, ",", -1);
  TopoVlWeights parsed = { 0 };

  if (g_str_equal (text, "none")) {
    *weights = parsed;
    return TRUE;
  }
  if (g_strv_length (entries) > TOPO_VL_ENTRIES) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "at most %d entries, found %u",
                 TOPO_VL_ENTRIES, g_strv_length (entries));
    return FALSE;
  }
  for (gsize at = 0; entries[at] != NULL; at++) {
    g_auto (GStrv) parts = g_strsplit (entries[at], ":", -1);
    guint64 vl, weight;

    if (g_strv_length (parts) != 2 ||
        !g_ascii_string_to_unsigned (g_strstrip (parts[0]), 10, 0, MAX_VL, &vl, NULL) ||
        !g_ascii_string_to_unsigned (g_strstrip (parts[1]), 10, 0, MAX_WEIGHT, &weight, NULL)) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "expected VL:weight (0..%d and 0..%d), found \"%s\"", MAX_VL, MAX_WEIGHT,
                   entries[at]);
      return FALSE;
    }
    parsed.vl[parsed.n] = (uint8_t) vl;
    parsed.weight[parsed.n++] = (uint8_t) weight;
  }
  if (parsed.n == 0) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "expected none, or VL:weight,VL:weight..., found \"%s\"", text);
    return FALSE;
  }
  *weights = parsed;
  return TRUE;
}

/* --- Numbers: 40 ns, 2 GB/s, 3 % --- */

/* 2^50: up to here the product of two rounded doubles still rounds to the
 * right whole number.  As a time it is 18 minutes. */
#define MAX_WHOLE 1125899906842624.0

/* How a unit is written.  Those of a kind stand together, largest first. */
typedef struct {
  TopoUnit unit;
  const char *name;
  uint64_t scale; /* of the whole kinds: smallest units in one of these */
  int exponent;   /* of the real kinds: the same as a power of ten */
  int decimals;   /* digits after the point when printed; -1: only read */
} Name;

static const Name names[] = {
  { TOPO_UNIT_TIME, "s", 1000000000000, 0, 3 },
  { TOPO_UNIT_TIME, "ms", 1000000000, 0, 3 },
  { TOPO_UNIT_TIME, "us", 1000000, 0, 3 },
  { TOPO_UNIT_TIME, "ns", 1000, 0, 3 },
  { TOPO_UNIT_TIME, "ps", 1, 0, 0 },
  { TOPO_UNIT_BYTES, "GiB", 1073741824, 0, 0 },
  { TOPO_UNIT_BYTES, "MiB", 1048576, 0, 0 },
  { TOPO_UNIT_BYTES, "KiB", 1024, 0, 0 },
  { TOPO_UNIT_BYTES, "GB", 1000000000, 0, -1 },
  { TOPO_UNIT_BYTES, "MB", 1000000, 0, -1 },
  { TOPO_UNIT_BYTES, "kB", 1000, 0, -1 },
  { TOPO_UNIT_BYTES, "B", 1, 0, 0 },
  { TOPO_UNIT_BANDWIDTH, "TB/s", 1000000000000, 0, 3 },
  { TOPO_UNIT_BANDWIDTH, "GB/s", 1000000000, 0, 3 },
  { TOPO_UNIT_BANDWIDTH, "MB/s", 1000000, 0, 3 },
  { TOPO_UNIT_BANDWIDTH, "kB/s", 1000, 0, 3 },
  { TOPO_UNIT_BANDWIDTH, "B/s", 1, 0, 0 },
  { TOPO_UNIT_BANDWIDTH, "Gb/s", 125000000, 0, -1 },
  { TOPO_UNIT_BANDWIDTH, "Mb/s", 125000, 0, -1 },
  { TOPO_UNIT_BANDWIDTH, "kb/s", 125, 0, -1 },
  { TOPO_UNIT_COUNT, "", 1, 0, 0 },
  { TOPO_UNIT_SHARE, "%", 0, -2, 0 },
  { TOPO_UNIT_FLOPS, "Tflop/s", 0, 12, 0 },
  { TOPO_UNIT_FLOPS, "Gflop/s", 0, 9, 0 },
  { TOPO_UNIT_FLOPS, "Mflop/s", 0, 6, 0 },
  { TOPO_UNIT_FLOPS, "flop/s", 0, 0, 0 },
};

/* A number in two parts, so that a unit moves the decimal point exactly. */
typedef struct {
  char *mantissa;
  int exponent;
} Decimal;

/* Reads digits[.digits][e[sign]digits] and moves *text behind it. */
static gboolean
parse_decimal (const char **text, Decimal *decimal)
{
  static const char digits[] = "0123456789";
  const char *at = *text;
  gsize n_digits = strspn (at, digits);

  at += n_digits;
  if (*at == '.') {
    gsize n_decimals = strspn (++at, digits);

    n_digits += n_decimals;
    at += n_decimals;
  }
  if (n_digits == 0)
    return FALSE;
  decimal->mantissa = g_strndup (*text, (gsize) (at - *text));
  decimal->exponent = 0;
  if (*at == 'e' || *at == 'E') {
    gsize n_sign = at[1] == '-' || at[1] == '+';
    gsize n_exponent = strspn (at + 1 + n_sign, digits);

    if (n_exponent > 0 && n_exponent < 5) {
      decimal->exponent = (int) g_ascii_strtoll (at + 1, NULL, 10);
      at += 1 + n_sign + n_exponent;
    }
  }
  *text = at;
  return TRUE;
}

/* The decimal times ten to the power of `shift`, correctly rounded. */
static double
decimal_value (const Decimal *decimal, int shift)
{
  g_autofree char *text = g_strdup_printf ("%se%d", decimal->mantissa, decimal->exponent + shift);

  return g_ascii_strtod (text, NULL);
}

gboolean
topo_unit_parse (TopoUnit unit, const char *text, TopoValue *value, GError **error)
{
  const char *rest = text;
  Decimal decimal;
  g_autofree char *mantissa = NULL;
  g_autoptr (GString) list = g_string_new (NULL);
  const Name *name = NULL;
  double exact, whole;

  *value = (TopoValue){ 0 };
  if (unit == TOPO_UNIT_BOOLEAN) {
    value->whole = g_str_equal (text, "true");
    if (!value->whole && !g_str_equal (text, "false")) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "expected true or false, found \"%s\"",
                   text);
      return FALSE;
    }
    return TRUE;
  }
  if (unit == TOPO_UNIT_VL_WEIGHTS)
    return vl_weights_parse (text, &value->weights, error);
  if (!parse_decimal (&rest, &decimal)) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "expected a number%s, found \"%s\"",
                 unit == TOPO_UNIT_COUNT ? "" : " with its unit", text);
    return FALSE;
  }
  mantissa = decimal.mantissa;
  while (*rest == ' ')
    rest++;
  for (gsize at = 0; at < G_N_ELEMENTS (names); at++)
    if (names[at].unit == unit) {
      if (g_str_equal (names[at].name, rest))
        name = &names[at];
      g_string_append_printf (list, "%s%s", list->len > 0 ? ", " : "", names[at].name);
    }
  if (name == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "\"%s\" %s (%s)", text,
                 *rest == '\0' ? "lacks its unit" : "has an unknown unit",
                 unit == TOPO_UNIT_COUNT ? "a plain number is expected" : list->str);
    return FALSE;
  }
  if (topo_unit_is_real (unit)) {
    value->real = decimal_value (&decimal, name->exponent);
    return TRUE;
  }
  exact = decimal_value (&decimal, 0) * (double) name->scale;
  whole = round (exact);
  if (!(whole <= MAX_WHOLE)) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "\"%s\" is too large", text);
    return FALSE;
  }
  /* The product of two doubles is good to 2^-52 of itself. */
  if (fabs (exact - whole) > 1e-12 * exact) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "\"%s\" is finer than the smallest unit",
                 text);
    return FALSE;
  }
  value->whole = (uint64_t) whole;
  return TRUE;
}

/* In the largest unit that needs at most its number of decimals. */
static char *
print_whole (TopoUnit unit, uint64_t whole)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const Name *name = names;

  for (;; name++) {
    uint64_t finest = name->decimals == 3 ? name->scale / 1000 : name->scale;

    if (name->unit == unit && name->decimals >= 0 &&
        ((whole >= name->scale && whole % finest == 0) || (name->scale == 1 && whole == 0)))
      break;
  }
  if (name->decimals == 3) {
    /* "12.3" for 12300 thousandths. */
    uint64_t thousandths = whole / (name->scale / 1000);

    g_string_printf (text, "%" G_GUINT64_FORMAT ".%03u", thousandths / 1000,
                     (guint) (thousandths % 1000));
    while (text->str[text->len - 1] == '0')
      g_string_truncate (text, text->len - 1);
    if (text->str[text->len - 1] == '.')
      g_string_truncate (text, text->len - 1);
  } else
    g_string_printf (text, "%" G_GUINT64_FORMAT, whole / name->scale);
  return g_strdup_printf ("%s%s%s", text->str, *name->name == '\0' ? "" : " ", name->name);
}

static char *
print_real (TopoUnit unit, double real)
{
  g_autoptr (GString) number = NULL;
  const Name *name = names;
  char digits[40];
  const char *digit = digits;
  int exponent; /* of the first digit */

  /* The shortest decimal that reads back as `real`. */
  for (int precision = 0; precision < 17; precision++) {
    g_autofree char *format = g_strdup_printf ("%%.%de", precision);

    g_ascii_formatd (digits, sizeof digits, format, real);
    if (g_ascii_strtod (digits, NULL) == real)
      break;
  }
  exponent = (int) g_ascii_strtoll (strchr (digits, 'e') + 1, NULL, 10);
  *strchr (digits, 'e') = '\0';
  if (digits[1] == '.')
    memmove (digits + 1, digits + 2, strlen (digits + 1));

  while (name->unit != unit)
    name++;
  while (name + 1 < names + G_N_ELEMENTS (names) && name[1].unit == unit &&
         exponent < name->exponent)
    name++;
  if (real == 0)
    return g_strdup_printf ("0 %s", name->name);
  /* Puts the decimal point after the digit of power 0. */
  exponent -= name->exponent;
  number = g_string_new (exponent < 0 ? "0." : NULL);
  for (int power = -1; power > exponent; power--)
    g_string_append_c (number, '0');
  for (int power = exponent; *digit != '\0' || power >= 0; power--) {
    if (power == -1 && exponent >= 0)
      g_string_append_c (number, '.');
    g_string_append_c (number, *digit != '\0' ? *digit++ : '0');
  }
  return g_strdup_printf ("%s %s", number->str, name->name);
}

char *
topo_unit_print (TopoUnit unit, TopoValue value)
{
  if (unit == TOPO_UNIT_BOOLEAN)
    return g_strdup (value.whole ? "true" : "false");
  if (unit == TOPO_UNIT_VL_WEIGHTS) {
    GString *text = g_string_new (value.weights.n == 0 ? "none" : NULL);

    for (uint32_t at = 0; at < value.weights.n; at++)
      g_string_append_printf (text, "%s%u:%u", at > 0 ? "," : "", value.weights.vl[at],
                              value.weights.weight[at]);
    return g_string_free (text, FALSE);
  }
  if (topo_unit_is_real (unit))
    return print_real (unit, value.real);
  return print_whole (unit, value.whole);
}
