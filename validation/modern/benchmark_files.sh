#!/bin/sh
# benchmark_files.sh - figures of validation/data/modern/measured.csv as the benchmarks print them.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: benchmark_files.sh SET FOLDER [TEST]...
# Writes FOLDER/TEST-RANKS.txt, of ranks in one node FOLDER-node/TEST-RANKS.txt, for each of the set's OSU and IMB
# tests of pairs and collectives, or of those named, for `hopcast calibrate` and `hopcast machine test`.
# Ranks that were not bound have cores that are drawn, half of them in each package.
set -eu
data=$(dirname "$0")/../data/modern/measured.csv
set_name=$1 folder=$2
shift 2
mkdir -p "$folder" "$folder-node"
awk -F, -v set_name="$set_name" -v folder="$folder" -v wanted=" $* " '
  BEGIN {
    title["osu_latency"] = "Latency Test"
    title["osu_multi_lat"] = "Multi Latency Test"
    title["osu_bw"] = "Bandwidth Test"
    title["osu_bibw"] = "Bi-Directional Bandwidth Test"
    title["osu_mbw_mr"] = "Multiple Bandwidth / Message Rate Test"
    title["osu_alltoall"] = "All-to-All Personalized Exchange Latency Test"
    title["osu_allgather"] = "Allgather Latency Test"
    title["osu_allreduce"] = "Allreduce Latency Test"
    title["osu_bcast"] = "Broadcast Latency Test"
    unbound["alaska"] = "13,24,21,5,14,16,18,2,19,8,20,25,15,22,11,0,26,30,3,6,10,27,7,23,17,31,1,12,28,29,9,4"
    unbound["csd3"] = "13,4,39,32,1,30,9,43,12,11,2,40,37,5,29,33,42,14,35,7,31,8,41,34,3,38,6,15,36,10,0,28"
    imb["imb_pingpong"] = "PingPong"; imb["imb_uniband"] = "Uniband"; imb["imb_biband"] = "Biband"
  }
  # The table has the rate of short messages and the bandwidth of long ones.
  function rate () { return $8 == "1/s" ? $7 : $7 * 1e6 / $6 }
  function bandwidth () { return $8 == "1/s" ? $7 * $6 / 1e6 : $7 }
  function begin () {
    printf "# hopcast: ranks=%d ranks-per-node=%d", $5, $4 >file
    printf "%s\n", $4 == 32 && set_name in unbound ? " cores=" unbound[set_name] : "" >file
    printf "# %s, validation/data/modern/measured.csv\n", set_name >file
    if ($2 in imb)
      printf "# Benchmarking %s\n# #processes = %d\n", imb[$2], $5 >file
    else
      printf "# OSU MPI %s v5.6.2\n", title[$2] >file
    if ($2 == "osu_mbw_mr")
      printf "# [ pairs: %d ] [ window size: 64 ]\n# Size                  MB/s        Messages/s\n", $5 / 2 >file
    else if ($2 == "imb_pingpong")
      print "       #bytes #repetitions      t[usec]   Mbytes/sec" >file
    else if ($2 in imb)
      print "       #bytes #repetitions   Mbytes/sec      Msg/sec" >file
    else
      print "# Size " ($8 == "us" ? "Latency (us)" : "Bandwidth (MB/s)") >file
  }
  $1 == set_name && $3 == "" && ($2 in title || $2 in imb) && (wanted ~ /^ *$/ || index(wanted, " " $2 " ")) {
    file = folder ($5 > $4 ? "" : "-node") "/" $2 "-" $5 ".txt"
    if (!(file in seen)) { seen[file]; begin() }
    if ($2 == "osu_mbw_mr") printf "%-20d %10.2f %17.2f\n", $6, bandwidth(), rate() >file
    else if ($2 == "imb_pingpong") printf "%13d %12d %12.2f %12.2f\n", $6, 1000, $7, $6 / $7 >file
    else if ($2 in imb) printf "%13d %12d %12.2f %12d\n", $6, 1000, bandwidth(), rate() >file
    else printf "%-20d %10.2f\n", $6, $8 == "us" ? $7 : bandwidth() >file
  }' "$data"
