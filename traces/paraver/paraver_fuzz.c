/* paraver_fuzz.c - any text as a .prv file, and as its .pcf.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/trace_fuzzing.h"

static const char *const files[] = { "t.prv", "t.pcf", NULL };

static const char *const words[] = {
  "#Paraver ",
  "(d)",
  "_ns",
  "\\x0a1:",
  "\\x0a2:",
  "\\x0a3:",
  "\\x0ac:1:",
  ":1:1:1:1:",
  ":2:1:2:1:",
  ":50000001:",
  ":50000002:",
  ":50000003:",
  ":50000004:",
  ":50100001:",
  ":50100002:",
  ":50100003:1",
  ":50100004:1",
  ":70000001:",
  ":80000001:",
  ":0",
  "\\x0a%%\\x0a",
  "EVENT_TYPE\\x0a",
  "VALUES\\x0a",
  "MPI Point-to-point",
  "MPI Collective Comm",
  "MPI_Isend",
  "MPI_Waitall",
  "MPI_Reduce_scatter",
  "MPI_Alltoallv",
  "MPI_Startall",
  "18446744073709551615",
  "4294967296",
  NULL,
};

#define HEADER  "#Paraver (01/01/26 at 10:00):9000_ns:1(2):1:2(1:1,1:1),1\nc:1:1:2:1:2\n"
#define EVENT   "2:1:1:1:1:"
#define EVENT2  "2:2:1:2:1:"
#define P2P(v)  ":50000001:" v "\n"
#define COLL(v) ":50000002:" v ":50100001:8:50100002:16:50100004:1\n"
#define OUTSIDE ":50000002:0\n"
#define EVERY(v, t) \
  EVENT t COLL (v)  \
  EVENT2 t COLL (v) \
  EVENT t "9" OUTSIDE EVENT2 t "9" OUTSIDE

static void
seed (FuzzSeeds *seeds)
{
  fuzz_add_text (seeds, HEADER EVENT "100" P2P ("1") EVENT "200" P2P ("0") EVENT2 "300" P2P ("2")
                            EVENT2 "400" P2P ("0") "3:1:1:1:1:100:200:2:1:2:1:300:400:64:7\n");
  fuzz_add_text (seeds,
                 HEADER EVENT "100" P2P ("3") EVENT "200" P2P ("0") EVENT2 "210" P2P ("4") EVENT2
                 "220" P2P ("0") EVENT "300" P2P ("6") EVENT2 "310" P2P ("5") EVENT2 "400" P2P ("0")
                     EVENT "401" P2P ("0") "3:1:1:1:1:100:200:2:1:2:1:220:400:64:7\n");
  fuzz_add_text (seeds,
                 HEADER EVERY ("7", "10") EVERY ("12", "20") EVERY ("14", "30") EVERY ("16", "40")
                     EVERY ("18", "50") EVERY ("80", "60") EVERY ("9", "70") EVERY ("17", "80"));
  fuzz_add_text (
      seeds,
      HEADER EVENT "100:50000003:124\n" EVENT "200:50000003:0\n" EVENT2 "210" P2P ("41") EVENT2
      "220" P2P ("0") "3:1:1:1:1:100:200:2:1:2:1:210:220:64:7\n\n%%\n"
                      "EVENT_TYPE\n9   50000001    MPI Point-to-point\nVALUES\n3   MPI_Isend\n"
                      "5   MPI_Wait\n0   Outside MPI\n\nEVENT_TYPE\n0 70000001 Caller at level 1\n"
                      "VALUES\n1 main\n");
}

const FuzzTarget fuzz_target = {
  .path = "t.prv",
  .files = files,
  .words = words,
  .options = { .allow_lossy = TRUE },
  .seed = seed,
};
