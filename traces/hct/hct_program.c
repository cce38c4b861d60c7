/* hct_program.c - what a rank does, with loops: made ready to be run.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Records that are run often are taken apart once; their arrays stay in the
 * program.  Others stay bytes. */
#include "traces/hct/hct_program.h"

/* Of records that are kept apart: with 300 bytes each the program stays small
 * beside the block it is from. */
#define MAX_READY 512
/* A record that is run less often costs more to keep than to take apart. */
#define MIN_RUNS 4

typedef struct {
  HctProgram *program;
  HctReader in;
  GArray *records, *steps, *loops, *parameters;
} Maker;

static void
add_step (Maker *maker, uint32_t step)
{
  maker->in.bad |= maker->steps->len >= HCT_MAX_STEPS;
  g_array_append_val (maker->steps, step);
}

static void
add_parameters (Maker *maker, unsigned set)
{
  for (unsigned i = 0; i < HCT_N_NUMBERS; i++)
    if ((set & 1u << i) != 0)
      g_array_append_val (maker->parameters, (guint8){ (guint8) i });
}

static void
take_record (Maker *maker, gboolean measured, uint64_t runs)
{
  HctReader *in = &maker->in;
  HctProgramRecord record = { .runs = runs, .first_parameter = maker->parameters->len };

  if (measured) {
    record.parameters = (guint16) hct_take_limited (in, (1u << HCT_N_NUMBERS) - 1);
    record.streamed = (guint16) hct_take_limited (in, (1u << HCT_N_MEASURES) - 1);
    add_parameters (maker, record.parameters);
  }
  record.n_bytes = hct_take_count (in);
  in->bad |= record.n_bytes > (uint64_t) (in->end - in->at);
  if (in->bad)
    return;
  record.bytes = in->at;
  in->at += record.n_bytes;
  add_step (maker, maker->records->len);
  g_array_append_val (maker->records, record);
}

static uint64_t take_tokens (Maker *maker, uint64_t n, unsigned depth, uint64_t runs);

/* Both saturate: nobody counts to the end of that. */
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

/* Returns how many operations it makes. */
static uint64_t
take_loop (Maker *maker, unsigned depth, uint64_t runs)
{
  uint32_t number = maker->loops->len;
  HctRepeat loop = { .count = hct_take_varint (&maker->in) };
  uint32_t n = hct_take_count (&maker->in);
  uint64_t n_ops;

  maker->in.bad |= loop.count == 0 || n == 0 || depth >= HCT_MAX_DEPTH;
  if (maker->in.bad)
    return 0;
  add_step (maker, HCT_STEP_LOOP | number);
  loop.start = maker->steps->len;
  g_array_append_val (maker->loops, loop);
  n_ops = take_tokens (maker, n, depth + 1, times (runs, loop.count));
  add_step (maker, HCT_STEP_NEXT | number);
  return times (loop.count, n_ops);
}

static void
repeat_record (Maker *maker, uint64_t number, uint64_t runs)
{
  HctProgramRecord *record;

  if (number >= maker->records->len) {
    maker->in.bad = true;
    return;
  }
  record = &g_array_index (maker->records, HctProgramRecord, number);
  record->runs = plus (record->runs, runs);
  add_step (maker, (uint32_t) number);
}

/* Up to n tokens, each of which is run so often; returns how many operations
 * they make. */
static uint64_t
take_tokens (Maker *maker, uint64_t n, unsigned depth, uint64_t runs)
{
  HctReader *in = &maker->in;
  uint64_t n_ops = 0;

  for (; n > 0 && !in->bad && in->at < in->end; n--) {
    uint64_t token = hct_take_varint (in), made = 1;

    if (token >= HCT_TOKEN_AGAIN)
      repeat_record (maker, token - HCT_TOKEN_AGAIN, runs);
    else if (token == HCT_TOKEN_LOOP)
      made = take_loop (maker, depth, runs);
    else
      take_record (maker, token == HCT_TOKEN_MEASURED, runs);
    n_ops = plus (n_ops, made);
  }
  in->bad |= depth > 0 && n > 0;
  return n_ops;
}

/* Takes the record apart for good.  scratch becomes the program's when there
 * are arrays in it. */
static bool
make_ready (HctProgram *program, HctProgramRecord *record, const HctNames *names,
            HctScratch *scratch)
{
  HctReader in = { record->bytes, record->bytes + record->n_bytes, false };
  HctTemplate *ready = &program->ready[program->n_ready++];

  hct_scratch_reset (scratch, hct_record_scratch_bytes (record->n_bytes));
  if (!hct_record_take (&in, names, &ready->op, &ready->patches, scratch))
    return false;
  if (scratch->n > 0) {
    g_ptr_array_add (program->memory, scratch->data);
    *scratch = (HctScratch){ 0 };
  }
  record->ready = ready;
  return true;
}

static bool
make_records_ready (HctProgram *program, const HctNames *names)
{
  HctScratch scratch = { 0 };
  uint32_t n = 0;
  bool good = true;

  for (uint32_t i = 0; i < program->n_records; i++)
    n += program->records[i].runs >= MIN_RUNS;
  n = MIN (n, MAX_READY);
  program->ready = g_new (HctTemplate, n);
  for (uint32_t i = 0; good && program->n_ready < n; i++)
    if (program->records[i].runs >= MIN_RUNS)
      good = make_ready (program, &program->records[i], names, &scratch);
  hct_scratch_clear (&scratch);
  return good;
}

static gpointer
steal (GArray *array, uint32_t *n)
{
  *n = array->len;
  return g_array_free (array, FALSE);
}

HctProgram *
hct_program_new (GBytes *block, const HctNames *names, uint32_t at, uint32_t n_bytes,
                 uint64_t n_ops)
{
  g_autoptr (HctProgram) program = g_new0 (HctProgram, 1);
  const guint8 *bytes = (const guint8 *) g_bytes_get_data (block, NULL) + at;
  Maker maker = { .program = program, .in = { bytes, bytes + n_bytes, false } };

  program->block = g_bytes_ref (block);
  program->memory = g_ptr_array_new_with_free_func (g_free);
  maker.records = g_array_new (FALSE, FALSE, sizeof (HctProgramRecord));
  maker.steps = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  maker.loops = g_array_new (FALSE, FALSE, sizeof (HctRepeat));
  maker.parameters = g_array_new (FALSE, FALSE, sizeof (guint8));
  program->n_ops = take_tokens (&maker, UINT64_MAX, 0, 1);
  add_step (&maker, HCT_STEP_END);
  program->records = steal (maker.records, &program->n_records);
  program->steps = steal (maker.steps, &program->n_steps);
  program->loops = steal (maker.loops, &program->n_loops);
  program->parameters = steal (maker.parameters, &program->n_parameters);
  if (maker.in.bad || program->n_ops != n_ops || !make_records_ready (program, names))
    return NULL;
  return g_steal_pointer (&program);
}

void
hct_program_free (HctProgram *program)
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
