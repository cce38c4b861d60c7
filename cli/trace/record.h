/* record.h - the run record: one simulation as it is printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The names of the JSON members are stable: other programs rely on them. */
#pragma once

#include "cli/print/output.h"
#include "study/replicas.h"

/* The inputs of a run and their names. */
typedef struct {
  const char *trace, *network, *routing;
  const TopoMachine *machine;
  const TopoMapping *mapping;
} CliRunInputs;

/* What came out of it; NULL: not known. */
typedef struct {
  const StudyRow *row; /* the run with its inputs, or the mean of its replicas */
  const SimCounters *counters;
  const GPtrArray *replicas; /* (element-type StudyRow) NULL: there is one run */
  const SimIterations *iterations;
} CliRunResults;

/* The record as CSV or JSON; a table has the time, waits, the main features and the hottest
 * links. */
void cli_record_print (FILE *out, const CliRunInputs *inputs, const CliRunResults *results,
                       CliFormat format);

/* Prints a record with a member "features" of cli_add_features().  In CSV its members become members
 * of the record. */
void cli_features_print (FILE *out, JsonNode *record, CliFormat format);

/* Adds an object with all features, or only those that are known. */
void
cli_add_features (JsonBuilder *builder, const double features[SIM_N_FEATURES], gboolean only_known);
