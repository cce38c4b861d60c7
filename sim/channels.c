/* channels.c - do the sends and receives of a trace add up?
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim/channels.h"

#include "base/small_map.h"
#include "topology/shape.h"
#include "mpi/operation.h"

#include <glib.h>
#include <stdlib.h>

typedef struct {
  SimChannel channel;
  uint64_t sends, receives;
  uint64_t cancelled; /* of the receives */
} Count;

struct SimChannels {
  GHashTable *counts; /* set of Count by channel; walked only to be sorted */
};

static guint
count_hash (gconstpointer key)
{
  const SimChannel *channel = &((const Count *) key)->channel;
  uint32_t hash = trace_map_hash (channel->comm + 1);

  hash = trace_map_hash (hash ^ channel->source);
  hash = trace_map_hash (hash ^ channel->destination);
  return trace_map_hash (hash ^ (uint32_t) channel->tag);
}

/* By destination and communicator, so that all channels that one wildcard
 * could mean stand together. */
static int
compare_channels (const SimChannel *one, const SimChannel *other)
{
  if (one->destination != other->destination)
    return one->destination < other->destination ? -1 : 1;
  if (one->comm != other->comm)
    return one->comm < other->comm ? -1 : 1;
  if (one->source != other->source)
    return one->source < other->source ? -1 : 1;
  return (one->tag > other->tag) - (one->tag < other->tag);
}

static gboolean
count_equal (gconstpointer a, gconstpointer b)
{
  return compare_channels (&((const Count *) a)->channel, &((const Count *) b)->channel) == 0;
}

SimChannels *
sim_channels_new (void)
{
  SimChannels *channels = g_new (SimChannels, 1);

  channels->counts = g_hash_table_new_full (count_hash, count_equal, g_free, NULL);
  return channels;
}

void
sim_channels_free (SimChannels *channels)
{
  if (channels == NULL)
    return;
  g_hash_table_unref (channels->counts);
  g_free (channels);
}

static Count *
count_of (SimChannels *channels, SimChannel channel)
{
  Count key = { .channel = channel };
  Count *count = g_hash_table_lookup (channels->counts, &key);

  if (count == NULL) {
    count = g_memdup2 (&key, sizeof key);
    g_hash_table_add (channels->counts, count);
  }
  return count;
}

void
sim_channels_send (SimChannels *channels, SimChannel channel)
{
  count_of (channels, channel)->sends++;
}

void
sim_channels_receive (SimChannels *channels, SimChannel channel)
{
  count_of (channels, channel)->receives++;
}

void
sim_channels_cancel (SimChannels *channels, SimChannel channel)
{
  count_of (channels, channel)->cancelled++;
}

/* --- Adding up --- */

static int
compare_counts (const void *a, const void *b)
{
  return compare_channels (&((const Count *) a)->channel, &((const Count *) b)->channel);
}

static Count *
sorted_counts (const SimChannels *channels, uint32_t *n)
{
  Count *counts = g_new (Count, g_hash_table_size (channels->counts));
  GHashTableIter iter;
  gpointer count;

  *n = 0;
  g_hash_table_iter_init (&iter, channels->counts);
  while (g_hash_table_iter_next (&iter, &count, NULL))
    counts[(*n)++] = *(const Count *) count;
  if (*n > 1)
    qsort (counts, *n, sizeof *counts, compare_counts);
  return counts;
}

/* How many wildcards a channel has: bit 0 the tag, bit 1 the source. */
static uint32_t
wildness (const SimChannel *channel)
{
  return (channel->tag == TRACE_ANY_TAG) | (uint32_t) (channel->source == TOPO_NONE) << 1;
}

static bool
accepts (const SimChannel *wanted, const SimChannel *sent)
{
  return (wanted->source == TOPO_NONE || wanted->source == sent->source) &&
         (wanted->tag == TRACE_ANY_TAG || wanted->tag == sent->tag);
}

static void
settle (Count *receive, Count *send)
{
  uint64_t n = MIN (receive->receives, send->sends);

  receive->receives -= n;
  send->sends -= n;
}

/* One with wildcards takes from those of the group [first, end) that it
 * accepts; when it names a source, these stand around it. */
static void
settle_wild (Count *counts, uint32_t wanted, uint32_t first, uint32_t end)
{
  const SimChannel *channel = &counts[wanted].channel;

  if (channel->source != TOPO_NONE) {
    uint32_t from = wanted, to = wanted;

    while (from > first && counts[from - 1].channel.source == channel->source)
      from--;
    while (to < end && counts[to].channel.source == channel->source)
      to++;
    first = from;
    end = to;
  }
  for (uint32_t sent = first; sent < end && counts[wanted].receives > 0; sent++)
    if (accepts (channel, &counts[sent].channel))
      settle (&counts[wanted], &counts[sent]);
}

/* [first, end) share destination and communicator.  The narrower a wildcard,
 * the earlier it takes: an exact receive its channel, then those of one
 * source, then those of one tag, then the others.  This may, rarely, leave
 * more than the best distribution would. */
static void
settle_group (Count *counts, uint32_t first, uint32_t end)
{
  for (uint32_t turn = 0; turn < 4; turn++)
    for (uint32_t wanted = first; wanted < end; wanted++) {
      if (counts[wanted].receives == 0 || wildness (&counts[wanted].channel) != turn)
        continue;
      if (turn == 0)
        settle (&counts[wanted], &counts[wanted]);
      else
        settle_wild (counts, wanted, first, end);
    }
}

void
sim_channels_unmatched (const SimChannels *channels, uint64_t *sends, uint64_t *receives)
{
  uint32_t n;
  g_autofree Count *counts = sorted_counts (channels, &n);

  *sends = *receives = 0;
  for (uint32_t first = 0, end; first < n; first = end) {
    const SimChannel *channel = &counts[first].channel;

    for (end = first + 1; end < n && counts[end].channel.destination == channel->destination &&
                          counts[end].channel.comm == channel->comm;)
      end++;
    settle_group (counts, first, end);
  }
  for (uint32_t channel = 0; channel < n; channel++) {
    *sends += counts[channel].sends;
    *receives +=
        counts[channel].receives - MIN (counts[channel].receives, counts[channel].cancelled);
  }
}
