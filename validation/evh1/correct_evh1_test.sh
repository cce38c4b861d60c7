#!/bin/sh
# correct_evh1_test.sh - the correction of EVH1's formula, by runs that were recorded.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

run sh "$srcdir/validation/evh1/correct_evh1.sh" "$hopcast" evh1 "$srcdir/validation/data/evh1_bgq.csv"
if test "$status" = 0 && grep -q 'is left: ok' out; then
  ok "more than half of the error is gone"
else
  not_ok "more than half of the error is gone" "exit status $status" "$(cat out err)"
fi
sed 's/^/# /' out
done_testing
