/* recipe_test.c - every operation on boxes small enough to work out by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A picture shows the machine row by row, with the rank that each place has; "-" is
 * an empty place. */
#include "topology/recipe/recipe.h"
#include "topology/topology_testing.h"

#include <string.h>

static TopoMapping *
mapping_of (const char *recipe, const TopoMachine *machine, uint32_t n_ranks)
{
  g_autoptr (GError) error = NULL;
  TopoMapping *mapping = topo_mapping_new (recipe, machine, n_ranks, &error);

  g_assert_no_error (error);
  return mapping;
}

/* The ranks by place, with blanks between. */
static char *
picture_of (const TopoMapping *mapping, const TopoMachine *machine)
{
  uint32_t n_slots = machine->ranks_per_node;
  uint32_t n_places = topo_shape_nodes (&machine->shape) * n_slots;
  g_autofree uint32_t *rank_at = g_new (uint32_t, n_places);
  GString *picture = g_string_new (NULL);

  memset (rank_at, 0xff, n_places * sizeof *rank_at);
  for (uint32_t rank = 0; rank < mapping->n_ranks; rank++) {
    uint32_t place = mapping->node[rank] * n_slots + mapping->slot[rank];

    g_assert_cmpuint (place, <, n_places);
    g_assert_cmpuint (rank_at[place], ==, TOPO_NONE);
    rank_at[place] = rank;
  }
  for (uint32_t place = 0; place < n_places; place++) {
    if (place > 0)
      g_string_append_c (picture, ' ');
    if (rank_at[place] == TOPO_NONE)
      g_string_append_c (picture, '-');
    else
      g_string_append_printf (picture, "%u", rank_at[place]);
  }
  return g_string_free (picture, FALSE);
}

static const struct {
  const char *spec;
  uint32_t n_slots, n_ranks;
  const char *recipe, *picture;
} pictures[] = {
  /* Cuts: ranks fill a piece before the next piece. */
  { "torus:2x3", 1, 6, "net", "0 1 2  3 4 5" },
  /* Rows 0-1 and 2-4, columns 0 and 1-2: the last piece has the remainder. */
  { "torus:5x3", 1, 15, "net.div(2,2)", "0 2 3  1 4 5  6 9 10  7 11 12  8 13 14" },
  { "torus:5x3", 1, 15, "net.div(1,3)", "0 5 10  1 6 11  2 7 12  3 8 13  4 9 14" },
  { "torus:4x4", 1, 16, "net.tile(2,2,1)", "0 1 4 5  2 3 6 7  8 9 12 13  10 11 14 15" },
  /* Five columns hold two tiles of two: that many pieces, as div() cuts them. */
  { "torus:2x5", 1, 10, "net.tile(2,2,1)", "0 1 4 5 6  2 3 7 8 9" },
  /* Sizes that are left out are 1: columns. */
  { "torus:2x3", 1, 6, "net.tile(2)", "0 2 4  1 3 5" },
  /* Even and odd rows and columns. */
  { "torus:3x4", 1, 12, "net.mod(2,2)", "0 4 1 5  8 10 9 11  2 6 3 7" },
  /* 5 mod 3: rows 0 3, 1 4, 2. */
  { "torus:5", 2, 10, "net.mod(3)", "0 1  4 5  8 9  2 3  6 7" },
  { "torus:4x4", 1, 16, "net.cut(2 div,2 mod)", "0 4 1 5  2 6 3 7  8 12 9 13  10 14 11 15" },
  { "torus:4x4", 1, 16, "net.cut(1 div,4 mod)", "0 4 8 12  1 5 9 13  2 6 10 14  3 7 11 15" },

  /* A cut of a piece; the last cut of a box counts. */
  { "torus:4x4", 1, 16, "net.tile(2,2,1).each().div(1,2)",
    "0 2 4 6  1 3 5 7  8 10 12 14  9 11 13 15" },
  { "torus:4x4", 1, 16, "net.div(2,2)[0,1].div(1,2)", "0 1 4 6  2 3 5 7  8 9 12 13  10 11 14 15" },
  { "torus:4x4", 1, 16, "net.div(4,4).div(2,2)", "0 1 4 5  2 3 6 7  8 9 12 13  10 11 14 15" },
  { "torus:4x4", 1, 16, "net.mod(2,2)[1,1].div(1,2).root().div(1,2)",
    "0 1 8 9  2 3 10 11  4 5 12 13  6 7 14 15" },
  /* Odd columns first halved: a piece of an interleaved piece. */
  { "torus:8", 1, 8, "net.mod(2)[1].div(2)", "0 4 1 5 2 6 3 7" },
  { "torus:8", 1, 8, "net.mod(2).each().mod(2)", "0 4 2 6 1 5 3 7" },

  /* Tilts and shears. */
  /* Column j goes down j rows. */
  { "torus:3x3", 1, 9, "net.tilt(A,B,1)", "0 7 5  3 1 8  6 4 2" },
  { "torus:3x3", 1, 9, "net.tilt(A,B)", "0 7 5  3 1 8  6 4 2" },
  { "torus:3x3", 1, 9, "net.tilt(0,1,4)", "0 7 5  3 1 8  6 4 2" },
  { "torus:3x3", 1, 9, "net.tilt(A,B,-2)", "0 7 5  3 1 8  6 4 2" },
  { "torus:3x3", 1, 9, "net.tilt(A,B,0)", "0 1 2  3 4 5  6 7 8" },
  /* Row i goes right i columns. */
  { "torus:3x3", 1, 9, "net.shear(A,B,1)", "0 1 2  5 3 4  7 8 6" },
  { "torus:3x3", 1, 9, "net.tilt(B,A,1)", "0 1 2  5 3 4  7 8 6" },
  /* Column j goes down 2 j rows. */
  { "torus:3x3", 1, 9, "net.shear(B,A,2)", "0 4 8  3 7 2  6 1 5" },
  /* The second slots of nodes change places along A, and the other way round. */
  { "torus:3", 2, 6, "net.tilt(A,T)", "0 5  2 1  4 3" },
  { "torus:3", 2, 6, "net.tilt(T,A)", "0 1  3 2  4 5" },
  /* One after the other: columns down, then rows to the right. */
  { "torus:3x3", 1, 9, "net.tilt(A,B).tilt(B,A)", "0 7 5  8 3 1  4 2 6" },
  /* Between A and C, whatever B: planes of C go along A. */
  { "torus:2x2x2", 1, 8, "net.tilt(A,C)", "0 5 2 7  4 1 6 3" },

  /* Zigzags. */
  { "torus:2x4", 1, 8, "net.zigzag(A,B)", "0 5 2 7  4 1 6 3" },
  /* 0 1 2 1 0 rows down. */
  { "torus:4x5", 1, 20, "net.zigzag(A,B,2,2)",
    "0 16 12 18 4  5 1 17 3 9  10 6 2 8 14  15 11 7 13 19" },
  /* 0 2 3 2 0: three halves are rounded away from the crest's height down. */
  { "torus:4x5", 1, 20, "net.zigzag(A,B,3,2)",
    "0 11 7 13 4  5 16 12 18 9  10 1 17 3 14  15 6 2 8 19" },
  /* 0 -1 0: one row up. */
  { "torus:3x3", 1, 9, "net.zigzag(A,B,-1,1)", "0 4 2  3 7 5  6 1 8" },
  /* 0 0 -1 0: minus a half is rounded down before it is taken from the depth. */
  { "torus:4x4", 1, 16, "net.zigzag(A,B,-1,2)", "0 1 6 3  4 5 10 7  8 9 14 11  12 13 2 15" },

  /* Transpositions. */
  { "torus:2x3", 1, 6, "net.transpose(B,A,T)", "0 3 1  4 2 5" },
  { "torus:2x3", 1, 6, "net.transpose(0,1,2)", "0 1 2  3 4 5" },
  /* The box with its axes in the order C A B, read row by row. */
  { "torus:2x2x3", 1, 12, "net.transpose(C,A,B,T)", "0 3 6 9 1 4  7 10 2 5 8 11" },
  { "torus:2x2", 1, 4, "app(2,2).transpose(1,0) net", "0 2  1 3" },

  /* Curves; in Morton's order the first dimension has the lowest bit. */
  { "torus:4x4", 1, 16, "net.zorder()", "0 2 8 10  1 3 9 11  4 6 12 14  5 7 13 15" },
  { "torus:3x3", 1, 9, "net.zorder()", "0 2 6  1 3 7  4 5 8" },
  { "torus:2x3", 1, 6, "net.unwind(zorder)", "0 3 1  4 2 5" },
  { "torus:2x3", 1, 6, "net.zorder()", "0 2 4  1 3 5" },
  { "torus:2x3", 1, 6, "net.zorder().unwind(zorder)", "0 1 2  3 4 5" },
  { "torus:2x2", 1, 4, "net.hilbert()", "0 1  3 2" },
  { "torus:3x2", 1, 6, "net.snake()", "0 1  3 2  4 5" },
  { "torus:2x2", 1, 4, "net.gray()", "0 3  1 2" },
  { "torus:3x3", 1, 9, "net.peano()", "0 1 2  5 4 3  6 7 8" },
  /* Along the ranks' own curve, then along the machine's. */
  { "torus:2x2", 1, 4, "app(2,2).unwind(zorder) net.hilbert()", "0 2  3 1" },

  /* Moves of one piece or of each; contents are shared with the whole. */
  { "torus:4x4", 1, 16, "net.tile(2,2,1).each().tilt(A,B)",
    "0 3 4 7  2 1 6 5  8 11 12 15  10 9 14 13" },
  { "torus:4x4", 1, 16, "net.tile(2,2,1)[0,1,0].tilt(A,B)",
    "0 1 4 7  2 3 6 5  8 9 12 13  10 11 14 15" },
  { "torus:4x4", 1, 16, "net.tile(2,2,1)[1,0,0].tilt(A,B).root().tilt(A,B,2)",
    "0 11 4 13  2 9 6 15  8 1 12 5  10 3 14 7" },
  /* Cut after the ranks are there. */
  { "torus:4x4", 1, 16, "net.map().tile(2,2,1).each().tilt(A,B)",
    "0 5 2 7  4 1 6 3  8 13 10 15  12 9 14 11" },
  { "torus:4x4", 1, 16, "net.map().mod(2,2)[0,1].transpose(1,0,2)",
    "0 1 2 9  4 5 6 7  8 3 10 11  12 13 14 15" },
  { "torus:4x4", 1, 16, "net.map().div(2,1).each().div(1,2).root().leaves().snake()",
    "0 1 2 3  5 4 7 6  8 9 10 11  13 12 15 14" },
  { "torus:4x4", 1, 16, "net.map().div(2)[1].div(1,2).root().leaves().tilt(B,A)",
    "0 1 2 3  7 4 5 6  8 9 10 11  13 12 15 14" },

  /* Boxes of ranks in boxes of the machine. */
  /* Blocks of a 4 x 4 grid become planes of constant C. */
  { "torus:2x2x4", 1, 16, "app(4,4).tile(2,2) net.tile(2,2,1,1)",
    "0 2 8 10  1 3 9 11  4 6 12 14  5 7 13 15" },
  { "torus:2x2x4", 1, 16, "box(4,4).tile(2,2) net.tile(2,2,1,1).map()",
    "0 2 8 10  1 3 9 11  4 6 12 14  5 7 13 15" },
  /* Rows of ranks on columns of nodes. */
  { "torus:3x2", 1, 6, "app(2,3).tile(1,3) net.tile(3,1)", "0 3  1 4  2 5" },
  /* Blocks of ranks on the slots of a node. */
  { "torus:4", 4, 16, "app(4,4).tile(2,2) net.tile(1,4)",
    "0 1 4 5  2 3 6 7  8 9 12 13  10 11 14 15" },
  /* Only one of the two is cut: one piece after the other. */
  { "torus:4x4", 1, 16, "app(4,4) net.tile(2,2,1)", "0 1 4 5  2 3 6 7  8 9 12 13  10 11 14 15" },
  { "torus:16", 1, 16, "app(4,4).tile(2,2) net", "0 1 4 5 2 3 6 7 8 9 12 13 10 11 14 15" },
  /* The block is tilted, then laid. */
  { "torus:2x2", 1, 4, "app(2,2).tilt(0,1) net", "0 3  2 1" },

  /* The second block, 2 3 over 6 7, becomes 2 7 over 6 3; then rows 1 and 3 of the whole
   * grid go two to the right: 0 1 2 7 / 6 3 4 5 / 8 9 10 11 / 14 15 12 13. */
  { "torus:16", 1, 16, "app(4,4).tile(2,2)[0,1].tilt(0,1).root().shear(0,1,2) net",
    "0 1 6 3  2 7 4 5  8 9 14 15  10 11 12 13" },

  /* Fewer ranks than places. */
  { "torus:4x4", 1, 5, "net.tile(2,2,1)", "0 1 4 -  2 3 - -  - - - -  - - - -" },
  { "torus:4x4", 1, 8, "app(2,4).tile(2,2) net.tile(2,2,1)", "0 1 2 3  4 5 6 7  - - - -  - - - -" },
  /* Empty places move as ranks do. */
  { "torus:2x3", 1, 4, "net.tilt(A,B)", "0 - 2  3 1 -" },
  { "torus:2x3", 1, 1, "net.transpose(1,0,2).tilt(B,A)", "0 - -  - - -" },
  { "torus:2x2", 2, 3, "hilbert", "0 1 2 -  - - - -" },
  { "torus:2x2", 2, 3, "cyclic", "0 -  1 -  2 -  - -" },
  { "torus:1", 1, 1, "app(1).zorder() net.div(1)[0].hilbert()", "0" },

  /* Curves over the nodes. */
  { "torus:2x2", 2, 8, "hilbert", "0 1  2 3  6 7  4 5" },
  { "torus:2x2", 2, 8, "hilbert()", "0 1  2 3  6 7  4 5" },
  { "torus:2x2", 2, 8, "hilbert(TAB)", "0 4  1 5  3 7  2 6" },
  { "torus:2x2", 2, 8, "hilbert(BA)", "0 1  6 7  2 3  4 5" },
  { "torus:2x3", 1, 6, "snake", "0 1 2  5 4 3" },
  { "torus:2x3", 1, 6, "snake(BAT)", "0 3 4  1 2 5" },
  { "torus:2x2", 1, 4, "zorder", "0 2  1 3" },
  { "torus:2x2", 1, 4, "gray", "0 3  1 2" },
  { "torus:2x2", 1, 4, "peano", "0 1  3 2" },
  { "systemg:3", 2, 6, "snake(TA)", "0 3  1 4  2 5" },

  /* As srun(1) describes -m. */
  { "torus:3", 5, 15, "block", "0 1 2 3 4  5 6 7 8 9  10 11 12 13 14" },
  { "torus:3", 5, 15, "cyclic", "0 3 6 9 12  1 4 7 10 13  2 5 8 11 14" },
  { "torus:3", 5, 15, "plane(2)", "0 1 6 7 12  2 3 8 9 13  4 5 10 11 14" },
  { "torus:3", 5, 15, "plane(1)", "0 3 6 9 12  1 4 7 10 13  2 5 8 11 14" },
  { "torus:3", 5, 15, "plane(5)", "0 1 2 3 4  5 6 7 8 9  10 11 12 13 14" },
  { "torus:3", 5, 8, "plane(2)", "0 1 6 7 -  2 3 - - -  4 5 - - -" },

  /* Blanks may stand anywhere between words, numbers and signs. */
  { "torus:2x2", 1, 4,
    "  app ( 2 , 2 ) . tile( 1 ,2 )\tnet . tile(2 ,1 ) . map ( ) .tilt( A, B , 1 ) ", "0 3  1 2" },
};

static void
test_pictures (void)
{
  for (gsize at = 0; at < G_N_ELEMENTS (pictures); at++) {
    g_autoptr (TopoMachine) machine =
        topo_testing_machine (pictures[at].spec, pictures[at].n_slots);
    g_autoptr (TopoMapping) mapping =
        mapping_of (pictures[at].recipe, machine, pictures[at].n_ranks);
    g_autofree char *picture = picture_of (mapping, machine);
    g_autoptr (GString) expected = g_string_new (pictures[at].picture);

    g_string_replace (expected, "  ", " ", 0); /* rows stand apart for the reader */
    g_test_message ("%s", pictures[at].recipe);
    g_assert_cmpstr (picture, ==, expected->str);
  }
}

/* --- Orders of all places --- */

/* Computed by another program from the words of the handbook, whose first number of
 * seed 0 is the published e220a8397b1dcdaf.  Rank r has the r-th place listed. */
static void
test_random (void)
{
  static const struct {
    uint32_t seed, place[12], node[6];
  } cases[] = {
    { 0, { 4, 1, 6, 8, 0, 5, 2, 3, 11, 9, 10, 7 }, { 4, 2, 5, 3, 0, 1 } },
    { 7, { 10, 11, 5, 1, 7, 4, 8, 2, 9, 6, 0, 3 }, { 1, 5, 0, 2, 4, 3 } },
    { 42, { 9, 6, 7, 10, 3, 11, 4, 2, 0, 8, 5, 1 }, { 4, 3, 0, 2, 5, 1 } },
  };
  g_autoptr (TopoMachine) machine = topo_testing_machine ("torus:2x3", 2);

  for (gsize at = 0; at < G_N_ELEMENTS (cases); at++) {
    g_autofree char *places = g_strdup_printf ("random(%u)", cases[at].seed);
    g_autofree char *nodes = g_strdup_printf ("random(%u,nodes)", cases[at].seed);
    g_autoptr (TopoMapping) by_place = mapping_of (places, machine, 12);
    g_autoptr (TopoMapping) by_node = mapping_of (nodes, machine, 12);

    for (uint32_t rank = 0; rank < 12; rank++) {
      g_assert_cmpuint (by_place->node[rank] * 2 + by_place->slot[rank], ==, cases[at].place[rank]);
      g_assert_cmpuint (by_node->node[rank], ==, cases[at].node[rank / 2]);
      g_assert_cmpuint (by_node->slot[rank], ==, rank % 2);
    }
  }
}

/* --- What is a recipe --- */

static void
test_recognition (void)
{
  static const char *const recipes[] = { "hilbert",   "net",   "block",    "cyclic",
                                         "random(1)", "x (1)", "plane(2)", "gray" };
  static const char *const others[] = { "net.map", "ABCDET", "random",        "plane",
                                        "app",     "./net",  "maps/a(1).map", "slurm:hosts(1)",
                                        "Hilbert", "" };

  for (gsize at = 0; at < G_N_ELEMENTS (recipes); at++)
    g_assert_true (topo_is_recipe (recipes[at]));
  for (gsize at = 0; at < G_N_ELEMENTS (others); at++)
    g_assert_false (topo_is_recipe (others[at]));
}

/* A whole Sequoia with 16 ranks per node, 1.5 million ranks. */
static void
test_largest_machine (void)
{
  g_autoptr (TopoMachine) machine = topo_testing_machine ("bgq:98304", 16);
  g_autoptr (TopoMapping) mapping = mapping_of (
      "app(128,128,96).tile(8,8,8) net.tile(2,2,2,2,2,16).map().tilt(A,B).zigzag(C,D,2,2)", machine,
      1572864);
  g_autoptr (TopoMapping) points = mapping_of ("net.tile(1)", machine, 1572864);
  g_autofree char *picture = picture_of (mapping, machine); /* which looks at every place */

  g_assert_nonnull (picture);
  g_assert_cmpuint (points->node[1572863], ==, 98303);
  g_assert_cmpuint (points->slot[1572863], ==, 15);
}

int
main (int argc, char *argv[])
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/topology/recipe/pictures", test_pictures);
  g_test_add_func ("/topology/recipe/random", test_random);
  g_test_add_func ("/topology/recipe/recognition", test_recognition);
  g_test_add_func ("/topology/recipe/largest-machine", test_largest_machine);
  return g_test_run ();
}
