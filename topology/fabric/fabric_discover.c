/* fabric_discover.c - the output of ibnetdiscover, as ibsim reads it too.
 *
 * SPDX-License-Identifier: Apache-2.0
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
 * What stands behind '#' is used where it is there: hand-written files and
 * those for ibsim often end before it.  Lines that are neither a device nor a
 * port are passed over: dumps carry the complaints of the program that made
 * them. */
#include "topology/fabric/fabric_build.h"
#include "topology/fabric/fabric_files.h"
#include "topology/machine.h"

#include <stdlib.h>
#include <string.h>

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

/* --- Devices --- */

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

/* The GUID that an id of ibnetdiscover's carries; 0 for a name of its own. */
static uint64_t
guid_of_id (const char *id)
{
  char *end;
  uint64_t guid;

  if (strlen (id) != 18 || id[1] != '-')
    return 0;
  guid = g_ascii_strtoull (id + 2, &end, 16);
  return *end == '\0' ? guid : 0;
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
  device.guid = discovery->guid != 0 ? discovery->guid : guid_of_id (id);
  device.model = discovery->model;
  discovery->guid = 0;
  discovery->model = 0;
  discovery->device = topo_build_device (discovery->builder, &device, error);
  discovery->is_adapter = !is_switch;
  return discovery->device != TOPO_NONE;
}

/* --- Ports --- */

/* What stands in the comment of a port: its own LID (adapters), the rate. */
static gboolean
read_comment (Discovery *discovery, const char *comment, TopoBuildEnd *end, GError **error)
{
  const char *rate = strrchr (comment, ' ');
  bool bad = false;

  if (discovery->is_adapter && strchr (comment, '"') != NULL) {
    g_autofree char *own = g_strndup (comment, strcspn (comment, "\""));

    end->lid = number_after (own, "lid ");
    end->lmc = number_after (own, "lmc ");
  }
  if (!discovery->is_adapter)
    end->peer_lid = number_after (comment, "lid ");
  if (end->lmc > 7)
    return bad_line (discovery, "lmc 0 to 7", comment, error);
  rate = rate != NULL ? rate + 1 : comment;
  if (topo_fabric_rate (rate, &end->lanes, &end->speed, &bad))
    return TRUE;
  if (bad)
    return bad_line (discovery, "a width and speed such as 4xQDR", rate, error);
  discovery->n_unrated++;
  return TRUE;
}

/* The width that ibsim lets one write: w=12. */
static gboolean
read_width (Discovery *discovery, const char *rest, TopoBuildEnd *end, GError **error)
{
  const char *found = strstr (rest, "w=");
  g_autofree char *text = found != NULL ? g_strdup_printf ("%dx", atoi (found + 2)) : NULL;
  bool bad;

  discovery->n_unrated++;
  if (text == NULL || topo_fabric_rate (text, &end->lanes, &end->speed, &bad))
    return TRUE;
  return bad_line (discovery, "w=1, 2, 4, 8 or 12", found, error);
}

static gboolean
read_port (Discovery *discovery, const char *text, GError **error)
{
  /* ibsim's rate where none is written. */
  TopoBuildEnd end = {
    .device = discovery->device, .lanes = 4, .speed = TOPO_SPEED_SDR, .line = discovery->line
  };
  const char *rest = text, *comment;
  g_autofree char *peer = NULL;

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
  comment = *rest == '#' ? skip_blanks (rest + 1) : NULL;
  if (!(comment != NULL ? read_comment (discovery, comment, &end, error)
                        : read_width (discovery, rest, &end, error)))
    return FALSE;
  return topo_build_end (discovery->builder, &end, error);
}

/* --- The file --- */

static gboolean
read_line (Discovery *discovery, const char *text, GError **error)
{
  const char *rest = text;

  if (*text == '[')
    return read_port (discovery, text, error);
  if (g_str_has_prefix (text, "switchguid=") || g_str_has_prefix (text, "caguid=")) {
    discovery->guid = g_ascii_strtoull (strchr (text, '=') + 1, NULL, 16);
    return TRUE;
  }
  if (g_str_has_prefix (text, "devid=")) {
    discovery->model = (uint32_t) g_ascii_strtoull (strchr (text, '=') + 1, NULL, 16);
    return TRUE;
  }
  if (takes_word (&rest, "Switch"))
    return read_device (discovery, rest, true, text, error);
  if (takes_word (&rest, "Ca") || takes_word (&rest, "Hca"))
    return read_device (discovery, rest, false, text, error);
  if (takes_word (&rest, "Rt"))
    return bad_line (discovery,
                     "switches and host adapters (routers join subnets, and only one "
                     "subnet can be simulated)",
                     text, error);
  if (takes_word (&rest, "include") || takes_word (&rest, "do"))
    return bad_line (discovery, "a plain description (commands of ibsim are not carried out)", text,
                     error);
  return TRUE;
}

TopoFabric *
topo_fabric_discovered (const char *path, char *text, GError **error)
{
  g_autoptr (TopoFabricBuilder) builder = topo_build_new (path);
  Discovery discovery = { .path = path, .builder = builder, .device = TOPO_NONE };
  g_autoptr (TopoFabric) fabric = NULL;
  char *line;

  while ((line = topo_fabric_line (&text)) != NULL) {
    discovery.line++;
    if (!read_line (&discovery, line, error))
      return NULL;
  }
  if (discovery.device == TOPO_NONE) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "%s: describes no fabric: neither output of ibnetdiscover, nor its ports report, "
                 "nor a topology.conf of Slurm",
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
