#!/bin/sh
# report_test.sh - the pages of `hopcast report`: made by the program, used in a real browser.
#
# SPDX-License-Identifier: Apache-2.0
#
# With #selftest behind its address the page sorts, chooses, reads the pixels of its
# drawings and saves them; what came of it is JSON at the end of the document.
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
invent=${G_TEST_BUILDDIR:-.}/study/report/report_invent

# fails NAME STATUS WORDS COMMAND...: ends with that status and says these words.
fails () {
  name=$1 wanted=$2 words=$3
  shift 3
  run "$@"
  test "$status" = "$wanted" && grep -q -e "$words" err
  verdict $? "$name" "status $status" "$(cat err)"
}

"$invent" many.store && "$invent" few.store 5 torus:4x3m || not_ok "invented stores" "none made"
fails "no place to write" 2 "--output" "$hopcast" report many.store
fails "--top below 0" 2 "--top" "$hopcast" report many.store -o x.html --top -1
fails "no store" 1 "none.store" "$hopcast" report none.store -o x.html
cp few.store kept.store
fails "a store is no place for a page" 1 "kept.store: not replaced" "$hopcast" report kept.store -o kept.store
holds "and is kept" cmp few.store kept.store
fails "no folder" 1 "nowhere" "$hopcast" report many.store -o nowhere/x.html
printf 'not a study\n' >text.study
fails "neither store nor study" 1 "text.study" "$hopcast" report text.study -o x.html
if test -e x.html; then not_ok "nothing left behind" "x.html"; else ok "nothing left behind"; fi

run "$hopcast" report many.store -o many.html
size=$(wc -c <many.html)
if test "$status" = 0 && test "$size" -lt 2000000; then
  ok "84 mappings on 4,096 nodes"
  echo "# $size bytes, links of 14 mappings"
else
  not_ok "84 mappings on 4,096 nodes" "status $status, $size bytes" "$(cat err)"
fi
run "$hopcast" report many.store -o again.html
if cmp -s many.html again.html; then ok "same bytes"; else not_ok "same bytes" "they differ"; fi
run "$hopcast" report few.store -o few.html --title "Few & <many>"
"$hopcast" simulate gen:ring:ranks=16 --machine torus:4x4 -q --report one.html >/dev/null 2>err ||
  not_ok "one run" "$(cat err)"
"$hopcast" simulate gen:ring:ranks=16 --machine fattree:4x4 --network load -q --report load.html \
  >/dev/null 2>err || not_ok "one run without time" "$(cat err)"
cat >a-fabric-with-a-long-name-of-its-own.net <<'END'
Switch 2 "S-0000000000000001" # "leaf0" lid 1
[1] "H-0000000000000010"[1] # "alpha HCA-1" lid 2 4xQDR
[2] "H-0000000000000020"[1] # "beta HCA-1" lid 3 4xQDR

Ca 1 "H-0000000000000010" # "alpha HCA-1"
[1](11) "S-0000000000000001"[1] # lid 2 lmc 0 "leaf0" lid 1 4xQDR

Ca 1 "H-0000000000000020" # "beta HCA-1"
[1](21) "S-0000000000000001"[2] # lid 3 lmc 0 "leaf0" lid 1 4xQDR
END
"$hopcast" simulate gen:ring:ranks=2 --machine fabric:a-fabric-with-a-long-name-of-its-own.net -q \
  --report long.html >/dev/null 2>err || not_ok "one run on a long name" "$(cat err)"
cat >failures.study <<'END'
[traces]
trace = gen:alltoall:ranks=16,bytes=4K,iterations=1
[machines]
machine = fattree:4x4:2
failures = cables every 2; cables 1x sample 3; leaf0
[mappings]
mapping = default;random(1)
END
"$hopcast" study run failures.study -q 2>err
"$hopcast" report failures.study -o failures.html || not_ok "a study of failures" "$(cat err)"
# One case, not one for each part, and the parts of both mappings, each with two kinds of faults.
same "failures are no cases" "1 4" "$(sed -n 's/.*id="data">//p' failures.html | sed 's/<.script>.*//' |
  /usr/bin/python3 -c 'import json, sys; data = json.load (sys.stdin); print (len (data["cases"]), len (data["failures"]))')"
grep -q '<tr><td>leaf0<td><td>16 ranks: ' failures.html
verdict $? "failures without scripts" "$(grep -c 'Single failures' failures.html)"
# Links over time: the page is made from the file alone.
"$hopcast" simulate gen:halo3d:ranks=64,bytes=20000,iterations=2 --machine bgq:32 --ranks-per-node 2 -q --threads 1 \
  --links over-all.csv --links-over-time over.csv.gz >/dev/null 2>err || not_ok "links of a torus" "$(cat err)"
"$hopcast" simulate gen:halo2d:ranks=256,bytes=50000,iterations=2 --machine systemg:64 --ranks-per-node 4 -q \
  --links-over-time fabric.csv --links-every 5us >/dev/null 2>err || not_ok "links of a fabric" "$(cat err)"
succeeds "a film of a torus" "$hopcast" report over.csv.gz -o film.html --title "Halo & <more>"
succeeds "a film of a fabric" "$hopcast" report fabric.csv -o fabric.html
gzip -dc over.csv.gz >over.csv
"$hopcast" report - -o piped.html --title "Halo & <more>" <over.csv 2>err &&
  sed 's/"origin":"standard input"/"origin":"over.csv.gz"/' piped.html | cmp -s - film.html
verdict $? "a film of standard input" "$(cat err)"
awk -F, 'NR == 1 || $1 == 7' over.csv >none.csv
succeeds "a film of nothing" "$hopcast" report none.csv -o none.html
# 4,096 nodes with loads without any pattern, in 205 of 410 frames: what a page has at most.
awk 'BEGIN { print "begin_us,A,B,C,D,E,port,payload_bytes,wire_bytes,busy_share"; seed = 1
  for (frame = 0; frame < 410; frame += 205) for (node = 0; node < 4096; node++) for (port = 0; port < 10; port++) {
    seed = (seed * 16807) % 2147483647; bytes = 20000 - seed % 20000
    printf "%d,%d,%d,%d,%d,%d,%s%s,0,%d,%.6g\n", frame * 10, int(node / 1024), int(node / 256) % 4, int(node / 32) % 8,
      int(node / 2) % 16, node % 2, substr("ABCDE", int(port / 2) + 1, 1), port % 2 ? "+" : "-", bytes, bytes / 20000 } }' >many.csv
run "$hopcast" report many.csv -o many-links.html
size=$(wc -c <many-links.html)
test "$status" = 0 && test "$size" -gt 180000 && test "$size" -lt 400000
verdict $? "a film of 40,960 links: a byte for each link and interval" "$size bytes" "$(cat err)"

refused "a film without mappings" 2 "has no mappings" report over.csv.gz -o x.html --top 3
refused "links of another file" 1 "over-all.csv:1: not the columns of a file that --links-over-time wrote" \
  report over-all.csv -o x.html
head -c 3000 over.csv.gz >torn.csv.gz
refused "a torn gzip file" 1 "torn.csv.gz: damaged gzip file" report torn.csv.gz -o x.html
head -c 3000 over.csv | sed '$s/,[^,]*$//' >torn.csv
refused "a torn file" 1 "torn.csv:$(awk 'END { print NR }' torn.csv): fewer than the 10 cells" report torn.csv -o x.html
refused "no such links" 1 "missing.csv" report missing.csv -o x.html
refused "no room for a film" 1 "/dev/full: cannot write" report over.csv -o /dev/full

if grep -q -i -E '(src|href) *= *["'\'']?(https?:)?//' ./*.html; then
  not_ok "nothing from elsewhere" "$(grep -l -i -E '(src|href) *= *.?(https?:)?//' ./*.html)"
else
  ok "nothing from elsewhere"
fi

if ! command -v chromium >/dev/null; then
  skip "in a browser" "no chromium"
  done_testing
  exit
fi

# browse PAGE: its document after the self-test in dom, what the browser says in said.
browse () {
  timeout 100 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" \
    --virtual-time-budget=60000 --window-size=1200,900 --enable-logging=stderr --v=0 \
    --dump-dom "file://$scratch/$1#selftest" >dom 2>said </dev/null
  sed -n '/<pre id="selftest">{/,/<\/pre>/p' dom >result
  grep -a CONSOLE said >console
}

# member NAME: a number of the self-test's result.
member () {
  sed -n "s/^ \"$1\": \([0-9]*\),*\$/\1/p" result
}

# used PAGE CHECKS: the self-test made at least that many checks, all went well,
# and the console stayed empty.
used () {
  browse "$1"
  if test "$(member failed)" = 0 && test "$(member checks)" -ge "$2" && ! test -s console; then
    ok "$1 is used"
    echo "# $(member checks) checks"
  else
    not_ok "$1 is used" "$(member checks) checks" "$(sed -n '/"wrong"/,/"results"/p' result)" \
      "$(head -5 console)" "$(tail -3 said)"
  fi
}

used many.html 50
used few.html 50
used one.html 8
used load.html 8
used long.html 8
used failures.html 15
used film.html 12
used fabric.html 12

# The table of a frame is that interval of the file: the link at its top has the largest share, to a step.
timeout 100 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir="$scratch/profile" \
  --virtual-time-budget=60000 --dump-dom "file://$scratch/film.html#frame=4" >dom 2>said </dev/null
top=$(grep -o '<button type="button">[^<]* of [^<]*</button></td><td[^>]*>[0-9.]* %' dom | head -1)
link=$(printf '%s\n' "$top" | sed 's/.*"button">\([^<]*\)<.*/\1/') share=$(printf '%s\n' "$top" | sed 's/.*>\([0-9.]*\) %/\1/')
awk -F, -v link="$link" -v share="$share" '
  $1 == 30 { name = $7 " of " $2 "," $3 "," $4 "," $5 "," $6; if (name == link) own = $10; if ($10 > most) most = $10 }
  END { exit !(most > 0.1 && own > most - 0.005 && share > 100 * most - 0.5 && share < 100 * most + 0.5) }' over.csv
verdict $? "a frame is its interval" "'$link' $share" "$(grep -c . dom) lines" "$(tail -3 said)"
browse none.html
grep -q 'No link sent anything' dom && grep -q 'data-ready="yes"' dom && ! test -s console
verdict $? "nothing was sent" "$(head -5 console)"

# The policy is alive: a script that was changed after the page was made does not run.
sed 's/^function selfTest/function  selfTest/; s/^async function selfTest/async  function selfTest/' many.html >changed.html
browse changed.html
! cmp -s many.html changed.html && ! test -s result && grep -q 'Content Security Policy' console
verdict $? "a changed script is refused" "$(head -3 console)"
done_testing
