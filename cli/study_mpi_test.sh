#!/bin/sh
# study_mpi_test.sh - a study on the processes of an MPI job.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
mpi=${G_TEST_BUILDDIR:-$(pwd)}/hopcast-mpi
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

mpirun=$(command -v mpirun.openmpi || command -v mpirun || true)
if ! test -x "$mpi" || test -z "$mpirun"; then
  echo "1..0 # SKIP no MPI"
  exit 0
fi

cat >small.study <<'END'
[traces]
trace = gen:{pattern}:ranks=64,bytes={bytes},iterations=1
[machines]
machine = bgq:32
ranks-per-node = 2
[mappings]
mapping = ABCDET;TABCDE;TEDCBA;EDCBAT;BACDET;CABDET;DABCET;EABCDT;ACBDET;ADBCET;AEBCDT;DCBAET
[runs]
network = packet
[pattern]
values = halo2d;halo3d;suba2a
[bytes]
values = 512;16384
END
n_runs=72

# await COMMAND...: until it succeeds, ten seconds at most.
await () {
  tenths=100
  while test $tenths -gt 0 && ! "$@" >/dev/null 2>&1; do
    sleep 0.1
    tenths=$((tenths - 1))
  done
}

# table STORE: what the study found, as it is compared.
table () {
  "$hopcast" study export "$1" --format csv
}

# same NAME STORE: the table is that of the undisturbed run.
same () {
  table "$2" >table.csv 2>err
  if test -s table.csv && cmp -s table.csv undisturbed.csv; then
    ok "$1"
  else
    not_ok "$1" "$(cat err)" "$(diff table.csv undisturbed.csv | head -5)"
  fi
}

# says NAME STATUS PATTERN: how the last `run` ended.
says () {
  if test "$status" = "$2" && grep -q "$3" err; then
    ok "$1"
  else
    not_ok "$1" "exit status $status, not $2; or not /$3/ in:" "$(cat err)"
  fi
}

"$hopcast" study run small.study --store whole.store 2>err || not_ok "a study without MPI" "$(cat err)"
table whole.store >undisturbed.csv

# Open MPI ends with memory of its own in hand, which a sanitizer would tell.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM \
OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_btl
run timeout 100 "$mpirun" -n 3 "$mpi" study run small.study --store mpi.store
says "three processes of MPI make it" 0 "$n_runs runs done, 0 failed, 0 were there"
same "and find the same" mpi.store

# Open MPI ends a job that loses a process.
rm -f mpi.store
"$mpirun" -n 3 "$mpi" study run small.study --store mpi.store >out 2>err &
launcher=$!
await test -e mpi.store
sleep 0.3
kill -9 "$(pgrep -P $launcher | tail -1)"
wait $launcher
run timeout 100 "$mpirun" -n 3 "$mpi" study run small.study --store mpi.store
same "killed, they go on" mpi.store

run timeout 100 "$mpirun" -n 1 "$mpi" study run small.study --store alone.store
says "one process of MPI is too few" 1 "two are the least"
run timeout 100 "$mpirun" -n 3 "$mpi" study run nothing.study
says "a study that is not there ends them all" 1 "nothing.study"
run timeout 100 "$mpirun" -n 2 "$mpi" --version
if test "$status" = 0 && test "$(grep -c hopcast out)" = 1; then
  ok "other commands are the first process's"
else
  not_ok "other commands are the first process's" "$(cat out err)"
fi

# SimGrid and MPI have functions of the same names.
sed -e 's/network = .*/network = flow/' -e 's/;halo3d;suba2a//' -e 's/;16384//' small.study >flow.study
if "$hopcast" simulate gen:halo2d:ranks=16,iterations=1 --machine bgq:32 --network flow >/dev/null 2>&1; then
  "$hopcast" study run flow.study --store whole-flow.store 2>err
  table whole-flow.store >undisturbed.csv
  run timeout 100 "$mpirun" -n 3 "$mpi" study run flow.study --store flow.store
  same "flow runs as well" flow.store
else
  skip "flow runs as well" "built without SimGrid"
fi
done_testing
