/* recorder_counters.c - instructions and cycles of the calling thread, from
 * the kernel's performance events.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the processor lets programs read its counters (perf_event_open(2),
 * cap_user_rdpmc) that is done; else the kernel is asked, which takes a few
 * hundred nanoseconds. */
#include "traces/recorder/recorder.h"

#include "traces/recorder/recording.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { INSTRUCTIONS, CYCLES, N_EVENTS };

typedef struct {
  bool tried;
  int descriptor[N_EVENTS]; /* of the group; the first leads */
  struct perf_event_mmap_page *page[N_EVENTS];
} Counters;

static bool is_on;
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

static struct perf_event_mmap_page *
map_event (int descriptor)
{
  void *page = mmap (NULL, (size_t) sysconf (_SC_PAGESIZE), PROT_READ, MAP_SHARED, descriptor, 0);

  return page != MAP_FAILED ? page : NULL;
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
  for (int i = 0; i < N_EVENTS; i++)
    counters.page[i] = map_event (counters.descriptor[i]);
  return true;
}

static const char *
why_not (int reason)
{
  static char text[128];
  FILE *file;
  int level;

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

const char *
recorder_counters_start (void)
{
  const char *wish = getenv (RECORDING_COUNTERS_VARIABLE);

  if (wish != NULL && strcmp (wish, "off") == 0)
    return "switched off";
  if (!open_thread ())
    return why_not (errno);
  is_on = true;
  return NULL;
}

bool
recorder_counters_on (void)
{
  return is_on;
}

#if defined __x86_64__
/* The value of one event without asking the kernel, which says how in the
 * page; false when it has to be asked. */
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

RecorderCounters
recorder_counters_read (void)
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
