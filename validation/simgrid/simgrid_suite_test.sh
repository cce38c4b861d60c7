#!/bin/sh
# simgrid_suite_test.sh - packets and flows beside SimGrid's replayer: what is compared, and why they differ.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# simgrid WORD...: a part of the suite as CSV in `out`.
simgrid () {
  run "$hopcast" validate simgrid -q --format csv --traces "$srcdir/traces/data" "$@"
}

# cell NAME COLUMN: of the figure of that name in `out`.
cell () {
  awk -F, -v name="$1" -v column="$2" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) c = i }
    $2 == name { print $c }' out
}

simgrid --only ring_packet_flow
if test "$(cell ring_packet_flow verdict)" = "not run"; then
  echo "1..0 # SKIP built without SimGrid"
  exit 0
fi
test "$status" = 0 && test "$(cell ring_packet_flow verdict)" = agrees
verdict $? "neighbours: packets and flows agree" "status $status" "$(cat out err)"

# The figure is the one that the details have, and the share of pairs in the same order.
simgrid --only halo2d_rcc --details halo2d.csv
expected=$(awk -F, '$2 ~ /mapping/ { flow[n + 0] = $3; packet[n + 0] = $4; n++ }
  END {
    for (i = 0; i < n; i++)
      for (j = 0; j < i; j++) {
        a = (flow[i] > flow[j]) - (flow[i] < flow[j])
        b = (packet[i] > packet[j]) - (packet[i] < packet[j])
        right += a == b ? 1 : a == 0 || b == 0 ? .5 : 0
      }
    if (n == 20)
      printf "%.6f\n", right / (n * (n - 1) / 2)
  }' halo2d.csv)
same "RCC of a halo over 20 mappings" "$expected" "$(printf '%.6f' "$(cell halo2d_rcc simulated)")"

# Eight traces and twelve patterns, with the ratios that the handbook has.
simgrid --only '*_packet_flow'
awk -F, 'NR > 1 { sub(/_packet_flow$/, "", $2); printf "%s %.3f\n", $2, $3 }' out | sort >ratios
awk -F ' *[|] *' '$2 ~ /^`/ && NF == 10 { gsub(/`/, "", $2); print $2, $7 }' "$srcdir/doc/handbook/validation.md" | sort >stated
test "$(wc -l <ratios)" = 20 && cmp -s ratios stated
verdict $? "packets beside flows: all are in the handbook" "$(diff ratios stated)"

# What is missing is no failure.
simgrid --traces "$scratch" --only comd_packet_flow --only ring_packet_flow
test "$status" = 0 && test "$(cell comd_packet_flow verdict)" = "not run" &&
  grep -q 'agrees' out
verdict $? "without the trace it is not run" "status $status" "$(cat out err)"
run env PATH=/nowhere "$hopcast" validate simgrid -q --only 'ring_*flow*'
test "$status" = 0 && grep -q 'ring_flow_smpirun .* not run  no smpirun in PATH' out &&
  grep -q '^ring .* not run' out
verdict $? "without smpirun its column is not run" "status $status" "$(cat out err)"
simgrid --smpirun "$scratch/nothing" --only ring_flow_smpirun
test "$status" = 1 && grep -q "$scratch/nothing" err
verdict $? "a wrong --smpirun fails" "status $status" "$(cat out err)"

if ! command -v smpirun >/dev/null; then
  skip "smpirun" "no smpirun"
  done_testing
  exit
fi
simgrid --only nas_is_s_flow_smpirun --only pingpong_short_flow_smpirun --only transpose_flow_smpirun
test "$status" = 0 && test "$(grep -c agrees out)" = 3
verdict $? "flows and smpirun agree" "status $status" "$(cat out err)"

# By hand: 0 -> 2 over two links and 1 -> 2 over the second of them, 60000 B each at 2 GB/s and 1 us a hop,
# then 2 -> 3.  The second flow is alone for 1 us (2000 B).  Shared equally the rest takes 58 us, and
# 2 -> 3 31 us more: 91 us in all.  By latency 1 -> 2 gets 2/3: 43.5 us, 76.5 us in all.
cat >shares.ti <<'END'
0 init
0 send 2 0 60000 6
0 finalize
1 init
1 send 2 1 60000 6
1 finalize
2 init
2 irecv 0 0 60000 6
2 recv 1 1 60000 6
2 send 3 2 60000 6
2 waitall
2 finalize
3 init
3 recv 2 2 60000 6
3 finalize
END
sed 's/^spec = .*/spec = torus:8/' "$srcdir/validation/data/flow-torus-4x4.conf" >line.conf
run "$hopcast" simulate shares.ti --machine line.conf --network flow --format json -q
sed -n 's/^ *"time_s": \([0-9.e-]*\),*$/\1/p' out >flow
awk '{ exit !($1 > 90.9e-6 && $1 < 91.2e-6) }' flow
verdict $? "our flows share a link equally" "$(cat flow err)"
"${G_TEST_BUILDDIR:-$srcdir}/validation/simgrid/simgrid_platform" line.conf 4 >platform.xml
printf '%s\n' n0 n1 n2 n3 >hosts
echo shares.ti >list.txt
smpirun -np 4 -platform platform.xml -hostfile hosts --cfg=network/model:CM02 \
  --cfg=network/latency-factor:1 --cfg=network/bandwidth-factor:1 --cfg=network/weight-S:0 \
  --cfg=network/TCP-gamma:0 --cfg=network/crosstraffic:0 --cfg=smpi/bw-factor:0:1 \
  --cfg=smpi/lat-factor:0:1 --cfg=smpi/async-small-thresh:65536 -replay list.txt >log 2>&1
grep -q 'Simulation time 0.00007[67]' log
verdict $? "SimGrid shares it by latency" "$(tail -3 log)"
done_testing
