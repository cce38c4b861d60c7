/* otf2_stream.c - one rank's records in order, each post with its completion.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An archive has the source, tag and size of a nonblocking receive in its
 * completion; a replay needs them when the receive is posted.  So records are
 * read ahead until the oldest post is completed, and handed out after that.  The
 * records between a receive and its wait are kept, a few hundred of 48 bytes in
 * most programs.  A receive that stays open for more than LIMIT records (one for
 * a message that ends the program, say) is looked up, with all others that are
 * open then, by a second reader that keeps nothing.  Memory is thus bounded; the
 * time is that of one reading of the rest of the rank's events per LIMIT
 * records, in such traces alone. */
#include "traces/otf2/otf2_private.h"

#include <string.h>

#define LIMIT 16384

struct Otf2Stream {
  Otf2Input *input;
  guint limit;
  GArray *records; /* (element-type Otf2Record) from first on */
  guint first;
  guint64 passed;   /* records removed from the front of the array */
  GHashTable *open; /* request (guint64, owned) -> number (guint64, owned) of its post */
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
post_at (Otf2Stream *stream, guint64 number)
{
  g_assert (number >= stream->passed && number - stream->passed < stream->records->len);
  return &g_array_index (stream->records, Otf2Record, number - stream->passed);
}

/* The open post of a request, or NULL; the post is no longer open. */
static Otf2Record *
take_open (Otf2Stream *stream, guint64 request)
{
  guint64 *number = g_hash_table_lookup (stream->open, &request);
  Otf2Record *post;

  if (number == NULL)
    return NULL;
  post = post_at (stream, *number);
  g_hash_table_remove (stream->open, &request);
  return post;
}

/* Applies a record to the open post of its request. */
static void
settle (Otf2Stream *stream, const Otf2Record *record)
{
  Otf2Record *post;

  switch ((Otf2RecordKind) record->kind) {
  case OTF2_RECORD_IRECV_COMPLETE:
  case OTF2_RECORD_COLLECTIVE_COMPLETE:
    if ((post = take_open (stream, record->request)) == NULL)
      break;
    if ((record->kind == OTF2_RECORD_COLLECTIVE_COMPLETE) !=
        (post->kind == OTF2_RECORD_COLLECTIVE_POST)) {
      post->post = OTF2_POST_LOST;
      break;
    }
    post->post = OTF2_POST_DONE;
    post->id = record->id;
    post->peer = record->peer;
    post->tag = record->tag;
    post->op = record->op;
    post->bytes = record->bytes;
    post->recv_bytes = record->recv_bytes;
    break;
  case OTF2_RECORD_CANCELLED:
    if ((post = take_open (stream, record->request)) != NULL)
      post->post = OTF2_POST_CANCELLED;
    break;
  case OTF2_RECORD_ISEND:
  case OTF2_RECORD_IRECV_POST:
  case OTF2_RECORD_COLLECTIVE_POST:
    /* A program uses a request again only when it is complete. */
    if ((post = take_open (stream, record->request)) != NULL)
      post->post = OTF2_POST_LOST;
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
    if (record->kind == OTF2_RECORD_IRECV_POST || record->kind == OTF2_RECORD_COLLECTIVE_POST) {
      guint64 number = stream->passed + n;

      g_hash_table_insert (stream->open, g_memdup2 (&record->request, sizeof record->request),
                           g_memdup2 (&number, sizeof number));
    }
  }
  return TRUE;
}

/* Settles all open posts; the records read for that are not kept.  Posts that
 * stay open to the end are lost. */
static gboolean
settle_all (Otf2Stream *stream, GError **error)
{
  GHashTableIter iter;
  gpointer number;
  if (!stream->ended) {
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
    if (!good)
      return FALSE;
  }
  g_hash_table_iter_init (&iter, stream->open);
  while (g_hash_table_iter_next (&iter, NULL, &number))
    post_at (stream, *(guint64 *) number)->post = OTF2_POST_LOST;
  g_hash_table_remove_all (stream->open);
  return TRUE;
}

TraceNext
otf2_stream_next (Otf2Stream *stream, Otf2Record *record, GError **error)
{
  const Otf2Record *first;

  if (stream->first == stream->records->len || stream->first >= stream->limit) {
    g_array_remove_range (stream->records, 0, stream->first);
    stream->passed += stream->first;
    stream->first = 0;
  }
  while (stream->first == stream->records->len) {
    if (stream->ended)
      return TRACE_NEXT_END;
    if (!read_more (stream, error))
      return TRACE_NEXT_ERROR;
  }

  /* Read on until the first record can be handed out. */
  for (;;) {
    first = &g_array_index (stream->records, Otf2Record, stream->first);
    if (first->post != OTF2_POST_OPEN ||
        (first->kind != OTF2_RECORD_IRECV_POST && first->kind != OTF2_RECORD_COLLECTIVE_POST))
      break;
    if (stream->ended || stream->records->len - stream->first >= stream->limit
            ? !settle_all (stream, error)
            : !read_more (stream, error))
      return TRACE_NEXT_ERROR;
  }
  *record = *first;
  stream->first++;
  return TRACE_NEXT_OPERATION;
}
