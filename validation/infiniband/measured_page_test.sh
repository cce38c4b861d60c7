#!/bin/sh
# measured_page_test.sh - the report's table of measurements is what the program prints.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154,SC2016  # set by tap.sh; the ticks are Markdown's
#
# With results that are made up; and that the report has every figure, no
# other, in the order of their file.
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

printf '%s\n' '# Page' '' '| `kept` | 1 |' '' '## All rows' '' '| figure | simulated |' '|---|--:|' \
  '| `old` | 1 us |' '' '9 of 9 agree. More.' '' '## Next' '| `kept too` | 2 |' >infiniband.md
printf '%s\n' suite,name,simulated,unit,published_low,published_high,tolerance,deviation,verdict,role \
  infiniband,a,1.23456,us,1,2,0.1,0,agrees,predicted infiniband,b,7,%,,3,0,1.3,differs,calibrated >results.csv
for series in stampede-between stampede-inside connectx-latency; do
  printf '%s\n' "$series,1,1,2,us" "$series,16,100,90,us"
done >points.csv
printf '%s\n' '# Page' '' '| `kept` | 1 |' '' '## All rows' '' '| figure | simulated |' '|---|--:|' \
  '| `a` | 1.235 us | 1..2 ±10% | predicted |  |' '| `b` | 7 % | <= 3 | calibrated | differs |' '' \
  '1 of 2 agree. More.' '' '## Next' '| `kept too` | 2 |' >expected
RESULTS=results.csv POINTS=points.csv sh "$srcdir/validation/infiniband/measured_page.sh" none . 2>err
if cmp -s infiniband.md expected && grep -q '<circle' pingpong-qdr.svg; then
  ok "table and pictures"
else
  not_ok "table and pictures" "$(cat err infiniband.md)"
fi

echo '# No table' >infiniband.md
if RESULTS=results.csv POINTS=points.csv sh "$srcdir/validation/infiniband/measured_page.sh" none . 2>err ||
    test "$(cat infiniband.md)" != '# No table'; then
  not_ok "a page without the table is left alone" "$(cat err infiniband.md)"
else
  ok "a page without the table is left alone"
fi

sed -n '/^## All rows/,/^## The/s/^| `\([a-z0-9_]*\)`.*/\1/p' \
  "$srcdir/validation/reports/infiniband.md" >told
sed -n '/^#/d; /^name,/d; s/,.*//p' "$srcdir/validation/data/infiniband_published.csv" >known
if cmp -s told known; then
  ok "the page has every figure"
else
  not_ok "the page has every figure" "$(diff told known)"
fi

# The times of the all-to-alls on Harpertown; one sets hca.context_miss.
calibrated=$(awk -F, '/^alltoall_(linear|pairwise|bruck)_[0-9]/ && $6 == "calibrated" { print $1 }' \
  "$srcdir/validation/data/infiniband_published.csv")
same "one time of an all-to-all on Harpertown is calibrated" alltoall_pairwise_10 "$calibrated"
done_testing
