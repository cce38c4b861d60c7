#!/bin/sh
# validate_all_test.sh - one table and one page of the claims of all suites.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# Of three suites that take long, one of whose claims nobody can repeat, and one that does not.
part="--only table1_* --only auto_* --only fig4_errors --only intervals_hold --only mpi_latency_neighbour"
set -f
# shellcheck disable=SC2086  # several words
run "$hopcast" validate all $part -q --format csv --html all.html
test "$status" = 0 && test "$(grep -c '^evh1,table1_.*,98bf5fa$' out)" = 8 &&
  test "$(grep -c '^shrink,auto_.*,0deaacc$' out)" = 3 &&
  grep -q '^bgq,mpi_latency_neighbour,2\..*,agrees,.*,$' out &&
  grep -q '^sensitivity,intervals_hold,97.5,.*,28a78f4$' out && grep -q '^evh1,fig4_errors,,.*,not run,' out
verdict $? "long suites are recorded, others are run" "status $status" "$(cat out err)"
cp out all.csv

# The counts of the page are those of the rows.
for suite in bgq evh1 sensitivity shrink; do
  awk -F, -v suite=$suite '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
    $1 == suite { n++; of[$column["verdict"]]++; recorded += $NF != "" }
    END { printf "%d %d %d %d %d\n", n, of["agrees"], of["differs"], of["not run"], recorded }' all.csv >expected
  sed -n "s|^<tr><td><a href=\"#$suite\">.*</a></td>\(.*\)</tr>|\1|p" all.html | sed 's/<[^>]*>/ /g' |
    awk '{ print $1, $2, $3, $4, $5 }' >found
  same "counts of $suite" "$(cat expected)" "$(cat found)"
done
test "$(grep -c '<svg' all.html)" = 4 && ! grep -q -e 'http:' -e '<script' all.html
verdict $? "a picture of each suite, and nothing from elsewhere" "$(grep -c '<svg' all.html)"
if command -v xmllint >/dev/null; then
  # Its HTML is older than pictures.
  xmllint --html --noout all.html 2>&1 | grep 'error :' | grep -v 'Tag [a-z]* invalid' >wrong
  test ! -s wrong
  verdict $? "the page is well formed" "$(head -5 wrong)"
else
  skip "the page is well formed" "no xmllint"
fi

# shellcheck disable=SC2086
run "$hopcast" validate $part -q
test "$status" = 0 && test "$(tail -1 out)" = "13 of 13 agree, 1 not run; 12 are recorded results" &&
  grep -qx shrink out && grep -q 'auto_links_off .*(recorded, runs of 0deaacc)$' out
verdict $? "no suite is all of them; the last line counts" "status $status" "$(cat out err)"
# shellcheck disable=SC2086
run "$hopcast" validate all $part -q --format json
test "$status" = 0 && test "$(grep -c '"commit": "0deaacc"' out)" = 3
verdict $? "JSON has the commit" "status $status" "$(cat err)"

# A result that differs fails, recorded or not.
run "$hopcast" validate all -q --only pf3d_H6
test "$status" = 1 && grep -q 'pf3d_H6 .*DIFFERS' out
verdict $? "a recorded difference fails" "status $status" "$(cat out err)"

run "$hopcast" validate bgq --traces .
test "$status" = 2 && grep -q -e '--traces: only simgrid' err
verdict $? "--traces is of simgrid" "status $status" "$(cat err)"
run "$hopcast" validate all --store x.store
test "$status" = 2
verdict $? "all reads no stores" "status $status" "$(cat err)"

# Lines of recorded.csv from what a suite printed: without those that were not run.
awk -v commit=abcdef0 -f "$srcdir/validation/record.awk" all.csv >lines
test "$(wc -l <lines)" = 13 && grep -qx 'shrink,auto_links_off,0,,,agrees,abcdef0' lines
verdict $? "record.awk" "$(cat lines)"
done_testing
