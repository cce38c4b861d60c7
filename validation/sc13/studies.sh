# studies.sh - the SC13 study's tables and the study files made of them; read with `.`.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154  # tables are for who reads this, who says what $hopcast and $planes are
#
# Needs $hopcast, and $planes for pF3D.  A line per study: name, nodes, ranks per node, bytes, grain,
# iterations, mappings, programs, networks and, where there is one, a setting of the machine.  Grain g: packets
# and their headers are g times as long as the machine's.  Mappings: a family, FAMILY/K, every k-th of it, wide
# or many.  All-to-alls have studies of their own, a2a.NAME, where they would take most of the time with the
# packets of the halos; part.16k says what their coarse ones cost in fidelity.
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
many 32 2 16384 8 1 random:60 halos packet'

# Every STEP-th member of a FAMILY on NODES nodes with RANKS ranks each.
every () {
  "$hopcast" map generate --machine "bgq:$3" --ranks-per-node "$4" --ranks $(($3 * $4)) \
    --family "$1" --list | awk -v step="$2" 'NR % step == 1' | paste -sd ';' -
}

# list_mappings NAME NODES RANKS
list_mappings () {
  case $1 in
  wide) printf 'family = curves;random:12\nmapping = %s\n' "$(every permutations 17 "$2" "$3")" ;;
  many) printf 'family = sc13;curves;random:12\nmapping = %s\n' "$(every permutations 6 "$2" "$3")" ;;
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

# programs NAME RANKS BYTES ITERATIONS: the traces.
programs () {
  case $1 in
  pf3d) echo "gen:pf3d:grid=16x8x$(($2 / 128)),iterations=$4,zones=128x96x$planes" ;;
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
  test "$8" = pf3d || printf '[pattern]\nvalues = %s\n' "$(echo "$8" | sed 's/halos/halo2d;halo3d/')"
}
