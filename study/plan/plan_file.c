/* plan_file.c - reads a study file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "study/plan/plan_keys.h"

#include "base/words.h"
#include "base/file.h"
#include "study/text.h"
#include "topology/keyfile.h"

#include <math.h>
#include <string.h>

/* As many as a pattern may have. */
#define MAX_TRACE_RANKS (1 << 24)
#define MAX_REPETITIONS 1000000

static const char *const groups[] = { "study", "traces", "machines", "mappings", "runs", NULL };

/* The keys of each, in the same order. */
static const char *const keys_of_group[][8] = {
  { "name", "store" },
  { "trace", "trace-ranks", "allow-lossy", "from-region", "compute-scale" },
  { "machine", "ranks-per-node", "cores", "pattern", "set" },
  { "mapping", "family", "file", "skip-unfit" },
  { "network", "routing", "repetitions", "seed", "keep-links", "keep-ranks" },
};

/* In the order of SimNetworkKind and of RoutePolicy. */
const char *const study_network_names[] = { "packet", "flow", "load", NULL };
const char *const study_routing_names[] = { "default", "deterministic", "zone0", "zone1",
                                            "zone2",   "zone3",         NULL };

char *
study_plan_file_path (const StudyPlanFile *file, const char *path)
{
  return g_path_is_absolute (path) || !strcmp (file->folder, ".")
             ? g_strdup (path)
             : g_build_filename (file->folder, path, NULL);
}

/* --- Which groups and keys there are --- */

static gboolean
unknown (const StudyPlanFile *file, const char *group, const char *key, const char *const *known,
         GError **error)
{
  g_autofree char *where = topo_keyfile_where (file->path, group, key);
  const char *typed = key != NULL ? key : group;
  const char *near = base_nearest (typed, known);
  g_autofree char *list = g_strjoinv (", ", (char **) known);

  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: unknown %s \"%s\"%s%s%s%s; %s %s%s%s%s",
               where, key != NULL ? "key" : "group", typed, key != NULL ? " in [" : "",
               key != NULL ? group : "", key != NULL ? "]" : "",
               key == NULL ? ", which has no values either" : "",
               near != NULL ? "did you mean" : "known are", near != NULL ? "\"" : "",
               near != NULL ? near : list, near != NULL ? "\"" : "", near != NULL ? "?" : "");
  return FALSE;
}

static gboolean
check_keys (const StudyPlanFile *file, const char *group, const char *const *known, GError **error)
{
  g_auto (GStrv) keys = g_key_file_get_keys (file->keys, group, NULL, NULL);

  for (gsize at = 0; keys != NULL && keys[at] != NULL; at++)
    if (!g_strv_contains (known, keys[at]))
      return unknown (file, group, keys[at], known, error);
  return TRUE;
}

static gboolean
add_values (StudyPlanFile *file, const char *group, GError **error)
{
  static const char *const known[] = { "values", NULL };
  char **list = NULL;

  if (!strcmp (group, "seed"))
    return study_plan_refuse (
        file, group, "values", error,
        "{seed} is the seed of the repetition; say runs.seed and runs.repetitions");
  if (!check_keys (file, group, known, error))
    return FALSE;
  if (!study_plan_get_list (file, group, "values", &list, error))
    return FALSE;
  if (list[0] == NULL) {
    g_strfreev (list);
    return study_plan_refuse (file, group, "values", error, "is empty");
  }
  study_values_add (&file->values, group, list);
  return TRUE;
}

static gboolean
check_groups (StudyPlanFile *file, GError **error)
{
  g_auto (GStrv) found = g_key_file_get_groups (file->keys, NULL);

  for (gsize at = 0; found[at] != NULL; at++) {
    gsize known = 0;

    while (groups[known] != NULL && strcmp (groups[known], found[at]) != 0)
      known++;
    if (groups[known] != NULL) {
      if (!check_keys (file, found[at], keys_of_group[known], error))
        return FALSE;
    } else if (!g_key_file_has_key (file->keys, found[at], "values", NULL))
      return unknown (file, found[at], NULL, groups, error);
    else if (!add_values (file, found[at], error))
      return FALSE;
  }
  return TRUE;
}

/* --- Groups --- */

static gboolean
get_scales (StudyPlanFile *file, GError **error)
{
  g_auto (GStrv) list = NULL;
  const double one = 1;

  if (!study_plan_get_list (file, "traces", "compute-scale", &list, error))
    return FALSE;
  for (char **text = list; *text != NULL; text++) {
    char *end;
    double scale = g_ascii_strtod (*text, &end);

    if (*end != '\0' || !(scale >= 0) || !isfinite (scale))
      return study_plan_refuse (file, "traces", "compute-scale", error,
                                "expected numbers of at least 0, found \"%s\"", *text);
    g_array_append_val (file->compute_scales, scale);
  }
  if (file->compute_scales->len == 0)
    g_array_append_val (file->compute_scales, one);
  return TRUE;
}

/* The first of the names when the key is not there. */
static gboolean
get_choices (const StudyPlanFile *file, const char *key, const char *const *names, GArray *choices,
             GError **error)
{
  g_auto (GStrv) list = NULL;
  const int first = 0;

  if (!study_plan_get_list (file, "runs", key, &list, error))
    return FALSE;
  for (char **text = list; *text != NULL; text++) {
    g_autofree char *all = g_strjoinv (", ", (char **) names);
    g_autofree char *meant = base_did_you_mean (*text, names);
    int choice = 0;

    while (names[choice] != NULL && strcmp (names[choice], *text) != 0)
      choice++;
    if (names[choice] == NULL)
      return study_plan_refuse (file, "runs", key, error, "\"%s\" is none of %s%s", *text, all,
                                meant);
    g_array_append_val (choices, choice);
  }
  if (choices->len == 0)
    g_array_append_val (choices, first);
  return TRUE;
}

static gboolean
require (const StudyPlanFile *file, const char *group, const char *key, char *const *list,
         GError **error)
{
  if (list[0] != NULL)
    return TRUE;
  g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT, "%s: no %s in [%s]", file->path, key, group);
  return FALSE;
}

static gboolean
read_traces (StudyPlanFile *file, GError **error)
{
  guint64 n_ranks = 0;

  file->from_region = study_plan_get_text (file, "traces", "from-region");
  if (!study_plan_get_list (file, "traces", "trace", &file->traces, error) ||
      !require (file, "traces", "trace", file->traces, error) ||
      !study_plan_get_number (file, "traces", "trace-ranks", 1, MAX_TRACE_RANKS, &n_ranks, error) ||
      !study_plan_get_flag (file, "traces", "allow-lossy", &file->allow_lossy, error))
    return FALSE;
  file->trace_ranks = (guint) n_ranks;
  return get_scales (file, error);
}

static gboolean
read_machines (StudyPlanFile *file, GError **error)
{
  file->cores = study_plan_get_text (file, "machines", "cores");
  return study_plan_get_list (file, "machines", "machine", &file->machines, error) &&
         require (file, "machines", "machine", file->machines, error) &&
         study_plan_get_list (file, "machines", "set", &file->settings, error) &&
         study_plan_get_integers (file, "machines", "ranks-per-node", TOPO_MAX_RANKS_PER_NODE,
                                  file->ranks_per_node, error) &&
         study_plan_get_integers (file, "machines", "pattern", G_MAXINT, file->patterns, error);
}

/* A mapping per line; '#' starts a comment. */
static gboolean
read_mapping_file (const StudyPlanFile *file, GPtrArray *mappings, GError **error)
{
  g_autofree char *name = study_plan_get_text (file, "mappings", "file");
  g_autofree char *path = name != NULL ? study_plan_file_path (file, name) : NULL;
  g_autoptr (GError) trouble = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (path == NULL)
    return TRUE;
  if (!base_file_read (path, &text, NULL, &trouble))
    return study_plan_refuse (file, "mappings", "file", error, "%s", trouble->message);
  if (!g_utf8_validate (text, -1, NULL))
    return study_plan_refuse (file, "mappings", "file", error, "%s: not a text file", path);
  lines = g_strsplit (text, "\n", -1);
  for (char **line = lines; *line != NULL; line++)
    if (*g_strstrip (*line) != '\0' && **line != '#')
      g_ptr_array_add (mappings, g_strdup (*line));
  return TRUE;
}

static gboolean
read_mappings (StudyPlanFile *file, GError **error)
{
  GPtrArray *mappings = g_ptr_array_new ();
  g_auto (GStrv) listed = NULL;
  gboolean done = study_plan_get_list (file, "mappings", "mapping", &listed, error);

  for (char **text = listed; done && *text != NULL; text++)
    g_ptr_array_add (mappings, g_strdup (*text));
  done = done && read_mapping_file (file, mappings, error) &&
         study_plan_get_list (file, "mappings", "family", &file->families, error) &&
         study_plan_get_flag (file, "mappings", "skip-unfit", &file->skip_unfit, error);
  if (done && mappings->len == 0 && file->families[0] == NULL)
    g_ptr_array_add (mappings, g_strdup ("default"));
  g_ptr_array_add (mappings, NULL);
  file->mappings = (char **) g_ptr_array_free (mappings, FALSE);
  return done;
}

static gboolean
read_runs (StudyPlanFile *file, GError **error)
{
  guint64 repetitions = 1;

  if (!get_choices (file, "network", study_network_names, file->networks, error) ||
      !get_choices (file, "routing", study_routing_names, file->routings, error) ||
      !study_plan_get_number (file, "runs", "repetitions", 1, MAX_REPETITIONS, &repetitions,
                              error) ||
      !study_plan_get_number (file, "runs", "seed", 0, G_MAXINT64 - MAX_REPETITIONS, &file->seed,
                              error) ||
      !study_plan_get_flag (file, "runs", "keep-links", &file->keep_links, error) ||
      !study_plan_get_flag (file, "runs", "keep-ranks", &file->keep_ranks, error))
    return FALSE;
  file->repetitions = (guint) repetitions;
  return TRUE;
}

/* {seed} has a value for each repetition. */
static void
add_seeds (StudyPlanFile *file)
{
  char **seeds = g_new0 (char *, file->repetitions + 1);

  for (guint at = 0; at < file->repetitions; at++)
    seeds[at] = g_strdup_printf ("%" G_GUINT64_FORMAT, file->seed + at);
  study_values_add (&file->values, "seed", seeds);
}

static char *
without_ending (const char *path)
{
  static const char *const endings[] = { ".study", ".conf", ".ini" };

  for (gsize at = 0; at < G_N_ELEMENTS (endings); at++)
    if (g_str_has_suffix (path, endings[at]))
      return g_strndup (path, strlen (path) - strlen (endings[at]));
  return g_strdup (path);
}

static void
read_study (StudyPlanFile *file)
{
  g_autofree char *stem = without_ending (file->path);
  g_autofree char *store = study_plan_get_text (file, "study", "store");

  file->name = study_plan_get_text (file, "study", "name");
  if (file->name == NULL)
    file->name = g_path_get_basename (stem);
  file->store =
      store != NULL ? study_plan_file_path (file, store) : g_strconcat (stem, ".store", NULL);
}

static StudyPlanFile *
file_new (const char *path)
{
  StudyPlanFile *file = g_new0 (StudyPlanFile, 1);

  file->path = g_strdup (path);
  file->folder = g_path_get_dirname (path);
  file->compute_scales = g_array_new (FALSE, FALSE, sizeof (double));
  file->ranks_per_node = g_array_new (FALSE, FALSE, sizeof (int));
  file->patterns = g_array_new (FALSE, FALSE, sizeof (int));
  file->networks = g_array_new (FALSE, FALSE, sizeof (int));
  file->routings = g_array_new (FALSE, FALSE, sizeof (int));
  file->values = study_values_new ();
  return file;
}

StudyPlanFile *
study_plan_file_load (const char *path, GError **error)
{
  g_autoptr (StudyPlanFile) file = file_new (path);

  file->keys = topo_keyfile_load (path, error);
  if (file->keys == NULL || !base_file_read (path, &file->text, NULL, error) ||
      !check_groups (file, error))
    return NULL;
  read_study (file);
  if (!read_traces (file, error) || !read_machines (file, error) || !read_mappings (file, error) ||
      !read_runs (file, error))
    return NULL;
  add_seeds (file);
  return g_steal_pointer (&file);
}

void
study_plan_file_free (StudyPlanFile *file)
{
  if (file == NULL)
    return;
  g_clear_pointer (&file->keys, g_key_file_unref);
  g_strfreev (file->traces);
  g_strfreev (file->machines);
  g_strfreev (file->settings);
  g_strfreev (file->mappings);
  g_strfreev (file->families);
  g_array_unref (file->compute_scales);
  g_array_unref (file->ranks_per_node);
  g_array_unref (file->patterns);
  g_array_unref (file->networks);
  g_array_unref (file->routings);
  study_values_clear (&file->values);
  g_free (file->from_region);
  g_free (file->cores);
  g_free (file->name);
  g_free (file->store);
  g_free (file->text);
  g_free (file->folder);
  g_free (file->path);
  g_free (file);
}
