/* hct_batch.c - a run of a rank's operations, made into programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_batch.h"

#include "traces/hct/hct_file.h"
#include "traces/hct/hct_program.h"
#include "traces/hct/hct_symbols.h"

#define MAX_OPS          (1u << 18)
#define MAX_LIST_ENTRIES (1u << 22)
#define MAX_RECORD_BYTES (32u << 20)
#define MAX_SYMBOLS      (1u << 18) /* beyond, all are forgotten before the next batch */

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

struct HctBatch {
  HctSymbols *symbols;
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

  HctBuffer program, measures, parameters;
  uint32_t n_records;
  GArray *cuts;
};

HctBatch *
hct_batch_new (HctNames *names)
{
  HctBatch *batch = g_new0 (HctBatch, 1);

  batch->symbols = hct_symbols_new (names);
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

void
hct_batch_free (HctBatch *batch)
{
  if (batch == NULL)
    return;
  hct_symbols_free (batch->symbols);
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
  hct_buffer_clear (&batch->parameters);
  g_free (batch);
}

void
hct_batch_restart (HctBatch *batch)
{
  hct_symbols_restart (batch->symbols);
}

static inline Class *
class_at (const HctBatch *batch, uint32_t number)
{
  return &g_array_index (batch->classes, Class, number);
}

static uint32_t
find_class (HctBatch *batch, uint32_t symbol)
{
  uint32_t *number;

  if (symbol >= batch->class_of->len)
    g_array_set_size (batch->class_of, hct_symbols_count (batch->symbols));
  number = &g_array_index (batch->class_of, uint32_t, symbol);
  if (*number == 0) {
    g_array_append_val (batch->classes, ((Class){ .symbol = symbol }));
    *number = batch->classes->len;
  }
  return *number - 1;
}

static void
note_measures (Class *class, unsigned present, const uint64_t *values)
{
  if (class->n_ops == 0) {
    class->first_present = present;
    memcpy (class->first, values, sizeof class->first);
  }
  class->varying |= present ^ class->first_present;
  class->present |= present;
  for (unsigned set = present; set != 0; set &= set - 1) {
    unsigned i = (unsigned) __builtin_ctz (set);

    if (i < HCT_N_NUMBERS && values[i] != class->first[i])
      class->varying |= 1u << i;
  }
}

static void
add_measures (HctBatch *batch, const TraceOp *op, unsigned present, const uint64_t *values)
{
  for (unsigned i = 0; i < HCT_N_NUMBERS; i++)
    if ((present & 1u << i) != 0)
      g_array_append_val (batch->values, values[i]);
  if ((present & 1u << HCT_COMPLETED) != 0) {
    g_array_append_val (batch->lists, op->n_completed);
    g_array_append_vals (batch->lists, op->completed, op->n_completed);
  }
}

gboolean
hct_batch_add (HctBatch *batch, const TraceOp *op, const HctPlace *place)
{
  uint64_t values[HCT_N_NUMBERS];
  uint32_t number = find_class (batch, hct_symbols_find (batch->symbols, op, place));
  unsigned present = hct_measures (op, place, values);
  Class *class = class_at (batch, number);

  if ((present | class->present) != 0 || class->n_ops == 0)
    note_measures (class, present, values);
  if (present != 0)
    add_measures (batch, op, present, values);
  class->n_ops++;
  batch->ops[batch->n_ops] = number;
  batch->present[batch->n_ops] = (guint16) present;
  batch->n_ops++;
  return batch->n_ops == MAX_OPS || batch->lists->len >= MAX_LIST_ENTRIES ||
         hct_symbols_bytes (batch->symbols) >= MAX_RECORD_BYTES;
}

/* Which measures are constant. */
static void
sort_measures (HctBatch *batch)
{
  guint n_parameters = 0;

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
}

void
hct_batch_fold (HctBatch *batch)
{
  batch->part = 0;
  batch->next_item = batch->next_op = 0;
  batch->next_value = batch->next_list = 0;
  batch->streams = FALSE;
  sort_measures (batch);
  hct_fold (batch->fold, batch->ops, batch->n_ops, batch->classes->len);
}

static void
put_token (HctBatch *batch, uint64_t token)
{
  hct_buffer_reserve (&batch->program, HCT_VARINT_BYTES);
  hct_put_varint (&batch->program, token);
}

static void
put_record (HctBatch *batch, Class *class)
{
  gboolean measured = (class->parameters | class->streamed) != 0;
  uint32_t n;
  const guint8 *record = hct_symbols_record (batch->symbols, class->symbol, &n);

  class->part = batch->part;
  class->record = batch->n_records++;
  put_token (batch, measured ? HCT_TOKEN_MEASURED : HCT_TOKEN_RECORD);
  if (measured) {
    put_token (batch, class->parameters);
    put_token (batch, class->streamed);
  }
  put_token (batch, n);
  hct_put_bytes (&batch->program, record, n);
  for (unsigned i = 0; i < HCT_N_NUMBERS; i++)
    if ((class->parameters & 1u << i) != 0) {
      hct_put_number (&batch->measures, i, class->first[i]);
      g_array_append_val (batch->cuts, batch->measures.n);
    }
}

/* Returns how many operations the item stands for. */
static uint64_t
put_item (HctBatch *batch, uint32_t item)
{
  const HctLoop *loop;
  const uint32_t *body;

  if ((item & HCT_LOOP) == 0) {
    Class *class = class_at (batch, item);

    if (class->part == batch->part)
      put_token (batch, HCT_TOKEN_AGAIN + (uint64_t) class->record);
    else
      put_record (batch, class);
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

static void
put_list (HctBatch *batch)
{
  const uint32_t *list = &g_array_index (batch->lists, uint32_t, batch->next_list);

  hct_put_list (&batch->measures, list + 1, list[0]);
  batch->next_list += 1 + list[0];
}

/* The streamed measures of the next operation; takes all its values. */
static void
put_measures (HctBatch *batch, const Class *class, unsigned present)
{
  gsize before = batch->measures.n;

  for (unsigned i = 0; i < HCT_N_NUMBERS; i++) {
    uint64_t value = 0;

    if ((present & 1u << i) != 0)
      value = g_array_index (batch->values, uint64_t, batch->next_value++);
    if ((class->streamed & 1u << i) != 0)
      hct_put_number (&batch->measures, i, value);
  }
  if ((present & 1u << HCT_COMPLETED) != 0)
    put_list (batch);
  else if ((class->streamed & 1u << HCT_COMPLETED) != 0)
    hct_put_list (&batch->measures, NULL, 0);
  if (batch->measures.n > before)
    g_array_append_val (batch->cuts, batch->measures.n);
}

static uint64_t
put_operations (HctBatch *batch, uint32_t end)
{
  gsize before = batch->measures.n;
  uint64_t record_bytes = 0;

  for (uint32_t i = batch->next_op; i < end; i++) {
    const Class *class = class_at (batch, batch->ops[i]);
    uint32_t n;

    hct_symbols_record (batch->symbols, class->symbol, &n);
    record_bytes += n;
    if (batch->streams && (batch->present[i] | class->streamed) != 0)
      put_measures (batch, class, batch->present[i]);
  }
  batch->next_op = end;
  return record_bytes + (batch->measures.n - before);
}

static void
clear (HctBatch *batch)
{
  if (hct_symbols_count (batch->symbols) > MAX_SYMBOLS ||
      hct_symbols_bytes (batch->symbols) > MAX_RECORD_BYTES / 2)
    hct_symbols_reset (batch->symbols);
  for (uint32_t i = 0; i < batch->classes->len; i++) {
    uint32_t symbol = class_at (batch, i)->symbol;

    g_array_index (batch->class_of, uint32_t, symbol) = 0;
  }
  g_array_set_size (batch->classes, 0);
  g_array_set_size (batch->values, 0);
  g_array_set_size (batch->lists, 0);
  batch->n_ops = 0;
}

gboolean
hct_batch_next (HctBatch *batch, HctPart *part)
{
  uint32_t n_items;
  const uint32_t *items = hct_fold_items (batch->fold, &n_items);
  uint64_t end = batch->next_op;

  if (batch->next_item == n_items || batch->n_ops == 0) {
    clear (batch);
    return FALSE;
  }
  batch->part++;
  batch->n_records = 0;
  batch->program.n = batch->measures.n = 0;
  g_array_set_size (batch->cuts, 0);
  while (batch->next_item < n_items && batch->program.n < HCT_PROGRAM_BYTES)
    end += put_item (batch, items[batch->next_item++]);

  part->n_ops = end - batch->next_op;
  part->record_bytes = put_operations (batch, (uint32_t) end);
  part->program = &batch->program;
  part->measures = &batch->measures;
  part->cuts = batch->cuts;
  return TRUE;
}
