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
  if test "$status" = "$2" && grep -q -e "$3" err; then
    ok "$1"
  else
    not_ok "$1" "exit status $status" "$(cat err)"
  fi
}

correct train.csv --model linear.model --observed seconds --test test.csv --case 2 --format json \
  -o mended.model --points points.csv
if test "$status" = 0 && grep -q '"share_better": 1,' out && grep -q '"term": "t_comm + ' out; then
  ok "a planted fault is mended"
else
  not_ok "a planted fault is mended" "exit status $status" "$(cat err out)"
fi

cp out first
correct train.csv --model linear.model --observed seconds --test test.csv --case 2 --format json \
  --threads 1
if test "$status" = 0 && cmp -s out first; then
  ok "whatever the threads"
else
  not_ok "whatever the threads" "$(diff first out)"
fi

# Rows of points.csv: observed and corrected agree, also where nothing was learned.
if awk -F, 'NR > 1 && ($5 / $3 > 1.000001 || $5 / $3 < 0.999999) { exit 1 }
            END { if (NR != 23) exit 1 }' points.csv; then
  ok "points"
else
  not_ok "points" "$(cat points.csv)"
fi

printf 'variable n, p\nparameter a 2.5 [2.4, 3]\ntime = a*n\n' >bounded.model
awk -F, 'NR == 1 || $2 == 4 { if (NR > 1) $3 = 2 * $1; OFS = ","; print $1, $2, $3 }' train.csv >line.csv
"$hopcast" correct line.csv --model bounded.model --observed seconds --case 1 --population 60 \
  --generations 4 --trials 1 >out 2>err
if grep -q "bounded.model: fitted by itself, parameter a ends at its bound, 2.4:" err; then
  ok "a parameter at its bound is told"
else
  not_ok "a parameter at its bound is told" "$(cat err)"
fi

correct test.csv --model mended.model --observed seconds
refused "two points" 1 'fewer than three points'
awk -F, 'NR == 1 || NR % 2' train.csv >half.csv
correct half.csv --model mended.model --observed seconds --format csv
if test "$status" = 0 && awk -F, 'NR == 2 && $5 < 1e-6 { right = 1 } END { exit !right }' out; then
  ok "the mended model is read again"
else
  not_ok "the mended model is read again" "$(cat err out)"
fi

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
