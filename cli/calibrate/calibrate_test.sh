#!/bin/sh
# calibrate_test.sh - `hopcast calibrate` and `hopcast machine test`, with right and wrong files.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
spec=edr:2,node=skylake

# A cluster that is a good half slower than the defaults between nodes.
mkdir measured
cat >measured/latency.txt <<'END'
# OSU MPI Latency Test v5.6.2
# Size          Latency (us)
1                       1.52
8                       1.53
64                      1.58
512                     2.41
2048                    2.95
8192                    4.90
65536                  15.80
END
cat >measured/allreduce.txt <<'END'
# hopcast: ranks=8 ranks-per-node=4 cores=scatter
# OSU MPI Allreduce Latency Test v5.6.2
# Size       Avg Latency(us)
4                       4.10
1024                    9.20
END
cat >measured/other.txt <<'END'
# OSU MPI_Put Latency Test v5.6.2
# Size          Latency (us)
1                       1.70
END

# --- calibrate ---

run "$hopcast" calibrate measured --machine $spec -o fitted.conf -q
test "$status" = 0 && test ! -s err && grep -q '^hca.receive_latency .*latency.txt:3-9' out
verdict $? "a folder is fitted" "$(cat err out)"
grep -q '^osu_allreduce .* a collective: only predicted' out
verdict $? "collectives are named and not fitted" "$(cat out)"
grep -q '^OSU MPI_Put Latency Test .* not simulated' out
verdict $? "other benchmarks are named" "$(cat out)"
grep -q '^# calibrated \[M\], 95 % interval .* to .* before 290 ns:$' fitted.conf &&
  grep -q '^# latency.txt:3-9$' fitted.conf
verdict $? "the file has intervals and origins" "$(head -40 fitted.conf)"
grep -q '^#   ib.cable_latency: not to be told from hca.receive_latency$' fitted.conf
verdict $? "the file names the parameters that are not determined" "$(head -40 fitted.conf)"
"$hopcast" machine show fitted.conf 2>/dev/null | grep -v '^#' >again
grep -v '^#' fitted.conf | sed 1d | cmp -s - again
verdict $? "the file is a machine" "$(grep -v '^#' fitted.conf | sed 1d | diff - again)"
latency=$(sed -n 's/^receive_latency = //p' fitted.conf)
echo "$latency" | awk '{ ns = $2 == "us" ? 1000 * $1 : $1; exit !(ns > 500 && ns < 1300) }'
verdict $? "a slower adapter has a longer latency" "$latency"

run "$hopcast" calibrate measured --machine $spec -q --threads 1 --format json
test "$status" = 0 && cmp -s out fitted.conf
verdict $? "standard output has the same file alone, with one thread" "$(diff out fitted.conf)"
test "$(json schema err)" = hopcast.calibration/1 && grep -q '"error_left_out": 0' err
verdict $? "then the figures are on standard error, as JSON" "$(cat err)"

printf '# OSU MPI Latency Test v5.6.2\n# Size Latency (us)\n1 1.0\n2 oops\n' >broken.txt
printf '# hopcast: nodes=0,7\n# OSU MPI Latency Test v5.6.2\n# Size Latency (us)\n1 1.0\n' >far.txt
printf '# OSU MPI Bcast\n' >empty.txt
refused "no file" 2 'MEASURED is missing' calibrate --machine $spec
refused "no machine" 2 '--machine SPEC is missing' calibrate measured
refused "a broken figure" 1 'broken.txt:4: osu_latency: expected a size and a figure in column 2, found "2 oops"' \
  calibrate --machine $spec -o x.conf broken.txt
refused "a node that is not there" 1 'far.txt:4: 2 ranks, 1 on a node: no node 7' calibrate --machine $spec -q far.txt
refused "no figures" 1 "empty.txt: no figures of OSU's" calibrate --machine $spec -q empty.txt
refused "a missing file" 1 'nothing: No such file' calibrate --machine $spec -q nothing
refused "collectives alone" 1 '0 figures of messages' calibrate --machine $spec -q measured/allreduce.txt -o y.conf
refused "a folder that is not there" 1 'no/such/folder' calibrate --machine $spec measured -q -o no/such/folder/x.conf

# The table of hopcast-pingpong has the placements; aggregate table simulates it.
"$hopcast" machine show systemg:2 2>/dev/null |
  sed 's/^read_latency = .*/read_latency = 1.5 us/; s/^package_latency = .*/package_latency = 60 ns/' >truth.conf
"$hopcast" aggregate table --machine truth.conf --max-pairs 0 --max-outside 0 --sizes 1,64,1024,4096,65536 -o table.csv -q
run "$hopcast" calibrate table.csv --machine systemg:2 -o x.conf -q --format csv
test "$(head -n 1 out)" = parameter,fitted,before,value,low,high,note
verdict $? "CSV" "$(cat out)"
test "$status" = 0 && awk -F, '
  $1 == "hca.read_latency" { sub(/ us/, "", $5); sub(/ us/, "", $6); found += $2 == "true" && $5 <= 1.5 && $6 >= 1.5 }
  $1 == "memory.package_latency" { sub(/ ns/, "", $5); sub(/ ns/, "", $6); found += $2 == "true" && $5 <= 60 && $6 >= 60 }
  END { exit found != 2 }' out
verdict $? "planted latencies of two placements come back" "$(cat out err)"

# --- machine test ---

refused "nothing to test by" 2 '--measured FILE is missing' machine test $spec
refused "a broken figure in a test" 1 'broken.txt:4:' machine test $spec --measured broken.txt
refused "a missing folder in a test" 1 'nothing: No such file' machine test $spec --measured nothing
run "$hopcast" machine test fitted.conf --measured measured --details points.csv --format csv
test "$status" = 0
verdict $? "a machine is tested" "$(cat err)"
grep -q 'warning: measured/other.txt:3: OSU MPI_Put Latency Test is not simulated' err
verdict $? "other benchmarks are warnings" "$(cat err)"
awk -F, '$1 == "osu_latency" { found = $6 == 7 && $8 < 0.1 } END { exit !found }' out
verdict $? "what was fitted agrees" "$(cat out)"
grep -q '^osu_allreduce,allreduce,measured/allreduce.txt,4,8,2,0,' out
verdict $? "collectives are predicted" "$(cat out)"
test "$(wc -l <points.csv)" = 11 && test "$(grep -c '^OSU MPI_Put.*,$' points.csv)" = 1
verdict $? "every point" "$(cat points.csv)"
run "$hopcast" machine test $spec --measured measured/latency.txt --limit 0.1 -q
test "$status" = 1 && grep -q BEYOND out
verdict $? "beyond the limit" "status $status" "$(cat out)"
run "$hopcast" machine test fitted.conf --measured measured/latency.txt --limit 0.1 -q --format json
test "$status" = 0 && grep -q '"verdict": "within"' out && test "$(json schema out)" = hopcast.machine-test/1
verdict $? "within the limit, JSON" "status $status" "$(cat out)"
run "$hopcast" machine test fitted.conf --measured measured/latency.txt --packets 50 --format csv
test "$status" = 0 && grep -q '^osu_latency,latency,measured/latency.txt,3,2,6,1,' out
verdict $? "points of many packets are left out" "$(cat out)"
mkdir notes && echo "run on Monday" >notes/README && cp measured/latency.txt notes
run "$hopcast" machine test $spec --measured notes
test "$status" = 0 && grep -q 'warning: notes/README: no figures of a known benchmark' err
verdict $? "a file of a folder that is none is a warning" "$(cat err)"
done_testing
