#!/bin/sh
# timelines_test.sh - `simulate --timeline`: files that their readers take.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

trace=gen:halo2d:ranks=16,bytes=4096,iterations=3,compute=2us
on="--machine torus:4x2 --ranks-per-node 2"

# good NAME: the last command succeeded and said nothing.
good () {
  test "$status" = 0 && ! test -s err
  verdict $? "$1" "status $status" "$(cat err)"
}

# A reader of Paje that knows only what the header of a file defines: fields by
# name, everything used was defined, times do not go back, links begin and end.
# Prints rank, end, computing and waiting in picoseconds, for the ranks CSV.
cat >paje.awk <<'AWK'
function die (text) { print FILENAME ":" FNR ": " text; bad = 1; exit 1 }
function ps (us) { sub (/\./, "", us); return us + 0 }
function leave (container, now,  value) {
  value = name[state[container]]
  span = now - since[container]
  if (span < 0) die ("time goes back")
  if (value == "computing") computed[container] += span
  if (value ~ /^waiting/) waited[container] += span
}
$1 == "%EventDef" { class = $3; kind[class] = $2; fields[class] = 0; next }
$1 == "%EndEventDef" { next }
$1 == "%" { field[class, ++fields[class]] = $2; next }
{
  # Fields in quotes may have blanks in them.
  n = 0; text = $0
  while (match (text, /^ *("[^"]*"|[^ ]+)/)) {
    word = substr (text, RSTART, RLENGTH); text = substr (text, RLENGTH + 1)
    gsub (/^ *"?|"$/, "", word); words[++n] = word
  }
  if (!(words[1] in kind) || n != fields[words[1]] + 1) die ("not as defined")
  split ("", at)
  for (i = 2; i <= n; i++) at[field[words[1], i - 1]] = words[i]
  event = kind[words[1]]
  if ("Time" in at) { now = ps(at["Time"]); if (now < last) die ("not in order"); last = now }
}
event ~ /^PajeDefine/ {
  if (at["Type"] != "0" && !(at["Type"] in name)) die ("unknown type")
  if (at["Alias"] in name) die ("defined twice")
  name[at["Alias"]] = at["Name"]; next
}
!(at["Type"] in name) { die ("unknown type") }
event == "PajeCreateContainer" {
  if (at["Container"] != "0" && !(at["Container"] in alive)) die ("unknown container")
  alive[at["Alias"]] = at["Name"]; next
}
event == "PajeDestroyContainer" {
  if (!(at["Name"] in alive)) die ("unknown container")
  if (at["Name"] in state) leave(at["Name"], now)
  delete alive[at["Name"]]; next
}
!(at["Container"] in alive) { die ("unknown container") }
event == "PajeSetState" {
  if (!(at["Value"] in name)) die ("unknown value")
  if (!(at["Container"] in state) && now != 0) die ("does not begin at 0")
  if (at["Container"] in state) leave(at["Container"], now)
  state[at["Container"]] = at["Value"]; since[at["Container"]] = now
  if (name[at["Value"]] == "done") end[at["Container"]] = now
  rank[at["Container"]] = alive[at["Container"]]; next
}
event == "PajeStartLink" {
  if (!(at["StartContainer"] in alive) || at["Key"] in started) die ("bad link")
  started[at["Key"]] = now; links++; next
}
event == "PajeEndLink" {
  if (!(at["EndContainer"] in alive) || !(at["Key"] in started)) die ("bad link")
  delete started[at["Key"]]; next
}
{ die ("unknown event " event) }
END {
  if (bad) exit 1
  for (key in started) die ("a link does not end")
  for (container in alive) die ("a container is left")
  for (container in rank) {
    number = rank[container]; sub (/rank /, "", number)
    ended = container in end ? end[container] : last
    printf "%d,%.0f,%.0f,%.0f\n", number, ended, computed[container], waited[container]
  }
  printf "links,%d\n", links
}
AWK

# shellcheck disable=SC2086  # options
run "$hopcast" simulate $trace $on --timeline a.paje --ranks ranks.csv --format json
good "paje"
cp out run.json
awk -f paje.awk a.paje >sums
sed -n 's/^links,//p' sums >links
test -s links && test "$(cat links)" = "$(sed -n 's/^ *"messages": \([0-9]*\),/\1/p' run.json)"
verdict $? "a link for each message" "$(cat sums)"
awk -F, 'NR > 1 { printf "%d,%.0f,%.0f,%.0f\n", $1, $(NF-4) * 1e12, $(NF-3) * 1e12, $(NF-2) * 1e12 }' \
  ranks.csv >expected
grep -v links sums | sort -t, -n >got
test -s got && cmp -s got expected
verdict $? "states add up to the times of the ranks" "$(diff got expected)"

# shellcheck disable=SC2086
run "$hopcast" simulate $trace $on --timeline b.paje
cmp -s a.paje b.paje && ok "the same bytes again" || not_ok "the same bytes again"

# Other programs.
if command -v pj_dump >/dev/null; then
  pj_dump a.paje >dump 2>err
  n=$(grep -c '^Link' dump)
  test "$n" = "$(cat links)" && ! test -s err
  verdict $? "pj_dump reads it" "$n links" "$(cat err)"
else
  skip "pj_dump reads it" "no pj_dump"
fi
if command -v vite >/dev/null; then
  QT_QPA_PLATFORM=offscreen vite -e a.svg a.paje >vite.out 2>&1
  grep -q "0 errors and 0 warnings" vite.out
  verdict $? "ViTE reads it" "$(cat vite.out)"
else
  skip "ViTE reads it" "no vite"
fi

# On a fabric, within nodes and between them; Chrome's form.
run "$hopcast" simulate "$trace" --machine systemg:2 --ranks-per-node 8 --timeline a.json
good "json"
test "$(grep -c '"ph":"s"' a.json)" = "$(grep -c '"ph":"f"' a.json)" &&
 test "$(grep -c '"name":"process_name"' a.json)" = 2 &&
 test "$(grep -c '"name":"thread_name"' a.json)" = 16
verdict $? "arrows, processes and threads" "$(head -c 2000 a.json)"

# shellcheck disable=SC2086
run "$hopcast" simulate $trace $on --timeline some.json --timeline-ranks 0-2,5
good "chosen ranks"
tids=$(sed -n 's/.*"ph":"X".*"tid":\([0-9]*\),.*/\1/p' some.json | sort -nu | tr '\n' ' ')
test "$tids" = "0 1 2 5 "
verdict $? "only chosen ranks" "$tids"

# The limit is told on standard error and in the record, and the file is whole.
# shellcheck disable=SC2086
run "$hopcast" simulate $trace $on --timeline cut.paje --timeline-limit 200 --format json
test "$status" = 0 && grep -q "the timeline ends at [0-9.]* of [0-9.]* us" err &&
 grep -q "the timeline ends at" out
verdict $? "the limit is told" "$(cat err)"
awk -f paje.awk cut.paje >cut.sums && test "$(wc -l <cut.paje)" -lt "$(wc -l <a.paje)"
verdict $? "a timeline that is cut is sound" "$(cat cut.sums)"

# shellcheck disable=SC2086
{
refused "form" 2 "must end in .json" simulate $trace $on --timeline a.txt
refused "load" 2 "has no times" simulate $trace $on --network load --timeline a.json
refused "ranks alone" 2 "--timeline-ranks needs --timeline FILE" simulate $trace $on --timeline-ranks 0
refused "no limit" 2 "must be at least 1" simulate $trace $on --timeline c.json --timeline-limit 0
refused "no such rank" 2 "there is no rank 16, the last is 15" \
  simulate $trace $on --timeline c.json --timeline-ranks 3-16
refused "same file" 2 "name the same file" simulate $trace $on --timeline c.json --links c.json
refused "same file as the report" 2 "name the same file" simulate $trace $on --timeline c.json --report c.json
refused "links in the report" 2 "name the same file" simulate $trace $on --links c.json --report c.json
refused "ranks in the report" 2 "name the same file" simulate $trace $on --ranks c.json --report c.json
for list in "" "," "1," -1 2-1 1-2-3 a "1 2" 0x1; do
  refused "list '$list'" 2 "is not a list of ranks" simulate $trace $on --timeline c.json --timeline-ranks "$list"
done
}
if test -e c.json; then
  not_ok "nothing is left of what was refused"
else
  ok "nothing is left of what was refused"
fi
# shellcheck disable=SC2086
run "$hopcast" simulate $trace $on --timeline nowhere/a.json
test "$status" = 1 && grep -q nowhere/a.json err
verdict $? "a place that cannot be written" "$(cat err)"
done_testing
