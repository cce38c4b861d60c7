/* dumpi_sources.c - what non-blocking receives from any source got.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The call that posts a receive cannot know its source; the call that
 * completes it records it in its status.  It is needed early: under MPICH
 * MPI_PROC_NULL has the number that DUMPI gives to MPI_ANY_SOURCE, so that a
 * receive from nobody, common at the edges of a domain, looks like a receive
 * from anybody and would wait for ever. */
#include "traces/dumpi/dumpi_format.h"

#define NO_RECEIVE G_MAXUINT

/* What a persistent receive got that did not get the same each time. */
#define SEVERAL G_MININT32

typedef struct {
  const DumpiFile *file;
  GArray *sources;        /* (element-type int32_t): the result */
  GHashTable *active;     /* request -> GArray of receive numbers, oldest first */
  GHashTable *persistent; /* request -> receive number */
  GArray *completed;
} Search;

static gpointer
key_of (const Search *search, int32_t request)
{
  return GUINT_TO_POINTER (dumpi_request (search->file, request));
}

static GArray *
queue_of (Search *search, int32_t request)
{
  gpointer key = key_of (search, request);
  GArray *queue = g_hash_table_lookup (search->active, key);

  if (queue == NULL) {
    queue = g_array_new (FALSE, FALSE, sizeof (guint));
    g_hash_table_insert (search->active, key, queue);
  }
  return queue;
}

static void
activate (Search *search, int32_t request, guint receive)
{
  g_array_append_val (queue_of (search, request), receive);
}

/* The number of a new wildcard receive, or none for any other operation. */
static guint
number_of (Search *search, const DumpiRecord *record, gboolean receives)
{
  int32_t unknown = TRACE_ANY_SOURCE;

  if (!receives || record->scalar[DUMPI_PEER] != TRACE_ANY_SOURCE)
    return NO_RECEIVE;
  g_array_append_val (search->sources, unknown);
  return search->sources->len - 1;
}

static void
start (Search *search, int32_t request)
{
  gpointer receive;

  if (!g_hash_table_lookup_extended (search->persistent, key_of (search, request), NULL, &receive))
    receive = GUINT_TO_POINTER (NO_RECEIVE);
  activate (search, request, GPOINTER_TO_UINT (receive));
}

static void
complete (Search *search, int32_t request, const DumpiStatus *status)
{
  GArray *queue = queue_of (search, request);
  guint receive;
  int32_t *source, got;

  if (queue->len == 0)
    return;
  receive = g_array_index (queue, guint, 0);
  g_array_remove_index (queue, 0);
  if (receive == NO_RECEIVE || status == NULL || status->cancelled)
    return;
  source = &g_array_index (search->sources, int32_t, receive);
  got = status->source < 0 ? TRACE_PROC_NULL : status->source;
  *source = *source == TRACE_ANY_SOURCE || *source == got ? got : SEVERAL;
}

/* What was started goes on, but no status will be told. */
static void
forget (Search *search, int32_t request)
{
  if (g_hash_table_remove (search->persistent, key_of (search, request)))
    g_array_set_size (queue_of (search, request), 0);
  else
    complete (search, request, NULL);
}

static void
complete_all (Search *search, const DumpiRecord *record)
{
  gboolean single = record->id == DUMPI_ID_WAIT || record->id == DUMPI_ID_TEST;

  g_array_set_size (search->completed, 0);
  dumpi_record_completed (record, search->completed);
  for (guint i = 0; i < search->completed->len; i++) {
    uint32_t index = g_array_index (search->completed, uint32_t, i);
    int32_t request =
        single ? record->scalar[DUMPI_REQUEST] : dumpi_array_at (record, DUMPI_REQUESTS, index);

    if (request != TRACE_REQUEST_NULL)
      complete (search, request, dumpi_record_status (record, i, index));
  }
}

static void
note_start (Search *search, const DumpiRecord *record)
{
  const GArray *requests = record->array[DUMPI_REQUESTS];

  if (requests->len == 0)
    start (search, record->scalar[DUMPI_REQUEST]);
  for (guint i = 0; i < requests->len; i++)
    start (search, dumpi_array_at (record, DUMPI_REQUESTS, i));
}

static void
note_init (Search *search, const DumpiRecord *record, gboolean receives)
{
  guint receive = number_of (search, record, receives);

  g_hash_table_insert (search->persistent, key_of (search, record->scalar[DUMPI_REQUEST]),
                       GUINT_TO_POINTER (receive));
}

static void
note (Search *search, const DumpiRecord *record)
{
  TraceOpKind kind = dumpi_calls[record->id].kind;

  if (kind == TRACE_OP_ISEND || kind == TRACE_OP_IRECV)
    activate (search, record->scalar[DUMPI_REQUEST],
              number_of (search, record, kind == TRACE_OP_IRECV));
  else if (kind == TRACE_OP_SEND_INIT || kind == TRACE_OP_RECV_INIT)
    note_init (search, record, kind == TRACE_OP_RECV_INIT);
  else if (kind == TRACE_OP_START)
    note_start (search, record);
  else if (kind == TRACE_OP_REQUEST_FREE)
    forget (search, record->scalar[DUMPI_REQUEST]);
  else
    complete_all (search, record);
}

GArray *
dumpi_sources_find (const DumpiFile *file)
{
  Search search = { .file = file };
  DumpiRecord record;
  gboolean finalized = FALSE;
  gsize at = file->body;

  search.sources = g_array_new (FALSE, FALSE, sizeof (int32_t));
  search.active =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) (void (*) (void)) g_array_unref);
  search.persistent = g_hash_table_new (NULL, NULL);
  search.completed = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  dumpi_record_init (&record);
  /* An error comes up again when the stream gets there; here it ends the search. */
  while (dumpi_record_next (file, &at, finalized, &record, NULL) == TRACE_NEXT_OPERATION) {
    finalized |= dumpi_calls[record.id].kind == TRACE_OP_FINALIZE;
    note (&search, &record);
  }
  dumpi_record_clear (&record);
  for (guint i = 0; i < search.sources->len; i++)
    if (g_array_index (search.sources, int32_t, i) == SEVERAL)
      g_array_index (search.sources, int32_t, i) = TRACE_ANY_SOURCE;
  g_array_unref (search.completed);
  g_hash_table_unref (search.persistent);
  g_hash_table_unref (search.active);
  return search.sources;
}
