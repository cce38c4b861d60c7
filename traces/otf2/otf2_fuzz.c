/* otf2_fuzz.c - any events as those of a rank of an OTF2 archive.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Archives are parsed by libotf2; here is what is made of its events.  The
 * first byte of an input chooses how they are read, and each eight that
 * follow are a record. */
#include ".ci/fuzzing.h"
#include "traces/format.h"
#include "traces/otf2/otf2_private.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define RECORD_BYTES 8
#define N_RANKS      4
/* So few that long receives are looked up. */
#define LIMIT 6
#define BATCH 3

static const char *const names[] = {
  "main",         "solve",     "MPI_Init",       "MPI_Finalize", "MPI_Sendrecv",
  "MPI_Waitall",  "MPI_Wait",  "MPI_Waitany",    "MPI_Test",     "MPI_Isend",
  "MPI_Irecv",    "MPI_Bsend", "MPI_Iallreduce", "MPI_Put",      "MPI_Win_flush",
  "MPI_Comm_dup", "",
};

typedef struct {
  Otf2Input input;
  const uint8_t *data;
  size_t n, at; /* records */
} Bytes;

/* Times go backwards now and then, numbers are at the ends of their types. */
static Otf2Record
record_of (const uint8_t *bytes, size_t number)
{
  static const uint32_t odd[] = { UINT32_MAX, INT32_MAX, 1u << 31, 77 };
  Otf2Record record = { .kind = bytes[0] % OTF2_RECORD_KINDS,
                        .op = bytes[1] % 32,
                        .id = bytes[2],
                        .peer = bytes[3] < 252 ? bytes[3] % 8 : odd[bytes[3] - 252],
                        .tag = bytes[4] < 252 ? bytes[4] : odd[bytes[4] - 252],
                        .request = bytes[5] % 16,
                        .bytes = bytes[6] == 255 ? UINT64_MAX : bytes[6] * 100u,
                        .recv_bytes = bytes[7] == 255 ? UINT64_MAX : bytes[7] * 100u,
                        .ticks = number * 10 };

  if (bytes[1] >= 224)
    record.ticks = bytes[1] == 255 ? UINT64_MAX : number;
  return record;
}

static gboolean
pull (Otf2Input *input, GArray *records, gboolean *ended, GError **error)
{
  Bytes *bytes = (Bytes *) input;

  for (size_t i = 0; i < BATCH && bytes->at < bytes->n; i++, bytes->at++) {
    Otf2Record record = record_of (bytes->data + bytes->at * RECORD_BYTES, bytes->at);

    g_array_append_val (records, record);
  }
  *ended = bytes->at == bytes->n;
  (void) error;
  return TRUE;
}

static Otf2Input *
fork_input (Otf2Input *input)
{
  return g_memdup2 (input, sizeof (Bytes));
}

static void
free_input (Otf2Input *input)
{
  g_free (input);
}

static Otf2Input *
input_of (const uint8_t *data, size_t size)
{
  Bytes *bytes = g_new (Bytes, 1);

  *bytes = (Bytes){ { pull, fork_input, free_input }, data, size / RECORD_BYTES, 0 };
  return &bytes->input;
}

static Otf2Definitions *
make_definitions (void)
{
  static const uint64_t all[N_RANKS] = { 0, 1, 2, 3 }, even[] = { 2, 0 };
  Otf2Definitions *definitions = otf2_definitions_new ();

  otf2_definitions_clock (definitions, 3);
  for (uint32_t i = 0; i < G_N_ELEMENTS (names); i++) {
    otf2_definitions_string (definitions, i, names[i]);
    otf2_definitions_region (definitions, i, i, i == G_N_ELEMENTS (names) - 1);
  }
  for (uint32_t rank = 0; rank < N_RANKS; rank++)
    otf2_definitions_location (definitions, rank);
  otf2_definitions_mpi_locations (definitions, all, N_RANKS);
  otf2_definitions_mpi_group (definitions, 0, FALSE, all, N_RANKS);
  otf2_definitions_mpi_group (definitions, 1, TRUE, NULL, 0);
  otf2_definitions_mpi_group (definitions, 2, FALSE, even, 2);
  for (uint32_t i = 0; i < 3; i++)
    otf2_definitions_comm (definitions, i, 0, i);
  otf2_definitions_intercomm (definitions, 3);
  otf2_definitions_window (definitions, 0, 0);
  otf2_definitions_window (definitions, 1, 2);
  g_assert_true (otf2_definitions_finish (definitions, TRUE, "fuzz", NULL));
  return definitions;
}

static void
check_op (const TraceOp *op)
{
  g_assert_cmpuint (op->kind, <, TRACE_N_OPS);
  g_assert_cmpuint (strlen (op->name), >, 0);
  g_assert_true (op->site == NULL || strlen (op->site) > 0);
  g_assert_cmpint (op->gap_ps, >=, 0);
  g_assert_cmpint (op->call_ps, >=, 0);
  g_assert_cmpint (op->peer, >=, TRACE_PROC_NULL);
  g_assert_cmpint (op->recv_peer, >=, TRACE_PROC_NULL);
  g_assert_cmpint (op->peer, <, N_RANKS);
  g_assert_cmpint (op->root, <, N_RANKS);
  g_assert_cmpuint (op->bytes, <, UINT64_C (1) << 62);
  g_assert_cmpuint (op->recv_bytes, <, UINT64_C (1) << 62);
  for (uint32_t i = 0; i < op->n_requests; i++)
    g_assert_cmpuint (op->requests[i], >, TRACE_REQUEST_NULL);
  for (uint32_t i = 0; i < op->n_completed; i++)
    g_assert_cmpuint (op->completed[i], <, op->n_requests);
  for (uint32_t i = 0; i < op->n_counts; i++)
    g_assert_cmpuint (op->counts[i], <, UINT64_C (1) << 62);
  for (uint32_t i = 0; i < op->n_recv_counts; i++)
    g_assert_cmpuint (op->recv_counts[i], <, UINT64_C (1) << 62);
}

static void
walk (const Otf2Reading *reading, uint32_t rank, const uint8_t *data, size_t size)
{
  Otf2Stream *stream = otf2_stream_new (input_of (data, size), LIMIT);
  Otf2Events *events = otf2_events_new (reading, rank);
  g_autoptr (GError) error = NULL;
  gboolean good = TRUE;
  Otf2Record record;
  TraceNext next;
  TraceOp op;

  while (good && (next = otf2_stream_next (stream, &record, NULL)) != TRACE_NEXT_END) {
    g_assert_cmpint (next, ==, TRACE_NEXT_OPERATION);
    good = otf2_events_add (events, &record, &error);
    while (good && otf2_events_take (events, &op))
      check_op (&op);
  }
  good = good && otf2_events_end (events, &error);
  while (good && otf2_events_take (events, &op))
    check_op (&op);
  g_assert_true (good == (error == NULL));
  otf2_events_free (events);
  otf2_stream_free (stream);
}

/* A trace to warn about. */
static Trace *
any_trace (void)
{
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("hopcast-fuzz-XXXXXX", &path, NULL);
  Trace *trace;

  g_assert_cmpint (fd, >=, 0);
  g_assert_cmpint (write (fd, "0 init\n", 7), ==, 7);
  close (fd);
  trace = trace_open (path, NULL, NULL);
  g_unlink (path);
  return trace;
}

static void
seed (FuzzSeeds *seeds)
{
  static const char *const words[] = { NULL };
  static const uint8_t messages[] = {
    0, OTF2_RECORD_ENTER,          0, 9, 0, 0, 0, 0,
    0, OTF2_RECORD_ISEND,          0, 0, 1, 5, 1, 9,
    0, OTF2_RECORD_LEAVE,          0, 9, 0, 0, 0, 0,
    0, OTF2_RECORD_IRECV_POST,     0, 0, 0, 0, 2, 0,
    0, OTF2_RECORD_ENTER,          0, 5, 0, 0, 0, 0,
    0, OTF2_RECORD_ISEND_COMPLETE, 0, 0, 0, 0, 1, 0,
    0, OTF2_RECORD_IRECV_COMPLETE, 0, 0, 1, 5, 2, 9,
    0, OTF2_RECORD_LEAVE,          0, 5, 0, 0, 0, 0,
    0,
  };

  fuzz_add (seeds, messages, sizeof messages);
  fuzz_add_words (seeds, words);
}

static void
check (const uint8_t *data, size_t size)
{
  uint8_t how = size > 0 ? data[0] : 0;
  Otf2Definitions *definitions = make_definitions ();
  Otf2Losses *losses = NULL;
  Trace *trace = any_trace ();
  Otf2Reading reading = {
    .trace = trace,
    .definitions = definitions,
    .sizes = how & 1 ? OTF2_SIZES_PLAIN : OTF2_SIZES_SCOREP,
    .from_region = how & 2 ? g_intern_string ("solve") : NULL,
    .allow_lossy = (how & 12) != 0,
  };

  data += size > 0;
  size -= size > 0;
  if (how & 4) {
    losses = otf2_losses_new (definitions);
    for (uint32_t rank = 0; rank < N_RANKS; rank++)
      g_assert_true (otf2_losses_scan (losses, rank, input_of (data, size), NULL));
    otf2_losses_match (losses);
    reading.losses = losses;
  }
  walk (&reading, 0, data, size);
  walk (&reading, 1, data, size);
  otf2_losses_free (losses);
  otf2_definitions_free (definitions);
  trace_free (trace);
}

const FuzzProgram fuzz_program = { NULL, seed, check };
