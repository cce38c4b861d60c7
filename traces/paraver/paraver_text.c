/* paraver_text.c - the text of a Paraver trace: lines, header, meaning of its numbers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/paraver/paraver_format.h"
#include "traces/trace_file.h"

#include <string.h>

/* --- Lines and their fields --- */

ParaverText *
paraver_text_open (const char *path, GError **error)
{
  GBytes *bytes = trace_file_load (path, error);
  ParaverText *text;
  gsize n;

  if (bytes == NULL)
    return NULL;
  text = g_new0 (ParaverText, 1);
  text->name = g_path_get_basename (path);
  text->bytes = bytes;
  text->at = g_bytes_get_data (bytes, &n);
  text->end = text->at + n;
  return text;
}

void
paraver_text_close (ParaverText *text)
{
  if (text == NULL)
    return;
  g_bytes_unref (text->bytes);
  g_free (text->name);
  g_free (text);
}

gboolean
paraver_text_next (ParaverText *text)
{
  const char *newline;

  if (text->at == text->end)
    return FALSE;
  newline = memchr (text->at, '\n', (gsize) (text->end - text->at));
  text->line = text->field = text->at;
  text->line_end = newline != NULL ? newline : text->end;
  text->at = newline != NULL ? newline + 1 : text->end;
  if (text->line_end > text->line && text->line_end[-1] == '\r')
    text->line_end--;
  text->number++;
  return TRUE;
}

/* Goes over a number of at most `max` at the field. */
static gboolean
paraver_take_number (ParaverText *text, uint64_t max, uint64_t *value)
{
  const char *begin = text->field;
  uint64_t number = 0;

  for (; text->field < text->line_end && g_ascii_isdigit (*text->field); text->field++) {
    uint64_t digit = (uint64_t) (*text->field - '0');

    if (number > (max - digit) / 10 || digit > max)
      return FALSE;
    number = number * 10 + digit;
  }
  *value = number;
  return text->field > begin;
}

gboolean
paraver_take (ParaverText *text, char c)
{
  if (text->field == text->line_end || *text->field != c)
    return FALSE;
  text->field++;
  return TRUE;
}

gboolean
paraver_take_field (ParaverText *text, uint64_t max, uint64_t *value)
{
  return paraver_take (text, ':') && paraver_take_number (text, max, value);
}

gboolean
paraver_bad_line (const ParaverText *text, TraceError code, const char *what, GError **error)
{
  return TRACE_FAIL (code, error, "%s:%" G_GUINT64_FORMAT ": %s, found \"%.*s\"", text->name,
                     text->number, what, (int) MIN (text->line_end - text->line, 80), text->line);
}

/* --- The first line of a .prv file, and its communicators --- */

/* #Paraver (DATE):TIME[_ns]:NODES[(CPUS,...)]:N:APPLICATION[:APPLICATION...]
 *
 * where an application is TASKS(THREADS:NODE,...)[,COMMUNICATORS].  The date
 * and the applications have colons of their own.  Communicators follow as
 * lines "c:APPLICATION:ID:N:TASK:TASK...".  All are counted from 1. */

#define MAX_APPLICATIONS 65536
#define PS_PER_NS        1000
#define PS_PER_US        1000000

static gboolean
take_text (ParaverText *text, const char *expected)
{
  gsize n = strlen (expected);

  if ((gsize) (text->line_end - text->field) < n || memcmp (text->field, expected, n) != 0)
    return FALSE;
  text->field += n;
  return TRUE;
}

/* Goes over "(...)". */
static gboolean
skip_parenthesis (ParaverText *text)
{
  const char *close;

  if (!paraver_take (text, '('))
    return FALSE;
  close = memchr (text->field, ')', (gsize) (text->line_end - text->field));
  if (close == NULL)
    return FALSE;
  text->field = close + 1;
  return TRUE;
}

/* The applications and their tasks.  Extrae puts a comma, not a colon, between
 * applications; a number without tasks is a number of communicators.  Every task
 * must have its description "threads:node", so that a number alone cannot ask
 * for much memory. */
static gboolean
read_applications (ParaverText *text, ParaverHeader *header)
{
  uint64_t n, claimed, threads, node;

  if (!paraver_take_field (text, MAX_APPLICATIONS, &n))
    return FALSE;
  while (paraver_take (text, ':') || paraver_take (text, ',')) {
    uint32_t n_tasks = 0;

    if (!paraver_take_number (text, PARAVER_MAX_TASKS, &claimed))
      return FALSE;
    if (!paraver_take (text, '('))
      continue;
    do {
      if (!paraver_take_number (text, UINT32_MAX, &threads) ||
          !paraver_take_field (text, UINT32_MAX, &node))
        return FALSE;
      n_tasks++;
    } while (paraver_take (text, ','));
    g_array_append_val (header->tasks, n_tasks);
    if (n_tasks != claimed || !paraver_take (text, ')'))
      return FALSE;
  }
  return header->tasks->len == n && n > 0 && paraver_line_ended (text);
}

static void
comm_free (gpointer data)
{
  ParaverComm *comm = data;

  g_free (comm->members);
  g_clear_pointer (&comm->position, g_hash_table_unref);
  g_clear_pointer (&comm->calls, g_ptr_array_unref);
  g_free (comm);
}

gboolean
paraver_header_read (ParaverText *text, ParaverHeader *header, GError **error)
{
  uint64_t time, n_nodes;
  gboolean good;

  header->tasks = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  header->comms = g_ptr_array_new_with_free_func (comm_free);
  if (!paraver_text_next (text))
    text->line = text->line_end = text->field = text->at;
  good = take_text (text, "#Paraver ") && skip_parenthesis (text) &&
         paraver_take_field (text, UINT64_MAX, &time);
  if (good) {
    header->unit_ps = take_text (text, "_ns") ? PS_PER_NS : PS_PER_US;
    good = time <= (uint64_t) (PARAVER_MAX_PS / header->unit_ps);
  }
  if (good) {
    header->end_ps = (int64_t) time * header->unit_ps;
    good = paraver_take_field (text, UINT32_MAX, &n_nodes) &&
           (text->field == text->line_end || *text->field != '(' || skip_parenthesis (text)) &&
           read_applications (text, header);
  }
  return good || paraver_bad_line (text, TRACE_ERROR_FORMAT,
                                   "expected \"#Paraver (DATE):TIME:NODES(CPUS,...):N:"
                                   "TASKS(THREADS:NODE,...)...\"",
                                   error);
}

gboolean
paraver_comm_read (ParaverText *text, ParaverHeader *header, GError **error)
{
  GArray *members = g_array_new (FALSE, FALSE, sizeof (int32_t));
  ParaverComm *comm = g_new0 (ParaverComm, 1);
  uint64_t application, claimed, task;
  gboolean good;

  g_ptr_array_add (header->comms, comm);
  comm->line = text->number;
  good = paraver_take (text, 'c') && paraver_take_field (text, header->tasks->len, &application) &&
         application > 0 && paraver_take_field (text, UINT64_MAX, &comm->id) &&
         paraver_take_field (text, PARAVER_MAX_TASKS, &claimed) && claimed > 0;
  while (good && paraver_take_field (text, PARAVER_MAX_TASKS, &task) && task > 0) {
    int32_t rank = (int32_t) task - 1;

    g_array_append_val (members, rank);
  }
  comm->n_members = members->len;
  comm->members = (int32_t *) (void *) g_array_free (members, FALSE);
  if (!good || !paraver_line_ended (text) || comm->n_members != claimed)
    return paraver_bad_line (text, TRACE_ERROR_FORMAT,
                             "expected a communicator \"c:APPLICATION:ID:N:TASK:TASK...\"", error);
  comm->application = (uint32_t) application;
  return TRUE;
}

void
paraver_header_clear (ParaverHeader *header)
{
  if (header->tasks != NULL)
    g_array_unref (header->tasks);
  if (header->comms != NULL)
    g_ptr_array_unref (header->comms);
}

/* --- Every MPI call that a Paraver trace can hold --- */

/* The values are those of Extrae, and only used where no .pcf file names them
 * (bsc-performance-tools/extrae, src/merger/paraver/MPI_EventEncoding.h and
 * mpi_prv_events.c at 044e8b2).  Calls that are not in the table move nothing. */

#define CALL(name, value, kind)                                 \
  {                                                             \
    "MPI_" name, value, 0, TRACE_OP_##kind, TRACE_SEND_STANDARD \
  }
#define PART(name, value, kind, part)                              \
  {                                                                \
    "MPI_" name, value, part, TRACE_OP_##kind, TRACE_SEND_STANDARD \
  }
#define SEND(name, value, kind, part, mode)                      \
  {                                                              \
    "MPI_" name, value, part, TRACE_OP_##kind, TRACE_SEND_##mode \
  }

const ParaverCallKind paraver_calls[] = {
  [PARAVER_CALL_UNKNOWN] = { "MPI call", 0, 0, TRACE_OP_CALL, TRACE_SEND_STANDARD },
  SEND ("Send", 1, SEND, PARAVER_SENDS, STANDARD),
  PART ("Recv", 2, RECV, PARAVER_RECEIVES),
  SEND ("Isend", 3, ISEND, PARAVER_SENDS | PARAVER_AT_ONCE, STANDARD),
  PART ("Irecv", 4, IRECV, PARAVER_RECEIVES | PARAVER_AT_ONCE),
  PART ("Wait", 5, WAIT, PARAVER_COMPLETES),
  PART ("Waitall", 6, WAIT, PARAVER_COMPLETES | PARAVER_COMPLETES_ALL),
  CALL ("Bcast", 7, BCAST),
  CALL ("Barrier", 8, BARRIER),
  CALL ("Reduce", 9, REDUCE),
  CALL ("Allreduce", 10, ALLREDUCE),
  CALL ("Alltoall", 11, ALLTOALL),
  CALL ("Alltoallv", 12, ALLTOALLV),
  CALL ("Gather", 13, GATHER),
  CALL ("Gatherv", 14, GATHERV),
  CALL ("Scatter", 15, SCATTER),
  CALL ("Scatterv", 16, SCATTERV),
  CALL ("Allgather", 17, ALLGATHER),
  CALL ("Allgatherv", 18, ALLGATHERV),
  CALL ("Comm_rank", 19, CALL),
  CALL ("Comm_size", 20, CALL),
  CALL ("Comm_create", 21, CALL),
  CALL ("Comm_dup", 22, CALL),
  CALL ("Comm_split", 23, CALL),
  CALL ("Comm_group", 24, CALL),
  CALL ("Comm_free", 25, CALL),
  CALL ("Scan", 30, SCAN),
  CALL ("Exscan", 0, EXSCAN),
  CALL ("Init", 31, INIT),
  CALL ("Init_thread", 0, INIT),
  CALL ("Finalize", 32, FINALIZE),
  SEND ("Bsend", 33, SEND, PARAVER_SENDS, BUFFERED),
  SEND ("Ssend", 34, SEND, PARAVER_SENDS, SYNCHRONOUS),
  SEND ("Rsend", 35, SEND, PARAVER_SENDS, READY),
  SEND ("Ibsend", 36, ISEND, PARAVER_SENDS | PARAVER_AT_ONCE, BUFFERED),
  SEND ("Issend", 37, ISEND, PARAVER_SENDS | PARAVER_AT_ONCE, SYNCHRONOUS),
  SEND ("Irsend", 38, ISEND, PARAVER_SENDS | PARAVER_AT_ONCE, READY),
  PART ("Test", 39, TEST, PARAVER_COMPLETES),
  CALL ("Cancel", 40, CALL),
  PART ("Sendrecv", 41, SENDRECV, PARAVER_SENDS | PARAVER_RECEIVES),
  PART ("Sendrecv_replace", 42, SENDRECV, PARAVER_SENDS | PARAVER_RECEIVES),
  CALL ("Cart_create", 43, CALL),
  CALL ("Cart_sub", 49, CALL),
  PART ("Waitany", 59, WAIT_SOME, PARAVER_COMPLETES),
  PART ("Waitsome", 60, WAIT_SOME, PARAVER_COMPLETES),
  CALL ("Probe", 61, CALL),
  CALL ("Iprobe", 62, CALL),
  CALL ("Win_create", 63, UNSUPPORTED),
  CALL ("Win_free", 64, UNSUPPORTED),
  CALL ("Put", 65, UNSUPPORTED),
  CALL ("Get", 66, UNSUPPORTED),
  CALL ("Accumulate", 67, UNSUPPORTED),
  CALL ("Get_accumulate", 172, UNSUPPORTED),
  CALL ("Win_fence", 68, UNSUPPORTED),
  CALL ("Win_start", 69, UNSUPPORTED),
  CALL ("Win_complete", 70, UNSUPPORTED),
  CALL ("Win_post", 71, UNSUPPORTED),
  CALL ("Win_wait", 72, UNSUPPORTED),
  CALL ("Win_lock", 74, UNSUPPORTED),
  CALL ("Win_unlock", 75, UNSUPPORTED),
  CALL ("Reduce_scatter", 80, REDUCE_SCATTER),
  CALL ("Intercomm_create", 96, UNSUPPORTED),
  CALL ("Intercomm_merge", 97, UNSUPPORTED),
  CALL ("Bsend_init", 112, CALL),
  CALL ("Request_free", 115, CALL),
  CALL ("Recv_init", 116, CALL),
  CALL ("Send_init", 117, CALL),
  CALL ("Rsend_init", 121, CALL),
  CALL ("Ssend_init", 122, CALL),
  PART ("Start", 123, START, PARAVER_STARTS),
  PART ("Startall", 124, START, PARAVER_STARTS),
  PART ("Testall", 125, TEST, PARAVER_COMPLETES),
  PART ("Testany", 126, TEST, PARAVER_COMPLETES),
  PART ("Testsome", 128, TEST, PARAVER_COMPLETES),
  CALL ("Comm_spawn", 151, UNSUPPORTED),
  CALL ("Comm_spawn_multiple", 152, UNSUPPORTED),
  CALL ("Request_get_status", 153, CALL),
  PART ("Ireduce", 154, REDUCE, PARAVER_AT_ONCE),
  PART ("Iallreduce", 155, ALLREDUCE, PARAVER_AT_ONCE),
  PART ("Ibarrier", 156, BARRIER, PARAVER_AT_ONCE),
  PART ("Ibcast", 157, BCAST, PARAVER_AT_ONCE),
  PART ("Ialltoall", 158, ALLTOALL, PARAVER_AT_ONCE),
  PART ("Ialltoallv", 159, ALLTOALLV, PARAVER_AT_ONCE),
  PART ("Iallgather", 160, ALLGATHER, PARAVER_AT_ONCE),
  PART ("Iallgatherv", 161, ALLGATHERV, PARAVER_AT_ONCE),
  PART ("Igather", 162, GATHER, PARAVER_AT_ONCE),
  PART ("Igatherv", 163, GATHERV, PARAVER_AT_ONCE),
  PART ("Iscatter", 164, SCATTER, PARAVER_AT_ONCE),
  PART ("Iscatterv", 165, SCATTERV, PARAVER_AT_ONCE),
  PART ("Ireduce_scatter", 166, REDUCE_SCATTER, PARAVER_AT_ONCE),
  PART ("Iscan", 167, SCAN, PARAVER_AT_ONCE),
  CALL ("Reduce_scatter_block", 168, REDUCE_SCATTER),
  PART ("Ireduce_scatter_block", 169, REDUCE_SCATTER, PARAVER_AT_ONCE),
  CALL ("Alltoallw", 170, ALLTOALLV),
  CALL ("Neighbor_allgather", 0, UNSUPPORTED),
  CALL ("Neighbor_allgatherv", 0, UNSUPPORTED),
  CALL ("Neighbor_alltoall", 0, UNSUPPORTED),
  CALL ("Neighbor_alltoallv", 0, UNSUPPORTED),
  CALL ("Neighbor_alltoallw", 0, UNSUPPORTED),
  CALL ("Ineighbor_allgather", 0, UNSUPPORTED),
  CALL ("Ineighbor_allgatherv", 0, UNSUPPORTED),
  CALL ("Ineighbor_alltoall", 0, UNSUPPORTED),
  CALL ("Ineighbor_alltoallv", 0, UNSUPPORTED),
  CALL ("Ineighbor_alltoallw", 0, UNSUPPORTED),
  PART ("Ialltoallw", 171, ALLTOALLV, PARAVER_AT_ONCE),
};

const uint32_t paraver_n_calls = G_N_ELEMENTS (paraver_calls);

uint32_t
paraver_call_by_value (uint64_t value)
{
  for (uint32_t i = 1; i < paraver_n_calls; i++)
    if (paraver_calls[i].value == value)
      return i;
  return PARAVER_NONE;
}

/* --- Meanings of the numbers of events and values --- */

/* A .pcf file has blocks: EVENT_TYPE, lines "COLOUR TYPE LABEL", VALUES, lines
 * "VALUE LABEL", which belong to all types of the block.  Types are known by
 * their labels; where there is none, by the numbers that Extrae has always
 * given them. */

static const struct {
  const char *label;
  uint64_t type;
} roles[PARAVER_N_ROLES] = {
  [PARAVER_P2P] = { "MPI Point-to-point", 50000001 },
  [PARAVER_COLLECTIVE] = { "MPI Collective Comm", 50000002 },
  [PARAVER_OTHER] = { "MPI Other", 50000003 },
  [PARAVER_ONE_SIDED] = { "MPI One-sided", 50000004 },
  [PARAVER_IO] = { "MPI I/O", 50000005 },
  [PARAVER_SENT] = { "Send Size in MPI Global OP", 50100001 },
  [PARAVER_RECEIVED] = { "Recv Size in MPI Global OP", 50100002 },
  [PARAVER_ROOT] = { "Root in MPI Global OP", 50100003 },
  [PARAVER_COMM] = { "Communicator in MPI Global OP", 50100004 },
  [PARAVER_CALLER] = { "Caller at level 1", 70000001 },
  [PARAVER_CALLER_LINE] = { "Caller line at level 1", 80000001 },
};

static gboolean
take_number_after_blanks (ParaverText *text, uint64_t *value)
{
  while (text->field < text->line_end && (*text->field == ' ' || *text->field == '\t'))
    text->field++;
  return paraver_take_number (text, UINT64_MAX, value);
}

static gboolean
is_keyword (const ParaverText *text, const char *word)
{
  gsize n = (gsize) (text->line_end - text->line);

  while (n > 0 && (text->line[n - 1] == ' ' || text->line[n - 1] == '\t'))
    n--;
  return n == strlen (word) && memcmp (text->line, word, n) == 0;
}

static gboolean
read_pcf (ParaverMeaning *meaning, const char *pcf, GError **error)
{
  g_autoptr (ParaverText) text = paraver_text_open (pcf, error);
  gboolean in_block[PARAVER_N_ROLES] = { FALSE }; /* types of the current block */
  enum { ELSEWHERE, TYPES, VALUES } where = ELSEWHERE;

  if (text == NULL)
    return FALSE;
  while (paraver_text_next (text)) {
    g_autofree char *label = NULL;
    uint64_t colour, value;

    if (is_keyword (text, "EVENT_TYPE")) {
      memset (in_block, 0, sizeof in_block);
      where = TYPES;
      continue;
    }
    if (is_keyword (text, "VALUES") && where == TYPES) {
      where = VALUES;
      continue;
    }
    if (is_keyword (text, "") || !g_ascii_isdigit (*text->line))
      where = ELSEWHERE;
    if (where == ELSEWHERE)
      continue;

    /* "COLOUR TYPE LABEL" or "VALUE LABEL" */
    if ((where == TYPES && !take_number_after_blanks (text, &colour)) ||
        !take_number_after_blanks (text, &value))
      return paraver_bad_line (
          text, TRACE_ERROR_FORMAT,
          where == TYPES ? "expected \"COLOUR TYPE LABEL\"" : "expected \"VALUE LABEL\"", error);
    label = g_strstrip (g_utf8_make_valid (text->field, text->line_end - text->field));
    for (ParaverRole role = 0; role < PARAVER_N_ROLES && where == TYPES; role++)
      if (g_str_equal (label, roles[role].label)) {
        meaning->types[role] = value;
        in_block[role] = TRUE;
      }
    /* Larger values are not of calls. */
    if (where != VALUES || value == 0 || value > UINT32_MAX)
      continue;
    for (ParaverRole group = 0; group < PARAVER_N_GROUPS; group++)
      if (in_block[group]) {
        uint32_t call = 1;

        while (call < paraver_n_calls && !g_str_equal (paraver_calls[call].name, label))
          call++;
        if (call == paraver_n_calls)
          call = PARAVER_CALL_UNKNOWN;
        g_hash_table_insert (meaning->calls[group], GUINT_TO_POINTER ((uint32_t) value),
                             GUINT_TO_POINTER (call + 1));
      }
    if (in_block[PARAVER_CALLER])
      g_hash_table_insert (meaning->callers, GUINT_TO_POINTER ((uint32_t) value), g_strdup (label));
    if (in_block[PARAVER_CALLER_LINE])
      g_hash_table_insert (meaning->lines, GUINT_TO_POINTER ((uint32_t) value), g_strdup (label));
  }
  return TRUE;
}

ParaverMeaning *
paraver_meaning_new (Trace *trace, const char *pcf, GError **error)
{
  ParaverMeaning *meaning = g_new0 (ParaverMeaning, 1);

  for (ParaverRole role = 0; role < PARAVER_N_ROLES; role++)
    meaning->types[role] = roles[role].type;
  for (ParaverRole group = 0; group < PARAVER_N_GROUPS; group++)
    meaning->calls[group] = g_hash_table_new (NULL, NULL);
  meaning->callers = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  meaning->lines = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  meaning->sites = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, g_free);
  meaning->named = pcf != NULL;
  if (pcf == NULL) {
    trace_warn (trace, "no .pcf file beside it: events are taken for those of Extrae");
  } else if (!read_pcf (meaning, pcf, error)) {
    paraver_meaning_free (meaning);
    return NULL;
  }
  return meaning;
}

void
paraver_meaning_free (ParaverMeaning *meaning)
{
  if (meaning == NULL)
    return;
  for (ParaverRole group = 0; group < PARAVER_N_GROUPS; group++)
    g_hash_table_unref (meaning->calls[group]);
  g_hash_table_unref (meaning->callers);
  g_hash_table_unref (meaning->lines);
  g_hash_table_unref (meaning->sites);
  g_free (meaning);
}

const char *
paraver_site (ParaverMeaning *meaning, uint32_t caller, uint32_t line)
{
  const char *label = g_hash_table_lookup (meaning->callers, GUINT_TO_POINTER (caller));
  uint64_t key = (uint64_t) caller << 32 | line;
  const char *place, *open, *comma;
  char *site;

  /* The first labels are for callers that could not be found. */
  if (label == NULL || *label == '\0' || g_str_equal (label, "Unresolved") ||
      g_str_equal (label, "_NOT_Found"))
    return NULL;
  site = g_hash_table_lookup (meaning->sites, &key);
  if (site != NULL)
    return site;

  /* The label of a line is "101 (lulesh-comm.cc, lulesh2.0)". */
  place = g_hash_table_lookup (meaning->lines, GUINT_TO_POINTER (line));
  open = place != NULL ? strchr (place, '(') : NULL;
  comma = open != NULL ? strchr (open, ',') : NULL;
  if (comma == NULL || !g_ascii_isdigit (*place) || *place == '0')
    site = g_strdup (label);
  else
    site = g_strdup_printf ("%s %.*s:%.*s", label, (int) (comma - open - 1), open + 1,
                            (int) strspn (place, "0123456789"), place);
  g_hash_table_insert (meaning->sites, g_memdup2 (&key, sizeof key), site);
  return site;
}
