#!/bin/sh
# iterations_test.sh - `simulate --iterations`: what it prints, and that nothing else depends on it.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

trace=gen:halo2d:ranks=16,bytes=4096,iterations=5,compute=2us
on="--machine torus:4x4 -q"

# numbers NAME FILE: the elements of that array of numbers, one a line.
numbers () {
  sed -n "/^ *\"$1\": \[/,/\]/p" "$2" | sed -n 's/^ *\([0-9][-+.0-9e]*\),*$/\1/p'
}

# near A B: to nine digits.
near () {
  awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(b > 0 && d < 1e-9 * b && d > -1e-9 * b) }'
}

# others FILE: a record without what --iterations adds and without what differs between equal runs.
others () {
  sed -e '/^  "iterations": {/,/^  },/d' -e '/"wall_s"/d' -e '/"peak_rss_bytes"/d' "$1"
}

# shellcheck disable=SC2086  # options
{
succeeds "without" "$hopcast" simulate $trace $on --format json --links links.csv --ranks ranks.csv
cp out without.json
succeeds "json" "$hopcast" simulate $trace $on --format json --links links2.csv --ranks ranks2.csv --iterations
cp out run.json
}
same "iterations" "$(json count run.json)" 5
same "times" "$(numbers times_s run.json | wc -l)" 5
# From the end of MPI_Init to the begin of MPI_Finalize, each of which takes 100 ns.
holds "they add up to the run" near "$(numbers times_s run.json | awk '{ s += $1 } END { print s + 2e-7 }' OFMT=%.12g)" \
  "$(json time_s run.json)"
holds "their mean" near "$(json mean_s run.json)" \
  "$(numbers times_s run.json | awk '{ s += $1 } END { print s / NR }' OFMT=%.12g)"
same "the least and the most" "$(json least_s run.json) $(json most_s run.json)" \
  "$(numbers times_s run.json | sort -g | sed -n '1p;$p' | tr '\n' ' ' | sed 's/ $//')"
same "two ends of the interval" "$(numbers interval run.json | wc -l)" 2
holds "around the mean of the later ones" near "$(json later_mean_s run.json)" \
  "$(numbers interval run.json | awk '{ s += $1 } END { print s / 2 }' OFMT=%.12g)"
sed -n '/^  "iterations": {/,/^  },/p' run.json >own
run "$hopcast" simulate gen:halo2d:ranks=16,bytes=4096,iterations=1,compute=2us --machine torus:4x4 -q --format json
for feature in hop_bytes avg_bytes max_bytes avg_bytes_TO avg_FIFO max_FIFO; do
  same "$feature of an iteration is that of a run of one" "$(json $feature own)" "$(json $feature out)"
done
same "features that do not add up" "$(json max_dilation own)none" none
same "nothing else changes" "$(others run.json)" "$(others without.json)"
same "nor do links" "$(cat links.csv)" "$(cat links2.csv)"
same "the other columns of ranks" "$(cut -d, -f 1-8 ranks2.csv)" "$(cat ranks.csv)"
same "columns" "$(sed -n 1p ranks2.csv)" \
  "rank,node,slot,end_s,compute_s,wait_s,sends,receives,iterations,iteration_mean_s,iteration_least_s,iteration_most_s"
awk -F, 'NR > 1 && !($9 == 5 && $11 <= $10 && $10 <= $12 && $11 > 0) { print; bad = 1 }
  NR > 1 { d = $4 - 2e-7 - 5 * $10; if (d > 1e-12 || d < -1e-12) { print; bad = 1 } }
  END { exit bad || NR != 17 }' ranks2.csv >wrong
verdict $? "iterations of the ranks" "$(cat wrong)"

# shellcheck disable=SC2086
succeeds "table" "$hopcast" simulate $trace $on --iterations
same "a line" "$(grep -c '^  iteration, average  *0.0000[0-9]* s of 5, 0.0000[0-9]* to .*; after the first 0.0' out)" 1
# shellcheck disable=SC2086
succeeds "csv" "$hopcast" simulate $trace $on --iterations --format csv
same "columns of the record" "$(sed -n 1p out | tr ',' '\n' | grep -c '^iterations\.[a-z_]*_s$')" 6

# Ranks 0 and 1 play ball four times, after a start-up and before an end; rank 2 does nothing.
{
  printf '%s\n' '0 init' '1 init' '2 init' '0 send 1 1 5000' '1 recv 0 1 5000'
  for turn in 1 2 3 4; do
    printf '%s\n' "0 compute ${turn}e3" '0 send 1 7 100' '1 recv 0 7 100' '1 send 0 7 100' '0 recv 1 7 100'
  done
  printf '%s\n' '0 send 1 2 9000' '1 recv 0 2 9000' '0 finalize' '1 finalize' '2 finalize'
} >ball.ti
succeeds "a trace" "$hopcast" simulate ball.ti --machine torus:3 --iterations --ranks ball.csv --format json
same "its iterations" "$(json count out) $(json messages out | sed -n 2p)" "4 8"
same "of the ranks" "$(cut -d, -f 1,9 ball.csv | tail -n 3 | tr '\n' ' ')" "0,4 1,4 2, "
same "empty fields" "$(sed -n 4p ball.csv | cut -d, -f 9-)" ",,,"
# A tenth of the messages and nearly all bytes are outside of the loop.
same "no features of an iteration" "$(sed -n '/^  "iterations": {/,/^  },/s/"max_bytes"/&/p' out)none" none

succeeds "one iteration" "$hopcast" simulate gen:halo2d:ranks=16,iterations=1 --machine torus:4x4 -q --iterations
same "is no loop" "$(grep -c '^  iterations  *none: rank 0 repeats nothing' out)" 1
succeeds "no loop" "$hopcast" simulate gen:halo2d:ranks=16,iterations=1 --machine torus:4x4 -q --iterations \
  --format json --ranks none.csv
same "in the record" "$(json count out) $(json mean_s out)" "0 null"
same "in the ranks" "$(cut -d, -f 9- none.csv | sort -u | tail -n 2 | tr '\n' ' ')" \
  ",,, iterations,iteration_mean_s,iteration_least_s,iteration_most_s "
succeeds "a graph" "$hopcast" trace convert gen:halo2d:ranks=16,iterations=3 -q -o halo.goal
succeeds "has no order" "$hopcast" simulate halo.goal --machine torus:4x4 -q --iterations
same "and no loop" "$(grep -c '^  iterations  *none: the operations of this trace are a graph' out)" 1

# Threads, and a run that is ended and resumed.
set -- gen:halo3d:ranks=512,iterations=3 --machine bgq:512 -q --format json --iterations
run "$hopcast" simulate "$@" --threads 1
grep -v -e '"wall_s"' -e '"peak_rss_bytes"' out >one
run "$hopcast" simulate "$@" --threads 3
grep -v -e '"wall_s"' -e '"peak_rss_bytes"' out >three
same "threads" "$(cat one)" "$(cat three)"
"$hopcast" simulate "$@" --threads 2 --checkpoint saved >again 2>err &
pid=$!
sleep 0.5
kill -TERM "$pid" 2>/dev/null
wait "$pid"
status=$?
if test "$status" = 143; then
  refused "a checkpoint with iterations" 1 "is of a run with times of iterations" \
    simulate gen:halo3d:ranks=512,iterations=3 --machine bgq:512 -q --resume saved
  run "$hopcast" simulate "$@" --resume saved
  grep -v -e '"wall_s"' -e '"peak_rss_bytes"' out >again
  same "resumed" "$(cat again)" "$(cat one)"
else
  skip "a checkpoint with iterations" "the run has ended before it"
fi

succeeds "a fabric" "$hopcast" simulate gen:ring:ranks=8,iterations=6 --machine systemg:4 --ranks-per-node 2 -q \
  --iterations --format json
same "iterations on it" "$(json count out)" 6
run "$hopcast" simulate gen:ring:ranks=8,iterations=6 --machine torus:8 -q --network flow --iterations --format json
if test "$status" = 0; then
  same "flow" "$(json count out)" 6
else
  skip "flow" "no SimGrid"
fi

# shellcheck disable=SC2086
{
refused "load" 2 "--iterations: the load network has no times" simulate $trace $on --network load --iterations
refused "replicas" 2 "--iterations is of one run" simulate $trace $on --replicas 3 --iterations
refused "a value" 2 "--iterations takes no value" simulate $trace $on --iterations=5
}
done_testing
