#!/bin/sh
# optimize_test.sh - hopcast map optimize, from the command line.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# A ring of 16 ranks whose numbers are shuffled: 5 is prime to 16.
awk 'BEGIN { print "16"; for (i = 0; i < 16; i++) print i, (i + 5) % 16, 1000 }' >ring.topo
run "$hopcast" map optimize ring.topo --machine torus:16 --budget 8 --format json -o ring.map
test $status = 0 && grep -q '"hop_bytes": 16000' out
verdict $? "a shuffled ring gets one hop per message" "$(cat out err)"

"$hopcast" map metrics ring.topo --machine torus:16 --mapping ring.map --format json >metrics
grep -q '"hop_bytes": 16000' metrics
verdict $? "the map file has the metrics that were told" "$(cat metrics)"

cp ring.map one.map
run "$hopcast" map optimize ring.topo --machine torus:16 --budget 8 --threads 3 --format json -o ring.map
test $status = 0 && cmp -s ring.map one.map
verdict $? "threads do not change the map" "$(cat err)"

# What is perfect already stays.
awk 'BEGIN { print "16"; for (i = 0; i < 16; i++) print i, (i + 1) % 16, 1000 }' >best.topo
run "$hopcast" map optimize best.topo --machine torus:16 --budget 8 -o best.map
test $status = 0 && grep -q 'best: AT, the default' out
verdict $? "never worse than the default" "$(cat out err)"

run "$hopcast" map optimize ring.topo --machine torus:16 --budget 4 -q -o -
test $status = 0 && test "$(grep -vc '^#' out)" = 16 && grep -q '^best:' err
verdict $? "on standard output the map is alone" "$(cat out err)"

# A trace: the time that is told is the time that simulate finds for the map.
trace=gen:halo2d:ranks=64,bytes=16384,iterations=2
run "$hopcast" map optimize $trace --machine bgq:32 --ranks-per-node 2 --budget 24 --threads 2 \
  --format csv -q -o halo.map
told=$(awk -F, '$2 == 1 { print $6 }' out)
default=$(awk -F, 'NR == 2 { print $6 }' out)
pairs=$(awk -F, '$2 == 1 { print $11 }' out)
found=$("$hopcast" simulate $trace --machine bgq:32 --ranks-per-node 2 --mapping halo.map -q \
  --format json | sed -n 's/.*"time_s": \([^,]*\),*/\1/p')
test $status = 0 && test -n "$told" && test "$told" = "$found"
verdict $? "a simulated time is that of simulate" "told $told, found $found" "$(cat out err)"
awk -v best="$told" -v plain="$default" -v pairs="$pairs" \
  'BEGIN { exit !(best <= plain && (best == plain || pairs >= 3)) }'
verdict $? "the winner is not slower, and its gain has an interval" "$(cat out)"

# Fewer runs, of a network that a process makes only once.
run "$hopcast" map optimize $trace --machine bgq:32 --ranks-per-node 2 --budget 12 --network flow \
  --format csv -q -o flow.map
told=$(awk -F, '$2 == 1 { print $6 }' out)
few=$(awk -F, '$2 == 1 && $11 <= 2 { print $9 $10 "/" }' out)
found=$("$hopcast" simulate $trace --machine bgq:32 --ranks-per-node 2 --mapping flow.map -q \
  --network flow --format json | sed -n 's/.*"time_s": \([^,]*\),*/\1/p')
# The last digit of a mean of equal times may differ.
test $status = 0 && awk -v told="$told" -v found="$found" 'BEGIN { exit !(told > 0 && (told / found - 1) ^ 2 < 1e-28) }' &&
  test "$few" = /
verdict $? "flows are simulated too, and one or two pairs give no interval" "told $told, found $found, $few" \
    "$(cat out err)"

"$hopcast" map optimize $trace --machine bgq:32 --ranks-per-node 2 --budget 24 --threads 2 \
  --format csv -q -o halo.map >out
cp halo.map first.map
cp out first.csv
run "$hopcast" map optimize $trace --machine bgq:32 --ranks-per-node 2 --budget 24 --format csv -q \
  -o halo.map
cmp -s halo.map first.map && cmp -s out first.csv
verdict $? "a budget of runs gives the same every time" "$(diff out first.csv)"

# Equal messages are counted, not made one by one.
printf 'src,dst,messages,bytes\n0,1,1000000000000,1000000000000000\n' >many.csv
run timeout 20 "$hopcast" map metrics many.csv --machine torus:16 --format json
test $status = 0 && grep -q '"hop_bytes": 1e+15' out
verdict $? "10^12 messages of a pair take no time" "status $status" "$(cat out err)"

# An interrupt ends the search with what it has.
"$hopcast" map optimize ring.topo --machine torus:16 --budget 100s -q -o cut.map >out 2>err &
search=$!
sleep 1
kill -INT $search 2>/dev/null || kill -TERM $search
sleep 1
kill -TERM $search 2>/dev/null
wait $search
status=$?
{ test $status = 130 || test $status = 143; } &&
  "$hopcast" map check cut.map --machine torus:16 --ranks 16 >/dev/null && grep -q '^best' out
verdict $? "a signal leaves the best so far" "status $status" "$(cat out err)"

# Usage and bad input.
for arguments in "ring.topo --machine torus:16 -o x" "ring.topo --machine torus:16 --budget 5" \
  "ring.topo --machine torus:16 --start nonsense --budget 5 -o x" \
  "ring.topo --machine torus:16 --budget 0 -o x" "ring.topo --machine torus:16 --budget 5m -o x" \
  "ring.topo --machine torus:16 --budget -3s -o x" \
  "ring.topo --machine torus:16 --budget 5 --threads 0 -o x" \
  "ring.topo --machine torus:16 --budget 5 --objective time -o x" \
  "ring.topo --machine torus:16 --budget 5 --network packet -o x" \
  "ring.topo --machine torus:16 --budget 5 --seed -1 -o x"; do
  # shellcheck disable=SC2086  # several words
  run "$hopcast" map optimize $arguments
  test $status = 2 && test -s err && test ! -e x || echo "$arguments: $status $(cat err)"
done >wrong
for arguments in "ring.topo --machine torus:8 --budget 5 -o x" \
  "missing.topo --machine torus:16 --budget 5 -o x" \
  "ring.topo --machine torus:16 --ranks 8 --budget 5 -o x" \
  "ring.topo --machine torus:16 --budget 5 -o no/such/folder/x"; do
  # shellcheck disable=SC2086  # several words
  run "$hopcast" map optimize $arguments
  test $status = 1 && test -s err && test ! -e x || echo "$arguments: $status $(cat err)"
done >>wrong
if test -s wrong; then
  not_ok "wrong usage and bad input" "$(cat wrong)"
else
  ok "wrong usage and bad input"
fi
done_testing
