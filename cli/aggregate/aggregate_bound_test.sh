#!/bin/sh
# aggregate_bound_test.sh - `aggregate table` and `aggregate bound` from the command line.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# --- tables ---

run "$hopcast" aggregate table --machine systemg:16 --sizes 64KiB,8 -q -o table.csv \
  --collectives barrier:16,bcast:16,allreduce:16
if test $status -eq 0 && test "$(sed 1q table.csv)" = \
    operation,where,class,pairs,outside,ranks,bytes,time_us &&
    test "$(grep -c '^pingpong,between,.*,2,8,' table.csv)" -eq 268 &&
    test "$(grep -c '^pingpong,within,.*,2,65536,' table.csv)" -eq 283 &&
    test "$(grep -c '^pingpong,within,.*,0,2,8,' table.csv)" -eq 56 &&
    test "$(grep -c '^barrier,,.*,0,0,16,0,' table.csv)" -eq 8 &&
    test "$(grep -c '^allreduce,,.*,0,0,16,65536,' table.csv)" -eq 8; then
  ok "a table has every class of the paper's node"
else
  not_ok "a table has every class of the paper's node" "$(cat err)" "$(cut -d, -f1,2 table.csv | uniq -c)"
fi

# Noise makes no long message faster than the fastest alone.
if awk -F, '$1 == "pingpong" && $7 == 65536 && $4 + $5 == 0 && (least[$2] == "" || $8 < least[$2]) { least[$2] = $8 }
  { row[NR] = $0 }
  END { for (i = 2; i <= NR; i++) { split(row[i], f, ",")
      if (f[1] == "pingpong" && f[7] == 65536 && f[8] < 0.999 * least[f[2]]) { print row[i]; bad = 1 } }
    exit bad }' table.csv >faster; then
  ok "noise makes nothing faster"
else
  not_ok "noise makes nothing faster" "$(cat faster)"
fi

run "$hopcast" aggregate table --machine systemg:2 --sizes 8 --max-pairs 0 --max-outside 1 --threads 1
if test $status -eq 0 && test "$(grep -c . out)" -eq 14; then # 1 + 3 + 3 + 6 classes
  ok "less noise, fewer classes"
else
  not_ok "less noise, fewer classes" "$(cat err out)"
fi

refused "a torus has no nodes to look into" 1 "is a torus" aggregate table --machine bgq:32
refused "one node is not two" 1 "has one node" aggregate table --machine systemg:1
refused "a size that is none" 2 '--sizes: "4Q"' aggregate table --machine systemg:2 --sizes 4Q
refused "a size twice" 2 "--sizes: 8 bytes are listed twice" \
  aggregate table --machine systemg:2 --sizes 8,16,8
refused "a collective that is none" 2 "--collectives: 'gossip:4'" \
  aggregate table --machine systemg:2 --collectives gossip:4
refused "a collective without a form" 1 "scan: no table can be made" \
  aggregate table --machine systemg:2 --only-collectives --collectives scan:4
refused "no collectives alone" 2 "--only-collectives needs --collectives" \
  aggregate table --machine systemg:2 --only-collectives
refused "no machine" 2 "--machine SPEC is missing" aggregate table

# --- bounds ---

# Ten round trips between two ranks of a die (pattern 4), alone: 20 messages at either end.
time_us=$(sed -n 's/^pingpong,within,(((\.\.)(\.\.))((\.\.)(oo))),0,0,2,8,//p' table.csv)
run "$hopcast" aggregate bound gen:pingpong:ranks=2,bytes=8,iterations=10 --machine systemg:16 \
  --table table.csv --pattern 4 --format csv
if awk -F, -v us="$time_us" 'function near (a) { return us > 0 && (a - 20e-6 * us) ^ 2 < 1e-30 }
    NR == 2 { exit !(near($4) && near($5) && $8 == 20 && $10 + $11 == 0) }' out; then
  ok "a ping-pong is bounded by its messages"
else
  not_ok "a ping-pong is bounded by its messages" "$time_us us" "$(cat out err)"
fi

run "$hopcast" aggregate bound gen:npb:kernel=lu,class=W,ranks=16,iterations=4 --machine systemg:16 \
  --table table.csv --simulate --format json
if test $status -eq 0 && grep -q '"schema": "hopcast.bound/1"' out && grep -q '"rcc": 0\.' out &&
    test "$(awk '/"bound": {/ { on = 1 } on && /"bounded"/ { print $2 + 0; exit }' out)" -eq 8; then
  ok "the bound bounds LU in all patterns"
else
  not_ok "the bound bounds LU in all patterns" "$(cat out err)"
fi

bound_of () {
  "$hopcast" aggregate bound gen:npb:kernel=sp,class=W,ranks=16,iterations=2 --machine systemg:16 \
    --table table.csv --pattern 8 --format csv "$@" | awk -F, 'NR == 2 { print $4 }'
}
"$hopcast" aggregate table --machine systemg:16 --sizes 8 -q --only-collectives --collectives reduce:16 \
  -o reduce.csv && tail -n +2 reduce.csv >>table.csv
none=$(bound_of --near none) phase=$(bound_of) whole=$(bound_of --near run)
if awk "BEGIN { exit !(0 < $none && $none < $phase && $phase <= $whole) }"; then
  ok "more noise, higher bounds"
else
  not_ok "more noise, higher bounds" "none $none, phase $phase, run $whole"
fi

run "$hopcast" aggregate bound gen:pingpong:ranks=8 --machine systemg:4 --table table.csv
if test $status -eq 0 && grep -q '^ 1 .*8 nodes' out && grep -q '^ 8 ' out; then
  ok "a pattern that needs more nodes is left out, and why"
else
  not_ok "a pattern that needs more nodes is left out, and why" "$(cat out err)"
fi

bound="aggregate bound gen:pingpong:ranks=8"
# shellcheck disable=SC2086  # words
{
  refused "asked for a pattern that cannot be" 1 "--pattern 1: " \
    $bound --machine systemg:4 --table table.csv --pattern 1
  refused "no such pattern" 2 "--pattern: 9 is not within 1..8" \
    $bound --machine systemg:4 --table table.csv --pattern 9
  refused "no table" 2 "--table TABLE.csv is missing" $bound --machine systemg:4
  refused "noise of nobody known" 2 "--near: " $bound --machine systemg:4 --table table.csv --near far
  refused "bounds on a torus" 1 "is a torus" $bound --machine bgq:32 --table table.csv
  sed 's/^pingpong,within/pingpong,inside/' table.csv >wrong.csv
  refused "a table with an error has a line" 1 "wrong.csv:2: where: \"inside\"" \
    $bound --machine systemg:4 --table wrong.csv
}
refused "a table without the collective" 1 "--collectives alltoall:16" aggregate bound \
  gen:npb:kernel=is,class=S,ranks=16 --machine systemg:16 --table table.csv
done_testing
