#!/bin/sh
# measured_test.sh - a model of run times that were measured, from the features of simulated runs.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# study NAME MAPPINGS [LINE]: the runs of both traces with these mappings; under load without LINE.
study () {
  printf '[study]\nname = %s\n[traces]\ntrace = a.hct;b.hct\n[machines]\nmachine = bgq:32\n' "$1" >"$1.study"
  printf '[mappings]\nmapping = %s\n[runs]\n%b\n' "$2" "${3:-network = load}" >>"$1.study"
  run "$hopcast" study run "$1.study" --threads 1 -q
  test "$status" = 0 || not_ok "a study of $1" "$(cat err)"
  "$hopcast" study export "$1.store" >"$1.csv"
}

# measure FILE.csv: trace, mapping and measured_s, which is 1 ms and 2 ns per byte of the busiest link.
measure () {
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; print "trace,mapping,measured_s"; next }
    { printf "%s,%s,%.17g\n", $c["trace"], $c["mapping"], 1e-3 + 2e-9 * $c["max_bytes"] }' "$1"
}

# noted TEXT: a line of the last command on standard error.
noted () {
  grep -qF "hopcast: note: $1" err
}

"$hopcast" trace generate halo2d --ranks 32 --bytes 2K --iterations 1 -q -o a.hct
"$hopcast" trace generate halo2d --ranks 32 --bytes 32K --iterations 1 -q -o b.hct
study runs 'ABCDET;TEDCBA;random(1);random(2);random(3);random(4)'
study others 'random(11);random(12);random(13);random(14);random(15);random(16)'
measure runs.csv >all.csv

# -- which rows are learned from -----------------------------------------------

# Six runs of a.hct and two of b.hct, two mappings of which there is no run, and the second run of
# a.hct twice more, off by 3 us either way.
{
  sed -n '1,3p' all.csv
  echo 'a.hct,BACDET,0.5'
  sed -n '4,9p' all.csv
  echo 'b.hct,random(5),0.5'
  awk -F, -v OFS=, 'NR == 3 { print $1, $2, $3 - 3e-6; print $1, $2, $3 + 3e-6 }' all.csv
} >measured.csv
succeeds "train" "$hopcast" train runs.store --measured measured.csv --features max_bytes --method linear -o line.json
has_lines "rows, target" out '  table         runs.store with measured.csv, 8 rows' '  target        measured_s'
holds "rows without a run" \
  noted 'measured.csv: left out 2 of 12 rows, the first at measured.csv:4: no such run in runs.store'
holds "runs without a row" noted 'runs.store: left out 4 of 12 runs: no row in measured.csv'
holds "repeated rows" noted 'measured.csv: 1 run measured several times: the mean counts'
holds "no other word" test "$(wc -l <err)" = 3
holds "the target of the model" grep -qF '"name" : "measured_s"' line.json
holds "its table" grep -qF '"source" : "runs.store with measured.csv"' line.json
holds "its rows" grep -qF '"samples" : 8' line.json
run "$hopcast" train runs.store --measured measured.csv --features max_bytes --method linear -o quiet.json -q
holds "quiet" test ! -s err
holds "the same model" cmp line.json quiet.json

# The line is exact, so that a mean over 7 or 9 rows, or a wrong run of one, would show.
"$hopcast" predict line.json runs.store 2>err >predicted.csv
measure runs.csv | paste -d, - predicted.csv |
  awk -F, 'NR > 1 && ($NF / $3 - 1) ^ 2 > 1e-12 { exit 1 } END { if (NR != 13) exit 1 }'
verdict $? "the times of all runs, measured or not" "$(cat predicted.csv)"

sed -e 's/measured_s/wall/' -e '1s/$/,size/' -e '2,$s/$/,7/' all.csv >sized.csv
run "$hopcast" train runs.store --measured sized.csv --target wall --validate none
has_lines "another target" out '  table         runs.store with sized.csv, 12 rows' '  target        wall'
holds "all have a row" test "$(grep -c left err)" = 0
holds "what was measured beside it is no feature" sh -c '! grep "features.*size" out'
succeeds "unless it is listed" "$hopcast" train runs.store --measured sized.csv --target wall \
  --features max_bytes,size --validate none

{ cat all.csv; sed 1d all.csv | awk -F, -v OFS=, '{ print $1, $2, $3 * 1.01 }'; } >twice.csv
run "$hopcast" train runs.store --measured twice.csv --features max_bytes --method linear
holds "repetitions are replicas" grep -q '^  noise  *rows are means of 2 or more replicas' out

# Replicas are one run, and features may be those of another network.
study packets 'ABCDET;TEDCBA;random(1);random(2)' 'network = packet;load\nreplicas = 2\njitter = 1us'
run "$hopcast" train packets.store --measured all.csv --features max_buffer,max_bytes --observed-runs network=packet \
  --validate none
has_lines "replicas" out '  table         packets.store with all.csv, 8 rows'
holds "rows of other mappings" noted 'all.csv: left out 4 of 12 rows, the first at all.csv:'
succeeds "features of loads" "$hopcast" train packets.store --measured all.csv --features max_bytes --method linear \
  --observed-runs network=packet --feature-runs network=load -o loads.json
"$hopcast" predict loads.json others.store >predicted.csv 2>err
measure others.csv | paste -d, - predicted.csv |
  awk -F, 'NR > 1 && ($NF / $3 - 1) ^ 2 > 1e-9 { exit 1 } END { if (NR != 13) exit 1 }'
verdict $? "predict runs under load" "$(cat predicted.csv)"

# -- ranked by times that nobody measured or simulated ---------------------------

best=$(measure others.csv | awk -F, '$1 == "b.hct" { print $3, $2 }' | sort -gsk 1,1 | sed -n '1s/.* //p')
succeeds "rank" "$hopcast" rank others.store --model line.json --case b.hct --tie 0
has_lines "by predicted times" out 'case 2: b.hct, bgq:32, load' \
  'measured_s predicted by line.json, trained on 8 samples of runs.store with measured.csv, from the features of the same runs'
holds "their column" grep -q '^  place  mapping  *predicted_s  *gain  runs$' out
holds "the best" grep -qF "      1  $best  " out
run "$hopcast" rank others.store --model line.json --case b.hct --tie 0 --format json --interval 0.8
same "column in JSON" predicted_s "$(json column out)"
same "target in JSON" measured_s "$(json target out)"
holds "the interval in JSON" grep -q '"upper": 0.00' out
run "$hopcast" rank others.store --model line.json --case b.hct --tie 0 --format csv --top 1
same "column in CSV" predicted_s "$(column column out | sort -u)"
same "value in CSV" "$(measure others.csv | grep -F "b.hct,$best," | awk -F, '{ printf "%.9f", $3 }')" \
  "$(column value out | awk 'NR == 1 { printf "%.9f", $1 }')"

# -- features without any value ----------------------------------------------------

unknown='avg_chunks, max_chunks, avg_chunks_AO, avg_chunks_TO, avg_buffer, max_buffer, avg_buffer_AO, avg_buffer_TO, '
unknown="${unknown}avg_delay, max_delay, avg_delay_AO, avg_delay_TO, avg_waited, max_waited, avg_waited_AO, avg_waited_TO"
succeeds "all features of loads" "$hopcast" train runs.store --measured all.csv --features all --trees 10 -o all.json
holds "those without a value" noted "runs.store with all.csv: left out features without any value: $unknown"
holds "in the report too" grep -q '^  no feature    avg_chunks (empty)$' out
same "the model has the others" 15 "$(grep -c '"smallest"' all.json)"
holds "and no buffer" sh -c '! grep buffer all.json'
succeeds "predict by them" "$hopcast" predict all.json others.store
succeeds "rank by them" "$hopcast" rank others.store --model all.json
succeeds "a hybrid" "$hopcast" train runs.store --measured all.csv --features H3 --trees 10
has_lines "its features" out '  features      avg_bytes, max_bytes, max_FIFO'
measure runs.csv | cut -d, -f3 | paste -d, - runs.csv >runs-measured.csv
succeeds "all features of a table" "$hopcast" train runs-measured.csv --target measured_s --features all --trees 10 -o t.json
holds "those that it lacks" noted "runs-measured.csv: left out features without any value: $unknown"
same "are the same" "$(sed -n '/"features"/,/\]/p' all.json | grep name)" "$(sed -n '/"features"/,/\]/p' t.json | grep name)"
succeeds "predict from a table" "$hopcast" predict t.json runs-measured.csv
grep -v 'random([34])' all.csv >some.csv
succeeds "correct" "$hopcast" correct --from packets.store --measured some.csv --population 20 --generations 1 \
  --trials 1 --observed-runs network=packet --feature-runs network=load --features H3
holds "with the features of loads" noted "packets.store with some.csv: left out features without any value: avg_buffer"

refused "named by itself" 1 'column "avg_buffer": no number is known' \
  train runs.store --measured all.csv --features H3,avg_buffer -q
study mixed 'ABCDET;TEDCBA' 'network = packet'
"$hopcast" study merge both.store runs.store mixed.store -q 2>err || not_ok "merge" "$(cat err)"
refused "known in part" 1 'both.store with all.csv:4: column "avg_chunks": no number is known' \
  train both.store --measured all.csv --features all -q
awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "max_bytes") c = i } NR == 5 { $c = "" } { print }' \
  runs-measured.csv >hole.csv
refused "a cell that is empty" 1 'hole.csv:5: column "max_bytes": no number is known' \
  train hole.csv --target measured_s --features all -q
printf 'avg_bytes,max_bytes,avg_buffer_TO,y\n,,,1\n,,,2\n,,,3\n' >blank.csv
refused "nothing is left" 1 'blank.csv: no feature of H4 has a value' train blank.csv --target y --features H4 -q

# -- wrong tables --------------------------------------------------------------------

# wrong NAME TEXT [OPTION...]: the table bad.csv is refused.
wrong () {
  name=$1 text=$2
  shift 2
  refused "$name" 1 "$text" train runs.store --measured bad.csv -q "$@"
}

cut -d, -f3 all.csv >bad.csv
wrong "no column of inputs" 'bad.csv: no column identifies the measured run: trace, machine'
sed 1s/mapping/maping/ all.csv >bad.csv
wrong "an unknown column" 'bad.csv:2: runs.store has 6 runs with trace=a.hct; they differ in mapping (ABCDET, TEDCBA, '
cut -d, -f2,3 all.csv >bad.csv
wrong "an ambiguous row" 'bad.csv:2: runs.store has 2 runs with mapping=ABCDET; they differ in trace (a.hct, b.hct)'
sed 's/hct/goal/' all.csv >bad.csv
wrong "no run at all" 'bad.csv:2: runs.store has no run with trace=a.goal, mapping=ABCDET, and none of any other'
sed '4s/,[^,]*$/,-1/' all.csv >bad.csv
wrong "a negative time" 'bad.csv:4: measured_s is negative: -1'
sed '5s/,[^,]*$/,fast/' all.csv >bad.csv
wrong "a word" 'bad.csv:5'
sed '6s/,[^,]*$/,/' all.csv >bad.csv
wrong "no time" 'bad.csv:6: column "measured_s" has no finite number'
sed '6s/,[^,]*$/,inf/' all.csv >bad.csv
wrong "an infinite time" 'bad.csv:6: column "measured_s" has no finite number'
sed '7s/$/,1/' all.csv >bad.csv
wrong "a cell more" 'bad.csv:7'
head -1 all.csv >bad.csv
wrong "no rows" 'bad.csv: has no rows'
: >bad.csv
wrong "an empty table" 'bad.csv'
cp all.csv bad.csv
wrong "another column" '"time"' --target time
sed 1s/measured_s/time_s/ all.csv >bad.csv
wrong "a column of runs" 'bad.csv: runs have a column time_s' --target time_s
refused "no table" 1 nowhere.csv train runs.store --measured nowhere.csv
refused "no store" 2 '--measured applies to stores; all.csv is not one' \
  train all.csv --measured all.csv --target measured_s
refused "the target as a feature" 2 'is the target' train runs.store --measured all.csv --features measured_s
done_testing
