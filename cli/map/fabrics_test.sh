#!/bin/sh
# fabrics_test.sh - simulations on switched fabrics: what they print adds up,
# and every trace that replays on Blue Gene/Q replays there.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# Eight ranks on the four leaves of a tree, two nodes each: short messages
# around the ring, long ones to the opposite rank, two leaves away.
awk 'BEGIN {
  n = 8
  for (r = 0; r < n; r++) print r, "init"
  for (r = 0; r < n; r++) {
    right = (r + 1) % n; left = (r + n - 1) % n; far = (r + n / 2) % n
    print r, "irecv", left, 0, 200, 6
    print r, "irecv", far, 1, 3000000, 6
    print r, "send", right, 0, 200, 6
    print r, "send", far, 1, 3000000, 6
    print r, "waitall"
  }
  for (r = 0; r < n; r++) print r, "finalize"
}' >ring.ti
tree=fattree:4x2:1
# To the right: four pairs under one leaf (2 links), four across (4 links).
hop_bytes=$((4 * 2 * 200 + 4 * 4 * 200 + 8 * 4 * 3000000))

# what_stays FILE: the record without what differs from run to run.
what_stays () {
  grep -v -e wall_s -e peak_rss_bytes "$1"
}

simulate () {
  name=$1
  shift
  succeeds "$name" "$hopcast" simulate ring.ti --machine "$tree" -q "$@"
}

simulate "packets" --format json --links links.csv --ranks ranks.csv
cp out run.json
same "nodes" "$(json nodes run.json)" 8
same "links" "$(json links run.json)" 32
same "a line per link" "$(column lanes links.csv | wc -l)" 32
same "hop bytes" "$(json hop_bytes run.json)" $hop_bytes
same "bytes of all links" "$(column payload_bytes links.csv | awk '{ s += $1 } END { print s }')" \
  $hop_bytes
same "names of links" "$(sed -n '2p;$p' links.csv | cut -d, -f1-5)" \
  "leaf0 port 1 -> node0 HCA-1 port 1,leaf0,1,node0 HCA-1,1
node7 HCA-1 port 1 -> leaf3 port 2,node7 HCA-1,1,leaf3,2"
# What a port received is what the port at the other end sent.
same "ports agree about their cable" "$(awk -F, '
  NR > 1 { sent[$2 "," $3] = $9 " " $10; got[$4 "," $5] = got[$4 "," $5]; row[$4 "," $5] = $2 "," $3
           received[$2 "," $3] = $11 " " $12; n++ }
  END { for (port in row) agree += sent[row[port]] == received[port]; print agree " of " n }
' links.csv)" "32 of 32"
same "headers are counted in words" "$(awk -F, '
  NR > 1 && $8 > 0 { n++; right += 4 * $9 > $8 && 4 * $9 < 1.1 * $8 + 10000 }
  END { print n - right }' links.csv)" 0
same "host names" "$(column host ranks.csv | tr '\n' ' ')" \
  "node0 node1 node2 node3 node4 node5 node6 node7 "
same "the run ends with its last rank" "$(column end_s ranks.csv | sort -g | tail -n 1)" \
  "$(json time_s run.json)"

simulate "packets again" --format json --links again.csv
same "the same record" "$(what_stays run.json)" "$(what_stays out)"
same "the same links" "$(cat links.csv)" "$(cat again.csv)"
simulate "deterministic" --format json --routing deterministic
same "which it is anyway" "$(json time_s out)" "$(json time_s run.json)"

simulate "adaptive switches" --format json --set switch.adaptive=free
same "are another machine" "$(test "$(json key out)" != "$(json key run.json)" && echo differs)" differs
same "hop bytes of the tables" "$(json hop_bytes out)" $hop_bytes
simulate "kept to the tables" --format json --set switch.adaptive=free --routing deterministic
same "as if they were not" "$(json time_s out)" "$(json time_s run.json)"

simulate "load" --network load --format json --links load.csv
same "load and packets agree on every link" "$(column payload_bytes links.csv)" \
  "$(column payload_bytes load.csv)"
same "load has no packets" "$(column PortXmitData load.csv | tr -d '\n')none" none
same "load and packets agree on hop bytes" "$(json hop_bytes out)" "$(json hop_bytes run.json)"
same "another network is another run" \
  "$(test "$(json key out)" != "$(json key run.json)" && echo differs)" differs

run "$hopcast" simulate ring.ti --machine "$tree" -q --network flow --format json --links flow.csv
if grep -q "without SimGrid" err; then
  skip "flow" "no SimGrid"
else
  same "flow" "$status" 0
  same "flow and packets agree on every link" "$(column payload_bytes links.csv)" \
    "$(column payload_bytes flow.csv)"
  # Two networks of one machine, one without packets: within a third.
  same "flow and packets agree about the time" "$(awk -v a="$(json time_s out)" \
    -v b="$(json time_s run.json)" 'BEGIN { print (a > b / 1.5 && a < b * 1.5) ? "yes" : a " " b }')" \
    yes
fi

simulate "table"
same "hottest links by name" "$(grep -c '^  .* port [0-9]* -> .* port [0-9]*  ' out)" 5
simulate "csv" --format csv
same "a heading and a row" "$(wc -l <out)" 2
simulate "two ranks per node" --ranks-per-node 2 --format json --ranks two.csv
same "four nodes are used" "$(column host two.csv | sort -u | wc -l)" 4

succeeds "map metrics" "$hopcast" map metrics ring.ti --machine "$tree" --format json
same "hop bytes of the mapping" "$(json hop_bytes out)" $hop_bytes
succeeds "matrix with collectives" \
  "$hopcast" trace matrix ring.ti --with-collectives --machine "$tree"
succeeds "map check" "$hopcast" map check AT --machine "$tree" --ranks 8

# -- every trace that replays on Blue Gene/Q ------------------------------

x5=$(test_data fabrics/x5)

# replays MACHINE TRACE: twice, with the same record.
replays () {
  for time in first second; do
    run "$hopcast" simulate "$2" --machine "$1" --ranks-per-node 4 -q --format json
    test "$status" = 0 || return 1
    what_stays out >$time
  done
  cmp -s first second
}

# The traces of the test data, each once, by their names below traces/.
all_traces () {
  for top in "$srcdir/validation/data" "$srcdir/../shared/data"; do
    test ! -d "$top/traces" || (
      cd "$top/traces" &&
        ls -d goal/*/*.goal otf2/*/*.otf2 paraver/*/*.prv paraver/*/*.prv.gz dumpi/*/*.meta \
          ti/gen-*/*-[0-9]*.txt 2>/dev/null
    )
  done | sort -u
}

all_replay () {
  for name in $(all_traces); do
    trace=$(test_data "traces/$name")
    run "$hopcast" simulate "$trace" --machine bgq:32 --ranks-per-node 16 -q
    test "$status" = 0 || continue
    n_replayed=$((n_replayed + 1))
    for machine in systemg "fabric:$x5/X5.topofile,routes=$x5/opensm-minhop-lfts.dump"; do
      replays "$machine" "$trace"
      verdict $? "$name on ${machine%%:*}" "status $status" "$(head -c 500 err)" \
          "$(diff first second | head -4)"
    done
  done
}

# --- Dragonfly+ ---

# pairs_by_hops: of the last machine check.
pairs_by_hops () {
  tr -d ' \n' <out | sed -n 's/.*"hops":{\([^}]*\)}.*/\1/p'
}

# 8 groups of 4 leaves with 8 nodes and 4 spines with a cable to every other group:
# 256 + 8 * 16 + 28 * 4 cables; 7, 24 and 224 nodes are 1, 3 and 4 switches away.
run "$hopcast" machine check dragonflyplus:8x4x4:8 --format json
same "machine check of a Dragonfly+" "$status $(json nodes out) $(json switches out) $(json credit_loops out)" \
  "0 256 64 0"
same "its pairs by switches" "$(pairs_by_hops)" '"1":1792,"3":6144,"4":57344'
run "$hopcast" simulate gen:halo3d:ranks=256,iterations=2 --machine dragonflyplus:8x4x4:8 --format json -q
same "a halo on it" "$status $(json nodes out) $(json links out)" "0 256 992"
cp out dragonfly.json
run "$hopcast" map metrics gen:halo3d:ranks=256,iterations=2 --machine dragonflyplus:8x4x4:8 --format json
same "has the hop bytes of its mapping" "$(json hop_bytes out)" "$(json hop_bytes dragonfly.json)"
# All 32 nodes of each group send to the next one, over four of its 28 cables to others; detours
# may take them all.
shift='gen:permutation:ranks=256,kind=shift,distance=32,bytes=256K'
run "$hopcast" simulate "$shift" --machine dragonflyplus:8x4x4:8,speed=QDR --format json -q
cp out none.json
run "$hopcast" simulate "$shift" --machine dragonflyplus:8x4x4:8,speed=QDR --set switch.adaptive=detours --format json -q
same "detours halve the time of a shift by a group" "$(awk -v none="$(json time_s none.json)" \
  -v some="$(json time_s out)" 'BEGIN { print some < none / 2 ? "yes" : some " of " none }')" yes
run "$hopcast" machine check dragonflyplus:8x4x4:8 --set switch.adaptive=detours --format json
same "they need two lanes and close no loops" "$(json vls out) $(json credit_loops out)" "2 0"
run "$hopcast" machine check fattree:4x4:2 --set switch.adaptive=detours
test "$status" = 1 && grep -q 'not a Dragonfly+' err
verdict $? "a tree has no detours" "$status" "$(cat err)"
run "$hopcast" machine check dragonflyplus:4x2x2:2:2
test "$status" = 2 && grep -q '4 to other groups, which is no multiple of the 3 other groups' err
verdict $? "cables that do not divide are refused" "$status" "$(cat err)"

# --- Files of Slurm, and a table of nodes ---

printf 'BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockName=b3 Nodes=n9\nBlockSizes=4\n' >block.conf
run "$hopcast" machine check fabric:block.conf --format json
same "blocks and a switch between them" "$status $(json nodes out) $(json switches out)" "0 9 4"
grep -q '1 of QDR (cables=, speed=) from every block' out
verdict $? "assumptions are warnings" "$(cat out)"
run "$hopcast" machine show fabric:block.conf,cables=2,speed=NDR200
test "$status" = 0 && grep -q 'cables=2' out && grep -q '; 5 switches, 30 directed links' out
verdict $? "options for cables" "$(head -9 out)" "$(cat err)"
cp out block.machine
run "$hopcast" machine show block.machine
same "are in the machine file" "$(cat out)" "$(cat block.machine)"
run "$hopcast" machine check fabric:block.conf,speed=HDR,cables=1
same "nothing is assumed with both" "$(grep -c 'have no cables' out)" 0

table=$(test_data fabrics/leonardo-hdr/leonardo.txt)
if test -n "$table"; then
  # Of the table itself: nodes, leaves, ordered pairs on a leaf, in a cell, and the others.
  truth=$(awk '
    { for (i = 1; i < NF; i++) { if ($i == "CELL") c = $(i + 1); if ($i == "SWITCH") s = $(i + 1) }
      leaf[s]++; cell[c]++; n++ }
    END { for (s in leaf) { near += leaf[s] * (leaf[s] - 1); n_leaves++ }
          for (c in cell) { group += cell[c] * (cell[c] - 1); n_cells++ }
          printf "%d %d \"1\":%d,\"3\":%d,\"4\":%d", n, n_leaves + 18 * n_cells, near, group - near,
                 n * (n - 1) - group }' "$table")
  run "$hopcast" machine check "fabric:$table,spines=18,cables=1,speed=HDR" --format json
  same "Leonardo from its table" "$(json nodes out) $(json switches out) $(pairs_by_hops)" "$truth"
  same "without loops" "$(json credit_loops out)" 0
else
  skip "Leonardo from its table" "no table"
fi

# --- A node that nothing names ---

run "$hopcast" simulate ring.ti --machine "$tree"
test "$status" = 0 && grep -q '^  node  *harpertown (assumed), 8 cores$' out &&
  grep -q 'warning: node: harpertown (assumed)' err
verdict $? "an assumed node is named" "$(head -6 out)" "$(cat err)"
run "$hopcast" simulate ring.ti --machine "$tree,speed=FDR" --format json -q
test "$status" = 0 && sed -n '/"warnings"/,/^  \]/p' out >warnings &&
  grep -q '"node: sandybridge (assumed)' warnings && grep -q '"hca.pcie_bandwidth: ' warnings
verdict $? "assumptions are warnings of the record" "$(cat warnings err)"
run "$hopcast" simulate ring.ti --machine systemg:8
test "$status" = 0 && grep -q '^  node  *harpertown, 8 cores$' out && ! test -s err
verdict $? "the node of System G is not assumed" "$(head -6 out)" "$(cat err)"
cat >assumed.study <<END
[traces]
trace = ring.ti
[machines]
machine = $tree
[mappings]
mapping = AT
END
run "$hopcast" study run assumed.study
test "$status" = 0 && test "$(grep -c "warning: $tree: node: harpertown (assumed)" err)" = 1
verdict $? "a study names the assumed node" "$(cat err)"
run "$hopcast" report assumed.store -o page.html
test "$status" = 0 && grep -q '"warnings":\["node: harpertown (assumed)' page.html
verdict $? "a page names the assumed node" "$(cat err)" "$(grep -o '"warnings":.\{60\}' page.html)"

# --- No temporary files: nothing can stay behind, and a full disk changes nothing ---

run env TMPDIR=/proc/self "$hopcast" report assumed.store -o again.html
test "$status" = 0 && cmp -s page.html again.html && ! grep -q 'cannot be drawn' err
verdict $? "a page without temporary files" "$status" "$(cat err)" "$(grep -o '"problem":.\{80\}' again.html)"
run env TMPDIR=/proc/self "$hopcast" simulate ring.ti --machine "$tree" --network flow -q
test "$status" = 0 || grep -q 'SimGrid' err
verdict $? "flow without temporary files" "$status" "$(cat err)"

n_replayed=0
all_replay
same "traces there are" "$(test $n_replayed -ge 10 && echo enough)" enough


# --- Parts that are out ---

# Four ranks on two leaves with two nodes each, all bytes from leaf to leaf: over two spines, or over one.
awk 'BEGIN {
  n = 4
  for (r = 0; r < n; r++) print r, "init"
  for (r = 0; r < n; r++) {
    far = (r + n / 2) % n
    print r, "irecv", far, 1, 3000000, 6
    print r, "send", far, 1, 3000000, 6
    print r, "waitall"
  }
  for (r = 0; r < n; r++) print r, "finalize"
}' >far.ti

# across OPTIONS NETWORK: the run's record in out, the bytes of cables between switches in loads.
across () {
  run "$hopcast" simulate far.ti -q --machine "fattree:2x2:2$1" --network "$2" --format json --links far.csv
  awk -F, 'NR > 1 && $2 !~ /node/ && $4 !~ /node/ { print $8 }' far.csv | sort -n | uniq -c | sed 's/^ *//' >loads
}

for network in load packet flow; do
  test $network = flow && ! test -e "${HOPCAST_LIBRARIES-}/libhopcast-flow.so" && continue
  across "" $network
  same "$network: two spines share the load" "8 3000000" "$(cat loads)"
  # Four links from node to node for each of four messages, whichever the spine.
  same "$network: hop bytes" 48000000 "$(json hop_bytes out)"
  across ",failed=spine1" $network
  same "$network: one spine carries it all" "4 6000000" "$(cat loads)"
  same "$network: hop bytes without a spine" 48000000 "$(json hop_bytes out)"
done

# One lane of QDR is 1 GB/s: the message over it takes 3 ms and what headers and latencies cost.
across ",degraded=leaf0:3 1x" packet
json time_s out | awk '{ exit !($1 > 0.003 && $1 < 0.0033) }'
verdict $? "a cable with one lane" "$(cat err)" "$(json time_s out) s"

refused "no way is left" 1 "have no way from node0 to node2, which both hold ranks" \
  simulate far.ti --machine fattree:2x2:2,failed=leaf0:3+leaf0:4 -q
printf '[machine]\nspec = bgq:32\nfailed = 3\n' >block.conf
refused "a Blue Gene/Q block with a failed node" 1 "block.conf:3: machine.failed: a Blue Gene/Q block with" \
  machine check block.conf
done_testing
