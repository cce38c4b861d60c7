#!/bin/sh
# layering_test.sh - which folder may include headers of which.
#
# SPDX-License-Identifier: Apache-2.0
#
# One TAP line per folder.  A quoted include must be config.h or a header by
# its path from the top of the tree, of the folder itself or of one that the
# table allows.  Fuzz targets may include .ci/fuzzing.h and
# tests .ci/test_data.h, which are in no room.
set -u
cd "${G_TEST_SRCDIR:-.}" || exit 99

# folder: the folders it may use besides itself.
table='
doc:
base:
topology: base
routing: base topology
traces: base
sim: base topology routing traces
predictors: base
study: base topology routing traces sim predictors
validation: base topology routing traces sim predictors study
cli: base topology routing traces sim predictors study validation
'

# Every folder with C code must be in the table.
folders=$(find . -name '*.[ch]' -path './*/*' ! -path './.ci/*' ! -path './build*' ! -path './_*' ! -path './hopcast-*' |
  sed 's|^\./\([^/]*\)/.*|\1|' | sort -u)
n=0
echo "1..$(printf '%s\n' "$folders" | wc -l)"

# wrong_includes FOLDER ALLOWED: file:line:text of each include that is not allowed.
wrong_includes () {
  find "$1" -name '*.[ch]' -exec grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} + |
    awk -v allowed="$2" '
      BEGIN { n = split(allowed, name, " "); for (i = 1; i <= n; i++) may[name[i]] = 1 }
      {
        header = $0
        sub(/^[^"]*"/, "", header); sub(/".*/, "", header)
        folder = header
        sub(/\/.*/, "", folder)
        if (header == ".ci/test_data.h" && $0 ~ /^[a-z]*\/[a-z0-9_]*(_test|_testing|_fixture)\.c:/)
          next
        if (header == ".ci/fuzzing.h" && $0 ~ /^[a-z]*\/([a-z0-9_]*_fuzz\.c|fuzzing\.h):/)
          next
        if (header != "config.h" && !(header ~ /\// && may[folder]))
          print
      }'
}

for folder in $folders; do
  n=$((n + 1))
  if ! row=$(printf '%s\n' "$table" | grep "^$folder:"); then
    echo "not ok $n - $folder"
    echo "# $folder/ is not in the table of sim/layering_test.sh"
    continue
  fi
  wrong=$(wrong_includes "$folder" "$folder ${row#*:}")
  if test -z "$wrong"; then
    echo "ok $n - $folder"
  else
    echo "not ok $n - $folder"
    printf '%s\n' "$wrong" | sed 's/^/# /'
  fi
done
