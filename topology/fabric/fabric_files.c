/* fabric_files.c - fabrics from the files of ibnetdiscover and Slurm.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "topology/fabric/fabric.h"
#include "topology/fabric/fabric_build.h"
#include "topology/fabric/names.h"
#include "topology/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Parts of all readers --- */

/* The next line of *text, ended by a NUL, without blanks at its ends; NULL at
 * the end of the text. */
static char *
fabric_line (char **text)
{
  char *line = *text, *end;

  if (*line == '\0')
    return NULL;
  end = strchr (line, '\n');
  if (end != NULL) {
    *end = '\0';
    *text = end + 1;
  } else
    *text = line + strlen (line);
  return g_strstrip (line);
}

/* "4xQDR", "4x QDR" or "4x"; the rest of the text in *end.  False when it is
 * not of this form; *bad is set when it is, with a width or speed that does
 * not exist. */
static bool
fabric_rate (const char *text, uint32_t *lanes, TopoSpeed *speed, bool *bad)
{
  char *end;
  guint64 width;
  gsize length;

  *bad = false;
  if (!g_ascii_isdigit (*text))
    return false;
  width = g_ascii_strtoull (text, &end, 10);
  if (*end++ != 'x')
    return false;
  while (*end == ' ')
    end++;
  length = strcspn (end, " \t");
  if ((width != 1 && width != 2 && width != 4 && width != 8 && width != 12) ||
      (length > 0 && !topo_speed_parse (end, length, speed))) {
    *bad = true;
    return false;
  }
  *lanes = (uint32_t) width;
  return true;
}

/* --- ibnetdiscover's output, as ibsim reads it too ---
 *
 *   switchguid=0x8f10500200b50(8f10500200b50)
 *   Switch 36 "S-0008f10500200b50" # "leaf 1" enhanced port 0 lid 9 lmc 0
 *   [1] "S-0008f10500108c5c"[15] # "spine 3" lid 16 4xQDR
 *   [4] "H-003048c749cd0000"[1](3048c749cd0001) # "node4 HCA-1" lid 72 4xDDR
 *
 *   caguid=0x3048c749cd0000
 *   Ca 2 "H-003048c749cd0000" # "node4 HCA-1"
 *   [1](3048c749cd0001) "S-0008f10500200b50"[4] # lid 72 lmc 0 "leaf 1" lid 9 4xDDR
 *
 * The comment after '#' is used if present: hand-written files and those for
 * ibsim often lack it.  Lines that are neither a device nor a port are ignored:
 * dumps contain the error messages of the program that made them. */

typedef struct {
  const char *path;
  TopoFabricBuilder *builder;
  uint32_t line;
  uint32_t device; /* whose ports follow; TOPO_NONE: none yet */
  bool is_adapter;
  uint64_t guid;  /* of the device that follows, from its own line; 0: none */
  uint32_t model; /* of the same, from the line devid= */
  uint32_t n_unrated;
} Discovery;

static gboolean
bad_line (const Discovery *discovery, const char *expected, const char *text, GError **error)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s:%u: expected %s, found \"%s\"",
               discovery->path, discovery->line, expected, text);
  return FALSE;
}

static const char *
skip_blanks (const char *text)
{
  while (*text == ' ' || *text == '\t')
    text++;
  return text;
}

/* The text between the quotes that *text begins with; *text moves behind
 * them.  NULL when there are none. */
static char *
take_quoted (const char **text)
{
  const char *start = skip_blanks (*text), *end;

  if (*start != '"' || (end = strchr (start + 1, '"')) == NULL)
    return NULL;
  *text = end + 1;
  return g_strndup (start + 1, (gsize) (end - start - 1));
}

/* A number in brackets: "[15]". */
static gboolean
take_port (const char **text, uint32_t *number)
{
  const char *start = skip_blanks (*text);
  char *end;
  guint64 value;

  if (*start != '[' || !g_ascii_isdigit (start[1]))
    return FALSE;
  value = g_ascii_strtoull (start + 1, &end, 10);
  if (*end != ']' || value > UINT16_MAX)
    return FALSE;
  *number = (uint32_t) value;
  *text = end + 1;
  return TRUE;
}

/* "(3048c749cd0001)"; 0 when there is none. */
static uint64_t
take_guid (const char **text)
{
  const char *start = skip_blanks (*text);
  const char *end = *start == '(' ? strchr (start, ')') : NULL;

  if (end == NULL)
    return 0;
  *text = end + 1;
  return g_ascii_strtoull (start + 1, NULL, 16);
}

/* The number behind `word` in the text; 0 when it is not there. */
static uint32_t
number_after (const char *text, const char *word)
{
  const char *found = strstr (text, word);

  return found != NULL
             ? (uint32_t) MIN (g_ascii_strtoull (found + strlen (word), NULL, 10), UINT16_MAX)
             : 0;
}

/* --- Devices of ibnetdiscover --- */

static bool
takes_word (const char **text, const char *word)
{
  gsize length = strlen (word);

  if (g_ascii_strncasecmp (*text, word, length) != 0 ||
      ((*text)[length] != ' ' && (*text)[length] != '\t'))
    return false;
  *text += length;
  return true;
}

static gboolean
read_device (Discovery *discovery, const char *rest, bool is_switch, const char *whole,
             GError **error)
{
  TopoBuildDevice device = { .is_switch = is_switch, .line = discovery->line };
  guint64 n_ports = g_ascii_strtoull (rest, (char **) &rest, 10);
  g_autofree char *id = take_quoted (&rest);
  g_autofree char *name = NULL;
  const char *comment;

  if (id == NULL)
    return bad_line (discovery, "PORTS \"ID\" behind the kind of device", whole, error);
  comment = strchr (rest, '#');
  if (comment != NULL) {
    comment++;
    name = take_quoted (&comment);
    device.lid = number_after (comment, " lid ");
  }
  device.id = id;
  device.name = name;
  device.n_ports = (uint32_t) MIN (n_ports, UINT16_MAX);
  device.guid = discovery->guid;
  if (device.guid == 0 && strlen (id) == 18 && id[1] == '-') {
    /* The ids of ibnetdiscover carry the GUID. */
    char *end;
    uint64_t guid = g_ascii_strtoull (id + 2, &end, 16);

    device.guid = *end == '\0' ? guid : 0;
  }
  device.model = discovery->model;
  discovery->guid = 0;
  discovery->model = 0;
  discovery->device = topo_build_device (discovery->builder, &device, error);
  discovery->is_adapter = !is_switch;
  return discovery->device != TOPO_NONE;
}

/* --- Ports of ibnetdiscover --- */

static gboolean
read_port (Discovery *discovery, const char *text, GError **error)
{
  /* ibsim's default rate. */
  TopoBuildEnd end = {
    .device = discovery->device, .lanes = 4, .speed = TOPO_SPEED_SDR, .line = discovery->line
  };
  const char *rest = text;
  g_autofree char *peer = NULL;
  bool bad = false;

  if (discovery->device == TOPO_NONE)
    return bad_line (discovery, "a device before its ports", text, error);
  if (!take_port (&rest, &end.number))
    return bad_line (discovery, "[PORT] \"ID\"[PORT]", text, error);
  end.guid = take_guid (&rest);
  peer = take_quoted (&rest);
  if (peer == NULL || !take_port (&rest, &end.peer_number))
    return bad_line (discovery, "[PORT] \"ID\"[PORT]", text, error);
  end.peer_id = peer;
  take_guid (&rest);
  rest = skip_blanks (rest);
  if (*rest == '#') {
    /* The comment has LIDs and the rate. */
    const char *comment = skip_blanks (rest + 1), *rate = strrchr (comment, ' ');

    if (discovery->is_adapter && strchr (comment, '"') != NULL) {
      g_autofree char *own = g_strndup (comment, strcspn (comment, "\""));

      end.lid = number_after (own, "lid ");
      end.lmc = number_after (own, "lmc ");
    }
    if (!discovery->is_adapter)
      end.peer_lid = number_after (comment, "lid ");
    if (end.lmc > 7)
      return bad_line (discovery, "lmc 0 to 7", comment, error);
    rate = rate != NULL ? rate + 1 : comment;
    if (!fabric_rate (rate, &end.lanes, &end.speed, &bad)) {
      if (bad)
        return bad_line (discovery, "a width and speed such as 4xQDR", rate, error);
      discovery->n_unrated++;
    }
  } else {
    /* ibsim's own syntax for a width: w=12. */
    const char *found = strstr (rest, "w=");
    g_autofree char *width = found != NULL ? g_strdup_printf ("%dx", atoi (found + 2)) : NULL;

    discovery->n_unrated++;
    if (width != NULL && !fabric_rate (width, &end.lanes, &end.speed, &bad))
      return bad_line (discovery, "w=1, 2, 4, 8 or 12", found, error);
  }
  return topo_build_end (discovery->builder, &end, error);
}

/* --- A whole file --- */

/* The output of ibnetdiscover; also any text that is neither of the other formats. */
static TopoFabric *
fabric_discovered (const char *path, char *text, GError **error)
{
  g_autoptr (TopoFabricBuilder) builder = topo_build_new (path);
  Discovery discovery = { .path = path, .builder = builder, .device = TOPO_NONE };
  g_autoptr (TopoFabric) fabric = NULL;
  char *line;

  while ((line = fabric_line (&text)) != NULL) {
    const char *rest = line;
    gboolean good = TRUE;

    discovery.line++;
    if (*line == '[')
      good = read_port (&discovery, line, error);
    else if (g_str_has_prefix (line, "switchguid=") || g_str_has_prefix (line, "caguid="))
      discovery.guid = g_ascii_strtoull (strchr (line, '=') + 1, NULL, 16);
    else if (g_str_has_prefix (line, "devid="))
      discovery.model = (uint32_t) g_ascii_strtoull (strchr (line, '=') + 1, NULL, 16);
    else if (takes_word (&rest, "Switch"))
      good = read_device (&discovery, rest, true, line, error);
    else if (takes_word (&rest, "Ca") || takes_word (&rest, "Hca"))
      good = read_device (&discovery, rest, false, line, error);
    else if (takes_word (&rest, "Rt"))
      good = bad_line (&discovery,
                       "switches and host adapters (routers join subnets, and only one "
                       "subnet can be simulated)",
                       line, error);
    else if (takes_word (&rest, "include") || takes_word (&rest, "do"))
      good = bad_line (&discovery, "a plain description (commands of ibsim are not carried out)",
                       line, error);
    if (!good)
      return NULL;
  }
  if (discovery.device == TOPO_NONE) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "%s: describes no fabric: neither output of ibnetdiscover, nor its ports report, "
                 "nor a topology.conf of Slurm, nor a table of nodes",
                 path);
    return NULL;
  }
  fabric = topo_build_finish (builder, error);
  if (fabric != NULL && discovery.n_unrated > 0)
    g_ptr_array_add (fabric->warnings,
                     g_strdup_printf ("%s: %u cable ends without a speed: taken for SDR, as ibsim "
                                      "does",
                                      path, discovery.n_unrated));
  return g_steal_pointer (&fabric);
}

/* --- The ports report: ibnetdiscover -p ---
 *
 *   CA   182  1 0x001175000077d284 4x QDR - SW    18 18 0x00066a00ec002dd9 ( 'node179 HCA-1' - 'L112' )
 *   SW    18 37 0x00066a00ec002dd9 4x ???                                    'L112'
 *
 * A line is a port: kind, LID, port number and GUID of its device, width and
 * speed, the same of the far end, and both descriptions.  The number of a
 * device's ports is not given: it is taken to be the highest port number.  As
 * each line names both ends, a cable with one line only is accepted and counted
 * in a warning. */

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
  GHashTable *n_ports; /* (element-type utf8 uint) by id */
} Report;

/* The first line of a known form decides: messages of the program may precede a report. */
static bool
fabric_is_report (const char *text)
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

  if (sscanf (*text, " %2[A-Z] %6u %6u 0x%16llx%n", kind, &lid, &number, &guid, &length) != 4 ||
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

/* One end of a row's cable. */
static gboolean
add_report_end (TopoFabricBuilder *builder, const Row *row, const Plug *here, const Plug *there,
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

/* Builds the fabric from the rows of the whole report, which give the numbers of ports. */
static TopoFabric *
fabric_of_report (const char *path, char *text, GError **error)
{
  g_autoptr (TopoFabricBuilder) builder = topo_build_new (path);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (Row));
  g_autoptr (GHashTable) n_ports = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) described = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Report report = { .path = path, .n_ports = n_ports };
  g_autoptr (TopoFabric) fabric = NULL;
  uint32_t n_missing = 0;
  char *line;

  while ((line = fabric_line (&text)) != NULL) {
    g_autofree char *whole = g_strdup (line);
    const char *rest = line, *dash;
    Row row = { .line = ++report.line };
    char *names;
    bool bad;

    if (!g_str_has_prefix (line, "CA ") && !g_str_has_prefix (line, "SW "))
      continue;
    if (!take_plug (&rest, &row.here)) {
      bad_row (&report, whole, error);
      return NULL;
    }
    while (*rest == ' ')
      rest++;
    dash = strstr (rest, " - ");
    row.connected = dash != NULL && strchr (rest, '(') != NULL;
    if (row.connected) {
      bool is_rate = fabric_rate (rest, &row.lanes, &row.speed, &bad);

      rest = dash + 3;
      if (!is_rate || !take_plug (&rest, &row.there)) {
        bad_row (&report, whole, error);
        return NULL;
      }
    }
    names = (char *) rest;
    row.here_name = take_name (&names);
    row.there_name = row.connected ? take_name (&names) : NULL;
    if (row.here_name == NULL || (row.connected && row.there_name == NULL)) {
      bad_row (&report, whole, error);
      return NULL;
    }
    note_port (&report, &row.here);
    if (row.connected)
      note_port (&report, &row.there);
    g_array_append_val (rows, row);
    g_hash_table_add (described, key_of (&row.here));
  }

  for (guint at = 0; at < rows->len; at++) {
    const Row *row = &g_array_index (rows, Row, at);
    g_autofree char *far = NULL;

    if (!add_plug (&report, builder, &row->here, row->here_name, row->line, error))
      return NULL;
    if (!row->connected)
      continue;
    if (!add_plug (&report, builder, &row->there, row->there_name, row->line, error) ||
        !add_report_end (builder, row, &row->here, &row->there, error))
      return NULL;
    far = key_of (&row->there);
    if (g_hash_table_contains (described, far))
      continue;
    n_missing++;
    if (!add_report_end (builder, row, &row->there, &row->here, error))
      return NULL;
  }
  fabric = topo_build_finish (builder, error);
  if (fabric != NULL && n_missing > 0)
    g_ptr_array_add (
        fabric->warnings,
        g_strdup_printf ("%s: %u cables are reported from one end only", path, n_missing));
  return g_steal_pointer (&fabric);
}

/* --- Slurm's topology.conf ---
 *
 *   SwitchName=leaf1 Nodes=node[1-16,18]
 *   SwitchName=spine Switches=leaf[1-4] LinkSpeed=10
 *
 * or, of topology/block,
 *
 *   BlockName=block1 Nodes=node[1-18]
 *   BlockSizes=18,36
 *
 * It has the tree of switches and nodes, but neither the number of cables nor their
 * speeds: one cable each of 4x QDR is assumed, with a warning.
 * LinkSpeed is a number without a unit for the administrator; it is not used.
 *
 * A block is taken for a switch.  The switches between blocks are not in the file (BlockSizes
 * groups blocks for the scheduler): assumed are as many as a block has cables, each with one to
 * every block. */

typedef struct {
  char *name;
  bool is_switch;
  uint32_t line, n_ports, device;
} Item;

typedef struct {
  uint32_t parent, child; /* items */
  uint32_t n_cables;
  uint32_t line;
} Edge;

typedef struct {
  const char *path;
  uint32_t line;
  GArray *items;       /* (element-type Item) */
  GHashTable *by_name; /* (element-type utf8 uint) item + 1 */
  GArray *edges;       /* (element-type Edge) */
  GHashTable *joined;  /* set of pairs of items, as 64 bits */
  GArray *blocks;      /* (element-type uint32_t) items */
  uint32_t n_cables;   /* between two switches */
  bool has_switches;
} Slurm;

/* The first line with a switch decides: comments may hold anything. */
static bool
fabric_is_slurm (const char *text)
{
  while (text != NULL && *text != '[') {
    g_autofree char *line = g_ascii_strdown (text, (gssize) strcspn (text, "#\n"));

    if (strstr (line, "switchname=") != NULL || strstr (line, "blockname=") != NULL)
      return true;
    text = strchr (text, '\n');
    text = text != NULL ? text + 1 : NULL;
  }
  return false;
}

static gboolean
bad_list (const Slurm *slurm, const char *text, GError **error)
{
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
               "%s:%u: expected names such as node[1-16,18],login, found \"%s\"", slurm->path,
               slurm->line, text);
  return FALSE;
}

/* --- Lines --- */

static uint32_t
item_of (Slurm *slurm, const char *name, bool is_switch)
{
  guint known = GPOINTER_TO_UINT (g_hash_table_lookup (slurm->by_name, name));
  Item item = { .name = (char *) name, .is_switch = is_switch, .line = slurm->line };

  if (known > 0)
    return known - 1;
  item.name = g_strdup (name);
  g_array_append_val (slurm->items, item);
  g_hash_table_insert (slurm->by_name, item.name, GUINT_TO_POINTER (slurm->items->len));
  return slurm->items->len - 1;
}

static void
join (Slurm *slurm, uint32_t parent, uint32_t child, uint32_t n_cables)
{
  Edge edge = { parent, child, n_cables, slurm->line };
  gint64 key = (gint64) ((uint64_t) MIN (parent, child) << 32 | MAX (parent, child));

  if (parent == child || g_hash_table_contains (slurm->joined, &key))
    return;
  g_hash_table_add (slurm->joined, g_memdup2 (&key, sizeof key));
  g_array_append_val (slurm->edges, edge);
  g_array_index (slurm->items, Item, parent).n_ports += n_cables;
  g_array_index (slurm->items, Item, child).n_ports += n_cables;
}

static gboolean
join_all (Slurm *slurm, uint32_t parent, const char *list, bool are_switches, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  if (!topo_names_expand (list, names))
    return bad_list (slurm, list, error);
  for (guint at = 0; at < names->len; at++) {
    uint32_t child = item_of (slurm, names->pdata[at], are_switches);

    if (g_array_index (slurm->items, Item, child).is_switch != are_switches)
      return bad_list (slurm, list, error);
    join (slurm, parent, child, are_switches ? slurm->n_cables : 1);
  }
  return TRUE;
}

static gboolean
read_slurm_line (Slurm *slurm, char *line, GError **error)
{
  g_auto (GStrv) fields = NULL;
  uint32_t parent = TOPO_NONE;

  line[strcspn (line, "#")] = '\0';
  fields = g_strsplit_set (line, " \t", -1);
  for (guint at = 0; fields[at] != NULL; at++) {
    char *value = strchr (fields[at], '=');

    if (fields[at][0] == '\0')
      continue;
    if (value == NULL)
      return bad_list (slurm, fields[at], error);
    *value++ = '\0';
    if (!g_ascii_strcasecmp (fields[at], "BlockSizes"))
      continue;
    if (!g_ascii_strcasecmp (fields[at], "SwitchName")) {
      parent = item_of (slurm, value, true);
      slurm->has_switches = true;
    } else if (!g_ascii_strcasecmp (fields[at], "BlockName")) {
      parent = item_of (slurm, value, true);
      g_array_append_val (slurm->blocks, parent);
    } else if (parent == TOPO_NONE)
      return bad_list (slurm, fields[at], error);
    else if (!g_ascii_strcasecmp (fields[at], "Nodes")) {
      if (!join_all (slurm, parent, value, false, error))
        return FALSE;
    } else if (!g_ascii_strcasecmp (fields[at], "Switches")) {
      if (!join_all (slurm, parent, value, true, error))
        return FALSE;
    } else if (g_ascii_strcasecmp (fields[at], "LinkSpeed") != 0)
      return bad_list (slurm, fields[at], error);
  }
  return TRUE;
}

/* --- The fabric --- */

static gboolean
add_slurm_end (TopoFabricBuilder *builder, const Item *here, const Item *there, TopoRate rate,
               uint32_t line, GError **error)
{
  TopoBuildEnd end = { .device = here->device,
                       .number = here->n_ports,
                       .peer_id = there->name,
                       .peer_number = there->n_ports,
                       .lanes = rate.lanes,
                       .speed = rate.speed,
                       .line = line };

  return topo_build_end (builder, &end, error);
}

static void
item_clear (gpointer data)
{
  g_free (((Item *) data)->name);
}

/* The switches between blocks.  Names of the file have no blanks. */
static gboolean
join_blocks (Slurm *slurm, GError **error)
{
  if (slurm->blocks->len > 0 && slurm->has_switches) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: has both SwitchName and BlockName",
                 slurm->path);
    return FALSE;
  }
  for (uint32_t at = 0; slurm->blocks->len > 1 && at < slurm->n_cables; at++) {
    g_autofree char *name = g_strdup_printf ("core %u", at);
    uint32_t core = item_of (slurm, name, true);

    for (guint block = 0; block < slurm->blocks->len; block++)
      join (slurm, core, g_array_index (slurm->blocks, uint32_t, block), 1);
  }
  return TRUE;
}

static TopoFabric *
fabric_slurm (const char *path, char *text, const TopoCabling *given, GError **error)
{
  g_autoptr (GArray) items = g_array_new (FALSE, FALSE, sizeof (Item));
  g_autoptr (GArray) edges = g_array_new (FALSE, FALSE, sizeof (Edge));
  g_autoptr (GHashTable) by_name = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) joined = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_autoptr (GArray) blocks = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  Slurm slurm = { path, 0, items, by_name, edges, joined, blocks, MAX (given->cables, 1), false };
  TopoRate rate = given->rate.lanes > 0 ? given->rate : (TopoRate){ 4, TOPO_SPEED_QDR };
  g_autoptr (GString) whole = g_string_new (NULL);
  g_autoptr (TopoFabricBuilder) builder = NULL;
  TopoFabric *fabric;
  uint32_t n_lines = 0;
  char *line;

  g_array_set_clear_func (items, item_clear);
  while ((line = fabric_line (&text)) != NULL) {
    n_lines++;
    if (whole->len == 0)
      slurm.line = n_lines;
    g_string_append (whole, line);
    /* A backslash at the end continues the line. */
    if (g_str_has_suffix (line, "\\")) {
      g_string_truncate (whole, whole->len - 1);
      continue;
    }
    if (!read_slurm_line (&slurm, whole->str, error))
      return NULL;
    g_string_truncate (whole, 0);
  }
  if (!join_blocks (&slurm, error))
    return NULL;
  builder = topo_build_new (path);
  for (guint at = 0; at < slurm.items->len; at++) {
    Item *item = &g_array_index (slurm.items, Item, at);
    g_autofree char *name =
        item->is_switch ? g_strdup (item->name) : g_strdup_printf ("%s HCA-1", item->name);
    TopoBuildDevice device = { .id = item->name,
                               .name = name,
                               .is_switch = item->is_switch,
                               .n_ports = MAX (item->n_ports, 1),
                               .line = item->line };

    item->n_ports = 0;
    item->device = topo_build_device (builder, &device, error);
    if (item->device == TOPO_NONE)
      return NULL;
  }
  for (guint at = 0; at < slurm.edges->len; at++) {
    const Edge *edge = &g_array_index (slurm.edges, Edge, at);
    Item *parent = &g_array_index (slurm.items, Item, edge->parent);
    Item *child = &g_array_index (slurm.items, Item, edge->child);

    for (uint32_t cable = 0; cable < edge->n_cables; cable++) {
      parent->n_ports++;
      child->n_ports++;
      if (!add_slurm_end (builder, parent, child, rate, edge->line, error) ||
          !add_slurm_end (builder, child, parent, rate, edge->line, error))
        return NULL;
    }
  }
  fabric = topo_build_finish (builder, error);
  if (fabric != NULL && (given->cables == 0 || given->rate.lanes == 0))
    g_ptr_array_add (fabric->warnings,
                     g_strdup_printf ("%s: Slurm's files have no cables: assumed are %u of %s "
                                      "(cables=, speed=) %s, and one to every node",
                                      slurm.path, slurm.n_cables, topo_rate_name (rate),
                                      blocks->len > 0 ? "from every block to switches between them"
                                                      : "between two switches that are joined"));
  return fabric;
}

/* --- Any of them --- */

TopoFabric *
topo_fabric_load (const char *path, const TopoCabling *cabling, GError **error)
{
  static const TopoCabling nothing = { { 0, TOPO_SPEED_SDR }, 0, 0 };
  const TopoCabling *given = cabling != NULL ? cabling : &nothing;
  const char *useless = NULL; /* option */
  bool is_table, is_slurm;
  g_autofree char *text = NULL;
  g_autoptr (GError) cause = NULL;
  gsize length;

  if (!base_file_read (path, &text, &length, &cause)) {
    g_set_error_literal (error, TOPO_ERROR, TOPO_ERROR_FILE, cause->message);
    return NULL;
  }
  if (strlen (text) != length) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: not a text file", path);
    return NULL;
  }
  is_table = topo_fabric_is_table (text);
  is_slurm = !is_table && !fabric_is_report (text) && fabric_is_slurm (text);
  if (given->rate.lanes > 0 && !is_table && !is_slurm)
    useless = "speed=";
  else if (given->cables > 0 && !is_table && !is_slurm)
    useless = "cables=";
  else if (given->spines > 0 && !is_table)
    useless = "spines=";
  if (useless != NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "%s: %s does not apply: the file has its %s",
                 path, useless, is_slurm ? "switches" : "cables");
    return NULL;
  }
  if (is_table)
    return topo_fabric_of_table (path, text, given, error);
  if (is_slurm)
    return fabric_slurm (path, text, given, error);
  return fabric_is_report (text) ? fabric_of_report (path, text, error)
                                 : fabric_discovered (path, text, error);
}
