/* fabric_report.c - the ports report of a fabric: ibnetdiscover -p.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   CA   182  1 0x001175000077d284 4x QDR - SW    18 18 0x00066a00ec002dd9 ( 'node179 HCA-1' - 'L112' )
 *   SW    18 37 0x00066a00ec002dd9 4x ???                                    'L112'
 *
 * A line is a port: kind, LID, port number and GUID of its device, width and
 * speed, the same of the far end, and both descriptions.  The number of a
 * device's ports is not said: as many as the highest that is named.  As each
 * line names both ends, a cable whose other line is missing is taken all the
 * same, and counted in a warning. */
#include "topology/fabric/fabric_build.h"
#include "topology/fabric/fabric_files.h"
#include "topology/machine.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  bool is_switch;
  uint32_t lid, number;
  char id[20];
} Plug;

typedef struct {
  Plug here, there;
  bool connected;
  uint32_t lanes;
  TopoSpeed speed;
  char *here_name, *there_name; /* within the line */
  uint32_t line;
} Row;

typedef struct {
  const char *path;
  uint32_t line;
  GArray *rows;          /* (element-type Row) */
  GHashTable *n_ports;   /* (element-type utf8 uint) by id */
  GHashTable *described; /* set of "id port" of the rows */
} Report;

/* The first line that tells: reports may begin with the talk of the program,
 * and have no blank lines. */
bool
topo_fabric_is_report (const char *text)
{
  while (text != NULL && *text != '\0') {
    if (g_str_has_prefix (text, "CA ") || g_str_has_prefix (text, "SW "))
      return true;
    if (*text == '[')
      return false;
    text = strchr (text, '\n');
    text = text != NULL ? text + 1 : NULL;
  }
  return false;
}

static gboolean
bad_row (const Report *report, const char *text, GError **error)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
               "%s:%u: expected KIND LID PORT GUID WIDTH SPEED - KIND LID PORT GUID ( 'NAME' - "
               "'NAME' ), found \"%s\"",
               report->path, report->line, text);
  return FALSE;
}

/* "SW 18 37 0x00066a00ec002dd9"; *text moves behind it. */
static gboolean
take_plug (const char **text, Plug *plug)
{
  char kind[3];
  unsigned lid, number;
  unsigned long long guid;
  int length = 0;

  if (sscanf (*text, " %2[A-Z] %u %u 0x%llx%n", kind, &lid, &number, &guid, &length) != 4 ||
      (strcmp (kind, "CA") != 0 && strcmp (kind, "SW") != 0) || lid > UINT16_MAX)
    return FALSE;
  plug->is_switch = kind[0] == 'S';
  plug->lid = lid;
  plug->number = MIN (number, UINT16_MAX);
  g_snprintf (plug->id, sizeof plug->id, "%c-%016llx", plug->is_switch ? 'S' : 'H', guid);
  *text += length;
  return TRUE;
}

/* The text between quotes; *text moves behind them. */
static char *
take_name (char **text)
{
  char *start = strchr (*text, '\''), *end;

  if (start == NULL)
    return NULL;
  /* Names may hold quotes of their own: the last one before " - '", " )" or
   * the end closes them. */
  end = strstr (start + 1, "' - '");
  if (end == NULL && (end = strstr (start + 1, "' )")) == NULL &&
      (end = strrchr (start + 1, '\'')) == NULL)
    return NULL;
  *end = '\0';
  *text = end + 1;
  return start + 1;
}

static gboolean
read_row (Report *report, char *text, Row *row, GError **error)
{
  const char *rest = text;
  g_autofree char *whole = g_strdup (text);
  bool bad;
  char *names;

  *row = (Row){ .line = report->line };
  if (!take_plug (&rest, &row->here))
    return bad_row (report, whole, error);
  while (*rest == ' ')
    rest++;
  row->connected = strstr (rest, " - ") != NULL && strchr (rest, '(') != NULL;
  names = (char *) rest;
  if (row->connected) {
    const char *dash = strstr (rest, " - ");

    if (!topo_fabric_rate (rest, &row->lanes, &row->speed, &bad))
      return bad_row (report, whole, error);
    rest = dash + 3;
    if (!take_plug (&rest, &row->there))
      return bad_row (report, whole, error);
    names = (char *) rest;
  }
  row->here_name = take_name (&names);
  row->there_name = row->connected ? take_name (&names) : NULL;
  if (row->here_name == NULL || (row->connected && row->there_name == NULL))
    return bad_row (report, whole, error);
  return TRUE;
}

static void
note_port (Report *report, const Plug *plug)
{
  uint32_t known = GPOINTER_TO_UINT (g_hash_table_lookup (report->n_ports, plug->id));

  if (plug->number > known)
    g_hash_table_insert (report->n_ports, g_strdup (plug->id), GUINT_TO_POINTER (plug->number));
}

static char *
key_of (const Plug *plug)
{
  return g_strdup_printf ("%s %u", plug->id, plug->number);
}

static gboolean
read_rows (Report *report, char *text, GError **error)
{
  char *line;

  while ((line = topo_fabric_line (&text)) != NULL) {
    Row row;

    report->line++;
    if (!g_str_has_prefix (line, "CA ") && !g_str_has_prefix (line, "SW "))
      continue;
    if (!read_row (report, line, &row, error))
      return FALSE;
    note_port (report, &row.here);
    if (row.connected)
      note_port (report, &row.there);
    g_array_append_val (report->rows, row);
    g_hash_table_add (report->described, key_of (&row.here));
  }
  return TRUE;
}

static gboolean
add_plug (const Report *report, TopoFabricBuilder *builder, const Plug *plug, const char *name,
          uint32_t line, GError **error)
{
  TopoBuildDevice device = {
    .id = plug->id,
    .name = name,
    .is_switch = plug->is_switch,
    .n_ports = GPOINTER_TO_UINT (g_hash_table_lookup (report->n_ports, plug->id)),
    .lid = plug->is_switch ? plug->lid : 0,
    .guid = g_ascii_strtoull (plug->id + 2, NULL, 16),
    .line = line,
  };

  return topo_build_find (builder, plug->id) != TOPO_NONE ||
         topo_build_device (builder, &device, error) != TOPO_NONE;
}

static gboolean
add_end (TopoFabricBuilder *builder, const Row *row, const Plug *here, const Plug *there,
         GError **error)
{
  TopoBuildEnd end = {
    .device = topo_build_find (builder, here->id),
    .number = here->number,
    .peer_id = there->id,
    .peer_number = there->number,
    .guid = here->is_switch ? 0 : g_ascii_strtoull (here->id + 2, NULL, 16),
    .lid = here->is_switch ? 0 : here->lid,
    .lanes = row->lanes,
    .speed = row->speed,
    .line = row->line,
  };

  return topo_build_end (builder, &end, error);
}

static gboolean
add_row (const Report *report, TopoFabricBuilder *builder, const Row *row, uint32_t *n_missing,
         GError **error)
{
  g_autofree char *far = NULL;

  if (!add_plug (report, builder, &row->here, row->here_name, row->line, error))
    return FALSE;
  if (!row->connected)
    return TRUE;
  if (!add_plug (report, builder, &row->there, row->there_name, row->line, error) ||
      !add_end (builder, row, &row->here, &row->there, error))
    return FALSE;
  far = key_of (&row->there);
  if (g_hash_table_contains (report->described, far))
    return TRUE;
  *n_missing += 1;
  return add_end (builder, row, &row->there, &row->here, error);
}

TopoFabric *
topo_fabric_report (const char *path, char *text, GError **error)
{
  g_autoptr (TopoFabricBuilder) builder = topo_build_new (path);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_autoptr (GHashTable) n_ports = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) described = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Report report = { .path = path, .rows = rows, .n_ports = n_ports, .described = described };
  g_autoptr (TopoFabric) fabric = NULL;
  uint32_t n_missing = 0;

  if (!read_rows (&report, text, error))
    return NULL;
  for (guint at = 0; at < rows->len; at++)
    if (!add_row (&report, builder, &g_array_index (rows, Row, at), &n_missing, error))
      return NULL;
  fabric = topo_build_finish (builder, error);
  if (fabric != NULL && n_missing > 0)
    g_ptr_array_add (
        fabric->warnings,
        g_strdup_printf ("%s: %u cables are reported from one end only", path, n_missing));
  return g_steal_pointer (&fabric);
}
