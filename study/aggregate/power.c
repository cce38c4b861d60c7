/* power.c - how much energy a job needs by how it fills its nodes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/aggregate/power.h"

#include "base/words.h"
#include "study/study_error.h"
#include "topology/keyfile.h"

#include <math.h>
#include <string.h>

#define GROUP "power"

const StudyPower study_power_guess = { 180, 20, 12, 1e-9 };

typedef struct {
  const char *text;
  double factor;
} Unit;

static const Unit watts[] = { { "W", 1 }, { "kW", 1e3 }, { "mW", 1e-3 }, { NULL, 0 } };
static const Unit per_byte[] = {
  { "J/GB", 1e-9 }, { "W/(GB/s)", 1e-9 }, { "J/MB", 1e-6 }, { "W/(MB/s)", 1e-6 }, { NULL, 0 }
};

static const char *const keys[] = { "idle", "socket", "core", "memory", NULL };

/* "12.5 W"; FALSE: it is no number that is at least 0, or not of these units. */
static gboolean
parse_quantity (const char *text, const Unit *units, double *value)
{
  char *end = NULL;
  double number = g_ascii_strtod (text, &end);

  if (end == text || !isfinite (number) || number < 0)
    return FALSE;
  while (*end == ' ')
    end++;
  for (; units->text != NULL; units++)
    if (!strcmp (end, units->text)) {
      *value = number * units->factor;
      return TRUE;
    }
  return FALSE;
}

/* Leaves *value when the key is not there. */
static gboolean
read_key (GKeyFile *file, const char *path, const char *key, const Unit *units, double *value,
          GError **error)
{
  g_autofree char *text = g_key_file_get_value (file, GROUP, key, NULL);
  g_autofree char *where = NULL;

  if (text == NULL || parse_quantity (g_strstrip (text), units, value))
    return TRUE;
  where = topo_keyfile_where (path, GROUP, key);
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
               "%s: %s: expected a number of at least 0 with %s, such as 12 %s, found \"%s\"",
               where, key, units == watts ? "W, kW or mW" : "J/GB, W/(GB/s), J/MB or W/(MB/s)",
               units->text, text);
  return FALSE;
}

static gboolean
check_names (GKeyFile *file, const char *path, GError **error)
{
  g_auto (GStrv) groups = g_key_file_get_groups (file, NULL), found = NULL;
  g_autofree char *where = NULL;

  for (char **group = groups; *group != NULL; group++)
    if (strcmp (*group, GROUP) != 0) {
      where = topo_keyfile_where (path, *group, NULL);
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: unknown group \"%s\"; known is %s",
                   where, *group, GROUP);
      return FALSE;
    }
  found = g_key_file_get_keys (file, GROUP, NULL, NULL);
  for (char **key = found; key != NULL && *key != NULL; key++)
    if (!g_strv_contains (keys, *key)) {
      const char *near = base_nearest (*key, keys);

      where = topo_keyfile_where (path, GROUP, *key);
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: unknown key \"%s\"; %s%s", where,
                   *key, near != NULL ? "did you mean " : "known are idle, socket, core, memory",
                   near != NULL ? near : "");
      return FALSE;
    }
  if (g_key_file_has_key (file, GROUP, "idle", NULL))
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: idle of [%s] is missing", path, GROUP);
  return FALSE;
}

gboolean
study_power_read (const char *path, StudyPower *power, GError **error)
{
  g_autoptr (GKeyFile) file = topo_keyfile_load (path, error);

  *power = (StudyPower){ 0 };
  return file != NULL && check_names (file, path, error) &&
         read_key (file, path, "idle", watts, &power->idle_W, error) &&
         read_key (file, path, "socket", watts, &power->socket_W, error) &&
         read_key (file, path, "core", watts, &power->core_W, error) &&
         read_key (file, path, "memory", per_byte, &power->memory_J_per_byte, error);
}

double
study_power_energy_J (const StudyPower *power, const TopoPattern *pattern, double time_s,
                      double memory_bytes)
{
  double node_W =
      power->idle_W + pattern->n_sockets * power->socket_W + pattern->n_tasks * power->core_W;

  return pattern->n_nodes * node_W * time_s + memory_bytes * power->memory_J_per_byte;
}
