/* replay_testing.c - scripts, a network and small machines for tests of the replay.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/replay/replay_testing.h"

#include "sim/resume_testing.h"

#include <string.h>

/* -- scripts: the reader's side ------------------------------------------------ */

struct Trace {
  uint32_t n_ranks;
  GPtrArray **ops; /* [n_ranks] (element-type TraceOp) */
  GPtrArray *warnings;
  gboolean is_graph;
  TraceCollectives collectives;
};

struct TraceCursor {
  const GPtrArray *ops;
  uint32_t next, rank;
  char *place;
};

Trace *
trace_open (const char *path, const TraceOptions *options, GError **error)
{
  (void) options;
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_OPEN, "%s: scripts are not opened", path);
  return NULL;
}

static void
op_free (gpointer data)
{
  TraceOp *op = data;

  g_free ((gpointer) op->requests);
  g_free ((gpointer) op->completed);
  g_free ((gpointer) op->counts);
  g_free ((gpointer) op->recv_counts);
  g_free ((gpointer) op->values);
  g_free ((gpointer) op->values2);
  g_free ((gpointer) op->after);
  g_free ((gpointer) op->after_start);
  g_free (op);
}

Trace *
script_new (uint32_t n_ranks)
{
  Trace *trace = g_new0 (Trace, 1);

  trace->n_ranks = n_ranks;
  trace->ops = g_new (GPtrArray *, n_ranks);
  trace->warnings = g_ptr_array_new ();
  for (uint32_t rank = 0; rank < n_ranks; rank++)
    trace->ops[rank] = g_ptr_array_new_with_free_func (op_free);
  return trace;
}

void
trace_free (Trace *trace)
{
  if (trace == NULL)
    return;
  for (uint32_t rank = 0; rank < trace->n_ranks; rank++)
    g_ptr_array_unref (trace->ops[rank]);
  g_ptr_array_unref (trace->warnings);
  g_free (trace->ops);
  g_free (trace);
}

const char *
trace_path (const Trace *trace)
{
  (void) trace;
  return "script";
}

const char *
trace_format_name (const Trace *trace)
{
  return trace_path (trace);
}

uint32_t
trace_ranks (const Trace *trace)
{
  return trace->n_ranks;
}

gboolean
trace_is_graph (const Trace *trace)
{
  return trace->is_graph;
}

TraceCollectives
trace_collectives (const Trace *trace)
{
  return trace->collectives;
}

const char *
trace_hash (Trace *trace, GError **error)
{
  (void) error;
  return trace_path (trace);
}

const GPtrArray *
trace_warnings (const Trace *trace)
{
  return trace->warnings;
}

TraceCursor *
trace_cursor_new (Trace *trace, uint32_t rank, GError **error)
{
  TraceCursor *cursor = g_new0 (TraceCursor, 1);

  (void) error;
  cursor->ops = trace->ops[rank];
  cursor->rank = rank;
  return cursor;
}

void
trace_cursor_free (TraceCursor *cursor)
{
  if (cursor == NULL)
    return;
  g_free (cursor->place);
  g_free (cursor);
}

TraceNext
trace_cursor_next (TraceCursor *cursor, TraceOp *op, GError **error)
{
  (void) error;
  if (cursor->next == cursor->ops->len)
    return TRACE_NEXT_END;
  *op = *(const TraceOp *) g_ptr_array_index (cursor->ops, cursor->next++);
  return TRACE_NEXT_OPERATION;
}

uint64_t
trace_cursor_count (const TraceCursor *cursor)
{
  return cursor->next;
}

void
trace_set_warnings (Trace *trace, const GPtrArray *warnings)
{
  g_assert_cmpuint (warnings->len, ==, trace->warnings->len);
}

const char *
trace_cursor_place (TraceCursor *cursor)
{
  g_free (cursor->place);
  cursor->place = g_strdup_printf ("rank%u:%u", cursor->rank, cursor->next);
  return cursor->place;
}

/* -- scripts: the writer's side ------------------------------------------------------------- */

static gpointer
copy (gconstpointer data, gsize n, gsize size)
{
  gpointer to = data == NULL ? NULL : g_malloc0 (MAX (1u, n * size));

  if (to != NULL && n > 0)
    memcpy (to, data, n * size);
  return to;
}

void
script_add (Trace *trace, uint32_t rank, TraceOp op)
{
  if (op.name == NULL)
    op.name = "MPI_Call";
  op.matched_source = TRACE_ANY_SOURCE;
  op.requests = copy (op.requests, op.n_requests, sizeof *op.requests);
  op.completed = copy (op.completed, op.n_completed, sizeof *op.completed);
  op.counts = copy (op.counts, op.n_counts, sizeof *op.counts);
  op.recv_counts = copy (op.recv_counts, op.n_recv_counts, sizeof *op.recv_counts);
  op.values = copy (op.values, MAX (op.n_values, op.n_counts), sizeof *op.values);
  op.values2 = copy (op.values2, MAX (op.n_values, op.n_recv_counts), sizeof *op.values2);
  op.after = copy (op.after, op.n_after, sizeof *op.after);
  op.after_start = copy (op.after_start, op.n_after_start, sizeof *op.after_start);
  g_ptr_array_add (trace->ops[rank], copy (&op, 1, sizeof op));
}

void
script_set_graph (Trace *trace)
{
  trace->is_graph = TRUE;
}

void
script_set_collectives (Trace *trace, TraceCollectives collectives)
{
  trace->collectives = collectives;
}

void
script_compute (Trace *trace, uint32_t rank, int64_t gap_ps)
{
  script_add (trace, rank, (TraceOp){ .kind = TRACE_OP_COMPUTE, .gap_ps = gap_ps });
}

void
script_call (Trace *trace, uint32_t rank)
{
  script_add (trace, rank, (TraceOp){ .kind = TRACE_OP_CALL });
}

static void
add_message (Trace *trace, uint32_t rank, TraceOp op, int32_t peer, int32_t tag, uint64_t bytes)
{
  op.comm = TRACE_COMM_WORLD;
  op.peer = peer;
  op.tag = tag;
  op.bytes = bytes;
  script_add (trace, rank, op);
}

void
script_send_mode (Trace *trace, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes,
                  TraceSendMode mode)
{
  add_message (trace, rank, (TraceOp){ .kind = TRACE_OP_SEND, .mode = mode, .name = "MPI_Send" },
               to, tag, bytes);
}

void
script_send (Trace *trace, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes)
{
  script_send_mode (trace, rank, to, tag, bytes, TRACE_SEND_STANDARD);
}

void
script_isend (Trace *trace, uint32_t rank, int32_t to, int32_t tag, uint64_t bytes,
              uint32_t request)
{
  add_message (trace, rank,
               (TraceOp){ .kind = TRACE_OP_ISEND, .request = request, .name = "MPI_Isend" }, to,
               tag, bytes);
}

void
script_recv (Trace *trace, uint32_t rank, int32_t from, int32_t tag, uint64_t bytes)
{
  add_message (trace, rank, (TraceOp){ .kind = TRACE_OP_RECV, .name = "MPI_Recv" }, from, tag,
               bytes);
}

void
script_irecv (Trace *trace, uint32_t rank, int32_t from, int32_t tag, uint64_t bytes,
              uint32_t request)
{
  add_message (trace, rank,
               (TraceOp){ .kind = TRACE_OP_IRECV, .request = request, .name = "MPI_Irecv" }, from,
               tag, bytes);
}

void
script_requests (Trace *trace, uint32_t rank, TraceOpKind kind, uint32_t n,
                 const uint32_t *requests)
{
  script_add (trace, rank,
              (TraceOp){ .kind = kind, .requests = requests, .n_requests = n, .name = "MPI_Wait" });
}

void
script_wait (Trace *trace, uint32_t rank, uint32_t request)
{
  script_requests (trace, rank, TRACE_OP_WAIT, 1, &request);
}

void
script_collective (Trace *trace, uint32_t rank, TraceOpKind kind, int32_t root, uint64_t bytes)
{
  script_add (trace, rank,
              (TraceOp){ .kind = kind,
                         .comm = TRACE_COMM_WORLD,
                         .root = root,
                         .bytes = bytes,
                         .recv_bytes = bytes,
                         .name = "MPI_Collective" });
}

/* -- scripts: as text --------------------------------------------------------------------- */

/* Arguments of a kind by place: the letters of set_field(), "*" for a list. */
static const char *const arguments[TRACE_N_OPS] = {
  [TRACE_OP_COMPUTE] = "g",      [TRACE_OP_SEND] = "ptb",       [TRACE_OP_ISEND] = "ptbr",
  [TRACE_OP_SEND_INIT] = "ptbr", [TRACE_OP_RECV] = "ptb",       [TRACE_OP_IRECV] = "ptbr",
  [TRACE_OP_RECV_INIT] = "ptbr", [TRACE_OP_SENDRECV] = "pqB",   [TRACE_OP_PROBE] = "pt",
  [TRACE_OP_IPROBE] = "pt",      [TRACE_OP_START] = "*",        [TRACE_OP_CANCEL] = "*",
  [TRACE_OP_REQUEST_FREE] = "*", [TRACE_OP_WAIT] = "*",         [TRACE_OP_TEST] = "*",
  [TRACE_OP_BCAST] = "oB",       [TRACE_OP_GATHER] = "oB",      [TRACE_OP_SCATTER] = "oB",
  [TRACE_OP_REDUCE] = "oB",      [TRACE_OP_ALLGATHER] = "B",    [TRACE_OP_ALLTOALL] = "B",
  [TRACE_OP_ALLREDUCE] = "B",    [TRACE_OP_SCAN] = "B",         [TRACE_OP_EXSCAN] = "B",
  [TRACE_OP_PUT] = "pb",         [TRACE_OP_GET] = "pv",         [TRACE_OP_FETCH] = "pbv",
  [TRACE_OP_WIN_FLUSH] = "p",    [TRACE_OP_WIN_POST] = "*",     [TRACE_OP_WIN_START] = "*",
  [TRACE_OP_WIN_COMPLETE] = "*", [TRACE_OP_WIN_WAIT] = "*",     [TRACE_OP_COMM_DUP] = "n",
  [TRACE_OP_COMM_SPLIT] = "lkn", [TRACE_OP_COMM_CREATE] = "Gn", [TRACE_OP_COMM_FREE] = "c",
  [TRACE_OP_COMM_DEFINE] = "n*", [TRACE_OP_COMM_GROUP] = "N",
};

static const struct {
  const char *name;
  char letter;
} fields[] = { { "comm", 'c' },  { "tag", 't' },     { "bytes", 'b' },  { "recv", 'v' },
               { "root", 'o' },  { "request", 'r' }, { "window", 'w' }, { "new", 'n' },
               { "color", 'l' }, { "key", 'k' },     { "flops", 'f' },  { "cpu", 'C' } };

static int64_t
number_of (const char *text)
{
  static const struct {
    const char *word;
    int64_t value;
  } words[] = { { "any", TRACE_ANY_SOURCE }, { "null", TRACE_PROC_NULL },
                { "none", TRACE_NO_ROOT },   { "unknown", (int64_t) TRACE_UNKNOWN_BYTES },
                { "self", TRACE_COMM_SELF }, { "undefined", TRACE_UNDEFINED } };
  char *end;
  int64_t value = g_ascii_strtoll (text, &end, 10);

  for (uint32_t i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (text, words[i].word) == 0)
      return words[i].value;
  if (*end != '\0' || end == text)
    g_error ("not a number in a script: %s", text);
  return value;
}

static void
set_field (TraceOp *op, char letter, int64_t value)
{
  switch (letter) {
  case 'g': op->gap_ps = value * NS; break;
  case 'f': op->flops = (double) value; break;
  case 'p': op->peer = (int32_t) value; break;
  case 'q': op->recv_peer = (int32_t) value; break;
  case 't': op->tag = op->recv_tag = (int32_t) value; break;
  case 'b': op->bytes = (uint64_t) value; break;
  case 'v': op->recv_bytes = (uint64_t) value; break;
  case 'B': op->bytes = op->recv_bytes = (uint64_t) value; break;
  case 'o': op->root = (int32_t) value; break;
  case 'r':
    op->request = (uint32_t) value;
    op->nonblocking = op->kind >= TRACE_OP_BARRIER;
    break;
  case 'w': op->window = (uint32_t) value; break;
  case 'c': op->comm = (uint32_t) value; break;
  case 'n': op->new_comm = (uint32_t) value; break;
  case 'N': op->new_group = (uint32_t) value; break;
  case 'G': op->group = (uint32_t) value; break;
  case 'l': op->color = (int32_t) value; break;
  case 'k': op->key = (int32_t) value; break;
  case 'C': op->cpu = (uint32_t) value; break;
  default: g_assert_not_reached ();
  }
}

enum { MOST_NUMBERS = 32 };

/* The lists of one operation, until it is copied. */
typedef struct {
  uint32_t words[4 * MOST_NUMBERS];
  uint64_t longs[4 * MOST_NUMBERS];
  uint32_t n_words, n_longs;
} Lists;

static void
set_list (TraceOp *op, Lists *lists, const char *name, const int64_t *numbers, uint32_t n)
{
  uint32_t *words = lists->words + lists->n_words;
  const int32_t *signed_words = (const int32_t *) words;
  uint64_t *longs = lists->longs + lists->n_longs;

  for (uint32_t i = 0; i < n; i++) {
    lists->words[lists->n_words++] = (uint32_t) numbers[i];
    lists->longs[lists->n_longs++] = (uint64_t) numbers[i];
  }
  if (strcmp (name, "requests") == 0)
    op->requests = words, op->n_requests = n;
  else if (strcmp (name, "completed") == 0)
    op->completed = words, op->n_completed = n;
  else if (strcmp (name, "after") == 0)
    op->after = words, op->n_after = n;
  else if (strcmp (name, "start") == 0)
    op->after_start = words, op->n_after_start = n;
  else if (strcmp (name, "values") == 0)
    op->values = signed_words, op->n_values = n;
  else if (strcmp (name, "periods") == 0)
    op->values2 = signed_words, op->n_values = n;
  else if (strcmp (name, "to") == 0)
    op->values = signed_words, op->n_counts = n;
  else if (strcmp (name, "from") == 0)
    op->values2 = signed_words, op->n_recv_counts = n;
  else if (strcmp (name, "counts") == 0)
    op->counts = longs, op->n_counts = n;
  else if (strcmp (name, "recv_counts") == 0)
    op->recv_counts = longs, op->n_recv_counts = n;
  else
    g_error ("no field of an operation: %s", name);
}

/* Sets the kind and the properties of a word; returns the letters of its arguments. */
static const char *
set_kind (TraceOp *op, const char *word)
{
  static const struct {
    const char *word;
    TraceOpKind kind;
    TraceSendMode mode;
  } others[] = { { "ssend", TRACE_OP_SEND, TRACE_SEND_SYNCHRONOUS },
                 { "bsend", TRACE_OP_SEND, TRACE_SEND_BUFFERED },
                 { "waitall", TRACE_OP_WAIT_OUTSTANDING, TRACE_SEND_STANDARD } };

  for (uint32_t i = 0; i < G_N_ELEMENTS (others); i++)
    if (strcmp (word, others[i].word) == 0) {
      op->kind = others[i].kind;
      op->mode = others[i].mode;
      return arguments[op->kind];
    }
  for (uint32_t skip = 0; skip < 2; skip++)
    for (uint32_t kind = 0; kind < TRACE_N_OPS; kind++)
      if (strcmp (word + skip, trace_op_name ((TraceOpKind) kind)) == 0) {
        op->kind = (TraceOpKind) kind;
        op->nonblocking = skip == 1 && word[0] == 'i';
        return arguments[kind];
      }
  g_error ("no operation: %s", word);
}

static void
add_text_op (Trace *trace, uint32_t rank, const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, " ", -1);
  TraceOp op = { .comm = TRACE_COMM_WORLD, .window = 9 };
  g_autofree char *name = NULL;
  int64_t numbers[MOST_NUMBERS];
  uint32_t n_numbers = 0, place = 0, repeats = 1;
  const char *star = strchr (words[0], '*'), *letters;
  Lists lists = { .n_words = 0 };

  if (star != NULL)
    repeats = (uint32_t) g_ascii_strtoull (words[0], NULL, 10);
  letters = set_kind (&op, star == NULL ? words[0] : star + 1);
  for (char **word = words + 1; *word != NULL; word++) {
    char *value = strchr (*word, '=');
    uint32_t field = 0;

    if (**word == '\0')
      continue;
    if (value == NULL) {
      if (letters != NULL && letters[place] == '*')
        numbers[n_numbers++] = number_of (*word);
      else if (letters == NULL || letters[place] == '\0')
        set_field (&op, 'r', number_of (*word));
      else
        set_field (&op, letters[place++], number_of (*word));
      continue;
    }
    *value++ = '\0';
    while (field < G_N_ELEMENTS (fields) && strcmp (fields[field].name, *word) != 0)
      field++;
    if (field < G_N_ELEMENTS (fields))
      set_field (&op, fields[field].letter, number_of (value));
    else {
      g_auto (GStrv) items = g_strsplit (value, ",", -1);
      int64_t list[MOST_NUMBERS];
      uint32_t n = 0;

      for (; items[n] != NULL && *items[n] != '\0'; n++)
        list[n] = number_of (items[n]);
      set_list (&op, &lists, *word, list, n);
    }
  }
  if (letters != NULL && letters[place] == '*')
    set_list (&op, &lists, op.kind < TRACE_OP_BARRIER ? "requests" : "values", numbers, n_numbers);
  name = g_strdup_printf ("MPI_%s%s", op.nonblocking ? "I" : "", trace_op_name (op.kind));
  if (!op.nonblocking)
    name[4] = g_ascii_toupper (name[4]);
  op.name = g_intern_string (name);
  while (repeats-- > 0)
    script_add (trace, rank, op);
}

void
script_text (Trace *trace, const char *text)
{
  g_auto (GStrv) streams = g_strsplit (text, "|", -1);

  for (char **stream = streams; *stream != NULL; stream++) {
    char *colon = strchr (*stream, ':');
    g_auto (GStrv) ops = g_strsplit (colon + 1, ";", -1);
    g_auto (GStrv) ranges = NULL;

    *colon = '\0';
    ranges = g_strsplit (g_strstrip (*stream), ",", -1);
    for (char **range = ranges; *range != NULL; range++) {
      bool all = strcmp (*range, "*") == 0;
      const char *to = strchr (*range, '-');
      uint32_t first = all ? 0 : (uint32_t) g_ascii_strtoull (*range, NULL, 10);
      uint32_t last = all          ? trace->n_ranks - 1
                      : to == NULL ? first
                                   : (uint32_t) g_ascii_strtoull (to + 1, NULL, 10);

      for (uint32_t rank = first; rank <= last; rank++)
        for (char **op = ops; *op != NULL; op++)
          if (*g_strstrip (*op) != '\0')
            add_text_op (trace, rank, *op);
    }
  }
}

/* -- a network of constant latency ------------------------------------------- */

#define NO_NODE UINT32_MAX

typedef struct {
  int64_t at_ps;
  uint64_t serial;
  uint32_t rank; /* whose callback it is */
  uint64_t cookie;
  uint32_t record;  /* UINT32_MAX: a timer */
  bool acknowledge; /* of the record, at its source */
} Event;

typedef struct {
  SimNetwork base;
  const TopoMapping *mapping;
  int64_t latency_ps, byte_ps, jitter_ps, now_ps;
  uint32_t node; /* of the callback that runs */
  uint64_t n_events, n_timers;
  GSequence *events;
  GArray *log;
} FakeNetwork;

static int
event_compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const Event *x = a, *y = b;

  (void) data;
  if (x->at_ps != y->at_ps)
    return x->at_ps < y->at_ps ? -1 : 1;
  return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static void
event_add (FakeNetwork *fake, Event event)
{
  event.serial = fake->n_events++;
  g_sequence_insert_sorted (fake->events, g_memdup2 (&event, sizeof event), event_compare, NULL);
}

static void
fake_send (SimNetwork *self, const SimMessage *message, int64_t at_ps)
{
  FakeNetwork *fake = (FakeNetwork *) self;
  uint32_t hash = (fake->log->len + 1) * 2654435761u;
  int64_t jitter_ps = fake->jitter_ps > 0 ? hash % fake->jitter_ps : 0;
  FakeRecord record = {
    *message, at_ps, at_ps + fake->latency_ps + (int64_t) message->bytes * fake->byte_ps + jitter_ps
  };

  g_assert_cmpint (at_ps, >=, fake->now_ps);
  g_assert_cmpuint (fake->mapping->node[message->source_rank], ==, fake->node);
  g_assert_cmpuint (fake->mapping->node[message->destination_rank], !=, fake->node);
  event_add (fake, (Event){ .at_ps = record.delivered_ps,
                            .rank = message->destination_rank,
                            .record = fake->log->len });
  if (message->acknowledge)
    event_add (fake, (Event){ .at_ps = record.delivered_ps + fake->latency_ps,
                              .rank = message->source_rank,
                              .record = fake->log->len,
                              .acknowledge = true });
  g_array_append_val (fake->log, record);
}

static void
fake_timer (SimNetwork *self, uint32_t rank, uint64_t cookie, int64_t at_ps)
{
  FakeNetwork *fake = (FakeNetwork *) self;
  bool foreign = fake->node != NO_NODE && fake->mapping->node[rank] != fake->node;

  g_assert_cmpint (at_ps, >=, fake->now_ps + (foreign ? self->lookahead_ps : 0));
  fake->n_timers++;
  event_add (fake, (Event){ .at_ps = at_ps, .rank = rank, .cookie = cookie, .record = UINT32_MAX });
}

/* An acknowledgement takes the latency back. */
static void
fake_call (FakeNetwork *fake, Event event)
{
  const SimClient *client = fake->base.client;
  SimMessage message;

  if (event.record == UINT32_MAX) {
    client->timer (fake->base.client_data, event.rank, event.cookie, event.at_ps);
    return;
  }
  message = g_array_index (fake->log, FakeRecord, event.record).message;
  if (event.acknowledge) {
    client->sent (fake->base.client_data, &message, event.at_ps);
    return;
  }
  client->delivered (fake->base.client_data, &message, event.at_ps);
}

static gboolean
fake_run (SimNetwork *self, GError **error)
{
  FakeNetwork *fake = (FakeNetwork *) self;

  (void) error;
  while (!g_sequence_is_empty (fake->events)) {
    GSequenceIter *first = g_sequence_get_begin_iter (fake->events);
    Event event = *(const Event *) g_sequence_get (first);

    g_sequence_remove (first);
    fake->now_ps = event.at_ps;
    fake->node = fake->mapping->node[event.rank];
    fake_call (fake, event);
  }
  return TRUE;
}

static void
fake_free (SimNetwork *self)
{
  FakeNetwork *fake = (FakeNetwork *) self;

  g_sequence_free (fake->events);
  g_array_unref (fake->log);
  g_free (fake);
}

static const SimNetworkClass fake_class = { .name = "fake",
                                            .summary = "constant latency",
                                            .free = fake_free,
                                            .send = fake_send,
                                            .timer = fake_timer,
                                            .run = fake_run };

SimNetwork *
fake_network_new (const TopoMapping *mapping, int64_t latency_ps, int64_t byte_ps,
                  int64_t jitter_ps, const SimClient *client, void *client_data)
{
  FakeNetwork *fake = g_new0 (FakeNetwork, 1);

  fake->base.class = &fake_class;
  fake->base.client = client;
  fake->base.client_data = client_data;
  fake->base.lookahead_ps = latency_ps;
  fake->mapping = mapping;
  fake->latency_ps = latency_ps;
  fake->byte_ps = byte_ps;
  fake->jitter_ps = jitter_ps;
  fake->node = NO_NODE;
  fake->events = g_sequence_new (g_free);
  fake->log = g_array_new (FALSE, FALSE, sizeof (FakeRecord));
  return &fake->base;
}

const GArray *
fake_network_log (const SimNetwork *network)
{
  return ((const FakeNetwork *) network)->log;
}

uint64_t
fake_network_timers (const SimNetwork *network)
{
  return ((const FakeNetwork *) network)->n_timers;
}

/* -- a small machine with round numbers ---------------------------------------- */

Fixture
fixture_new_spec (const char *spec, uint32_t n_ranks, uint32_t per_node)
{
  Fixture fixture = { .trace = script_new (n_ranks), .compute_scale = 1 };
  TopoParameters *parameters;
  GError *error = NULL;

  fixture.machine = topo_machine_new (spec, &error);
  g_assert_no_error (error);
  fixture.machine->ranks_per_node = per_node;
  parameters = &fixture.machine->parameters;
  parameters->mpi.send_overhead_ps = 300 * NS;
  parameters->mpi.receive_overhead_ps = 700 * NS;
  parameters->mpi.call_overhead_ps = 100 * NS;
  parameters->mpi.direct_overhead_ps = 50 * NS;
  parameters->mpi.eager_bytes = 1000;
  parameters->mpi.async_progress = false;
  parameters->mpi.shm_latency_ps = 200 * NS;
  parameters->mpi.shm_bandwidth_Bps = 10000000000u;
  parameters->node.compute_Flops = 1e9;
  fixture.mapping = topo_mapping_new (NULL, fixture.machine, n_ranks, &error);
  g_assert_no_error (error);
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    fixture.mapping->node[rank] = rank / per_node;
    fixture.mapping->slot[rank] = (uint8_t) (rank % per_node);
  }
  return fixture;
}

Fixture
fixture_new (uint32_t n_ranks, uint32_t per_node)
{
  g_autofree char *spec = g_strdup_printf ("torus:%ux2", MAX (2, n_ranks));

  return fixture_new_spec (spec, n_ranks, per_node);
}

Fixture
fixture_new_fabric (uint32_t n_ranks, uint32_t per_node)
{
  g_autofree char *spec =
      g_strdup_printf ("fattree:2x%u,node=harpertown", MAX (2, (n_ranks + 1) / 2));
  Fixture fixture = fixture_new_spec (spec, n_ranks, per_node);
  TopoParameters *parameters = &fixture.machine->parameters;

  /* Nothing but the core limits a copy. */
  parameters->memory.core_bandwidth_Bps = 10000000000u;
  parameters->memory.core_memory_bandwidth_Bps = parameters->memory.core_transfer_bandwidth_Bps =
      parameters->memory.cache_bandwidth_Bps = parameters->memory.bus_bandwidth_Bps =
          parameters->memory.dram_bandwidth_Bps = UINT64_C (1000000000000000000);
  parameters->memory.transfer_latency_ps = parameters->memory.package_latency_ps = 0;
  parameters->collective.tree_bandwidth_Bps = 2000000000u;
  parameters->mpi.eager_bytes = 12288;
  parameters->ompi.sm_latency_ps = 200 * NS;
  parameters->ompi.sm_overhead_ps = 40 * NS;
  parameters->ompi.fragment_overhead_ps = 60 * NS;
  parameters->ompi.leave_pinned = false;
  parameters->ompi.registration_ps = 2000 * NS;
  parameters->ompi.registration_page_ps = 10 * NS;
  for (uint32_t slot = 0; slot < per_node; slot++)
    fixture.machine->slot_core[slot] = (uint8_t) slot;
  return fixture;
}

void
fixture_lower_limits (Fixture *fixture, uint32_t ways)
{
  TopoParameters *parameters = &fixture->machine->parameters;

  parameters->ompi.sm_eager_bytes = 72 + 300;
  parameters->ompi.sm_fragment_bytes = 32 + 200;
  parameters->mpi.eager_bytes = 72 + 500;
  parameters->ompi.send_fragment_bytes = 32 + 150;
  parameters->ompi.rdma_fragment_bytes = 256;
  parameters->memory.copy_quantum_bytes = 64;
  parameters->ompi.rdma_offset_bytes = (ways & 1) != 0 ? 400 : 0;
  parameters->ompi.sm_single_copy = (ways & 2) != 0;
  parameters->ompi.leave_pinned = (ways & 4) != 0;
  if ((ways & 8) != 0) {
    parameters->mpi.library = TOPO_LIBRARY_OMPI41;
    parameters->hca.model = TOPO_CONNECTX4;
    parameters->ucx.zcopy_thresh_bytes = (ways & 1) != 0 ? 400 : 1200;
    parameters->ucx.rndv_thresh_bytes = (ways & 2) != 0 ? 1000 : 1800;
    parameters->ucx.segment_bytes = 190;
  }
}

static void
run_clear (Fixture *fixture)
{
  g_clear_pointer (&fixture->network, sim_network_free);
  g_clear_pointer (&fixture->replay, sim_replay_free);
  g_clear_error (&fixture->error);
  fixture->result = NULL;
}

void
fixture_clear (Fixture *fixture)
{
  run_clear (fixture);
  trace_free (fixture->trace);
  topo_mapping_free (fixture->mapping);
  topo_machine_free (fixture->machine);
}

/* Sums over the events of a timeline. */
typedef struct {
  int64_t *lane_end_ps;          /* [lanes] */
  int64_t *compute_ps, *wait_ps; /* [ranks] */
  uint64_t n_messages;
} Sums;

static void
add_event (Sums *sums, const SimTimeline *timeline, const SimTimelineEvent *event)
{
  uint32_t rank = sim_timeline_lane (timeline, event->lane).rank;
  int64_t span_ps = event->end_ps - event->begin_ps;

  if (event->is_message) {
    g_assert_cmpint (span_ps, >=, 0);
    sums->n_messages++;
    return;
  }
  g_assert_cmpint (span_ps, >, 0);
  g_assert_cmpint (event->begin_ps, ==, sums->lane_end_ps[event->lane]);
  sums->lane_end_ps[event->lane] = event->end_ps;
  if (event->waits)
    sums->wait_ps[rank] += span_ps;
  else if (sim_timeline_state (timeline, event->state)->kind == SIM_STATE_COMPUTE)
    sums->compute_ps[rank] += span_ps;
}

/* How many messages it has. */
static uint64_t
check_timeline (const SimTimeline *timeline, const SimReplayResult *result)
{
  uint32_t n_ranks = result->n_ranks;
  g_autofree int64_t *lane_end_ps = g_new0 (int64_t, sim_timeline_lanes (timeline));
  g_autofree int64_t *compute_ps = g_new0 (int64_t, n_ranks);
  g_autofree int64_t *wait_ps = g_new0 (int64_t, n_ranks);
  Sums sums = { lane_end_ps, compute_ps, wait_ps, 0 };
  SimTimelineEvent event;

  for (uint64_t number = 0; number < sim_timeline_size (timeline); number++) {
    g_assert_true (sim_timeline_event (timeline, number, &event));
    add_event (&sums, timeline, &event);
  }
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    const SimRankTimes *times = &result->ranks[rank];

    g_assert_cmpint (lane_end_ps[rank], ==, times->end_ps);
    g_assert_cmpint (compute_ps[rank], ==, times->compute_ps);
    g_assert_cmpint (wait_ps[rank], ==, times->wait_ps);
  }
  g_assert_cmpuint (sim_timeline_left_out (timeline), ==, 0);
  return sums.n_messages;
}

uint64_t
fixture_check_timeline (const Fixture *fixture)
{
  return check_timeline (fixture->timeline, fixture->result);
}

void
fixture_check_path (const SimReplayResult *result)
{
  int64_t sum_ps = 0;

  for (uint32_t class = 0; class < SIM_N_CLASSES; class ++) {
    g_assert_cmpint (result->path.ps[class], >=, 0);
    sum_ps += result->path.ps[class];
  }
  if (result->has_path)
    g_assert_cmpint (sum_ps, ==, result->time_ps);
}

void
fixture_run (Fixture *fixture)
{
  g_autoptr (SimTimeline) own = NULL;
  SimReplayOptions options = { .compute_scale = fixture->compute_scale,
                               .timeline = fixture->timeline };
  g_autoptr (RoutePaths) routes = NULL;
  GError *error = NULL;

  run_clear (fixture);
  if (options.timeline == NULL)
    options.timeline = own = sim_timeline_new (fixture->mapping->n_ranks, NULL, UINT64_MAX);
  if (!fixture->without_path)
    options.routes = routes = route_paths_new (fixture->machine, &error);
  g_assert_no_error (error);
  fixture->replay =
      sim_replay_new (fixture->trace, fixture->machine, fixture->mapping, &options, &error);
  g_assert_no_error (error);
  fixture->network = fake_network_new (fixture->mapping, 1000 * NS, 1 * NS, fixture->jitter_ps,
                                       &sim_replay_client, fixture->replay);
  if (sim_replay_run (fixture->replay, fixture->network, &fixture->error))
    fixture->result = sim_replay_result (fixture->replay);
  if (fixture->result != NULL)
    fixture_check_path (fixture->result);
  if (fixture->result != NULL && own != NULL)
    check_timeline (own, fixture->result);
}

SimRun *
fixture_simulate (const Fixture *fixture, SimNetworkKind network, GError **error)
{
  SimRunOptions options = { .network = network,
                            .policy = ROUTE_POLICY_DETERMINISTIC,
                            .compute_scale = 1,
                            .critical_path = true,
                            .n_threads = fixture->n_threads };

  return sim_run (fixture->trace, fixture->machine, fixture->mapping, &options, error);
}

void
fixture_check_resumed (const Fixture *fixture, RoutePolicy policy, uint32_t n_parts)
{
  SimRunOptions options = {
    .policy = policy, .compute_scale = 1, .critical_path = true, .windows_per_pause = 1
  };

  resume_check (fixture->trace, fixture->machine, fixture->mapping, &options, n_parts);
}

void
fixture_check_links (const Fixture *fixture)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (SimRun) packet = fixture_simulate (fixture, SIM_NETWORK_PACKET, &error);
  g_autoptr (SimRun) load = NULL;

  g_assert_no_error (error);
  load = fixture_simulate (fixture, SIM_NETWORK_LOAD, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (load->warnings->len, ==, 0);
  /* Ranks of random programs compute as they like. */
  for (guint i = 0; i < packet->warnings->len; i++)
    g_assert_true (g_str_has_prefix (packet->warnings->pdata[i], SIM_IMBALANCE_WARNING));
  g_assert_cmpuint (packet->result.messages, ==, load->result.messages);
  g_assert_cmpuint (packet->result.message_bytes, ==, load->result.message_bytes);
  g_assert_cmpuint (packet->result.collectives, ==, load->result.collectives);
  for (uint32_t link = 0; link < load->counters->n_places; link++)
    g_assert_cmpuint (packet->counters->link[link].payload_bytes, ==,
                      load->counters->link[link].payload_bytes);
  g_assert_cmpfloat (load->features[SIM_FEATURE_MAX_BYTES], >, 0);
}

double
fixture_end_ns (const Fixture *fixture, uint32_t rank)
{
  g_assert_no_error (fixture->error);
  return (double) fixture->result->ranks[rank].end_ps / NS;
}

const FakeRecord *
fixture_record (const Fixture *fixture, SimMessageKind kind, uint32_t i)
{
  const GArray *log = fake_network_log (fixture->network);

  for (uint32_t record = 0; record < log->len; record++) {
    const FakeRecord *it = &g_array_index (log, FakeRecord, record);

    if (it->message.kind == kind && i-- == 0)
      return it;
  }
  return NULL;
}

uint32_t
fixture_count (const Fixture *fixture, SimMessageKind kind)
{
  uint32_t n = 0;

  while (fixture_record (fixture, kind, n) != NULL)
    n++;
  return n;
}

uint64_t
fixture_edges (const Fixture *fixture)
{
  uint64_t n_edges;

  g_free (sim_edges_sorted (sim_replay_edges (fixture->replay), &n_edges));
  return n_edges;
}

/* -- tables of replays ------------------------------------------------------------ */

static void
check_count (int64_t expected, uint64_t got)
{
  if (expected != 0)
    g_assert_cmpuint (got, ==, expected == NOTHING ? 0 : (uint64_t) expected);
}

static void
test_replay_case (gconstpointer data)
{
  const ReplayCase *it = data;
  uint32_t n_ranks = it->n_ranks == 0 ? 2 : it->n_ranks;
  uint32_t per_node = it->per_node == 0 ? 1 : it->per_node;
  g_auto (Fixture) f =
      it->fabric ? fixture_new_fabric (n_ranks, per_node) : fixture_new (n_ranks, per_node);

  f.machine->parameters.collective.in_network = it->network;
  f.machine->parameters.mpi.async_progress = it->async;
  if (it->graph)
    script_set_graph (f.trace);
  script_text (f.trace, it->script);
  fixture_run (&f);
  if (it->error != NULL) {
    g_assert_error (f.error, SIM_ERROR, it->error_code);
    if (strstr (f.error->message, it->error) == NULL)
      g_error ("got: %s", f.error->message);
    return;
  }
  g_assert_no_error (f.error);
  for (uint32_t rank = 0; rank < MIN (4, n_ranks); rank++) {
    if (it->end_ns[rank] != 0)
      g_assert_cmpfloat_with_epsilon (fixture_end_ns (&f, rank), it->end_ns[rank], 0.0015);
    if (it->wait_ns[rank] != 0)
      g_assert_cmpfloat_with_epsilon ((double) f.result->ranks[rank].wait_ps / NS,
                                      MAX (0, it->wait_ns[rank]), 1e-6);
  }
  check_count (it->messages, f.result->messages);
  check_count (it->message_bytes, f.result->message_bytes);
  check_count (it->collectives, f.result->collectives);
  check_count (it->carried, fake_network_log (f.network)->len);
  check_count (it->edges, fixture_edges (&f));
  for (uint32_t i = 0; i < G_N_ELEMENTS (it->of_kind); i++)
    check_count (it->of_kind[i].n, fixture_count (&f, it->of_kind[i].kind));
  if (it->sent.ns != 0) {
    const FakeRecord *record = fixture_record (&f, it->sent.kind, it->sent.nth);

    g_assert (record != NULL);
    g_assert_cmpint (record->sent_ps, ==, it->sent.ns * NS);
  }
  g_assert_cmpuint (f.result->warnings->len, ==, it->warnings);
  g_assert_cmpuint (f.result->unmatched_sends, ==, it->unmatched_sends);
  fixture_check_resumed (&f, ROUTE_POLICY_DEFAULT, 3);
}

void
replay_cases_add (const char *prefix, const ReplayCase *cases, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++) {
    g_autofree char *path = g_strdup_printf ("%s/%s", prefix, cases[i].name);

    g_test_add_data_func (path, &cases[i], test_replay_case);
  }
}
