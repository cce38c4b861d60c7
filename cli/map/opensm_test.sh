#!/bin/sh
# opensm_test.sh - running OpenSM: nothing is left behind, whatever goes wrong.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

PATH=$PATH:/usr/sbin
if ! command -v opensm >/dev/null || ! command -v ibsim >/dev/null; then
  skip "all" "opensm and ibsim are not installed"
  done_testing
  exit 0
fi
mkdir own
TMPDIR=$scratch/own
export TMPDIR

# Processes that work in a folder of ours: OpenSM and ibsim do.
left_over () {
  ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -F -e "-> $scratch/own/"
}

# gone NAME: within two seconds none is left.
gone () {
  for try in 1 2 3 4 5 6 7 8 9 10; do
    test -z "$(left_over)" && break
    sleep 0.2
  done
  test -z "$(left_over)"
  verdict $? "$1" "left after $try looks: $(left_over)"
}

# refused NAME TEXT SPEC: one line that says TEXT, in less than 30 seconds.
refused () {
  started=$(date +%s)
  run "$hopcast" machine check "$3"
  if test "$status" != 1 || test "$(wc -l <err)" != 1 || ! grep -qF -e "$2" err; then
    not_ok "$1" "status $status" "$(cat err)"
  elif test $(($(date +%s) - started)) -gt 30; then
    not_ok "$1" "took more than 30 s"
  else
    ok "$1"
  fi
}

# A large tree, so that there is time to end the program before OpenSM has.
for signal in INT TERM KILL; do
  # Programs that a script starts in the background do not heed INT by default.
  env --default-signal=INT "$hopcast" machine check fattree:100x20:10,routes=opensm:dfsssp >/dev/null 2>&1 &
  program=$!
  try=0
  while test "$(left_over | wc -l)" -lt 2 && test $try -lt 100; do
    sleep 0.1
    try=$((try + 1))
  done
  if test "$(left_over | wc -l)" -lt 2; then
    not_ok "OpenSM runs before $signal" "after $try looks"
  fi
  kill -$signal $program
  wait $program 2>/dev/null
  gone "nothing runs after $signal"
  try=0
  while test -n "$(ls -A own)" && test $try -lt 100; do
    sleep 0.1
    try=$((try + 1))
  done
  test -z "$(ls -A own)"
  verdict $? "no file is left after $signal" "$(ls own)"
done

run "$hopcast" machine check fattree:4x4:2,routes=opensm:ftree
gone "nothing runs after success"
test -z "$(ls -A own)"
verdict $? "no file is left after success" "$(ls own)"

# Two at once do not meet.
"$hopcast" machine check fattree:6x6:3,routes=opensm:dfsssp --format json >one 2>&1 &
first=$!
"$hopcast" machine check fattree:6x6:3,routes=opensm:dfsssp --format json >two 2>&1
wait $first
grep -q '"unreachable": *0' one && cmp -s one two
verdict $? "two at once" "$(cat one)" "$(cat two)"

refused "an engine that OpenSM does not have" "no such routing engine" \
  fattree:4x4:2,routes=opensm:unheard
refused "an engine that refuses the fabric" "OpenSM's engine refuses" \
  fattree:1x4:1,routes=opensm:ftree

# Programs that are not there, or are something else.
mkdir bin
run env PATH="$scratch/bin" "$hopcast" machine check fattree:4x4:2,routes=opensm:minhop
test "$status" = 1 && grep -q 'ibsim cannot be started' err
verdict $? "no ibsim" "$(cat err)"
ln -s "$(command -v ibsim)" bin/ibsim
printf '#!/nowhere/at/all\n' >bin/opensm
chmod +x bin/opensm
run env PATH="$scratch/bin" "$hopcast" machine check fattree:4x4:2,routes=opensm:minhop
test "$status" = 1 && grep -q 'opensm cannot be started' err
verdict $? "no OpenSM" "$(cat err)"
printf '#!/bin/sh\nexit 1\n' >bin/opensm
run env PATH="$scratch/bin" "$hopcast" machine check fattree:4x4:2,routes=opensm:minhop
test "$status" = 1 && grep -q 'ended without tables' err
verdict $? "an OpenSM that fails" "$(cat err)"
gone "nothing runs after failures"

TMPDIR=/proc/self
refused "no place for temporary files" "routes=opensm:minhop: /proc/self: " \
  fattree:4x4:2,routes=opensm:minhop

done_testing
