#!/bin/sh
# visible_test.sh - control characters of files do not reach the terminal.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

LC_ALL=C
export LC_ALL
esc=$(printf '\033')
evil=$(printf 'e\033]0 title\007\033[31m\302\233m')
shown='e\\x1b\]0 title\\x07\\x1b\[31m\\x9bm'

cat >"$evil.ti" <<'END'
0 init
1 init
0 send 1 0 1000 6
1 recv 0 0 1000 6
0 finalize
1 finalize
END
cat >"$evil.net" <<END
Switch 4 "S-0000000000000001" # "leaf$evil" lid 1
[1] "H-0000000000000010"[1] # "alpha$evil HCA-1" lid 2 4xQDR
[2] "H-0000000000000020"[1] # "beta HCA-1" lid 3 4xQDR

Ca 1 "H-0000000000000010" # "alpha$evil HCA-1"
[1](11) "S-0000000000000001"[1] # lid 2 lmc 0 "leaf" lid 1 4xQDR

Ca 1 "H-0000000000000020" # "beta HCA-1"
[1](21) "S-0000000000000001"[2] # lid 3 lmc 0 "leaf" lid 1 4xQDR
END
{ cat "$evil.net" && printf 'Rt 4 "%s"\n' "$evil"; } >cut.net
printf '0 0\n1 0\n' >"$evil.map"
printf 'x,y,who%s\n1,2,%s\n2,3,%s\n4,1,b\n3,5,b\n' "$evil" "$evil" "$evil" >table.csv
cat >evil.study <<END
[study]
name = $evil
[traces]
trace = $evil.ti
[machines]
machine = fabric:$evil.net,node=harpertown
[mappings]
mapping = AT;$evil.map;none$evil.map
END
printf '[machine]\nspec = systemg:4\n[switch]\nlatency = 5 %s\n' "$evil" >unit.conf
sed "s/1000/$evil/" "$evil.ti" >bad.ti

# hides NAME ARGUMENT...: nothing of the terminal's commands comes out, on either stream, but the text
# does, visibly.
hides () {
  name=$1
  shift
  run "$hopcast" "$@"
  if LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" out err || grep -q "$(printf '\302\233')" out err; then
    not_ok "$name" "$(cat -v out err | grep -e '\^' -e 'M-B' | head -5)"
  elif ! cat out err | grep -q "$shown"; then
    not_ok "$name" "no visible text" "$(cat -v out err | head -5)"
  else
    ok "$name"
  fi
}

machine="fabric:$evil.net,node=harpertown"
hides "simulate" simulate "$evil.ti" --machine "$machine" --mapping "$evil.map"
hides "a missing file" simulate "no$evil" --machine bgq:32
hides "a bad line" simulate bad.ti --machine bgq:32
hides "a bad machine" machine show "cray$evil"
hides "a bad unit" machine show unit.conf
hides "a fabric's text in an error" machine check fabric:cut.net
hides "a record as a table" machine check "$machine"
hides "an unknown option" simulate "--$evil"
hides "an unknown command" "sim$evil"
hides "study run" study run evil.study --store evil.store
hides "study status" study status evil.store
hides "rank" rank evil.store
hides "score" score table.csv --observed x --predicted y --group "who$evil"
printf '%s,y\n1,2\n2,3\n4,1\n3,5\n5,2\n7,8\n2,2\n3,1\n9,4\n' "$evil" >features.csv
hides "train" train features.csv --target y --validate splits:3 --importances impurity

# What programs read is as it was.
run "$hopcast" simulate "$evil.ti" --machine "$machine" --format csv -q
if grep -q "$esc" out; then ok "CSV has the bytes"; else not_ok "CSV has the bytes" "$(cat -v out)"; fi
run "$hopcast" simulate "$evil.ti" --machine "$machine" --format json -q
! grep -q "$esc" out && grep -q '"trace": "e\\u001b]0' out
verdict $? "JSON escapes by itself" "$(grep trace out | cat -v)"

# --- Formulas ---

cat >formula.net <<'END'
Switch 4 "S-0000000000000001" # "=cmd|'/c calc'!A1" lid 1
[1] "H-0000000000000010"[1] # "@SUM(1,2) HCA-1" lid 2 4xQDR
[2] "H-0000000000000020"[1] # "-2+3 HCA-1" lid 3 4xQDR

Ca 1 "H-0000000000000010" # "@SUM(1,2) HCA-1"
[1](11) "S-0000000000000001"[1] # lid 2 lmc 0 "leaf" lid 1 4xQDR

Ca 1 "H-0000000000000020" # "-2+3 HCA-1"
[1](21) "S-0000000000000001"[2] # lid 3 lmc 0 "leaf" lid 1 4xQDR
END
cp "$evil.ti" =1+1.ti

# formulas FILE: how many fields of the CSV begin like one and are no number.
formulas () {
  sed 's/"\([^"]*\)"/\1/g; s/,/\n/g' "$1" | grep '^[=+@-]' | grep -cv '^[-+]*[0-9.]*\(e[-+]*[0-9]*\)*$'
}

run "$hopcast" machine links fabric:formula.net,node=harpertown
cp out raw
run "$hopcast" machine links fabric:formula.net,node=harpertown --csv-safe
test "$(formulas raw)" -gt 0 && test "$(formulas out)" = 0 && grep -q "'=cmd" out &&
  grep -q "\"'@SUM(1,2) HCA-1\"" out && sed "s/'\([=@-]\)/\1/g" out | cmp -s - raw
verdict $? "links with --csv-safe" "$(diff raw out)"
run "$hopcast" simulate =1+1.ti --machine bgq:32 --format csv --csv-safe -q
test "$status" = 0 && test "$(formulas out)" = 0 && grep -q ",'=1+1.ti," out
verdict $? "a record with --csv-safe" "$(cat out)"
printf '=A1,y\n-1.5,2\n2e-3,3\n4,1\n3,5\n5,2\n7,8\n2,2\n3,1\n9,4\n' >numbers.csv
"$hopcast" train numbers.csv --target y --validate none -o model.json >/dev/null 2>&1
run "$hopcast" predict model.json numbers.csv --csv-safe
test "$status" = 0 && head -1 out | grep -q "^'=A1,y," && sed -n 2p out | grep -q '^-1.5,2,' &&
  sed -n 3p out | grep -q '^2e-3,3,'
verdict $? "a copied table with --csv-safe: names change, numbers do not" "$(head -3 out)" "$(cat err)"

# A line end in a name makes no line.
newline="one
hopcast: all is well"
run "$hopcast" trace info "$newline"
test "$(wc -l <err)" = 1 && grep -q 'one\\x0ahopcast' err
verdict $? "a line end in a name" "$(cat err)"

done_testing
