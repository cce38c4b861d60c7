/* paraver_header.c - the first line of a .prv file, and its communicators.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *   #Paraver (DATE):TIME[_ns]:NODES[(CPUS,...)]:N:APPLICATION[:APPLICATION...]
 *
 * where an application is TASKS(THREADS:NODE,...)[,COMMUNICATORS].  The date
 * and the applications have colons of their own.  Communicators follow as
 * lines "c:APPLICATION:ID:N:TASK:TASK...".  All are counted from 1. */
#include "traces/paraver/paraver_format.h"

#include <string.h>

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

/* Goes behind the next closing parenthesis. */
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

static gboolean
read_time (ParaverText *text, ParaverHeader *header)
{
  uint64_t time;

  if (!paraver_take_field (text, UINT64_MAX, &time))
    return FALSE;
  header->unit_ps = take_text (text, "_ns") ? PS_PER_NS : PS_PER_US;
  if (time > (uint64_t) (PARAVER_MAX_PS / header->unit_ps))
    return FALSE;
  header->end_ps = (int64_t) time * header->unit_ps;
  return TRUE;
}

static gboolean
read_nodes (ParaverText *text)
{
  uint64_t n;

  return paraver_take_field (text, UINT32_MAX, &n) &&
         (text->field == text->line_end || *text->field != '(' || skip_parenthesis (text));
}

/* "threads:node" */
static gboolean
read_task (ParaverText *text)
{
  uint64_t threads, node;

  return paraver_take_number (text, UINT32_MAX, &threads) &&
         paraver_take_field (text, UINT32_MAX, &node);
}

/* The part in parentheses.  There must be as many descriptions of tasks as
 * there are said to be, so that a number alone cannot ask for much memory. */
static gboolean
read_tasks (ParaverText *text, ParaverHeader *header, uint64_t claimed)
{
  uint32_t n = 0;

  do {
    if (!read_task (text))
      return FALSE;
    n++;
  } while (paraver_take (text, ','));
  g_array_append_val (header->tasks, n);
  return n == claimed && paraver_take (text, ')');
}

/* Extrae puts a comma, not a colon, between applications; a number without
 * tasks is one of communicators. */
static gboolean
read_applications (ParaverText *text, ParaverHeader *header)
{
  uint64_t n, count;

  if (!paraver_take_field (text, MAX_APPLICATIONS, &n))
    return FALSE;
  while (paraver_take (text, ':') || paraver_take (text, ',')) {
    if (!paraver_take_number (text, PARAVER_MAX_TASKS, &count))
      return FALSE;
    if (paraver_take (text, '(') && !read_tasks (text, header, count))
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
  header->tasks = g_array_new (FALSE, FALSE, sizeof (uint32_t));
  header->comms = g_ptr_array_new_with_free_func (comm_free);
  if (!paraver_text_next (text))
    text->line = text->line_end = text->field = text->at;
  if (take_text (text, "#Paraver ") && skip_parenthesis (text) && read_time (text, header) &&
      read_nodes (text) && read_applications (text, header))
    return TRUE;
  return paraver_bad_line (text, TRACE_ERROR_FORMAT,
                           "expected \"#Paraver (DATE):TIME:NODES(CPUS,...):N:"
                           "TASKS(THREADS:NODE,...)...\"",
                           error);
}

static gboolean
read_members (ParaverText *text, ParaverComm *comm, uint64_t claimed)
{
  GArray *members = g_array_new (FALSE, FALSE, sizeof (int32_t));
  uint64_t task;

  while (paraver_take_field (text, PARAVER_MAX_TASKS, &task) && task > 0) {
    int32_t rank = (int32_t) task - 1;

    g_array_append_val (members, rank);
  }
  comm->n_members = members->len;
  comm->members = (int32_t *) (void *) g_array_free (members, FALSE);
  return paraver_line_ended (text) && comm->n_members == claimed && claimed > 0;
}

gboolean
paraver_comm_read (ParaverText *text, ParaverHeader *header, GError **error)
{
  ParaverComm *comm = g_new0 (ParaverComm, 1);
  uint64_t application, claimed;

  g_ptr_array_add (header->comms, comm);
  comm->line = text->number;
  if (!paraver_take (text, 'c') || !paraver_take_field (text, header->tasks->len, &application) ||
      application == 0 || !paraver_take_field (text, UINT64_MAX, &comm->id) ||
      !paraver_take_field (text, PARAVER_MAX_TASKS, &claimed) ||
      !read_members (text, comm, claimed))
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
