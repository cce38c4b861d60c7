/* recorder_wrap.h - makes a function of MPI that records itself.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "traces/recorder/recorder.h"

#define UNPACK(...) __VA_ARGS__

/* MPI_name and PMPI_name.  parameters and arguments are in parentheses; the
 * statements after them run first and describe the call in `call` and `op`. */
#define WRAP(name, parameters, arguments, ...)                               \
  int MPI_##name parameters                                                  \
  {                                                                          \
    static _Atomic (__typeof__ (&MPI_##name)) real;                          \
    RecorderCall call;                                                       \
    TraceOp *op = &call.op;                                                  \
    int code;                                                                \
    if (real == NULL)                                                        \
      real = (__typeof__ (&MPI_##name)) recorder_real ("PMPI_" #name);       \
    if (!recorder_enter (&call, "MPI_" #name, __builtin_return_address (0))) \
      return real arguments;                                                 \
    op->kind = TRACE_OP_CALL;                                                \
    __VA_ARGS__;                                                             \
    code = real arguments;                                                   \
    recorder_leave (&call, code);                                            \
    return code;                                                             \
  }                                                                          \
  PROFILED (name)

/* PMPI_name is another name of MPI_name. */
#define PROFILED(name) \
  extern __typeof__ (MPI_##name) PMPI_##name __attribute__ ((alias ("MPI_" #name)));

/* The head of a wrapper that is written out: after it `real` is the function
 * of MPI, and `call` has been entered. */
#define WRAP_BEGIN(name, arguments)                                        \
  static _Atomic (__typeof__ (&MPI_##name)) real;                          \
  RecorderCall call;                                                       \
  if (real == NULL)                                                        \
    real = (__typeof__ (&MPI_##name)) recorder_real ("PMPI_" #name);       \
  if (!recorder_enter (&call, "MPI_" #name, __builtin_return_address (0))) \
    return real arguments;                                                 \
  call.op.kind = TRACE_OP_CALL

/* MPI_name and its nonblocking twin. */
#define COLLECTIVE(name, iname, parameters, arguments, ...)                                \
  WRAP (name, (UNPACK parameters), (UNPACK arguments), __VA_ARGS__; recorder_post (&call)) \
  WRAP (iname, (UNPACK parameters, MPI_Request * request), (UNPACK arguments, request),    \
        __VA_ARGS__;                                                                       \
        recorder_describe_nonblocking (&call, request); recorder_post (&call))
