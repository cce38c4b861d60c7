# plot.awk - the pictures of the four cases, as SVG.
#
# SPDX-License-Identifier: Apache-2.0
#
#   awk -v picture=errors|shares|points-paper|points-best -f ../plot_panels.awk -f plot.awk \
#     values.txt points.csv >picture.svg
#
# In: what values.awk writes, and mode,case,point,observed,original,mended of the test points.  y is logarithmic
# except in shares.
BEGIN {
  split("77 73 50 90", published, " ")
  panel_of["log_rmse"] = "log-RMSE of the best trial"
  panel_of["rmse"] = "RMSE of the best trial (s)"
}

FILENAME ~ /values\.txt$/ {
  split($0, word, "\t")
  mode = word[1]
  number = word[2]
  n = split(word[3], part, "/")
  if (part[1] == "base" && part[2] == "test" && part[3] in panel_of && mode == "best")
    original_error[number, part[3]] = word[4]
  if (part[2] == "each" && part[4] == "converged")
    converged = word[4] == "true"
  if (part[2] == "each" && part[4] == "test" && converged && word[4] != "null" && (!((mode, number, part[5]) in least) || word[4] < least[mode, number, part[5]]))
    least[mode, number, part[5]] = word[4] + 0
  if (word[3] == "trials/converged")
    n_converged[mode, number] = word[4]
  if (word[3] == "trials/better")
    n_better[mode, number] = word[4]
}

FILENAME ~ /points\.csv$/ && picture ~ /^points-/ {
  split($0, word, ",")
  if (word[1] == substr(picture, 8)) {
    name = "case " word[2]
    add_point(name, "observed", word[3], word[4])
    add_point(name, "original", word[3], word[5])
    if (word[6] > 0)
      add_point(name, "mended", word[3], word[6])
  }
}

function add_errors(error_of,   i, m) {
  for (i = 1; i <= 4; i++) {
    add_point(panel_of[error_of], "original", i, original_error[i, error_of])
    for (m = 1; m <= 2; m++)
      if ((modes[m], i, error_of) in least)
        add_point(panel_of[error_of], modes[m], i, least[modes[m], i, error_of])
  }
}

function add_shares(   i, m) {
  for (i = 1; i <= 4; i++) {
    add_point("% of trials better than the original", "in the paper", i, published[i])
    for (m = 1; m <= 2; m++)
      if (n_converged[modes[m], i] > 0)
        add_point("% of trials better than the original", modes[m], i, 100 * n_better[modes[m], i] / n_converged[modes[m], i])
  }
}

END {
  modes[1] = "paper"
  modes[2] = "best"
  if (picture == "errors") {
    add_errors("log_rmse")
    add_errors("rmse")
  }
  is_linear = picture == "shares"
  if (is_linear)
    add_shares()
  draw_panels(picture ~ /^points-/ ? "test points; y: seconds; synthetic data" : "case; synthetic data")
}
