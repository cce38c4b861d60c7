#!/bin/sh
# advise_command_test.sh - hopcast advise, from the command line.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
rivals=$srcdir/cli/study/advise_rivals.sh
TMPDIR=$PWD/temporary
export TMPDIR
mkdir temporary

# A halo exchange, of which some placements are much better than the default.
trace=gen:halo2d:ranks=64,bytes=16384,iterations=1
where="--machine bgq:32 --ranks-per-node 2"
# shellcheck disable=SC2086  # several words
run "$hopcast" advise $trace $where --budget 40 --format json -q -o best.map
cp out advice.json
test $status = 0 && test "$(json verdict out)" = change
verdict $? "a better placement is advised" "status $status" "$(head -60 out)" "$(cat err)"

run sh "$rivals" "$hopcast" advice.json
holds "no rival is faster in exact simulation" test "$status" = 0

told=$(sed -n '/"recommended"/,/}/s/^ *"time_s": \([^,]*\),/\1/p' advice.json)
# shellcheck disable=SC2086
found=$("$hopcast" simulate $trace $where --mapping best.map -q --format json |
  sed -n 's/.*"time_s": \([^,]*\),*/\1/p')
same "the mapping file has the time that is told" "$told" "$found"
# shellcheck disable=SC2086
default=$("$hopcast" simulate $trace $where -q --format json | sed -n 's/.*"time_s": \([^,]*\),*/\1/p')
told=$(sed -n '/"default"/,/}/s/^ *"time_s": \([^,]*\),/\1/p' advice.json)
same "so has the default" "$told" "$default"
nominal=$(sed -n '/"gain": {/,/}/s/^ *"nominal": \([^,]*\),/\1/p' advice.json)
awk -v gain="$nominal" -v mine="$found" -v plain="$default" \
  'BEGIN { d = gain - (plain / mine - 1); exit !(d < 1e-12 && d > -1e-12) }'
verdict $? "the gain is that of the two times" "$nominal, $default / $found"
grep -q '"launch": "runjob .*best.map' advice.json
verdict $? "there is a launch line" "$(grep launch advice.json)"
test -z "$(ls temporary)"
verdict $? "the temporary store is removed" "$(ls -R temporary)"

# The same runs, whoever makes them.
result () {
  sed '/"cost"/,/}/d' "$1"
}
# shellcheck disable=SC2086
run "$hopcast" advise $trace $where --budget 40 --format json -q -o best.map --threads 1
result out >one.json
result advice.json >two.json
test $status = 0 && cmp -s one.json two.json
verdict $? "a budget of runs gives the same whatever the threads" "$(diff one.json two.json | head -5)"

# A signal: the same command goes on with what the store has.  The program is long enough for the signal to come in
# time.
trace=gen:halo2d:ranks=64,bytes=16384,iterations=16
# shellcheck disable=SC2086
run "$hopcast" advise $trace $where --budget 40 --format json -q -o best.map
result out >two.json
# shellcheck disable=SC2086
"$hopcast" advise $trace $where --budget 40 --format json -q -o cut.map --threads 1 --store cut.store \
  >out 2>err &
advice=$!
tenths=100
while test $tenths -gt 0 && test "$("$hopcast" study export cut.store 2>/dev/null | wc -l)" -lt 4; do
  sleep 0.1
  tenths=$((tenths - 1))
done
kill -TERM $advice
wait $advice
status=$?
test $status = 143 && ! test -e cut.map && grep -q 'same command continues' err
verdict $? "SIGTERM ends it, and the runs are kept" "status $status" "$(cat err)"
# shellcheck disable=SC2086
run "$hopcast" advise $trace $where --budget 40 --format json -q -o best.map --store cut.store
result out >one.json
test $status = 0 && cmp -s one.json two.json
verdict $? "the same command goes on to the same advice" "status $status" "$(diff one.json two.json | head -5)"

# Nothing is left to do: the runs of the store are taken as they are.
# shellcheck disable=SC2086
run "$hopcast" advise $trace $where --budget 40 --store cut.store --report page.html
test $status = 0 && grep -q 'Launch with ' out && grep -q '^what would change it' out &&
  grep -q 'messages twice as long: ' out && grep -q '<h2 id="advice-head">Advice</h2>' page.html &&
  grep -q '<p>Launch with ' page.html
verdict $? "the advice in words, and on a page" "$(cat out err)"
succeeds "the store is that of a study" "$hopcast" rank cut.store
refused "another advice has another store" 1 "an advice has its own" advise $trace --machine bgq:64 \
  --ranks-per-node 2 --budget 10 --store cut.store

# A ring in the order of a ring of nodes: nothing is better, as its rivals show.
trace=gen:ring:ranks=16,bytes=65536,iterations=2
run "$hopcast" advise $trace --machine torus:16 --budget 20 --format json -q -o kept.map
cp out kept.json
case $(json verdict out) in small | noise | nothing) kept=0 ;; *) kept=1 ;; esac
test $status = 0 && test $kept = 0
verdict $? "the best order of a ring is kept" "status $status" "$(head -40 out)" "$(cat err)"
run sh "$rivals" "$hopcast" kept.json
holds "its rivals are not worth a change" test "$status" = 0
run "$hopcast" advise $trace --machine torus:16 --budget 20 -q
test $status = 0 && grep -q 'No placement is worth changing: keep the default, AB\{0,1\}T with 1 rank per node' out
verdict $? "and that is what is said" "$(cat out err)"
run "$hopcast" map check kept.map --machine torus:16 --ranks 16
holds "the default's mapping is written" test "$status" = 0

# More candidates: bytes on links predict their times, and screen some.
trace=gen:halo2d:ranks=64,bytes=16384,iterations=1
run "$hopcast" advise $trace --machine bgq:32 --budget 40 --format json -q -o best.map
cp out screened.json
trusted=$(sed -n '/"models"/,/]/p' out)
test $status = 0 && test "$(json model out)" = load && echo "$trusted" | grep -q '"trusted": true' &&
  grep -q '"outcome": "screened"' out
verdict $? "a trusted model screens" "status $status" "$(head -60 out)" "$(cat err)"
run sh "$rivals" "$hopcast" screened.json
holds "and no rival is faster" test "$status" = 0

# Every number of ranks per node that the cluster allows, in seconds.
trace=gen:halo2d:ranks=16,bytes=16384,iterations=1
run "$hopcast" advise $trace --machine systemg:8 --budget 6s --format json -q -o best.rankfile
numbers=$(sed -n '/"placements"/,$s/^ *"ranks_per_node": \([0-9]*\),$/\1/p' out | sort -nu | tr '\n' ' ')
test $status = 0 && test "$numbers" = "2 4 8 " && test "$(sed -n '/"placements"/,$p' out | grep -c '"outcome": "default"')" = 1 &&
  grep -q '^rank 15=' best.rankfile
verdict $? "ranks per node are compared" "status $status" "$(cat out err)"
run "$hopcast" advise $trace --machine systemg:8 --budget 6s -q
test $status = 0 && grep -q 'ranks per node' out
verdict $? "and named" "$(cat out err)"

# A budget that is too small for an answer says so.
run "$hopcast" advise gen:halo3d:ranks=512,bytes=65536,iterations=4 --machine bgq:512 --budget 1s -q
test $status = 3 && grep -q '^  No advice: the budget did not suffice' out
verdict $? "a budget that does not suffice" "status $status" "$(cat out err)"

# Wrong usage and bad input.
printf '0 init\n0 send 1 0 nonsense 6\n0 finalize\n1 init\n1 finalize\n' >bad.ti
printf '[machine]\nspec = torus:4x4\n[link]\nbandwidth = 2 parsecs\n' >bad.conf
refused "no machine" 2 "--machine SPEC is missing" advise $trace
refused "a trace with an error" 1 "bad.ti:2" advise bad.ti --machine torus:4x4
refused "a machine with an error" 1 "bad.conf:4" advise $trace --machine bad.conf
refused "no trace" 1 "missing.hct" advise missing.hct --machine torus:4x4
refused "too many ranks" 1 "16 ranks do not fit" advise $trace --machine systemg:1
refused "a wrong pattern" 2 "halo9d" advise gen:halo9d:ranks=4 --machine torus:4x4
refused "zones are for tori" 2 "zones are for tori" advise $trace --machine systemg:8 --routing zone0
refused "no place for the file" 1 "no/such" advise $trace --machine systemg:8 -o no/such/file
test -z "$(ls temporary)"
verdict $? "no temporary store is left" "$(ls -R temporary)"
done_testing
