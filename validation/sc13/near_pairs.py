#!/usr/bin/env python3
# near_pairs.py - how near the mappings of a study are to each other.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: validation/sc13/near_pairs.py TABLE.csv...   as `study export` writes them
# Of each: mappings, the share of pairs whose mean times differ by at most 5 %, the most mappings that have
# one value of max_bytes, and the largest over the smallest time among these.

import csv
import itertools
import sys

NEAR = 0.05

for path in sys.argv[1:]:
    runs = {}
    with open(path, newline="") as table:
        for row in csv.DictReader(table):
            if row["status"] == "done":
                runs.setdefault(row["mapping_hash"], []).append(row)
    times = {key: sum(float(row["time_s"]) for row in rows) / len(rows) for key, rows in runs.items()}
    pairs = list(itertools.combinations(times.values(), 2))
    near = sum(max(pair) <= min(pair) * (1 + NEAR) for pair in pairs)
    groups = {}
    for key, rows in runs.items():
        groups.setdefault(rows[0]["max_bytes"], []).append(times[key])
    largest = max(groups.values(), key=len)
    print(f"{path.rsplit('/', 1)[-1]}: {len(times)} mappings, {100 * near / max(len(pairs), 1):.0f} % of pairs near, "
          f"{len(largest)} with one max_bytes, {max(largest) / min(largest):.2f}-fold")
