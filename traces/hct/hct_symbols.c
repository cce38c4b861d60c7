/* hct_symbols.c - numbers for operations that are the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What followed an operation the last time mostly follows again, so that is
 * compared first; only when it does not is the table asked. */
#include "traces/hct/hct_symbols.h"

#define NONE        UINT32_MAX
#define FIRST_SLOTS 1024
#define N_FORMS     4

typedef struct {
  gsize at; /* of its record in records */
  uint32_t n_bytes;
  uint32_t context; /* what a computation follows; else NONE */
  uint64_t sum;
  uint32_t next; /* what followed it last */
  unsigned form;
} Symbol;

struct HctSymbols {
  HctNames *names; /* borrowed */
  GArray *symbols; /* (element-type Symbol) */
  HctBuffer records;
  uint32_t *slots; /* of a hash table of symbols; NONE: free */
  uint32_t n_slots;
  GHashTable *refused;       /* sums of forms that were not taken */
  HctBuffer trials[N_FORMS]; /* records of an operation, by form */
  uint32_t last, last_call;  /* symbols; last_call is no computation */
};

static void
clear_slots (HctSymbols *symbols, uint32_t n_slots)
{
  symbols->n_slots = n_slots;
  symbols->slots = g_renew (uint32_t, symbols->slots, n_slots);
  memset (symbols->slots, 0xff, n_slots * sizeof *symbols->slots);
}

HctSymbols *
hct_symbols_new (HctNames *names)
{
  HctSymbols *symbols = g_new0 (HctSymbols, 1);

  symbols->names = names;
  symbols->symbols = g_array_new (FALSE, FALSE, sizeof (Symbol));
  symbols->refused = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  clear_slots (symbols, FIRST_SLOTS);
  hct_symbols_restart (symbols);
  return symbols;
}

void
hct_symbols_free (HctSymbols *symbols)
{
  if (symbols == NULL)
    return;
  for (guint i = 0; i < N_FORMS; i++)
    hct_buffer_clear (&symbols->trials[i]);
  hct_buffer_clear (&symbols->records);
  g_array_unref (symbols->symbols);
  g_hash_table_unref (symbols->refused);
  g_free (symbols->slots);
  g_free (symbols);
}

static inline Symbol *
symbol_at (const HctSymbols *symbols, uint32_t symbol)
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
is_symbol (const HctSymbols *symbols, const Symbol *symbol, const HctBuffer *record,
           uint32_t context)
{
  return symbol->n_bytes == record->n && symbol->context == context &&
         memcmp (symbols->records.data + symbol->at, record->data, record->n) == 0;
}

/* The slot of a record, or the free one where it belongs. */
static uint32_t *
find_slot (const HctSymbols *symbols, const HctBuffer *record, uint32_t context, uint64_t sum)
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
grow (HctSymbols *symbols)
{
  clear_slots (symbols, 2 * symbols->n_slots);
  for (uint32_t i = 0; i < symbols->symbols->len; i++) {
    uint32_t slot = (uint32_t) symbol_at (symbols, i)->sum & (symbols->n_slots - 1);

    while (symbols->slots[slot] != NONE)
      slot = (slot + 1) & (symbols->n_slots - 1);
    symbols->slots[slot] = i;
  }
}

static uint32_t
add (HctSymbols *symbols, unsigned form, uint32_t context, uint64_t sum)
{
  const HctBuffer *record = &symbols->trials[form];
  Symbol symbol = { .at = symbols->records.n,
                    .n_bytes = (uint32_t) record->n,
                    .context = context,
                    .sum = sum,
                    .next = NONE,
                    .form = form };

  *find_slot (symbols, record, context, sum) = symbols->symbols->len;
  hct_put_bytes (&symbols->records, record->data, record->n);
  g_array_append_val (symbols->symbols, symbol);
  if (symbols->symbols->len > symbols->n_slots / 2)
    grow (symbols);
  return symbols->symbols->len - 1;
}

static void
try_form (HctSymbols *symbols, const TraceOp *op, const HctPlace *place, unsigned form)
{
  symbols->trials[form].n = 0;
  hct_record_put (&symbols->trials[form], symbols->names, op, place, form);
}

/* Of the forms, none of which is known: the most relative one, unless another
 * could have been taken before. */
static unsigned
choose_form (HctSymbols *symbols, unsigned forms, const uint64_t *sums)
{
  unsigned chosen = forms;

  for (unsigned form = forms; form != 0;) {
    form = (form - 1) & forms;
    if (g_hash_table_contains (symbols->refused, &sums[form])) {
      chosen = form;
      break;
    }
  }
  for (unsigned form = forms; chosen == forms && form != 0;) {
    form = (form - 1) & forms;
    g_hash_table_add (symbols->refused, g_memdup2 (&sums[form], sizeof sums[form]));
  }
  return chosen;
}

/* All subsets of forms, from the largest down, are the forms there are. */
static uint32_t
find_or_add (HctSymbols *symbols, const TraceOp *op, const HctPlace *place, unsigned forms,
             uint32_t context)
{
  uint64_t sums[N_FORMS];

  for (unsigned form = forms;; form = (form - 1) & forms) {
    uint32_t found;

    try_form (symbols, op, place, form);
    sums[form] = sum_of (&symbols->trials[form], context);
    found = *find_slot (symbols, &symbols->trials[form], context, sums[form]);
    if (found != NONE)
      return found;
    if (form == 0)
      break;
  }
  forms = choose_form (symbols, forms, sums);
  return add (symbols, forms, context, sums[forms]);
}

uint32_t
hct_symbols_find (HctSymbols *symbols, const TraceOp *op, const HctPlace *place)
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

const guint8 *
hct_symbols_record (const HctSymbols *symbols, uint32_t symbol, uint32_t *n_bytes)
{
  *n_bytes = symbol_at (symbols, symbol)->n_bytes;
  return symbols->records.data + symbol_at (symbols, symbol)->at;
}

uint32_t
hct_symbols_count (const HctSymbols *symbols)
{
  return symbols->symbols->len;
}

gsize
hct_symbols_bytes (const HctSymbols *symbols)
{
  return symbols->records.n;
}

void
hct_symbols_restart (HctSymbols *symbols)
{
  symbols->last = NONE;
  symbols->last_call = NONE;
}

void
hct_symbols_reset (HctSymbols *symbols)
{
  g_array_set_size (symbols->symbols, 0);
  symbols->records.n = 0;
  g_hash_table_remove_all (symbols->refused);
  clear_slots (symbols, FIRST_SLOTS);
  hct_symbols_restart (symbols);
}
