# nested_error.py - the error that `hopcast correct` tells, beside that at measured points it never saw.
#
# SPDX-License-Identifier: Apache-2.0
#
# usage: nested_error.py HOPCAST TABLE [POINTS [DRAWS [OPTION...]]]
#
# TABLE is CSV of measured times, either of MPI_Allreduce on Stampede2 (columns nbytes, nnodes, ppn, avg:
# Hutter, Solomonik, arXiv 2210.10184) or of PICO on Leonardo (its results.csv: Open MPI's allreduce by
# default rules).  Rows of one process are left out, which is no communication.  POINTS (32) are drawn
# DRAWS times (5) and go to `correct` with doc/examples/models/hockney-tree.model and the
# OPTIONs; the other rows, 2,000 at most, are untouched.
# Prints of each draw the nested and the untouched log-RMSE of the choice, and of the best of the refitted
# model, the quadratic surface and kriging, and the share of untouched points within the choice's 90 % interval.
# Fails when the mean of what is told is off by more than 10 %, or the choice by more than 3 % worse than
# that best in any draw.

import json
import os
import subprocess
import sys
import tempfile

import numpy

COLUMNS = ["nbytes", "nnodes", "ppn", "avg"]
PICO = {"nbytes": "bytes", "nnodes": "nodes", "ppn": "ranks_per_node", "avg": "median_us"}
OTHERS = ["refitted", "quadratic", "kriging"]
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../doc/examples/models/hockney-tree.model")
MOST_UNTOUCHED = 2000
TOLD, WORSE = 0.10, 0.03


def read(path):
    with open(path) as file:
        names, *rows = [line.strip().split(",") for line in file]
    pico = "collective" in names
    if pico:
        kind = [names.index(name) for name in ["collective", "library", "algorithm"]]
        rows = [row for row in rows if [row[at] for at in kind] == ["allreduce", "ompi", "default"]]
    at = [names.index(PICO[name] if pico else name) for name in COLUMNS]
    table = numpy.array([[float(row[column]) for column in at] for row in rows])
    if pico:
        table[:, 3] *= 1e-6
    return table[table[:, 1] * table[:, 2] > 1]


def write(path, rows):
    numpy.savetxt(path, rows, "%.17g", ",", header=",".join(COLUMNS), comments="")


def finite(error):
    return numpy.inf if error is None else error


def main():
    hopcast, table = os.path.abspath(sys.argv[1]), read(sys.argv[2])
    points, draws = [int(text) for text in (sys.argv[3:5] + ["32", "5"][len(sys.argv[3:5]):])]
    ranges = [word for name, column in zip(COLUMNS[:3], table.T)
              for word in ["--predict-range", f"{name}={column.min():.17g}:{column.max():.17g}"]]
    scratch = tempfile.TemporaryDirectory()  # for the tables that go to hopcast; gone at the end
    os.chdir(scratch.name)
    print(f"log-RMSE; {points} of {len(table)} points are learned from")
    print("  draw     nested  untouched    best of others  choice  within")
    told, found, others, within = [], [], [], []
    for seed in range(1, draws + 1):
        order = numpy.random.RandomState(100 + seed).permutation(len(table))
        write("few.csv", table[order[:points]])
        write("untouched.csv", table[order[points:points + MOST_UNTOUCHED]])
        printed = subprocess.run([hopcast, "correct", "-q", "few.csv", "--model", MODEL, "--observed", "avg",
                                  "--test", "untouched.csv", *ranges, "--format", "json", *sys.argv[5:]],
                                 check=True, capture_output=True, text=True).stdout
        answer = json.loads(printed)
        chosen, errors = answer["chosen"], answer["nested_test_log_rmse"]
        best = min(OTHERS, key=lambda name: finite(errors[name]))
        told.append(answer["nested"][chosen])
        found.append(finite(errors[chosen]))
        others.append(errors[best])
        within.append(finite(answer["interval"]["test_coverage"]))
        print(f"{seed:6d} {told[-1]:10.4f} {found[-1]:10.4f} {errors[best]:10.4f} {best:10s} {chosen} {within[-1]:.3f}",
              flush=True)
    excess = [mine / other - 1 for mine, other in zip(found, others)]
    ratio = numpy.mean(told) / numpy.mean(found)
    print(f"  mean {numpy.mean(told):10.4f} {numpy.mean(found):10.4f}  told / found {ratio:.3f}, at worst "
          f"{100 * max(excess):+.1f} % against the best of others, whose mean "
          f"is {numpy.mean(others):.4f}; {numpy.mean(within):.3f} within")
    sys.exit(not (abs(ratio - 1) <= TOLD and max(excess) <= WORSE))


main()
