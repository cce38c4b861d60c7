# reduce_pingpong.awk - a raw ping-pong set as a curve of about twenty sizes.
#
# SPDX-License-Identifier: Apache-2.0
#
#   zcat stampede_eth_PingPong.csv.gz | awk -v curve=NAME -f reduce_pingpong.awk
#
# In: lines of MPI call, message size in bytes, start in s, duration in s, in
# any order.  Out: lines of curve,bytes,us,us.  The time of a size is
# (mean of MPI_Send + mean of MPI_Recv) / 2, half of what one rank spends in
# both calls of a round.  Taken are the measured sizes that are nearest, by
# their ratio, to 1, 2, 4 ... 2^20.
BEGIN { FS = "," }

$1 == "MPI_Send" || $1 == "MPI_Recv" {
  if ($2 !~ /^[0-9]+$/ || $2 < 1 || NF != 4 || !($4 + 0 > 0)) {
    printf "line %d: expected CALL,BYTES,START,DURATION, found \"%s\"\n", NR, $0 > "/dev/stderr"
    failed = 1
    exit 1
  }
  sum[$1, $2] += $4
  n[$1, $2]++
  sizes[$2] = 1
}

function distance(bytes, wanted) { return bytes > wanted ? bytes / wanted : wanted / bytes }

END {
  if (failed)
    exit 1
  for (wanted = 1; wanted <= 1048576; wanted *= 2) {
    best = 0
    for (bytes in sizes)
      if (n["MPI_Send", bytes] && n["MPI_Recv", bytes] &&
          (!best || distance(bytes + 0, wanted) < distance(best, wanted) ||
           (distance(bytes + 0, wanted) == distance(best, wanted) && bytes + 0 < best)))
        best = bytes + 0
    if (!best || best in printed)
      continue
    printed[best] = 1
    us = (sum["MPI_Send", best] / n["MPI_Send", best] + \
          sum["MPI_Recv", best] / n["MPI_Recv", best]) / 2 * 1e6
    printf "%s,%d,%.4g,us\n", curve, best, us
  }
}
