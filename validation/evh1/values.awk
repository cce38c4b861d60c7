# values.awk - what `hopcast correct --format json` prints, a line per value.
#
# SPDX-License-Identifier: Apache-2.0
#
#   awk -f values.awk best-1.json ... >values.txt
#
# In: MODE-CASE.json, with a key per line, as the program writes.  Out, with tabs:
# mode, case, path, value.  Members of an array count from 1: trials/each/3/test/rmse.
function name(file) {
  sub(/.*\//, "", file)
  sub(/\.json$/, "", file)
  return file
}

FNR == 1 {
  depth = 0
  split(name(FILENAME), run, "-")
}

{
  line = $0
  sub(/^ */, "", line)
  sub(/,$/, "", line)
  key = ""
  if (match(line, /^"[^"]*": /)) {
    key = substr(line, 2, RLENGTH - 4)
    line = substr(line, RLENGTH + 1)
  } else if (line != "]" && line != "}" && is_array[depth])
    key = ++members[depth]
}
line ~ /^[]}]$/ { depth--; next }
{ path = depth > 1 ? where[depth] "/" key : key }
line ~ /^[[{]$/ {
  where[++depth] = path
  is_array[depth] = line == "["
  members[depth] = 0
  next
}
{
  if (line ~ /^"/)
    line = substr(line, 2, length(line) - 2)
  printf "%s\t%s\t%s\t%s\n", run[1], run[2], path, line
}
