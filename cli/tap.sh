# tap.sh - TAP for the shell tests of the program; read with `.`.
#
# SPDX-License-Identifier: Apache-2.0
#
# Sets $hopcast (the program under test), $srcdir (the source tree) and goes
# to an empty folder, which is removed at the end.

srcdir=${G_TEST_SRCDIR:-$(pwd)}
hopcast=${G_TEST_BUILDDIR:-$(pwd)}/hopcast
unset NO_COLOR
# Without /sys, as in some containers, hwloc and UCX complain in the output of every MPI program.
if ! test -d /sys/class; then
  HWLOC_HIDE_ERRORS=2 UCX_LOG_LEVEL=fatal
  export HWLOC_HIDE_ERRORS UCX_LOG_LEVEL
fi

if ! test -x "$hopcast"; then
  echo "Bail out! no program at $hopcast"
  exit 99
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/hopcast-test-XXXXXX") || exit 99
trap 'rm -rf "$scratch"' EXIT
trap 'exit 99' HUP INT TERM
cd "$scratch" || exit 99
tests=0

# ok NAME: the last command was right; not_ok NAME REASON: it was not.
ok () {
  tests=$((tests + 1))
  echo "ok $tests - $1"
}

not_ok () {
  tests=$((tests + 1))
  echo "not ok $tests - $1"
  shift
  printf '%s\n' "$@" | sed 's/^/# /'
}

skip () {
  tests=$((tests + 1))
  echo "ok $tests - $1 # SKIP $2"
}

done_testing () {
  echo "1..$tests"
}

# test_data NAME: the path of a file or folder of the test data, from validation/data of the tree
# or else from ../shared/data beside it; where neither has it, a path that does not exist.
test_data () {
  if test -e "$srcdir/validation/data/$1"; then
    printf '%s\n' "$srcdir/validation/data/$1"
  else
    printf '%s\n' "$srcdir/../shared/data/$1"
  fi
}

# run COMMAND...: leaves its exit status in $status, what it prints in the
# files out and err.
run () {
  "$@" >out 2>err </dev/null
  status=$?
}
