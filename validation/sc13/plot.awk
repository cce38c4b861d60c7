# plot.awk - the pictures of the SC13 study, as SVG.
#
# SPDX-License-Identifier: Apache-2.0
#
#   awk -v picture=variation|prior|predictions|cost -f ../plot_panels.awk -f plot.awk numbers.csv \
#     >picture.svg
#
# y is logarithmic in variation and prior.
BEGIN { FS = "," }

{ n = split($1, part, "/") }
picture == "variation" && part[1] == "time" {
  program = part[2]
  sub(/.*\./, "", program)
  size = substr(part[2], 1, length(part[2]) - length(program) - 1)
  if (size !~ /\./)
    add_point(program, size, $2, $4)
}
picture == "prior" && part[1] == "x" && part[2] == "16k.halo2d" { kept[part[3], $2] = $4 }
picture == "prior" && part[1] == "y" && part[2] == "16k.halo2d" { add_point(part[3], "time", kept[part[3], $2], $4) }
picture == "predictions" && part[1] == "observed" && (part[2] ~ /^high\.large/ && part[3] == "H5" || part[2] == "pf3d" && part[3] == "H6") {
  kept[part[2], $2] = $4
}
picture == "predictions" && part[1] == "predicted" && (part[2] SUBSEP $2) in kept && (part[2] ~ /^high/ ? "H5" : "H6") == part[3] {
  add_point(part[2], "predicted by " part[3], kept[part[2], $2], $4)
}
picture == "cost" && part[1] == "cost" { cost[part[2], $2] = $4 }
picture == "cost" && part[1] == "score" && part[4] == "ours" && part[5] == "rcc" {
  key = part[2] SUBSEP part[3]
  if (!(key in best))
    scored[++n_scored] = key
  best[key] = $4 > best[key] + 0 ? $4 : best[key] + 0
}

END {
  words["variation"] = "mappings by their time; y: seconds"
  words["prior"] = "feature of the mapping; y: seconds"
  words["predictions"] = "observed seconds; y: predicted"
  words["cost"] = "log10 of seconds per run; y: RCC of the best set"
  is_linear = picture == "cost" || picture == "predictions"
  for (i = 1; i <= n_scored; i++) {
    key = scored[i]
    split(key, part, SUBSEP)
    if (cost[key] > 0)
      add_point("all cases", part[2], log(cost[key]) / log(10), best[key])
  }
  draw_panels(words[picture])
}
