/* hct_file.h - the layout of a native trace file; private to traces/.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   header   magic, version, byte order                        32 bytes
 *   blocks   programs and measures, back to back
 *   index    where everything is, packed
 *   trailer  where the index is, the size of the file          48 bytes
 *
 * Each part is guarded: the header and the trailer by a CRC-32 of their own,
 * the index by one in the trailer, the blocks by one each in the index; the
 * blocks fill the bytes between the header and the index, and the trailer has
 * the size of the file.  So no bit can change unnoticed.
 * doc/handbook/format-hct.md has every byte. */
#pragma once

#include "traces/hct/hct_record.h"
#include "traces/trace.h"

#include <stdio.h>

#define HCT_MAJOR 1
#define HCT_MINOR 0

#define HCT_HEADER_BYTES  32
#define HCT_TRAILER_BYTES 48

#define HCT_PROGRAM_BYTES (64 * 1024) /* programs are cut when they are longer */
#define HCT_MEASURE_BYTES (8 * 1024)  /* of measures in a block; a cursor may hold one */

typedef enum { HCT_BLOCK_PROGRAMS, HCT_BLOCK_MEASURES } HctBlockKind;

typedef struct {
  HctBlockKind kind;
  uint32_t raw_bytes, stored_bytes; /* the same: stored as it is; else packed by zlib */
  uint32_t crc;                     /* of the stored bytes */
  uint64_t at;                      /* in the file; of MEASURES, see measures_at */
  uint64_t measures_at;             /* where its measures are among all measures */
} HctBlock;

typedef struct {
  uint32_t block, at, n_bytes;
  uint64_t n_ops; /* when run once */
} HctProgramPlace;

/* A part of a rank's stream: a program, and the measures for it. */
typedef struct {
  uint32_t program;
  uint64_t measures_at, n_measure_bytes;
} HctSegment;

/* A program is a sequence of tokens, each a varint and its arguments:
 *
 *   0, n, record[n]                            a record that was not there yet
 *   1, parameters, streamed, n, record[n]      the same, with measures
 *   2, count, n, token[n]                      a loop
 *   3 + i                                      record number i again
 *
 * `parameters` and `streamed` are sets of measures (bits by HCT_GAP ...).  The
 * parameters of a program are numbered in the order in which records name
 * them; their values stand first in the measures of the segment. */
enum {
  HCT_TOKEN_RECORD,
  HCT_TOKEN_MEASURED,
  HCT_TOKEN_LOOP,
  HCT_TOKEN_AGAIN,
};

/* All of it is in memory while the trace is open. */
typedef struct {
  uint32_t n_ranks;
  gboolean is_graph;
  char *source_format, *source_hash;
  GPtrArray *warnings, *notes; /* (element-type utf8) */
  uint64_t n_ops;
  uint64_t record_bytes; /* of all operations, with their measures, as if each stood alone */
  HctNames *names;
  GArray *blocks;         /* (element-type HctBlock) */
  GArray *measure_blocks; /* (element-type uint32_t), their numbers */
  GArray *programs;       /* (element-type HctProgramPlace) */
  GArray *segments;       /* (element-type HctSegment), by rank */
  GArray *rank_segments;  /* (element-type uint32_t): a rank's first; one more at the end */
} HctIndex;

HctIndex *hct_index_new (void);
void hct_index_free (HctIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (HctIndex, hct_index_free)

void hct_index_put (const HctIndex *index, HctBuffer *out);
/* blocks_bytes is the size between the header and the index.  NULL when the
 * index contradicts itself. */
HctIndex *hct_index_take (HctReader *in, uint64_t blocks_bytes);

/* Writing: a file from front to end. */
typedef struct {
  FILE *out;
  uint64_t at;
  HctBuffer packed;
} HctOutput;

gboolean hct_output_start (HctOutput *output, FILE *out, GError **error);
/* Adds a block to the index; *number is which. */
gboolean hct_output_block (HctOutput *output, HctIndex *index, HctBlockKind kind,
                           const HctBuffer *raw, uint32_t *number, GError **error);
gboolean hct_output_finish (HctOutput *output, const HctIndex *index, GError **error);
void hct_output_clear (HctOutput *output);

/* Reading: contents are the whole file. */
HctIndex *hct_index_read (const char *path, GBytes *contents, GError **error);
/* Deflate never makes less than 1/1032 of anything (RFC 1951: 258 bytes take
 * two bits); a claim of more is refused before memory is taken for it. */
static inline gboolean
hct_block_is_possible (const HctBlock *block)
{
  return block->raw_bytes <= G_MAXINT32 && block->stored_bytes <= block->raw_bytes &&
         block->raw_bytes <= 1032 * (uint64_t) block->stored_bytes + 64;
}

/* A block as it was before it was packed; may share the memory of contents. */
GBytes *hct_block_read (const char *path, GBytes *contents, const HctBlock *block, GError **error);
gboolean hct_file_probe (const guint8 *head, gsize n);
