# stampede2.py - learned from measurements of a real cluster, beside scikit-learn.
#
# SPDX-License-Identifier: Apache-2.0
#
# usage: stampede2.py HOPCAST FOLDER [SEEDS [TREES]]
#
# FOLDER has times of MPI_Allreduce on Stampede2 (Hutter, Solomonik, arXiv
# 2210.10184): 10,752 to learn from, 825 to predict, 20 of which are among the former.
# Extra-trees (100) learn the logarithm of the time from message size, nodes and
# processes per node, and from the logarithms of these three; every seed is another
# forest.
# Fails when hopcast is worse than scikit-learn by more than seeds explain.

import os
import subprocess
import sys
import tempfile

import numpy
from sklearn.ensemble import ExtraTreesRegressor

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


def theirs(train, test, seed, trees):
    forest = ExtraTreesRegressor(n_estimators=trees, random_state=seed)
    forest.fit(train[0], numpy.log(train[1]))
    return numpy.exp(forest.predict(test[0]))


def ours(hopcast, seed, trees):
    subprocess.run([hopcast, "train", "-q", "train.csv", "--target", TARGET, "--log-target",
                    "--validate", "none", "--seed", str(seed), "--trees", str(trees),
                    "-o", "model.json"],
                   check=True, stdout=subprocess.DEVNULL)
    table = subprocess.run([hopcast, "predict", "-q", "model.json", "test.csv"],
                           check=True, capture_output=True, text=True).stdout
    return numpy.array([float(line.rsplit(",", 1)[1]) for line in table.splitlines()[1:]])


def compare(name, hopcast, train, test, seeds, trees):
    """Whether ours is as good, of both scores."""
    write("train.csv", *train)
    write("test.csv", *test)
    good = True
    each = range(1, seeds + 1)
    predicted = {"hopcast": [ours(hopcast, seed, trees) for seed in each],
                 "scikit-learn": [theirs(train, test, seed, trees) for seed in each]}
    for what, score in [("R2 of log time", r2_of_logarithms), ("RCC", rcc)]:
        mean, sd = {}, {}
        for who, forests in predicted.items():
            scores = [score(test[1], forest) for forest in forests]
            mean[who], sd[who] = numpy.mean(scores), numpy.std(scores, ddof=1)
            print(f"{name:14s}  {what:14s}  {who:12s}  {mean[who]:.5f} +- {sd[who]:.5f}")
        noise = numpy.hypot(*sd.values()) / numpy.sqrt(seeds)
        good &= mean["hopcast"] >= mean["scikit-learn"] - 3 * noise
    return good


def main():
    hopcast, folder = map(os.path.abspath, sys.argv[1:3])
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    trees = int(sys.argv[4]) if len(sys.argv) > 4 else 100
    scratch = tempfile.TemporaryDirectory()  # for the tables that go to hopcast; gone at the end
    os.chdir(scratch.name)
    print(f"features        score           of            mean +- sd over {seeds} seeds")
    good = True
    for name, logarithms in [("as they are", False), ("logarithms", True)]:
        train, test = [read(f"{folder}/{file}", logarithms) for file in FILES]
        good &= compare(name, hopcast, train, test, seeds, trees)
    sys.exit(not good)


if __name__ == "__main__":
    main()
