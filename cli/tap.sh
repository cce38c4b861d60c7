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

# ok NAME and not_ok NAME REASON...: a result.
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

# verdict $? NAME REASON...: a result by an exit status.
verdict () {
  if test "$1" = 0; then
    ok "$2"
  else
    shift
    not_ok "$@"
  fi
}

# same NAME EXPECTED FOUND: two texts that are not empty.
same () {
  test -n "$2" && test "$2" = "$3"
  verdict $? "$1" "'$2' is not '$3'"
}

# holds NAME COMMAND...: the command succeeds.
holds () {
  name=$1
  shift
  "$@"
  verdict $? "$name" "$*" "status $status" "$(head -20 out err)"
}

# has_lines NAME FILE LINE...: the file has these lines.
has_lines () {
  name=$1 file=$2
  shift 2
  for line; do
    grep -qxF -e "$line" "$file" || { not_ok "$name" "no line: $line" "$(cat "$file")"; return; }
  done
  ok "$name"
}

# column NAME FILE: the cells of that column of a CSV file.
column () {
  awk -F, -v name="$1" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
    { print $c }' "$2"
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

# Whether the program is built with sanitizers, which make it several times slower.
is_sanitized () {
  grep -q __asan_init "$hopcast"
}

# run COMMAND...: leaves its exit status in $status, what it prints in the
# files out and err.
run () {
  "$@" >out 2>err </dev/null
  status=$?
}

# succeeds NAME COMMAND...
succeeds () {
  name=$1
  shift
  run "$@"
  verdict "$status" "$name" "status $status" "$(cat err)"
}

# refused NAME STATUS TEXT ARGUMENT...: hopcast with these arguments exits with STATUS, prints
# nothing but one line on standard error that contains TEXT, and makes no file.  With $answers it
# may print on standard output.
answers=
refused () {
  name=$1 wanted=$2 text=$3
  shift 3
  before=$(ls -A; echo err; echo out)
  run "$hopcast" "$@"
  if test "$status" != "$wanted"; then
    not_ok "$name" "status $status instead of $wanted" "$(cat err)"
  elif test "$(wc -l <err)" != 1 || ! grep -q '^hopcast: ' err; then
    not_ok "$name" "not one line of the program on standard error" "$(cat err)"
  elif ! grep -qF -e "$text" err; then
    not_ok "$name" "the line does not say '$text'" "$(cat err)"
  elif test -s out && test -z "$answers"; then
    not_ok "$name" "something on standard output" "$(head -3 out)"
  elif test "$(echo "$before" | sort -u)" != "$(ls -A | sort)"; then
    not_ok "$name" "files changed" "$before" "---" "$(ls -A)"
  else
    ok "$name"
  fi
}

# json NAME FILE: the value of that member, a number or a plain text.
json () {
  sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*\$/\1/p" "$2"
}

# built_with NAME: the library of this name in `hopcast --version` is built in.
built_with () {
  "$hopcast" --version | grep -q "^ *$1 *with\$"
}

# main_mpi: the MPI of hopcast-mpi and hopcast-pingpong, as the ending of its mpirun's name.
main_mpi () {
  case $("$hopcast" --version | sed -n 's/^ *mpi *//p') in
  MPICH*) echo mpich ;;
  *) echo openmpi ;;
  esac
}

# unless_sanitized NAME: skips the rest where the program is built with sanitizers, for tests of what it prints
# or of files beside it: other tests run the same code there, and the release build runs these.
unless_sanitized () {
  grep -q -e --enable-sanitizers "${G_TEST_BUILDDIR:-.}/.configured" 2>/dev/null || return 0
  skip "$1" "built with sanitizers"
  done_testing
  exit 0
}
