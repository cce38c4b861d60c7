#!/bin/sh
# study_hyperqueue.sh - makes a study in parts as the tasks of a job of HyperQueue.
#
# SPDX-License-Identifier: Apache-2.0
#
#   hq server start &
#   hq alloc add slurm --time-limit 4h
#   sh study_hyperqueue.sh halos.study 64 --cpus=4
#
# Options after the number of parts are those of hq submit.  More parts than workers spread the load
# better: a worker takes the next part when it has ended one.  HOPCAST_THREADS is the number of
# threads of a part, as many as its --cpus.  A part that lost its worker is started again by
# HyperQueue and goes on where it ended.
set -u
usage='usage: study_hyperqueue.sh STUDY PARTS [HQ-SUBMIT-OPTION...]'
study=${1:?$usage} parts=${2:?$usage}
shift 2
name=${study%.study}

# The task's own shell puts in the number of the task, which hq gives in the environment.
# shellcheck disable=SC2016
hq submit --array "1-$parts" --name hopcast --wait "$@" -- sh -c '
  exec hopcast study run "$1" --shard "$HQ_TASK_ID/$2" --store "$3.${HQ_TASK_ID}of$2.store" \
    --threads "$4" --quiet' part "$study" "$parts" "$name" "${HOPCAST_THREADS:-1}" ||
  echo "study_hyperqueue.sh: some parts failed; merging what there is" >&2
exec sh "$(dirname "$0")/study_merge.sh" "$name.store" "$parts"
