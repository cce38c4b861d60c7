/* hct_record.c - one operation as bytes, in the native format.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/hct/hct_record.h"

#include <math.h>

/* --- Numbers as bytes --- */

void
hct_buffer_reserve (HctBuffer *buffer, gsize n)
{
  if (buffer->capacity - buffer->n >= n)
    return;
  buffer->capacity = MAX (buffer->n + n, 2 * buffer->capacity);
  buffer->data = g_realloc (buffer->data, buffer->capacity);
}

void
hct_buffer_clear (HctBuffer *buffer)
{
  g_free (buffer->data);
  *buffer = (HctBuffer){ 0 };
}

uint64_t
hct_take_long_varint (HctReader *reader)
{
  uint64_t value = 0;

  for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
    guint8 byte = *reader->at++;

    /* The tenth byte has room for one bit only. */
    if (shift == 63 && byte > 1)
      break;
    value |= (uint64_t) (byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  reader->bad = true;
  reader->at = reader->end;
  return 0;
}

/* --- The tables of strings that records refer to ---
 *
 * Kinds of operations are stored by name, so that the numbers of TraceOpKind
 * may change from version to version.  Number 0 of either table is none. */

/* The call of a record. */
typedef struct {
  TraceOpKind kind;
  char *name; /* not empty */
} Call;

#define CACHE_SIZE 256

typedef struct {
  const char *string;
  TraceOpKind kind;
  uint32_t number;
} Cached;

struct HctNames {
  GArray *calls;    /* (element-type Call) */
  GPtrArray *sites; /* (element-type utf8), NULL first */
  /* Of the writer: */
  GHashTable *numbers;      /* "kind name" or site -> its number; owns the strings */
  Cached cache[CACHE_SIZE]; /* by the address of the string */
};

static void
clear_call (gpointer call)
{
  g_free (((Call *) call)->name);
}

HctNames *
hct_names_new (void)
{
  HctNames *names = g_new0 (HctNames, 1);

  names->calls = g_array_new (FALSE, FALSE, sizeof (Call));
  g_array_set_clear_func (names->calls, clear_call);
  names->sites = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (names->sites, NULL);
  names->numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  return names;
}

void
hct_names_free (HctNames *names)
{
  if (names == NULL)
    return;
  g_hash_table_unref (names->numbers);
  g_ptr_array_unref (names->sites);
  g_array_unref (names->calls);
  g_free (names);
}

static Cached *
cache_slot (HctNames *names, const char *string, TraceOpKind kind)
{
  return &names->cache[((GPOINTER_TO_SIZE (string) >> 2) * 31 + (gsize) kind) % CACHE_SIZE];
}

/* Takes the key; TRUE when it had to be entered with the number `next`. */
static gboolean
enter (HctNames *names, char *key, uint32_t next, uint32_t *number)
{
  gpointer found;

  if (g_hash_table_lookup_extended (names->numbers, key, NULL, &found)) {
    g_free (key);
    *number = GPOINTER_TO_UINT (found);
    return FALSE;
  }
  *number = next;
  g_hash_table_insert (names->numbers, key, GUINT_TO_POINTER (next));
  return TRUE;
}

/* The number of a (kind, name), which is entered when it is new.  The string
 * must stay where it is.  An operation without a name gets that of its kind. */
static uint32_t
call_number (HctNames *names, TraceOpKind kind, const char *name)
{
  Cached *cached;
  uint32_t number;
  char *key;

  if (name == NULL || *name == '\0')
    name = trace_op_name (kind);
  cached = cache_slot (names, name, kind);
  if (cached->number != 0 && cached->string == name && cached->kind == kind)
    return cached->number - 1;
  key = g_strdup_printf ("c%d %s", kind, name);
  if (enter (names, key, names->calls->len, &number)) {
    Call call = { kind, g_strdup (name) };

    g_array_append_val (names->calls, call);
  }
  *cached = (Cached){ name, kind, number + 1 };
  return number;
}

/* The same for a site; an empty one is none. */
static uint32_t
site_number (HctNames *names, const char *site)
{
  Cached *cached = cache_slot (names, site, TRACE_N_OPS);
  uint32_t number;

  if (site == NULL || *site == '\0')
    return 0;
  if (cached->number != 0 && cached->string == site && cached->kind == TRACE_N_OPS)
    return cached->number;
  if (enter (names, g_strconcat ("s", site, NULL), names->sites->len, &number))
    g_ptr_array_add (names->sites, g_strdup (site));
  *cached = (Cached){ site, TRACE_N_OPS, number };
  return number;
}

void
hct_put_string (HctBuffer *out, const char *string)
{
  gsize n = string != NULL ? strlen (string) : 0;

  hct_buffer_reserve (out, HCT_VARINT_BYTES);
  hct_put_varint (out, string != NULL ? n + 1 : 0);
  hct_put_bytes (out, string, n);
}

char *
hct_take_string (HctReader *in)
{
  uint64_t n = hct_take_limited (in, (uint64_t) (in->end - in->at));
  char *string;

  if (in->bad || n == 0)
    return NULL;
  if (n - 1 > (uint64_t) (in->end - in->at) || memchr (in->at, 0, n - 1) != NULL) {
    in->bad = true;
    return NULL;
  }
  string = g_strndup ((const char *) in->at, n - 1);
  in->at += n - 1;
  return string;
}

void
hct_names_put (const HctNames *names, HctBuffer *out)
{
  hct_buffer_reserve (out, 2 * HCT_VARINT_BYTES);
  hct_put_varint (out, names->calls->len);
  for (guint i = 0; i < names->calls->len; i++) {
    const Call *call = &g_array_index (names->calls, Call, i);

    hct_put_string (out, trace_op_name (call->kind));
    hct_put_string (out, call->name);
  }
  hct_buffer_reserve (out, HCT_VARINT_BYTES);
  hct_put_varint (out, names->sites->len - 1);
  for (guint i = 1; i < names->sites->len; i++)
    hct_put_string (out, names->sites->pdata[i]);
}

bool
hct_names_take (HctNames *names, HctReader *in)
{
  for (uint32_t n = hct_take_count (in); n > 0 && !in->bad; n--) {
    g_autofree char *kind = hct_take_string (in);
    Call call = { .name = hct_take_string (in) };
    int k = 0;

    while (kind != NULL && k < TRACE_N_OPS && !g_str_equal (trace_op_name ((TraceOpKind) k), kind))
      k++;
    call.kind = (TraceOpKind) k;
    in->bad |= kind == NULL || k == TRACE_N_OPS || call.name == NULL || *call.name == '\0';
    g_array_append_val (names->calls, call);
  }
  for (uint32_t n = hct_take_count (in); n > 0 && !in->bad; n--) {
    char *site = hct_take_string (in);

    in->bad |= site == NULL || *site == '\0';
    g_ptr_array_add (names->sites, site);
  }
  return !in->bad;
}

/* --- Checks --- */

static inline bool
size_is_possible (uint64_t bytes)
{
  return bytes <= TRACE_MAX_BYTES || bytes == TRACE_UNKNOWN_BYTES;
}

static bool
counts_are_possible (const uint64_t *counts, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (counts[i] > TRACE_MAX_BYTES)
      return false;
  return true;
}

static bool
list_is_possible (const int32_t *values, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    if (values[i] == INT32_MAX)
      return false;
  return true;
}

bool
hct_check_op (const TraceOp *op, unsigned patches)
{
  uint32_t n = trace_op_n_values (op), n2 = trace_op_n_values2 (op);

  if (!size_is_possible (op->bytes) || !size_is_possible (op->recv_bytes) ||
      !counts_are_possible (op->counts, op->n_counts) ||
      !counts_are_possible (op->recv_counts, op->n_recv_counts))
    return false;
  if (((patches & HCT_PATCH_PEER) == 0 && op->peer < TRACE_PROC_NULL) ||
      ((patches & HCT_PATCH_RECV_PEER) == 0 && op->recv_peer < TRACE_PROC_NULL))
    return false;

  if ((op->values == NULL && n != 0) ||
      (op->values2 == NULL && n2 != 0 &&
       (op->kind == TRACE_OP_CART_CREATE || trace_op_is_neighborhood (op->kind))))
    return false;
  if ((op->kind == TRACE_OP_GROUP_RANGE_INCL || op->kind == TRACE_OP_GROUP_RANGE_EXCL) &&
      n % 3 != 0)
    return false;
  if (!list_is_possible (op->values, n) ||
      (op->values2 != NULL && !list_is_possible (op->values2, n2)))
    return false;

  if ((patches & HCT_PATCH_REQUESTS) == 0)
    for (uint32_t i = 0; i < op->n_requests; i++)
      if (op->requests[i] == UINT32_MAX)
        return false;
  return true;
}

/* An iprobe saw one message or none; it has no requests. */
bool
hct_check_measures (const TraceOp *op)
{
  uint32_t n = op->kind == TRACE_OP_IPROBE ? 1 : op->n_requests;

  for (uint32_t i = 0; i < op->n_completed; i++)
    if (op->completed[i] >= n)
      return false;
  return op->gap_ps >= 0 && op->call_ps >= 0 && isfinite (op->flops) && op->flops >= 0 &&
         op->matched_source >= TRACE_PROC_NULL;
}

/* --- Records, written ---
 *
 * A record is the number of its call, a mask, and the values that the mask
 * names; all others are 0.  The bits that simple messages need come first, so
 * that their mask is two bytes. */

enum {
  HAS_COMM = 1 << 0,
  HAS_PEER = 1 << 1,
  HAS_TAG = 1 << 2,
  HAS_BYTES = 1 << 3,
  HAS_REQUEST = 1 << 4,
  RELATIVE_PEERS = 1 << 5,    /* no value follows */
  RELATIVE_REQUESTS = 1 << 6, /* no value follows */
  HAS_REQUESTS = 1 << 7,
  MATCHED_ANY = 1 << 8,  /* matched_source is TRACE_ANY_SOURCE; no value follows */
  MATCHED_PEER = 1 << 9, /* matched_source is peer; no value follows */
  ROOT_NONE = 1 << 10,   /* root is TRACE_NO_ROOT; no value follows */
  HAS_SITE = 1 << 11,
  HAS_MODE = 1 << 12,
  HAS_RECV_BYTES = 1 << 13,
  HAS_RECV_PEER = 1 << 14,
  HAS_RECV_TAG = 1 << 15,
  HAS_ROOT = 1 << 16,
  NONBLOCKING = 1 << 17, /* no value follows */
  HAS_COUNTS = 1 << 18,
  HAS_RECV_COUNTS = 1 << 19,
  HAS_VALUES = 1 << 20,
  HAS_VALUES2 = 1 << 21,
  HAS_WINDOW = 1 << 22,
  HAS_NEW_COMM = 1 << 23,
  HAS_GROUP = 1 << 24,
  HAS_GROUP2 = 1 << 25,
  HAS_NEW_GROUP = 1 << 26,
  HAS_AFTER = 1 << 27,
  HAS_AFTER_START = 1 << 28,
  HAS_CPU = 1 << 29,
  ALL_BITS = (1 << 30) - 1,
};

#define ARRAYS                                                                          \
  (HAS_REQUESTS | HAS_COUNTS | HAS_RECV_COUNTS | HAS_VALUES | HAS_VALUES2 | HAS_AFTER | \
   HAS_AFTER_START)
#define RARE                                                                          \
  (HAS_MODE | HAS_RECV_BYTES | HAS_RECV_PEER | HAS_RECV_TAG | HAS_ROOT | HAS_WINDOW | \
   HAS_NEW_COMM | HAS_GROUP | HAS_GROUP2 | HAS_NEW_GROUP | HAS_CPU)

/* Which values of a kind are ranks that often lie at the same distance. */
enum { USES_PEER = 1, USES_RECV_PEER = 2, USES_VALUES = 4 };
static const guint8 uses[TRACE_N_OPS] = {
  [TRACE_OP_SEND] = USES_PEER,
  [TRACE_OP_ISEND] = USES_PEER,
  [TRACE_OP_SEND_INIT] = USES_PEER,
  [TRACE_OP_RECV] = USES_PEER,
  [TRACE_OP_IRECV] = USES_PEER,
  [TRACE_OP_RECV_INIT] = USES_PEER,
  [TRACE_OP_SENDRECV] = USES_PEER | USES_RECV_PEER,
  [TRACE_OP_PROBE] = USES_PEER,
  [TRACE_OP_IPROBE] = USES_PEER,
  [TRACE_OP_NEIGHBOR_ALLGATHER] = USES_VALUES,
  [TRACE_OP_NEIGHBOR_ALLTOALL] = USES_VALUES,
  [TRACE_OP_PUT] = USES_PEER,
  [TRACE_OP_GET] = USES_PEER,
  [TRACE_OP_FETCH] = USES_PEER,
  [TRACE_OP_WIN_FLUSH] = USES_PEER,
  [TRACE_OP_WIN_POST] = USES_VALUES,
  [TRACE_OP_WIN_START] = USES_VALUES,
  [TRACE_OP_WIN_COMPLETE] = USES_VALUES,
  [TRACE_OP_WIN_WAIT] = USES_VALUES,
};

/* The most that a record without arrays takes. */
#define PLAIN_BYTES (32 * HCT_VARINT_BYTES)

static inline bool
is_rank (int32_t peer, const HctPlace *place)
{
  return peer >= 0 && (uint32_t) peer < place->n_ranks;
}

unsigned
hct_record_forms (const TraceOp *op, const HctPlace *place)
{
  unsigned used = uses[op->kind], forms = 0;

  if (((used & USES_PEER) != 0 && is_rank (op->peer, place)) ||
      ((used & USES_RECV_PEER) != 0 && is_rank (op->recv_peer, place)) ||
      ((used & USES_VALUES) != 0 && (trace_op_n_values (op) > 0 || trace_op_n_values2 (op) > 0)))
    forms |= HCT_RELATIVE_PEERS;
  if (op->request != 0 || op->n_requests > 0)
    forms |= HCT_RELATIVE_REQUESTS;
  return forms;
}

/* Around the ring of ranks, the short way. */
static inline int64_t
distance (int32_t peer, const HctPlace *place)
{
  int64_t n = place->n_ranks, away = (int64_t) peer - (int64_t) place->rank;

  if (away > n / 2)
    return away - n;
  return away < -((n - 1) / 2) ? away + n : away;
}

/* Relative peers are even, others odd. */
static inline void
put_peer (HctBuffer *out, int32_t peer, const HctPlace *place, bool relative)
{
  if (!relative)
    hct_put_signed (out, peer);
  else if (is_rank (peer, place))
    hct_put_varint (out, hct_fold_sign (distance (peer, place)) << 1);
  else
    hct_put_varint (out, (hct_fold_sign (peer) << 1) | 1);
}

static void
put_u32s (HctBuffer *out, const uint32_t *values, uint32_t n, uint32_t before)
{
  hct_buffer_reserve (out, ((gsize) n + 1) * HCT_VARINT_BYTES);
  hct_put_varint (out, n);
  for (uint32_t i = 0; i < n; before = values[i++])
    hct_put_signed (out, (int32_t) (values[i] - before));
}

static void
put_u64s (HctBuffer *out, const uint64_t *values, uint32_t n)
{
  uint64_t before = 0;

  hct_buffer_reserve (out, ((gsize) n + 1) * HCT_VARINT_BYTES);
  hct_put_varint (out, n);
  for (uint32_t i = 0; i < n; before = values[i++])
    hct_put_signed (out, (int64_t) (values[i] - before));
}

static void
put_values (HctBuffer *out, const int32_t *values, uint32_t n, const HctPlace *place,
            bool may_be_relative)
{
  bool relative = may_be_relative;
  int64_t before = 0;

  for (uint32_t i = 0; i < n; i++)
    relative = relative && is_rank (values[i], place);
  hct_buffer_reserve (out, ((gsize) n + 1) * HCT_VARINT_BYTES);
  hct_put_varint (out, (uint64_t) n << 1 | relative);
  for (uint32_t i = 0; i < n; i++) {
    int64_t value = relative ? distance (values[i], place) : values[i];

    hct_put_signed (out, value - before);
    before = value;
  }
}

/* How far back each lies. */
static void
put_after (HctBuffer *out, const uint32_t *after, uint32_t n, const HctPlace *place)
{
  hct_buffer_reserve (out, ((gsize) n + 1) * HCT_VARINT_BYTES);
  hct_put_varint (out, n);
  for (uint32_t i = 0; i < n; i++)
    hct_put_varint (out, place->index - after[i]);
}

/* The bits of values that are not 0. */
static inline uint32_t
mask_of (const TraceOp *op)
{
#define BIT(condition, bit) ((uint32_t) (condition) * (uint32_t) (bit))
  return BIT (op->comm != 0, HAS_COMM) | BIT (op->peer != 0, HAS_PEER) |
         BIT (op->tag != 0, HAS_TAG) | BIT (op->bytes != 0, HAS_BYTES) |
         BIT (op->request != 0, HAS_REQUEST) | BIT (op->n_requests != 0, HAS_REQUESTS) |
         BIT (op->root == TRACE_NO_ROOT, ROOT_NONE) |
         BIT (op->site != NULL && *op->site != '\0', HAS_SITE) | BIT (op->mode != 0, HAS_MODE) |
         BIT (op->recv_bytes != 0, HAS_RECV_BYTES) | BIT (op->recv_peer != 0, HAS_RECV_PEER) |
         BIT (op->recv_tag != 0, HAS_RECV_TAG) |
         BIT (op->root != 0 && op->root != TRACE_NO_ROOT, HAS_ROOT) |
         BIT (op->nonblocking, NONBLOCKING) | BIT (op->n_counts != 0, HAS_COUNTS) |
         BIT (op->n_recv_counts != 0, HAS_RECV_COUNTS) |
         BIT (trace_op_n_values (op) != 0 && op->values != NULL, HAS_VALUES) |
         BIT (trace_op_n_values2 (op) != 0 && op->values2 != NULL, HAS_VALUES2) |
         BIT (op->window != 0, HAS_WINDOW) | BIT (op->new_comm != 0, HAS_NEW_COMM) |
         BIT (op->group != 0, HAS_GROUP) | BIT (op->group2 != 0, HAS_GROUP2) |
         BIT (op->new_group != 0, HAS_NEW_GROUP) | BIT (op->n_after != 0, HAS_AFTER) |
         BIT (op->n_after_start != 0, HAS_AFTER_START) | BIT (op->cpu != 0, HAS_CPU);
#undef BIT
}

void
hct_record_put (HctBuffer *out, HctNames *names, const TraceOp *op, const HctPlace *place,
                unsigned form)
{
  uint32_t mask = mask_of (op);
  unsigned used = uses[op->kind];
  bool relative_requests = (form & HCT_RELATIVE_REQUESTS) != 0;

  /* matched_source, where it follows from other fields. */
  if (op->matched_source == TRACE_ANY_SOURCE)
    mask |= MATCHED_ANY;
  else if (op->matched_source != 0 && op->matched_source == op->peer)
    mask |= MATCHED_PEER;
  if ((form & HCT_RELATIVE_PEERS) != 0)
    mask |= RELATIVE_PEERS | ((used & USES_PEER) != 0 ? HAS_PEER : 0u) |
            ((used & USES_RECV_PEER) != 0 ? HAS_RECV_PEER : 0u);
  if (relative_requests)
    mask |= RELATIVE_REQUESTS;

  hct_buffer_reserve (out, PLAIN_BYTES);
  hct_put_varint (out, call_number (names, op->kind, op->name));
  hct_put_varint (out, mask);
  if ((mask & HAS_COMM) != 0)
    hct_put_varint (out, op->comm);
  if ((mask & HAS_PEER) != 0)
    put_peer (out, op->peer, place, (mask & RELATIVE_PEERS) != 0 && (used & USES_PEER) != 0);
  if ((mask & HAS_TAG) != 0)
    hct_put_signed (out, op->tag);
  if ((mask & HAS_BYTES) != 0)
    hct_put_varint (out, op->bytes);
  if ((mask & HAS_REQUEST) != 0)
    hct_put_signed (out, (int32_t) (op->request - (relative_requests ? place->last_request : 0)));
  if ((mask & HAS_SITE) != 0)
    hct_put_varint (out, site_number (names, op->site));
  if ((mask & RARE) != 0) {
    if ((mask & HAS_MODE) != 0)
      hct_put_varint (out, op->mode);
    if ((mask & HAS_RECV_BYTES) != 0)
      hct_put_varint (out, op->recv_bytes);
    if ((mask & HAS_RECV_PEER) != 0)
      put_peer (out, op->recv_peer, place,
                (mask & RELATIVE_PEERS) != 0 && (uses[op->kind] & USES_RECV_PEER) != 0);
    if ((mask & HAS_RECV_TAG) != 0)
      hct_put_signed (out, op->recv_tag);
    if ((mask & HAS_ROOT) != 0)
      hct_put_signed (out, op->root);
    if ((mask & HAS_WINDOW) != 0)
      hct_put_varint (out, op->window);
    if ((mask & HAS_NEW_COMM) != 0)
      hct_put_varint (out, op->new_comm);
    if ((mask & HAS_GROUP) != 0)
      hct_put_varint (out, op->group);
    if ((mask & HAS_GROUP2) != 0)
      hct_put_varint (out, op->group2);
    if ((mask & HAS_NEW_GROUP) != 0)
      hct_put_varint (out, op->new_group);
    if ((mask & HAS_CPU) != 0)
      hct_put_varint (out, op->cpu);
  }
  if ((mask & ARRAYS) != 0) {
    bool relative = (mask & RELATIVE_PEERS) != 0 && (uses[op->kind] & USES_VALUES) != 0;

    if ((mask & HAS_REQUESTS) != 0)
      put_u32s (out, op->requests, op->n_requests,
                (mask & RELATIVE_REQUESTS) != 0 ? place->last_request : 0);
    if ((mask & HAS_COUNTS) != 0)
      put_u64s (out, op->counts, op->n_counts);
    if ((mask & HAS_RECV_COUNTS) != 0)
      put_u64s (out, op->recv_counts, op->n_recv_counts);
    if ((mask & HAS_VALUES) != 0)
      put_values (out, op->values, trace_op_n_values (op), place, relative);
    if ((mask & HAS_VALUES2) != 0)
      put_values (out, op->values2, trace_op_n_values2 (op), place, relative);
    if ((mask & HAS_AFTER) != 0)
      put_after (out, op->after, op->n_after, place);
    if ((mask & HAS_AFTER_START) != 0)
      put_after (out, op->after_start, op->n_after_start, place);
  }
}

/* --- Records, read --- */

void
hct_scratch_clear (HctScratch *scratch)
{
  g_free (scratch->data);
  *scratch = (HctScratch){ 0 };
}

void
hct_scratch_reset (HctScratch *scratch, gsize n)
{
  gsize needed = n + 8 * HCT_SCRATCH_ARRAYS;

  scratch->n = 0;
  if (scratch->capacity >= needed)
    return;
  g_free (scratch->data);
  scratch->data = g_malloc (needed);
  scratch->capacity = needed;
}

/* NULL for 0 bytes. */
static void *
scratch_take (HctScratch *scratch, gsize n)
{
  void *taken = scratch->data + scratch->n;

  if (n == 0)
    return NULL;
  g_assert (scratch->capacity - scratch->n >= n);
  scratch->n += (n + 7) & ~(gsize) 7;
  return taken;
}

static int32_t
take_i32 (HctReader *in)
{
  int64_t value = hct_take_signed (in);

  in->bad |= value < INT32_MIN || value > INT32_MAX;
  return (int32_t) value;
}

static inline uint32_t
take_u32 (HctReader *in)
{
  return (uint32_t) hct_take_limited (in, UINT32_MAX);
}

static int32_t
take_peer (HctReader *in, bool may_be_relative, unsigned patch, unsigned *patches)
{
  uint64_t folded = hct_take_varint (in);
  int64_t value;

  if (may_be_relative) {
    if ((folded & 1) == 0)
      *patches |= patch;
    folded >>= 1;
  }
  value = hct_unfold_sign (folded);
  in->bad |= value < INT32_MIN || value > INT32_MAX;
  return (int32_t) value;
}

static uint32_t *
take_u32s (HctReader *in, uint32_t *n, HctScratch *scratch)
{
  uint32_t *values, before = 0;

  *n = hct_take_count (in);
  values = scratch_take (scratch, *n * sizeof *values);
  for (uint32_t i = 0; i < *n; i++)
    before = values[i] = before + (uint32_t) take_i32 (in);
  return values;
}

static uint64_t *
take_u64s (HctReader *in, uint32_t *n, HctScratch *scratch)
{
  uint64_t *values, before = 0;

  *n = hct_take_count (in);
  values = scratch_take (scratch, *n * sizeof *values);
  for (uint32_t i = 0; i < *n; i++)
    before = values[i] = before + (uint64_t) hct_take_signed (in);
  return values;
}

static int32_t *
take_values (HctReader *in, uint32_t *n, bool *relative, HctScratch *scratch)
{
  uint64_t head = hct_take_limited (in, 2 * (uint64_t) (in->end - in->at) + 1);
  int64_t before = 0;
  int32_t *values;

  *n = (uint32_t) MIN (head >> 1, (uint64_t) (in->end - in->at));
  in->bad |= *n != head >> 1;
  *relative = (head & 1) != 0;
  values = scratch_take (scratch, *n * sizeof *values);
  for (uint32_t i = 0; i < *n; i++) {
    before = (int64_t) ((uint64_t) before + (uint64_t) hct_take_signed (in));
    in->bad |= before < INT32_MIN || before > INT32_MAX;
    values[i] = (int32_t) before;
  }
  return values;
}

static uint32_t *
take_after (HctReader *in, uint32_t *n, HctScratch *scratch)
{
  uint32_t *values;

  *n = hct_take_count (in);
  values = scratch_take (scratch, *n * sizeof *values);
  for (uint32_t i = 0; i < *n; i++)
    values[i] = take_u32 (in);
  return values;
}

static void
take_arrays (HctReader *in, TraceOp *op, uint32_t mask, unsigned *patches, HctScratch *scratch)
{
  bool relative = false, relative2 = false;
  uint32_t n = 0, n2 = 0;

  if ((mask & HAS_REQUESTS) != 0) {
    op->requests = take_u32s (in, &op->n_requests, scratch);
    if ((mask & RELATIVE_REQUESTS) != 0)
      *patches |= HCT_PATCH_REQUESTS;
  }
  if ((mask & HAS_COUNTS) != 0)
    op->counts = take_u64s (in, &op->n_counts, scratch);
  if ((mask & HAS_RECV_COUNTS) != 0)
    op->recv_counts = take_u64s (in, &op->n_recv_counts, scratch);
  if ((mask & (HAS_VALUES | HAS_VALUES2)) != 0) {
    /* Neighbours are as many as their counts; else both lists are of one length. */
    if ((mask & HAS_VALUES) != 0)
      op->values = take_values (in, &n, &relative, scratch);
    if ((mask & HAS_VALUES2) != 0)
      op->values2 = take_values (in, &n2, &relative2, scratch);
    if (trace_op_is_neighborhood (op->kind))
      op->n_values = op->n_counts;
    else
      op->n_values = (mask & HAS_VALUES) != 0 ? n : n2;
    in->bad |= (mask & HAS_VALUES) != 0 && n != trace_op_n_values (op);
    in->bad |= (mask & HAS_VALUES2) != 0 && n2 != trace_op_n_values2 (op);
    if (relative)
      *patches |= HCT_PATCH_VALUES;
    if (relative2)
      *patches |= HCT_PATCH_VALUES2;
  }
  if ((mask & HAS_AFTER) != 0)
    op->after = take_after (in, &op->n_after, scratch);
  if ((mask & HAS_AFTER_START) != 0)
    op->after_start = take_after (in, &op->n_after_start, scratch);
  if ((mask & (HAS_AFTER | HAS_AFTER_START)) != 0)
    *patches |= HCT_PATCH_AFTER;
}

bool
hct_record_take (HctReader *in, const HctNames *names, TraceOp *op, unsigned *patches,
                 HctScratch *scratch)
{
  uint64_t number = hct_take_varint (in);
  uint32_t mask = (uint32_t) hct_take_limited (in, ALL_BITS);
  const Call *call;

  if (number >= names->calls->len || in->bad)
    return false;
  call = &g_array_index (names->calls, Call, number);
  memset (op, 0, sizeof *op);
  *patches = (mask & MATCHED_PEER) != 0 ? HCT_PATCH_MATCHED : 0;
  op->kind = call->kind;
  op->name = call->name;
  op->nonblocking = (mask & NONBLOCKING) != 0;
  op->matched_source = (mask & MATCHED_ANY) != 0 ? TRACE_ANY_SOURCE : 0;
  op->root = (mask & ROOT_NONE) != 0 ? TRACE_NO_ROOT : 0;
  if ((mask & HAS_COMM) != 0)
    op->comm = take_u32 (in);
  if ((mask & HAS_PEER) != 0)
    op->peer = take_peer (in, (mask & RELATIVE_PEERS) != 0 && (uses[op->kind] & USES_PEER) != 0,
                          HCT_PATCH_PEER, patches);
  if ((mask & HAS_TAG) != 0)
    op->tag = take_i32 (in);
  if ((mask & HAS_BYTES) != 0)
    op->bytes = hct_take_varint (in);
  if ((mask & HAS_REQUEST) != 0) {
    op->request = (uint32_t) take_i32 (in);
    if ((mask & RELATIVE_REQUESTS) != 0)
      *patches |= HCT_PATCH_REQUEST;
  }
  if ((mask & HAS_SITE) != 0) {
    uint64_t site = hct_take_varint (in);

    op->site = site < names->sites->len ? names->sites->pdata[site] : NULL;
    in->bad |= op->site == NULL;
  }
  if ((mask & RARE) != 0) {
    if ((mask & HAS_MODE) != 0)
      op->mode = (TraceSendMode) hct_take_limited (in, TRACE_SEND_READY);
    if ((mask & HAS_RECV_BYTES) != 0)
      op->recv_bytes = hct_take_varint (in);
    if ((mask & HAS_RECV_PEER) != 0)
      op->recv_peer =
          take_peer (in, (mask & RELATIVE_PEERS) != 0 && (uses[op->kind] & USES_RECV_PEER) != 0,
                     HCT_PATCH_RECV_PEER, patches);
    if ((mask & HAS_RECV_TAG) != 0)
      op->recv_tag = take_i32 (in);
    if ((mask & HAS_ROOT) != 0)
      op->root = take_i32 (in);
    if ((mask & HAS_WINDOW) != 0)
      op->window = take_u32 (in);
    if ((mask & HAS_NEW_COMM) != 0)
      op->new_comm = take_u32 (in);
    if ((mask & HAS_GROUP) != 0)
      op->group = take_u32 (in);
    if ((mask & HAS_GROUP2) != 0)
      op->group2 = take_u32 (in);
    if ((mask & HAS_NEW_GROUP) != 0)
      op->new_group = take_u32 (in);
    if ((mask & HAS_CPU) != 0)
      op->cpu = take_u32 (in);
  }
  if ((mask & ARRAYS) != 0)
    take_arrays (in, op, mask, patches, scratch);
  return !in->bad && in->at == in->end && hct_check_op (op, *patches);
}

static bool
patch_values (const int32_t **values, uint32_t n, const HctPlace *place, HctScratch *scratch)
{
  int32_t *patched = scratch_take (scratch, n * sizeof *patched);
  bool good = true;

  for (uint32_t i = 0; i < n; i++) {
    patched[i] = (*values)[i];
    good &= hct_patch_peer (&patched[i], place);
  }
  *values = patched;
  return good;
}

static bool
patch_after (const uint32_t **after, uint32_t n, const HctPlace *place, HctScratch *scratch)
{
  uint32_t *patched = scratch_take (scratch, n * sizeof *patched);
  bool good = true;

  for (uint32_t i = 0; i < n; i++) {
    uint64_t at = place->index - (*after)[i];

    good &= at < place->index && at <= UINT32_MAX;
    patched[i] = (uint32_t) at;
  }
  *after = patched;
  return good;
}

bool
hct_record_patch_arrays (TraceOp *op, unsigned patches, const HctPlace *place, HctScratch *scratch)
{
  bool good = true;

  if ((patches & HCT_PATCH_REQUESTS) != 0) {
    uint32_t *patched = scratch_take (scratch, op->n_requests * sizeof *patched);

    for (uint32_t i = 0; i < op->n_requests; i++) {
      patched[i] = place->last_request + op->requests[i];
      good &= patched[i] != UINT32_MAX;
    }
    op->requests = patched;
  }
  if ((patches & HCT_PATCH_VALUES) != 0)
    good &= patch_values (&op->values, trace_op_n_values (op), place, scratch);
  if ((patches & HCT_PATCH_VALUES2) != 0)
    good &= patch_values (&op->values2, trace_op_n_values2 (op), place, scratch);
  if ((patches & HCT_PATCH_AFTER) != 0) {
    good &= patch_after (&op->after, op->n_after, place, scratch);
    good &= patch_after (&op->after_start, op->n_after_start, place, scratch);
  }
  return good;
}

/* --- Measures ---
 *
 * Recorded times are mostly whole nanoseconds, so a number that can be
 * divided by 1000 is; the two lowest bits of the varint are its form. */

#define SCALE 1000

enum { AS_IS, SCALED, EIGHT_BYTES }; /* EIGHT_BYTES: eight bytes follow, lowest first */

static uint64_t
bits_of (double value)
{
  uint64_t bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static uint64_t
from_rank (int32_t value, const HctPlace *place)
{
  return hct_fold_sign ((int64_t) value - (int64_t) place->rank);
}

unsigned
hct_measures (const TraceOp *op, const HctPlace *place, uint64_t values[HCT_N_NUMBERS])
{
  unsigned bits = 0;

  values[HCT_GAP] = hct_fold_sign (op->gap_ps);
  values[HCT_CALL] = hct_fold_sign (op->call_ps);
  values[HCT_FLOPS] = bits_of (op->flops);
  values[HCT_INSTRUCTIONS] = op->instructions;
  values[HCT_CYCLES] = op->cycles;
  /* A wildcard always has its match here, so that the record is the same
   * whichever rank it was. */
  values[HCT_MATCHED] = 0;
  if (op->matched_source != TRACE_ANY_SOURCE &&
      (op->peer == TRACE_ANY_SOURCE || (op->matched_source != 0 && op->matched_source != op->peer)))
    values[HCT_MATCHED] = 1 + from_rank (op->matched_source, place);
  values[HCT_COLOR] = hct_fold_sign (op->color);
  /* From the rank when that is nearer than 0: programs sort by rank, or not. */
  values[HCT_KEY] = 0;
  if (op->key != 0) {
    uint64_t here = hct_fold_sign (op->key), away = from_rank (op->key, place);

    values[HCT_KEY] = 2 + (away < here ? away << 1 | 1 : here << 1);
  }
  for (unsigned i = 0; i < HCT_N_NUMBERS; i++)
    bits |= (unsigned) (values[i] != 0) << i;
  return bits | (unsigned) (op->n_completed != 0) << HCT_COMPLETED;
}

/* Work is mostly whole and below 2^53; a minus zero is not. */
static bool
whole (uint64_t bits, uint64_t *number)
{
  double value;

  memcpy (&value, &bits, sizeof value);
  if (!(value >= 0 && value < 9007199254740992.0))
    return false;
  *number = (uint64_t) value;
  return bits_of ((double) *number) == bits;
}

void
hct_put_number (HctBuffer *out, unsigned measure, uint64_t value)
{
  uint64_t number = value;

  hct_buffer_reserve (out, HCT_VARINT_BYTES + sizeof value);
  if (measure == HCT_FLOPS && !whole (value, &number))
    number = UINT64_MAX; /* which SCALE does not divide */
  if (number % SCALE == 0)
    hct_put_varint (out, (number / SCALE) << 2 | SCALED);
  else if (number < UINT64_C (1) << 62)
    hct_put_varint (out, number << 2 | AS_IS);
  else {
    hct_put_varint (out, EIGHT_BYTES);
    hct_store_u64 (out->data + out->n, value);
    out->n += sizeof value;
  }
}

void
hct_put_list (HctBuffer *out, const uint32_t *list, uint32_t n)
{
  put_u32s (out, list, n, 0);
}

uint64_t
hct_take_number (HctReader *in, unsigned measure)
{
  uint64_t head = hct_take_varint (in), value = head >> 2;

  if ((head & 3) == EIGHT_BYTES && value == 0) {
    if (in->end - in->at < (ptrdiff_t) sizeof value) {
      in->bad = true;
      return 0;
    }
    value = hct_load_u64 (in->at);
    in->at += sizeof value;
    return value;
  }
  in->bad |= (head & 3) >= EIGHT_BYTES;
  if ((head & 3) == SCALED) {
    in->bad |= value > UINT64_MAX / SCALE;
    value *= SCALE;
  }
  return measure == HCT_FLOPS ? bits_of ((double) value) : value;
}

void
hct_take_list (HctReader *in, TraceOp *op, HctScratch *scratch)
{
  uint32_t n = hct_take_count (in), before = 0, *list;

  hct_scratch_reset (scratch, n * sizeof *list);
  list = scratch_take (scratch, n * sizeof *list);
  for (uint32_t i = 0; i < n; i++)
    before = list[i] = before + (uint32_t) hct_take_signed (in);
  op->completed = list;
  op->n_completed = n;
}

static bool
to_i32 (int64_t value, int32_t *result)
{
  *result = (int32_t) value;
  return value >= INT32_MIN && value <= INT32_MAX;
}

/* The inverse of 1 + from_rank(); 0 is left as it is. */
static bool
set_from_rank (uint64_t value, const HctPlace *place, int32_t *result)
{
  int64_t away = hct_unfold_sign (value - 1);

  return value == 0 || (away > -(INT64_C (1) << 40) && away < INT64_C (1) << 40 &&
                        to_i32 (away + (int64_t) place->rank, result));
}

bool
hct_set_number (TraceOp *op, unsigned measure, uint64_t value, const HctPlace *place)
{
  switch (measure) {
  case HCT_GAP: op->gap_ps = hct_unfold_sign (value); return true;
  case HCT_CALL: op->call_ps = hct_unfold_sign (value); return true;
  case HCT_FLOPS: memcpy (&op->flops, &value, sizeof value); return true;
  case HCT_INSTRUCTIONS: op->instructions = value; return true;
  case HCT_CYCLES: op->cycles = value; return true;
  case HCT_MATCHED: return set_from_rank (value, place, &op->matched_source);
  case HCT_COLOR: return to_i32 (hct_unfold_sign (value), &op->color);
  case HCT_KEY:
    if (value < 2)
      return value == 0;
    value -= 2;
    return (value & 1) != 0 ? set_from_rank (1 + (value >> 1), place, &op->key)
                            : to_i32 (hct_unfold_sign (value >> 1), &op->key);
  default: return false;
  }
}
