# best_model.awk - the model of the trial that was best on the test points, as a model file.
#
# SPDX-License-Identifier: Apache-2.0
#
#   awk -v mode=best -v number=1 -f best_model.awk values.txt original.model >best-1.model
#
# In: what values.awk writes, and the model that was mended.  Its parameters become
# constants with the values of the trial, its time a part called t_comm.  Units are left
# out, a bred term has none.  Fails when no trial has a value at every test point.
BEGIN { FS = "\t" }

FNR == NR {
  if ($1 != mode || $2 != number)
    next
  value[$3] = $4
  if ($3 == "loss")
    error_of = $4 == "rmse" ? "rmse" : "log_rmse"
  next
}

# Values are complete before the first line of the model.
FNR == 1 {
  for (at = 1; at <= value["trials/made"]; at++) {
    trial = "trials/each/" at
    error = value[trial "/test/" error_of]
    if (value[trial "/converged"] == "true" && error != "" && error != "null" && (best == "" || error + 0 < least)) {
      best = trial
      least = error + 0
    }
  }
  if (best == "")
    exit 1
}

{
  sub(/#.*/, "")
  sub(/ in .*/, "")
}
/^parameter / {
  split($0, word, " ")
  $0 = "constant " word[2] " " value[best "/parameters/" word[2]]
}
/^time = / {
  print "t_comm = " substr($0, 8)
  $0 = "time = " value[best "/term"]
}
/[^ ]/ { print }
