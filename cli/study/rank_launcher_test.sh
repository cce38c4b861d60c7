#!/bin/sh
# rank_launcher_test.sh - the best mapping of a study as a launcher's file.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

if ! "$hopcast" --help | grep -q '^  study run '; then
  skip "rank --to" "no studies"
  done_testing
  exit 0
fi

# same NAME WANTED GOT: the last command succeeded and wrote what it should.
same () {
  test "$status" = 0 && test -s "$2" && cmp -s "$2" "$3"
  verdict $? "$1" "exit status $status" "$(cat err)" "$(diff "$2" "$3" 2>&1)"
}

# refused NAME PATTERN STATUS: the last command was refused and wrote nothing.
refused () {
  test "$status" = "$3" && grep -q -- "$2" err && ! test -e no.file
  verdict $? "$1" "exit status $status" "$(cat err)"
}

# Ranks talk to the next one but one: in turns on two nodes they need no network.
cat >pairs.goal <<'END'
num_ranks 4
rank 0 {
l1: send 100000b to 2 tag 1
}
rank 1 {
l1: send 100000b to 3 tag 1
}
rank 2 {
l1: recv 100000b from 0 tag 1
}
rank 3 {
l1: recv 100000b from 1 tag 1
}
END
cat >small.study <<'END'
[traces]
trace = pairs.goal
[machines]
machine = fattree:1x2
ranks-per-node = 2
[mappings]
mapping = AT;TA
[runs]
network = load
END
run "$hopcast" study run small.study
test "$status" = 0 && ok "study" || not_ok "study" "$(cat err)"
printf '%s\n' zeta eta >hosts

printf '%s\n' zeta eta zeta eta >wanted
run "$hopcast" rank small.store --to slurm --hosts hosts -o best.slurm
same "hosts of one's own" wanted best.slurm
grep -q '^hopcast: launch with: .*best\.slurm.*srun' err
verdict $? "how to launch" "$(cat err)"

# What the map file says, converted.
run "$hopcast" rank small.store -o best.map
for kind in rankfile hydra flux; do
  run "$hopcast" map convert best.map --machine fattree:1x2 --ranks-per-node 2 --ranks 4 \
    --to $kind -o converted.$kind
  run "$hopcast" rank small.store --to $kind -o best.$kind
  same "as map convert: $kind" converted.$kind best.$kind
done

run "$hopcast" rank small.store --to slurm
refused "no --output" "--to needs --output" 2
run "$hopcast" rank small.store --hosts hosts -o no.file
refused "no --to" "--hosts needs --to" 2
run "$hopcast" rank small.store --to slrum -o no.file
refused "an unknown kind" "slurm" 2
run "$hopcast" rank small.store --to bgp -o no.file
refused "what the kind cannot say" "torus\|tori\|dimensions" 1
printf '%s\n' zeta >hosts
run "$hopcast" rank small.store --to slurm --hosts hosts -o no.file
refused "too few hosts" "hosts" 1

"$hopcast" rank small.store -o best.map >/dev/null
run "$hopcast" rank small.store -o -
test "$status" = 0 && cmp -s out best.map
verdict $? "a map file on standard output has it for itself" "$(cat out err)"
done_testing
