/* dumpi_record.c - one rank's DUMPI file: its parts, and the records in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The index at the end of the file has the offsets of header, footer and
 * records.  Records carry no length, so the arguments of every call must be
 * known, also of those without a meaning for a simulator: a table has them all. */
#include "traces/dumpi/dumpi_format.h"
#include "traces/trace_file.h"

#include <string.h>

/* --- Numbers, all big-endian --- */

static const guint8 *
take (DumpiReader *reader, gsize n)
{
  static const guint8 nothing[8];

  if (reader->failed || reader->end - reader->at < n) {
    reader->failed = TRUE;
    return nothing;
  }
  reader->at += n;
  return reader->data + reader->at - n;
}

static uint8_t
read_u1 (DumpiReader *reader)
{
  return *take (reader, 1);
}

static uint16_t
read_u2 (DumpiReader *reader)
{
  const guint8 *bytes = take (reader, 2);

  return (uint16_t) (bytes[0] << 8 | bytes[1]);
}

static uint32_t
read_u4 (DumpiReader *reader)
{
  const guint8 *bytes = take (reader, 4);

  return (uint32_t) bytes[0] << 24 | (uint32_t) bytes[1] << 16 | (uint32_t) bytes[2] << 8 |
         bytes[3];
}

int32_t
dumpi_read_i4 (DumpiReader *reader)
{
  return (int32_t) read_u4 (reader);
}

static int64_t
read_i8 (DumpiReader *reader)
{
  uint64_t high = read_u4 (reader);

  return (int64_t) (high << 32 | read_u4 (reader));
}

/* Passes over n elements of a size, n as read from the file. */
static void
skip (DumpiReader *reader, int32_t n, gsize element_bytes)
{
  if (n < 0 || (reader->end - reader->at) / element_bytes < (gsize) n)
    reader->failed = TRUE;
  else
    reader->at += (gsize) n * element_bytes;
}

/* --- The parts of the file --- */

#define MAGIC_BYTES  8
#define BIAS_BYTES   8 /* the two clock biases in front of the records */
#define FOOTER_MAGIC 0xf007fee7
#define FOOTER_BYTES (8 + 2 * 4 * DUMPI_N_COUNTS)

static const guint8 magic[MAGIC_BYTES] = { 0xff, 0xaa, 0xdd, 'D', 'U', 'M', 'P', 'I' };

/* The contents of the index after its magic, from the end of the file backwards:
 * key values, footer, body, header are always there, the others came later. */
enum {
  INDEX_KEYVALUES,
  INDEX_FOOTER,
  INDEX_BODY,
  INDEX_HEADER,
  INDEX_PERF,
  INDEX_ADDRESSES,
  INDEX_SIZES,
  INDEX_N
};
#define INDEX_N_MIN 4

static gboolean
file_error (const DumpiFile *file, gsize at, const char *what, GError **error)
{
  return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "%s:0x%" G_GSIZE_MODIFIER "x: %s", file->name, at,
                     what);
}

/* An offset of 0 means that the part is absent. */
static gboolean
part_fits (const DumpiFile *file, gsize at, gsize part_bytes)
{
  return at == 0 || (at >= MAGIC_BYTES && at <= file->size && file->size - at >= part_bytes);
}

/* Reads the index, which has n offsets, the header and the magic of the
 * footer. */
static gboolean
read_parts (DumpiFile *file, guint n, GError **error)
{
  DumpiReader reader = { file->data, file->size - 8 * (gsize) n, file->size, FALSE };
  gsize at = reader.at, offset[INDEX_N] = { 0 };
  uint32_t major, minor, patch;

  for (guint i = n; i-- > 0;)
    offset[i] = (gsize) read_i8 (&reader);
  file->body = offset[INDEX_BODY];
  file->body_end = offset[INDEX_HEADER];
  file->footer = offset[INDEX_FOOTER];
  file->sizes = offset[INDEX_SIZES];
  if (file->body == 0 || file->body_end == 0 || !part_fits (file, file->body, BIAS_BYTES) ||
      !part_fits (file, file->body_end, 3) || !part_fits (file, file->footer, FOOTER_BYTES) ||
      !part_fits (file, file->sizes, 4) || file->body_end < file->body + BIAS_BYTES)
    return file_error (file, at, "the index points beyond the file, or to parts in the wrong order",
                       error);
  file->body += BIAS_BYTES;

  reader.at = file->body_end;
  major = read_u1 (&reader);
  minor = read_u1 (&reader);
  patch = read_u1 (&reader);
  file->version = DUMPI_VERSION (major, minor, patch);
  reader.at = file->footer;
  if (file->footer != 0 && read_i8 (&reader) != FOOTER_MAGIC)
    return file_error (file, file->footer, "the footer has the wrong magic number", error);
  return TRUE;
}

DumpiFile *
dumpi_file_open (const char *path, GError **error)
{
  g_autoptr (DumpiFile) file = g_new0 (DumpiFile, 1);

  file->name = g_path_get_basename (path);
  file->bytes = trace_file_load (path, error);
  if (file->bytes == NULL)
    return NULL;
  file->data = g_bytes_get_data (file->bytes, &file->size);
  if (file->size < MAGIC_BYTES || memcmp (file->data, magic, MAGIC_BYTES) != 0) {
    file_error (file, 0, "not a DUMPI file", error);
    return NULL;
  }
  for (guint n = INDEX_N; n >= INDEX_N_MIN; n--) {
    gsize index_bytes = MAGIC_BYTES + 8 * (gsize) n;

    if (file->size >= MAGIC_BYTES + index_bytes &&
        memcmp (file->data + file->size - index_bytes, magic, MAGIC_BYTES) == 0)
      return read_parts (file, n, error) ? g_steal_pointer (&file) : NULL;
  }
  /* The process died before it wrote the index.  The version is not known
   * either; layouts have not changed since 2011. */
  file->salvage = TRUE;
  file->version = DUMPI_VERSION (13, 0, 0);
  file->body = MIN (MAGIC_BYTES + BIAS_BYTES, file->size);
  file->body_end = file->size;
  return g_steal_pointer (&file);
}

void
dumpi_file_close (DumpiFile *file)
{
  if (file == NULL)
    return;
  g_bytes_unref (file->bytes);
  g_free (file->name);
  g_free (file);
}

gboolean
dumpi_file_counts (const DumpiFile *file, uint32_t id, uint64_t *made, uint64_t *ignored)
{
  DumpiReader reader = { file->data, file->footer + 8 + 4 * (gsize) id, file->size, FALSE };

  if (file->footer == 0 || id >= DUMPI_N_COUNTS)
    return FALSE;
  *made = read_u4 (&reader);
  reader.at = file->footer + 8 + 4 * ((gsize) DUMPI_N_COUNTS + id);
  *ignored = read_u4 (&reader);
  return TRUE;
}

/* --- The table of calls ---
 *
 * A record is: u2 id, u1 mask, then by the mask [0x40] u2 thread, [4] processor
 * times, [8] wall times, [0x80] performance counters; then the arguments, in
 * the order of the call's layout string.  Letters of a layout:
 *
 *   lower and upper case letters   an argument with a role, see fields[]
 *   1 2 4 8                        a number of so many bytes without one
 *   i j e                          an array of 4-, 1-, 2-byte numbers without one
 *   a S W                          a string, an array, an array of arrays of them
 *   ( )                            only on the root of the call
 *   v I K                          layouts that changed between versions */

#define CALL(name, layout, kind)                              \
  {                                                           \
    "MPI_" name, layout, TRACE_OP_##kind, TRACE_SEND_STANDARD \
  }
#define SEND(name, layout, kind, mode)                      \
  {                                                         \
    "MPI_" name, layout, TRACE_OP_##kind, TRACE_SEND_##mode \
  }

/* Calls of the MPI-IO part cost a call and move nothing: files are outside
 * the model.  A lock of a window is taken with the first access: what it costs
 * shows in the unlock.  Intercommunicators and processes that are started
 * later are not supported, and must not be passed over. */
const DumpiCall dumpi_calls[DUMPI_N_IDS] = {
  [0] = SEND ("Send", "ndptc", SEND, STANDARD),
  [1] = CALL ("Recv", "ndptcs", RECV),
  [2] = CALL ("Get_count", "s24", CALL),
  [3] = SEND ("Bsend", "ndptc", SEND, BUFFERED),
  [4] = SEND ("Ssend", "ndptc", SEND, SYNCHRONOUS),
  [5] = SEND ("Rsend", "ndptc", SEND, READY),
  [6] = CALL ("Buffer_attach", "4", CALL),
  [7] = CALL ("Buffer_detach", "4", CALL),
  [8] = SEND ("Isend", "ndptcr", ISEND, STANDARD),
  [9] = SEND ("Ibsend", "ndptcr", ISEND, BUFFERED),
  [10] = SEND ("Issend", "ndptcr", ISEND, SYNCHRONOUS),
  [11] = SEND ("Irsend", "ndptcr", ISEND, READY),
  [12] = CALL ("Irecv", "ndptcr", IRECV),
  [13] = CALL ("Wait", "rs", WAIT),
  [14] = CALL ("Test", "rfs", TEST),
  [15] = CALL ("Request_free", "r", REQUEST_FREE),
  [16] = CALL ("Waitany", "nRxs", WAIT_SOME),
  [17] = CALL ("Testany", "nRxfs", TEST),
  [18] = CALL ("Waitall", "nRs", WAIT),
  [19] = CALL ("Testall", "nRfs", TEST),
  [20] = CALL ("Waitsome", "nRxXs", WAIT_SOME),
  [21] = CALL ("Testsome", "nRxXs", TEST),
  [22] = CALL ("Iprobe", "ptcfs", IPROBE),
  [23] = CALL ("Probe", "ptcs", PROBE),
  [24] = CALL ("Cancel", "r", CANCEL),
  [25] = CALL ("Test_cancelled", "s4", CALL),
  [26] = SEND ("Send_init", "ndptcr", SEND_INIT, STANDARD),
  [27] = SEND ("Bsend_init", "ndptcr", SEND_INIT, BUFFERED),
  [28] = SEND ("Ssend_init", "ndptcr", SEND_INIT, SYNCHRONOUS),
  [29] = SEND ("Rsend_init", "ndptcr", SEND_INIT, READY),
  [30] = CALL ("Recv_init", "ndptcr", RECV_INIT),
  [31] = CALL ("Start", "r", START),
  [32] = CALL ("Startall", "nR", START),
  [33] = CALL ("Sendrecv", "ndptNDPTcs", SENDRECV),
  [34] = CALL ("Sendrecv_replace", "ndptPTcs", SENDRECV),
  [35] = CALL ("Type_contiguous", "ndw", CALL),
  [36] = CALL ("Type_vector", "nb4dw", CALL),
  [37] = CALL ("Type_hvector", "nb4dw", CALL),
  [38] = CALL ("Type_indexed", "nLidw", CALL),
  [39] = CALL ("Type_hindexed", "nLidw", CALL),
  [40] = CALL ("Type_struct", "nLIUw", CALL),
  [41] = CALL ("Address", "4", CALL),
  [42] = CALL ("Type_extent", "24", CALL),
  [43] = CALL ("Type_size", "24", CALL),
  [44] = CALL ("Type_lb", "24", CALL),
  [45] = CALL ("Type_ub", "24", CALL),
  [46] = CALL ("Type_commit", "2", CALL),
  [47] = CALL ("Type_free", "2", CALL),
  [48] = CALL ("Get_elements", "s24", CALL),
  [49] = CALL ("Pack", "424442", CALL),
  [50] = CALL ("Unpack", "444422", CALL),
  [51] = CALL ("Pack_size", "4224", CALL),
  [52] = CALL ("Barrier", "c", BARRIER),
  [53] = CALL ("Bcast", "ndoc", BCAST),
  [54] = CALL ("Gather", "mndoc(ND)", GATHER),
  [55] = CALL ("Gatherv", "m4ndoc(Mi)D", GATHERV),
  [56] = CALL ("Scatter", "mNDoc(nd)", SCATTER),
  [57] = CALL ("Scatterv", "m4dNDoc(Li)", SCATTERV),
  [58] = CALL ("Allgather", "ndNDc", ALLGATHER),
  [59] = CALL ("Allgatherv", "4ndMiDc", ALLGATHERV),
  [60] = CALL ("Alltoall", "ndNDc", ALLTOALL),
  [61] = CALL ("Alltoallv", "4LidMiDc", ALLTOALLV),
  [62] = CALL ("Reduce", "nd1oc", REDUCE),
  [63] = CALL ("Op_create", "41", CALL),
  [64] = CALL ("Op_free", "1", CALL),
  [65] = CALL ("Allreduce", "nd1c", ALLREDUCE),
  [66] = CALL ("Reduce_scatter", "4MD1c", REDUCE_SCATTER),
  [67] = CALL ("Scan", "nd1c", SCAN),
  [68] = CALL ("Group_size", "24", CALL),
  [69] = CALL ("Group_rank", "24", CALL),
  [70] = CALL ("Group_translate_ranks", "24i2i", CALL),
  [71] = CALL ("Group_compare", "221", CALL),
  [72] = CALL ("Comm_group", "cq", COMM_GROUP),
  [73] = CALL ("Group_union", "ghq", GROUP_UNION),
  [74] = CALL ("Group_intersection", "ghq", GROUP_INTERSECTION),
  [75] = CALL ("Group_difference", "ghq", GROUP_DIFFERENCE),
  [76] = CALL ("Group_incl", "gnAq", GROUP_INCL),
  [77] = CALL ("Group_excl", "gnAq", GROUP_EXCL),
  [78] = CALL ("Group_range_incl", "gnJq", GROUP_RANGE_INCL),
  [79] = CALL ("Group_range_excl", "gnJq", GROUP_RANGE_EXCL),
  [80] = CALL ("Group_free", "g", GROUP_FREE),
  [81] = CALL ("Comm_size", "24", CALL),
  [82] = CALL ("Comm_rank", "24", CALL),
  [83] = CALL ("Comm_compare", "221", CALL),
  [84] = CALL ("Comm_dup", "ck", COMM_DUP),
  [85] = CALL ("Comm_create", "cgk", COMM_CREATE),
  [86] = CALL ("Comm_split", "clyk", COMM_SPLIT),
  [87] = CALL ("Comm_free", "c", COMM_FREE),
  [88] = CALL ("Comm_test_inter", "24", CALL),
  [89] = CALL ("Comm_remote_size", "24", CALL),
  [90] = CALL ("Comm_remote_group", "22", CALL),
  [91] = CALL ("Intercomm_create", "c424tk", UNSUPPORTED),
  [92] = CALL ("Intercomm_merge", "c4k", UNSUPPORTED),
  [93] = CALL ("Keyval_create", "2", CALL),
  [94] = CALL ("Keyval_free", "2", CALL),
  [95] = CALL ("Attr_put", "24", CALL),
  [96] = CALL ("Attr_get", "244", CALL),
  [97] = CALL ("Attr_delete", "24", CALL),
  [98] = CALL ("Topo_test", "21", CALL),
  [99] = CALL ("Cart_create", "c4AB4k", CART_CREATE),
  [100] = CALL ("Dims_create", "44ii", CALL),
  [101] = CALL ("Graph_create", "4clii4k", GRAPH_CREATE),
  [102] = CALL ("Graphdims_get", "244", CALL),
  [103] = CALL ("Graph_get", "44244ii", CALL),
  [104] = CALL ("Cartdim_get", "24", CALL),
  [105] = CALL ("Cart_get", "424iiK", CALL),
  [106] = CALL ("Cart_rank", "42i4", CALL),
  [107] = CALL ("Cart_coords", "4244i", CALL),
  [108] = CALL ("Graph_neighbors_count", "244", CALL),
  [109] = CALL ("Graph_neighbors", "4244i", CALL),
  [110] = CALL ("Cart_shift", "24444", CALL),
  [111] = CALL ("Cart_sub", "4cAk", CART_SUB),
  [112] = CALL ("Cart_map", "24ii4", CALL),
  [113] = CALL ("Graph_map", "424ii4", CALL),
  [114] = CALL ("Get_processor_name", "a4", CALL),
  [115] = CALL ("Get_version", "44", CALL),
  [116] = CALL ("Errhandler_create", "2", CALL),
  [117] = CALL ("Errhandler_set", "22", CALL),
  [118] = CALL ("Errhandler_get", "22", CALL),
  [119] = CALL ("Errhandler_free", "2", CALL),
  [120] = CALL ("Error_string", "4a4", CALL),
  [121] = CALL ("Error_class", "44", CALL),
  [122] = CALL ("Wtime", "", CALL),
  [123] = CALL ("Wtick", "", CALL),
  [124] = CALL ("Init", "v", INIT),
  [125] = CALL ("Finalize", "", FINALIZE),
  [126] = CALL ("Initialized", "4", CALL),
  [127] = CALL ("Abort", "24", CALL),
  [129] = CALL ("Close_port", "a", CALL),
  [130] = CALL ("Comm_accept", "a24ck", UNSUPPORTED),
  [131] = CALL ("Comm_connect", "a24ck", UNSUPPORTED),
  [132] = CALL ("Comm_disconnect", "c", COMM_FREE),
  [133] = CALL ("Comm_get_parent", "2", CALL),
  [134] = CALL ("Comm_join", "4k", UNSUPPORTED),
  [135] = CALL ("Comm_spawn", "mock(aS42i)", UNSUPPORTED),
  [136] = CALL ("Comm_spawn_multiple", "4mock(4SWiei)", UNSUPPORTED),
  [137] = CALL ("Lookup_name", "a2a", CALL),
  [138] = CALL ("Open_port", "2a", CALL),
  [139] = CALL ("Publish_name", "a2a", CALL),
  [140] = CALL ("Unpublish_name", "a2a", CALL),
  [141] = CALL ("Accumulate", "ndp4421u", PUT),
  [142] = CALL ("Get", "ndp442u", GET),
  [143] = CALL ("Put", "ndp442u", PUT),
  [144] = CALL ("Win_complete", "u", WIN_COMPLETE),
  [145] = CALL ("Win_create", "442cu", WIN_CREATE),
  [146] = CALL ("Win_fence", "1u", WIN_FENCE),
  [147] = CALL ("Win_free", "u", WIN_FREE),
  [148] = CALL ("Win_get_group", "uq", COMM_GROUP),
  [149] = CALL ("Win_lock", "1412", CALL),
  [150] = CALL ("Win_post", "g1u", WIN_POST),
  [151] = CALL ("Win_start", "g1u", WIN_START),
  [152] = CALL ("Win_test", "uf", WIN_WAIT),
  [153] = CALL ("Win_unlock", "pu", WIN_FLUSH),
  [154] = CALL ("Win_wait", "u", WIN_WAIT),
  [155] = CALL ("Alltoallw", "4LiUMiVc", ALLTOALLV),
  [156] = CALL ("Exscan", "nd1c", EXSCAN),
  [157] = CALL ("Add_error_class", "4", CALL),
  [158] = CALL ("Add_error_code", "44", CALL),
  [159] = CALL ("Add_error_string", "4a", CALL),
  [160] = CALL ("Comm_call_errhandler", "24", CALL),
  [161] = CALL ("Comm_create_keyval", "2", CALL),
  [162] = CALL ("Comm_delete_attr", "22", CALL),
  [163] = CALL ("Comm_free_keyval", "2", CALL),
  [164] = CALL ("Comm_get_attr", "224", CALL),
  [165] = CALL ("Comm_get_name", "2a4", CALL),
  [166] = CALL ("Comm_set_attr", "22", CALL),
  [167] = CALL ("Comm_set_name", "2a", CALL),
  [168] = CALL ("File_call_errhandler", "24", CALL),
  [169] = CALL ("Grequest_complete", "4", CALL),
  [170] = CALL ("Grequest_start", "4", CALL),
  [171] = CALL ("Init_thread", "S11", INIT),
  [172] = CALL ("Is_thread_main", "4", CALL),
  [173] = CALL ("Query_thread", "1", CALL),
  [174] = CALL ("Status_set_cancelled", "s4", CALL),
  [175] = CALL ("Status_set_elements", "s24", CALL),
  [176] = CALL ("Type_create_keyval", "2", CALL),
  [177] = CALL ("Type_delete_attr", "22", CALL),
  [178] = CALL ("Type_dup", "dw", CALL),
  [179] = CALL ("Type_free_keyval", "2", CALL),
  [180] = CALL ("Type_get_attr", "224", CALL),
  [181] = CALL ("Type_get_contents", "4442444iie", CALL),
  [182] = CALL ("Type_get_envelope", "24441", CALL),
  [183] = CALL ("Type_get_name", "2a4", CALL),
  [184] = CALL ("Type_set_attr", "22", CALL),
  [185] = CALL ("Type_set_name", "2a", CALL),
  [186] = CALL ("Type_match_size", "142", CALL),
  [187] = CALL ("Win_call_errhandler", "24", CALL),
  [188] = CALL ("Win_create_keyval", "2", CALL),
  [189] = CALL ("Win_delete_attr", "22", CALL),
  [190] = CALL ("Win_free_keyval", "2", CALL),
  [191] = CALL ("Win_get_attr", "224", CALL),
  [192] = CALL ("Win_get_name", "2a4", CALL),
  [193] = CALL ("Win_set_attr", "22", CALL),
  [194] = CALL ("Win_set_name", "2a", CALL),
  [195] = CALL ("Alloc_mem", "42", CALL),
  [196] = CALL ("Comm_create_errhandler", "2", CALL),
  [197] = CALL ("Comm_get_errhandler", "22", CALL),
  [198] = CALL ("Comm_set_errhandler", "22", CALL),
  [199] = CALL ("File_create_errhandler", "2", CALL),
  [200] = CALL ("File_get_errhandler", "22", CALL),
  [201] = CALL ("File_set_errhandler", "22", CALL),
  [202] = CALL ("Finalized", "4", CALL),
  [203] = CALL ("Free_mem", "", CALL),
  [204] = CALL ("Get_address", "4", CALL),
  [205] = CALL ("Info_create", "2", CALL),
  [206] = CALL ("Info_delete", "2a", CALL),
  [207] = CALL ("Info_dup", "22", CALL),
  [208] = CALL ("Info_free", "2", CALL),
  [209] = CALL ("Info_get", "2a4a4", CALL),
  [210] = CALL ("Info_get_nkeys", "24", CALL),
  [211] = CALL ("Info_get_nthkey", "24a", CALL),
  [212] = CALL ("Info_get_valuelen", "2a44", CALL),
  [213] = CALL ("Info_set", "2aa", CALL),
  [214] = CALL ("Pack_external", "a42444", CALL),
  [215] = CALL ("Pack_external_size", "a424", CALL),
  [216] = CALL ("Request_get_status", "44s", CALL),
  [217] = CALL ("Type_create_darray", "444ijii1dw", CALL),
  [218] = CALL ("Type_create_hindexed", "nLidw", CALL),
  [219] = CALL ("Type_create_hvector", "nb4dw", CALL),
  [220] = CALL ("Type_create_indexed_block", "nbidw", CALL),
  [221] = CALL ("Type_create_resized", "d44w", CALL),
  [222] = CALL ("Type_create_struct", "nLiUw", CALL),
  [223] = CALL ("Type_create_subarray", "4iAi1dw", CALL),
  [224] = CALL ("Type_get_extent", "244", CALL),
  [225] = CALL ("Type_get_true_extent", "244", CALL),
  [226] = CALL ("Unpack_external", "a44442", CALL),
  [227] = CALL ("Win_create_errhandler", "2", CALL),
  [228] = CALL ("Win_get_errhandler", "22", CALL),
  [229] = CALL ("Win_set_errhandler", "22", CALL),
  [230] = CALL ("File_open", "2a122", CALL),
  [231] = CALL ("File_close", "2", CALL),
  [232] = CALL ("File_delete", "a2", CALL),
  [233] = CALL ("File_set_size", "28", CALL),
  [234] = CALL ("File_preallocate", "28", CALL),
  [235] = CALL ("File_get_size", "28", CALL),
  [236] = CALL ("File_get_group", "22", CALL),
  [237] = CALL ("File_get_amode", "21", CALL),
  [238] = CALL ("File_set_info", "22", CALL),
  [239] = CALL ("File_get_info", "22", CALL),
  [240] = CALL ("File_set_view", "2822a2", CALL),
  [241] = CALL ("File_get_view", "2822a", CALL),
  [242] = CALL ("File_read_at", "2842s", CALL),
  [243] = CALL ("File_read_at_all", "2842s", CALL),
  [244] = CALL ("File_write_at", "2842s", CALL),
  [245] = CALL ("File_write_at_all", "2842s", CALL),
  [246] = CALL ("File_iread_at", "28424", CALL),
  [247] = CALL ("File_iwrite_at", "28424", CALL),
  [248] = CALL ("File_read", "242s", CALL),
  [249] = CALL ("File_read_all", "242s", CALL),
  [250] = CALL ("File_write", "242s", CALL),
  [251] = CALL ("File_write_all", "242s", CALL),
  [252] = CALL ("File_iread", "2424", CALL),
  [253] = CALL ("File_iwrite", "2424", CALL),
  [254] = CALL ("File_seek", "281", CALL),
  [255] = CALL ("File_get_position", "28", CALL),
  [256] = CALL ("File_get_byte_offset", "288", CALL),
  [257] = CALL ("File_read_shared", "242s", CALL),
  [258] = CALL ("File_write_shared", "242s", CALL),
  [259] = CALL ("File_iread_shared", "2424", CALL),
  [260] = CALL ("File_iwrite_shared", "2424", CALL),
  [261] = CALL ("File_read_ordered", "242s", CALL),
  [262] = CALL ("File_write_ordered", "242s", CALL),
  [263] = CALL ("File_seek_shared", "281", CALL),
  [264] = CALL ("File_get_position_shared", "28", CALL),
  [265] = CALL ("File_read_at_all_begin", "2842", CALL),
  [266] = CALL ("File_read_at_all_end", "2s", CALL),
  [267] = CALL ("File_write_at_all_begin", "2842", CALL),
  [268] = CALL ("File_write_at_all_end", "2s", CALL),
  [269] = CALL ("File_read_all_begin", "242", CALL),
  [270] = CALL ("File_read_all_end", "2s", CALL),
  [271] = CALL ("File_write_all_begin", "242", CALL),
  [272] = CALL ("File_write_all_end", "2s", CALL),
  [273] = CALL ("File_read_ordered_begin", "242", CALL),
  [274] = CALL ("File_read_ordered_end", "2s", CALL),
  [275] = CALL ("File_write_ordered_begin", "242", CALL),
  [276] = CALL ("File_write_ordered_end", "2s", CALL),
  [277] = CALL ("File_get_type_extent", "224", CALL),
  [278] = CALL ("Register_datarep", "a", CALL),
  [279] = CALL ("File_set_atomicity", "24", CALL),
  [280] = CALL ("File_get_atomicity", "24", CALL),
  [281] = CALL ("File_sync", "2", CALL),
  [291] = CALL ("Function_enter", "8", CALL),
  [292] = CALL ("Function_exit", "8", CALL),
};

/* --- Records --- */

enum {
  MASK_STATUSES = 0x03,
  MASK_CPU = 0x04,
  MASK_WALL = 0x08,
  MASK_THREAD = 0x40,
  MASK_COUNTERS = 0x80
};

#define NO_SLOT       0xff
#define NS_PER_SECOND 1000000000u

typedef enum {
  FIELD_NONE,
  FIELD_U1,
  FIELD_U2,
  FIELD_I4,
  FIELD_I8,
  FIELD_ARRAY_U1,
  FIELD_ARRAY_U2,
  FIELD_ARRAY_I4,
  FIELD_ARRAY2_I4,
  FIELD_STRING,
  FIELD_ARRAY_STRING,
  FIELD_ARRAY2_STRING,
  FIELD_STATUS,
  FIELD_ARGV,        /* argc stood twice before 0.6.2 */
  FIELD_INDICES,     /* one number before 0.6.9 */
  FIELD_COORDINATES, /* one number before 0.6.8 */
} FieldType;

typedef struct {
  uint8_t type; /* FieldType */
  uint8_t slot; /* DumpiScalar or DumpiArray */
} Field;

static const Field fields[128] = {
  ['n'] = { FIELD_I4, DUMPI_COUNT },
  ['d'] = { FIELD_U2, DUMPI_TYPE },
  ['p'] = { FIELD_I4, DUMPI_PEER },
  ['t'] = { FIELD_I4, DUMPI_TAG },
  ['c'] = { FIELD_U2, DUMPI_COMM },
  ['r'] = { FIELD_I4, DUMPI_REQUEST },
  ['o'] = { FIELD_I4, DUMPI_ROOT },
  ['m'] = { FIELD_I4, DUMPI_RANK },
  ['N'] = { FIELD_I4, DUMPI_RECV_COUNT },
  ['D'] = { FIELD_U2, DUMPI_RECV_TYPE },
  ['P'] = { FIELD_I4, DUMPI_RECV_PEER },
  ['T'] = { FIELD_I4, DUMPI_RECV_TAG },
  ['k'] = { FIELD_U2, DUMPI_NEW_COMM },
  ['g'] = { FIELD_U2, DUMPI_GROUP },
  ['h'] = { FIELD_U2, DUMPI_GROUP2 },
  ['q'] = { FIELD_U2, DUMPI_NEW_GROUP },
  ['u'] = { FIELD_U2, DUMPI_WINDOW },
  ['f'] = { FIELD_I4, DUMPI_FLAG },
  ['x'] = { FIELD_I4, DUMPI_INDEX },
  ['l'] = { FIELD_I4, DUMPI_COLOR },
  ['y'] = { FIELD_I4, DUMPI_KEY },
  ['b'] = { FIELD_I4, DUMPI_BLOCK_LENGTH },
  ['w'] = { FIELD_U2, DUMPI_NEW_TYPE },
  ['R'] = { FIELD_ARRAY_I4, DUMPI_REQUESTS },
  ['X'] = { FIELD_ARRAY_I4, DUMPI_INDICES },
  ['A'] = { FIELD_ARRAY_I4, DUMPI_VALUES },
  ['B'] = { FIELD_ARRAY_I4, DUMPI_VALUES2 },
  ['J'] = { FIELD_ARRAY2_I4, DUMPI_VALUES },
  ['L'] = { FIELD_ARRAY_I4, DUMPI_COUNTS },
  ['M'] = { FIELD_ARRAY_I4, DUMPI_RECV_COUNTS },
  ['U'] = { FIELD_ARRAY_U2, DUMPI_TYPES },
  ['V'] = { FIELD_ARRAY_U2, DUMPI_RECV_TYPES },
  ['s'] = { FIELD_STATUS, NO_SLOT },
  ['1'] = { FIELD_U1, NO_SLOT },
  ['2'] = { FIELD_U2, NO_SLOT },
  ['4'] = { FIELD_I4, NO_SLOT },
  ['8'] = { FIELD_I8, NO_SLOT },
  ['i'] = { FIELD_ARRAY_I4, NO_SLOT },
  ['j'] = { FIELD_ARRAY_U1, NO_SLOT },
  ['e'] = { FIELD_ARRAY_U2, NO_SLOT },
  ['a'] = { FIELD_STRING, NO_SLOT },
  ['S'] = { FIELD_ARRAY_STRING, NO_SLOT },
  ['W'] = { FIELD_ARRAY2_STRING, NO_SLOT },
  ['v'] = { FIELD_ARGV, NO_SLOT },
  ['I'] = { FIELD_INDICES, NO_SLOT },
  ['K'] = { FIELD_COORDINATES, NO_SLOT },
};

/* The count of an array whose elements take at least so many bytes; 0 when
 * so many cannot follow. */
static int32_t
read_array_count (DumpiReader *reader, gsize element_bytes)
{
  int32_t n = dumpi_read_i4 (reader);

  if (n < 0 || (reader->end - reader->at) / element_bytes < (gsize) n)
    reader->failed = TRUE;
  return reader->failed ? 0 : n;
}

static void
skip_array (DumpiReader *reader, gsize element_bytes)
{
  skip (reader, dumpi_read_i4 (reader), element_bytes);
}

static void
skip_strings (DumpiReader *reader)
{
  int32_t n = read_array_count (reader, 4);

  for (int32_t i = 0; i < n && !reader->failed; i++)
    skip_array (reader, 1);
}

/* One number in old versions, an array since. */
static void
skip_array_since (DumpiReader *reader, uint32_t version, uint32_t since)
{
  if (version < since)
    dumpi_read_i4 (reader);
  else
    skip_array (reader, 4);
}

static void
read_array (DumpiReader *reader, Field field, gsize element_bytes, DumpiRecord *record)
{
  int32_t n;

  if (field.slot == NO_SLOT) {
    skip_array (reader, element_bytes);
    return;
  }
  n = read_array_count (reader, element_bytes);
  for (int32_t i = 0; i < n; i++) {
    int32_t value = element_bytes == 2 ? read_u2 (reader) : dumpi_read_i4 (reader);

    g_array_append_val (record->array[field.slot], value);
  }
}

static void
read_field (DumpiReader *reader, uint32_t version, gboolean statuses, Field field,
            DumpiRecord *record)
{
  gboolean tagged;
  int32_t value, n;

  switch ((FieldType) field.type) {
  case FIELD_U1:
  case FIELD_U2:
  case FIELD_I4:
    value = field.type == FIELD_U1   ? read_u1 (reader)
            : field.type == FIELD_U2 ? read_u2 (reader)
                                     : dumpi_read_i4 (reader);
    if (field.slot != NO_SLOT)
      record->scalar[field.slot] = value;
    break;
  case FIELD_I8: read_i8 (reader); break;
  case FIELD_ARRAY_U1: read_array (reader, field, 1, record); break;
  case FIELD_ARRAY_U2: read_array (reader, field, 2, record); break;
  case FIELD_ARRAY_I4: read_array (reader, field, 4, record); break;
  case FIELD_STRING: skip_array (reader, 1); break;
  case FIELD_ARRAY_STRING: skip_strings (reader); break;
  case FIELD_ARRAY2_I4:
  case FIELD_ARRAY2_STRING:
    /* Each inner array has its own count. */
    n = read_array_count (reader, 4);
    for (int32_t i = 0; i < n && !reader->failed; i++)
      if (field.type == FIELD_ARRAY2_STRING)
        skip_strings (reader);
      else
        read_array (reader, field, 4, record);
    break;
  case FIELD_STATUS:
    if (!statuses)
      break;
    tagged = version >= DUMPI_VERSION (0, 6, 3);
    n = read_array_count (reader, tagged ? 14 : 10);
    for (int32_t i = 0; i < n; i++) {
      DumpiStatus status;

      dumpi_read_i4 (reader);
      status.source = dumpi_read_i4 (reader);
      status.cancelled = read_u1 (reader) != 0;
      read_u1 (reader);
      if (tagged)
        dumpi_read_i4 (reader);
      g_array_append_val (record->statuses, status);
    }
    break;
  case FIELD_ARGV:
    if (version < DUMPI_VERSION (0, 6, 2))
      dumpi_read_i4 (reader);
    skip_strings (reader);
    break;
  case FIELD_INDICES: skip_array_since (reader, version, DUMPI_VERSION (0, 6, 9)); break;
  case FIELD_COORDINATES: skip_array_since (reader, version, DUMPI_VERSION (0, 6, 8)); break;
  case FIELD_NONE: g_assert_not_reached ();
  }
}

static DumpiTime
read_time (DumpiReader *reader)
{
  DumpiTime time;

  time.seconds = read_u2 (reader);
  time.ns = read_u4 (reader);
  return time;
}

void
dumpi_record_init (DumpiRecord *record)
{
  *record = (DumpiRecord){ 0 };
  for (guint i = 0; i < DUMPI_N_ARRAYS; i++)
    record->array[i] = g_array_new (FALSE, FALSE, sizeof (int32_t));
  record->statuses = g_array_new (FALSE, FALSE, sizeof (DumpiStatus));
}

void
dumpi_record_clear (DumpiRecord *record)
{
  for (guint i = 0; i < DUMPI_N_ARRAYS; i++)
    g_array_unref (record->array[i]);
  g_array_unref (record->statuses);
}

static TraceNext
fail (const DumpiFile *file, const DumpiRecord *record, const char *what, GError **error)
{
  g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "%s:0x%" G_GSIZE_MODIFIER "x: %s: %s",
               file->name, record->at, dumpi_calls[record->id].name, what);
  return TRACE_NEXT_ERROR;
}

TraceNext
dumpi_record_next (const DumpiFile *file, gsize *at, gboolean finalized, DumpiRecord *record,
                   GError **error)
{
  DumpiReader reader = { file->data, *at, file->body_end, FALSE };
  const char *letter;
  uint16_t id;
  uint8_t mask;

  if (*at >= file->body_end)
    return TRACE_NEXT_END;
  id = read_u2 (&reader);
  if (id == DUMPI_END) {
    if (file->salvage || reader.at == file->body_end)
      return TRACE_NEXT_END;
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                 "%s:0x%" G_GSIZE_MODIFIER "x: the records end here, but the header that should "
                 "follow is at 0x%" G_GSIZE_MODIFIER "x",
                 file->name, reader.at, file->body_end);
    return TRACE_NEXT_ERROR;
  }
  if (id == 0 && finalized && reader.at >= file->body_end)
    return TRACE_NEXT_END;
  if (reader.failed || id >= DUMPI_N_IDS || dumpi_calls[id].name == NULL) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT,
                 "%s:0x%" G_GSIZE_MODIFIER "x: %u is not the number of an MPI call", file->name,
                 *at, id);
    return TRACE_NEXT_ERROR;
  }
  record->at = *at;
  record->id = id;
  memset (record->scalar, 0, sizeof record->scalar);
  for (guint i = 0; i < DUMPI_N_ARRAYS; i++)
    g_array_set_size (record->array[i], 0);
  g_array_set_size (record->statuses, 0);

  mask = read_u1 (&reader);
  if (mask & MASK_THREAD)
    read_u2 (&reader);
  /* Wall times are preferred: processor times stand still while a rank is
   * preempted or sleeps. */
  record->timed = (mask & (MASK_CPU | MASK_WALL)) != 0;
  record->wall = (mask & MASK_WALL) != 0;
  if (mask & MASK_CPU) {
    record->start = read_time (&reader);
    record->stop = read_time (&reader);
  }
  if (mask & MASK_WALL) {
    record->start = read_time (&reader);
    record->stop = read_time (&reader);
  }
  if (mask & MASK_COUNTERS)
    skip (&reader, read_u1 (&reader), 16);
  *at = reader.at;
  if (record->timed && (record->start.ns >= NS_PER_SECOND || record->stop.ns >= NS_PER_SECOND))
    return fail (file, record, "a time with 1,000,000,000 nanoseconds or more", error);

  for (letter = dumpi_calls[id].layout; *letter != '\0' && !reader.failed; letter++)
    if (*letter == '(') {
      if (record->scalar[DUMPI_RANK] != record->scalar[DUMPI_ROOT])
        letter = strchr (letter, ')');
    } else if (*letter != ')')
      read_field (&reader, file->version, (mask & MASK_STATUSES) != 0, fields[(guint8) *letter],
                  record);
  *at = reader.at;
  if (reader.failed)
    return fail (file, record, "the record extends past the end of the records", error);
  return TRACE_NEXT_OPERATION;
}

static void
append_all (GArray *completed, guint n)
{
  for (uint32_t i = 0; i < n; i++)
    g_array_append_val (completed, i);
}

void
dumpi_record_completed (const DumpiRecord *record, GArray *completed)
{
  const GArray *indices = record->array[DUMPI_INDICES];
  guint n_requests = record->array[DUMPI_REQUESTS]->len;
  uint32_t index = (uint32_t) record->scalar[DUMPI_INDEX];
  gboolean flag = record->scalar[DUMPI_FLAG] != 0;

  switch (record->id) {
  case DUMPI_ID_WAIT: append_all (completed, 1); break;
  case DUMPI_ID_TEST: append_all (completed, flag ? 1 : 0); break;
  case DUMPI_ID_WAITALL: append_all (completed, n_requests); break;
  case DUMPI_ID_TESTALL: append_all (completed, flag ? n_requests : 0); break;
  case DUMPI_ID_WAITSOME:
  case DUMPI_ID_TESTSOME:
    for (guint i = 0; i < indices->len && (int32_t) i < record->scalar[DUMPI_INDEX]; i++) {
      uint32_t listed = (uint32_t) dumpi_array_at (record, DUMPI_INDICES, i);

      if (listed < n_requests)
        g_array_append_val (completed, listed);
    }
    break;
  case DUMPI_ID_TESTANY:
    if (!flag)
      break;
    /* fall through */
  case DUMPI_ID_WAITANY:
    /* An index outside the list, negative or MPI_UNDEFINED, means none. */
    if (index < n_requests)
      g_array_append_val (completed, index);
    break;
  default: break;
  }
}

const DumpiStatus *
dumpi_record_status (const DumpiRecord *record, guint nth, uint32_t index)
{
  gboolean per_request = record->id == DUMPI_ID_WAITALL || record->id == DUMPI_ID_TESTALL;
  guint at = per_request ? index : nth;

  return at < record->statuses->len ? &g_array_index (record->statuses, DumpiStatus, at) : NULL;
}
