#!/bin/sh
# study_parallel.sh - makes a study in parts with GNU parallel, on one machine or several.
#
# SPDX-License-Identifier: Apache-2.0
#
#   sh study_parallel.sh halos.study 8
#   sh study_parallel.sh halos.study 64 --sshloginfile nodes --workdir .
#
# Options after the number of parts are parallel's; without any, there is a part per core at a time.
# With several machines, all must see the study's folder.  The same line again goes on where an
# interrupted one ended.  halos.joblog has a line per part.
set -u
usage='usage: study_parallel.sh STUDY PARTS [PARALLEL-OPTION...]'
study=${1:?$usage} parts=${2:?$usage}
shift 2
name=${study%.study}
case $(parallel --version 2>/dev/null </dev/null) in
'GNU parallel'*) ;;
*)
  echo "study_parallel.sh: no GNU parallel here" >&2
  exit 1 ;;
esac

# --quote: names with spaces stay one word.  A part that fails does not end the others; the merge
# says which are missing.
seq 1 "$parts" | parallel --joblog "$name.joblog" --quote "$@" \
  hopcast study run "$study" --shard "{}/$parts" --store "$name.{}of$parts.store" --threads 1 --quiet
exec sh "$(dirname "$0")/study_merge.sh" "$name.store" "$parts"
