#!/bin/sh
# collectives_test.sh - `simulate` refuses collective calls that do not match.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# refused NAME TEXT ARGUMENT...: exit status 1 and this one line.
refused () {
  name=$1 text=$2
  shift 2
  run "$hopcast" simulate "$@"
  test "$status" = 1 && test "$(cat err)" = "hopcast: $text" && ! test -s out
  verdict $? "$name" "status $status" "$(cat err)" "expected: $text"
}

# accepted NAME ARGUMENT...
accepted () {
  name=$1
  shift
  run "$hopcast" simulate "$@"
  if test "$status" = 0; then ok "$name"; else not_ok "$name" "status $status" "$(cat err)"; fi
}

# call NAME LINE LINE: a program of two ranks, the last line of each is theirs.
call () {
  printf '0 init\n0 compute 1e6\n0 %s\n0 finalize\n1 init\n1 %s\n1 finalize\n' "$2" "$3" >"$1.ti"
}

call kinds barrier "allreduce 5 0"
call reductions "allreduce 5 0" "reduce 5 0 0"
call sizes "bcast 500 0 6" "bcast 900000 0 6"
call roots "bcast 500 0 6" "bcast 500 1 6"
call vectors "allreduce 5 0" "allreduce 6 0"
call elements "alltoall 1000 1000" "alltoall 5 5"
call pairs "alltoallv 9 1 2 9 1 4" "alltoallv 9 5 6 9 2 6"

for on in "bgq:32 packet" "torus:2x2 packet" "systemg:2 packet" "bgq:32 load" "systemg:2 load" \
  "bgq:32 flow" "systemg:2 flow"; do
  machine=${on% *} network=${on#* }
  set -- --machine "$machine" --network "$network"
  run "$hopcast" simulate gen:alltoall:ranks=2 "$@" -q
  if test "$network" = flow && test "$status" != 0; then
    skip "collectives on $on" "no SimGrid"
    continue
  fi
  # differ FILE CALL0 CALL1 WHAT0 WHAT1: rank 0 enters first.
  differ () {
    refused "$1 on $on" "rank 1, $3 at $1.ti:6: does not match rank 0, $2 at $1.ti:3: $5 against $4" \
      "$1.ti" --machine "$machine" --network "$network" -q
  }
  differ kinds MPI_Barrier MPI_Allreduce barrier allreduce
  differ reductions MPI_Allreduce MPI_Reduce allreduce reduce
  differ sizes MPI_Bcast MPI_Bcast "500 bytes" "900000 bytes"
  differ roots MPI_Bcast MPI_Bcast "root 0" "root 1"
  differ vectors MPI_Allreduce MPI_Allreduce "5 bytes" "6 bytes"
  differ elements MPI_Alltoall MPI_Alltoall "1000 bytes received from each rank" \
    "5 bytes received from each rank"
  refused "pairs on $on" "rank 1, MPI_Alltoallv at pairs.ti:6: does not match rank 0, MPI_Alltoallv\
 at pairs.ti:3: 5 bytes sent to rank 0 against 4 bytes received from rank 1" \
    pairs.ti "$@" -q
done

# --- What a trace does not have is not compared ---

# Time-independent traces have lost the communicators: these are two.
printf '0 comm_split\n0 bcast 500 0 6\n1 comm_split\n1 bcast 900 0 6\n' >split.ti
accepted "lost communicators" split.ti --machine bgq:32
"$hopcast" trace convert split.ti -o split.hct -q
accepted "lost communicators, converted" split.hct --machine bgq:32

"$hopcast" trace convert sizes.ti -o sizes.hct -q
run "$hopcast" simulate sizes.hct --machine bgq:32 -q
test "$status" = 1 && grep -q "900000 bytes against\|against 900000 bytes" err
verdict $? "converted" "status $status" "$(cat err)"

done_testing
