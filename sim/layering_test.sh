#!/bin/sh
# layering_test.sh - which folder may include headers of which.
#
# SPDX-License-Identifier: Apache-2.0
#
# One TAP line per folder.  A quoted include must be a header by its path from
# the top of the tree: of the folder's own room, or of a room that the first
# table allows.  Inside a room, files of a subfolder may include the
# headers that lie directly in the room and those of the siblings that the second
# table allows.  Tests may include all of their room, .ci/fuzzing.h and
# .ci/test_data.h.
set -u
cd "${G_TEST_SRCDIR:-.}" || exit 99

# room: the rooms that it may use besides itself.
rooms='
doc:
base:
mpi: base
topology: base
routing: base topology
traces: base mpi
sim: base mpi topology routing traces
predictors: base
study: base mpi topology routing traces sim predictors
validation: base mpi topology routing traces sim predictors study
cli: base mpi topology routing traces sim predictors study validation
tools: base mpi topology routing traces sim predictors study validation cli
'

# subfolder: the subfolders of the same room that it may use besides itself.
subfolders='
topology/fabric: node
topology/node:
topology/recipe: mapping
topology/launcher: mapping fabric
topology/mapping: fabric launcher node recipe
routing/forwarding:
routing/opensm: forwarding
traces/dumpi:
traces/goal:
traces/hct:
traces/otf2:
traces/paraver:
traces/patterns:
traces/recorder:
traces/ti:
sim/collective:
sim/node:
sim/net: node replay
sim/replay: collective net node
predictors/aggregation: table formula model scoring
predictors/boosting: table model forest scoring
predictors/correction: table model formula forest scoring
predictors/forest: table model scoring
predictors/formula: table model forest scoring
predictors/group:
predictors/model: table forest boosting formula scoring
predictors/scoring: table model forest formula
predictors/table: formula
study/advise: aggregate plan search session
study/aggregate: search session
study/calibrate: aggregate session
study/plan: store
study/report: store
study/search: session
study/session: plan store
study/store: plan aggregate
cli/aggregate: map print
cli/calibrate: print
cli/learn: study print
cli/map: trace print
cli/print:
cli/study: learn map trace print
cli/trace: print
tools/bench:
tools/mpi:
tools/pingpong:
validation/aggregation: infiniband sc13
validation/bgq:
validation/evh1:
validation/infiniband:
validation/modern:
validation/mutate:
validation/sc13:
validation/sensitivity:
validation/shrink:
validation/simgrid:
'

# Every folder with C code must be in a table.
folders=$(find . -name '*.[ch]' -path './*/*' ! -path './.ci/*' ! -path './build*' ! -path './_*' ! -path './hopcast-*' \
  ! -path './doc/*' | sed 's|^\./||; s|/[^/]*$||' | sort -u)
n=0
echo "1..$(printf '%s\n' "$folders" | wc -l)"

# row TABLE NAME: what follows "NAME:" in a table; fails when there is no such row.
row () {
  printf '%s\n' "$1" | sed -n "s|^$2:||p" | grep ''
}

# wrong_includes FOLDER ROOMS SIBLINGS: file:line:text of each include that is not allowed.
wrong_includes () {
  find "$1" -maxdepth 1 -name '*.[ch]' -exec grep -Hn '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} + |
    awk -v folder="$1" -v rooms="$2" -v siblings="$3" '
      BEGIN {
        room = folder; sub(/\/.*/, "", room)
        n = split(rooms, name, " "); for (i = 1; i <= n; i++) may[name[i]] = 1
        n = split(siblings, name, " "); for (i = 1; i <= n; i++) may[room "/" name[i]] = 1
        may[folder] = may[room] = 1
      }
      {
        header = $0
        sub(/^[^"]*"/, "", header); sub(/".*/, "", header)
        of = header
        sub(/\/[^\/]*$/, "", of)
        from = of
        sub(/\/.*/, "", from)
        is_test = $0 ~ /^[a-z0-9\/]*\/[a-z0-9_]*(_test|_testing|testing|_fixture|_fuzz|_fuzzing|_bench|_seeds)\.[ch]:/
        if (is_test && (header == ".ci/test_data.h" || header == ".ci/fuzzing.h" || from == room))
          next
        if (!(header ~ /\// && (may[of] || (from != room && may[from]))))
          print
      }'
}

for folder in $folders; do
  n=$((n + 1))
  room=${folder%%/*}
  siblings=
  if ! allowed=$(row "$rooms" "$room") || { test "$room" != "$folder" && ! siblings=$(row "$subfolders" "$folder"); }; then
    echo "not ok $n - $folder"
    echo "# $folder/ is not in the tables of sim/layering_test.sh"
    continue
  fi
  # The files directly in a room tie its subfolders together.
  test "$room" != "$folder" || siblings=$(printf '%s\n' "$subfolders" | sed -n "s|^$room/\([a-z0-9]*\):.*|\1|p" | tr '\n' ' ')
  wrong=$(wrong_includes "$folder" "$allowed" "$siblings")
  if test -z "$wrong"; then
    echo "ok $n - $folder"
  else
    echo "not ok $n - $folder"
    printf '%s\n' "$wrong" | sed 's/^/# /'
  fi
done
