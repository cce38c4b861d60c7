#!/bin/sh
# nested_error_test.sh - the error that `correct` tells is near that at measured points it never saw.
#
# SPDX-License-Identifier: Apache-2.0
#
# Few small trials: what they find says little, but the surfaces and the blend are those of any run.
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

measured=$(test_data measured/stampede2)
python=$(PATH=/usr/bin:$PATH command -v python3)
name="the error of 64 measured times"

if ! test -d "$measured"; then
  skip "$name" "no shared measurements"
elif ! "$python" -c 'import numpy' 2>/dev/null; then
  skip "$name" "no numpy"
else
  run "$python" "$srcdir/validation/evh1/nested_error.py" "$hopcast" \
    "$measured/tensor_datasets_allreduce_256x6x7.csv" 64 5 --trials 1 --population 60 --generations 5
  # Whether each draw is within 3 % of the best is chance: no draw may be off by a fifth.
  awk '$1 == "mean" { sub(/,/, "", $8); found = 1; right = $7 + 0 > 0.9 && $7 + 0 < 1.1 && $0 ~ /at worst [+-][0-9.]* %/
    sub(/.*at worst /, ""); right = right && $1 < 20 } END { exit !(found && right) }' out
  verdict $? "$name" "exit status $status" "$(cat err out)"
  sed 's/^/# /' out
fi
done_testing
