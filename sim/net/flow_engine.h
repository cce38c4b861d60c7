/* flow_engine.h - starts SimGrid on a platform of ours.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "sim/net/flow_platform.h"

/* SimGrid allows one engine per process. */
bool sim_flow_engine_made (void);

/* False and *error when the platform's file cannot be written. */
gboolean sim_flow_engine_load (const SimFlowPlatform *platform, GError **error);
