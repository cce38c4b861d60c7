/* dump_fuzz.c - any bytes as the dump of a fabric's forwarding tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The fabric is a small tree; what its readers then do with tables, which may
 * lead anywhere, is done: every way is walked, loads and loops are surveyed,
 * and pairs are put on lanes. */
#include ".ci/fuzzing.h"
#include "routing/forwarding/fabric_survey.h"
#include "routing/deadlock.h"
#include "routing/forwarding/forwarding.h"
#include "topology/machine.h"

#include <stdlib.h>
#include <string.h>

static TopoFabric *fabric;

static const char *const words[] = {
  "Unicast lids [0-9] of switch Lid 1 guid 0x0002c90002000000 ('x'):\\x0a",
  "Unicast lids",
  " switch Lid ",
  " guid 0x",
  "portguid 0x",
  "0x0004 001 # Channel Adapter portguid 0x0002c90001000001: ",
  "0x",
  " 255 ",
  "Switch",
  NULL,
};

/* All tables of the tree as minhop makes them. */
static char *
sound_dump (void)
{
  g_autoptr (RouteForwarding) tables = route_forwarding_compute (fabric, "minhop", NULL);
  GString *text = g_string_new (NULL);

  for (uint32_t at = 0; at < tables->n_switches; at++) {
    g_string_append_printf (text,
                            "Unicast lids [0x0-0x9] of switch Lid %u guid 0x%016" G_GINT64_MODIFIER
                            "x ('s%u'):\n",
                            at + 1, fabric->devices[tables->switch_device[at]].guid, at);
    for (uint32_t to = 0; to < tables->n_destinations; to++)
      g_string_append_printf (
          text, "0x%04x %03u : (Channel Adapter portguid 0x%016" G_GINT64_MODIFIER "x: 'n')\n",
          to + 100, route_forwarding_out (tables, at, to),
          fabric->ports[tables->destination_port[to]].guid != 0
              ? fabric->ports[tables->destination_port[to]].guid
              : fabric->devices[fabric->ports[tables->destination_port[to]].device].guid + 1);
  }
  return g_string_free (text, FALSE);
}

static void
seed (FuzzSeeds *seeds)
{
  g_autofree char *dump = sound_dump ();

  fuzz_add_text (seeds, dump);
  fuzz_add_words (seeds, words);
}

static void
free_fabric (void)
{
  topo_fabric_free (fabric);
}

static void
prepare (void)
{
  fabric = topo_fabric_tree (3, 2, 2, (TopoRate){ 4, TOPO_SPEED_QDR }, NULL);
  atexit (free_fabric);
}

/* Reachable pairs as the survey counts them, one by one. */
static void
check_ways (const RouteForwarding *tables, const RouteFabricSurvey *survey)
{
  g_autofree uint32_t *links = g_new (uint32_t, tables->n_switches + 2);
  uint64_t arrived = 0, n = tables->n_destinations;

  for (uint32_t from = 0; from < n; from++)
    for (uint32_t to = 0; to < n; to++)
      arrived += from != to &&
                 route_forwarding_path (tables, tables->destination_port[from], to, links) > 0;
  g_assert_cmpuint (survey->pairs, ==, n * (n - 1));
  g_assert_cmpuint (survey->pairs - survey->unreachable, ==, arrived);
}

static void
check (const uint8_t *data, size_t size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (RouteForwarding) tables = NULL;
  g_autoptr (RouteFabricSurvey) survey = NULL;
  g_autoptr (RouteFabricSurvey) layered = NULL;

  tables = route_forwarding_load (fabric, fuzz_file (data, size), &error);
  g_assert_true ((tables == NULL) == (error != NULL));
  if (tables == NULL) {
    g_assert_true (error->domain == TOPO_ERROR && strchr (error->message, '\n') == NULL);
    return;
  }
  survey = route_fabric_survey_new (tables);
  check_ways (tables, survey);
  g_assert_true (route_forwarding_add_layers (tables, 15, &error));
  layered = route_fabric_survey_new (tables);
  g_assert_true (layered->credit_loops == 0 || layered->unreachable > 0);
}

const FuzzProgram fuzz_program = { prepare, seed, check };
