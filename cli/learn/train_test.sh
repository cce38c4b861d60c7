#!/bin/sh
# train_test.sh - train and predict through the program, with good and bad tables.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# scored METHOD SCORE: the median, in the CSV that train prints.
scored () {
  awk -F, -v method="$1" -v score="$2" '$1 == method && $2 == score { print $3; exit }' out
}

# near A B TOLERANCE
near () {
  awk -v a="$1" -v b="$2" -v by="$3" 'BEGIN { exit !(a != "" && (a - b)^2 <= by^2) }'
}

# above A B
above () {
  awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a > b) }'
}

: >out
: >err

# 90 rows: y is a straight line of a and b, noise has no part in it, and one
# column is of texts.
awk 'BEGIN {
       print "a,b,noise,host,y"
       for (i = 0; i < 90; i++) {
         a = i * 7 % 31; b = i * i % 17; noise = i * 13 % 11
         printf "%d,%d,%d,n%d,%d\n", a, b, noise, i % 3, 100 + 3 * a + 2 * b
       }
     }' >line.csv

# -- what is learned -------------------------------------------------------------

succeeds "a line" "$hopcast" train line.csv --target y --features a,b --method linear --format csv -o line.json
holds "a line is found" near "$(scored linear r2)" 1 1e-9
printf 'b,a\n1,1\n16,30\n100,2\n' >new.csv
succeeds "predict" "$hopcast" predict line.json new.csv
printf 'b,a,predicted\n1,1,105\n16,30,222\n100,2,306\n' >wanted
awk -F, 'NR == 1 { print } NR > 1 { printf "%s,%s,%.6g\n", $1, $2, $3 }' out >rounded
holds "a line goes on outside" cmp -s rounded wanted
holds "what is outside is told" grep -q \
  "new.csv: 1 of 3 rows are outside the range of the training data: b (1 of them)" err

# Without bootstrap a tree's leaf is a sample: what was seen is known.
awk -F, 'NR == 1 || !seen[$1 "," $2 "," $3]++' line.csv >once.csv
succeeds "extra-trees" "$hopcast" train once.csv --target y --features a,b,noise -o trees.json
succeeds "what was seen" "$hopcast" predict trees.json once.csv -o seen.csv
holds "what was seen is known" near 0 \
  "$(awk -F, 'NR > 1 { d = $5 - $6; if (d * d > 1e-18) n++ } END { print n + 0 }' seen.csv)" 0
column predicted seen.csv >predicted
holds "as many predictions as rows" test "$(wc -l <predicted)" = "$(($(wc -l <once.csv) - 1))"

succeeds "mean" "$hopcast" train line.csv --target y --method mean --validate none -o mean.json
succeeds "predict the mean" "$hopcast" predict mean.json line.csv
mean=$(column y line.csv | awk '{ sum += $1 } END { printf "%.12g", sum / NR }')
holds "the mean is predicted" near "$(column predicted out | sort -u)" "$mean" 1e-9

svr=svr
if ! built_with svm; then
  svr=
  skip "svr" "built without libsvm"
  refused "svr without libsvm" 1 "built without libsvm" \
    train line.csv --target y --features a,b --method svr -o x.json
fi
for method in forest tree $svr boosting auto; do
  succeeds "$method" "$hopcast" train line.csv --target y --features a,b --method $method --format csv -o x.json
  holds "$method learns" above "$(scored $method rcc)" 0.85
  succeeds "$method predicts" "$hopcast" predict x.json line.csv
done

# The best of the methods for a line is a line; each split chooses anew.
run "$hopcast" train line.csv --target y --features a,b --method auto --validate folds:3
holds "auto chooses" grep -q '^  linear .* chosen$' out
holds "auto says so" grep -q '^  method        auto, chosen linear: ridge 0$' out
awk -F, 'NR % 9 == 2 { $2 = "" } { OFS = ","; print $1, $2, $3, $4, $5 }' line.csv >gaps.csv
succeeds "boosting learns from gaps" "$hopcast" train gaps.csv --target y --features a,b --method boosting -o gaps.json
succeeds "and predicts them" "$hopcast" predict gaps.json gaps.csv
run "$hopcast" train gaps.csv --target y --features a,b
holds "trees do not" grep -q 'gaps.csv:2: column "b": no number is known' err
run "$hopcast" train gaps.csv --target y --features a --method boosting -o full.json
sed 's/^0,/,/' gaps.csv >other.csv
run "$hopcast" predict full.json other.csv
holds "gaps where none were are refused" grep -q 'other.csv:2: column "a": no number is known' err
run "$hopcast" train line.csv --target y --features a,b --method boosting --increasing b -o rise.json
printf 'a,b\n3,0\n3,4\n3,8\n3,12\n3,16\n' >rise.csv
run "$hopcast" predict rise.json rise.csv
holds "increasing" sh -c "sed 1d out | cut -d, -f3 | sort -g -c"
run "$hopcast" train line.csv --target y --features a,b --increasing b
holds "increasing is boosting's" grep -q 'increasing has no effect with --method extra-trees' err

# -- what the report says ----------------------------------------------------------

run "$hopcast" train line.csv --target y --trees 10
holds "the columns of numbers are the features" grep -q '^  features      a, b, noise$' out
holds "texts are no feature" grep -q '^  no feature    host (texts)$' out
holds "importances are drawn" grep -q '^  a  .* ########' out
run "$hopcast" train line.csv --target y --trees 10 --importances permutation --format json
holds "importances by permutation" grep -q '"permutation_importances": {' out
importance=$(sed -n '/"permutation_importances"/,$ s/.*"noise": \([-0-9.e]*\).*/\1/p' out)
holds "noise is not important" near "$importance" 0 0.1

run "$hopcast" train line.csv --target y --validate splits:20 --baselines --format csv --trees 20
n_lines=8
built_with svm || n_lines=7
holds "baselines" test "$(cut -d, -f1 out | grep -v coverage | sort -u | wc -l)" = $n_lines
holds "a line is one" near "$(scored linear r2)" 1 1e-9
holds "the mean orders nothing" near "$(scored mean rcc)" 0.5 0.01
run "$hopcast" train line.csv --target y --validate folds:5 --trees 10
holds "folds" grep -q "^scores: 5 folds, each predicted from the others (18 samples)" out

run "$hopcast" train line.csv --target y --search 3 --score r2 --method linear --format json
holds "search finds what counts" sh -c "tr -d ' \n' <out | grep -q '\"features\":\[\"a\",\"b\"'"
run "$hopcast" train line.csv --target y --search 2 --trees 5
holds "search tells how often" grep -q '^ *10  a$' out
holds "search warns" grep -q 'optimistic' out

# y is one random number per group, which x names: within a group it can be
# looked up, for a new group it cannot be known.
awk 'BEGIN {
       print "x,mapping,y"
       for (g = 0; g < 40; g++)
         for (i = 0; i < 5; i++)
           printf "%.1f,m%d,%d\n", g + i / 10, g, g * g * 7919 % 1009
     }' >groups.csv
run "$hopcast" train groups.csv --target y --features x --format csv
holds "parted groups are looked up" above "$(scored extra-trees r2)" 0.9
run "$hopcast" train groups.csv --target y --features x --group mapping --format csv
holds "groups that stay together are not known" above 0.3 "$(scored extra-trees r2)"

run "$hopcast" train line.csv --target y --threads 1 -o one.json
run "$hopcast" train line.csv --target y --threads 3 -o three.json
holds "threads change nothing" cmp -s one.json three.json
"$hopcast" train line.csv --target y -q -o - >dash.json
holds "a model on standard output is alone" cmp -s one.json dash.json

# -- what predict writes --------------------------------------------------------------

printf '\357\273\277"a","b , c",note\r\n\r\n1.50,+2,"x\r\n""y"""\r\n\r\n 3e0 ,4,z\r\n' >odd.csv
printf 'a,"b , c",y\n1,2,3\n3,4,5\n5,9,6\n7,1,7\n' >learn.csv
run "$hopcast" train learn.csv --target y --method mean --validate none -o odd.json
"$hopcast" predict -q odd.json odd.csv >verbatim
printf '\357\273\277"a","b , c",note,predicted\n1.50,+2,"x\r\n""y""",5.25\n 3e0 ,4,z,5.25\n' >wanted
holds "lines are kept to the letter" cmp -s verbatim wanted
"$hopcast" predict -q odd.json - <odd.csv >redirected
holds "from standard input" cmp -s redirected wanted
# shellcheck disable=SC2002  # a pipe is what is tested
cat odd.csv | "$hopcast" predict -q odd.json - >piped
holds "from a pipe" cmp -s piped wanted
printf '\357\273\277\na,"b , c"\n1,2\n' >marked.csv
"$hopcast" predict -q odd.json marked.csv >unmarked
printf 'a,"b , c",predicted\n1,2,5.25\n' >wanted-unmarked
holds "a line of only a byte order mark is empty" cmp -s unmarked wanted-unmarked
gzip -c odd.csv >odd.csv.gz
"$hopcast" predict -q odd.json odd.csv.gz >unpacked
holds "from gzip" cmp -s unpacked wanted

run "$hopcast" train line.csv --target y --features a,b --bootstrap -o bag.json
succeeds "interval" "$hopcast" predict bag.json line.csv --interval 0.9 --observed y -o with.csv
holds "an interval holds its prediction" test 0 = \
  "$(awk -F, 'NR > 1 && !($7 <= $6 && $6 <= $8) { n++ } END { print n + 0 }' with.csv)"
covered=$(awk -F, 'NR > 1 { n += $7 <= $5 && $5 <= $8 } END { print n / (NR - 1) }' with.csv)
holds "what is covered is told" near "$(sed -n 's/^  covered *//p' err)" "$covered" 1e-5
holds "scores are told" grep -q '^  rcc ' err

# Rows are outside by 0, and by a half of the range of a; the interval is wider by half of the range of y.
printf 'a,y,kind\n' >inside.csv
awk 'BEGIN { for (i = 0; i < 60; i++) print i % 11 "," 10 + 2 * (i % 11) + i % 3 - 1 "," (i % 2 ? "x" : "z") }' >>inside.csv
succeeds "coverage" "$hopcast" train inside.csv --target y --method linear --validate none -o inside.json
holds "by prediction" grep -q '^  prediction  1 of 6 ' out
holds "by category" grep -q '^  kind  *z  *-  *-  *30 ' out
succeeds "coverage in CSV" "$hopcast" train inside.csv --target y --method linear --validate none --format csv
same "a line for each" "all prediction=1 of 6 prediction=2 of 6 prediction=3 of 6 prediction=4 of 6 prediction=5 of 6 \
prediction=6 of 6 kind=z kind=x" "$(awk -F, '$1 == "coverage" { printf "%s%s", sep, $2; sep = " " }' out)"
succeeds "coverage in JSON" "$hopcast" train inside.csv --target y --method linear --validate none --format json
same "its level" 0.9 "$(json coverage_level out)"
printf 'a,kind\n10,x\n15,x\n' >beyond.csv
succeeds "extrapolate" "$hopcast" predict inside.json beyond.csv --interval 0.9
same "how far" "0 0.5" "$(column extrapolates out | paste -sd' ')"
holds "told" grep -qF '1 of 2 rows are outside the range of the training data, with wider intervals: a (1 of them)' err
# Targets are from 9 to 31, and both predictions are in the last class.
holds "wider by a half of 22" near "$(awk -F, 'NR > 1 { w[NR] = $5 - $3 } END { print w[3] - w[2] }' out)" 11 1e-9
"$hopcast" predict -q inside.json beyond.csv >plain
same "without an interval" "a,kind,predicted" "$(head -1 plain)"
succeeds "log of the target" "$hopcast" train -q line.csv --target y --log-target --trees 5 -o log.json
"$hopcast" predict -q log.json line.csv >out 2>err
holds "its predictions are no logarithms" above "$(column predicted out | sort -n | head -1)" 99

# -- bad input ---------------------------------------------------------------------------

sed '3s/,[0-9]*$/,nan/' line.csv >nan-target.csv
sed '5s/^[0-9]*,/nan,/' line.csv >nan.csv
sed '4s/^[0-9]*,/lots,/' line.csv >text.csv
awk -F, -v OFS=, '{ $1 = NR == 1 ? "a" : 4; print }' line.csv >constant.csv
head -2 line.csv >one.csv
head -1 line.csv >none.csv
sed '4s/,[0-9]*$/,0/' line.csv >zero.csv
refused "NaN in the target" 1 "nan-target.csv:3" train nan-target.csv --target y -o m.json
refused "NaN in a feature" 1 "nan.csv:5" train nan.csv --target y -o m.json
refused "text in a number" 1 "text.csv:4" train text.csv --target y --features a,b -o m.json
refused "one row" 1 "one.csv" train one.csv --target y -o m.json
refused "no row" 1 "none.csv" train none.csv --target y -o m.json
refused "no target" 1 '"z"' train line.csv --target z -o m.json
refused "target of texts" 1 "n0" train line.csv --target host -o m.json
refused "no feature" 1 '"z"' train line.csv --target y --features a,z -o m.json
refused "logarithm of 0" 1 "zero.csv:4" train zero.csv --target y --log-target -o m.json
refused "no table" 1 "nowhere.csv" train nowhere.csv --target y
refused "no group" 1 '"z"' train line.csv --target y --group z
refused "nothing to learn from" 1 "no column of numbers" train groups.csv --target y --group x
refused "predict nothing" 1 "none.csv" predict trees.json none.csv
refused "predict NaN" 1 "nan.csv:5" predict trees.json nan.csv
refused "predict text" 1 "text.csv:4" predict trees.json text.csv
refused "observations are missing" 1 '"z"' predict trees.json line.csv --observed z
refused "observations are texts" 1 "n0" predict trees.json line.csv --observed host -o m.csv
cut -d, -f2,4 line.csv >lacks.csv
refused "features are missing" 1 "noise" predict trees.json lacks.csv
refused "a column twice" 1 "predicted" predict trees.json seen.csv
sed 's|hopcast.model/1|hopcast.model/9|' trees.json >other.json
refused "model of another version" 1 "hopcast.model/9" predict other.json line.csv
head -c 300 trees.json >torn.json
refused "torn model" 1 "torn.json" predict torn.json line.csv
refused "no model" 1 "nowhere.json" predict nowhere.json line.csv

# A target whose squares overflow or vanish: every method refuses, with the row and the value.
awk -F, -v OFS=, 'NR == 7 { $5 = "1e308" } NR == 9 { $5 = "-1e308" } { print }' line.csv >huge.csv
awk -F, -v OFS=, 'NR > 1 { $5 = $5 "e-160" } { print }' line.csv >tiny.csv
awk -F, -v OFS=, 'NR > 1 { $5 = NR % 2 ? "1e308" : "1e-308" } { print }' line.csv >ratios.csv
for method in extra-trees forest tree linear $svr mean; do
  refused "a huge target: $method" 1 \
    'huge.csv:7: column "y": 1e+308 is beyond 1e+140, as 2 of 90 values of the target' \
    train huge.csv --target y --features a,b --method $method -o m.json
  refused "a tiny target: $method" 1 'is the largest value of the target, and below 1e-140' \
    train tiny.csv --target y --features a,b --method $method -o m.json
  succeeds "ratios of a huge target: $method" "$hopcast" train -q ratios.csv --target y --log-target \
    --features a,b --method $method -o m.json
  succeeds "and its model is read: $method" "$hopcast" predict -q m.json ratios.csv
done
rm -f m.json
# A line through the ends of all numbers, which ends beyond them.
awk 'BEGIN { print "x,y"; for (i = 0; i < 20; i++) printf "%d,1e%d\n", i, 15 * i }' >steep.csv
printf 'x\n3\n21\n' >beyond.csv
succeeds "a steep line" "$hopcast" train -q steep.csv --target y --log-target --method linear -o steep.json
refused "a prediction that overflows" 1 "beyond.csv:3: the prediction of y overflows" \
  predict -q steep.json beyond.csv
printf '"a""b",c\\d,y\n1,5,2\n2,7,4\n3,1,5\n4,2,9\n' >names.csv
run "$hopcast" train -q names.csv --target y --format json --validate none
if ! test -x /usr/bin/python3; then
  skip "JSON of odd names" "no python3"
else
  holds "JSON of odd names" /usr/bin/python3 -c 'import json
assert list (json.load (open ("out"))["importances"]) == ["a\"b", "c\\d"]'
fi
awk 'BEGIN { print "x,y"; for (i = 0; i < 9; i++) printf "%d,%d\n", 1000000001 + i, i }' >near.csv
run "$hopcast" train near.csv --target y --validate none
holds "what single precision makes equal" \
  grep -q "'x' is the same in all rows when rounded to single precision" err

run "$hopcast" train constant.csv --target y --trees 10 -o constant.json
holds "a constant column is told" grep -q "'a' is the same in all rows" err
holds "a constant column is harmless" test "$status" = 0
run "$hopcast" train constant.csv --target y --method linear --format csv
holds "and to least squares" test "$status" = 0
printf 'a,again,y\n1,10,3\n2,12,4\n1,29,9\n2,21,8\n' >echo.csv
run "$hopcast" train echo.csv --target y --validate none
holds "what is measured with the target is told" grep -q "'again' puts the rows in the order of 'y'" err
holds "what orders otherwise is not" sh -c '! grep -q "'"'a'"' puts" err'
run "$hopcast" train echo.csv --target y --validate none --features again
holds "nor what was asked for" sh -c '! grep -q puts err'

refused "target missing" 2 "--target" train line.csv
refused "unknown method" 2 "magic" train line.csv --target y --method magic
refused "an option that is not heeded" 2 "--trees" train line.csv --target y --method linear --trees 5
refused "the target as a feature" 2 "is the target" train line.csv --target y --features a,y
refused "too many features to try" 2 "--max-features" train line.csv --target y --max-features 9
refused "no share" 2 "--max-features" train line.csv --target y --max-features 1.5
refused "no way to validate" 2 "--validate" train line.csv --target y --validate folds:1
refused "baselines of nothing" 2 "--baselines" train line.csv --target y --baselines --validate none
refused "a score without a search" 2 "--score" train line.csv --target y --score r2
refused "no such score" 2 "luck" train line.csv --target y --search 2 --score luck
refused "an interval of all" 2 "--interval" predict trees.json line.csv --interval 1
refused "negative seed" 2 "--seed" train line.csv --target y --seed -1
refused "a split of one" 2 "--min-samples-split" train line.csv --target y --min-samples-split 1
refused "runs of a table" 2 "line.csv" train line.csv --target y --feature-runs network=load

for k in sqrt 0.34 1; do
  run "$hopcast" train line.csv --target y --max-features $k --trees 5 --validate none
  holds "max-features $k" grep -q 'max-features 1,' out
done

# -- many rows ----------------------------------------------------------------------------

awk 'BEGIN {
       print "a,b,y"
       for (i = 0; i < 1000000; i++)
         print i % 1000 "," i % 77 "," 5 + i % 1000 - i % 77
     }' >million.csv
succeeds "a million rows" "$hopcast" train million.csv --target y --method linear --validate none -o million.json
"$hopcast" predict million.json million.csv >predicted.csv 2>err
holds "a million predictions" test "$(wc -l <predicted.csv)" = 1000001
holds "and they are right" test 0 = \
  "$(awk -F, 'NR > 1 { d = $3 - $4; if (d * d > 1e-12) n++ } END { print n + 0 }' predicted.csv)"
# Two programs of which one is a hundred times as slow, each of three mappings on two machines, and a third program.
{
  echo program,nodes,x,time_s
  for nodes in 1 2; do
    for k in 1 2 3 4 5 6; do echo "p,$nodes,$((k * nodes)),$((k * nodes * nodes))"; done
    for k in 1 2 3 4 5 6; do echo "q,$nodes,$((7 * k)),$((100 * k))"; done
  done
} >sets.csv
printf 'program,nodes,x,time_s\nr,4,1000,3\nr,4,3000,9\n' >other.csv
run "$hopcast" train sets.csv --target time_s --features x --method linear --normalize set --sets program,nodes -o sets.json
if test $status -eq 0 && grep -q 'time_s, over its mean in a set' out; then ok "sets"; else not_ok "sets" "$(cat out err)"; fi
run "$hopcast" predict sets.json other.csv --observed time_s
if test $status -eq 0 && awk -F, 'NR == 1 { next } { d = $5 - (NR == 2 ? 0.5 : 1.5); bad += d > 1e-6 || d < -1e-6 } END { exit bad }' out &&
    grep -q 'predicted is time_s over its mean in a set of rows' err && grep -q '^  rcc *1$' err && grep -q '^  mape *[0-9.]*e-' err; then
  ok "predicted over the mean of a set"
else
  not_ok "predicted over the mean of a set" "$(cat out err)"
fi
run "$hopcast" score other.csv --model sets.json --format json
if test $status -eq 0 && awk -F '[:,]' '/"rmse"/ { exit !($2 < 1e-6) }' out; then
  ok "scores over the mean of a set"
else
  not_ok "scores over the mean of a set" "$(cat out err)"
fi
run "$hopcast" train sets.csv --target time_s --normalize set
if test $status -eq 2 && grep -q 'normalize set of a table needs --sets' err; then ok "no sets"; else not_ok "no sets" "$(cat err)"; fi
run "$hopcast" train sets.csv --target time_s --sets program
if test $status -eq 2 && grep -q 'sets needs --normalize set' err; then ok "sets of nothing"; else not_ok "sets of nothing" "$(cat err)"; fi
run "$hopcast" train sets.csv --target time_s --normalize set --sets program --log-target
if test $status -eq 2 && grep -q 'exclude each other' err; then ok "sets and logarithms"; else not_ok "sets and logarithms" "$(cat err)"; fi
run "$hopcast" train sets.csv --target time_s --normalize set --sets colour
if test $status -eq 1 && grep -q 'no column "colour"' err; then ok "sets of no column"; else not_ok "sets of no column" "$(cat err)"; fi
done_testing
