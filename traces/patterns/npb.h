/* npb.h - the NAS Parallel Benchmarks as generated programs; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The calls of each rank of NPB 3.3-MPI, in order, with sizes from the class of
 * the problem and the number of ranks alone.  The benchmarks are specified in
 * D. Bailey et al., "The NAS Parallel Benchmarks", report RNR-94-007, and their
 * MPI programs in D. Bailey et al., "The NAS Parallel Benchmarks 2.0", report
 * NAS-95-020. */
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
  int32_t n[3];       /* points of the grid; CG, IS and EP: see problems[] in npb.c */
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
  gpointer own; /* the kernel's data, made by prepare and freed by own_free; may be NULL */
  GDestroyNotify own_free;
} Npb;

/* The stages of a program; each is a batch, and so is every step.  The warm-up
 * is the untimed first iteration that these codes make to touch their memory. */
typedef enum { NPB_SETUP, NPB_WARM_UP, NPB_STEP, NPB_END } NpbStage;

struct NpbKernel {
  /* Can so many ranks solve this problem?  FALSE and *error: no. */
  gboolean (*prepare) (Npb *npb, GError **error);
  /* Appends the calls of a stage; step is 1 or more in NPB_STEP. */
  void (*fill) (const Npb *npb, uint32_t rank, NpbStage stage, uint32_t step, PatternOps *ops);
};

extern const NpbKernel npb_bt, npb_sp, npb_lu, npb_cg, npb_mg, npb_ft, npb_is, npb_ep;

/* Refuses a program that breaks a rule of the benchmark; printf-like; always FALSE. */
gboolean npb_refuse (const Npb *npb, GError **error, const char *format, ...) G_GNUC_PRINTF (3, 4);
/* Is the number of ranks 2^k?  FALSE and *error: no. */
gboolean npb_need_power_of_two (const Npb *npb, GError **error);

/* Calls on a communicator; the root of collectives is rank 0. */
void npb_call (PatternOps *ops, const char *name);
void npb_barrier (PatternOps *ops, uint32_t comm);
void npb_bcast (PatternOps *ops, uint32_t comm, uint64_t bytes);
void npb_reduce (PatternOps *ops, uint32_t comm, uint64_t bytes);
void npb_allreduce (PatternOps *ops, uint32_t comm, uint64_t bytes);
/* MPI_Irecv, MPI_Send and MPI_Wait: the exchange of CG, LU and MG.  No message
 * to or from a peer below 0. */
void npb_exchange (PatternOps *ops, int32_t from, uint64_t from_bytes, int32_t to,
                   uint64_t to_bytes, int32_t tag);
/* Computes this share of the operations of an iteration. */
void npb_compute (const Npb *npb, PatternOps *ops, double share);
