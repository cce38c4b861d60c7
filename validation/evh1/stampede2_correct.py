# stampede2_correct.py - few measurements of a real cluster: a mended model, beside what trees learn.
#
# SPDX-License-Identifier: Apache-2.0
#
# usage: stampede2_correct.py HOPCAST FOLDER [DRAWS [OPTION...]]
#
# FOLDER has times of MPI_Allreduce on Stampede2, as for stampede2.py.  Of the points to learn
# from, 64 are drawn, DRAWS times (10).  The same 64 go to `hopcast correct`, with the OPTIONs,
# for doc/examples/models/hockney-tree.model, whose parameters it also fits, and to extra-trees
# (100, of the logarithms of time and features), ours and scikit-learn's.  The mended model is that
# of case 3 or 4, which has the smaller error in cross-validation of the 64.  All are judged at
# the same points, which none has seen; nothing is chosen by them.
# Fails unless the median error of the mended model is below all others.

import json
import os
import subprocess
import sys
import tempfile

import numpy

sys.dont_write_bytecode = True
from stampede2 import FEATURES, FILES, TARGET, ours, read, theirs, write

N_POINTS, N_TREES = 64, 100
MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                     "../../doc/examples/models/hockney-tree.model")
COLUMNS = ["case 3", "case 4", "mended", "fitted", "extra-trees", "scikit-learn"]


def log_rmse(observed, predicted):
    return numpy.sqrt(((numpy.log(predicted) - numpy.log(observed)) ** 2).mean())


def without(train, test):
    """Points to learn from that are not among those to predict."""
    known = {tuple(row) for row in test[0]}
    fresh = numpy.array([tuple(row) not in known for row in train[0]])
    return train[0][fresh], train[1][fresh]


def draw(train, seed):
    chosen = numpy.random.RandomState(seed).choice(len(train[1]), N_POINTS, replace=False)
    return train[0][chosen], train[1][chosen]


def logarithms(points):
    return numpy.log2(points[0]), points[1]


def mend(hopcast, test, case, seed, options):
    """What `correct` says of few.csv and test.csv."""
    ranges = [word for name, column in zip(FEATURES, test[0].T)
              for word in ("--predict-range", f"{name}={column.min():.17g}:{column.max():.17g}")]
    printed = subprocess.run([hopcast, "correct", "-q", "--nested", "0", "few.csv", "--model", MODEL,
                              "--observed", TARGET, "--test", "known.csv", *ranges,
                              "--case", case, "--seed", str(seed), "--format", "json", *options],
                             check=True, capture_output=True, text=True).stdout
    return json.loads(printed)


def cross_validation(found):
    """Of the term that the program chose; it is one of the trials'."""
    return min([trial["cross_validation"] for trial in found["trials"]["each"]
                if trial.get("term") == found.get("term", "") and trial["cross_validation"]],
               default=numpy.inf)


def error_of(found):
    """At the test points; a time that is not positive has no logarithm."""
    error = found.get("corrected", found["base"])["test"]["log_rmse"]
    return numpy.inf if error is None else error


def errors_of(hopcast, train, test, seed, options):
    few = draw(train, seed)
    write("few.csv", *few)
    write("known.csv", *test)
    cases = [mend(hopcast, test, case, seed, options) for case in ("3", "4")]
    few, unseen = logarithms(few), logarithms(test)
    write("train.csv", *few)
    write("test.csv", *unseen)
    chosen = min(cases, key=cross_validation)
    errors = [*(error_of(found) for found in [*cases, chosen]),
              chosen["refitted"]["test"]["log_rmse"],
              log_rmse(test[1], ours(hopcast, seed, N_TREES)),
              log_rmse(test[1], theirs(few, unseen, seed, N_TREES))]
    return errors, chosen.get("term", "t_comm")


def main():
    hopcast, folder = map(os.path.abspath, sys.argv[1:3])
    draws = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    train, test = [read(f"{folder}/{file}", False) for file in FILES]
    train = without(train, test)
    scratch = tempfile.TemporaryDirectory()  # for the tables that go to hopcast; gone at the end
    os.chdir(scratch.name)
    print(f"log-RMSE at {len(test[1])} points of what {N_POINTS} points taught")
    print("  draw" + "".join(f"{name:>13s}" for name in COLUMNS) + "  term")
    rows = []
    for seed in range(1, draws + 1):
        errors, term = errors_of(hopcast, train, test, seed, sys.argv[4:])
        rows.append(errors)
        print(f"{seed:6d}" + "".join(f"{error:13.4f}" for error in errors) + f"  {term}", flush=True)
    medians = numpy.median(rows, axis=0)
    print("median" + "".join(f"{error:13.4f}" for error in medians))
    everything = theirs(logarithms(train), logarithms(test), 1, N_TREES)
    print(f"all {len(train[1])} points to learn from: scikit-learn {log_rmse(test[1], everything):.4f}")
    mended, others = medians[2], medians[3:]
    sys.exit(not all(mended < error for error in others))


main()
