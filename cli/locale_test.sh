#!/bin/sh
# locale_test.sh - the user's locale changes no result: not the decimal comma, not a Turkish i.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# The locales are made here: few machines have them.
LOCPATH=$scratch/locales
mkdir "$LOCPATH"
make_locale () {
  command -v localedef >/dev/null 2>&1 &&
    localedef -i "$1" -f "$2" "$LOCPATH/$1.$2" >localedef.log 2>&1 && test -d "$LOCPATH/$1.$2"
}

cat >good.ti <<'END'
0 init
1 init
0 compute 1250000
0 send 1 0 100000 6
1 recv 0 0 100000 6
0 finalize
1 finalize
END
cat >small.study <<'END'
[traces]
trace = gen:ring:ranks=8,bytes=10000,iterations=2
[machines]
machine = systemg:8
[mappings]
mapping = AT;TA;random(1)
[runs]
network = packet
END
printf '[machine]\nspec = systemg:4\n[switch]\nlatency = 123.5 ns\n' >machine.conf
awk 'BEGIN {
  print "ICI,image,title,y"
  srand (1)
  for (i = 0; i < 40; i++) { a = rand (); b = rand (); print a "," b "," i / 4 "," 2 * a - b / 3 }
}' >table.csv
printf 'src,dst,bytes\n0,1,500\n1,2,1500\n' >pairs.csv

# commands FOLDER: what prints or reads numbers leaves its output in the folder.
commands () {
  mkdir "$1" && cp good.ti small.study machine.conf table.csv pairs.csv "$1" && cd "$1" || exit 99
  for network in packet load flow; do
    test "$network" = flow && test -n "$no_flow" && continue
    for format in table csv json; do
      keep "$network-$format" simulate good.ti --machine machine.conf --network $network \
        --format $format --set ib.cable_latency=12.5ns
    done
  done
  keep files simulate good.ti --machine systemg:4 --links links.out.csv --ranks ranks.out.csv \
    --timeline timeline.json --compute-scale 1.5 -q
  keep torus simulate good.ti --machine torus:4x4 --set link.bandwidth=1.5GB/s --format csv
  keep show machine show machine.conf
  keep check machine check systemg:9 --format csv
  keep links machine links torus:4x4
  keep map map generate --mapping AT --machine systemg:4 --ranks 4
  keep metrics map metrics pairs.csv --machine torus:2x2 --format csv
  keep info trace info good.ti
  keep matrix trace matrix good.ti
  keep generate trace generate ring --ranks 8 --bytes 1536 -o ring.ti
  keep study study run small.study -q
  keep export study export small.store --format csv
  keep rank rank small.store --format csv
  keep score score table.csv --observed y --predicted ICI
  keep train train table.csv --target y --method linear --output model.json --format json
  keep predict predict model.json table.csv
  keep report report small.store -o page.html
  cd ..
}

# keep NAME ARGUMENT...: the output without what differs from run to run.
keep () {
  name=$1
  shift
  "$hopcast" "$@" >"$name.raw" 2>"$name.err" </dev/null
  echo "status $?" >>"$name.raw"
  sed -e '/"wall_s"/d' -e '/"peak_rss/d' "$name.raw" "$name.err" | awk -F, '
    { for (i = 1; i <= NF; i++) if ($i == "wall_s" || $i == "peak_rss_bytes") drop[i] = 1 }
    NF > 10 { for (i in drop) $i = "" }
    { print }' >"$name.got"
}

no_flow=
"$hopcast" simulate good.ti --machine systemg:4 --network flow -q >out 2>err || no_flow=yes
LC_ALL=C
export LOCPATH LC_ALL
commands plain
if grep -L '^status 0' plain/*.raw | grep -q .; then
  not_ok "all commands work" "$(grep -L '^status 0' plain/*.raw)"
else
  ok "all commands work"
fi

for language in tr_TR.UTF-8 tr_TR.ISO-8859-9 de_DE.UTF-8; do
  if ! make_locale "${language%%.*}" "${language#*.}"; then
    skip "$language" "localedef or its sources are not here"
    continue
  fi
  LC_ALL=$language
  commands "$language"
  if test "$language" = de_DE.UTF-8 && test "$(env printf %.1f 1,5 2>&1)" != "1,5"; then
    skip "$language" "the locale is not taken"
    continue
  fi
  LC_ALL=C
  for file in plain/*.got plain/*.out.csv plain/timeline.json plain/model.json; do
    base=${file##*/}
    if ! test -s "$language/$base" || ! cmp -s "$file" "$language/$base"; then
      not_ok "$language: $base is that of C" "$(diff "$file" "$language/$base" | head -6)"
    else
      ok "$language: $base is that of C"
    fi
  done
done

done_testing
