/* vl_weights.c - tables of VL arbiters, as OpenSM writes them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/vl_weights.h"

#include "topology/machine.h"

#define MAX_VL     14 /* 15 is management's */
#define MAX_WEIGHT 255

static gboolean
parse_entry (const char *text, TopoVlWeights *weights)
{
  g_auto (GStrv) parts = g_strsplit (text, ":", -1);
  guint64 vl, weight;

  if (g_strv_length (parts) != 2 ||
      !g_ascii_string_to_unsigned (g_strstrip (parts[0]), 10, 0, MAX_VL, &vl, NULL) ||
      !g_ascii_string_to_unsigned (g_strstrip (parts[1]), 10, 0, MAX_WEIGHT, &weight, NULL))
    return FALSE;
  weights->vl[weights->n] = (uint8_t) vl;
  weights->weight[weights->n++] = (uint8_t) weight;
  return TRUE;
}

gboolean
topo_vl_weights_parse (const char *text, TopoVlWeights *weights, GError **error)
{
  g_auto (GStrv) entries = g_strsplit (text, ",", -1);
  TopoVlWeights parsed = { 0 };

  if (g_str_equal (text, "none")) {
    *weights = parsed;
    return TRUE;
  }
  if (g_strv_length (entries) > TOPO_VL_ENTRIES) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_RANGE, "at most %d entries, found %u",
                 TOPO_VL_ENTRIES, g_strv_length (entries));
    return FALSE;
  }
  for (gsize at = 0; entries[at] != NULL; at++)
    if (!parse_entry (entries[at], &parsed)) {
      g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                   "expected VL:weight (0..%d and 0..%d), found \"%s\"", MAX_VL, MAX_WEIGHT,
                   entries[at]);
      return FALSE;
    }
  if (parsed.n == 0) {
    g_set_error (error, TOPO_ERROR, TOPO_ERROR_SYNTAX,
                 "expected none, or VL:weight,VL:weight..., found \"%s\"", text);
    return FALSE;
  }
  *weights = parsed;
  return TRUE;
}

char *
topo_vl_weights_print (const TopoVlWeights *weights)
{
  GString *text = g_string_new (weights->n == 0 ? "none" : NULL);

  for (uint32_t at = 0; at < weights->n; at++)
    g_string_append_printf (text, "%s%u:%u", at > 0 ? "," : "", weights->vl[at],
                            weights->weight[at]);
  return g_string_free (text, FALSE);
}
