/* recorder_mpi.c - finds the MPI that the program uses.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recorder.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

RecorderMpi recorder_mpi;

/* Goes over the loaded libraries until the MPI is found. */
static int
is_mpi (struct dl_phdr_info *info, size_t size, void *data)
{
  const char **found = data;
  const char *base = strrchr (info->dlpi_name, '/');

  (void) size;
  if (base == NULL ||
      (strncmp (base, "/libmpi.so", 10) != 0 && strncmp (base, "/libmpich.so", 12) != 0))
    return 0;
  *found = info->dlpi_name;
  return 1;
}

/* A program that loads its MPI late, such as an interpreter, may keep it to
 * itself; then it is not what comes next. */
static void *
find_symbol (void *where, const char *name)
{
  void *symbol = dlsym (where, name);
  const char *path = NULL;
  void *library;

  if (symbol != NULL)
    return symbol;
  dl_iterate_phdr (is_mpi, &path);
  if (path == NULL || (library = dlopen (path, RTLD_LAZY | RTLD_NOLOAD)) == NULL)
    return NULL;
  symbol = dlsym (library, name);
  dlclose (library);
  return symbol;
}

static void *
must_find (void *where, const char *name)
{
  void *symbol = find_symbol (where, name);

  if (symbol == NULL) {
    fprintf (stderr, "hopcast recorder: no %s in this program's MPI\n", name);
    _exit (1);
  }
  return symbol;
}

void *
recorder_real (const char *name)
{
  return must_find (RTLD_NEXT, name);
}

/* Handles have another size in another MPI: nothing good would come of it. */
static void
check_implementation (void)
{
#ifdef OPEN_MPI
  bool good = find_symbol (RTLD_DEFAULT, "ompi_mpi_comm_world") != NULL;
  static const char other[] = "mpich";
#else
  bool good = find_symbol (RTLD_DEFAULT, "ompi_mpi_comm_world") == NULL;
  static const char other[] = "openmpi";
#endif

  if (good)
    return;
  fprintf (stderr,
           "hopcast recorder: the program uses another MPI than the recorder was built for; "
           "try --mpi %s\n",
           other);
  _exit (1);
}

/* An object of the MPI, which a program may have its own copy of: then that is
 * the one that all use. */
#ifdef OPEN_MPI
static void *
real_object (const char *name)
{
  return must_find (RTLD_DEFAULT, name);
}
#endif

static void
load_handles (void)
{
#ifdef OPEN_MPI
  recorder_mpi.world = real_object ("ompi_mpi_comm_world");
  recorder_mpi.self = real_object ("ompi_mpi_comm_self");
  recorder_mpi.no_comm = real_object ("ompi_mpi_comm_null");
  recorder_mpi.no_request = real_object ("ompi_request_null");
  recorder_mpi.no_message = real_object ("ompi_message_null");
  recorder_mpi.message_from_nobody = real_object ("ompi_message_no_proc");
  recorder_mpi.integer = real_object ("ompi_mpi_int");
  recorder_mpi.no_type = real_object ("ompi_mpi_datatype_null");
  recorder_mpi.no_operation = real_object ("ompi_mpi_op_no_op");
#else
  recorder_mpi.world = MPI_COMM_WORLD;
  recorder_mpi.self = MPI_COMM_SELF;
  recorder_mpi.no_comm = MPI_COMM_NULL;
  recorder_mpi.no_request = MPI_REQUEST_NULL;
  recorder_mpi.no_message = MPI_MESSAGE_NULL;
  recorder_mpi.message_from_nobody = MPI_MESSAGE_NO_PROC;
  recorder_mpi.integer = MPI_INT;
  recorder_mpi.no_type = MPI_DATATYPE_NULL;
  recorder_mpi.no_operation = MPI_NO_OP;
#endif
}

#define LOAD(name) recorder_mpi.name = (__typeof__ (&MPI_##name)) recorder_real ("PMPI_" #name);

void
recorder_mpi_load (void)
{
  check_implementation ();
  RECORDER_USES (LOAD)
  load_handles ();
}
