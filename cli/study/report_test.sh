#!/bin/sh
# report_test.sh - the report page: made by the program, used in a real browser.
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

# The policy is alive: a script that was changed after the page was made does not run.
sed 's/^function selfTest/function  selfTest/; s/^async function selfTest/async  function selfTest/' many.html >changed.html
browse changed.html
! cmp -s many.html changed.html && ! test -s result && grep -q 'Content Security Policy' console
verdict $? "a changed script is refused" "$(head -3 console)"
done_testing
