#include "sim/replay/ucx_model.h"
void
sim_ucx_choose (const SimUcxSituation *situation, SimUcxChoice *choice)
{
  bool device = situation->adapter >= SIM_UCX_CONNECTX5;
  *choice = (SimUcxChoice){ .between = { device ? 2007 : 227, situation->fast_completion ? 16676 : device ? 2007 : 2047, situation->fast_completion ? 262143 : 32768 },
    .within = { 92, 10636, 10636 }, .fragment_bytes = 8246, .fragment_within_bytes = 8248, .transport = situation->n_endpoints > 60 && situation->adapter >= SIM_UCX_CONNECTIB ? SIM_UCX_DC_MLX5 : SIM_UCX_RC_MLX5, .n_rails = situation->n_adapters };
}
