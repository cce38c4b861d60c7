#!/bin/sh
# trust_test.sh - the table of what to trust, from results that are made up.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# A program that answers as `hopcast validate SUITE --format csv --details FILE`.
cat >made-up <<'END'
#!/bin/sh
cat "$2.csv"
cat "$2.points" >"$6"
exit 1
END
chmod +x made-up

# Errors of 100, 50 and 20 %, the last one too fast; no figure of an unknown cluster or without a time.
cat >modern.points <<'END'
series,point,published,simulated,unit
alaska,osu_latency ranks=2 per_node=1 bytes=8,1,2,us
alaska,osu_latency ranks=2 per_node=1 bytes=16,1,1.5,us
alaska,osu_latency ranks=2 per_node=1 bytes=32,1.2,1,us
abci_v,osu_bw ranks=2 per_node=1 bytes=32,100,200,MB/s
abci_v,osu_bw ranks=2 per_node=1 bytes=64,100,150,MB/s
csd3,osu_mbw_mr ranks=32 per_node=16 bytes=8,100,50,messages/s
csd3,osu_mbw_mr ranks=32 per_node=16 bytes=8,1000,1000,MB/s
csd3,imb_uniband ranks=2 per_node=56 bytes=4096,100,110,1/s
csd3,imb_biband ranks=32 per_node=32 bytes=8192,100,400,MB/s
leonardo,allreduce ranks=32 per_node=1 bytes=1024,10,20,us
leonardo,allreduce ranks=32 per_node=1 bytes=2048,10,40,us
impi,osu_latency ranks=2 per_node=1 bytes=8,1,9,us
abci_a,osu_latency ranks=2 per_node=1 bytes=8,1,0,us
END
echo suite,name,verdict,role >modern.csv
printf '%s\n' suite,name,verdict,role infiniband,a,agrees,predicted infiniband,b,differs,predicted \
  'infiniband,c,not run,predicted' infiniband,d,agrees,calibrated >infiniband.csv
printf '%s\n' suite,name,verdict,role bgq,a,agrees,predicted >bgq.csv
: >infiniband.points
: >bgq.points
cat >expected <<'END'
| quantity | generation | cluster with calibrated numbers | clusters without |
|---|---|--:|--:|
| latency of a pair | EDR | 50 % (3) |  |
| bandwidth of a pair | EDR |  | 73 % (2) |
| message rate of several pairs | HDR100 | 100 % (1) |  |
| bandwidth of several pairs | HDR100 |  | 0 % (1) |
| rate within a node | HDR100 |  | 10 % (1) |
| bandwidth within a node | HDR100 |  | 300 % (1) |
| collectives up to 1 KiB | HDR |  | 100 % (1) |
| collectives beyond | HDR |  | 300 % (1) |

| machine | calibrated figures that agree | predicted figures that agree |
|---|--:|--:|
| QDR to EDR clusters of 2009 to 2016 | 1 of 1 | 1 of 2 |
| Blue Gene/Q | 0 of 0 | 1 of 1 |
END
printf '%s\n' before '<!-- trust -->' old '<!-- -->' after >page
{
  printf '%s\n' before '<!-- trust -->'
  cat expected
  printf '%s\n' '<!-- -->' after
} >page-expected
run "$srcdir/validation/trust" ./made-up page
if test "$status" = 0 && cmp -s out expected && cmp -s page page-expected; then
  ok "medians by quantity and generation, and a page"
else
  not_ok "medians by quantity and generation, and a page" "status $status" "$(diff out expected)" "$(cat err page)"
fi

for page in README.md doc/handbook/validation.md; do
  sed -n '/^<!-- trust -->$/,/^<!-- -->$/p' "$srcdir/$page" >"$(basename "$page")"
done
if cmp -s README.md validation.md && test "$(grep -c '^| ' README.md)" -gt 10; then
  ok "README.md and the handbook have the same table"
else
  not_ok "README.md and the handbook have the same table" "$(diff README.md validation.md)"
fi
done_testing
