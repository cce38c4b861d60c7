/* flow_engine.c - starts SimGrid on a platform of ours.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "sim/net/flow_engine.h"

#ifdef HAVE_SIMGRID

#include "sim/net/network.h"

#include <locale.h>
#include <signal.h>
#include <simgrid/engine.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static bool engine_made;

bool
sim_flow_engine_made (void)
{
  return engine_made;
}

/* The numbers are ours, so SimGrid's corrections for TCP are off, and its
 * precision is below our picosecond.  Stacks have no guard page: SimGrid
 * would protect and unprotect one for every message. */
static void
simgrid_start (void)
{
  static const char *const options[] = {
    "hopcast",
    "--log=root.thres:critical",
    "--cfg=network/model:CM02",
    "--cfg=network/optim:Lazy",
    "--cfg=network/crosstraffic:0",
    "--cfg=network/TCP-gamma:0",
    "--cfg=network/latency-factor:1",
    "--cfg=network/bandwidth-factor:1",
    "--cfg=network/weight-S:0",
    "--cfg=surf/precision:1e-14",
    "--cfg=maxmin/precision:1e-6",
#ifdef WITH_SANITIZERS
    "--cfg=contexts/factory:thread", /* they do not understand other stacks */
#else
    "--cfg=contexts/guard-size:0",
#endif
  };
  static const int kept_signals[] = { SIGINT, SIGSEGV, SIGBUS };
  struct sigaction kept[G_N_ELEMENTS (kept_signals)];
  int argc = G_N_ELEMENTS (options);
  g_autofree char **argv = g_memdup2 (options, sizeof options);

  for (uint32_t i = 0; i < G_N_ELEMENTS (kept_signals); i++)
    sigaction (kept_signals[i], NULL, &kept[i]);
  simgrid_init (&argc, argv);
  engine_made = true;
  for (uint32_t i = 0; i < G_N_ELEMENTS (kept_signals); i++)
    sigaction (kept_signals[i], &kept[i], NULL);
}

/* The descriptor stays open: it is all that the file has. */
static gboolean
platform_save (const SimFlowPlatform *platform, int file, const char *path, GError **error)
{
  int copy = dup (file);
  FILE *out = copy >= 0 ? fdopen (copy, "w") : NULL;
  bool failed = out == NULL;

  if (out != NULL) {
    sim_flow_platform_write (platform, out);
    failed = ferror (out) != 0;
    failed |= fclose (out) != 0;
  }
  if (failed)
    g_set_error (error, SIM_ERROR, SIM_ERROR_NETWORK,
                 "%s: cannot write the platform of the flow "
                 "network",
                 path);
  return !failed;
}

gboolean
sim_flow_engine_load (const SimFlowPlatform *platform, GError **error)
{
  int file = memfd_create ("hopcast.xml", MFD_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", file);
  gboolean saved = platform_save (platform, file, path, error);
  if (saved) {
    /* SimGrid folds the case of its own keywords by the locale's rules. */
    locale_t plain = newlocale (LC_ALL_MASK, "C", (locale_t) 0), before = uselocale (plain);

    simgrid_start ();
    simgrid_load_platform (path);
    uselocale (before);
    freelocale (plain);
  }
  if (file >= 0)
    close (file);
  return saved;
}

#endif
