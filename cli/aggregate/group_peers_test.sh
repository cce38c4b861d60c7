#!/bin/sh
# group_peers_test.sh - groups of ranks against those of METIS and Scotch.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
#
# The communication of NAS benchmarks, divided by 2, 4, 8 and 16: sizes are exact, and the
# cut is no larger than what METIS's recursive bisection (where its sizes are exact) and Scotch's own
# program find.  "alone" is without Scotch's parts as a start: --method kl has them, and could
# not be worse.  The table is printed.
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

graphs=$(test_data graphs/nas-mpi-32t)

# cut_of PARTS: the cut of the parts in a file, a line per rank, of graph.edges; "-" when sizes differ.
cut_of () {
  awk 'NR == FNR { part[NR - 1] = $1; size[$1]++; n++; next }
    part[$1] != part[$2] { cut += $3 }
    END { for (p in size) { k++; if (size[p] != size[part[0]]) odd = 1 }
      if (odd || k != '"$k"') print "-"; else printf "%.0f\n", cut }' "$1" graph.edges
}

# compare NAME RANKS: graph.csv, whose edges are in graph.edges, in all numbers of parts.
compare () {
  n=$2
  # Vertices and arcs of METIS and of Scotch.
  awk -v n="$n" -v metis=graph.metis -v scotch=graph.grf '
    { near[$1] = near[$1] " " $2 + 1 " " $3; arcs[$1] = arcs[$1] " " $3 " " $2; degree[$1]++
      near[$2] = near[$2] " " $1 + 1 " " $3; arcs[$2] = arcs[$2] " " $3 " " $1; degree[$2]++ }
    END { print n, NR, 1 >metis; print "0\n" n, 2 * NR "\n0 010" >scotch
      for (i = 0; i < n; i++) { print near[i] >metis; print degree[i] + 0 arcs[i] >scotch } }' graph.edges
  for k in 2 4 8 16; do
    "$hopcast" aggregate group graph.csv --parts $k --ranks "$n" >found.csv
    tail -n +2 found.csv | cut -d, -f2 >found
    "$hopcast" aggregate group graph.csv --parts $k --ranks "$n" --method paper | tail -n +2 |
      cut -d, -f2 >paper
    "$hopcast" aggregate group graph.csv --parts $k --ranks "$n" --format json >found.json
    # The least cut of a start that is not Scotch's.
    alone=$(awk '/"start": / { start = $3 } /^ *"start":/ { start = $2 }
      /^      "cut":/ && start !~ /scotch/ { if (!n++ || $2 + 0 < least) least = $2 + 0 }
      END { printf "%.0f\n", least }' found.json)
    gpmetis -ptype=rb graph.metis $k >/dev/null 2>&1 && cp graph.metis.part.$k metis
    scotch_gpart $k graph.grf graph.map >/dev/null 2>&1 &&
      tail -n +2 graph.map | sort -n | awk '{ print $2 }' >scotch
    ours=$(cut_of found)
    theirs=$(cut_of metis)
    scotchs=$(cut_of scotch)
    echo "# $1 $k: kl $ours, alone $alone, paper $(cut_of paper), metis $theirs, scotch $scotchs"
    awk -v ours="$ours" -v alone="$alone" -v a="$theirs" -v b="$scotchs" '
      BEGIN { exit !(ours != "-" && ours + 0 <= alone + 0 && (a == "-" || alone + 0 <= a + 0) &&
        (b == "-" || alone + 0 <= b + 0)) }' || echo "$1 $k: $ours, $alone; $theirs, $scotchs" >>wrong
  done
}

# The groups are the same with sanitizers; their faults are looked for by aggregate_group_test.sh.
if is_sanitized; then
  skip "cuts" "built with sanitizers"
  done_testing
  exit 0
fi
if ! command -v gpmetis >/dev/null || ! command -v scotch_gpart >/dev/null; then
  skip "cuts" "no METIS or no Scotch programs"
  done_testing
  exit 0
fi

: >wrong
for kernel in lu mg sp; do
  "$hopcast" trace matrix gen:npb:kernel=$kernel,class=W,ranks=64,iterations=1 >graph.csv 2>err
  tail -n +2 graph.csv | awk -F, '$1 != $2 { a = $1 < $2 ? $1 : $2; b = $1 < $2 ? $2 : $1
    bytes[a " " b] += $4 } END { for (e in bytes) print e, bytes[e] }' | sort -n >graph.edges
  compare $kernel.W.64 64
done
if test -s wrong; then
  not_ok "no larger than those of METIS and Scotch: generated" "$(cat wrong)"
else
  ok "no larger than those of METIS and Scotch: generated"
fi

if ! test -d "$graphs"; then
  skip "no larger than those of METIS and Scotch: measured" "no data"
  done_testing
  exit 0
fi
: >wrong
for file in "$graphs"/*.csv; do
  grep -q '[1-9]' "$file" || continue
  # Rows are in reverse order of the ranks.
  tac "$file" >graph.csv
  awk -F, '{ for (j = 1; j <= NF; j++) if ($j > 0 && j != NR) {
      a = NR < j ? NR : j; b = NR < j ? j : NR; bytes[a - 1 " " b - 1] += $j } }
    END { for (e in bytes) print e, bytes[e] }' graph.csv | sort -n >graph.edges
  compare "$(basename "$file" _W.nb_messages.csv).W.32" 32
done
if test -s wrong; then
  not_ok "no larger than those of METIS and Scotch: measured" "$(cat wrong)"
else
  ok "no larger than those of METIS and Scotch: measured"
fi
done_testing
