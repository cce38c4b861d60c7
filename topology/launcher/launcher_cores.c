/* launcher_cores.c - launchers' files that bind ranks to cores: Open MPI's rankfiles, jsrun's ERF.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/launcher/launcher_private.h"
#include "topology/mapping/mapping_private.h"

/* --- Printing Open MPI's rankfiles --- */

/* Open MPI's numbers in a rankfile are those of cores. */
static bool
rankfile_check_threads (const TopoMachine *machine, GError **error)
{
  if (machine->threads_per_core <= 1)
    return true;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "threads=%u: a rankfile names cores, not their threads", machine->threads_per_core);
  return false;
}

static char *
rankfile_print (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);

  if (machine->node == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "a rankfile names hosts and cores; %s is a torus, whose nodes have neither",
                 machine->spec);
    return NULL;
  }
  if (!rankfile_check_threads (machine, error))
    return NULL;
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    const char *host = topo_machine_host (machine, mapping->node[rank]);

    if (!(g_ascii_isalpha (*host) &&
          host[strspn (host, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_-.")] == '\0')) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "rank %u: \"%s\" is not a host name that a rankfile can have", rank, host);
      return NULL;
    }
    g_string_append_printf (text, "rank %u=%s slot=", rank, host);
    uint32_t core = machine->slot_core[mapping->slot[rank]];
    uint32_t package = topo_node_above (machine->node, core, TOPO_OBJECT_PACKAGE), socket = 0;

    for (uint32_t object = 0; package != TOPO_NONE && object < package; object++)
      socket += machine->node->objects[object].kind == TOPO_OBJECT_PACKAGE;
    g_string_append_printf (
        text, "%u:%u", socket,
        core - (package != TOPO_NONE ? machine->node->objects[package].first_core : 0));
    g_string_append_c (text, '\n');
  }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

static TopoLaunch
rankfile_launch (const TopoMapping *mapping, const TopoMachine *machine G_GNUC_UNUSED,
                 const char *file)
{
  return (TopoLaunch){
    .line = g_strdup_printf ("mpirun -np %u --rankfile %s ./program", mapping->n_ranks, file),
    .note = g_strdup ("for Open MPI 4; from 5 on --map-by rankfile:FILE=... takes the place of "
                      "--rankfile"),
  };
}

/* --- Open MPI's rankfiles: a host and cores for every rank ---
 *
 *   rank 0=node17 slot=1:0      core 0 of socket 1
 *   rank 1=+n1 slot=0:2-3       the second node; one of two cores
 *   rank 2=node18 slot=5        core 5 of the node
 *   rank 3=node18 slot=p5       the core that has the system's processor 5
 *
 * The scanner of Open MPI 1.3 to 4.1 (orte/mca/rmaps/rank_file) also takes
 * blanks around each '=', "slots", user names before an '@', and comments in
 * the styles of shell, C and C++.  A set of cores binds a rank to any of them;
 * here the rank gets the first core that no earlier line has taken.  Numbers are
 * hwloc's logical ones, as the manual of Open MPI 1.7 and later has them, unless a
 * p stands before them; 1.3 takes those of the system. */

typedef struct {
  uint32_t line;
  const TopoMachine *machine;
  TopoHosts hosts;
  uint8_t slot_of_core[TOPO_MAX_RANKS_PER_NODE];
  uint32_t *rank_at; /* [node * n_cores + core] TOPO_NONE: free */
  uint32_t *line_of; /* [n_ranks] 0: none yet */
  uint32_t n_ranks_read;
} RankfileReader;

/* A set of cores in the order of the file. */
typedef struct {
  uint8_t core[TOPO_MAX_RANKS_PER_NODE];
  uint32_t n;
  bool is_seen[TOPO_MAX_RANKS_PER_NODE]; /* of a core */
} Cores;

/* Overwrites comments with blanks; line ends stay. */
static void
blank_comments (char *text)
{
  while ((text = strpbrk (text, "#/")) != NULL) {
    const char *end;

    if (text[0] == '#' || text[1] == '/')
      end = text + strcspn (text, "\n");
    else if (text[1] == '*') {
      const char *close = strstr (text + 2, "*/");

      end = close != NULL ? close + 2 : text + strlen (text);
    } else {
      text++;
      continue;
    }
    for (; text < end; text++)
      if (*text != '\n')
        *text = ' ';
  }
}

static const char *
skip_blanks (const char *text)
{
  return text + strspn (text, " \t\r\f\v");
}

/* Whether a rank begins here: "rank 7". */
static bool
begins_rank (const char *text)
{
  return g_str_has_prefix (text, "rank") && (text[4] == ' ' || text[4] == '\t') &&
         g_ascii_isdigit (*skip_blanks (text + 4));
}

static bool
probe_rankfile (const TopoMachine *machine G_GNUC_UNUSED, const char *text)
{
  g_autofree char *plain = g_strdup (text);

  blank_comments (plain);
  return begins_rank (plain + strspn (plain, " \t\r\n\f\v"));
}

/* --- Cores --- */

static gboolean
read_number (const char **text, uint64_t *number)
{
  char *end;

  if (!g_ascii_isdigit (**text))
    return FALSE;
  *number = g_ascii_strtoull (*text, &end, 10);
  *text = end;
  return TRUE;
}

/* Adds a part between commas: "1:0", or "3", "0-3", "*" of the socket of the last colon. */
static gboolean
read_part (Cores *cores, const char *part, const TopoNode *node, const TopoObject **within,
           bool physical, GError **error)
{
  const char *colon = strchr (part, ':');
  uint64_t socket = 0, first = 0, last;
  bool all, good;

  if (colon != NULL) {
    uint64_t n_before = 0;

    if (physical) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "the system's numbers of cores within a socket are not known; give its "
                   "processors, as in slot=p5");
      return FALSE;
    }
    if (!read_number (&part, &socket) || part != colon) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "expected SOCKET:CORE as in slot=1:0");
      return FALSE;
    }
    *within = NULL;
    for (uint32_t object = 0; object < node->n_objects && *within == NULL; object++)
      if (node->objects[object].kind == TOPO_OBJECT_PACKAGE && n_before++ == socket)
        *within = &node->objects[object];
    if (n_before == 0 && socket == 0) /* hwloc sees no sockets: the node is one */
      *within = &node->objects[0];
    part = colon + 1;
  }
  if (*within == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "the node (%s) has no socket %" G_GUINT64_FORMAT, node->source, socket);
    return FALSE;
  }

  last = (*within)->n_cores - 1;
  all = g_str_equal (part, "*");
  good = all || read_number (&part, &first);
  if (!all && good) {
    last = first;
    if (*part == '-') {
      part++;
      good = read_number (&part, &last);
    }
    good = good && *part == '\0' && first <= last;
  }
  if (!good) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "expected a core as in slot=1:0, 1:0-2, 5");
    return FALSE;
  }
  if (!physical && last >= (*within)->n_cores) {
    g_set_error (
        error, TOPO_ERROR, TOPO_ERROR_RANGE, "core %" G_GUINT64_FORMAT ": the %s has cores 0 to %u",
        last, (*within)->kind == TOPO_OBJECT_PACKAGE ? "socket" : "node", (*within)->n_cores - 1);
    return FALSE;
  }
  for (uint64_t number = first; number <= last; number++) {
    uint32_t core = (*within)->first_core + (uint32_t) number;

    if (physical && !all) {
      core = 0;
      while (core < node->n_cores && node->objects[node->core[core]].os_index != number)
        core++;
      if (core == node->n_cores) {
        g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                     "no core of the node (%s) has processor %" G_GUINT64_FORMAT, node->source,
                     number);
        return FALSE;
      }
    }
    if (!cores->is_seen[core])
      cores->core[cores->n++] = (uint8_t) core;
    cores->is_seen[core] = true;
  }
  return TRUE;
}

static gboolean
read_list (Cores *cores, const char *text, const TopoNode *node, GError **error)
{
  bool physical = *text == 'p' || *text == 'P';
  g_auto (GStrv) parts = g_strsplit_set (text + physical, ",;", -1);
  const TopoObject *within = &node->objects[0];

  *cores = (Cores){ .n = 0 };
  if (parts[0] == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX, "slot=%s: no core is named", text);
    return FALSE;
  }
  for (gsize at = 0; parts[at] != NULL; at++)
    if (!read_part (cores, parts[at], node, &within, physical, error)) {
      g_prefix_error (error, "slot=%s: ", text);
      return FALSE;
    }
  return TRUE;
}

/* --- Lines --- */

static gboolean
take_text (const char **text, const char *expected)
{
  *text = skip_blanks (*text);
  if (!g_str_has_prefix (*text, expected))
    return FALSE;
  *text = skip_blanks (*text + strlen (expected));
  return TRUE;
}

static char *
take_word (const char **text)
{
  gsize length = strcspn (*text, " \t\r\f\v=");
  char *word = length > 0 ? g_strndup (*text, length) : NULL;

  *text += length;
  return word;
}

static gboolean
read_entry (RankfileReader *reader, TopoMapping *mapping, const char *text, GError **error)
{
  const TopoMachine *machine = reader->machine;
  g_autofree char *host = NULL, *slots = NULL;
  const char *at = text, *after_user;
  uint32_t node, holder = TOPO_NONE;
  uint64_t rank = 0;
  bool good;
  Cores cores;

  good = begins_rank (at) && take_text (&at, "rank") && read_number (&at, &rank) &&
         take_text (&at, "=") && (host = take_word (&at)) != NULL && take_text (&at, "slot");
  if (good && *at == 's')
    at++;
  if (!good || !take_text (&at, "=") || (slots = take_word (&at)) == NULL ||
      *skip_blanks (at) != '\0') {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "expected rank N=HOST slot=SOCKET:CORE, found \"%s\"", text);
    return FALSE;
  }
  if (rank >= mapping->n_ranks) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "rank %" G_GUINT64_FORMAT ": there are ranks 0 to %u", rank, mapping->n_ranks - 1);
    return FALSE;
  }
  if (reader->line_of[rank] > 0) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "rank %" G_GUINT64_FORMAT " is already in line %u", rank, reader->line_of[rank]);
    return FALSE;
  }
  after_user = strrchr (host, '@');
  if (!topo_hosts_find (&reader->hosts, after_user != NULL ? after_user + 1 : host, &node, error) ||
      !read_list (&cores, slots, machine->node, error))
    return FALSE;

  /* The first of the cores that is free. */
  for (uint32_t at_core = 0; at_core < cores.n; at_core++) {
    uint32_t core = cores.core[at_core], slot = reader->slot_of_core[core];
    uint32_t *rank_at = &reader->rank_at[(gsize) node * machine->node->n_cores + core];

    if (slot >= machine->ranks_per_node) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "core %u is not one of the %u slots of a node (see --ranks-per-node)", core,
                   machine->ranks_per_node);
      return FALSE;
    }
    holder = *rank_at;
    if (holder == TOPO_NONE) {
      *rank_at = (uint32_t) rank;
      mapping->node[rank] = node;
      mapping->slot[rank] = (uint8_t) slot;
      reader->line_of[rank] = reader->line;
      reader->n_ranks_read++;
      return TRUE;
    }
  }
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "slot=%s of %s is already the place of rank %u (line %u)", slots, host, holder,
               reader->line_of[holder]);
  return FALSE;
}

static gboolean
read_rankfile (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
               GError **error)
{
  RankfileReader reader = { .line = 1, .machine = machine };
  g_auto (TopoHosts) hosts = { NULL };
  g_autofree uint32_t *rank_at = NULL, *line_of = NULL;
  g_auto (GStrv) lines = NULL;
  uint32_t rank = 0;
  gsize n_places;

  if (machine->node == NULL) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "%s: a rankfile places ranks on the cores of a fabric's nodes; %s is a torus",
                 path, machine->spec);
    return FALSE;
  }
  if (!rankfile_check_threads (machine, error)) {
    g_prefix_error (error, "%s: ", path);
    return FALSE;
  }
  n_places = (gsize) topo_shape_nodes (&machine->shape) * machine->node->n_cores;
  reader.hosts = hosts = topo_hosts_new (machine);
  reader.rank_at = rank_at = g_new (uint32_t, n_places);
  reader.line_of = line_of = g_new0 (uint32_t, mapping->n_ranks);
  memset (rank_at, 0xff, n_places * sizeof *rank_at);
  for (uint32_t slot = 0; slot < machine->node->n_cores; slot++)
    reader.slot_of_core[machine->slot_core[slot]] = (uint8_t) slot;

  blank_comments (text);
  lines = g_strsplit (text, "\n", -1);
  for (gsize at = 0; lines[at] != NULL; at++) {
    if (*g_strstrip (lines[at]) == '\0')
      continue;
    reader.line = (uint32_t) at + 1;
    if (!read_entry (&reader, mapping, lines[at], error)) {
      g_prefix_error (error, "%s:%u: ", path, reader.line);
      return FALSE;
    }
  }
  if (reader.n_ranks_read == mapping->n_ranks)
    return TRUE;
  while (line_of[rank] > 0)
    rank++;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "%s:%u: the file places %u of %u ranks; rank %u is missing", path, reader.line,
               reader.n_ranks_read, mapping->n_ranks, rank);
  return FALSE;
}

const TopoLauncher topo_launcher_rankfile = {
  .name = "rankfile",
  .summary = "Open MPI's rankfile: host and core of every rank",
  .probe = probe_rankfile,
  .read = read_rankfile,
  .print = rankfile_print,
  .launch = rankfile_launch,
};

/* --- Explicit resource files of IBM's jsrun (Summit, Sierra) ---
 *
 *   cpu_index_using: physical
 *   rank: 0: { host: 1; cpu: {4} }                  the first host of the job
 *   rank: 1: { host: 2; cpu: {0-3},{8-11} ; gpu: {0} } : app 0
 *
 * From IBM's page on the format (JSM 10.3) and OLCF's tutorial on its numbers of
 * processors.  Physical numbers are the operating system's, and a core is found by its
 * first one.  Logical numbers count the hardware threads that the job asked for, which
 * a machine description does not hold: they are refused.  A set of several processors
 * binds a rank to any of them; here the rank gets the first core among them that no
 * earlier line has taken.  GPUs and memory are ignored. */

/* Words before the first colon of a line, other than "rank" and "app". */
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
} ErfReader;

static gboolean
erf_bad_line (const ErfReader *reader, const char *found, GError **error)
{
  return topo_placer_fail (reader->placer, TOPO_ERROR_SYNTAX, error,
                           "expected rank: N: { host: H; cpu: {C} }, found \"%s\"", found);
}

static const char *
erf_skip_blanks (const char *text)
{
  return text + strspn (text, " \t");
}

static bool
take_number (const char **text, uint64_t *number)
{
  char *end;

  *text = erf_skip_blanks (*text);
  if (!g_ascii_isdigit (**text))
    return false;
  *number = g_ascii_strtoull (*text, &end, 10);
  *text = erf_skip_blanks (end);
  return true;
}

/* --- The parts of a line --- */

/* "2", the second host of the job, or the host's name. */
static gboolean
read_host (const ErfReader *reader, const char *text, uint32_t *node, GError **error)
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

/* "{4}", "4", "{0-3},{8-11}": the slot of the first free core.  Within a range the cores
 * come in the order of their first processors. */
static gboolean
read_processors (const ErfReader *reader, const char *text, uint32_t node, uint32_t *slot,
                 GError **error)
{
  const TopoMachine *machine = reader->placer->machine;
  const uint32_t *rank_at = &reader->placer->rank_at[(gsize) node * machine->ranks_per_node];
  g_autofree char *plain = g_strdelimit (g_strdup (text), "{}", ' ');
  const char *at = plain;
  bool is_known = false, is_found = false;

  do {
    uint64_t first, last;

    if (!take_number (&at, &first))
      return erf_bad_line (reader, text, error);
    last = first;
    if (*at == '-' && (at++, !take_number (&at, &last)))
      return erf_bad_line (reader, text, error);
    if (last < first || (*at != '\0' && *at != ','))
      return erf_bad_line (reader, text, error);
    for (uint32_t core = 0; core < machine->node->n_cores; core++) {
      uint32_t processor = machine->node->objects[machine->node->core[core]].os_index;
      uint32_t its_slot = reader->slot_of_core[core];

      if (processor < first || processor > last || its_slot >= machine->ranks_per_node)
        continue;
      is_known = true;
      if (rank_at[its_slot] != TOPO_NONE)
        continue;
      *slot = its_slot;
      last = processor;
      is_found = true;
    }
  } while (!is_found && *at++ != '\0');
  return is_found ||
         topo_placer_fail (reader->placer, TOPO_ERROR_RANGE, error,
                           is_known ? "cpu: %s: the cores of node %u that it names are taken"
                                    : "cpu: %s: the first processor of no slot of node %u (see "
                                      "--ranks-per-node)",
                           text, node);
}

/* The text after `key` and a colon in one of the parts, NULL without such a part. */
static const char *
find_key (char **parts, const char *key)
{
  for (; *parts != NULL; parts++) {
    const char *part = erf_skip_blanks (*parts);
    gsize length = strlen (key);

    if (g_str_has_prefix (part, key) && *erf_skip_blanks (part + length) == ':')
      return erf_skip_blanks (erf_skip_blanks (part + length) + 1);
  }
  return NULL;
}

/* --- Lines --- */

static gboolean
erf_read_line (ErfReader *reader, char *line, GError **error)
{
  char *colon = strchr (line, ':');

  if (colon == NULL || g_str_has_prefix (line, "app"))
    return colon != NULL || erf_bad_line (reader, line, error);
  *colon++ = '\0';
  g_strchomp (line);
  if (g_str_equal (line, "rank")) {
    /* "rank: 0: { host: 1; cpu: {4} } : app 0" behind its first colon. */
    const char *open = strchr (colon, '{'), *close = strrchr (colon, '}');
    g_autofree char *inside = NULL;
    g_auto (GStrv) parts = NULL;
    const char *host, *processors, *at = colon;
    uint64_t rank;
    uint32_t node, slot = 0;

    if (!reader->is_physical)
      return topo_placer_fail (
          reader->placer, TOPO_ERROR_RANGE, error,
          "no cpu_index_using: physical before: logical numbers count hardware "
          "threads, which the machine does not have");
    if (!take_number (&at, &rank) || *at != ':' || open == NULL || close < open ||
        erf_skip_blanks (at + 1) != open)
      return erf_bad_line (reader, colon, error);
    inside = g_strndup (open + 1, (gsize) (close - open - 1));
    parts = g_strsplit (inside, ";", -1);
    for (char **part = parts; *part != NULL; part++)
      g_strchomp (*part);
    host = find_key (parts, "host");
    if (host == NULL)
      host = find_key (parts, "hosts");
    processors = find_key (parts, "cpu");
    if (host == NULL || processors == NULL)
      return erf_bad_line (reader, colon, error);
    return read_host (reader, host, &node, error) &&
           read_processors (reader, processors, node, &slot, error) &&
           topo_placer_put (reader->placer, rank, node, slot, error);
  }
  if (!g_strv_contains (preamble, line))
    return erf_bad_line (reader, line, error);
  if (g_str_equal (line, "cpu_index_using"))
    reader->is_physical = g_str_equal (g_strstrip (colon), "physical");
  return TRUE;
}

static gboolean
erf_check_machine (const TopoMachine *machine, GError **error)
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
  ErfReader reader = { .placer = &placer, .hosts = &hosts };
  char *line;

  if (!erf_check_machine (machine, error))
    return FALSE;
  placer = topo_placer_new (mapping, machine, path);
  hosts = topo_hosts_new (machine);
  for (uint32_t slot = 0; slot < machine->node->n_cores; slot++)
    reader.slot_of_core[machine->slot_core[slot]] = (uint8_t) slot;
  while ((line = topo_placer_line (&placer, &text)) != NULL)
    if (!erf_read_line (&reader, line, error))
      return FALSE;
  return topo_placer_finish (&placer, error);
}

/* Begins with a word of the format, and has resource sets. */
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

/* --- Writing resource files --- */

static char *
print_erf (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  GString *text;

  if (!erf_check_machine (machine, error))
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
