#!/bin/sh
# timelines_otf2_test.sh - `simulate --timeline X.otf2`: other readers see the run, hopcast the trace.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
data=$(cd "${G_TEST_SRCDIR:-.}/traces/data" && pwd)

if ! built_with otf2; then
  refused "an archive without libotf2" 2 "built without libotf2" \
    simulate gen:ring:ranks=4 --machine torus:4 --timeline x.otf2
  skip "OTF2 timelines" "built without libotf2"
  done_testing
  exit
fi

# "LANE BEGIN END NAME" in picoseconds, of all intervals that take time; of Chrome's form
chrome_intervals () {
  sed -n 's/^{"ph":"X",.*"tid":\([0-9]*\),"ts":\([0-9.]*\),"dur":\([0-9.]*\),.*"name":"\(.*\)"}.*/\1 \2 \3 \4/p' "$1" |
    awk '{ lane = $1; begin = $2; span = $3; sub (/\./, "", begin); sub (/\./, "", span)
           $1 = $2 = $3 = ""; printf "%d %.0f %.0f%s\n", lane, begin, begin + span, substr ($0, 3) }' | sort
}

# and of what otf2-print prints, whose regions must nest.
otf2_intervals () {
  awk '$1 == "ENTER" || $1 == "LEAVE" {
         match ($0, /"[^"]*"/); name = substr ($0, RSTART + 1, RLENGTH - 2) }
       $1 == "ENTER" { at = $2 "," (depth[$2] += 1); region[at] = name; begin[at] = $3 }
       $1 == "LEAVE" { at = $2 "," depth[$2]; depth[$2] -= 1
         if (region[at] != name) { print "not nested"; exit 1 }
         if ($3 != begin[at]) print $2, begin[at], $3, name }
       END { for (lane in depth) if (depth[lane] != 0) print "left open: " lane }' "$1" | sort
}

# The members of `trace info` that count what the program did.
counts () {
  "$hopcast" trace info "$1" --format json |
    sed -n '/"ranks"\|"operations"\|"sends"\|"send_bytes"\|"receives"\|"unmatched/p
            /"collectives": {$/,/}/p'
}

# written_calls NAME TRACE OPTION...: the archive has the intervals of Chrome's form, and the trace's messages.
written_calls () {
  name=$1; trace=$2; shift 2
  rm -rf w w.def w.otf2
  run "$hopcast" simulate "$trace" "$@" --timeline w.json --format json
  cp out chrome.json
  run "$hopcast" simulate "$trace" "$@" --timeline w.otf2 --format json
  test "$status" = 0 && ! test -s err
  verdict $? "$name: written" "status $status" "$(cat err)"
  if command -v otf2-print >/dev/null; then
    otf2-print w.otf2 >printed 2>printed.err
    otf2_intervals printed >got
    chrome_intervals w.json >expected
    test -s expected && cmp -s got expected && ! test -s printed.err
    verdict $? "$name: otf2-print shows the intervals of Chrome's form" \
      "$(diff got expected | head -5)" "$(head -5 printed.err)"
  else
    skip "$name: otf2-print shows the intervals of Chrome's form" "no otf2-print (Debian: otf2-tools)"
  fi
  "$hopcast" trace matrix "$trace" --with-collectives "$@" >expected 2>err
  "$hopcast" trace matrix w.otf2 --with-collectives "$@" >got 2>>err
  test "$(wc -l <expected)" -gt 1 && cmp -s got expected
  verdict $? "$name: the same bytes between the same ranks" "$(diff got expected | head -5)" "$(cat err)"
}

# written NAME TRACE OPTION...: these, and as many operations of each kind.  A trace that makes communicators, or has
# persistent requests, has other ones.
written () {
  written_calls "$@"
  counts "$trace" >expected
  counts w.otf2 >got
  grep -q '"send_bytes"' expected && cmp -s got expected
  verdict $? "$name: the same operations" "$(diff got expected)"
}
options="--machine torus:4x2 --ranks-per-node 2"

# Calls that no text has: what each rank's records are, in which call, by hand.  Requests are numbered as
# they begin; ranks 2 and 0, in this order, are communicator 1, and the copy of the world is 3.
"${G_TEST_BUILDDIR:-.}/cli/trace/timeline_calls" calls.hct || not_ok "a trace of all calls" "none made"
for rank in 0 1 2; do
  next=$(((rank + 1) % 3)) last=$(((rank + 2) % 3))
  for first in 0 2; do
    second=$((first + 1))
    cat <<END
$rank start IRECV_REQUEST Request: $first
$rank start ISEND Receiver: $next, Communicator: 0, Tag: 4, Length: 80, Request: $second
$rank test REQUEST_TEST Request: $first
$rank test REQUEST_TEST Request: $second
$rank wait IRECV Sender: $last, Communicator: 0, Tag: 4, Length: 80, Request: $first
$rank wait ISEND_COMPLETE Request: $second
END
  done
  cat <<END
$rank irecv IRECV_REQUEST Request: 4
$rank send SEND Receiver: $next, Communicator: 0, Tag: 5, Length: 96
$rank test IRECV Sender: $last, Communicator: 0, Tag: 5, Length: 96, Request: 4
$rank allreduce COLLECTIVE_REQUEST Request: 5
$rank test REQUEST_TEST Request: 5
$rank wait COLLECTIVE_COMPLETE Operation: ALLREDUCE, Communicator: 0, Root: NONE, Sent: 90, Received: 90, Request: 5
$rank comm_split COLLECTIVE_BEGIN
$rank comm_split COLLECTIVE_END Operation: CREATE_HANDLE, Communicator: 0, Root: NONE, Sent: 0, Received: 0
END
  test $rank = 1 || cat <<END
$rank bcast COLLECTIVE_REQUEST Request: 6
$rank wait COLLECTIVE_COMPLETE Operation: BCAST, Communicator: 1, Root: 0, Sent: 500, Received: 500, Request: 6
END
  test $rank != 2 || echo "$rank send SEND Receiver: 1, Communicator: 1, Tag: 6, Length: 64"
  test $rank != 0 || echo "$rank recv RECV Sender: 0, Communicator: 1, Tag: 6, Length: 64"
  cat <<END
$rank comm_dup COLLECTIVE_BEGIN
$rank comm_dup COLLECTIVE_END Operation: CREATE_HANDLE, Communicator: 0, Root: NONE, Sent: 0, Received: 0
$rank allgather COLLECTIVE_BEGIN
$rank allgather COLLECTIVE_END Operation: ALLGATHER, Communicator: 3, Root: NONE, Sent: 70, Received: 70
END
done >records
written_calls "all calls" calls.hct --machine torus:4 --ranks-per-node 1
if command -v otf2-print >/dev/null; then
  # "LOCATION REGION RECORD ATTRIBUTES" without times, in the order of each rank.
  awk '$1 == "ENTER" { match ($0, /"[^"]*"/); region[$2, ++depth[$2]] = substr ($0, RSTART + 1, RLENGTH - 2) }
       $1 == "LEAVE" { depth[$2]-- }
       /^(MPI|NON_BLOCKING)_/ {
         location = $2; name = $1; sub (/^MPI_|^NON_BLOCKING_/, "", name); $1 = $2 = $3 = ""; sub (/^ */, "")
         gsub (/ \("rank [0-9]*" <[0-9]*>\)/, ""); $0 = numbered($0)
         print location, region[location, depth[location]], name ($0 == "" ? "" : " " $0) }
       function numbered(text) { # a communicator by its number
         if (match (text, /"[^"]*" </)) text = substr (text, 1, RSTART - 1) substr (text, RSTART + RLENGTH)
         sub (/>/, "", text); return text }' printed | sort -s -n -k1,1 >got
  cmp -s got records
  verdict $? "the records of all calls, by hand" "$(diff got records | head -12)"
  otf2-print -G w.otf2 | sed -n 's/^GROUP .*Type: COMM_GROUP.* Members*: //p' | sed 's/ *("[^)]*)//g' >groups
  printf '%s\n' "0, 1, 2" "2, 0" "1" "0, 1, 2" >members
  cmp -s groups members
  verdict $? "the members of all communicators, by hand" "$(cat groups)" "$(otf2-print -G w.otf2 | grep '^GROUP')"
else
  skip "the records of all calls, by hand" "no otf2-print (Debian: otf2-tools)"
  skip "the members of all communicators, by hand" "no otf2-print (Debian: otf2-tools)"
fi

# A replay knows no more of a call that makes a communicator than that all meet; before it, the same takes as long
# (but requests are started one by one).
"$hopcast" simulate w.otf2 --machine torus:4 --ranks-per-node 1 --timeline again.json >out 2>err
chrome_intervals w.json >intervals
made=$(awk '$4 == "comm_split" { print $2; exit }' intervals)
chrome_intervals again.json | awk -v made="$made" '$2 < made && $4 != "start"' >got
awk -v made="$made" '$2 < made && $4 != "start"' intervals >expected
test "$(wc -l <expected)" -gt 40 && cmp -s got expected
verdict $? "a replay of all calls is the same until the first communicator" "$(diff got expected | head -5)" "$(cat err)"

# Every blocking form, requests, and collectives with and without roots.
for rank in 0 1 2 3; do
  next=$(((rank + 1) % 4)) last=$(((rank + 3) % 4))
  cat <<END
$rank init
$rank compute 1e6
$rank irecv $last 3 100
$rank isend $next 3 100
$rank wait $last $rank 3
$rank wait $rank $next 3
$rank sendrecv 300 $next 300 $last 0 0
END
  if test $((rank % 2)) = 0; then
    printf '%s\n' "$rank send $next 4 20000" "$rank recv $next 5 7" "$rank send $last 4 20000" "$rank recv $last 5 7"
  else
    printf '%s\n' "$rank recv $last 4 20000" "$rank send $last 5 7" "$rank recv $next 4 20000" "$rank send $next 5 7"
  fi
  cat <<END
$rank irecv $last 6 9000
$rank isend $next 6 9000
$rank waitall 2
$rank barrier
$rank bcast 500 2
$rank gather 40 40 1
$rank scatter 30 30 3
$rank allgather 70 70
$rank alltoall 60 60
$rank reduce 80 0 2
$rank allreduce 90 0
$rank scan 12 0
$rank finalize
END
done >mixed.txt
# shellcheck disable=SC2086  # options
{
written "mixed calls on a torus" mixed.txt $options
written "neighbours on a fabric" gen:halo2d:ranks=16,bytes=40960,iterations=3,compute=2us \
  --machine systemg:2 --ranks-per-node 8
written "CoMD" "$data/comd-256.ti.gz" --machine bgq:32 --ranks-per-node 8
}

# A replay of it takes the same time: all sizes and the order of the calls are there.
time_of () { "$hopcast" simulate "$@" --format json 2>/dev/null | sed -n 's/^ *"time_s": //p'; }
same "a replay of the archive takes the same time" "$(sed -n 's/^ *"time_s": //p' chrome.json)" \
  "$(time_of w.otf2 --machine bgq:32 --ranks-per-node 8)"

# A communicator of the program: messages on it have the same ends.
rm -rf l*
run "$hopcast" simulate "$data/lammps-64.hct" --machine systemg:8 --ranks-per-node 8 --timeline l.otf2
"$hopcast" trace matrix "$data/lammps-64.hct" --with-collectives --machine systemg:8 --ranks-per-node 8 >expected
"$hopcast" trace matrix l.otf2 --with-collectives --machine systemg:8 --ranks-per-node 8 >got
test "$status" = 0 && test "$(wc -l <expected)" -gt 1 && cmp -s got expected
verdict $? "LAMMPS: the same bytes between the same ranks" "$(diff got expected | head -5)"

# Definitions: nodes are groups, ranks are locations.
if command -v otf2-print >/dev/null; then
  otf2-print -G w.otf2 >printed
  test "$(grep -c '^LOCATION_GROUP ' printed)" = 32 && test "$(grep -c '^LOCATION ' printed)" = 256
  verdict $? "a group for each node, a location for each rank" "$(cut -c1-80 printed | sort | uniq -c | head)"
else
  skip "a group for each node, a location for each rank" "no otf2-print (Debian: otf2-tools)"
fi

# shellcheck disable=SC2086
{
# It ends where --timeline-limit is reached, is whole, and only chosen ranks have events.
run "$hopcast" simulate mixed.txt $options --timeline cut.otf2 --timeline-limit 40
test "$status" = 0 && grep -q "the timeline ends at" err && "$hopcast" trace info cut.otf2 --format json >seen
verdict $? "cut off" "$(cat err)"
sed -n 's/^ *"operations": \([0-9]*\),/\1/p' seen >n
test "$(cat n)" -gt 0 && test "$(cat n)" -lt 80
verdict $? "cut off: fewer operations" "$(cat n)"
run "$hopcast" simulate mixed.txt $options --timeline some.otf2 --timeline-ranks 1,2
"$hopcast" trace info some.otf2 --format json >seen 2>/dev/null
grep -q '"ranks": 4,' seen && grep -q '"sends": 10,' seen
verdict $? "chosen ranks" "$(cat err)" "$(head -6 seen)"

# Whole or not at all.
run "$hopcast" simulate mixed.txt $options --timeline some.otf2
"$hopcast" trace info some.otf2 --format json >seen 2>/dev/null
test "$status" = 0 && grep -q '"sends": 20,' seen
verdict $? "an archive is replaced" "$(cat err)" "$(head -6 seen)"
cp some.otf2 before
(ulimit -f 1; "$hopcast" simulate "$data/comd-256.ti.gz" --machine bgq:32 --ranks-per-node 8 \
  --timeline some.otf2 >/dev/null 2>err)
status=$?
"$hopcast" trace info some.otf2 --format json >seen.after 2>/dev/null
test "$status" = 1 && grep -q "some.otf2: cannot write" err && cmp -s seen seen.after && cmp -s before some.otf2
verdict $? "a full disk leaves the earlier archive" "status $status" "$(cat err)"
mkdir mine && : >mine/notes
refused "a folder that is none of an archive" 2 "is not that of an archive alone" \
  simulate mixed.txt $options --timeline mine.otf2
refused "no name" 2 "has no name before .otf2" simulate mixed.txt $options --timeline .otf2
refused "nowhere" 1 "nowhere/a.otf2: cannot write" simulate mixed.txt $options --timeline nowhere/a.otf2
cat >graph.goal <<END
num_ranks 2
rank 0 {
a: send 10b to 1 tag 0
}
rank 1 {
a: recv 10b from 0 tag 0
}
END
refused "a graph" 2 "is a graph" simulate graph.goal $options --timeline graph.otf2
}
left=$(find . -name '*.tmp-*' -o -name 'graph.*' ! -name graph.goal -o -name 'mine.*')
test -z "$left" && test -e mine/notes
verdict $? "nothing is left of what was refused" "$left"
done_testing
