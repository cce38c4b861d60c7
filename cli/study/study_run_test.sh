#!/bin/sh
# study_run_test.sh - studies that are killed, split, changed and starved end the same.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh and study_testing.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
. "$srcdir/cli/study/study_testing.sh"

# Nearly a tenth of a second each, for what has to be hit while it runs.
sed -e 's/iterations=1/iterations=40/' -e 's/512;16384/512/' small.study >long.study
n_long=36

# A random number of milliseconds below $1, as seconds.
moment () {
  awk -v below="$1" -v seed="$(od -An -N4 -tu4 /dev/urandom)" \
    'BEGIN { srand (seed); printf "%.3f\n", rand () * below / 1000 }'
}

run "$hopcast" study run small.study --store whole.store
says "a study is made" 0 "$n_runs runs done, 0 failed, 0 were there: whole.store"
table whole.store >undisturbed.csv
test "$(wc -l <undisturbed.csv)" = $((n_runs + 1))
verdict $? "a row for each run" "$(head -3 undisturbed.csv)"

run "$hopcast" study run small.study --store whole.store
says "what is done is not made again" 0 " 0 runs done, 0 failed, $n_runs were there"
same "and stays as it was" whole.store

run "$hopcast" study run small.study --store one.store --threads 1
same "one worker finds the same" one.store

# --- Killed ---

i=0
while test $i -lt 10; do
  "$hopcast" study run small.study --store killed.store >/dev/null 2>&1 &
  master=$!
  sleep "$(moment 400)"
  kill -9 $master 2>/dev/null
  wait $master 2>/dev/null
  i=$((i + 1))
done
run "$hopcast" study run small.study --store killed.store
same "killed ten times, it finds the same" killed.store

for signal in TERM INT HUP; do
  case $signal in TERM) number=15 ;; INT) number=2 ;; HUP) number=1 ;; esac
  rm -f long.store
  # A shell starts what runs behind it with SIGINT ignored, and whoever started the
  # tests may have ignored SIGHUP: env puts that right.
  env --default-signal=INT,HUP "$hopcast" study run long.study --store long.store >out 2>err &
  master=$!
  await pgrep -P $master
  sleep 0.2
  workers=$(pgrep -P $master)
  kill -$signal $master
  wait $master
  status=$?
  says "SIG$signal ends it in order" $((128 + number)) "the same command continues"
  # shellcheck disable=SC2086  # a list
  test -n "$workers" && ! kill -0 $workers 2>/dev/null
  verdict $? "SIG$signal leaves no workers" "$workers"
done

# is_at_work PROCESS: it has used 50 ms of a processor, which a worker does in its runs alone.
is_at_work () {
  test "$(awk '{ print $14 }' "/proc/$1/stat")" -ge 5
}

# A worker that dies in a run: the run has failed, the others go on.  The job of a worker that has not begun
# it goes to another one, so the worker must be at work, which on a busy machine takes a while.
rm -f long.store
"$hopcast" study run long.study --store long.store >out 2>err &
master=$!
await pgrep -P $master
victim=$(pgrep -P $master | head -1)
await is_at_work "$victim"
kill -9 "$victim"
wait $master
status=$?
says "a worker's death is its run's failure" 3 "worker ended by signal 9"
grep -q "$((n_long - 1)) runs done, 1 failed" err
verdict $? "the others are made" "$(cat err)"
run "$hopcast" study run long.study --store long.store
says "a failed run stays failed" 3 " 0 runs done, 0 failed, $n_long were there"
run "$hopcast" study run long.study --store long.store --retry-failed
says "until it is tried again" 0 " 1 run done, 0 failed, $((n_long - 1)) were there"

# --- Moved ---

# stored: whether a run is in the store.
stored () {
  "$hopcast" study export long.store | grep -q ,done,
}

# moved NAME COMMAND...: what becomes of the store by the command while runs are made.
moved () {
  name=$1
  shift
  rm -f long.store moved.store
  "$hopcast" study run long.study --store long.store >out 2>err &
  master=$!
  await stored
  "$@"
  wait $master
  status=$?
  says "$name while runs are made" 1 "long.store: was $name"
  if grep -q "runs done" err; then
    not_ok "$name: no run is said to be done" "$(cat err)"
  else
    ok "$name: no run is said to be done"
  fi
}
moved removed rm long.store
moved renamed mv long.store moved.store
says "where it is now" 1 "renamed to .*/moved.store while"
left=$(ls -- long.store* 2>/dev/null)
run "$hopcast" study run long.study --store moved.store
if test "$status" = 0 && test -z "$left" && ! grep -q ", 0 were there" err; then
  ok "the renamed store has what was stored, and goes on"
else
  not_ok "the renamed store goes on" "$left" "$(cat err)"
fi

# --- Split ---

for shard in 1 2 3 4; do
  "$hopcast" study run small.study --shard $shard/4 --threads 1 2>>err || echo "shard $shard" >>err
done
run "$hopcast" study merge merged.store small.1of4.store small.2of4.store small.3of4.store \
  small.4of4.store
same "four shards find the same" merged.store

# --- Failing ---

sed -e 's/halo2d;/halo2d;nopattern;/' small.study >failing.study
run "$hopcast" study run failing.study
says "runs that cannot be made fail by themselves" 3 "$n_runs runs done, 24 failed"
says "the first reason is told" 3 "nopattern"

# TABCDE is for five dimensions, nosuch.map for none.
cat >unfit.study <<'END'
[traces]
trace = gen:halo2d:ranks=64,bytes=512,iterations=1
[machines]
machine = bgq:32;torus:8x8
ranks-per-node = 2
[runs]
network = load
[mappings]
mapping = default;TABCDE
END
run "$hopcast" study run unfit.study
says "what does not fit is told and fails" 3 "fail, as mappings do not fit: 1 run$"
says "each mapping and machine" 3 "^  TABCDE on torus:8x8: "
echo "skip-unfit = true" >>unfit.study
run "$hopcast" study run unfit.study --store fitting.store
says "unless it is left out" 0 "3 runs done, 0 failed"
run "$hopcast" study run unfit.study --store fitting.store --dry-run
grep -q "^runs     3$" out && grep -q "left out, as mappings do not fit: 1 run$" out &&
grep -q "^  TABCDE on torus:8x8: " out
verdict $? "the plan says so" "$(cat out err)"
sed -e "s/default;TABCDE/default;nosuch.map/" unfit.study >nosuch.study
run "$hopcast" study run nosuch.study --store fitting.store
says "what fits nowhere is not left out" 3 "nosuch.map on bgq:32"

# The worker stands still while the file changes, and has runs of it before it.
for name in places:TABCDE new:EDCBAT; do
  "$hopcast" map generate --machine bgq:32 --ranks-per-node 2 --ranks 64 --mapping "${name#*:}" \
    >"${name%:*}.map"
done
sed -e 's/^mapping = .*/mapping = ABCDET;TEDCBA;DCBAET;places.map/' long.study >changing.study
"$hopcast" study run changing.study --threads 1 >out 2>err &
master=$!
await pgrep -P $master
worker=$(pgrep -P $master)
kill -STOP "$worker"
mv new.map places.map
kill -CONT "$worker"
wait $master
status=$?
says "a map file that changes ends its runs" 3 "has changed since the study began"
run "$hopcast" study run changing.study
says "begun again, it is another one" 0 "0 failed"
table changing.store >changed.csv
rm -f changing.store
run "$hopcast" study run changing.study
table changing.store >anew.csv
test -s anew.csv && cmp -s changed.csv anew.csv
verdict $? "and all is as if it had never been the first" "$(cat err)"

# --- The store ---

"$hopcast" study run long.study --store busy.store >out.first 2>err.first &
master=$!
await pgrep -P $master
run "$hopcast" study run long.study --store busy.store
says "two at once are one too many" 1 "busy.store.*only one"
kill $master
wait $master

# A file may have 60 or 120 KiB, as the shell counts in blocks of 512 or 1,024 bytes: a disk that is full.
# The whole store has more, however many rows are written together.
(ulimit -f 120 && exec "$hopcast" study run small.study --store full.store) >out 2>err
status=$?
says "a full disk is an error" 1 "full.store"
run "$hopcast" study run small.study --store full.store
same "with room it goes on" full.store

# --- Races ---

run "$hopcast" study run race.study --race best --store race.store
says "a race is run" 0 "runs done, 0 failed, 0 were there: race.store"
race race.store >race.expected
n_best=$(grep -c '"outcome": "best"' race.expected)
test "$n_best" = 2
verdict $? "each case has a best mapping" "$n_best" "$(head -40 race.expected)"
run "$hopcast" study status race.store
grep -q '^races' out && grep -q 'those that the races left out' out
verdict $? "the status has the races" "$(cat out err)"
run "$hopcast" rank race.store
grep -q '^left out by races: [0-9]* runs' out
verdict $? "the ranking says what was left out" "$(tail -3 out)"
i=0
while test $i -lt 6; do
  "$hopcast" study run race.study --race best --store killed-race.store >/dev/null 2>&1 &
  master=$!
  sleep "$(moment 400)"
  kill -9 $master 2>/dev/null
  wait $master 2>/dev/null
  i=$((i + 1))
done
run "$hopcast" study run race.study --race best --store killed-race.store --threads 1
race killed-race.store >race.found
cmp -s race.found race.expected
verdict $? "a race that was killed six times ends the same" "$(diff race.expected race.found | head -5)"
run "$hopcast" study run race.study --race top:3 --store race.store
race race.store >race.found
test "$(grep -c '"outcome": "best"' race.found)" = 6
verdict $? "the best three of each" "$(cat err)"
run "$hopcast" study run race.study --store race.store
says "without a race the missing runs are made" 0 "runs done, 0 failed"
run "$hopcast" study status race.store
grep -q ' 0 missing' out && ! grep -q '^races' out
verdict $? "and nothing is said of races" "$(cat out err)"
run "$hopcast" study run race.study --race best --shard 1/2
says "a race cannot be in shards" 2 "a race needs all runs in one store"

# --- Nothing made ---

run "$hopcast" study run small.study --dry-run --store whole.store
test "$status" = 0 && grep -q "^done     $n_runs$" out && grep -q "^to do    0$" out
verdict $? "a dry run of what is done" "$(cat out err)"
run "$hopcast" study run small.study --dry-run --store none.store
test "$status" = 0 && grep -q "^to do    $n_runs$" out && grep -q "^time     .* s with" out &&
  ! test -e none.store
verdict $? "a dry run leaves nothing" "$(cat out err)"
for shard in 0/4 5/4 1/0 x 1 1/2/3 -1/4; do
  run "$hopcast" study run small.study --shard "$shard"
  test "$status" = 2 || not_ok "--shard $shard" "exit status $status"
done
ok "shards that cannot be are refused"
done_testing
