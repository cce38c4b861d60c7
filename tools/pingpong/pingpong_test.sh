#!/bin/sh
# pingpong_test.sh - hopcast-pingpong on two processes, under each MPI that is there.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

built=${G_TEST_BUILDDIR:-.}
reread=$built/tools/pingpong/pingpong_reread
# An MPI ends with memory of its own in hand, which a sanitizer would tell; more processes than
# cores, for root in a container as well.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_plm_rsh_agent=false OMPI_MCA_btl=self,vader
export ASAN_OPTIONS OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
export OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_plm_rsh_agent OMPI_MCA_btl
# Each byte of what MPI allocates would be written.
unset MALLOC_PERTURB_

# have MPI PROGRAM: sets $mpi, $program and $mpirun.
have () {
  mpi=$1 program=$built/$2
  mpirun=$(command -v "mpirun.$mpi" || true)
  test -x "$program" && test -n "$mpirun"
}

# measure N OPTION...: the program on N processes; 0: without mpirun, which makes it one.
measure () {
  processes=$1
  shift
  if test "$processes" = 0; then
    run timeout 120 "$program" "$@"
  else
    run timeout 120 "$mpirun" -n "$processes" "$program" "$@"
  fi
}

# holds NAME [FILE]: the last command was right; else what was printed, or what the file tells.
holds () {
  if test $? = 0; then
    ok "$mpi: $1"
  elif test $# = 2; then
    not_ok "$mpi: $1" "$(head -20 "$2")"
  else
    not_ok "$mpi: $1" "status $status" "$(head -20 out)" "$(head -20 err)"
  fi
}

# ours: the lines of the program on stderr; mpirun has its own.
ours () {
  grep '^hopcast-pingpong: ' err
}

# absent NAME: neither a file of this name nor the beginning of one.
absent () {
  for file in "$1"*; do
    test ! -e "$file" || return 1
  done
}

heading=operation,where,class,pairs,outside,ranks,bytes,time_us

# grows FILE: what the table must be when the cores were there.
grows () {
  awk -F, -v heading="$heading" '
    NR == 1 && $0 != heading { wrong = 1 }
    NR > 1 && ($0 !~ /^pingpong,within,\(oo\),0,0,2,/ || NF != 8 || $8 <= last) { wrong = 1 }
    NR > 1 { bytes = bytes " " $7; last = $8 }
    NR == 2 && $8 >= 1000 { wrong = 1 }
    # No machine copies a terabyte in a second.
    $7 == 4194304 && $8 < 4 { wrong = 1 }
    END { exit wrong || bytes != " 1 65536 4194304" }' "$1"
}

check_table () {
  # Where other programs have the cores most of the time, messages wait for them.
  for attempt in 1 2 3 4 5; do
    measure 2 --seconds 0.05 --sizes 1,64KiB,4MiB --bind -o table.csv
    if test "$status" != 0 || grows table.csv; then
      break
    fi
    echo "# attempt $attempt: $(cut -d, -f8 table.csv | tr '\n' ' ')"
  done
  test "$status" = 0 && test ! -s out && grows table.csv
  holds "times grow with the size"
  mv table.csv measured.csv
  absent table.csv && "$reread" measured.csv >again.csv 2>err && cmp -s measured.csv again.csv
  holds "its table is accepted"

  measure 2 --seconds 0.01 -q
  test "$status" = 0 && test ! -s err &&
    test "$(tail -n +2 out | cut -d, -f7 | tr '\n' ' ')" = \
      "1 4 16 64 256 1024 4096 16384 65536 262144 1048576 4194304 16777216 "
  holds "powers of four on standard output, nothing said when quiet"
}

check_collectives () {
  measure 2 --seconds 0.01 --bind --sizes 5,12,64KiB --only-collectives \
    --collectives barrier,bcast,gather,scatter,allgather,alltoall,reduce,allreduce -o calls.csv
  test "$status" = 0 && "$reread" calls.csv >again.csv 2>err && cmp -s calls.csv again.csv &&
    test "$(grep -c '^barrier,,(oo),0,0,2,0,' calls.csv)" = 1 &&
    test "$(grep -c '^[a-z]*,,(oo),0,0,2,[0-9]*,' calls.csv)" = 22 &&
    awk -F, 'NR > 1 && $8 <= 0 { wrong = 1 } END { exit wrong }' calls.csv
  holds "collectives"
}

# As if there were two nodes of two processes each: all that one place beside the observed one
# can do, and that with noise it does end.
check_noise () {
  measure 4 --seconds 0.01 --sizes 8,64KiB --pretend-nodes 2 -o noise.csv
  test "$status" = 0 && tail -n +2 noise.csv | cut -d, -f2-7 >rows && printf '%s\n' \
    "within,(oo),0,0,2,8" "within,(oo),0,0,2,65536" "between,(.o),0,0,2,8" \
    "between,(.o),0,0,2,65536" "between,(ox),0,1,2,8" "between,(ox),0,1,2,65536" | cmp -s - rows &&
    ours | grep -q 'warning: processes are not bound\|warning: some processes share'
  holds "noise between nodes"
  measure 4 --seconds 0.01 --sizes 8 -o pair.csv
  test "$status" = 0 && test "$(tail -n +2 pair.csv | cut -d, -f2-5 | tr '\n' ' ')" = \
    "within,(..oo),0,0 within,(#001#001oo),1,0 "
  holds "noise in the node"
  measure 3 --seconds 0.01 --sizes 8
  test "$status" = 0 && test "$(sed 1d out | cut -d, -f3)" = "(.oo)"
  holds "an odd number of processes: one is idle"
}

# The tree of a node: here the paper's, of which the processes have a few cores.
check_tree () {
  measure 2 --dry-run --machine systemg --bind --sizes 8,9 --seconds 0.5
  test "$status" = 0 && test "$(awk -F, '$7 == 2' out | wc -l)" = 1 &&
    test "$(awk -F, '$2 == "within" && $5 == 0' out | wc -l)" = 56 &&
    test "$(awk -F, '$2 == "between"' out | wc -l)" = 268 &&
    ours | grep -q '550 of 551 classes' && ours | grep -q ': 2 times of at most 0.5 s each: 0 min 01 s'
  holds "a dry run lists what can be measured and what cannot"
}

# wrong STATUS WORDS OPTION...: one line, by one process, and nothing else.
wrong () {
  want=$1 words=$2
  shift 2
  rm -f file
  measure "$@"
  # shellcheck disable=SC2086  # several words
  if test "$status" != "$want" || test "$(ours | wc -l)" != 1 || ! ours | grep -q -e "$words" ||
    test -e file; then
    echo "$*: status $status, $(ours)" >>faults
  fi
}

check_errors () {
  : >faults
  wrong 1 "at least two are needed" 1
  wrong 2 "see 'hopcast-pingpong --help'" 2 --no-such-option
  wrong 2 "one argument too many: 'odd'" 0 odd
  wrong 2 "sizes: 8 bytes are listed twice" 0 --sizes 8,8
  wrong 2 "sizes: .*2 yards" 0 --sizes "2 yards"
  wrong 2 "sizes: 1GiB is not within" 0 --sizes 1GiB
  wrong 2 "collectives: 'allgatherv' is none of" 0 --collectives allgatherv
  wrong 2 "only-collectives needs --collectives" 0 --only-collectives
  wrong 2 "seconds: 0 is not" 0 --seconds 0
  wrong 2 "precision: -1 is not" 0 --precision=-1
  wrong 2 "max-pairs: -3 is not" 0 --max-pairs=-3
  wrong 2 "exclude each other" 0 --node node.xml --machine systemg
  wrong 1 "missing.xml" 2 --node missing.xml -o file
  wrong 1 "is a torus" 2 --machine bgq:32 -o file
  wrong 1 "no/such/folder/file: cannot write" 2 -o no/such/folder/file
  wrong 1 "not bound to one core" 3 --machine systemg -o file
  wrong 1 "nothing can be measured" 2 --pretend-nodes 2 --machine systemg --bind -q -o file
  test ! -s faults
  holds "errors: one line, by one process" faults
}

# descendants PID: of a process, all.
descendants () {
  for child in $(pgrep -P "$1"); do
    descendants "$child"
    echo "$child"
  done
}

# start: a measurement that takes a minute, in the background.
start () {
  "$mpirun" -n 2 "$program" --seconds 60 --precision 0 --sizes 8 -o slow.csv >out 2>err </dev/null &
  launcher=$!
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    sleep 1
    test "$(descendants $launcher | wc -l)" -ge 2 && break
  done
}

# all_end PID...: none is left in the end.
all_end () {
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    left=
    for pid; do
      if kill -0 "$pid" 2>/dev/null; then
        left=$attempt
      fi
    done
    test -z "$left" && return 0
    sleep 0.5
  done
  return 1
}

# The status is mpirun's own.
check_ends () {
  start
  everybody=$(descendants $launcher)
  # shellcheck disable=SC2086  # several processes
  kill -TERM $launcher && wait $launcher
  status=$?
  # shellcheck disable=SC2086
  test "$(echo "$everybody" | wc -l)" -ge 2 && all_end $everybody && absent slow.csv
  holds "a signal ends all and leaves no file"
  start
  everybody=$(descendants $launcher)
  kill -9 "$(echo "$everybody" | head -1)" && wait $launcher
  status=$?
  # shellcheck disable=SC2086
  test "$status" != 0 && all_end $everybody && absent slow.csv
  holds "a process that is lost ends all and leaves no file"
}

check_help () {
  measure 2 --help
  test "$status" = 0 && test "$(grep -c -e '--max-outside=N' out)" = 1 && test ! -s err
  holds "help is printed once"
  sed -n 's/^ *\(-., \)\?--\([a-z-]*\).*/\2/p' out | while read -r option; do
    escaped=$(printf '%s\n' "$option" | sed 's/-/\\\\-/g')
    grep -q -e "\\\\-\\\\-$escaped\\([^a-z\\\\]\\|\$\\)" "$srcdir/doc/hopcast-pingpong.1.in" ||
      echo "--$option"
  done >unknown
  test ! -s unknown
  holds "its manual page knows all options" unknown
  measure 2 --version
  test "$status" = 0 && test "$(cat out)" = "$("$hopcast" --version | sed 's/hopcast/&-pingpong/; q')"
  holds "version"
}

# The job of Slurm that the documentation has, with a Slurm that only writes down what it is to do.
check_job () {
  mkdir -p slurm bin
  cat >bin/srun <<'END'
#!/bin/sh
echo "$*" >>steps
for file; do :; done
printf 'heading\n%s\n' "$file" >"$file"
END
  printf '#!/bin/sh\necho "<topology/>" >node.xml\n' >bin/lstopo
  chmod +x bin/srun bin/lstopo
  mpi=slurm
  (cd slurm && PATH=$scratch/bin:$PATH sh "$srcdir/doc/examples/pingpong.sbatch" 8 1 4) >out 2>err
  status=$?
  test "$status" = 0 && test "$(tr '\n' ' ' <slurm/table.csv)" = \
    "heading messages.csv calls-1.csv calls-4.csv " &&
    test "$(grep -o '^.*--ntasks-per-node=[0-9]*' slurm/steps | tr '\n' ';')" = \
      "--nodes=2 --ntasks=16 --ntasks-per-node=8;--nodes=16 --ntasks=16 --ntasks-per-node=1;\
--nodes=4 --ntasks=16 --ntasks-per-node=4;"
  holds "the job of the documentation"
}

found=no
for pair in "$(main_mpi) hopcast-pingpong" "mpich hopcast-pingpong-mpich"; do
  # shellcheck disable=SC2086  # two words
  have $pair || continue
  found=yes
  check_table
  check_collectives
  check_noise
  check_tree
  check_errors
  check_ends
  check_help
done
if test $found = no; then
  echo "1..0 # SKIP no MPI"
  exit 0
fi
check_job
done_testing
