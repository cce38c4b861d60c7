/* size_list.c - a list of message sizes on the command line: --sizes 8,1KiB,64KiB.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/size_list.h"

#include "cli/command.h"
#include "topology/unit.h"

static int
compare (gconstpointer left, gconstpointer right)
{
  uint64_t a = *(const uint64_t *) left, b = *(const uint64_t *) right;

  return (a > b) - (a < b);
}

gboolean
cli_size_list (GArray *sizes, const char *text, uint64_t largest, const char *limit, GError **error)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);

  for (guint at = 0; words[at] != NULL; at++) {
    const char *word = g_strstrip (words[at]);
    TopoValue value = { 0 };
    g_autoptr (GError) cause = NULL;
    uint64_t bytes;

    if (!g_ascii_string_to_unsigned (word, 10, 1, largest, &bytes, NULL)) {
      if (!topo_unit_parse (TOPO_UNIT_BYTES, word, &value, &cause))
        return cli_refuse (error, "--sizes: %s", cause->message);
      if (value.whole < 1 || value.whole > largest)
        return cli_refuse (error, "--sizes: %s is not within 1 B .. %s", word, limit);
      bytes = value.whole;
    }
    g_array_append_val (sizes, bytes);
  }
  if (sizes->len == 0)
    return cli_refuse (error, "--sizes: the list is empty");
  g_array_sort (sizes, compare);
  for (guint at = 1; at < sizes->len; at++)
    if (g_array_index (sizes, uint64_t, at) == g_array_index (sizes, uint64_t, at - 1))
      return cli_refuse (error, "--sizes: %" G_GUINT64_FORMAT " bytes are listed twice",
                         g_array_index (sizes, uint64_t, at));
  return TRUE;
}
