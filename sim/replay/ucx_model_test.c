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

static void
assert_zero_copy_from (uint32_t version, SimUcxVendor vendor, uint64_t bytes)
{
  SimUcxSituation at = situation (version, SIM_UCX_CONNECTX4, EDR_GBPS);
  SimUcxChoice choice;

  at.vendor = vendor;
  sim_ucx_choose (&at, &choice);
  g_assert_cmpuint (choice.between.bcopy_bytes, ==, bytes - 1);
}

/* With a registration of 90 ns zero copy begins between 1 and 2 KB:
 * 90 / (.1644266 - .0808594) = 1076.98.  The copy of AMD's at 5008 MiB/s, .1904309:
 * 90 / .1095715 = 821.4, 180 / .1095715 = 1642.8. */
static void
zero_copy (void)
{
  assert_zero_copy_from (7, SIM_UCX_INTEL, 1076);
  assert_zero_copy_from (7, SIM_UCX_AMD, 1076);
  assert_zero_copy_from (8, SIM_UCX_INTEL, 1076);
  assert_zero_copy_from (8, SIM_UCX_AMD, 821);
  assert_zero_copy_from (9, SIM_UCX_INTEL, 1076);
  assert_zero_copy_from (9, SIM_UCX_OTHER_VENDOR, 1076);
  assert_zero_copy_from (9, SIM_UCX_AMD, 821);
  for (uint32_t version = 10; version <= 15; version++) {
    assert_zero_copy_from (version, SIM_UCX_INTEL, 2153);
    assert_zero_copy_from (version, SIM_UCX_AMD, 1642);
  }
}

/* A segment was 8 KiB once. */
static void
packets (void)
{
  static const struct {
    uint32_t version;
    uint64_t between, within;
  } expected[] = { { 7, 8182, 8184 },  { 8, 8182, 8248 },  { 9, 8246, 8248 },  { 13, 8246, 8248 },
                   { 15, 8246, 8248 }, { 17, 8246, 8248 }, { 18, 8246, 8248 }, { 25, 8246, 8248 } };
  SimUcxSituation at = situation (0, SIM_UCX_CONNECTX6, HDR200_GBPS);
  SimUcxChoice choice;

  for (size_t k = 0; k < G_N_ELEMENTS (expected); k++) {
    at.version = expected[k].version;
    sim_ucx_choose (&at, &choice);
    g_assert_cmpuint (choice.fragment_bytes, ==, expected[k].between);
    g_assert_cmpuint (choice.fragment_within_bytes, ==, expected[k].within);
  }
}

/* QDR has 8 bits of 10: 3.957488 GB/s, .2526855 ns a byte, slower than the copy; 1301 ns and
 * 75 of rc_verbs: N = .99 (180 + 4 * 1301 + 225) - 255 = 5297.91; / (.01 * .2526855) = 2096641. */
static void
qdr (void)
{
  assert_between (situation (11, SIM_UCX_CONNECTX3, 40), 79, 2096640, 2096640);
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

  at.link_Gbps = EDR_GBPS;
  for (at.version = 12; at.version <= 15; at.version++)
    assert_between (at, 178, 87580, 87580);
}

/* Two rails count for reads only.  HDR200, 601 ns:
 *   N = .99 (2*180*2 + 2*601 + 4*601 + 2*40 + 2*40) - 220 = 4221.94
 *   D = .1644266 - .99 * .0404297 / 2 = .1444139;  N / D = 29235.0
 *   by messages, over one: 2456.96 / .1244012 = 19750.3, which is lower
 * Shared by 32 ranks, 660 ns, reads: N = .99 (720 + 6*660 + 160) - 220 = 4571.6,
 * D = 1.2937504 * (1 - .495) = .6533440;  N / D = 6997, less than a segment of 8254.  By 16:
 * D = .3266719;  N / D = 13994.5. */
static void
two_rails (void)
{
  SimUcxSituation at = situation (11, SIM_UCX_CONNECTX6, HDR200_GBPS);

  at.n_adapters = 2;
  assert_between (at, 2038, 2038, 19749);
  at.n_endpoints = 64;
  at.ranks_per_node = 32;
  assert_between (at, 2038, 8253, 8253);
  at.ranks_per_node = 16;
  assert_between (at, 2038, 13993, 13993);
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
 * Many: by reads, .99 (700 + 50 + 540 + 60 + 10 + 150) = 1494.9 against 20 + .1386687 x, alike at
 * 10636.2. */
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

/* The same by factors.  Copies: the sender's 20 + c x is slowest, the receiver's 20 + 8232 c, the
 * wire's .0620882 * 8232 and 80 once: 1752.6.  By writes 700 + 230 + 50 + 600 + 1052 + 150 = 2782,
 * by reads, which 1.18 and 1.19 count until they are acknowledged, 230 less and one 1052 more.
 *   1.18: by writes, 1029.4 / (.1386687 - .0371712) = 10141.8;  1.19: 1001.6 / .1018692 = 9831.7
 *   1.20: by reads, .99 * 2552 = 2526.5 against a copy in one segment, 110 + .3345662 x: 8115.3 */
static void
knem_and_adapter_by_factors (void)
{
  SimUcxSituation at = of_issue_9908 ();

  at.n_endpoints = 2;
  at.ranks_per_node = 2;
  at.numa_distance = 10;
  at.single_copy = SIM_UCX_KNEM;
  at.version = 18;
  assert_within (at, 92, 10142, 10142);
  at.version = 19;
  assert_within (at, 92, 9832, 9832);
  at.version = 20;
  assert_within (at, 92, 8115, 8115);
}

static void
assert_part (SimUcxSituation at, double part)
{
  SimUcxChoice choice;

  sim_ucx_choose (&at, &choice);
  g_assert_cmpfloat_with_epsilon (choice.adapter_part_within, part, 1e-4);
}

/* The 45 % of the log: 12.36715 of 26.9025 GB/s.  Shared by 6 and 7: below.  Without another way
 * the adapter carries all, until it is slower than a copy with 7.340 GB/s. */
static void
adapter_parts (void)
{
  SimUcxSituation at = of_issue_9908 ();

  at.single_copy = SIM_UCX_KNEM;
  at.ranks_per_node = 2;
  assert_part (at, .4597);
  at.ranks_per_node = 6;
  assert_part (at, .2209);
  at.ranks_per_node = 7;
  assert_part (at, 0);
  at.ranks_per_node = 2;
  at.version = 15;
  assert_part (at, 0);
  at.single_copy = SIM_UCX_NO_SINGLE_COPY;
  assert_part (at, 1);
  at.version = 16;
  at.ranks_per_node = 3;
  assert_part (at, 1);
  at.ranks_per_node = 4;
  assert_part (at, 0);
  at.ranks_per_node = 1;
  at.single_copy = SIM_UCX_XPMEM;
  assert_part (at, 0);
}

/* Lanes go together if their rates differ by no more than 4: HDR200 shared by 6 ranks has 4.1224 of
 * knem's 14.5354 GB/s, by 7 ranks 3.5335.
 *   6: as above, with .99 / 18.6578 = .0530610 a byte: 941.15 / .0856077 = 10993.8
 *   7, the kernel alone, and a copy in one segment, 110 + (2 * .1362392 + .0620882) x:
 *   knem: .99 (700 + 50 + 500 + 160 + 250) = 1643.4, .99 / 14.5354 = .0681107 a byte
 *     1533.4 / .2664558 = 5754.8
 *   9 and cma, 11.6864 GB/s, that does not register: .99 (650 + 500 + 160 + 250) = 1544.4,
 *     .99 / 11.6864 = .0847136 a byte; 1434.4 / .2498530 = 5741 */
static void
slow_adapter (void)
{
  SimUcxSituation at = of_issue_9908 ();

  at.n_endpoints = 2;
  at.numa_distance = 10;
  at.single_copy = SIM_UCX_KNEM;
  at.ranks_per_node = 6;
  assert_within (at, 92, 10994, 10994);
  at.ranks_per_node = 7;
  assert_within (at, 92, 5755, 5755);
  at.single_copy = SIM_UCX_CMA;
  at.ranks_per_node = 9;
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
 * 50 + 10 + 80 and 250 make .99 * 1090 = 1079.1, and .99 * .0620882 a byte:
 * 969.1 / .2730993 = 3548.5. */
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
 * 3070.5 / .1042667 = 29448.4.  RoCE is written as InfiniBand of that rate, 200 ns further away. */
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
  static const struct {
    uint32_t version;
    uint64_t bcopy_bytes, zcopy_bytes;
  } expected[] = { { 16, 257, 36666 },  { 17, 257, 36666 }, { 18, 8118, 37044 },
                   { 19, 8118, 35719 }, { 20, 404, 35888 }, { 25, 404, 35888 } };
  SimUcxSituation at = situation (0, SIM_UCX_CONNECTX4, EDR_GBPS);

  for (size_t k = 0; k < G_N_ELEMENTS (expected); k++)
    for (at.vendor = SIM_UCX_INTEL; at.vendor <= SIM_UCX_AMD; at.vendor++) {
      at.version = expected[k].version;
      assert_between (at, 226, expected[k].bcopy_bytes, expected[k].zcopy_bytes);
    }
}

/* The adapter on the own NUMA node, UCX 1.16.  Two endpoints, latency 702 + 350 = 1052, as in issue
 * 9908: eager 50 + 2 * 1152 + 8230 w, .1423145 a byte; a rendezvous .99 (1777 + 2254 + 1327) =
 * 5304.4, .99 w a byte, with w = .0808594 (EDR), .0404297 (HDR200) and .0208466 (NDR).
 * Shared by 32 ranks, dc, 1110: the wire is the slowest stage, and the first fragment adds
 * 2 (100 + 1110 + 50) + .1362392 * 8230 = 3641.2; .99 (1835 + 2370 + 1385) = 5534.1;
 * 1892.9 / (.01 * 2.587501) = 73154, and twice that with half of w. */
static void
wires_of_1_16 (void)
{
  SimUcxSituation at = situation (16, SIM_UCX_CONNECTX4, EDR_GBPS);

  at.n_endpoints = 2;
  assert_between (at, 226, 257, 36698);
  at.link_Gbps = HDR200_GBPS;
  assert_between (at, 226, 257, 25591);
  at.link_Gbps = NDR_GBPS;
  assert_between (at, 226, 257, 22838);

  at.n_endpoints = 64;
  at.ranks_per_node = 32;
  at.link_Gbps = EDR_GBPS;
  assert_between (at, 178, 257, 73154);
  at.n_endpoints = 256;
  assert_between (at, 178, 257, 73154);
  at.link_Gbps = HDR200_GBPS;
  assert_between (at, 178, 257, 146307);
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

  at.n_endpoints = 257;
  assert_between (at, 108, 11120, 175234);
  at.version = 16;
  sim_ucx_choose (&at, &choice);
  g_assert_cmpuint (choice.between.zcopy_bytes, ==, 2018405);
  at.n_endpoints = 256;
  sim_ucx_choose (&at, &choice);
  g_assert_cmpint (choice.transport, ==, SIM_UCX_UD_VERBS);
  g_assert_cmpuint (choice.between.zcopy_bytes, <, 1000000);
}

/* -- all ----------------------------------------------------------------- */

static SimUcxSituation
random_situation (void)
{
  static const double links_Gbps[] = { 10, 20, 40, 41.25, 56.25, EDR_GBPS, HDR200_GBPS, NDR_GBPS };

  return (SimUcxSituation){
    .version = (uint32_t) g_test_rand_int_range (5, 25),
    .n_endpoints = (uint32_t) g_test_rand_int_range (0, 400),
    .ranks_per_node = (uint32_t) g_test_rand_int_range (0, 130),
    .adapter = (SimUcxAdapter) g_test_rand_int_range (0, SIM_UCX_CONNECTX7 + 1),
    .n_adapters = (uint32_t) g_test_rand_int_range (0, 9),
    .link_Gbps = links_Gbps[g_test_rand_int_range (0, G_N_ELEMENTS (links_Gbps))],
    .mtu_bytes = 256u << g_test_rand_int_range (0, 5),
    .pcie_Bps = g_test_rand_int_range (0, 2) * g_test_rand_double_range (1e9, 60e9),
    .numa_distance = g_test_rand_int_range (0, 2) * g_test_rand_double_range (10, 40),
    .vendor = (SimUcxVendor) g_test_rand_int_range (0, SIM_UCX_OTHER_VENDOR + 1),
    .single_copy = (SimUcxSingleCopy) g_test_rand_int_range (0, SIM_UCX_XPMEM + 1),
    .fast_completion = g_test_rand_int_range (0, 2) == 1,
    .multi_send = g_test_rand_int_range (0, 2) == 1,
  };
}

static void
assert_in_order (const SimUcxLimits *limits)
{
  g_assert_cmpuint (limits->short_bytes, <=, limits->bcopy_bytes);
  g_assert_cmpuint (limits->bcopy_bytes, <=, limits->zcopy_bytes);
}

static void
any_situation (void)
{
  for (int k = 0; k < 20000; k++) {
    SimUcxSituation at = random_situation ();
    SimUcxChoice choice;

    sim_ucx_choose (&at, &choice);
    assert_in_order (&choice.between);
    assert_in_order (&choice.within);
    if (at.fast_completion) {
      g_assert_cmpuint (choice.between.zcopy_bytes, ==, FAST_BYTES);
      g_assert_cmpuint (choice.within.zcopy_bytes, ==, FAST_BYTES);
    }
    g_assert_cmpuint (choice.between.short_bytes, <=, choice.fragment_bytes);
    g_assert_cmpuint (choice.n_rails, >=, 1);
    g_assert_cmpuint (choice.n_rails, <=, 2);
  }
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
  g_test_add_func ("/sim/replay/ucx-model/thresholds/zero-copy", zero_copy);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/packets", packets);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/qdr", qdr);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/shared-wire", shared_wire);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/two-rails", two_rails);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/fast", thresholds_fast);
  g_test_add_func ("/sim/replay/ucx-model/thresholds/within", thresholds_within);
  g_test_add_func ("/sim/replay/ucx-model/fastest/issue-9908", issue_9908);
  g_test_add_func ("/sim/replay/ucx-model/fastest/issue-9908-fast", issue_9908_fast);
  g_test_add_func ("/sim/replay/ucx-model/fastest/issue-9908-many", issue_9908_many);
  g_test_add_func ("/sim/replay/ucx-model/fastest/knem-and-adapter", knem_and_adapter);
  g_test_add_func ("/sim/replay/ucx-model/fastest/knem-and-adapter-by-factors",
                   knem_and_adapter_by_factors);
  g_test_add_func ("/sim/replay/ucx-model/fastest/adapter-parts", adapter_parts);
  g_test_add_func ("/sim/replay/ucx-model/fastest/slow-adapter", slow_adapter);
  g_test_add_func ("/sim/replay/ucx-model/fastest/issue-11091", issue_11091);
  g_test_add_func ("/sim/replay/ucx-model/fastest/mapped-memory", mapped_memory);
  g_test_add_func ("/sim/replay/ucx-model/fastest/issue-11097", issue_11097);
  g_test_add_func ("/sim/replay/ucx-model/fastest/issue-9971", issue_9971);
  g_test_add_func ("/sim/replay/ucx-model/fastest/versions", versions);
  g_test_add_func ("/sim/replay/ucx-model/fastest/wires-of-1.16", wires_of_1_16);
  g_test_add_func ("/sim/replay/ucx-model/fastest/many-by-factors", many_by_factors);
  g_test_add_func ("/sim/replay/ucx-model/datagrams", datagrams);
  g_test_add_func ("/sim/replay/ucx-model/any-situation", any_situation);
  return g_test_run ();
}
