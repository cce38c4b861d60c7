/* map_family.h - the map files of a family of mappings.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "topology/recipe/recipe.h"

/* Writes FOLDER/001.map ... for the mappings (NULL-terminated), then FOLDER/index.csv:
 * number, recipe and file of each.  The folder is made when it is not there; files of
 * these names are replaced. */
gboolean cli_map_write_family (char **mappings, const TopoMachine *machine, uint32_t n_ranks,
                               const char *folder, GError **error);
