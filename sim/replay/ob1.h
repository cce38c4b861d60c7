/* ob1.h - sizes of the headers that Open MPI's ob1 puts before a message's data.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of the structs in pml/ob1/pml_ob1_hdr.h of open-mpi/ompi v1.3.2, with 8-byte
 * pointers; LARGEST is of their union. */
#pragma once

enum {
  SIM_OB1_MATCH_HEADER_BYTES = 16,
  SIM_OB1_RENDEZVOUS_HEADER_BYTES = 32,
  SIM_OB1_ACK_HEADER_BYTES = 32,
  SIM_OB1_FRAGMENT_HEADER_BYTES = 32,
  SIM_OB1_PUT_HEADER_BYTES = 64,
  SIM_OB1_FIN_HEADER_BYTES = 16,
  SIM_OB1_LARGEST_HEADER_BYTES = 72,
};
