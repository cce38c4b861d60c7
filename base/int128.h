/* int128.h - the compiler's 128-bit integers, for products and sums that 64 bits cannot hold.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

__extension__ typedef __int128 BaseInt128;
__extension__ typedef unsigned __int128 BaseUint128;
