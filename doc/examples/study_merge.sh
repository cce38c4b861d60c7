#!/bin/sh
# study_merge.sh - makes one store of the parts of a study.
#
# SPDX-License-Identifier: Apache-2.0
#
#   sh study_merge.sh halos.store 20
#
# merges halos.1of20.store to halos.20of20.store into halos.store, which it replaces.
# Exit status: 0 when every run is done, 1 when parts or runs are missing, 3 when all runs were made
# and some failed; `hopcast study status halos.store` has the reasons.  The other workflows call it.
#
#SBATCH --job-name=hopcast-merge
#SBATCH --ntasks=1
#SBATCH --time=00:30:00
set -u
store=${1:?usage: study_merge.sh STORE PARTS}
parts=${2:?usage: study_merge.sh STORE PARTS}
case $parts in
*[!0-9]* | 0*)
  echo "study_merge.sh: '$parts' is no number of parts" >&2
  exit 1 ;;
esac

set --
part=1 missing=
while test "$part" -le "$parts"; do
  file=${store%.store}.${part}of$parts.store
  if test -f "$file"; then set -- "$@" "$file"; else missing="$missing $part"; fi
  part=$((part + 1))
done
if test -n "$missing"; then
  echo "study_merge.sh: $store: no store of the parts$missing of $parts; make them and merge again" >&2
  exit 1
fi
# Into a new store: one that is there may list runs that the study no longer has.
rm -f "$store.new"
if ! hopcast study merge "$store.new" "$@" --quiet || ! mv "$store.new" "$store"; then
  rm -f "$store.new"
  exit 1
fi

# A line per case, whose last columns are the runs that failed and those that are missing.
hopcast study status "$store" --format csv | awk -F, -v store="$store" '
  NR > 1 { runs += $(NF - 3); failed += $(NF - 1); missing += $NF }
  END {
    printf "study_merge.sh: %s: %d runs, %d failed, %d missing\n", store, runs, failed, missing >"/dev/stderr"
    exit NR < 2 || missing ? 1 : failed ? 3 : 0
  }'
