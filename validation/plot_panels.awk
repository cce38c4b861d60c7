# plot_panels.awk - points in a row of panels, as SVG.
#
# SPDX-License-Identifier: Apache-2.0
#
# For other programs, which come after it: awk -f plot_panels.awk -f PROGRAM.  They
# call add_point() for every point and draw_panels() at the end.  Every panel has its own
# axes; y is logarithmic unless is_linear is set.
BEGIN {
  panel = 300; height = 280; left = 58; right = 10; top = 34; bottom = 42
  split("#0b6e99 #c2410c #4d7c0f #7c3aed #a16207 #be185d", colour, " ")
}

function add_point(p, s, x, y) {
  if (!(p in panel_at)) {
    panel_at[p] = ++n_panels
    panel_name[n_panels] = p
  }
  if (!((p, s) in series_at)) {
    series_at[p, s] = ++n_series[p]
    series_name[p, n_series[p]] = s
  }
  k = ++n_points[p, s]
  at_x[p, s, k] = x
  at_y[p, s, k] = y
}

function label(value) { return sprintf("%.3g", value) }
function text(x, y, anchor, what) {
  printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, what
}
function scale_x(value) { return from + left + (value - low_x) / (high_x - low_x) * (panel - left - right) }
function scale_y(value) {
  value = is_linear ? value : log(value)
  return height - bottom - (value - low_y) / (high_y - low_y) * (height - top - bottom)
}

function find_limits(p,   i, k, s, y) {
  low_x = low_y = 1e30
  high_x = high_y = -1e30
  for (i = 1; i <= n_series[p]; i++) {
    s = series_name[p, i]
    for (k = 1; k <= n_points[p, s]; k++) {
      y = is_linear ? at_y[p, s, k] : log(at_y[p, s, k])
      low_x = at_x[p, s, k] + 0 < low_x ? at_x[p, s, k] + 0 : low_x
      high_x = at_x[p, s, k] + 0 > high_x ? at_x[p, s, k] + 0 : high_x
      low_y = y < low_y ? y : low_y
      high_y = y > high_y ? y : high_y
    }
  }
  high_x = high_x > low_x ? high_x : low_x + 1
  high_y = high_y > low_y ? high_y : low_y + 1
}

function draw(p,   i, k, s) {
  find_limits(p)
  text(from + panel / 2, 18, "middle", p)
  printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>\n", from + left, top, panel - left - right, height - top - bottom
  text(from + left, height - bottom + 16, "start", label(low_x))
  text(from + panel - right, height - bottom + 16, "end", label(high_x))
  text(from + left - 4, height - bottom, "end", label(is_linear ? low_y : exp(low_y)))
  text(from + left - 4, top + 10, "end", label(is_linear ? high_y : exp(high_y)))
  for (i = 1; i <= n_series[p]; i++) {
    s = series_name[p, i]
    for (k = 1; k <= n_points[p, s]; k++)
      printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"%s\"/>\n", scale_x(at_x[p, s, k]), scale_y(at_y[p, s, k]), colour[(i - 1) % 6 + 1]
    printf "<circle cx=\"%d\" cy=\"%d\" r=\"4\" fill=\"%s\"/>\n", from + left + 10, top + 14 * i - 4, colour[(i - 1) % 6 + 1]
    text(from + left + 18, top + 14 * i, "start", s)
  }
}

# x_axis says what the horizontal axes are.
function draw_panels(x_axis,   i) {
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n", (n_panels > 0 ? n_panels : 1) * panel, height
  printf "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
  for (i = 1; i <= n_panels; i++) {
    from = (i - 1) * panel
    draw(panel_name[i])
  }
  text(10, height - 8, "start", "x: " x_axis)
  print "</svg>"
}
