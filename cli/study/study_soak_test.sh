#!/bin/sh
# study_soak_test.sh - a few seconds of .ci/soak: clocks that jump, kills, stops, full disks.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
unless_sanitized "a soak, whose clocks are a library that sanitizers do not let be loaded first"

python=$(PATH=/usr/bin:$PATH command -v python3)
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

if ! "$python" -c 'import sqlite3' 2>/dev/null; then
  skip "a soak" "no python3 with sqlite3"
  done_testing
  exit 0
fi
run "$python" "$srcdir/.ci/soak" --build "${hopcast%/hopcast}" --folder soak --runs 400 --every 30
verdict "$status" "a soak" "$(cat out err)"
sed 's/^/# /' out

# A program that loses a run must not pass.
mkdir lossy
cat >lossy/hopcast <<END
#!/bin/sh
case "\$*" in
*export*/soak.store*) '$hopcast' "\$@" | sed '\$d' ;;
*) exec '$hopcast' "\$@" ;;
esac
END
chmod +x lossy/hopcast
run "$python" "$srcdir/.ci/soak" --build lossy --folder soak-lossy --runs 50 --every 20
test "$status" = 1 && grep -q '^not ok - export --what runs differs' out
verdict $? "a lost run is noticed" "status $status" "$(cat out err)"
done_testing
