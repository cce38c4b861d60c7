/* elementary.h - log, exp, powers, sine and cosine with the same bits on every machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Those of a C library differ from one to the next, and within one by the instructions of the
 * processor.  These are straight lines of IEEE additions, multiplications, divisions and
 * selections, without tables or branches, so that a compiler makes vectors of a loop over them
 * and every element still has the bits of the scalar code.
 *
 * Outside their domain, and of an argument that is itself infinite or NaN, the result is NaN:
 * an undefined value stays visible to the end of an expression.  Greatest errors in units in the
 * last place, as elementary_test.c measures them: log, log2 and exp 1, sine and cosine 1.25.
 * The method is reduction of the argument in two or three parts (W. J. Cody, W. Waite, "Software
 * Manual for the Elementary Functions", 1980) and a polynomial through the Chebyshev points of what
 * remains. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Sine and cosine of larger arguments are NaN: the rest after the reduction would
 * not be exact to the last place. */
#define PREDICT_MAX_ANGLE 0x1p20

/* Added to a double below 2^51, it leaves the nearest integer in the lowest bits. */
#define PREDICT_ROUNDER 0x1.8p52

static inline uint64_t
predict_bits (double x)
{
  uint64_t bits;

  memcpy (&bits, &x, sizeof bits);
  return bits;
}

static inline double
predict_from_bits (uint64_t bits)
{
  double x;

  memcpy (&x, &bits, sizeof x);
  return x;
}

/* NaN of an infinity or NaN, 0 of all other numbers. */
static inline double
predict_taint (double x)
{
  return x - x;
}

/* A positive x is 2^exponent (1 + fraction), with 1 + fraction between sqrt (1/2) and sqrt (2). */
typedef struct {
  double exponent, fraction;
} PredictParts;

static inline PredictParts
predict_parts (double x)
{
  const uint64_t sqrt_half = 0x3FE6A09E667F3BCDu;
  const uint64_t bias = 1024; /* keeps the exponent positive: shifts of signed ones are slow */
  int subnormal = x < 0x1p-1022;
  uint64_t bits = predict_bits (subnormal ? x * 0x1p54 : x);
  uint64_t biased = (bits - sqrt_half + (bias << 52)) >> 52;
  double mantissa = predict_from_bits (bits - ((biased - bias) << 52));
  /* An integer below 2^52 becomes a double where 2^52 begins. */
  double exponent = predict_from_bits (biased | predict_bits (0x1p52)) - (0x1p52 + 1024);

  return (PredictParts){ subnormal ? exponent - 54 : exponent, mantissa - 1 };
}

/* With s = f / (2 + f), log (1 + f) is 2 atanh (s) = f - s (f - r), r = s^2 (2/3 + 2/5 s^2 ...).
 * What is taken from f, returned, is written as f^2/2 - s (f^2/2 + r), whose rounding is small
 * against f. */
static inline double
predict_log_rest (double f, double of_exponent)
{
  double s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  double low = 0x1.5555555555558p-1 +
               z * (0x1.99999999952d7p-2 + z * (0x1.2492492df281ap-2 + z * 0x1.c71c62e3f11e6p-3));
  double high = 0x1.7462b51cb66b1p-3 + z * (0x1.39fe51a7c18f9p-3 + z * 0x1.2b5900de53b32p-3);
  double r = z * (low + (z * z) * (z * z) * high);

  return half - (s * (half + r) + of_exponent);
}

static inline double
predict_log (double x)
{
  PredictParts parts = predict_parts (x);
  double rest = predict_log_rest (parts.fraction, parts.exponent * 0x1.473de6af278edp-34);
  double value = parts.exponent * 0x1.62e42fefp-1 - (rest - parts.fraction);

  return x > 0 ? value + predict_taint (x) : (double) NAN;
}

/* Exact of powers of two, so that ceil (log2 (8)) is 3.  1 / log 2 in two parts; the fraction is
 * cut to 32 bits, so that its product with the first part is exact. */
static inline double
predict_log2 (double x)
{
  const double first = 0x1.715476p+0, second = 0x1.4ae0bf85ddf44p-26;
  PredictParts parts = predict_parts (x);
  double f = parts.fraction, rest = predict_log_rest (f, 0);
  double high = predict_from_bits (predict_bits (f - rest) & ~(uint64_t) 0x1FFFFFF);
  double low = (f - high) - rest;
  double value = (low * (first + second) + high * second) + high * first + parts.exponent;

  return x > 0 ? value + predict_taint (x) : (double) NAN;
}

/* 2^k exp (r + lost), where `shifted` is k + PREDICT_ROUNDER and |r| <= log (2) / 2. */
static inline double
predict_exp_scaled (double r, double lost, double shifted)
{
  double z = r * r;
  double even = 0x1.0000000000000p-1 +
                z * (0x1.5555555555556p-5 +
                     z * (0x1.6c16c16c162ccp-10 +
                          z * (0x1.a01a01a6dcaffp-16 +
                               z * (0x1.27e4db57442fbp-22 + z * 0x1.1f731ea5352cap-29))));
  double odd =
      0x1.5555555555557p-3 +
      z * (0x1.11111111100cep-7 +
           z * (0x1.a01a01abef415p-13 + z * (0x1.71de021a90822p-19 + z * 0x1.af4e196027428p-26)));
  double power = 1 + (r + (lost + z * (even + r * odd)));
  /* 2^k in two factors, for the results that are subnormal. */
  uint64_t twice_biased = predict_bits (shifted) - predict_bits (PREDICT_ROUNDER) + 2 * 1023;
  uint64_t half = twice_biased >> 1;

  return power * predict_from_bits (half << 52) * predict_from_bits ((twice_biased - half) << 52);
}

/* Within bounds beyond which exp and exp2 are 0 or infinite. */
static inline double
predict_bounded (double x, double low, double high)
{
  double below = x < high ? x : high;

  return below > low ? below : low;
}

static inline double
predict_exp (double x)
{
  double at = predict_bounded (x, -746, 710);
  double shifted = at * 0x1.71547652b82fep+0 + PREDICT_ROUNDER;
  double k = shifted - PREDICT_ROUNDER;
  double high = at - k * 0x1.62e42fefp-1, low = k * 0x1.473de6af278edp-34;
  double r = high - low;

  return predict_exp_scaled (r, (high - r) - low, shifted) + predict_taint (x);
}

/* x^y as 2^(y log2 (x)), so that powers of two are exact; 0^y is 0 of a positive y.  Not defined of
 * a negative x.  The error grows with the result: |log2 (x^y)| + 2 units in the last place. */
static inline double
predict_power (double x, double y)
{
  double log_x = predict_log2 (x);
  double at = predict_bounded (y * log_x, -1077, 1025);
  double shifted = at + PREDICT_ROUNDER;
  double r = (at - (shifted - PREDICT_ROUNDER)) * 0x1.62e42fefa39efp-1;
  double value = predict_exp_scaled (r, 0, shifted) + (predict_taint (log_x) + predict_taint (y));

  return x == 0 && y > 0 ? predict_taint (y) : value;
}

/* x less the multiple of pi / 2 that is nearest, as high + low, and which of the four quarters
 * that was. */
typedef struct {
  double high, low;
  uint64_t quarter;
} PredictAngle;

static inline PredictAngle
predict_angle (double x)
{
  double shifted = x * 0x1.45f306dc9c883p-1 + PREDICT_ROUNDER;
  double k = shifted - PREDICT_ROUNDER;
  double second = k * 0x1.0b4611a6p-34, first = x - k * 0x1.921fb544p+0;
  double rest = first - second;
  double tail = ((first - rest) - second) - k * 0x1.3198a2e037073p-69;
  double high = rest + tail;

  return (PredictAngle){ high, (rest - high) + tail, predict_bits (shifted) & 3 };
}

/* The sine `quarters` quarters of a turn further. */
static inline double
predict_sine (double x, uint64_t quarters)
{
  PredictAngle angle = predict_angle (x);
  uint64_t quarter = angle.quarter + quarters;
  double r = angle.high, z = r * r, half = 0.5 * z, top = 1 - half;
  double s = -0x1.5555555555555p-3 +
             z * (0x1.1111111110bafp-7 +
                  z * (-0x1.a01a019e82db1p-13 +
                       z * (0x1.71de37957c95cp-19 +
                            z * (-0x1.ae6009e9f7070p-26 + z * 0x1.5e0ab4dd007dap-33))));
  double c = 0x1.5555555555555p-5 +
             z * (-0x1.6c16c16c16965p-10 +
                  z * (0x1.a01a019f4e480p-16 +
                       z * (-0x1.27e4fa17532cap-22 +
                            z * (0x1.1eeb685cba14cp-29 + z * -0x1.907d3e3374a42p-37))));
  double sine = r + (angle.low * top + r * z * s);
  double cosine = top + (((1 - top) - half) + (z * z * c - r * angle.low));
  double value = quarter & 1 ? cosine : sine;

  value = quarter & 2 ? -value : value;
  return fabs (x) <= PREDICT_MAX_ANGLE ? value : (double) NAN;
}

static inline double
predict_sin (double x)
{
  return predict_sine (x, 0);
}

static inline double
predict_cos (double x)
{
  return predict_sine (x, 1);
}
