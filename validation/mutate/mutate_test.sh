#!/bin/sh
# mutate_test.sh - a few mutated inputs of every reader; `make mutate` runs thousands.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

python=$(PATH=/usr/bin:$PATH command -v python3)
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

if ! "$python" -c 'import sqlite3' 2>/dev/null; then
  skip "mutated inputs" "no python3 with sqlite3"
else
  run "$python" "$srcdir/validation/mutate/mutate.py" "${hopcast%/hopcast}" --inputs 200 --findings findings
  test "$status" = 0 && ok "mutated inputs" ||
    not_ok "mutated inputs" "$(cat out err)" "$(
      for finding in findings/*; do cat "$finding/what"; tail -2 "$finding/again" | head -1; done 2>/dev/null)"
  tail -1 out | sed 's/^/# /'
fi
done_testing
