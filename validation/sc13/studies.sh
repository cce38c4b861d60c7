# studies.sh - the SC13 study's tables and the study files made of them; read with `.`.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154  # tables are for who reads this, who says what $hopcast is
#
# Needs $hopcast.  A line is a study of one program: name, nodes, ranks per node, bytes, program, mappings, then settings.
# Its name ends with the program; before it may stand what its runs are for (sc13.h): load, coarse or shrunk features of
# the study that has the rest of the name.
#
# Mappings: own, the family sc13 of the program's grid; a family; either with /K, every k-th of it; tilings, on 1,024
# nodes 14 tilings of the program's grid with six maps each, where sc13 has three with 28.
#
# Settings: iterations=N and replicas=N (1); network=... (packet); shrink=... as `simulate --shrink` has it; planes=N of
# pF3D's zones (20); set=... of the machine; grain=N, packets and their headers N times as long as the machine's.

# The paper's sizes, in the order in which they are wanted.  The label of a halo is the mean over three iterations and
# two replicas.  Less than 12 hours of two cores are enough for that only with one of each where a run takes minutes, and
# with every second or fourth mapping of the dearest, or 28th; all-to-alls hardly have noise.  Messages of 4 MiB have S-fold
# packets: --shrink auto leaves them whole, as they are routed dynamically; exact.* is the same without.  All-to-alls of
# long messages have 256 KiB, as S is at most 64, and so have halos on 4,096 nodes, where receivers ask for data in pieces
# of 8 KiB, whose packets no S makes fewer.
paper='
8.halo2d 1024 16 8 halo2d own iterations=3 replicas=2
8.halo3d 1024 16 8 halo3d own iterations=3 replicas=2
512.halo2d 1024 16 512 halo2d own iterations=3 replicas=2
512.halo3d 1024 16 512 halo3d own iterations=3 replicas=2
16k.halo2d 1024 16 16384 halo2d own iterations=3 replicas=2
16k.halo3d 1024 16 16384 halo3d own iterations=3 replicas=2
load.512.halo3d 1024 16 512 halo3d own network=load
load.16k.halo2d 1024 16 16384 halo2d own network=load
load.16k.halo3d 1024 16 16384 halo3d own network=load
shrunk.16k.halo2d 1024 16 16384 halo2d own shrink=auto:race
shrunk.16k.halo3d 1024 16 16384 halo3d own shrink=auto:race
8.suba2a 1024 16 8 suba2a own iterations=3 replicas=2
512.suba2a 1024 16 512 suba2a own iterations=3 replicas=2
load.512.suba2a 1024 16 512 suba2a own network=load
load.pf3d 1024 16 0 pf3d own network=load
load.large.halo2d 1024 16 4194304 halo2d own network=load
large.halo2d 1024 16 4194304 halo2d own shrink=32
load.high.16k.halo2d 4096 16 16384 halo2d own network=load
shrunk.high.16k.halo2d 4096 16 16384 halo2d own shrink=auto:race
high.16k.halo2d 4096 16 16384 halo2d own iterations=2
load.large.halo3d 1024 16 4194304 halo3d own network=load
large.halo3d 1024 16 4194304 halo3d own/2 shrink=64
load.high.16k.halo3d 4096 16 16384 halo3d own network=load
shrunk.high.16k.halo3d 4096 16 16384 halo3d own shrink=auto:race
high.16k.halo3d 4096 16 16384 halo3d own iterations=2
load.16k.suba2a 1024 16 16384 suba2a own/2 network=load
shrunk.16k.suba2a 1024 16 16384 suba2a own/2 shrink=auto:race
16k.suba2a 1024 16 16384 suba2a own/4
pf3d 1024 16 0 pf3d own/2
shrunk.pf3d 1024 16 0 pf3d own/2 shrink=auto:race
high.8.halo2d 4096 16 8 halo2d own/4
high.8.halo3d 4096 16 8 halo3d own/4
high.512.halo2d 4096 16 512 halo2d own/4
high.512.halo3d 4096 16 512 halo3d own/4
exact.large.halo2d 1024 16 4194304 halo2d own/28 shrink=off
load.high.512.suba2a 4096 16 512 suba2a own/4 network=load
high.512.suba2a 4096 16 512 suba2a own/4
high.8.suba2a 4096 16 8 suba2a own/4
load.high.16k.suba2a 4096 16 16384 suba2a own/4 network=load
high.16k.suba2a 4096 16 16384 suba2a own/4 shrink=8
load.large.suba2a 1024 16 262144 suba2a own/2 network=load
large.suba2a 1024 16 262144 suba2a own/2 shrink=64
load.high.large.halo2d 4096 16 262144 halo2d own/4 network=load
high.large.halo2d 4096 16 262144 halo2d own/4 shrink=16
load.high.large.halo3d 4096 16 262144 halo3d own/8 network=load
high.large.halo3d 4096 16 262144 halo3d own/8 shrink=16
load.high.large.suba2a 4096 16 262144 suba2a own/4 network=load
high.large.suba2a 4096 16 262144 suba2a own/4 shrink=64'

# 512 and 2,048 nodes, one iteration; large is 256 KiB; long packets where the table says so, and part.16k beside
# coarse.part.16k tells what they cost in fidelity.  shared: with one list of mappings for all programs, as the first
# study was.  labels: with three replicas of the halos.
small='
8.halo2d 512 16 8 halo2d own
8.halo3d 512 16 8 halo3d own
8.suba2a 512 16 8 suba2a own
512.halo2d 512 16 512 halo2d own
512.halo3d 512 16 512 halo3d own
512.suba2a 512 16 512 suba2a own
16k.halo2d 512 16 16384 halo2d own
16k.halo3d 512 16 16384 halo3d own
16k.suba2a 512 16 16384 suba2a own grain=8
load.16k.halo2d 512 16 16384 halo2d own network=load
load.16k.halo3d 512 16 16384 halo3d own network=load
load.16k.suba2a 512 16 16384 suba2a own network=load
coarse.16k.halo2d 512 16 16384 halo2d own grain=8
coarse.16k.halo3d 512 16 16384 halo3d own grain=8
large.halo2d 512 16 262144 halo2d own grain=64
large.halo3d 512 16 262144 halo3d own grain=64
large.suba2a 512 16 262144 suba2a own grain=64
low.16k.halo2d 512 4 16384 halo2d own grain=8
low.16k.halo3d 512 4 16384 halo3d own grain=8
low.16k.suba2a 512 4 16384 suba2a own grain=8
low.large.halo2d 512 4 262144 halo2d own grain=64
low.large.halo3d 512 4 262144 halo3d own grain=64
low.large.suba2a 512 4 262144 suba2a own grain=64
high.16k.halo2d 2048 4 16384 halo2d own grain=8
high.16k.halo3d 2048 4 16384 halo3d own grain=8
high.16k.suba2a 2048 4 16384 suba2a own grain=8
high.large.halo2d 2048 4 262144 halo2d own grain=64
high.large.halo3d 2048 4 262144 halo3d own grain=64
high.large.suba2a 2048 4 262144 suba2a own grain=64
load.pf3d 512 16 0 pf3d own planes=4 network=load
pf3d 512 16 0 pf3d own planes=4 grain=16'

# Why claims may fail: another list of mappings, more iterations.
tilings='
512.halo2d 1024 16 512 halo2d tilings
512.halo3d 1024 16 512 halo3d tilings
16k.halo2d 1024 16 16384 halo2d tilings
16k.halo3d 1024 16 16384 halo3d tilings'
iterations='
16k.halo2d 1024 16 16384 halo2d own iterations=10'

# Tests the scripts.
tiny='
16k.halo2d 32 2 16384 halo2d random:8 iterations=2 replicas=2
16k.halo3d 32 2 16384 halo3d random:8
load.16k.halo2d 32 2 16384 halo2d random:8 network=load
load.16k.halo3d 32 2 16384 halo3d random:8 network=load
shrunk.16k.halo2d 32 2 16384 halo2d random:8 shrink=8
coarse.16k.halo3d 32 2 16384 halo3d random:8 grain=8
16k.suba2a 32 2 16384 suba2a own/3 shrink=16
load.16k.suba2a 32 2 16384 suba2a own/3 network=load
exact.16k.suba2a 32 2 16384 suba2a own/9
pf3d 32 4 0 pf3d random:8 planes=1 grain=16'


# own_family PROGRAM RANKS: sc13 of the grid that the program has by itself; x runs fastest in pF3D.
own_family () {
  grid=$("$hopcast" trace generate "$1" --ranks "$2" | sed 's/.*[:,]grid=\([0-9x]*\).*/\1/')
  case $1 in
  pf3d) echo "$grid" | awk -F x '{ print "sc13:" $3 "x" $2 "x" $1 }' ;;
  *) echo "sc13:$grid" ;;
  esac
}

# list_tilings GRID: the tile of the grid that fills each tile of 1,024 nodes with the least surface, or no tile at all.
list_tilings () {
  echo "$1" | awk '{
    n_sizes = split($0, size, "x")
    for (d = n_sizes + 1; d <= 3; d++) size[d] = 1
    n_maps = split("|.tilt(A,B,1)|.tilt(C,D,1)|.tilt(B,D,1).tilt(D,A,1)|.zigzag(B,C,2,2)|.tilt(D,E,1)", map, "|")
    n_nets = split("1,1,1,1,1 1,1,1,1,2 1,1,1,2,1 1,1,1,2,2 2,2,1,1,1 1,1,2,2,1 2,2,2,1,1 2,2,2,2,2 " \
                   "4,4,1,1,1 1,1,4,8,1 4,4,4,1,1 4,4,2,2,1 1,1,4,8,2", net, " ")
    for (m = 1; m <= n_maps; m++) print "net" map[m]
    for (n = 1; n <= n_nets; n++) {
      volume = 16
      for (d = split(net[n], length_of, ","); d > 0; d--) volume *= length_of[d]
      least = 0
      for (x = 1; x <= size[1]; x++) for (y = 1; y <= size[2]; y++) {
        z = volume / x / y
        if (size[1] % x || size[2] % y || z < 1 || z != int(z) || size[3] % z) continue
        surface = x * y + y * z + x * z
        if (!least || surface < least) { least = surface; tile = x "," y (n_sizes == 3 ? "," z : "") }
      }
      grid = size[1] "," size[2] (n_sizes == 3 ? "," size[3] : "")
      for (m = 1; m <= n_maps; m++) print "app(" grid ").tile(" tile ") net.tile(" net[n] ",16).map()" map[m]
    }
  }'
}

# list_mappings MAPPINGS PROGRAM NODES RANKS-PER-NODE: the lines of a study file.
list_mappings () {
  family=${1%/*}
  test "$family" != own || family=$(own_family "$2" $(($3 * $4)))
  case $1 in
  tilings)
    grid=$(own_family "$2" $(($3 * $4)))
    echo "mapping = $(list_tilings "${grid#sc13:}" | paste -sd ';' -)"
    ;;
  */*)
    echo "mapping = $("$hopcast" map generate --machine "bgq:$3" --ranks-per-node "$4" --ranks $(($3 * $4)) \
      --family "$family" --list | awk -v step="${1#*/}" 'NR % step == 1' | paste -sd ';' -)"
    ;;
  *) echo "family = $family" ;;
  esac
}

# Lengths change one after the other, and each step must be a machine: payloads are whole chunks, packets fit
# into the buffers, and no chunk is longer than a payload.
grain () {
  test "$1" -gt 16 && printf 'packet.chunk=512B;packet.payload=8192B;'
  printf 'packet.chunk=%dB;packet.payload=%dB;' $((32 * $1)) $((512 * $1))
  printf 'packet.header=%dB;packet.trailer=%dB' $((32 * $1)) $((8 * $1))
}

# write_study NAME NODES RANKS-PER-NODE BYTES PROGRAM MAPPINGS [SETTING=VALUE]...: the study file of a line.
write_study () {
  study=$1 nodes=$2 per_node=$3 bytes=$4 program=$5 mappings=$6
  shift 6
  iterations=1 planes=20 machine="" runs=""
  for setting in "$@"; do
    value=${setting#*=}
    case $setting in
    iterations=*) iterations=$value ;;
    planes=*) planes=$value ;;
    grain=*) machine=$(grain "$value") ;;
    set=*) machine=$value ;;
    *) runs="$runs${setting%%=*} = $value
" ;;
    esac
  done
  case $program in
  pf3d) trace="gen:pf3d:grid=16x8x$((nodes * per_node / 128)),iterations=$iterations,zones=128x96x$planes" ;;
  *) trace="gen:$program:ranks=$((nodes * per_node)),bytes=$bytes,iterations=$iterations" ;;
  esac
  cat <<END
[study]
name = $study
[traces]
trace = $trace
[machines]
machine = bgq:$nodes
ranks-per-node = $per_node
${machine:+set = $machine}
[mappings]
$(list_mappings "$mappings" "$program" "$nodes" "$per_node")
[runs]
$runs
END
}
