/* jumping_clock.c - a library to preload, whose clocks jump while a program runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Usage: cc -shared -fPIC -o jumping_clock.so jumping_clock.c
 *        JUMPING_CLOCK=FILE LD_PRELOAD=jumping_clock.so PROGRAM...
 * FILE holds two 64-bit integers in the order of the machine's bytes: nanoseconds that are added to
 * the wall clock, and to the monotonic and boot-time clocks.  Every process that has FILE mapped sees
 * a change at once, so all of them jump together.  Clocks of processor time stay as they are, as do
 * the times that the kernel gives to files. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000

typedef struct {
  volatile int64_t wall_ns, monotonic_ns;
} Offsets;

static const Offsets standing_still, *offsets = &standing_still;

int clock_gettime (clockid_t clock, struct timespec *now);
int gettimeofday (struct timeval *restrict now, void *restrict zone);
time_t time (time_t *seconds);

/* Without FILE the clocks would silently be right, and the test would test nothing. */
__attribute__ ((constructor)) static void
map_offsets (void)
{
  const char *path = getenv ("JUMPING_CLOCK");
  int fd = path != NULL ? open (path, O_RDONLY | O_CLOEXEC) : -1;
  void *mapped = fd >= 0 ? mmap (NULL, sizeof *offsets, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

  if (mapped == MAP_FAILED)
    abort ();
  close (fd);
  offsets = mapped;
}

static int64_t
offset_ns (clockid_t clock)
{
  switch (clock) {
  case CLOCK_REALTIME:
  case CLOCK_REALTIME_COARSE: return offsets->wall_ns;
  case CLOCK_MONOTONIC:
  case CLOCK_MONOTONIC_RAW:
  case CLOCK_MONOTONIC_COARSE:
  case CLOCK_BOOTTIME: return offsets->monotonic_ns;
  default: return 0;
  }
}

int
clock_gettime (clockid_t clock, struct timespec *now)
{
  int64_t jumped_ns;

  if (syscall (SYS_clock_gettime, clock, now) != 0)
    return -1;
  jumped_ns = (int64_t) now->tv_sec * NS_PER_S + now->tv_nsec + offset_ns (clock);
  now->tv_sec = (time_t) (jumped_ns / NS_PER_S);
  now->tv_nsec = (long) (jumped_ns % NS_PER_S);
  if (now->tv_nsec < 0) {
    now->tv_sec--;
    now->tv_nsec += NS_PER_S;
  }
  return 0;
}

int
gettimeofday (struct timeval *restrict now, void *restrict zone)
{
  struct timespec precise;

  (void) zone;
  if (clock_gettime (CLOCK_REALTIME, &precise) != 0)
    return -1;
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t
time (time_t *seconds)
{
  struct timespec precise;

  if (clock_gettime (CLOCK_REALTIME, &precise) != 0)
    return (time_t) -1;
  if (seconds != NULL)
    *seconds = precise.tv_sec;
  return precise.tv_sec;
}
