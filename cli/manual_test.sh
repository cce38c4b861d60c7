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
done_testing
