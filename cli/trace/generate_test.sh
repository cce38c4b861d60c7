#!/bin/sh
# generate_test.sh - patterns from the command line: specs, traces, replays.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# text KEY FILE: a string that may have commas in it.
text () {
  sed -n "s/^ *\"$1\": \"\(.*\)\",\$/\1/p" "$2"
}

# Without a file, the spec; it is complete and stands for itself.
run "$hopcast" trace generate halo3d --ranks 512 --bytes 64K --iterations 2
same "spec" "$(cat out)" \
  "gen:halo3d:ranks=512,bytes=65536,iterations=2,compute=0s,grid=8x8x8,periodic=yes"
spec=$(cat out)
run "$hopcast" trace info "$spec" --format json
cp out full.json
run "$hopcast" trace info gen:halo3d:iterations=2,ranks=512,bytes=65536 --format json
same "same hash however it was typed" "$(json hash out)" "$(json hash full.json)"
same "format" "$(json format out)" pattern
same "sends" "$(json sends out)" $((512 * 14 * 2))
same "sends have receives" "$(json unmatched_sends out) $(json unmatched_receives out)" "0 0"
same "nothing is missing" "$(json missing out)" "[]"

# Every pattern is listed, has help, and tells its parameters there.
run "$hopcast" trace generate --help
sed -n '/^Patterns:/,$ s/^  \([a-z0-9]*\) .*/\1/p' out >kinds
same "ten patterns or more" "$(test "$(wc -l <kinds)" -ge 10 && echo yes)" yes
while read -r kind; do
  run "$hopcast" trace generate "$kind" --help
  same "help of $kind" "$status $(grep -c -e '--ranks=N' out)" "0 1"
  same "$kind is in the handbook" \
    "$(cat "$srcdir"/doc/handbook/patterns*.md | grep -q "$kind" && echo yes)" yes
done <kinds

# Who sends to whom, as CSV.
run "$hopcast" trace matrix gen:ring:ranks=4,bytes=10,iterations=3
same "matrix" "$(tr '\n' ' ' <out)" "src,dst,messages,bytes 0,1,3,30 1,2,3,30 2,3,3,30 3,0,3,30 "

# The whole matrix, worked out here once more: each rank of a grid X x Y x Z
# (z fastest) sends to those one step away, over faces and over corners.
halo () {
  awk -v X="$1" -v Y="$2" -v Z="$3" -v corners="$4" -v periodic="$5" 'BEGIN {
    for (x = 0; x < X; x++) for (y = 0; y < Y; y++) for (z = 0; z < Z; z++)
      for (a = -1; a <= 1; a++) for (b = -1; b <= 1; b++) for (c = -1; c <= 1; c++) {
        moved = a * a + b * b + c * c
        if (moved != 1 && !(corners && moved == 3)) continue
        i = x + a; j = y + b; k = z + c
        if (!periodic && (i < 0 || i >= X || j < 0 || j >= Y || k < 0 || k >= Z)) continue
        if (Z == 1 && c) continue # a grid of two dimensions
        to = (((i + X) % X) * Y + (j + Y) % Y) * Z + (k + Z) % Z
        n[(x * Y + y) * Z + z "," to]++
      }
    for (pair in n) print pair "," n[pair] "," 7 * n[pair]
  }' | sort
}

# matrix SPEC...: without its heading.
matrix () {
  "$hopcast" trace matrix "$@" | tail -n +2 | sort
}

same "matrix of halo2d" "$(matrix gen:halo2d:grid=6x5,bytes=7,iterations=1)" "$(halo 6 5 1 0 1)"
same "matrix of open halo2d" "$(matrix gen:halo2d:grid=6x2,bytes=7,iterations=1,periodic=no)" \
  "$(halo 6 2 1 0 0)"
same "matrix of halo3d" "$(matrix gen:halo3d:grid=4x2x5,bytes=7,iterations=1)" "$(halo 4 2 5 1 1)"
same "matrix of open halo3d" "$(matrix gen:halo3d:grid=4x3x5,bytes=7,iterations=1,periodic=no)" \
  "$(halo 4 3 5 1 0)"

# 64 ranks along x of 64 x 2 x 2: those with the same remainder by 4.
same "matrix of suba2a" \
  "$(matrix gen:suba2a:ranks=256,bytes=7,iterations=1 --with-collectives --machine bgq:256)" \
  "$(awk 'BEGIN { for (r = 0; r < 256; r++) for (s = r % 4; s < 256; s += 4)
                    if (r != s) print r "," s ",1,7" }' | sort)"

# Replays: messages are those of the formula, also of communicators that are split.
run "$hopcast" simulate gen:halo3d:ranks=64,bytes=1K,iterations=2 --machine bgq:64 -q --format json
same "halo3d replays" "$(json messages out) $(json message_bytes out)" \
  "$((64 * 14 * 2)) $((64 * 14 * 2 * 1024))"
same "trace of a record" "$(text trace out)" \
  "gen:halo3d:ranks=64,bytes=1K,iterations=2"
run "$hopcast" simulate gen:suba2a:ranks=128,bytes=8,iterations=2 --machine bgq:128 -q --format json
same "suba2a replays" "$(json messages out)" $((128 * 63 * 2))
run "$hopcast" simulate gen:pf3d:grid=4x2x4,zones=8x8x2,iterations=1 --machine bgq:32 -q --format json
same "pf3d replays" "$status $(json messages out)" \
  "0 $((4 * (32 * 3 + 32 * 1) + 2 * 24 + 2 * (24 + 16 + 24)))"
run "$hopcast" map metrics gen:halo2d:ranks=32,bytes=1,iterations=1 --machine bgq:32 --format json
same "map metrics" "$status $(text source out)" "0 gen:halo2d:ranks=32,bytes=1,iterations=1"

# What is typed wrong.
refused "no kind" 2 "KIND is missing" trace generate
refused "kind comes first" 2 "KIND is missing" trace generate --ranks 4 ring
refused "unknown kind" 2 "'circle' is none of halo2d" trace generate circle --ranks 4
refused "unknown option" 2 "--rank" trace generate ring --rank 4
refused "missing parameter" 2 "ranks=... is missing" trace generate ring
refused "range" 2 "ranks: \"0\" is not a whole number within 1.." trace generate ring --ranks 0
refused "comma" 2 "--bytes: '1,2' contains a comma" trace generate ring --ranks 4 --bytes 1,2
refused "one argument too many" 2 "one argument too many: 'x'" trace generate ring --ranks 4 x
refused "no ending" 2 "the ending names no format" trace generate ring --ranks 4 -o ring.xyz
refused "format" 2 "--to: 'xyz' is none of" trace generate ring --ranks 4 -o ring --to xyz
refused "nowhere to write" 2 "--to: needs --output" trace generate ring --ranks 4 --to ti
refused "convert to nowhere" 2 "--output FILE is missing" trace convert gen:ring:ranks=4
refused "convert: no ending" 2 "the ending names no format" trace convert gen:ring:ranks=4 -o ring.xyz
same "no files are left" "$(echo ring*)" "ring*"
# The first parameters may stand behind the kind, in any case.
run "$hopcast" trace generate npb LU d --ranks 16
test "$status" = 0 && grep -q '^gen:npb:kernel=lu,class=D,ranks=16' out
verdict $? "parameters as words" "$status" "$(cat out err)"
run "$hopcast" trace generate npb LU --kernel cg --class S --ranks 4
test "$status" = 2 && grep -q 'given twice' err
verdict $? "a parameter given twice" "$status" "$(cat err)"

done_testing
