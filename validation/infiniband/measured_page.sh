#!/bin/sh
# measured_page.sh - makes the table and the pictures of reports/infiniband.md.
#
# SPDX-License-Identifier: Apache-2.0
#
#   validation/infiniband/measured_page.sh HOPCAST FOLDER
#
# HOPCAST is the program, FOLDER has infiniband.md, as validation/reports does.  Of the report, the rows
# of the table under "All rows" and the line that counts them are written.  With
# RESULTS and POINTS set, those files stand for what the program would write:
#
#   hopcast validate infiniband --format csv --details POINTS >RESULTS
set -u

if test $# -ne 2; then
  echo "usage: measured_page.sh HOPCAST FOLDER" >&2
  exit 2
fi
hopcast=$1
folder=$2
here=$(dirname "$0")
page=$folder/infiniband.md
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

results=${RESULTS:-$work/results.csv}
points=${POINTS:-$work/points.csv}
if test -z "${RESULTS:-}"; then
  "$hopcast" validate infiniband --quiet --format csv --details "$points" >"$results"
  # 1: some figure differs
  test $? -le 1 || exit 1
fi

# Columns: suite, name, simulated, unit, published_low, published_high, tolerance, deviation, verdict, role ...
awk -F, '
  function published(low, high, tolerance) {
    return (low == "" ? "<= " high : high == "" ? ">= " low : low == high ? low : low ".." high) \
      (tolerance > 0 ? " ±" tolerance * 100 "%" : "")
  }
  FNR == NR && FNR > 1 {
    row[++n] = sprintf("| `%s` | %.4g %s | %s | %s | %s |", $2, $3, $4, published($5, $6, $7), $10,
                       $9 == "agrees" ? "" : $9)
    agree += $9 == "agrees"
  }
  FNR == NR { next }
  /^## / { inside = $0 == "## All rows" }
  inside && /^\| `/ { next }
  inside && /^[0-9]+ of [0-9]+ agree\./ {
    sub(/^[0-9]+ of [0-9]+ agree/, agree " of " n " agree")
  }
  { print }
  inside && /^\|---/ {
    for (i = 1; i <= n; i++)
      print row[i]
    written = 1
  }
  END { exit !(n > 0 && written) }
' "$results" "$page" >"$work/page" || {
  echo "measured_page.sh: no rows, or no table in $page" >&2
  exit 1
}

draw () { # PICTURE TITLE SERIES
  awk -v title="$2" -v series="$3" -f "$here/plot_curves.awk" "$points" >"$work/$1" || exit 1
}
draw pingpong-fdr.svg 'Stampede (FDR): one-way time of MPI' stampede-between,stampede-inside
draw pingpong-qdr.svg 'ConnectX QDR, Open MPI 1.5.3: latency' connectx-latency

mv "$work/page" "$page"
mv "$work/pingpong-fdr.svg" "$work/pingpong-qdr.svg" "$folder"
