/* student.h - Student's distribution, for intervals of means.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The t within which, on either side of 0, a value of Student's distribution with so many degrees of
 * freedom (at least 1) is with this probability (0 ... below 1): 2.776 for .95 and 4.  By the exact
 * sum for whole degrees of freedom (Abramowitz and Stegun 26.7.3 and 26.7.4). */
double base_student_within (double probability, unsigned degrees);

/* The probability of values above t. */
double base_student_above (double t, unsigned degrees);
