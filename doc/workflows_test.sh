#!/bin/sh
# workflows_test.sh - a study in parts, by each of the workflows of doc/examples, is the whole study.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"
examples=$srcdir/doc/examples
mkdir bin && ln -s "$hopcast" bin/hopcast || exit 99
PATH=$scratch/bin:$PATH
export PATH
unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_CPUS_PER_TASK HOPCAST_SHARDS HOPCAST_THREADS

cat >plain.study <<'END'
[traces]
trace = gen:halo2d:ranks=16,bytes={bytes},iterations=1
[machines]
machine = torus:4x4
[mappings]
mapping = default;BAT;random(1)
[runs]
keep-links = true
[bytes]
values = 512;1024;4096
END
sed 's/random(1)/nowhere.map/' plain.study >failing.study
for study in plain failing; do
  hopcast study run -q $study.study --store $study-whole.store 2>/dev/null
done
parts=4

# tables STORE: what a study found.
tables () {
  hopcast study export "$1" --format csv && hopcast study export "$1" --what links --format csv
}
tables plain-whole.store >whole.csv
test "$(grep -c '^' whole.csv)" -gt 20 || not_ok "the whole study" "$(cat whole.csv)"

# begin NAME: a folder with a space in its name and the study in it.
begin () {
  folder="$scratch/$1 here"
  mkdir "$folder" && cp plain.study failing.study "$folder" && cd "$folder" || exit 99
}

# is_whole NAME STATUS: the last `run` ended so, and its store is the undivided study; a part has no
# more than its own runs.
is_whole () {
  tables plain.store >tables.csv 2>>err
  test "$status" = "$2" && cmp -s tables.csv "$scratch/whole.csv"
  verdict $? "$1" "status $status" "$(cat err)" "$(diff tables.csv "$scratch/whole.csv" | head -5)"
  runs=$(for part in 1 2 3 4; do
    hopcast study status plain.${part}of4.store --format csv | awk -F, 'NR > 1 { n += $(NF - 2) } END { printf "%d ", n }'
  done)
  # Nine runs, dealt out one by one.
  same "$1: each part has its share" "3 2 2 2 " "$runs"
}

# Stand-ins for batch systems.  sbatch runs the tasks of an array in order, hq too; a
# job that depends on another needs one that has been.
cat >bin/sbatch <<'END'
#!/bin/sh
echo "sbatch $*" >>sbatch.log
n=$(grep -c '^sbatch' sbatch.log) array=
while :; do
  case $1 in
  --array=1-*) array=${1#--array=1-} ;;
  --dependency=afterany:*) test "${1#*:}" -lt "$((41 + n))" || exit 1 ;;
  --*) ;;
  *) break ;;
  esac
  shift
done
cp "$1" spooled && shift
if test -n "$array"; then
  for task in $(seq 1 "$array"); do
    SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=$array SLURM_CPUS_PER_TASK=1 \
      sh spooled "$@" >>slurm.out 2>&1
  done
else
  sh spooled "$@" >>slurm.out 2>&1
fi
echo "$((41 + n));cluster"
END
cat >bin/hq <<'END'
#!/bin/sh
echo "hq $*" >>hq.log
test "$1" = submit && shift
while test "$1" != --; do
  case $1 in 1-*) last=${1#1-} ;; esac
  shift
done
shift
failed=0
for task in $(seq 1 "$last"); do HQ_TASK_ID=$task HQ_JOB_ID=1 "$@" || failed=1; done
exit $failed
END
chmod +x bin/sbatch bin/hq

begin array
for task in 1 2 3 4; do
  SLURM_ARRAY_TASK_ID=$task SLURM_ARRAY_TASK_COUNT=4 sh "$examples/study.sbatch" plain.study -q || exit 99
done
run sh "$examples/study_merge.sh" plain.store $parts
is_whole "study.sbatch" 0
# A part that is made again because its store was lost: the array has one task, but four parts.
rm plain.3of4.store plain.store
run sh "$examples/study_merge.sh" plain.store $parts
test "$status" = 1 && test "$(cat err)" = \
  "study_merge.sh: plain.store: no store of the parts 3 of 4; make them and merge again" && ! test -e plain.store
verdict $? "a missing part is named" "status $status" "$(cat err)"
HOPCAST_SHARDS=4 SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=1 sh "$examples/study.sbatch" plain.study -q || exit 99
run sh "$examples/study_merge.sh" plain.store $parts
is_whole "study.sbatch: one part again" 0
# Without a job array it says so.
run sh "$examples/study.sbatch" plain.study
test "$status" != 0 && grep -q 'sbatch --array=1-N' err
verdict $? "study.sbatch: no array" "$(cat err)"
# A part of which runs are missing: the first of two parts beside a store that lists all runs.
hopcast study run -q plain.study --shard 1/2 --store cut.1of1.store
run sh "$examples/study_merge.sh" cut.store 1
test "$status" = 1 && grep -qx 'study_merge.sh: cut.store: 9 runs, 0 failed, 4 missing' err
verdict $? "missing runs are counted" "status $status" "$(cat err)"

for wrong in 0 four -1; do
  run sh "$examples/study_merge.sh" plain.store $wrong
  test "$status" = 1 && test "$(cat err)" = "study_merge.sh: '$wrong' is no number of parts"
  verdict $? "study_merge.sh: $wrong parts" "status $status" "$(cat err)"
done

begin slurm
run sh "$examples/study_slurm.sh" plain.study $parts --partition=batch
same "study_slurm.sh prints its jobs" "job 42 makes 4 parts of plain.study, job 43 merges them" "$(cat out)"
is_whole "study_slurm.sh" 0
# More parts than runs: some are empty.
run sh "$examples/study_slurm.sh" failing.study 10
tables failing.store >tables.csv && tables "$scratch/failing-whole.store" >wanted.csv
cmp -s tables.csv wanted.csv && grep -qx 'study_merge.sh: failing.store: 9 runs, 3 failed, 0 missing' slurm.out
verdict $? "study_slurm.sh: failed runs are told" "$(cat slurm.out err)"

begin hyperqueue
script=study_hyperqueue.sh
sh -n "$examples/$script"
verdict $? "$script: syntax"
run sh "$examples/$script" plain.study $parts --cpus=1
is_whole "$script" 0
grep -q '^hq submit --array 1-4 --name hopcast --wait --cpus=1 -- sh -c' hq.log
verdict $? "$script submits an array" "$(cat hq.log)"
run sh "$examples/$script" failing.study $parts
test "$status" = 3
verdict $? "$script: failed runs" "status $status" "$(cat err)"

begin parallel
case $(parallel --version 2>/dev/null </dev/null) in
'GNU parallel'*)
  run sh "$examples/study_parallel.sh" plain.study $parts --jobs 2
  is_whole "study_parallel.sh" 0
  same "study_parallel.sh has a log of parts" 5 "$(wc -l <plain.joblog)"
  run sh "$examples/study_parallel.sh" failing.study $parts --jobs 2
  test "$status" = 3
  verdict $? "study_parallel.sh: failed runs" "status $status" "$(cat err)" ;;
*) skip "study_parallel.sh" "no GNU parallel" ;;
esac

begin snakemake
if ! command -v snakemake >/dev/null; then
  skip "Snakefile" "no snakemake"
else
  HOME=$scratch
  export HOME
  run snakemake --snakefile "$examples/Snakefile" -n --cores 2 --config study=plain.study parts=$parts
  # Four parts, the merge, table, page and the whole.
  test "$status" = 0 && grep -Eq '^total +8 ' out
  verdict $? "Snakefile: the plan" "status $status" "$(cat out err)"
  run snakemake --snakefile "$examples/Snakefile" --quiet --cores 2 --config study=plain.study parts=$parts
  is_whole "Snakefile" 0
  hopcast study export plain.store --format csv >wanted.csv
  cmp -s plain.csv wanted.csv && grep -q '</html>' plain.html
  verdict $? "Snakefile: table and page" "$(ls)"
  # A changed study makes the parts again, which keep what they have.
  sed -i 's/random(1)/random(2)/' plain.study && touch plain.study
  hopcast study run -q plain.study --store again.store
  run snakemake --snakefile "$examples/Snakefile" --quiet --cores 2 --config study=plain.study parts=$parts
  tables again.store >wanted.csv && tables plain.store >tables.csv
  test "$status" = 0 && cmp -s tables.csv wanted.csv
  verdict $? "Snakefile: a changed study" "status $status" "$(cat err)" "$(diff tables.csv wanted.csv | head -5)"
fi

cd "$scratch" || exit 99
done_testing
