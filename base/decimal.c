/* decimal.c - decimal numbers in text, to the nearest double.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Most numbers of tables have few digits.  Two ways are exact and take some
 * nanoseconds; strtod() does the rest. */
#include "base/decimal.h"

#include "base/int128.h"

#include <float.h>
#include <glib.h>
#include <math.h>
#include <string.h>

/* A 64-bit integer holds any number of 19 digits. */
#define MAX_DIGITS 19
/* 10^22 is the largest power of ten that a double is exactly, 10^19 that 64 bits hold. */
#define MAX_EXACT_EXPONENT   22
#define MAX_INTEGER_EXPONENT 19
/* Limit of an exponent: no text has as many digits to compensate it. */
#define HUGE_EXPONENT (G_MAXINT64 / 100)

#define BLANKS " \t"

/* mantissa x 10^exponent. */
typedef struct {
  uint64_t mantissa;
  int n_digits; /* from the first that is not 0, at most MAX_DIGITS + 1 */
  int64_t exponent;
} Decimal;

static const double exact_powers[MAX_EXACT_EXPONENT + 1] = {
  1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static inline bool
is_digit (char c)
{
  return (unsigned char) (c - '0') < 10;
}

/* After more than MAX_DIGITS digits the mantissa is void; strtod() reads the number. */
static inline const char *
take_digits (const char *at, Decimal *decimal)
{
  const char *first;

  if (decimal->n_digits == 0)
    while (*at == '0')
      at++;
  first = at;
  for (; is_digit (*at); at++)
    decimal->mantissa = decimal->mantissa * 10 + (uint64_t) (*at - '0');
  decimal->n_digits = (int) MIN (decimal->n_digits + (at - first), MAX_DIGITS + 1);
  return at;
}

/* mantissa / 10^places, for 1 <= places <= MAX_INTEGER_EXPONENT: an integer quotient of 63 or 64
 * bits whose lowest bit stands for the remainder too, so that its conversion, which leaves
 * 53 bits, rounds as the exact quotient would. */
static double
divide (uint64_t mantissa, int64_t places)
{
  uint64_t divisor = (uint64_t) exact_powers[places];
  int mantissa_shift = __builtin_clzll (mantissa), divisor_shift;
  BaseUint128 dividend;
  uint64_t quotient;

  divisor_shift = __builtin_clzll (divisor);
  divisor <<= divisor_shift;
  dividend = (BaseUint128) (mantissa << mantissa_shift) << 63;
  quotient = (uint64_t) (dividend / divisor);
  quotient |= (BaseUint128) quotient * divisor != dividend;
  return ldexp ((double) quotient, divisor_shift - mantissa_shift - 63);
}

const char *
base_decimal (const char *text, double *value)
{
  bool negative = *text == '-';
  const char *first = text + (*text == '-' || *text == '+'), *at;
  Decimal decimal = { 0 };

  at = take_digits (first, &decimal);
  if (*at == '.') {
    const char *fraction = at + 1;

    at = take_digits (fraction, &decimal);
    decimal.exponent = fraction - at;
    if (at == first + 1)
      return NULL;
  } else if (at == first)
    return NULL;
  if (*at == 'e' || *at == 'E') {
    const char *digit = at + 1 + (at[1] == '-' || at[1] == '+');
    int64_t exponent = 0;

    if (is_digit (*digit)) {
      for (; is_digit (*digit); digit++)
        exponent = MIN (exponent * 10 + (*digit - '0'), HUGE_EXPONENT);
      decimal.exponent += at[1] == '-' ? -exponent : exponent;
      at = digit;
    }
  }

  if (FLT_EVAL_METHOD == 0 && decimal.n_digits <= MAX_DIGITS &&
      decimal.mantissa <= (UINT64_C (1) << DBL_MANT_DIG) &&
      ABS (decimal.exponent) <= MAX_EXACT_EXPONENT)
    /* Both operands are exact doubles, so that the one operation rounds correctly (Clinger 1990) */
    *value = decimal.exponent < 0 ? (double) decimal.mantissa / exact_powers[-decimal.exponent]
                                  : (double) decimal.mantissa * exact_powers[decimal.exponent];
  else if (decimal.n_digits <= MAX_DIGITS && decimal.mantissa != 0 && decimal.exponent < 0 &&
           decimal.exponent >= -MAX_INTEGER_EXPONENT)
    *value = divide (decimal.mantissa, -decimal.exponent);
  else
    *value = g_ascii_strtod (first, NULL);
  if (negative)
    *value = -*value;
  return at;
}

bool
base_decimal_all (const char *text, double *value)
{
  static const struct {
    const char *word;
    double value;
  } words[] = { { "nan", NAN }, { "inf", INFINITY }, { "infinity", INFINITY } };
  const char *first = text + strspn (text, BLANKS), *end = base_decimal (first, value);
  gsize sign = strspn (first, "+-") == 1, length;

  if (end != NULL)
    return end[strspn (end, BLANKS)] == '\0';
  first += sign;
  length = strcspn (first, BLANKS);
  if (first[length + strspn (first + length, BLANKS)] != '\0')
    return false;
  for (gsize at = 0; at < G_N_ELEMENTS (words); at++)
    if (strlen (words[at].word) == length &&
        g_ascii_strncasecmp (first, words[at].word, length) == 0) {
      *value = sign && first[-1] == '-' ? -words[at].value : words[at].value;
      return true;
    }
  return false;
}

const char *
base_decimal_print (char text[BASE_DECIMAL_SIZE], double value)
{
  if (isnan (value))
    return strcpy (text, "");
  for (int digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
    char format[8];

    g_snprintf (format, sizeof format, "%%.%dg", digits);
    g_ascii_formatd (text, BASE_DECIMAL_SIZE, format, value);
    if (g_ascii_strtod (text, NULL) == value)
      break;
  }
  return text;
}

char *
base_decimal_put (char *at, uint64_t value)
{
  char digits[MAX_DIGITS + 1];
  int n = 0;

  do {
    digits[n++] = (char) ('0' + value % 10);
    value /= 10;
  } while (value > 0);
  while (n > 0)
    *at++ = digits[--n];
  return at;
}

/* Six digits are an integer of six digits and a place for the point.  The product that makes it is off by
 * less than 1e-9, so that only values nearer than that to the middle of two integers need printf(). */
const char *
base_decimal_print_6 (char text[BASE_DECIMAL_SIZE], double value)
{
  int before = 1; /* digits before the point, or minus the zeros behind it */
  double scaled, whole;
  uint64_t digits;
  char *at = text, *end;

  if (!(value >= 1e-4 && value < 999999))
    return g_ascii_formatd (text, BASE_DECIMAL_SIZE, "%.6g", value);
  while (before < 6 && value >= exact_powers[before])
    before++;
  while (value < 1 && value * exact_powers[1 - before] < 1)
    before--;
  scaled = value * exact_powers[6 - before];
  whole = floor (scaled);
  if (fabs (scaled - whole - 0.5) < 1e-6)
    return g_ascii_formatd (text, BASE_DECIMAL_SIZE, "%.6g", value);
  digits = (uint64_t) whole + (scaled - whole > 0.5);
  if (digits == 1000000) {
    digits = 100000;
    before++;
  }
  if (before <= 0) {
    *at++ = '0';
    *at++ = '.';
    for (int zero = before; zero < 0; zero++)
      *at++ = '0';
    end = base_decimal_put (at, digits);
  } else {
    end = base_decimal_put (at, digits);
    memmove (at + before + 1, at + before, (size_t) (end - at - before));
    at[before] = '.';
    end++;
  }
  while (end[-1] == '0')
    end--;
  end[-(end[-1] == '.')] = '\0';
  return text;
}
