#!/bin/sh
# plot_curves_test.sh - the picture of curves has every point where it belongs.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
#
# Two series from 1 to 16 bytes and 1 to 100 us: the axes are decades and
# powers of two, the ends of the points are the corners of the frame.
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

plot () {
  awk -v title=Title -v series="$1" -f "$srcdir/validation/infiniband/plot_curves.awk" points.csv
}

printf '%s\n' series,point,published,simulated,unit a,1,1,2,us a,16,100,90,us b,4,10,10,us \
  b,8,,5,us c,1,1000,1000,us >points.csv
plot a,b >found 2>err
if test "$(grep -c '<circle' found)" = 3 && grep -q 'cx="70.0" cy="425.0"' found &&
    grep -q 'cx="740.0" cy="40.0"' found && grep -q 'cx="405.0" cy="232.5"' found; then
  ok "points"
else
  not_ok "points" "$(cat found err)"
fi
if test "$(grep -c 'fill="none"' found)" = 2 && grep -q '>100 us<' found && grep -q '>16 B<' found &&
    ! grep -q '>1000 us<' found; then
  ok "lines and axes"
else
  not_ok "lines and axes" "$(cat found)"
fi
if plot none >found 2>err; then
  not_ok "nothing to draw is refused" "$(cat found)"
else
  ok "nothing to draw is refused"
fi
done_testing
