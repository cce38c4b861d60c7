/* paraver_format.h - data and functions that the parts of the Paraver reader share; private.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A .prv file is a text: a header, communicators, then records of all tasks
 * in the order of time.  States (1:) are ignored; events (2:) have the begins
 * and ends of MPI calls; communications (3:) have the messages, with the times
 * when they were sent, posted and completed, but not the calls that did so.
 *
 *   paraver_text.c     lines and fields, the header, the meaning of numbers
 *   paraver_records.c  records into calls and messages; matches calls with messages, and calls
 *                      of different ranks with each other as collectives
 *   paraver.c          calls into operations; files and streams
 *
 * All calls and messages are kept in memory: 64 bytes per MPI call, 48 per
 * message and 12 per call that has to do with a message. */
#pragma once

#include "traces/format.h"

/* Times are below this many picoseconds, so that they can be added. */
#define PARAVER_MAX_PS (INT64_MAX / 4)
/* More tasks than any machine has: a larger number is a mistake. */
#define PARAVER_MAX_TASKS (1u << 24)
/* More bytes than any call moves. */
#define PARAVER_MAX_BYTES (UINT64_C (1) << 48)
#define PARAVER_NONE      UINT32_MAX

/* A text in memory, at a line and at a field of it. */
typedef struct {
  char *name; /* without its folder, for messages */
  GBytes *bytes;
  const char *at, *end;        /* the rest of the text */
  const char *line, *line_end; /* the line last read */
  const char *field;           /* the rest of the line */
  uint64_t number;             /* of the line, from 1 */
} ParaverText;

ParaverText *paraver_text_open (const char *path, GError **error);
void paraver_text_close (ParaverText *text);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (ParaverText, paraver_text_close)
/* Goes to the next line; FALSE at the end. */
gboolean paraver_text_next (ParaverText *text);
/* Goes over a character; FALSE when there is another one. */
gboolean paraver_take (ParaverText *text, char c);
/* A number and the colon before it. */
gboolean paraver_take_field (ParaverText *text, uint64_t max, uint64_t *value);
static inline gboolean
paraver_line_ended (const ParaverText *text)
{
  return text->field == text->line_end;
}
/* Sets the error of a line that cannot be read.  Always FALSE. */
gboolean
paraver_bad_line (const ParaverText *text, TraceError code, const char *what, GError **error);

/* A communicator as the header gives it. */
typedef struct {
  uint32_t application; /* from 1 */
  uint64_t id;
  uint64_t line;
  int32_t *members; /* tasks from 0: the ranks */
  uint32_t n_members;
  gboolean used;        /* by a collective of the application that is read */
  uint32_t handle;      /* TRACE_COMM_WORLD, or one of its own */
  GHashTable *position; /* of ranks among the members; when used */
  GPtrArray *calls;     /* (element-type GArray of uint32_t) per member; when used */
} ParaverComm;

typedef struct {
  int64_t unit_ps; /* of times */
  int64_t end_ps;
  GArray *tasks;    /* (element-type uint32_t) per application */
  GPtrArray *comms; /* (element-type ParaverComm) */
} ParaverHeader;

gboolean paraver_header_read (ParaverText *text, ParaverHeader *header, GError **error);
/* A line "c:..."; FALSE and *error when it is wrong. */
gboolean paraver_comm_read (ParaverText *text, ParaverHeader *header, GError **error);
void paraver_header_clear (ParaverHeader *header);

/* The meaning of types of events.  The first of them are groups of MPI calls:
 * their values are the call that begins, 0 for its end. */
typedef enum {
  PARAVER_P2P,
  PARAVER_COLLECTIVE,
  PARAVER_OTHER,
  PARAVER_ONE_SIDED,
  PARAVER_IO,
  PARAVER_N_GROUPS,
  PARAVER_SENT = PARAVER_N_GROUPS,
  PARAVER_RECEIVED,
  PARAVER_ROOT,
  PARAVER_COMM,
  PARAVER_CALLER,
  PARAVER_CALLER_LINE,
  PARAVER_N_ROLES,
} ParaverRole;

typedef struct {
  uint64_t types[PARAVER_N_ROLES];
  GHashTable *calls[PARAVER_N_GROUPS]; /* value -> index into paraver_calls[] + 1 */
  gboolean named;                      /* by a .pcf */
  GHashTable *callers, *lines;         /* value -> label */
  GHashTable *sites;                   /* of callers and lines; see paraver_site() */
} ParaverMeaning;

/* Reads the .pcf; without one (NULL) the numbers are the standard ones. */
ParaverMeaning *paraver_meaning_new (Trace *trace, const char *pcf, GError **error);
void paraver_meaning_free (ParaverMeaning *meaning);
/* The call site for the values of a caller and its line, as in
 * "CommSend lulesh-comm.cc:101"; NULL when it is unknown.  Lives as long as the
 * meaning. */
const char *paraver_site (ParaverMeaning *meaning, uint32_t caller, uint32_t line);
/* PARAVER_N_ROLES for other types. */
static inline ParaverRole
paraver_role (const ParaverMeaning *meaning, uint64_t type)
{
  ParaverRole role = 0;

  while (role < PARAVER_N_ROLES && meaning->types[role] != type)
    role++;
  return role;
}

/* How a call takes part in messages; a call may have several. */
enum {
  PARAVER_SENDS = 1,
  PARAVER_RECEIVES = 2,
  PARAVER_STARTS = 4,    /* persistent requests, any number */
  PARAVER_COMPLETES = 8, /* one request */
  PARAVER_COMPLETES_ALL = 16,
  PARAVER_AT_ONCE = 32, /* returns before the message has moved */
};

typedef struct {
  const char *name;
  uint16_t value; /* that Extrae gives it */
  uint8_t part;   /* of the above */
  TraceOpKind kind;
  TraceSendMode mode;
} ParaverCallKind;

extern const ParaverCallKind paraver_calls[];
extern const uint32_t paraver_n_calls;
/* The index of the call with a standard value; PARAVER_NONE: no such call. */
uint32_t paraver_call_by_value (uint64_t value);
/* Stands for all calls that are not in the table. */
#define PARAVER_CALL_UNKNOWN 0

typedef struct {
  int64_t begin_ps, end_ps;
  uint64_t line;                   /* where it begins */
  uint64_t sent_bytes, recv_bytes; /* of a collective */
  const char *site;                /* of the trace; or NULL */
  uint32_t comm;                   /* index of a collective's communicator, or none */
  uint32_t nth;                    /* collective of it */
  int32_t root;                    /* rank in it, or TRACE_NO_ROOT */
  uint16_t kind;                   /* index into paraver_calls[] */
  uint8_t is_root;                 /* by the record */
  uint8_t taken;                   /* PARAVER_SENDS, _RECEIVES: has its message */
} ParaverCall;

G_STATIC_ASSERT (sizeof (ParaverCall) == 64);

typedef struct {
  int64_t sent_ps, posted_ps, completed_ps;
  uint64_t bytes;
  uint32_t sender, receiver; /* ranks */
  int32_t tag;
} ParaverMessage;

/* The part of a call in a message. */
typedef enum { PARAVER_MATCH_SEND, PARAVER_MATCH_POST, PARAVER_MATCH_COMPLETE } ParaverMatchRole;

typedef struct {
  uint32_t call, message;
  ParaverMatchRole role;
} ParaverMatch;

typedef struct {
  GArray *calls;    /* (element-type ParaverCall), in order */
  GArray *matches;  /* (element-type ParaverMatch), by call */
  int64_t begin_ps; /* of the stream: end of a call that was cut, or of the window */
  int64_t end_ps;   /* of the stream */
  gboolean cut;     /* the first call is not whole */
} ParaverRank;

typedef struct {
  Trace *trace;
  const TraceOptions *options; /* while opening */
  char *name;                  /* of the .prv, without its folder */
  ParaverHeader header;
  ParaverMeaning *meaning;
  uint32_t application; /* that is read, from 1 */
  uint32_t n_ranks;
  ParaverRank *ranks;
  GArray *messages; /* (element-type ParaverMessage) */
  uint32_t world;   /* index of the communicator of all, once it was looked for; or none */
} ParaverState;

static inline ParaverCall *
paraver_call_at (const ParaverRank *rank, uint32_t call)
{
  return &g_array_index (rank->calls, ParaverCall, call);
}

static inline const ParaverCallKind *
paraver_kind (const ParaverCall *call)
{
  return &paraver_calls[call->kind];
}

/* Chooses the application and reads its records. */
gboolean paraver_records_read (ParaverState *state, ParaverText *text, GError **error);
/* Finds the calls of the messages; messages without their calls are left out. */
void paraver_messages_match (ParaverState *state);
/* Finds the roots; collectives that are not on all members do nothing. */
gboolean paraver_collectives_match (ParaverState *state, GError **error);
/* The call of another member in the same collective. */
const ParaverCall *
paraver_partner (const ParaverState *state, const ParaverCall *call, uint32_t member);
