/* decimal.h - decimal numbers in text, to the nearest double.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The number at the beginning of `text`: [+-] digits [. digits] [e [+-] digits], at least one
 * digit before the e; neither hexadecimal nor blanks, whatever the locale.  Returns where it ends,
 * NULL when there is none.  What is too large is infinite, as with strtod(), whose value this is
 * bit by bit.  `text` must end with a byte that no number has. */
const char *base_decimal (const char *text, double *value);

/* Whether all of `text` is a number, also nan, inf, infinity of any case; blanks around it are
 * none of it.  An empty text is no number. */
bool base_decimal_all (const char *text, double *value);

/* The shortest decimal that reads back to the same value; "" of NaN. */
#define BASE_DECIMAL_SIZE 32
const char *base_decimal_print (char text[BASE_DECIMAL_SIZE], double value);

/* As "%.6g" of the C locale, byte by byte. */
const char *base_decimal_print_6 (char text[BASE_DECIMAL_SIZE], double value);

/* Writes the digits of `value`, at most 20, without a NUL; returns where they end. */
char *base_decimal_put (char *at, uint64_t value);
