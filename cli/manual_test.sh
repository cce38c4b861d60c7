#!/bin/sh
# manual_test.sh - the manual pages know every command and every option.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

"$hopcast" --help | sed -n 's/^  \([a-z]* \?[a-z-]*\)  .*/\1/p' >commands
test -s commands || not_ok "commands" "hopcast --help lists none"
while read -r first second; do
  case $first in
    train | predict | score) page=$srcdir/doc/hopcast-learn.1.in ;;
    *) page=$srcdir/doc/hopcast-$first.1.in ;;
  esac
  test -e "$page" || page=$srcdir/doc/hopcast.1.in
  heading=$(printf '%s\n' "$first $second" | sed 's/-/\\\\-/g')
  grep -q "^\.SS $heading" "$srcdir/doc/hopcast.1.in" ||
    echo ".SS $first $second" >unknown
  # shellcheck disable=SC2086  # an empty second word is no word
  LC_ALL=C "$hopcast" $first $second --help >help </dev/null
  for option in $(sed -n 's/^ *\(-., \)\?--\([a-z-]*\).*/\2/p' help); do
    escaped=$(printf '%s\n' "$option" | sed 's/-/\\\\-/g')
    test "$option" = help || grep -q -e "\\\\-\\\\-$escaped\\([^a-z\\\\]\\|\$\\)" "$page" || echo "--$option"
  done >>unknown
  if test -s unknown; then
    not_ok "$first $second" "not in $page:" "$(cat unknown)"
  else
    ok "$first $second"
  fi
  rm -f unknown
done <commands

# A line of text that begins with a period or an apostrophe is a request to troff; troff ignores the
# requests that it does not know, and the line is lost.
for page in "$srcdir"/doc/*.1.in; do
  name=$(basename "$page" .1.in)
  lost=$(grep -nE "^[.']" "$page" |
    grep -vE '^[0-9]+:(\.(TH|SH|SS|TP|TQ|PP|IP|RS|RE|EX|EE|UR|UE|B|I|BI|BR|IB|IR|RB|RI|SM|br|nf|fi|in|sp|ie|el|ad|nh)( |$)|\.\\")')
  test -z "$lost"
  verdict $? "$name: only known requests" "$lost"
  if ! command -v groff >/dev/null; then
    skip "$name: no warnings" "no groff"
    continue
  fi
  sed 's/@PACKAGE_VERSION@/1/g' "$page" >page.1
  warnings=$(groff -man -Tutf8 -ww -z page.1 2>&1)
  test $? = 0 && test -z "$warnings"
  verdict $? "$name: no warnings" "$warnings"
done
done_testing
