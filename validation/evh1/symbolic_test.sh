#!/bin/sh
# symbolic_test.sh - laws that symbolic regression is compared by are found again.
#
# SPDX-License-Identifier: Apache-2.0
#
# Few of them, that take little time; symbolic.py alone takes them all.
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

benchmarks=$(test_data sr/sr_benchmarks.json)
python=$(PATH=/usr/bin:$PATH command -v python3)

if ! test -e "$benchmarks"; then
  skip "laws are found again" "no shared benchmarks"
elif ! "$python" -c 'import numpy' 2>/dev/null; then
  skip "laws are found again" "no numpy"
else
  run "$python" "$srcdir/validation/evh1/symbolic.py" "$hopcast" "$benchmarks" 1 \
    Nguyen-1,Nguyen-8,Nguyen-10,feynman_I_12_2,feynman_II_3_24
  test "$status" = 0 && ok "laws are found again" ||
    not_ok "laws are found again" "$(tail -5 err)"
  sed 's/^/# /' out
fi
done_testing
