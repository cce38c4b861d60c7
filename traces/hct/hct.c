/* hct.c - reads the native trace format.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Opening reads the index and nothing else.  A cursor has its place in a
 * program, which it shares with others, the parameters of its rank, and a
 * reference to the block of measures it reads from. */
#include "traces/format.h"
#include "traces/hct/hct_file.h"
#include "traces/hct/hct_fold.h"
#include "traces/hct/hct_record.h"
#include "traces/trace_file.h"

/* --- Programs, made ready to be run --- */

/* A step of a program that is ready: the number of a record, or these with
 * the number of a loop, or the end. */
#define STEP_LOOP (UINT32_C (1) << 31)
#define STEP_NEXT (UINT32_C (1) << 30) /* the end of a loop's body */
#define STEP_END  UINT32_MAX
#define MAX_STEPS (UINT32_C (1) << 30)

/* An operation but for its patches and measures. */
typedef struct {
  TraceOp op;
  unsigned patches;
} Template;

typedef struct {
  const guint8 *bytes;
  uint32_t n_bytes;
  uint32_t first_parameter;
  guint16 parameters, streamed; /* sets of measures */
  uint64_t runs;                /* in one run of the program */
  const Template *ready;        /* NULL: decoded each time */
} Record;

typedef struct {
  uint64_t count;
  uint32_t start; /* of the body, in steps[] */
} Repeat;

/* Constant once made, so that all cursors share it. */
typedef struct {
  Record *records;
  uint32_t *steps;
  Repeat *loops;
  guint8 *parameters; /* which measure each is */
  uint32_t n_records, n_steps, n_loops, n_parameters;
  uint64_t n_ops;
  Template *ready;
  uint32_t n_ready;
  GPtrArray *memory; /* of the arrays of ready records */
  GBytes *block;     /* holds the records' bytes */
} Program;

/* The most templates of a program: with 300 bytes each the program stays small
 * beside the block it is from. */
#define MAX_READY 512
/* A template for a record that is run less often costs more than it saves. */
#define MIN_RUNS 4

typedef struct {
  Program *program;
  HctReader in;
  GArray *records, *steps, *loops, *parameters;
} Maker;

static void
add_step (Maker *maker, uint32_t step)
{
  maker->in.bad |= maker->steps->len >= MAX_STEPS;
  g_array_append_val (maker->steps, step);
}

/* Both saturate. */
static uint64_t
times (uint64_t count, uint64_t n)
{
  return n != 0 && count > UINT64_MAX / n ? UINT64_MAX : count * n;
}

static uint64_t
plus (uint64_t a, uint64_t b)
{
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Takes up to n tokens, each of which is run so often; returns the number of
 * their operations. */
static uint64_t
take_tokens (Maker *maker, uint64_t n, unsigned depth, uint64_t runs)
{
  HctReader *in = &maker->in;
  uint64_t n_ops = 0;

  for (; n > 0 && !in->bad && in->at < in->end; n--) {
    uint64_t token = hct_take_varint (in), made = 1;

    if (token == HCT_TOKEN_LOOP) {
      uint32_t number = maker->loops->len;
      Repeat loop = { .count = hct_take_varint (in) };
      uint32_t n_body = hct_take_count (in);

      in->bad |= loop.count == 0 || n_body == 0 || depth >= HCT_MAX_DEPTH;
      if (in->bad)
        break;
      add_step (maker, STEP_LOOP | number);
      loop.start = maker->steps->len;
      g_array_append_val (maker->loops, loop);
      made = times (loop.count, take_tokens (maker, n_body, depth + 1, times (runs, loop.count)));
      add_step (maker, STEP_NEXT | number);
    } else if (token < HCT_TOKEN_AGAIN) {
      Record record = { .runs = runs, .first_parameter = maker->parameters->len };

      if (token == HCT_TOKEN_MEASURED) {
        record.parameters = (guint16) hct_take_limited (in, (1u << HCT_N_NUMBERS) - 1);
        record.streamed = (guint16) hct_take_limited (in, (1u << HCT_N_MEASURES) - 1);
      }
      for (unsigned i = 0; i < HCT_N_NUMBERS; i++)
        if ((record.parameters & 1u << i) != 0)
          g_array_append_val (maker->parameters, (guint8){ (guint8) i });
      record.n_bytes = hct_take_count (in);
      in->bad |= record.n_bytes > (uint64_t) (in->end - in->at);
      if (in->bad)
        break;
      record.bytes = in->at;
      in->at += record.n_bytes;
      add_step (maker, maker->records->len);
      g_array_append_val (maker->records, record);
    } else if (token - HCT_TOKEN_AGAIN < maker->records->len) {
      Record *record = &g_array_index (maker->records, Record, token - HCT_TOKEN_AGAIN);

      record->runs = plus (record->runs, runs);
      add_step (maker, (uint32_t) (token - HCT_TOKEN_AGAIN));
    } else
      in->bad = true;
    n_ops = plus (n_ops, made);
  }
  in->bad |= depth > 0 && n > 0;
  return n_ops;
}

/* Decodes the records that run often once for all.  Their arrays become the
 * program's memory. */
static bool
make_records_ready (Program *program, const HctNames *names)
{
  HctScratch scratch = { 0 };
  uint32_t n = 0;
  bool good = true;

  for (uint32_t i = 0; i < program->n_records; i++)
    n += program->records[i].runs >= MIN_RUNS;
  n = MIN (n, MAX_READY);
  program->ready = g_new (Template, n);
  for (uint32_t i = 0; good && program->n_ready < n; i++) {
    Record *record = &program->records[i];
    HctReader in = { record->bytes, record->bytes + record->n_bytes, false };
    Template *ready = &program->ready[program->n_ready];

    if (record->runs < MIN_RUNS)
      continue;
    hct_scratch_reset (&scratch, hct_record_scratch_bytes (record->n_bytes));
    good = hct_record_take (&in, names, &ready->op, &ready->patches, &scratch);
    if (scratch.n > 0) {
      g_ptr_array_add (program->memory, scratch.data);
      scratch = (HctScratch){ 0 };
    }
    record->ready = ready;
    program->n_ready++;
  }
  hct_scratch_clear (&scratch);
  return good;
}

static gpointer
steal (GArray *array, uint32_t *n)
{
  *n = array->len;
  return g_array_free (array, FALSE);
}

static void
program_free (Program *program)
{
  if (program == NULL)
    return;
  g_free (program->records);
  g_free (program->steps);
  g_free (program->loops);
  g_free (program->parameters);
  g_free (program->ready);
  g_ptr_array_unref (program->memory);
  g_bytes_unref (program->block);
  g_free (program);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Program, program_free)

/* Makes the program of block[at .. at + n_bytes) ready; NULL when it is none,
 * or not one of n_ops operations. */
static Program *
program_new (GBytes *block, const HctNames *names, uint32_t at, uint32_t n_bytes, uint64_t n_ops)
{
  g_autoptr (Program) program = g_new0 (Program, 1);
  const guint8 *bytes = (const guint8 *) g_bytes_get_data (block, NULL) + at;
  Maker maker = { .program = program, .in = { bytes, bytes + n_bytes, false } };

  program->block = g_bytes_ref (block);
  program->memory = g_ptr_array_new_with_free_func (g_free);
  maker.records = g_array_new (FALSE, FALSE, sizeof (Record));
  maker.steps = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  maker.loops = g_array_new (FALSE, FALSE, sizeof (Repeat));
  maker.parameters = g_array_new (FALSE, FALSE, sizeof (guint8));
  program->n_ops = take_tokens (&maker, UINT64_MAX, 0, 1);
  add_step (&maker, STEP_END);
  program->records = steal (maker.records, &program->n_records);
  program->steps = steal (maker.steps, &program->n_steps);
  program->loops = steal (maker.loops, &program->n_loops);
  program->parameters = steal (maker.parameters, &program->n_parameters);
  if (maker.in.bad || program->n_ops != n_ops || !make_records_ready (program, names))
    return NULL;
  return g_steal_pointer (&program);
}

/* --- An open trace, and the parts its cursors share ---
 *
 * Programs are made ready when the first cursor comes to them, are shared by
 * all cursors that run them, and go some time after the last has left; so do
 * blocks.  All may be called from any thread. */

/* Kept for the next cursor although none uses them. */
#define N_KEPT_PROGRAMS 64
#define N_KEPT_BLOCKS   16

typedef struct {
  Program *program; /* NULL: not in memory */
  uint32_t n_users; /* cursors, and one when it is among those kept */
} Shared;

typedef struct {
  uint32_t number;
  GBytes *bytes;
} KeptBlock;

typedef struct {
  char *path;
  GBytes *contents;
  HctIndex *index;

  GMutex lock;                    /* of all that follows */
  Shared *programs;               /* [index->programs->len] */
  uint32_t kept[N_KEPT_PROGRAMS]; /* numbers + 1 */
  guint next_kept;
  KeptBlock blocks[N_KEPT_BLOCKS];
  guint next_block;
} Store;

static void
store_free (gpointer data)
{
  Store *store = data;

  for (guint i = 0; store->index != NULL && i < store->index->programs->len; i++)
    program_free (store->programs[i].program);
  for (guint i = 0; i < N_KEPT_BLOCKS; i++)
    g_clear_pointer (&store->blocks[i].bytes, g_bytes_unref);
  g_mutex_clear (&store->lock);
  g_free (store->programs);
  hct_index_free (store->index);
  g_clear_pointer (&store->contents, g_bytes_unref);
  g_free (store->path);
  g_free (store);
}

/* A block of the index, unpacked; the caller unrefs.  It is unpacked without
 * the lock, so that threads do that side by side. */
static GBytes *
store_block (Store *store, uint32_t number, GError **error)
{
  const HctBlock *block = &g_array_index (store->index->blocks, HctBlock, number);
  GBytes *bytes = NULL;
  KeptBlock *kept;

  g_mutex_lock (&store->lock);
  for (guint i = 0; i < N_KEPT_BLOCKS && bytes == NULL; i++)
    if (store->blocks[i].bytes != NULL && store->blocks[i].number == number)
      bytes = g_bytes_ref (store->blocks[i].bytes);
  g_mutex_unlock (&store->lock);
  if (bytes != NULL)
    return bytes;
  bytes = hct_block_read (store->path, store->contents, block, error);
  if (bytes == NULL)
    return NULL;
  g_mutex_lock (&store->lock);
  kept = &store->blocks[store->next_block++ % N_KEPT_BLOCKS];
  g_clear_pointer (&kept->bytes, g_bytes_unref);
  *kept = (KeptBlock){ number, g_bytes_ref (bytes) };
  g_mutex_unlock (&store->lock);
  return bytes;
}

/* With the lock. */
static void
release_locked (Store *store, uint32_t number)
{
  Shared *shared = &store->programs[number];

  if (--shared->n_users == 0)
    g_clear_pointer (&shared->program, program_free);
}

/* A program of the index, until it is released. */
static const Program *
store_program (Store *store, uint32_t number, GError **error)
{
  const HctProgramPlace *place = &g_array_index (store->index->programs, HctProgramPlace, number);
  Shared *shared = &store->programs[number];
  const Program *program;

  g_mutex_lock (&store->lock);
  if (shared->program == NULL) {
    g_autoptr (GBytes) block = NULL;
    Program *made;

    g_mutex_unlock (&store->lock);
    block = store_block (store, place->block, error);
    if (block == NULL)
      return NULL;
    made = program_new (block, store->index->names, place->at, place->n_bytes, place->n_ops);
    if (made == NULL) {
      g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                   "%s: program %u is impossible, or needs a newer version of this program",
                   store->path, number);
      return NULL;
    }
    g_mutex_lock (&store->lock);
    if (shared->program != NULL)
      program_free (made); /* another thread was faster */
    else {
      uint32_t *kept = &store->kept[store->next_kept++ % N_KEPT_PROGRAMS];

      shared->program = made;
      shared->n_users = 1;
      if (*kept != 0)
        release_locked (store, *kept - 1);
      *kept = number + 1;
    }
  }
  program = shared->program;
  shared->n_users++;
  g_mutex_unlock (&store->lock);
  return program;
}

/* --- Cursors --- */

typedef struct {
  const uint32_t *again; /* where the body starts */
  uint64_t left;         /* repetitions, with this one */
} Nested;

typedef struct {
  Store *store;
  HctPlace place;
  uint32_t segment, end_segment; /* the next one, and the rank's last + 1 */

  const Program *program; /* NULL: between segments */
  uint32_t program_number;
  const uint32_t *step; /* the next one */
  Nested *nested;       /* the loop it is in; from loops[] */
  Nested loops[HCT_MAX_DEPTH + 1];

  HctReader measures; /* of the block at hand */
  GBytes *block;
  uint64_t measures_at, n_measure_bytes; /* those beyond it */
  uint64_t *parameters;
  uint32_t n_parameters; /* that there is room for */

  HctScratch arrays, list;
  char *place_name;
} Cursor;

static gboolean
probe (const char *path, const guint8 *head, gsize n)
{
  (void) path;
  return hct_file_probe (head, n);
}

static gpointer
open_trace (Trace *trace, const char *path, const TraceOptions *options, uint32_t *n_ranks,
            GPtrArray *files, GError **error)
{
  Store *store;

  if (!trace_refuse_region (path, options, error))
    return NULL;
  store = g_new0 (Store, 1);
  g_mutex_init (&store->lock);
  store->path = g_strdup (trace_path (trace));
  store->contents = trace_file_load (store->path, error);
  if (store->contents != NULL)
    store->index = hct_index_read (store->path, store->contents, error);
  if (store->index == NULL) {
    store_free (store);
    return NULL;
  }
  store->programs = g_new0 (Shared, store->index->programs->len);
  if (options->n_ranks != 0 && options->n_ranks != store->index->n_ranks) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_RANGE, "%s: has %u ranks, but %u were asked for",
                 store->path, store->index->n_ranks, options->n_ranks);
    store_free (store);
    return NULL;
  }
  if (store->index->is_graph)
    trace_set_graph (trace);
  trace_set_source (trace, store->index->source_format, store->index->source_hash);
  for (guint i = 0; i < store->index->warnings->len; i++)
    trace_warn (trace, "%s", (const char *) store->index->warnings->pdata[i]);
  for (guint i = 0; i < store->index->notes->len; i++)
    trace_note (trace, store->index->notes->pdata[i]);
  g_ptr_array_add (files, g_strdup (path));
  *n_ranks = store->index->n_ranks;
  return store;
}

static void
leave_program (Cursor *cursor)
{
  Store *store = cursor->store;

  if (cursor->program == NULL)
    return;
  g_mutex_lock (&store->lock);
  release_locked (store, cursor->program_number);
  g_mutex_unlock (&store->lock);
  cursor->program = NULL;
}

static void
cursor_free (gpointer data)
{
  Cursor *cursor = data;

  leave_program (cursor);
  g_clear_pointer (&cursor->block, g_bytes_unref);
  hct_scratch_clear (&cursor->arrays);
  hct_scratch_clear (&cursor->list);
  g_free (cursor->parameters);
  g_free (cursor->place_name);
  g_free (cursor);
}

static gpointer
cursor_new (gpointer data, uint32_t rank, GError **error)
{
  Store *store = data;
  const uint32_t *first = &g_array_index (store->index->rank_segments, uint32_t, rank);
  Cursor *cursor = g_new0 (Cursor, 1);

  (void) error;
  cursor->store = store;
  cursor->place.rank = rank;
  cursor->place.n_ranks = store->index->n_ranks;
  cursor->segment = first[0];
  cursor->end_segment = first[1];
  return cursor;
}

static TraceNext
bad (const Cursor *cursor, const char *what, GError **error)
{
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
               "%s: rank %u, operation %" G_GUINT64_FORMAT ": %s", cursor->store->path,
               cursor->place.rank, cursor->place.index, what);
  return TRACE_NEXT_ERROR;
}

/* Goes on to the next block with measures of the segment; there is one. */
static gboolean
refill (Cursor *cursor, GError **error)
{
  const HctIndex *index = cursor->store->index;
  const uint32_t *numbers = (const uint32_t *) (const void *) index->measure_blocks->data;
  guint low = 0, high = index->measure_blocks->len - 1;
  const HctBlock *block;
  uint64_t from, n;

  /* The last block that does not begin behind the measures. */
  while (low < high) {
    guint middle = (low + high + 1) / 2;

    if (g_array_index (index->blocks, HctBlock, numbers[middle]).measures_at <= cursor->measures_at)
      low = middle;
    else
      high = middle - 1;
  }
  g_clear_pointer (&cursor->block, g_bytes_unref);
  cursor->block = store_block (cursor->store, numbers[low], error);
  if (cursor->block == NULL)
    return FALSE;
  block = &g_array_index (index->blocks, HctBlock, numbers[low]);
  from = cursor->measures_at - block->measures_at;
  n = MIN (block->raw_bytes - from, cursor->n_measure_bytes);
  cursor->measures.at = (const guint8 *) g_bytes_get_data (cursor->block, NULL) + from;
  cursor->measures.end = cursor->measures.at + n;
  cursor->measures_at += n;
  cursor->n_measure_bytes -= n;
  return TRUE;
}

/* The measures of one operation are never in two blocks. */
static gboolean
have_measures (Cursor *cursor, GError **error)
{
  if (G_LIKELY (cursor->measures.at < cursor->measures.end))
    return TRUE;
  if (cursor->n_measure_bytes > 0)
    return refill (cursor, error);
  bad (cursor, "the measures end before the operations do", error);
  return FALSE;
}

/* Goes to the rank's next segment, which there must be, and takes the
 * parameters of its program. */
static gboolean
enter_segment (Cursor *cursor, GError **error)
{
  const HctSegment *segment =
      &g_array_index (cursor->store->index->segments, HctSegment, cursor->segment);
  const Program *program;

  leave_program (cursor);
  cursor->program = program = store_program (cursor->store, segment->program, error);
  if (program == NULL)
    return FALSE;
  cursor->segment++;
  cursor->program_number = segment->program;
  cursor->step = program->steps;
  cursor->nested = cursor->loops;
  g_clear_pointer (&cursor->block, g_bytes_unref);
  cursor->measures = (HctReader){ 0 };
  cursor->measures_at = segment->measures_at;
  cursor->n_measure_bytes = segment->n_measure_bytes;
  if (program->n_parameters > cursor->n_parameters) {
    cursor->parameters = g_renew (uint64_t, cursor->parameters, program->n_parameters);
    cursor->n_parameters = program->n_parameters;
  }
  for (uint32_t i = 0; i < program->n_parameters; i++) {
    if (!have_measures (cursor, error))
      return FALSE;
    cursor->parameters[i] = hct_take_number (&cursor->measures, program->parameters[i]);
  }
  return TRUE;
}

/* Sets the measures of a record that has some. */
static gboolean
set_measures (Cursor *cursor, const Record *record, TraceOp *op, GError **error)
{
  uint32_t parameter = record->first_parameter;
  gboolean good = TRUE;

  for (unsigned set = record->parameters; set != 0; set &= set - 1)
    good &= hct_set_number (op, (unsigned) __builtin_ctz (set), cursor->parameters[parameter++],
                            &cursor->place);
  if (record->streamed != 0 && !have_measures (cursor, error))
    return FALSE;
  for (unsigned set = record->streamed; set != 0; set &= set - 1) {
    unsigned measure = (unsigned) __builtin_ctz (set);

    if (measure == HCT_COMPLETED)
      hct_take_list (&cursor->measures, op, &cursor->list);
    else
      good &= hct_set_number (op, measure, hct_take_number (&cursor->measures, measure),
                              &cursor->place);
  }
  if (good && !cursor->measures.bad && hct_check_measures (op))
    return TRUE;
  bad (cursor, "has an impossible measure", error);
  return FALSE;
}

/* In pieces that a compiler makes moves of: for the whole it makes a string
 * instruction, which takes twice as long to get going as it has to copy. */
static inline void
copy_op (TraceOp *to, const TraceOp *from)
{
  enum { PIECE = 64, REST = sizeof *to % PIECE };
  guint8 *out = (guint8 *) to;
  const guint8 *in = (const guint8 *) from;

  for (gsize i = 0; i < sizeof *to / PIECE; i++, out += PIECE, in += PIECE)
    memcpy (out, in, PIECE);
  memcpy (out, in, REST);
}

static TraceNext
run_record (Cursor *cursor, uint32_t number, TraceOp *op, GError **error)
{
  const Record *record = &cursor->program->records[number];
  unsigned patches;

  if (G_LIKELY (record->ready != NULL)) {
    copy_op (op, &record->ready->op);
    patches = record->ready->patches;
    if ((patches & HCT_PATCH_ARRAYS) != 0)
      hct_scratch_reset (&cursor->arrays, hct_record_scratch_bytes (record->n_bytes));
  } else {
    HctReader in = { record->bytes, record->bytes + record->n_bytes, false };

    hct_scratch_reset (&cursor->arrays, hct_record_scratch_bytes (record->n_bytes));
    if (!hct_record_take (&in, cursor->store->index->names, op, &patches, &cursor->arrays))
      return bad (cursor, "is impossible, or needs a newer version of this program", error);
  }
  if (patches != 0 && !hct_record_patch (op, patches, &cursor->place, &cursor->arrays))
    return bad (cursor, "refers to a rank or an operation that does not exist", error);
  if ((record->parameters | record->streamed) != 0 && !set_measures (cursor, record, op, error))
    return TRACE_NEXT_ERROR;
  hct_place_advance (&cursor->place, op->request);
  return TRACE_NEXT_OPERATION;
}

static TraceNext
cursor_next (gpointer data, TraceOp *op, GError **error)
{
  Cursor *cursor = data;

  for (;;) {
    uint32_t step = cursor->program != NULL ? *cursor->step : STEP_END;

    if (G_LIKELY (step < STEP_NEXT)) {
      cursor->step++;
      return run_record (cursor, step, op, error);
    }
    if (step == STEP_END) {
      if (cursor->segment == cursor->end_segment)
        return TRACE_NEXT_END;
      if (!enter_segment (cursor, error))
        return TRACE_NEXT_ERROR;
      continue;
    }
    cursor->step++;
    if ((step & STEP_LOOP) != 0) {
      const Repeat *loop = &cursor->program->loops[step & ~STEP_LOOP];

      *++cursor->nested = (Nested){ cursor->program->steps + loop->start, loop->count };
    } else if (--cursor->nested->left > 0)
      cursor->step = cursor->nested->again;
    else
      cursor->nested--;
  }
}

static const char *
cursor_place (gpointer data)
{
  Cursor *cursor = data;

  g_free (cursor->place_name);
  cursor->place_name =
      g_strdup_printf ("%s: rank %u, operation %" G_GUINT64_FORMAT, cursor->store->path,
                       cursor->place.rank, MAX (cursor->place.index, 1) - 1);
  return cursor->place_name;
}

const TraceFormat trace_format_hct = {
  .name = "hct",
  .summary = "hopcast's native .hct file",
  .probe = probe,
  .open = open_trace,
  .close = store_free,
  .cursor_new = cursor_new,
  .cursor_free = cursor_free,
  .cursor_next = cursor_next,
  .cursor_place = cursor_place,
};
