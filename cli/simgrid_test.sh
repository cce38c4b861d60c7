#!/bin/sh
# simgrid_test.sh - SimGrid is loaded by the flow network, and by nothing else.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

built=${G_TEST_BUILDDIR:-.}
library=libhopcast-flow.so
unset HOPCAST_LIBRARIES

# loads COMMAND...: the dynamic linker's words about libraries go to `loaded`.
loads () {
  LD_DEBUG=files LD_DEBUG_OUTPUT="$scratch/loaded" "$@" >out 2>err
  status=$?
  cat loaded.* >loaded && rm loaded.*
}

flow="simulate gen:ring:ranks=8,iterations=1 --machine bgq:32 -q --network flow"
loads "$hopcast" --help
test "$status" = 0 && grep -q 'libglib' loaded && ! grep -q -e libsimgrid -e "$library" loaded
verdict $? "help loads no SimGrid" "status $status" "$(grep -e simgrid -e "$library" loaded | head -3)"
loads "$hopcast" simulate gen:ring:ranks=8,iterations=1 --machine bgq:32 -q
test "$status" = 0 && grep -q 'libglib' loaded && ! grep -q -e libsimgrid -e "$library" loaded
verdict $? "nor do packets" "status $status" "$(grep -e simgrid -e "$library" loaded | head -3)"

if ! test -e "$built/$library"; then
  skip "flow" "built without SimGrid"
  done_testing
  exit
fi
# shellcheck disable=SC2086  # $flow is a command line
loads "$hopcast" $flow
test "$status" = 0 && grep -q libsimgrid loaded
verdict $? "flow loads it" "status $status" "$(cat err)"

# refuses NAME PROGRAM WORD...: the flow network ends with one line that has all these words.
refuses () {
  name=$1 program=$2
  shift 2
  # shellcheck disable=SC2086  # $flow is a command line
  run "$program" $flow
  missing=
  for word in "$@"; do
    grep -qF "$word" err || missing="$missing $word"
  done
  test "$status" = 1 && test "$(wc -l <err)" = 1 && test -z "$missing"
  verdict $? "$name" "status $status, missing:$missing" "$(cat err)"
}

# A program without its library, and one whose SimGrid is not there.
mkdir alone broken
cp "$hopcast" alone/
refuses "no library of ours" alone/hopcast "$library" HOPCAST_LIBRARIES
# shellcheck disable=SC2086  # $flow is a command line
run env HOPCAST_LIBRARIES="$(realpath "$built")" alone/hopcast $flow
test "$status" = 0
verdict $? "HOPCAST_LIBRARIES names its folder" "status $status" "$(cat err)"
cp "$hopcast" broken/
sed 's/libsimgrid\.so/libsimgone.so/' "$built/$library" >broken/$library
refuses "no SimGrid" broken/hopcast libsimgone.so "Debian: libsimgrid"
done_testing
