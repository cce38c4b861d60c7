#!/bin/sh
# checkpoint_test.sh - `simulate --checkpoint` and --resume: runs that are killed end as if nothing had been.
#
# SPDX-License-Identifier: Apache-2.0
#
# CHECKPOINT_KILLS is how often a run is killed with SIGKILL at a random moment; 100 take some minutes.
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
kills=${CHECKPOINT_KILLS:-10}

# simulate NAME ARGUMENT...: in the background, as $pid; with all outputs, under NAME.
simulate () {
  out=$1
  shift
  "$hopcast" simulate "$@" -q --format json --links "$out.links" --ranks "$out.ranks" \
    --timeline "$out.paje" --timeline-limit 20000 >"$out.json" 2>"$out.err" &
  pid=$!
}

# is_the_same WHAT: the outputs of `again` are those of `whole`, but for the time that it took.
is_the_same () {
  for file in links ranks paje json; do
    grep -v -e '"wall_s"' -e '"peak_rss_bytes"' "whole.$file" >whole.text
    grep -v -e '"wall_s"' -e '"peak_rss_bytes"' "again.$file" >again.text
    test -s whole.text && cmp whole.text again.text >differs 2>&1 ||
      { not_ok "$1" "$file" "$(cat differs again.err)"; return; }
  done
  ok "$1"
}

# random LOW HIGH: a number between.
random () {
  awk -v low="$1" -v high="$2" -v seed="$(od -An -N4 -tu4 /dev/urandom)" \
    'BEGIN { srand(seed); print low + rand() * (high - low) }'
}

# simulate_on ARGUMENT...: goes on from the checkpoint, if there is one already.
simulate_on () {
  set -- "$@" --checkpoint run.checkpoint --every 0.02s
  if test -e run.checkpoint; then
    resumed=$((resumed + 1))
    set -- "$@" --resume run.checkpoint
  fi
  simulate again "$@"
}

# killed ARGUMENT...: a run is killed up to three times, and ends; $count kills so far.
killed () {
  rm -f run.checkpoint
  resumed=0
  for turn in 1 2 3; do
    test "$count" -lt "$kills" || break
    simulate_on "$@"
    sleep "$(random 0.01 "$whole_s")"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    test $? = 137 && count=$((count + 1))
    test "$(random 0 3)" \> 1 || break
  done
  simulate_on "$@"
  wait "$pid"
  is_the_same "after kill $count, resumed $resumed times: $1"
}

# Patterns, and files of traces; deterministic, dynamic and mixed routes; a torus, a mesh, fabrics.
for trace in halo2d:ranks=64,iterations=500/halo.goal npb:kernel=lu,class=W,ranks=16,iterations=250/lu.ti \
  npb:kernel=cg,class=B,ranks=16/cg.hct; do
  "$hopcast" trace convert "gen:${trace%/*}" -q -o "${trace#*/}" && continue
  echo "Bail out! no trace"
  exit 99
done
runs='gen:halo3d:ranks=512,iterations=8 --machine bgq:512
gen:permutation:kind=random,ranks=64,bytes=2000000,iterations=8 --machine torus:4x4x4m --routing zone0
gen:alltoall:ranks=128,bytes=10000,iterations=3 --machine systemg:16 --ranks-per-node 8
halo.goal --machine bgq:64 --routing deterministic
lu.ti --machine fattree:4x4:2 --set switch.adaptive=free
cg.hct --machine systemg:4 --ranks-per-node 4 --set congestion.control=true'

count=0
while test "$count" -lt "$kills"; do
  before=$count
  while read -r run; do
    test "$count" -lt "$kills" || break
    # shellcheck disable=SC2086  # a list of arguments
    set -- $run
    begin=$(date +%s%N)
    simulate whole "$@"
    wait "$pid" || not_ok "undisturbed: $run" "$(cat whole.err)"
    whole_s=$(awk -v ns=$(($(date +%s%N) - begin)) 'BEGIN { print ns / 1e9 }')
    killed "$@"
  done <<EOT
$runs
EOT
  test "$count" -gt "$before" || { not_ok "runs are long enough to be killed"; break; }
done

# SIGTERM: saved within about a second, status 143, and no output yet.
set -- gen:halo3d:ranks=512,iterations=8 --machine bgq:512
simulate whole "$@"
wait "$pid"
rm -f term.checkpoint again.*
simulate again "$@" --checkpoint term.checkpoint
sleep 0.3
kill -TERM "$pid"
begin=$(date +%s)
wait "$pid"
status=$?
took=$(($(date +%s) - begin))
test "$status" = 143 && test "$took" -le 3 && test -s term.checkpoint && ! test -s again.json
verdict $? "SIGTERM saves the run" "status $status after $took s" "$(cat again.err)"
simulate again "$@" --resume term.checkpoint
wait "$pid"
is_the_same "and it goes on"

head -c 100000 term.checkpoint >torn.checkpoint
{ head -c 100000 term.checkpoint; printf x; tail -c +100002 term.checkpoint; } >flipped.checkpoint
cmp -s term.checkpoint flipped.checkpoint &&
  { head -c 100000 term.checkpoint; printf y; tail -c +100002 term.checkpoint; } >flipped.checkpoint
refused "a torn file" 1 "torn.checkpoint: is torn" \
  simulate gen:ring:ranks=4 --machine bgq:32 --resume torn.checkpoint
refused "a damaged file" 1 "flipped.checkpoint: is damaged" \
  simulate gen:ring:ranks=4 --machine bgq:32 --resume flipped.checkpoint
refused "another trace's" 1 "term.checkpoint: is of another trace than gen:ring" \
  simulate gen:ring:ranks=4 --machine bgq:32 \
  --resume term.checkpoint
refused "another file" 1 "cg.hct: is not a hopcast checkpoint" \
  simulate gen:ring:ranks=4 --machine bgq:32 --resume cg.hct
refused "no file" 1 "nothing.here: No such file" \
  simulate gen:ring:ranks=4 --machine bgq:32 --resume nothing.here
refused "no place to write" 1 "no/folder: cannot write" \
  simulate gen:ring:ranks=4 --machine bgq:32 --checkpoint no/folder
refused "standard output" 2 "--checkpoint: needs a file" \
  simulate gen:ring:ranks=4 --machine bgq:32 --checkpoint -
for network in flow load; do
  refused "$network is not saved" 2 "--checkpoint: only runs with --network packet" \
    simulate gen:ring:ranks=4 --machine bgq:32 \
    --network "$network" --checkpoint x
  refused "$network is not resumed" 2 "--resume: only runs with --network packet" \
    simulate gen:ring:ranks=4 --machine bgq:32 \
    --network "$network" --resume term.checkpoint
done
refused "a time without a unit" 2 "--every: '10' is not a time" \
  simulate gen:ring:ranks=4 --machine bgq:32 --checkpoint x --every 10
refused "no time" 2 "--every: '0s' is not a time" \
  simulate gen:ring:ranks=4 --machine bgq:32 --checkpoint x --every 0s
refused "nothing to save to" 2 "--every: without --checkpoint" \
  simulate gen:ring:ranks=4 --machine bgq:32 --every 10s
refused "the same file twice" 2 "--links and --checkpoint name the same file" \
  simulate gen:ring:ranks=4 --machine bgq:32 \
  --links x --checkpoint x

done_testing
