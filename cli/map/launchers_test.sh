#!/bin/sh
# launchers_test.sh - real launchers start jobs with files of ours; the ranks say where
# they are.
#
# SPDX-License-Identifier: Apache-2.0
#
# There is one host.  What the launchers take for their remote shell makes four of it:
# it runs here what was meant for there, and tells the name of the host to what it runs.
# shellcheck disable=SC2154  # set by tap.sh
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

LC_ALL=C
# For root in a container as well.  Ranks of different hosts must not find each other's
# files of shared memory.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,tcp
OMPI_MCA_plm_rsh_agent=$scratch/remote HYDRA_LAUNCHER=ssh HYDRA_LAUNCHER_EXEC=$scratch/remote
export LC_ALL OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_btl
export OMPI_MCA_plm_rsh_agent HYDRA_LAUNCHER HYDRA_LAUNCHER_EXEC
# Hosts have folders of their own for scratch files.  In one folder the daemons of Open MPI
# race to make the same ones, and the loser gives up.
TMPDIR=$scratch
export TMPDIR
unset MALLOC_PERTURB_

cat >remote <<'EOF'
#!/bin/sh
while test "${1#-}" != "$1"; do shift; done
HOPCAST_HOST=$1
TMPDIR=$TMPDIR/$1
export HOPCAST_HOST TMPDIR
mkdir -p "$TMPDIR"
shift
exec sh -c "$*"
EOF
chmod +x remote

# Four hosts, of which node 0 is not the first by name.
printf '%s\n' delta alpha gamma beta >hosts

# The shuffled places of eight ranks, the same a host after the other, and in turns.
printf '%s\n' '3 1' '0 0' '2 1' '0 1' '1 0' '3 0' '1 1' '2 0' >shuffled.map
printf '%s\n' '2 0' '2 1' '0 0' '0 1' '3 0' '3 1' '1 0' '1 1' >blocks.map
printf '%s\n' '0 0' '1 0' '2 0' '3 0' '0 1' '1 1' '2 1' '3 1' >turns.map

# expect MAP SHARING CPUS0 CPUS1: what the ranks of a map should say when their slots
# have these processors.
expect () {
  awk -v sharing="$2" -v first="$3" -v second="$4" '
    FILENAME == "hosts" { name[FNR - 1] = $1; next }
    { print FNR - 1, name[$1], $2 == 0 ? first : second, sharing }' hosts "$1" >want
}

# launch KIND MAP CORES: runs the line that is printed for the file of a map.
launch () {
  rm -f ./*.rank
  "$hopcast" map convert "$2" --machine fattree:2x2,node=node.xml --cores "$3" --ranks 8 \
    --hosts hosts --to "$1" -o "job.$1" --launch-line >line 2>note || return
  PATH=$scratch/bin:$PATH run timeout 60 sh -c "$(cat line)"
  cat ./*.rank 2>/dev/null | sort -n >got
}

# same NAME: the ranks are where they should be.
same () {
  test -s want && cmp -s want got
  verdict $? "$1" "$(cat line note)" "$(diff want got)" "$(tail -5 err)"
}

# usable MPI: whether its program can be made.
usable () {
  command -v "mpicc.$1" >/dev/null 2>&1 && command -v "$2" >/dev/null 2>&1 || return
  "mpicc.$1" -o program "$srcdir/cli/map/launchers_program.c" >compile.log 2>&1
}

if ! command -v lstopo-no-graphics >/dev/null 2>&1 || ! command -v hwloc-calc >/dev/null 2>&1; then
  skip "launchers" "no hwloc to describe this host"
  done_testing
  exit
fi
lstopo-no-graphics --of xml -f node.xml 2>/dev/null
n_cores=$(hwloc-calc --number-of core all)
n_processors=$(hwloc-calc --number-of pu all)
if test "$n_cores" -lt 2; then
  skip "launchers" "this host has one core"
  done_testing
  exit
fi
cpus0=$(hwloc-calc --physical-output --intersect pu core:0)
cpus1=$(hwloc-calc --physical-output --intersect pu core:1)

if usable openmpi mpirun.openmpi; then
  mkdir -p bin
  ln -sf "$(command -v mpirun.openmpi)" bin/mpirun
  launch rankfile shuffled.map 0,1
  expect shuffled.map 2 "$cpus0" "$cpus1"
  same "Open MPI: a rankfile"
  launch rankfile turns.map 1,0
  expect turns.map 2 "$cpus1" "$cpus0"
  same "Open MPI: a rankfile, slots in another order of cores"
  if test "$n_cores" = "$n_processors"; then
    launch hostfile blocks.map 0,1
    expect blocks.map 2 "$cpus0" "$cpus1"
    same "Open MPI: a list of hosts"
  else
    skip "Open MPI: a list of hosts" "cores have several threads"
  fi
else
  skip "Open MPI" "no Open MPI here"
fi

if usable mpich mpiexec.hydra; then
  launch hydra blocks.map 1,0
  expect blocks.map 2 "${cpus1%%,*}" "${cpus0%%,*}"
  same "MPICH: a host file"
  # A host that stands again is another node: no rank has company.
  launch hydra turns.map 0,1
  all=$(hwloc-calc --physical-output --intersect pu all)
  expect turns.map 1 "$all" "$all"
  same "MPICH: split hosts"
  grep -q '4 hosts are split' note
  verdict $? "MPICH: split hosts are told" "$(cat note)"
else
  skip "MPICH" "no MPICH here"
fi
done_testing
