#!/bin/sh
# errors_test.sh - wrong inputs: one clear line, a status, no partial file.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# refused_but ...: as refused, of a command that prints a result before its error.
refused_but () {
  answers=yes
  refused "$@"
  answers=
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

# A sound fabric of two switches and three nodes, its tables, and ways to spoil them.
cat >good.net <<'END'
Switch 4 "S-0000000000000001" # "leaf0" lid 1
[1] "H-0000000000000010"[1] # "alpha HCA-1" lid 2 4xQDR
[2] "H-0000000000000020"[1] # "beta HCA-1" lid 3 4xQDR
[3] "S-0000000000000002"[3] # "leaf1" lid 4 4xQDR

Switch 4 "S-0000000000000002" # "leaf1" lid 4
[1] "H-0000000000000030"[1] # "gamma HCA-1" lid 5 4xQDR
[3] "S-0000000000000001"[3] # "leaf0" lid 1 4xQDR

Ca 1 "H-0000000000000010" # "alpha HCA-1"
[1](11) "S-0000000000000001"[1] # lid 2 lmc 0 "leaf0" lid 1 4xQDR

Ca 1 "H-0000000000000020" # "beta HCA-1"
[1](21) "S-0000000000000001"[2] # lid 3 lmc 0 "leaf0" lid 1 4xQDR

Ca 1 "H-0000000000000030" # "gamma HCA-1"
[1](31) "S-0000000000000002"[1] # lid 5 lmc 0 "leaf1" lid 4 4xQDR
END
cat >good.dump <<'END'
Unicast lids [0-5] of switch Lid 1 guid 0x0000000000000001 ('leaf0'):
0x0001 000 # Switch portguid 0x0000000000000001: 'leaf0'
0x0002 001 # Channel Adapter portguid 0x0000000000000011: 'alpha HCA-1'
0x0003 002 # Channel Adapter portguid 0x0000000000000021: 'beta HCA-1'
0x0004 003 # Switch portguid 0x0000000000000002: 'leaf1'
0x0005 003 # Channel Adapter portguid 0x0000000000000031: 'gamma HCA-1'
Unicast lids [0-5] of switch Lid 4 guid 0x0000000000000002 ('leaf1'):
0x0001 003 # Switch portguid 0x0000000000000001: 'leaf0'
0x0002 003 # Channel Adapter portguid 0x0000000000000011: 'alpha HCA-1'
0x0003 003 # Channel Adapter portguid 0x0000000000000021: 'beta HCA-1'
0x0004 000 # Switch portguid 0x0000000000000002: 'leaf1'
0x0005 001 # Channel Adapter portguid 0x0000000000000031: 'gamma HCA-1'
END
sed '16s/0030/0020/' good.net >guid.net
sed '16s/.*/caguid=0x10\n&/' good.net >caguid.net
sed '/^\[3\] "S-0000000000000001"/d' good.net >one-end.net
sed '/^\[3\]/d' good.net >split.net
sed 's/4xQDR/4xWDR/' good.net >speed.net
sed 's/4xQDR/3xQDR/' good.net >width.net
sed '/^\[2\]/s/\[1\]/[7]/' good.net >port.net
sed '9,$ { /^0x0003/d; }' good.dump >lid.dump
sed '1,6 { /^0x0005/d; }' good.dump >gamma.dump
sed '7,$ d' good.dump >half.dump
sed 's/^0x0005 003/0x0005 009/' good.dump >port.dump
sed 's/^0x0005 003/0x0005 two/' good.dump >number.dump
sed 's/^0x0002 003/0x0002 001/' good.dump >wrong.dump
head -c 300 good.net >cut.net
printf '[machine]\nspec = systemg:4\nnode = none.xml\n' >node.conf
printf '[machine]\nspec = systemg:4\nroutes = none.dump\n' >routes.conf
printf '[machine]\nspec = systemg:4\nroutes = fastest\n' >engine.conf
printf '[machine]\nspec = systemg:4\ncores = 0,9\n' >cores.conf
printf 'rank 0=node0 slot=0:0\nrank 1=node0 slot=0:0\n' >taken.ranks
printf 'rank 0=node0 slot=0:0\nrank 0=node1 slot=0:0\n' >twice.ranks
printf 'rank 0=node0 slot=0:0\nrank 1=nowhere slot=0:0\n' >host.ranks
printf 'rank 0=node0 slot=0:0\nrank 1=node1 slot=2:0\n' >socket.ranks
printf 'rank 0=node0 slot=0:0\nrank 1:node1\n' >syntax.ranks
printf 'rank 0=node0 slot=0:0\n' >short.ranks
printf 'node0\nnode0 slots=9\n' >hosts
printf '0 0\n2 0\n' >far.map
printf '1 0\n2 0\n' >beta.map
printf '<?xml version="1.0"?>\n<topology version="3.0">\n</topology>\n' >three.xml
printf '<?xml version="1.0"?>\n<topology version="2.0">\n <object type="Mach' >cut.xml
printf '<topology version="2.0"><object type="Machine" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"/>\
</topology>\n' >sets.xml

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
refused "negative compute scale" 2 "--compute-scale" $sim --compute-scale -1
refused "setting without value" 2 "'link.hop_latency' is not of the form" $sim --set link.hop_latency
refused "setting of an unknown key" 2 "link.colour" $sim --set link.colour=3
refused "setting beyond the network" 2 "at most 60000 dynamic, 4095 bubble" simulate gen:ring:ranks=4 \
  --machine bgq:32 --set router.bubble_tokens=5000
refused "setting without unit" 2 "link.hop_latency=40" $sim --set link.hop_latency=40
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
refused "record what is no MPI program" 1 "none is their mpirun" trace record -- true
refused "collectives without machine" 2 "--machine SPEC is missing" \
  trace matrix good.ti --with-collectives

# Machines.
refused "unknown kind of machine" 2 "cray:512" machine show cray:512
refused "nodes without a partition" 2 "bgq:100" machine show bgq:100
refused "shape that is none" 2 "bgq:5x4x4x4x2" machine show bgq:5x4x4x4x2
refused "shape of nothing" 2 "torus:0x4" machine show torus:0x4
refused "shape that overflows" 2 "torus:512x512x512" machine show torus:512x512x512x512x512x512
refused "machine file missing" 1 "missing.conf" machine show missing.conf
refused "unknown unit" 1 "unit.conf:4" machine show unit.conf
refused "unknown key" 1 "key.conf:4" machine show key.conf
refused "unknown group" 1 "group.conf:3" machine show group.conf

# Fabrics.
refused "fabric missing" 1 "missing.net" machine check fabric:missing.net
refused "GUID twice" 1 "guid.net:16: " machine check fabric:guid.net
refused "adapter's GUID twice" 1 "caguid.net:17: " machine check fabric:caguid.net
refused "cable with one end" 1 "one-end.net:4: " machine check fabric:one-end.net
refused "unknown speed" 1 'speed.net:2: expected a width and speed such as 4xQDR, found "4xWDR"' \
  machine check fabric:speed.net
refused "unknown width" 1 "width.net:2: " machine check fabric:width.net
refused "port that a device has not" 1 "port.net:3: " machine check fabric:port.net
refused "truncated fabric" 1 "cut.net:" machine check fabric:cut.net
refused "fabric of noise" 1 "noise: describes no fabric" machine check fabric:noise
refused "fabric of zeros" 1 "zeros: not a text" machine check fabric:zeros
refused_but "node that cannot be reached" 1 "4 of 6 pairs have no route (minhop), the first from " \
  machine check fabric:split.net
refused_but "LID missing in a table" 1 "1 of 6 pairs have no route (lid.dump), the first from gamma" \
  machine check fabric:good.net,routes=lid.dump
refused_but "table that leads elsewhere" 1 "pairs have no route (wrong.dump), the first from gamma" \
  machine check fabric:good.net,routes=wrong.dump
refused "ranks on nodes without a way" 1 "no way from alpha to gamma" \
  simulate good.ti --machine fabric:split.net --mapping far.map -q
refused "ranks whose table lacks a LID" 1 "no way from beta to gamma" \
  simulate good.ti --machine fabric:good.net,routes=gamma.dump --mapping beta.map -q
refused "switch without a table" 1 "half.dump" machine check fabric:good.net,routes=half.dump
refused "table with a port that a switch has not" 1 "port.dump:6" \
  machine check fabric:good.net,routes=port.dump
refused_but "word for a port in a table" 1 "2 of 6 pairs have no route (number.dump)" \
  machine check fabric:good.net,routes=number.dump
refused "tables missing" 1 "missing.dump" machine check fabric:good.net,routes=missing.dump
refused "unknown engine" 1 '"fastest" is neither an engine' machine check fabric:good.net,routes=fastest
refused "more nodes than a cluster has" 2 "1 to 324 nodes" machine show systemg:325
refused "option of a torus" 2 "routes=ftree" machine show bgq:32,routes=ftree
refused "unknown engine in a machine file" 1 "engine.conf:3: machine.routes: routes: \"fastest\" is neither" \
  machine check engine.conf
refused "node of hwloc 3" 1 "three.xml: written by hwloc 3, which hwloc 2 cannot read" \
  machine show systemg,node=three.xml
refused "truncated node" 1 "cut.xml" machine show systemg,node=cut.xml
refused "node without one of its sets" 1 "sets.xml:1: an object of type" machine show systemg,node=sets.xml
refused "node that is no XML" 1 "noise" machine show systemg,node=noise
refused "node of a machine file missing" 1 "node.conf:3: " machine show node.conf
refused "tables of a machine file missing" 1 "routes.conf:3: " machine show routes.conf
refused "cores of a machine file" 1 "cores.conf:3: " machine show cores.conf
printf 'Switch 2 "S" # "s"\n[1] "A"[1]\n\nSwitch 2 "T" # "t"\n[1] "B"[1]\n\n' >apart.net
printf 'Ca 1 "A" # "a HCA-1"\n[1] "S"[1]\n\nCa 1 "B" # "b HCA-1"\n[1] "T"[1]\n' >>apart.net
printf '0,1,5\n' >pair.csv
tree="simulate good.ti --machine fattree:2x2:1 -q"
refused "zones on a fabric" 2 "zones are for tori" $tree --routing zone0
refused "BGQNCL lines of a fabric" 2 "is a switched fabric" $tree --links l.cnt
refused "ranks that no cable connects" 1 "no way from a to b" \
  simulate good.ti --machine fabric:apart.net -q
refused "the same without time" 1 "no way from a to b" \
  simulate good.ti --machine fabric:apart.net -q --network load
refused "the same for a matrix" 1 "no way from a to b" \
  map metrics pair.csv --machine fabric:apart.net
refused "simulation with an unknown engine" 2 "\"lash\" is neither an engine" \
  simulate good.ti --machine fattree:2x2:1,routes=lash -q
refused "torus's numbers on a fabric" 2 "router" $tree --set router.dynamic_tokens=1
refused "SHARP on a torus" 2 'unknown key "sharp"' $sim --set mpi.sharp=on
refused "SHARP with old switches" 2 "switch leaf0 of fdr:4 is older than Switch-IB 2" \
  simulate good.ti --machine fdr:4 -q --set mpi.sharp=on
refused "SHARP without a tree" 2 "are no tree: the cable between spine" \
  simulate good.ti --machine dragonflyplus:2x2x2:2 -q --set mpi.library=ompi-4.1 --set mpi.sharp=on
refused "transactions that no switch takes" 2 "takes at most 256 B" \
  simulate good.ti --machine edr:4 -q --set mpi.sharp=on --set sharp.payload=1KiB
refused "more ranks than a fabric's slots" 1 "5 ranks" map generate --machine fattree:2x2:1 --ranks 5

# Slots and cores.
g="--machine systemg:4 --ranks 2"
refused "more ranks per node than cores" 2 "has 8 cores" map check AT $g --ranks-per-node 9
refused "core that is not there" 2 "cores 0 to 7" map check AT $g --cores 0,8
refused "core twice" 2 "core 3 appears twice" map check AT $g --cores 3,3
refused "cores of a torus" 2 "a torus" map check ABCDET --machine bgq:32 --ranks 2 --cores 0
refused "pattern before the first" 2 "--pattern: 0, but patterns count from 1" map check AT $g --pattern 0
refused "unknown pattern" 2 "pattern 9: the node (harpertown) has no such pattern" map check AT $g --pattern 9
refused "pattern and ranks per node" 2 "does not go with" \
  map check AT $g --pattern 2 --ranks-per-node 2
refused "pattern of a torus" 2 "a torus" map check ABCDET --machine bgq:32 --ranks 2 --pattern 1

# Traces.
refused "trace missing" 1 "missing.ti" simulate missing.ti --machine bgq:32
refused "trace is a folder" 1 "folder" simulate folder --machine bgq:32
refused "trace is empty" 1 "empty" simulate empty --machine bgq:32
refused "trace of no known format" 1 "noise" trace info noise
refused "trace of zeros" 1 "zeros" trace info zeros
refused "truncated gzip" 1 "truncated.ti.gz" trace info truncated.ti.gz
yes '0 compute 1' | head -c 270M | gzip -1 >grown.ti.gz
refused "gzip trace that unpacks to too much" 1 "grown.ti.gz: this gzip file unpacks to more than 256 MiB" \
  trace info grown.ti.gz
rm grown.ti.gz
(echo a,b; yes "$(printf '%0800d,1.5' 1)" | head -n 22000) | gzip >grown.csv.gz
refused "gzip table that unpacks to too much" 1 "read it with --unpack-all" score grown.csv.gz --observed a \
  --predicted b
run "$hopcast" score grown.csv.gz --observed a --predicted b --unpack-all
if test "$status" = 0; then ok "gzip table that is trusted"; else not_ok "gzip table that is trusted" "$(cat err)"; fi
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
refused "letter twice" 2 "AABCDT" $sim --mapping AABCDT
refused "rankfile with a core twice" 1 "taken.ranks:2: " map check taken.ranks $g
refused "rankfile with a rank twice" 1 "twice.ranks:2: " map check twice.ranks $g
refused "rankfile with an unknown host" 1 'host.ranks:2: host "nowhere"' map check host.ranks $g
refused "rankfile with a socket too many" 1 "socket.ranks:2: " map check socket.ranks $g
refused "rankfile of another form" 1 "syntax.ranks:2: " map check syntax.ranks $g
refused "rankfile on a torus" 1 "is a torus" map check taken.ranks --machine bgq:32 --ranks 2
refused "rankfile too short" 1 "short.ranks:1: the file places 1 of 2 ranks" map check short.ranks $g
refused "hosts with too many slots" 1 "hosts:2: " map check hosts $g --ranks-per-node 8
refused "rankfile of a torus" 1 "a torus, whose nodes have neither" \
  map convert ABCDET --machine bgq:32 --ranks 2 --to rankfile -o ranks
printf 'a\nb\nc\n' >three.hosts
printf '0 1\n0 0\n' >backwards.map
refused "names for some of the nodes" 1 "three.hosts: names 3 hosts; systemg:4 has 4 nodes" \
  map check AT $g --hosts three.hosts
refused "hosts of a torus that has no names" 1 "see --hosts" map check slurm:three.hosts \
  --machine torus:4 --ranks 3
refused "slots that a host file cannot say" 1 "rank 0 has slot 1 of node0" \
  map convert backwards.map $g --ranks-per-node 2 --to slurm -o job.hosts
refused "line to launch with and file on one output" 2 "--launch-line needs --output" \
  map convert AT $g --to slurm --launch-line
refused "line to launch with for what no launcher reads" 1 "no launcher reads it" \
  map convert AT $g --to pmi --launch-line -o job.pmi
refused "conversion to an unknown kind" 2 "'slrm' is none of rankfile, " map convert AT $g --to slrm
refused "conversion to nothing" 2 "--to KIND is missing: one of rankfile, " map convert AT $g
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
  test $status = 1 && grep -q "standard output" err
  verdict $? "full disk under standard output" "status $status" "$(cat err)"
  "$hopcast" --help >/dev/full 2>err
  status=$?
  test "$status" = 1 && grep -q '^hopcast: ' err
  verdict $? "full disk under the help" "status $status" "$(cat err)"
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
test "$(cat links.csv)" = old
verdict $? "old file is untouched" "$(head -2 links.csv)"

done_testing
