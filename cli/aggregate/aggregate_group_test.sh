#!/bin/sh
# aggregate_group_test.sh - hopcast aggregate group, from the command line.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# said: the lines on standard error, but the warning of a build without Scotch.
said () {
  grep -vc 'built without Scotch$' err
}

# Two cliques of four that are dealt out one by one, and an edge of 7 bytes between them.
cat >cliques.csv <<'END'
src,dst,bytes
0,2,50
4,2,50
0,4,100
0,6,100
2,6,100
4,6,100
1,3,100
1,5,100
1,7,100
3,5,100
3,7,100
5,7,100
0,1,7
END
printf 'rank,part\n0,0\n1,1\n2,0\n3,1\n4,0\n5,1\n6,0\n7,1\n' >expected.csv
run "$hopcast" aggregate group cliques.csv --parts 2
if test $status = 0 && cmp -s out expected.csv && test "$(said)" = 0; then
  ok "cliques come together"
else
  not_ok "cliques come together" "status $status" "$(cat out err)"
fi

run "$hopcast" aggregate group cliques.csv --parts 2 --format json -o groups.json
if test $status = 0 && grep -q '"cut": 7,' groups.json && grep -q '"cost_of_all_edges": 1107' groups.json &&
  grep -q '"components": 1,' groups.json && ! test -s out; then
  ok "JSON has the cut"
else
  not_ok "JSON has the cut" "status $status" "$(cat groups.json err)"
fi

# The block start {0 1 2 3}, {4 5 6 7} costs all bytes between even ranks but 0-2, and likewise the odd
# ones: 50 + 100 + 100 + 100 and 4 x 100.
run "$hopcast" aggregate group cliques.csv --parts 2 --method paper --format json
if test $status = 0 && grep -q '"cut_start": 750' out && grep -q '"cut": 7,' out &&
  test "$(grep -c '"start"' out)" = 1; then
  ok "the paper's procedure starts from blocks alone"
else
  not_ok "the paper's procedure starts from blocks alone" "status $status" "$(cat out err)"
fi

# The same as a dense square.
awk -F, 'NR > 1 { bytes[$1, $2] = $3 }
  END { for (i = 0; i < 8; i++) for (j = 0; j < 8; j++)
    printf "%d%s", bytes[i, j], j < 7 ? "," : "\n" }' cliques.csv >square.csv
run "$hopcast" aggregate group square.csv --parts 2
if test $status = 0 && cmp -s out expected.csv; then
  ok "a dense square is a matrix"
else
  not_ok "a dense square is a matrix" "status $status" "$(cat out err)"
fi

# sizes FILE: how many ranks each part has, sorted.
sizes () {
  tail -n +2 "$1" | cut -d, -f2 | sort | uniq -c | awk '{ print $1 }' | sort -n | tr '\n' ' '
}

# Ten ranks: the two of which nobody heard are ranks too.
built_with scotch && scotch=scotch || scotch=
for method in kl paper $scotch; do
  run "$hopcast" aggregate group cliques.csv --parts 3 --ranks 10 --method $method
  test $status = 0 && test "$(sizes out)" = "3 3 4 " || echo "$method: $(sizes out) $(cat err)"
done >wrong
if test -s wrong; then
  not_ok "ten ranks in three parts" "$(cat wrong)"
else
  ok "ten ranks in three parts"
fi

# Nothing joins these: four parts without a cut, and ranks that are alone.
awk 'BEGIN { print "src,dst,bytes"; for (i = 0; i < 12; i++) print i "," (i + 4) % 12 ",10" }' >rings.csv
run "$hopcast" aggregate group rings.csv --parts 4 --format json
cp out rings.json
run "$hopcast" aggregate group rings.csv --parts 5 --ranks 15
if grep -q '"cut": 0,' rings.json && grep -q '"components": 4,' rings.json &&
  test "$status $(sizes out)" = "0 3 3 3 3 3 "; then
  ok "disconnected graphs"
else
  not_ok "disconnected graphs" "$(cat rings.json out err)"
fi

# Pairs within fours within eights: 1000 on a die, 100 in a socket, 10 in a node.
awk 'BEGIN { print "src,dst,bytes"; n = 16
  for (i = 0; i < n; i++) for (j = i + 1; j < n; j++) {
    bytes = 1
    if (int(i / 8) == int(j / 8)) bytes = 10
    if (int(i / 4) == int(j / 4)) bytes = 100
    if (int(i / 2) == int(j / 2)) bytes = 1000
    print i * 5 % n "," j * 5 % n "," bytes } }' >nested.csv
run "$hopcast" aggregate group nested.csv --parts 2 --levels 2,2
cp out placed.csv
tail -n +2 placed.csv | awk -F, '{ cell[$1] = $2 "," $3 "," $4 }
  END { for (i = 0; i < 16; i += 2) print cell[i * 5 % 16] == cell[(i + 1) * 5 % 16] }' | sort -u >pairs
tail -n +2 placed.csv | cut -d, -f2- | sort | uniq -c | awk '{ print $1 }' | sort -u >cells
if test $status = 0 && test "$(cat pairs)" = 1 && test "$(cat cells)" = 2 &&
  test "$(head -1 placed.csv)" = rank,part,socket,die &&
  test "$(cut -d, -f2- placed.csv | sort -u | wc -l)" = 9; then
  ok "sockets and dies"
else
  not_ok "sockets and dies" "$(cat placed.csv err)"
fi

# One task per die: fewer tasks than dies leave some empty.
run "$hopcast" aggregate group cliques.csv --parts 4 --levels 2,4
if test $status = 0 && test "$(cut -d, -f2- out | sort -u | wc -l)" = 9; then
  ok "fewer ranks than dies"
else
  not_ok "fewer ranks than dies" "$(cat out err)"
fi

# Equation 4.  Small messages (8 bytes) are faster within by 1 us, large ones (1000) slower by 10 us;
# the mean of both times over the two pairs with small ones and the two with large ones is
# (1.5 + 15) / 2 = 8.25 us.  A cut of the two large ones costs 2 / (10 / 8.25) = 1.65.
printf 'bytes,within_us,between_us\n8,1,2\n1000,20,10\n' >times.csv
printf 'src,dst,bytes\n0,1,8\n1,2,1000\n2,3,8\n3,0,1000\n' >four.csv
run "$hopcast" aggregate group four.csv --parts 2 --times times.csv --format json
if test $status = 0 && grep -q '"cut": 1\.65' out && grep -q '"cost": "mended"' out &&
  tr -d ' \n' <out | grep -q '"part":\[0,0,1,1\]'; then
  ok "equation 4 parts what sends large messages"
else
  not_ok "equation 4 parts what sends large messages" "$(cat out err)"
fi
# To the letter: 2 / 10 us, and both pairs that send nothing at C = 2^2 / 10 us.
run "$hopcast" aggregate group four.csv --parts 2 --times times.csv --cost literal --format json
if test $status = 0 && awk '
  /^ *"c":/ { c = $2 + 0 } /^  "cut":/ { cut = $2 + 0 }
  END { exit !(c > 399999.9 && c < 400000.1 && cut > 999999.9 && cut < 1000000.1) }' out; then
  ok "equation 4 to the letter"
else
  not_ok "equation 4 to the letter" "$(cat out err)"
fi

run "$hopcast" aggregate group nested.csv --parts 4 --seed 3
cp out first.csv
run "$hopcast" aggregate group nested.csv --parts 4 --seed 3
if test $status = 0 && cmp -s out first.csv; then
  ok "the same seed gives the same groups"
else
  not_ok "the same seed gives the same groups" "$(diff out first.csv)"
fi

# Usage and bad input.
for arguments in "cliques.csv" "cliques.csv --parts 0" "cliques.csv --parts 2 --method metis" \
  "cliques.csv --parts 2 --levels 2,x" "cliques.csv --parts 2 --levels 2,2,2" "--parts 2" \
  "cliques.csv --parts 2 --cost literal" "cliques.csv --parts 2 --starts 0" \
  "cliques.csv --parts 2 --seed -1" "cliques.csv --parts 2 --format xml" \
  "cliques.csv --parts 2 --times times.csv --cost odd"; do
  # shellcheck disable=SC2086  # several words
  run "$hopcast" aggregate group $arguments
  test $status = 2 && test "$(wc -l <err)" = 1 && ! test -s out || echo "$arguments: $status $(cat err)"
done >wrong
printf 'src,dst,bytes\n0,1,8\n1,2,many\n' >text.csv
printf 'bytes,within_us,between_us\n8,1,2\n8,20,10\n' >twice.csv
printf 'bytes,within_us,between_us\n8,0,2\n' >zero.csv
printf 'bytes,within_us\n8,1\n' >lacking.csv
printf 'bytes,within_us,between_us\n' >none.csv
for arguments in "cliques.csv --parts 9" "cliques.csv --parts 2 --ranks 7" "missing.csv --parts 2" \
  "text.csv --parts 2" "cliques.csv --parts 2 --times twice.csv" \
  "cliques.csv --parts 2 --times zero.csv" "cliques.csv --parts 2 --times lacking.csv" \
  "cliques.csv --parts 2 --times none.csv" "cliques.csv --parts 2 --times missing.csv" \
  "cliques.csv --parts 2 -o no/such/folder/x"; do
  # shellcheck disable=SC2086  # several words
  run "$hopcast" aggregate group $arguments
  test $status = 1 && test "$(said)" = 1 && ! test -s out || echo "$arguments: $status $(cat err)"
done >>wrong
"$hopcast" aggregate group text.csv --parts 2 2>&1 | grep -q '^hopcast: text.csv:3:' || echo "no line" >>wrong
"$hopcast" aggregate group cliques.csv --parts 2 --times twice.csv 2>&1 |
  grep -q '^hopcast: twice.csv:3:' || echo "no line of the times" >>wrong
if test -s wrong; then
  not_ok "wrong usage and bad input" "$(cat wrong)"
else
  ok "wrong usage and bad input"
fi
done_testing
