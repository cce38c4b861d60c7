/* ti_arguments.c - the arguments of a line of a time-independent trace.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/ti/ti_arguments.h"

#include "traces/format.h"

#include <math.h>
#include <string.h>

/* Beyond it a count is a mistake: no machine has the memory, and times the
 * largest datatype it would take a link hours. */
#define MAX_COUNT 1e12

/* SimGrid's numbers for wildcards and nobody, see its smpi.h. */
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

TiArguments *
ti_arguments_new (Trace *trace, uint32_t n_ranks)
{
  TiArguments *arguments = g_new (TiArguments, 1);

  *arguments = (TiArguments){ .trace = trace,
                              .n_ranks = n_ranks,
                              .default_bytes = type_bytes[TI_TYPE_BYTE] };
  return arguments;
}

void
ti_arguments_free (TiArguments *arguments)
{
  g_free (arguments);
}

uint64_t
ti_type_bytes (TiType type)
{
  return type >= 0 ? type_bytes[type] : 0;
}

static gboolean
is_blank (char c)
{
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Moves the tokens together, so that one '\0' is between them: a million ranks
 * may have no array of tokens each. */
void
ti_arguments_split (TiArguments *arguments, char *text)
{
  char *end = text;

  arguments->next = text;
  arguments->left = 0;
  for (const char *c = text; *c != '\0';) {
    if (is_blank (*c)) {
      c++;
      continue;
    }
    while (*c != '\0' && !is_blank (*c))
      *end++ = *c++;
    c += *c != '\0';
    *end++ = '\0';
    arguments->left++;
  }
}

const char *
ti_arguments_next (TiArguments *arguments)
{
  const char *token = arguments->next;

  if (arguments->left == 0)
    return NULL;
  if (--arguments->left > 0)
    arguments->next += strlen (token) + 1;
  return token;
}

void
ti_arguments_skip (TiArguments *arguments)
{
  arguments->left = 0;
}

guint
ti_arguments_left (const TiArguments *arguments)
{
  return arguments->left;
}

gboolean
ti_line_error (GError **error, TraceError code, const char *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  if (error != NULL)
    *error = g_error_new_valist (TRACE_ERROR, (gint) code, format, arguments);
  va_end (arguments);
  return FALSE;
}

/* Most numbers are whole and short enough to be exact. */
static double
parse_number (const char *token, const char **end)
{
  const char *c = token;
  uint64_t value = 0;
  char *float_end;
  double number;

  for (; g_ascii_isdigit (*c) && c < token + 15; c++)
    value = 10 * value + (uint64_t) (*c - '0');
  *end = c;
  if (*c == '\0')
    return (double) value;
  number = g_ascii_strtod (token, &float_end);
  *end = float_end;
  return number;
}

gboolean
ti_take_number (TiArguments *arguments, const char *what, double *value, GError **error)
{
  const char *token = ti_arguments_next (arguments), *end;

  if (token == NULL)
    return ti_line_error (error, TRACE_ERROR_FORMAT, "the %s is missing", what);
  *value = parse_number (token, &end);
  if (end == token || *end != '\0' || !isfinite (*value))
    return ti_line_error (error, TRACE_ERROR_FORMAT, "expected a number as %s, found \"%s\"", what,
                          token);
  return TRUE;
}

/* Integers may be written like 1e6, and are cut to their whole part. */
gboolean
ti_take_integer (TiArguments *arguments, const char *what, double max, int64_t *value,
                 GError **error)
{
  double number;

  if (!ti_take_number (arguments, what, &number, error))
    return FALSE;
  if (fabs (number) > max)
    return ti_line_error (error, TRACE_ERROR_RANGE, "%s %g is impossible", what, number);
  *value = (int64_t) number;
  return TRUE;
}

/* A count that may be negative. */
gboolean
ti_take_length (TiArguments *arguments, const char *what, int64_t *length, GError **error)
{
  return ti_take_integer (arguments, what, MAX_COUNT, length, error);
}

gboolean
ti_take_count (TiArguments *arguments, const char *what, uint64_t *count, GError **error)
{
  int64_t value = 0;

  if (!ti_take_length (arguments, what, &value, error))
    return FALSE;
  if (value < 0)
    return ti_line_error (error, TRACE_ERROR_RANGE, "%s %" G_GINT64_FORMAT " is negative", what,
                          value);
  *count = (uint64_t) value;
  return TRUE;
}

gboolean
ti_take_tag (TiArguments *arguments, int32_t *tag, GError **error)
{
  int64_t value = 0;

  if (!ti_take_integer (arguments, "tag", G_MAXINT32, &value, error))
    return FALSE;
  *tag = value == TI_ANY_TAG ? TRACE_ANY_TAG : (int32_t) value;
  return TRUE;
}

/* A rank of MPI_COMM_WORLD, or what SimGrid writes for nobody and, when
 * `wildcard`, for anybody. */
gboolean
ti_take_rank (TiArguments *arguments, const char *what, gboolean wildcard, int32_t *rank,
              GError **error)
{
  int64_t value = 0;

  if (!ti_take_integer (arguments, what, G_MAXINT32, &value, error))
    return FALSE;
  if (value == TI_PROC_NULL)
    *rank = TRACE_PROC_NULL;
  else if (wildcard && (value == TI_ANY_SOURCE || value == TRACE_ANY_SOURCE))
    *rank = TRACE_ANY_SOURCE;
  else if (value < 0 || value >= arguments->n_ranks)
    return ti_line_error (error, TRACE_ERROR_RANGE,
                          "%s %" G_GINT64_FORMAT " is not one of %u ranks", what, value,
                          arguments->n_ranks);
  else
    *rank = (int32_t) value;
  return TRUE;
}

/* A datatype that may be left out.  User datatypes have codes that nothing
 * explains, and get the default, as in SimGrid. */
gboolean
ti_take_type (TiArguments *arguments, uint64_t *bytes, GError **error)
{
  int64_t type = 0;

  *bytes = arguments->default_bytes;
  if (ti_arguments_left (arguments) == 0)
    return TRUE;
  if (!ti_take_integer (arguments, "datatype", G_MAXINT32, &type, error))
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

gboolean
ti_take_types (TiArguments *arguments, uint64_t *send_bytes, uint64_t *recv_bytes, GError **error)
{
  return ti_take_type (arguments, send_bytes, error) && ti_take_type (arguments, recv_bytes, error);
}

gboolean
ti_take_root (TiArguments *arguments, int32_t *root, GError **error)
{
  *root = 0;
  if (ti_arguments_left (arguments) == 0)
    return TRUE;
  if (!ti_take_rank (arguments, "root", FALSE, root, error))
    return FALSE;
  if (*root < 0)
    return ti_line_error (error, TRACE_ERROR_RANGE, "nobody is the root");
  return TRUE;
}

/* Work of a reduction.  The tracer writes -1 where it did not measure. */
gboolean
ti_take_work (TiArguments *arguments, double *flops, GError **error)
{
  if (!ti_take_number (arguments, "amount of work", flops, error))
    return FALSE;
  *flops = MAX (*flops, 0);
  return TRUE;
}

gboolean
ti_take_counts (TiArguments *arguments, const char *what, uint64_t **counts, GError **error)
{
  if (*counts == NULL)
    *counts = g_new (uint64_t, arguments->n_ranks);
  for (uint32_t rank = 0; rank < arguments->n_ranks; rank++)
    if (!ti_take_count (arguments, what, &(*counts)[rank], error))
      return FALSE;
  return TRUE;
}
