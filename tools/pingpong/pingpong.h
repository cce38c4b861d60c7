/* pingpong.h - `hopcast-pingpong`: times of messages and collectives on a cluster; private to its
 * files.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A program of its own beside `hopcast`: it runs on the nodes of the cluster, under its MPI, and
 * needs no simulator.  The processes of the job get seats in the trees of their nodes, a plan lists
 * the classes of placements that they can take up, and the ranks measure one class after the other
 * by order of rank 0. */
#pragma once

#include "topology/mapping/message_placement.h"

#include <glib.h>

/* --- Samples --- */

/* Times of messages have a long tail (the operating system, other jobs), so a message is
 * represented by the median and not by the mean. */
typedef struct {
  double median;
  double width; /* half of the 95 % confidence interval of the median, as a share of it */
} CliPingpongMedian;

/* Sorts the samples (element-type double), at least one.  The interval is that of order statistics,
 * which assumes no distribution: from sample n/2 - 0.98 sqrt(n) to its mirror image (Conover,
 * Practical Nonparametric Statistics, section 3.2).  It is infinite below six samples, all of which
 * are not enough for one.  Samples count as independent. */
CliPingpongMedian cli_pingpong_median (GArray *samples);

/* --- Options --- */

typedef enum {
  CLI_PINGPONG_BARRIER,
  CLI_PINGPONG_BCAST,
  CLI_PINGPONG_GATHER,
  CLI_PINGPONG_SCATTER,
  CLI_PINGPONG_ALLGATHER,
  CLI_PINGPONG_ALLTOALL,
  CLI_PINGPONG_REDUCE,
  CLI_PINGPONG_ALLREDUCE,
  CLI_PINGPONG_COLLECTIVES
} CliPingpongCollective;

/* Lower-case names, as traces have them; NULL at the end. */
extern const char *const cli_pingpong_collectives[];

/* The larger of the memory that a rank needs to send and to receive, for an operation of so many
 * bytes: once or for each rank. */
uint64_t
cli_pingpong_buffer_bytes (CliPingpongCollective collective, uint64_t bytes, uint32_t n_ranks);

/* Limit of the memory of a rank to send, and of as much again to receive. */
#define CLI_PINGPONG_MAX_BYTES (UINT64_C (1) << 28)

typedef struct {
  double seconds;   /* limit of the time of one class and size (but see precision) */
  double precision; /* the width of the median that is enough, after a few samples at least */
} CliPingpongEffort;

typedef struct {
  char *node, *machine; /* NULL: not given */
  char *sizes_text, *collectives_text, *output;
  GArray *sizes;              /* (element-type guint64) bytes, ascending */
  GArray *collectives;        /* (element-type guint) CliPingpongCollective */
  int max_pairs, max_outside; /* G_MININT: as many as fit, or a few */
  int pretend_nodes;          /* G_MININT: the real ones */
  CliPingpongEffort effort;
  gboolean only_collectives, bind, dry_run, quiet, help, version;
} CliPingpongOptions;

void cli_pingpong_options_clear (CliPingpongOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CliPingpongOptions, cli_pingpong_options_clear)

/* *options starts as { 0 }, and is to be cleared also on failure.  Errors are CLI_ERROR_USAGE, or GLib's own of options.  *help: the text of --help, for the caller
 * to free. */
gboolean cli_pingpong_options_parse (CliPingpongOptions *options, int argc, char **argv,
                                     char **help, GError **error);

/* --- Seats --- */

/* A place is a core of the node's tree; a process that may run on the processors of one core alone
 * has that place.  Without a tree all cores count as alike, and the processes of a node have a
 * place each, in the order of their processors. */

#define CLI_PINGPONG_MAX_CPUS 1024

typedef struct {
  uint32_t node;                          /* from 0 on, in the order of their first ranks */
  uint32_t local;                         /* number in the node */
  uint8_t may_run[CLI_PINGPONG_MAX_CPUS]; /* on a processor, by the system's number */
} CliPingpongProcess;

typedef struct {
  uint32_t node;  /* from 0 on */
  uint32_t place; /* in the tree of the node; TOPO_NONE: takes no part */
} CliPingpongSeat;

typedef struct {
  TopoLevels *levels;
  CliPingpongSeat *seats; /* [n_ranks] */
  GPtrArray *warnings;    /* (element-type utf8) */
} CliPingpongSeating;

void cli_pingpong_seating_free (CliPingpongSeating *seating);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliPingpongSeating, cli_pingpong_seating_free)

/* With a tree, errors (CLI_ERROR_FILE) when a process is not bound to a core, or to one that the
 * tree lacks; node NULL: no tree.  Of processes that share a core only the first has it, with a
 * warning. */
CliPingpongSeating *
cli_pingpong_seating_new (const TopoNode *node, const CliPingpongProcess processes[],
                          uint32_t n_ranks, GError **error);

/* A processor for each process to be bound to, of those where the processes of its node may run:
 * one of each core, in their order, and again from the first when there are more processes.
 * The caller frees them; NULL and *error as above. */
uint32_t *cli_pingpong_choose_cpus (const TopoNode *node, const CliPingpongProcess processes[],
                                    uint32_t n_ranks, GError **error);

/* Spreads the processes over so many nodes, in the order of their ranks. */
void
cli_pingpong_pretend_nodes (CliPingpongProcess processes[], uint32_t n_ranks, uint32_t n_nodes);

/* --- Plan --- */

/* Messages are observed on the node with the most processes; those between nodes from there to the
 * node that has most of its places too, where the same places do the same: pairs of noise exchange
 * messages in both nodes.  Noise to another node has its other end on the same place there.
 * study/aggregate/bound_fill.h simulates them in the same way. */

typedef struct {
  uint32_t max_pairs, max_outside; /* of noise; UINT32_MAX: as many as fit */
  uint32_t max_classes;            /* more of them are an error */
} CliPingpongNoise;

typedef struct {
  bool is_between;
  uint32_t n_pairs, n_outside; /* of noise */
  char *class;                 /* topo_placement_class() */
  uint32_t ping, pong;         /* ranks of the observed pair; ping begins */
  uint32_t *partner;           /* [n_ranks] of the rank's messages; itself: it is idle */
} CliPingpongClass;

/* Public and read-only once made. */
typedef struct {
  uint32_t n_ranks, n_nodes;
  GPtrArray *classes; /* (element-type CliPingpongClass) */
  /* The classes of the node that need other places, or more nodes, than there are: ping and pong
   * are TOPO_NONE, partner NULL. */
  GPtrArray *unreachable;
} CliPingpongPlan;

/* Of n_ranks processes on different seats.  NULL and *error (CLI_ERROR_FILE) when the classes,
 * reachable or not, are more than noise.max_classes. */
CliPingpongPlan *cli_pingpong_plan_new (const TopoLevels *levels, const CliPingpongSeat seats[],
                                        uint32_t n_ranks, CliPingpongNoise noise, GError **error);
void cli_pingpong_plan_free (CliPingpongPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CliPingpongPlan, cli_pingpong_plan_free)

/* The class of all tasks of a node, which is that of collectives; NULL when nodes differ in it,
 * or a process takes no part.  The caller frees it. */
char *cli_pingpong_tasks_class (const TopoLevels *levels, const CliPingpongSeat seats[],
                                uint32_t n_ranks);

/* --- Ranks --- */

/* Rank 0 sends orders; a rank without one sleeps between two looks for it, so that its core and its
 * memory are idle while others measure.
 *
 * Of a class of placements, noise begins first: each pair of noise reports to the observed pair
 * when its messages go to and fro, and only then does the observed pair begin to count.  Noise ends
 * when the observed pair has enough samples, and rank 0 waits until all ranks have stopped. */

/* Begins MPI; returns the rank of this process among *n_ranks. */
uint32_t cli_pingpong_begin (int *argc, char ***argv, uint32_t *n_ranks);

/* Obeys orders, on all ranks but 0: returns the exit status of rank 0 when it has ended. */
int cli_pingpong_serve (void);

/* The rest is for rank 0.  Ends all ranks. */
void cli_pingpong_end (int status);

/* Every process, [n_ranks]; the caller frees them. */
CliPingpongProcess *cli_pingpong_find_processes (void);

/* Lets each rank run on processor cpu[rank] alone.  FALSE when one cannot. */
gboolean cli_pingpong_bind (const uint32_t cpu[]);

/* Half a round trip of the observed pair, in microseconds. */
CliPingpongMedian
cli_pingpong_measure (const CliPingpongClass *class, uint64_t bytes, CliPingpongEffort effort);

/* A collective of all ranks, in microseconds: each call behind a barrier, its time that of the
 * slowest rank.  `bytes` as traces count them (mpi/operation.c); no rank may need buffers of more
 * than CLI_PINGPONG_MAX_BYTES. */
CliPingpongMedian
cli_pingpong_measure_collective (guint collective, uint64_t bytes, CliPingpongEffort effort);
