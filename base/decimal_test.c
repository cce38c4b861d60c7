/* decimal_test.c - decimals against the C library, bit by bit.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"

#include <glib.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* All of `text` is a number, and the one that strtod() reads. */
static void
assert_as_strtod (const char *text)
{
  double value = 0, expected = strtod (text, NULL);
  const char *end = base_decimal (text, &value);

  if (end != text + strlen (text) || memcmp (&value, &expected, sizeof value) != 0)
    g_error ("\"%s\": %a, expected %a", text, value, expected);
}

static char *
random_digits (int n)
{
  char *digits = g_malloc0 ((gsize) n + 1);

  for (int at = 0; at < n; at++)
    digits[at] = (char) ('0' + g_test_rand_int_range (0, 10));
  return digits;
}

/* Signs, up to 25 digits on either side of the point, exponents to beyond the limits. */
static void
test_random_decimals (void)
{
  for (int count = 0; count < 100000; count++) {
    g_autofree char *before = random_digits (g_test_rand_int_range (1, count % 5 == 0 ? 25 : 8));
    g_autofree char *after = random_digits (g_test_rand_int_range (0, count % 3 == 0 ? 25 : 8));
    g_autofree char *exponent =
        g_test_rand_bit ()
            ? g_strdup ("")
            : g_strdup_printf ("e%+d", count % 2 == 0 ? g_test_rand_int_range (-30, 30)
                                                      : g_test_rand_int_range (-350, 330));
    g_autofree char *text =
        g_strdup_printf ("%s%s%s%s%s", g_test_rand_bit () ? "-" : "", before,
                         g_test_rand_bit () || *after != '\0' ? "." : "", after, exponent);

    assert_as_strtod (text);
  }
}

/* What programs print of doubles: random bits, and values of everyday size. */
static void
test_printed_doubles (void)
{
  for (int count = 0; count < 100000; count++) {
    double value = g_test_rand_double_range (-1, 1) * pow (10, count % 8);
    uint64_t bits =
        ((uint64_t) (uint32_t) g_test_rand_int () << 32) | (uint32_t) g_test_rand_int ();
    char text[BASE_DECIMAL_SIZE];

    if (count % 2 == 0)
      memcpy (&value, &bits, sizeof value);
    if (!isfinite (value))
      continue;
    g_snprintf (text, sizeof text, "%.17g", value);
    assert_as_strtod (text);
    g_assert_cmpfloat (strtod (text, NULL), ==, value);
    assert_as_strtod (base_decimal_print (text, value));
    g_assert_cmpfloat (strtod (text, NULL), ==, value);
  }
}

/* Half way between two doubles, a digit away from there, and (the last four) so little above it
 * that only the remainder of the division tells. */
static void
test_half_ways (void)
{
  static const char *const texts[] = {
    "9007199254740993",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993e0",
    "9007199254740995",
    "900719925474099.3",
    "1.0000000000000001110",
    "1.000000000000000111",
    "1.00000000000000011102",
    "0.5000000000000000555",
    "0.50000000000000005551",
    "4503599627370497.5",
    "4503599627370496.5",
    "4503599627370497.4999",
    "2251799813685248.25",
    "2251799813685248.75",
    "2251799813685248.125",
    "18446744073709551615",
    "18446744073709551616",
    "9999999999999999999",
    "9999999999999999999e-19",
    "9999999999999999999e-20",
    "1e22",
    "1e23",
    "8.5e22",
    "12345678901234567e-19",
    "9007199254740993e-22",
    "3.588538124758166470",
    "5.212980784838349369",
    "7.321578097503240290",
    "1.088379973332623707",
  };

  for (gsize at = 0; at < G_N_ELEMENTS (texts); at++)
    assert_as_strtod (texts[at]);
}

static void
test_limits (void)
{
  static const char *const texts[] = {
    "0",
    "-0",
    "0.0",
    "-0.0e5",
    "0e999999999999999999999",
    "1e400",
    "-1e400",
    "1e-400",
    "5e-324",
    "2.4703282292062327e-324",
    "2e-324",
    "4.9e-324",
    "1e308",
    "2.2250738585072014e-308",
    "2.2250738585072011e-308",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "1e99999999999999999999",
    "1e-99999999999999999999",
    "5.",
    ".5",
    "+7",
    "+.25e+1",
    "00000000000000000000000000001",
    "0.000000000000000000000000000001",
  };
  g_autofree char *zeros = g_strnfill (200000, '0');
  g_autofree char *up = g_strconcat ("0.", zeros, "1e200001", NULL);
  g_autofree char *down = g_strconcat ("1", zeros, "e-200000", NULL);

  for (gsize at = 0; at < G_N_ELEMENTS (texts); at++)
    assert_as_strtod (texts[at]);
  assert_as_strtod (up);
  assert_as_strtod (down);
}

static void
test_where_it_ends (void)
{
  static const struct {
    const char *text;
    int length; /* -1: no number */
  } cases[] = {
    { "", -1 },    { ".", -1 },    { "-", -1 },    { "-.", -1 },  { "e5", -1 },  { "x", -1 },
    { " 1", -1 },  { "--1", -1 },  { "+-1", -1 },  { "nan", -1 }, { "inf", -1 }, { ".e1", -1 },
    { "1,2", 1 },  { "1.5.2", 3 }, { "1e", 1 },    { "1e+", 1 },  { "1e+x", 1 }, { "1e5e", 3 },
    { "0x10", 1 }, { "1 ", 1 },    { "1_000", 1 }, { "12\n", 2 }, { "1d5", 1 },  { "-1-", 2 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    double value;
    const char *end = base_decimal (cases[at].text, &value);

    g_assert_cmpint (end == NULL ? -1 : (int) (end - cases[at].text), ==, cases[at].length);
  }
}

static void
test_whole_texts (void)
{
  static const struct {
    const char *text;
    double value;
  } numbers[] = { { "1", 1 },
                  { " \t2.5e1 ", 25 },
                  { "inf", INFINITY },
                  { "-INF", -INFINITY },
                  { "+Infinity", INFINITY },
                  { " -infinity ", -INFINITY } };
  static const char *const nans[] = { "nan", "NaN", "-NAN", " nan" };
  static const char *const texts[] = { "",     " ",     "1 2",   "0x10", "1e", "nan(1)", "in",
                                       "infi", "- inf", "+-inf", "1,",   "NA", "nano",   "++1" };
  double value;

  for (gsize at = 0; at < G_N_ELEMENTS (numbers); at++) {
    g_assert_true (base_decimal_all (numbers[at].text, &value));
    g_assert_cmpfloat (value, ==, numbers[at].value);
  }
  for (gsize at = 0; at < G_N_ELEMENTS (nans); at++) {
    g_assert_true (base_decimal_all (nans[at], &value));
    g_assert_true (isnan (value));
  }
  for (gsize at = 0; at < G_N_ELEMENTS (texts); at++)
    g_assert_false (base_decimal_all (texts[at], &value));
}

static void
test_print (void)
{
  static const struct {
    double value;
    const char *text;
  } cases[] = { { 0.1, "0.1" },
                { 1, "1" },
                { 1e300, "1e+300" },
                { NAN, "" },
                { 1.0 / 3, "0.3333333333333333" },
                { INFINITY, "inf" },
                { -0.0, "-0" },
                { 0.1 + 0.2, "0.30000000000000004" } };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    char text[BASE_DECIMAL_SIZE];

    g_assert_cmpstr (base_decimal_print (text, cases[at].value), ==, cases[at].text);
  }
}

/* Against the C library: all sizes, what six digits nearly decide (ties of the binary value, one
 * rounding to the next power of ten), and shares as tables have them. */
static void
test_print_6 (void)
{
  static const double values[] = {
    0,          -0.0,         1,
    -1,         0.5,          0.1,
    1e-4,       9.9999949e-5, 9.9999951e-5,
    1e-5,       99999.95,     999999,
    999998.5,   999999.5,     1e6,
    0.00099999, 0.000999999,  0.9999995,
    1.5,        2.5,          0.0018,
    0.0192,     100000.5,     100001.5,
    12345.65,   0.25,         0.9999994999,
    1e300,      5e-324,       INFINITY,
    10,         100,          123456,
    1e5,        0.000123456,  9.5367431640625e-7,
  };
  char text[BASE_DECIMAL_SIZE], expected[BASE_DECIMAL_SIZE];

  for (gsize i = 0; i < G_N_ELEMENTS (values); i++)
    g_assert_cmpstr (base_decimal_print_6 (text, values[i]), ==,
                     g_ascii_formatd (expected, sizeof expected, "%.6g", values[i]));
  for (int count = 0; count < 300000; count++) {
    double value = g_test_rand_double () * pow (10, count % 14 - 7);

    /* Every third is a binary fraction, of which many are half way between two decimals. */
    if (count % 3 == 0)
      value = ldexp (g_test_rand_int_range (0, 1 << 30), -g_test_rand_int_range (1, 34));
    else if (count % 3 == 1)
      value = (double) g_test_rand_int_range (0, 40000) * 1e12 /
              (2e9 * (double) g_test_rand_int_range (1, 100000000));
    g_assert_cmpstr (base_decimal_print_6 (text, value), ==,
                     g_ascii_formatd (expected, sizeof expected, "%.6g", value));
  }
}

static void
test_put (void)
{
  char text[32], expected[32];

  for (int count = 0; count < 10000; count++) {
    uint64_t value =
        (((uint64_t) (uint32_t) g_test_rand_int () << 32) | (uint32_t) g_test_rand_int ()) >>
        count % 64;

    value = count == 0 ? UINT64_MAX : count == 1 ? 0 : value;
    *base_decimal_put (text, value) = '\0';
    g_snprintf (expected, sizeof expected, "%" G_GUINT64_FORMAT, value);
    g_assert_cmpstr (text, ==, expected);
  }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/predictors/decimal/random", test_random_decimals);
  g_test_add_func ("/predictors/decimal/printed", test_printed_doubles);
  g_test_add_func ("/predictors/decimal/half-ways", test_half_ways);
  g_test_add_func ("/predictors/decimal/limits", test_limits);
  g_test_add_func ("/predictors/decimal/ends", test_where_it_ends);
  g_test_add_func ("/predictors/decimal/whole", test_whole_texts);
  g_test_add_func ("/predictors/decimal/print", test_print);
  g_test_add_func ("/predictors/decimal/print-6", test_print_6);
  g_test_add_func ("/predictors/decimal/put", test_put);
  return g_test_run ();
}
