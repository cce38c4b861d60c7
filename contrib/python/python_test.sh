#!/bin/sh
# python_test.sh - the Python module and its example, with Debian's Python, with and without pandas.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
unless_sanitized "the module"

python=/usr/bin/python3
HOPCAST=$hopcast PYTHONPATH=$srcdir/contrib/python PYTHONDONTWRITEBYTECODE=1
export HOPCAST PYTHONPATH PYTHONDONTWRITEBYTECODE

# tells NAME: the results of hopcast_test.py as results of this script.
tells () {
  run "$python" "$srcdir/contrib/python/hopcast_test.py" "$srcdir"
  while IFS= read -r line; do
    case $line in
      "ok "*) ok "${line#ok * - }" ;;
      "not ok "*) not_ok "${line#not ok * - }" ;;
      "#"*) printf '%s\n' "$line" ;;
    esac
  done <out
  test "$status" = 0 && grep -q '^1\.\.' out
  verdict $? "$1" "status $status" "$(tail -5 err)"
}

if ! "$python" -c 'import numpy' 2>/dev/null; then
  skip "the module" "no NumPy for $python"
  done_testing
  exit
fi
WITHOUT_PANDAS=1
export WITHOUT_PANDAS
tells "all tests, without pandas"
unset WITHOUT_PANDAS

if "$python" -c 'import pandas' 2>/dev/null; then
  tells "all tests, with pandas"
  succeeds "the example" "$python" -W error::FutureWarning "$srcdir/contrib/python/example.py"
  holds "the example's run" grep -q '^time [0-9.]* us, 1792 messages, hottest link [0-9]* B$' out
  holds "the example's model" grep -q '^extra-trees: largest error' out
else
  skip "with pandas" "no pandas for $python"
  skip "the example" "no pandas for $python"
fi
done_testing
