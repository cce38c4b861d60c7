/* dumpi_windows.c - windows of one-sided communication, and the groups that open them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A record of an access names a window; its communicator is in the record
 * that created it.  MPI_Win_post and MPI_Win_start name a group, whose ranks
 * must be known in that communicator: groups are followed here as lists of
 * ranks of the communicator that they come from, which is enough for the
 * usual ones (of the window's communicator, or included from it). */
#include "traces/dumpi/dumpi_format.h"

/* Whole groups of communicators other than MPI_COMM_WORLD have no list: their
 * size is not in the file. */
typedef struct {
  uint32_t comm;
  GArray *ranks; /* (element-type int32_t); NULL: all */
} Group;

typedef struct {
  uint32_t comm;
  GArray *started, *posted; /* (element-type int32_t); NULL: not open, or not known */
} Window;

struct DumpiWindows {
  uint32_t n_ranks;
  GHashTable *windows; /* handle -> Window */
  GHashTable *groups;  /* handle -> Group */
};

static void
group_free (gpointer data)
{
  Group *group = data;

  g_clear_pointer (&group->ranks, g_array_unref);
  g_free (group);
}

static void
window_free (gpointer data)
{
  Window *window = data;

  g_clear_pointer (&window->started, g_array_unref);
  g_clear_pointer (&window->posted, g_array_unref);
  g_free (window);
}

DumpiWindows *
dumpi_windows_new (uint32_t n_ranks)
{
  DumpiWindows *windows = g_new (DumpiWindows, 1);

  windows->n_ranks = n_ranks;
  windows->windows = g_hash_table_new_full (NULL, NULL, NULL, window_free);
  windows->groups = g_hash_table_new_full (NULL, NULL, NULL, group_free);
  return windows;
}

void
dumpi_windows_free (DumpiWindows *windows)
{
  if (windows == NULL)
    return;
  g_hash_table_unref (windows->windows);
  g_hash_table_unref (windows->groups);
  g_free (windows);
}

static Group *
find_group (const DumpiWindows *windows, uint32_t handle)
{
  return g_hash_table_lookup (windows->groups, GUINT_TO_POINTER (handle));
}

/* Takes the list. */
static void
bind_group (DumpiWindows *windows, uint32_t handle, uint32_t comm, GArray *ranks)
{
  Group *group = g_new (Group, 1);

  *group = (Group){ comm, ranks };
  g_hash_table_insert (windows->groups, GUINT_TO_POINTER (handle), group);
}

static GArray *
new_list (void)
{
  return g_array_new (FALSE, FALSE, sizeof (int32_t));
}

/* Makes the list of a whole group; FALSE when it cannot be known. */
static gboolean
has_list (const DumpiWindows *windows, Group *group)
{
  if (group->ranks != NULL)
    return TRUE;
  if (group->comm != TRACE_COMM_WORLD)
    return FALSE;
  group->ranks = new_list ();
  for (int32_t rank = 0; rank < (int32_t) windows->n_ranks; rank++)
    g_array_append_val (group->ranks, rank);
  return TRUE;
}

/* Appends the member at a place of a group; FALSE when there is none. */
static gboolean
append_member (const Group *group, int32_t place, GArray *list)
{
  if (place < 0 || (group->ranks != NULL && place >= (int32_t) group->ranks->len))
    return FALSE;
  if (group->ranks != NULL)
    place = g_array_index (group->ranks, int32_t, place);
  g_array_append_val (list, place);
  return TRUE;
}

static gboolean
include (const Group *group, const TraceOp *op, GArray *list)
{
  for (uint32_t i = 0; i < op->n_values; i++)
    if (!append_member (group, op->values[i], list))
      return FALSE;
  return TRUE;
}

/* No list is longer than there are ranks, whatever a range says. */
static gboolean
include_ranges (const DumpiWindows *windows, const Group *group, const TraceOp *op, GArray *list)
{
  for (uint32_t i = 0; i + 2 < op->n_values; i += 3) {
    int64_t first = op->values[i], last = op->values[i + 1], stride = op->values[i + 2];

    if (stride == 0)
      return FALSE;
    for (int64_t at = first; stride > 0 ? at <= last : at >= last; at += stride)
      if (list->len >= windows->n_ranks || !append_member (group, (int32_t) at, list))
        return FALSE;
  }
  return TRUE;
}

static gboolean
exclude (const DumpiWindows *windows, Group *group, const TraceOp *op, GArray *list)
{
  g_autoptr (GHashTable) left_out = g_hash_table_new (NULL, NULL);

  if (!has_list (windows, group))
    return FALSE;
  for (uint32_t i = 0; i < op->n_values; i++)
    g_hash_table_add (left_out, GINT_TO_POINTER (op->values[i]));
  for (int32_t i = 0; i < (int32_t) group->ranks->len; i++)
    if (!g_hash_table_contains (left_out, GINT_TO_POINTER (i)))
      append_member (group, i, list);
  return TRUE;
}

/* A group made of a known one; others are forgotten, and accesses that need
 * them are not supported. */
static void
derive_group (DumpiWindows *windows, const TraceOp *op)
{
  Group *group = find_group (windows, op->group);
  GArray *list = new_list ();
  gboolean known = FALSE;

  if (group != NULL && op->kind == TRACE_OP_GROUP_INCL)
    known = include (group, op, list);
  else if (group != NULL && op->kind == TRACE_OP_GROUP_RANGE_INCL)
    known = include_ranges (windows, group, op, list);
  else if (group != NULL && op->kind == TRACE_OP_GROUP_EXCL)
    known = exclude (windows, group, op, list);
  if (known)
    bind_group (windows, op->new_group, group->comm, g_steal_pointer (&list));
  else
    g_hash_table_remove (windows->groups, GUINT_TO_POINTER (op->new_group));
  g_clear_pointer (&list, g_array_unref);
}

static gboolean
is_of_comm (gpointer handle, gpointer group, gpointer comm)
{
  (void) handle;
  return ((Group *) group)->comm == GPOINTER_TO_UINT (comm);
}

void
dumpi_windows_note (DumpiWindows *windows, const TraceOp *op)
{
  if (op->kind == TRACE_OP_COMM_GROUP)
    bind_group (windows, op->new_group, op->comm, NULL);
  else if (op->kind == TRACE_OP_GROUP_FREE)
    g_hash_table_remove (windows->groups, GUINT_TO_POINTER (op->group));
  else if (op->kind > TRACE_OP_COMM_GROUP && op->kind < TRACE_OP_GROUP_FREE)
    derive_group (windows, op);
  else if (op->kind >= TRACE_OP_COMM_DUP && op->kind <= TRACE_OP_GRAPH_CREATE)
    /* The handle may have been another communicator's before. */
    g_hash_table_foreach_remove (windows->groups, is_of_comm, GUINT_TO_POINTER (op->new_comm));
}

/* The ranks of a group in the communicator of a window, or NULL. */
static GArray *
list_group (const DumpiWindows *windows, uint32_t handle, uint32_t comm)
{
  Group *group = find_group (windows, handle);

  if (handle == TRACE_GROUP_EMPTY)
    return new_list ();
  if (group == NULL || group->comm != comm || !has_list (windows, group))
    return NULL;
  return g_array_ref (group->ranks);
}

static gboolean
use_list (TraceOp *op, const GArray *list)
{
  if (list == NULL)
    return FALSE;
  op->values = (const int32_t *) (void *) list->data;
  op->n_values = list->len;
  return TRUE;
}

static void
replace_list (GArray **list, GArray *with)
{
  g_clear_pointer (list, g_array_unref);
  *list = with;
}

static void
bind_window (DumpiWindows *windows, const TraceOp *op)
{
  Window *window = g_new0 (Window, 1);

  window->comm = op->comm;
  g_hash_table_insert (windows->windows, GUINT_TO_POINTER (op->window), window);
}

gboolean
dumpi_windows_use (DumpiWindows *windows, TraceOp *op)
{
  Window *window;

  if (op->kind == TRACE_OP_WIN_CREATE) {
    bind_window (windows, op);
    return TRUE;
  }
  window = g_hash_table_lookup (windows->windows, GUINT_TO_POINTER (op->window));
  if (window == NULL)
    return FALSE;
  op->comm = window->comm;
  if (op->kind == TRACE_OP_WIN_START)
    replace_list (&window->started, list_group (windows, op->group, window->comm));
  if (op->kind == TRACE_OP_WIN_POST)
    replace_list (&window->posted, list_group (windows, op->group, window->comm));
  if (op->kind == TRACE_OP_WIN_START || op->kind == TRACE_OP_WIN_COMPLETE)
    return use_list (op, window->started);
  if (op->kind == TRACE_OP_WIN_POST || op->kind == TRACE_OP_WIN_WAIT)
    return use_list (op, window->posted);
  if (op->kind == TRACE_OP_WIN_FREE)
    g_hash_table_remove (windows->windows, GUINT_TO_POINTER (op->window));
  return TRUE;
}
