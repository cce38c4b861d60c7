# scores.awk - the bar charts of the SC13 study, as SVG.
#
# SPDX-License-Identifier: Apache-2.0
#
#   awk -v figure=5|6|7|8|10|11|12|13 -f ../plot_bars.awk -f scores.awk numbers.csv >picture.svg
#
# Numbered as in the paper: 5, features known before; 6, new ones; 7, sets of them; 8, four times the nodes; 10 and 11,
# programs and sizes together, and the pairs in the wrong order; 12, learned on a quarter of the nodes; 13, pF3D.  Bars
# are medians over 200 splits of a third, ten trees; the lines across end at 5 and 95 %.
BEGIN {
  FS = ","
  prior = "max_dilation avg_bytes max_bytes"
  novel = "avg_buffer avg_buffer_TO sum_dilation_AO avg_bytes_AO avg_bytes_TO"
  sets = "H1 H2 H3 H4 H5 H6"
  points[5] = prior; points[6] = novel; points[7] = sets
  points[8] = "max_bytes avg_bytes_TO H3 H4 H5 H6"
  points[10] = points[11] = points[12] = prior " " novel " " sets
  points[13] = prior " avg_buffer avg_bytes_TO sum_dilation_AO sum_message_dilation_AO " sets
  n_points = split(points[figure], point, " ")
}
function is_wanted(kind, of) {
  if (figure <= 7)
    return kind == "score" && of ~ /^[0-9a-z]+\.(halo2d|halo3d|suba2a)$/
  if (figure == 8)
    return kind == "score" && of ~ /^high\./
  if (figure == 13)
    return kind == "score" && of == "pf3d"
  return figure == 12 ? kind == "transfer" : kind == "score" && of ~ /^combined/
}
{
  if (split($1, part, "/") != 5 || part[3] != "same" || part[4] != "paper" || !is_wanted(part[1], part[2]))
    next
  if (!(part[2] in of_case)) {
    of_case[part[2]] = 1
    cases[++n_cases] = part[2]
  }
  value[part[2], part[5], $2] = $4
}

END {
  n_scores = figure == 11 ? split("mispredicted", score, " ") : split("rcc r2", score, " ")
  title["rcc"] = "RCC"; title["r2"] = "R2"; title["mispredicted"] = "pairs in the wrong order"
  for (i = 1; i <= n_scores; i++)
    for (c = 1; c <= n_cases; c++)
      for (p = 1; p <= n_points; p++)
        draw_one(cases[c], score[i], point[p])
  draw_bars("medians over 200 splits; lines: 5 to 95 %")
}

function draw_one(of, name, set,   program, size) {
  if (!((of, name, set) in value))
    return
  program = of
  sub(/.*\./, "", program)
  size = of == program ? "all" : substr(of, 1, length(of) - length(program) - 1)
  sub(/^high\./, "", size)
  if (of ~ /normalized/)
    size = "each case by its means"
  add_bar(title[name], of ~ /^(combined|high)(_normalized)?$/ ? "together" : program, set, size, \
    value[of, name, set], value[of, name "_p5", set], value[of, name "_p95", set])
}
