/* processor.c - the microarchitectures of nodes: how they are recognised, what their memory does.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tags: [S] read in the source named, [M] measured, [D] derived, [G] general knowledge, "guess"
 * where nothing is known.  A processor without a row for a key has that of the one that it builds
 * on, in the end the family's default, which is Harpertown's.
 *
 * [M] core-to-core: github.com/nviennot/core-to-core-latency, medians of all pairs of a kind.
 * [S] azure-docs: Microsoft's pages on the HB and HC series, which print STREAM.
 *
 * What a link or memory carries at best is taken from its clock and width; what is left to use of
 * it is a guess unless a measurement is named: 4/5 of a memory's and 5/8 of an interconnect's, as
 * for Sandy Bridge, whose figures reproduce measured ping-pongs. */
#include "topology/node/processor.h"

#include "topology/unit.h"

#include <string.h>

#define INTEL "GenuineIntel"
#define AMD   "AuthenticAMD"

#define MAX_SIGNS 4
#define MAX_ROWS  16

/* Numbers as CPUID has them. */
typedef struct {
  uint32_t family, first_model, last_model, first_stepping, last_stepping;
} Range;

typedef struct {
  TopoProcessor public;
  const char *builds_on; /* the name of another processor; NULL: the family's defaults */
  const char *vendor;
  Range range[MAX_SIGNS];         /* family 0: none */
  const char *pattern[MAX_SIGNS]; /* of the names, for XML without numbers; blanks squeezed */
  TopoParameterNote rows[MAX_ROWS];
} Row;

#define ANY        0, 99
#define MEMORY     "memory.bandwidth"     /* for one package; divided among its NUMA nodes */
#define HBM        "memory.hbm_bandwidth" /* likewise */
#define CORE       "memory.core_bandwidth"
#define FETCH      "memory.core_memory_bandwidth"
#define TRANSFER   "memory.core_transfer_bandwidth"
#define CACHE      "memory.cache_bandwidth"
#define GROUP      "memory.group_bandwidth"
#define BUS        "memory.bus_bandwidth"
#define T_CACHE    "memory.cache_latency"
#define T_TRANSFER "memory.transfer_latency"
#define T_DOMAIN   "memory.domain_latency"
#define T_PACKAGE  "memory.package_latency"
#define UPDATES    "memory.transfer_updates_memory"
#define MIGRATORY  "memory.migratory"
#define DMA        "memory.dma_to_cache"

/* In the order of their years, for each vendor. */
static const Row rows[] = {
  { .public = { "harpertown", "Intel Xeon 5400 (Harpertown)", { 0 }, false, 2 },
    .vendor = INTEL,
    .range = { { 6, 23, 23, ANY } },
    .pattern = { "Intel*Xeon* E54?? *", "Intel*Xeon* X54?? *", "Intel*Xeon* L54?? *" } },

  { .public = { "nehalem", "Intel Xeon 5500 (Nehalem)", { 1, 1, 4, 8192, 256 }, true, 2 },
    .vendor = INTEL,
    .range = { { 6, 26, 26, ANY }, { 6, 30, 31, ANY }, { 6, 46, 46, ANY } },
    .pattern = { "Intel*Xeon* X55?? *", "Intel*Xeon* E55?? *", "Intel*Xeon* L55?? *" },
    .rows = { { CORE, "8 GB/s", "between Harpertown's 5 and Sandy Bridge's 12; guess" },
              { FETCH, "7.9 GB/s",
                "ten line fill buffers of 64 B [G] in the 81 ns of transfer_latency [D]" },
              { TRANSFER, "8 GB/s",
                "lines come from the inclusive L3; guess: as fast as it copies" },
              { CACHE, "100 GB/s", "of the L3; guess: 25 GB/s a core, as Sandy Bridge" },
              { BUS, "16 GB/s",
                "QPI at 6.4 GT/s carries 25.6 GB/s in both directions [S] Xbit Labs; guess: 5/8" },
              { MEMORY, "25.6 GB/s",
                "three channels of DDR3-1333 carry 32 GB/s [S] HP, ProLiant 100-series G6; guess: 4/5" },
              { T_CACHE, "28 ns", "75 cycles at 2.67 GHz for a line changed in another core [G]" },
              { T_TRANSFER, "81 ns", "of memory: X5570 [S] AnandTech, article 2978" },
              { T_PACKAGE, "40 ns", "guess" } } },

  { .public = { "westmere", "Intel Xeon 5600 (Westmere)", { 1, 1, 6, 12288, 256 }, true, 2 },
    .builds_on = "nehalem",
    .vendor = INTEL,
    .range = { { 6, 37, 37, ANY }, { 6, 44, 44, ANY }, { 6, 47, 47, ANY } },
    .pattern = { "Intel*Xeon* X56?? *", "Intel*Xeon* E56?? *", "Intel*Xeon* L56?? *" },
    .rows = { { CACHE, "150 GB/s", "of the L3; guess: 25 GB/s a core, as Sandy Bridge" },
              { FETCH, "7.4 GB/s",
                "ten line fill buffers of 64 B [G] in the 87 ns of transfer_latency [D]" },
              { T_TRANSFER, "87 ns", "of memory: X5670 [S] AnandTech, article 2978" } } },

  { .public = { "sandybridge",
                "Intel Xeon E5-2600 (Sandy Bridge)",
                { 1, 1, 8, 20480, 256 },
                true,
                3 },
    .vendor = INTEL,
    .range = { { 6, 42, 42, ANY }, { 6, 45, 45, ANY } },
    .pattern = { "Intel*Xeon* E5-?6?? 0 *", "Intel*Xeon* E5-?4?? 0 *", "Intel*Xeon* E5-?6??L 0 *" },
    .rows = { { CORE, "12 GB/s",
                "calibrated on Stampede: 0.165 ns/B for the two copies of 170 B to 8 KB inside the\n"
                "node [M]" },
              { FETCH, "8 GB/s", "ten line fill buffers of 64 B in 80 ns [G]; guess" },
              { TRANSFER, "12 GB/s",
                "within a package lines come from the inclusive L3; 13 to 16 GB/s of one copy above\n"
                "8 KB on Stampede [M]; calibrated: no less than core_bandwidth.  From the other\n"
                "package: see package_latency" },
              { CACHE, "200 GB/s",
                "of the L3; guess: below a third of what its eight slices deliver at best, 32 bytes\n"
                "per cycle each" },
              { BUS, "40 GB/s",
                "two QPI links of 8 GT/s, 16 GB/s in each direction of each [G]; guess: what is left\n"
                "to use of these 64" },
              { MEMORY, "40 GB/s",
                "four channels of DDR3-1600 carry 51.2 GB/s [D]; guess: four fifths of it" },
              { T_CACHE, "0 ns", "in the sm_latency that was calibrated on Stampede [M]" },
              { T_TRANSFER, "60 ns",
                "of a line that another core of the package has changed; guess" },
              { DMA, "true", "DDIO, from Sandy Bridge-EP on [G]" } } },

  { .public = { "ivybridge",
                "Intel Xeon E5-2600 v2 (Ivy Bridge)",
                { 1, 1, 10, 25600, 256 },
                true,
                3 },
    .builds_on = "sandybridge",
    .vendor = INTEL,
    .range = { { 6, 58, 58, ANY }, { 6, 62, 62, ANY } },
    .pattern = { "Intel*Xeon* E?-* v2 *" },
    .rows = { { CACHE, "250 GB/s", "of the L3; guess: 25 GB/s a core, as Sandy Bridge" },
              { MEMORY, "47.8 GB/s", "four channels of DDR3-1866 carry 59.7 GB/s [D]; guess: 4/5" },
              { T_CACHE, "47 ns", "guess: as Cascade Lake, the nearest that was measured" } } },

  { .public = { "haswell", "Intel Xeon E5-2600 v3 (Haswell)", { 1, 1, 12, 30720, 256 }, true, 3 },
    .builds_on = "ivybridge",
    .vendor = INTEL,
    .range = { { 6, 60, 60, ANY }, { 6, 63, 63, ANY }, { 6, 69, 70, ANY } },
    .pattern = { "Intel*Xeon* E?-* v3 *" },
    .rows = { { FETCH, "12 GB/s", "one core reads 12 to 25 GB/s [G]; guess" },
              { CACHE, "300 GB/s", "of the L3; guess: 25 GB/s a core, as Sandy Bridge" },
              { BUS, "48 GB/s", "two QPI links of 9.6 GT/s carry 76.8 GB/s [D]; guess: 5/8" },
              { MEMORY, "54.6 GB/s", "four channels of DDR4-2133 carry 68.3 GB/s [D]; guess: 4/5" },
              { TRANSFER, "7.1 GB/s",
                "ten line fill buffers of 64 B [G] in the 90 ns of transfer_latency [D]" },
              { T_TRANSFER, "90 ns", "of memory [G]" },
              { T_PACKAGE, "44 ns",
                "guess: 134 ns between packages, as Cascade Lake, less transfer_latency" } } },

  { .public = { "broadwell",
                "Intel Xeon E5-2600 v4 (Broadwell)",
                { 1, 1, 14, 35840, 256 },
                true,
                3 },
    .builds_on = "haswell",
    .vendor = INTEL,
    .range = { { 6, 61, 61, ANY }, { 6, 71, 71, ANY }, { 6, 79, 79, ANY }, { 6, 86, 86, ANY } },
    .pattern = { "Intel*Xeon* E?-* v4 *" },
    .rows = { { CACHE, "350 GB/s", "of the L3; guess: 25 GB/s a core, as Sandy Bridge" },
              { MEMORY, "61.4 GB/s",
                "four channels of DDR4-2400 carry 76.8 GB/s [D]; guess: 4/5" } } },

  { .public = { "skylake",
                "Intel Xeon Scalable, first (Skylake)",
                { 1, 1, 24, 33792, 1024 },
                true,
                3 },
    .builds_on = "broadwell",
    .vendor = INTEL,
    .range = { { 6, 85, 85, 0, 4 } },
    .pattern = { "Intel*Xeon* ?1?? CPU *", "Intel*Xeon* ?1??? CPU *", "Intel*Xeon* ?1???? CPU *" },
    .rows = { { CACHE, "600 GB/s", "of the L3; guess: 25 GB/s a core, as Sandy Bridge" },
              { BUS, "52 GB/s", "two UPI links of 10.4 GT/s carry 83.2 GB/s [D]; guess: 5/8" },
              { MEMORY, "95 GB/s",
                "190 GB/s of STREAM on two Platinum 8168 [S] azure-docs, HC series" },
              { TRANSFER, "9 GB/s",
                "twelve line fill buffers of 64 B [G] in the 85 ns of transfer_latency [D]" },
              { T_TRANSFER, "85 ns", "of memory [G]" },
              { T_PACKAGE, "49 ns",
                "guess: 134 ns between packages, as Cascade Lake, less transfer_latency" } } },

  { .public = { "cascadelake",
                "Intel Xeon Scalable, second (Cascade Lake)",
                { 1, 1, 28, 39424, 1024 },
                true,
                3 },
    .builds_on = "skylake",
    .vendor = INTEL,
    .range = { { 6, 85, 85, 5, 15 } },
    .pattern = { "Intel*Xeon* ?2?? CPU *", "Intel*Xeon* ?2??? CPU *", "Intel*Xeon* ?2???? CPU *" },
    .rows = { { CACHE, "700 GB/s", "of the L3; guess: 25 GB/s a core, as Sandy Bridge" },
              { MEMORY, "104.5 GB/s",
                "six channels of DDR4-2933 carry 140.8 GB/s [D]; guess: the share of Skylake's 95 in\n"
                "its 128" },
              { T_CACHE, "47 ns", "Platinum 8275CL [M] core-to-core, one package" },
              { T_PACKAGE, "49 ns",
                "134 ns between two Platinum 8275CL [M] core-to-core, less transfer_latency" } } },

  { .public = { "icelake",
                "Intel Xeon Scalable, third (Ice Lake)",
                { 1, 1, 36, 55296, 1280 },
                true,
                4 },
    .builds_on = "skylake",
    .vendor = INTEL,
    .range = { { 6, 106, 106, ANY }, { 6, 108, 108, ANY } },
    .pattern = { "Intel*Xeon* ?3?? CPU *", "Intel*Xeon* ?3??? CPU *", "Intel*Xeon* ?3???? CPU *" },
    .rows = { { CACHE, "900 GB/s", "of the L3; guess: 25 GB/s a core, as Sandy Bridge" },
              { BUS, "84 GB/s", "three UPI links of 11.2 GT/s carry 134.4 GB/s [D]; guess: 5/8" },
              { MEMORY, "160 GB/s",
                "of STREAM [G]; eight channels of DDR4-3200 carry 204.8 GB/s [D]" },
              { T_CACHE, "51 ns", "Platinum 8375C [M] core-to-core, one package" },
              { TRANSFER, "9.6 GB/s",
                "twelve line fill buffers of 64 B [G] in the 80 ns of transfer_latency [D]" },
              { T_TRANSFER, "80 ns", "of memory [G]" },
              { T_PACKAGE, "28 ns",
                "108 ns between two Platinum 8375C [M] core-to-core, less transfer_latency" } } },

  { .public = { "sapphirerapids",
                "Intel Xeon Scalable, fourth (Sapphire Rapids)",
                { 1, 1, 56, 107520, 2048 },
                true,
                5 },
    .builds_on = "icelake",
    .vendor = INTEL,
    .range = { { 6, 143, 143, ANY } },
    .pattern = { "Intel*Xeon* ?4??*" },
    .rows = { { CACHE, "1400 GB/s", "of the L3; guess: 25 GB/s a core, as Sandy Bridge" },
              { BUS, "120 GB/s", "three UPI links of 16 GT/s carry 192 GB/s [D]; guess: 5/8" },
              { MEMORY, "240 GB/s",
                "of STREAM [G]; eight channels of DDR5-4800 carry 307.2 GB/s [D]" },
              { HBM, "800 GB/s",
                "of Xeon Max: four stacks of 1,024 bits at 3.2 GT/s carry 1638 GB/s [D]; guess: half" },
              { T_CACHE, "60 ns", "guess: a larger mesh than Ice Lake's, of four dies" },
              { TRANSFER, "9.3 GB/s",
                "sixteen fill buffers of 64 B [G] in the 110 ns of transfer_latency [D]" },
              { T_TRANSFER, "110 ns", "of memory [G]" },
              { T_PACKAGE, "40 ns", "guess" } } },

  { .public = { "rome", "AMD EPYC 7002 (Rome)", { 4, 4, 4, 16384, 512 }, true, 4 },
    .vendor = AMD,
    .range = { { 23, 49, 49, ANY } },
    .pattern = { "AMD EPYC 7??2*" },
    .rows = { { CORE, "12 GB/s", "guess: as Sandy Bridge" },
              { FETCH, "16 GB/s", "one core reads 12 to 25 GB/s [G]; guess" },
              { TRANSFER, "12 GB/s", "guess: as fast as it copies" },
              { CACHE, "100 GB/s", "of the L3 of a CCX; guess: 25 GB/s a core, as Sandy Bridge" },
              { GROUP, "22 GB/s", "21 to 23 GB/s of STREAM a CCX [S] azure-docs, HBv2 series" },
              { BUS, "120 GB/s",
                "three xGMI links of 32 GB/s in each direction carry 192 GB/s [G]; guess: 5/8" },
              { MEMORY, "175 GB/s", "350 GB/s of STREAM on two [S] azure-docs, HBv2 series" },
              { T_CACHE, "25 ns", "EPYC 7742 [M] core-to-core, one CCX" },
              { T_TRANSFER, "113 ns",
                "EPYC 7742 [M] core-to-core, two CCX of a quadrant (a NUMA domain with NPS4); of\n"
                "memory likewise 113 ns [S] press table" },
              { T_DOMAIN, "21 ns",
                "134 ns between quadrants [M] core-to-core, less transfer_latency" },
              { T_PACKAGE, "153 ns",
                "266 ns between packages [M] core-to-core, less transfer_latency" },
              { UPDATES, "false", "the owned state of AMD's protocol [G]" },
              { MIGRATORY, "true", "the dirty-migratory state of Zen's protocol, MDOEFSI [G]" } } },

  { .public = { "milan", "AMD EPYC 7003 (Milan)", { 4, 2, 8, 32768, 512 }, true, 4 },
    .builds_on = "rome",
    .vendor = AMD,
    .range = { { 25, 0, 1, ANY } },
    .pattern = { "AMD EPYC 7??3*" },
    .rows = { { CACHE, "200 GB/s", "of the L3 of a CCD; guess: 25 GB/s a core, as Sandy Bridge" },
              { GROUP, "44 GB/s", "guess: twice Rome's, whose CCX are two to a die and its link" },
              { MEMORY, "168 GB/s",
                "82 to 86 GB/s of STREAM in each half of a package [S] azure-docs, HBv3 series" },
              { T_CACHE, "23 ns", "EPYC 7R13 [M] core-to-core, one CCD" },
              { T_TRANSFER, "108 ns", "EPYC 7R13 [M] core-to-core, two CCD of a package" },
              { T_DOMAIN, "0 ns",
                "the halves of a package differ by less than the pairs inside one [M] core-to-core" },
              { T_PACKAGE, "89 ns",
                "197 ns between packages [M] core-to-core, less transfer_latency" } } },

  { .public = { "genoa", "AMD EPYC 9004 (Genoa)", { 4, 3, 8, 32768, 1024 }, true, 5 },
    .builds_on = "milan",
    .vendor = AMD,
    .range = { { 25, 16, 31, ANY }, { 25, 160, 175, ANY } },
    .pattern = { "AMD EPYC 9??4*" },
    .rows = { { GROUP, "55 GB/s", "guess: Milan's, by the clocks of the fabric" },
              { BUS, "240 GB/s",
                "three xGMI links of 64 GB/s in each direction carry 384 GB/s [G]; guess: 5/8" },
              { MEMORY, "350 GB/s",
                "700 GB/s of STREAM on two [G]; twelve channels of DDR5-4800 carry 460.8 GB/s [D]" },
              { T_CACHE, "23 ns", "guess: as Milan" },
              { T_TRANSFER, "108 ns", "guess: as Milan" },
              { T_PACKAGE, "89 ns", "guess: as Milan" } } },
};

/* --- Recognition --- */

static bool
is_in_range (const Range *range, const TopoCpuSigns *signs)
{
  return range->family == signs->family && signs->model_number >= range->first_model &&
         signs->model_number <= range->last_model && signs->stepping >= range->first_stepping &&
         signs->stepping <= range->last_stepping;
}

/* The name with single blanks, and one at its end where patterns want something to follow. */
static char *
squeeze (const char *text)
{
  GString *out = g_string_new (NULL);

  for (; *text != '\0'; text++)
    if (*text != ' ' || (out->len > 0 && out->str[out->len - 1] != ' '))
      g_string_append_c (out, *text);
  if (out->len > 0 && out->str[out->len - 1] != ' ')
    g_string_append_c (out, ' ');
  return g_string_free (out, FALSE);
}

static bool
has_sign (const Row *row, const TopoCpuSigns *signs, const char *name)
{
  for (gsize at = 0; at < MAX_SIGNS; at++) {
    if (signs->family > 0 && row->range[at].family > 0 &&
        g_strcmp0 (signs->vendor, row->vendor) == 0 && is_in_range (&row->range[at], signs))
      return true;
    if (signs->family == 0 && name != NULL && row->pattern[at] != NULL &&
        g_pattern_match_simple (row->pattern[at], name))
      return true;
  }
  return false;
}

/* How far the numbers of a processor are from a range; models of other families say nothing. */
static uint32_t
distance (const Range *range, const TopoCpuSigns *signs)
{
  uint32_t model = signs->model_number;

  if (range->family != signs->family)
    return 1000 + MAX (range->family, signs->family) - MIN (range->family, signs->family);
  if (model < range->first_model)
    return MIN (range->first_model - model, 999);
  return model > range->last_model ? MIN (model - range->last_model, 999) : 0;
}

const TopoProcessor *
topo_processor_find (const TopoCpuSigns *signs, bool *is_nearest)
{
  g_autofree char *name = signs->model != NULL ? squeeze (signs->model) : NULL;
  const Row *nearest = NULL;
  uint32_t least = UINT32_MAX;

  *is_nearest = false;
  for (gsize at = 0; at < G_N_ELEMENTS (rows); at++)
    if (has_sign (&rows[at], signs, name))
      return &rows[at].public;
  if (signs->family == 0)
    return NULL;
  for (gsize at = 0; at < G_N_ELEMENTS (rows); at++)
    for (gsize sign = 0; sign < MAX_SIGNS && rows[at].range[sign].family > 0; sign++)
      if (g_strcmp0 (signs->vendor, rows[at].vendor) == 0 && /* of equal ones the newest */
          distance (&rows[at].range[sign], signs) <= least) {
        least = distance (&rows[at].range[sign], signs);
        nearest = &rows[at];
      }
  *is_nearest = nearest != NULL;
  return nearest != NULL ? &nearest->public : NULL;
}

static const Row *
row_named (const char *name)
{
  for (gsize at = 0; at < G_N_ELEMENTS (rows); at++)
    if (g_str_equal (rows[at].public.name, name))
      return &rows[at];
  return NULL;
}

const char *
topo_processor_vendor (const TopoProcessor *processor)
{
  /* It is one of the rows. */
  return ((const Row *) processor)->vendor;
}

const TopoProcessor *
topo_processor_named (const char *name)
{
  const Row *row = row_named (name);

  return row != NULL ? &row->public : NULL;
}

const char *const *
topo_processor_names (void)
{
  static const char *names[G_N_ELEMENTS (rows) + 1];

  for (gsize at = 0; at < G_N_ELEMENTS (rows); at++)
    names[at] = rows[at].public.name;
  return names;
}

/* --- Parameters --- */

static void
free_note (gpointer data)
{
  TopoParameterNote *note = data;

  g_free ((char *) note->value);
  g_free ((char *) note->about);
  g_free (note);
}

/* What one of n NUMA nodes has of the bandwidth of all packages. */
static char *
divide (const char *bandwidth, uint32_t n_packages, uint32_t n)
{
  TopoValue value;

  if (!topo_unit_parse (TOPO_UNIT_BANDWIDTH, bandwidth, &value, NULL))
    g_error ("%s is no bandwidth", bandwidth);
  value.whole = value.whole * n_packages / n;
  return topo_unit_print (TOPO_UNIT_BANDWIDTH, value);
}

/* The note replaces that of a processor that this one builds on. */
static void
add_row (GPtrArray *notes, const Row *row, const TopoParameterNote *it, const TopoNode *node)
{
  bool is_hbm = g_str_equal (it->key, HBM);
  uint32_t n_packages = 0, n_memories = 0;
  TopoParameterNote *note = NULL;

  for (uint32_t object = 0; object < node->n_objects; object++) {
    n_packages += node->objects[object].kind == TOPO_OBJECT_PACKAGE;
    n_memories +=
        node->objects[object].kind == TOPO_OBJECT_MEMORY && node->objects[object].is_hbm == is_hbm;
  }
  for (guint at = 0; at < notes->len && note == NULL; at++)
    if (g_str_equal (((TopoParameterNote *) notes->pdata[at])->key, it->key))
      note = notes->pdata[at];
  if (note == NULL) {
    note = g_new0 (TopoParameterNote, 1);
    g_ptr_array_add (notes, note);
  }
  g_free ((char *) note->value);
  g_free ((char *) note->about);
  note->key = it->key;
  if ((is_hbm || g_str_equal (it->key, MEMORY)) && n_memories > 0) {
    note->value = divide (it->value, MAX (n_packages, 1), n_memories);
    note->about = g_strdup_printf ("%s: %s for a package: %s\n%s: %u such memories in %u packages",
                                   row->public.name, it->value, it->about, row->public.name,
                                   n_memories, MAX (n_packages, 1));
  } else {
    note->value = g_strdup (it->value);
    note->about = g_strdup_printf ("%s: %s", row->public.name, it->about);
  }
}

static void
add_rows (GPtrArray *notes, const Row *row, const TopoNode *node)
{
  if (row->builds_on != NULL)
    add_rows (notes, row_named (row->builds_on), node);
  for (gsize at = 0; at < MAX_ROWS && row->rows[at].key != NULL; at++)
    add_row (notes, row, &row->rows[at], node);
}

GPtrArray *
topo_processor_notes (const TopoNode *node)
{
  GPtrArray *notes = g_ptr_array_new_with_free_func (free_note);

  if (node->processor != NULL)
    add_rows (notes, row_named (node->processor->name), node);
  return notes;
}
