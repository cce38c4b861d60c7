/* otf2_testing.c - OTF2 archives that tests write, through libotf2's own writer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/otf2/otf2_testing.h"

#include <otf2/otf2.h>
#include <string.h>

static const char *const region_names[] = {
  [AT_MAIN] = "main",
  [AT_SOLVE] = "solve",
  [AT_IO] = "write output",
  [AT_INIT] = "MPI_Init",
  [AT_FINALIZE] = "MPI_Finalize",
  [AT_SEND] = "MPI_Send",
  [AT_SSEND] = "MPI_Ssend()",
  [AT_RECV] = "MPI_Recv",
  [AT_ISEND] = "MPI_Isend",
  [AT_IRECV] = "MPI_Irecv",
  [AT_WAIT] = "MPI_Wait",
  [AT_WAITALL] = "MPI_Waitall",
  [AT_WAITANY] = "MPI_Waitany",
  [AT_TEST] = "MPI_Test",
  [AT_SENDRECV] = "MPI_Sendrecv",
  [AT_STARTALL] = "MPI_Startall",
  [AT_COLLECTIVE] = "MPI_Allreduce",
  [AT_IALLREDUCE] = "MPI_Iallreduce",
  [AT_COMM_SPLIT] = "MPI_Comm_split",
  [AT_WIN] = "MPI_Win_fence",
  [AT_PUT] = "MPI_Put",
  [AT_WIN_FLUSH] = "MPI_Win_flush",
};

/* Strings that are not names of regions follow those. */
enum { TEXT_EMPTY = N_AT, TEXT_WORLD };
/* Groups: */
enum { OF_LOCATIONS, OF_WORLD, OF_SELF, OF_EVEN, OF_NONE };

uint64_t
otf2_testing_location (uint32_t rank)
{
  return (uint64_t) (rank ^ 1) * 1000003 + 7;
}

static OTF2_FlushType
on_flush (void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller, bool final)
{
  (void) data, (void) type, (void) location, (void) caller, (void) final;
  return OTF2_FLUSH;
}

/* The ones with many arguments. */
static OTF2_ErrorCode
write_long (OTF2_EvtWriter *w, const Otf2Record *r)
{
  if (r->kind == OTF2_RECORD_ISEND)
    return OTF2_EvtWriter_MpiIsend (w, NULL, r->ticks, r->peer, r->id, r->tag, r->bytes,
                                    r->request);
  if (r->kind == OTF2_RECORD_IRECV_COMPLETE)
    return OTF2_EvtWriter_MpiIrecv (w, NULL, r->ticks, r->peer, r->id, r->tag, r->bytes,
                                    r->request);
  if (r->kind == OTF2_RECORD_COLLECTIVE)
    return OTF2_EvtWriter_MpiCollectiveEnd (w, NULL, r->ticks, r->op, r->id, r->peer, r->bytes,
                                            r->recv_bytes);
  if (r->kind == OTF2_RECORD_COLLECTIVE_COMPLETE)
    return OTF2_EvtWriter_NonBlockingCollectiveComplete (w, NULL, r->ticks, r->op, r->id, r->peer,
                                                         r->bytes, r->recv_bytes, r->request);
  if (r->kind == OTF2_RECORD_RMA_COLLECTIVE)
    return OTF2_EvtWriter_RmaCollectiveEnd (w, NULL, r->ticks, r->op, 0, r->id, 0, 0, 0);
  if (r->kind == OTF2_RECORD_RMA_ATOMIC)
    return OTF2_EvtWriter_RmaAtomic (w, NULL, r->ticks, r->id, r->peer,
                                     OTF2_RMA_ATOMIC_TYPE_ACCUMULATE, r->bytes, r->recv_bytes, 0);
  g_assert_not_reached ();
}

static OTF2_ErrorCode
write_record (OTF2_EvtWriter *w, const Otf2Record *r)
{
  uint64_t t = r->ticks;

  switch ((Otf2RecordKind) r->kind) {
  case OTF2_RECORD_ENTER: return OTF2_EvtWriter_Enter (w, NULL, t, r->id);
  case OTF2_RECORD_LEAVE: return OTF2_EvtWriter_Leave (w, NULL, t, r->id);
  case OTF2_RECORD_SEND:
    return OTF2_EvtWriter_MpiSend (w, NULL, t, r->peer, r->id, r->tag, r->bytes);
  case OTF2_RECORD_RECV:
    return OTF2_EvtWriter_MpiRecv (w, NULL, t, r->peer, r->id, r->tag, r->bytes);
  case OTF2_RECORD_ISEND_COMPLETE: return OTF2_EvtWriter_MpiIsendComplete (w, NULL, t, r->request);
  case OTF2_RECORD_IRECV_POST: return OTF2_EvtWriter_MpiIrecvRequest (w, NULL, t, r->request);
  case OTF2_RECORD_TESTED: return OTF2_EvtWriter_MpiRequestTest (w, NULL, t, r->request);
  case OTF2_RECORD_CANCELLED: return OTF2_EvtWriter_MpiRequestCancelled (w, NULL, t, r->request);
  case OTF2_RECORD_COLLECTIVE_BEGIN: return OTF2_EvtWriter_MpiCollectiveBegin (w, NULL, t);
  case OTF2_RECORD_COLLECTIVE_POST:
    return OTF2_EvtWriter_NonBlockingCollectiveRequest (w, NULL, t, r->request);
  case OTF2_RECORD_MEASUREMENT:
    return OTF2_EvtWriter_MeasurementOnOff (w, NULL, t, OTF2_MEASUREMENT_OFF);
  case OTF2_RECORD_FLUSH: return OTF2_EvtWriter_BufferFlush (w, NULL, t, r->request);
  case OTF2_RECORD_RMA_PUT: return OTF2_EvtWriter_RmaPut (w, NULL, t, r->id, r->peer, r->bytes, 0);
  case OTF2_RECORD_RMA_GET:
    return OTF2_EvtWriter_RmaGet (w, NULL, t, r->id, r->peer, r->recv_bytes, 0);
  case OTF2_RECORD_RMA_FLUSH: return OTF2_EvtWriter_RmaOpCompleteBlocking (w, NULL, t, r->id, 0);
  case OTF2_RECORD_RMA_UNLOCK: return OTF2_EvtWriter_RmaReleaseLock (w, NULL, t, r->id, r->peer, 0);
  case OTF2_RECORD_RMA_GROUP_SYNC:
    return OTF2_EvtWriter_RmaGroupSync (w, NULL, t, 0, r->id, OF_EVEN);
  case OTF2_RECORD_RMA_WAIT: return OTF2_EvtWriter_RmaWaitChange (w, NULL, t, r->id);
  case OTF2_RECORD_ISEND:
  case OTF2_RECORD_IRECV_COMPLETE:
  case OTF2_RECORD_COLLECTIVE:
  case OTF2_RECORD_COLLECTIVE_COMPLETE:
  case OTF2_RECORD_RMA_COLLECTIVE:
  case OTF2_RECORD_RMA_ATOMIC:
  case OTF2_RECORD_KINDS: break;
  }
  return write_long (w, r);
}

#define GOOD(call) g_assert_cmpint ((call), ==, OTF2_SUCCESS)

static void
write_events (OTF2_Archive *archive, const Otf2Testing *testing, uint32_t n_ranks)
{
  GOOD (OTF2_Archive_OpenEvtFiles (archive));
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    OTF2_EvtWriter *writer = OTF2_Archive_GetEvtWriter (archive, otf2_testing_location (rank));
    guint n = rank < OTF2_TESTING_RANKS ? testing->n_records[rank] : 0;

    g_assert_nonnull (writer);
    for (guint i = 0; i < n; i++)
      GOOD (write_record (writer, &testing->records[rank][i]));
    /* A file without events is not written at all. */
    if (n == 0)
      GOOD (OTF2_EvtWriter_MeasurementOnOff (writer, NULL, 0, OTF2_MEASUREMENT_ON));
    GOOD (OTF2_Archive_CloseEvtWriter (archive, writer));
  }
  GOOD (OTF2_Archive_CloseEvtFiles (archive));
}

static void
write_own_definitions (OTF2_Archive *archive, uint32_t n_ranks)
{
  GOOD (OTF2_Archive_OpenDefFiles (archive));
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    OTF2_DefWriter *writer = OTF2_Archive_GetDefWriter (archive, otf2_testing_location (rank));

    GOOD (OTF2_DefWriter_WriteString (writer, 0, "nothing"));
    GOOD (OTF2_Archive_CloseDefWriter (archive, writer));
  }
  GOOD (OTF2_Archive_CloseDefFiles (archive));
}

static void
write_groups (OTF2_GlobalDefWriter *w, const Otf2Testing *testing, uint32_t n_ranks)
{
  OTF2_Paradigm paradigm = testing->no_mpi ? OTF2_PARADIGM_OPENMP : OTF2_PARADIGM_MPI;
  g_autofree uint64_t *locations = g_new (uint64_t, n_ranks);
  g_autofree uint64_t *ranks = g_new (uint64_t, n_ranks);
  const uint64_t even[] = { 2, 0 };

  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    locations[rank] = otf2_testing_location (rank);
    ranks[rank] = rank;
  }
  GOOD (OTF2_GlobalDefWriter_WriteGroup (w, OF_LOCATIONS, TEXT_EMPTY,
                                         OTF2_GROUP_TYPE_COMM_LOCATIONS, paradigm, 0, n_ranks,
                                         locations));
  GOOD (OTF2_GlobalDefWriter_WriteGroup (w, OF_WORLD, TEXT_EMPTY, OTF2_GROUP_TYPE_COMM_GROUP,
                                         paradigm, 0, n_ranks, ranks));
  GOOD (OTF2_GlobalDefWriter_WriteGroup (w, OF_SELF, TEXT_EMPTY, OTF2_GROUP_TYPE_COMM_SELF,
                                         paradigm, 0, 0, NULL));
  GOOD (OTF2_GlobalDefWriter_WriteGroup (w, OF_NONE, TEXT_EMPTY, OTF2_GROUP_TYPE_COMM_GROUP,
                                         paradigm, 0, 0, NULL));
  if (n_ranks > 2)
    GOOD (OTF2_GlobalDefWriter_WriteGroup (w, OF_EVEN, TEXT_EMPTY, OTF2_GROUP_TYPE_COMM_GROUP,
                                           paradigm, 0, 2, even));
}

/* ON_DUP comes before MPI_COMM_WORLD, to be told from it by name. */
static void
write_comms (OTF2_GlobalDefWriter *w)
{
  const uint32_t none = OTF2_UNDEFINED_UINT32;

  GOOD (OTF2_GlobalDefWriter_WriteComm (w, ON_DUP, TEXT_EMPTY, OF_WORLD, none, 0));
  GOOD (OTF2_GlobalDefWriter_WriteComm (w, ON_WORLD, TEXT_WORLD, OF_WORLD, none, 0));
  GOOD (OTF2_GlobalDefWriter_WriteComm (w, ON_SELF, TEXT_EMPTY, OF_SELF, none, 0));
  GOOD (OTF2_GlobalDefWriter_WriteComm (w, ON_EVEN, TEXT_EMPTY, OF_EVEN, ON_WORLD, 0));
  GOOD (OTF2_GlobalDefWriter_WriteInterComm (w, ON_INTER, TEXT_EMPTY, OF_WORLD, OF_EVEN, ON_WORLD,
                                             0));
  GOOD (OTF2_GlobalDefWriter_WriteComm (w, ON_EMPTY, TEXT_EMPTY, OF_NONE, ON_WORLD, 0));
  GOOD (OTF2_GlobalDefWriter_WriteRmaWin (w, 0, TEXT_EMPTY, ON_WORLD, 0));
  GOOD (OTF2_GlobalDefWriter_WriteRmaWin (w, 1, TEXT_EMPTY, ON_EVEN, 0));
}

static void
write_places (OTF2_GlobalDefWriter *w, uint32_t n_ranks)
{
  GOOD (OTF2_GlobalDefWriter_WriteSystemTreeNode (w, 0, TEXT_EMPTY, TEXT_EMPTY,
                                                  OTF2_UNDEFINED_UINT32));
  for (uint32_t rank = 0; rank < n_ranks; rank++) {
    GOOD (OTF2_GlobalDefWriter_WriteLocationGroup (
        w, rank, TEXT_EMPTY, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0, OTF2_UNDEFINED_UINT32));
    GOOD (OTF2_GlobalDefWriter_WriteLocation (w, otf2_testing_location (rank), TEXT_EMPTY,
                                              OTF2_LOCATION_TYPE_CPU_THREAD, 1, rank));
  }
}

static void
write_definitions (OTF2_Archive *archive, const Otf2Testing *testing, uint32_t n_ranks)
{
  OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter (archive);

  GOOD (OTF2_GlobalDefWriter_WriteClockProperties (w, testing->ticks_per_s, 0, UINT64_MAX / 2,
                                                   OTF2_UNDEFINED_TIMESTAMP));
  for (uint32_t i = 0; i < N_AT; i++)
    GOOD (OTF2_GlobalDefWriter_WriteString (w, i, region_names[i]));
  GOOD (OTF2_GlobalDefWriter_WriteString (w, TEXT_EMPTY, ""));
  GOOD (OTF2_GlobalDefWriter_WriteString (w, TEXT_WORLD, "MPI_COMM_WORLD"));
  for (uint32_t i = 0; i < N_AT; i++)
    GOOD (OTF2_GlobalDefWriter_WriteRegion (w, i, i, i, TEXT_EMPTY, OTF2_REGION_ROLE_FUNCTION,
                                            OTF2_PARADIGM_UNKNOWN, 0, TEXT_EMPTY, 0, 0));
  write_places (w, n_ranks);
  write_groups (w, testing, n_ranks);
  write_comms (w);
  GOOD (OTF2_Archive_CloseGlobalDefWriter (archive, w));
}

char *
otf2_testing_write (const char *folder, const Otf2Testing *testing)
{
  static const OTF2_FlushCallbacks flush = { on_flush, NULL };
  uint32_t n_ranks = testing->n_ranks != 0 ? testing->n_ranks : OTF2_TESTING_RANKS;
  OTF2_Archive *archive = OTF2_Archive_Open (folder, "t", OTF2_FILEMODE_WRITE, 1 << 20, 1 << 20,
                                             OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);

  g_assert_nonnull (archive);
  GOOD (OTF2_Archive_SetFlushCallbacks (archive, &flush, NULL));
  GOOD (OTF2_Archive_SetSerialCollectiveCallbacks (archive));
  if (testing->creator != NULL)
    GOOD (OTF2_Archive_SetCreator (archive, testing->creator));
  write_events (archive, testing, n_ranks);
  write_own_definitions (archive, n_ranks);
  write_definitions (archive, testing, n_ranks);
  GOOD (OTF2_Archive_Close (archive));
  return g_build_filename (folder, "t.otf2", NULL);
}

void
otf2_testing_open (TraceTestingStream *stream, const Otf2Testing *testing, uint32_t rank)
{
  TraceTestingFolder *folder = trace_testing_folder ();
  g_autofree char *path = otf2_testing_write (folder, testing);

  trace_testing_stream_open (stream, folder, path, rank, &testing->options);
}

void
otf2_testing_close (TraceTestingStream *stream)
{
  trace_testing_stream_end (stream);
  trace_testing_stream_close (stream);
}

void
otf2_testing_bad (const Otf2Testing *testing, TraceError code, const char *part)
{
  g_autoptr (TraceTestingFolder) folder = trace_testing_folder ();
  g_autofree char *path = otf2_testing_write (folder, testing);

  trace_testing_bad (path, code, part);
}
