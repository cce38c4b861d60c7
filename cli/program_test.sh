#!/bin/sh
# program_test.sh - the commands together: what they print adds up.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# Eight ranks; every one sends to its right neighbour in a ring and to the
# rank opposite, short and long messages.
awk 'BEGIN {
  n = 8
  for (r = 0; r < n; r++) print r, "init"
  for (r = 0; r < n; r++) {
    right = (r + 1) % n; left = (r + n - 1) % n; far = (r + n / 2) % n
    print r, "compute 128000"
    print r, "irecv", left, 0, 200, 6
    print r, "irecv", far, 1, 100000, 6
    print r, "send", right, 0, 200, 6
    print r, "send", far, 1, 100000, 6
    print r, "waitall"
  }
  for (r = 0; r < n; r++) print r, "finalize"
}' >ring.ti
messages=16 bytes=$((8 * 100200))

sum () {
  awk '{ s += $1 } END { printf "%d\n", s }'
}

succeeds "version" "$hopcast" --version
same "version is the first line" "$(head -n 1 out | grep -c '^hopcast [0-9.]*$')" 1
same "and what is built in" "$(sed -n 's/^  \([a-z0-9]*\)  *\(with\|without\|none\|[OM].* [0-9.]*\)$/\1/p' out | tr '\n' ' ')" \
  "otf2 svm scotch simgrid mpi "
succeeds "help" "$hopcast" --help
grep '^  [a-z]' out | cut -c3-24 >commands
same "help lists commands" "$(test "$(wc -l <commands)" -ge 9 && echo many)" many
while read -r first second; do
  # shellcheck disable=SC2086  # an empty second word is no word
  succeeds "help of $first $second" "$hopcast" $first $second --help
done <commands

sim="$hopcast simulate ring.ti --machine bgq:32 -q"

# shellcheck disable=SC2086  # $sim is a command line
succeeds "simulate" $sim --format json --links links.csv --ranks ranks.csv
same "quiet says nothing" "$(wc -c <err)" 0
cp out run.json
same "schema" "$(json schema run.json)" hopcast.run/1
same "ranks" "$(json ranks run.json)" 8
same "messages" "$(json messages run.json)" $messages
same "message bytes" "$(json message_bytes run.json)" $bytes
for key in key trace machine mapping network routing shrink nodes links time_s compute_s_avg \
  wait_s_avg wait_s_max packets packet_hops events wall_s peak_rss_bytes warnings features \
  max_dilation avg_FIFO_TO; do
  grep -q "^ *\"$key\": " run.json || echo "$key"
done >missing
same "every stable key" "all$(cat missing)" all
same "bytes of the links add up to hop_bytes" "$(column payload_bytes links.csv | sum)" \
  "$(json hop_bytes run.json | sum)"
same "a line per link" "$(column port links.csv | wc -l)" "$(json links run.json)"
same "a line per rank" "$(column rank ranks.csv | wc -l)" 8
same "the run ends with its last rank" "$(column end_s ranks.csv | sort -g | tail -n 1)" \
  "$(json time_s run.json)"
same "sends of the ranks" "$(column sends ranks.csv | sum)" $messages
same "receives of the ranks" "$(column receives ranks.csv | sum)" $messages

# shellcheck disable=SC2086
succeeds "simulate again" $sim --format json --links again.csv
grep -v -e wall_s -e peak_rss_bytes run.json >first
grep -v -e wall_s -e peak_rss_bytes out >second
same "the same record" "$(cat first)" "$(cat second)"
same "the same links" "$(cat links.csv)" "$(cat again.csv)"

# shellcheck disable=SC2086
succeeds "BGQNCL lines" $sim --links links.cnt
same "a line per node" "$(wc -l <links.cnt)" 32
same "columns of a line" "$(awk '{ print NF }' links.cnt | sort -u)" 69
# Fields 1..9 are region, rank, A..E, T and the asterisks; then six per port.
same "chunks sent" \
  "$(awk '{ for (i = 10; i <= NF; i += 6) s += $i } END { print s + 0 }' links.cnt)" \
  "$(awk -F, 'NR > 1 { s += $8 + $9 + $10 } END { print s + 0 }' links.csv)"
same "packets received" \
  "$(awk '{ for (i = 14; i <= NF; i += 6) s += $i } END { print s + 0 }' links.cnt)" \
  "$(column received_packets links.csv | sum)"

# shellcheck disable=SC2086
succeeds "deterministic packets" $sim --routing deterministic --links packet.csv
# shellcheck disable=SC2086
succeeds "load" $sim --network load --links load.csv --format json
same "load knows no time" "$(json time_s out)" null
same "nor packets" "$(json packets out) $(json packet_hops out) $(json events out)" "null null null"
same "load and packets agree on every link" "$(column payload_bytes packet.csv)" \
  "$(column payload_bytes load.csv)"
# What the time is made of comes to the time; of a graph it is not known, which is said.
run "$hopcast" simulate gen:halo3d:ranks=32,bytes=3000,iterations=2 --machine systemg:4 --ranks-per-node 8 \
  --critical-path --format json -q
awk -F': ' '/"time_s": /{ time_s = $2 + 0 } /"path_[a-z]*_s": [0-9]/{ n++; sum_s += $2 }
  END { exit !(n == 5 && time_s > 0 && sum_s > time_s * (1 - 1e-9) && sum_s < time_s * (1 + 1e-9)) }' out
verdict $? "the parts of the critical path" "$(grep -e time_s -e path_ out)" "$(cat err)"
printf 'num_ranks 2\nrank 0 {\nl1: send 1000b to 1 tag 7\n}\nrank 1 {\nl1: recv 1000b from 0 tag 7\n}\n' >pair.goal
run "$hopcast" simulate pair.goal --machine bgq:32 --critical-path
test "$status" = 0 && ! grep -q 'critical path ' out && grep -q 'critical-path: not known of a trace that is a graph' err
verdict $? "the critical path of a graph" "$(cat out err)"

rails="simulate gen:halo3d:ranks=32,bytes=1024,iterations=1 --machine edr:4,rails=2,node=skylake --ranks-per-node 16"
# shellcheck disable=SC2086
succeeds "packets on two adapters" "$hopcast" $rails --links packet.csv
# shellcheck disable=SC2086
succeeds "load on two adapters" "$hopcast" $rails --network load --links load.csv
same "load and packets agree on the adapters" "$(column payload_bytes packet.csv)" \
  "$(column payload_bytes load.csv)"

succeeds "trace info" "$hopcast" trace info ring.ti --format json
same "sends of the trace" "$(json sends out)" $messages
same "bytes of the trace" "$(json send_bytes out)" $bytes
same "nothing unmatched" "$(json unmatched_sends out)$(json unmatched_receives out)" 00
succeeds "trace matrix" "$hopcast" trace matrix ring.ti
cp out matrix.csv
same "messages of the matrix" "$(column messages matrix.csv | sum)" $messages
same "bytes of the matrix" "$(column bytes matrix.csv | sum)" $bytes

# shellcheck disable=SC2086
for source in ring.ti matrix.csv; do
  succeeds "map metrics of $source" "$hopcast" map metrics $source --machine bgq:32 \
    --mapping TEDCBA --format json
  sed -n '/features/,$p' out >metrics.$source
done
succeeds "map metrics as a table of columns" "$hopcast" map metrics ring.ti --machine bgq:32 \
  --ranks-per-node 1 --format csv
same "columns as simulate's" "$(head -n 1 out | cut -d, -f4-6)" "max_dilation,avg_dilation,sum_dilation_AO"
same "metrics of trace and matrix" "$(cat metrics.ring.ti)" "$(cat metrics.matrix.csv)"

succeeds "map generate" "$hopcast" map generate --machine bgq:32 --ranks 8 --mapping TEDCBA \
  -o out.map
succeeds "map check" "$hopcast" map check out.map --machine bgq:32 --ranks 8
# shellcheck disable=SC2086
$sim --mapping out.map --links file.csv >out && $sim --mapping TEDCBA --links letters.csv >out
same "map file and letters give the same links" "$(cat file.csv)" "$(cat letters.csv)"

# Every command that takes a mapping takes the default by its name.
# shellcheck disable=SC2086
succeeds "simulate the default" $sim --mapping default --format json
same "its record has the letters" "$(json mapping out)" ABCDET

long=gen:ring:ranks=8,bytes=100000,iterations=1
succeeds "messages shrunk by two factors" "$hopcast" simulate $long --machine bgq:32 --shrink 4,8 \
  --format json -q
same "its record has both" "$(grep -c '"shrink" *: "4,8"' out) $(json shrink_factor out)" "1 4"
same "and the share of bytes" "$(json shrink_share out)" 1
refused "links of two factors" 2 "--links is of one run" simulate $long --machine bgq:32 \
  --shrink 4,8 --links links.csv
refused "factors that leave too little" 1 "nothing can be extrapolated" simulate $long \
  --machine bgq:32 --shrink 128,256
small="--machine torus:2x2 --ranks-per-node 2 --ranks 3"
# shellcheck disable=SC2086
for command in "map check default $small" "map generate --mapping default $small" \
  "map convert default $small --to map" \
  "map metrics ring.ti --machine bgq:32 --mapping default" \
  "map optimize ring.ti --machine bgq:32 --start default --budget 1 -q -o best.map"; do
  succeeds "the default: ${command%% -*}" "$hopcast" $command
done
"$hopcast" map generate --mapping default $small >out
same "the default fills node by node" "$(grep -v '^#' out | tr '\n' ,)" "0 0 0,0 0 1,0 1 0,"
printf '[traces]\ntrace = ring.ti\n[machines]\nmachine = bgq:32\n[mappings]\nmapping = default\n' >default.study
succeeds "a study of the default" "$hopcast" study run default.study -q

succeeds "machine show" "$hopcast" machine show bgq:64 --set link.hop_latency=50ns
cp out machine.conf
succeeds "machine show of what it showed" "$hopcast" machine show ./machine.conf
same "the same machine" "$(cat out)" "$(cat machine.conf)"
succeeds "machine links" "$hopcast" machine links bgq:512
same "links of 512 nodes" "$(column port out | wc -l)" 5120
succeeds "machine check" "$hopcast" machine check bgq:512 --format json
same "pairs of 512 nodes" "$(json pairs out)" $((512 * 511))
same "all reachable, no loop" "$(json unreachable out)$(json credit_loops out)" 00

# The tree of 18 x 18 nodes under routing that evens out: 306 on every link.
succeeds "fabric check" "$hopcast" machine check systemg,routes=ftree --format json
same "pairs of 324 nodes" "$(json pairs out)" $((324 * 323))
same "even loads" "$(json min out) $(json max out)" "306 306"
succeeds "fabric links" "$hopcast" machine links systemg
same "every cable twice" "$(wc -l <out)" $((1 + 4 * 324))

# Machine files of fabrics, and where ranks go.
"$hopcast" machine show systemg:4,routes=ftree --cores scatter --ranks-per-node 2 >systemg.conf
"$hopcast" machine show systemg.conf >again.conf
same "a fabric's machine file again" "$(cmp systemg.conf again.conf && echo same)" same
same "its keys" "$(grep -cE '^(spec = systemg:4|routes = ftree|node = harpertown|ranks_per_node = 2|cores = 0,4,2,6,1,5,3,7)$' systemg.conf)" 5
same "the node's picture" "$(grep -c '^#  *cores [0-9]* [0-9]*, each with L1' systemg.conf)" 4
"$hopcast" machine show systemg.conf,routes=updn --pattern 3 >again.conf
same "an option beats the file" "$(grep -cE '^(routes = updn|ranks_per_node = 2|cores = 0,2,)' again.conf)" 3
succeeds "map convert" "$hopcast" map convert TA --machine systemg.conf --ranks 6 --to rankfile -o job.ranks
same "by node, scattered" "$(tr '\n' ' ' <job.ranks)" \
  "rank 0=node0 slot=0:0 rank 1=node1 slot=0:0 rank 2=node2 slot=0:0 rank 3=node3 slot=0:0 rank 4=node0 slot=1:0 rank 5=node1 slot=1:0 "
"$hopcast" map convert job.ranks --machine systemg:4 --ranks 6 --to map >job.map
same "its places as a map" "$(sed 1d job.map | tr '\n' ,)" "0 0,1 0,2 0,3 0,0 4,1 4,"
"$hopcast" map convert job.map --machine systemg:4 --ranks-per-node 8 --ranks 6 --to rankfile >again.ranks
same "and back" "$(cmp job.ranks again.ranks && echo same)" same
succeeds "map check of a rankfile" "$hopcast" map check job.ranks --machine systemg:4 --ranks 6 --format json
same "every core is a slot" "$(json slots out) $(json ranks_per_node_max out)" "32 2"

# Other launchers.
printf 'n[0-3]\n' >job.nodes
"$hopcast" map convert TAB --machine torus:2x2 --ranks-per-node 2 --ranks 6 --hosts job.nodes \
  --to slurm -o job.hosts --launch-line >out 2>err
same "hosts of a torus" "$(tr '\n' ' ' <job.hosts)" "n0 n1 n2 n3 n0 n1 "
same "the line to launch with, alone" "$(cat out)$(cat err)" \
  "SLURM_HOSTFILE=job.hosts srun -m arbitrary -n 6 ./program"
succeeds "map check of a host file" "$hopcast" map check slurm:job.hosts --machine torus:2x2 \
  --ranks-per-node 2 --ranks 6 --hosts job.nodes --format json
same "as many as it says" "$(json nodes_used out) $(json ranks_per_node_max out)" "4 2"
"$hopcast" map convert TAB --machine torus:2x2 --ranks-per-node 2 --ranks 8 --to cray \
  -o "a job" >out 2>err
same "an order of ranks" "$(tr '\n' ' ' <"a job")" "0,4 1,5 2,6 3,7 "
same "a path in quotes" "$(grep -c "MPICH_RANK_REORDER_FILE='a job' srun" err)" 1

# A signal leaves neither the file nor its beginning.
"$hopcast" map generate --machine bgq:98304 --ranks-per-node 16 --ranks 1572864 -o big.map &
pid=$!
while kill -0 $pid 2>/dev/null && ! ls big.map.tmp-* >/dev/null 2>&1; do
  sleep 0.01
done
kill -TERM $pid 2>/dev/null
wait $pid 2>/dev/null
status=$?
if test $status = 0; then
  skip "interrupted run leaves no file" "it was faster than the signal"
  rm -f big.map
else
  same "interrupted run leaves no file" "$status $(ls | grep -c '^big.map')" "143 0"
fi

# Neither do those that write traces.
for ending in hct ti goal; do
  "$hopcast" trace generate random --ranks 65536 --iterations 100000 -o big.$ending &
  pid=$!
  while kill -0 $pid 2>/dev/null && ! ls big.$ending.tmp-* >/dev/null 2>&1; do
    sleep 0.01
  done
  kill -TERM $pid 2>/dev/null
  wait $pid 2>/dev/null
  status=$?
  same "interrupted $ending leaves no file" "$status $(ls | grep -c '^big')" "143 0"
done

# A reader that has seen enough ends the program, quietly.
{ "$hopcast" trace generate halo3d --ranks 512 -o - --to ti; echo $? >status; } 2>err | head -n 1 >out
same "closed pipe" "$(cat out) $(cat status) $(wc -c <err)" "0 init 141 0"

# Of what a trace lacks, every entry has a line.
printf '0 init\n0 comm_split 1 1\n1 init\n1 comm_dup 1\n' >lossy.ti
"$hopcast" trace info lossy.ti >out 2>err
same "a line for all that is missing" \
  "$(sed -n '/^missing/,/^hash/p' out | grep -c -e '^missing  *comm' -e '^   *no fin' -e '^   *comm')" 3

done_testing
