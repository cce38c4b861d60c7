/* row.c - one run of a study: inputs, results, and the table of its fields.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/store/row_fields.h"
#include "base/decimal.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

/* A division by it gives the closest number to a decimal one of picoseconds. */
#define PS_PER_SECOND 1e12

#define FIELD(kind, name, unit)                                      \
  {                                                                  \
#name, STUDY_FIELD_##kind, G_STRUCT_OFFSET(StudyRow, name), unit \
  }

/* Features, which have names of their own, come between the two. */
static const StudyField head[] = {
  FIELD (TEXT, key, NULL),
  FIELD (TEXT, trace, NULL),
  FIELD (TEXT, trace_hash, NULL),
  FIELD (TEXT, machine, NULL),
  FIELD (TEXT, machine_hash, NULL),
  FIELD (TEXT, mapping, NULL),
  FIELD (TEXT, mapping_hash, NULL),
  FIELD (TEXT, network, NULL),
  FIELD (TEXT, routing, NULL),
  FIELD (TEXT, shrink, NULL),
  FIELD (TEXT, version, NULL),
  FIELD (U32, ranks, NULL),
  FIELD (U32, ranks_per_node, NULL),
  FIELD (U32, nodes, NULL),
  FIELD (U32, links, NULL),
  FIELD (REAL, compute_scale, NULL),
  FIELD (U64, seed, NULL),
  FIELD (U32, repetition, NULL),
  FIELD (U32, replica, NULL),
  FIELD (REAL, jitter_s, "s"),
  FIELD (STATUS, status, NULL),
  FIELD (TEXT, error, NULL),
  FIELD (REAL, time_s, "s"),
  FIELD (REAL, mean_end_s, "s"),
  FIELD (REAL, compute_s_avg, "s"),
  FIELD (REAL, wait_s_avg, "s"),
  FIELD (REAL, wait_s_max, "s"),
  FIELD (REAL, path_compute_s, "s"),
  FIELD (REAL, path_software_s, "s"),
  FIELD (REAL, path_latency_s, "s"),
  FIELD (REAL, path_bandwidth_s, "s"),
  FIELD (REAL, path_queueing_s, "s"),
  FIELD (U32, shrink_factor, NULL),
  FIELD (U64, messages, NULL),
  FIELD (U64, message_bytes, "bytes"),
  FIELD (U64, packets, NULL),
  FIELD (U64, packet_hops, NULL),
  FIELD (U64, events, NULL),
};

static const StudyField tail[] = {
  FIELD (LIST, warnings, NULL),
  FIELD (REAL, wall_s, "s"),
  FIELD (U64, peak_rss_bytes, "bytes"),
};

#define N_HEAD   G_N_ELEMENTS (head)
#define N_TAIL   G_N_ELEMENTS (tail)
#define N_TIMING 2 /* wall_s, peak_rss_bytes */
#define N_FIELDS (N_HEAD + SIM_N_FEATURES + N_TAIL)

const char *const study_path_fields[SIM_N_CLASSES] = {
  [SIM_CLASS_COMPUTE] = "path_compute_s",   [SIM_CLASS_SOFTWARE] = "path_software_s",
  [SIM_CLASS_LATENCY] = "path_latency_s",   [SIM_CLASS_BANDWIDTH] = "path_bandwidth_s",
  [SIM_CLASS_QUEUEING] = "path_queueing_s",
};

static const char *const status_names[] = { "done", "failed" };

const char *
study_status_name (StudyStatus status)
{
  return status_names[status];
}

/* --- Fields --- */

static StudyField fields[N_FIELDS];

static gpointer
make_fields (gpointer unused)
{
  (void) unused;
  memcpy (fields, head, sizeof head);
  for (guint feature = 0; feature < SIM_N_FEATURES; feature++)
    fields[N_HEAD + feature] =
        (StudyField){ sim_feature_name ((SimFeature) feature), STUDY_FIELD_REAL,
                      G_STRUCT_OFFSET (StudyRow, features) + feature * sizeof (double),
                      sim_feature_unit ((SimFeature) feature) };
  memcpy (&fields[N_HEAD + SIM_N_FEATURES], tail, sizeof tail);
  return fields;
}

guint
study_row_n_fields (void)
{
  return N_FIELDS;
}

const StudyField *
study_row_field (guint field)
{
  static GOnce once = G_ONCE_INIT;

  g_once (&once, make_fields, NULL);
  return &fields[field];
}

uint64_t
study_row_integer (const StudyRow *row, const StudyField *field)
{
  gconstpointer at = study_row_at (row, field);

  if (field->kind == STUDY_FIELD_U64)
    return *(const uint64_t *) at;
  return field->kind == STUDY_FIELD_U32 ? *(const uint32_t *) at : *(const StudyStatus *) at;
}

const StudyField *
study_row_find_field (const char *name)
{
  for (guint at = 0; at < study_row_n_fields (); at++)
    if (!strcmp (study_row_field (at)->name, name))
      return study_row_field (at);
  return NULL;
}

double
study_row_number (const StudyRow *row, const StudyField *field)
{
  if (!study_row_knows (row, field))
    return (double) NAN;
  return field->kind == STUDY_FIELD_REAL ? *(const double *) study_row_at (row, field)
                                         : (double) study_row_integer (row, field);
}

void
study_row_set_integer (StudyRow *row, const StudyField *field, uint64_t value)
{
  gpointer at = study_row_at (row, field);

  if (field->kind == STUDY_FIELD_U64)
    *(uint64_t *) at = value;
  else if (field->kind == STUDY_FIELD_U32)
    *(uint32_t *) at = (uint32_t) value;
  else
    *(StudyStatus *) at = value == STUDY_DONE ? STUDY_DONE : STUDY_FAILED;
}

gboolean
study_row_knows (const StudyRow *row, const StudyField *field)
{
  gconstpointer at = study_row_at (row, field);
  gboolean is_packet = g_strcmp0 (row->network, "packet") == 0;

  switch (field->kind) {
  case STUDY_FIELD_TEXT: return *(char *const *) at != NULL;
  case STUDY_FIELD_REAL: return !isnan (*(const double *) at);
  case STUDY_FIELD_STATUS:
  case STUDY_FIELD_LIST: return TRUE;
  case STUDY_FIELD_U32:
  case STUDY_FIELD_U64:
  default: break;
  }
  /* The counts from the factor on are results.  Only the packet network has packets, and load has
   * no events. */
  if (field->offset < G_STRUCT_OFFSET (StudyRow, shrink_factor))
    return TRUE;
  if (row->status != STUDY_DONE)
    return FALSE;
  switch (field->offset) {
  case G_STRUCT_OFFSET (StudyRow, packets):
  case G_STRUCT_OFFSET (StudyRow, packet_hops): return is_packet;
  case G_STRUCT_OFFSET (StudyRow, events):
    return is_packet || g_strcmp0 (row->network, "flow") == 0;
  default: return TRUE;
  }
}

/* --- Rows --- */

StudyRow *
study_row_new (void)
{
  StudyRow *row = g_new0 (StudyRow, 1);

  for (guint at = 0; at < N_FIELDS; at++)
    if (study_row_field (at)->kind == STUDY_FIELD_REAL)
      *(double *) study_row_at (row, study_row_field (at)) = (double) NAN;
  row->status = STUDY_FAILED;
  row->warnings = g_new0 (char *, 1);
  return row;
}

void
study_row_free (StudyRow *row)
{
  if (row == NULL)
    return;
  for (guint at = 0; at < N_FIELDS; at++)
    if (study_row_field (at)->kind == STUDY_FIELD_TEXT)
      g_free (*(char **) study_row_at (row, study_row_field (at)));
  g_strfreev (row->warnings);
  g_clear_pointer (&row->link_bytes, g_bytes_unref);
  g_clear_pointer (&row->rank_times, g_bytes_unref);
  g_free (row);
}

StudyRankSummary
study_rank_summary (const SimReplayResult *result)
{
  StudyRankSummary summary = { 0 };

  for (uint32_t rank = 0; result->ranks != NULL && rank < result->n_ranks; rank++) {
    double wait_s = (double) result->ranks[rank].wait_ps / PS_PER_SECOND;

    summary.mean_end_s += (double) result->ranks[rank].end_ps / PS_PER_SECOND;
    summary.compute_s_avg += (double) result->ranks[rank].compute_ps / PS_PER_SECOND;
    summary.wait_s_avg += wait_s;
    summary.wait_s_max = MAX (summary.wait_s_max, wait_s);
  }
  if (result->n_ranks > 0) {
    summary.mean_end_s /= result->n_ranks;
    summary.compute_s_avg /= result->n_ranks;
    summary.wait_s_avg /= result->n_ranks;
  }
  return summary;
}

void
study_row_take (StudyRow *row, const SimRun *run, SimNetworkKind network, gboolean keep_links,
                gboolean keep_ranks)
{
  gboolean has_time = network != SIM_NETWORK_LOAD;

  row->status = STUDY_DONE;
  g_clear_pointer (&row->error, g_free);
  if (has_time) {
    StudyRankSummary summary = study_rank_summary (&run->result);

    row->time_s = (double) run->result.time_ps / PS_PER_SECOND;
    row->mean_end_s = summary.mean_end_s;
    row->compute_s_avg = summary.compute_s_avg;
    row->wait_s_avg = summary.wait_s_avg;
    row->wait_s_max = summary.wait_s_max;
    if (run->result.has_path) {
      const int64_t *path_ps = run->result.path.ps;

      row->path_compute_s = (double) path_ps[SIM_CLASS_COMPUTE] / PS_PER_SECOND;
      row->path_software_s = (double) path_ps[SIM_CLASS_SOFTWARE] / PS_PER_SECOND;
      row->path_latency_s = (double) path_ps[SIM_CLASS_LATENCY] / PS_PER_SECOND;
      row->path_bandwidth_s = (double) path_ps[SIM_CLASS_BANDWIDTH] / PS_PER_SECOND;
      row->path_queueing_s = (double) path_ps[SIM_CLASS_QUEUEING] / PS_PER_SECOND;
    }
  }
  row->shrink_factor = run->shrink;
  row->shrink_share = run->shrink_share;
  row->links = run->counters->n_links;
  row->messages = run->result.messages;
  row->message_bytes = run->result.message_bytes;
  row->packets = run->counters->packets;
  row->packet_hops = run->counters->packet_hops;
  row->events = run->counters->events;
  memcpy (row->features, run->features, sizeof row->features);
  row->wall_s = run->wall_s;
  row->peak_rss_bytes = run->peak_rss_bytes;
  g_strfreev (row->warnings);
  row->warnings = g_new0 (char *, run->warnings->len + 1);
  for (guint at = 0; at < run->warnings->len; at++)
    row->warnings[at] = g_strdup (g_ptr_array_index (run->warnings, at));
  g_clear_pointer (&row->link_bytes, g_bytes_unref);
  g_clear_pointer (&row->rank_times, g_bytes_unref);
  if (keep_links) {
    const SimCounters *counters = run->counters;
    uint64_t *bytes = g_new (uint64_t, counters->n_places);

    for (uint32_t link = 0; link < counters->n_places; link++)
      bytes[link] = counters->link[link].payload_bytes;
    row->link_bytes = g_bytes_new_take (bytes, counters->n_places * sizeof *bytes);
  }
  if (keep_ranks && has_time) {
    StudyRankTimes *times = g_new (StudyRankTimes, run->result.n_ranks);

    for (uint32_t rank = 0; rank < run->result.n_ranks; rank++)
      times[rank] = (StudyRankTimes){
        .end_s = (double) run->result.ranks[rank].end_ps / PS_PER_SECOND,
        .compute_s = (double) run->result.ranks[rank].compute_ps / PS_PER_SECOND,
        .wait_s = (double) run->result.ranks[rank].wait_ps / PS_PER_SECOND,
      };
    row->rank_times = g_bytes_new_take (times, run->result.n_ranks * sizeof *times);
  }
}

/* --- Columns --- */

guint
study_row_n_columns (gboolean timing)
{
  return timing ? N_FIELDS : N_FIELDS - N_TIMING;
}

const char *
study_row_column_name (guint column)
{
  return study_row_field (column)->name;
}

gboolean
study_row_column_is_number (guint column)
{
  return study_field_is_number (study_row_field (column));
}

char *
study_row_column_text (const StudyRow *row, guint column)
{
  const StudyField *field = study_row_field (column);
  char number[BASE_DECIMAL_SIZE];

  if (!study_row_knows (row, field))
    return NULL;
  switch (field->kind) {
  case STUDY_FIELD_TEXT: return g_strdup (*(char **) study_row_at (row, field));
  case STUDY_FIELD_REAL:
    return g_strdup (base_decimal_print (number, *(double *) study_row_at (row, field)));
  case STUDY_FIELD_STATUS: return g_strdup (study_status_name (row->status));
  case STUDY_FIELD_LIST: return g_strjoinv ("; ", row->warnings);
  case STUDY_FIELD_U32:
  case STUDY_FIELD_U64:
  default: return g_strdup_printf ("%" G_GUINT64_FORMAT, study_row_integer (row, field));
  }
}

/* --- Rows of 64-bit words, compressed: the blobs of a store --- */

#define CHUNK_BYTES 65536

static void
swap_words (uint64_t *words, gsize n_words)
{
  for (gsize at = 0; at < n_words; at++)
    words[at] = GUINT64_TO_LE (words[at]);
}

GBytes *
study_pack_words (const uint64_t *words, gsize n_words)
{
  gsize n_bytes = n_words * sizeof *words;
  g_autofree uint64_t *little = n_words > 0 ? g_memdup2 (words, n_bytes) : g_new (uint64_t, 1);
  uLongf n_packed = compressBound (n_bytes);
  guchar *packed = g_malloc (n_packed);

  swap_words (little, n_words);
  /* Counters are small numbers in wide words: the fastest level finds nearly all
   * that there is. It fails only for want of room, which there is. */
  compress2 (packed, &n_packed, (const Bytef *) little, n_bytes, Z_BEST_SPEED);
  return g_bytes_new_take (g_realloc (packed, n_packed), n_packed);
}

uint64_t *
study_unpack_words (gconstpointer packed, gsize n_bytes, gsize max_words, gsize *n_words)
{
  g_autoptr (GByteArray) all = g_byte_array_new ();
  z_stream stream = { .next_in = (Bytef *) packed, .avail_in = (uInt) n_bytes };
  gsize max_bytes = max_words * sizeof (uint64_t), length;
  guchar chunk[CHUNK_BYTES];
  uint64_t *words;
  int code = Z_OK;

  if (packed == NULL || n_bytes > G_MAXUINT || max_bytes > G_MAXUINT / 2 ||
      inflateInit (&stream) != Z_OK)
    return NULL;
  while (code == Z_OK && all->len <= max_bytes) {
    stream.next_out = chunk;
    stream.avail_out = sizeof chunk;
    code = inflate (&stream, Z_NO_FLUSH);
    g_byte_array_append (all, chunk, (guint) (sizeof chunk - stream.avail_out));
  }
  inflateEnd (&stream);
  length = all->len;
  if (code != Z_STREAM_END || stream.avail_in != 0 || length > max_bytes ||
      length % sizeof *words != 0)
    return NULL;
  *n_words = length / sizeof *words;
  /* Not NULL when there are no words. */
  words = g_realloc (g_byte_array_free (g_steal_pointer (&all), FALSE), length + sizeof *words);
  swap_words (words, *n_words);
  return words;
}

/* --- A row as one block for another process of the same program --- */

/* Texts, integers and reals in the order of the fields; warnings; the blobs. */
#define BLOCK_FORMAT "(@ams@at@ad@as@may@may)"

static GVariant *
pack_bytes (GBytes *bytes)
{
  return g_variant_new_maybe (
      G_VARIANT_TYPE_BYTESTRING,
      bytes != NULL ? g_variant_new_from_bytes (G_VARIANT_TYPE_BYTESTRING, bytes, TRUE) : NULL);
}

GVariant *
study_row_pack (const StudyRow *row)
{
  GVariantBuilder texts, integers, reals;
  GVariant *block;

  g_variant_builder_init (&texts, G_VARIANT_TYPE ("ams"));
  g_variant_builder_init (&integers, G_VARIANT_TYPE ("at"));
  g_variant_builder_init (&reals, G_VARIANT_TYPE ("ad"));
  for (guint at = 0; at < N_FIELDS; at++) {
    const StudyField *field = study_row_field (at);

    switch (field->kind) {
    case STUDY_FIELD_LIST: break;
    case STUDY_FIELD_TEXT:
      g_variant_builder_add (&texts, "ms", *(char **) study_row_at (row, field));
      break;
    case STUDY_FIELD_REAL:
      g_variant_builder_add (&reals, "d", *(double *) study_row_at (row, field));
      break;
    case STUDY_FIELD_U32:
    case STUDY_FIELD_U64:
    case STUDY_FIELD_STATUS:
    default: g_variant_builder_add (&integers, "t", study_row_integer (row, field));
    }
  }
  g_variant_builder_add (&reals, "d", row->shrink_share);
  block = g_variant_new (BLOCK_FORMAT, g_variant_builder_end (&texts),
                         g_variant_builder_end (&integers), g_variant_builder_end (&reals),
                         g_variant_new_strv ((const char *const *) row->warnings, -1),
                         pack_bytes (row->link_bytes), pack_bytes (row->rank_times));
  return g_variant_ref_sink (block);
}

static GBytes *
unpack_bytes (GVariant *maybe)
{
  g_autoptr (GVariant) bytes = g_variant_get_maybe (maybe);

  return bytes != NULL ? g_variant_get_data_as_bytes (bytes) : NULL;
}

StudyRow *
study_row_unpack (GVariant *block)
{
  g_autoptr (StudyRow) row = study_row_new ();
  g_autoptr (GVariant) texts = NULL, integers = NULL, reals = NULL;
  g_autoptr (GVariant) link_bytes = NULL, rank_times = NULL;
  gsize n_texts, n_integers, n_reals;
  gsize text = 0, integer = 0, real = 0;
  const guint64 *integer_values;
  const double *real_values;

  if (!g_variant_is_of_type (block, STUDY_ROW_BLOCK) || !g_variant_is_normal_form (block))
    return NULL;
  g_clear_pointer (&row->warnings, g_strfreev);
  g_variant_get (block, "(@ams@at@ad^as@may@may)", &texts, &integers, &reals, &row->warnings,
                 &link_bytes, &rank_times);
  n_texts = g_variant_n_children (texts);
  integer_values = g_variant_get_fixed_array (integers, &n_integers, sizeof *integer_values);
  real_values = g_variant_get_fixed_array (reals, &n_reals, sizeof *real_values);
  for (guint at = 0; at < N_FIELDS; at++) {
    const StudyField *field = study_row_field (at);
    gpointer to = study_row_at (row, field);

    switch (field->kind) {
    case STUDY_FIELD_LIST: break;
    case STUDY_FIELD_TEXT:
      if (text >= n_texts)
        return NULL;
      g_variant_get_child (texts, text++, "ms", to);
      break;
    case STUDY_FIELD_REAL:
      if (real >= n_reals)
        return NULL;
      *(double *) to = real_values[real++];
      break;
    case STUDY_FIELD_U32:
    case STUDY_FIELD_U64:
    case STUDY_FIELD_STATUS:
    default:
      if (integer >= n_integers)
        return NULL;
      study_row_set_integer (row, field, integer_values[integer++]);
    }
  }
  if (text < n_texts || integer < n_integers || real + 1 != n_reals)
    return NULL;
  row->shrink_share = real_values[real];
  row->link_bytes = unpack_bytes (link_bytes);
  row->rank_times = unpack_bytes (rank_times);
  return g_steal_pointer (&row);
}
