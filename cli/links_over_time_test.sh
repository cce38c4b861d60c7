#!/bin/sh
# links_over_time_test.sh - `simulate --links-over-time`: what the links send in each interval.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# sums LINKS N OVER: whether the payload_bytes of each link, which the first N columns of LINKS name, are
# those of OVER added up.  Prints intervals, rows and the largest share.
cat >sums.awk <<'AWK'
BEGIN { FS = "," }
FNR == 1 { file++; for (i = 1; i <= NF; i++) column[file, $i] = i; next }
{ name = ""; first = file == 1 ? 1 : 2
  for (i = 0; i < n; i++) name = name "," $(first + i) }
file == 1 { left[name] = $column[1, "payload_bytes"] }
file == 2 {
  if (!(name in left)) bad = "unknown link " name
  if ($1 < last) bad = "intervals not in order at " $1
  if ($column[2, "wire_bytes"] + 0 < $column[2, "payload_bytes"] + 0 || $column[2, "wire_bytes"] == 0)
    bad = "no bytes at " FNR
  intervals += $1 != last || rows == 0; last = $1; rows++
  left[name] -= $column[2, "payload_bytes"]; share = $column[2, "busy_share"]
  if (share > most) most = share }
END { for (link in left) if (left[link] != 0) bad = "left of " link ": " left[link]
  if (bad != "") { print bad; exit 1 }
  printf "%d %d %.4f\n", intervals, rows, most }
AWK
sums () { awk -v n="$2" -f sums.awk "$1" "$3"; }

trace=gen:halo3d:ranks=128,bytes=20000,iterations=3
run "$hopcast" simulate $trace --machine bgq:128 --threads 1 --links links.csv --links-over-time over.csv
test "$status" = 0 && sums links.csv 6 over.csv >sum
verdict $? "torus: the sums over time are the table of links" "$(cat sum err)"
read -r intervals rows most <sum
test "$intervals" -gt 3 && test "$rows" -gt 1000 && awk "BEGIN { exit !($most > 0.2 && $most < 1.1) }"
verdict $? "torus: several intervals, no link beyond its bandwidth" "$(cat sum)"
cp out before
"$hopcast" simulate $trace --machine bgq:128 --threads 1 | grep -v wall >plain
grep -v wall before | cmp -s - plain
verdict $? "the results are those without" "$(diff before plain)"
"$hopcast" simulate $trace --machine bgq:128 --threads 2 --links-over-time two.csv >out 2>err
cmp -s over.csv two.csv
verdict $? "torus: the same bytes with two threads" "$(diff over.csv two.csv | head -5)"

# There and back 5,120 bytes, in ten packets of 512, each with 32 before and 8 behind them: 552 bytes, 0.276
# us at 2 GB/s, one after the other.  A microsecond sees 3 or 4 begin.  The request before them is 64 + 8.
"$hopcast" simulate gen:pingpong:ranks=2,bytes=5120,iterations=1 --machine torus:2 --ranks-per-node 1 \
  --links-over-time ping.csv --links-every 1us >out 2>err
awk -F, '$2 == 0 && $4 > 0 { n = $4 / 512; total += n; extra += $5 - 552 * n; full += n >= 3 && n <= 4; rows++ }
         END { exit !(total == 10 && extra == 72 && full >= rows - 2) }' ping.csv
verdict $? "a message by hand" "$(cat ping.csv err)"

run "$hopcast" simulate gen:pingpong:ranks=2,bytes=5120,iterations=1 --machine torus:2 --ranks-per-node 1 \
  --links links.csv --links-over-time over.csv --links-every 1s
test "$status" = 0 && test "$(sums links.csv 2 over.csv | cut -d' ' -f1)" = 1
verdict $? "an interval longer than the run" "$(cat over.csv err)"

run "$hopcast" simulate gen:halo2d:ranks=64,bytes=50000,iterations=4 --machine systemg:16 --ranks-per-node 4 \
  --links links.csv --links-over-time over.csv.gz --links-every 5us
test "$status" = 0 && gzip -dc over.csv.gz >over.csv && sums links.csv 5 over.csv >sum
verdict $? "fabric: the sums over time are the table of links" "$(cat sum err)"
read -r intervals rows most <sum
test "$intervals" -gt 3 && awk "BEGIN { exit !($most > 0.2 && $most < 1.5) }"
verdict $? "fabric: several intervals, no link beyond its bandwidth" "$(cat sum)"
# Wire bytes over time are PortXmitData, in units of four bytes but for the rest of each link.
awk -F, 'FNR == 1 { file++; next } file == 1 { data += $9 * 4 } file == 2 { wire += $(NF - 1) }
         END { exit !(wire >= data && wire < data + 4 * FNR) }' links.csv over.csv
verdict $? "fabric: wire bytes are PortXmitData"

refused "zero" 2 "is not a time above 0" simulate $trace --machine bgq:128 --links-over-time x.csv --links-every 0us
refused "no unit" 2 "--links-every" simulate $trace --machine bgq:128 --links-over-time x.csv --links-every 10
refused "no file" 2 "needs --links-over-time FILE" simulate $trace --machine bgq:128 --links-every 1us
refused "load" 2 "only --network packet" simulate $trace --machine bgq:128 --network load --links-over-time x.csv
refused "checkpoint" 2 "not with --checkpoint" simulate $trace --machine bgq:128 --links-over-time x.csv --checkpoint c
refused "resume" 2 "not with --resume" simulate $trace --machine bgq:128 --links-over-time x.csv --resume c
refused "replicas" 2 "is of one run" simulate $trace --machine bgq:128 --links-over-time x.csv --replicas 2
done_testing
