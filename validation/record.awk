# record.awk - lines for validation/data/recorded.csv of what a suite says.
#
# SPDX-License-Identifier: Apache-2.0
#
#   hopcast validate evh1 --format csv | awk -v commit=COMMIT -f validation/record.awk
#
# The columns that it reads stand before all that have quotes.

BEGIN { FS = ","; OFS = "," }
NR == 1 {
  for (i = 1; i <= NF; i++)
    column[$i] = i
  next
}
$(column["verdict"]) != "not run" {
  print $(column["suite"]), $(column["name"]), $(column["simulated"]), $(column["lower"]),
    $(column["upper"]), $(column["verdict"]), commit
}
