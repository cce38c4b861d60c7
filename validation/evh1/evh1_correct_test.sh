#!/bin/sh
# evh1_correct_test.sh - the figures of model error correction, from trials to the page.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
#
# Tables and pictures of known values first, then evh1_correct.sh with few small trials of points
# that are made here.
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
evh1=$srcdir/validation/evh1

# trial CONVERGED TERM LOG_RMSE RMSE: as the program writes one.
trial () {
  printf '      {\n        "converged": %s,\n        "better": true,\n        "term": "%s",\n' "$1" "$2"
  printf '        "parameters": {\n          "g": 3\n        },\n'
  printf '        "test": {\n          "log_rmse": %s,\n          "rmse": %s\n        }\n      },\n' "$3" "$4"
}

# outcome LOSS MADE CONVERGED BETTER: a file of trials, whose text is read.
outcome () {
  printf '{\n  "loss": "%s",\n  "base": {\n    "test": {\n      "log_rmse": 0.5,\n      "rmse": 2\n    }\n  },\n' "$1"
  printf '  "trials": {\n    "made": %d,\n    "converged": %d,\n    "better": %d,\n    "each": [\n' "$2" "$3" "$4"
  cat
  printf '    ]\n  }\n}\n'
}

for number in 1 2 3 4; do
  { trial true 't_comm + x, "far"' 0.3 1 && trial false t_comm 0.01 0.01 &&
      trial true 't_comm + 1' 0.05 4 && trial true t_comm null null; } |
    outcome logrmse 4 3 2 >best-$number.json
  trial false t_comm 0.4 1 | outcome rmse 1 0 0 >paper-$number.json
done
awk -f "$evh1/values.awk" best-?.json paper-?.json >values.txt
tab=$(printf '\t')
has_lines "a line per value" values.txt "best${tab}2${tab}trials/each/3/test/log_rmse${tab}0.05" \
  "best${tab}2${tab}trials/each/1/term${tab}t_comm + x, \"far\"" "paper${tab}4${tab}base/test/rmse${tab}2"

printf '%s\n' 'variable T in s   # time' 'constant f 2 in 1/s' 'parameter g 1.5 [1, 4] log in s  # it' \
  'time = g*f*T' >original.model
awk -v mode=best -v number=3 -f "$evh1/best_model.awk" values.txt original.model >found
printf '%s\n' 'variable T' 'constant f 2' 'constant g 3' 't_comm = g*f*T' 'time = t_comm + 1' >wanted
has_lines "the model of the best trial" found "$(cat wanted)"
cmp -s wanted found && ok "and nothing else" || not_ok "and nothing else" "$(diff wanted found)"
if awk -v mode=paper -v number=3 -f "$evh1/best_model.awk" values.txt original.model >found; then
  not_ok "no trial converged" "$(cat found)"
else
  ok "no trial converged"
fi

printf '%s\n' mode,case,point,observed,original,mended paper,1,1,2,1, best,1,1,2,1,2.5 \
  best,1,2,200,100,200 >points.csv
awk -f "$evh1/report.awk" original.model values.txt points.csv >report.md
status=$?
# Two thirds of the trials that converged are better; the middle of 0.05, 0.3 and nothing is 0.3.
has_lines "shares and medians" report.md \
  '| best | 2 | 3 of 4 | 67 % | 73 % | 0.300 | 0.050 | - | 4.000 | 1.000 |' \
  '| paper | 2 | 0 of 1 | 0 % | 73 % | - | - | - | - | - |' \
  '| case 3: share of trials better than the original | >= 50 % | 67 % | holds |' \
  '| case 3: median log-RMSE | < 0.08 | 0.300 | does not hold |' \
  '8 of 20 trials did not converge and are not counted (paper: 4 of 120).'
has_lines "parameters, terms and points" report.md '| g | 1.5 | 1, 4 | - | - | - | 3 | 3 |' \
  '- best, case 1: `t_comm + 1`' '- paper, case 1: `none`' \
  '| 1 | 2.000 | 1.000 | - | - | - | - | 2.500 | - | - | - |'
test $status = 1 && ok "what is wanted does not hold" ||
  not_ok "what is wanted does not hold" "exit status $status"

# The frame is from 58 to 290 and from 238 up to 34.
draw () {
  awk -v picture="$1" -f "$srcdir/validation/plot_panels.awk" -f "$evh1/plot.awk" values.txt points.csv |
    sed -n 's/<circle cx="\(.*\)" cy="\(.*\)" r="2".*/\1 \2/p' >points
}
draw points-best
has_lines "points in a frame" points '58.0 238.0' '290.0 34.0'
# From 50 to 90 %, case 1 to 4: two thirds, 66.7 %, are 5/12 of the way from 238 up to 34.
draw shares
has_lines "shares" points '290.0 34.0' '212.7 238.0' '135.3 153.0'

# R1 with a planted term, and a little that no term explains.
awk 'BEGIN {
  print "T,nx,np,t_comm,split"
  for (i = 0; i < 20; i++) {
    T = 0.02 * (1 + i % 3)
    nx = 128 * 2 ^ (i % 4)
    np = 4 * 2 ^ (i % 6)
    words = 7 * nx ^ 2 / np
    time = 4965 * T * 2 * (2 * 2.45e-8 * words + (np - 1) ^ 1.13216 * (1.69e-5 + 1.62e-7 * words / np))
    printf "%.17g,%d,%d,%.17g,%s\n", T, nx, np, (time + 2e-3 * T * np ^ 2) * (1 + 0.01 * (i * 7 % 5 - 2)), i % 5 < 3 ? "train" : "test"
  }
}' >data.csv
DATA=data.csv
export DATA
run "$srcdir/validation/evh1/evh1_correct.sh" "$hopcast" made 2 --population 40 --generations 4
if test $status -le 1 && test -s made/errors.svg && test "$(grep -c '^| case' out)" = 8; then
  ok "from trials to the page"
else
  not_ok "from trials to the page" "exit status $status" "$(cat out err)"
fi
# The best trial's error, as the program says and as its points have it.
awk -F, '$1 == "best" && $2 == 4 { n++; sum += log($6 / $4) ^ 2 } END { printf "%.3f\n", sqrt(sum / n) }' \
  made/points.csv >found
awk -F ' [|] ' '/^[|] best [|] 4 / { print $7 }' made/report.md >wanted
cmp -s wanted found && ok "the best trial at the points" ||
  not_ok "the best trial at the points" "$(cat wanted found made/report.md)"

run "$srcdir/validation/evh1/evh1_correct.sh" "$hopcast"
if test $status = 2 && grep -q '^usage:' err; then ok "usage"; else not_ok "usage" "$(cat err)"; fi
DATA=none.csv
run "$srcdir/validation/evh1/evh1_correct.sh" "$hopcast" made
if test $status = 2 && grep -q 'no table at none.csv' err; then
  ok "no data"
else
  not_ok "no data" "exit status $status" "$(cat err)"
fi
done_testing
