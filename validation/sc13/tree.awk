# tree.awk - figure 3 of the SC13 paper: a tree, and the leaves of ten of them, as SVG.
#
# SPDX-License-Identifier: Apache-2.0
#
#   awk -v of=16k.halo2d -f tree.awk numbers.csv >tree.svg
#
# Right: the plane of two features; the leaves of a tree are rectangles, those of different trees lie over each other;
# the circles are the mappings.  Left: the first of these trees.
BEGIN { FS = "," }
{ split($1, part, "/") }
part[2] != of { next }
part[1] == "tree" { node[part[3], $2] = $4; n_nodes = part[3] + 1 > n_nodes ? part[3] + 1 : n_nodes }
part[1] == "leaf" { leaf[part[3], $2] = $4; n_leaves = part[3] + 1 > n_leaves ? part[3] + 1 : n_leaves }
part[1] == "x" && part[3] == "max_bytes" { x[$2] = $4; n = $2 + 1 }
part[1] == "x" && part[3] == "avg_bytes" { y[$2] = $4 }

function text(at_x, at_y, what) { printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", at_x, at_y, what }

# Draws the node `at`, whose subtree has the width from .. to, and what is below it; returns the first node behind it in
# preorder.
function draw_node(at, from, to,   depth, here, down, right) {
  depth = node[at, "depth"]
  here = (from + to) / 2
  down = 50 + 70 * depth
  if (node[at, "feature"] < 0) {
    text(here, down, sprintf("%.3g ms", 1000 * node[at, "value"]))
    return at + 1
  }
  text(here, down, sprintf("%s &lt;= %.3g", node[at, "feature"] == 0 ? "max_bytes" : "avg_bytes", node[at, "cut"]))
  printf "<path d=\"M%.1f %dL%.1f %dM%.1f %dL%.1f %d\" stroke=\"#999\"/>\n", here, down + 4, (from + here) / 2, down + 58, here, down + 4, (here + to) / 2, down + 58
  right = draw_node(at + 1, from, here)
  return draw_node(right, here, to)
}

function at_x(value) { return 900 + (value - low_x) / (high_x - low_x) * 380 }
function at_y(value) { return 300 - (value - low_y) / (high_y - low_y) * 260 }

END {
  print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1320\" height=\"340\" font-family=\"sans-serif\" font-size=\"11\">"
  print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
  if (n_nodes > 0)
    draw_node(0, 0, 860)
  low_x = low_y = 1e30
  for (i = 0; i < n; i++) {
    low_x = x[i] < low_x ? x[i] : low_x
    high_x = x[i] > high_x ? x[i] : high_x
    low_y = y[i] < low_y ? y[i] : low_y
    high_y = y[i] > high_y ? y[i] : high_y
  }
  high_x = high_x > low_x ? high_x : low_x + 1
  high_y = high_y > low_y ? high_y : low_y + 1
  for (i = 0; i < n_leaves; i++)
    printf "<rect class=\"leaf\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"hsl(%d,70%%,50%%)\" fill-opacity=\"0.08\" stroke=\"#999\" stroke-width=\"0.5\"/>\n", \
      at_x(leaf[i, "x_from"]), at_y(leaf[i, "y_to"]), at_x(leaf[i, "x_to"]) - at_x(leaf[i, "x_from"]), \
      at_y(leaf[i, "y_from"]) - at_y(leaf[i, "y_to"]), i * 47 % 360
  for (i = 0; i < n; i++)
    printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#fff\" stroke=\"#222\"/>\n", at_x(x[i]), at_y(y[i])
  text(1090, 318, "max_bytes")
  text(1090, 30, "avg_bytes upwards; " of)
  print "</svg>"
}
