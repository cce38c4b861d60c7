#!/bin/sh
# link_metrics_test.sh - the metrics of links, computed once more from the rows of `simulate --links`.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# metrics FILE: a line "NAME VALUE" for each metric of the links.  A cycle has 2 ns, a chunk 32 bytes;
# _AO is the mean of the values above the mean, _TO of those within 5 % of the largest.
metrics () {
  awk -F, '
    NR == 1 {
      for (i = 1; i <= NF; i++) column[$i] = i
      torus = "buffered_cycles" in column
      next
    }
    function cell(name) { return $column[name] + 0 }
    {
      n++
      if (torus) {
        cycles = cell("buffered_cycles")
        packets = cell("received_packets")
        chunks = cell("dynamic_chunks") + cell("bubble_chunks") + cell("priority_chunks")
      } else {
        cycles = cell("buffered_ns") / 2
        packets = cell("PortXmitPkts")
        chunks = cell("PortXmitData") * 4 / 32
      }
      value["bytes", n] = cell("payload_bytes")
      value["chunks", n] = chunks
      value["buffer", n] = cycles
      value["delay", n] = packets > 0 ? cycles / packets : 0
      value["waited", n] = cell("buffered_packets")
    }
    function summary(what,    i, v, sum, mean, most, above, n_above, top, n_top) {
      for (i = 1; i <= n; i++) {
        v = value[what, i]
        sum += v
        if (i == 1 || v > most) most = v
      }
      mean = sum / n
      for (i = 1; i <= n; i++) {
        v = value[what, i]
        # A mean of equal values may be rounded to below them.
        if (v > mean * (1 + 1e-12)) { above += v; n_above++ }
        if (v >= 0.95 * most) { top += v; n_top++ }
      }
      printf "avg_%s %.17g\n", what, mean
      printf "max_%s %.17g\n", what, most
      printf "avg_%s_AO %.17g\n", what, n_above ? above / n_above : 0
      printf "avg_%s_TO %.17g\n", what, top / n_top
    }
    END {
      summary("bytes"); summary("chunks"); summary("buffer"); summary("delay"); summary("waited")
    }' "$1"
}

# compare NAME LINKS RECORD SLACK: both have the same metrics, to nine digits, as the times of the
# rows are exact; chunks may differ by SLACK.
compare () {
  name=$1 slack=$4
  metrics "$2" >computed
  wrong=$(while read -r metric value; do
    awk -v name="$metric" -v a="$value" -v b="$(json "$metric" "$3")" -v slack="$slack" 'BEGIN {
      d = a > b ? a - b : b - a
      if (b == "" || d > 1e-9 * (b > 1 ? b : 1) + (name ~ /chunks/ ? slack : 0))
        print name ": " a " of the rows, " b " of the run"
    }'
  done <computed)
  test "$(wc -l <computed)" = 20 && test -z "$wrong"
  verdict $? "$name: metrics of the rows" "$wrong"
  # Nothing would be compared of a run without congestion.
  awk -v a="$(json avg_buffer "$3")" -v b="$(json avg_delay_AO "$3")" -v w="$(json avg_waited "$3")" \
    'BEGIN { exit !(a > 100 && b > 1 && w > 1) }'
  verdict $? "$name: something waited" "$(grep -E 'buffer|delay|waited' "$3")"
}

# on NAME SLACK ARGUMENT...: a run, and its rows.
on () {
  name=$1 slack=$2
  shift 2
  succeeds "$name" "$hopcast" simulate "$@" -q --format json --links links.csv
  cp out run.json
  compare "$name" links.csv run.json "$slack"
}

halo=gen:halo3d:ranks=32,bytes=16K,iterations=2
on "torus" 0 "$halo" --machine bgq:32 --mapping 'random(1)'
on "torus, deterministic" 0 "$halo" --machine bgq:32 --routing deterministic
on "mesh, dynamic" 0 gen:alltoall:ranks=24,bytes=8K --machine torus:4x3mx2 --routing zone0
# PortXmitData has whole units of four bytes: up to three bytes of a link are cut off.
on "fabric" 0.09375 gen:alltoall:ranks=16,bytes=4K --machine fattree:4x4:2
on "fabric of three levels" 0.09375 gen:alltoall:ranks=16,bytes=4K --machine fattree3:4 --mapping 'random(2)'

done_testing
