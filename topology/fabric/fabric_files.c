/* fabric_files.c - what the readers of fabric files share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/fabric/fabric_files.h"

#include <string.h>

char *
topo_fabric_line (char **text)
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

bool
topo_fabric_rate (const char *text, uint32_t *lanes, TopoSpeed *speed, bool *bad)
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
