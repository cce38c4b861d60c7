/* hct_writer.c - writes the native trace format.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every rank is read once, from front to end, and written as it is read; only
 * the index stays in memory, and the digests that identify equal programs and
 * equal measures of any ranks. */
#include "traces/hct/hct_file.h"
#include "traces/format.h"
#include "traces/hct/hct_fold.h"
#include "traces/hct/hct_record.h"
#include "traces/writer.h"

/* --- Symbols: numbers for operations that are the same ---
 *
 * Two operations have the same number when their records are the same bytes.
 * A computation is the same only after the same call: the work between a
 * receive and a send differs from that before a reduction, and the measures of
 * each may be constant.
 *
 * Peers and requests are written relative, unless the other form was seen
 * before and this one was not.
 *
 * The successor of an operation is mostly the same as the last time, so it is
 * compared first, and the table is searched only when it differs. */

#define NONE        UINT32_MAX
#define FIRST_SLOTS 1024
#define N_FORMS     4

typedef struct {
  gsize at; /* of its record in records */
  uint32_t n_bytes;
  uint32_t context; /* the call before a computation; else NONE */
  uint64_t sum;
  uint32_t next; /* the symbol that followed it last */
  unsigned form;
} Symbol;

typedef struct {
  HctNames *names; /* borrowed */
  GArray *symbols; /* (element-type Symbol) */
  HctBuffer records;
  uint32_t *slots; /* of a hash table of symbols; NONE: free */
  uint32_t n_slots;
  GHashTable *refused;       /* sums of forms that were not taken */
  HctBuffer trials[N_FORMS]; /* records of an operation, by form */
  uint32_t last, last_call;  /* symbols; last_call is no computation */
} Symbols;

static void
clear_slots (Symbols *symbols, uint32_t n_slots)
{
  symbols->n_slots = n_slots;
  symbols->slots = g_renew (uint32_t, symbols->slots, n_slots);
  memset (symbols->slots, 0xff, n_slots * sizeof *symbols->slots);
}

/* A new stream begins: nothing comes before its first operation. */
static void
symbols_restart (Symbols *symbols)
{
  symbols->last = NONE;
  symbols->last_call = NONE;
}

static inline Symbol *
symbol_at (const Symbols *symbols, uint32_t symbol)
{
  return &g_array_index (symbols->symbols, Symbol, symbol);
}

static uint64_t
sum_of (const HctBuffer *record, uint32_t context)
{
  uint64_t sum = context + UINT64_C (0x9e3779b97f4a7c15);
  gsize i = 0;

  for (; i + 8 <= record->n; i += 8) {
    sum = (sum ^ hct_load_u64 (record->data + i)) * UINT64_C (0xbf58476d1ce4e5b9);
    sum ^= sum >> 29;
  }
  for (; i < record->n; i++)
    sum = (sum ^ record->data[i]) * UINT64_C (0x94d049bb133111eb);
  return sum ^ (sum >> 31);
}

static inline bool
is_symbol (const Symbols *symbols, const Symbol *symbol, const HctBuffer *record, uint32_t context)
{
  return symbol->n_bytes == record->n && symbol->context == context &&
         memcmp (symbols->records.data + symbol->at, record->data, record->n) == 0;
}

/* The slot of a record, or the free one where it belongs. */
static uint32_t *
find_slot (const Symbols *symbols, const HctBuffer *record, uint32_t context, uint64_t sum)
{
  for (uint32_t i = (uint32_t) sum & (symbols->n_slots - 1);;
       i = (i + 1) & (symbols->n_slots - 1)) {
    uint32_t *slot = &symbols->slots[i];
    const Symbol *symbol;

    if (*slot == NONE)
      return slot;
    symbol = symbol_at (symbols, *slot);
    if (symbol->sum == sum && is_symbol (symbols, symbol, record, context))
      return slot;
  }
}

static void
try_form (Symbols *symbols, const TraceOp *op, const HctPlace *place, unsigned form)
{
  symbols->trials[form].n = 0;
  hct_record_put (&symbols->trials[form], symbols->names, op, place, form);
}

/* The most relative of the forms, none of which is known, unless another could
 * have been taken before. */
static unsigned
choose_form (Symbols *symbols, unsigned forms, const uint64_t *sums)
{
  for (unsigned form = forms; form != 0;) {
    form = (form - 1) & forms;
    if (g_hash_table_contains (symbols->refused, &sums[form]))
      return form;
  }
  for (unsigned form = forms; form != 0;) {
    form = (form - 1) & forms;
    g_hash_table_add (symbols->refused, g_memdup2 (&sums[form], sizeof sums[form]));
  }
  return forms;
}

/* All subsets of forms, from the largest down, are the forms there are. */
static uint32_t
find_or_add (Symbols *symbols, const TraceOp *op, const HctPlace *place, unsigned forms,
             uint32_t context)
{
  uint64_t sums[N_FORMS];
  const HctBuffer *record;
  unsigned form;
  Symbol symbol;

  for (form = forms;; form = (form - 1) & forms) {
    uint32_t found;

    try_form (symbols, op, place, form);
    sums[form] = sum_of (&symbols->trials[form], context);
    found = *find_slot (symbols, &symbols->trials[form], context, sums[form]);
    if (found != NONE)
      return found;
    if (form == 0)
      break;
  }

  form = choose_form (symbols, forms, sums);
  record = &symbols->trials[form];
  symbol = (Symbol){ .at = symbols->records.n,
                     .n_bytes = (uint32_t) record->n,
                     .context = context,
                     .sum = sums[form],
                     .next = NONE,
                     .form = form };
  *find_slot (symbols, record, context, sums[form]) = symbols->symbols->len;
  hct_put_bytes (&symbols->records, record->data, record->n);
  g_array_append_val (symbols->symbols, symbol);
  if (symbols->symbols->len > symbols->n_slots / 2) {
    clear_slots (symbols, 2 * symbols->n_slots);
    for (uint32_t i = 0; i < symbols->symbols->len; i++) {
      uint32_t slot = (uint32_t) symbol_at (symbols, i)->sum & (symbols->n_slots - 1);

      while (symbols->slots[slot] != NONE)
        slot = (slot + 1) & (symbols->n_slots - 1);
      symbols->slots[slot] = i;
    }
  }
  return symbols->symbols->len - 1;
}

/* Numbers count up from 0. */
static uint32_t
symbols_find (Symbols *symbols, const TraceOp *op, const HctPlace *place)
{
  uint32_t context = op->kind == TRACE_OP_COMPUTE ? symbols->last_call : NONE;
  uint32_t expected = symbols->last != NONE ? symbol_at (symbols, symbols->last)->next : NONE;
  unsigned forms = hct_record_forms (op, place);
  uint32_t found = NONE;

  if (expected != NONE && (symbol_at (symbols, expected)->form & ~forms) == 0) {
    const Symbol *symbol = symbol_at (symbols, expected);

    try_form (symbols, op, place, symbol->form);
    if (is_symbol (symbols, symbol, &symbols->trials[symbol->form], context))
      found = expected;
  }
  if (found == NONE)
    found = find_or_add (symbols, op, place, forms, context);
  if (symbols->last != NONE)
    symbol_at (symbols, symbols->last)->next = found;
  symbols->last = found;
  if (op->kind != TRACE_OP_COMPUTE)
    symbols->last_call = found;
  return found;
}

/* --- Batches: a run of a rank's operations, made into programs ---
 *
 * Operations are collected until there are enough of them (their memory is
 * bounded), then their loops are found, and the result is handed over in parts
 * that are no longer than a cursor should hold. */

#define MAX_OPS          (1u << 18)
#define MAX_LIST_ENTRIES (1u << 22)
#define MAX_RECORD_BYTES (32u << 20)
#define MAX_SYMBOLS      (1u << 18) /* with more, all are forgotten before the next batch */

/* A measure that is the same so often is a parameter. */
#define CONSTANT_OCCURRENCES 8
#define MAX_PARAMETERS       256 /* of a program: a cursor holds them */

/* The operations of one symbol in this batch. */
typedef struct {
  uint32_t symbol;
  uint32_t n_ops;
  unsigned present, first_present, varying; /* sets of measures */
  unsigned parameters, streamed;            /* likewise */
  uint64_t first[HCT_N_NUMBERS];
  uint32_t part, record; /* its number among the records of that part */
} Class;

typedef struct {
  Symbols symbols;
  HctFold *fold;

  GArray *class_of; /* (element-type uint32_t): of a symbol + 1; 0: none in this batch */
  GArray *classes;  /* (element-type Class) */
  uint32_t *ops;    /* the class of each */
  guint16 *present; /* and which measures it has */
  uint32_t n_ops;
  GArray *values; /* (element-type uint64_t): the numbers of all operations */
  GArray *lists;  /* (element-type uint32_t): length and entries of their lists */

  /* Of the parts that were handed over: */
  uint32_t part, next_item, next_op;
  guint next_value, next_list;
  gboolean streams; /* whether any operation has a streamed measure */

  HctBuffer program, measures;
  uint32_t n_records;
  GArray *cuts;
} Batch;

/* A program with its measures; all borrowed until the next call. */
typedef struct {
  const HctBuffer *program;
  const HctBuffer *measures;
  const GArray *cuts; /* (element-type gsize): where measures may be cut; the last is their end */
  uint64_t n_ops;
  uint64_t record_bytes; /* of the operations, as if none were a repetition */
} Part;

static Batch *
batch_new (HctNames *names)
{
  Batch *batch = g_new0 (Batch, 1);
  Symbols *symbols = &batch->symbols;

  symbols->names = names;
  symbols->symbols = g_array_new (FALSE, FALSE, sizeof (Symbol));
  symbols->refused = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  clear_slots (symbols, FIRST_SLOTS);
  symbols_restart (symbols);
  batch->fold = hct_fold_new ();
  batch->class_of = g_array_new (FALSE, TRUE, sizeof (uint32_t));
  batch->classes = g_array_new (FALSE, FALSE, sizeof (Class));
  batch->ops = g_new (uint32_t, MAX_OPS);
  batch->present = g_new (guint16, MAX_OPS);
  batch->values = g_array_new (FALSE, FALSE, sizeof (uint64_t));
  batch->lists = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  batch->cuts = g_array_new (FALSE, FALSE, sizeof (gsize));
  return batch;
}

static void
batch_free (Batch *batch)
{
  Symbols *symbols = &batch->symbols;

  for (guint i = 0; i < N_FORMS; i++)
    hct_buffer_clear (&symbols->trials[i]);
  hct_buffer_clear (&symbols->records);
  g_array_unref (symbols->symbols);
  g_hash_table_unref (symbols->refused);
  g_free (symbols->slots);
  hct_fold_free (batch->fold);
  g_array_unref (batch->class_of);
  g_array_unref (batch->classes);
  g_free (batch->ops);
  g_free (batch->present);
  g_array_unref (batch->values);
  g_array_unref (batch->lists);
  g_array_unref (batch->cuts);
  hct_buffer_clear (&batch->program);
  hct_buffer_clear (&batch->measures);
  g_free (batch);
}

static inline Class *
class_at (const Batch *batch, uint32_t number)
{
  return &g_array_index (batch->classes, Class, number);
}

/* TRUE when no more should be added. */
static gboolean
batch_add (Batch *batch, const TraceOp *op, const HctPlace *place)
{
  uint64_t values[HCT_N_NUMBERS];
  uint32_t symbol = symbols_find (&batch->symbols, op, place), *number;
  unsigned present = hct_measures (op, place, values);
  Class *class;

  if (symbol >= batch->class_of->len)
    g_array_set_size (batch->class_of, batch->symbols.symbols->len);
  number = &g_array_index (batch->class_of, uint32_t, symbol);
  if (*number == 0) {
    g_array_append_val (batch->classes, ((Class){ .symbol = symbol }));
    *number = batch->classes->len;
  }
  class = class_at (batch, *number - 1);
  if (class->n_ops == 0) {
    class->first_present = present;
    memcpy (class->first, values, sizeof class->first);
  }
  class->varying |= present ^ class->first_present;
  class->present |= present;
  for (unsigned set = present; set != 0; set &= set - 1) {
    unsigned i = (unsigned) __builtin_ctz (set);

    if (i == HCT_COMPLETED) {
      g_array_append_val (batch->lists, op->n_completed);
      g_array_append_vals (batch->lists, op->completed, op->n_completed);
      break;
    }
    if (values[i] != class->first[i])
      class->varying |= 1u << i;
    g_array_append_val (batch->values, values[i]);
  }
  class->n_ops++;
  batch->ops[batch->n_ops] = *number - 1;
  batch->present[batch->n_ops] = (guint16) present;
  batch->n_ops++;
  return batch->n_ops == MAX_OPS || batch->lists->len >= MAX_LIST_ENTRIES ||
         batch->symbols.records.n >= MAX_RECORD_BYTES;
}

static void
put_token (Batch *batch, uint64_t token)
{
  hct_buffer_reserve (&batch->program, HCT_VARINT_BYTES);
  hct_put_varint (&batch->program, token);
}

/* Returns the number of operations of the item. */
static uint64_t
put_item (Batch *batch, uint32_t item)
{
  const HctLoop *loop;
  const uint32_t *body;

  if ((item & HCT_LOOP) == 0) {
    Class *class = class_at (batch, item);
    const Symbol *symbol = symbol_at (&batch->symbols, class->symbol);
    gboolean measured = (class->parameters | class->streamed) != 0;

    if (class->part == batch->part) {
      put_token (batch, HCT_TOKEN_AGAIN + (uint64_t) class->record);
      return 1;
    }
    class->part = batch->part;
    class->record = batch->n_records++;
    put_token (batch, measured ? HCT_TOKEN_MEASURED : HCT_TOKEN_RECORD);
    if (measured) {
      put_token (batch, class->parameters);
      put_token (batch, class->streamed);
    }
    put_token (batch, symbol->n_bytes);
    hct_put_bytes (&batch->program, batch->symbols.records.data + symbol->at, symbol->n_bytes);
    for (unsigned i = 0; i < HCT_N_NUMBERS; i++)
      if ((class->parameters & 1u << i) != 0) {
        hct_put_number (&batch->measures, i, class->first[i]);
        g_array_append_val (batch->cuts, batch->measures.n);
      }
    return 1;
  }
  loop = hct_fold_loop (batch->fold, item);
  body = hct_fold_body (batch->fold, loop);
  put_token (batch, HCT_TOKEN_LOOP);
  put_token (batch, loop->count);
  put_token (batch, loop->n_items);
  for (uint32_t i = 0; i < loop->n_items; i++)
    put_item (batch, body[i]);
  return loop->length * loop->count;
}

/* The streamed measures of the next operation; takes all its values. */
static void
put_measures (Batch *batch, const Class *class, unsigned present)
{
  gsize before = batch->measures.n;

  for (unsigned i = 0; i < HCT_N_NUMBERS; i++) {
    uint64_t value = 0;

    if ((present & 1u << i) != 0)
      value = g_array_index (batch->values, uint64_t, batch->next_value++);
    if ((class->streamed & 1u << i) != 0)
      hct_put_number (&batch->measures, i, value);
  }
  if ((present & 1u << HCT_COMPLETED) != 0) {
    const uint32_t *list = &g_array_index (batch->lists, uint32_t, batch->next_list);

    hct_put_list (&batch->measures, list + 1, list[0]);
    batch->next_list += 1 + list[0];
  } else if ((class->streamed & 1u << HCT_COMPLETED) != 0)
    hct_put_list (&batch->measures, NULL, 0);
  if (batch->measures.n > before)
    g_array_append_val (batch->cuts, batch->measures.n);
}

/* Makes the next part from the items of the batch. */
static void
make_part (Batch *batch, const uint32_t *items, uint32_t n_items, Part *part)
{
  uint64_t end = batch->next_op;
  gsize parameter_bytes;

  batch->part++;
  batch->n_records = 0;
  batch->program.n = batch->measures.n = 0;
  g_array_set_size (batch->cuts, 0);
  while (batch->next_item < n_items && batch->program.n < HCT_PROGRAM_BYTES)
    end += put_item (batch, items[batch->next_item++]);

  part->n_ops = end - batch->next_op;
  part->record_bytes = 0;
  parameter_bytes = batch->measures.n;
  for (; batch->next_op < end; batch->next_op++) {
    const Class *class = class_at (batch, batch->ops[batch->next_op]);
    unsigned present = batch->present[batch->next_op];

    part->record_bytes += symbol_at (&batch->symbols, class->symbol)->n_bytes;
    if (batch->streams && (present | class->streamed) != 0)
      put_measures (batch, class, present);
  }
  part->record_bytes += batch->measures.n - parameter_bytes;
  part->program = &batch->program;
  part->measures = &batch->measures;
  part->cuts = batch->cuts;
}

/* --- The file --- */

/* Longer measures are never searched among the written ones: equal measures
 * are those of programs that do the same in the same time. */
#define MAX_SHARED_BYTES 65536
#define OPS_PER_PROGRESS (1u << 20)

typedef struct {
  Trace *trace;
  TraceProgress progress;
  void *data;
  HctOutput output;
  HctIndex *index;
  Batch *batch;
  GHashTable *programs;                   /* digest of a program -> its number */
  GHashTable *shared;                     /* digest of measures -> uint64_t, where they are */
  HctBuffer program_block, measure_block; /* not written yet */
  guint first_placed;                     /* programs from here on are in program_block */
  uint64_t measures_at;                   /* of the start of measure_block */
} Writer;

static gboolean
flush_programs (Writer *writer, GError **error)
{
  GArray *programs = writer->index->programs;
  uint32_t number;

  if (writer->program_block.n == 0)
    return TRUE;
  if (!hct_output_block (&writer->output, writer->index, HCT_BLOCK_PROGRAMS, &writer->program_block,
                         &number, error))
    return FALSE;
  for (; writer->first_placed < programs->len; writer->first_placed++)
    g_array_index (programs, HctProgramPlace, writer->first_placed).block = number;
  writer->program_block.n = 0;
  return TRUE;
}

static gboolean
flush_measures (Writer *writer, GError **error)
{
  uint32_t number;

  if (writer->measure_block.n == 0)
    return TRUE;
  writer->measures_at += writer->measure_block.n;
  if (!hct_output_block (&writer->output, writer->index, HCT_BLOCK_MEASURES, &writer->measure_block,
                         &number, error))
    return FALSE;
  writer->measure_block.n = 0;
  return TRUE;
}

static char *
digest_of (const HctBuffer *buffer)
{
  return g_compute_checksum_for_data (G_CHECKSUM_SHA256, buffer->data, buffer->n);
}

static gboolean
put_program (Writer *writer, const Part *part, uint32_t *number, GError **error)
{
  g_autofree char *digest = digest_of (part->program);
  HctProgramPlace place = { .n_bytes = (uint32_t) part->program->n, .n_ops = part->n_ops };
  gpointer found;

  if (g_hash_table_lookup_extended (writer->programs, digest, NULL, &found)) {
    *number = GPOINTER_TO_UINT (found);
    return TRUE;
  }
  if (writer->program_block.n + part->program->n > HCT_PROGRAM_BYTES &&
      !flush_programs (writer, error))
    return FALSE;
  place.at = (uint32_t) writer->program_block.n;
  hct_put_bytes (&writer->program_block, part->program->data, part->program->n);
  *number = writer->index->programs->len;
  g_array_append_val (writer->index->programs, place);
  g_hash_table_insert (writer->programs, g_steal_pointer (&digest), GUINT_TO_POINTER (*number));
  return TRUE;
}

/* Puts the measures into blocks, none of which ends within an operation, unless
 * equal measures were written before. */
static gboolean
place_measures (Writer *writer, const Part *part, HctSegment *segment, GError **error)
{
  const HctBuffer *measures = part->measures;
  gsize from = 0, to = 0;

  segment->n_measure_bytes = measures->n;
  segment->measures_at = writer->measures_at + writer->measure_block.n;
  if (measures->n == 0)
    return TRUE;
  if (measures->n <= MAX_SHARED_BYTES) {
    char *digest = digest_of (measures);
    const uint64_t *found = g_hash_table_lookup (writer->shared, digest);

    if (found != NULL) {
      segment->measures_at = *found;
      g_free (digest);
      return TRUE;
    }
    g_hash_table_insert (writer->shared, digest,
                         g_memdup2 (&segment->measures_at, sizeof segment->measures_at));
  }
  for (guint i = 0; i < part->cuts->len; i++) {
    gsize cut = g_array_index (part->cuts, gsize, i);

    if (writer->measure_block.n + (cut - from) > HCT_MEASURE_BYTES) {
      hct_put_bytes (&writer->measure_block, measures->data + from, to - from);
      from = to;
      if (!flush_measures (writer, error))
        return FALSE;
    }
    to = cut;
  }
  hct_put_bytes (&writer->measure_block, measures->data + from, to - from);
  return TRUE;
}

/* Finds the loops in the operations that were added, and the constant measures;
 * writes the result in parts, and empties the batch. */
static gboolean
write_batch (Writer *writer, GError **error)
{
  Batch *batch = writer->batch;
  Symbols *symbols = &batch->symbols;
  guint n_parameters = 0;
  const uint32_t *items;
  uint32_t n_items;

  batch->part = 0;
  batch->next_item = batch->next_op = 0;
  batch->next_value = batch->next_list = 0;
  batch->streams = FALSE;
  for (uint32_t i = 0; i < batch->classes->len; i++) {
    Class *class = class_at (batch, i);
    unsigned constant = class->present & ~class->varying & ~(1u << HCT_COMPLETED);
    guint n_constant = (guint) __builtin_popcount (constant);

    if (class->n_ops >= CONSTANT_OCCURRENCES && n_parameters + n_constant <= MAX_PARAMETERS) {
      class->parameters = constant;
      n_parameters += n_constant;
    }
    class->streamed = class->present & ~class->parameters;
    batch->streams |= class->streamed != 0;
  }
  hct_fold (batch->fold, batch->ops, batch->n_ops, batch->classes->len);
  items = hct_fold_items (batch->fold, &n_items);

  while (batch->next_item < n_items) {
    HctSegment segment = { 0 };
    Part part;

    make_part (batch, items, n_items, &part);
    if (!put_program (writer, &part, &segment.program, error) ||
        !place_measures (writer, &part, &segment, error))
      return FALSE;
    writer->index->n_ops += part.n_ops;
    writer->index->record_bytes += part.record_bytes;
    g_array_append_val (writer->index->segments, segment);
  }

  for (uint32_t i = 0; i < batch->classes->len; i++)
    g_array_index (batch->class_of, uint32_t, class_at (batch, i)->symbol) = 0;
  g_array_set_size (batch->classes, 0);
  g_array_set_size (batch->values, 0);
  g_array_set_size (batch->lists, 0);
  batch->n_ops = 0;
  if (symbols->symbols->len > MAX_SYMBOLS || symbols->records.n > MAX_RECORD_BYTES / 2) {
    g_array_set_size (symbols->symbols, 0);
    symbols->records.n = 0;
    g_hash_table_remove_all (symbols->refused);
    clear_slots (symbols, FIRST_SLOTS);
    symbols_restart (symbols);
  }
  return TRUE;
}

static gboolean
is_in_order (const uint32_t *after, uint32_t n, uint64_t index)
{
  for (uint32_t i = 0; i < n; i++)
    if (after[i] >= index)
      return FALSE;
  return TRUE;
}

static gboolean
write_ranks (Writer *writer, GError **error)
{
  HctIndex *index = writer->index;
  uint32_t n_ranks = index->n_ranks = trace_ranks (writer->trace);

  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    HctPlace place = { .rank = rank, .n_ranks = n_ranks };
    g_autoptr (TraceCursor) cursor = trace_cursor_new (writer->trace, rank, error);
    TraceNext next;
    TraceOp op;

    if (cursor == NULL)
      return FALSE;
    g_array_append_val (index->rank_segments, index->segments->len);
    symbols_restart (&writer->batch->symbols);
    while ((next = trace_cursor_next (cursor, &op, error)) == TRACE_NEXT_OPERATION) {
      /* A reader of the format would refuse these. */
      if (!hct_check_op (&op, 0) || !hct_check_measures (&op) ||
          !is_in_order (op.after, op.n_after, place.index) ||
          !is_in_order (op.after_start, op.n_after_start, place.index))
        return TRACE_FAIL (TRACE_ERROR_WRITE, error,
                           "%s: rank %u, operation %" G_GUINT64_FORMAT
                           " (%s) has an impossible value, or waits for a later operation",
                           trace_path (writer->trace), rank, place.index, trace_op_name (op.kind));
      if (batch_add (writer->batch, &op, &place) && !write_batch (writer, error))
        return FALSE;
      hct_place_advance (&place, op.request);
      if (place.index % OPS_PER_PROGRESS == 0)
        writer->progress (writer->data, rank / (double) n_ranks);
    }
    if (next != TRACE_NEXT_END || !write_batch (writer, error))
      return FALSE;
    writer->progress (writer->data, (rank + 1) / (double) n_ranks);
  }
  g_array_append_val (index->rank_segments, index->segments->len);
  return flush_programs (writer, error) && flush_measures (writer, error);
}

/* The source of a trace that was itself copied stays that of the original. */
static gboolean
note_source (Writer *writer, GError **error)
{
  HctIndex *index = writer->index;
  const GPtrArray *warnings = trace_warnings (writer->trace), *notes = trace_notes (writer->trace);
  const char *hash, *format = trace_source (writer->trace, &hash);

  if (format == NULL) {
    format = trace_format_name (writer->trace);
    hash = trace_hash (writer->trace, error);
    if (hash == NULL)
      return FALSE;
  }
  index->source_format = g_strdup (format);
  index->source_hash = g_strdup (hash);
  index->is_graph = trace_is_graph (writer->trace);
  for (guint i = 0; i < warnings->len; i++)
    g_ptr_array_add (index->warnings, g_strdup (warnings->pdata[i]));
  for (guint i = 0; i < notes->len; i++)
    g_ptr_array_add (index->notes, g_strdup (notes->pdata[i]));
  return TRUE;
}

static void
no_progress (void *data, double share)
{
  (void) data, (void) share;
}

static gboolean
write_trace (Trace *trace, FILE *out, TraceProgress progress, void *data, GError **error)
{
  Writer writer = { .trace = trace,
                    .progress = progress != NULL ? progress : no_progress,
                    .data = data,
                    .index = hct_index_new () };
  gboolean good;

  writer.batch = batch_new (writer.index->names);
  writer.programs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  writer.shared = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  good = hct_output_start (&writer.output, out, error) && write_ranks (&writer, error) &&
         note_source (&writer, error) && hct_output_finish (&writer.output, writer.index, error);
  g_hash_table_unref (writer.programs);
  g_hash_table_unref (writer.shared);
  batch_free (writer.batch);
  hct_index_free (writer.index);
  hct_output_clear (&writer.output);
  hct_buffer_clear (&writer.program_block);
  hct_buffer_clear (&writer.measure_block);
  return good;
}

const TraceWriter trace_writer_hct = {
  .name = "hct",
  .ending = ".hct",
  .summary = "hopcast's native format: small, checked, opens at any rank at once",
  .write = write_trace,
};
