# ladder.awk - what each change did to the claims of the SC13 study, as a table for its report.
#
# SPDX-License-Identifier: Apache-2.0
#
#   awk -f ladder.awk FOLDER/claims.csv... >>report.md
#
# In: what `hopcast validate sc13 --format csv` printed for each variant, in the order of the changes; the name of a
# file's folder is the name of its column.
BEGIN { FS = "," }

FNR == 1 {
  name = FILENAME
  if (!sub(/\/[^\/]*$/, "", name)) name = "here"
  sub(/.*\//, "", name)
  rung[++n_rungs] = name
  for (i = 1; i <= NF; i++) column[$i] = i
  next
}

{
  claim = $column["name"]
  if (!(claim in known)) {
    known[claim] = 1
    claims[++n_claims] = claim
  }
  verdict = $column["verdict"]
  value = $column["simulated"]
  # Without a value: a claim of which only the verdict is kept, or a study that is not among the runs.
  cell[claim, n_rungs] = verdict == "not run" ? "" : (value == "" ? "" : sprintf("%.3f ", value)) (verdict == "agrees" ? "holds" : "-")
  n_judged[n_rungs] += verdict != "not run"
  n_holds[n_rungs] += verdict == "agrees"
}

END {
  print "\n## What each change did\n"
  printf "| claim |"
  for (i = 1; i <= n_rungs; i++) printf " %s |", rung[i]
  printf "\n|---|"
  for (i = 1; i <= n_rungs; i++) printf "---|"
  print ""
  for (c = 1; c <= n_claims; c++) {
    printf "| `%s` |", claims[c]
    for (i = 1; i <= n_rungs; i++) printf " %s |", cell[claims[c], i]
    print ""
  }
  printf "| hold |"
  for (i = 1; i <= n_rungs; i++) printf " %d of %d |", n_holds[i], n_judged[i]
  print ""
}
