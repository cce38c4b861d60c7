#!/bin/sh
# correct_evh1.sh - a formula for EVH1, corrected by some runs, predicts the others.
#
# SPDX-License-Identifier: Apache-2.0
#
#   correct_evh1.sh HOPCAST FOLDER [MEASURED.csv]
#
# EVH1's pattern on Blue Gene/Q partitions of 16 to 1,024 nodes, packet by packet, stands for
# measurements (some minutes; MEASURED.csv has those of an earlier run, FOLDER/measured.csv).  The
# formula evh1-r1.model is fitted to those of up to 64 ranks, and corrected by every second one of the
# others; what counts is its error on the rest.  Exit status 0 when the correction takes more than
# half of the error away.
set -u

if test $# -lt 2; then
  echo "usage: correct_evh1.sh HOPCAST FOLDER [MEASURED.csv]" >&2
  exit 2
fi
hopcast=$(realpath "$1") || exit 1
folder=$2
measured=${3-}
models=$(realpath "$(dirname "$0")/../../doc/examples/models") || exit 1
ranks='16 32 64 128 256 512 1024'
zones='1024;2048;3072;4096'

mkdir -p "$folder" || exit 1

# simulate NETWORK: all runs with this network, in FOLDER/NETWORK.store.
simulate () {
  rm -f "$folder/$1".*store
  for np in $ranks; do
    machine=bgq:$np
    test "$np" = 16 && machine=bgq:2x2x2x2x1
    cat >"$folder/$1-$np.study" <<END
[study]
name = evh1, $np ranks
store = $1-$np.store
[traces]
trace = gen:evh1:ranks=$np,zones={nx}x{nx},iterations=1
[machines]
machine = $machine
[runs]
network = $1
[nx]
values = $zones
END
    "$hopcast" study run "$folder/$1-$np.study" -q || exit 1
    "$hopcast" study merge "$folder/$1.store" "$folder/$1-$np.store" -q || exit 1
  done
}

# Seconds of each run, with the variables of the formula: T is the time of one cycle.
tell_measured () {
  "$hopcast" study export "$folder/packet.store" --format csv | awk '
    NR == 1 { n = split ($0, names, ","); for (i = 1; i <= n; i++) if (names[i] == "time_s") at = i; next }
    { match ($0, /"gen:[^"]*"/); trace = substr ($0, RSTART, RLENGTH)
      split (trace, part, /[=x,]/)
      rest = substr ($0, RSTART + RLENGTH); split (rest, cell, ",")
      print trace "," 1 / 4965 "," part[4] "," part[2] "," cell[at - 1] }' CONVFMT=%.17g OFMT=%.17g
}

simulate load
if test -n "$measured"; then
  cp "$measured" "$folder/measured.csv" || exit 1
else
  simulate packet
  { echo trace,T,nx,np,measured_s; tell_measured; } >"$folder/measured.csv"
fi
cd "$folder" || exit 1

# Traces have commas: the columns are counted from the end.
awk -F, 'NR == 1 || $(NF - 1) <= 64' measured.csv >small.csv
awk -F, 'NR == 1 || ($(NF - 1) > 64 && n++ % 2 == 0)' measured.csv >learn.csv
awk -F, 'NR == 1 || ($(NF - 1) > 64 && n++ % 2 == 1)' measured.csv >test.csv

# The bounds of the model are those of an older machine: a Blue Gene/Q is faster than all of them.
sed -E -e '/^parameter [gj] /s/\[[^,]*,/[1e-12,/' -e '/^parameter i /s/\[[^,]*,/[1e-9,/' \
  "$models/evh1-r1.model" >evh1.model
"$hopcast" correct small.csv --model evh1.model --observed measured_s --refitted fitted.model \
  --trials 1 --generations 1 --nested 0 -q --format csv >small.out || exit 1

# correct NAME OPTION...
correct () {
  name=$1
  shift
  "$hopcast" correct --from load.store --measured learn.csv --test test.csv --model fitted.model \
    --trials 5 --nested 0 -q --format csv -o "$name.model" --anyway "$@" >"$name.out" || exit 1
}
correct plain
correct busiest --features max_bytes

# What the columns before the formula are, by name.
error_of () {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } NR == 2 { print at ? $at : "-" }' "$1.out"
}
row () {
  printf '%-44s  %10.4g  %9.4g\n' "$1" "$(error_of "$2" "$3.test.log_rmse")" "$(error_of "$2" "$3.test.mape")"
}
echo "EVH1 on Blue Gene/Q, simulated; $(($(wc -l <test.csv) - 1)) runs of 128 to 1,024 ranks, not learned from"
printf '%-44s  %10s  %9s\n' model log_rmse mape
row "fitted to 16 to 64 ranks" plain base
row "fitted to the other half of the runs" plain refitted
row "corrected by them, term of T, nx, np" plain corrected
row "corrected by them, and the busiest link" busiest corrected
echo "term: $(sed -n 's/^time = //p' busiest.model)"
awk -v base="$(error_of busiest base.test.log_rmse)" -v mended="$(error_of busiest corrected.test.log_rmse)" \
  'BEGIN { printf "%.3g of the uncorrected error is left: %s\n", mended / base, mended < base / 2 ? "ok" : "missed"
           exit !(mended < base / 2) }'
