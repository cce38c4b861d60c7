# report.awk - the SC13 study as one page: tables, and a line per claim of the paper.
#
# SPDX-License-Identifier: Apache-2.0
#
#   awk -f report.awk causes.csv claims.csv studies.txt numbers.csv >report.md
#
# In: why claims fail (name,cause; of the small variant, empty for others), what `hopcast validate sc13` prints and what its --details are,
# and the table of studies of validation/sc13/run.
BEGIN { FS = "," }

function number(value) { return value == "" ? "-" : sprintf("%.3f", value) }
# From under a millisecond to minutes.
function seconds(value) { return value == "" ? "-" : sprintf("%.3g", value) }
function remember(list, key) {
  if (!((list, key) in seen)) {
    seen[list, key] = 1
    names[list, ++count[list]] = key
  }
}

FILENAME ~ /causes\.csv$/ {
  cause[$1] = substr($0, length($1) + 2)
  n_causes++
  next
}
FILENAME ~ /claims\.csv$/ {
  if ($1 == "suite")
    next
  claim[++n_claims] = $2
  ours[$2] = $3
  unit[$2] = $4
  published[$2] = $5 == "" ? "<= " $6 : $6 == "" ? ">= " $5 : $5 == $6 ? $5 : $5 " .. " $6
  verdict[$2] = $9 == "agrees" ? "holds" : $9 == "differs" ? "does not hold" : $9
  n_verdicts[$9]++
  source[$2] = $11
  says[$2] = $12
  gsub(/"/, "", says[$2])
  next
}
FILENAME ~ /studies\.txt$/ { study[++n_studies] = $0; next }
FNR == 1 { next }
{
  value[$1, $2] = $4
  n = split($1, part, "/")
  if (part[1] == "variation")
    remember("varied", part[2])
  else if (part[1] == "coarse")
    remember("coarsened", part[2])
  else if (part[1] == "interval" && n == 2) {
    remember("bounded", part[2])
    remember("bounded_sets", $2)
  }
  else if (n == 5 && part[5] == "rcc") {
    remember("scored", part[1] "/" part[2])
    remember("sets", $2)
  }
}

function spread(stem, score, set,   series) {
  series = stem "/" score
  if (!((series, set) in value))
    return "-"
  return number(value[series, set]) \
    (((series "_q1", set) in value) ? " (" number(value[series "_q1", set]) ".." number(value[series "_q3", set]) ")" : "")
}

# The best set of a source by our protocol.
function best(stem,   i, set, found) {
  found = ""
  for (i = 1; i <= count["sets"]; i++) {
    set = names["sets", i]
    if ((stem "/rcc", set) in value && (found == "" || value[stem "/rcc", set] > value[stem "/rcc", found]))
      found = set
  }
  return found == "" ? "-" : number(value[stem "/rcc", found]) " (" found ")"
}

function scores_of(which, title,   i, set) {
  printf "\n### %s\n\n", title
  print "| features | RCC, paper's way | RCC, ours (quartiles) | R2, ours (quartiles) | wrong pairs | RCC, coarse | RCC, load |"
  print "|---|---|---|---|---|---|---|"
  for (i = 1; i <= count["sets"]; i++) {
    set = names["sets", i]
    if ((which "/same/ours/rcc", set) in value || (which "/load/ours/rcc", set) in value)
      printf "| %s | %s | %s | %s | %s | %s | %s |\n", set, spread(which "/same/paper", "rcc", set), \
        spread(which "/same/ours", "rcc", set), spread(which "/same/ours", "r2", set), \
        spread(which "/same/ours", "mispredicted", set), spread(which "/coarse/ours", "rcc", set), \
        spread(which "/load/ours", "rcc", set)
  }
}

# Every claim that fails is to have one; other variants than the small one have no list of causes.
function cause_of(name) { return name in cause || !n_causes ? cause[name] : "not investigated" }

function claims_table(   i, name) {
  print "\n## Claims\n\n| claim | of what | source | paper | ours | | cause |\n|---|---|---|---|---|---|---|"
  for (i = 1; i <= n_claims; i++) {
    name = claim[i]
    printf "| %s | %s | %s | %s | %s %s | %s | %s |\n", name, says[name], source[name], published[name], \
      number(ours[name]), unit[name], verdict[name], verdict[name] == "does not hold" ? cause_of(name) : ""
  }
  printf "\n%d hold, %d do not, %d are not run: their studies are missing.\n", n_verdicts["agrees"], \
    n_verdicts["differs"], n_verdicts["not run"]
}

function variation_table(   i, key) {
  print "\n## Times (figures 1 and 4)\n\n![times](variation.svg) ![prior features](prior.svg)\n"
  print "| case | mappings | different times | best, ms | worst / best | upper / lower quartile |\n|---|---|---|---|---|---|"
  for (i = 1; i <= count["varied"]; i++) {
    key = "variation/" names["varied", i]
    printf "| %s | %d | %d | %.4f | %.2f | %.2f |\n", names["varied", i], value[key, "mappings"], \
      value[key, "distinct"], 1000 * value[key, "best_s"], value[key, "worst_to_best"], value[key, "q3_to_q1"]
  }
}

function cost_table(   i, key, name) {
  print "\n## What features cost, and what they are worth\n\n![RCC over cost](cost.svg)\n"
  print "Seconds are a run's on the clock, beside others; RCC is the best of all sets, chosen after the fact.\n"
  print "| case | same: s | coarse: s | load: s | same | coarse | load |\n|---|---|---|---|---|---|---|"
  for (i = 1; i <= count["varied"]; i++) {
    name = names["varied", i]
    key = "cost/" name
    printf "| %s | %s | %s | %s | %s | %s | %s |\n", name, seconds(value[key, "same"]), \
      seconds(value[key, "coarse"]), seconds(value[key, "load"]), best("score/" name "/same/ours"), best("score/" name "/coarse/ours"), \
      best("score/" name "/load/ours")
  }
  if (count["coarsened"] > 0)
    print "\n| case | coarse against exact: mean error of time | RCC of the two times |\n|---|---|---|"
  for (i = 1; i <= count["coarsened"]; i++) {
    key = "coarse/" names["coarsened", i]
    printf "| %s | %.1f %% | %s |\n", names["coarsened", i], 100 * value[key, "mape"], number(value[key, "rcc"])
  }
}

function interval_table(   i, k, set, key) {
  if (count["bounded"] == 0)
    return
  print "\n## Intervals of 90 %\n"
  print "The share of times of held-out mappings, 20 splits of a third, within the interval around their prediction;"
  print "in parentheses half of its width, median, as a share of the prediction.\n"
  printf "| case |"
  for (k = 1; k <= count["bounded_sets"]; k++)
    printf " %s |", names["bounded_sets", k]
  printf "\n|---|"
  for (k = 1; k <= count["bounded_sets"]; k++)
    printf "---|"
  print ""
  for (i = 1; i <= count["bounded"]; i++) {
    key = "interval/" names["bounded", i]
    printf "| %s |", names["bounded", i]
    for (k = 1; k <= count["bounded_sets"]; k++) {
      set = names["bounded_sets", k]
      if ((key, set) in value)
        printf " %.1f %% (%.1f %%) |", 100 * value[key, set], 100 * value[key "/half_width", set]
      else
        printf " - |"
    }
    print ""
  }
}

END {
  print "# Which mapping is fast: the SC13 study on simulated runs\n"
  print "Made by `validation/sc13/run`. A case is a study and a program. Paper's way: one split of a third,"
  print "ten trees. Ours: 50 splits by mapping, 100 trees, median and quartiles. `numbers.csv` has every number."
  claims_table()
  variation_table()
  cost_table()
  interval_table()
  print "\n## Prediction (figures 5 to 8, 10 to 14)\n\n![predicted and observed](predictions.svg)"
  for (i = 1; i <= count["scored"]; i++)
    scores_of(names["scored", i], names["scored", i])
  print "\n## Studies\n\n```\n# name, nodes, ranks per node, bytes, grain, iterations, mappings, programs, networks"
  for (i = 1; i <= n_studies; i++)
    print study[i]
  print "```"
}
