#!/bin/sh
# recorder_test.sh - records a program of ours under each MPI; the trace must
# say what the program says.
#
# SPDX-License-Identifier: Apache-2.0
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

built=${G_TEST_BUILDDIR:-.}
lines=$built/traces/recorder/recorder_lines
program=$srcdir/traces/recorder/recorder_program.c
LC_ALL=C
# 16 ranks on whatever there is, for root in a container as well.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_plm_rsh_agent=false
export LC_ALL OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_plm_rsh_agent
# Processes without a launcher each make Open MPI's folder for sessions, and fail when another
# comes first; with something in it none removes it again.
OMPI_MCA_orte_tmpdir_base=$(pwd)/sessions
export OMPI_MCA_orte_tmpdir_base
mkdir -p "sessions/ompi.$(uname -n | cut -d. -f1).$(id -u)/kept"
# The recorder is not made for programs that are sanitized.
unset MALLOC_PERTURB_

# What MPI is used, with the names of its tools.
have () {
  mpi=$1
  test -e "$built/libhopcast-record-$mpi.so" &&
    command -v "mpicc.$mpi" >/dev/null 2>&1 && command -v "mpirun.$mpi" >/dev/null 2>&1
}

# record MODE: the program's own words in MODE.want, the trace's in MODE.got.
# Of a program that was killed the folder of its ranks is the trace.
record () {
  mkdir -p "$mpi-$1"
  run timeout 120 "$hopcast" trace record --keep -o "$mpi-$1" -- \
    "mpirun.$mpi" -np 16 "./program-$mpi" "$mpi-$1" "$1"
  cat "$mpi-$1"/*.txt 2>/dev/null | sort >"$1.want"
  recorded=$mpi-$1.hct
  test -e "$recorded" || recorded=$mpi-$1.rec
  "$lines" "$recorded" 2>lines.err | sort >"$1.got"
}

# same MODE NAME: both agree, and there is something to agree on.
same () {
  if test "$status" != 0; then
    not_ok "$2" "exit status $status" "$(tail -5 err)"
  elif test -s "$1.want" && cmp -s "$1.want" "$1.got"; then
    ok "$2 ($(wc -l <"$1.want") lines)"
  else
    not_ok "$2" "$(diff "$1.want" "$1.got" | head -20)" "$(tail -5 lines.err)"
  fi
}

# The recording of killed ranks can be read, and has all that they sent: they
# went on for longer than a block waits to be written.
check_killed () {
  run "$hopcast" trace info --format json "$mpi-killed.rec"
  if test "$status" = 0 && grep -q 'no MPI_Finalize' out &&
    grep '^send' killed.got | cmp -s - killed.want; then
    ok "$mpi: what killed ranks had written can be read"
  else
    not_ok "$mpi: what killed ranks had written can be read" "$(cat out err)" \
      "$(diff killed.want killed.got | head)"
  fi
}

# The first half of the file of one rank, as if the disk had been full.
check_cut () {
  cp -r "$mpi-threads.rec" cut.rec
  head -c $(($(wc -c <cut.rec/rank-3.rec) / 2)) "$mpi-threads.rec/rank-3.rec" >cut.rec/rank-3.rec
  run "$hopcast" trace info cut.rec
  if test "$status" = 0 && grep -q 'no MPI_Finalize' out; then
    ok "$mpi: a file that was cut is noticed"
  else
    not_ok "$mpi: a file that was cut is noticed" "$(cat out err)"
  fi
  rm -rf cut.rec
}

check_again () {
  run "$hopcast" trace record -o "$mpi-all" -- "mpirun.$mpi" -np 1 true
  if test "$status" = 1 && grep -q -e '--force' err; then
    ok "$mpi: a recording is not replaced without being asked"
  else
    not_ok "$mpi: a recording is not replaced without being asked" "$(cat err)"
  fi
}

# What --force does not replace it leaves as it is.
check_foreign () {
  rm -rf foreign.rec
  mkdir foreign.rec
  for i in 0 1 2 3 4 5 6 7; do echo $i >foreign.rec/rank-$i.rec; done
  echo mine >foreign.rec/notes
  run "$hopcast" trace record --force -o foreign -- "mpirun.$mpi" -np 1 true
  if test "$status" = 1 && grep -q notes err && test "$(ls foreign.rec | wc -l)" = 9; then
    ok "$mpi: a folder with more than a recording stays whole"
  else
    not_ok "$mpi: a folder with more than a recording stays whole" "$(cat err)" \
      "$(ls foreign.rec)"
  fi
}

# Neither the trace nor the folder is written through a link, which others may have made.
check_links () {
  mkdir target
  echo mine >target/rank-0.rec
  ln -s target link.rec
  run "$hopcast" trace record --force -o link -- "mpirun.$mpi" -np 1 "./program-$mpi" . nothing
  if test "$status" = 1 && grep -q 'link.rec: is a symbolic link' err && grep -q mine target/rank-0.rec; then
    ok "$mpi: --force does not empty the folder that a link names"
  else
    not_ok "$mpi: --force does not empty the folder that a link names" "$status" "$(cat err)"
  fi
  rm link.rec
  ln -s target/rank-0.rec link.hct
  run "$hopcast" trace record --force -o link -- "mpirun.$mpi" -np 1 "./program-$mpi" . nothing
  if test "$status" = 0 && grep -q mine target/rank-0.rec && "$hopcast" trace info link.hct >info 2>&1 &&
    ! test -L link.hct; then
    ok "$mpi: --force replaces a link"
  else
    not_ok "$mpi: --force replaces a link" "$status" "$(cat err info)"
  fi
  rm -rf target link.hct
}

# The calls of the threads are in an order in which one thread could make them.
check_order () {
  run timeout 60 "$hopcast" simulate "$mpi-threads.rec" --machine torus:4x4
  if test "$status" = 0; then
    ok "$mpi: what threads did can be replayed by one"
  else
    not_ok "$mpi: what threads did can be replayed by one" "$(tail -5 err)"
  fi
}

# Rank 0 computes for 600 ms, the others for 200, and then they wait 400 in the
# barrier; a busy machine adds to both.
check_times () {
  mkdir -p "$mpi-times"
  run timeout 60 "$hopcast" trace record --force -o "$mpi-times" -- \
    "mpirun.$mpi" -np 8 "./program-$mpi" "$mpi-times" times
  "$lines" --times "$mpi-times.hct" >times.got 2>lines.err
  if awk '
    $2 == 0 && $3 >= 600 { first++ }
    $2 > 0 && $3 >= 200 && $3 < 600 && $4 > 100 { rest++ }
    $5 !~ /^program-[a-z]*\+0x[0-9a-f]+$/ { bad++ }
    END { exit !(first == 1 && rest == 7 && !bad) }' times.got; then
    ok "$mpi: times of computing and of calls, and where the calls were"
  else
    not_ok "$mpi: times of computing and of calls, and where the calls were" "$(cat times.got)" \
      "$(tail -5 lines.err)"
  fi
}

# Each rank of 4 sends 50 doubles to the next, which takes them from anyone.
check_fortran () {
  rm -f fortran.hct
  case $binding in
  mpi) types="-DREQUEST=integer -DCOMM=integer" ;;
  mpi_f08) types="-DREQUEST=type(MPI_Request) -DCOMM=type(MPI_Comm)" ;;
  esac
  if ! command -v gfortran >/dev/null 2>&1 ||
    ! "mpif90.$mpi" -cpp -ffree-line-length-none "-DBINDING=$binding" $types -o fortran \
      "$srcdir/traces/recorder/recorder_program.f90" >compile.log 2>&1; then
    skip "$mpi: Fortran, use $binding" "no gfortran that can"
    return
  fi
  run timeout 60 "$hopcast" trace record -o fortran -- "mpirun.$mpi" -np 4 ./fortran
  for rank in 0 1 2 3; do
    echo "call $rank allreduce 1 80 0"
    echo "from $rank $(((rank + 3) % 4)) 1"
    echo "send $rank $(((rank + 1) % 4)) 1 400"
  done | sort >fortran.want
  "$lines" fortran.hct 2>lines.err | sort >fortran.got
  same fortran "$mpi: Fortran, use $binding"
}

# foreign LAUNCHER LINKED WORDS: three processes, and MPI connects none of them with another.
foreign () {
  run timeout 60 "$hopcast" trace record -o wrong -- "mpirun.$1" -np 3 "./program-$2" . nothing
  if test "$status" = 1 && grep -q '3 processes are each rank 0 of 1' err && grep -q "$3" err &&
    grep -q "mpirun.$2" err && ! test -e wrong.hct && ! test -e wrong.rec; then
    ok "$2: the launcher of $1 is told to be the wrong one"
  else
    not_ok "$2: the launcher of $1 is told to be the wrong one" "$status" "$(cat err)" "$(ls)"
  fi
  rm -rf wrong.hct wrong.rec
}

# A program of one rank is no fault, whoever starts it.
check_single () {
  run timeout 60 "$hopcast" trace record -o single -- "mpirun.$1" -np 1 "./program-$mpi" . nothing
  if test "$status" = 0 && grep -q 'recorded 1 ranks' err; then
    ok "$mpi: one rank of the launcher of $1"
  else
    not_ok "$mpi: one rank of the launcher of $1" "$status" "$(cat err)"
  fi
  rm -rf single.hct single.rec
}

# two NAME COMMAND WORDS: a command with two programs is refused, and the first one stays.
two () {
  run timeout 60 "$hopcast" trace record --mpi "$mpi" -o two -- sh -c "$2"
  if test "$status" = 1 && grep -q "$3" err && grep -q 'one by one' err && ! test -e two.hct &&
    "$hopcast" trace info two.rec >info 2>&1; then
    ok "$mpi: $1"
  else
    not_ok "$mpi: $1" "$status" "$(cat err info)"
  fi
  rm -rf two.rec two.hct
}

for name in openmpi mpich; do
  if ! have $name; then
    skip "$name" "no $name here"
    continue
  fi
  if ! "mpicc.$mpi" -O1 -o "program-$mpi" "$program" -lpthread >compile.log 2>&1; then
    not_ok "$mpi: compile the program" "$(head -20 compile.log)"
    continue
  fi
  record all
  same all "$mpi: channels, collectives and accesses are what the program says"
  check_again
  check_foreign
  check_links
  record threads
  if test "$status" = 77; then
    skip "$mpi: four threads that call at once" "this MPI has no such threads"
  else
    same threads "$mpi: four threads that call at once"
    check_order
    check_cut
  fi
  check_times
  for binding in mpi mpi_f08; do
    check_fortran
  done
  record killed
  check_killed
  check_single "$mpi"
  two "a script with two programs of one rank" "./program-$mpi . nothing; ./program-$mpi . nothing" \
    '2 processes are each rank 0 of 1'
  two "a script with two programs of two ranks" "for i in 1 2; do
    mpirun.$mpi -np 2 ./program-$mpi . nothing; done" 'more than one MPI program.* 2 more processes'
done

if test -e program-openmpi && test -e program-mpich; then
  foreign openmpi mpich 'the mpirun of Open MPI started them.* linked with MPICH'
  foreign mpich openmpi 'the mpiexec of MPICH .* started them.* linked with Open MPI'
  mpi=mpich
  check_single openmpi
else
  skip "a program under the launcher of another MPI" "not both MPIs are here"
fi

run "$hopcast" trace record -o nothing -- sh -c 'exit 3'
if test "$status" = 1 && grep -q 'linked with Open MPI or MPICH' err && ! test -e nothing.rec; then
  ok "a command without MPI is told from one with"
else
  not_ok "a command without MPI is told from one with" "$status" "$(cat err)"
fi

if have openmpi || have mpich; then
  run "$hopcast" trace record --mpi "$mpi" -o nothing -- sh -c 'exit 3'
  if test "$status" = 3 && grep -q 'before anything was recorded' err && ! test -e nothing.rec; then
    ok "the exit status of the command is passed on"
  else
    not_ok "the exit status of the command is passed on" "$status" "$(cat err)"
  fi
  run "$hopcast" trace record --mpi "$mpi" -o nothing -- true
  if test "$status" = 1 && grep -q 'nothing was recorded' err && ! test -e nothing.rec; then
    ok "a command that does no MPI leaves nothing"
  else
    not_ok "a command that does no MPI leaves nothing" "$status" "$(cat err)"
  fi
fi

done_testing
