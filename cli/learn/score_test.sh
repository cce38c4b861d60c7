#!/bin/sh
# score_test.sh - columns of a table against each other, and models against runs.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# score ARGUMENT...: of the columns "seen" and "said".
score () {
  run "$hopcast" score --observed seen --predicted said "$@"
}

# has NAME TEXT: the last command succeeded and printed this line.
has () {
  test "$status" = 0 && grep -qxF -e "$2" out
  verdict $? "$1" "no line '$2'" "$(cat out err)"
}

# -- known answers -----------------------------------------------------------

printf 'seen,said\n1,1.1\n2,1.9\n3,3.5\n4,3.2\n5,6\n' >swap.csv
score swap.csv --format json
has "one of ten pairs is wrong" '  "rcc": 0.9,'
has "tau" '  "tau_b": 0.8,'
has "Spearman" '  "spearman": 0.9,'
has "pairs" '  "pairs": 10,'
has "mispredicted pairs" '  "mispredicted": 1,'
has "which rule" '  "rcc_rule": "half",'
for key in n rcc_paper r2 mape rmse log_rmse ties_observed ties_predicted ties_both; do
  grep -q "^  \"$key\": [0-9.]*,\\?$" out || echo "$key"
done >missing
if test -s missing; then not_ok "every key is a number" "$(cat missing out)"; else ok "every key is a number"; fi
score swap.csv
has "a line per score" 'rcc             0.9'

# A tie of the predictions counts as right in the paper's formula when rows ascend, only then.
printf 'seen,said\n1,1\n2,2\n3,2\n4,3\n' >up.csv
printf 'seen,said\n4,3\n3,2\n2,2\n1,1\n' >down.csv
score up.csv --rcc paper --format csv
cut -d, -f2,6,14 out >up
score down.csv --rcc paper --format csv
cut -d, -f2,6,14 out | cat up - >both
names=rcc,rcc_paper,mispredicted
printf '%s\n' $names 1,1,0 $names 0.8333333333333334,0.8333333333333334,1 >wanted
if cmp -s both wanted; then ok "the paper's formula"; else not_ok "the paper's formula" "$(cat both)"; fi
score down.csv --format json
has "half of a tie, whatever the order" '  "mispredicted": 0.5,'

# -- by another program ------------------------------------------------------

awk 'BEGIN {
  srand(7); split("8 B,512 B,16 KB", size, ","); print "size,seen,said"
  for (i = 0; i < 300; i++)
    printf "%s,%d,%d\n", size[1 + i % 3], 1 + 40 * rand(), 1 + 40 * rand()
}' >random.csv

# Every pair by its definition.
cat >pairs.awk <<'AWK'
{ x[NR] = $2; y[NR] = $3 }
END {
  for (i = 1; i <= NR; i++) {
    share += (x[i] > y[i] ? x[i] - y[i] : y[i] - x[i]) / x[i]
    log_squares += (log(x[i]) - log(y[i])) ^ 2
    for (j = 1; j < i; j++) {
      pairs++
      tied = (x[i] == x[j]) + (y[i] == y[j])
      right += tied == 1 ? 0.5 : tied == 2 || (x[i] < x[j]) == (y[i] < y[j])
      paper += (x[i] >= x[j] && y[i] >= y[j]) || (x[i] < x[j] && y[i] < y[j])
    }
  }
  printf "%d %.10f %.10f %.10f %.10f %d\n", NR, right / pairs, paper / pairs, share / NR, sqrt(log_squares / NR), pairs
}
AWK
score random.csv --group size --format csv
tail -n +2 out | awk -F, '{ printf "%s %d %.10f %.10f %.10f %.10f %d\n", $1, $2, $3, $7, $11, $13, $14 }' >got
for size in "8 B" "512 B" "16 KB" .; do
  name=$size
  test "$size" != . || name=all
  tail -n +2 random.csv | awk -F, -v size="$size" 'size == "." || $1 == size' >rows
  printf '%s %s\n' "$name" "$(awk -F, -f pairs.awk rows)"
done >wanted
test "$status" = 0 && test -s got && cmp -s got wanted
verdict $? "every pair of every group" "$(diff wanted got)" "$(cat err)"
cp out groups.csv
score random.csv --group size --format json
if /usr/bin/python3 -c 'import csv, json
groups = json.load(open("out"))["groups"]
rows = list(csv.DictReader(open("groups.csv")))
assert [g["group"] for g in groups] == [r["group"] for r in rows[:-1]] and len(groups) == 3
for g, r in zip(groups + [json.load(open("out"))], rows):
    assert all((float(r[k]) if r[k] else None) == g[k] for k in r if k != "group"), r' 2>err; then
  ok "JSON has what CSV has"
elif ! test -x /usr/bin/python3; then
  skip "JSON has what CSV has" "no python3"
else
  not_ok "JSON has what CSV has" "$(cat err)"
fi
score random.csv --group size
test "$(wc -l <out)" = 5 && head -1 out | grep -q '^size  *n  *rcc ' && tail -1 out | grep -q '^all '
verdict $? "a line per group and all" "$(cat out err)"

printf 'seen,said\n1e308,0\n-1e308,0\n' >huge.csv
score huge.csv --format json
has "the error of huge values" '  "rmse": 1e+308,'
has "and what it explains" '  "r2": 0,'

# -- replicas of runs --------------------------------------------------------

cat >noisy.study <<'STUDY'
[study]
name = noisy
[traces]
trace = gen:halo2d:ranks=16,bytes={bytes},iterations=1
[bytes]
values = 4096;16384
[machines]
machine = torus:4x4
[mappings]
mapping = ABT;BAT;random(1);random(2);random(3);random(4)
[runs]
network = packet;load
replicas = 4
STUDY
"$hopcast" study run -q noisy.study --store noisy.store >out 2>err || not_ok "a study" "$(cat out err)"
packets="noisy.store --observed-runs network=packet --feature-runs network=load"

# key KEY: its value in the last JSON, the first there.
key () {
  sed -n "s/^ *\"$1\": \(.*[^,]\),\{0,1\}$/\1/p" out | head -1
}
# between LEAST MOST NUMBER
between () {
  awk -v least="$1" -v most="$2" -v x="$3" 'BEGIN { exit !(x != "" && x >= least && x <= most) }'
}

# shellcheck disable=SC2086  # several words
{
  run "$hopcast" score $packets --predicted max_bytes --format json
  has "a row is the mean of replicas" '  "n": 12,'
  has "the time is observed" '  "observed": "time_s",'
  has "how many replicas" '  "replicas": 4,'
  halves=$(key halves_rcc) ceiling=$(key noise_rcc)
  between 0.5 1 "$halves" && between "$halves" 1 "$ceiling"
  verdict $? "the ceiling is above the halves" "$halves, $ceiling" "$(cat out)"
  run "$hopcast" score $packets --predicted max_bytes --format csv --group trace
  test "$status" = 0 && head -1 out | grep -q '^group,n,rcc,noise_rcc,halves_rcc,replicas,' &&
    test "$(tail -1 out | awk -F, '{ print $1, $2, $4, $5, $6 }')" = "all 12 $ceiling $halves 4" &&
    test "$(wc -l <out)" = 4
  verdict $? "of each group" "$(cat out err)"
  run "$hopcast" score $packets --predicted time_s
  has "in the table" 'replicas        4'
  grep -q '^noise_rcc ' out && grep -q '^halves_rcc ' out
  verdict $? "and the ceiling" "$(cat out)"
  grep -q 'note: rcc is above noise_rcc' err
  verdict $? "a score above the ceiling is explained" "$(cat out err)"
  run "$hopcast" score $packets --predicted time_s -q
  test "$status" = 0 && ! test -s err
  verdict $? "unless it is quiet" "$(cat err)"

  run "$hopcast" train $packets --format json -o noisy.json
  test "$status" = 0 && test "$(key noise_rcc)" = "$ceiling" && test "$(key replicas)" = 4 &&
    test "$(key halves_rcc)" = "$halves"
  verdict $? "training says the same" "$(cat out err)"
  run "$hopcast" train $packets --format csv -q
  grep -q "^noise,rcc,$ceiling,,,,,,$" out
  verdict $? "in CSV too" "$(cat out err)"
  run "$hopcast" train $packets
  grep -q '^  noise  *rows are means of 4 or more replicas: a perfect model would have an rcc of 0\.' out
  verdict $? "and in its report" "$(cat out err)"
  run "$hopcast" predict noisy.json $packets --observed time_s -o predicted.csv
  grep -q '^  noise_rcc ' err && ! grep -q 'note:.*replicas' err
  verdict $? "predictions are told the ceiling" "$(cat err)"

  run "$hopcast" score $packets --model noisy.json --format json
  grep -v '"\(table\|model\|predicted\|noise_rcc\|halves_rcc\|replicas\)": ' out >by-model
  has "a model is scored" '  "model": "noisy.json",'
  grep -q 'note:.*the model learned from these rows' err
  verdict $? "on the rows that it learned from" "$(cat err)"
  run "$hopcast" score predicted.csv --observed time_s --predicted predicted --format json
  grep -v '"\(table\|model\|predicted\|noise_rcc\|halves_rcc\|replicas\)": ' out >by-column
  cmp -s by-column by-model
  verdict $? "as are its predictions in a file" "$(diff by-column by-model)"
  run "$hopcast" score predicted.csv --model noisy.json
  has "and a model with a file" 'n               12'
  run "$hopcast" score noisy.store --observed-runs network=packet --predicted mean_end_s \
    --observed wait_s_max --format json
  test "$(key replicas)" = 4 && test "$(key noise_rcc)" != "$ceiling"
  verdict $? "the noise is that of the observed column" "$(cat out err)"
  run "$hopcast" train $packets --target wait_s_max --format json
  test "$(key replicas)" = 4 && test "$(key noise_rcc)" != "$ceiling"
  verdict $? "and of the target" "$(cat out err)"
}
sed 's/replicas = 4//' noisy.study >single.study
"$hopcast" study run -q single.study --store single.store >out 2>err || not_ok "a study" "$(cat out err)"
run "$hopcast" score single.store --observed-runs network=packet --predicted max_bytes --format json
has "one replica has no ceiling" '  "noise_rcc": null,'
has "and is one" '  "replicas": 1,'
run "$hopcast" train single.store --observed-runs network=packet
has "training says so" '  noise         one replica of a row: no ceiling of rcc known'
score swap.csv --format json
has "a file has none" '  "replicas": null,'
score swap.csv
test "$status" = 0 && ! grep -q noise_rcc out
verdict $? "nor a line of it" "$(cat out)"

# -- what is not so ----------------------------------------------------------

printf 'seen,said\n3,4\n' >one.csv
score one.csv --format json
has "one row has no order" '  "rcc": null,'
score one.csv
has "what is not defined in a table" 'tau_b           -'
printf 'seen,said\n' >none.csv
refused "no rows" 1 "none.csv has no rows" score --observed seen --predicted said none.csv
printf 'seen,said\n1,2\n2,\n' >empty.csv
refused "an empty cell" 1 'empty.csv:3: column "said" has no finite number' \
  score --observed seen --predicted said empty.csv
printf 'seen,said\n1,2\n2,inf\n' >infinite.csv
refused "an infinite number" 1 'infinite.csv:3: column "said" has no finite number' \
  score --observed seen --predicted said infinite.csv
printf 'seen,said\n1,2\n2,fast\n' >text.csv
refused "a text" 1 'fast' score --observed seen --predicted said text.csv
refused "no such column" 1 'sayd' score swap.csv --observed seen --predicted sayd
refused "no such group" 1 'size' score --observed seen --predicted said swap.csv --group size
refused "nothing predicted" 2 '--predicted COLUMN is missing, or --model' score swap.csv --observed seen
refused "nothing predicted of a store" 2 '--predicted COLUMN is missing' score noisy.store
refused "predicted twice" 2 'exclude each other' score swap.csv --predicted said --model noisy.json
refused "no such model" 1 'nothing.json' score swap.csv --model nothing.json
refused "a model of other columns" 1 'swap.csv' score swap.csv --model noisy.json --observed seen
refused "runs of a file" 2 '--feature-runs applies to stores' \
  score swap.csv --observed seen --predicted said --feature-runs network=load
refused "nothing observed" 2 '--observed COLUMN is missing' score swap.csv --predicted seen
refused "no such rule" 2 'best' score --observed seen --predicted said swap.csv --rcc best
refused "no such file" 1 'nothing.csv' score --observed seen --predicted said nothing.csv
done_testing
