# plot_bars.awk - bars in groups, in rows of panels, as SVG.
#
# SPDX-License-Identifier: Apache-2.0
#
# For other programs, which come after it: awk -f plot_bars.awk -f PROGRAM.  They call add_bar() for every bar, with the
# ends of a line across it that may be "", and draw_bars() at the end.  All panels of a picture have the same groups and
# series, in the order in which they were first named; bars end at 0 below, or at the least value.
BEGIN {
  bar = 7; gap = 8; left = 44; top = 34; bottom = 96; height = 280
  split("#0b6e99 #c2410c #4d7c0f #7c3aed #a16207 #be185d", colour, " ")
}

function place(list, name) {
  if (!((list, name) in places)) {
    places[list, name] = ++n_places[list]
    name_at[list, n_places[list]] = name
  }
  return places[list, name]
}

# A row of panels for each `row`.
function add_bar(row, panel, group, series, value, low, high,   key) {
  place("row", row)
  place("panel", panel)
  place("group", group)
  place("series", series)
  key = row SUBSEP panel SUBSEP group SUBSEP series
  bars[key] = value
  lows[key] = low
  highs[key] = high
  least[row] = value < least[row] + 0 ? value : least[row] + 0
  most[row] = value > most[row] + 0 ? value : most[row] + 0
  most[row] = high != "" && high > most[row] ? high : most[row]
}

function y_of(row, value) { return from_y + height - bottom - (value - least[row]) / (most[row] - least[row]) * (height - top - bottom) }
function text(x, y, anchor, what) { printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, what }

function draw_panel(row, panel,   g, s, key, x, y, zero) {
  text(from_x + width / 2, from_y + 18, "middle", panel ": " row)
  printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#999\"/>\n", from_x + left, from_y + top, width - left, height - top - bottom
  text(from_x + left - 4, from_y + top + 10, "end", sprintf("%.3g", most[row]))
  text(from_x + left - 4, from_y + height - bottom, "end", sprintf("%.3g", least[row]))
  zero = y_of(row, 0)
  for (g = 1; g <= n_places["group"]; g++) {
    x = from_x + left + gap / 2 + (g - 1) * (n_places["series"] * bar + gap)
    printf "<text transform=\"translate(%.1f,%.1f) rotate(-45)\" text-anchor=\"end\">%s</text>\n", x + n_places["series"] * bar / 2, from_y + height - bottom + 12, name_at["group", g]
    for (s = 1; s <= n_places["series"]; s++) {
      key = row SUBSEP panel SUBSEP name_at["group", g] SUBSEP name_at["series", s]
      if (!(key in bars))
        continue
      y = y_of(row, bars[key])
      printf "<rect class=\"bar\" x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"/>\n", x + (s - 1) * bar, y < zero ? y : zero, bar - 1, y < zero ? zero - y : y - zero, colour[(s - 1) % 6 + 1]
      if (lows[key] != "")
        printf "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#222\"/>\n", x + (s - 0.5) * bar - 0.5, y_of(row, lows[key] < least[row] ? least[row] : lows[key]), y_of(row, highs[key])
    }
  }
}

# `below` says what the picture shows.
function draw_bars(below,   r, p, s) {
  width = left + n_places["group"] * (n_places["series"] * bar + gap)
  width = width < 280 ? 280 : width
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n", n_places["panel"] * (width + 12) + 12, n_places["row"] * height + 40
  print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
  for (r = 1; r <= n_places["row"]; r++)
    for (p = 1; p <= n_places["panel"]; p++) {
      from_x = (p - 1) * (width + 12)
      from_y = (r - 1) * height
      most[name_at["row", r]] = most[name_at["row", r]] > least[name_at["row", r]] ? most[name_at["row", r]] : least[name_at["row", r]] + 1
      draw_panel(name_at["row", r], name_at["panel", p])
    }
  from_y = n_places["row"] * height
  for (s = 1; s <= n_places["series"]; s++) {
    printf "<rect x=\"%d\" y=\"%d\" width=\"8\" height=\"8\" fill=\"%s\"/>\n", left + (s - 1) * 90, from_y + 8, colour[(s - 1) % 6 + 1]
    text(left + (s - 1) * 90 + 12, from_y + 16, "start", name_at["series", s])
  }
  text(left, from_y + 32, "start", below)
  print "</svg>"
}
