#!/bin/sh
# evh1_like_test.sh - the stand-in for EVH1's measured times is made by its script.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
made () { awk "$@" -f "$srcdir/validation/evh1/evh1_like.awk"; }
table=$srcdir/validation/data/mecp/synthetic_evh1_like.csv

# The last digits of powers are those of a C library.
same () {
  awk -F, 'NR == FNR { split ($0, known); for (i = 1; i <= NF; i++) cell[FNR, i] = $i; next }
    { for (i = 1; i <= NF; i++) { a = cell[FNR, i]; n++
        if (a != $i && !(a + 0 > 0 && $i / a < 1 + 1e-12 && $i / a > 1 - 1e-12)) { print FNR, i, a, $i; bad = 1 } } }
    END { exit bad || n != 231 }' "$1" "$2"
}
made >again.csv
same "$table" again.csv >differences
verdict $? "the table in the tree" "$(cat differences)"

# Hand-worked: T 0.02, nx 128, np 4, so 28672 words per process, (3)^1.13216 exchanges of 7168.
made -v noise=0 -v planted=0 | awk -F, 'NR == 2 { words = 7 * 128 * 128 / 4
  time = 4965 * 0.02 * 2 * (2 * 2.45e-8 * words + exp (1.13216 * log (3)) * (1.69e-5 + 1.62e-7 * words / 4))
  close_to = $4 / time > 1 - 1e-12 && $4 / time < 1 + 1e-12 && $4 == $6 && $4 == $7 } END { exit !close_to }'
verdict $? "parameters are named" "$(head -2 again.csv)"

# Other noise has the spread that it is given: 32 draws are within 6 standard errors.
made -v seed=5 -v noise=0.1 | awk -F, 'NR > 1 { d = $4 / $7 - 1; sum += d * d; n++ }
  END { s = sqrt (sum / n); exit !(s > 0.1 * (1 - 6 / sqrt (64)) && s < 0.1 * (1 + 6 / sqrt (64))) }'
verdict $? "noise of a seed" "$(made -v seed=5 | head -3)"

# doc/examples has the two halves.
for half in train test; do
  { head -1 "$srcdir/doc/examples/$half.csv"
    awk -F, -v OFS=, -v half=$half '$5 == half { print $1, $2, $3, $4 }' "$table"; } >half.csv
  awk -F, 'NR == FNR { time[FNR] = $4; n++; next } FNR > 1 && !($4 / time[FNR] > 1 - 1e-12 && $4 / time[FNR] < 1 + 1e-12) { bad = 1 }
    END { exit bad || n != FNR }' "$srcdir/doc/examples/$half.csv" half.csv
  verdict $? "the example $half.csv" "$(cat half.csv)"
done
done_testing
