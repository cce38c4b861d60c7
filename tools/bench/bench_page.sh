#!/bin/sh
# bench_page.sh - puts the newest figures of a history into a page of the handbook.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: bench_page.sh BENCH HISTORY PAGE
# Replaces what stands between the lines "<!-- figures -->" and "<!-- end of figures -->" of PAGE
# by a table: the rows in the order of BENCH --list, which tells what each is bound by, with the
# last figures that HISTORY has of them.
set -eu
bench=$1 history=$2 page=$3
scratch=$(mktemp -d "${TMPDIR:-/tmp}/hopcast-page-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

"$bench" --list >"$scratch/rows"
awk -v rows="$scratch/rows" '
  # Bytes with three digits.
  function bytes(n) {
    if (n == "") return ""
    if (n < 10000) return sprintf("%d", n)
    if (n < 1e6) return sprintf("%.1f k", n / 1000)
    return sprintf("%.1f M", n / 1e6)
  }
  function number(n) { return n == "" ? "" : n < 10 ? sprintf("%.2f", n) : n < 100 ? sprintf("%.1f", n) : sprintf("%.0f", n) }
  FNR == 1 {
    for (i = 1; i <= NF; i++) at[$i] = i
    next
  }
  {
    name = $at["row"]
    newest = "`" $at["commit"] "`, " $at["date"] ", " $at["compiler"] ", " $at["processor"]
    cells[name] = sprintf("%s (%s .. %s) %s | %s | %s | %s |", number($at["median"]), number($at["quartile1"]),
      number($at["quartile3"]), $at["unit"], $at["ratio"] == "" ? "" : sprintf("%.2f", $at["ratio"]) " " $at["beside"],
      bytes($at["bytes_per_node"]), bytes($at["bytes_per_rank"]))
  }
  END {
    if (newest == "") {
      print "bench_page.sh: the history has no figures" >"/dev/stderr"
      exit 1
    }
    print "Newest figures: " newest ".\n"
    print "| row | median (quartiles) | ratio to | bytes/node | bytes/rank | bound by |"
    print "|---|--:|--:|--:|--:|---|"
    while ((getline line <rows) > 0) {
      split(line, part, "\t")
      print "| " part[1] " | " (part[1] in cells ? cells[part[1]] : "not measured | | | |") " " part[2] " |"
    }
  }' FS=, "$history" >"$scratch/table"
awk -v table="$scratch/table" '
  /^<!-- end of figures -->$/ { skip = 0; found++ }
  !skip { print }
  /^<!-- figures -->$/ {
    skip = 1
    found++
    print ""
    while ((getline line <table) > 0) print line
    print ""
  }
  END { exit found != 2 }' "$page" >"$scratch/page" || {
  echo "bench_page.sh: $page has no lines <!-- figures --> and <!-- end of figures -->" >&2
  exit 1
}
cp "$scratch/page" "$page"
