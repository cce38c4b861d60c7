#!/bin/sh
# reduce_pingpong_test.sh - raw ping-pong sets become the curves of the data file.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
#
# By hand: at 4 bytes sends take 1 and 3 us, receives 4 us: (2 + 4) / 2 = 3 us;
# at 1000 bytes (1000 + 2000) / 2 = 1500 us.  Each is the nearest of its kind to
# several powers of two and stands once; what has no receive does not count.
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

reduce () {
  awk -v curve="$1" -f "$srcdir/validation/infiniband/reduce_pingpong.awk"
}

# same NAME: `expected` and `found` are equal.
same () {
  if cmp expected found >err 2>&1; then
    ok "$1"
  else
    not_ok "$1" "$(cat err)" "$(diff expected found | head -5)"
  fi
}

printf '%s\n' MPI_Send,4,0,1e-6 MPI_Recv,4,0,4e-06 MPI_Send,4,1,3.0e-6 MPI_Recv,4,1,4e-6 \
  MPI_Recv,1000,2,1e-3 MPI_Send,1000,2,2e-3 MPI_Wtime,7,0,1 MPI_Send,2000,3,1 >raw
printf '%s\n' x,4,3,us x,1000,1500,us >expected
reduce x <raw >found
same "means of both calls, sizes nearest to powers of two"

for line in MPI_Send,4,0 MPI_Send,4,0,x MPI_Recv,0,0,1e-6 MPI_Send,4.5,0,1; do
  if echo "$line" | reduce x >found 2>err || ! grep -q 'line 1: ' err; then
    not_ok "refuses $line" "$(cat err found)"
  else
    ok "refuses $line"
  fi
done

for set in eth:between local:inside; do
  raw=$(test_data "measured/pingpong/stampede_${set%:*}_PingPong.csv.gz")
  name=stampede-${set#*:}
  if test -f "$raw"; then
    grep "^$name," "$srcdir/validation/data/infiniband_curves.csv" >expected
    zcat "$raw" | reduce "$name" >found
    same "$name is what the raw set gives"
  else
    skip "$name is what the raw set gives" "no raw set"
  fi
done
done_testing
