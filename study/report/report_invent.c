/* report_invent.c - makes a store of invented runs, to try the report page on.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * `report_invent STORE [MAPPINGS [SPEC]]`: that many mappings (84) on a torus
 * (bgq:4x4x16x8x2: 4,096 nodes) and some on a fat tree, with links and ranks,
 * a few failures, and names that try the page's escaping.  Nothing is simulated. */
#include "study/inputs.h"
#include "study/store/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  StudyStore *store;
  TopoMachine *machine;
  char *machine_hash;
  const char *network;
  uint32_t n_ranks;
  GRand *random;
  GPtrArray *rows; /* (element-type StudyRow) of all machines */
} Inventor;

static void
must (gboolean ok, GError *error)
{
  if (ok)
    return;
  fprintf (stderr, "report_invent: %s\n", error->message);
  exit (1);
}

/* On a torus a wave along the node's number that is higher for worse mappings, and
 * a few links far above it.  Every third mapping has few different loads. */
static GBytes *
invent_links (const Inventor *it, guint number, uint64_t *max)
{
  uint32_t n_ports =
      it->machine->fabric ? it->machine->fabric->n_ports : topo_shape_ports (&it->machine->shape);
  uint32_t n_places =
      it->machine->fabric ? n_ports : n_ports * topo_shape_nodes (&it->machine->shape);
  uint64_t *bytes = g_new0 (uint64_t, n_places);

  *max = 0;
  for (uint32_t place = 0; place < n_places; place++) {
    double wave = 1 + sin (12.0 * place / n_places + number) * 0.6;
    double noise =
        number % 3 == 0 ? floor (4 * wave) / 4 : wave * g_rand_double_range (it->random, 0.7, 1.3);

    if (place % 5 != number % 5 || number % 4 != 1)
      bytes[place] = (uint64_t) (1e6 * (1 + 0.05 * number) * noise);
    *max = MAX (*max, bytes[place]);
  }
  return g_bytes_new_take (bytes, n_places * sizeof *bytes);
}

static GBytes *
invent_ranks (const Inventor *it, double time_s)
{
  StudyRankTimes *times = g_new (StudyRankTimes, it->n_ranks);

  for (uint32_t rank = 0; rank < it->n_ranks; rank++) {
    double share = 0.3 + 0.2 * sin (rank * 0.01) + 0.05 * g_rand_double (it->random);

    times[rank] = (StudyRankTimes){ time_s * (0.9 + 0.1 * g_rand_double (it->random)), 0.4 * time_s,
                                    share * time_s };
  }
  return g_bytes_new_take (times, it->n_ranks * sizeof *times);
}

static char *invent_hash (const char *format, ...) G_GNUC_PRINTF (1, 2);

static char *
invent_hash (const char *format, ...)
{
  va_list arguments;
  g_autofree char *text = NULL;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return g_compute_checksum_for_string (G_CHECKSUM_SHA256, text, -1);
}

static guint
greatest_divisor (guint left, guint right)
{
  return right == 0 ? left : greatest_divisor (right, left % right);
}

/* The default, and then the ranks shifted by ever more places; every place once. */
static TopoMapping *
invent_places (const Inventor *it, guint number)
{
  GError *error = NULL;
  TopoMapping *mapping = topo_mapping_new (NULL, it->machine, it->n_ranks, &error);
  g_autofree uint32_t *node = NULL;
  guint step = 2 * number + 1;

  while (greatest_divisor (step, it->n_ranks) > 1)
    step += 2;
  must (mapping != NULL, error);
  node = g_memdup2 (mapping->node, it->n_ranks * sizeof *node);
  for (uint32_t rank = 0; rank < it->n_ranks; rank++)
    mapping->node[rank] = node[(rank * step + 17 * number) % it->n_ranks];
  return mapping;
}

static void
invent_run (const Inventor *it, guint number)
{
  static const char *const names[] = { "tile 4x4 <i>tilt</i> & zigzag", "hilbert", "random:\"7\"" };
  g_autoptr (TopoMapping) places = invent_places (it, number);
  g_autoptr (StudyStoreGroup) group = study_store_group_new ();
  StudyRow *row = study_row_new ();
  GError *error = NULL;
  uint64_t max;

  row->key = invent_hash ("key-%s-%s-%u", it->machine->spec, it->network, number);
  row->trace = g_strdup ("gen:halo2d:<invented>&\"quoted\"</script>");
  row->trace_hash = invent_hash ("invented-%u", it->n_ranks);
  row->machine = g_strdup (it->machine->spec);
  row->machine_hash = g_strdup (it->machine_hash);
  row->mapping = number == 3
                     ? g_strdup (places->name)
                     : g_strdup_printf ("%s %u", names[number % G_N_ELEMENTS (names)], number);
  row->mapping_hash = study_mapping_hash (places);
  row->network = g_strdup (it->network);
  row->routing = g_strdup ("default");
  row->shrink = g_strdup ("off");
  row->version = g_strdup (PACKAGE_VERSION);
  row->ranks = it->n_ranks;
  row->ranks_per_node = it->machine->ranks_per_node;
  row->nodes = topo_shape_nodes (&it->machine->shape);
  row->compute_scale = 1;
  if (number % 40 == 39) {
    row->status = STUDY_FAILED;
    row->error =
        g_strdup ("<b>maps/lost.map</b>: line 7: rank 3 has the place of rank 2 & \"more\"");
  } else {
    row->status = STUDY_DONE;
    row->link_bytes = invent_links (it, number, &max);
    row->links = 1;
    row->time_s = 0.001 * (1 + 0.03 * number + 0.02 * (number % 7));
    row->compute_s_avg = 0.0004;
    row->wait_s_avg = 0.3 * row->time_s;
    row->wait_s_max = 0.5 * row->time_s;
    row->messages = 1000;
    row->message_bytes = 1 << 30;
    row->packets = 5000;
    row->packet_hops = 20000 + 100 * number;
    row->features[SIM_FEATURE_MAX_BYTES] = (double) max;
    row->features[SIM_FEATURE_AVG_HOPS_PER_BYTE] = 2 + 0.1 * (number % 30);
    row->features[SIM_FEATURE_MAX_DILATION] = 3 + number % 9;
    row->rank_times = invent_ranks (it, row->time_s);
  }
  study_store_group_add_places (group, row->mapping_hash, it->n_ranks,
                                study_store_pack_places (places));
  g_ptr_array_set_free_func (group->rows, NULL);
  g_ptr_array_add (group->rows, row);
  must (study_store_put_group (it->store, group, &error), error);
  g_clear_pointer (&row->link_bytes, g_bytes_unref);
  g_clear_pointer (&row->rank_times, g_bytes_unref);
  g_ptr_array_add (it->rows, row);
}

static void
invent_case (Inventor *it, const char *spec, const char *network, guint n_mappings)
{
  const StudyMachineInputs inputs = { .spec = spec, .ranks_per_node = 1, .pattern = G_MININT };
  g_autofree char *text = NULL, *trace_hash = NULL;
  g_autofree SimEdge *sorted = NULL;
  g_autoptr (StudyStoreGroup) group = study_store_group_new ();
  SimEdges *edges;
  uint64_t n_edges;
  GError *error = NULL;
  uint32_t n;

  it->machine = study_machine_new (&inputs, &error);
  must (it->machine != NULL, error);
  it->network = network;
  it->machine_hash = study_machine_hash (it->machine);
  it->n_ranks = n = topo_shape_nodes (&it->machine->shape);
  text = topo_machine_print (it->machine);
  must (study_store_put_machine (it->store, it->machine_hash, text, &error), error);

  /* A ring, and every rank to the rank on the other side. */
  edges = sim_edges_new (n);
  for (uint32_t rank = 0; rank < n; rank++) {
    sim_edges_add (edges, rank, (rank + 1) % n, 10, 1000);
    sim_edges_add (edges, rank, (rank + n / 2) % n, 1, 64000 + rank);
  }
  sorted = sim_edges_sorted (edges, &n_edges);
  trace_hash = invent_hash ("invented-%u", n);
  study_store_group_add_edges (group, trace_hash, n, n_edges,
                               study_store_pack_edges (sorted, n_edges));
  must (study_store_put_group (it->store, group, &error), error);
  sim_edges_free (edges);

  for (guint number = 0; number < n_mappings; number++)
    invent_run (it, number);
  g_clear_pointer (&it->machine, topo_machine_free);
  g_clear_pointer (&it->machine_hash, g_free);
}

int
main (int argc, char **argv)
{
  Inventor it = { .random = g_rand_new_with_seed (7) };
  guint n_mappings = argc > 2 ? (guint) atoi (argv[2]) : 84;
  GError *error = NULL;

  if (argc < 2)
    return 2;
  it.store = study_store_open (argv[1], STUDY_STORE_CREATE, &error);
  must (it.store != NULL, error);
  it.rows = g_ptr_array_new_with_free_func ((GDestroyNotify) study_row_free);
  invent_case (&it, argc > 3 ? argv[3] : "bgq:4x4x16x8x2", "packet", n_mappings);
  invent_case (&it, "fattree:18x18:9", "packet", MIN (n_mappings, 12));
  must (study_store_set_plan (it.store, "invented <study>", "[study]\nname = invented <study>\n",
                              (StudyRow *const *) it.rows->pdata, it.rows->len, &error),
        error);
  g_ptr_array_unref (it.rows);
  study_store_free (it.store);
  g_rand_free (it.random);
  return 0;
}
