/* hct_names.c - the tables of strings that records of the native format name.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Kinds of operations are stored by name, so that the numbers of TraceOpKind
 * may change from version to version.  Number 0 of either table is none. */
#include "traces/hct/hct_names.h"

#define CACHE_SIZE 256

typedef struct {
  const char *string;
  TraceOpKind kind;
  uint32_t number;
} Cached;

struct HctNames {
  GArray *calls;    /* (element-type HctCall) */
  GPtrArray *sites; /* (element-type utf8), NULL first */
  /* Of the writer: */
  GHashTable *numbers;      /* "kind name" or site -> its number; owns the strings */
  Cached cache[CACHE_SIZE]; /* by the address of the string */
};

static void
clear_call (gpointer call)
{
  g_free (((HctCall *) call)->name);
}

HctNames *
hct_names_new (void)
{
  HctNames *names = g_new0 (HctNames, 1);

  names->calls = g_array_new (FALSE, FALSE, sizeof (HctCall));
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

uint32_t
hct_names_call (HctNames *names, TraceOpKind kind, const char *name)
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
    HctCall call = { kind, g_strdup (name) };

    g_array_append_val (names->calls, call);
  }
  *cached = (Cached){ name, kind, number + 1 };
  return number;
}

uint32_t
hct_names_site (HctNames *names, const char *site)
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
    const HctCall *call = &g_array_index (names->calls, HctCall, i);

    hct_put_string (out, trace_op_name (call->kind));
    hct_put_string (out, call->name);
  }
  hct_buffer_reserve (out, HCT_VARINT_BYTES);
  hct_put_varint (out, names->sites->len - 1);
  for (guint i = 1; i < names->sites->len; i++)
    hct_put_string (out, names->sites->pdata[i]);
}

static bool
find_kind (const char *name, TraceOpKind *kind)
{
  for (int k = 0; name != NULL && k < TRACE_N_OPS; k++)
    if (g_str_equal (trace_op_name ((TraceOpKind) k), name)) {
      *kind = (TraceOpKind) k;
      return true;
    }
  return false;
}

static void
take_call (HctNames *names, HctReader *in)
{
  g_autofree char *kind = hct_take_string (in);
  char *name = hct_take_string (in);
  HctCall call = { TRACE_OP_CALL, name };

  in->bad |= !find_kind (kind, &call.kind) || name == NULL || *name == '\0';
  g_array_append_val (names->calls, call);
}

bool
hct_names_take (HctNames *names, HctReader *in)
{
  for (uint32_t n = hct_take_count (in); n > 0 && !in->bad; n--)
    take_call (names, in);
  for (uint32_t n = hct_take_count (in); n > 0 && !in->bad; n--) {
    char *site = hct_take_string (in);

    in->bad |= site == NULL || *site == '\0';
    g_ptr_array_add (names->sites, site);
  }
  return !in->bad;
}

const HctCall *
hct_names_find_call (const HctNames *names, uint64_t number)
{
  return number < names->calls->len ? &g_array_index (names->calls, HctCall, number) : NULL;
}

const char *
hct_names_find_site (const HctNames *names, uint64_t number)
{
  return number < names->sites->len ? names->sites->pdata[number] : NULL;
}
