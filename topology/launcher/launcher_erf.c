/* launcher_erf.c - explicit resource files of IBM's jsrun (Summit, Sierra).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   cpu_index_using: physical
 *   rank: 0: { host: 1; cpu: {4} }                  the first host of the job
 *   rank: 1: { host: 2; cpu: {0-3},{8-11} ; gpu: {0} } : app 0
 *
 * From IBM's page on the format (JSM 10.3) and OLCF's tutorial on its numbers of
 * processors.  Physical numbers are the operating system's, and those of a core are
 * known here by its first one.  Logical numbers count the hardware threads that the
 * job asked for, which a machine does not know: they are refused.  A set of several
 * processors binds a rank to any of them; here it gets the first core among them that
 * no line before has taken.  What is said of GPUs and memory is passed over. */
#include "topology/launcher/launcher_private.h"
#include "topology/mapping/mapping_private.h"

/* What may stand before a colon at the beginning of a line but "rank" and "app". */
static const char *const preamble[] = { "cpu_index_using",
                                        "launch_distribution",
                                        "overlapping_rs",
                                        "overlapping-rs",
                                        "skip_missing_cpu",
                                        "skip_missing_gpu",
                                        "skip_missing_mem",
                                        "oversubscribe_cpu",
                                        "oversubscribe_gpu",
                                        "oversubscribe_mem",
                                        NULL };

typedef struct {
  TopoPlacer *placer;
  const TopoHosts *hosts;
  uint8_t slot_of_core[TOPO_MAX_RANKS_PER_NODE];
  bool is_physical;
} Reader;

static gboolean
bad_line (const Reader *reader, const char *found, GError **error)
{
  return topo_placer_fail (reader->placer, TOPO_ERROR_SYNTAX, error,
                           "expected rank: N: { host: H; cpu: {C} }, found \"%s\"", found);
}

static const char *
skip_blanks (const char *text)
{
  return text + strspn (text, " \t");
}

static bool
take_number (const char **text, uint64_t *number)
{
  char *end;

  *text = skip_blanks (*text);
  if (!g_ascii_isdigit (**text))
    return false;
  *number = g_ascii_strtoull (*text, &end, 10);
  *text = skip_blanks (end);
  return true;
}

/* --- The parts of a line --- */

/* "2", the second host of the job, or the host's name. */
static gboolean
read_host (const Reader *reader, const char *text, uint32_t *node, GError **error)
{
  uint32_t n_nodes = topo_shape_nodes (&reader->placer->machine->shape);
  guint64 number;

  if (g_ascii_isdigit (*text) &&
      g_ascii_string_to_unsigned (text, 10, 0, G_MAXUINT64, &number, NULL)) {
    if (number < 1 || number > n_nodes)
      return topo_placer_fail (reader->placer, TOPO_ERROR_RANGE, error,
                               "host %" G_GUINT64_FORMAT ": %s has hosts 1 to %u", number,
                               reader->placer->machine->spec, n_nodes);
    *node = (uint32_t) number - 1;
    return TRUE;
  }
  if (topo_hosts_find (reader->hosts, text, node, error))
    return TRUE;
  g_prefix_error (error, "%s:%u: ", reader->placer->path, reader->placer->line);
  return FALSE;
}

/* Of the free cores whose first processor is one of first..last the one where that is
 * lowest; false when there is none.  *known says whether such a core is there at all. */
static bool
find_core (const Reader *reader, uint32_t node, uint64_t first, uint64_t last, uint32_t *slot,
           bool *known)
{
  const TopoMachine *machine = reader->placer->machine;
  const uint32_t *rank_at = &reader->placer->rank_at[(gsize) node * machine->ranks_per_node];
  bool found = false;

  for (uint32_t core = 0; core < machine->node->n_cores; core++) {
    uint32_t processor = machine->node->objects[machine->node->core[core]].os_index;
    uint32_t its_slot = reader->slot_of_core[core];

    if (processor < first || processor > last || its_slot >= machine->ranks_per_node)
      continue;
    *known = true;
    if (rank_at[its_slot] != TOPO_NONE)
      continue;
    *slot = its_slot;
    last = processor;
    found = true;
  }
  return found;
}

/* "{4}", "4", "{0-3},{8-11}": the slot of the first free core. */
static gboolean
read_processors (const Reader *reader, const char *text, uint32_t node, uint32_t *slot,
                 GError **error)
{
  g_autofree char *plain = g_strdelimit (g_strdup (text), "{}", ' ');
  const char *at = plain;
  bool known = false;

  for (;;) {
    uint64_t first, last;

    if (!take_number (&at, &first))
      return bad_line (reader, text, error);
    last = first;
    if (*at == '-' && (at++, !take_number (&at, &last)))
      return bad_line (reader, text, error);
    if (last < first || (*at != '\0' && *at != ','))
      return bad_line (reader, text, error);
    if (find_core (reader, node, first, last, slot, &known))
      return TRUE;
    if (*at++ == '\0')
      break;
  }
  return topo_placer_fail (reader->placer, TOPO_ERROR_RANGE, error,
                           known ? "cpu: %s: the cores of node %u that it names are taken"
                                 : "cpu: %s: the first processor of no slot of node %u (see "
                                   "--ranks-per-node)",
                           text, node);
}

/* What stands behind `key` and a colon, in one of the parts; NULL: nothing does. */
static const char *
find_key (char **parts, const char *key)
{
  for (; *parts != NULL; parts++) {
    const char *part = skip_blanks (*parts);
    gsize length = strlen (key);

    if (g_str_has_prefix (part, key) && *skip_blanks (part + length) == ':')
      return skip_blanks (skip_blanks (part + length) + 1);
  }
  return NULL;
}

/* --- Lines --- */

/* "rank: 0: { host: 1; cpu: {4} } : app 0" behind its first colon. */
static gboolean
read_rank (const Reader *reader, const char *text, GError **error)
{
  const char *open = strchr (text, '{'), *close = strrchr (text, '}');
  g_autofree char *inside = NULL;
  g_auto (GStrv) parts = NULL;
  const char *host, *processors, *at = text;
  uint64_t rank;
  uint32_t node, slot = 0;

  if (!reader->is_physical)
    return topo_placer_fail (reader->placer, TOPO_ERROR_RANGE, error,
                             "no cpu_index_using: physical before: logical numbers count hardware "
                             "threads, of which the machine does not know");
  if (!take_number (&at, &rank) || *at != ':' || open == NULL || close < open ||
      skip_blanks (at + 1) != open)
    return bad_line (reader, text, error);
  inside = g_strndup (open + 1, (gsize) (close - open - 1));
  parts = g_strsplit (inside, ";", -1);
  for (char **part = parts; *part != NULL; part++)
    g_strchomp (*part);
  host = find_key (parts, "host");
  if (host == NULL)
    host = find_key (parts, "hosts");
  processors = find_key (parts, "cpu");
  if (host == NULL || processors == NULL)
    return bad_line (reader, text, error);
  return read_host (reader, host, &node, error) &&
         read_processors (reader, processors, node, &slot, error) &&
         topo_placer_put (reader->placer, rank, node, slot, error);
}

static gboolean
read_line (Reader *reader, char *line, GError **error)
{
  char *colon = strchr (line, ':');

  if (colon == NULL || g_str_has_prefix (line, "app"))
    return colon != NULL || bad_line (reader, line, error);
  *colon++ = '\0';
  g_strchomp (line);
  if (g_str_equal (line, "rank"))
    return read_rank (reader, colon, error);
  if (!g_strv_contains (preamble, line))
    return bad_line (reader, line, error);
  if (g_str_equal (line, "cpu_index_using"))
    reader->is_physical = g_str_equal (g_strstrip (colon), "physical");
  return TRUE;
}

static gboolean
check_machine (const TopoMachine *machine, GError **error)
{
  if (machine->node != NULL)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "an explicit resource file names processors; the nodes of %s, a torus, have none",
               machine->spec);
  return FALSE;
}

static gboolean
read_erf (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
          GError **error)
{
  g_auto (TopoPlacer) placer = { NULL };
  g_auto (TopoHosts) hosts = { NULL };
  Reader reader = { .placer = &placer, .hosts = &hosts };
  char *line;

  if (!check_machine (machine, error))
    return FALSE;
  placer = topo_placer_new (mapping, machine, path);
  hosts = topo_hosts_new (machine);
  for (uint32_t slot = 0; slot < machine->node->n_cores; slot++)
    reader.slot_of_core[machine->slot_core[slot]] = (uint8_t) slot;
  while ((line = topo_placer_line (&placer, &text)) != NULL)
    if (!read_line (&reader, line, error))
      return FALSE;
  return topo_placer_finish (&placer, error);
}

/* Begins with a word of the format and a colon, and has resource sets. */
static bool
probe_erf (const TopoMachine *machine G_GNUC_UNUSED, const char *text)
{
  g_autofree char *word = NULL;

  text = topo_launcher_skip (text);
  word = g_strndup (text, strcspn (text, ": \t\r\n"));
  return (g_strv_contains (preamble, word) || g_str_equal (word, "rank") ||
          g_str_equal (word, "app")) &&
         strchr (text, '{') != NULL;
}

/* --- Writing --- */

static char *
print_erf (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  GString *text;

  if (!check_machine (machine, error))
    return NULL;
  text = g_string_new ("cpu_index_using: physical\n");
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t core = machine->slot_core[mapping->slot[rank]];

    g_string_append_printf (text, "rank: %u: { host: %u; cpu: {%u} }\n", rank,
                            mapping->node[rank] + 1,
                            machine->node->objects[machine->node->core[core]].os_index);
  }
  return g_string_free (text, FALSE);
}

static TopoLaunch
launch_erf (const TopoMapping *mapping G_GNUC_UNUSED, const TopoMachine *machine G_GNUC_UNUSED,
            const char *file)
{
  return (TopoLaunch){
    .line = g_strdup_printf ("jsrun --erf_input %s ./program", file),
    .note = g_strdup ("host 1 is the first host of the job, which must be the machine's first"),
  };
}

const TopoLauncher topo_launcher_erf = {
  .name = "erf",
  .summary = "explicit resource file of IBM's jsrun: host and processor of every rank",
  .probe = probe_erf,
  .read = read_erf,
  .print = print_erf,
  .launch = launch_erf,
};
