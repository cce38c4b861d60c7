# causes.awk - how far apart times are, and which pairs are in the wrong order.
#
# SPDX-License-Identifier: Apache-2.0
#
#   awk -v study=NAME -v program=NAME -f causes.awk folds.csv
#
# In: runs with the columns time_s, max_bytes, predicted and fold; only pairs of one fold are judged by their
# prediction, as the others were predicted by other models.
BEGIN {
  FS = ","
  # A link's bytes/s of payload: 2 GB/s less 3 % for acknowledgements; 512 B of payload travel as 552.
  link = 2e9 * 0.97 * 512 / 552
}
NR == 1 {
  for (i = 1; i <= NF; i++)
    column[$i] = i
  next
}
{
  time[++n] = $column["time_s"]
  bytes[n] = $column["max_bytes"] + 0
  predicted[n] = $column["predicted"]
  fold[n] = $column["fold"]
  least = n == 1 || bytes[n] < least ? bytes[n] : least
  most = bytes[n] > most ? bytes[n] : most
}

function tell(figure, value) { printf "%s,%s,%s,%s\n", study, program, figure, value }

# One half for a tie, as RCC counts it.
function in_order(i, j,   product) {
  product = (time[i] - time[j]) * (predicted[i] - predicted[j])
  return product > 0 ? 1 : product == 0 ? 0.5 : 0
}

function judge(i, j,   ratio, at) {
  ratio = time[i] > time[j] ? time[i] / time[j] : time[j] / time[i]
  pairs++
  for (at = 0; at <= 10; at += 5)
    if (ratio <= 1 + at / 100)
      near[at]++
    else if (fold[i] == fold[j]) {
      judged[at]++
      right[at] += in_order(i, j)
    }
}

# Ascending times: the k-th of n.
function mapping_at(k,   i, j, before) {
  for (i = 1; i <= n; i++) {
    before = 0
    for (j = 1; j <= n; j++)
      before += time[j] < time[i] || time[j] == time[i] && j < i
    if (before == k - 1)
      return i
  }
}

function share(k,   i) {
  i = mapping_at(k)
  return bytes[i] / link / time[i]
}

END {
  for (i = 2; i <= n; i++)
    for (j = 1; j < i; j++)
      judge(i, j)
  tell("mappings", n)
  tell("worst_to_best", time[mapping_at(n)] / time[mapping_at(1)])
  tell("bytes_worst_to_best", most / least)
  tell("near_5", near[5] / pairs)
  tell("near_10", near[10] / pairs)
  for (at = 0; at <= 10; at += 5)
    if (judged[at])
      tell(at ? "H5_far_" at : "H5_all", right[at] / judged[at])
  tell("link_best", share(1))
  tell("link_median", share(int((n + 1) / 2)))
  tell("link_worst", share(n))
}
