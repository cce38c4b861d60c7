#!/bin/sh
# stampede2_test.sh - measured times of a cluster are learned as well as scikit-learn does.
#
# SPDX-License-Identifier: Apache-2.0
#
# With few seeds and trees, to be quick; stampede2.py alone takes 20 and 100.
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

measured=$(test_data measured/stampede2)
python=$(PATH=/usr/bin:$PATH command -v python3)

if ! test -d "$measured"; then
  skip "allreduce on Stampede2" "no shared measurements"
elif ! "$python" -c 'import sklearn' 2>/dev/null; then
  skip "allreduce on Stampede2" "no scikit-learn"
else
  for method in extra-trees boosting; do
    run "$python" "$srcdir/validation/evh1/stampede2.py" "$hopcast" "$measured" 3 10 $method
    test "$status" = 0
    verdict $? "allreduce on Stampede2, $method" "$(tail -5 err)"
    sed 's/^/# /' out
  done
fi
done_testing
