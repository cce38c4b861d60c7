/* scotch_graph.c - see scotch_graph.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/search/scotch_graph.h"

#include <stdarg.h>

/* What its integers hold, with room for what it adds by itself. */
#define MAX_SUM 0x40000000

/* What Scotch says: kept for our own error, not printed. */
static _Thread_local char complaint[256];

void
SCOTCH_errorProg (const char *const program)
{
  (void) program;
}

G_GNUC_PRINTF (1, 2)
void
SCOTCH_errorPrint (const char *const format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  vsnprintf (complaint, sizeof complaint, format, arguments);
  va_end (arguments);
}

/* Warnings change nothing that we use. */
G_GNUC_PRINTF (1, 2)
void
SCOTCH_errorPrintW (const char *const format, ...)
{
  (void) format;
}

const char *
study_scotch_complaint (void)
{
  return complaint;
}

void
study_scotch_forget (void)
{
  complaint[0] = '\0';
}

gboolean
study_scotch_graph_fill (StudyScotchGraph *graph, uint32_t n, const uint64_t *first,
                         const uint32_t *neighbour, const int64_t *weight, uint32_t longest)
{
  uint64_t n_edges = first[n];
  double sum = 0, scale, room = (double) MAX_SUM / MAX (longest, 1u);

  if ((double) n_edges > room / 2)
    return FALSE;
  for (uint64_t i = 0; i < n_edges; i++)
    sum += (double) weight[i];
  scale = MIN (1, (room - (double) n_edges) / MAX (sum, 1));
  graph->n = (SCOTCH_Num) n;
  graph->first = g_new (SCOTCH_Num, (gsize) n + 1);
  graph->neighbour = g_new (SCOTCH_Num, n_edges + 1);
  graph->weight = g_new (SCOTCH_Num, n_edges + 1);
  for (uint32_t vertex = 0; vertex <= n; vertex++)
    graph->first[vertex] = (SCOTCH_Num) first[vertex];
  for (uint64_t i = 0; i < n_edges; i++) {
    graph->neighbour[i] = (SCOTCH_Num) neighbour[i];
    graph->weight[i] = MAX (1, (SCOTCH_Num) ((double) weight[i] * scale));
  }
  return TRUE;
}

void
study_scotch_graph_clear (StudyScotchGraph *graph)
{
  g_free (graph->first);
  g_free (graph->neighbour);
  g_free (graph->weight);
}

static int
run_in_context (SCOTCH_Graph *graph, uint64_t seed, StudyScotchWork work, gpointer data,
                SCOTCH_Num *place)
{
  SCOTCH_Context context;
  SCOTCH_Graph bound;
  SCOTCH_Strat strategy;
  int failed;

  SCOTCH_contextInit (&context);
  SCOTCH_contextThreadSpawn (&context, 1, NULL);
  SCOTCH_contextRandomClone (&context);
  SCOTCH_contextRandomSeed (&context, (SCOTCH_Num) (seed & 0x3fffffff));
  SCOTCH_contextRandomReset (&context);
  SCOTCH_graphInit (&bound);
  SCOTCH_stratInit (&strategy);
  failed =
      SCOTCH_contextBindGraph (&context, graph, &bound) || work (&bound, &strategy, place, data);
  SCOTCH_stratExit (&strategy);
  SCOTCH_graphExit (&bound);
  SCOTCH_contextExit (&context);
  return failed;
}

int
study_scotch_run (const StudyScotchGraph *source, uint64_t seed, StudyScotchWork work,
                  gpointer data, SCOTCH_Num *place)
{
  SCOTCH_Graph graph;
  int failed;

  SCOTCH_graphInit (&graph);
  failed = SCOTCH_graphBuild (&graph, 0, source->n, source->first, source->first + 1, NULL, NULL,
                              source->first[source->n], source->neighbour, source->weight) ||
           run_in_context (&graph, seed, work, data, place);
  SCOTCH_graphExit (&graph);
  return failed;
}
