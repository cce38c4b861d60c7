#!/bin/sh
# messages_test.sh - what an error says: the place in our form, and the word that was meant.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# says NAME STATUS TEXT ARGUMENT...: one line on standard error, which holds TEXT and nothing of
# GLib's own words.
says () {
  name=$1 expected=$2 text=$3
  shift 3
  run "$hopcast" "$@"
  if test "$status" != "$expected" || test "$(wc -l <err)" != 1; then
    not_ok "$name" "status $status instead of $expected, or not one line" "$(cat err)"
  elif ! grep -qF -e "$text" err; then
    not_ok "$name" "the line does not say '$text'" "$(cat err)"
  elif grep -q -e 'Failed to' -e 'Error on line' -e '<data>' -e 'Key file' -e 'Cannot parse' \
    -e 'Unknown option' -e 'Missing argument' -e '“' err; then
    not_ok "$name" "words of GLib" "$(cat err)"
  else
    ok "$name"
  fi
}

cat >good.ti <<'END'
0 init
1 init
0 send 1 0 1000 6
1 recv 0 0 1000 6
0 finalize
1 finalize
END
printf 'alpha,beta,time_s\n1,2,3\n2,3,4\n3,5,5\n4,7,8\n5,8,9\n6,9,10\n' >t.csv
printf '[traces]\ntrace = good.ti\n[machines]\nmachine = torus:2x2\n[mappings]\nmapping = default;TAB\n' >s.study
"$hopcast" study run s.study --store s.store -q || not_ok "a study to work on" "none made"
sim="simulate good.ti --machine torus:2x2"

# The word that was probably meant.
says "option" 2 "unknown option --rank-per-node; did you mean --ranks-per-node?" $sim --rank-per-node 1
says "option with its value" 2 "unknown option --netwrok; did you mean --network?" $sim --netwrok=packet
says "option of letters exchanged" 2 "did you mean --output?" trace convert good.ti --otuput x.hct
says "option that nothing is like" 2 "unknown option --colour; see" $sim --colour blue
says "option of the recorder" 2 "did you mean --output?" trace record --outptu x -- true
says "option of merge" 2 "did you mean --quiet?" study merge --queit a.store s.store
says "option of counters" 2 "did you mean --program?" aggregate counters --progam x t.csv
says "option of validate" 2 "did you mean --details?" validate --detials x
says "letter" 2 "unknown option -z" $sim -z
says "option that takes no value" 2 "--quiet takes no value" $sim --quiet=3
says "command" 2 "did you mean 'simulate'?" simlate
says "subcommand" 2 "did you mean 'trace convert'?" trace convrt
says "choice" 2 "'pcket' is none of packet, flow, load; did you mean packet?" $sim --network pcket
says "format" 2 "did you mean json?" $sim --format jsno
says "format of a trace" 2 "did you mean goal?" trace convert good.ti --to gaol -o x
says "recipe without its arguments" 2 "the recipe is random(...), with its arguments" $sim --mapping random
says "launcher" 2 "did you mean slurm?" map convert AB --machine torus:2x2 --ranks 2 --to slrum
says "kind of pattern" 2 "did you mean halo3d?" trace generate hallo3d --ranks 8
says "pattern" 2 "did you mean ring?" simulate gen:rign:ranks=4 --machine torus:2x2
says "parameter of a pattern" 2 "did you mean ranks?" simulate gen:ring:rnaks=4 --machine torus:2x2
says "word of a pattern" 2 "did you mean reverse?" simulate gen:permutation:ranks=4,kind=revrese \
  --machine torus:2x2
says "machine" 2 "did you mean torus?" simulate good.ti --machine trous:2x2
says "engine" 2 "did you mean ftree?" machine show systemg,routes=ftere
says "key of --set" 2 "did you mean hop_latency?" $sim --set link.hop_latncy=1ns
says "group of --set" 2 "did you mean link?" $sim --set lnik.hop_latency=1ns
says "recipe" 2 "did you mean hilbert?" $sim --mapping hilbrt
says "metric to rank by" 2 "did you mean max_bytes?" rank s.store --by mx_bytes
says "key of runs" 2 "did you mean network?" train s.store --target time_s --observed-runs netwrk=packet
says "column to learn" 1 'did you mean "time_s"?' train t.csv --target tme_s
says "column to learn from" 1 'did you mean "alpha"?' train t.csv --target time_s --features alhpa,beta
says "column of scores" 1 'did you mean "beta"?' score t.csv --observed alpha --predicted bata
printf '[machine]\nspec = torus:2x2\n[link]\nbandwidht = 1GB/s\n' >key.conf
says "key of a machine file" 1 "key.conf:4: unknown key \"bandwidht\"" machine show key.conf
says "the key that was meant" 1 "did you mean bandwidth?" machine show key.conf
printf '[machine]\nspce = torus:2x2\n' >spec.conf
says "key of [machine]" 1 "did you mean spec?" machine show spec.conf
printf '[traces]\ntrace = good.ti\n[machines]\nmachine = torus:2x2\n[runs]\nnetwork = lod\n' >word.study
says "word of a study file" 1 "did you mean load?" study run word.study -q

# Places, and the reason in our words.
says "not a number" 2 "--ranks-per-node: 'four' is not a number" $sim --ranks-per-node four
says "not a whole number" 2 "--ranks-per-node: '1.5' is not a whole number" $sim --ranks-per-node 1.5
says "too large" 2 "--timeline-limit: '99999999999999999999' is outside" $sim --timeline-limit 99999999999999999999
says "NaN" 2 "--compute-scale: 'nan' is not a number" $sim --compute-scale nan
says "value missing" 2 "--mapping M: the value is missing" $sim --mapping
says "value of a letter missing" 2 "-o FILE: the value is missing" trace convert good.ti -o
says "value that is no text" 2 "--network: the value is not UTF-8" $sim --network "$(printf '\377')"
says "trace missing" 1 "hopcast: none.ti: No such file or directory" simulate none.ti --machine torus:2x2
says "fabric missing" 1 "hopcast: none.net: No such file or directory" machine check fabric:none.net
says "node missing" 1 "none.xml: No such file or directory" machine show systemg,node=none.xml
says "mapping missing" 1 "none.map: No such file or directory" $sim --mapping none.map
says "hosts missing" 1 "hopcast: none.hosts: No such file or directory" \
  map convert AB --machine torus:2x2 --ranks 2 --to slurm --hosts none.hosts
says "tables missing" 1 "none.dump" machine check systemg,routes=./none.dump
says "study missing" 1 "hopcast: none.study: No such file or directory" study run none.study
says "model missing" 1 "hopcast: none.json: No such file or directory" predict none.json t.csv
says "base model missing" 1 "hopcast: none.model: No such file or directory" \
  correct t.csv --model none.model --observed time_s
says "matrix missing" 1 "none.csv: No such file or directory" map metrics none.csv --machine torus:2x2
says "counters missing" 1 "hopcast: none.txt: No such file or directory" \
  aggregate counters none.txt --program x --pattern 1
mkdir folder
says "folder for a model" 1 "folder: Is a directory" predict folder t.csv
printf '<?xml version="1.0"?>\n<topology version="2.0">\n <object type="Machine"\n' >cut.xml
says "XML that ends too early" 1 "cut.xml:4: document ended" machine show systemg,node=cut.xml
printf 'no XML\n' >no.xml
says "no XML" 1 "no.xml:1: document must begin with an element" machine show systemg,node=no.xml
printf '{ "schema": "hopcast.model/1",\n  "a": nonsense }\n' >bad.json
says "bad JSON" 1 "bad.json:2: no JSON: unexpected identifier" predict bad.json t.csv
printf '[machine]\nspec = torus:2x2\n[link]\nband[width = 1GB/s\n' >name.conf
says "no name of a key" 1 'name.conf:4: no name that a group or a key can have: "band[width' \
  machine show name.conf
printf '[machine]\nspec = torus:2x2\n[li[nk]\n' >group.conf
says "no name of a group" 1 'group.conf:3: no name that a group or a key can have: "[li[nk]"' \
  machine show group.conf
printf '[traces]\ntrace = a\\qb\n[machines]\nmachine = torus:2x2\n' >escape.study
says "bad escape" 1 'escape.study:2: traces.trace: "a\qb" has a backslash that is none of' study run escape.study

# The recorder names what is not there.
says "no program to record" 1 "./noprog: No such file or directory" trace record -- ./noprog
: >plain
says "no program that may run" 1 "./plain: Permission denied" trace record -- ./plain
says "no command to record" 1 "noprog-anywhere: No such file or directory" trace record -- noprog-anywhere

# help COMMAND is COMMAND --help.
same_help () {
  run "$hopcast" help $1
  cp out asked
  test "$status" = 0 || echo "status $status" >>asked
  "$hopcast" $1 --help >out 2>&1 </dev/null
  if cmp -s asked out && test -s out; then ok "help $1"; else not_ok "help $1" "$(diff asked out | head -5)"; fi
}
for command in "" simulate trace "trace record" "trace generate ring" aggregate "aggregate bound" study; do
  same_help "$command"
done
says "help of no command" 2 "unknown command 'simlate'; did you mean 'simulate'?" help simlate
says "help of no subcommand" 2 "unknown command 'trace recrod'; did you mean 'trace record'?" help trace recrod
says "help of no command of a group" 2 "did you mean 'aggregate patterns'?" help aggregate paterns
done_testing
