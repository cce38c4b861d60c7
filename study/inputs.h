/* inputs.h - machines and mappings as a command line or a study file names them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/mapping/mapping.h"

/* All but spec may be left out. */
typedef struct {
  const char *spec;
  int ranks_per_node;          /* G_MININT: the machine's own */
  const char *cores;           /* the cores of a fabric's nodes that are slots */
  int pattern;                 /* the same by an aggregation pattern; G_MININT: none */
  const char *const *settings; /* "group.key=value", NULL-terminated */
} StudyMachineInputs;

/* The machine with everything applied; errors name the input by its option.
 * STUDY_ERROR_OPTION when an input is wrong whatever files hold. */
TopoMachine *study_machine_new (const StudyMachineInputs *inputs, GError **error);

/* The mapping of `text` (NULL: the default).  A rankfile names cores: with one,
 * every core of the nodes becomes a slot of `machine`.  STUDY_ERROR_OPTION when the
 * text is neither a mapping nor could be the path of one. */
TopoMapping *
study_mapping_new (const char *text, TopoMachine *machine, uint32_t n_ranks, GError **error);

/* The jitter of replicas: "1 us", "500ns"; at most a second. */
#define STUDY_JITTER_PS INT64_C (1000000) /* unless it is given */
gboolean study_jitter_parse (const char *text, int64_t *jitter_ps, GError **error);

/* The machine file of a machine for a store, with the hashes of the files that it names in
 * comments.  The caller frees it. */
char *study_machine_text (const TopoMachine *machine);
/* The hashes in such a text, for topo_machine_new_known().  g_hash_table_unref(). */
GHashTable *study_machine_text_hashes (const char *text);

/* The identity of a machine, whatever the paths of its files: SHA-256 of the text of its
 * machine file, of a fabric also its hosts and cables.  The caller frees it. */
char *study_machine_hash (const TopoMachine *machine);

/* The identity of the places of all ranks, whatever the mapping's name.  The caller frees it. */
char *study_mapping_hash (const TopoMapping *mapping);
