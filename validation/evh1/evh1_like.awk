# evh1_like.awk - times of EVH1 as an IBM p690 might have had them, in place of lost measurements.
#
# SPDX-License-Identifier: Apache-2.0
#
#   awk -f evh1_like.awk [-v NAME=VALUE]... >validation/data/mecp/synthetic_evh1_like.csv
#
# The 32 measured times of the paper on model error correction are lost, and so is its formula.
# Here the time is the reconstruction R1 (doc/examples/models/evh1-r1.model) with a fault that no
# value of its parameters explains: the exchange among many processes takes longer than R1 says.
# Every assumption has a name, and -v changes it:
#
#   f, nv                cycles per simulated time (1/s; published), words of a cell (guessed)
#   g, h, i, j           copy (s/word), contention, latency (s), transfer (s/word): published, table 2
#   planted, beyond, exponent   the fault, planted*max(0, np - beyond)^exponent s per exchange: guessed
#   noise                standard deviation, a share of the time: guessed
#   seed                 0: the noise of the table in the tree; others: noise of that seed
#
# Which T a point has and whether it is learned from (L) or predicted (P) was drawn once and is
# listed in `design`, a row per nx, a word per np; the paper has 16 points of either kind.
function set(name, value) { return name == "" ? value : name }

BEGIN {
  f = set(f, 4965)
  nv = set(nv, 7)
  g = set(g, 2.45e-8)
  h = set(h, 1.13216)
  i = set(i, 1.69e-5)
  j = set(j, 1.62e-7)
  planted = set(planted, 8e-6)
  beyond = set(beyond, 32)
  exponent = set(exponent, 1.6)
  noise = set(noise, 0.03)
  seed = set(seed, 0)

  n_np = split("4 8 16 32 48 64 96 128", np, " ")
  design[1] = "L0.02 L0.05 P0.05 P0.02 L0.1 P0.05 P0.05 L0.1"
  design[2] = "P0.05 P0.1 L0.05 L0.02 L0.1 L0.05 L0.1 P0.05"
  design[3] = "P0.05 L0.05 L0.02 P0.02 L0.05 L0.1 P0.02 P0.02"
  design[4] = "L0.02 L0.1 P0.02 P0.02 P0.1 P0.1 L0.02 P0.05"

  # Standard normal, of the table in the tree; the generator that drew them is not known any more.
  draws = draws "-0.54737242513293 -0.041027947672238 0.231026454581425 -0.21053513347471 "
  draws = draws "0.536615595094496 -0.02719777730904 2.47206013430962 -0.446736359969206 "
  draws = draws "1.22761011893581 0.08161878465743 0.30235847355116 -0.477096007141183 "
  draws = draws "0.31400824758116 1.459737853571134 0.58255699450267 -1.36302509091646 "
  draws = draws "0.720565274922465 -0.696071568548303 -0.627744207499762 0.64838956496127 "
  draws = draws "-0.528214898102393 0.88128948236979 1.09469503841658 -0.78926886754946 "
  draws = draws "0.69850276537328 0.27214114850608 0.515788782340036 0.23763152910045 "
  draws = draws "0.04845150966893 -1.09464530748089 0.84532095552541 0.31116309521514 "
  split(draws, draw, " ")
  state = seed % 2147483647

  print "T,nx,np,t_comm,split,t_base_seedparams,t_true_noiseless"
  for (row = 1; row <= 4; row++) {
    nx = 64 * 2 ^ row
    n = split(design[row], word, " ")
    for (at = 1; at <= n; at++) {
      T = substr(word[at], 2) + 0
      words = nv * nx * nx / np[at]
      base = f * T * 2 * (2 * g * words + (np[at] - 1) ^ h * (i + j * words / np[at]))
      fault = np[at] > beyond ? f * T * 2 * planted * (np[at] - beyond) ^ exponent : 0
      z = seed == 0 ? draw[++point] : normal()
      printf "%s,%d.0,%d.0,%s,%s,%s,%s\n", T, nx, np[at], shortest((base + fault) * (1 + noise * z)),
        word[at] ~ /^L/ ? "train" : "test", shortest(base), shortest(base + fault)
    }
  }
}

# The fewest digits that read back to the same number, as the table was written.
function shortest(value,   digits, text) {
  for (digits = 15; digits <= 17; digits++) {
    text = sprintf("%." digits "g", value)
    if (text + 0 == value)
      break
  }
  return text
}

# Park and Miller's minimal standard generator, which any awk computes exactly; Box and Muller.
function unit() {
  state = (state * 16807) % 2147483647
  return state / 2147483647
}

function normal(   radius) {
  radius = sqrt(-2 * log(unit()))
  return radius * cos(6.283185307179586 * unit())
}
