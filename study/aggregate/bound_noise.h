/* bound_noise.h - the placement classes of a message: the tasks that may communicate beside it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The aggregation paper estimates interference "based on the proximity of the calls" and assumes
 * that noise lasts as long as the message (section V).  The definition of proximity is
 * hopcast's: a phase is the time between two collectives of all ranks, and in it every task of the node may communicate
 * while the message is under way, in each way in which it communicates in that phase.  Of all
 * ways in which these tasks can be at it at once, every one in a pair with another
 * of the node that it exchanges messages with or at a message to another node, the slowest counts.
 *
 * A message between nodes is held up by the noise on both: the slower node counts. */
#pragma once

#include "predictors/aggregation/bound_table.h"
#include "topology/mapping/core_tree.h"
#include "topology/mapping/mapping.h"
#include "mpi/operation.h"

#include <stdbool.h>

/* The messages that are noise. */
typedef enum {
  STUDY_NEAR_PHASE, /* messages between the same two collectives of all ranks; the default */
  STUDY_NEAR_RUN,   /* all of the program */
  STUDY_NEAR_NONE,  /* none: every message as if it were alone */
} StudyNear;

typedef struct StudyNoise StudyNoise;

/* Borrows everything; levels are those of the machine's nodes, of at most STUDY_MAX_PLACES places. */
#define STUDY_MAX_PLACES 64
StudyNoise *
study_noise_new (const TopoMachine *machine, const TopoLevels *levels, const TopoMapping *mapping,
                 const PredictBoundTable *table, StudyNear near);
void study_noise_free (StudyNoise *noise);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (StudyNoise, study_noise_free)

/* Two ranks exchange messages in a phase (numbered from 0: so many collectives before it).  All
 * of them must be added before the first time is asked for. */
void study_noise_add (StudyNoise *noise, uint32_t phase, uint32_t rank, uint32_t other);

/* How a time was found. */
typedef struct {
  bool extrapolated; /* the message is longer than any of the table */
  bool substituted;  /* the table lacks a class that counts: the longest of those with as much
                      * noise or more stands for it */
} StudyBoundDoubt;

/* Seconds of a message between two different ranks in a phase; NaN and *error (STUDY_ERROR_INPUT,
 * with the class) when the table has no time for it. */
double study_noise_message_s (StudyNoise *noise, uint32_t phase, uint32_t from, uint32_t to,
                              uint64_t bytes, StudyBoundDoubt *doubt, GError **error);

/* Seconds of a collective of all ranks. */
double study_noise_collective_s (StudyNoise *noise, TraceOpKind kind, uint64_t bytes,
                                 StudyBoundDoubt *doubt, GError **error);

/* How many placement classes were looked up. */
uint32_t study_noise_classes (const StudyNoise *noise);
