#!/bin/sh
# aggregate_memory_test.sh - memory shares from times of runs that fill nodes differently.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# Four tasks of a node take half of each other's memory bandwidth, one task none of it; nothing fits.
machine='--machine systemg:16 --set memory.core_memory_bandwidth=4GB/s --set memory.bus_bandwidth=100GB/s'
machine="$machine --set memory.bandwidth=8GB/s"

learn () {
  # shellcheck disable=SC2086  # $machine is several words
  run "$hopcast" aggregate memory-share "$@" $machine
}

# refused NAME STATUS TEXT ARGUMENT...: one line on standard error has the text, nothing else.
refused () {
  name=$1 wanted=$2 text=$3
  shift 3
  learn "$@"
  if test "$status" = "$wanted" && test ! -s out && test "$(wc -l <err)" = 1 && grep -qF -e "$text" err; then
    ok "$name"
  else
    not_ok "$name" "status $status, wanted $wanted and '$text'" "$(cat out err)"
  fi
}

# Patterns 1 and 5 (one task; one on each of four dies) both leave a task an L2 of 6 MiB, whose part of
# what leaves 32 KiB is missed as 1 / sqrt (192); four tasks have crowding 2.  Of "half" the times are
# 1/2 + 1/2 / sqrt (192) * crowding, "none" does not use memory.
awk 'BEGIN {
  print "program,pattern,ranks,time_s"
  missed = 1 / sqrt (192)
  printf "half,1,16,%.12f\nhalf,5,16,%.12f\n", 10 * (0.5 + 0.5 * missed), 10 * (0.5 + missed)
  printf "none,5,16,3\nnone,1,16,3\n"
}' >runs.csv

learn runs.csv --format csv
holds "shares by hand" awk -F, '
  $1 == "half" { if ($2 < 0.499999 || $2 > 0.500001 || $3 != 2) exit 1; n++ }
  $1 == "none" { if ($2 > 1e-6) exit 1; n++ }
  END { exit n != 2 }' out
holds "too few to judge" grep -q "a model of the node, not counters; so few times" err
learn runs.csv --format csv -q
holds "quiet" test ! -s err
learn runs.csv
holds "table" grep -q '^half  *50.0%  *2$' out
learn runs.csv --format json
holds "json" grep -q '"memory_share"' out
holds "no overhead of one count of ranks" grep -q '"overhead": null' out

# An overhead of a fifth of the computation with 16 ranks, which has a quarter of the computation and
# 4^(1/3) times the share with 64.
awk 'BEGIN {
  print "program,pattern,ranks,time_s"
  missed = 1 / sqrt (192); dense = (0.5 + missed) / (0.5 + 0.5 * missed)
  printf "half,1,16,%.12f\nhalf,5,16,%.12f\n", 10 * 1.2, 10 * (dense + 0.2)
  grown = 0.2 * exp (log (4) / 3)
  printf "half,1,64,%.12f\nhalf,5,64,%.12f\n", 2.5 * (1 + grown), 2.5 * (dense + grown)
}' >counts.csv
learn counts.csv --format json
holds "overhead of two counts" awk '
  /"overhead":/ { n++; if ($2 < 0.1999 || $2 > 0.2001) exit 1 }
  /"memory_share":/ { n++; if ($2 < 0.4999 || $2 > 0.5001) exit 1 }
  END { exit n != 2 }' out
learn counts.csv
holds "overhead for people" grep -q '^overhead 0.2 of the computation' err

# Three times that no memory share explains: they differ by 10 % where nothing does.
printf '%s\n' program,pattern,ranks,time_s none,1,16,3 none,5,16,3 none,1,16,3.3 >unlike.csv
learn unlike.csv
holds "error of the fit" grep -q '^times are met within 4.[0-9]* % .* by a model of the node, not counters' err

# All fits in the L2: patterns that share no more than memory tell nothing.
refused "working set that fits" 1 "half: no two runs of as many ranks" runs.csv --working-set 64MiB
sed 's/half,5,16/half,5,64/' runs.csv >alone.csv
refused "no two runs of as many ranks" 1 "alone.csv: half: no two runs" alone.csv
sed 's/half,5/half,9/' runs.csv >nine.csv
refused "no such pattern" 1 "nine.csv:3: the machine's nodes have no such pattern" nine.csv
sed 's/none,5,16,3/none,5,16,0/' runs.csv >zero.csv
refused "no time" 1 "zero.csv:4: ranks and times must be positive" zero.csv
sed 's/time_s/seconds/' runs.csv >column.csv
refused "no column" 1 "time_s" column.csv
head -1 runs.csv >empty.csv
refused "no runs" 1 "empty.csv: no runs" empty.csv
refused "no size" 2 "--working-set:" runs.csv --working-set much
machine='--machine torus:4x4'
refused "a torus" 1 "is a torus" runs.csv
machine=
refused "no machine" 2 "--machine SPEC is missing" runs.csv
done_testing
