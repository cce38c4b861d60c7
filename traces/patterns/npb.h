/* npb.h - the NAS Parallel Benchmarks as generated programs; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What each rank of NPB 3.3-MPI calls, in order, with sizes from the class of
 * the problem and the number of ranks alone.  A kernel is a const NpbKernel.  The benchmarks are specified in D. Bailey et al., "The
 * NAS Parallel Benchmarks", report RNR-94-007, and their MPI programs in
 * D. Bailey et al., "The NAS Parallel Benchmarks 2.0", report NAS-95-020. */
#pragma once

#include "traces/patterns/pattern.h"

#define DOUBLE_BYTES 8

typedef enum {
  NPB_BT,
  NPB_SP,
  NPB_LU,
  NPB_CG,
  NPB_MG,
  NPB_FT,
  NPB_IS,
  NPB_EP,
  NPB_N_KERNELS
} NpbKernelId;

/* The size of a problem. */
typedef struct {
  int32_t n[3];       /* points of the grid; CG, IS and EP: see npb_problem() */
  int32_t iterations; /* time steps */
} NpbProblem;

typedef struct NpbKernel NpbKernel;

/* One program: a kernel, a problem and a number of ranks. */
typedef struct {
  const NpbKernel *kernel;
  char class_name;
  NpbProblem problem;
  uint32_t n_ranks;
  uint32_t iterations;
  double flops; /* of one iteration, all ranks together; 0: computation is left out */
  gpointer own; /* the kernel's, made by prepare and freed by its release */
} Npb;

/* A program is a setup, a warm-up, the iterations and an end, each of them a
 * batch.  The warm-up is the untimed first iteration that these codes make to
 * touch their memory. */
struct NpbKernel {
  /* Can so many ranks solve this problem?  FALSE and *error: no. */
  gboolean (*prepare) (Npb *npb, GError **error);
  void (*release) (gpointer own); /* which may be NULL */
  void (*setup) (const Npb *npb, uint32_t rank, PatternOps *ops);
  void (*warm_up) (const Npb *npb, uint32_t rank, PatternOps *ops);
  void (*step) (const Npb *npb, uint32_t rank, uint32_t step, PatternOps *ops); /* from 1 */
  void (*end) (const Npb *npb, uint32_t rank, PatternOps *ops);
};

extern const NpbKernel npb_bt, npb_sp, npb_lu, npb_cg, npb_mg, npb_ft, npb_is, npb_ep;

/* A rule of the benchmark that this program breaks; printf-like; FALSE. */
gboolean npb_refuse (const Npb *npb, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* The release of kernels that own nothing. */
void npb_release_nothing (gpointer own);
/* Is the number of ranks 2^k?  FALSE and *error: no. */
gboolean npb_need_power_of_two (const Npb *npb, GError **error);

/* Calls on a communicator; the root of collectives is rank 0. */
void npb_call (PatternOps *ops, const char *name);
void npb_comm_split (PatternOps *ops, int32_t color, int32_t key, uint32_t new_comm);
void npb_comm_dup (PatternOps *ops, uint32_t comm, uint32_t new_comm);
void npb_barrier (PatternOps *ops, uint32_t comm);
void npb_bcast (PatternOps *ops, uint32_t comm, uint64_t bytes);
void npb_reduce (PatternOps *ops, uint32_t comm, uint64_t bytes);
void npb_allreduce (PatternOps *ops, uint32_t comm, uint64_t bytes);
void npb_alltoall (PatternOps *ops, uint32_t comm, uint64_t bytes);
void npb_isend (PatternOps *ops, uint32_t comm, int32_t peer, int32_t tag, uint64_t bytes,
                uint32_t request);
void npb_irecv (PatternOps *ops, uint32_t comm, int32_t peer, int32_t tag, uint64_t bytes,
                uint32_t request);
/* Into one request, sent, and waited for: how CG, LU and MG exchange.  A peer
 * below 0 is not there. */
void npb_exchange (PatternOps *ops, int32_t from, uint64_t from_bytes, int32_t to,
                   uint64_t to_bytes, int32_t tag);
/* This part of an iteration's operations, computed by one rank. */
void npb_compute (const Npb *npb, PatternOps *ops, double share);
