/* npz.c - arrays in the file that NumPy's load() opens.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources: PKWARE's APPNOTE (zip) and NumPy's description of the .npy format,
 * version 1.0. */
#include "config.h"

#include "study/store/npz.h"

#include <string.h>
#include <zlib.h>

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

static void
put_descriptor (StudyNpz *npz, const Entry *entry)
{
  gsize width = entry->is_64 ? 8 : 4;

  put_4 (npz, DESCRIPTOR_SIGNATURE);
  put_4 (npz, entry->checksum);
  put_number (npz, entry->n_bytes, width);
  put_number (npz, entry->n_bytes, width);
}

/* In the directory at the end everything is known. */
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

static void
put_end_64 (StudyNpz *npz, uint64_t begin, uint64_t n_bytes)
{
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
  if (is_64)
    put_end_64 (npz, begin, n_bytes);
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

/* Bytes of one number or text: "<f8" 8, "<U12" 48. */
static uint64_t
item_bytes (const char *type)
{
  uint64_t count = g_ascii_strtoull (type + 2, NULL, 10);

  return type[1] == 'U' ? count * 4 : count;
}

/* The dictionary of a .npy, ended and filled up as its format asks. */
static GString *
header_new (const char *type, const uint64_t *shape, guint n_dimensions)
{
  GString *header = g_string_new (NULL);

  g_string_printf (header, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
  for (guint at = 0; at < n_dimensions; at++)
    g_string_append_printf (header, "%s%" G_GUINT64_FORMAT, at > 0 ? ", " : "", shape[at]);
  g_string_append (header, n_dimensions == 1 ? ",), }" : "), }");
  while ((PREAMBLE_BYTES + header->len + 1) % HEADER_MULTIPLE != 0)
    g_string_append_c (header, ' ');
  g_string_append_c (header, '\n');
  return header;
}

void
study_npz_write (StudyNpz *npz, gconstpointer data, gsize n_bytes)
{
  Entry *entry = last_entry (npz);

  /* As zlib counts in 32 bits. */
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
  g_autoptr (GString) header = header_new (type, shape, n_dimensions);
  uint16_t length = GUINT16_TO_LE ((uint16_t) header->len);
  uint64_t n_bytes = item_bytes (type);
  Entry entry = { .name = g_strconcat (name, ".npy", NULL), .offset = npz->offset };

  for (guint at = 0; at < n_dimensions; at++)
    n_bytes *= shape[at];
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
  put_descriptor (npz, last_entry (npz));
}

/* Words of 64 bits, numbers whatever they stand for. */
static void
add_words (StudyNpz *npz, const char *name, const char *type, gconstpointer values, uint64_t n)
{
  study_npz_begin (npz, name, type, &n, 1);
  for (uint64_t at = 0; at < n; at++) {
    uint64_t word;

    memcpy (&word, (const char *) values + at * sizeof word, sizeof word);
    word = GUINT64_TO_LE (word);
    study_npz_write (npz, &word, sizeof word);
  }
  study_npz_end (npz);
}

void
study_npz_add_reals (StudyNpz *npz, const char *name, const double *values, uint64_t n)
{
  add_words (npz, name, "<f8", values, n);
}

void
study_npz_add_integers (StudyNpz *npz, const char *name, const uint64_t *values, uint64_t n)
{
  add_words (npz, name, "<u8", values, n);
}

/* Characters of 32 bits, filled up with zeros to the longest text. */
void
study_npz_add_texts (StudyNpz *npz, const char *name, const char *const *texts, uint64_t n)
{
  glong longest = 1;
  g_autofree gunichar *padded = NULL;
  g_autofree char *type = NULL;

  for (uint64_t at = 0; at < n; at++)
    longest = MAX (longest, texts[at] != NULL ? g_utf8_strlen (texts[at], -1) : 0);
  padded = g_new (gunichar, longest);
  type = g_strdup_printf ("<U%ld", longest);
  study_npz_begin (npz, name, type, &n, 1);
  for (uint64_t at = 0; at < n; at++) {
    const char *text = texts[at] != NULL ? texts[at] : "";

    for (glong character = 0; character < longest; character++) {
      padded[character] = GUINT32_TO_LE (g_utf8_get_char (text));
      text = *text != '\0' ? g_utf8_next_char (text) : text;
    }
    study_npz_write (npz, padded, (gsize) longest * sizeof *padded);
  }
  study_npz_end (npz);
}
