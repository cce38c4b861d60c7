#!/bin/sh
# aggregate_ipc_test.sh - the IPC model through the program: counters, training, predicting.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# programs FIRST LAST: a table of these, whose law is 0.1 + ipc 4 / 2 + ipc 5 / 4 - 25 ipc 4 misses 4
# in pattern 1, and half of that in pattern 8.
programs () {
  awk -v first="$1" -v last="$2" 'BEGIN {
    print "program,pattern,ipc,misses,noise"
    for (i = first; i <= last; i++) {
      a = 0.3 + (i * 37 % 101) / 60; b = a * (0.8 + (i * 53 % 89) / 400)
      m = (i * 29 % 97) / 5000; n = (i * 71 % 83) / 4000
      ipc = 0.1 + a / 2 + b / 4 - 25 * a * m
      printf "p%d,4,%.9f,%.9f,%d\np%d,5,%.9f,%.9f,%d\n", i, a, m, i * 17 % 7, i, b, n, i * 19 % 11
      printf "p%d,1,%.9f,,\np%d,8,%.9f,,\n", i, ipc, i, ipc / 2
    }
  }'
}

: >out
: >err
programs 1 60 >train.csv
programs 101 120 >test.csv

# -- training and predicting -------------------------------------------------------

succeeds "train" "$hopcast" aggregate train-ipc train.csv --samples 4,5 --events misses -o model.json
holds "a function for each pattern and class" test "$(grep -c '^[18]  ' out)" = 10
holds "the coefficients are told" grep -qx 'coefficients  7 of each function' out
succeeds "predict" "$hopcast" aggregate predict-ipc model.json test.csv
holds "a line for each program and pattern" test "$(wc -l <out)" = 41
holds "the columns" test "$(head -1 out)" = "program,pattern,ipc_predicted,ipc_observed,error"
holds "the law is found" awk -F, 'NR > 1 && ($5 * $5 > 1e-8) { bad = 1 } END { exit bad }' out
holds "the errors are told" grep -q 'hopcast: 40 of 40 predictions have an observed IPC: mean error 0.000 %' err
awk -F, '$2 != 1 && $2 != 8' test.csv >samples.csv
succeeds "predict what is not known" "$hopcast" aggregate predict-ipc model.json samples.csv -o predicted.csv
holds "nothing is observed" test "$(head -1 predicted.csv)" = "program,pattern,ipc_predicted"
succeeds "errors as JSON" "$hopcast" aggregate predict-ipc model.json test.csv --format json
holds "the object" grep -q '"schema": "hopcast.ipc-prediction/1"' out
holds "how many are known" grep -qx '    "n": 40,' out
succeeds "as a table" "$hopcast" aggregate predict-ipc model.json test.csv --format table
holds "the table" test "$(wc -l <out)" = 41
succeeds "the event that correlates" "$hopcast" aggregate train-ipc train.csv --events auto:1 -q -o auto.json
run cmp auto.json model.json
holds "is chosen" test "$status" = 0
succeeds "a model on standard output" "$hopcast" aggregate train-ipc train.csv --events misses -q -o -
holds "has it for itself" cmp -s out model.json
succeeds "the report as CSV" "$hopcast" aggregate train-ipc train.csv --events misses -q --format csv
holds "the line of all" grep -q '^8,"all",60,7,7,[^,]*,[^,]*,false,"all"$' out

# -- the paper's own fit -----------------------------------------------------------

succeeds "least squares" "$hopcast" aggregate train-ipc train.csv --events misses --fit least-squares -o ols.json --format json
holds "no ridge" test "$(grep -c '"ridge": 0,\|"ridge": null,' out)" = 10
succeeds "predict by them" "$hopcast" aggregate predict-ipc ols.json test.csv -q
holds "the law is found" awk -F, 'NR > 1 && ($5 * $5 > 1e-8) { bad = 1 } END { exit bad }' out
programs 1 7 >seven.csv
refused "as many programs as coefficients" 1 "pattern 1: 7 programs have it, and at least 8 are needed" \
  aggregate train-ipc seven.csv --events misses --fit least-squares
refused "no such fit" 2 "--fit" aggregate train-ipc train.csv --fit best

# -- instructions must not depend on the pattern -------------------------------------

awk -F, -v OFS=, 'NR == 1 { print $0, "instructions"; next } { print $0, $1 == "p7" && $2 == 8 ? 1.032e9 : 1e9 }' \
  train.csv >counted.csv
succeeds "a program that executes more" "$hopcast" aggregate train-ipc counted.csv --events misses
holds "is told" grep -q 'warning: counted.csv: program "p7" executes 3.2 % more instructions in pattern 8 than in pattern' err
holds "alone" test "$(grep -c 'more instructions' err)" = 1
succeeds "and is no event" "$hopcast" aggregate train-ipc counted.csv -q
holds "of all columns" grep -q '^events  *misses, noise$' out

printf '2000,,instructions:u,9,100\n1000,,cycles:u,9,100\n' >a.perf
printf '4000,,instructions:u,9,100\n2000,,cycles:u,9,100\n' >b.perf
succeeds "a row with instructions" "$hopcast" aggregate counters a.perf b.perf --program x --pattern 4 --with-instructions
holds "has their mean" test "$(paste -s -d ' ' out)" = "program,pattern,ipc,instructions x,4,2,3000"

# -- too few programs ----------------------------------------------------------------

programs 1 9 >few.csv
succeeds "few programs" "$hopcast" aggregate train-ipc few.csv
holds "each class is told with its patterns" grep -q \
  'warning: few.csv: patterns 1, 8, class \[0,1).*: under-determined, [0-9]* programs\? for 10 coeff' err
holds "and all of them" grep -q 'class all: under-determined, 9 programs for 10 coefficients$' err
programs 1 3 >three.csv
refused "three programs" 1 "pattern 1: 3 programs have it, and at least 4 are needed" \
  aggregate train-ipc three.csv -q -o no.json

# -- what is wrong ---------------------------------------------------------------------

sed '2s/,[^,]*,\([^,]*\)$/,,\1/' train.csv >missing.csv
refused "a counter is missing" 1 'missing.csv:2: program "p1", sample pattern 4: there is no "misses"' \
  aggregate train-ipc missing.csv -o no.json
sed 2d train.csv >row.csv
refused "a sample is missing" 1 'row.csv: program "p1" has no row of sample pattern 4' \
  aggregate train-ipc row.csv -o no.json
refused "to predict too" 1 'program "p1" has no row of sample pattern 4' aggregate predict-ipc model.json row.csv
refused "an unknown event" 1 'there is no column "flops"' aggregate train-ipc train.csv --events flops -o no.json
refused "no event" 2 "'ipc' is not an event" aggregate train-ipc train.csv --events ipc
refused "an empty name" 2 "is not a list of names" aggregate train-ipc train.csv --samples 4,,5
refused "no number of events" 2 "is not auto:N" aggregate train-ipc train.csv --events auto:x
refused "a sample twice" 1 "sample pattern '4' is named twice" aggregate train-ipc train.csv --samples 4,4
refused "nothing to predict" 1 "nothing to predict" aggregate train-ipc samples.csv
refused "no table" 1 "nowhere.csv" aggregate train-ipc nowhere.csv
refused "no model" 1 "no JSON" aggregate predict-ipc train.csv test.csv
sed 's|hopcast.ipc/1|hopcast.ipc/2|' model.json >other.json
refused "a model of another version" 1 "this program reads hopcast.ipc/1" aggregate predict-ipc other.json test.csv

# -- counters ----------------------------------------------------------------------------

printf '1000,,cycles:u,5,100.00,,\n1500,,instructions:u,5,100.00,,\n250,,misses:u,5,100,,\n' >rank0.csv
printf '1000,,cycles:u,5,100.00,,\n500,,instructions:u,5,100.00,,\n500,,misses:u,5,100,,\n' >rank1.csv
succeeds "a row" "$hopcast" aggregate counters rank0.csv rank1.csv --program lu --pattern 4
printf 'program,pattern,ipc,misses:u\nlu,4,1,0.375\n' >wanted
holds "the mean of the tasks" cmp -s out wanted
succeeds "a row to append" "$hopcast" aggregate counters rank0.csv --program 'l,u' --pattern 5 --events x,misses:u --no-header
holds "with the columns that are named" grep -qx '"l,u",5,1.5,,0.25' out
holds "what is not counted is told" grep -q 'not all files have "x": left empty' err
echo '<not counted>,,cycles:u,0,0.00,,' >bad.csv
sed 1d rank0.csv >>bad.csv
refused "cycles are needed" 1 'bad.csv:1: "cycles:u": could not be counted' \
  aggregate counters bad.csv --program lu --pattern 4 -o no.csv
refused "a program has a name" 2 "--program NAME is missing" aggregate counters rank0.csv --pattern 4
refused "a file" 2 "FILE is missing" aggregate counters --program lu --pattern 4
mkdir empty
refused "no file" 1 "nowhere.csv" aggregate counters nowhere.csv --program lu --pattern 4
refused "no recording" 1 "empty" aggregate counters empty --program lu --pattern 4
done_testing
