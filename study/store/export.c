/* export.c - a store's runs as tables for other programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/store/export.h"

#include "study/text.h"

#include <inttypes.h>
#include <string.h>

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
put_json_text (FILE *out, const char *text)
{
  fputc ('"', out);
  for (; *text != '\0'; text++) {
    guchar byte = (guchar) *text;

    if (byte == '"' || byte == '\\')
      fprintf (out, "\\%c", byte);
    else if (byte < 0x20)
      fprintf (out, "\\u%04x", byte);
    else
      fputc (byte, out);
  }
  fputc ('"', out);
}

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

/* NULL: not known. */
static void
put_value (Table *table, const char *text, gboolean is_number)
{
  const char *name = table->names[table->column];

  if (table->column++ > 0)
    fputc (',', table->out);
  if (table->form == STUDY_EXPORT_CSV) {
    study_csv_field (table->out, text != NULL ? text : "");
    return;
  }
  fprintf (table->out, "\"%s\":", name);
  if (text == NULL)
    fputs ("null", table->out);
  else if (is_number)
    fputs (text, table->out);
  else
    put_json_text (table->out, text);
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
  char text[STUDY_NUMBER_SIZE];

  put_value (table, study_number (text, number), TRUE);
}

/* --- Runs --- */

static void
export_runs (const GPtrArray *rows, StudyExportForm form, gboolean timing, FILE *out)
{
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
}

/* --- Details of each run --- */

/* Of a run: its number among the rows, its key and the number of a link or rank. */
static void
begin_detail (Table *table, guint run, const StudyRow *row, uint64_t number)
{
  begin_line (table);
  put_integer (table, run);
  put_value (table, row->key, FALSE);
  put_integer (table, number);
}

static void
put_links (Table *table, guint run, const StudyRow *row)
{
  gsize n_bytes = 0;
  const uint64_t *bytes =
      row->link_bytes != NULL ? g_bytes_get_data (row->link_bytes, &n_bytes) : NULL;

  for (gsize link = 0; link < n_bytes / sizeof *bytes; link++) {
    begin_detail (table, run, row, link);
    put_integer (table, bytes[link]);
    end_line (table);
  }
}

static void
put_ranks (Table *table, guint run, const StudyRow *row)
{
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

static gboolean
put_placement (Table *table, StudyStore *store, guint run, const StudyRow *row, GError **error)
{
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

/* Blobs are large: there is one row's at a time. */
static gboolean
put_details (Table *table, StudyStore *store, StudyExportWhat what, guint run, StudyRow *row,
             GError **error)
{
  if (what == STUDY_EXPORT_PLACEMENTS)
    return put_placement (table, store, run, row, error);
  if (!study_store_load_blobs (store, row, error))
    return FALSE;
  if (what == STUDY_EXPORT_LINKS)
    put_links (table, run, row);
  else
    put_ranks (table, run, row);
  g_clear_pointer (&row->link_bytes, g_bytes_unref);
  g_clear_pointer (&row->rank_times, g_bytes_unref);
  return TRUE;
}

static gboolean
export_details (StudyStore *store, const GPtrArray *rows, StudyExportWhat what,
                StudyExportForm form, FILE *out, GError **error)
{
  static const char *const links[] = { "run", "key", "link", "bytes" };
  static const char *const ranks[] = { "run", "key", "rank", "end_s", "compute_s", "wait_s" };
  static const char *const places[] = { "run", "key", "rank", "node", "slot" };
  Table table = { .out = out, .form = form };

  table.names = what == STUDY_EXPORT_LINKS ? links : what == STUDY_EXPORT_RANKS ? ranks : places;
  table.n_columns = what == STUDY_EXPORT_LINKS   ? G_N_ELEMENTS (links)
                    : what == STUDY_EXPORT_RANKS ? G_N_ELEMENTS (ranks)
                                                 : G_N_ELEMENTS (places);
  begin_table (&table);
  for (guint row = 0; row < rows->len; row++)
    if (!put_details (&table, store, what, row, g_ptr_array_index (rows, row), error))
      return FALSE;
  end_table (&table);
  return TRUE;
}

gboolean
study_export (StudyStore *store, StudyExportWhat what, StudyExportForm form, gboolean timing,
              FILE *out, GError **error)
{
  g_autoptr (GPtrArray) rows = study_store_rows (store, FALSE, error);

  if (rows == NULL)
    return FALSE;
  if (what != STUDY_EXPORT_RUNS)
    return export_details (store, rows, what, form, out, error);
  export_runs (rows, form, timing, out);
  return TRUE;
}
