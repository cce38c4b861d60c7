/* ti_fuzz.c - any bytes as a time-independent trace.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_fuzzing.h"

static const char *const files[] = { "t.txt", NULL };

static const char *const words[] = {
  "0 init\\x0a", "1 init\\x0a", "finalize",   "compute ",       "sleep ",      "location ",
  "comm_split",  "send ",       "bsend ",     "isend ",         "issend ",     "recv ",
  "irecv ",      "sendrecv ",   "wait ",      "wait\\x0a",      "test ",       "waitall ",
  "waitany",     "start",       "barrier",    "bcast ",         "reduce ",     "allreduce ",
  "scan ",       "alltoall ",   "allgather ", "gather ",        "scatter ",    "gatherv ",
  "scatterv ",   "allgatherv ", "alltoallv ", "reducescatter ", "iallreduce ", "1e9",
  "-555",        "-444",        "-1",         "4294967295",     "nan",         "1e308",
  NULL,
};

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_text (seeds, "0 init\n0 compute 1e9\n0 send 1 0 100 1\n0 finalize\n"
                        "1 init\n1 recv 0 0 100 1\n1 sleep 0.5\n1 finalize\n");
  fuzz_add_text (seeds, "0 init\n0 isend 1 7 64 2\n0 irecv 1 8 64 2\n0 wait 0 1 7\n"
                        "0 test 1 0 8\n0 waitall\n1 irecv -555 -444 64 2\n1 wait 0 1 7\n"
                        "1 sendrecv 3 0 4 0 1 0\n1 wait\n");
  fuzz_add_text (seeds, "0 barrier\n1 barrier\n0 bcast 10 1 1\n1 bcast 10 1 1\n"
                        "0 reduce 4 1e3 1 0\n0 allreduce 5 6 1\n0 scan 5 6 1\n"
                        "0 alltoall 4 4 1 1\n0 allgather 4 4 1 1\n0 gather 4 4 0 1 1\n"
                        "0 scatter 4 4 1 2 2\n");
  fuzz_add_text (seeds, "1 init\n0 gatherv 4 1 2 0 1 1\n0 scatterv 3 4 7 0 1 1\n"
                        "0 allgatherv 3 3 4 1 1 0 3\n0 alltoallv 9 1 2 9 3 4 1 1\n"
                        "0 reducescatter 5 6 1e6 1\n0 Isend 1 3\n0 iallreduce 5 6 1\n");
  fuzz_add_text (seeds, "# a list\nt.txt\n");
}

const FuzzTarget fuzz_target = {
  .path = "t.txt",
  .files = files,
  .words = words,
  .seed = seed,
};
