#!/bin/sh
# recipes_test.sh - recipes and families of mappings from the command line.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

# A 3 x 3 torus whose columns go down by 0, 1, 2: rank 1 is in the second row.
torus="--machine torus:3x3 --ranks 9"
# shellcheck disable=SC2086  # words
run "$hopcast" map generate $torus --mapping 'net.tilt(A,B,1)'
same "a recipe" "$(tr '\n' ',' <out)" "# A B T,0 0 0,1 1 0,2 2 0,1 0 0,2 1 0,0 2 0,2 0 0,0 1 0,1 2 0,"
cp out tilted.map
run "$hopcast" map check 'net.tilt(A,B,1)' --machine torus:3x3 --ranks 9
same "map check" "$status" 0
run "$hopcast" map convert 'net.tilt(A,B,1)' --machine torus:3x3 --ranks 9 --to map
same "map convert" "$(cat out)" "$(cat tilted.map)"

# Wherever a mapping may stand; the record names the recipe.
sim="$hopcast simulate gen:halo2d:ranks=64,iterations=1 --machine bgq:32 --ranks-per-node 2"
# shellcheck disable=SC2086
run $sim --network load --mapping 'app(8,8).tile(4,4) net.tile(2,2,2,1,1,2)' --format json
same "simulate" "$(sed -n 's/^ *"mapping": "\(.*\)",$/\1/p' out)" \
  "app(8,8).tile(4,4) net.tile(2,2,2,1,1,2)"

# The fault is shown.
# shellcheck disable=SC2086
refused "wrong operation" 2 'column 5, at "tlt(A)"' map generate $torus --mapping 'net.tlt(A)'
# shellcheck disable=SC2086
refused "neither file nor recipe" 2 "there is no such file" map generate $torus --mapping 'my map (2).txt'

# Families: the list, and a file of each with an index.
bgq="--machine bgq:512 --ranks-per-node 16 --ranks 8192"
# shellcheck disable=SC2086
run "$hopcast" map generate $bgq --family sc13-shared --list
cp out list
same "84 recipes" "$(sort -u list | wc -l)" 84
# shellcheck disable=SC2086
run "$hopcast" map generate --machine bgq:32 --ranks-per-node 4 --ranks 128 --family curves -o maps
same "a family is written" "$status $(wc -c <out)" "0 0"
same "index" "$(sed -n '1p;2p' maps/index.csv | tr '\n' ' ')" \
  "number,recipe,file 1,block,001.map "
same "a file for each line of the index" "$(find maps -name '*.map' | wc -l)" \
  "$(($(wc -l <maps/index.csv) - 1))"
same "no two files alike" "$(cat maps/*.map | wc -l) $(md5sum maps/*.map | cut -c-32 | sort -u | wc -l)" \
  "$((129 * $(find maps -name '*.map' | wc -l))) $(find maps -name '*.map' | wc -l)"
recipe=$(sed -n 's/^4,"\{0,1\}\([^"]*\)"\{0,1\},004.map$/\1/p' maps/index.csv)
run "$hopcast" map generate --machine bgq:32 --ranks-per-node 4 --ranks 128 --mapping "$recipe"
same "the index tells what a file is" "$(md5sum <out)" "$(md5sum <maps/004.map)"
run "$hopcast" map check maps/004.map --machine bgq:32 --ranks-per-node 4 --ranks 128
same "a file is a mapping" "$status" 0
run "$hopcast" map generate --machine torus:4 --ranks 4 --family random:12
same "folders are called like families" "$(find random-12 -name '*.map' | wc -l)" 12
run "$hopcast" map generate --machine systemg:4 --ranks-per-node 2 --ranks 8 --family permutations --list
same "a family on a fabric" "$(tr '\n' ' ' <out)" "AT TA "

# Wrong usage, and what cannot be written.
# shellcheck disable=SC2086
refused "unknown family" 2 'family "sc12" is unknown' map generate $torus --family sc12
# shellcheck disable=SC2086
refused "program without family" 2 "--program needs --family sc13" map generate $torus --program 2x2
refused "program of another family" 2 "--program needs --family sc13" map generate $torus --family curves --program 2x2
refused "family without a program" 2 'sc13:GRID, such as sc13:128x128' map generate $torus --family sc13
refused "wrong grid" 2 'no grid of' map generate $torus --family sc13 --program 2x3x5x7
run "$hopcast" map generate $bgq --family sc13 --program 32x16x16 --list
cp out program
run "$hopcast" map generate $bgq --family sc13:32x16x16 --list
if cmp -s out program && grep -q '^app(32,16,16).tile(' out; then ok "family of a program"; else not_ok "family of a program" "$(cat out)"; fi
refused "family and mapping" 2 "exclude each other" map generate $torus --family sc13-shared --mapping net
# shellcheck disable=SC2086
refused "list without family" 2 "--list needs --family NAME" map generate $torus --list
# shellcheck disable=SC2086
refused "list into a file" 2 "--list writes no files" map generate $torus --family sc13-shared --list -o x
touch file
# shellcheck disable=SC2086
refused "no folder" 1 "file/maps" map generate $torus --family random:2 -o file/maps

done_testing
