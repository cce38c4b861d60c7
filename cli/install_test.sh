#!/bin/sh
# install_test.sh - what `make install` puts where, and that the tree can be moved.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

built=${G_TEST_BUILDDIR:-.}
# The make that runs this test has nothing to say to the one that installs.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES DESTDIR
# An installed program finds its own libraries.
unset HOPCAST_LIBRARIES

# has FOLDER FILE...: all of them are files there.
has () {
  folder=$1
  shift
  for file in "$@"; do
    test -f "$folder/$file" || missing="$missing $file"
  done
  if test -z "$missing"; then ok "$name"; else not_ok "$name" "missing:$missing" "$(find "$folder" | head -40)"; fi
  missing=
}
missing=

run make -C "$built" install prefix="$scratch/one" completiondir="$scratch/one/share/completions"
name="prefix given when installing"
test "$status" = 0 || not_ok "$name" "status $status" "$(tail -5 err)"
has one bin/hopcast share/man/man1/hopcast.1 share/hopcast/python/hopcast.py \
  share/hopcast/schemas/run-1.json share/hopcast/schemas/model-1.json share/completions/hopcast \
  share/doc/hopcast/handbook/tutorial.md share/doc/hopcast/handbook/report.png \
  share/doc/hopcast/examples/jacobi.c share/doc/hopcast/examples/jacobi.study \
  share/doc/hopcast/examples/study.sbatch share/doc/hopcast/examples/models/hockney.model

# Every file of the source, and the links between the pages.
(cd "$srcdir/doc" && find handbook examples -type f ! -name '.*' | sort) >wanted
(cd one/share/doc/hopcast && find handbook examples -type f | sort) >got
if cmp -s wanted got; then ok "the whole handbook"; else not_ok "the whole handbook" "$(diff wanted got)"; fi
same "every schema" "$(ls "$srcdir/doc/schemas")" "$(ls one/share/hopcast/schemas)"

run make -C "$built" install DESTDIR="$scratch/stage" prefix=/opt/hopcast
name="DESTDIR"
test "$status" = 0 || not_ok "$name" "status $status" "$(tail -5 err)"
has stage/opt/hopcast bin/hopcast share/doc/hopcast/examples/models/loggp.model
mv stage/opt/hopcast two

# records TREE: the program of this tree records a small program, by the recorder of this tree.
records () {
  for mpi in openmpi mpich; do
    library=$scratch/$1/lib/hopcast/libhopcast-record-$mpi.so
    test -e "$library" || library=$(find "$scratch/$1" -name "libhopcast-record-$mpi.so")
    if ! test -e "$library" || ! command -v "mpicc.$mpi" >/dev/null || ! command -v "mpirun.$mpi" >/dev/null; then
      skip "$1: record $mpi" "no $mpi"
      continue
    fi
    test -x "hello-$mpi" || "mpicc.$mpi" -o "hello-$mpi" hello.c
    run timeout 100 "$scratch/$1/bin/hopcast" trace record --verbose --force -o "$mpi.hct" -- \
      "mpirun.$mpi" -np 2 "./hello-$mpi"
    test "$status" = 0 && grep -qF "the recorder is $library" err && grep -q 'recorded 2 ranks' err
    verdict $? "$1: record $mpi" "status $status" "$(cat err)"
  done
}
cat >hello.c <<'END'
#include <mpi.h>

int
main (int argc, char **argv)
{
  int rank;

  MPI_Init (&argc, &argv);
  MPI_Comm_rank (MPI_COMM_WORLD, &rank);
  MPI_Bcast (&rank, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize ();
  return 0;
}
END
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_plm_rsh_agent=false
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_plm_rsh_agent
unset MALLOC_PERTURB_
# flows TREE: the program of this tree finds the library of the flow network in this tree.
flows () {
  if ! test -e "$built/libhopcast-flow.so"; then
    skip "$1: flow" "built without SimGrid"
    return
  fi
  run env LD_DEBUG=files LD_DEBUG_OUTPUT="$scratch/loaded" "$scratch/$1/bin/hopcast" \
    simulate gen:ring:ranks=8,iterations=1 --machine bgq:32 -q --network flow
  test "$status" = 0 && cat loaded.* | grep -qF "$(realpath "$scratch/$1")/lib"
  verdict $? "$1: flow" "status $status" "$(cat err)" "$(cat loaded.* | grep -F hopcast-flow)"
  rm -f loaded.*
}

records one
records two
flows one
flows two
mkdir elsewhere
mv one elsewhere/moved
records elsewhere/moved
flows elsewhere/moved
mv elsewhere/moved one

run make -C "$built" uninstall prefix="$scratch/one" completiondir="$scratch/one/share/completions"
test "$status" = 0 && test -z "$(find one -type f)"
verdict $? "uninstall leaves nothing" "status $status" "$(find one -type f)"
done_testing
