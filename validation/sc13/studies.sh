# studies.sh - the SC13 study's tables and the study files made of them; read with `.`.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154  # tables are for who reads this, who says what $hopcast and $planes are
#
# Needs $hopcast, and $planes for pF3D.  A line per study: name, nodes, ranks per node, bytes, grain,
# iterations, mappings, programs, networks and, where there is one, a setting of the machine.  Grain g: packets
# and their headers are g times as long as the machine's.  Mappings: a family, FAMILY/K, every k-th of it, wide,
# many, tiles:GRID:NODE:BLOCK (tiled_mappings) or moves:NAME (moved_mappings).  All-to-alls have studies of their own, a2a.NAME, where they would
# take most of the time with the packets of the halos; part.16k says what their coarse ones cost in fidelity.
small='
8 512 16 8 1 1 sc13 halos;suba2a load;packet
512 512 16 512 1 1 sc13 halos;suba2a load;packet
16k 512 16 16384 1 1 sc13 halos load;packet
a2a.16k 512 16 16384 8 1 sc13 suba2a load;packet
coarse.16k 512 16 16384 8 1 sc13 halos packet
part.16k 512 16 16384 1 1 sc13/9 suba2a packet
coarse.part.16k 512 16 16384 8 1 sc13/9 suba2a packet
large 512 16 262144 64 1 sc13 halos load;packet
a2a.large 512 16 262144 64 1 sc13 suba2a load;packet
low.16k 512 4 16384 8 1 sc13 halos;suba2a load;packet
low.large 512 4 262144 64 1 sc13 halos;suba2a load;packet
high.16k 2048 4 16384 8 1 sc13 halos;suba2a load;packet
high.large 2048 4 262144 64 1 sc13 halos;suba2a load;packet
pf3d 512 16 0 16 1 sc13 pf3d load;packet'
tiny='
16k 32 2 16384 1 1 random:8 halos load;packet
a2a.16k 32 2 16384 8 1 random:8 suba2a load;packet
coarse.16k 32 2 16384 8 1 random:8 halos packet
part.16k 32 2 16384 1 1 sc13/9 suba2a packet
coarse.part.16k 32 2 16384 8 1 sc13/9 suba2a packet
pf3d 32 4 0 16 1 random:8 pf3d load;packet'
full='
8 1024 16 8 1 100 sc13 halos;suba2a load;packet
512 1024 16 512 1 100 sc13 halos;suba2a load;packet
16k 1024 16 16384 1 100 sc13 halos load;packet
a2a.16k 1024 16 16384 1 100 sc13 suba2a load;packet
coarse.16k 1024 16 16384 8 100 sc13 halos packet
coarse.a2a.16k 1024 16 16384 8 100 sc13 suba2a packet
large 1024 16 4194304 1 100 sc13 halos load;packet
a2a.large 1024 16 4194304 1 100 sc13 suba2a load;packet
low.16k 1024 16 16384 1 100 sc13 halos;suba2a load;packet
low.large 1024 16 4194304 1 100 sc13 halos;suba2a load;packet
high.16k 4096 16 16384 1 100 sc13 halos;suba2a load;packet
high.large 4096 16 4194304 1 100 sc13 halos;suba2a load;packet
pf3d 1024 16 0 1 1 sc13 pf3d load;packet'

# What validation/sc13/causes compares: one thing differs from the study "one".
causes='
one 512 4 16384 8 1 sc13 halos packet
again 512 4 16384 8 1 sc13 halos packet link.hop_latency=41ns
deep 512 4 16384 8 1 sc13 halos packet router.bubble_tokens=2000
ten 512 4 16384 8 10 sc13 halos packet
wide 512 4 16384 8 1 wide halos packet
wide.ten 512 4 16384 8 10 wide halos packet
many 512 4 16384 8 1 many halos packet'
causes_tiny='
one 32 2 16384 8 1 random:12 halos packet
again 32 2 16384 8 1 random:12 halos packet link.hop_latency=41ns
many 32 2 16384 8 1 random:60 halos packet
tiles.a2a 32 4 512 8 1 tiles:64,2,1:4,1,1:64,2,1 suba2a packet
tiles.pf3d 32 4 0 16 1 tiles:1,8,16:1,2,2:1,8,16 pf3d/2 packet
load.slots 32 4 512 1 1 moves:slots halos;suba2a load
load.chain 32 4 512 1 1 moves:chain halos;suba2a load'

# The same for other readings of the 84: tilings by each program's own grid, the paper's partition, other programs.
tilings='
coarse.2d 512 16 16384 8 1 sc13 halo2d packet
coarse.3d 512 16 16384 8 1 sc13 halo3d packet
tiles.2d 512 16 16384 8 1 tiles:128,64:4,4:16,32 halo2d packet
tiles.3d 512 16 16384 8 1 tiles:32,16,16:4,2,2:8,8,8 halo3d packet
1k.2d 1024 16 16384 8 1 sc13 halo2d packet
tiles.1k.2d 1024 16 16384 8 1 tiles:128,128:4,4:16,32 halo2d packet
tiles.1k.3d 1024 16 16384 8 1 tiles:32,32,16:4,2,2:8,8,8 halo3d packet
tiles.1k.2d.five 1024 16 16384 8 5 tiles:128,128:4,4:16,32 halo2d packet
512b.2d.ten 512 16 512 1 10 sc13 halo2d packet
512b.3d 512 16 512 1 1 sc13 halo3d packet
high.a2a 2048 4 16384 8 1 sc13 suba2a packet
tiles.high.a2a 2048 4 16384 8 1 tiles:64,16,8:2,2,1:8,4,4 suba2a packet
one.pf3d 512 16 0 16 1 sc13 pf3d packet
tiles.pf3d 512 16 0 16 1 tiles:64,8,16:4,2,2:8,8,8 pf3d packet
thin.pf3d 512 16 0 16 1 sc13 pf3d/1 packet
thin.1k.pf3d 1024 16 0 16 1 sc13 pf3d/1 packet
load 512 16 16384 1 1 sc13 halos;suba2a load
load.slots 512 16 16384 1 1 moves:slots halos;suba2a load
load.chain 512 16 16384 1 1 moves:chain halos;suba2a load
load.1k 1024 16 16384 1 1 sc13 halos;suba2a load'

# Every STEP-th member of a FAMILY on NODES nodes with RANKS ranks each.
every () {
  "$hopcast" map generate --machine "bgq:$3" --ranks-per-node "$4" --ranks $(($3 * $4)) \
    --family "$1" --list | awk -v step="$2" 'NR % step == 1' | paste -sd ';' -
}

# family NODES RANKS: the recipes of the 84.
family () {
  "$hopcast" map generate --machine "bgq:$1" --ranks-per-node "$2" --ranks $(($1 * $2)) --family sc13 --list
}

# tiled_mappings GRID:NODE:BLOCK NODES RANKS: the moves of sc13 behind three tilings: none; of the program's own GRID a
# tile NODE per node; of this grid a tile BLOCK per 2x2x2x2x2 nodes.
tiled_mappings () {
  echo "$1" | {
    IFS=: read -r grid node block
    for tiling in net "app($grid).tile($node) net.tile(1,1,1,1,1,$3).map()" \
      "app($grid).tile($block) net.tile(2,2,2,2,2,$3).map()"; do
      family "$2" "$3" | sed -n "s/^net/$tiling/p"
    done
  }
}

# moves NAME: 28 of them, tilts across every pair of the six dimensions of the machine's box, to which the slots belong;
# slots: each pair alone, and a few together; chain: the first pair, the first two, ... of slope 1, then of slope 2.
moves () {
  pairs='A,B A,C A,D A,E A,T B,C B,D B,E B,T C,D C,E C,T D,E D,T E,T'
  case $1 in
  slots)
    printf '\n.zorder()\n'
    for pair in $pairs; do echo ".tilt($pair,1)"; done
    for chain in 'A,B B,C' 'B,C C,D' 'C,D D,E' 'D,E E,T' 'E,T T,A' 'T,A A,B' 'A,B B,C C,D D,E E,T' "$pairs"; do
      for pair in $chain; do printf '.tilt(%s,1)' "$pair"; done
      echo
    done
    printf '.zigzag(%s,2,2)\n' A,B C,D A,T
    ;;
  chain)
    echo
    for slope in 1 2; do
      chain=
      for pair in $pairs; do
        chain="$chain.tilt($pair,$slope)"
        echo "$chain"
      done
    done | sed 27q
    ;;
  esac
}

# moved_mappings NAME NODES RANKS: these moves behind the tilings of sc13.
moved_mappings () {
  family "$2" "$3" | grep -e '^net$' -e 'map()$' | while read -r tiling; do
    moves "$1" | sed "s/^/$tiling/"
  done
}

# list_mappings NAME NODES RANKS
list_mappings () {
  case $1 in
  wide) printf 'family = curves;random:12\nmapping = %s\n' "$(every permutations 17 "$2" "$3")" ;;
  many) printf 'family = sc13;curves;random:12\nmapping = %s\n' "$(every permutations 6 "$2" "$3")" ;;
  tiles:*) echo "mapping = $(tiled_mappings "${1#tiles:}" "$2" "$3" | paste -sd ';' -)" ;;
  moves:*) echo "mapping = $(moved_mappings "${1#moves:}" "$2" "$3" | paste -sd ';' -)" ;;
  */*) echo "mapping = $(every "${1%/*}" "${1#*/}" "$2" "$3")" ;;
  *) echo "family = $1" ;;
  esac
}

# Lengths change one after the other, and each step must be a machine: payloads are whole chunks, packets fit
# into the buffers, and no chunk is longer than a payload.
grain () {
  test "$1" -eq 1 && return
  test "$1" -gt 16 && printf 'packet.chunk=512B;packet.payload=8192B;'
  printf 'packet.chunk=%dB;packet.payload=%dB;' $((32 * $1)) $((512 * $1))
  printf 'packet.header=%dB;packet.trailer=%dB' $((32 * $1)) $((8 * $1))
}

# programs NAME RANKS BYTES ITERATIONS: the traces.  pf3d/N: with N planes of zones instead of $planes.
programs () {
  case $1 in
  pf3d*) echo "gen:pf3d:grid=16x8x$(($2 / 128)),iterations=$4,zones=128x96x$(echo "$1" | sed "s,^pf3d$,$planes,; s,.*/,,")" ;;
  *) echo "gen:{pattern}:ranks=$2,bytes=$3,iterations=$4" ;;
  esac
}

# write_study LINE...: the study file of a line, whose words are the arguments.
write_study () {
  echo '[traces]'
  echo "trace = $(programs "$8" $(($2 * $3)) "$4" "$6")"
  printf '[machines]\nmachine = bgq:%d\nranks-per-node = %d\n' "$2" "$3"
  settings=$(grain "$5")${10:+;${10}}
  test -z "$settings" || echo "set = ${settings#;}"
  echo '[mappings]'
  list_mappings "$7" "$2" "$3"
  printf '[runs]\nnetwork = %s\n' "$9"
  test "${8%/*}" = pf3d || printf '[pattern]\nvalues = %s\n' "$(echo "$8" | sed 's/halos/halo2d;halo3d/')"
}
