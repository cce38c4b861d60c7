/* machine_reader.h - the machines of a store's rows, one open at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "study/store/store.h"

/* Finds the machine of a row: borrowed until the next call; NULL without an error when it is not
 * kept. */
typedef const TopoMachine *(*StudyMachineOf) (void *data, const StudyRow *row, GError **error);

/* The last machine stays open, as the rows of a machine follow each other.  Zero at first but for
 * the store, which is borrowed. */
typedef struct {
  StudyStore *store;
  TopoMachine *machine;
  char *hash;
} StudyMachineReader;

void study_machine_reader_clear (StudyMachineReader *reader);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (StudyMachineReader, study_machine_reader_clear)

/* A StudyMachineOf whose data are such a reader. */
const TopoMachine *study_machine_reader_find (void *reader, const StudyRow *row, GError **error);
