# report.awk - the SC13 study as one page: tables, and a line per claim of the paper.
#
# SPDX-License-Identifier: Apache-2.0
#
#   awk -f report.awk causes.csv claims.csv studies.txt costs.csv numbers.csv >report.md
#
# In: why claims fail (name,cause; may be empty), what `hopcast validate sc13` prints and what its --details are, the table
# of studies of validation/sc13/run, and what each took.
BEGIN { FS = "," }

function number(value) { return value == "" ? "-" : sprintf("%.3f", value) }
function percent(value) { return value == "" ? "-" : sprintf("%.1f %%", 100 * value) }
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
  published[$2] = $5 == "" ? "<= " $6 : $6 == "" ? ">= " $5 : $5 == $6 ? $5 : $5 " .. " $6
  verdict[$2] = $9 == "agrees" ? "holds" : $9 == "differs" ? "does not hold" : $9
  n_verdicts[$9]++
  lower[$2] = $11
  upper[$2] = $12
  source[$2] = $13
  says[$2] = $14
  gsub(/"/, "", says[$2])
  next
}
FILENAME ~ /studies\.txt$/ {
  study[++n_studies] = $0
  next
}
FILENAME ~ /costs\.csv$/ {
  if ($1 != "study")
    spent[$1] += $4
  next
}
FNR == 1 { next }
{
  value[$1, $2] = $4
  n = split($1, part, "/")
  if (part[1] == "variation")
    remember("varied", part[2])
  else if (part[1] == "interval" && n == 2) {
    remember("bounded", part[2])
    remember("bounded_sets", $2)
  } else if (part[1] ~ /^(exact|shrunk|coarse)$/)
    remember("compared", $1)
  else if (n == 5 && part[5] == "rcc") {
    remember("scored", part[1] "/" part[2])
    remember("sets", $2)
  }
}

# A median and the ends of 90 % of the splits.
function spread(series, set) {
  if (!((series, set) in value))
    return "-"
  return number(value[series, set]) \
    (((series "_p5", set) in value) ? " (" number(value[series "_p5", set]) ".." number(value[series "_p95", set]) ")" : "")
}

function regret(series, set) {
  return (series, set) in value ? percent(value[series, set]) " / " percent(value[series "_p90", set]) : "-"
}

# The best set of a source by our protocol, "" when nothing is known of it.
function best_set(stem,   i, set, found) {
  found = ""
  for (i = 1; i <= count["sets"]; i++) {
    set = names["sets", i]
    if ((stem "/rcc", set) in value && (found == "" || value[stem "/rcc", set] > value[stem "/rcc", found]))
      found = set
  }
  return found
}

function scores_of(which, title,   i, set, same) {
  same = which "/same"
  printf "\n### %s\n\n", title
  print "| features | RCC, paper's way (5 to 95 %) | RCC, ours (5 to 95 %) | R2, paper's way | R2, ours | wrong pairs, ours | regret, ours: median / 90 % | RCC, shrunk | RCC, coarse | RCC, load |"
  print "|---|---|---|---|---|---|---|---|---|---|"
  for (i = 1; i <= count["sets"]; i++) {
    set = names["sets", i]
    if ((same "/ours/rcc", set) in value || (which "/load/ours/rcc", set) in value)
      printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", set, spread(same "/paper/rcc", set), \
        spread(same "/ours/rcc", set), spread(same "/paper/r2", set), spread(same "/ours/r2", set), \
        number(value[same "/ours/mispredicted", set]), regret(same "/ours/regret", set), \
        number(value[which "/shrunk/ours/rcc", set]), number(value[which "/coarse/ours/rcc", set]), \
        number(value[which "/load/ours/rcc", set])
  }
}

# Every claim that fails is to have one, where causes are known at all.
function cause_of(name) { return name in cause || !n_causes ? cause[name] : "not investigated" }

function claims_table(   i, name, told, n_ours) {
  print "\n## Claims\n\n| claim | of what | source | paper | by its protocol (5 to 95 %) | | by ours (5 to 95 %) | | best that noise allows | cause |"
  print "|---|---|---|---|---|---|---|---|---|---|"
  for (i = 1; i <= n_claims; i++) {
    name = claim[i]
    told = "claim/" name
    n_ours += value[told, "ours_agrees"]
    printf "| %s | %s | %s | %s | %s%s | %s | %s | %s | %s | %s |\n", name, says[name], source[name], published[name], \
      number(ours[name]), lower[name] == "" ? "" : " (" number(lower[name]) ".." number(upper[name]) ")", verdict[name], \
      (told, "ours") in value ? number(value[told, "ours"]) " (" number(value[told, "ours_p5"]) ".." number(value[told, "ours_p95"]) ")" : "-", \
      (told, "ours") in value ? (value[told, "ours_agrees"] ? "holds" : "does not hold") : "-", \
      number(value[told, "noise_rcc"]), verdict[name] == "does not hold" ? cause_of(name) : ""
  }
  printf "\n%d hold, %d do not, %d are not run: their studies are missing.  By our protocol %d of those about RCC and R2 hold.\n", \
    n_verdicts["agrees"], n_verdicts["differs"], n_verdicts["not run"], n_ours
}

function variation_table(   i, key, noise) {
  print "\n## Times (figures 1 and 4)\n\n![times](variation.svg) ![prior features](prior.svg)\n"
  print "| case | mappings | different times | best, ms | worst / best (of single replicas) | upper / lower quartile | replicas | RCC of one half of them against the other | of a perfect model |"
  print "|---|---|---|---|---|---|---|---|---|"
  for (i = 1; i <= count["varied"]; i++) {
    key = "variation/" names["varied", i]
    noise = "noise/" names["varied", i]
    printf "| %s | %d | %d | %.4f | %.2f (%.2f..%.2f) | %.2f | %d | %s | %s |\n", names["varied", i], value[key, "mappings"], \
      value[key, "distinct"], 1000 * value[key, "best_s"], value[key, "worst_to_best"], value[key, "least"], \
      value[key, "most"], value[key, "q3_to_q1"], value[noise, "replicas"], number(value[noise, "halves_rcc"]), \
      number(value[noise, "noise_rcc"])
  }
}

function source_line(name, source, best, alone,   stem, set) {
  stem = "score/" name "/" source "/ours"
  set = alone == "" ? best_set(stem) : alone
  if (set == "" || !((stem "/rcc", set) in value))
    return
  printf "| %s | %s | %s | %s (%s) | %s | %s | %s |\n", name, source (alone == "" ? "" : ", " alone " alone"), \
    seconds(value["cost/" name, source]), spread(stem "/rcc", set), set, spread(stem "/rcc_apart", set), \
    source == "same" && alone == "" ? "" : number(best - value[stem "/rcc", set]), regret(stem "/regret", set)
}

function cost_table(   i, name, best, stem) {
  print "\n## What features cost, and what they are worth\n\n![RCC over cost](cost.svg)\n"
  print "By our protocol; of each source the best set, chosen after the fact.  Seconds are of all runs of a mapping, on the clock and"
  print "beside others.  Regret: how much slower than the best is the mapping that the model puts first, of those held out; median"
  print "and 90 % over the splits.  Apart: of pairs of mappings whose times differ by more than 5 %.\n"
  print "| case | features from | seconds | RCC | apart | lost | regret |\n|---|---|---|---|---|---|---|"
  for (i = 1; i <= count["varied"]; i++) {
    name = names["varied", i]
    stem = "score/" name "/same/ours"
    best = value[stem "/rcc", best_set(stem)]
    source_line(name, "same", best, "")
    source_line(name, "shrunk", best, "")
    source_line(name, "coarse", best, "")
    source_line(name, "load", best, "")
    source_line(name, "same", best, "max_bytes")
  }
  if (count["compared"] > 0)
    print "\n| times of cheaper runs | mappings | mean error | RCC with those of the case |\n|---|---|---|---|"
  for (i = 1; i <= count["compared"]; i++) {
    name = names["compared", i]
    printf "| %s | %d | %s | %s |\n", name, value[name, "mappings"], percent(value[name, "mape"]), number(value[name, "rcc"])
  }
  print "\n`exact/CASE`: the case itself is shrunk, and compared with exact runs of some of its mappings."
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
        printf " %s (%s) |", percent(value[key, set]), percent(value[key "/half_width", set])
      else
        printf " - |"
    }
    print ""
  }
}

function studies_table(   i, word, all) {
  print "\n## Studies\n\nHours are of one processor.\n\n```\n# hours; name, nodes, ranks per node, bytes, program, mappings, settings"
  for (i = 1; i <= n_studies; i++) {
    split(study[i], word, " ")
    all += spent[word[1]]
    printf "%6.2f  %s\n", spent[word[1]] / 3600, study[i]
  }
  printf "%6.2f  together\n```\n", all / 3600
}

END {
  print "# Which mapping is fast: the SC13 study on simulated runs\n"
  print "Made by `validation/sc13/run`. A case is a study: a size, a scale and a program, with a sample per mapping. The paper's"
  print "protocol is one split of a third and ten trees: 200 such splits tell where its numbers would lie by chance. Ours has 50"
  print "splits by mapping and 100 trees. `numbers.csv` has every number."
  claims_table()
  variation_table()
  cost_table()
  interval_table()
  print "\n## Prediction (figures 3, 5 to 8, 10 to 14)\n"
  print "![a tree and the leaves of ten](tree.svg)\n"
  for (i = 5; i <= 13; i++)
    if (i != 9)
      printf "![figure %d](figure-%d.svg)\n", i, i
  print "\n![predicted and observed](predictions.svg)"
  for (i = 1; i <= count["scored"]; i++)
    scores_of(names["scored", i], names["scored", i])
  studies_table()
}
