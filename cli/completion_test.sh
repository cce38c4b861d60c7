#!/bin/sh
# completion_test.sh - what bash offers at places of the command line.
#
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154  # set by tap.sh
set -u
. "${G_TEST_SRCDIR:-.}/cli/tap.sh"

if ! command -v bash >/dev/null; then
  skip "completion" "no bash"
  done_testing
  exit
fi
: >a.csv
: >b.study
: >c.store
: >d.conf
: >e.ti
mkdir f

# offers NAME WANTED WORD...: after these words (the last one is being typed, parted as bash parts
# them) bash offers exactly WANTED, words in any order; "...": these and others.
offers () {
  name=$1 wanted=$2
  shift 2
  got=$(bash -c '
    . "$1/doc/completion.bash"
    program=$2
    shift 2
    COMP_WORDS=("$program" "$@") COMP_CWORD=$#
    _hopcast
    printf "%s\n" "${COMPREPLY[@]}"' bash "$srcdir" "$hopcast" "$@" 2>&1 | sort | tr '\n' ' ')
  for word in $wanted; do
    case " $got" in
      *" $word "*) ;;
      *) test "$word" = ... || missing="$missing $word" ;;
    esac
  done
  case $wanted in
    *...) ;;
    *) test "$(echo $wanted | wc -w)" = "$(echo $got | wc -w)" || missing="$missing (others are offered)" ;;
  esac
  if test -z "$missing"; then ok "$name"; else not_ok "$name" "not offered:$missing" "but: $got"; fi
  missing=
}
missing=

offers "commands" "simulate score study" s
offers "commands and help" "trace machine map help --help --version ..." ""
offers "words of a group" "info matrix convert generate record" trace ""
offers "words of a group that is a command" "patterns predict-ipc" aggregate p
offers "help of a command" "simulate score study" help s
offers "help of a subcommand" "record" help trace rec
offers "options" "--ranks-per-node --ranks" simulate e.ti --ran
offers "a flag" "--iterations" simulate e.ti --it
offers "options of a subcommand" "--quiet" study run --q
offers "formats" "table csv json" simulate e.ti --format ""
offers "formats of an export" "csv json jsonl npz" study export c.store --format ""
offers "format behind =" "csv" study export c.store --format = c
offers "networks" "packet flow load" simulate e.ti --network ""
offers "routings" "zone0 zone1 zone2 zone3" simulate e.ti --routing z
offers "mappings" "default hilbert slurm: e.ti ..." simulate e.ti --mapping ""
offers "methods" "extra-trees forest ..." train a.csv --method ""
offers "fits of an IPC model" "least-squares ridge" aggregate train-ipc a.csv --fit ""
offers "methods of grouping" "kl paper scotch" aggregate group a.csv --method ""
offers "metrics" "max_bytes max_chunks max_dilation max_buffer max_delay max_waited max_FIFO" rank c.store --by max_
offers "machines" "bgq: torus: fattree: fattree3: dragonflyplus: qdr: fdr: edr: hdr100: hdr: ndr200: ndr: systemg: systemg stampede stampede: fabric: d.conf f" \
  simulate e.ti --machine ""
offers "file of a fabric" "e.ti" simulate e.ti --machine fabric : e
offers "patterns of traces" "ring: random:" simulate gen : r
offers "trace" "gen: a.csv b.study c.store d.conf e.ti f" simulate ""
offers "kinds of patterns" "ring random" trace generate r
offers "parameters of a pattern" "--ranks" trace generate ring --ra
offers "kinds of launchers" "slurm" map convert AB --to sl
offers "formats of traces" "hct" trace convert e.ti --to h
offers "files by their ending" "b.study f" study run ""
offers "tables" "a.csv c.store f" train ""
offers "measured times" "a.csv f" train c.store --measured ""
offers "measured files" "a.csv b.study c.store d.conf e.ti f" calibrate a.csv ""
offers "stores" "c.store b.study f" rank ""
offers "output" "a.csv b.study c.store d.conf e.ti f" trace convert e.ti -o ""
offers "suites" "all bgq infiniband aggregation simgrid modern modern-full evh1 sc13 sensitivity shrink" validate ""
offers "no words for a number" "" simulate e.ti --compute-scale ""

# The words of an option are those that the program names when the value is wrong.
"$hopcast" --help | sed -n 's/^  \([a-z]* \?[a-z-]*\)  .*/\1/p' | sed 's/ *$//' >commands
n_lists=0
while read -r command; do
  # shellcheck disable=SC2086
  "$hopcast" $command --help </dev/null | sed -n 's/^ *\(-., \)\?\(--[a-z0-9-]*\)=.*/\2/p' >options
  while read -r option; do
    case "$command $option" in
      *" --to" | *" --machine" | *" --mapping" | *" --start" | *" --cores" | *" --validate" | *" --family") continue ;;
    esac
    # shellcheck disable=SC2086
    "$hopcast" --complete $command $option "" </dev/null >words
    # Any text names a file: the command would run.
    if test "$(cat words)" = :files; then continue; fi
    sed -i '/^:files/d' words
    case $command in
      "trace generate") kind=ring ;;
      *) kind= ;;
    esac
    for n in 0 1 2; do
      arguments=$(printf '%.*s' $((2 * n)) "x x ")
      # shellcheck disable=SC2086
      "$hopcast" $command $kind $arguments $option nonsense >/dev/null 2>err </dev/null
      sed -n "s/.*$option: 'nonsense' is none of \([^;]*\);.*/\1/p" err | tr -d ' ' | tr ',' '\n' >named
      test -s named && break
    done
    test -s named || continue
    n_lists=$((n_lists + 1))
    if cmp -s words named; then ok "$command $option"; else not_ok "$command $option" "$(diff words named)"; fi
  done <options
done <commands
if test $n_lists -ge 15; then ok "lists were compared"; else not_ok "lists were compared" "only $n_lists"; fi
done_testing
