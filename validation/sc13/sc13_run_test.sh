#!/bin/sh
# sc13_run_test.sh - the SC13 study from its first run to its page, on a tiny machine.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
#
# Tables and pictures of known numbers first, then validation/sc13/run tiny.
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
sc13=$srcdir/validation/sc13

cat >numbers.csv <<'EOF'
series,point,published,simulated,unit
time/16k.halo2d,0,,1,s
time/16k.halo2d,1,,10,s
time/16k.halo2d,2,,100,s
variation/16k.halo2d,mappings,,3,
variation/16k.halo2d,distinct,,3,
variation/16k.halo2d,best_s,,1,s
variation/16k.halo2d,worst_to_best,,100,
variation/16k.halo2d,q3_to_q1,,10,
cost/16k.halo2d,same,,10,s
cost/16k.halo2d,load,,0.1,s
score/16k.halo2d/same/ours/rcc,H1,,0.75,
score/16k.halo2d/same/ours/rcc_q1,H1,,0.5,
score/16k.halo2d/same/ours/rcc_q3,H1,,1,
score/16k.halo2d/same/ours/rcc,H2,,0.875,
score/16k.halo2d/load/ours/rcc,H1,,0.625,
observed/pf3d.pf3d/H6,0,,1,s
observed/pf3d.pf3d/H6,1,,3,s
predicted/pf3d.pf3d/H6,0,,2,s
predicted/pf3d.pf3d/H6,1,,4,s
interval/16k.halo2d,H5,,0.875,
interval/16k.halo2d/half_width,H5,,0.25,
interval/large.halo3d,H3,,0.5,
interval/large.halo3d/half_width,H3,,0.125,
EOF
cat >claims.csv <<'EOF'
suite,name,simulated,unit,published_low,published_high,tolerance,deviation,verdict,role,source,conditions
sc13,first,0.75,RCC,0.5,,0,0,agrees,predicted,Paper 1,how first
sc13,second,0.25,RCC,0.5,1,0,-0.5,differs,predicted,Paper 2,how second
sc13,third,,RCC,0.5,0.5,0,,not run,predicted,Paper 3,how third
EOF
printf '%s\n' name,cause 'first,not shown' 'second,few mappings, and ties' 'third,not shown' >causes.csv
echo '16k 32 4 16384' >studies.txt

awk -f "$sc13/report.awk" causes.csv claims.csv studies.txt numbers.csv >report.md
has_lines "claims, and why one does not hold" report.md \
  '| first | how first | Paper 1 | >= 0.5 | 0.750 RCC | holds |  |' \
  '| second | how second | Paper 2 | 0.5 .. 1 | 0.250 RCC | does not hold | few mappings, and ties |' \
  '| third | how third | Paper 3 | 0.5 | - RCC | not run |  |' \
  '1 hold, 1 do not, 1 are not run: their studies are missing.'
has_lines "times, costs, scores" report.md \
  '| 16k.halo2d | 3 | 3 | 1000.0000 | 100.00 | 10.00 |' \
  '| 16k.halo2d | 10 | - | 0.1 | 0.875 (H2) | - | 0.625 (H1) |' \
  '| H1 | - | 0.750 (0.500..1.000) | - | - | - | 0.625 |' '16k 32 4 16384'
has_lines "intervals" report.md '| case | H5 | H3 |' '| 16k.halo2d | 87.5 % (25.0 %) | - |' \
  '| large.halo3d | - | 50.0 % (12.5 %) |'

# Ten pairs, six of them of one fold: 1 and 1.04 are near, and in the wrong order; 2 and 2.16 are nearer than
# 10 %.  A link moves 1.7994 GB/s of payload.
cat >folds.csv <<'EOF'
mapping,time_s,max_bytes,predicted,fold
a,1,1.7994202899e9,5,0
b,1.04,1,4,0
c,2,1.7994202899e9,6,0
d,2.16,1,7,0
e,4,0.8997101449e9,0,1
EOF
awk -v study=one -v program=halo2d -f "$sc13/causes.awk" folds.csv >told.csv
has_lines "how far times are apart" told.csv one,halo2d,mappings,5 one,halo2d,worst_to_best,4 \
  one,halo2d,near_5,0.1 one,halo2d,near_10,0.2 one,halo2d,H5_all,0.833333 one,halo2d,H5_far_5,1 \
  one,halo2d,H5_far_10,1 one,halo2d,link_best,1 one,halo2d,link_median,0.5 one,halo2d,link_worst,0.125

# draw PICTURE: its points, without those of the legend.
draw () {
  awk -v picture="$1" -f "$srcdir/validation/plot_panels.awk" -f "$sc13/plot.awk" numbers.csv | sed -n 's/<circle cx="\(.*\)" cy="\(.*\)" r="2".*/\1 \2/p' >points
}

# The frame is from 58 to 290 and from 238 up to 34; times are logarithmic, so ten is half way.
draw variation
has_lines "times in a frame" points '58.0 238.0' '174.0 136.0' '290.0 34.0'
draw predictions
has_lines "predictions" points '58.0 238.0' '290.0 34.0'
# 0.1 s and 10 s; the best of same is H2's.
draw cost
has_lines "cost" points '290.0 34.0' '58.0 238.0'

run "$sc13/run" "$hopcast"
if test $status -eq 2 && grep -q '^usage:' err; then ok "usage"; else not_ok "usage" "$(cat err)"; fi

run "$sc13/causes" "$hopcast"
if test $status -eq 2 && grep -q '^usage:' err; then ok "causes: usage"; else not_ok "causes: usage" "$(cat err)"; fi

# Whatever the claims say of so small a machine, some are told and some are not.
run "$sc13/run" "$hopcast" made tiny
if test $status -le 1 && grep -q '^report.md: [0-9]* of [1-9][0-9]* claims hold$' out; then
  ok "tiny: from the studies to the page"
else
  not_ok "tiny: from the studies to the page" "status $status" "$(cat out err)"
fi
if grep -q ',not run,' made/claims.csv && grep -q '^### score/16k.halo2d$' made/report.md &&
    grep -q '^| pf3d.pf3d | 8 |' made/report.md && grep -q '^| a2a.16k.suba2a | 8 |' made/report.md &&
    test "$(grep -c ' r="2"' made/variation.svg)" -ge 24; then
  ok "tiny: what is in the page"
else
  not_ok "tiny: what is in the page" "$(cat made/claims.csv made/report.md)"
fi
for file in claims.csv numbers.csv report.md; do cp made/$file .; done
run "$sc13/run" "$hopcast" made tiny
sed '/^cost/d' numbers.csv >first
sed '/^cost/d' made/numbers.csv >second
if test $status -le 1 && cmp -s first second && cmp -s claims.csv made/claims.csv; then
  ok "tiny: again, from the stores that are there"
else
  not_ok "tiny: again, from the stores that are there" "$(diff first second)"
fi

# Every figure is a number, those of the study that was made before too.
run "$sc13/causes" "$hopcast" made tiny
if test $status -eq 0 && grep -q '^one,halo3d,again,[01]' out && grep -q '^many,halo2d,H5_of_56,0' out &&
    grep -q '^16k,halo2d,worst_to_best,[1-9]' out && grep -q '^tiles.a2a,suba2a,H5,[01]' out &&
    grep -q '^tiles.pf3d,pf3d,max_bytes_r2,-*[0-9]' out &&
    grep -q '^load.slots,suba2a,bytes_worst_to_best,[1-9]' out &&
    grep -q '^load.chain,halo3d,bytes_worst_to_best,[1-9]' out &&
    ! grep -vE '^(study,program,figure,value|[a-z0-9.]+,(halo[23]d|suba2a|pf3d),[A-Za-z0-9_]+,-?[0-9.e-]+)$' out; then
  ok "tiny: why"
else
  not_ok "tiny: why" "status $status" "$(cat out err)"
fi

run "$hopcast" validate sc13 --store made/pf3d.store --only combined_best
if test $status -eq 1 && grep -q 'not run *the stores have no "score/combined/same/ours/rcc"$' out &&
    grep -qx '0 of 0 agree, 1 not run' out; then
  ok "a claim without its study is not run"
else
  not_ok "a claim without its study is not run" "$(cat out err)"
fi
run "$hopcast" validate sc13 --store none.store
if test $status -eq 1 && grep -q 'none.store' err; then
  ok "a store that is not there"
else
  not_ok "a store that is not there" "$(cat out err)"
fi
done_testing
