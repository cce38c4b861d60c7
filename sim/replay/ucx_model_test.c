/* ucx_model_test.c - transports and limits of UCX: as it printed them, and worked by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of issues are those of openucx/ucx; what they print are the ranges of sizes that
 * UCX_PROTO_INFO or its log shows.
 *
 * Rates as UCX has them: EDR 103.125 Gb/s * 64/66 / 8 * 4096/4140 = 12.367150 GB/s, so
 * 0.0808594 ns a byte; HDR200 twice that.  Copies: 5800 MiB/s are 0.1644266 ns a byte, 7000 MiB/s
 * 0.1362392. */
#include "sim/replay/ucx_model.h"

#include <glib.h>

#define EDR_GBPS    103.125
#define HDR200_GBPS 206.25
#define NDR_GBPS    400

#define FAST_BYTES 262143 /* up to here, if a send has to complete at once */

static SimUcxSituation
situation (uint32_t version, SimUcxAdapter adapter, double link_Gbps)
{
  return (SimUcxSituation){
    .version = version,
    .n_endpoints = 1,
    .ranks_per_node = 1,
    .adapter = adapter,
    .n_adapters = 1,
    .link_Gbps = link_Gbps,
    .mtu_bytes = 4096,
    .vendor = SIM_UCX_INTEL,
  };
}

static void
assert_limits (const SimUcxLimits *limits, uint64_t short_bytes, uint64_t bcopy_bytes,
               uint64_t zcopy_bytes)
{
  g_assert_cmpuint (limits->short_bytes, ==, short_bytes);
  g_assert_cmpuint (limits->bcopy_bytes, ==, bcopy_bytes);
  g_assert_cmpuint (limits->zcopy_bytes, ==, zcopy_bytes);
}

static void
assert_between (SimUcxSituation at, uint64_t short_bytes, uint64_t bcopy_bytes,
                uint64_t zcopy_bytes)
{
  SimUcxChoice choice;

  sim_ucx_choose (&at, &choice);
  assert_limits (&choice.between, short_bytes, bcopy_bytes, zcopy_bytes);
}

static void
assert_within (SimUcxSituation at, uint64_t short_bytes, uint64_t bcopy_bytes, uint64_t zcopy_bytes)
{
  SimUcxChoice choice;

  sim_ucx_choose (&at, &choice);
  assert_limits (&choice.within, short_bytes, bcopy_bytes, zcopy_bytes);
}

/* -- transports ---------------------------------------------------------- */

static void
assert_transport (SimUcxAdapter adapter, double link_Gbps, uint32_t n_endpoints,
                  SimUcxTransport transport, uint64_t short_bytes, uint64_t packet_bytes)
{
  SimUcxSituation at = situation (12, adapter, link_Gbps);
  SimUcxChoice choice;

  at.n_endpoints = n_endpoints;
  sim_ucx_choose (&at, &choice);
  g_assert_cmpint (choice.transport, ==, transport);
  g_assert_cmpuint (choice.between.short_bytes, ==, short_bytes);
  g_assert_cmpuint (choice.fragment_bytes, ==, packet_bytes);
}

/* rc costs 1 ns an endpoint, dc 60: alike at 60, and rc comes first. */
static void
mlx5_transports (void)
{
  assert_transport (SIM_UCX_CONNECTX6, HDR200_GBPS, 1, SIM_UCX_RC_MLX5, 2038, 8246);
  assert_transport (SIM_UCX_CONNECTX6, HDR200_GBPS, 60, SIM_UCX_RC_MLX5, 2038, 8246);
  assert_transport (SIM_UCX_CONNECTX6, HDR200_GBPS, 61, SIM_UCX_DC_MLX5, 2038, 8246);
  assert_transport (SIM_UCX_CONNECTX6, HDR200_GBPS, 100000, SIM_UCX_DC_MLX5, 2038, 8246);
  /* no device memory */
  assert_transport (SIM_UCX_CONNECTX4, EDR_GBPS, 60, SIM_UCX_RC_MLX5, 226, 8246);
  assert_transport (SIM_UCX_CONNECTX4, EDR_GBPS, 61, SIM_UCX_DC_MLX5, 178, 8246);
  assert_transport (SIM_UCX_CONNECTIB, 56.25, 61, SIM_UCX_DC_MLX5, 178, 8246);
  assert_transport (SIM_UCX_CONNECTX5, EDR_GBPS, 1, SIM_UCX_RC_MLX5, 2038, 8246);
}

/* rc_verbs: n + 2 * 75 ns; ud_verbs: 30 + 2 * 105.  Alike at 90. */
static void
mlx4_transports (void)
{
  assert_transport (SIM_UCX_CONNECTX3, 56.25, 90, SIM_UCX_RC_VERBS, 79, 8247);
  assert_transport (SIM_UCX_CONNECTX3, 56.25, 91, SIM_UCX_UD_VERBS, 108, 4080);
  assert_transport (SIM_UCX_CONNECTX2, 40, 90, SIM_UCX_RC_VERBS, 79, 8247);
  assert_transport (SIM_UCX_CONNECTX2, 40, 257, SIM_UCX_UD_VERBS, 108, 4080);
}

static void
rails (void)
{
  SimUcxSituation at = situation (16, SIM_UCX_CONNECTX6, HDR200_GBPS);
  SimUcxChoice choice;

  for (at.n_adapters = 1; at.n_adapters <= 4; at.n_adapters++) {
    sim_ucx_choose (&at, &choice);
    g_assert_cmpuint (choice.n_rails, ==, MIN (at.n_adapters, 2));
  }
}

/* -- thresholds, up to 1.15 ------------------------------------------------ */

/* Issue 6162 of January 2021, EDR on ConnectX-4, latency 601 ns, registration 180 ns: printed were
 * zero copy from 2153 and a rendezvous from 29119.  By hand:
 *   180 / (0.1644266 - 0.0808594) = 2153.95
 *   N = .99 (180 + 2*601 + 2*601 + 2*40 + 40) - 180 - 40 = 2456.96 (.99 * 2704 = 2676.96)
 *   D = .1644266 - .99 * .0808594 = .0843758
 *   N / D = 29119.2 */
static void
issue_6162 (void)
{
  assert_between (situation (10, SIM_UCX_CONNECTX4, EDR_GBPS), 226, 2152, 29118);
}

/* Issue 5358 of July 2020, registration still 90 ns, RoCE with 801 ns and 11.49013 GB/s: a
 * rendezvous from 41523.  The latency is written as a distance here, 20 ns a unit, and the rate as
 * the slot's.
 *   N = .99 (90 + 4*801 + 3*40) - 90 - 40 = 3249.86
 *   D = .1644266 - .99 * .0870312 = .0782657;  N / D = 41523.4
 *   90 / (.1644266 - .0870312) = 1162.86 */
static void
issue_5358 (void)
{
  SimUcxSituation at = situation (9, SIM_UCX_CONNECTX4, EDR_GBPS);

  at.numa_distance = 20;
  at.pcie_Bps = 11.49013e9;
  assert_between (at, 226, 1161, 41522);
}

/* With a registration of 90 ns zero copy begins between 1 and 2 KB:
 * 90 / (.1644266 - .0808594) = 1076.98.  The copy of AMD's at 5008 MiB/s, .1904296:
 * 90 / .1095702 = 821.4. */
static void
zero_copy_of_2020 (void)
{
  SimUcxSituation at = situation (9, SIM_UCX_CONNECTX4, EDR_GBPS);
  SimUcxChoice choice;

  for (at.version = 7; at.version <= 9; at.version++) {
    sim_ucx_choose (&at, &choice);
    g_assert_cmpuint (choice.between.bcopy_bytes, ==, 1075);
  }
  at.version = 9;
  at.vendor = SIM_UCX_AMD;
  sim_ucx_choose (&at, &choice);
  g_assert_cmpuint (choice.between.bcopy_bytes, ==, 820);
}

/* N = .99 (180 + 4 L + 120) - 220, of 602 ns 2460.92 and of 660 (dc) 2690.6;
 * D = max (copy, wire) - .99 wire.
 *   EDR: 2460.92 / .0843758 = 29166.2;  HDR200: / (.1644266 - .0400254) = 19782.1
 *   NDR, 47.96955 GB/s: / (.1644266 - .0206381) = 17114.9
 *   EDR shared by 32, 2.587501 ns a byte: 2690.6 / (.01 * 2.587501) = 103984.5
 *   HDR200 by 32: twice that
 * From 1.12.1 a fragment of 8254 costs 40 ns more: 2690.6 / (.0258750 + 40/8254) = 87581. */
static void
shared_wire (void)
{
  SimUcxSituation at = situation (11, SIM_UCX_CONNECTX4, EDR_GBPS);

  at.n_endpoints = 2;
  assert_between (at, 226, 2152, 29165);
  at.link_Gbps = HDR200_GBPS;
  assert_between (at, 226, 1450, 19781);
  at.link_Gbps = NDR_GBPS;
  assert_between (at, 226, 1252, 17113);

  at.n_endpoints = 64;
  at.ranks_per_node = 32;
  at.link_Gbps = EDR_GBPS;
  assert_between (at, 178, 103983, 103983);
  at.n_endpoints = 256; /* dc: no difference */
  assert_between (at, 178, 103983, 103983);
  at.link_Gbps = HDR200_GBPS;
  assert_between (at, 178, 207968, 207968);

  at.version = 12;
  at.link_Gbps = EDR_GBPS;
  assert_between (at, 178, 87580, 87580);
}

/* Two rails: reads are the lower threshold, as the wire is twice as fast.  HDR200, 601 ns:
 *   N = .99 (2*180*2 + 2*601 + 4*601 + 2*40 + 2*40) - 220 = 4221.94
 *   D = .1644266 - .99 * .0404297 / 2 = .1444139;  N / D = 29235.0, but by plain messages, over
 * one: 2456.96 / .1244012 = 19750.3.
 * With 32 ranks, 660 ns: the copy is hidden, reads N = .99 (720 + 6*660 + 160) - 220 = 4571.6,
 * D = 1.2937504 * (1 - .495) = .6533440;  N / D = 6997, less than a segment of 8254. */
static void
two_rails (void)
{
  SimUcxSituation at = situation (11, SIM_UCX_CONNECTX6, HDR200_GBPS);

  at.n_adapters = 2;
  assert_between (at, 2038, 2038, 19749);
  at.n_endpoints = 64;
  at.ranks_per_node = 32;
  assert_between (at, 2038, 8253, 8253);
}

static void
thresholds_fast (void)
{
  SimUcxSituation at = situation (12, SIM_UCX_CONNECTX6, HDR200_GBPS);

  at.fast_completion = true;
  assert_between (at, 2038, FAST_BYTES, FAST_BYTES);
  assert_within (at, 92, FAST_BYTES, FAST_BYTES);
}

/* As 1.13.1 itself shows, with and without cma: copies up to 8255, then a rendezvous. */
static void
thresholds_within (void)
{
  SimUcxSituation at = situation (13, SIM_UCX_CONNECTX6, HDR200_GBPS);

  assert_within (at, 92, 8255, 8255);
  at.single_copy = SIM_UCX_CMA;
  assert_within (at, 92, 8255, 8255);
  at.vendor = SIM_UCX_AMD;
  at.version = 15;
  assert_within (at, 92, 8255, 8255);
}

/* -- the fastest way, from 1.16 ---------------------------------------------- */

/* Issue 9908: UCX 1.16.0, two adapters of HDR200, a rank that is not bound on two processors of
 * four NUMA nodes each.  The issue does not tell their distances: a mean of 21.75 is what the three
 * tables need, and (10 + 3 * 12 + 4 * 32) / 8 is that of such a machine. */
static SimUcxSituation
of_issue_9908 (void)
{
  SimUcxSituation at = situation (16, SIM_UCX_CONNECTX6, HDR200_GBPS);

  at.n_adapters = 2;
  at.vendor = SIM_UCX_AMD;
  at.numa_distance = 21.75;
  return at;
}

/* Latency 600 + 1 + 217.5, and 350 more if the adapter reads the message: 1168.5.  Zero copy in
 * fragments of 8230 bytes: the slowest stage of a fragment is the receiver's, 50 + .1362392 * 8230,
 * and the first fragment adds the other stages:
 *   all stages: 50 + 50 + 1168.5 + 50 = 1318.5, and .1362392 + .0404297 a byte
 *   50 + 2 (1318.5 - 50) + .0404297 * 8230 = 2919.7, and .1362392 + 50/8230 = .1423145 a byte
 * The rendezvous: a request of 50 + 45 + 40 + 40 + 1168.5 + 2 * 275 = 1893.5, a read of
 * 50 + 80 + 2 * 1168.5 + 120 = 2587 and an acknowledgement of 1293.5 + 150 = 1443.5; times .99 that
 * is 5864.8, and .99 / 49.4686 = .0200127 a byte.  (5864.76 - 2919.74) / .1223018 = 24080.0. */
static void
issue_9908 (void)
{
  assert_between (of_issue_9908 (), 2038, 2038, 24080);
}

/* No receiver.  Copies: 95 + .1362392 x of the sender, 1168.5 of the wire:
 *   95 + 2 * 1128.5 = 2352, and .1362392 + 95/8230 = .1477823 a byte
 * Zero copy waits for the acknowledgement: 100 + 2 * 1168.5 + 60 = 2497 before the wire, which is
 * the slowest: 2 * 2497 = 4994, and .0404297 a byte.  2642 / .1073526 = 24610.5. */
static void
issue_9908_fast (void)
{
  SimUcxSituation at = of_issue_9908 ();

  at.fast_completion = true;
  assert_between (at, 2038, 24610, FAST_BYTES);
}

/* Of many messages each takes what is slowest.  Short ones 80 + .1362392 x of the sender, zero
 * copy 50 + 40 + 60: alike at 513.8.  In fragments the receiver's 50 + .1423145 x; a rendezvous
 * .99 (1893.5 + 50 + 2 * 100 + 45 + 40 + 150) = 2354.7: alike at 16194.5. */
static void
issue_9908_many (void)
{
  SimUcxSituation at = of_issue_9908 ();

  at.multi_send = true;
  assert_between (at, 514, 514, 16195);
}

/* A log of UCX 1.16.0 on a machine with four adapters of HDR200, knem and two ranks: a rendezvous
 * after 9239 bytes, 55 % of it by knem and 45 % by rc_mlx5, and after 9433 where the adapter is one
 * NUMA node further.  By hand, for the distance 10, with c = .1362392 and 15360 MiB/s, .0620882:
 *   copies in fragments of 8232: sender and receiver 20 + c x, the wire 80 + .0620882 x:
 *   20 + 2 * 100 + (.0620882 + c) * 8232 = 1852.6, and c + 20/8232 = .1386687 a byte
 * Rendezvous by writes: request 50 + 10 + 10 + 80 + 550 = 700, answer 50 + 100 + 80 = 230, data
 * 50 + 500 + 40 + (600 + 2 + 100 + 350) = 1642, acknowledgement 100 + 150: .99 * 2822 = 2793.8;
 * .99 / (14.5354 + 12.36715) = .0367995 a byte.  941.15 / .1018692 = 9238.8.
 * Many: by reads, .99 (700 + 50 + 540 + 60 + 10 + 150) = 1494.9 against 20 + .1386687 x: 10636.2. */
static void
knem_and_adapter (void)
{
  SimUcxSituation at = of_issue_9908 ();

  at.n_endpoints = 2;
  at.ranks_per_node = 2;
  at.n_adapters = 4;
  at.numa_distance = 10;
  at.single_copy = SIM_UCX_KNEM;
  assert_within (at, 92, 9239, 9239);
  at.numa_distance = 12;
  assert_within (at, 92, 9433, 9433);
  at.multi_send = true;
  assert_within (at, 92, 10636, 10636);
  at.multi_send = false;
  at.fast_completion = true;
  assert_within (at, 92, FAST_BYTES, FAST_BYTES);
}

/* Shared by 32 ranks the adapter is more than four times slower than the kernel, and carries
 * nothing.  A copy in one segment: 110 + (2 * .1362392 + .0620882) x.
 *   knem: .99 (700 + 50 + 500 + 160 + 250) = 1643.4, .99 / 14.5354 = .0681107 a byte
 *     1533.4 / .2664558 = 5754.8
 *   cma does not register: .99 (650 + 500 + 160 + 250) = 1544.4, .99 / 11.6864 = .0847136
 *     1434.4 / .2498530 = 5741 */
static void
kernel_alone (void)
{
  SimUcxSituation at = of_issue_9908 ();

  at.n_endpoints = 64;
  at.ranks_per_node = 32;
  at.single_copy = SIM_UCX_KNEM;
  assert_within (at, 92, 5755, 5755);
  at.single_copy = SIM_UCX_CMA;
  assert_within (at, 92, 5741, 5741);
}

/* Issue 11091: shared memory alone, many messages: 1.18.1 prints copies up to 142022580 bytes and
 * then a rendezvous that copies too.  Its fragments are 8240 bytes instead of 8232, and the sender
 * has a request, 10 + 275, and an answer, 10 + 40, more:
 *   335 / (20/8232 - 20/8240) = 142022580
 * 1.19 prefers a rendezvous again, from (.99 * 355 - 20) / (.1386687 - .99 * .1386664) on. */
static void
issue_11091 (void)
{
  SimUcxSituation at = situation (18, SIM_UCX_CONNECTX3, 56.25);

  at.n_endpoints = 300; /* datagrams, which cannot carry a part */
  at.multi_send = true;
  assert_within (at, 92, 142022580, 142022580);
  at.version = 19;
  assert_within (at, 92, 238621, 238621);
}

/* Memory of the sender that the receiver maps, not seen printed: 700 as above, the copy
 * 50 + 10 + 80 and 250 make .99 * 1090 = 1079.1, .99 * .0620882 a byte; 969.1 / .2730993 = 3548.5. */
static void
mapped_memory (void)
{
  SimUcxSituation at = of_issue_9908 ();

  at.single_copy = SIM_UCX_XPMEM;
  assert_within (at, 92, 3549, 3549);
}

/* Issue 11097 of 2026: EDR, sends that complete at once: copies in fragments up to 16676.  At the
 * distance 10 the latency is 701, 1051 with the read.  Of copies the sender is slowest,
 * 95 + (c + 95/8230) x = 95 + .1477823 x, and 1051 once; of zero copy the wire, .0808594 x, and
 * 160 + 2 * 1051 once.  1116 / .0669229 = 16675.9. */
static void
issue_11097 (void)
{
  SimUcxSituation at = situation (20, SIM_UCX_CONNECTX5, EDR_GBPS);

  at.fast_completion = true;
  assert_between (at, 2038, 16676, FAST_BYTES);
}

/* Issue 9971: UCX 1.18.0, two rails of RoCE, 12.5 GB/s * 1024/1114 and 800 + 1 ns at the mean
 * distance 15: printed was a rendezvous after 29420, of active messages with fragments of 8246.  A
 * tagged message has 8230, and is worked here; with 8246 the same numbers make 29420:
 *   copies: sender 95 + (c + 95/8230) x is slowest; the rest once, latency 951 + 350 = 1301:
 *   95 + 50 + (c + .0870313) * 8230 + 1301 = 3283.5, and .1477823 a byte
 *   rendezvous: request 50 + 85 + 275 + 315 + 1301, read 50 + 2 * 100 + 2 * 1301, acknowledgement
 *   135 + 40 + 1301, not favoured in 1.18: 6354, and .0870313 / 2 a byte.
 * 3070.5 / .1042667 = 29448.6.  RoCE is written as InfiniBand of that rate, 200 ns further away. */
static void
issue_9971 (void)
{
  SimUcxSituation at = situation (18, SIM_UCX_CONNECTX6, EDR_GBPS);

  at.n_adapters = 2;
  at.pcie_Bps = 12.5e9 * 1024 / 1114;
  at.numa_distance = 15 + 20;
  assert_between (at, 2038, 29448, 29448);
}

/* EDR on ConnectX-4, latency 701 + 350 = 1051.  Zero copy is better than one copied packet if c x
 * is more than 150 + 40 - 90 - 45 and, where it waits for the acknowledgement, 1051: 403.7 bytes or
 * 8118.  In fragments 160 + .0808594 * 8230 + 50 = 875.5 and one or two latencies, .1423145 a byte;
 * the rendezvous 1050 and three or four, .0808594 a byte; from 1.19 times .99:
 *   1.18: (5254 - 2977.5) / .0614551 = 37043.7;  1.19: (5201.5 - 2977.5) / .0622637 = 35718.6
 *   1.20: (4161.0 - 1926.5) / .0622637 = 35888
 * 1.16, by stages, one message does not wait for what follows the post: from 35 / c = 256.9 on;
 * 50 + 2 * 1151 + 665.5 = 3017.5, .1423145 a byte; .99 (1776 + 2252 + 1326) = 5300.5 as in
 * issue 9908, and 2283 / .0622637 = 36666.4. */
static void
versions (void)
{
  assert_between (situation (16, SIM_UCX_CONNECTX4, EDR_GBPS), 226, 257, 36666);
  assert_between (situation (17, SIM_UCX_CONNECTX4, EDR_GBPS), 226, 257, 36666);
  assert_between (situation (18, SIM_UCX_CONNECTX4, EDR_GBPS), 226, 8118, 37044);
  assert_between (situation (19, SIM_UCX_CONNECTX4, EDR_GBPS), 226, 8118, 35719);
  assert_between (situation (20, SIM_UCX_CONNECTX4, EDR_GBPS), 226, 404, 35888);
  assert_between (situation (25, SIM_UCX_CONNECTX4, EDR_GBPS), 226, 404, 35888);
}

/* Processors and wire of many: zero copy 40 + .1362392 x of the receiver; a rendezvous
 * 315 + 50 + 200 + 135 = 700 of it: .99 * 700 - 40 = 653, 653 / .1362392 = 4793. */
static void
many_by_factors (void)
{
  SimUcxSituation at = of_issue_9908 ();

  at.version = 20;
  at.multi_send = true;
  assert_between (at, 514, 514, 4793);
}

/* -- datagrams ----------------------------------------------------------- */

/* FDR, 0.1482422 ns a byte, 730 ns: N = .99 (180 + 4*730 + 3*105) - 180 - 105 = 3095.85,
 * D = .1644266 - .99 * .1482422 = .0176668;  N / D = 175235; 180 / .0161844 = 11121.8.
 * Later, with too many endpoints for rc_verbs, nothing can read: the data of a rendezvous goes in
 * messages, of 4072 bytes instead of 4064, and pays by the hundredth that it is preferred:
 *   latency 830 + 350; the receiver's 115 + (c + 115/4064) x is slowest, c = .1362392; the first
 *   fragment 2 (50 + 115 + 1180) + .1482422 * 4064 = 3292.5 more; 3408.6 with 4072
 *   request 150 + 275 + 380 + 1180, answer 190 + 145 + 1180: .99 (3500 + 3408.6) = 6839.5
 *   3432 / (.1645364 - .99 * .1644809) = 2018400 */
static void
datagrams (void)
{
  SimUcxSituation at = situation (11, SIM_UCX_CONNECTX3, 56.25);
  SimUcxChoice choice;

  at.n_endpoints = 300;
  assert_between (at, 108, 11120, 175234);
  at.version = 16;
  sim_ucx_choose (&at, &choice);
  g_assert_cmpuint (choice.between.zcopy_bytes, ==, 2018405);
  at.n_endpoints = 256;
  sim_ucx_choose (&at, &choice);
  g_assert_cmpint (choice.transport, ==, SIM_UCX_UD_VERBS);
  g_assert_cmpuint (choice.between.zcopy_bytes, <, 1000000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/sim/replay/ucx-model/transports/mlx5", mlx5_transports);
  g_test_add_func ("/sim/replay/ucx-model/transports/mlx4", mlx4_transports);
  g_test_add_func ("/sim/replay/ucx-model/transports/rails", rails);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/issue-6162", issue_6162);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/issue-5358", issue_5358);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/zero-copy-of-2020", zero_copy_of_2020);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/shared-wire", shared_wire);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/two-rails", two_rails);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/fast", thresholds_fast);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/within", thresholds_within);
  g_test_add_func ("/sim/replay/ucx-model/fastest/issue-9908", issue_9908);
  g_test_add_func ("/sim/replay/ucx-model/fastest/issue-9908-fast", issue_9908_fast);
  g_test_add_func ("/sim/replay/ucx-model/fastest/issue-9908-many", issue_9908_many);
  g_test_add_func ("/sim/replay/ucx-model/fastest/knem-and-adapter", knem_and_adapter);
  g_test_add_func ("/sim/replay/ucx-model/fastest/kernel-alone", kernel_alone);
  g_test_add_func ("/sim/replay/ucx-model/fastest/issue-11091", issue_11091);
  g_test_add_func ("/sim/replay/ucx-model/fastest/mapped-memory", mapped_memory);
  g_test_add_func ("/sim/replay/ucx-model/fastest/issue-11097", issue_11097);
  g_test_add_func ("/sim/replay/ucx-model/fastest/issue-9971", issue_9971);
  g_test_add_func ("/sim/replay/ucx-model/fastest/versions", versions);
  g_test_add_func ("/sim/replay/ucx-model/fastest/many-by-factors", many_by_factors);
  g_test_add_func ("/sim/replay/ucx-model/datagrams", datagrams);
  return g_test_run ();
}
