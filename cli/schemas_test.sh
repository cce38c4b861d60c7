#!/bin/sh
# schemas_test.sh - whatever JSON the program prints or writes is what its schema says, key for key.
#
# SPDX-License-Identifier: Apache-2.0
#
# Each command with --format json runs in the ways that change its keys; schemas_check.py compares
# what they print, and the JSON files that they write, with doc/schemas.  It fails on a key that a
# schema does not have, and on one that a schema has and no output here.
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
unless_sanitized "schemas"

if ! /usr/bin/python3 -c 'from jsonschema import Draft202012Validator' 2>/dev/null; then
  skip "schemas" "no jsonschema with draft 2020-12 for /usr/bin/python3"
  done_testing
  exit
fi

mkdir printed
: >covered
: >list
n=0

# is SCHEMA FILE: this file is to be what that schema says.
is () {
  printf '%s\t%s\n' "$1" "$2" >>list
}

# prints SCHEMA COMMAND ARGUMENT...: a command of one word prints this JSON; prints2: of two words.
# Some end with 1 and print why.
prints () {
  schema=$1
  shift
  n=$((n + 1))
  echo "$1${two:+ $2}" >>covered
  run "$hopcast" "$@" --format json
  cp out "printed/$n.json"
  is "$schema" "printed/$n.json"
  # Of an object that is told on standard error the output is a file that the command writes.
  test "$status" = 0 || test "$status$expected" = 11
  verdict $? "$*" "status $status" "$(tail -3 err)"
}
two='' expected=
prints2 () {
  two=yes
  prints "$@"
  two=
}

# --- Inputs ---

examples=$srcdir/doc/examples
halo=gen:halo2d:ranks=16,bytes=64K,iterations=3
cat >s.study <<'END'
[traces]
trace = gen:halo2d:ranks=16,bytes={bytes},iterations=2
[machines]
machine = bgq:32
[mappings]
mapping = default;TABCDE;random(1);random(2);random(3);ABC
[runs]
network = packet;load
replicas = 2
keep-links = true
keep-ranks = true
keep-path = true
[bytes]
values = 1K;16K
END
sed 's/^network = .*/network = packet/; s/;TABCDE//; s/;ABC$//; s/^replicas = .*//; s/bgq:32/systemg:4/; s/^keep-path.*//
  /^machine/a ranks-per-node = 4' s.study >race.study
run "$hopcast" study run s.study -q
test "$status" = 3
verdict $? "a study, some of whose runs fail" "status $status" "$(cat err)"
succeeds "a race" "$hopcast" study run race.study --race best -q
awk 'BEGIN {
  print "k,a,b,c,host,y"
  for (i = 0; i < 60; i++) {
    a = i * 7 % 31; b = i * i % 17
    printf "%d,%d,%s,%d,n%d,%d\n", i % 20, a, i % 5 ? b : "", i * 13 % 11, i % 3, 100 + 3 * a + 2 * b
  }
}' >gaps.csv
awk -F, '$3 != ""' gaps.csv >table.csv
awk 'BEGIN {
  print "bytes,time_s"
  for (i = 0; i < 24; i++) printf "%d,%.4g\n", 2^i, 1e-6 * (1 + i % 3 / 10) + 2^i / 1e9 + (i > 12 ? 5e-6 : 0)
}' >sizes.csv
head -8 sizes.csv >sizes2.csv
sed "2s/,.*/,0/" sizes.csv >zero.csv
printf '# OSU MPI Latency Test v5\n# Size Latency (us)\n1 1.5\n1024 2.4\n8192 4.9\n' >latency.txt
{
  echo trace,mapping,measured_s
  for bytes in 1K 16K; do
    for mapping in ABCDET 'random(1)' 'random(2)' 'random(3)'; do
      echo "\"gen:halo2d:ranks=16,bytes=$bytes,iterations=2\",$mapping,0.000$((${#mapping} * 3 % 7 + ${#bytes} * 11))"
    done
  done
} >measured.csv
printf '# OSU MPI_Put Latency Test v5.6.2\n# Size Latency (us)\n1 1.70\n' >other.txt

# --- Runs and traces ---

prints run simulate "$halo" --machine bgq:32 --timeline timeline.json --critical-path -q
prints run simulate "$halo" --machine bgq:32 --ranks-per-node 2 --replicas 3 -q
prints run simulate "$halo" --machine bgq:32 --ranks-per-node 2 --iterations --shrink 8 -q
prints run simulate "$halo" --machine systemg:4 --ranks-per-node 4 --network load -q
is timeline timeline.json
recorded=$(find "$srcdir/validation/data/traces/otf2" -name '*.otf2' | head -n 1)
test -z "$recorded" || prints2 trace-info trace info "$recorded"
prints2 trace-info trace info "$srcdir/traces/data/comd-256.ti.gz"
"$hopcast" trace convert "$halo" -o halo.hct -q
"$hopcast" trace convert "$srcdir/traces/data/comd-256.ti.gz" -o comd.hct -q
prints2 trace-info trace info comd.hct

# --- Machines and mappings ---

prints2 machine-check machine check bgq:32
prints2 machine-check machine check systemg:16
prints2 machine-check machine check dragonflyplus:4x2x2:2
prints2 machine-test machine test edr:2 --measured latency.txt --limit 10 -q
prints2 machine-test machine test edr:2 --measured latency.txt -q
prints2 mapping-check map check TABCDE --machine bgq:32 --ranks 32
prints2 mapping-metrics map metrics "$halo" --machine bgq:32
prints2 optimum map optimize "$halo" --machine bgq:32 --budget 3 --network packet -o best.map -q
prints2 optimum map optimize "$halo" --machine bgq:32 --budget 3 -o best.map -q
mkdir measured
cp latency.txt other.txt measured/
prints calibration calibrate measured --machine edr:2 -o fitted.conf -q
prints advice advise "$halo" --machine bgq:32 --budget 12 -q
run "$hopcast" map convert AT --machine systemg:4 --ranks-per-node 2 --ranks 8 --to flux -o flux.json
is flux-taskmap flux.json

# --- Studies ---

prints2 study-status study status s.store
prints2 study-status study status race.store
printf '[traces]\ntrace = gen:ring:ranks=4\n[machines]\nmachine = fattree:2x2:2\nfailures = cables; leaf0\n' >f.study
"$hopcast" study run f.study -q
prints2 failures study failures f.study
run "$hopcast" report f.study -o failures.html
is report failures.html
for what in runs links ranks placements; do
  prints2 export-$what study export s.store --what $what
  run "$hopcast" study export s.store --what $what --format jsonl -o $what.jsonl
  is export-$what $what.jsonl
done
prints2 export-runs study export s.store --timing
prints ranking rank s.store
prints ranking rank race.store --by max_bytes
run "$hopcast" report s.store -o page.html
is report page.html
run "$hopcast" report race.store -o page2.html
is report page2.html
run "$hopcast" simulate "$halo" --machine bgq:32 -q --report page5.html
is report page5.html
run "$hopcast" simulate "$halo" --machine bgq:32 -q --links-over-time over.csv
run "$hopcast" report over.csv -o page3.html
is film page3.html
run "$hopcast" simulate "$halo" --machine systemg:32 -q --links-over-time over.csv
run "$hopcast" report over.csv -o page4.html
is film page4.html

# --- Learning ---

prints training train table.csv --target y --features a,b,c --search 2 --baselines --importances permutation -o trees.json -q
prints training train table.csv --target y --features a,b,c --method auto --group k --validate folds:3 -o auto.json -q
prints training train gaps.csv --target y --features a,b,c --method boosting --trees 10 --validate none -o boosting.json -q
prints training train table.csv --target y --features a,c --normalize set --sets host -o sets.json -q
prints training train s.store --observed-runs network=packet --features H1 --method linear -o linear.json -q
prints training train table.csv --target y --features a,b,c --method svr --log-target -o svr.json -q
prints training train table.csv --target y --features a,b,c --method mean -o mean.json -q
prints training train table.csv --target y --features a,b,c --bootstrap --method forest --trees 5 -o forest.json -q
for model in trees auto boosting sets linear svr mean forest; do
  is model $model.json
done
prints ranking rank s.store --model linear.json --interval 0.5
prints ranking rank race.store --model linear.json --interval 0.5
prints score score table.csv --observed y --predicted a
prints score score table.csv --observed y --predicted a --group host
prints correction correct sizes.csv --model "$examples/models/hockney.model" --observed time_s --trials 2 --population 60 \
  --generations 6 --nested 3 --compare --test sizes2.csv -q
prints correction correct sizes.csv --model "$examples/models/hockney.model" --observed time_s --trials 1 --population 60 \
  --generations 6 --nested 0 --mode paper -q
prints correction correct zero.csv --model "$examples/models/hockney.model" --observed time_s --loss rmse --trials 1 \
  --population 60 --generations 6 --nested 3 -q
head -4 measured.csv >measured2.csv
prints correction correct --from s.store --measured measured.csv --test measured2.csv --observed-runs network=packet --trials 1 \
  --population 60 --generations 6 --nested 3 -q

# --- Aggregation ---

lu=gen:npb:kernel=lu,class=S,ranks=4,iterations=1
prints2 patterns aggregate patterns --machine systemg:4 --ranks 4 --memory-per-task 1GiB
prints2 patterns aggregate patterns --machine systemg:4
"$hopcast" trace matrix "$lu" >lu.csv
prints2 groups aggregate group lu.csv --parts 2 --levels 2,2 -q
run "$hopcast" aggregate table --machine systemg:4 --sizes 8,1KiB,64KiB --collectives allreduce:4,bcast:4,barrier:4 \
  -o bound.csv -q
prints2 bound aggregate bound "$lu" --machine systemg:4 --table bound.csv --simulate -q
prints2 bound aggregate bound "$lu" --machine systemg:4 --table bound.csv -q
prints aggregation aggregate "$lu" --machine systemg:4 --power guess --memory-traffic 1GB --memory-share '20..40 %' -q
prints aggregation aggregate "$lu" --machine systemg:4 --table bound.csv -q
prints2 ipc-training aggregate train-ipc "$examples/programs.csv" --samples 4,5 --events l2 -o ipc.json -q
is ipc ipc.json
prints2 ipc-prediction aggregate predict-ipc ipc.json "$examples/new.csv" -q
prints2 memory-share aggregate memory-share "$examples/runs.csv" --machine systemg:16
expected=1
prints validation validate aggregation --only 'ipc_*' --only 'xc30_*' -q
prints validation validate bgq --only mpi_latency_nearest -q
expected=

# --- The bench ---

# measures ARGUMENT...: the program of `make bench`, on small machines.
bench=${G_TEST_BUILDDIR:-.}/tools/bench/bench
measures () {
  n=$((n + 1))
  run "$bench" --seconds 0 --most-nodes 32 --format json "$@"
  cp out "printed/$n.json"
  is bench "printed/$n.json"
  verdict "$status" "bench $*" "status $status" "$(tail -3 err)"
}
measures --rows 'bgq:1024 uniform,replay of 8 B*,ti CoMD*'
measures --rows 'bgq:1024 uniform' --against "$bench"

# --- The comparison ---

/usr/bin/python3 "$srcdir/cli/schemas_check.py" "$srcdir/doc/schemas" list >results 2>&1
status=$?
while IFS= read -r line; do
  case $line in
    "ok "*) ok "${line#ok }" ;;
    "not ok "*) not_ok "${line#not ok }" ;;
    *) printf '# %s\n' "$line" ;;
  esac
done <results
test $status = 0 && grep -q '^ok ' results
verdict $? "the comparison came to its end" "status $status" "$(tail -3 results)"

# --- Nothing is forgotten ---

# Every name of a schema in the program has its file.
find "$srcdir/cli" "$srcdir/study" "$srcdir/predictors" "$srcdir/sim" "$srcdir/tools" "$srcdir/traces" -name '*.c' ! -name '*_test.c' \
  ! -name '*_testing.c' ! -name '*_fuzz.c' -exec sed -n 's|.*"hopcast\.\([a-z-]*\)/\([0-9]*\)".*|\1-\2.json|p' {} + |
  sort -u >named
missing=$(while read -r file; do test -e "$srcdir/doc/schemas/$file" || echo "$file"; done <named)
test -z "$missing" && test "$(wc -l <named)" -ge 20
verdict $? "every schema that the program names is there" "missing: $missing" "$(cat named)"
# The handbook lists every schema, with its title.
for schema in "$srcdir"/doc/schemas/*.json; do
  echo "$(basename "$schema" .json) $(sed -n 's/^  "title": "\([^":]*\).*/\1/p' "$schema")"
done | tr '[:upper:]' '[:lower:]' >titled
# shellcheck disable=SC2016  # the backquotes are Markdown's
sed -n 's/^| `\([a-z0-9-]*\)`[ *]* | \([^:|]*[^:| ]\).*/\1 \2/p' "$srcdir/doc/handbook/json.md" |
  tr '[:upper:]' '[:lower:]' >listed
holds "the handbook lists every schema" cmp titled listed

"$hopcast" --help | sed -n 's/^  \([a-z]* \?[a-z-]*\)  .*/\1/p' | sed 's/ *$//' >commands
while read -r first second; do
  # shellcheck disable=SC2086  # an empty second word is no word
  "$hopcast" $first $second --help </dev/null | grep -q -e '--format=' || continue
  grep -qxF -e "$first${second:+ $second}" covered
  verdict $? "$first${second:+ $second} is checked" "add its --format json to this test, and its schema to doc/schemas"
done <commands
test "$(sort -u covered | wc -l)" -ge 23
verdict $? "commands are found" "$(cat commands)"
done_testing
