#!/bin/sh
# stampede2_correct_test.sh - a model is mended by measured times of a cluster, beside trees.
#
# SPDX-License-Identifier: Apache-2.0
#
# One draw and one small trial, which say nothing of how good a mended model is: that
# stampede2_correct.py alone tells.
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

measured=$(test_data measured/stampede2)
python=$(PATH=/usr/bin:$PATH command -v python3)

if ! test -d "$measured"; then
  skip "a mended model of allreduce on Stampede2" "no shared measurements"
elif ! "$python" -c 'import sklearn' 2>/dev/null; then
  skip "a mended model of allreduce on Stampede2" "no scikit-learn"
else
  run "$python" "$srcdir/validation/evh1/stampede2_correct.py" "$hopcast" "$measured" 1 --trials 1 \
    --population 100 --generations 10
  # The fitted model's error was found with scipy's least squares of the same 64 logarithms.
  awk '$1 == "median" {
    right = $5 > 0.4697 && $5 < 0.4699 && ($4 == $2 || $4 == $3) && $6 / $7 > 0.9 && $6 / $7 < 1.1
    best = $4 < $5 && $4 < $6 && $4 < $7
  }
  END { print right ? !best : "wrong" }' out >wanted
  test "$status" = "$(cat wanted)" && ok "a mended model of allreduce on Stampede2" ||
    not_ok "a mended model of allreduce on Stampede2" "exit status $status" "$(cat err)"
  sed 's/^/# /' out
fi
done_testing
