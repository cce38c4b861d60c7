# plot_curves.awk - measured and simulated curves over message sizes, as SVG.
#
# SPDX-License-Identifier: Apache-2.0
#
#   hopcast validate infiniband --details points.csv
#   awk -v title=TEXT -v series=NAME[,NAME...] -f plot_curves.awk points.csv >curves.svg
#
# In: what --details writes.  Both axes are logarithmic; size 0 stands left of
# 1 byte.  Points are measured, lines simulated.
BEGIN {
  FS = ","
  width = 760; height = 480; left = 70; right = 20; top = 40; bottom = 55
  n_series = split(series, names, ",")
  split("#0b6e99 #c2410c #4d7c0f #7c3aed #a16207", colour, " ")
  for (i = 1; i <= n_series; i++)
    at[names[i]] = i
  low_x = 0; high_x = 0; low_y = 1e30; high_y = 1e-30
}

function log2(value) { return log(value) / log(2) }
function log10(value) { return log(value) / log(10) }
function size(bytes) { return bytes > 0 ? log2(bytes) : -1 }

$1 in at && $3 != "" && $4 != "" {
  s = at[$1]
  k = ++n[s]
  x[s, k] = size($2)
  measured[s, k] = $3
  simulated[s, k] = $4
  unit = $5
  low_x = x[s, k] < low_x ? x[s, k] : low_x
  high_x = x[s, k] > high_x ? x[s, k] : high_x
  for (f = 3; f <= 4; f++) {
    low_y = $f + 0 < low_y ? $f + 0 : low_y
    high_y = $f + 0 > high_y ? $f + 0 : high_y
  }
}

function px(value) { return left + (value - low_x) / (high_x - low_x) * (width - left - right) }
function py(value) {
  return height - bottom - (log10(value) - first) / (last - first) * (height - top - bottom)
}
function text(atx, aty, anchor, what) {
  printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", atx, aty, anchor, what
}
function label(power) {
  if (power < 0)
    return "0"
  return power >= 20 ? 2 ^ (power - 20) " MiB" : power >= 10 ? 2 ^ (power - 10) " KiB" : 2 ^ power " B"
}
function floor(value) { return value < int(value) ? int(value) - 1 : int(value) }

END {
  if (high_y < low_y) {
    print "no points of these series" > "/dev/stderr"
    exit 1
  }
  first = floor(log10(low_y))
  last = floor(log10(high_y) - 1e-9) + 1
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n", width, height
  printf "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", width, height
  text(width / 2, 22, "middle", title)
  for (power = first; power <= last; power++) {
    printf "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>\n", left, py(10 ^ power), width - right
    text(left - 8, py(10 ^ power) + 4, "end", 10 ^ power " " unit)
  }
  for (power = low_x; power <= high_x + 0.01; power += power < 0 ? 1 : 4) {
    printf "<path d=\"M%.1f %dV%d\" stroke=\"#ddd\"/>\n", px(power), top, height - bottom
    text(px(power), height - bottom + 18, "middle", label(power))
  }
  text(width / 2, height - 12, "middle", "message size; points: measured, lines: simulated")
  for (s = 1; s <= n_series; s++) {
    printf "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" d=\"", colour[s]
    for (k = 1; k <= n[s]; k++)
      printf "%s%.1f %.1f", k == 1 ? "M" : "L", px(x[s, k]), py(simulated[s, k])
    print "\"/>"
    for (k = 1; k <= n[s]; k++)
      printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", px(x[s, k]), py(measured[s, k]), colour[s]
    printf "<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"3\" fill=\"%s\"/>\n", left + 12, top + 18 * s - 6, colour[s]
    text(left + 30, top + 18 * s, "start", names[s])
  }
  print "</svg>"
}
