# report.awk - the trials of the four cases as a page: shares, errors, models, points.
#
# SPDX-License-Identifier: Apache-2.0
#
#   awk -f report.awk original.model values.txt points.csv >report.md
#
# In: the model that was mended, what values.awk writes, and mode,case,point,observed,original,mended of the
# test points.  Exit status 1: some of what is wanted of the best mode is not so.
BEGIN {
  split("77 73 50 90", published, " ")
  n_modes = split("paper best", modes, " ")
  wanted_log_rmse = 0.08
}

function number(value) { return value == "" || value == "null" || value == "inf" ? "-" : sprintf("%.3f", value) }
function small(value) { return value == "" ? "-" : sprintf("%.3g", value) }

FILENAME ~ /\.model$/ && /^parameter / {
  split($0, word, " ")
  names[++n_names] = word[2]
  given[word[2]] = word[3]
  match($0, /\[[^]]*\]/)
  bounds[word[2]] = substr($0, RSTART + 1, RLENGTH - 2)
}
FILENAME ~ /values\.txt$/ {
  split($0, word, "\t")
  value[word[1], word[2], word[3]] = word[4]
}
FILENAME ~ /points\.csv$/ && $0 !~ /^mode/ {
  split($0, word, ",")
  if (word[3] > n_points)
    n_points = word[3]
  observed[word[3]] = word[4]
  original[word[3]] = word[5]
  mended[word[1], word[2], word[3]] = word[6]
}

# The errors of trials that converged, in order; an error that is not defined is the last.
function sort_trials(mode, case_number, error_of,   at, n, place, trial, error) {
  n = 0
  for (at = 1; at <= value[mode, case_number, "trials/made"]; at++) {
    trial = "trials/each/" at
    if (value[mode, case_number, trial "/converged"] != "true")
      continue
    error = value[mode, case_number, trial "/test/" error_of]
    error = error == "null" ? 1e300 : error + 0
    for (place = ++n; place > 1 && sorted[place - 1] > error; place--)
      sorted[place] = sorted[place - 1]
    sorted[place] = error
    if (place == 1)
      best_trial[mode, case_number, error_of] = trial
  }
  return n
}

function median(n,   middle) {
  middle = n == 0 ? "" : (sorted[int((n + 1) / 2)] + sorted[int(n / 2) + 1]) / 2
  return middle >= 1e299 ? "" : middle
}

function loss_of(mode) { return value[mode, 1, "loss"] == "rmse" ? "rmse" : "log_rmse" }

function print_trials(   m, i, n, mode, share) {
  print "| mode | case | converged | better than the original | in the paper | log-RMSE: median | best trial | chosen without the test points | RMSE (s): median | best trial |"
  print "|---|---|---|---|---|---|---|---|---|---|"
  for (m = 1; m <= n_modes; m++)
    for (i = 1; i <= 4; i++) {
      mode = modes[m]
      n = sort_trials(mode, i, "log_rmse")
      middle[mode, i] = median(n)
      least = sorted[1]
      share = n > 0 ? 100 * value[mode, i, "trials/better"] / n : 0
      better[mode, i] = share
      n_made += value[mode, i, "trials/made"]
      n_converged += n
      printf "| %s | %d | %d of %d | %.0f %% | %d %% | %s | %s | %s |", mode, i, n, value[mode, i, "trials/made"], share, published[i], number(middle[mode, i]), number(n ? least : ""), number(value[mode, i, "corrected/test/log_rmse"])
      n = sort_trials(mode, i, "rmse")
      printf " %s | %s |\n", number(median(n)), number(n ? sorted[1] : "")
    }
  printf "\nThe original has a log-RMSE of %s and an RMSE of %s s; with its parameters fitted to logarithms %s and %s s, to seconds %s and %s s.\n", number(value["best", 1, "base/test/log_rmse"]), number(value["best", 1, "base/test/rmse"]), number(value["best", 1, "refitted/test/log_rmse"]), number(value["best", 1, "refitted/test/rmse"]), number(value["paper", 1, "refitted/test/log_rmse"]), number(value["paper", 1, "refitted/test/rmse"])
  printf "%d of %d trials did not converge and are not counted (paper: 4 of 120).\n", n_made - n_converged, n_made
}

function judge(what, wanted, found, holds) {
  printf "| %s | %s | %s | %s |\n", what, wanted, found, holds ? "holds" : "does not hold"
  n_wrong += !holds
}

function print_verdicts(   i) {
  print "| mode best | wanted | found | |"
  print "|---|---|---|---|"
  for (i = 1; i <= 4; i++)
    judge("case " i ": share of trials better than the original", ">= " published[i] " %", sprintf("%.0f %%", better["best", i]), better["best", i] >= published[i])
  for (i = 1; i <= 4; i++)
    judge("case " i ": median log-RMSE", "< " wanted_log_rmse, number(middle["best", i]), middle["best", i] != "" && middle["best", i] < wanted_log_rmse)
}

function print_parameters(   p, m, i, name) {
  print "| parameter | original | bounds | fitted to logarithms | paper, case 3 | paper, case 4 | best, case 3 | best, case 4 |"
  print "|---|---|---|---|---|---|---|---|"
  for (p = 1; p <= n_names; p++) {
    name = names[p]
    printf "| %s | %s | %s | %s |", name, given[name], bounds[name], small(value["best", 1, "refitted_parameters/" name])
    for (m = 1; m <= n_modes; m++)
      for (i = 3; i <= 4; i++)
        printf " %s |", small(value[modes[m], i, best_trial[modes[m], i, loss_of(modes[m])] "/parameters/" name])
    print ""
  }
}

function print_terms(   m, i, term) {
  for (m = 1; m <= n_modes; m++)
    for (i = 1; i <= 4; i++) {
      term = value[modes[m], i, best_trial[modes[m], i, loss_of(modes[m])] "/term"]
      if (length(term) > 100)
        term = substr(term, 1, 100) "..."
      printf "- %s, case %d: `%s`\n", modes[m], i, term == "" ? "none" : term
    }
}

function print_points(   point, m, i) {
  print "| point | observed | original | paper, case 1 | 2 | 3 | 4 | best, case 1 | 2 | 3 | 4 |"
  print "|---|---|---|---|---|---|---|---|---|---|---|"
  for (point = 1; point <= n_points; point++) {
    printf "| %d | %s | %s |", point, number(observed[point]), number(original[point])
    for (m = 1; m <= n_modes; m++)
      for (i = 1; i <= 4; i++)
        printf " %s |", number(mended[modes[m], i, point])
    print ""
  }
}

END {
  print "# EVH1's communication model, mended\n"
  print "The data are synthetic: EVH1's model as reconstructed (R1), a planted term, noise.  They are not those of the paper, whose data and formula are lost; only the shape of its figures can be compared."
  print "\n## Trials (figures 4 and 5)\n"
  print_trials()
  print ""
  print_verdicts()
  print "\n![errors](errors.svg) ![shares](shares.svg)\n\n## Parameters (table 2)\n"
  print "Those of cases 3 and 4 are the best trial's.\n"
  print_parameters()
  print "\n## Models\n\nAs in the paper the best trial is the one with the least error on the test points: of seconds in the paper's mode, of logarithms in mode best.  Long terms are cut here.\n"
  print_terms()
  print "\n## Test points (figures 6 to 9)\n\nTimes in seconds, of the best trials.\n"
  print_points()
  print "\n![paper](points-paper.svg) ![best](points-best.svg)"
  exit n_wrong > 0
}
