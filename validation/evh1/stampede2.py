# stampede2.py - learned from measurements of a real cluster, beside scikit-learn.
#
# SPDX-License-Identifier: Apache-2.0
#
# usage: stampede2.py HOPCAST FOLDER [SEEDS [TREES [METHOD]]]
#
# FOLDER has times of MPI_Allreduce on Stampede2 (Hutter, Solomonik, arXiv
# 2210.10184): 10,752 to learn from, 825 to predict, 20 of which are among the former.
# METHOD: extra-trees (default) or boosting, whose peer is HistGradientBoostingRegressor.  100 trees learn the
# logarithm of the time from message size, nodes and processes per node, and from the logarithms of these
# three; every seed is another forest, or, as boosting has no chance in it, another two thirds of the rows.
# Fails when hopcast is worse than scikit-learn by more than seeds explain.

import os
import subprocess
import sys
import tempfile

import numpy
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor

FEATURES = ["nbytes", "nnodes", "ppn"]
TARGET = "avg"
FILES = ["tensor_datasets_allreduce_256x6x7.csv", "test_sets_allreduce_allreduce.csv"]


def read(path, logarithms):
    with open(path) as file:
        names = file.readline().strip().split(",")
        table = numpy.loadtxt(file, delimiter=",")
    x = table[:, [names.index(name) for name in FEATURES]]
    return numpy.log2(x) if logarithms else x, table[:, names.index(TARGET)]


def write(path, x, y):
    with open(path, "w") as file:
        print(",".join(FEATURES + [TARGET]), file=file)
        for row, time in zip(x, y):
            print(",".join(repr(float(value)) for value in [*row, time]), file=file)


def r2_of_logarithms(observed, predicted):
    observed, predicted = numpy.log(observed), numpy.log(predicted)
    error = ((observed - predicted) ** 2).sum()
    return 1 - error / ((observed - observed.mean()) ** 2).sum()


def rcc(observed, predicted):
    """The share of pairs in the same order; a tie of one side counts a half."""
    a = numpy.sign(observed[:, None] - observed)
    b = numpy.sign(predicted[:, None] - predicted)
    pairs = numpy.triu_indices(len(observed), 1)
    return 1 - numpy.abs(a - b)[pairs].mean() / 2


def theirs(train, test, seed, trees, method="extra-trees"):
    if method == "boosting":
        model = HistGradientBoostingRegressor(max_iter=trees, early_stopping=False)
    else:
        model = ExtraTreesRegressor(n_estimators=trees, random_state=seed)
    model.fit(train[0], numpy.log(train[1]))
    return numpy.exp(model.predict(test[0]))


def ours(hopcast, seed, trees, method="extra-trees"):
    early = ["--early-stopping", "off"] if method == "boosting" else []
    subprocess.run([hopcast, "train", "-q", "train.csv", "--target", TARGET, "--log-target",
                    "--method", method, "--validate", "none", "--seed", str(seed),
                    "--trees", str(trees), "-o", "model.json", *early],
                   check=True, stdout=subprocess.DEVNULL)
    table = subprocess.run([hopcast, "predict", "-q", "model.json", "test.csv"],
                           check=True, capture_output=True, text=True).stdout
    return numpy.array([float(line.rsplit(",", 1)[1]) for line in table.splitlines()[1:]])


def compare(name, hopcast, method, train, test, seeds, trees):
    """Whether ours is as good, of both scores."""
    write("test.csv", *test)
    good = True
    predicted = {"hopcast": [], "scikit-learn": []}
    for seed in range(1, seeds + 1):
        learned = train
        if method == "boosting":
            rows = numpy.random.default_rng(seed).permutation(len(train[1]))[:2 * len(train[1]) // 3]
            learned = train[0][rows], train[1][rows]
        if method == "boosting" or seed == 1:
            write("train.csv", *learned)
        predicted["hopcast"].append(ours(hopcast, seed, trees, method))
        predicted["scikit-learn"].append(theirs(learned, test, seed, trees, method))
    for what, score in [("R2 of log time", r2_of_logarithms), ("RCC", rcc)]:
        scores = {who: numpy.array([score(test[1], times) for times in each])
                  for who, each in predicted.items()}
        for who, each in scores.items():
            print(f"{name:14s}  {what:14s}  {who:12s}  {each.mean():.5f} +- {each.std(ddof=1):.5f}")
        # Boosting's rows of a seed are the same on both sides.
        spread = (scores["hopcast"] - scores["scikit-learn"]).std(ddof=1) if method == "boosting" \
            else numpy.hypot(*[each.std(ddof=1) for each in scores.values()])
        # scikit-learn's threads add in any order: equal models may differ in their last digits.
        good &= scores["hopcast"].mean() >= scores["scikit-learn"].mean() - 3 * spread / seeds ** .5 - 1e-9
    return good


def main():
    hopcast, folder = map(os.path.abspath, sys.argv[1:3])
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    trees = int(sys.argv[4]) if len(sys.argv) > 4 else 100
    method = sys.argv[5] if len(sys.argv) > 5 else "extra-trees"
    scratch = tempfile.TemporaryDirectory()  # for the tables that go to hopcast; gone at the end
    os.chdir(scratch.name)
    print(f"features        score           of            mean +- sd over {seeds} seeds")
    good = True
    for name, logarithms in [("as they are", False), ("logarithms", True)]:
        train, test = [read(f"{folder}/{file}", logarithms) for file in FILES]
        good &= compare(name, hopcast, method, train, test, seeds, trees)
    sys.exit(not good)


if __name__ == "__main__":
    main()
