#!/bin/sh
# bench_test.sh - the program of `make bench` on small machines, and the table of the handbook.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
#
# No speed is tested: only that every figure is there and possible.
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
bench=${G_TEST_BUILDDIR:-$srcdir}/tools/bench/bench
page=$srcdir/doc/handbook/performance.md
history=$srcdir/validation/bench/history.csv

# Every kind of row, and both kinds of machine; SimGrid is slow and is looked at on its own.
small='bgq:1024*,fattree:18x18:9 uniform*,*adapters*,replay of 8 B*,ti CoMD*,hct CoMD*'
if is_sanitized; then small='bgq:1024 uniform,fattree:18x18:9 uniform,replay of 8 B*,ti CoMD*'; fi
run "$bench" --seconds 0 --most-nodes 32 --rows "$small" --format csv
wanted=$("$bench" --list --rows "$small" | cut -f1)
same "all rows have figures" "$wanted" "$(column row out)"
# impossible: the names of rows whose figures cannot be.
impossible () {
  awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    !($at["median"] > 0 && $at["quartile1"] > 0 && $at["quartile1"] <= $at["median"] &&
      $at["median"] <= $at["quartile3"] && $at["samples"] >= 1) { print $at["row"]; next }
    $at["beside"] != "" && !($at["ratio"] > 0 &&
      $at["ratio"] / ($at["median"] / $at["beside_median"]) > 0.999 &&
      $at["ratio"] / ($at["median"] / $at["beside_median"]) < 1.001) { print $at["row"]; next }
    # No packet network is faster than light, or a thousand times slower.
    $at["beside"] == "light" && !($at["ratio"] < 1 && $at["ratio"] > 0.001) { print $at["row"]; next }
    $at["unit"] == "M hops/s" && !($at["bytes_per_node"] > 3900) { print $at["row"] }
    $at["row"] ~ /replay/ && !($at["bytes_per_rank"] > 100) { print $at["row"] }' out
}
bad=$(impossible)
test "$status" = 0 && test -z "$bad"
verdict $? "the figures are possible" "status $status" "$bad" "$(cat out)"
test "$(grep -c '^[0-9]*/[0-9]*  ' err)" = "$(printf '%s\n' "$wanted" | wc -l)"
verdict $? "each row is a line of progress" "$(cat err)"

run "$bench" --seconds 0 --most-nodes 32 --rows 'bgq:128 uniform flow,bgq:128 uniform smpirun' --format csv
test "$status" = 0 && awk -F, 'NR > 1 && !($7 > 0 && $12 > 0) { exit 1 }' out &&
  test "$(grep -c 'skipped: \|messages/s' err)" = 2
verdict $? "SimGrid's rows are measured or say why not" "status $status" "$(cat out err)"
(PATH=/nowhere && exec "$bench" --seconds 0 --most-nodes 32 --rows 'bgq:128 uniform smpirun' >out 2>err)
holds "without smpirun its row is skipped" grep -q 'skipped: smpirun is not installed' err

run "$bench" --seconds 0 --rows 'bgq:98304 uniform' --format csv
holds "the largest machines are left out of a quick look" grep -q 'skipped: takes 300 seconds' err

# Two builds by turns: here one and the same.
run "$bench" --seconds 0 --most-nodes 32 --rows 'bgq:1024 uniform' --against "$bench" --format csv
test "$status" = 0 && awk -F, 'NR == 2 { ok = $3 > 0 && $4 > 0 && $5 > 0.02 && $5 < 50 && $8 >= 3 } END { exit !ok }' out
verdict $? "--against compares by turns" "status $status" "$(cat out err)"
cat >packet_bench <<'END'
#!/bin/sh
test "$1" = --measure && exit 1
echo "$*" >>"$0.log"
echo "$1 uniform random   7.2 M hops   0.65 s wall  0.50 M hops/s (10.84 .. 11.53)"
END
chmod +x packet_bench
run "$bench" --seconds 0 --rows 'bgq:512 uniform' --against "$scratch/packet_bench" --format csv
same "an earlier packet_bench gets the same messages" "bgq:512 u 80" "$(sort -u packet_bench.log)"
same "and its figure is found" 0.5 "$(column against out)"
run "$bench" --seconds 0 --rows 'bgq:512 uniform' --against false --format csv
holds "a program without the row is named" grep -q 'skipped: false does not have it' err
run "$bench" --rows nothing
test "$status" = 2 && grep -q 'no such row' err
verdict $? "a row that is not there" "status $status" "$(cat err)"

# The page.
rows_of_page () {
  sed -n '/^<!-- figures -->$/,/^<!-- end of figures -->$/s/^| \([^|]*[^ |]\) *|.*/\1/p' "$1" | sed 1d | grep -v '^---'
}
same "the handbook has all rows" "$("$bench" --list | cut -f1)" "$(rows_of_page "$page")"
cp "$page" page.md
holds "it is made again" sh "$srcdir/tools/bench/bench_page.sh" "$bench" "$history" page.md
same "and stays as it is: the figures are those of the history" "$(cat "$page")" "$(cat page.md)"
sed 's/^<!-- figures -->$//' "$page" >without.md
if sh "$srcdir/tools/bench/bench_page.sh" "$bench" "$history" without.md 2>err; then
  not_ok "a page without its place is refused"
else
  holds "a page without its place is refused" grep -q 'without.md has no lines' err
fi
done_testing
