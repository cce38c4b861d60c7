/* recorder.c - the recorder: the real MPI, hardware counters, calls of the program.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "traces/recorder/recorder.h"

#include "traces/recorder/recording.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* --- The MPI that the program uses --- */

RecorderMpi recorder_mpi;

/* For dl_iterate_phdr(): stops at the MPI among the loaded libraries. */
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

/* A program that loads its MPI late, such as an interpreter, may hide it from
 * other libraries; then it is searched among the loaded ones. */
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

#define LOAD(name) recorder_mpi.name = (__typeof__ (&MPI_##name)) recorder_real ("PMPI_" #name);

/* Fills recorder_mpi.  A program may have its own copy of an object of the MPI,
 * which all then use. */
static void
load_mpi (void)
{
#ifdef OPEN_MPI
  bool good = find_symbol (RTLD_DEFAULT, "ompi_mpi_comm_world") != NULL;
  static const char other[] = "mpich";
#else
  bool good = find_symbol (RTLD_DEFAULT, "ompi_mpi_comm_world") == NULL;
  static const char other[] = "openmpi";
#endif

  /* The handles of another MPI have another size. */
  if (!good) {
    fprintf (stderr,
             "hopcast recorder: the program uses another MPI than the recorder was built for; "
             "try --mpi %s\n",
             other);
    _exit (1);
  }
  RECORDER_USES (LOAD)
#ifdef OPEN_MPI
  recorder_mpi.world = must_find (RTLD_DEFAULT, "ompi_mpi_comm_world");
  recorder_mpi.self = must_find (RTLD_DEFAULT, "ompi_mpi_comm_self");
  recorder_mpi.no_comm = must_find (RTLD_DEFAULT, "ompi_mpi_comm_null");
  recorder_mpi.no_request = must_find (RTLD_DEFAULT, "ompi_request_null");
  recorder_mpi.no_message = must_find (RTLD_DEFAULT, "ompi_message_null");
  recorder_mpi.message_of_no_process = must_find (RTLD_DEFAULT, "ompi_message_no_proc");
  recorder_mpi.integer = must_find (RTLD_DEFAULT, "ompi_mpi_int");
  recorder_mpi.no_type = must_find (RTLD_DEFAULT, "ompi_mpi_datatype_null");
  recorder_mpi.no_operation = must_find (RTLD_DEFAULT, "ompi_mpi_op_no_op");
#else
  recorder_mpi.world = MPI_COMM_WORLD;
  recorder_mpi.self = MPI_COMM_SELF;
  recorder_mpi.no_comm = MPI_COMM_NULL;
  recorder_mpi.no_request = MPI_REQUEST_NULL;
  recorder_mpi.no_message = MPI_MESSAGE_NULL;
  recorder_mpi.message_of_no_process = MPI_MESSAGE_NO_PROC;
  recorder_mpi.integer = MPI_INT;
  recorder_mpi.no_type = MPI_DATATYPE_NULL;
  recorder_mpi.no_operation = MPI_NO_OP;
#endif
}

/* --- Instructions and cycles of the calling thread, from the performance events of the kernel ---
 *
 * Where the processor lets programs read its counters (perf_event_open(2),
 * cap_user_rdpmc) they are read directly; else the kernel is asked, which
 * takes a few hundred nanoseconds. */

enum { INSTRUCTIONS, CYCLES, N_EVENTS };

typedef struct {
  bool tried;
  int descriptor[N_EVENTS]; /* of the group; the first leads */
  struct perf_event_mmap_page *page[N_EVENTS];
} Counters;

static bool counters_on;
static __thread Counters counters __attribute__ ((tls_model ("initial-exec")));

static int
open_event (uint64_t event, int leader)
{
  struct perf_event_attr attributes = { .type = PERF_TYPE_HARDWARE,
                                        .size = sizeof attributes,
                                        .config = event,
                                        .exclude_kernel = 1,
                                        .exclude_hv = 1,
                                        .read_format = PERF_FORMAT_GROUP };

  return (int) syscall (SYS_perf_event_open, &attributes, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
}

static bool
open_thread (void)
{
  counters.tried = true;
  counters.descriptor[INSTRUCTIONS] = open_event (PERF_COUNT_HW_INSTRUCTIONS, -1);
  if (counters.descriptor[INSTRUCTIONS] < 0)
    return false;
  counters.descriptor[CYCLES] =
      open_event (PERF_COUNT_HW_CPU_CYCLES, counters.descriptor[INSTRUCTIONS]);
  if (counters.descriptor[CYCLES] < 0) {
    close (counters.descriptor[INSTRUCTIONS]);
    counters.descriptor[INSTRUCTIONS] = -1;
    return false;
  }
  for (int i = 0; i < N_EVENTS; i++) {
    void *page = mmap (NULL, (size_t) sysconf (_SC_PAGESIZE), PROT_READ, MAP_SHARED,
                       counters.descriptor[i], 0);

    counters.page[i] = page != MAP_FAILED ? page : NULL;
  }
  return true;
}

/* NULL, or the reason why there are no counters. */
static const char *
start_counters (void)
{
  const char *wish = getenv (RECORDING_COUNTERS_VARIABLE);

  if (wish != NULL && strcmp (wish, "off") == 0)
    return "switched off";
  if (!open_thread ()) {
    static char text[128];
    int reason = errno, level;
    FILE *file;

    if (reason == ENOENT || reason == EOPNOTSUPP || reason == ENODEV)
      return "this processor does not count, or its counters are hidden (virtual machine)";
    if (reason == EACCES || reason == EPERM) {
      file = fopen ("/proc/sys/kernel/perf_event_paranoid", "r");
      if (file != NULL && fscanf (file, "%d", &level) == 1)
        snprintf (text, sizeof text,
                  "not permitted (kernel.perf_event_paranoid is %d, or a container forbids it)",
                  level);
      else
        snprintf (text, sizeof text, "not permitted");
      if (file != NULL)
        fclose (file);
      return text;
    }
    snprintf (text, sizeof text, "%s", strerror (reason));
    return text;
  }
  counters_on = true;
  return NULL;
}

#if defined __x86_64__
/* The value of one event by the description in its page; false when the kernel
 * has to be asked. */
static bool
read_quickly (const volatile struct perf_event_mmap_page *page, uint64_t *value)
{
  uint32_t sequence, index;

  if (page == NULL || !page->cap_user_rdpmc)
    return false;
  do {
    uint32_t low, high;
    int shift = 64 - page->pmc_width;

    sequence = page->lock;
    __atomic_signal_fence (__ATOMIC_SEQ_CST);
    index = page->index;
    if (index == 0)
      return false;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
    *value = (uint64_t) page->offset +
             (uint64_t) ((int64_t) (((uint64_t) high << 32 | low) << shift) >> shift);
    __atomic_signal_fence (__ATOMIC_SEQ_CST);
  } while (page->lock != sequence);
  return true;
}
#else
static bool
read_quickly (const volatile struct perf_event_mmap_page *page, uint64_t *value)
{
  (void) page;
  (void) value;
  return false;
}
#endif

static RecorderCounters
read_counters (void)
{
  RecorderCounters now = { 0 };
  uint64_t group[1 + N_EVENTS];

  if (!counters.tried)
    open_thread ();
  if (counters.descriptor[INSTRUCTIONS] < 0)
    return now;
  if (read_quickly (counters.page[INSTRUCTIONS], &now.instructions) &&
      read_quickly (counters.page[CYCLES], &now.cycles))
    return now;
  if (read (counters.descriptor[INSTRUCTIONS], group, sizeof group) == sizeof group) {
    now.instructions = group[1 + INSTRUCTIONS];
    now.cycles = group[1 + CYCLES];
  }
  return now;
}

/* --- From the beginning of a call to its end --- */

static struct {
  pthread_mutex_t lock; /* recursive: some hold it over recorder_leave() */
  bool running;
  bool threads; /* several may call at once */
  pid_t process;
  int64_t last_ns; /* when something was written last */
  uint64_t n_wildcards;
  pthread_key_t key; /* frees the memory of threads */
} recorder = { .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP };

typedef struct {
  bool inside;           /* of a call that is recorded */
  int64_t left_ns;       /* the last one */
  RecorderCounters left; /* the counters at that time */
  void *memory[RECORDER_SLOTS];
  size_t n_bytes[RECORDER_SLOTS];
} Thread;

/* The fast kind of thread-local storage: the library is there from the start. */
static __thread Thread thread __attribute__ ((tls_model ("initial-exec")));

int64_t
recorder_now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

void
recorder_lock (void)
{
  if (recorder.threads)
    pthread_mutex_lock (&recorder.lock);
}

void
recorder_unlock (void)
{
  if (recorder.threads)
    pthread_mutex_unlock (&recorder.lock);
}

static void
free_thread (void *data)
{
  Thread *ended = data;

  for (int slot = 0; slot < RECORDER_SLOTS; slot++) {
    free (ended->memory[slot]);
    ended->memory[slot] = NULL;
    ended->n_bytes[slot] = 0;
  }
}

void *
recorder_scratch (int slot, size_t bytes)
{
  if (bytes > thread.n_bytes[slot]) {
    free (thread.memory[slot]);
    thread.n_bytes[slot] = 2 * bytes + 256;
    thread.memory[slot] = malloc (thread.n_bytes[slot]);
    if (thread.memory[slot] == NULL)
      abort ();
    pthread_setspecific (recorder.key, &thread);
  }
  return thread.memory[slot];
}

bool
recorder_enter (RecorderCall *call, const char *name, const void *site)
{
  if (!recorder.running || thread.inside)
    return false;
  thread.inside = true;
  memset (call, 0, sizeof *call);
  call->enter_ns = recorder_now_ns ();
  if (counters_on) {
    RecorderCounters now = read_counters ();

    call->counters.instructions = now.instructions - thread.left.instructions;
    call->counters.cycles = now.cycles - thread.left.cycles;
  }
  call->name = name;
  call->site = site;
  call->op.comm = TRACE_COMM_WORLD;
  call->op.root = TRACE_NO_ROOT;
  call->op.matched_source = TRACE_ANY_SOURCE;
  return true;
}

/* The computation of the thread since anything was written: with several
 * threads, time in which another one was busy is not counted again. */
static int64_t
gap_before (const RecorderCall *call)
{
  int64_t from = thread.left_ns > recorder.last_ns ? thread.left_ns : recorder.last_ns;

  return call->enter_ns > from ? call->enter_ns - from : 0;
}

/* --- Polls --- */

/* The number of turns of a polling loop depends on the machine.  Successive
 * calls from one place that found nothing are written as one, with the time of
 * all; it is kept here until another operation follows. */
static struct {
  bool waits;
  TraceOp op;
  RecorderExtra extra;
} poll;

static void
write_poll (void)
{
  if (poll.waits)
    recorder_file_write (&poll.op, &poll.extra);
  poll.waits = false;
}

static void
write_op (const RecorderCall *call, const TraceOp *op, RecorderExtra extra)
{
  bool is_poll = (op->kind == TRACE_OP_TEST || op->kind == TRACE_OP_IPROBE) && op->n_completed == 0;
  TraceOp named = *op;

  named.name = op->name != NULL ? op->name : call->name;
  extra.site = call->site;
  if (is_poll && poll.waits && poll.extra.site == extra.site && poll.op.name == named.name &&
      poll.op.peer == op->peer && poll.op.tag == op->tag && poll.op.comm == op->comm) {
    poll.extra.gap_ns += extra.gap_ns;
    poll.extra.time_ns += extra.time_ns;
    poll.extra.counters.instructions += extra.counters.instructions;
    poll.extra.counters.cycles += extra.counters.cycles;
    return;
  }
  write_poll ();
  if (is_poll) {
    poll.op = named;
    poll.extra = extra;
    poll.waits = true;
  } else
    recorder_file_write (&named, &extra);
}

/* --- Calls that are written when they begin --- */

/* Writes an operation that goes on; returns the number of its request. */
static uint32_t
write_begun (RecorderCall *call, TraceOp *op, RecorderExtra extra)
{
  uint64_t wildcard = RECORDER_NO_WILDCARD;

  if (op->kind == TRACE_OP_IRECV && op->peer == TRACE_ANY_SOURCE)
    wildcard = recorder.n_wildcards++;
  extra.is_wildcard = wildcard != RECORDER_NO_WILDCARD;
  op->request = recorder_request_new (call->is_persistent, wildcard);
  write_op (call, op, extra);
  return op->request;
}

void
recorder_post (RecorderCall *call)
{
  TraceOp *op = &call->op;
  TraceOpKind kind = op->kind;
  RecorderExtra extra;

  if (!recorder.threads)
    return;
  if (call->binds == NULL && kind != TRACE_OP_SEND && kind != TRACE_OP_RECV &&
      kind != TRACE_OP_SENDRECV && kind != TRACE_OP_START &&
      (kind < TRACE_OP_BARRIER || kind > TRACE_OP_NEIGHBOR_ALLTOALL))
    return;
  recorder_lock ();
  extra = (RecorderExtra){ .gap_ns = gap_before (call),
                           .counters = call->counters,
                           .n_values2 = call->n_values2 };
  if (kind == TRACE_OP_SENDRECV) {
    TraceOp send = *op, receive = *op;

    receive.kind = TRACE_OP_IRECV;
    receive.peer = op->recv_peer;
    receive.tag = op->recv_tag;
    receive.bytes = op->recv_bytes;
    send.kind = TRACE_OP_ISEND;
    receive.recv_peer = send.recv_peer = receive.recv_tag = send.recv_tag = 0;
    receive.recv_bytes = send.recv_bytes = 0;
    call->wait[call->n_wait++] = write_begun (call, &receive, extra);
    call->wait[call->n_wait++] = write_begun (call, &send, (RecorderExtra){ 0 });
  } else if (kind == TRACE_OP_START) {
    write_op (call, op, extra);
  } else if (call->binds != NULL) {
    write_begun (call, op, extra);
  } else {
    if (kind == TRACE_OP_SEND)
      op->kind = TRACE_OP_ISEND;
    else if (kind == TRACE_OP_RECV)
      op->kind = TRACE_OP_IRECV;
    else
      op->nonblocking = true;
    call->wait[call->n_wait++] = write_begun (call, op, extra);
  }
  call->is_posted = true;
  recorder.last_ns = recorder_now_ns ();
  recorder_unlock ();
}

/* --- Calls that end --- */

void
recorder_leave (RecorderCall *call, int code)
{
  static const TraceOp blank = { .kind = TRACE_OP_CALL,
                                 .comm = TRACE_COMM_WORLD,
                                 .root = TRACE_NO_ROOT,
                                 .matched_source = TRACE_ANY_SOURCE };
  TraceOp *op = &call->op;
  int64_t now_ns = call->leave_ns != 0 ? call->leave_ns : recorder_now_ns ();
  int64_t time_ns = now_ns - call->enter_ns;

  recorder_lock ();
  if (call->is_posted) {
    TraceOp wait = blank;

    if (call->binds != NULL)
      recorder_request_bind (op->request, *call->binds);
    if (call->n_wait > 0) {
      wait.kind = TRACE_OP_WAIT;
      wait.requests = call->wait;
      wait.n_requests = call->n_wait;
      write_op (call, &wait, (RecorderExtra){ .time_ns = time_ns });
    }
    for (uint32_t i = 0; i < call->n_wait; i++)
      recorder_request_complete (call->wait[i], i == 0 ? call->status : NULL);
  } else {
    RecorderExtra extra = { .gap_ns = gap_before (call),
                            .time_ns = time_ns,
                            .counters = call->counters,
                            .n_values2 = call->n_values2 };

    if (code != MPI_SUCCESS) {
      /* A call that failed has moved nothing. */
      *op = blank;
      call->binds = NULL;
      extra.n_values2 = 0;
    }
    if (((op->kind == TRACE_OP_RECV && op->peer == TRACE_ANY_SOURCE) ||
         (op->kind == TRACE_OP_SENDRECV && op->recv_peer == TRACE_ANY_SOURCE)) &&
        call->status != NULL)
      op->matched_source = recorder_peer (call->status->MPI_SOURCE);
    if (call->binds != NULL)
      recorder_request_bind (write_begun (call, op, extra), *call->binds);
    else
      write_op (call, op, extra);
  }
  if (call->then != NULL && code == MPI_SUCCESS)
    write_op (call, call->then, (RecorderExtra){ 0 });
  recorder_file_flush_due (now_ns);
  thread.left_ns = recorder.last_ns = recorder_now_ns ();
  recorder_unlock ();
  if (counters_on)
    thread.left = read_counters ();
  thread.inside = false;
}

/* --- Beginning and end --- */

/* Values of the header are single lines. */
static void
make_line (char *text)
{
  for (; *text != '\0'; text++)
    if (*text == '\n' || *text == '\r' || *text == '\t')
      *text = ' ';
}

/* The lines of a launcher that announced several processes, for processes that
 * their MPI takes for single ones: then the launcher belongs to another MPI.
 * MPI_Init of Open MPI sets its variable to 1 in a process without launcher, so
 * only more than one counts. */
static void
write_launcher (char *text, size_t size)
{
  static const struct {
    const char *variable, *name;
  } launchers[] = {
    { "OMPI_COMM_WORLD_SIZE", "the mpirun of Open MPI" },
    { "PMI_SIZE", "the mpiexec of MPICH (or another launcher with PMI)" },
    { "SLURM_STEP_NUM_TASKS", "srun of Slurm" },
  };

  text[0] = '\0';
  for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
    const char *value = getenv (launchers[i].variable);

    if (value != NULL && atoi (value) > 1) {
      snprintf (text, size, "launcher=%s\nlaunched=%d\n", launchers[i].name, atoi (value));
      return;
    }
  }
}

void
recorder_start (const char *name, const void *site, int64_t enter_ns)
{
  const char *folder = getenv (RECORDING_FOLDER_VARIABLE), *no_counters;
  char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", host[256] = "", program[4096];
  char header[8192], launcher[256];
  int rank, n_ranks, level, n;
  RecorderCall call;
  MPI_Comm parent;
  ssize_t n_program;

  if (folder == NULL || recorder.running)
    return;
  load_mpi ();
  /* Spawned processes have ranks of their own, which are not those of the recording. */
  if (recorder_mpi.Comm_get_parent (&parent) == MPI_SUCCESS && parent != recorder_mpi.no_comm)
    return;

  recorder_mpi.Comm_rank (recorder_mpi.world, &rank);
  recorder_mpi.Comm_size (recorder_mpi.world, &n_ranks);
  recorder_mpi.Query_thread (&level);
  no_counters = start_counters ();
  recorder_mpi.Get_library_version (library, &n);
  library[strcspn (library, "\n,")] = '\0';
  gethostname (host, sizeof host - 1);
  n_program = readlink ("/proc/self/exe", program, sizeof program - 1);
  program[n_program > 0 ? n_program : 0] = '\0';
  make_line (library);
  make_line (program);
  snprintf (
      header, sizeof header,
      "version=%d\nrank=%d\nranks=%d\nmpi=%.200s\nprogram=%.4000s\nhost=%s\nclock=CLOCK_MONOTONIC\n"
      "thread-level=%s\ncounters=%s%s\n",
      RECORDING_VERSION, rank, n_ranks, library, program, host,
      level == MPI_THREAD_MULTIPLE ? "multiple" : "one call at a time",
      no_counters != NULL ? "none: " : "instructions,cycles",
      no_counters != NULL ? no_counters : "");
  write_launcher (launcher, sizeof launcher);
  if (!recorder_file_open (folder, rank, header, launcher))
    return;

  recorder_comm_add (recorder_mpi.world)->number = TRACE_COMM_WORLD;
  recorder_comm_add (recorder_mpi.self)->number = TRACE_COMM_SELF;
  recorder_comm (recorder_mpi.self)->identity = (uint64_t) rank + 1;
  pthread_key_create (&recorder.key, free_thread);
  recorder.threads = level == MPI_THREAD_MULTIPLE;
  recorder.process = getpid ();
  recorder.running = true;
  recorder_enter (&call, name, site);
  thread.left_ns = call.enter_ns = enter_ns;
  call.op.kind = TRACE_OP_INIT;
  call.counters = (RecorderCounters){ 0 };
  recorder_leave (&call, MPI_SUCCESS);
}

void
recorder_save (void)
{
  recorder_lock ();
  write_poll ();
  recorder_file_flush ();
  recorder_unlock ();
}

void
recorder_finish (void)
{
  recorder_lock ();
  recorder.running = false;
  write_poll ();
  recorder_file_flush ();
  recorder_file_close ();
  recorder_unlock ();
}

/* A program that exits without MPI_Finalize keeps its recording.  A process that
 * it forked must not write its parent's block once more. */
__attribute__ ((destructor)) static void
save_at_exit (void)
{
  if (recorder.running && getpid () == recorder.process)
    recorder_finish ();
}
