/* unit_test.c - numbers with units are read exactly and printed without loss.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "topology/unit.h"

#include "topology/machine.h"

#include <string.h>

static TopoValue
parsed (TopoUnit unit, const char *text)
{
  g_autoptr (GError) error = NULL;
  TopoValue value;
  gboolean good = topo_unit_parse (unit, text, &value, &error);

  g_assert_no_error (error);
  g_assert_true (good);
  return value;
}

static void
test_whole_values (void)
{
  static const struct {
    TopoUnit unit;
    const char *text;
    uint64_t value;
  } cases[] = {
    { TOPO_UNIT_TIME, "40 ns", 40000 },
    { TOPO_UNIT_TIME, "40ns", 40000 },
    { TOPO_UNIT_TIME, "2.7 us", 2700000 },
    { TOPO_UNIT_TIME, "0.001 ns", 1 },
    { TOPO_UNIT_TIME, "7 ps", 7 },
    { TOPO_UNIT_TIME, ".5 ms", 500000000 },
    { TOPO_UNIT_TIME, "1 s", 1000000000000 },
    { TOPO_UNIT_BYTES, "64 KiB", 65536 },
    { TOPO_UNIT_BYTES, "64 kB", 64000 },
    { TOPO_UNIT_BYTES, "1.5 MiB", 1572864 },
    { TOPO_UNIT_BYTES, "2 GB", 2000000000 },
    { TOPO_UNIT_BANDWIDTH, "27.8 GB/s", 27800000000 },
    { TOPO_UNIT_BANDWIDTH, "100 Gb/s", 12500000000 },
    { TOPO_UNIT_BANDWIDTH, "2e3 kB/s", 2000000 },
    { TOPO_UNIT_COUNT, "126", 126 },
    { TOPO_UNIT_BOOLEAN, "true", 1 },
    { TOPO_UNIT_BOOLEAN, "false", 0 },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++)
    g_assert_cmpuint (parsed (cases[at].unit, cases[at].text).whole, ==, cases[at].value);
}

static void
test_real_values (void)
{
  g_assert_true (parsed (TOPO_UNIT_SHARE, "3 %").real == 0.03);
  g_assert_true (parsed (TOPO_UNIT_SHARE, "12.5%").real == 0.125);
  g_assert_true (parsed (TOPO_UNIT_FLOPS, "12.8 Gflop/s").real == 12.8e9);
  g_assert_true (parsed (TOPO_UNIT_FLOPS, "1e9 flop/s").real == 1e9);
}

static void
test_bad_texts_are_refused (void)
{
  static const struct {
    TopoUnit unit;
    const char *text;
    TopoError code;
  } cases[] = {
    { TOPO_UNIT_TIME, "", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_TIME, "ns", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_TIME, "40", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_TIME, "-1 ns", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_TIME, "40 Ns", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_TIME, "40 ns x", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_TIME, "40 B", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_TIME, "nan ns", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_TIME, "inf ns", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_TIME, "0x10 ns", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_TIME, "0.4 ps", TOPO_ERROR_RANGE },
    { TOPO_UNIT_TIME, "1e300 s", TOPO_ERROR_RANGE },
    { TOPO_UNIT_BYTES, "1.5 B", TOPO_ERROR_RANGE },
    { TOPO_UNIT_BYTES, "512 b", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_BANDWIDTH, "2 GB", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_BANDWIDTH, "2 GiB/s", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_COUNT, "7 packets", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_COUNT, "7.5", TOPO_ERROR_RANGE },
    { TOPO_UNIT_BOOLEAN, "yes", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_BOOLEAN, "TRUE", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_SHARE, "0.03", TOPO_ERROR_SYNTAX },
    { TOPO_UNIT_FLOPS, "12.8 GFLOPS", TOPO_ERROR_SYNTAX },
  };

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autoptr (GError) error = NULL;
    TopoValue value;

    g_assert_false (topo_unit_parse (cases[at].unit, cases[at].text, &value, &error));
    g_assert_error (error, TOPO_ERROR, (int) cases[at].code);
    g_assert_nonnull (strstr (error->message, cases[at].text));
  }
}

static void
assert_prints (TopoUnit unit, TopoValue value, const char *expected)
{
  g_autofree char *text = topo_unit_print (unit, value);

  g_assert_cmpstr (text, ==, expected);
}

static void
test_largest_exact_unit (void)
{
  assert_prints (TOPO_UNIT_TIME, (TopoValue){ .whole = 40000 }, "40 ns");
  assert_prints (TOPO_UNIT_TIME, (TopoValue){ .whole = 2700000 }, "2.7 us");
  assert_prints (TOPO_UNIT_TIME, (TopoValue){ .whole = 1234567 }, "1234.567 ns");
  assert_prints (TOPO_UNIT_TIME, (TopoValue){ .whole = 0 }, "0 ps");
  assert_prints (TOPO_UNIT_BYTES, (TopoValue){ .whole = 65536 }, "64 KiB");
  assert_prints (TOPO_UNIT_BYTES, (TopoValue){ .whole = 1000 }, "1000 B");
  assert_prints (TOPO_UNIT_BYTES, (TopoValue){ .whole = 0 }, "0 B");
  assert_prints (TOPO_UNIT_BANDWIDTH, (TopoValue){ .whole = 27800000000 }, "27.8 GB/s");
  assert_prints (TOPO_UNIT_BANDWIDTH, (TopoValue){ .whole = 2000000001 }, "2000000.001 kB/s");
  assert_prints (TOPO_UNIT_COUNT, (TopoValue){ .whole = 0 }, "0");
  assert_prints (TOPO_UNIT_BOOLEAN, (TopoValue){ .whole = 1 }, "true");
  assert_prints (TOPO_UNIT_SHARE, (TopoValue){ .real = 0.03 }, "3 %");
  assert_prints (TOPO_UNIT_SHARE, (TopoValue){ .real = 0.00125 }, "0.125 %");
  assert_prints (TOPO_UNIT_SHARE, (TopoValue){ .real = 0 }, "0 %");
  assert_prints (TOPO_UNIT_FLOPS, (TopoValue){ .real = 12.8e9 }, "12.8 Gflop/s");
  assert_prints (TOPO_UNIT_FLOPS, (TopoValue){ .real = 100e6 }, "100 Mflop/s");
}

static void
test_random_whole_values_survive (void)
{
  static const TopoUnit units[] = { TOPO_UNIT_TIME, TOPO_UNIT_BYTES, TOPO_UNIT_BANDWIDTH,
                                    TOPO_UNIT_COUNT };

  for (gsize at = 0; at < G_N_ELEMENTS (units); at++)
    for (int trial = 0; trial < 2000; trial++) {
      uint64_t bits =
          (uint64_t) (uint32_t) g_test_rand_int () << 20 ^ (uint32_t) g_test_rand_int ();
      TopoValue value = { .whole = bits >> g_test_rand_int_range (2, 52) };
      g_autofree char *text = topo_unit_print (units[at], value);

      g_assert_cmpuint (parsed (units[at], text).whole, ==, value.whole);
    }
}

static void
test_random_real_values_survive (void)
{
  for (int trial = 0; trial < 5000; trial++) {
    TopoUnit unit = trial % 2 ? TOPO_UNIT_SHARE : TOPO_UNIT_FLOPS;
    double scale = trial % 2 ? 0.9 : 1e14;
    TopoValue value = { .real = g_test_rand_double () * scale };
    g_autofree char *text = topo_unit_print (unit, value);

    g_assert_true (parsed (unit, text).real == value.real);
  }
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/unit/whole", test_whole_values);
  g_test_add_func ("/topology/unit/real", test_real_values);
  g_test_add_func ("/topology/unit/bad", test_bad_texts_are_refused);
  g_test_add_func ("/topology/unit/print", test_largest_exact_unit);
  g_test_add_func ("/topology/unit/whole-survive", test_random_whole_values_survive);
  g_test_add_func ("/topology/unit/real-survive", test_random_real_values_survive);
  return g_test_run ();
}
