#!/bin/sh
# correct_test.sh - `hopcast correct` mends a model, and says what is wrong with its inputs.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# time = 2 n + p^2 / 2; the model knows the first half.
{
  echo n,p,seconds
  for p in 4 8 16 32; do
    for n in 1 2 3 5 8; do
      echo "$n,$p,$((2 * n + p * p / 2))"
    done
  done
} >train.csv
printf 'n,p,seconds\n10,48,1172\n4,64,2056\n' >test.csv
printf 'variable n, p\nparameter a 2 [1, 4]\ntime = a*n\n' >linear.model

correct () {
  "$hopcast" correct "$@" -q --population 60 --generations 8 --trials 3 >out 2>err
  status=$?
}

# refused NAME STATUS PATTERN: the last command was refused, and said so.
refused () {
  test "$status" = "$2" && grep -q -e "$3" err
  verdict $? "$1" "exit status $status" "$(cat err)"
}

correct train.csv --model linear.model --observed seconds --test test.csv --case 2 --format json \
  -o mended.model --points points.csv
test "$status" = 0 && grep -q '"share_better": 1,' out && grep -q '"term": "t_comm + ' out &&
  grep -q '"verdict": "take the term",' out && awk '/"left_out"/ { here = 1 }
 here && /"base"/ { base = $2 + 0 } here && /"refitted"/ { refitted = $2 + 0 }
 here && /"corrected"/ { exit !($2 + 0 < 1e-6 && refitted > 0.5 && base > 0.5) }' out
verdict $? "a planted fault is mended" "exit status $status" "$(cat err out)"

cp out first
correct train.csv --model linear.model --observed seconds --test test.csv --case 2 --format json \
  --threads 1
test "$status" = 0 && cmp -s out first
verdict $? "whatever the threads" "$(diff first out)"

# Rows of points.csv: observed and corrected agree, also where nothing was learned.
awk -F, 'NR > 1 && ($5 / $3 > 1.000001 || $5 / $3 < 0.999999) { exit 1 }
         END { if (NR != 23) exit 1 }' points.csv
verdict $? "points" "$(cat points.csv)"

printf 'variable n, p\nparameter a 2.5 [2.4, 3]\ntime = a*n\n' >bounded.model
awk -F, 'NR == 1 || $2 == 4 { if (NR > 1) $3 = 2 * $1; OFS = ","; print $1, $2, $3 }' train.csv >line.csv
"$hopcast" correct line.csv --model bounded.model --observed seconds --case 1 --population 60 \
  --generations 4 --trials 1 >out 2>err
grep -q "bounded.model: fitted alone, parameter a ends at its bound, 2.4:" err
verdict $? "a parameter at its bound is told" "$(cat err)"

grep -q '^refitted_at_bounds  *a$' out
verdict $? "and named on standard output" "$(cat out)"

# The law of the model and 10 % noise: no term is to be taken, and refitting is.
awk 'BEGIN { print "n,p,t"; srand (1); for (i = 0; i < 24; i++) {
       n = 1 + i % 6; p = 2 ^ (i % 4)
       printf "%d,%d,%.17g\n", n, p, (3 * n + p / 2) * exp (0.1 * ((i * 7919 % 1000) / 500 - 1)) } }' >noise.csv
printf 'variable n, p\nparameter a 2 [0.1, 40]\nparameter b 1 [0.01, 100]\ntime = a*n + b*p\n' >both.model
correct noise.csv --model both.model --observed t -o noise.model --format csv
test "$status" = 1 && grep -q ',take the refitted model,' out && ! test -e noise.model
verdict $? "noise is no term" "exit status $status" "$(cat out err)"
correct noise.csv --model both.model --observed t --anyway
refused "--anyway of nothing" 2 '--anyway needs -o FILE'

# One table of what was compared, of points left out of everything; the choice has a value everywhere.
correct noise.csv --model both.model --observed t --compare --trials 1 --generations 2 --test noise.csv \
  --points noise.points --format json
test "$status" = 0 && awk '/"nested": / { here = 1 } /"nested_test_log_rmse"/ { here = 0 }
  here && /"(base|refitted|quadratic|kriging|case_[1-4]|blend)": [0-9.e-]+,/ { n++ } END { exit n != 9 }' out &&
  grep -q '"folds": 10' out && grep -q '"chosen": "' out && head -1 noise.points | grep -q ',chosen,lower,upper$' &&
  awk -F, 'NR > 1 && !($6 > $7 && $7 > 0 && $8 > $6) { bad = 1 } END { exit bad || NR != 49 }' noise.points
verdict $? "cases, surfaces and the blend beside each other" "exit status $status" "$(cat err out)"
# Intervals of the choice: as wide as the errors left out, of which nine tenths are within.
awk -F, 'FNR == NR { if (sub(/.*"chosen_factor": /, "")) factor = $1 + 0; next }
  $1 == "train" { off = log ($3 / $6); most = off > most ? off : -off > most ? -off : most
    n++; within += $3 >= $7 && $3 <= $8; if ($8 / $6 / factor > 1.000001 || $8 / $6 / factor < 0.999999) bad = 1 }
  END { exit bad || factor <= 1 || within / n < 0.9 || most < log (factor) / 2 }' out FS=, noise.points &&
  grep -q '"test_coverage": [01]' out && grep -q '"level": 0.9' out
verdict $? "intervals" "$(cat out noise.points)"
# The error that is told of a term is that of points it was not bred by.
awk '/"left_out"/ { left = 1 } left && /"corrected"/ { told = $2 + 0; left = 0 }
  /"nested": / { here = 1 } here && /"case_4"/ { nested = $2 + 0; here = 0 } END { exit !(told == nested && told > 0) }' out
verdict $? "the error of a term is the nested one" "$(cat out)"
correct noise.csv --model both.model --observed t --nested 0 --points plain.points --format json
test "$status" = 0 && ! grep -q '"chosen"' out && ! grep -q chosen plain.points
verdict $? "nothing left out" "$(cat out)"
correct noise.csv --model both.model --observed t --nested 1
refused "one fold" 2 '--nested: 0 or at least 2'
correct noise.csv --model both.model --observed t --nested 0 --compare
refused "a comparison without folds" 2 '--compare needs folds'
correct noise.csv --model both.model --observed t --nested 0 --chosen x.model
refused "a choice without folds" 2 '--chosen needs folds'
# What is chosen is a model, with the times of the column "chosen" of test points.
correct noise.csv --model both.model --observed t --test noise.csv --points noise.points --chosen chosen.model
"$hopcast" predict chosen.model noise.csv >predicted.csv 2>>err
sed 1d predicted.csv | awk -F, '{ print $NF }' >times
test "$status" = 0 && awk -F, '$1 == "test" { print $6 }' noise.points | paste -d, - times |
  awk -F, '{ n++; if (!($1 / $2 > 0.9999 && $1 / $2 < 1.0001)) bad = 1 } END { exit bad || n != 24 }'
verdict $? "the choice as a model" "$(cat err; head -5 times noise.points)"

printf 'n,seconds\n1,3\n2,6.1\n3,9.2\n4,11.9\n' >four.csv
printf 'variable n\nparameter a 1 [0.1, 10]\ntime = a*n\n' >slope.model
"$hopcast" correct four.csv --model slope.model --observed seconds >out 2>err
grep -q "slope.model: a term of [0-9]* steps from 4 points" err
verdict $? "a term as long as the table is told" "$(cat err)"

correct test.csv --model mended.model --observed seconds
refused "two points" 1 'fewer than three points'
awk -F, 'NR == 1 || NR % 2' train.csv >half.csv
correct half.csv --model mended.model --observed seconds --format csv
test "$status" = 0 && awk -F, 'NR == 2 && $5 < 1e-6 { right = 1 } END { exit !right }' out
verdict $? "the mended model is read again" "$(cat err out)"

# What is never positive, by a function that is not among the usual ones.
awk 'BEGIN { print "x,y"; for (x = 0; x < 12; x++) printf "%d,%.17g\n", x, -3 - sin (x / 2) }' >wave.csv
printf 'variable x\ntime = 0\n' >nothing.model
"$hopcast" correct wave.csv --model nothing.model --observed y --case 2 --loss rmse --trials 1 -q \
  --functions '+,-,*,sin' --format json >out 2>err
test $? = 0 && grep -q '"expression": .*sin(.*x' out && ! grep -q '"expression": .*\(log\|exp\|/\)' out &&
  awk '/"corrected"/ { here = 1 } here && /"rmse"/ { exit !($2 + 0 < 1e-6) }' out
verdict $? "functions that are named" "$(cat err out)"
correct wave.csv --model nothing.model --observed y --functions '+,tan'
refused "no such function" 2 '"tan"'

correct train.csv --model linear.model --observed minutes
refused "no such column" 1 'train.csv.*minutes'
correct train.csv --model linear.model
refused "nothing observed" 2 '--observed COLUMN is missing'
correct train.csv --model linear.model --observed seconds --predict-range q=1:2
refused "range of no variable" 2 'no variable "q"'
correct train.csv --model linear.model --observed seconds --predict-range p=1
refused "half a range" 2 'not VARIABLE=LOW:HIGH'
correct train.csv --model linear.model --observed seconds --case 5
refused "fifth case" 2 '--case: 5'
printf 'variable n, p\nparameter a 2 [1, 4]\ntime = a*n/(p - 16)\n' >pole.model
correct train.csv --model pole.model --observed seconds
refused "a pole at a point" 1 'train.csv:12: .*p - 16 is 0'
printf 'variable n, p\nparameter a 2 [1, 4]\ntime = a*n/(p - 100)^2\n' >far.model
correct train.csv --model far.model --observed seconds --predict-range p=1:128
refused "a pole where it is used" 1 'undefined within the range'
printf 'variable n, p\nparameter a 2\ntime = a*n\n' >loose.model
correct train.csv --model loose.model --observed seconds
refused "a parameter without bounds" 1 'loose.model:2'
awk -F, -v OFS=, 'NR > 1 { $3 = 7 } { print }' train.csv >same.csv
correct same.csv --model linear.model --observed seconds
refused "the same everywhere" 1 'nothing to learn'
done_testing
