#!/bin/sh
# study_failures_test.sh - studies of single failures: bytes and slow-downs worked by hand; the same table
# however the store was made.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# fails NAME STATUS WORDS COMMAND...: it ends so, with these words in one line.
fails () {
  name=$1 wanted=$2 words=$3
  shift 3
  run "$@"
  test "$status" -eq "$wanted" && test "$(wc -l <err)" -eq 1 && grep -qF -- "$words" err
  verdict $? "$name" "exit $status" "$(cat err)"
}

# --- By hand ---

# An all-to-all of 16 nodes, M bytes to each.  A node's own cable carries 15 M.  A leaf sends 4 x 12
# messages up by four cables, 12 M each.  Without one of them three carry 16 M.  Two of the leaf's nodes
# are reached over the spine that has one cable to it left, from 12 others each: 24 M, 1.6 times 15 M.
cat >bytes.study <<'END'
[traces]
trace = gen:alltoall:ranks=16,bytes=64K,iterations=1
[machines]
machine = fattree:4x4:2
failures = leaf0:5
[runs]
network = load
keep-links = true
END
run "$hopcast" study run -q bytes.study
holds "a cable out" test "$status" -eq 0
"$hopcast" study export bytes.study --what links >links.csv
# loads RUN: how many links carry how many M.
loads () {
  awk -F, -v run="$1" 'NR > 1 && $1 == run { n[$4 / 65536]++ } END { for (m in n) printf "%dx%g\n", n[m], m }' links.csv |
    sort -t x -k 2 -n | tr '\n' ' '
}
same "bytes of the whole tree" "32x12 32x15 " "$(loads 0)"
case $(loads 1) in
  *" 32x15 "*"x16 1x24 ") ok "bytes that shift" ;;
  *) not_ok "bytes that shift" "$(loads 1)" ;;
esac
run "$hopcast" study failures bytes.study --format csv
same "their slow-down" "983040 0.600000 0.600000 leaf0:5" \
  "$(awk -F, 'NR > 1 { printf "%s %.6f %.6f %s", $(NF - 3), $(NF - 2), $(NF - 1), $NF }' out)"

# A node alone on each leaf, which has a single cable to the spine: each cable cuts a node off.
cat >single.study <<'END'
[traces]
trace = gen:alltoall:ranks=4,bytes=4K,iterations=1;gen:ring:ranks=2,bytes=4K,iterations=1
[machines]
machine = fattree:4x1:1
failures = cables; spine0
[mappings]
skip-unfit = true
END
run "$hopcast" study run -q single.study
holds "cables without which a job does not run" test "$status" -eq 3
run "$hopcast" study failures single.study --format csv
same "all for four ranks, two and the spine for two" "5 5 0 5 3 0 " \
  "$(awk -F, 'NR > 1 { printf "%s %s %s ", $(NF - 6), $(NF - 5), $(NF - 4) }' out)"
same "where it runs it is as fast" ":0:" "$(awk -F, 'NR > 1 { printf "%s:", $(NF - 1) }' out)"
run "$hopcast" study failures single.study
grep -q '^single points of failure$' out && grep -Eq '^  leaf0:2 +2  fattree:4x1:1  .*no way from node0 to node1' out &&
  grep -Eq '^  leaf3:2 +1  fattree:4x1:1  .*no way from node0 to node3' out
verdict $? "they are told, with the reason" "$(cat out)"

# --- However the store was made ---

cat >tree.study <<'END'
[traces]
trace = gen:alltoall:ranks=16,bytes=4K,iterations=1
[machines]
machine = fattree:4x4:2
failures = cables every 3; switches; cables 1x sample 3 seed 7
[mappings]
mapping = default;random(1)
END
run "$hopcast" study run tree.study --dry-run
has_lines "the dry run tells of them" out "runs     32" \
  "out      cables every 3 on fattree:4x4:2: 6 of 16" \
  "         switches on fattree:4x4:2: 6 of 6" \
  "         cables 1x sample 3 seed 7 on fattree:4x4:2: 3 of 16"
run "$hopcast" study run tree.study --store whole.store
holds "a study" test "$status" -eq 3
grep -q "next: hopcast study failures whole.store" err
verdict $? "the next command" "$(cat err)"
# answer STORE: what is told of it, without its path.
answer () {
  "$hopcast" study failures "$1" --parts --format csv
  "$hopcast" study failures "$1" --format json | grep -v '"store"'
}
answer whole.store >whole
for i in 3 1 2; do
  "$hopcast" study run -q --shard $i/3 --store part$i.store tree.study 2>>err
done
"$hopcast" study merge -q all.store part2.store part3.store part1.store
answer all.store >all
holds "of shards the same" cmp whole all
# Ended by force somewhere, perhaps after its end, and begun again.
timeout -s KILL 0.1 "$hopcast" study run -q tree.study --store again.store 2>/dev/null
run "$hopcast" study status again.store
"$hopcast" study run -q tree.study --store again.store
answer again.store >again
holds "resumed the same" cmp whole again
run "$hopcast" study status whole.store
grep -Eq '^ +2 +2 +0 +0  gen:alltoall.*, fattree:4x4:2, packet$' out &&
  grep -Eq '^ +30 +22 +8 +0  gen:alltoall.*, fattree:4x4:2 with a part out, packet$' out
verdict $? "status has a line for all of them" "$(cat out)"
run "$hopcast" rank whole.store -o best.map
test -s best.map && test "$(grep -c ^case out)" = 1 && grep -q '^not shown: 15 cases with a part out' out
verdict $? "rank shows the whole machine" "$(cat out err)"
run "$hopcast" rank whole.store --case failed=leaf0:5
holds "and a part that is asked for" grep -q '^case 2: .* failed=leaf0:5, packet$' out
run "$hopcast" study failures part2.store
holds "of one shard alone" grep -q "^not made yet: 2[12] runs of the study$" out
run "$hopcast" study failures whole.store --parts --tie 0.5
grep -q "by more than 50 %" out && grep -Eq '^  leaf0 +- +- +12  16 ranks' out
verdict $? "parts and tie" "$(cat out)"

# --- Wrong ---

# More ranks than nodes: no part is to blame.
printf '%s\n' '[traces]' 'trace = gen:ring:ranks=5' '[machines]' 'machine = fattree:2x2:2' 'failures = leaf0; cables 1x' >large.study
"$hopcast" study run -q large.study
run "$hopcast" study failures large.study
test "$(grep -c '^without a failure too it does not run: .*: 5 ranks: ' out)" = 1 && ! grep -q 'single points' out
verdict $? "a job that does not run at all" "$(cat out)"
sed '/^failures/d' tree.study >none.study
"$hopcast" study run -q none.study
fails "no failures" 1 "no run with a part out is there" "$hopcast" study failures none.study
sed 's/^machine = .*/machine = torus:4x4/' tree.study >torus.study
fails "a torus" 1 "torus.study:5: machines.failures: only fabrics" "$hopcast" study run torus.study
x5=$srcdir/validation/data/fabrics/x5
sed "s#^machine = .*#machine = fabric:$x5/X5.topofile,routes=$x5/opensm-minhop-lfts.dump#" tree.study >dumped.study
fails "dumped tables" 1 "dumped.study:5: machines.failures: " "$hopcast" study run dumped.study
sed 's/^failures = .*/failures = cables 1x sample 2/' dumped.study >degraded.study
run "$hopcast" study run -q degraded.study
holds "which degraded cables may have" test "$status" -eq 0
sed 's/^failures = .*/failures = cables every/' tree.study >bad.study
fails "bad words" 1 "bad.study:5: machines.failures: " "$hopcast" study run bad.study
done_testing
