/* ti_line.c - one line of a time-independent trace into an operation.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/ti/ti_private.h"

#include "base/decimal.h"
#include "traces/format.h"
#include "traces/trace.h"

#include <math.h>
#include <string.h>

/* --- Words --- */

/* A line is read where it stands in the trace, and ends with a line feed or, as a C string would,
 * with a NUL. */
static inline gboolean
is_end (char c)
{
  return c == '\n' || c == '\0';
}

static inline gboolean
is_in_word (char c)
{
  return (guchar) c > ' ' || !(ti_is_blank (c) || is_end (c));
}

static inline const char *
skip_blanks (const char *c)
{
  while (ti_is_blank (*c))
    c++;
  return c;
}

static inline const char *
skip_word (const char *c)
{
  while (is_in_word (*c))
    c++;
  return c;
}

/* --- Arguments --- */

/* Each take_*() reads the next argument; `what` names it in the error.  The
 * errors of a line have no place: the caller adds it. */
typedef enum { TI_TYPE_NULL = -1, TI_TYPE_DOUBLE = 0, TI_TYPE_BYTE = 6 } TiType;

typedef struct {
  Trace *trace; /* for warnings */
  uint32_t n_ranks;
  uint64_t default_bytes; /* of a datatype that is not given, or unknown */
  const char *next;       /* the word to be read next, or the end of the line; borrowed */
} TiArguments;

/* A larger count is a mistake: no machine has the memory, and times the largest
 * datatype it would take a link hours. */
#define MAX_COUNT INT64_C (1000000000000)

/* As many digits make a whole number that a double has exactly. */
#define PLAIN_DIGITS 15

/* SimGrid's numbers for wildcards and MPI_PROC_NULL, see its smpi.h. */
enum { TI_ANY_SOURCE = -555, TI_ANY_TAG = -444, TI_PROC_NULL = -666 };

/* Bytes of the datatypes by their codes in SimGrid 3.32. */
static const uint8_t type_bytes[] = {
  [0] = 8,   /* double */
  [1] = 4,   /* int */
  [2] = 1,   /* char */
  [3] = 2,   /* short */
  [4] = 8,   /* long */
  [5] = 4,   /* float */
  [6] = 1,   /* byte */
  [7] = 8,   /* long long */
  [8] = 1,   /* signed char */
  [9] = 1,   /* unsigned char */
  [10] = 2,  /* unsigned short */
  [11] = 4,  /* unsigned */
  [12] = 8,  /* unsigned long */
  [13] = 8,  /* unsigned long long */
  [14] = 16, /* long double */
  [15] = 4,  /* wchar */
  [16] = 1,  /* C bool */
  [17] = 1,  /* int8 */
  [18] = 2,  /* int16 */
  [19] = 4,  /* int32 */
  [20] = 8,  /* int64 */
  [21] = 1,  /* uint8 */
  [22] = 2,  /* uint16 */
  [23] = 4,  /* uint32 */
  [24] = 8,  /* uint64 */
  [25] = 8,  /* float complex */
  [26] = 16, /* double complex */
  [27] = 32, /* long double complex */
  [28] = 8,  /* aint */
  [29] = 8,  /* offset */
  [30] = 8,  /* float int */
  [31] = 16, /* long int */
  [32] = 16, /* double int */
  [33] = 8,  /* short int */
  [34] = 8,  /* 2int */
  [35] = 8,  /* 2float */
  [36] = 16, /* 2double */
  [37] = 16, /* 2long */
  [38] = 4,  /* real */
  [39] = 4,  /* real4 */
  [40] = 8,  /* real8 */
  [41] = 16, /* real16 */
  [42] = 8,  /* complex8 */
  [43] = 16, /* complex16 */
  [44] = 32, /* complex32 */
  [45] = 4,  /* integer1 (sic) */
  [46] = 2,  /* integer2 */
  [47] = 4,  /* integer4 */
  [48] = 8,  /* integer8 */
  [49] = 16, /* integer16 */
  [50] = 32, /* long double int */
  [51] = 1,  /* C++ bool */
  [52] = 8,  /* C++ float complex */
  [53] = 16, /* C++ double complex */
  [54] = 32, /* C++ long double complex */
  [55] = 0,  /* UB */
  [56] = 0,  /* LB */
  [57] = 1,  /* packed */
  [58] = 8,  /* pointer */
  [59] = 8,  /* count */
};

static gboolean
has_argument (const TiArguments *arguments)
{
  return !is_end (*arguments->next);
}

static uint32_t
count_arguments (const TiArguments *arguments)
{
  uint32_t n = 0;

  for (const char *c = arguments->next; !is_end (*c); c = skip_blanks (skip_word (c)))
    n++;
  return n;
}

static void
skip_arguments (TiArguments *arguments)
{
  while (!is_end (*arguments->next))
    arguments->next++;
}

/* A number without sign, point and exponent, as nearly all are, up to `max`.  FALSE when the
 * argument is anything else: it is still the next one then. */
static inline gboolean
take_plain (TiArguments *arguments, int64_t max, int64_t *value)
{
  const char *c = arguments->next;
  uint64_t whole = 0;
  guint digit;

  for (; (digit = (guint) *c - '0') < 10; c++)
    whole = 10 * whole + digit;
  if (c == arguments->next || c > arguments->next + PLAIN_DIGITS || is_in_word (*c) ||
      whole > (uint64_t) max)
    return FALSE;
  *value = (int64_t) whole;
  arguments->next = skip_blanks (c);
  return TRUE;
}

/* A number in any of the forms that strtod() reads. */
static gboolean
take_any_number (TiArguments *arguments, const char *what, double *value, GError **error)
{
  const char *word = arguments->next, *end = skip_word (word);

  if (!has_argument (arguments))
    return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "the %s is missing", what);
  if (base_decimal (word, value) != end) {
    /* Hexadecimal, a name of infinity, or no number. */
    g_autofree char *text = g_strndup (word, (gsize) (end - word));
    char *text_end;

    *value = g_ascii_strtod (text, &text_end);
    if (*text_end != '\0')
      *value = NAN;
  }
  if (!isfinite (*value)) {
    g_autofree char *text = g_strndup (word, (gsize) (end - word));

    return TRACE_FAIL (TRACE_ERROR_FORMAT, error, "expected a number as %s, found \"%s\"", what,
                       text);
  }
  arguments->next = skip_blanks (end);
  return TRUE;
}

static gboolean
take_number (TiArguments *arguments, const char *what, double *value, GError **error)
{
  int64_t whole;

  if (!take_plain (arguments, G_MAXINT64, &whole))
    return take_any_number (arguments, what, value, error);
  *value = (double) whole;
  return TRUE;
}

/* At most `max` in either direction.  Integers may be written like 1e6, and are
 * cut to their whole part. */
static inline gboolean
take_integer (TiArguments *arguments, const char *what, int64_t max, int64_t *value, GError **error)
{
  double number;

  if (take_plain (arguments, max, value))
    return TRUE;
  if (!take_any_number (arguments, what, &number, error))
    return FALSE;
  if (fabs (number) > (double) max)
    return TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s %g is impossible", what, number);
  *value = (int64_t) number;
  return TRUE;
}

static gboolean
take_count (TiArguments *arguments, const char *what, uint64_t *count, GError **error)
{
  int64_t value = 0;

  if (!take_integer (arguments, what, MAX_COUNT, &value, error))
    return FALSE;
  if (value < 0)
    return TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s %" G_GINT64_FORMAT " is negative", what,
                       value);
  *count = (uint64_t) value;
  return TRUE;
}

static gboolean
take_tag (TiArguments *arguments, int32_t *tag, GError **error)
{
  int64_t value = 0;

  if (!take_integer (arguments, "tag", G_MAXINT32, &value, error))
    return FALSE;
  *tag = value == TI_ANY_TAG ? TRACE_ANY_TAG : (int32_t) value;
  return TRUE;
}

/* A rank of MPI_COMM_WORLD, or SimGrid's number for MPI_PROC_NULL and, when
 * `wildcard`, for MPI_ANY_SOURCE. */
static gboolean
take_rank (TiArguments *arguments, const char *what, gboolean wildcard, int32_t *rank,
           GError **error)
{
  int64_t value = 0;

  if (!take_integer (arguments, what, G_MAXINT32, &value, error))
    return FALSE;
  if (value == TI_PROC_NULL)
    *rank = TRACE_PROC_NULL;
  else if (wildcard && (value == TI_ANY_SOURCE || value == TRACE_ANY_SOURCE))
    *rank = TRACE_ANY_SOURCE;
  else if (value < 0 || value >= arguments->n_ranks)
    return TRACE_FAIL (TRACE_ERROR_RANGE, error, "%s %" G_GINT64_FORMAT " is not one of %u ranks",
                       what, value, arguments->n_ranks);
  else
    *rank = (int32_t) value;
  return TRUE;
}

/* A datatype that may be left out.  User datatypes have codes without a
 * definition, and get the default, as in SimGrid. */
static gboolean
take_type (TiArguments *arguments, uint64_t *bytes, GError **error)
{
  int64_t type = 0;

  *bytes = arguments->default_bytes;
  if (!has_argument (arguments))
    return TRUE;
  if (!take_integer (arguments, "datatype", G_MAXINT32, &type, error))
    return FALSE;
  if (type >= 0 && type < (int64_t) G_N_ELEMENTS (type_bytes))
    *bytes = type_bytes[type];
  else if (type == TI_TYPE_NULL)
    *bytes = 0;
  else
    trace_warn (arguments->trace,
                "datatype %" G_GINT64_FORMAT " is not known: taken for the default", type);
  return TRUE;
}

static gboolean
take_types (TiArguments *arguments, uint64_t *send_bytes, uint64_t *recv_bytes, GError **error)
{
  return take_type (arguments, send_bytes, error) && take_type (arguments, recv_bytes, error);
}

/* A root may be left out at the end of a line. */
static gboolean
take_root (TiArguments *arguments, int32_t *root, GError **error)
{
  *root = 0;
  if (!has_argument (arguments))
    return TRUE;
  if (!take_rank (arguments, "root", FALSE, root, error))
    return FALSE;
  if (*root < 0)
    return TRACE_FAIL (TRACE_ERROR_RANGE, error, "nobody is the root");
  return TRUE;
}

/* Work of a reduction.  The tracer writes -1 where it did not measure. */
static gboolean
take_work (TiArguments *arguments, double *flops, GError **error)
{
  if (!take_number (arguments, "amount of work", flops, error))
    return FALSE;
  *flops = MAX (*flops, 0);
  return TRUE;
}

/* One for each rank; *counts is allocated when it is NULL. */
static gboolean
take_counts (TiArguments *arguments, const char *what, uint64_t **counts, GError **error)
{
  if (*counts == NULL)
    *counts = g_new (uint64_t, arguments->n_ranks);
  for (uint32_t rank = 0; rank < arguments->n_ranks; rank++)
    if (!take_count (arguments, what, &(*counts)[rank], error))
      return FALSE;
  return TRUE;
}

/* --- One line of a time-independent trace into an operation --- */

/* The actions and their arguments are those of SimGrid 3.32's replayer and its
 * tracer, which writes a few more. */

#define PS_PER_SECOND 1e12

struct TiLines {
  Trace *trace;
  uint32_t rank, n_ranks;
  TiArguments arguments;
  TiRequests *requests;
  uint32_t request;               /* target of an operation's requests[] */
  uint32_t completed;             /* target of its completed[] */
  uint64_t *counts, *recv_counts; /* [n_ranks], made when first needed */
  uint64_t n_collectives;
  gboolean finalized;
  gboolean is_old; /* names of SimGrid 3.19 were seen */
};

typedef struct {
  const char *action; /* lower case; compared without case: 3.19 and before wrote allReduce */
  gsize length;
  const char *name;
  TraceOpKind kind;
  TraceSendMode mode;
  gboolean (*read) (TiLines *lines, TraceOp *op, double *flops, GError **error);
} TiAction;

static void
set_counts (TiLines *lines, TraceOp *op, uint64_t bytes)
{
  for (uint32_t i = 0; i < lines->n_ranks; i++)
    lines->counts[i] *= bytes;
  op->counts = lines->counts;
  op->n_counts = lines->n_ranks;
}

static void
set_recv_counts (TiLines *lines, TraceOp *op, uint64_t bytes)
{
  for (uint32_t i = 0; i < lines->n_ranks; i++)
    lines->recv_counts[i] *= bytes;
  op->recv_counts = lines->recv_counts;
  op->n_recv_counts = lines->n_ranks;
}

static gboolean
is_root (const TiLines *lines, const TraceOp *op)
{
  return op->root == (int32_t) lines->rank;
}

static gboolean
read_nothing (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  (void) op, (void) flops, (void) error;
  skip_arguments (&lines->arguments);
  return TRUE;
}

/* Any argument makes the default datatype double, none byte. */
static gboolean
read_init (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  lines->arguments.default_bytes =
      type_bytes[has_argument (&lines->arguments) ? TI_TYPE_DOUBLE : TI_TYPE_BYTE];
  return read_nothing (lines, op, flops, error);
}

static gboolean
read_finalize (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  lines->finalized = TRUE;
  return read_nothing (lines, op, flops, error);
}

static gboolean
read_comm (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  /* Begins as TRACE_WARNING_NO_COMMUNICATORS when a communicator is split. */
  trace_warn (lines->trace,
              "communicators are not in this format: %s was called, and what was "
              "done in its result appears as if done in MPI_COMM_WORLD",
              op->name);
  return read_nothing (lines, op, flops, error);
}

static gboolean
read_some (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  trace_warn (lines->trace,
              "%s: the format does not tell which requests it completed: taken for "
              "a call without effect",
              op->name);
  return read_nothing (lines, op, flops, error);
}

static gboolean
read_compute (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  (void) flops;
  if (!take_number (&lines->arguments, "amount of work", &op->flops, error))
    return FALSE;
  if (op->flops < 0)
    return TRACE_FAIL (TRACE_ERROR_RANGE, error, "amount of work %g is negative", op->flops);
  return TRUE;
}

static gboolean
read_sleep (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  double seconds;

  (void) flops;
  if (!take_number (&lines->arguments, "time", &seconds, error))
    return FALSE;
  /* A million seconds are more than a job lasts, and far from overflow. */
  if (!(seconds >= 0 && seconds <= 1e6))
    return TRACE_FAIL (TRACE_ERROR_RANGE, error, "time %g s is impossible", seconds);
  op->gap_ps = (int64_t) (seconds * PS_PER_SECOND);
  return TRUE;
}

/* peer tag count [type]; before 3.20 there was no tag. */
static gboolean
take_message (TiLines *lines, gboolean receives, TraceOp *op, int64_t *count, uint64_t *bytes,
              GError **error)
{
  TiArguments *arguments = &lines->arguments;
  gboolean tagged;

  if (!take_rank (arguments, receives ? "source" : "destination", receives, &op->peer, error))
    return FALSE;
  /* The tag is not there when one argument is left, the count. */
  tagged = !has_argument (arguments) || !is_end (*skip_blanks (skip_word (arguments->next)));
  return (!tagged || take_tag (arguments, &op->tag, error)) &&
         take_integer (arguments, "count", MAX_COUNT, count, error) &&
         take_type (arguments, bytes, error);
}

static gboolean
read_send (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  int64_t count = 0;
  uint64_t bytes = 0;

  (void) flops;
  if (!take_message (lines, FALSE, op, &count, &bytes, error))
    return FALSE;
  if (count < 0)
    return TRACE_FAIL (TRACE_ERROR_RANGE, error, "count %" G_GINT64_FORMAT " is negative", count);
  op->bytes = (uint64_t) count * bytes;
  if (op->kind == TRACE_OP_ISEND)
    op->request =
        ti_requests_start (lines->requests, (TiTriple){ (int32_t) lines->rank, op->peer, op->tag });
  return TRUE;
}

/* With a negative count the sender decides the length. */
static gboolean
read_recv (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  int64_t count = 0;
  uint64_t bytes = 0;

  (void) flops;
  if (!take_message (lines, TRUE, op, &count, &bytes, error))
    return FALSE;
  op->bytes = count < 0 ? TRACE_UNKNOWN_BYTES : (uint64_t) count * bytes;
  if (op->peer >= 0)
    op->matched_source = op->peer;
  if (op->kind == TRACE_OP_IRECV)
    op->request =
        ti_requests_start (lines->requests, (TiTriple){ op->peer, (int32_t) lines->rank, op->tag });
  return TRUE;
}

static gboolean
read_sendrecv (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t send_bytes, recv_bytes;

  (void) flops;
  if (!take_count (&lines->arguments, "count sent", &op->bytes, error) ||
      !take_rank (&lines->arguments, "destination", FALSE, &op->peer, error) ||
      !take_count (&lines->arguments, "count received", &op->recv_bytes, error) ||
      !take_rank (&lines->arguments, "source", TRUE, &op->recv_peer, error) ||
      !take_types (&lines->arguments, &send_bytes, &recv_bytes, error))
    return FALSE;
  op->bytes *= send_bytes;
  op->recv_bytes *= recv_bytes;
  if (op->recv_peer >= 0)
    op->matched_source = op->recv_peer;
  return TRUE;
}

/* The request of a wait or a test; the format has no results of tests. */
static gboolean
use_request (TiLines *lines, TraceOp *op, gboolean found)
{
  if (!found) {
    trace_warn (lines->trace, "waits for requests that are not under way are passed over");
    op->kind = TRACE_OP_CALL;
    return TRUE;
  }
  op->requests = &lines->request;
  op->n_requests = 1;
  if (op->kind == TRACE_OP_TEST)
    trace_warn (lines->trace, "the format does not tell which tests succeeded: taken for none");
  else {
    op->completed = &lines->completed;
    op->n_completed = 1;
  }
  return TRUE;
}

static gboolean
read_wait (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  gboolean wait = op->kind == TRACE_OP_WAIT;
  TiTriple triple;

  (void) flops;
  if (wait && !has_argument (&lines->arguments))
    return use_request (lines, op, ti_requests_take_last (lines->requests, &lines->request));
  return take_rank (&lines->arguments, "source", TRUE, &triple.source, error) &&
         take_rank (&lines->arguments, "destination", FALSE, &triple.destination, error) &&
         take_tag (&lines->arguments, &triple.tag, error) &&
         use_request (lines, op, ti_requests_find (lines->requests, triple, wait, &lines->request));
}

static gboolean
read_waitall (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  ti_requests_forget (lines->requests);
  return read_nothing (lines, op, flops, error);
}

/* count [root [type]] */
static gboolean
read_bcast (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t count = 0, bytes;

  (void) flops;
  if (!take_count (&lines->arguments, "count", &count, error) ||
      !take_root (&lines->arguments, &op->root, error) ||
      !take_type (&lines->arguments, &bytes, error))
    return FALSE;
  op->bytes = count * bytes;
  return TRUE;
}

/* count flops [root [type]] */
static gboolean
read_reduce (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t count = 0, bytes;

  if (!take_count (&lines->arguments, "count", &count, error) ||
      !take_work (&lines->arguments, flops, error) ||
      !take_root (&lines->arguments, &op->root, error) ||
      !take_type (&lines->arguments, &bytes, error))
    return FALSE;
  op->bytes = count * bytes;
  return TRUE;
}

/* count flops [type]: allreduce, scan, exscan */
static gboolean
read_allreduce (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t count = 0, bytes;

  if (!take_count (&lines->arguments, "count", &count, error) ||
      !take_work (&lines->arguments, flops, error) || !take_type (&lines->arguments, &bytes, error))
    return FALSE;
  op->bytes = count * bytes;
  return TRUE;
}

/* scount rcount [root] [stype rtype]: with a root for gather and scatter */
static gboolean
read_exchange (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  gboolean rooted = op->kind == TRACE_OP_GATHER || op->kind == TRACE_OP_SCATTER;
  uint64_t send_bytes, recv_bytes;

  (void) flops;
  if (!take_count (&lines->arguments, "count sent", &op->bytes, error) ||
      !take_count (&lines->arguments, "count received", &op->recv_bytes, error) ||
      (rooted && !take_root (&lines->arguments, &op->root, error)) ||
      !take_types (&lines->arguments, &send_bytes, &recv_bytes, error))
    return FALSE;
  op->bytes *= send_bytes;
  op->recv_bytes *= recv_bytes;
  /* MPI_IN_PLACE has no datatype. */
  if (!rooted && send_bytes == 0)
    op->bytes = op->recv_bytes;
  return TRUE;
}

/* scount r0..rN-1 [root [stype rtype]] */
static gboolean
read_gatherv (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t send_bytes, recv_bytes;

  (void) flops;
  if (!take_count (&lines->arguments, "count sent", &op->bytes, error) ||
      !take_counts (&lines->arguments, "count received", &lines->recv_counts, error) ||
      !take_root (&lines->arguments, &op->root, error) ||
      !take_types (&lines->arguments, &send_bytes, &recv_bytes, error))
    return FALSE;
  op->bytes *= send_bytes;
  if (is_root (lines, op))
    set_recv_counts (lines, op, recv_bytes);
  return TRUE;
}

/* s0..sN-1 rcount [root [stype rtype]] */
static gboolean
read_scatterv (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t send_bytes, recv_bytes;

  (void) flops;
  if (!take_counts (&lines->arguments, "count sent", &lines->counts, error) ||
      !take_count (&lines->arguments, "count received", &op->recv_bytes, error) ||
      !take_root (&lines->arguments, &op->root, error) ||
      !take_types (&lines->arguments, &send_bytes, &recv_bytes, error))
    return FALSE;
  op->recv_bytes *= recv_bytes;
  if (is_root (lines, op))
    set_counts (lines, op, send_bytes);
  return TRUE;
}

/* scount r0..rN-1 [stype rtype] [N displacements] */
static gboolean
read_allgatherv (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t send_bytes = lines->arguments.default_bytes, recv_bytes = lines->arguments.default_bytes;
  uint32_t n_more;

  (void) flops;
  if (!take_count (&lines->arguments, "count sent", &op->bytes, error) ||
      !take_counts (&lines->arguments, "count received", &lines->recv_counts, error))
    return FALSE;
  n_more = count_arguments (&lines->arguments);
  if ((n_more == 2 || n_more == lines->n_ranks + 2) &&
      !take_types (&lines->arguments, &send_bytes, &recv_bytes, error))
    return FALSE;
  if (n_more == lines->n_ranks || n_more == lines->n_ranks + 2)
    skip_arguments (&lines->arguments);
  op->bytes *= send_bytes;
  set_recv_counts (lines, op, recv_bytes);
  return TRUE;
}

/* size s0..sN-1 size r0..rN-1 [stype rtype], the sizes being of the buffers */
static gboolean
read_alltoallv (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t buffer, send_bytes, recv_bytes;

  (void) flops;
  if (!take_count (&lines->arguments, "size of the buffer", &buffer, error) ||
      !take_counts (&lines->arguments, "count sent", &lines->counts, error) ||
      !take_count (&lines->arguments, "size of the buffer", &buffer, error) ||
      !take_counts (&lines->arguments, "count received", &lines->recv_counts, error) ||
      !take_types (&lines->arguments, &send_bytes, &recv_bytes, error))
    return FALSE;
  set_counts (lines, op, send_bytes);
  set_recv_counts (lines, op, recv_bytes);
  return TRUE;
}

/* r0..rN-1 flops [type] */
static gboolean
read_reduce_scatter (TiLines *lines, TraceOp *op, double *flops, GError **error)
{
  uint64_t bytes;

  if (!take_counts (&lines->arguments, "count", &lines->recv_counts, error) ||
      !take_work (&lines->arguments, flops, error) || !take_type (&lines->arguments, &bytes, error))
    return FALSE;
  set_recv_counts (lines, op, bytes);
  return TRUE;
}

#define ACTION(action, name, kind, read)                                        \
  {                                                                             \
    action, sizeof action - 1, name, TRACE_OP_##kind, TRACE_SEND_STANDARD, read \
  }
#define SEND(action, name, kind, mode)                                             \
  {                                                                                \
    action, sizeof action - 1, name, TRACE_OP_##kind, TRACE_SEND_##mode, read_send \
  }

/* The actions by their first letters, frequent ones first; lists end with an action without a
 * name. */
static const TiAction a_actions[] = {
  ACTION ("allreduce", "MPI_Allreduce", ALLREDUCE, read_allreduce),
  ACTION ("alltoall", "MPI_Alltoall", ALLTOALL, read_exchange),
  ACTION ("alltoallv", "MPI_Alltoallv", ALLTOALLV, read_alltoallv),
  ACTION ("allgather", "MPI_Allgather", ALLGATHER, read_exchange),
  ACTION ("allgatherv", "MPI_Allgatherv", ALLGATHERV, read_allgatherv),
  { 0 },
};
static const TiAction b_actions[] = {
  ACTION ("bcast", "MPI_Bcast", BCAST, read_bcast),
  ACTION ("barrier", "MPI_Barrier", BARRIER, read_nothing),
  SEND ("bsend", "MPI_Bsend", SEND, BUFFERED),
  { 0 },
};
static const TiAction c_actions[] = {
  ACTION ("compute", "compute", COMPUTE, read_compute),
  ACTION ("comm_size", "MPI_Comm_size", CALL, read_nothing),
  ACTION ("comm_split", "MPI_Comm_split", CALL, read_comm),
  ACTION ("comm_dup", "MPI_Comm_dup", CALL, read_comm),
  { 0 },
};
static const TiAction e_actions[] = {
  ACTION ("exscan", "MPI_Exscan", EXSCAN, read_allreduce),
  { 0 },
};
static const TiAction f_actions[] = {
  ACTION ("finalize", "MPI_Finalize", FINALIZE, read_finalize),
  { 0 },
};
static const TiAction g_actions[] = {
  ACTION ("gather", "MPI_Gather", GATHER, read_exchange),
  ACTION ("gatherv", "MPI_Gatherv", GATHERV, read_gatherv),
  { 0 },
};
static const TiAction i_actions[] = {
  SEND ("isend", "MPI_Isend", ISEND, STANDARD),
  ACTION ("irecv", "MPI_Irecv", IRECV, read_recv),
  ACTION ("init", "MPI_Init", INIT, read_init),
  SEND ("ibsend", "MPI_Ibsend", ISEND, BUFFERED),
  SEND ("issend", "MPI_Issend", ISEND, SYNCHRONOUS),
  SEND ("irsend", "MPI_Irsend", ISEND, READY),
  { 0 },
};
static const TiAction l_actions[] = {
  ACTION ("location", NULL, CALL, read_nothing),
  { 0 },
};
static const TiAction r_actions[] = {
  ACTION ("recv", "MPI_Recv", RECV, read_recv),
  ACTION ("reduce", "MPI_Reduce", REDUCE, read_reduce),
  ACTION ("reducescatter", "MPI_Reduce_scatter", REDUCE_SCATTER, read_reduce_scatter),
  SEND ("rsend", "MPI_Rsend", SEND, READY),
  { 0 },
};
static const TiAction s_actions[] = {
  SEND ("send", "MPI_Send", SEND, STANDARD),
  ACTION ("sendrecv", "MPI_Sendrecv", SENDRECV, read_sendrecv),
  SEND ("ssend", "MPI_Ssend", SEND, SYNCHRONOUS),
  ACTION ("sleep", "compute", COMPUTE, read_sleep),
  ACTION ("scan", "MPI_Scan", SCAN, read_allreduce),
  ACTION ("scatter", "MPI_Scatter", SCATTER, read_exchange),
  ACTION ("scatterv", "MPI_Scatterv", SCATTERV, read_scatterv),
  /* Persistent requests: the tracer does not write what they are. */
  ACTION ("start", "MPI_Start", UNSUPPORTED, read_nothing),
  ACTION ("startall", "MPI_Startall", UNSUPPORTED, read_nothing),
  { 0 },
};
static const TiAction t_actions[] = {
  ACTION ("test", "MPI_Test", TEST, read_wait),
  ACTION ("testany", "MPI_Testany", CALL, read_some),
  ACTION ("testall", "MPI_Testall", CALL, read_some),
  ACTION ("testsome", "MPI_Testsome", CALL, read_some),
  { 0 },
};
static const TiAction w_actions[] = {
  ACTION ("wait", "MPI_Wait", WAIT, read_wait),
  ACTION ("waitall", "MPI_Waitall", WAIT_OUTSTANDING, read_waitall),
  ACTION ("waitany", "MPI_Waitany", CALL, read_some),
  ACTION ("waitsome", "MPI_Waitsome", CALL, read_some),
  { 0 },
};

#define LETTER(letter) [(letter) - 'a']

static const TiAction *const actions[] = {
  LETTER ('a') = a_actions, LETTER ('b') = b_actions, LETTER ('c') = c_actions,
  LETTER ('e') = e_actions, LETTER ('f') = f_actions, LETTER ('g') = g_actions,
  LETTER ('i') = i_actions, LETTER ('l') = l_actions, LETTER ('r') = r_actions,
  LETTER ('s') = s_actions, LETTER ('t') = t_actions, LETTER ('w') = w_actions,
};

TiLines *
ti_lines_new (Trace *trace, uint32_t rank, uint32_t n_ranks)
{
  TiLines *lines = g_new0 (TiLines, 1);

  lines->trace = trace;
  lines->rank = rank;
  lines->n_ranks = n_ranks;
  lines->requests = ti_requests_new ();
  lines->arguments.trace = trace;
  lines->arguments.n_ranks = n_ranks;
  lines->arguments.default_bytes = type_bytes[TI_TYPE_BYTE];
  return lines;
}

void
ti_lines_free (TiLines *lines)
{
  if (lines == NULL)
    return;
  ti_requests_free (lines->requests);
  g_free (lines->counts);
  g_free (lines->recv_counts);
  g_free (lines);
}

uint64_t
ti_lines_collectives (const TiLines *lines)
{
  return lines->n_collectives;
}

gboolean
ti_lines_finalized (const TiLines *lines)
{
  return lines->finalized;
}

/* Whether `word` is the action in any case; *is_plain: in lower case. */
static inline gboolean
is_named (const TiAction *action, const char *word, gsize length, gboolean *is_plain)
{
  if (action->length != length)
    return FALSE;
  *is_plain = TRUE;
  for (gsize i = 0; i < length; i++)
    if (word[i] != action->action[i]) {
      if ((word[i] | 0x20) != action->action[i]) /* which maps capitals to small letters */
        return FALSE;
      *is_plain = FALSE;
    }
  return TRUE;
}

static inline const TiAction *
find_exactly (const char *word, gsize length, gboolean *is_plain)
{
  guint letter = (guint) (word[0] | 0x20) - 'a';

  if (letter >= G_N_ELEMENTS (actions) || actions[letter] == NULL)
    return NULL;
  for (const TiAction *action = actions[letter]; action->action != NULL; action++)
    if (is_named (action, word, length, is_plain))
      return action;
  return NULL;
}

/* Any spelling of an action, with warnings about those that lose something; NULL: unknown. */
static const TiAction *
find_action (TiLines *lines, const char *word, gsize length)
{
  /* Names that only SimGrid 3.19 and before wrote.  Their messages had no tags;
   * a line of three arguments cannot be told from one of today. */
  static const char *const old[] = { "Isend",    "Irecv",     "waitAll",   "allReduce",
                                     "allToAll", "allGather", "allToAllV", "allGatherV" };
  gboolean is_plain;
  const TiAction *action = find_exactly (word, length, &is_plain);

  if (action != NULL && is_plain)
    return action;
  for (guint i = 0; !lines->is_old && i < G_N_ELEMENTS (old); i++)
    if (strlen (old[i]) == length && memcmp (old[i], word, length) == 0) {
      lines->is_old = TRUE;
      trace_warn (lines->trace, "actions of SimGrid 3.19 or before: messages of three arguments "
                                "are read as peer, tag and count; convert the trace if they had "
                                "no tags");
    }
  /* Nonblocking collectives have no request in this format, so that nothing can
   * wait for them: they become blocking. */
  if (action == NULL && (word[0] == 'i' || word[0] == 'I')) {
    action = find_exactly (word + 1, length - 1, &is_plain);
    if (action != NULL && !trace_op_is_collective (action->kind))
      action = NULL;
    if (action != NULL)
      trace_warn (lines->trace, "%.*s: nothing tells when it was waited for: taken as blocking",
                  (int) length, word);
  }
  return action;
}

TiLine
ti_lines_read (TiLines *lines, const char **text, TraceOp *op, double *flops, GError **error)
{
  TiArguments *arguments = &lines->arguments;
  const char *word = skip_blanks (*text), *end = skip_word (word);
  const TiAction *action;

  *text = word;
  if (is_end (*word)) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "the action is missing");
    return TI_LINE_ERROR;
  }
  action = find_action (lines, word, (gsize) (end - word));
  if (action == NULL) {
    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "unknown action");
    return TI_LINE_ERROR;
  }
  arguments->next = skip_blanks (end);
  *flops = 0;
  trace_op_init (op, action->kind, action->name);
  op->mode = action->mode;
  if (!action->read (lines, op, flops, error))
    return TI_LINE_ERROR;
  *text = arguments->next;
  if (has_argument (arguments)) {
    g_autofree char *surplus =
        g_strndup (arguments->next, (gsize) (skip_word (arguments->next) - arguments->next));

    g_set_error (error, TRACE_ERROR, TRACE_ERROR_FORMAT, "too many arguments, from \"%s\" on",
                 surplus);
    return TI_LINE_ERROR;
  }
  lines->n_collectives += trace_op_is_collective (op->kind);
  return action->name == NULL ? TI_LINE_NOTHING : TI_LINE_OPERATION;
}
