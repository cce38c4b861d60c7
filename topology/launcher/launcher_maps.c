/* launcher_maps.c - launchers' files without hosts: coordinates, orders of ranks, blocks of nodes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/launcher/launcher_private.h"
#include "topology/mapping/mapping_private.h"

/* --- Map files: the coordinates and the slot of every rank, a line each ---
 *
 *   # A B C D E T
 *   0 0 0 0 1 3        Blue Gene/Q: rank 0, in the slot 3
 *   0 1 0              any torus, here 2-dimensional; on a fabric a node and a slot
 *
 * Blue Gene/Q's runjob takes them as they are (bgq.md section 1); Blue Gene/P's mpirun
 * with the columns X Y Z T, of which T is one of four cores (LLNL's Boxfish has such
 * files; mapping-and-results.md section A3). */

#define BGP_DIMENSIONS 3
#define BGP_CORES      4

/* --- Reading --- */

static gboolean
read_map (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
          GError **error)
{
  g_auto (TopoPlacer) placer = topo_placer_new (mapping, machine, path);
  TopoColumns columns = topo_columns_of (machine);
  const char *line;

  while ((line = topo_placer_line (&placer, &text)) != NULL) {
    const char *rest = line;
    uint32_t node = 0, slot = 0;

    for (uint32_t column = 0; column < columns.n; column++) {
      char *end;
      guint64 value;

      rest += strspn (rest, " \t\r");
      value = g_ascii_isdigit (*rest) ? g_ascii_strtoull (rest, &end, 10) : 0;
      if (!g_ascii_isdigit (*rest) || (*end != '\0' && strchr (" \t\r", *end) == NULL))
        return topo_placer_fail (&placer, TOPO_ERROR_SYNTAX, error,
                                 "expected %u numbers (%s), found \"%s\" in column %u", columns.n,
                                 columns.letter, rest, column + 1);
      if (value >= columns.size[column])
        return topo_placer_fail (&placer, TOPO_ERROR_RANGE, error,
                                 "%c = %" G_GUINT64_FORMAT " is not within 0 .. %u",
                                 columns.letter[column], value, columns.size[column] - 1);
      if (column + 1 < columns.n)
        node = node * columns.size[column] + (uint32_t) value;
      else
        slot = (uint32_t) value;
      rest = end;
    }
    rest += strspn (rest, " \t\r");
    if (*rest != '\0')
      return topo_placer_fail (&placer, TOPO_ERROR_SYNTAX, error,
                               "\"%s\" after the last of %u numbers", rest, columns.n);
    if (placer.n_placed == mapping->n_ranks)
      return topo_placer_fail (&placer, TOPO_ERROR_RANGE, error,
                               "\"%s\" is one line too many for %u ranks", line, mapping->n_ranks);
    if (!topo_placer_put (&placer, placer.n_placed, node, slot, error))
      return FALSE;
  }
  return topo_placer_finish (&placer, error);
}

/* --- Writing --- */

char *
topo_mapping_print (const TopoMapping *mapping, const TopoMachine *machine)
{
  GString *text = g_string_new ("#");

  for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
    g_string_append_printf (text, " %c", topo_dimension_letter (dimension));
  g_string_append (text, " T\n");
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    TopoCoordinates at = topo_shape_coordinates (&machine->shape, mapping->node[rank]);

    for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
      g_string_append_printf (text, "%u ", at.at[dimension]);
    g_string_append_printf (text, "%u\n", mapping->slot[rank]);
  }
  return g_string_free (text, FALSE);
}

static char *
print_map (const TopoMapping *mapping, const TopoMachine *machine, GError **error G_GNUC_UNUSED)
{
  return topo_mapping_print (mapping, machine);
}

static TopoLaunch
launch_map (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  /* runjob has 1, 2, 4 ... 64 ranks per node. */
  uint32_t n = topo_launcher_slots_used (mapping);
  uint32_t ranks_per_node = 1;

  while (ranks_per_node < n)
    ranks_per_node *= 2;
  g_autofree char *shape = topo_launcher_shape (machine);

  if (!machine->is_bgq)
    return (TopoLaunch){
      .note = g_strdup ("of the launchers only Blue Gene's read map files; this machine is none")
    };
  return (TopoLaunch){
    .line = g_strdup_printf ("runjob --np %u --ranks-per-node %u --mapping %s : ./program",
                             mapping->n_ranks, ranks_per_node, file),
    .note = g_strdup_printf ("in a block or sub-block of shape %s; with a tool attached "
                             "runjob_server must be able to read the file",
                             shape),
  };
}

const TopoLauncher topo_launcher_map = {
  .name = "map",
  .summary = "map file: coordinates and slot of every rank (Blue Gene/Q's runjob)",
  .probe = topo_launcher_probe_never,
  .read = read_map,
  .print = print_map,
  .launch = launch_map,
};

/* --- Blue Gene/P --- */

static gboolean
check_bgp (const TopoMachine *machine, GError **error)
{
  if (machine->fabric == NULL && machine->shape.n_dimensions == BGP_DIMENSIONS)
    return TRUE;
  g_set_error (
      error, TOPO_ERROR, TOPO_ERROR_RANGE,
      "a map file of Blue Gene/P has the columns X Y Z T; %s is not a three-dimensional torus",
      machine->spec);
  return FALSE;
}

static gboolean
read_bgp (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
          GError **error)
{
  return check_bgp (machine, error) && read_map (mapping, machine, path, text, error);
}

static char *
print_bgp (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  GString *text;

  if (!check_bgp (machine, error))
    return NULL;
  if (topo_launcher_slots_used (mapping) > BGP_CORES) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                 "the mapping has slot %u; a node of Blue Gene/P has slots 0 to %u",
                 topo_launcher_slots_used (mapping) - 1, BGP_CORES - 1);
    return NULL;
  }
  text = g_string_new (NULL);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    TopoCoordinates at = topo_shape_coordinates (&machine->shape, mapping->node[rank]);

    g_string_append_printf (text, "%u %u %u %u\n", at.at[0], at.at[1], at.at[2],
                            mapping->slot[rank]);
  }
  return g_string_free (text, FALSE);
}

static TopoLaunch
launch_bgp (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  static const char *const modes[] = { "SMP", "SMP", "DUAL", "VN", "VN" };
  g_autofree char *shape = topo_launcher_shape (machine);

  return (TopoLaunch){
    .line = g_strdup_printf ("mpirun -np %u -mode %s -mapfile %s ./program", mapping->n_ranks,
                             modes[topo_launcher_slots_used (mapping)], file),
    .note = g_strdup_printf ("in a partition of shape %s", shape),
  };
}

const TopoLauncher topo_launcher_bgp = {
  .name = "bgp",
  .summary = "map file of Blue Gene/P: X Y Z T of every rank",
  .probe = topo_launcher_probe_never,
  .read = read_bgp,
  .print = print_bgp,
  .launch = launch_bgp,
};

/* --- Coordinate files of Fujitsu's mpiexec (K, FX100, Fugaku) ---
 *
 *   (0,0,1)      rank 0
 *   (3,0,1)      rank 1; (X,Y) and (X) for jobs of two dimensions and one
 *
 * A line per rank; the ranks of a node have the same line (RIKEN's rankmap4d and
 * Fugaku's guide; mapping-and-results.md section A3). */

#define VCOORD_DIMENSIONS 3

static gboolean
check_vcoord_machine (const TopoMachine *machine, GError **error)
{
  if (machine->fabric == NULL && machine->shape.n_dimensions <= VCOORD_DIMENSIONS)
    return TRUE;
  g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
               "a coordinate file needs a torus of one to three dimensions; %s is not one",
               machine->spec);
  return FALSE;
}

/* Takes a sign with blanks around. */
static bool
take_sign (const char **text, char sign)
{
  *text += strspn (*text, " \t");
  if (**text != sign)
    return false;
  ++*text;
  *text += strspn (*text, " \t");
  return true;
}

static gboolean
read_vcoord (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
             GError **error)
{
  g_auto (TopoPlacer) placer = { NULL };
  const char *line;

  if (!check_vcoord_machine (machine, error))
    return FALSE;
  placer = topo_placer_new (mapping, machine, path);
  while ((line = topo_placer_line (&placer, &text)) != NULL) {
    const TopoShape *shape = &placer.machine->shape;
    const char *at = line;
    bool good = take_sign (&at, '(');
    uint32_t node = 0;

    for (uint32_t dimension = 0; good && dimension < shape->n_dimensions; dimension++) {
      char *end = NULL;
      guint64 value = g_ascii_isdigit (*at) ? g_ascii_strtoull (at, &end, 10) : 0;

      if (end == NULL) {
        good = false;
        break;
      }
      if (value >= shape->size[dimension])
        return topo_placer_fail (&placer, TOPO_ERROR_RANGE, error,
                                 "%c = %" G_GUINT64_FORMAT " is not within 0 .. %u",
                                 'X' + (char) dimension, value, shape->size[dimension] - 1);
      node = node * shape->size[dimension] + (uint32_t) value;
      at = end;
      good = take_sign (&at, dimension + 1 < shape->n_dimensions ? ',' : ')');
    }
    if (!good || *at != '\0')
      return topo_placer_fail (&placer, TOPO_ERROR_SYNTAX, error,
                               "expected %u coordinates as in (0,1,2), found \"%s\"",
                               shape->n_dimensions, line);
    if (!topo_placer_fill (&placer, node, error))
      return FALSE;
  }
  return topo_placer_finish (&placer, error);
}

static bool
probe_vcoord (const TopoMachine *machine G_GNUC_UNUSED, const char *text)
{
  text = topo_launcher_skip (text);
  return *text == '(' && g_ascii_isdigit (text[1 + strspn (text + 1, " \t")]);
}

static char *
print_vcoord (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  GString *text;

  if (!check_vcoord_machine (machine, error) ||
      !topo_launcher_check_slots (mapping, machine, "a coordinate file", error))
    return NULL;
  text = g_string_new (NULL);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    TopoCoordinates at = topo_shape_coordinates (&machine->shape, mapping->node[rank]);

    for (uint32_t dimension = 0; dimension < machine->shape.n_dimensions; dimension++)
      g_string_append_printf (text, "%c%u", dimension > 0 ? ',' : '(', at.at[dimension]);
    g_string_append (text, ")\n");
  }
  return g_string_free (text, FALSE);
}

static TopoLaunch
launch_vcoord (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  g_autofree char *shape = topo_launcher_shape (machine);

  return (TopoLaunch){
    .line = g_strdup_printf ("mpiexec -n %u --vcoordfile %s ./program", mapping->n_ranks, file),
    .note = g_strdup_printf ("in a job with #PJM -L node=%s and #PJM --mpi max-proc-per-node=%u",
                             shape, topo_launcher_slots_used (mapping)),
  };
}

const TopoLauncher topo_launcher_vcoord = {
  .name = "vcoord",
  .summary = "coordinate file of Fujitsu's mpiexec: the node of every rank",
  .probe = probe_vcoord,
  .read = read_vcoord,
  .print = print_vcoord,
  .launch = launch_vcoord,
};

/* --- MPICH_RANK_ORDER of Cray MPICH: which rank each slot gets ---
 *
 *   # two nodes of four slots
 *   0,1,4,5
 *   2-3,6,7
 *
 * The inverse of the other formats: the n-th number is the rank that is put where a
 * job in order would have rank n, and so in the n-th slot, nodes one after the other
 * (HPE's manual of grid_order, which prints such files; LUMI's and NERSC's pages on
 * MPICH_RANK_REORDER_METHOD=3).  Ranges a-b are accepted by report only, not by a source, so
 * that none is written. */

static gboolean
read_cray (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
           GError **error)
{
  g_auto (TopoPlacer) placer = topo_placer_new (mapping, machine, path);
  uint32_t ranks_per_node = machine->ranks_per_node;
  const char *line;

  while ((line = topo_placer_line (&placer, &text)) != NULL) {
    g_auto (GStrv) items = g_strsplit (line, ",", -1);

    for (gsize at = 0; items[at] != NULL; at++) {
      g_autofree char *begin = NULL;
      const char *dash;
      uint64_t first, last;

      if (*g_strstrip (items[at]) == '\0' && at > 0 && items[at + 1] == NULL)
        break;
      dash = strchr (items[at], '-'); /* in "2-5" */
      begin =
          dash != NULL ? g_strndup (items[at], (gsize) (dash - items[at])) : g_strdup (items[at]);
      if (!g_ascii_string_to_unsigned (begin, 10, 0, UINT32_MAX, &first, NULL) ||
          !g_ascii_string_to_unsigned (dash != NULL ? dash + 1 : begin, 10, first, UINT32_MAX,
                                       &last, NULL))
        return topo_placer_fail (&placer, TOPO_ERROR_SYNTAX, error,
                                 "expected ranks and commas as in 0,1,4-7, found \"%s\"",
                                 items[at]);
      for (uint64_t rank = first; rank <= last; rank++) {
        uint32_t place = placer.n_placed;

        if (place == mapping->n_ranks)
          return topo_placer_fail (&placer, TOPO_ERROR_RANGE, error,
                                   "rank %" G_GUINT64_FORMAT " is one too many for %u slots", rank,
                                   place);
        if (!topo_placer_put (&placer, rank, place / ranks_per_node, place % ranks_per_node, error))
          return FALSE;
      }
    }
  }
  return topo_placer_finish (&placer, error);
}

/* A number and then a comma or a dash. */
static bool
probe_cray (const TopoMachine *machine G_GNUC_UNUSED, const char *text)
{
  gsize n_digits;

  text = topo_launcher_skip (text);
  n_digits = strspn (text, G_CSET_DIGITS);
  return n_digits > 0 && (text[n_digits] == ',' || text[n_digits] == '-');
}

/* --- Writing --- */

/* A line per node. */
static char *
print_cray (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  g_autofree uint32_t *rank_at = g_new (uint32_t, mapping->n_ranks);
  GString *text;

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    gsize place = (gsize) mapping->node[rank] * machine->ranks_per_node + mapping->slot[rank];

    if (place >= mapping->n_ranks) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE,
                   "rank %u is in slot %u of node %u: a rank order fills the first %u slots of the "
                   "machine, %u on each node (see --ranks-per-node)",
                   rank, mapping->slot[rank], mapping->node[rank], mapping->n_ranks,
                   machine->ranks_per_node);
      return NULL;
    }
    rank_at[place] = rank;
  }
  text = g_string_new (NULL);
  for (uint32_t place = 0; place < mapping->n_ranks; place++) {
    bool ends = (place + 1) % machine->ranks_per_node == 0 || place + 1 == mapping->n_ranks;

    g_string_append_printf (text, "%u%c", rank_at[place], ends ? '\n' : ',');
  }
  return g_string_free (text, FALSE);
}

static TopoLaunch
launch_cray (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  g_autofree char *binding =
      topo_launcher_processors (mapping, machine, " --cpu-bind=map_cpu:", ',');

  return (TopoLaunch){
    .line = g_strdup_printf ("MPICH_RANK_REORDER_METHOD=3 MPICH_RANK_REORDER_FILE=%s srun -m block "
                             "-n %u --ntasks-per-node=%u%s ./program",
                             file, mapping->n_ranks, machine->ranks_per_node, binding),
    .note = g_strdup ("the nodes of the job must be those of the machine, in its order"),
  };
}

const TopoLauncher topo_launcher_cray = {
  .name = "cray",
  .summary = "MPICH_RANK_ORDER of Cray MPICH: the rank of every slot",
  .probe = probe_cray,
  .read = read_cray,
  .print = print_cray,
  .launch = launch_cray,
};

/* --- Task maps: blocks of nodes that take so many ranks each ---
 *
 * {"version":1,"map":[[0,4,2,2]]}     Flux, RFC 34: from node 0 on 4 nodes take 2
 *                                       ranks each, and that twice; or the list alone
 *   (vector,(0,4,2),(0,4,2))            PMI's process mapping, which cannot repeat
 *
 * Node 0 is the first node of the machine, and of the job. */

#define MAX_ARGUMENT_BYTES (128u * 1024 - 64) /* Linux's MAX_ARG_STRLEN, less the option's name */

typedef struct {
  uint32_t node, n_nodes, ranks_per_node, n_times;
} Block;

/* --- Reading --- */

/* A text and how far it has been read. */
typedef struct {
  TopoPlacer *placer; /* whose line is that of `at` */
  const char *at;
} Scanner;

static void
skip_block_blanks (Scanner *scanner)
{
  for (; g_ascii_isspace (*scanner->at); scanner->at++)
    scanner->placer->line += *scanner->at == '\n';
}

/* Takes a word that may come next. */
static bool
take (Scanner *scanner, const char *word)
{
  skip_block_blanks (scanner);
  if (!g_str_has_prefix (scanner->at, word))
    return false;
  scanner->at += strlen (word);
  return true;
}

/* An error that shows the beginning of the text at the scanner. */
static gboolean
fail_here (const Scanner *scanner, const char *expected, GError **error)
{
  return topo_placer_fail (scanner->placer, TOPO_ERROR_SYNTAX, error, "expected %s, found \"%.*s\"",
                           expected, (int) MIN (strcspn (scanner->at, "\r\n"), 20), scanner->at);
}

static gboolean
expect (Scanner *scanner, const char *word, GError **error)
{
  return take (scanner, word) || fail_here (scanner, word, error);
}

static gboolean
expect_number (Scanner *scanner, uint32_t *number, GError **error)
{
  char *end;
  guint64 value;

  skip_block_blanks (scanner);
  if (!g_ascii_isdigit (*scanner->at))
    return fail_here (scanner, "a number", error);
  value = g_ascii_strtoull (scanner->at, &end, 10);
  if (value > UINT32_MAX)
    return topo_placer_fail (scanner->placer, TOPO_ERROR_RANGE, error, "%.*s is too large",
                             (int) MIN (end - scanner->at, 20), scanner->at);
  scanner->at = end;
  *number = (uint32_t) value;
  return TRUE;
}

/* Reads numbers between brackets, "[0,4,2,2]" or "(0,4,2)", and gives the places of the
 * block to the next ranks. */
static gboolean
read_block (Scanner *scanner, const char *open, const char *close, bool repeats, GError **error)
{
  TopoPlacer *placer = scanner->placer;
  uint32_t n_machine = topo_shape_nodes (&placer->machine->shape);
  Block block = { .n_times = 1 };

  if (!expect (scanner, open, error) || !expect_number (scanner, &block.node, error) ||
      !expect (scanner, ",", error) || !expect_number (scanner, &block.n_nodes, error) ||
      !expect (scanner, ",", error) || !expect_number (scanner, &block.ranks_per_node, error) ||
      (repeats &&
       (!expect (scanner, ",", error) || !expect_number (scanner, &block.n_times, error))) ||
      !expect (scanner, close, error))
    return FALSE;
  if (block.n_nodes == 0 || block.ranks_per_node == 0 || block.n_times == 0)
    return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                             "a block without nodes, without ranks or without repetitions");
  if (block.node >= n_machine || block.n_nodes > n_machine - block.node)
    return topo_placer_fail (placer, TOPO_ERROR_RANGE, error,
                             "%u nodes from node %u on: %s has %u nodes", block.n_nodes, block.node,
                             placer->machine->spec, n_machine);
  for (uint32_t time = 0; time < block.n_times; time++)
    for (uint32_t node = block.node; node < block.node + block.n_nodes; node++)
      for (uint32_t rank = 0; rank < block.ranks_per_node; rank++)
        if (!topo_placer_fill (placer, node, error))
          return FALSE;
  return TRUE;
}

static gboolean
expect_end (Scanner *scanner, GError **error)
{
  skip_block_blanks (scanner);
  if (*scanner->at != '\0')
    return fail_here (scanner, "the end of the map", error);
  return topo_placer_finish (scanner->placer, error);
}

/* "[[0,4,2,2],[4,1,1,1]]" */
static gboolean
read_blocks (Scanner *scanner, GError **error)
{
  if (!expect (scanner, "[", error))
    return FALSE;
  do
    if (!read_block (scanner, "[", "]", true, error))
      return FALSE;
  while (take (scanner, ","));
  return expect (scanner, "]", error);
}

static gboolean
read_flux (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
           GError **error)
{
  g_auto (TopoPlacer) placer = topo_placer_new (mapping, machine, path);
  Scanner scanner = { &placer, text };
  bool has_version = false, has_map = false;

  placer.line = 1;
  if (!take (&scanner, "{"))
    return read_blocks (&scanner, error) && expect_end (&scanner, error);
  /* The members "version" and "map", in any order. */
  do
    if (!has_version && take (&scanner, "\"version\"")) {
      uint32_t version;

      has_version = true;
      if (!expect (&scanner, ":", error) || !expect_number (&scanner, &version, error))
        return FALSE;
      if (version != 1)
        return topo_placer_fail (&placer, TOPO_ERROR_RANGE, error,
                                 "unknown task map version %u; 1 is known", version);
    } else {
      has_map = true;
      if (!expect (&scanner, "\"map\"", error) || !expect (&scanner, ":", error) ||
          !read_blocks (&scanner, error))
        return FALSE;
    }
  while (!(has_version && has_map) && take (&scanner, ","));
  if (!has_version || !has_map)
    return topo_placer_fail (&placer, TOPO_ERROR_SYNTAX, error, "there is no \"%s\"",
                             has_version ? "map" : "version");
  return expect (&scanner, "}", error) && expect_end (&scanner, error);
}

static gboolean
read_pmi (TopoMapping *mapping, const TopoMachine *machine, const char *path, char *text,
          GError **error)
{
  g_auto (TopoPlacer) placer = topo_placer_new (mapping, machine, path);
  Scanner scanner = { &placer, text };

  placer.line = 1;
  if (!expect (&scanner, "(", error) || !expect (&scanner, "vector", error))
    return FALSE;
  while (take (&scanner, ","))
    if (!read_block (&scanner, "(", ")", false, error))
      return FALSE;
  return expect (&scanner, ")", error) && expect_end (&scanner, error);
}

static bool
probe_flux (const TopoMachine *machine G_GNUC_UNUSED, const char *text)
{
  text += strspn (text, " \t\r\n");
  return *text == '{' || *text == '[';
}

static bool
probe_pmi (const TopoMachine *machine G_GNUC_UNUSED, const char *text)
{
  text += strspn (text, " \t\r\n");
  return *text == '(' && g_str_has_prefix (text + 1 + strspn (text + 1, " \t\r\n"), "vector");
}

/* --- Writing --- */

/* Runs of nodes that have the same number of ranks (element-type Block). */
static GArray *
blocks_of (const TopoMapping *mapping)
{
  GArray *blocks = g_array_new (FALSE, FALSE, sizeof (Block));

  for (uint32_t rank = 0; rank < mapping->n_ranks; rank += topo_launcher_run (mapping, rank)) {
    Block block = { mapping->node[rank], 1, topo_launcher_run (mapping, rank), 1 };
    Block *last = blocks->len > 0 ? &g_array_index (blocks, Block, blocks->len - 1) : NULL;

    if (last != NULL && block.node == last->node + last->n_nodes &&
        block.ranks_per_node == last->ranks_per_node)
      last->n_nodes++;
    else
      g_array_append_val (blocks, block);
  }
  return blocks;
}

static char *
print_flux (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  g_autoptr (GArray) blocks = NULL;
  GString *text;

  if (!topo_launcher_check_slots (mapping, machine, "a task map", error))
    return NULL;
  blocks = blocks_of (mapping);
  /* Counts blocks that follow their like. */
  guint n = 0;

  for (guint at = 0; at < blocks->len; at++) {
    Block *block = &g_array_index (blocks, Block, at);
    Block *last = n > 0 ? &g_array_index (blocks, Block, n - 1) : NULL;

    if (last != NULL && (last->node == block->node && last->n_nodes == block->n_nodes &&
                         last->ranks_per_node == block->ranks_per_node))
      last->n_times++;
    else
      g_array_index (blocks, Block, n++) = *block;
  }
  g_array_set_size (blocks, n);
  text = g_string_new ("{\"version\":1,\"map\":[");
  for (guint at = 0; at < blocks->len; at++) {
    const Block *block = &g_array_index (blocks, Block, at);

    g_string_append_printf (text, "%s[%u,%u,%u,%u]", at > 0 ? "," : "", block->node, block->n_nodes,
                            block->ranks_per_node, block->n_times);
  }
  return g_string_free (g_string_append (text, "]}\n"), FALSE);
}

static char *
print_pmi (const TopoMapping *mapping, const TopoMachine *machine, GError **error)
{
  g_autoptr (GArray) blocks = NULL;
  GString *text;

  if (!topo_launcher_check_slots (mapping, machine, "a process mapping", error))
    return NULL;
  blocks = blocks_of (mapping);
  text = g_string_new ("(vector");
  for (guint at = 0; at < blocks->len; at++) {
    const Block *block = &g_array_index (blocks, Block, at);

    g_string_append_printf (text, ",(%u,%u,%u)", block->node, block->n_nodes,
                            block->ranks_per_node);
  }
  return g_string_free (g_string_append (text, ")\n"), FALSE);
}

static TopoLaunch
launch_flux (const TopoMapping *mapping, const TopoMachine *machine, const char *file)
{
  g_autofree char *processors =
      topo_launcher_processors (mapping, machine, " -o 'cpu-affinity=map:", ';');
  g_autofree char *text = print_flux (mapping, machine, NULL);

  if (text != NULL && strlen (text) > MAX_ARGUMENT_BYTES)
    return (TopoLaunch){ .note = g_strdup (
                             "flux takes the map as an argument, and this one is longer than the "
                             "128 KiB that Linux lets one be") };
  return (TopoLaunch){
    .line = g_strdup_printf ("flux run -N %u -n %u --taskmap=manual:\"$(cat %s)\"%s%s ./program",
                             topo_launcher_nodes_used (mapping), mapping->n_ranks, file, processors,
                             *processors != '\0' ? "'" : ""),
    .note = g_strdup ("the nodes of the job must be those of the machine, in its order"),
  };
}

static TopoLaunch
launch_pmi (const TopoMapping *mapping G_GNUC_UNUSED, const TopoMachine *machine G_GNUC_UNUSED,
            const char *file G_GNUC_UNUSED)
{
  return (TopoLaunch){ .note = g_strdup (
                           "this is what a process manager tells MPI; no launcher reads it") };
}

const TopoLauncher topo_launcher_flux = {
  .name = "flux",
  .summary = "task map of Flux (RFC 34): ranks of blocks of nodes, as JSON",
  .probe = probe_flux,
  .read = read_flux,
  .print = print_flux,
  .launch = launch_flux,
};

const TopoLauncher topo_launcher_pmi = {
  .name = "pmi",
  .summary = "PMI's process mapping: ranks of blocks of nodes",
  .probe = probe_pmi,
  .read = read_pmi,
  .print = print_pmi,
  .launch = launch_pmi,
};
