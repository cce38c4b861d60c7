#!/bin/sh
# study_slurm.sh - submits a study as a job array of Slurm, and the job that merges its parts.
#
# SPDX-License-Identifier: Apache-2.0
#
#   sh study_slurm.sh halos.study 20 --partition=batch --cpus-per-task=8
#
# Options after the number of parts are sbatch's.  The second job begins when all parts have ended,
# well or not; when a part was cut off by its time limit, submit the same line again: finished runs
# are not repeated.
set -u
usage='usage: study_slurm.sh STUDY PARTS [SBATCH-OPTION...]'
study=${1:?$usage} parts=${2:?$usage}
shift 2
here=$(dirname "$0")

array=$(sbatch --parsable --array="1-$parts" "$@" "$here/study.sbatch" "$study") || exit 1
# --parsable prints the number of the job, and the cluster's name after ";" where there are several.
array=${array%%;*}
merge=$(sbatch --parsable --dependency="afterany:$array" "$@" --cpus-per-task=1 \
  "$here/study_merge.sh" "${study%.study}.store" "$parts") || exit 1
echo "job $array makes $parts parts of $study, job ${merge%%;*} merges them"
