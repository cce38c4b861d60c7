#!/bin/sh
# tutorial_test.sh - the five commands of the tutorial, and what it says they print.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

tutorial=$srcdir/doc/handbook/tutorial.md
# More ranks than cores, for root in a container as well.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_plm_rsh_agent=false
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_plm_rsh_agent
# The recorder is not made for programs that are sanitized.
unset MALLOC_PERTURB_

# step NAME COMMAND...: it succeeds, its command line is in the tutorial.
step () {
  name=$1
  shift
  run timeout 120 "$@"
  if test "$status" != 0; then
    not_ok "$name" "status $status" "$(tail -5 err)"
  elif ! sed 's/ \\$//' "$tutorial" | grep -qF -e "$(printf '%s ' "$@" | sed 's/^.*\/hopcast/$ hopcast/; s/ $//; s/mpirun\.openmpi/mpirun/')"; then
    not_ok "$name" "not in the tutorial: $*"
  else
    ok "$name"
  fi
}

# told NAME FILE: all lines of the file are in the tutorial.
told () {
  test -s "$2" && ! grep -vxF -f "$tutorial" "$2" >untold
  verdict $? "$1" "$(cat untold)"
}

if ! test -e "${G_TEST_BUILDDIR:-.}/libhopcast-record-openmpi.so" ||
    ! command -v mpicc.openmpi >/dev/null || ! command -v mpirun.openmpi >/dev/null; then
  skip "tutorial" "no Open MPI"
  done_testing
  exit 0
fi
if ! "$hopcast" --help | grep -q '^  study run '; then
  skip "tutorial" "no studies"
  done_testing
  exit 0
fi

cp "$srcdir/doc/examples/jacobi.c" "$srcdir/doc/examples/jacobi.study" .
chmod u+w jacobi.*
run mpicc.openmpi -O2 -o jacobi jacobi.c
test "$status" = 0 && ok "compile" || not_ok "compile" "$(cat err)"
step "record" "$hopcast" trace record -o jacobi -- mpirun.openmpi --oversubscribe -np 64 ./jacobi
told "what the program says" out
grep -v '^#' jacobi.study | cat -s | sed '1{/^$/d}' >without
told "the study file" without
step "study" "$hopcast" study run jacobi.study
grep -v "% done" err >said
told "what the study says" said
step "rank" "$hopcast" rank jacobi.store -o best.map
told "the ranking" out
head -6 best.map >head.map
told "the map" head.map
step "report" "$hopcast" report jacobi.store -o jacobi.html
test -s jacobi.html && ok "a page" || not_ok "a page"
step "convert" "$hopcast" map convert best.map --machine systemg:8 --ranks-per-node 8 --ranks 64 \
  --to rankfile -o best.rankfile
head -6 best.rankfile >head.rankfile
told "the rankfile" head.rankfile

# What was ranked is what the map file gives.
run "$hopcast" simulate jacobi.hct --machine systemg:8 --ranks-per-node 8 --compute-scale 0 \
  --mapping best.map --timeline best.json
test "$status" = 0 && grep -q 'end of last rank *0\.002977' out && test -s best.json
verdict $? "the map file is the best mapping" "$(cat out err)"
done_testing
