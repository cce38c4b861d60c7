/* export.c - a store's runs as tables for other programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/store/export.h"

#include "study/store/row_fields.h"
#include "base/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <zlib.h>

/* A table that is being written; columns come in their order. */
typedef struct {
  FILE *out;
  StudyExportForm form;
  const char *const *names; /* of the columns */
  guint n_columns;
  guint column;
  uint64_t line;
} Table;

static void
begin_table (Table *table)
{
  if (table->form == STUDY_EXPORT_JSON)
    fputs ("[", table->out);
  if (table->form != STUDY_EXPORT_CSV)
    return;
  for (guint at = 0; at < table->n_columns; at++)
    fprintf (table->out, "%s%s", at > 0 ? "," : "", table->names[at]);
  fputc ('\n', table->out);
}

static void
end_table (const Table *table)
{
  if (table->form == STUDY_EXPORT_JSON)
    fputs (table->line > 0 ? "\n]\n" : "]\n", table->out);
}

static void
begin_line (Table *table)
{
  if (table->form == STUDY_EXPORT_JSON)
    fputs (table->line > 0 ? ",\n" : "\n", table->out);
  if (table->form != STUDY_EXPORT_CSV)
    fputc ('{', table->out);
  table->column = 0;
  table->line++;
}

static void
end_line (const Table *table)
{
  if (table->form != STUDY_EXPORT_CSV)
    fputc ('}', table->out);
  if (table->form != STUDY_EXPORT_JSON)
    fputc ('\n', table->out);
}

/* A cell of the current line.  text NULL: not known. */
static void
put_value (Table *table, const char *text, gboolean is_number)
{
  FILE *out = table->out;

  if (table->column > 0)
    fputc (',', out);
  if (table->form == STUDY_EXPORT_CSV)
    base_csv_field (out, text != NULL ? text : "");
  else {
    fprintf (out, "\"%s\":", table->names[table->column]);
    if (text == NULL || is_number)
      fputs (text != NULL ? text : "null", out);
    else {
      fputs ("\"", out);
      for (; *text != '\0'; text++) {
        if (strchr ("\"\\", *text) != NULL)
          fprintf (out, "\\%c", *text);
        else if ((guchar) *text < 0x20)
          fprintf (out, "\\u%04x", (guint) *text);
        else
          fputc (*text, out);
      }
      fputs ("\"", out);
    }
  }
  table->column++;
}

static void
put_integer (Table *table, uint64_t number)
{
  char text[24];

  g_snprintf (text, sizeof text, "%" PRIu64, number);
  put_value (table, text, TRUE);
}

static void
put_real (Table *table, double number)
{
  char text[BASE_DECIMAL_SIZE];

  put_value (table, base_decimal_print (text, number), TRUE);
}

/* --- Details of each run --- */

/* Begins the line of a link or rank: the row's index, its key, the index of the link or rank. */
static void
begin_detail (Table *table, guint run, const StudyRow *row, uint64_t number)
{
  begin_line (table);
  put_integer (table, run);
  put_value (table, row->key, FALSE);
  put_integer (table, number);
}

/* Blobs are large: those of one row are loaded at a time. */
static gboolean
put_details (Table *table, StudyStore *store, StudyExportKind kind, guint run, StudyRow *row,
             GError **error)
{
  if (kind == STUDY_EXPORT_PLACEMENTS) {
    g_autoptr (TopoMapping) mapping = NULL;

    if (row->mapping_hash == NULL)
      return TRUE;
    mapping = study_store_placement (store, row, error);
    if (mapping == NULL)
      return FALSE;
    for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
      begin_detail (table, run, row, rank);
      put_integer (table, mapping->node[rank]);
      put_integer (table, mapping->slot[rank]);
      end_line (table);
    }
    return TRUE;
  }
  if (!study_store_load_blobs (store, row, error))
    return FALSE;
  if (kind == STUDY_EXPORT_LINKS) {
    gsize n_bytes = 0;
    const uint64_t *bytes =
        row->link_bytes != NULL ? g_bytes_get_data (row->link_bytes, &n_bytes) : NULL;

    for (gsize link = 0; link < n_bytes / sizeof *bytes; link++) {
      begin_detail (table, run, row, link);
      put_integer (table, bytes[link]);
      end_line (table);
    }
  } else {
    gsize n_bytes = 0;
    const StudyRankTimes *times =
        row->rank_times != NULL ? g_bytes_get_data (row->rank_times, &n_bytes) : NULL;

    for (gsize rank = 0; rank < n_bytes / sizeof *times; rank++) {
      begin_detail (table, run, row, rank);
      put_real (table, times[rank].end_s);
      put_real (table, times[rank].compute_s);
      put_real (table, times[rank].wait_s);
      end_line (table);
    }
  }
  g_clear_pointer (&row->link_bytes, g_bytes_unref);
  g_clear_pointer (&row->rank_times, g_bytes_unref);
  return TRUE;
}

gboolean
study_export (StudyStore *store, StudyExportKind kind, StudyExportForm form, gboolean timing,
              FILE *out, GError **error)
{
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, error);

  if (rows == NULL)
    return FALSE;
  if (kind != STUDY_EXPORT_RUNS) {
    static const char *const links[] = { "run", "key", "link", "bytes" };
    static const char *const ranks[] = { "run", "key", "rank", "end_s", "compute_s", "wait_s" };
    static const char *const places[] = { "run", "key", "rank", "node", "slot" };
    Table table = { .out = out, .form = form };

    table.names = kind == STUDY_EXPORT_LINKS ? links : kind == STUDY_EXPORT_RANKS ? ranks : places;
    table.n_columns = kind == STUDY_EXPORT_LINKS   ? G_N_ELEMENTS (links)
                      : kind == STUDY_EXPORT_RANKS ? G_N_ELEMENTS (ranks)
                                                   : G_N_ELEMENTS (places);
    begin_table (&table);
    for (guint row = 0; row < rows->len; row++)
      if (!put_details (&table, store, kind, row, g_ptr_array_index (rows, row), error))
        return FALSE;
    end_table (&table);
    return TRUE;
  }
  guint n = study_row_n_columns (timing);
  g_autofree const char **names = g_new (const char *, n);
  Table table = { .out = out, .form = form, .names = names, .n_columns = n };

  for (guint at = 0; at < n; at++)
    names[at] = study_row_column_name (at);
  begin_table (&table);
  for (guint row = 0; row < rows->len; row++) {
    begin_line (&table);
    for (guint at = 0; at < n; at++) {
      g_autofree char *text = study_row_column_text (g_ptr_array_index (rows, row), at);

      put_value (&table, text, study_row_column_is_number (at));
    }
    end_line (&table);
  }
  end_table (&table);
  return TRUE;
}

/* --- Arrays in the file that NumPy's load() opens --- */

/* Sources: PKWARE's APPNOTE (zip) and NumPy's description of the .npy format,
 * version 1.0. */

#define LOCAL_SIGNATURE      0x04034b50u
#define DESCRIPTOR_SIGNATURE 0x08074b50u
#define ENTRY_SIGNATURE      0x02014b50u
#define END_SIGNATURE        0x06054b50u
#define END64_SIGNATURE      0x06064b50u
#define LOCATOR_SIGNATURE    0x07064b50u

#define VERSION_PLAIN   20
#define VERSION_64      45
#define SIZES_FOLLOW    0x0008 /* flag: they are behind the data, as the checksum is */
#define EXTRA_64        0x0001
#define FIRST_DAY       0x0021 /* 1980-01-01 */
#define IN_EXTRA_FIELD  0xffffffffu
#define MANY_ENTRIES    0xffffu
#define DEFAULT_LIMIT   0xfffffffeu
#define HEADER_MULTIPLE 64 /* of a .npy: data begin at a multiple of it */
#define PREAMBLE_BYTES  10 /* magic, version, length of the header */

typedef struct {
  char *name;
  uint64_t offset, n_bytes;
  uint32_t checksum;
  gboolean is_64; /* the size does not fit, and was announced so */
} Entry;

struct StudyNpz {
  FILE *out;
  uint64_t limit, offset;
  GArray *entries; /* (element-type Entry); the last is open between begin and end */
};

static void
entry_clear (gpointer entry)
{
  g_free (((Entry *) entry)->name);
}

StudyNpz *
study_npz_new (FILE *out)
{
  StudyNpz *npz = g_new0 (StudyNpz, 1);

  npz->out = out;
  npz->limit = DEFAULT_LIMIT;
  npz->entries = g_array_new (FALSE, TRUE, sizeof (Entry));
  g_array_set_clear_func (npz->entries, entry_clear);
  return npz;
}

void
study_npz_set_limit (StudyNpz *npz, uint64_t limit)
{
  npz->limit = limit;
}

/* --- Numbers of the archive --- */

static void
put_bytes (StudyNpz *npz, gconstpointer data, gsize n_bytes)
{
  fwrite (data, 1, n_bytes, npz->out);
  npz->offset += n_bytes;
}

static void
put_number (StudyNpz *npz, uint64_t number, gsize n_bytes)
{
  uint64_t little = GUINT64_TO_LE (number);

  put_bytes (npz, &little, n_bytes);
}

static void
put_2 (StudyNpz *npz, uint32_t number)
{
  put_number (npz, number, 2);
}

static void
put_4 (StudyNpz *npz, uint32_t number)
{
  put_number (npz, number, 4);
}

static void
put_8 (StudyNpz *npz, uint64_t number)
{
  put_number (npz, number, 8);
}

/* --- Entries --- */

static Entry *
last_entry (StudyNpz *npz)
{
  return &g_array_index (npz->entries, Entry, npz->entries->len - 1);
}

static void
put_local_header (StudyNpz *npz, const Entry *entry)
{
  put_4 (npz, LOCAL_SIGNATURE);
  put_2 (npz, entry->is_64 ? VERSION_64 : VERSION_PLAIN);
  put_2 (npz, SIZES_FOLLOW);
  put_2 (npz, 0); /* stored */
  put_2 (npz, 0); /* time */
  put_2 (npz, FIRST_DAY);
  put_4 (npz, 0); /* checksum and sizes follow */
  put_4 (npz, entry->is_64 ? IN_EXTRA_FIELD : 0);
  put_4 (npz, entry->is_64 ? IN_EXTRA_FIELD : 0);
  put_2 (npz, (uint32_t) strlen (entry->name));
  put_2 (npz, entry->is_64 ? 20 : 0);
  put_bytes (npz, entry->name, strlen (entry->name));
  if (!entry->is_64)
    return;
  put_2 (npz, EXTRA_64);
  put_2 (npz, 16);
  put_8 (npz, 0);
  put_8 (npz, 0);
}

/* An entry of the directory at the end, where its size and checksum are known. */
static void
put_entry (StudyNpz *npz, const Entry *entry)
{
  gboolean far = entry->offset > npz->limit;
  guint n_extra = (entry->is_64 ? 16 : 0) + (far ? 8 : 0);

  put_4 (npz, ENTRY_SIGNATURE);
  put_2 (npz, n_extra > 0 ? VERSION_64 : VERSION_PLAIN);
  put_2 (npz, n_extra > 0 ? VERSION_64 : VERSION_PLAIN);
  put_2 (npz, SIZES_FOLLOW);
  put_2 (npz, 0);
  put_2 (npz, 0);
  put_2 (npz, FIRST_DAY);
  put_4 (npz, entry->checksum);
  put_4 (npz, entry->is_64 ? IN_EXTRA_FIELD : (uint32_t) entry->n_bytes);
  put_4 (npz, entry->is_64 ? IN_EXTRA_FIELD : (uint32_t) entry->n_bytes);
  put_2 (npz, (uint32_t) strlen (entry->name));
  put_2 (npz, n_extra > 0 ? n_extra + 4 : 0);
  put_2 (npz, 0); /* comment */
  put_2 (npz, 0); /* disk */
  put_2 (npz, 0); /* attributes */
  put_4 (npz, 0);
  put_4 (npz, far ? IN_EXTRA_FIELD : (uint32_t) entry->offset);
  put_bytes (npz, entry->name, strlen (entry->name));
  if (n_extra > 0) {
    put_2 (npz, EXTRA_64);
    put_2 (npz, n_extra);
  }
  if (entry->is_64) {
    put_8 (npz, entry->n_bytes);
    put_8 (npz, entry->n_bytes);
  }
  if (far)
    put_8 (npz, entry->offset);
}

void
study_npz_free (StudyNpz *npz)
{
  uint64_t begin = npz->offset, n_bytes;
  guint n_entries = npz->entries->len;
  gboolean is_64;

  for (guint at = 0; at < n_entries; at++)
    put_entry (npz, &g_array_index (npz->entries, Entry, at));
  n_bytes = npz->offset - begin;
  is_64 = begin > npz->limit || n_bytes > npz->limit || n_entries >= MANY_ENTRIES;
  if (is_64) {
    uint64_t here = npz->offset;

    put_4 (npz, END64_SIGNATURE);
    put_8 (npz, 44); /* bytes of this record that follow */
    put_2 (npz, VERSION_64);
    put_2 (npz, VERSION_64);
    put_4 (npz, 0);
    put_4 (npz, 0);
    put_8 (npz, npz->entries->len);
    put_8 (npz, npz->entries->len);
    put_8 (npz, n_bytes);
    put_8 (npz, begin);
    put_4 (npz, LOCATOR_SIGNATURE);
    put_4 (npz, 0);
    put_8 (npz, here);
    put_4 (npz, 1);
  }
  put_4 (npz, END_SIGNATURE);
  put_2 (npz, 0);
  put_2 (npz, 0);
  put_2 (npz, is_64 ? MANY_ENTRIES : n_entries);
  put_2 (npz, is_64 ? MANY_ENTRIES : n_entries);
  put_4 (npz, is_64 ? IN_EXTRA_FIELD : (uint32_t) n_bytes);
  put_4 (npz, is_64 ? IN_EXTRA_FIELD : (uint32_t) begin);
  put_2 (npz, 0); /* comment */
  g_array_unref (npz->entries);
  g_free (npz);
}

/* --- Arrays --- */

void
study_npz_write (StudyNpz *npz, gconstpointer data, gsize n_bytes)
{
  Entry *entry = last_entry (npz);

  /* In parts, as zlib counts in 32 bits. */
  for (gsize done = 0; done < n_bytes;) {
    uInt part = (uInt) MIN (n_bytes - done, G_MAXINT);

    entry->checksum = (uint32_t) crc32 (entry->checksum, (const Bytef *) data + done, part);
    done += part;
  }
  entry->n_bytes += n_bytes;
  put_bytes (npz, data, n_bytes);
}

void
study_npz_begin (StudyNpz *npz, const char *name, const char *type, const uint64_t *shape,
                 guint n_dimensions)
{
  static const guchar magic[] = { 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0 };
  g_autoptr (GString) header = g_string_new (NULL);
  Entry entry = { .name = g_strconcat (name, ".npy", NULL), .offset = npz->offset };
  /* Bytes of one number or text: "<f8" 8, "<U12" 48. */
  uint64_t n_bytes = g_ascii_strtoull (type + 2, NULL, 10) * (type[1] == 'U' ? 4 : 1);
  uint16_t length;

  /* The dictionary of a .npy, ended and filled up as its format asks. */
  g_string_printf (header, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
  for (guint at = 0; at < n_dimensions; at++) {
    g_string_append_printf (header, "%s%" G_GUINT64_FORMAT, at > 0 ? ", " : "", shape[at]);
    n_bytes *= shape[at];
  }
  g_string_append (header, n_dimensions == 1 ? ",), }" : "), }");
  while ((PREAMBLE_BYTES + header->len + 1) % HEADER_MULTIPLE != 0)
    g_string_append_c (header, ' ');
  g_string_append_c (header, '\n');

  length = GUINT16_TO_LE ((uint16_t) header->len);
  entry.is_64 = n_bytes + PREAMBLE_BYTES + header->len > npz->limit;
  put_local_header (npz, &entry);
  g_array_append_val (npz->entries, entry);
  study_npz_write (npz, magic, sizeof magic);
  study_npz_write (npz, &length, sizeof length);
  study_npz_write (npz, header->str, header->len);
}

void
study_npz_end (StudyNpz *npz)
{
  const Entry *entry = last_entry (npz);
  gsize width = entry->is_64 ? 8 : 4;

  put_4 (npz, DESCRIPTOR_SIGNATURE);
  put_4 (npz, entry->checksum);
  put_number (npz, entry->n_bytes, width);
  put_number (npz, entry->n_bytes, width);
}

/* Words of 64 bits at any address, integers or doubles. */
static void
write_words (StudyNpz *npz, gconstpointer words, uint64_t n)
{
  for (uint64_t at = 0; at < n; at++) {
    uint64_t word;

    memcpy (&word, (const char *) words + at * sizeof word, sizeof word);
    word = GUINT64_TO_LE (word);
    study_npz_write (npz, &word, sizeof word);
  }
}

void
study_npz_add_reals (StudyNpz *npz, const char *name, const double *values, uint64_t n)
{
  study_npz_begin (npz, name, "<f8", &n, 1);
  write_words (npz, values, n);
  study_npz_end (npz);
}

void
study_npz_add_integers (StudyNpz *npz, const char *name, const uint64_t *values, uint64_t n)
{
  study_npz_begin (npz, name, "<u8", &n, 1);
  write_words (npz, values, n);
  study_npz_end (npz);
}

/* Characters of 32 bits, filled up with zeros to the longest text.
   File names are any bytes; what of them is not UTF-8 becomes U+FFFD. */
void
study_npz_add_texts (StudyNpz *npz, const char *name, const char *const *texts, uint64_t n)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_free);
  g_autofree gunichar *padded = NULL;
  g_autofree char *type = NULL;
  glong longest = 1;

  for (uint64_t at = 0; at < n; at++) {
    char *text = texts[at] != NULL ? g_utf8_make_valid (texts[at], -1) : g_strdup ("");

    g_ptr_array_add (rows, text);
    longest = MAX (longest, g_utf8_strlen (text, -1));
  }
  padded = g_new (gunichar, longest);
  type = g_strdup_printf ("<U%ld", longest);
  study_npz_begin (npz, name, type, &n, 1);
  for (guint at = 0; at < rows->len; at++) {
    const char *text = g_ptr_array_index (rows, at);

    for (glong character = 0; character < longest; character++) {
      padded[character] = GUINT32_TO_LE (g_utf8_get_char (text));
      text = *text != '\0' ? g_utf8_next_char (text) : text;
    }
    study_npz_write (npz, padded, (gsize) longest * sizeof *padded);
  }
  study_npz_end (npz);
}

/* --- A store's runs as arrays for NumPy --- */

static void
add_columns (StudyNpz *npz, const GPtrArray *rows, gboolean timing)
{
  for (guint column = 0; column < study_row_n_columns (timing); column++) {
    const StudyField *field = study_row_field (column);

    /* Features have an array of their own. */
    if (study_field_is_feature (field))
      continue;
    if (study_field_is_number (field)) {
      /* Counts that some runs lack are real numbers, with NaN. */
      g_autofree double *reals = g_new (double, rows->len + 1);
      g_autofree uint64_t *integers = g_new (uint64_t, rows->len + 1);
      gboolean is_real = field->kind == STUDY_FIELD_REAL;

      for (guint at = 0; at < rows->len; at++) {
        const StudyRow *row = g_ptr_array_index (rows, at);

        if (field->kind == STUDY_FIELD_REAL)
          reals[at] = *(double *) study_row_at (row, field);
        else {
          integers[at] = study_row_integer (row, field);
          reals[at] = study_row_knows (row, field) ? (double) integers[at] : (double) NAN;
          is_real = is_real || !study_row_knows (row, field);
        }
      }
      if (is_real)
        study_npz_add_reals (npz, field->name, reals, rows->len);
      else
        study_npz_add_integers (npz, field->name, integers, rows->len);
    } else {
      g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);

      for (guint row = 0; row < rows->len; row++)
        g_ptr_array_add (texts, study_row_column_text (g_ptr_array_index (rows, row), column));
      study_npz_add_texts (npz, field->name, (const char *const *) texts->pdata, rows->len);
    }
  }
}

/* --- Blobs --- */

/* A kind of blob: per run a number of rows of `width` words. */
typedef struct {
  const char *name, *type;
  gsize offset; /* of the blob in StudyRow */
  guint width;
} Kind;

static const Kind kinds[] = {
  { "link_bytes", "<u8", G_STRUCT_OFFSET (StudyRow, link_bytes), 1 },
  { "rank_times", "<f8", G_STRUCT_OFFSET (StudyRow, rank_times), 3 },
};

static GBytes *
load_blob (StudyStore *store, StudyRow *row, const Kind *kind, GError **error)
{
  GBytes *blob;

  if (!study_store_load_blobs (store, row, error))
    return NULL;
  blob = *(GBytes **) ((char *) row + kind->offset);
  blob = blob != NULL ? g_bytes_ref (blob) : g_bytes_new (NULL, 0);
  g_clear_pointer (&row->link_bytes, g_bytes_unref);
  g_clear_pointer (&row->rank_times, g_bytes_unref);
  return blob;
}

/* An array of the blobs of one size, and one of the runs that have them.  Where machines or numbers
 * of ranks differ there are several sizes, and the names of the arrays contain them. */
static gboolean
add_blobs_of_size (StudyNpz *npz, StudyStore *store, const GPtrArray *rows, const Kind *kind,
                   const gsize *sizes, gsize size, gboolean is_only, GError **error)
{
  g_autofree char *name =
      is_only ? g_strdup (kind->name) : g_strdup_printf ("%s_%zu", kind->name, size / kind->width);
  g_autofree char *runs_name = g_strconcat (name, "_runs", NULL);
  g_autofree uint64_t *runs = g_new (uint64_t, rows->len + 1);
  uint64_t shape[] = { 0, size / kind->width, kind->width };

  for (guint at = 0; at < rows->len; at++)
    if (sizes[at] == size)
      runs[shape[0]++] = at;
  study_npz_add_integers (npz, runs_name, runs, shape[0]);
  study_npz_begin (npz, name, kind->type, shape, kind->width > 1 ? 3 : 2);
  for (uint64_t at = 0; at < shape[0]; at++) {
    g_autoptr (GBytes) blob = load_blob (store, g_ptr_array_index (rows, runs[at]), kind, error);

    if (blob == NULL)
      return FALSE;
    write_words (npz, g_bytes_get_data (blob, NULL), g_bytes_get_size (blob) / sizeof (uint64_t));
  }
  study_npz_end (npz);
  return TRUE;
}

gboolean
study_export_npz (StudyStore *store, gboolean timing, FILE *out, GError **error)
{
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, error);
  g_autoptr (StudyNpz) npz = rows != NULL ? study_npz_new (out) : NULL;
  g_autofree gsize *sizes = NULL;
  const char *names[SIM_N_FEATURES];

  if (npz == NULL)
    return FALSE;
  add_columns (npz, rows, timing);

  const uint64_t shape[] = { rows->len, SIM_N_FEATURES };

  for (guint feature = 0; feature < SIM_N_FEATURES; feature++)
    names[feature] = sim_feature_name ((SimFeature) feature);
  study_npz_add_texts (npz, "feature_names", names, SIM_N_FEATURES);
  study_npz_begin (npz, "features", "<f8", shape, 2);
  for (guint at = 0; at < rows->len; at++)
    write_words (npz, ((const StudyRow *) g_ptr_array_index (rows, at))->features, SIM_N_FEATURES);
  study_npz_end (npz);

  sizes = g_new (gsize, rows->len + 1); /* words of the blob of each row, 0: it has none */
  for (gsize kind = 0; kind < G_N_ELEMENTS (kinds); kind++) {
    g_autoptr (GArray) distinct = g_array_new (FALSE, FALSE, sizeof (gsize));

    for (guint at = 0; at < rows->len; at++) {
      g_autoptr (GBytes) blob =
          load_blob (store, g_ptr_array_index (rows, at), &kinds[kind], error);
      guint known = 0;

      if (blob == NULL)
        return FALSE;
      sizes[at] = g_bytes_get_size (blob) / sizeof (uint64_t);
      while (known < distinct->len && g_array_index (distinct, gsize, known) != sizes[at])
        known++;
      if (sizes[at] > 0 && known == distinct->len)
        g_array_append_val (distinct, sizes[at]);
    }
    for (guint at = 0; at < distinct->len; at++)
      if (!add_blobs_of_size (npz, store, rows, &kinds[kind], sizes,
                              g_array_index (distinct, gsize, at), distinct->len == 1, error))
        return FALSE;
  }
  return TRUE;
}
