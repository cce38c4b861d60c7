/* plan_file.c - reads a study file: its keys, its values and the {NAME}s in its texts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/plan/plan_file.h"

#include "base/file.h"
#include "base/words.h"
#include "study/inputs.h"
#include "study/study_error.h"
#include "topology/keyfile.h"

#include <math.h>
#include <string.h>

static StudyValue *
value_at (const StudyValues *values, guint at)
{
  return &g_array_index (values->all, StudyValue, at);
}

static int
find (const StudyValues *values, const char *name)
{
  for (guint at = 0; at < values->all->len; at++)
    if (!strcmp (value_at (values, at)->name, name))
      return (int) at;
  return -1;
}

static void
value_clear (gpointer data)
{
  StudyValue *value = data;

  g_free (value->name);
  g_strfreev (value->values);
}

/* Takes the NULL-terminated values, of which there is at least one. */
static void
values_add (StudyValues *values, const char *name, char **list)
{
  StudyValue value = { g_strdup (name), list, FALSE };

  g_array_append_val (values->all, value);
}

/* The name in a {NAME} at or behind *at, which moves to its brace; *end: behind the closing brace.
 * NULL: no more.  Braces around other characters are plain text. */
static char *
next_name (const char **at, const char **end)
{
  for (const char *open = strchr (*at, '{'); open != NULL; open = strchr (open + 1, '{')) {
    gsize length = 0;

    while (g_ascii_isalnum (open[1 + length]) || open[1 + length] == '-' || open[1 + length] == '_')
      length++;
    if (length == 0 || open[1 + length] != '}')
      continue;
    *at = open;
    *end = open + length + 2;
    return g_strndup (open + 1, length);
  }
  return NULL;
}

int *
study_values_bind (const StudyValues *values, const char *text, GError **error)
{
  g_autofree int *binding = g_new (int, values->all->len + 1);
  const char *end;

  for (guint at = 0; at < values->all->len; at++)
    binding[at] = -1;
  for (char *name; (name = next_name (&text, &end)) != NULL; text = end) {
    g_autofree char *owned = name;
    g_autoptr (GPtrArray) names = NULL;
    const char *near;
    int at = find (values, name);

    if (at >= 0) {
      binding[at] = 0;
      value_at (values, (guint) at)->is_used = TRUE;
      continue;
    }
    names = g_ptr_array_new ();
    for (guint known = 0; known < values->all->len; known++)
      g_ptr_array_add (names, value_at (values, known)->name);
    g_ptr_array_add (names, NULL);
    near = base_nearest (name, (const char *const *) names->pdata);
    if (near != NULL)
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                   "{%s}: there is no group [%s]; did you mean {%s}?", name, name, near);
    else
      g_set_error (error, STUDY_ERROR, STUDY_ERROR_INPUT,
                   "{%s}: there is no group [%s] with values", name, name);
    return NULL;
  }
  return g_steal_pointer (&binding);
}

gboolean
study_values_next (const StudyValues *values, int *binding)
{
  for (guint left = values->all->len; left > 0; left--) {
    int *wheel = &binding[left - 1];

    if (*wheel < 0)
      continue;
    if (value_at (values, left - 1)->values[++*wheel] != NULL)
      return TRUE;
    *wheel = 0;
  }
  return FALSE;
}

int *
study_values_copy (const StudyValues *values, const int *binding)
{
  return g_memdup2 (binding, (values->all->len + 1) * sizeof *binding);
}

char *
study_values_fill (const StudyValues *values, const char *text, const int *binding)
{
  GString *filled = g_string_new (NULL);
  const char *at = text, *end;

  for (char *name; (name = next_name (&at, &end)) != NULL; text = at = end) {
    int value = find (values, name);

    g_string_append_len (filled, text, at - text);
    g_string_append (filled, value_at (values, (guint) value)->values[binding[value]]);
    g_free (name);
  }
  g_string_append (filled, text);
  return g_string_free (filled, FALSE);
}

gboolean
study_values_agree (const StudyValues *values, const int *left, const int *right)
{
  for (guint at = 0; at < values->all->len; at++)
    if (left[at] >= 0 && right[at] >= 0 && left[at] != right[at])
      return FALSE;
  return TRUE;
}

gboolean
study_values_allow (const StudyValues *values, const int *binding, const char *name, int value)
{
  int at = find (values, name);

  return at < 0 || binding[at] < 0 || binding[at] == value;
}

/* --- The keys of a study file: a key that is missing leaves its variable as it is --- */

gboolean
study_plan_file_blame (const StudyPlanFile *file, const char *group, const char *key,
                       GError **error)
{
  g_autofree char *where = topo_keyfile_where (file->path, group, key);

  g_prefix_error (error, "%s: %s.%s: ", where, group, key);
  return FALSE;
}

/* *error for the value of a key; always FALSE. */
static gboolean
    G_GNUC_PRINTF (5, 6) refuse (const StudyPlanFile *file, const char *group, const char *key,
                                 GError **error, const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, STUDY_ERROR, STUDY_ERROR_INPUT, text);
  return study_plan_file_blame (file, group, key, error);
}

/* Whether every backslash of a value begins an escape.  GLib sets two errors, one over the other,
 * for two that do not. */
static gboolean
has_good_escapes (const char *value, const char *escapes)
{
  for (; (value = strchr (value, '\\')) != NULL; value += 2)
    if (value[1] == '\0' || strchr (escapes, value[1]) == NULL)
      return FALSE;
  return TRUE;
}

/* A list with blanks around its members and empty ones left out; never NULL. */
static gboolean
get_list (const StudyPlanFile *file, const char *group, const char *key, char ***list,
          GError **error)
{
  g_autofree char *value = g_key_file_get_value (file->keys, group, key, NULL);
  g_auto (GStrv) raw = NULL;
  GPtrArray *members = NULL;

  if (value != NULL && !has_good_escapes (value, "\\;sntr"))
    return refuse (file, group, key, error,
                   "\"%s\" has a backslash that is none of \\\\, \\;, \\s, \\n, \\t, \\r", value);
  if (value != NULL)
    raw = g_key_file_get_string_list (file->keys, group, key, NULL, NULL);
  members = g_ptr_array_new ();
  for (gsize at = 0; raw != NULL && raw[at] != NULL; at++)
    if (*g_strstrip (raw[at]) != '\0')
      g_ptr_array_add (members, g_strdup (raw[at]));
  g_ptr_array_add (members, NULL);
  *list = (char **) g_ptr_array_free (members, FALSE);
  return TRUE;
}

/* NULL when the key is missing.  A text with backslashes that are no escapes, such as a path, is
 * taken as it stands. */
static char *
get_text (const StudyPlanFile *file, const char *group, const char *key)
{
  char *text = g_key_file_get_value (file->keys, group, key, NULL);

  if (text != NULL && has_good_escapes (text, "\\sntr")) {
    g_free (text);
    text = g_key_file_get_string (file->keys, group, key, NULL);
  }
  return text != NULL ? g_strstrip (text) : NULL;
}

static gboolean
get_number (const StudyPlanFile *file, const char *group, const char *key, guint64 lowest,
            guint64 highest, guint64 *number, GError **error)
{
  g_autofree char *text = get_text (file, group, key);

  if (text == NULL || g_ascii_string_to_unsigned (text, 10, lowest, highest, number, NULL))
    return TRUE;
  return refuse (file, group, key, error,
                 "expected %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT ", found \"%s\"", lowest,
                 highest, text);
}

static gboolean
get_flag (const StudyPlanFile *file, const char *group, const char *key, gboolean *flag,
          GError **error)
{
  g_autofree char *text = get_text (file, group, key);

  if (text == NULL)
    return TRUE;
  *flag = !strcmp (text, "true");
  return *flag || !strcmp (text, "false") ||
         refuse (file, group, key, error, "expected true or false, found \"%s\"", text);
}

/* Appends numbers of 1 .. highest (element-type int), G_MININT alone when the key is
 * not there. */
static gboolean
get_integers (const StudyPlanFile *file, const char *group, const char *key, int highest,
              GArray *numbers, GError **error)
{
  g_auto (GStrv) list = NULL;
  const int otherwise = G_MININT;

  if (!get_list (file, group, key, &list, error))
    return FALSE;
  for (char **text = list; *text != NULL; text++) {
    guint64 number;
    int value;

    if (!g_ascii_string_to_unsigned (*text, 10, 1, (guint64) highest, &number, NULL))
      return refuse (file, group, key, error, "expected 1 to %d, found \"%s\"", highest, *text);
    value = (int) number;
    g_array_append_val (numbers, value);
  }
  if (numbers->len == 0)
    g_array_append_val (numbers, otherwise);
  return TRUE;
}

/* --- The groups of a study file --- */
/* As many as a pattern may have. */
#define MAX_TRACE_RANKS (1 << 24)
#define MAX_REPETITIONS 1000000
#define MAX_REPLICAS    10000

static const char *const groups[] = { "study", "traces", "machines", "mappings", "runs", NULL };

/* The keys of each, in the same order. */
static const char *const keys_of_group[][11] = {
  { "name", "store" },
  { "trace", "trace-ranks", "allow-lossy", "from-region", "compute-scale" },
  { "machine", "ranks-per-node", "cores", "pattern", "set", "failures" },
  { "mapping", "family", "file", "skip-unfit" },
  { "network", "routing", "shrink", "repetitions", "replicas", "jitter", "seed", "keep-links",
    "keep-ranks", "keep-path" },
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

/* Every group is known, or defines the values of a {NAME}. */
static gboolean
read_groups (StudyPlanFile *file, GError **error)
{
  static const char *const only_values[] = { "values", NULL };
  g_auto (GStrv) found = g_key_file_get_groups (file->keys, NULL);

  for (gsize at = 0; found[at] != NULL; at++) {
    const char *group = found[at];
    g_auto (GStrv) list = NULL;
    gsize known = 0;

    while (groups[known] != NULL && strcmp (groups[known], group) != 0)
      known++;
    if (groups[known] != NULL) {
      if (!check_keys (file, group, keys_of_group[known], error))
        return FALSE;
      continue;
    }
    if (!g_key_file_has_key (file->keys, group, "values", NULL))
      return unknown (file, group, NULL, groups, error);
    if (!strcmp (group, "seed"))
      return refuse (file, group, "values", error,
                     "{seed} is the seed of the repetition; set runs.seed and runs.repetitions");
    if (!check_keys (file, group, only_values, error) ||
        !get_list (file, group, "values", &list, error))
      return FALSE;
    if (list[0] == NULL)
      return refuse (file, group, "values", error, "is empty");
    values_add (&file->values, group, g_steal_pointer (&list));
  }
  return TRUE;
}

/* The first of the names when the key is not there. */
static gboolean
get_choices (const StudyPlanFile *file, const char *key, const char *const *names, GArray *choices,
             GError **error)
{
  g_auto (GStrv) list = NULL;
  const int first = 0;

  if (!get_list (file, "runs", key, &list, error))
    return FALSE;
  for (char **text = list; *text != NULL; text++) {
    g_autofree char *all = g_strjoinv (", ", (char **) names);
    g_autofree char *meant = base_did_you_mean (*text, names);
    int choice = 0;

    while (names[choice] != NULL && strcmp (names[choice], *text) != 0)
      choice++;
    if (names[choice] == NULL)
      return refuse (file, "runs", key, error, "\"%s\" is none of %s%s", *text, all, meant);
    g_array_append_val (choices, choice);
  }
  if (choices->len == 0)
    g_array_append_val (choices, first);
  return TRUE;
}

/* Off when the key is not there. */
static gboolean
get_shrinks (const StudyPlanFile *file, GArray *shrinks, GError **error)
{
  g_auto (GStrv) list = NULL;
  SimShrink shrink = { 0 };

  if (!get_list (file, "runs", "shrink", &list, error))
    return FALSE;
  for (char **text = list; *text != NULL; text++) {
    if (!sim_shrink_parse (*text, &shrink))
      return refuse (file, "runs", "shrink", error,
                     "\"%s\" is none of off, auto, auto:screen, auto:race and numbers from 2 on",
                     *text);
    g_array_append_val (shrinks, shrink);
  }
  if (shrinks->len == 0)
    g_array_append_val (shrinks, shrink);
  return TRUE;
}

/* Replicas that start at once would all be the same. */
static gboolean
get_replicas (StudyPlanFile *file, GError **error)
{
  g_autofree char *text = get_text (file, "runs", "jitter");
  g_autoptr (GError) trouble = NULL;
  guint64 replicas = 1;

  if (!get_number (file, "runs", "replicas", 1, MAX_REPLICAS, &replicas, error))
    return FALSE;
  file->replicas = (guint) replicas;
  file->jitter_ps = replicas > 1 ? STUDY_JITTER_PS : 0;
  if (text != NULL && !study_jitter_parse (text, &file->jitter_ps, &trouble))
    return refuse (file, "runs", "jitter", error, "%s", trouble->message);
  if (replicas > 1 && file->jitter_ps == 0)
    return refuse (file, "runs", "replicas", error, "without jitter all of them are the same run");
  return TRUE;
}

/* The list of a key that a study needs must not be empty. */
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
  g_auto (GStrv) scales = NULL;
  const double one = 1;
  guint64 n_ranks = 0;

  file->from_region = get_text (file, "traces", "from-region");
  if (!get_list (file, "traces", "trace", &file->traces, error) ||
      !require (file, "traces", "trace", file->traces, error) ||
      !get_number (file, "traces", "trace-ranks", 1, MAX_TRACE_RANKS, &n_ranks, error) ||
      !get_flag (file, "traces", "allow-lossy", &file->allow_lossy, error) ||
      !get_list (file, "traces", "compute-scale", &scales, error))
    return FALSE;
  file->trace_ranks = (guint) n_ranks;
  for (char **text = scales; *text != NULL; text++) {
    char *end;
    double scale = g_ascii_strtod (*text, &end);

    if (*end != '\0' || !(scale >= 0) || !isfinite (scale))
      return refuse (file, "traces", "compute-scale", error,
                     "expected numbers of at least 0, found \"%s\"", *text);
    g_array_append_val (file->compute_scales, scale);
  }
  if (file->compute_scales->len == 0)
    g_array_append_val (file->compute_scales, one);
  return TRUE;
}

/* --- Failures: WHAT [LANESx] [every K | sample N [seed S]] --- */

static void
failures_clear (gpointer data)
{
  StudyFailures *failures = data;

  g_free (failures->text);
  g_free (failures->what);
}

/* The number behind `word`, which is the last word but one of the n: then both are taken away.  FALSE:
 * the number is not within lowest .. G_MAXUINT32. */
static gboolean
take_number (char **words, guint *n, const char *word, guint64 lowest, guint64 *number)
{
  if (*n < 3 || strcmp (words[*n - 2], word) != 0)
    return TRUE;
  *n -= 2;
  return g_ascii_string_to_unsigned (words[*n + 1], 10, lowest, G_MAXUINT32, number, NULL);
}

/* Names of parts may have blanks, so words are taken from the end. */
static gboolean
failures_parse (const char *text, StudyFailures *failures)
{
  g_auto (GStrv) words = g_strsplit_set (text, " \t", -1);
  guint n = 0;
  guint64 seed = G_MAXUINT64;

  for (guint at = 0; words[at] != NULL; at++)
    if (*words[at] != '\0')
      words[n++] = words[at];
    else
      g_free (words[at]);
  words[n] = NULL;
  if (!take_number (words, &n, "seed", 0, &seed) ||
      !take_number (words, &n, "sample", 1, &failures->sample) ||
      (seed != G_MAXUINT64 && failures->sample == 0) ||
      !take_number (words, &n, "every", 1, &failures->every) ||
      (failures->every > 0 && failures->sample > 0))
    return FALSE;
  failures->seed = seed != G_MAXUINT64 ? seed : 0;
  if (n > 1 && strlen (words[n - 1]) == 2 && strchr ("1248", words[n - 1][0]) != NULL &&
      words[n - 1][1] == 'x')
    failures->lanes = (uint32_t) (words[--n][0] - '0');
  for (guint at = n; words[at] != NULL; at++)
    g_clear_pointer (&words[at], g_free);
  failures->what = g_strjoinv (" ", words);
  return failures->lanes == 0 || strcmp (failures->what, "cables") == 0 ||
         strchr (failures->what, ':') != NULL;
}

static gboolean
read_failures (StudyPlanFile *file, GError **error)
{
  g_auto (GStrv) list = NULL;

  if (!get_list (file, "machines", "failures", &list, error))
    return FALSE;
  for (char **text = list; *text != NULL; text++) {
    StudyFailures failures = { .text = g_strdup (*text) };
    gboolean good = failures_parse (*text, &failures);

    g_array_append_val (file->failures, failures);
    if (!good)
      return refuse (file, "machines", "failures", error,
                     "expected cables, switches, nodes or a pattern of names, then, of cables, a "
                     "width such as 1x, then \"every K\" or \"sample N\" or \"sample N seed S\", "
                     "found \"%s\"",
                     *text);
  }
  return TRUE;
}

/* The listed mappings, those of the file, or the default; families are read besides. */
static gboolean
read_mappings (StudyPlanFile *file, GError **error)
{
  g_autofree char *name = get_text (file, "mappings", "file");
  g_autofree char *path = name != NULL ? study_plan_file_path (file, name) : NULL;
  g_autoptr (GPtrArray) mappings = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) trouble = NULL;
  g_autofree char *text = NULL;
  g_auto (GStrv) listed = NULL;
  g_auto (GStrv) lines = NULL;

  if (!get_list (file, "mappings", "mapping", &listed, error))
    return FALSE;
  for (char **mapping = listed; *mapping != NULL; mapping++)
    g_ptr_array_add (mappings, g_strdup (*mapping));
  if (path != NULL) {
    /* A mapping per line; '#' starts a comment. */
    if (!base_file_read (path, &text, NULL, &trouble))
      return refuse (file, "mappings", "file", error, "%s", trouble->message);
    if (!g_utf8_validate (text, -1, NULL))
      return refuse (file, "mappings", "file", error, "%s: not a text file", path);
    lines = g_strsplit (text, "\n", -1);
    for (char **line = lines; *line != NULL; line++)
      if (*g_strstrip (*line) != '\0' && **line != '#')
        g_ptr_array_add (mappings, g_strdup (*line));
  }
  if (!get_list (file, "mappings", "family", &file->families, error) ||
      !get_flag (file, "mappings", "skip-unfit", &file->skip_unfit, error))
    return FALSE;
  if (mappings->len == 0 && file->families[0] == NULL)
    g_ptr_array_add (mappings, g_strdup ("default"));
  g_ptr_array_add (mappings, NULL);
  file->mappings = (char **) g_ptr_array_free (g_steal_pointer (&mappings), FALSE);
  return TRUE;
}

StudyPlanFile *
study_plan_file_load (const char *path, GError **error)
{
  static const char *const endings[] = { ".study", ".conf", ".ini" };
  g_autoptr (StudyPlanFile) file = g_new0 (StudyPlanFile, 1);
  g_autofree char *stem = g_strdup (path);
  g_autofree char *store = NULL;
  guint64 repetitions = 1;
  char **seeds;

  file->path = g_strdup (path);
  file->folder = g_path_get_dirname (path);
  file->compute_scales = g_array_new (FALSE, FALSE, sizeof (double));
  file->ranks_per_node = g_array_new (FALSE, FALSE, sizeof (int));
  file->patterns = g_array_new (FALSE, FALSE, sizeof (int));
  file->networks = g_array_new (FALSE, FALSE, sizeof (int));
  file->routings = g_array_new (FALSE, FALSE, sizeof (int));
  file->shrinks = g_array_new (FALSE, FALSE, sizeof (SimShrink));
  file->failures = g_array_new (FALSE, FALSE, sizeof (StudyFailures));
  g_array_set_clear_func (file->failures, failures_clear);
  file->values.all = g_array_new (FALSE, TRUE, sizeof (StudyValue));
  g_array_set_clear_func (file->values.all, value_clear);
  file->keys = topo_keyfile_load (path, error);
  if (file->keys == NULL || !base_file_read (path, &file->text, NULL, error) ||
      !read_groups (file, error))
    return NULL;

  /* [study] */
  for (gsize at = 0; at < G_N_ELEMENTS (endings); at++)
    if (g_str_has_suffix (path, endings[at]))
      stem[strlen (path) - strlen (endings[at])] = '\0';
  file->name = get_text (file, "study", "name");
  if (file->name == NULL)
    file->name = g_path_get_basename (stem);
  store = get_text (file, "study", "store");
  file->store =
      store != NULL ? study_plan_file_path (file, store) : g_strconcat (stem, ".store", NULL);

  if (!read_traces (file, error))
    return NULL;

  /* [machines] */
  file->cores = get_text (file, "machines", "cores");
  if (!get_list (file, "machines", "machine", &file->machines, error) ||
      !require (file, "machines", "machine", file->machines, error) ||
      !get_list (file, "machines", "set", &file->settings, error) ||
      !get_integers (file, "machines", "ranks-per-node", TOPO_MAX_RANKS_PER_NODE,
                     file->ranks_per_node, error) ||
      !get_integers (file, "machines", "pattern", G_MAXINT, file->patterns, error) ||
      !read_failures (file, error))
    return NULL;

  if (!read_mappings (file, error))
    return NULL;

  /* [runs] */
  if (!get_choices (file, "network", study_network_names, file->networks, error) ||
      !get_choices (file, "routing", study_routing_names, file->routings, error) ||
      !get_shrinks (file, file->shrinks, error) || !get_replicas (file, error) ||
      !get_number (file, "runs", "repetitions", 1, MAX_REPETITIONS, &repetitions, error) ||
      !get_number (file, "runs", "seed", 0, G_MAXINT64 - MAX_REPETITIONS, &file->seed, error) ||
      !get_flag (file, "runs", "keep-links", &file->keep_links, error) ||
      !get_flag (file, "runs", "keep-ranks", &file->keep_ranks, error) ||
      !get_flag (file, "runs", "keep-path", &file->keep_path, error))
    return NULL;
  file->repetitions = (guint) repetitions;

  /* {seed} has a value for each repetition. */
  seeds = g_new0 (char *, file->repetitions + 1);
  for (guint at = 0; at < file->repetitions; at++)
    seeds[at] = g_strdup_printf ("%" G_GUINT64_FORMAT, file->seed + at);
  values_add (&file->values, "seed", seeds);
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
  g_clear_pointer (&file->failures, g_array_unref);
  g_array_unref (file->ranks_per_node);
  g_array_unref (file->patterns);
  g_array_unref (file->networks);
  g_array_unref (file->routings);
  g_array_unref (file->shrinks);
  g_clear_pointer (&file->values.all, g_array_unref);
  g_free (file->from_region);
  g_free (file->cores);
  g_free (file->name);
  g_free (file->store);
  g_free (file->text);
  g_free (file->folder);
  g_free (file->path);
  g_free (file);
}
