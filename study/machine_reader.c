/* machine_reader.c - the machines of a store's rows, one open at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/machine_reader.h"

void
study_machine_reader_clear (StudyMachineReader *reader)
{
  g_clear_pointer (&reader->machine, topo_machine_free);
  g_clear_pointer (&reader->hash, g_free);
}

const TopoMachine *
study_machine_reader_find (void *data, const StudyRow *row, GError **error)
{
  StudyMachineReader *reader = data;

  if (g_strcmp0 (row->machine_hash, reader->hash) == 0)
    return reader->machine == NULL ||
                   study_store_check_machine (reader->store, reader->machine, row, error)
               ? reader->machine
               : NULL;
  study_machine_reader_clear (reader);
  reader->machine = study_store_machine (reader->store, row, error);
  if (reader->machine != NULL)
    reader->hash = g_strdup (row->machine_hash);
  return reader->machine;
}
