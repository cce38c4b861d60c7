#!/bin/sh
# study_mpi_test.sh - a study on the processes of an MPI job.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh and study_testing.sh
set -u
mpi=${G_TEST_BUILDDIR:-$(pwd)}/hopcast-mpi
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
. "$srcdir/cli/study/study_testing.sh"

mpirun=$(command -v "mpirun.$(main_mpi)" || command -v mpirun || true)
if ! test -x "$mpi" || test -z "$mpirun"; then
  echo "1..0 # SKIP no MPI"
  exit 0
fi

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

"$hopcast" study run race.study --race best --store race.store -q
race race.store >race.expected
run timeout 100 "$mpirun" -n 3 "$mpi" study run race.study --race best --store mpi-race.store
race mpi-race.store >race.found
test -s race.found && cmp -s race.found race.expected
verdict $? "a race by three processes has the same outcome" "$(cat err)" "$(diff race.expected race.found | head -5)"

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

rm -f mpi.store
"$mpirun" -n 3 "$mpi" study run small.study --store mpi.store >out 2>err &
launcher=$!
await test -s mpi.store-wal
rm mpi.store
wait $launcher
status=$?
says "a store that is removed ends them" 1 "mpi.store: was removed while"

run timeout 100 "$mpirun" -n 1 "$mpi" study run small.study --store alone.store
says "one process of MPI is too few" 1 "at least two are needed"
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
