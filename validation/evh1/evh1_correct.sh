#!/bin/sh
# evh1_correct.sh - the figures of the paper on model error correction, from synthetic data.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: validation/evh1/evh1_correct.sh HOPCAST FOLDER [TRIALS [OPTION...]]
#
# Mends doc/examples/models/evh1-r1.model in four cases and two modes, each with TRIALS (30), and
# writes report.md and *.svg to FOLDER.  OPTIONs go to `hopcast correct`.  DATA is a table
# T,nx,np,t_comm,split, where split is train or test; unless set, a synthetic one.
# Exit status 1: what is wanted of the best mode does not hold, see the report; 2: failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if test $# -lt 2; then
  echo "usage: $0 HOPCAST FOLDER [TRIALS [OPTION...]]" >&2
  exit 2
fi
hopcast=$1 folder=$2 trials=${3:-30}
test $# -gt 2 && shift
shift 2
case $hopcast in */*) hopcast=$(cd "$(dirname "$hopcast")" && pwd)/$(basename "$hopcast") ;; esac
data=${DATA:-$here/../data/mecp/synthetic_evh1_like.csv}
if ! test -r "$data"; then
  echo "$0: no table at $data; DATA=FILE gives one" >&2
  exit 2
fi
data=$(cd "$(dirname "$data")" && pwd)/$(basename "$data")
mkdir -p "$folder" && cd "$folder" || exit 2
cp "$here/../../doc/examples/models/evh1-r1.model" original.model || exit 2

for set in train test; do
  awk -F, -v OFS=, -v set=$set '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
    NR == 1 || $at["split"] == set { print $at["T"], $at["nx"], $at["np"], $at["t_comm"] }' \
    "$data" >$set.csv
done

correct () {
  "$hopcast" correct --nested 0 --quiet --observed t_comm "$@" || exit 2
}
rm -f values.txt
for mode in best paper; do
  for number in 1 2 3 4; do
    correct train.csv --model original.model --test test.csv --mode $mode --case $number \
      --trials "$trials" "$@" --format json >$mode-$number.json
    awk -f "$here/values.awk" $mode-$number.json >>values.txt
  done
done

# The best trial's times are those of a model that is asked for its own; what `correct` makes
# of it is not looked at.
echo mode,case,point,observed,original,mended >points.csv
correct test.csv --model original.model --mode paper --trials 1 --population 10 --generations 1 \
  --points original.csv >made.txt
for mode in best paper; do
  for number in 1 2 3 4; do
    rm -f times.csv
    if awk -v mode=$mode -v number=$number -f "$here/best_model.awk" values.txt original.model \
      >$mode-$number.model; then
      correct test.csv --model $mode-$number.model --mode paper --trials 1 --population 10 \
        --generations 1 --points times.csv >made.txt
    else
      sed 's/,[^,]*,[^,]*$/,,/' original.csv >times.csv
    fi
    paste -d, original.csv times.csv |
      awk -F, -v mode=$mode -v number=$number -v OFS=, 'NR > 1 { print mode, number, $2, $3, $4, $9 }' >>points.csv
  done
done

awk -f "$here/report.awk" original.model values.txt points.csv >report.md
status=$?
for picture in errors shares points-paper points-best; do
  awk -v picture=$picture -f "$here/../plot_panels.awk" -f "$here/plot.awk" values.txt points.csv \
    >$picture.svg || exit 2
done
test $status -le 1 || exit 2
sed -n '/^| mode best/,/^$/p' report.md
exit $status
