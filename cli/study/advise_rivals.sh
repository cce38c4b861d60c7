#!/bin/sh
# advise_rivals.sh - an advice beside the exact simulation of rivals that it did not choose itself.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: advise_rivals.sh HOPCAST ADVICE.json [SHARE]
# Simulates all mappings of the families of curves and of SC13, with every number of ranks per node of the
# advice, exactly, in a study of their own.  Prints the fastest and what is advised; exit status 1 where a
# rival is faster than what is advised by more than the advice calls noise or not worth a change, and by
# more than SHARE of the time (0.01).
set -u
hopcast=$1 advice=$2 share=${3:-0.01}
scratch=$(mktemp -d) || exit 99
trap 'rm -rf "$scratch"' EXIT

# member NAME: the first member of that name.
member () {
  sed -n "s/^ *\"$1\": \"*\([^\",]*\)\"*,*\$/\1/p" "$advice" | head -1
}

# of OBJECT NAME: that member of an object.
of () {
  sed -n "/^  \"$1\": {/,/^  }/p" "$advice" |
    sed -n "s/^ *\"$2\": \"*\([^\",]*\)\"*,*\$/\1/p"
}

trace=$(sed -n 's/^  "trace": "\(.*\)",$/\1/p' "$advice")
case $trace in gen:* | /*) ;; *) trace=$PWD/$trace ;; esac
numbers=$(sed -n '/"placements": \[$/,$s/^ *"ranks_per_node": \([0-9]*\),$/\1/p' "$advice" | sort -nu |
  tr '\n' ';')
cat >"$scratch/rivals.study" <<END
[traces]
trace = $trace
compute-scale = $(member compute_scale)
[machines]
machine = $(member machine)
ranks-per-node = ${numbers%;}
[mappings]
mapping = default
family = curves;sc13-shared
skip-unfit = true
[runs]
seed = $(member seed)
END
"$hopcast" study run "$scratch/rivals.study" -q || exit 99
"$hopcast" study export "$scratch/rivals.store" --format csv >"$scratch/rivals.csv" || exit 99
best=$("$hopcast" rank "$scratch/rivals.store" --format json |
  sed -n 's/^ *"value": \([^,]*\),*$/\1/p' | sort -g | head -1)
n=$(grep -c . "$scratch/rivals.csv")
awk -v best="$best" -v mine="$(of recommended time_s)" -v low="$(of gain low)" -v high="$(of gain high)" \
  -v least="$(member min_gain)" -v share="$share" -v n=$((n - 1)) -v verdict="$(member verdict)" '
  BEGIN {
    allowed = (high - low) / 2
    if (least > allowed) allowed = least
    if (share > allowed) allowed = share
    printf "%s; advised: %.6g s; fastest of %d rivals: %.6g s, %+.2f %%; allowed %.2f %%\n", verdict, mine, n,
      best, 100 * (mine / best - 1), 100 * allowed
    exit !(mine > 0 && best > 0 && mine / best - 1 <= allowed)
  }'
