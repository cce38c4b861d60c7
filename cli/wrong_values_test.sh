#!/bin/sh
# wrong_values_test.sh - a wrong value of any option of any command is wrong usage.
#
# SPDX-License-Identifier: Apache-2.0
#
# Every option that takes a value, of every command, has a row below with values that are wrong by
# themselves; hopcast must end with status 2 and one line that names the option or the value.
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

cat >good.ti <<'END'
0 init
1 init
0 send 1 0 1000 6
1 recv 0 0 1000 6
0 finalize
1 finalize
END
printf 'a,b,program,time_s\n1,2,x,3\n2,3,x,4\n3,5,y,5\n4,7,y,8\n5,8,y,9\n6,9,y,10\n' >t.csv
printf '[traces]\ntrace = good.ti\n[machines]\nmachine = torus:2x2\n[mappings]\nmapping = default;TAB\n' >s.study
run "$hopcast" study run s.study --store s.store -q
test "$status" = 0 || not_ok "a study to work on" "$(cat err)"
printf '[traces]\ntrace = good.ti\n[machines]\nmachine = fattree:2x2:2\nfailures = cables\n' >f.study
run "$hopcast" study run f.study --store f.store -q
test "$status" = 0 || not_ok "a study of failures to work on" "$(cat err)"
run "$hopcast" train t.csv --target time_s --features a,b --method linear -o m.json
test "$status" = 0 || not_ok "a model to work on" "$(cat err)"
"$hopcast" trace matrix good.ti >m.csv
printf '# OSU MPI Latency Test v5\n# Size Latency (us)\n1 1\n8 1\n64 1\n' >l.txt
printf 'bytes,time_s\n1,1e-6\n10,1.1e-6\n100,1.2e-6\n1000,2e-6\n10000,6e-6\n' >sizes.csv

# What besides the option makes a command complete.
complete () {
  case $1 in
    simulate) echo "good.ti --machine systemg:4 -q" ;;
    "trace info") echo "good.ti" ;;
    "trace matrix") echo "good.ti --with-collectives --machine systemg:4" ;;
    "trace convert") echo "good.ti -o x.hct" ;;
    "trace generate") echo "ring --ranks 4 -o x.hct" ;;
    "trace record") echo "-- true" ;;
    "machine show" | "machine check" | "machine links") echo "systemg:4" ;;
    "machine test") echo "systemg:4 --measured l.txt -q" ;;
    calibrate) echo "l.txt --machine systemg:4 -o x.conf -q" ;;
    "map check") echo "AT --machine systemg:4 --ranks 2" ;;
    "map convert") echo "AT --machine systemg:4 --ranks 2 --to slurm" ;;
    "map generate") echo "--machine systemg:4 --ranks 2" ;;
    "map metrics") echo "m.csv --machine systemg:4" ;;
    advise) echo "good.ti --machine systemg:4 -q --budget 10" ;;
    "map optimize") echo "good.ti --machine systemg:4 -q -o x.map --budget 1" ;;
    "study run") echo "s.study --store s.store -q" ;;
    "study status" | "study export" | rank) echo "s.store" ;;
    "study failures") echo "f.store" ;;
    report) echo "s.store -o x.html" ;;
    score) echo "t.csv --observed a --predicted b" ;;
    train) echo "t.csv --target time_s --features a,b -o x.json" ;;
    predict) echo "m.json t.csv" ;;
    correct) echo "sizes.csv --model $srcdir/doc/examples/models/hockney.model --observed time_s" ;;
    aggregate) echo "good.ti --machine systemg:4 -q" ;;
    "aggregate patterns") echo "--machine systemg:4" ;;
    "aggregate group") echo "m.csv --parts 1" ;;
    "aggregate table") echo "--machine systemg:4 --sizes 1 -o x.csv" ;;
    "aggregate bound") echo "good.ti --machine systemg:4 --table t.csv" ;;
    "aggregate counters") echo "t.csv --program x --pattern 1 --events a" ;;
    "aggregate train-ipc") echo "t.csv --samples 1,2 --events a,b -o x.json" ;;
    "aggregate predict-ipc") echo "m.json t.csv" ;;
    "aggregate memory-share") echo "t.csv --machine systemg:4" ;;
    validate) echo "aggregation" ;;
  esac
}

# The wrong values of an option, as words for eval; "-": texts that name files, columns, programs
# or people's own things, of which none is wrong by itself.
wrong () {
  whole="'' four 1.5 99999999999999999999"
  word="'' nonsense"
  case $1:$2 in
    *:--ranks-per-node) echo "$whole -1 0 65" ;;
    "aggregate counters:--pattern") echo "-" ;;
    *:--pattern) echo "$whole -1 0" ;;
    *:--cores) echo "'' x 0,0 -1 0,99 0-" ;;
    *:--set) echo "'' x =5 a.b=1 switch.latency=5 switch.nonsense=1 mpi.sharp=yes mpi.sharp=on" ;;
    *:--machine) echo "'' nonsense bgq:0 bgq:100 torus:-1 systemg:4,routes=fastest dragonflyplus:4x2x2:2:2 systemg:4,spines=2 edr:0 edr:16,speed=QDR edr:16,library=nonsense" ;;
    *:--mapping | *:--start) echo "'' nonsense ZZZ A 'net.tilt('" ;;
    *:--family) echo "$word random: random:0 random:x" ;;
    "map generate:--program") echo "$word 2x 0x2 2x2x2x2" ;;
    *:--ranks) case $1 in
        simulate) echo "-" ;;
        aggregate) echo "'' x 0 -1 1,x 1,,2" ;;
        *) echo "$whole 0 -1" ;;
      esac ;;
    *:--parts) echo "$whole 0 -1" ;;
    *:--compute-scale) echo "'' x -1 nan inf 1e400" ;;
    *:--seed | *:--trace-ranks) echo "$whole -1" ;;
    *:--threads) echo "$whole -1 1000000" ;;
    *:--timeline-ranks) echo "'' x -1 5-2 1,,2" ;;
    *:--timeline-limit) echo "$whole -1" ;;
    *:--links-every) echo "'' x 10 0us -1us nan 2s 1e400us" ;;
    *:--every) echo "'' x -1s nan 0s 10 1e400s 5parsecs" ;;
    *:--race) echo "$word top top: top:0 top:x top:2000" ;;
    *:--confidence) echo "'' x 0 1 -1 nan" ;;
    *:--shard) echo "'' x 1 0/2 3/2 1/0 -1/2" ;;
    *:--top | *:--starts | *:--trials | *:--population | *:--generations | *:--trees | *:--max-pairs | \
      *:--max-outside | *:--search) echo "$whole -1" ;;
    *:--min-samples-split | *:--min-samples-leaf | *:--max-depth | *:--max-leaf-nodes) echo "$whole -1" ;;
    *:--max-features) echo "'' x -1 1.5 nan" ;;
    *:--learning-rate | *:--quantile) echo "'' x 0 -1 nan 1.5" ;;
    *:--increasing | *:--decreasing) echo "'' nonsense a,nonsense ," ;;
    *:--ridge | *:--l2 | *:--svr-c | *:--svr-epsilon | *:--svr-gamma) echo "'' x -1 nan 1e400" ;;
    *:--shrink) echo "'' x 0 1 -2 2.5 auto: 99999999999 8, 8,15 auto,8 8,16,32 1,2" ;;
    *:--replicas) echo "$whole 0 -1" ;;
    *:--jitter) echo "'' x 1 -1us nan 2s 1e400us" ;;
    *:--tie | *:--min-gain) echo "'' x -1 nan 1e400" ;;
    *:--interval) echo "'' x -1 nan 0 1.5" ;;
    *:--validate) echo "$word splits: splits:0 splits:x folds:1" ;;
    *:--levels) echo "'' x 0 -1 2,x 1,2,3" ;;
    *:--budget) echo "'' x 0 -1 nan 0s -1s s" ;;
    correct:--case) echo "$whole 0 5 -1" ;;
    correct:--nested) echo "$whole 1 -1" ;;
    rank:--case) echo "'' 0 99 nonsense" ;;
    *:--sizes) echo "'' x 0 -1 1,x 1,,2 1e400" ;;
    *:--collectives) echo "$word bcast bcast: bcast:x bcast:0 nonsense:4" ;;
    *:--max-slowdown) echo "'' x -1 nan 1e400" ;;
    *:--memory-share) echo "'' x -1 nan 1.5 .. 20.. 40..20% 10..x%" ;;
    aggregate:--working-set) echo "'' x -1 nan 12parsecs 1e400 .. 2GiB..1GiB x..1GiB" ;;
    *:--working-set | *:--memory-per-task | *:--node-memory | *:--memory-traffic)
      echo "'' x -1 nan 12parsecs 1e400" ;;
    *:--predict-range) echo "'' x bytes bytes=1 bytes=1: bytes=:1 bytes=2:1 bytes=x:y bytes:1:2 nonsense=1:2" ;;
    *:--functions) echo "$word exp,nonsense" ;;
    *:--observed-runs | *:--feature-runs) echo "'' x network network= network=nonsense colour=red" ;;
    *:--format | *:--network | *:--routing | *:--to | *:--what | *:--objective | \
      *:--rcc | *:--method | *:--early-stopping | *:--normalize | *:--importances | *:--score | *:--mode | *:--loss | *:--computation | \
      *:--near | *:--cost | *:--fit | *:--mpi) echo "$word" ;;
    rank:--by | aggregate:--by) echo "$word" ;;
    validate:--only) echo "$word" ;;
    *:--output | *:--links | *:--links-over-time | *:--report | *:--timeline | *:--hosts | *:--store | *:--model | *:--from | \
      *:--measured | *:--test | *:--refitted | *:--chosen | *:--points | *:--ipc | *:--samples | *:--power | *:--table | \
      *:--rankfile | *:--hostfile | *:--slurm | *:--node | *:--times | *:--details | *:--xc30 | \
      *:--checkpoint | *:--resume | *:--runs | *:--traces | *:--smpirun | *:--html) echo "-" ;;
    *:--limit) echo "'' x 0 -1 nan inf 1e400" ;;
    *:--packets) echo "$whole 0 -1" ;;
    *:--sets) echo "''" ;;
    *:--from-region | *:--observed | *:--predicted | *:--group | *:--target | *:--features | *:--title | \
      *:--program | *:--recorded-in | *:--reference | *:--events | *:--region | *:--cycles | \
      *:--instructions) echo "-" ;;
  esac
}

# refuses VALUE...: $option of $command refuses all of them; those that it takes in $problem.
refuses () {
  problem=
  for value in "$@"; do
    # shellcheck disable=SC2086  # words
    case $command in
      "trace record") run "$hopcast" $command $option "$value" $rest ;;
      *) run "$hopcast" $command $rest $option "$value" ;;
    esac
    if test "$status" != 2; then
      problem="$problem
'$value': status $status: $(head -c 300 err)"
    elif test "$(wc -l <err)" != 1 || test -s out; then
      problem="$problem
'$value': not one line: $(head -3 err out)"
    elif ! grep -q -e "${option#--}" err && ! grep -qF -e "${value:-$option}" err; then
      problem="$problem
'$value': the option is not named: $(cat err)"
    fi
  done
}

"$hopcast" --help | sed -n 's/^  \([a-z]* \?[a-z-]*\)  .*/\1/p' | sed 's/ *$//' >commands
while read -r command; do
  # shellcheck disable=SC2086
  "$hopcast" $command --help </dev/null | sed -n 's/^ *\(-., \)\?\(--[a-z0-9-]*\)=.*/\2/p' >options
  all=$(complete "$command")
  while read -r option; do
    values=$(wrong "$command" "$option")
    test "$values" = - && continue
    if test -z "$values"; then
      not_ok "$command $option" "no wrong values of it are listed here"
      continue
    fi
    # Without the option that is tried.
    rest=$(printf '%s\n' "$all" | sed "s/$option [^ ]*//")
    eval "refuses $values" </dev/null
    test -z "$problem"
    verdict $? "$command $option" "$problem"
  done <options
done <commands

# A value that the machine may have and the network that would simulate it cannot.
for command in simulate "map optimize" aggregate; do
  # shellcheck disable=SC2046,SC2086  # words
  run "$hopcast" $command $(complete "$command") --set ib.block=1B
  test "$status" = 2 && test "$(wc -l <err)" = 1 && grep -q 'ib\.block: a packet may have' err
  verdict $? "$command: --set beyond the limits of the network" "status $status: $(cat err)"
done
test "$(find . -name '*.tmp-*' | wc -l)" = 0 && ok "nothing left behind" || not_ok "nothing left behind" "$(ls)"
done_testing
