#!/bin/sh
# imbalance_test.sh - where computation decides the time of runs, simulate, rank and train say so.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# warns NAME TEXT: the last command printed one warning of imbalance, with the text.
warns () {
  grep 'warning: .*imbalanced computation' err >found
  test "$status" = 0 && test "$(wc -l <found)" = 1 && grep -q -e "$2" found &&
    grep -q -e '--compute-scale 0' found
  verdict $? "$1" "exit status $status, not one warning with /$2/ in:" "$(cat err)"
}

# silent NAME: it printed none.
silent () {
  test "$status" = 0 && ! grep -q 'imbalanced' err
  verdict $? "$1" "exit status $status, or a warning in:" "$(cat err)"
}

# --- One run ---

# Recorded with one rank that computes 0.14 s longer than the average of 1.1 s.
lulesh=$(echo "$srcdir"/validation/data/traces/dumpi/gen-lulesh-27/*.meta)
comd=$srcdir/traces/data/comd-256.ti.gz
halo=gen:halo2d:ranks=16,bytes=16K,iterations=1,compute=1ms

run "$hopcast" simulate "$lulesh" --machine bgq:32 --format json
warns "recorded computation decides" 'computes 0.138 s longer than the average'
holds "the record has the warning" grep -q '^    "imbalanced computation: ' out
run "$hopcast" simulate "$lulesh" --machine bgq:32 --network flow
if grep -q 'without SimGrid' err; then
  skip "on the flow network" "without SimGrid"
else
  warns "on the flow network" 'computes 0.138 s longer'
fi
run "$hopcast" simulate "$lulesh" --machine bgq:32 --compute-scale 0
silent "without computation"
run "$hopcast" simulate "$lulesh" --machine bgq:32 --network load
silent "without time"
run "$hopcast" simulate "$lulesh" --machine bgq:32 -q
silent "quietly"
run "$hopcast" simulate "$comd" --machine bgq:32 --ranks-per-node 8
silent "recorded computation is balanced"
run "$hopcast" simulate $halo --machine bgq:32
silent "a pattern with computation"
run "$hopcast" simulate gen:halo2d:ranks=16,bytes=16K,iterations=1 --machine bgq:32
silent "a pattern without"

# --- Studies ---

# study NAME SCALE: the store NAME.store of two cases, the first imbalanced.
study () {
  cat >"$1.study" <<END
[traces]
trace = $lulesh;$halo
compute-scale = $2
[machines]
machine = bgq:32
[mappings]
mapping = ABCDET;TEDCBA;BACDET;random(1);random(2);random(3)
[runs]
network = packet
END
  succeeds "study $1" "$hopcast" study run "$1.study" --store "$1.store" -q
}

study recorded 1
run "$hopcast" rank recorded.store
warns "rank, once per case" 'case 1: .* 6 of 6 mappings'
run "$hopcast" rank recorded.store --case 2
silent "rank of the other case"
run "$hopcast" rank recorded.store --by max_bytes
silent "rank by what is no time"
run "$hopcast" rank recorded.store --by waits
warns "rank by waits" 'case 1: .* 6 of 6 mappings'
run "$hopcast" train recorded.store --features H1 --method linear --validate none
warns "train" "'time_s' in 6 of 12 rows"
run "$hopcast" train recorded.store --features H1 --method linear --validate none -q
silent "train, quietly"
run "$hopcast" train recorded.store --target max_bytes --features avg_dilation --method linear --validate none
silent "train on what is no time"
run "$hopcast" study export recorded.store --format csv
cp out recorded.csv
run "$hopcast" train recorded.csv --target time_s --features H1 --method linear --validate none
warns "train on the exported table" "'time_s' in 6 of 12 rows"

study scaled 0
run "$hopcast" rank scaled.store
silent "rank without computation"
run "$hopcast" train scaled.store --features H1 --method linear --validate none
silent "train without computation"

done_testing
