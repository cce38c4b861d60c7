/* ib_traffic_usual.c - ib_adapter.c and ib_traffic.c with the numbers of most machines as constants.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Loops over lanes, sets of ports and slots go, and with them a fifth of a hop's instructions. */
#define IB_USUAL
#include "sim/net/ib_adapter.c"
#include "sim/net/ib_traffic.c"
