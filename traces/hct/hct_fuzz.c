/* hct_fuzz.c - any bytes as the index and the blocks of a native trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Checksums and packing would stop nearly every input at the door, so an input
 * is an index and the blocks as they are before both.  When the index can be
 * taken, the sizes and checksums in it are made right; else it stays wrong.
 * That a wrong checksum is noticed, hct_broken_test shows for every bit. */
#include "traces/trace_file.h"
#include "traces/trace_fuzzing.h"
#include "traces/hct/hct_file.h"
#include "traces/hct/hct_testing.h"

#include <zlib.h>

static const char *const files[] = { "index", "blocks", NULL };

static const char *const words[] = {
  "\\x00",
  "\\x01",
  "\\x02",
  "\\x03",
  "\\xff\\xff\\xff\\xff\\x0f",
  "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x01",
  "\\x05send",
  "\\x06isend",
  "\\x05wait",
  "\\x05test",
  "\\x08compute",
  "\\x12neighbor_alltoall",
  "\\x0bcart_create",
  "\\x11group_range_incl",
  "\\x09MPI_Send",
  NULL,
};

static GBytes *
load (const char *folder, const char *name)
{
  g_autofree char *path = g_build_filename (folder, name, NULL);
  char *contents;
  gsize n;

  return g_file_get_contents (path, &contents, &n, NULL) ? g_bytes_new_take (contents, n)
                                                         : g_bytes_new_static ("", 0);
}

/* The blocks are the parts of these bytes, none of them packed. */
static void
seal_blocks (HctIndex *index, const guint8 *bytes)
{
  for (guint i = 0; i < index->blocks->len; i++) {
    HctBlock *block = &g_array_index (index->blocks, HctBlock, i);

    block->crc = (uint32_t) crc32_z (0, bytes + block->at - HCT_HEADER_BYTES, block->stored_bytes);
  }
}

static void
save (const char *folder, const guint8 *bytes, gsize n, const HctIndex *index,
      const guint8 *index_bytes, gsize n_index)
{
  g_autofree char *path = g_build_filename (folder, "t.hct", NULL);
  FILE *out = fopen (path, "wb");
  HctOutput output;

  if (out == NULL || !hct_output_start (&output, out, NULL) || fwrite (bytes, 1, n, out) != n)
    g_error ("%s: cannot be written", path);
  output.at += n;
  if (index != NULL)
    hct_output_finish (&output, index, NULL);
  else
    fwrite (index_bytes, 1, n_index, out);
  hct_output_clear (&output);
  fclose (out);
}

static void
assemble (const char *folder)
{
  g_autoptr (GBytes) index_file = load (folder, "index");
  g_autoptr (GBytes) blocks_file = load (folder, "blocks");
  gsize n_index, n_blocks;
  const guint8 *index_bytes = g_bytes_get_data (index_file, &n_index);
  const guint8 *blocks = g_bytes_get_data (blocks_file, &n_blocks);
  HctReader in = { index_bytes, index_bytes + n_index, false };
  g_autoptr (HctIndex) index = hct_index_take (&in, n_blocks);

  if (index != NULL)
    seal_blocks (index, blocks);
  save (folder, blocks, n_blocks, index, index_bytes, n_index);
}

/* A trace as an input: nothing packed. */
static void
add_trace (FuzzSeeds *seeds, Trace *trace)
{
  char *folder = trace_testing_folder ();
  g_autofree char *path = hct_testing_convert (trace, folder);
  g_autoptr (GBytes) contents = trace_file_load (path, NULL);
  g_autoptr (HctIndex) index = hct_index_read (path, contents, NULL);
  HctBuffer blocks = { 0 }, out = { 0 };

  for (guint i = 0; i < index->blocks->len; i++) {
    HctBlock *block = &g_array_index (index->blocks, HctBlock, i);
    g_autoptr (GBytes) raw = hct_block_read (path, contents, block, NULL);
    gsize n;
    const guint8 *bytes = g_bytes_get_data (raw, &n);

    block->stored_bytes = block->raw_bytes;
    hct_put_bytes (&blocks, bytes, n);
  }
  hct_index_put (index, &out);
  hct_put_bytes (&out, "\n%%\n", 4);
  hct_put_bytes (&out, blocks.data, blocks.n);
  fuzz_add (seeds, out.data, out.n);
  hct_buffer_clear (&blocks);
  hct_buffer_clear (&out);
  trace_testing_remove (folder);
}

/* Every kind, every array, measures that vary and that do not. */
static gboolean
any_op (gconstpointer data, uint32_t rank, uint64_t index, TraceOp *op)
{
  static const uint32_t numbers[] = { 1, 0, 2 };
  static const uint64_t sizes[] = { 5, 500, 50000 };
  static const int32_t values[] = { 1, 0, 2 };

  op->kind = (TraceOpKind) (index % TRACE_N_OPS);
  op->name = "MPI_Call";
  op->site = index % 5 == 0 ? "main" : NULL;
  op->gap_ps = (int64_t) (index * index % 97);
  op->call_ps = 1000;
  op->peer = (int32_t) ((rank + index) % 3);
  op->recv_peer = TRACE_ANY_SOURCE;
  op->bytes = 100 * index;
  op->request = (uint32_t) (index % 4);
  op->matched_source = TRACE_ANY_SOURCE;
  op->requests = op->completed = op->after = numbers;
  op->n_requests = 3;
  op->n_completed = op->kind == TRACE_OP_IPROBE ? 0 : (uint32_t) (index % 3);
  op->n_after = index > 3 && index % 7 == 0 ? 2 : 0;
  op->counts = op->recv_counts = sizes;
  op->n_counts = op->n_recv_counts = index % 2 == 0 ? 3 : 0;
  op->values = op->values2 = values;
  op->n_values = op->n_counts == 0 && index % 3 == 0 ? 0 : 3;
  op->color = (int32_t) rank;
  op->key = (int32_t) index;
  return index < GPOINTER_TO_SIZE (data);
}

static void
seed (FuzzSeeds *seeds)
{
  static const char *const specs[] = { "gen:halo2d:ranks=9,iterations=9",
                                       "gen:pingpong:ranks=2,iterations=5" };
  g_autoptr (Trace) any =
      trace_testing_made_up (3, FALSE, any_op, GSIZE_TO_POINTER (TRACE_N_OPS), NULL);
  g_autoptr (Trace) twice =
      trace_testing_made_up (2, TRUE, any_op, GSIZE_TO_POINTER (2 * TRACE_N_OPS), NULL);

  add_trace (seeds, any);
  add_trace (seeds, twice);
  for (guint i = 0; i < G_N_ELEMENTS (specs); i++) {
    g_autoptr (Trace) trace = trace_testing_open (specs[i]);

    add_trace (seeds, trace);
  }
}

const FuzzTarget fuzz_target = {
  .path = "t.hct",
  .files = files,
  .words = words,
  .seed = seed,
  .assemble = assemble,
};
