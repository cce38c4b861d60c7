#!/bin/sh
# flow_smpirun_test.sh - the flow network against SimGrid's own replayer.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
#
# Both replay the same trace over the same links and routes, with SMPI's
# corrections for TCP off, its collectives set to the algorithms that we use,
# and its eager messages sent at once.  What is left is the protocol of long
# messages; handbook: the flow network.
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
platform_of=${G_TEST_BUILDDIR:-$srcdir}/validation/simgrid/simgrid_platform

smpirun_options="--cfg=network/model:CM02 --cfg=network/latency-factor:1
  --cfg=network/bandwidth-factor:1 --cfg=network/weight-S:0 --cfg=network/TCP-gamma:0
  --cfg=network/crosstraffic:0 --cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1
  --cfg=smpi/async-small-thresh:65536"

# seconds_of_smpirun TRACE CONF RANKS OPTIONS...
seconds_of_smpirun () {
  trace=$1 conf=$2 ranks=$3
  shift 3
  "$platform_of" "$conf" "$ranks" >platform.xml 2>smpirun.log || return
  awk -v n="$ranks" 'BEGIN { for (i = 0; i < n; i++) print "n" i }' >hosts
  # Paths within a list of traces are relative to the current folder.
  # shellcheck disable=SC2086  # several options
  (cd "$(dirname "$trace")" &&
    smpirun -np "$ranks" -platform "$scratch/platform.xml" -hostfile "$scratch/hosts" \
      $smpirun_options "$@" -replay "$(basename "$trace")") >smpirun.log 2>&1
  sed -n 's/.*Simulation time \([0-9.]*\).*/\1/p' smpirun.log
}

# seconds_of_hopcast TRACE CONF
seconds_of_hopcast () {
  "$hopcast" simulate "$1" --machine "$2" --network flow --format json 2>err |
    sed -n 's/^ *"time_s": \([0-9.e-]*\),*$/\1/p'
}

# agree NAME PERCENT TRACE CONF RANKS OPTIONS...
agree () {
  name=$1 percent=$2 trace=$3 conf=$srcdir/validation/data/$4 ranks=$5
  shift 5
  theirs=$(seconds_of_smpirun "$trace" "$conf" "$ranks" "$@")
  ours=$(seconds_of_hopcast "$trace" "$conf")
  if grep -q 'without SimGrid' err; then
    skip "$name" "built without SimGrid"
  elif test -z "$theirs"; then
    not_ok "$name" "smpirun could not replay it" "$(tail -5 smpirun.log)"
  elif awk -v a="$ours" -v b="$theirs" -v p="$percent" \
      'BEGIN { d = 100 * (a / b - 1); exit !(a > 0 && d <= p && d >= -p) }'; then
    ok "$name"
    echo "# ours $ours s, smpirun $theirs s"
  else
    not_ok "$name" "ours '$ours' s, smpirun $theirs s: more than $percent % apart" "$(cat err)"
  fi
}

if ! command -v smpirun >/dev/null; then
  echo "1..0 # SKIP no smpirun"
  exit 0
fi

# Two ranks, no collectives: 20 messages of 4 KiB, each one hop.
for rank in 0 1; do
  awk -v me=$rank 'BEGIN {
    print me, "init"
    for (i = 0; i < 20; i++)
      print me, i % 2 == me ? "send" : "recv", 1 - me, "0 4096 6"
    print me, "finalize"
  }' >pingpong-$rank.ti
  echo pingpong-$rank.ti >>pingpong.txt
done
agree "ping-pong" 0.5 "$scratch/pingpong.txt" flow-torus-4x4.conf 2

is=$(test_data traces/ti/gen-nas-is-S-16/nas-is-S-16.txt)
if test -e "$is"; then
  agree "NAS IS, 16 ranks" 0.5 "$is" flow-torus-4x4.conf 16 \
    --cfg=smpi/allreduce:rab_rdb --cfg=smpi/alltoall:bruck --cfg=smpi/alltoallv:ompi_basic_linear
else
  skip "NAS IS, 16 ranks" "no shared traces"
fi

comd=$(test_data traces/recorded/comd-256-ti/comd-256-ti.tar.xz)
if test -e "$comd" && tar xJf "$comd"; then
  agree "CoMD, 256 ranks" 1 "$scratch/comd-256.txt" flow-torus-16x8x8.conf 256 \
    --cfg=smpi/allreduce:rdb --cfg=smpi/bcast:binomial_tree --cfg=smpi/barrier:ompi_bruck
else
  skip "CoMD, 256 ranks" "no shared traces"
fi
done_testing
