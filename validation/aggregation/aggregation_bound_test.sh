#!/bin/sh
# aggregation_bound_test.sh - the comparison of bounds with simulations, on small benchmarks.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
compare=$srcdir/validation/aggregation/aggregation_bound.sh

# Of the pairs of three patterns the bound has two in the order of the simulation (rcc 2/3), the sum
# ties one of them (2.5/3); 2 of 3 and 1 of 3 are bounded.
mkdir known
cat >known/cases.csv <<'EOF'
case,pattern,bound_s,sum_s,simulated_s
one,1,2,1,1
one,2,4,1,2
one,3,3,2,4
EOF
run sh "$compare" - known
if test $status -eq 0 &&
    grep -q '^one  *3  *2  *0\.750 \.\.  *2\.000  *0\.667  *1  *0\.500 \.\.  *1\.000  *0\.833$' out &&
    grep -q '^all  *3  *66\.7%  *0\.750 \.\.  *2\.000  *0\.667  *33\.3%$' out; then
  ok "shares and ranks of known numbers"
else
  not_ok "shares and ranks of known numbers" "$(cat out err)"
fi

# Four ranks fill seven of the eight patterns; few sizes, so that the table is made at once.  FT is
# one all-to-all after the other: its bound is near, but may be below (handbook).
mkdir real
"$hopcast" aggregate table --machine systemg:2 --sizes 8,1024,65536 -q -o real/bound-messages.csv
run sh "$compare" "$hopcast" real lu.S.4 sp.S.4 ft.S.4
if test $status -eq 0 && test "$(grep -c '^lu\.S\.4,' real/cases.csv)" -eq 7 &&
    awk '/^(lu|sp)\.S\.4/ { good += $2 == 7 && $3 == 7 } /^ft\.S\.4/ { good += $2 == 7 && $4 > 0.9 }
      END { exit good != 3 }' out; then
  ok "small benchmarks are bounded"
else
  not_ok "small benchmarks are bounded" "$(cat out err real/cases.csv)"
fi

run sh "$compare" "$hopcast" real lu.S.5
if test $status -ne 0 && grep -q '^hopcast: ' err; then
  ok "a benchmark that cannot be"
else
  not_ok "a benchmark that cannot be" "status $status" "$(cat out err)"
fi
done_testing
