/* recorder_calls.c - the beginning, the end, and calls that only cost time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Local calls that are not here (sizes, types, groups, attributes) count as
 * computation. */
#include "traces/recorder/recorder_wrap.h"

#define REAL(name) ((__typeof__ (&MPI_##name)) recorder_real ("PMPI_" #name))

int
MPI_Init (int *argc, char ***argv)
{
  int64_t enter_ns = recorder_now_ns ();
  int code = REAL (Init) (argc, argv);

  if (code == MPI_SUCCESS)
    recorder_start ("MPI_Init", __builtin_return_address (0), enter_ns);
  return code;
}
PROFILED (Init)

int
MPI_Init_thread (int *argc, char ***argv, int required, int *provided)
{
  int64_t enter_ns = recorder_now_ns ();
  int code = REAL (Init_thread) (argc, argv, required, provided);

  if (code == MPI_SUCCESS)
    recorder_start ("MPI_Init_thread", __builtin_return_address (0), enter_ns);
  return code;
}
PROFILED (Init_thread)

int
MPI_Finalize (void)
{
  WRAP_BEGIN (Finalize, ());
  int code;

  call.op.kind = TRACE_OP_FINALIZE;
  recorder_save ();
  code = real ();
  recorder_leave (&call, code);
  recorder_finish ();
  return code;
}
PROFILED (Finalize)

/* It does not return. */
int
MPI_Abort (MPI_Comm comm, int code)
{
  recorder_save ();
  return REAL (Abort) (comm, code);
}
PROFILED (Abort)

/* --- What a replay cannot do --- */

WRAP (Comm_spawn,
      (const char *command, char *argv[], int n, MPI_Info info, int root, MPI_Comm comm,
       MPI_Comm *made, int codes[]),
      (command, argv, n, info, root, comm, made, codes), op->kind = TRACE_OP_UNSUPPORTED)
WRAP (Comm_spawn_multiple,
      (int n_commands, char *commands[], char **argvs[], const int n[], const MPI_Info infos[],
       int root, MPI_Comm comm, MPI_Comm *made, int codes[]),
      (n_commands, commands, argvs, n, infos, root, comm, made, codes),
      op->kind = TRACE_OP_UNSUPPORTED)
WRAP (Comm_accept, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
      (port, info, root, comm, made), op->kind = TRACE_OP_UNSUPPORTED)
WRAP (Comm_connect, (const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *made),
      (port, info, root, comm, made), op->kind = TRACE_OP_UNSUPPORTED)

/* --- What waits without moving anything between ranks --- */

WRAP (Buffer_detach, (void *buffer, int *size), (buffer, size))

/* --- Files --- */

WRAP (File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file),
      (comm, name, mode, info, file))
WRAP (File_close, (MPI_File * file), (file))
WRAP (File_delete, (const char *name, MPI_Info info), (name, info))
WRAP (File_sync, (MPI_File file), (file))
WRAP (File_set_size, (MPI_File file, MPI_Offset size), (file, size))
WRAP (File_preallocate, (MPI_File file, MPI_Offset size), (file, size))
WRAP (File_get_size, (MPI_File file, MPI_Offset *size), (file, size))
WRAP (File_seek, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))
WRAP (File_seek_shared, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence))
WRAP (File_set_view,
      (MPI_File file, MPI_Offset place, MPI_Datatype unit, MPI_Datatype type, const char *format,
       MPI_Info info),
      (file, place, unit, type, format, info))

/* in: const or nothing; last: what the call gives back, a status or a request. */
#define FILE_ACCESS(name, in, last)                                               \
  WRAP (name, (MPI_File file, in void *data, int count, MPI_Datatype type, last), \
        (file, data, count, type, result))
#define FILE_ACCESS_AT(name, in, last)                                                        \
  WRAP (name,                                                                                 \
        (MPI_File file, MPI_Offset place, in void *data, int count, MPI_Datatype type, last), \
        (file, place, data, count, type, result))
#define FILE_BEGIN(name, in)                                                \
  WRAP (name, (MPI_File file, in void *data, int count, MPI_Datatype type), \
        (file, data, count, type))
#define FILE_BEGIN_AT(name, in)                                                               \
  WRAP (name, (MPI_File file, MPI_Offset place, in void *data, int count, MPI_Datatype type), \
        (file, place, data, count, type))
#define FILE_END(name, in) \
  WRAP (name, (MPI_File file, in void *data, MPI_Status *status), (file, data, status))

FILE_ACCESS (File_read, , MPI_Status *result)
FILE_ACCESS (File_read_all, , MPI_Status *result)
FILE_ACCESS (File_read_shared, , MPI_Status *result)
FILE_ACCESS (File_read_ordered, , MPI_Status *result)
FILE_ACCESS (File_iread, , MPI_Request *result)
FILE_ACCESS (File_iread_all, , MPI_Request *result)
FILE_ACCESS (File_iread_shared, , MPI_Request *result)
FILE_ACCESS (File_write, const, MPI_Status *result)
FILE_ACCESS (File_write_all, const, MPI_Status *result)
FILE_ACCESS (File_write_shared, const, MPI_Status *result)
FILE_ACCESS (File_write_ordered, const, MPI_Status *result)
FILE_ACCESS (File_iwrite, const, MPI_Request *result)
FILE_ACCESS (File_iwrite_all, const, MPI_Request *result)
FILE_ACCESS (File_iwrite_shared, const, MPI_Request *result)
FILE_ACCESS_AT (File_read_at, , MPI_Status *result)
FILE_ACCESS_AT (File_read_at_all, , MPI_Status *result)
FILE_ACCESS_AT (File_iread_at, , MPI_Request *result)
FILE_ACCESS_AT (File_iread_at_all, , MPI_Request *result)
FILE_ACCESS_AT (File_write_at, const, MPI_Status *result)
FILE_ACCESS_AT (File_write_at_all, const, MPI_Status *result)
FILE_ACCESS_AT (File_iwrite_at, const, MPI_Request *result)
FILE_ACCESS_AT (File_iwrite_at_all, const, MPI_Request *result)
FILE_BEGIN (File_read_all_begin, )
FILE_BEGIN (File_read_ordered_begin, )
FILE_BEGIN (File_write_all_begin, const)
FILE_BEGIN (File_write_ordered_begin, const)
FILE_BEGIN_AT (File_read_at_all_begin, )
FILE_BEGIN_AT (File_write_at_all_begin, const)
FILE_END (File_read_all_end, )
FILE_END (File_read_ordered_end, )
FILE_END (File_read_at_all_end, )
FILE_END (File_write_all_end, const)
FILE_END (File_write_ordered_end, const)
FILE_END (File_write_at_all_end, const)
