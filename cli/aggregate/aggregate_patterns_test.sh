#!/bin/sh
# aggregate_patterns_test.sh - `hopcast aggregate patterns`: what it lists, and what it refuses.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

list () {
  run "$hopcast" aggregate patterns "$@"
}

# same NAME EXPECTED: standard output, to the letter.
same () {
  printf '%s\n' "$2" >expected
  if test $status -eq 0 && cmp -s out expected; then
    ok "$1"
  else
    not_ok "$1" "status $status; expected, found:" "$(cat expected out err)"
  fi
}

# The paper's eight, for people and for programs.
list --machine systemg:16 --ranks 16
same "the paper's node" "systemg:16: 2 package, each 2 L2, each 2 core; 8 GiB
id  tasks  nodes  takes  sockets  dies  energy  symmetries  cores
 1      1     16  1x1x1        1     1       8           8  0
 2      2      8  2x1x1        2     2       7          16  0,4
 3      2      8  1x2x1        1     2       6           8  0,2
 4      2      8  1x1x2        1     1       5           4  0,1
 5      4      4  2x2x1        2     4       4          16  0,2,4,6
 6      4      4  2x1x2        2     2       3           4  0,1,4,5
 7      4      4  1x2x2        1     2       2           2  0-3
 8      8      2  2x2x2        2     4       1           1  0-7"

list --machine systemg:16 --ranks 16 --memory-per-task 3GiB --format csv
same "tasks that need memory" 'id,tasks_per_node,nodes,takes,sockets,dies,energy_rank,symmetries,uneven,cores,cpus,excluded
1,1,16,1x1x1,1,1,4,8,false,0,0,
2,2,8,2x1x1,2,2,3,16,false,"0,4","0,1",
3,2,8,1x2x1,1,2,2,8,false,"0,2","0,2",
4,2,8,1x1x2,1,1,1,4,false,"0,1","0,4",
5,4,4,2x2x1,2,4,,16,false,"0,2,4,6","0,2,1,3",4 tasks of 3 GiB need more than the node'"'"'s 8 GiB
6,4,4,2x1x2,2,2,,4,false,"0,1,4,5","0,4,1,5",4 tasks of 3 GiB need more than the node'"'"'s 8 GiB
7,4,4,1x2x2,1,2,,2,false,0-3,"0,4,2,6",4 tasks of 3 GiB need more than the node'"'"'s 8 GiB
8,8,2,2x2x2,2,4,,1,false,0-7,"0,4,2,6,1,5,3,7",8 tasks of 3 GiB need more than the node'"'"'s 8 GiB'

# JSON is read by something that is not ours.
list --machine systemg:16 --format json
if python3 - out <<'END' >told 2>&1; then
import json, sys
record = json.load(open(sys.argv[1]))
assert record["schema"] == "hopcast.patterns/1"
assert record["levels"] == {"package": 2, "L2": 4, "core": 8}
assert record["ranks"] is None and record["node_memory_bytes"] == 8 << 30
assert [p["energy_rank"] for p in record["patterns"]] == [8, 7, 6, 5, 4, 3, 2, 1]
assert [p["symmetries"] for p in record["patterns"]] == [8, 16, 8, 4, 16, 4, 2, 1]
six = record["patterns"][5]
assert six["takes"] == {"package": 2, "L2": 1, "core": 2}
assert six["used"] == {"package": 2, "L2": 2, "core": 4}
assert six["cores"] == [0, 1, 4, 5] and six["cpus"] == [0, 4, 1, 5]
assert six["nodes"] is None and six["excluded"] is None and six["uneven"] is False
END
  ok "JSON"
else
  not_ok "JSON" "$(cat told err)"
fi

# Ranks that do not come out even.
list --machine systemg:16 --ranks 12 --format csv
if grep -q '^8,8,2,.*,,1,false,.*,12 ranks are no multiple of 8 tasks$' out && grep -q '^7,4,3,.*,1,2,false,.*,$' out; then
  ok "indivisible ranks"
else
  not_ok "indivisible ranks" "$(cat out err)"
fi
list --machine systemg:16 --ranks 12 --part-filled --format csv
holds "a part-filled node" grep -q '^8,8,2,.*,1,1,false,.*,$' out

# What the numbers mean elsewhere: the slots that --pattern gives.
for pattern in 1 4 8; do
  cores=$("$hopcast" aggregate patterns --machine stampede:4 --format csv |
    sed -n "s/^$pattern,\([0-9]*\),.*/\1/p")
  slots=$("$hopcast" map check AT --machine stampede:4 --ranks 1 --pattern $pattern --format csv |
    sed -n '2s/^.*,\([0-9]*\),[0-9]*$/\1/p')
  if test "$((cores * 4))" = "$slots"; then
    ok "slots of pattern $pattern"
  else
    not_ok "slots of pattern $pattern" "$cores cores, $slots slots of 4 nodes"
  fi
done

# The node of a file: hwloc's own text of a machine with hyper-threads.
if command -v lstopo-no-graphics >/dev/null; then
  lstopo-no-graphics -i "pack:2 core:2 pu:2" --of xml node.xml 2>/dev/null
  list --node node.xml --format csv
  holds "a file" test "$(wc -l <out)" -eq 5
  list --node node.xml --threads --ranks 16
  holds "hardware threads" grep -q '^ 8  *8  *2  2x2x2 .* 0-7$' out
else
  skip "a file" "no lstopo"
  skip "hardware threads" "no lstopo"
fi

refused "no node" 2 "--node FILE.xml or --machine SPEC is missing" aggregate patterns
refused "two nodes" 2 "exclude each other" aggregate patterns --machine systemg:2 --node node.xml
refused "more ranks than cores" 1 "systemg:2: 17 ranks are more than 2 nodes of 8 have room for" \
  aggregate patterns --machine systemg:2 --ranks 17
refused "no ranks" 2 "--ranks: 0 is not within" aggregate patterns --machine systemg:2 --ranks 0
refused "memory in another unit" 2 "--memory-per-task: " \
  aggregate patterns --machine systemg:2 --memory-per-task 3parsecs
refused "no memory" 2 "--memory-per-task: must be above 0" \
  aggregate patterns --machine systemg:2 --memory-per-task 0GiB
refused "memory of the node not known" 1 "that of the node is not known" \
  aggregate patterns --machine stampede:2 --memory-per-task 1GiB
list --machine stampede:2 --memory-per-task 1GiB --node-memory 32GiB
holds "memory of the node given" grep -q '; 32 GiB$' out
refused "a torus" 1 "is a torus" aggregate patterns --machine bgq:32
echo '<topology' >broken.xml
refused "broken XML" 1 "broken.xml" aggregate patterns --node broken.xml
refused "no file" 1 "nowhere.xml" aggregate patterns --node nowhere.xml
refused "an argument" 2 "one argument too many" aggregate patterns --machine systemg:2 more
done_testing
