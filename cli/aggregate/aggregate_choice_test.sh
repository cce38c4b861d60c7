#!/bin/sh
# aggregate_choice_test.sh - `hopcast aggregate TRACE`: from a program to a placement.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

choose () {
  run "$hopcast" aggregate "$@"
}

# same NAME EXPECTED FOUND
same () {
  if test $status -eq 0 && test "$2" = "$3"; then
    ok "$1"
  else
    not_ok "$1" "status $status; expected '$2', found '$3'" "$(cat out err)"
  fi
}

# Sixteen ranks that compute for 100 ms and then pass a few bytes on: what they send is nothing beside
# that, so that the IPCs alone decide.
awk 'BEGIN {
  for (r = 0; r < 16; r++) {
    print r, "init"
    for (i = 0; i < 2; i++) {
      print r, "compute 1e8"
      print r, "irecv", (r + 15) % 16, 0, 1, 6
      print r, "send", (r + 1) % 16, 0, 1, 6
      print r, "waitall"
    }
    print r, "finalize"
  }
}' >ring.ti
cat >ipc.csv <<'END'
program,pattern,ipc
ring,1,2
ring,2,2
ring,3,2
ring,4,1.95
ring,5,1.96
ring,6,1.9
ring,7,1.8
ring,8,1
END
set -- ring.ti --trace-ranks 16 --machine systemg:16 --set 'node.compute=1 Gflop/s'


choose "$@" --ipc ipc.csv --format csv -q
same "verdicts of counted IPCs" \
  "admissible,admissible,admissible,admissible,chosen,too slow,too slow,too slow" \
  "$(column verdict out | paste -s -d ,)"
# 0.2 s times 2 / IPC.
same "computation" "0.2,0.2,0.2,0.205128205128,0.204081632654,0.21052631579,0.222222222222,0.4" \
  "$(column computation_s out | awk '{ printf "%s%.12g", (NR > 1 ? "," : ""), $1 }')"
choose "$@" --ipc ipc.csv --max-slowdown '12 %' --format csv -q
same "another threshold" 7 "$(awk -F, '$(NF - 1) == "chosen" { print $2 }' out)"
choose "$@" --ipc ipc.csv --recorded-in 8 --format csv -q
same "computation recorded in another pattern" 0.1 \
  "$(column computation_s out | awk 'NR == 1 { printf "%.6g\n", $1 }')"
choose "$@" --ipc ipc.csv --reference 6 --format csv -q
same "another reference" "6 0" "$(awk -F, '$(NF - 1) == "chosen" { print $2, $14 + 0 }' out)"

# Tasks that cost each other nothing: there is an order by time and no answer.
choose "$@" --computation unchanged --format csv -q
same "computation unchanged: none is chosen" "8 0" \
  "$(awk -F, '$(NF - 1) == "admissible" { n++ } $(NF - 1) == "chosen" { c++ } END { print n, c + 0 }' out)"
choose "$@" --computation unchanged --format csv
same "which is a warning" 1 "$(grep -c '^hopcast: warning: 16 ranks: no recommendation: ' err)"
choose "$@" --computation unchanged
same "and said to people" "1 0 0" "$(
  tail -1 out | grep -c '^no recommendation: .*(--computation unchanged).* by time: [1-8] ([0-9.]* s), .*%)$') $(
  grep -c '^choose' out) $(grep -c chosen out)"
choose "$@" --computation unchanged --format json -q
same "and to programs" "null 1" \
  "$(sed -n 's/^ *"chosen": //p' out | tr -d ,) $(grep -c '"advice": "no recommendation: ' out)"
choose "$@" --computation unchanged --report page.html -q
same "and on the page" "1 0" "$(grep -c '<p>No recommendation\|<p>no recommendation' page.html) $(grep -c 'Chosen' page.html)"
refused "no files of what is not recommended" 2 "--pattern ID chooses one for the files" aggregate "$@" --computation unchanged -o best
choose "$@" -o named --pattern 8
same "but of a pattern that is named" "8 8" "$(sed -n 's/^rank [0-9]*=\(node[0-9]*\) .*/\1/p' named.rankfile |
  sort | uniq -c | awk '{ printf "%s%s", (NR > 1 ? " " : ""), $1 }')"
refused "a pattern for no file" 2 "--pattern needs -o" aggregate "$@" --pattern 8
refused "a pattern that is not" 1 "--pattern 9: a node of systemg:16 has 8 patterns" \
  aggregate "$@" -o named --pattern 9
refused "a pattern 0" 2 "--pattern: 0" aggregate "$@" -o named --pattern 0
refused "a pattern that is excluded" 1 "--pattern 8 is excluded: 8 tasks of 3 GiB" \
  aggregate "$@" -o named --pattern 8 --memory-per-task 3GiB
choose "$@" --ipc ipc.csv --format csv -q
same "by how much each is slower than the fastest" "0 1.000" "$(column over_fastest out | sort -g |
  awk 'NR == 1 { least = $1 } { most = $1 } END { printf "%g %.3f\n", least, most }' |
  sed 's/ \(0.99[0-9]\|1.00[0-9]\)$/ 1.000/')"
choose "$@" --ipc ipc.csv --memory-per-task 3GiB --format csv -q
same "memory of tasks excludes" "5,6,7,8: 4 tasks of 3 GiB need more than the node's 8 GiB" \
  "$(awk -F, '$(NF - 1) == "excluded" { print $2 }' out | paste -s -d ,): $(
    column excluded out | sed -n 5p)"
choose "$@" --ipc ipc.csv --memory-per-task 3GiB --format csv -q
same "what is left is chosen from" 4 "$(awk -F, '$(NF - 1) == "chosen" { print $2 }' out)"
grep -v ring,5 ipc.csv >part.csv
choose "$@" --ipc part.csv --format csv -q
same "a pattern without IPC" "excluded its IPC is not known" \
  "$(awk -F, '$2 == 5 { print $(NF - 1), $NF }' out)"

# The same numbers for people and as JSON.
choose "$@" --ipc ipc.csv
# 0.2 s times 2 / 1.96 is 2 % more than 0.2 s.
same "what people are told" 1 "$(tail -1 out |
  grep -c "^choose pattern 5: 4 of a node's cores on each of 4 nodes; it is 2.0 % slower than the fastest, pattern [123] on [0-9]* nodes$")"
same "a bar each" 8 "$(grep -c ' |#' out)"
choose "$@" --ipc ipc.csv --format json
same "JSON: what the choice costs" 1 "$(awk '/"fastest"/ { fastest = $2 + 0 } /"chosen_over_fastest"/ { over = $2 + 0 }
  END { print (fastest <= 3 && over > 0.0199 && over < 0.0209) }' out)"
same "JSON" "5 8" "$(sed -n 's/^ *"chosen": //p' out | tr -d ,) $(grep -c '"verdict"' out)"

# Energy: nodes x (100 + 10 sockets + 5 cores) W x 0.2 s, and 4 GB at half a joule.
cat >power.conf <<'END'
[power]
idle = 100 W
socket = 10 W
core = 5 W
memory = 0.5 J/GB
END
choose "$@" --ipc ipc.csv --power power.conf --memory-traffic 4GB --format csv -q
same "joules" "370.0 210.0 194.0" "$(column energy_J out | awk 'NR < 4 { printf "%s%.1f", (NR > 1 ? " " : ""), $1 }')"
choose "$@" --ipc ipc.csv --power guess
same "a guess is called one" 1 "$(grep -c '^power: a guess, not measured: ' out)"
printf '[power]\nidle = 100\n' >bad.conf
refused "power without a unit" 1 "bad.conf:2: idle: expected a number of at least 0 with W" \
  aggregate "$@" --power bad.conf

choose "$@" --ipc ipc.csv --report page.html --memory-per-task 2GiB
same "a page: a bar for each pattern" "7 7 1 2" "$(grep -c 'class="computation"' page.html) $(
  grep -c 'class="communication"' page.html) $(grep -c 'excluded: 8 tasks of 2 GiB need more' page.html) $(
  grep -c 'too slow' page.html)"
for tag in html body svg g h2 text; do
  test "$(grep -o "<$tag[ >]" page.html | wc -l)" -eq "$(grep -o "</$tag>" page.html | wc -l)" || echo "$tag"
done >open_tags
same "whose elements end" "" "$(cat open_tags)"

# The placement as files: four ranks of the ring to a node, on one core of each die.
choose "$@" --ipc ipc.csv -o best
same "rankfile" 16 "$(grep -c '^rank [0-9]*=node[0-3] slot=[01]:[02]$' best.rankfile)"
same "all places differ" 16 "$(sed 's/.*=node/node/' best.rankfile | sort -u | wc -l)"
same "the line to launch with" 1 \
  "$(grep -c 'launch with: mpirun -np 16 --rankfile best.rankfile ./program' err)"
same "what a file cannot say is told" "2" "$(grep -c 'warning: not written: best.[hs].*rank 13 has slot 2' err)"
# Neighbours share a node: a ring in four parts is cut in four places.
same "ranks are grouped" 4 "$(awk -F'[ =]' '{ node[$2] = $3 }
  END { for (r = 0; r < 16; r++) cut += node[r] != node[(r + 1) % 16]; print cut }' best.rankfile)"
"$hopcast" map check best.rankfile --machine systemg:16 --ranks 16 >out 2>err
status=$?
same "it is sound" 0 $status

run "$hopcast" aggregate gen:npb:kernel=lu,class=W,ranks=16,iterations=1 --machine systemg:16 \
  --max-slowdown '1000 %' --memory-per-task 4GiB --memory-share '0 %' --slurm lu.slurm
same "Slurm's file" "2 2 2 2 2 2 2 2 " "$(sort lu.slurm | uniq -c | awk '{ printf "%s ", $1 }')"
same "its line" 1 "$(grep -c 'srun -m arbitrary -n 16 --cpu-bind=map_cpu:' err)"

# Strong scaling.
run "$hopcast" aggregate 'gen:npb:kernel=lu,class=W,ranks={ranks},iterations=1' \
  --machine 'systemg:{ranks}' --ranks 4,8 --memory-share '0 %' --format csv -q
same "a choice for each size" "4 8 2" \
  "$(column ranks out | sort -nu | paste -s -d ' ') $(awk -F, '$(NF - 1) == "chosen"' out | wc -l)"
same "a pattern larger than the job" "8 tasks are more than all 4 ranks" \
  "$(column excluded out | sed -n 8p)"

# An IPC model: two samples, linear law of IPC in pattern 8 by those in 4 and 5.
awk 'BEGIN {
  print "program,pattern,ipc"
  for (p = 1; p < 25; p++) {
    a = 0.5 + (p * 7 % 24) / 12; b = 0.5 + (p * 11 % 24) / 16
    printf "p%d,4,%g\np%d,5,%g\np%d,8,%g\np%d,1,%g\n", p, a, p, b, p, 0.4 * a + 0.3 * b, p, a + b
  }
}' >train.csv
run "$hopcast" aggregate train-ipc train.csv --samples 4,5 -o ipc.json
printf 'program,pattern,ipc\nring,4,1\nring,5,1\n' >samples.csv
choose "$@" --ipc ipc.json --samples samples.csv --format csv -q
same "predicted IPCs" "2.0 0.7" "$(column ipc out | awk 'NR == 1 || NR == 8 { printf "%s%.1f", (NR > 1 ? " " : ""), $1 }')"
grep -v ring,5 samples.csv >lacks.csv
refused "a sample pattern without counters" 1 "ring" aggregate "$@" --ipc ipc.json --samples lacks.csv -q
refused "a model without samples" 2 "--ipc ipc.json: a model needs --samples TABLE.csv" \
  aggregate "$@" --ipc ipc.json

# Without counters.
choose "$@" --memory-share '50 %' --format csv -q
same "the more share, the longer" sorted \
  "$(column computation_s out | awk 'NR == 1 || NR == 3 || NR == 7 || NR == 8' | sort -c -g -u && echo sorted)"
choose "$@" --memory-share '0 %' --format csv -q
same "who needs no memory shares none" 0.2 "$(column computation_s out | sort -u)"
choose "$@" --memory-share '50 %' --working-set 16MiB --format csv -q
same "what fits a cache shares no memory" "0.2 0.2" \
  "$(column computation_s out | awk 'NR == 2 || NR == 8' | paste -s -d ' ')"
choose "$@" --memory-share '50 %'
same "a model is called one" 1 "$(grep -c '^computation: a model of the node, not measured;' out)"
refused "two of them" 2 "--ipc and --memory-share are two models of computation" \
  aggregate "$@" --memory-share '50 %' --ipc ipc.csv

# What a program asks of memory is a range.  By the node model with 32 KiB of a core, 6 MiB of a die, 4, 8 and
# 12 GB/s of a core, a bus and the memory, pattern 8 takes 1 - m + m 8/3 sqrt (32 / 3072), pattern 1
# 1 - m + m sqrt (32 / 6144), while data exceed all caches; m = 0.2029 makes them differ by 5 %.
set -- "$@" --set memory.core_memory_bandwidth=4GB/s --set memory.bus_bandwidth=8GB/s --set memory.bandwidth=12GB/s
choose "$@" --memory-share '20..40 %' --format csv -q
same "a range of slow-downs" "0.0491 0.1272 0.203 depends" "$(
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    $2 == 8 { printf "%.4f %.4f %.3f %s", $at["slowdown_low"], $at["slowdown_high"], $at["share_limit"],
      $at["verdict"] }' out)"
choose "$@" --memory-share '20..20.2 %' --format csv -q
same "that is narrow enough" 8 "$(awk -F, '$(NF - 1) == "chosen" { print $2 }' out)"
choose "$@" --memory-share '20 %' --working-set 64MiB.. --format csv -q
cp out open
choose "$@" --memory-share '20 %' --working-set 64MiB --format csv -q
same "a working set from 64 MiB on begins with that of 64 MiB" ok "$(
  { column slowdown_low open; column slowdown out; } | awk 'NR == 8 { low = $1 } NR == 16 { d = low - $1 }
    END { print d < 1e-9 ? "ok" : d }')"
choose "$@" --format csv -q
same "without a word: any share, any working set" "1 0" "$(awk -F, '
  NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
  $at["verdict"] == "chosen" { chosen++; if ($at["slowdown_high"] > 0.05) bad = 1 }
  END { print chosen, bad + 0 }' out)"
choose "$@"
same "which people are told, and up to which share more would do" "1 1 1" "$(
  grep -c '^computation: a model of the node, for all that the program may ask of memory, not measured; ' out) $(
  tail -1 out | grep -c 'with memory shares of 0 to 69 % and any working set') $(
  tail -1 out | grep -c '; pattern 8 on 2 nodes would do up to a memory share of [0-9]* %, which times in two patterns tell')"
choose "$@" --format json -q
same "and programs" "1 8 8" "$(grep -c '"memory_share_high": 0.69,' out) $(grep -c '"slowdown_high": ' out) $(
  grep -c '"share_limit": ' out)"
choose "$@" --power power.conf --format csv -q
same "energy times time" ok "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
  { d = $at["energy_delay_Js"] / ($at["energy_J"] * $at["total_s"]) - 1; bad += d * d > 1e-20
    first = NR == 2 ? $at["energy_delay_Js"] : first
    d = $at["energy_delay_saving"] - (1 - $at["energy_delay_Js"] / first); bad += d * d > 1e-20 }
  END { print NR == 9 && !bad ? "ok" : bad }' out)"
choose "$@" --power power.conf
same "the best by each" 1 "$(tail -1 out | grep -c '^least energy: pattern 8; least energy times time: pattern [1-8]; fastest: pattern [1-8]$')"
refused "a range from more to less" 2 "--memory-share: '40..20 %' is no range" aggregate "$@" --memory-share '40..20 %'
refused "working sets likewise" 2 "--working-set: '2GiB..1GiB' is no range" aggregate "$@" --working-set 2GiB..1GiB
refused "a range without ends" 2 "--working-set: '..' is no size" aggregate "$@" --working-set ..
refused "what a model of counters does not ask" 2 "--working-set is for the model of the node" \
  aggregate "$@" --ipc ipc.csv --working-set 1GiB
refused "nor none" 2 "--computation unchanged has no use for" aggregate "$@" --computation unchanged --memory-share '5 %'
refused "more than all" 2 "--memory-share: '101 %' is not within 0..100 %" aggregate "$@" --memory-share '101 %'

# The upper bound, by a table that is there: of two sizes, all classes.
run "$hopcast" aggregate table --machine systemg:2 --sizes 1,100000 -q -o table.csv
choose "$@" --table table.csv --format csv -q
# Alone on its node a rank gets two messages of a byte, each as long as between two quiet nodes.
same "a bound by hand" "$(awk -F, '$2 == "between" && $4 == 0 && $5 == 0 && $7 == 1 {
  printf "%.6g", 2e-6 * $8 }' table.csv)" "$(column bound_s out | awk 'NR == 1 { printf "%.6g", $1 }')"
same "and a simulation beside it" 8 "$(column simulated_s out | awk '$1 > 0' | wc -l)"
same "the simulation decides" 0 \
  "$(awk -F, 'NR > 1 { d = $12 / $11 - 1; bad += d * d > 1e-24 } END { print bad + 0 }' out)"
choose "$@" --table table.csv --by bound --format csv -q
same "or the bound: total is computation and bound" 0 \
  "$(awk -F, 'NR > 1 { d = $12 / ($7 + $8) - 1; bad += d * d > 1e-24 } END { print bad + 0 }' out)"
cp out simulated
choose "$@" --table table.csv --no-simulate --format csv -q
bounds () {
  awk -F, '{ printf "%s %.9g %.9g %.9g %s\n", $2, $7, $8, $12, $(NF - 1) }' "$1"
}
same "without simulation the same" "$(bounds simulated)" "$(bounds out)"
same "nothing was simulated" "" "$(awk -F, 'NR > 1 && $10 $11 != "" { print "simulated" }' out)"
grep -v between table.csv >within.csv
refused "a table that lacks messages between nodes" 1 "within.csv: no pingpong between" \
  aggregate "$@" --table within.csv --format csv -q
printf 'operation,where\n' >broken.csv
refused "no table" 1 "broken.csv" aggregate "$@" --table broken.csv -q
awk '$2 == "finalize" { print $1, "allReduce 8 0 6" } { print }' ring.ti >reduce.ti
refused "a table that lacks a collective" 1 "table.csv: no entry for allreduce of 16 ranks" \
  aggregate reduce.ti --trace-ranks 16 --machine systemg:16 --table table.csv -q
refused "nothing left to compare" 2 "--no-simulate needs --table FILE" aggregate "$@" --no-simulate
refused "a bound without a table" 2 "--by bound needs --table FILE" aggregate "$@" --by bound
refused "no simulation to choose by" 2 "--by simulation and --no-simulate exclude each other" \
  aggregate "$@" --table table.csv --no-simulate --by simulation

# What cannot be.
sed s/ring,7,1.8/ring,7,0/ ipc.csv >zero.csv
refused "an IPC of 0" 1 "zero.csv:8" aggregate "$@" --ipc zero.csv
sed s/ring,7,1.8/ring,7,-1/ ipc.csv >negative.csv
refused "a negative IPC" 1 "negative.csv:8" aggregate "$@" --ipc negative.csv
{ cat ipc.csv; echo other,1,1; } >two.csv
refused "which program" 1 "two.csv: has 2 programs (ring, other); --program says which" \
  aggregate "$@" --ipc two.csv
refused "no such program" 1 'two.csv: has no program "wring"; it has ring, other' \
  aggregate "$@" --ipc two.csv --program wring
grep -v ring,1 ipc.csv >none.csv
refused "no IPC of the trace's pattern" 1 "none.csv: no IPC of pattern 1, in which the trace was recorded" \
  aggregate "$@" --ipc none.csv
refused "more ranks than cores" 1 "systemg:1: 16 ranks are more than 1 nodes of 8 have room for" \
  aggregate ring.ti --trace-ranks 16 --machine systemg:1
choose ring.ti --trace-ranks 16 --machine systemg:8 --ipc ipc.csv --set 'node.compute=1 Gflop/s'
same "the reference needs more nodes: the fastest takes its place" "1 1" "$(
  grep -c 'slower than pattern [23], the fastest that fits (1 is excluded: needs 16 nodes of 8)$' out) $(
  tail -1 out | grep -c '^choose pattern 5: ')"
choose ring.ti --trace-ranks 16 --machine systemg:8 --ipc ipc.csv --format json -q
same "in JSON too" "1 1" "$(grep -c '"compared_with": [23],' out) $(grep -c '"reference": 1,' out)"
refused "but not that of one which was named" 1 "pattern 1, the reference, is excluded: needs 16 nodes of 8; without --reference it is the fastest" \
  aggregate ring.ti --trace-ranks 16 --machine systemg:8 --reference 1
refused "nothing fits" 1 "all patterns are excluded; pattern 1: 1 task of 9 GiB need" \
  aggregate ring.ti --trace-ranks 16 --machine systemg:16 --memory-per-task 9GiB
choose ring.ti --trace-ranks 16 --machine systemg:8 --reference 2 --format csv -q
same "another one does not" "excluded needs 16 nodes of 8" "$(awk -F, '$2 == 1 { print $(NF - 1), $NF }' out)"
refused "a torus" 1 "is a torus; the cores of its nodes are unknown" \
  aggregate ring.ti --trace-ranks 16 --machine bgq:32
refused "no machine" 2 "--machine SPEC is missing" aggregate ring.ti --trace-ranks 16
refused "nothing to fill in" 2 "has no {ranks}" aggregate "$@" --ranks 16,32
refused "nothing to fill in with" 2 "{ranks} needs --ranks N,N,..." \
  aggregate 'gen:ring:ranks={ranks}' --machine systemg:16
refused "no share" 2 "--max-slowdown: " aggregate "$@" --max-slowdown fast

# Twelve ranks are no multiple of eight.
awk '$1 < 12' ring.ti | sed 's/irecv 15/irecv 11/; s/^11 send 12/11 send 0/' |
  awk '$1 == 0 && $2 == "irecv" { $3 = 11 } { print }' >twelve.ti
choose twelve.ti --trace-ranks 12 --machine systemg:16 --format csv -q
same "indivisible" "excluded 12 ranks are no multiple of 8 tasks" \
  "$(awk -F, '$2 == 8 { print $(NF - 1), $NF }' out)"
choose twelve.ti --trace-ranks 12 --machine systemg:16 --part-filled --format csv -q
same "the last node part filled" 2 "$(awk -F, '$2 == 8 { print $4 }' out)"

# Pairs that speak to nobody else, and ranks that say nothing: a graph of many parts.
awk 'BEGIN {
  for (r = 0; r < 16; r++) {
    print r, "init"
    print r, "compute 1e8"
    if (r < 8) print r, (r % 2 ? "recv" : "send"), r + 1 - 2 * (r % 2), 0, 1000, 6
    print r, "finalize"
  }
}' >pairs.ti
choose pairs.ti --trace-ranks 16 --machine systemg:16 --rankfile pairs.rankfile --memory-share '0 %'
same "a graph in pieces" 4 "$(awk -F'[ =]' '{ node[$2] = $3 }
  END { for (r = 0; r < 8; r += 2) n += node[r] == node[r + 1]; print n }' pairs.rankfile)"
grep -v 'send\|recv' pairs.ti >silent.ti
choose silent.ti --trace-ranks 16 --machine systemg:16 --memory-share '0 %' --format csv -q
same "a trace that sends nothing" "8 0" \
  "$(awk -F, '$(NF - 1) == "chosen" { print $2, $14 + 0 }' out)"
grep -v compute silent.ti >idle.ti
refused "a trace that does nothing" 1 "takes no time: nothing is computed or sent" \
  aggregate idle.ti --trace-ranks 16 --machine systemg:16 --set mpi.call_overhead=0ns -q

# Published runs are built in; where the model is no better than carrying over, the row says so.
run "$hopcast" validate aggregation --only 'xc30_*' --format json
if test $status -eq 0 && test "$(grep -c '"verdict": "agrees"' out)" = 2 &&
    grep -q '"note": "the model is the answer: carrying over has a correlation of 0.582 and a median error of 6.14 %' out; then
  ok "slow-downs on an XC30"
else
  not_ok "slow-downs on an XC30" "status $status" "$(cat out err)"
fi
awk 'BEGIN {
  print "benchmark,ranks,ranks_per_node,cores_per_node,chips_per_node,median_s"
  for (code = 1; code <= 4; code++)
    for (ranks = 24; ranks <= 192; ranks *= 2) {
      print "code" code "," ranks ",24,24,2," 4800 / ranks * (1 + code / 10)
      print "code" code "," ranks ",12,24,2," 4800 / ranks
    }
}' >stays.csv
run "$hopcast" validate aggregation --only xc30_median_error --xc30 stays.csv
if test $status -eq 0 && grep -q '^    carrying the slow-down over is the answer, since' out; then
  ok "slow-downs that stay are carried over"
else
  not_ok "slow-downs that stay are carried over" "status $status" "$(cat out err)"
fi
refused "runs that nobody reads" 2 "--xc30: only aggregation reads it" validate bgq --xc30 none.csv
run "$hopcast" validate aggregation --only ipc_error_mean
if test $status -eq 1 && grep -q '^    Table I.s columns of IPC give 1.19 %' out; then
  ok "what differs has a cause"
else
  not_ok "what differs has a cause" "status $status" "$(cat out err)"
fi

# The word behind aggregate may be a file or a command.
refused "a mistyped command" 2 "unknown command 'aggregate paterns'; did you mean 'aggregate patterns'?" \
  aggregate paterns
refused "no such trace" 1 "nothing.hct" aggregate nothing.hct --machine systemg:16
done_testing
