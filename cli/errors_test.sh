#!/bin/sh
# errors_test.sh - wrong inputs: one clear line, a status, no partial file.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# refused NAME STATUS TEXT ARGUMENT...: hopcast with these arguments exits with
# STATUS, prints nothing but one line on standard error that contains TEXT,
# and makes no file.
refused () {
  name=$1 expected=$2 text=$3
  shift 3
  before=$(ls -A)
  run "$hopcast" "$@"
  after=$(ls -A)
  if test "$status" != "$expected"; then
    not_ok "$name" "status $status instead of $expected" "$(cat err)"
  elif test "$(wc -l <err)" != 1; then
    not_ok "$name" "not one line on standard error" "$(cat err)"
  elif ! grep -q '^hopcast: ' err; then
    not_ok "$name" "the line does not begin with the program's name" "$(cat err)"
  elif ! grep -qF -e "$text" err; then
    not_ok "$name" "the line does not say '$text'" "$(cat err)"
  elif test -s out; then
    not_ok "$name" "something on standard output" "$(head -3 out)"
  elif test "$before" != "$after"; then
    not_ok "$name" "files changed" "$before" "---" "$after"
  else
    ok "$name"
  fi
}

: >out
: >err

# A sound program of two ranks, and ways to spoil it.
cat >good.ti <<'END'
0 init
1 init
0 send 1 0 1000 6
1 recv 0 0 1000 6
0 finalize
1 finalize
END
sed 's/^0 send 1 /0 send 7 /' good.ti >rank.ti
sed 's/ 1000 6$/ many 6/' good.ti >number.ti
sed 's/^0 send/0 teleport/' good.ti >action.ti
sed '/^0 send/d' good.ti >deadlock.ti
gzip -c good.ti | head -c 40 >truncated.ti.gz
printf 'no trace of any kind\n' >noise
head -c 4096 /dev/zero >zeros
: >empty
mkdir folder
printf '0 0 0 0 0 0\n0 0 0 0 0 0\n' >duplicate.map
printf '0 0 0 0 0 0\n0 0 0\n' >columns.map
printf '0 0 0 0 0 0\n0 0 9 0 0 0\n' >coordinate.map
printf '0 0 0 0 0 0\n' >short.map
printf '[machine]\nspec = bgq:32\n[link]\nbandwidth = 2 parsecs\n' >unit.conf
printf '[machine]\nspec = bgq:32\n[link]\ncolour = red\n' >key.conf
printf '[machine]\nspec = bgq:32\n[kitchen]\nsink = 1\n' >group.conf
printf 'src,dst,bytes\n0,1,5\n0,x,5\n' >bad.csv

sim="simulate good.ti --machine bgq:32 -q"

# The command line.
refused "misspelt command" 2 "did you mean 'simulate'" simulat
refused "unknown command" 2 "unknown command 'frobnicate'" frobnicate
refused "half a command" 2 "needs one more word" trace
refused "unknown word of a command" 2 "unknown command 'machine paint'" machine paint
refused "unknown option" 2 "--colour" $sim --colour blue
refused "argument missing" 2 "TRACE is missing" simulate --machine bgq:32
refused "argument too many" 2 "'more'" $sim more
refused "option without machine" 2 "--machine SPEC is missing" simulate good.ti
refused "option without value" 2 "--mapping" $sim --mapping
refused "not a number" 2 "--ranks-per-node" $sim --ranks-per-node four
refused "negative ranks per node" 2 "--ranks-per-node: -1" $sim --ranks-per-node -1
refused "zero ranks per node" 2 "--ranks-per-node: 0" $sim --ranks-per-node 0
refused "too many ranks per node" 2 "--ranks-per-node: 65" $sim --ranks-per-node 65
refused "unknown format" 2 "'xml' is none of table, csv, json" $sim --format xml
refused "unknown network" 2 "'pigeon' is none of" $sim --network pigeon
refused "unknown routing" 2 "'zone9' is none of" $sim --routing zone9
refused "grain that is not there" 2 "only 'exact'" $sim --grain auto
refused "threads that are not there" 2 "only 1" $sim --threads 2
refused "negative compute scale" 2 "--compute-scale" $sim --compute-scale -1
refused "negative seed" 2 "--seed" $sim --seed -1
refused "setting without value" 2 "'link.hop_latency' is not of the form" $sim --set link.hop_latency
refused "setting of an unknown key" 1 "link.colour" $sim --set link.colour=3
refused "setting without unit" 1 "link.hop_latency=40" $sim --set link.hop_latency=40
refused "times of a network without time" 2 "--ranks" $sim --network load --ranks r.csv
refused "BGQNCL lines of three dimensions" 2 "five dimensions" \
  simulate good.ti --machine torus:4x4x4 --links l.cnt
refused "ranks missing" 2 "--ranks N is missing" map check ABCDET --machine bgq:32
refused "negative ranks" 2 "--ranks: -4" map check ABCDET --machine bgq:32 --ranks -4
refused "more ranks than any trace" 2 "--trace-ranks: 2147483647 is not within 0..16777216" \
  trace info good.ti --trace-ranks 2147483647
refused "command to record missing" 2 "the command to record is missing" trace record -o x --
refused "record with an unknown MPI" 2 "'foo' is not one of openmpi, mpich" \
  trace record --mpi foo -- true
refused "record what is no MPI program" 1 "is a program that is linked with" trace record -- true
refused "collectives without machine" 2 "--machine SPEC is missing" \
  trace matrix good.ti --with-collectives

# Machines.
refused "unknown kind of machine" 1 "cray:512" machine show cray:512
refused "nodes without a partition" 1 "bgq:100" machine show bgq:100
refused "shape that is none" 1 "bgq:5x4x4x4x2" machine show bgq:5x4x4x4x2
refused "shape of nothing" 1 "torus:0x4" machine show torus:0x4
refused "shape that overflows" 1 "torus:512x512x512" machine show torus:512x512x512x512x512x512
refused "machine file missing" 1 "missing.conf" machine show missing.conf
refused "unknown unit" 1 "unit.conf:4" machine show unit.conf
refused "unknown key" 1 "key.conf:4" machine show key.conf
refused "unknown group" 1 "group.conf:3" machine show group.conf

# Fabrics.
printf 'Switch 2 "S" # "s"\n[1] "A"[1]\n\nSwitch 2 "T" # "t"\n[1] "B"[1]\n\n' >apart.net
printf 'Ca 1 "A" # "a HCA-1"\n[1] "S"[1]\n\nCa 1 "B" # "b HCA-1"\n[1] "T"[1]\n' >>apart.net
printf '0,1,5\n' >pair.csv
tree="simulate good.ti --machine fattree:2x2:1 -q"
refused "zones on a fabric" 2 "zones are a torus's" $tree --routing zone0
refused "BGQNCL lines of a fabric" 2 "is a switched fabric" $tree --links l.cnt
refused "ranks that no cable connects" 1 "no way from a to b" \
  simulate good.ti --machine fabric:apart.net -q
refused "the same without time" 1 "no way from a to b" \
  simulate good.ti --machine fabric:apart.net -q --network load
refused "the same for a matrix" 1 "no way from a to b" \
  map metrics pair.csv --machine fabric:apart.net
refused "unknown engine" 1 "no engine \"lash\"" \
  simulate good.ti --machine fattree:2x2:1,routes=lash -q
refused "torus's numbers on a fabric" 1 "router" $tree --set router.dynamic_tokens=1
refused "more ranks than a fabric's slots" 1 "5 ranks" map generate --machine fattree:2x2:1 --ranks 5

# Traces.
refused "trace missing" 1 "missing.ti" simulate missing.ti --machine bgq:32
refused "trace is a folder" 1 "folder" simulate folder --machine bgq:32
refused "trace is empty" 1 "empty" simulate empty --machine bgq:32
refused "trace of no known format" 1 "noise" trace info noise
refused "trace of zeros" 1 "zeros" trace info zeros
refused "truncated gzip" 1 "truncated.ti.gz" trace info truncated.ti.gz
refused "rank out of range" 1 "rank.ti:3" simulate rank.ti --machine bgq:32
refused "bad number in a trace" 1 "number.ti:3" simulate number.ti --machine bgq:32
refused "unknown action in a trace" 1 "action.ti:3" simulate action.ti --machine bgq:32
refused "receive without send" 1 "rank 1" simulate deadlock.ti --machine bgq:32
refused "more ranks than slots" 1 "400 ranks" map generate --machine bgq:32 --ranks 400

# Maps and matrices.
refused "map file missing" 1 "missing.map" $sim --mapping missing.map
refused "two ranks in a slot" 1 "duplicate.map:2" $sim --mapping duplicate.map
refused "wrong number of columns" 1 "columns.map:2" $sim --mapping columns.map
refused "coordinate out of range" 1 "coordinate.map:2" $sim --mapping coordinate.map
refused "map file too short" 1 "short.map" $sim --mapping short.map
refused "letter twice" 1 "AABCDT" $sim --mapping AABCDT
refused "matrix with a bad number" 1 "bad.csv:3: 'x'" map metrics bad.csv --machine bgq:32

# Outputs.
refused "folder that is not there" 1 "no/links.csv" $sim --links no/links.csv
refused "output is a folder" 1 "folder" $sim --ranks folder
refused "trace is a folder that is there" 1 "folder: cannot write" \
  trace convert good.ti -o folder --to hct
refused "counter lines without packets" 2 "only --network packet" \
  $sim --network load --links x.cnt
refused "zones without packets" 2 "deterministic paths only" $sim --network load --routing zone1
refused "two outputs in one file" 2 "name the same file" $sim --links same.csv --ranks same.csv
if test -w /dev/full; then
  refused "full disk under a file" 1 "/dev/full" $sim --links /dev/full
  for format in hct ti goal; do
    refused "full disk under a trace, $format" 1 "/dev/full: cannot write" \
      trace generate ring --ranks 400 -o /dev/full --to $format
  done
  "$hopcast" machine links bgq:512 >/dev/full 2>err
  status=$?
  if test $status = 1 && grep -q "standard output" err; then
    ok "full disk under standard output"
  else
    not_ok "full disk under standard output" "status $status" "$(cat err)"
  fi
  "$hopcast" --help >/dev/full 2>err
  status=$?
  if test "$status" = 1 && grep -q '^hopcast: ' err; then
    ok "full disk under the help"
  else
    not_ok "full disk under the help" "status $status" "$(cat err)"
  fi
else
  skip "full disk under the help" "no /dev/full here"
  skip "full disk under a trace" "no /dev/full here"
  skip "full disk under a file" "no /dev/full here"
  skip "full disk under standard output" "no /dev/full here"
fi

# A run that fails leaves the file of the run before it, and nothing else.
echo old >links.csv
refused "failed run keeps the old file" 1 "rank 1" \
  simulate deadlock.ti --machine bgq:32 --links links.csv
if test "$(cat links.csv)" = old; then
  ok "old file is untouched"
else
  not_ok "old file is untouched" "$(head -2 links.csv)"
fi

done_testing
