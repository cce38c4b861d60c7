/* record.h - one simulation as it is printed: the run record.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The names of the JSON members are stable: other programs rely on them. */
#pragma once

#include "cli/print/output.h"
#include "sim/run.h"

/* What went in, by the names under which people know it. */
typedef struct {
  const char *trace, *network, *routing, *grain;
  const TopoMachine *machine;
  const TopoMapping *mapping;
} CliRunInputs;

/* The record as a JSON object; the caller json_node_unref()s it. */
JsonNode *cli_record_new (const CliRunInputs *inputs, const SimRun *run, gboolean has_time);

/* CSV and JSON print the record, a table what one wants to see first: time,
 * waits, the top of the features, the hottest links. */
void cli_record_print (FILE *out, const CliRunInputs *inputs, const SimRun *run, gboolean has_time,
                       CliFormat format);

/* Prints a record whose member "features" cli_add_features() made; in CSV its
 * members are columns like the others, and leave the record. */
void cli_features_print (FILE *out, JsonNode *record, CliFormat format);

/* Adds an object with all features, or only those that are known. */
void
cli_add_features (JsonBuilder *builder, const double features[SIM_N_FEATURES], gboolean only_known);
