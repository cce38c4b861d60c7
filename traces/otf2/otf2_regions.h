/* otf2_regions.h - what the names of MPI calls mean in an OTF2 archive; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/otf2/otf2_definitions.h"

/* Interned, of an MPI call as MPI spells it. */
const char *otf2_region_name (const char *text);
Otf2CallKind otf2_region_kind (const char *name);
