#!/bin/sh
# aggregation_bound.sh - does the bound of communication bound what is simulated?
#
# SPDX-License-Identifier: Apache-2.0
#
# usage: aggregation_bound.sh HOPCAST [FOLDER [CASE...]]
#
# For NAS benchmarks under every aggregation pattern of System G's node that the ranks fill: the
# bound (and the paper's sum of operations), and the communication of the rank that communicates
# longest, simulated.  A CASE is KERNEL.CLASS.RANKS; the default are BT, SP, LU, CG, MG and FT of
# classes C and D with 16 ranks, and LU with 32, 64 and 128.
#
# The benchmarks are generated with 2 and with 4 iterations, and their time is carried on on a
# line to as many as the class has: iterations are alike.  So what happens once, such as that
# connections are made, counts once.
#
# FOLDER (default: .) keeps the tables of times, bound-*.csv, which are made when they are not there,
# and gets cases.csv, a line per case and pattern.  Printed: a line per case, then the shares; with -
# for HOPCAST, of the cases.csv that is there.
set -u

hopcast=${1:?usage: aggregation_bound.sh HOPCAST [FOLDER [CASE...]]}
folder=${2:-.}
if test $# -gt 2; then
  shift 2
else
  set --
  for class in C D; do
    for kernel in bt sp lu cg mg ft; do set -- "$@" "$kernel.$class.16"; done
    for ranks in 32 64 128; do set -- "$@" "lu.$class.$ranks"; done
  done
fi
mkdir -p "$folder" || exit 1

# iterations KERNEL CLASS: as many as the benchmark makes.
iterations () {
  case $1.$2 in
    lu.C) echo 250 ;; lu.D) echo 300 ;; lu.*) echo 50 ;;
    bt.C) echo 200 ;; bt.D) echo 250 ;; bt.*) echo 60 ;;
    sp.D) echo 500 ;; sp.*) echo 400 ;;
    cg.C) echo 75 ;; cg.D) echo 100 ;; cg.*) echo 15 ;;
    mg.D) echo 50 ;; mg.C) echo 20 ;; mg.*) echo 4 ;;
    ft.D) echo 25 ;; ft.C) echo 20 ;; ft.*) echo 6 ;;
  esac
}

# table_of KERNEL RANKS: the file with the times that the benchmark needs.
table_of () {
  table=$folder/bound-$1-$2.csv
  test -s "$table" && return
  test -s "$folder/bound-messages.csv" || "$hopcast" aggregate table --machine systemg:2 \
    -o "$folder/bound-messages.csv" || exit 1
  sizes=8,1024
  collectives=barrier:$2,bcast:$2,reduce:$2,allreduce:$2
  if test "$1" = ft; then
    sizes=8,1024,65536,262144,1048576,4194304,16777216
    collectives=$collectives,alltoall:$2
  fi
  "$hopcast" aggregate table --machine "systemg:$2" --only-collectives --sizes $sizes \
    --collectives "$collectives" -o "$folder/collectives.csv" || exit 1
  { cat "$folder/bound-messages.csv" && tail -n +2 "$folder/collectives.csv"; } >"$table"
  rm "$folder/collectives.csv"
}

# bounds KERNEL CLASS RANKS ITERATIONS: CSV of all patterns.
bounds () {
  "$hopcast" aggregate bound "gen:npb:kernel=$1,class=$2,ranks=$3,iterations=$4" \
    --machine "systemg:$3" --table "$table" --simulate --format csv || exit 1
}

if test "$hopcast" = -; then
  set --
else
  echo "case,pattern,bound_s,sum_s,simulated_s" >"$folder/cases.csv"
fi
for case; do
  kernel=${case%%.*} ranks=${case##*.} class=${case#*.}
  class=${class%.*}
  table_of "$kernel" "$ranks"
  few=$(bounds "$kernel" "$class" "$ranks" 2) || exit 1
  more=$(bounds "$kernel" "$class" "$ranks" 4) || exit 1
  { echo "$few" | sed 's/^/few,/'; echo "$more" | sed 's/^/more,/'; } |
    awk -F, -v case="$case" -v all="$(iterations "$kernel" "$class")" '
      $2 == "pattern" || $7 == "" { next }
      { for (i = 5; i <= 7; i++) value[$1, i] = $i }
      $1 == "few" { for (i = 5; i <= 7; i++) first[$2, i] = $i; next }
      { printf "%s,%s", case, $2
        for (i = 5; i <= 7; i++) printf ",%.9g", $i + ($i - first[$2, i]) / 2 * (all - 4)
        print "" }' >>"$folder/cases.csv"
done

# Rank correctness over the patterns: the share of pairs that are in the same order; a pair that
# one of both ties counts a half.
awk -F, '
  NR == 1 { next }
  { if (!($1 in n)) names[++n_cases] = $1
    i = ++n[$1]
    bound[$1, i] = $3; sum[$1, i] = $4; simulated[$1, i] = $5 }
  function sign (x) { return (x > 0) - (x < 0) }
  function rcc (name, value, i, j, good, pairs, a, b) {
    for (i = 1; i <= n[name]; i++)
      for (j = 1; j < i; j++) {
        a = sign(value[name, i] - value[name, j]); b = sign(simulated[name, i] - simulated[name, j])
        good += a == b ? 1 : a * b == 0 ? 0.5 : 0
        pairs++
      }
    return pairs ? good / pairs : 1
  }
  END {
    print "case       patterns  bounded  tightness          rcc  sum bounds  tightness          rcc"
    for (c = 1; c <= n_cases; c++) {
      name = names[c]
      low = sum_low = 1e30; high = sum_high = good = sum_good = 0
      for (i = 1; i <= n[name]; i++) {
        t = bound[name, i] / simulated[name, i]; u = sum[name, i] / simulated[name, i]
        if (t < low) low = t
        if (t > high) high = t
        if (u < sum_low) sum_low = u
        if (u > sum_high) sum_high = u
        good += t >= 1; sum_good += u >= 1
      }
      r = rcc(name, bound); s = rcc(name, sum)
      printf "%-9s  %8d  %7d  %6.3f .. %6.3f  %5.3f  %10d  %6.3f .. %6.3f  %5.3f\n", name, n[name],
        good, low, high, r, sum_good, sum_low, sum_high, s
      all += n[name]; all_good += good; all_sum += sum_good; all_r += r; all_s += s
      if (c == 1 || low < least) least = low
      if (high > most) most = high
    }
    printf "all        %8d  %6.1f%%  %6.3f .. %6.3f  %5.3f  %9.1f%%\n", all, 100 * all_good / all,
      least, most, all_r / n_cases, 100 * all_sum / all
  }' "$folder/cases.csv"
