# trust.awk - see trust.
#
# SPDX-License-Identifier: Apache-2.0
#
# Reads the points of `validate modern` (series, point, published, simulated, unit), then the rows
# of other suites.

BEGIN {
  FS = ","
  split("alaska EDR,abci_v EDR,csd3 HDR100,abci_a HDR,leonardo HDR,leonardo_busy HDR", sets, ",")
  for (i in sets) {
    split(sets[i], word, " ")
    generation_of[word[1]] = word[2]
  }
  n_generations = split("EDR HDR100 HDR", generations, " ")
  # Where a number was set by such points of the cluster: doc/handbook/validation.md, "Clusters of today".
  is_calibrated["alaska", 1] = is_calibrated["alaska", 2] = is_calibrated["alaska", 3] = 1
  is_calibrated["csd3", 1] = is_calibrated["csd3", 2] = is_calibrated["csd3", 3] = 1
  n_quantities = split("latency of a pair,bandwidth of a pair,message rate of several pairs," \
                       "bandwidth of several pairs,rate within a node,bandwidth within a node," \
                       "collectives up to 1 KiB,collectives beyond", quantities, ",")
}

function add(is_own, quantity, generation, error,    at) {
  at = is_own SUBSEP quantity SUBSEP generation
  errors[at, ++n_errors[at]] = error
}

# The middle one, by insertion: some hundred points at most.
function median(at,    i, j, n, value, sorted) {
  n = n_errors[at]
  for (i = 1; i <= n; i++) {
    value = errors[at, i]
    for (j = i - 1; j > 0 && sorted[j] > value; j--) sorted[j + 1] = sorted[j]
    sorted[j + 1] = value
  }
  return n % 2 ? sorted[(n + 1) / 2] : (sorted[n / 2] + sorted[n / 2 + 1]) / 2
}

function cell(at) {
  return n_errors[at] ? sprintf("%.0f %% (%d)", 100 * (exp(median(at)) - 1), n_errors[at]) : ""
}

FILENAME ~ /details$/ {
  if (!($1 in generation_of) || !($3 > 0) || !($4 > 0)) next
  bytes = ranks = per_node = 0
  n = split($2, word, " ")
  for (i = 2; i <= n; i++) {
    if (word[i] ~ /^ranks=/) ranks = substr(word[i], 7) + 0
    if (word[i] ~ /^per_node=/) per_node = substr(word[i], 10) + 0
    if (word[i] ~ /^bytes=/) bytes = substr(word[i], 7) + 0
  }
  if (word[1] ~ /latency|multi_lat|pingpong/) quantity = 1
  else if ($5 ~ /\/s/ && ranks <= per_node) quantity = bytes > 4096 ? 6 : 5
  else if ($5 ~ /B\/s/) quantity = ranks > 2 ? 4 : 2
  else if ($5 ~ /\/s/) quantity = 3
  else quantity = bytes > 1024 ? 8 : 7
  error = log($4 / $3)
  add(($1, quantity) in is_calibrated, quantity, generation_of[$1], error < 0 ? -error : error)
  next
}

FNR == 1 {
  for (i = 1; i <= NF; i++) column[$i] = i
  suite = FILENAME
  sub(/.*\//, "", suite)
  sub(/\.csv$/, "", suite)
  next
}

$column["verdict"] == "agrees" || $column["verdict"] == "differs" {
  n_rows[suite, $column["role"]]++
  n_agree[suite, $column["role"]] += $column["verdict"] == "agrees"
}

END {
  print "| quantity | generation | cluster with calibrated numbers | clusters without |"
  print "|---|---|--:|--:|"
  for (q = 1; q <= n_quantities; q++)
    for (g = 1; g <= n_generations; g++) {
      own = cell(1 SUBSEP q SUBSEP generations[g])
      other = cell(0 SUBSEP q SUBSEP generations[g])
      if (own != "" || other != "") print "| " quantities[q] " | " generations[g] " | " own " | " other " |"
    }
  print ""
  print "| machine | calibrated figures that agree | predicted figures that agree |"
  print "|---|--:|--:|"
  split("infiniband,QDR to EDR clusters of 2009 to 2016;bgq,Blue Gene/Q", suites, ";")
  for (i = 1; i <= 2; i++) {
    split(suites[i], word, ",")
    printf "| %s | %d of %d | %d of %d |\n", word[2], n_agree[word[1], "calibrated"], n_rows[word[1], "calibrated"],
      n_agree[word[1], "predicted"], n_rows[word[1], "predicted"]
  }
}
