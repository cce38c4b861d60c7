/* flow_simgrid.cc - libhopcast-flow.so: SimGrid as the solver of flows.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The platform is all links and two hosts, between which every flow goes.  The
 * zone asks nobody for a route: it gives the links of the flow that is being
 * started.  So there is no table of routes, and memory grows with links and
 * flows alone.
 *
 * Flows have no actor.  Their ends are read from SimGrid's models whenever the
 * clock has moved, which wakes the only actor, the scheduler. */
#include "sim/net/flow_simgrid.h"

#include <cmath>
#include <csignal>
#include <deque>
#include <locale.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Model.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <unordered_map>

namespace {

namespace kernel = simgrid::kernel;
namespace s4u = simgrid::s4u;

/* SimGrid takes events that are this close for simultaneous. */
#define PRECISION_S "1e-14"
const double precision_s = 1e-14;

class LinkZone final : public kernel::routing::NetZoneImpl {
public:
  std::vector<kernel::resource::StandardLinkImpl *> path; /* of the next flow */

  LinkZone () : NetZoneImpl ("machine")
  {
  }

  void
  get_local_route (const kernel::routing::NetPoint *, const kernel::routing::NetPoint *,
                   kernel::routing::Route *route, double *) override
  {
    route->link_list_ = path;
  }
};

struct Flow {
  s4u::CommPtr comm;
  uint32_t tag;
};

/* One per process, as SimGrid's. */
struct Engine {
  s4u::Engine *simgrid;
  LinkZone *zone;
  s4u::Host *from, *to;
  std::vector<kernel::resource::StandardLinkImpl *> links; /* nullptr: no link */

  std::unordered_map<const kernel::activity::ActivityImpl *, Flow> moving;
  std::deque<Flow> ended; /* kept until they are taken: SimGrid still needs them when they end */
  s4u::SemaphorePtr wake;
  double sleep_end_s; /* HUGE_VAL: sleeps until a flow ends */
};

Engine *engine;

/* Whenever the clock has moved: before the models free what has ended, and before actors run. */
void
collect_ended (double)
{
  bool wakes = engine->sleep_end_s - s4u::Engine::get_clock () < precision_s;

  for (auto *model : engine->simgrid->get_all_models ())
    for (const auto &action : *model->get_finished_action_set ()) {
      auto flow = engine->moving.find (action.get_activity ());

      if (flow == engine->moving.end ())
        continue;
      engine->ended.push_back (std::move (flow->second));
      engine->moving.erase (flow);
      wakes = true;
    }
  if (wakes)
    engine->wake->release ();
}

/* The numbers are ours, so SimGrid's corrections for TCP are off, and its
 * precision is below our picosecond. */
s4u::Engine *
make_simgrid ()
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
    "--cfg=surf/precision:" PRECISION_S,
    "--cfg=maxmin/precision:1e-6",
#ifdef WITH_SANITIZERS
    "--cfg=contexts/factory:thread", /* they do not understand other stacks */
#endif
  };
  std::vector<char *> argv;
  int argc = sizeof options / sizeof *options;

  for (auto *option : options)
    argv.push_back (const_cast<char *> (option));
  argv.push_back (nullptr);
  return new s4u::Engine (&argc, argv.data ());
}

void
open_engine (uint32_t n_links, const double *bandwidth_Bps)
{
  static const int kept_signals[] = { SIGINT, SIGSEGV, SIGBUS };
  struct sigaction kept[sizeof kept_signals / sizeof *kept_signals];
  /* SimGrid folds the case of its own keywords by the locale's rules. */
  locale_t plain = newlocale (LC_ALL_MASK, "C", (locale_t) 0), before = uselocale (plain);
  s4u::NetZone *zone;
  int at = 0;

  for (int signal : kept_signals)
    sigaction (signal, nullptr, &kept[at++]);
  engine = new Engine ();
  engine->simgrid = make_simgrid ();
  at = 0;
  for (int signal : kept_signals)
    sigaction (signal, &kept[at++], nullptr);

  engine->zone = new LinkZone ();
  zone = engine->zone->get_iface ();
  engine->from = zone->create_host ("from", 1e9);
  engine->to = zone->create_host ("to", 1e9);
  engine->links.resize (n_links);
  for (uint32_t link = 0; link < n_links; link++)
    if (bandwidth_Bps[link] > 0)
      engine->links[link] =
          zone->create_link ("l" + std::to_string (link), bandwidth_Bps[link])->get_impl ();
  zone->seal ();
  uselocale (before);
  freelocale (plain);
  engine->wake = s4u::Semaphore::create (0);
  s4u::Engine::on_time_advance_cb (collect_ended);
}

void
run (void (*schedule) (void *data), void *data)
{
  s4u::Actor::create ("schedule", engine->from, schedule, data);
  engine->simgrid->run ();
}

double
clock_s ()
{
  return s4u::Engine::get_clock ();
}

void
start (const uint32_t *links, uint32_t n_links, uint64_t bytes, uint32_t tag)
{
  auto comm = s4u::Comm::sendto_init (engine->from, engine->to);

  engine->zone->path.clear ();
  for (uint32_t at = 0; at < n_links; at++)
    engine->zone->path.push_back (engine->links[links[at]]);
  comm->set_payload_size (bytes)->start ();
  engine->moving[comm->get_impl ()] = Flow{ comm, tag };
}

bool
wait (double until_s)
{
  double now_s = clock_s ();
  kernel::timer::Timer *timer = nullptr;
  bool is_late;

  engine->sleep_end_s = HUGE_VAL;
  if (std::isfinite (until_s)) {
    /* Where a sleep of SimGrid ends, which rounds. */
    engine->sleep_end_s = now_s + (until_s - now_s);
    /* It stops the clock there; collect_ended() looks at it. */
    timer = kernel::timer::Timer::set (engine->sleep_end_s, [&timer] () { timer = nullptr; });
  }
  engine->wake->acquire ();
  is_late = engine->sleep_end_s - clock_s () < precision_s;
  if (timer != nullptr)
    timer->remove ();
  return is_late;
}

bool
take_ended (uint32_t *tag)
{
  if (engine->ended.empty ())
    return false;
  *tag = engine->ended.front ().tag;
  engine->ended.pop_front ();
  return true;
}

} // namespace

const SimFlowSolver sim_flow_solver = { open_engine, run, clock_s, start, wait, take_ended };
