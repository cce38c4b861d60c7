#!/bin/sh
# study_store_test.sh - study status, merge and export on small studies.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# fails NAME STATUS WORDS COMMAND...: it ends so, with these words in one line.
fails () {
  name=$1 wanted=$2 words=$3
  shift 3
  run "$@"
  test "$status" -eq "$wanted" && test "$(wc -l <err)" -eq 1 && grep -qF -- "$words" err
  verdict $? "$name" "exit $status" "$(cat err)"
}

# check NAME COMMAND...: it succeeds.
check () {
  name=$1
  shift
  "$@"
  verdict $? "$name" "exit $status: $*" "$(cat out err)"
}

cat >a.study <<'END'
[study]
name = two halos
[traces]
trace = gen:halo2d:ranks=16,bytes={bytes},iterations=1
[machines]
machine = torus:4x4
[mappings]
mapping = default;BAT;nowhere.map
[runs]
network = load
keep-links = true
[bytes]
values = 512;1024
END

fails "nothing was run" 1 "nothing was run yet: there is no a.store" "$hopcast" study status a.study
run "$hopcast" study run -q a.study
check "a study with failures" test "$status" -eq 3

run "$hopcast" study status a.study
test "$status" -eq 0 && grep -q "two halos" out && grep -q "6: 4 done, 2 failed, 0 missing" out &&
  grep -Eq "^ +3 +2 +1 +0  gen:halo2d:ranks=16,bytes=1024,iterations=1, torus:4x4, load" out &&
  grep -Eq '^ +2  mapping nowhere.map: ' out
verdict $? "status" "$(cat out err)"
run "$hopcast" study status a.store --format csv
printf '%s\n' 'trace,machine,network,routing,compute_scale,runs,done,failed,missing' \
  '"gen:halo2d:ranks=16,bytes=512,iterations=1",torus:4x4,load,default,1,3,2,1,0' \
  '"gen:halo2d:ranks=16,bytes=1024,iterations=1",torus:4x4,load,default,1,3,2,1,0' >wanted
check "status as CSV" cmp -s out wanted

# The same study as two shards and one store: the same tables.
run "$hopcast" study run -q --shard 1/2 --store s1 a.study
run "$hopcast" study run -q --shard 2/2 --store s2 a.study
run "$hopcast" study merge both.store s2 s1
check "merge" grep -q "both.store: 6 of 6 runs" err
same=yes
for what in runs links ranks placements; do
  for form in csv json jsonl; do
    "$hopcast" study export a.study --what $what --format $form >one 2>>err || same="$what $form"
    "$hopcast" study export both.store --what $what -o two.$form 2>>err || same="$what $form"
    cmp -s one two.$form || same="$what $form differs"
  done
done
"$hopcast" study export a.store -o one.npz && "$hopcast" study export both.store -o two.npz
cmp -s one.npz two.npz || same="npz differs"
check "exports of both are the same" test "$same" = yes

"$hopcast" study export a.store >runs.csv
n=$(wc -l <runs.csv)
if test "$n" -eq 7 && ! head -1 runs.csv | grep -q wall_s &&
  "$hopcast" study export a.store --timing | head -1 | grep -q ',wall_s,peak_rss_bytes$'; then
  ok "a line per run, timing when asked for"
else
  not_ok "a line per run" "$n lines"
fi
# 16 ranks on a 4x4 torus: each sends 512 B to 4 neighbours over one link each.
"$hopcast" study export a.store --what links >out
# shellcheck disable=SC2016  # fields of awk
check "links" awk -F, '$1 == "0" { n++; sum += $4 } END { exit !(n == 64 && sum == 16 * 4 * 512) }' out

fails "merge needs a shard" 2 "SHARD is missing" "$hopcast" study merge both.store
fails "merge into itself" 1 "cannot be merged into itself" "$hopcast" study merge a.store a.store
fails "no store" 1 "No such file" "$hopcast" study status nowhere.store
printf 'SQLite format 3\0 and no more\n' >broken.store
fails "a broken store" 1 "broken.store: not a hopcast store" "$hopcast" study export broken.store
echo 'hello' >text
fails "neither study nor store" 1 "text:1: expected [group]" "$hopcast" study status text
fails "what there is not" 2 "none of runs, links, ranks, placements" \
  "$hopcast" study export a.store --what wires
fails "what of an npz" 2 "--what: an .npz has" "$hopcast" study export a.store --what links -o a.npz
if test -c /dev/full; then
  fails "a full disk" 1 "/dev/full: cannot write: No space left" "$hopcast" study export a.store -o /dev/full
else
  skip "a full disk" "no /dev/full"
fi

# Nothing but the stores is left behind.
left=$(ls -- *-wal *-shm *-lock 2>/dev/null)
check "nothing beside the stores" test -z "$left"
done_testing
