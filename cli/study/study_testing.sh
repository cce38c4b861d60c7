# study_testing.sh - a small study and what is asked of its store; read with `.` after tap.sh.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC2154  # set by tap.sh

# 12 mappings x 3 patterns x 2 sizes, a few hundredths of a second each.
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
# shellcheck disable=SC2034  # for the tests
n_runs=72

# A race of long messages, with shrunk runs before it, and one of short ones.
cat >race.study <<'END'
[traces]
trace = gen:halo2d:ranks=32,bytes=16K,iterations=1;gen:halo2d:ranks=32,bytes=512,iterations=1
[machines]
machine = bgq:32
[mappings]
family = sc13-shared
[runs]
replicas = 4
jitter = 1us
END

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

# race STORE: what became of the mappings, and the runs that there are, in the order of the study.
race () {
  "$hopcast" study status "$1" --format json | sed -n '/"races"/,/^  \]/p'
  table "$1" | cut -d, -f1-20
}

# same NAME STORE: the table is that of the undisturbed run.
same () {
  table "$2" >table.csv 2>err
  test -s table.csv && cmp -s table.csv undisturbed.csv
  verdict $? "$1" "$(cat err)" "$(diff table.csv undisturbed.csv | head -5)"
}

# says NAME STATUS PATTERN: how the last `run` ended.
says () {
  test "$status" = "$2" && grep -q "$3" err
  verdict $? "$1" "exit status $status, not $2; or not /$3/ in:" "$(cat err)"
}
