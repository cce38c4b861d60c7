#!/bin/sh
# collectives_smpirun_test.sh - the messages of collectives against SimGrid's.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
#
# Both take apart the same call: who sends how many messages and bytes to whom
# must be the same.  Only cases for which SimGrid has Open MPI's or MPICH's
# algorithm (handbook: collectives).
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# theirs OPTION RANKS: the messages that smpirun makes of call-*.ti
theirs () {
  smpirun -np "$2" -platform platform.xml -hostfile hosts "$1" \
    --cfg=tracing/smpi/internals:yes --cfg=tracing/smpi/display-sizes:yes \
    -trace -trace-file out.paje -replay call.txt >smpirun.log 2>&1 || return
  awk '$1 == 15 && $5 == "PTP" {
         split ($7, part, "_")
         pair = part[1] - 1 "," part[2] - 1
         messages[pair]++
         bytes[pair] += $8
       }
       END {
         for (pair in messages)
           print pair "," messages[pair] "," bytes[pair]
       }' out.paje | sort
}

# ours RULES: the same of ours
ours () {
  { cat "$srcdir/validation/data/collectives.conf"; echo "collectives = $1"; } >machine.conf
  "$hopcast" trace matrix call.txt --with-collectives --machine machine.conf 2>err |
    sed 1d | sort
}

# same OPTION RULES RANKS CALL...: SimGrid's algorithm, our rules
same () {
  option=$1 rules=$2 ranks=$3
  shift 3
  rm -f call*
  rank=0
  while test $rank -lt "$ranks"; do
    printf '%s\n' "$rank init" "$rank $*" "$rank finalize" >call-$rank.ti
    echo call-$rank.ti >>call.txt
    rank=$((rank + 1))
  done
  theirs "--cfg=smpi/$option" "$ranks" >theirs.csv
  ours "$rules" >ours.csv
  if test -s theirs.csv && cmp -s ours.csv theirs.csv; then
    ok "$rules, $ranks ranks: $*"
  else
    not_ok "$rules, $ranks ranks: $*" "$option; ours and theirs differ:" \
      "$(diff ours.csv theirs.csv | head -8)" "$(tail -2 smpirun.log)" "$(cat err)"
  fi
}

if ! command -v smpirun >/dev/null; then
  echo "1..0 # SKIP no smpirun"
  exit 0
fi
cat >platform.xml <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-63" speed="1Gf" bw="1GBps" lat="1us"/>
</platform>
END
awk 'BEGIN { for (i = 0; i < 64; i++) print "n" i }' >hosts

for ranks in 16 20; do
  same allreduce:rdb ompi-1.3 "$ranks" allreduce 9999 0
  same allreduce:lr ompi-1.3 "$ranks" allreduce 1000000 0
  same allreduce:ompi_ring_segmented ompi-1.3 "$ranks" allreduce 70000000 0
  same allgather:ompi_neighborexchange ompi-1.3 "$ranks" allgather 20000 20000
  same alltoall:bruck ompi-1.3 "$ranks" alltoall 199 199
  same alltoall:basic_linear ompi-1.3 "$ranks" alltoall 2999 2999
  same alltoall:ring ompi-1.3 "$ranks" alltoall 3000 3000
  same gather:ompi_binomial ompi-1.3 "$ranks" gather 900 900 1
  same gather:ompi_linear_sync ompi-1.3 "$ranks" gather 7000 7000 1
  same scatter:ompi_binomial ompi-1.3 "$ranks" scatter 200 200 1
  same bcast:ompi_split_bintree ompi-1.3 "$ranks" bcast 300000 1
  same bcast:ompi_pipeline ompi-1.3 "$ranks" bcast 30000000 1
  same reduce:ompi_pipeline ompi-1.3 "$ranks" reduce 30000000 0 1
  same reduce:ompi_binomial ompi-1.3 "$ranks" reduce 1500 0 1
done
same allgather:bruck ompi-1.3 7 allgather 200 200
same barrier:ompi_recursivedoubling ompi-1.3 16 barrier
same barrier:ompi_bruck ompi-1.3 20 barrier

# SimGrid's selector has the tables of Open MPI 4.1.
for ranks in 3 6 40 64; do
  same coll-selector:ompi ompi-4.1 "$ranks" barrier
  same coll-selector:ompi ompi-4.1 "$ranks" alltoall 100 100
  same coll-selector:ompi ompi-4.1 "$ranks" alltoall 5000 5000
  same coll-selector:ompi ompi-4.1 "$ranks" alltoall 300000 300000
  same coll-selector:ompi ompi-4.1 "$ranks" gather 100 100 1
  same coll-selector:ompi ompi-4.1 "$ranks" gather 5000 5000 0
  same coll-selector:ompi ompi-4.1 "$ranks" scatter 100 100 1
  same coll-selector:ompi ompi-4.1 "$ranks" scatter 5000 5000 0
done
for ranks in 16 64; do
  same coll-selector:ompi ompi-4.1 "$ranks" allreduce 3000 0
  same coll-selector:ompi ompi-4.1 "$ranks" allreduce 100000 0
  same coll-selector:ompi ompi-4.1 "$ranks" allgather 2000 2000
done
for ranks in 16 20; do
  same coll-selector:ompi ompi-4.1 "$ranks" bcast 2000000 0
  same coll-selector:ompi ompi-4.1 "$ranks" reduce 3000 0 1
done
for ranks in 7 16 32; do
  counts=$(awk -v n=$ranks 'BEGIN { while (n-- > 0) printf "9000 " }')
  # shellcheck disable=SC2086  # several counts
  same coll-selector:ompi ompi-4.1 "$ranks" reducescatter $counts 0
done

same bcast:binomial_tree mpich 13 bcast 5000 1
same bcast:scatter_LR_allgather mpich 13 bcast 1000000 1
same bcast:scatter_rdb_allgather mpich 16 bcast 100000 1
same reduce:scatter_gather mpich 16 reduce 100000 0 0
same allreduce:rab_rdb mpich 16 allreduce 100000 0
same coll-selector:mpich mpich 8 alltoall 300000 300000
same coll-selector:mpich mpich 16 alltoall 100 100
same coll-selector:mpich mpich 16 allgather 100 100
same coll-selector:mpich mpich 16 gather 100 100 1
same coll-selector:mpich mpich 16 scatter 100 100 1
done_testing
