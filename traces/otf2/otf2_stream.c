/* otf2_stream.c - one rank's records in order, posts with what they received.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An archive tells the source, tag and size of a nonblocking receive when it
 * completes; a replay must know them when it is posted.  So records are read
 * ahead until the oldest post is completed, and handed out behind that: what
 * is kept is what lies between a receive and its wait, a few hundred records
 * of 48 bytes in most programs.  A receive that stays open for longer than
 * LIMIT records (one for a message that ends the program, say) is looked up,
 * with all others that are open then, by a second reader that keeps nothing.
 * Memory is thus bounded; the time is that of one reading of the rest of the
 * rank's events per LIMIT records, in such traces alone. */
#include "traces/otf2/otf2_stream.h"

#include <string.h>

#define LIMIT 16384

struct Otf2Stream {
  Otf2Input *input;
  guint limit;
  GArray *records; /* (element-type Otf2Record) from first on */
  guint first;
  guint64 passed;   /* records that are gone from the front of the array */
  GHashTable *open; /* request (guint64, owned) -> number of its post + 1 */
  gboolean ended;
};

Otf2Stream *
otf2_stream_new (Otf2Input *input, guint limit)
{
  Otf2Stream *stream = g_new0 (Otf2Stream, 1);

  stream->input = input;
  stream->limit = limit != 0 ? limit : LIMIT;
  stream->records = g_array_new (FALSE, FALSE, sizeof (Otf2Record));
  stream->open = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  return stream;
}

void
otf2_stream_free (Otf2Stream *stream)
{
  if (stream == NULL)
    return;
  stream->input->free (stream->input);
  g_array_unref (stream->records);
  g_hash_table_unref (stream->open);
  g_free (stream);
}

static Otf2Record *
record_at (Otf2Stream *stream, guint64 number)
{
  g_assert (number >= stream->passed && number - stream->passed < stream->records->len);
  return &g_array_index (stream->records, Otf2Record, number - stream->passed);
}

/* The open post of a request, or NULL; it is open no more. */
static Otf2Record *
take_open (Otf2Stream *stream, guint64 request)
{
  guint64 *number = g_hash_table_lookup (stream->open, &request);
  Otf2Record *post;

  if (number == NULL)
    return NULL;
  post = record_at (stream, *number);
  g_hash_table_remove (stream->open, &request);
  return post;
}

static void
complete_post (Otf2Record *post, const Otf2Record *completion)
{
  gboolean collective = completion->kind == OTF2_RECORD_COLLECTIVE_COMPLETE;

  if (collective != (post->kind == OTF2_RECORD_COLLECTIVE_POST)) {
    post->fate = OTF2_FATE_LOST;
    return;
  }
  post->fate = OTF2_FATE_DONE;
  post->id = completion->id;
  post->peer = completion->peer;
  post->tag = completion->tag;
  post->op = completion->op;
  post->bytes = completion->bytes;
  post->recv_bytes = completion->recv_bytes;
}

/* What a record says about posts before it. */
static void
settle (Otf2Stream *stream, const Otf2Record *record)
{
  Otf2Record *post;

  switch ((Otf2RecordKind) record->kind) {
  case OTF2_RECORD_IRECV_COMPLETE:
  case OTF2_RECORD_COLLECTIVE_COMPLETE:
    if ((post = take_open (stream, record->request)) != NULL)
      complete_post (post, record);
    break;
  case OTF2_RECORD_CANCELLED:
    if ((post = take_open (stream, record->request)) != NULL)
      post->fate = OTF2_FATE_CANCELLED;
    break;
  case OTF2_RECORD_ISEND:
  case OTF2_RECORD_IRECV_POST:
  case OTF2_RECORD_COLLECTIVE_POST:
    /* A request is free again only when what had it is complete. */
    if ((post = take_open (stream, record->request)) != NULL)
      post->fate = OTF2_FATE_LOST;
    break;
  case OTF2_RECORD_ENTER:
  case OTF2_RECORD_LEAVE:
  case OTF2_RECORD_SEND:
  case OTF2_RECORD_ISEND_COMPLETE:
  case OTF2_RECORD_RECV:
  case OTF2_RECORD_TESTED:
  case OTF2_RECORD_COLLECTIVE_BEGIN:
  case OTF2_RECORD_COLLECTIVE:
  case OTF2_RECORD_MEASUREMENT:
  case OTF2_RECORD_FLUSH:
  case OTF2_RECORD_RMA_COLLECTIVE:
  case OTF2_RECORD_RMA_PUT:
  case OTF2_RECORD_RMA_GET:
  case OTF2_RECORD_RMA_ATOMIC:
  case OTF2_RECORD_RMA_FLUSH:
  case OTF2_RECORD_RMA_UNLOCK:
  case OTF2_RECORD_RMA_GROUP_SYNC:
  case OTF2_RECORD_RMA_WAIT:
  case OTF2_RECORD_KINDS: break;
  }
}

static gboolean
is_post (const Otf2Record *record)
{
  return record->kind == OTF2_RECORD_IRECV_POST || record->kind == OTF2_RECORD_COLLECTIVE_POST;
}

static void
open_post (Otf2Stream *stream, guint64 request, guint64 number)
{
  guint64 *key = g_memdup2 (&request, sizeof request);

  g_hash_table_insert (stream->open, key, g_memdup2 (&number, sizeof number));
}

/* Reads more records to the end of the array. */
static gboolean
read_more (Otf2Stream *stream, GError **error)
{
  guint n = stream->records->len;

  if (!stream->input->pull (stream->input, stream->records, &stream->ended, error))
    return FALSE;
  for (; n < stream->records->len; n++) {
    const Otf2Record *record = &g_array_index (stream->records, Otf2Record, n);

    settle (stream, record);
    if (is_post (record))
      open_post (stream, record->request, stream->passed + n);
  }
  return TRUE;
}

static void
lose_open (Otf2Stream *stream)
{
  GHashTableIter iter;
  gpointer number;

  g_hash_table_iter_init (&iter, stream->open);
  while (g_hash_table_iter_next (&iter, NULL, &number))
    record_at (stream, *(guint64 *) number)->fate = OTF2_FATE_LOST;
  g_hash_table_remove_all (stream->open);
}

/* Settles all open posts without keeping what is read for that. */
static gboolean
look_far (Otf2Stream *stream, GError **error)
{
  Otf2Input *input = stream->input->fork (stream->input);
  g_autoptr (GArray) records = g_array_new (FALSE, FALSE, sizeof (Otf2Record));
  gboolean ended = FALSE, good = TRUE;

  while (good && !ended && g_hash_table_size (stream->open) > 0) {
    g_array_set_size (records, 0);
    good = input->pull (input, records, &ended, error);
    for (guint i = 0; i < records->len; i++)
      settle (stream, &g_array_index (records, Otf2Record, i));
  }
  input->free (input);
  if (good)
    lose_open (stream);
  return good;
}

/* Reads on until the first record can be handed out. */
static gboolean
settle_first (Otf2Stream *stream, GError **error)
{
  for (;;) {
    const Otf2Record *first = &g_array_index (stream->records, Otf2Record, stream->first);

    if (!is_post (first) || first->fate != OTF2_FATE_OPEN)
      return TRUE;
    if (stream->ended) {
      lose_open (stream);
    } else if (stream->records->len - stream->first >= stream->limit) {
      if (!look_far (stream, error))
        return FALSE;
    } else if (!read_more (stream, error)) {
      return FALSE;
    }
  }
}

static void
drop_front (Otf2Stream *stream)
{
  if (stream->first < stream->records->len && stream->first < stream->limit)
    return;
  g_array_remove_range (stream->records, 0, stream->first);
  stream->passed += stream->first;
  stream->first = 0;
}

TraceNext
otf2_stream_next (Otf2Stream *stream, Otf2Record *record, GError **error)
{
  drop_front (stream);
  while (stream->first == stream->records->len) {
    if (stream->ended)
      return TRACE_NEXT_END;
    if (!read_more (stream, error))
      return TRACE_NEXT_ERROR;
  }
  if (!settle_first (stream, error))
    return TRACE_NEXT_ERROR;
  *record = g_array_index (stream->records, Otf2Record, stream->first++);
  return TRACE_NEXT_OPERATION;
}
