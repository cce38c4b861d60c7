#!/bin/sh
# written_matrix_test.sh - written traces send what the simulator says that the program sends.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
#
# An alltoall is the same messages whoever takes it apart.  The matrix of
# programs with alltoalls in many communicators, as the simulator's collectives
# have it, must be that of the written files, where communicators and
# collectives are gone.
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# same SPEC FORMAT
same () {
  if "$hopcast" trace convert "$1" --to "$2" -o "written.$2" -q 2>err &&
      "$hopcast" trace matrix "$1" --with-collectives --machine torus:8x8x8 >expected.csv 2>>err &&
      "$hopcast" trace matrix "written.$2" >found.csv 2>>err &&
      test "$(wc -l <expected.csv)" -gt 1000 && cmp expected.csv found.csv >>err; then
    ok "$1 as $2"
  else
    not_ok "$1 as $2" "$(cat err)" "$(diff expected.csv found.csv | head -5)"
  fi
}

for format in goal ti; do
  same gen:suba2a:grid=64x4x2,iterations=2 $format
  same gen:pf3d:ranks=512,iterations=1 $format
done
done_testing
