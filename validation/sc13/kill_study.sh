#!/bin/sh
# kill_study.sh - a study of 84 mappings, killed again and again, split and handed out by
# MPI: is the table always the same, byte for byte?
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: validation/sc13/kill_study.sh HOPCAST FOLDER [ITERATIONS]
#
# 84 mappings x halo2d, halo3d and suba2a x 512 B and 16 KiB on bgq:512 with 16 ranks per
# node: 504 packet runs.  ITERATIONS of each pattern (default: 1) say how long it takes: an
# iteration of all runs is about half an hour of one core.  The stores stay in
# FOLDER; what is there already is not made again.  Prints a line per experiment;
# exit status 1 when a table differs.
set -u
hopcast=$1 folder=$2 iterations=${3:-1}
kills=10 status=0
mkdir -p "$folder" && cd "$folder" || exit 1

cat >mappings.study <<END
[traces]
trace = gen:{pattern}:ranks=8192,bytes={bytes},iterations=$iterations
[machines]
machine = bgq:512
ranks-per-node = 16
[mappings]
family = sc13-shared
[runs]
network = packet
[pattern]
values = halo2d;halo3d;suba2a
[bytes]
values = 512;16384
END

# timed NAME COMMAND...: says how long it took and how it ended.
timed () {
  name=$1
  shift
  begin=$(date +%s)
  "$@" >"$name.log" 2>&1
  ended=$?
  echo "$name: exit status $ended after $(($(date +%s) - begin)) s: $(tail -n 2 "$name.log" | head -n 1)"
}

# compare NAME STORE: is its table that of the undisturbed run?
compare () {
  "$hopcast" study export "$2" --format csv >"$1.csv"
  if cmp "$1.csv" undisturbed.csv; then
    echo "$1: same table, $(($(wc -l <"$1.csv") - 1)) runs, SHA-256 $(sha256sum <"$1.csv" | cut -c1-16)"
  else
    echo "$1: ANOTHER TABLE"
    status=1
  fi
}

begin=$(date +%s)
timed undisturbed "$hopcast" study run mappings.study --store undisturbed.store
test -s undisturbed.seconds || echo $(($(date +%s) - begin)) >undisturbed.seconds
"$hopcast" study export undisturbed.store --format csv >undisturbed.csv

# Moments are spread over the time that it took, which is what matters when the
# script goes on with what is there.
seconds=$(cat undisturbed.seconds)
kill=0
while test $kill -lt $kills; do
  "$hopcast" study run mappings.study --store killed.store >>killed.log 2>&1 &
  master=$!
  sleep "$(awk -v span="$((2 * seconds / kills))" -v seed="$(od -An -N4 -tu4 /dev/urandom)" \
    'BEGIN { srand (seed); printf "%.2f\n", rand () * span }')"
  kill -9 $master 2>/dev/null &&
    echo "killed: $("$hopcast" study status killed.store 2>/dev/null | sed -n 's/^ *runs */runs /p')"
  wait $master 2>/dev/null
  kill=$((kill + 1))
done
timed killed "$hopcast" study run mappings.study --store killed.store
compare killed killed.store

for shard in 1 2 3 4; do
  timed "shard-$shard" "$hopcast" study run mappings.study --shard $shard/4
done
"$hopcast" study merge shards.store mappings.?of4.store
compare shards shards.store

OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe
if test -x "$hopcast-mpi"; then
  timed mpi mpirun -n 3 "$hopcast-mpi" study run mappings.study --store mpi.store
  compare mpi mpi.store
else
  echo "mpi: no $hopcast-mpi"
fi
exit $status
