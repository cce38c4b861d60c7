# forest_bench.py - scikit-learn's side of forest_bench.c.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: forest_bench.py FOLDER ROWS FEATURES TREES THREADS RUNS
# Prints the medians of the seconds to fit and to predict all rows, the peak resident
# bytes, and R2 on the rows that it learned from.
import resource
import statistics
import sys
import time

import numpy
from sklearn.ensemble import ExtraTreesRegressor

folder = sys.argv[1]
rows, features, trees, threads, runs = (int(word) for word in sys.argv[2:])
x = numpy.fromfile(folder + "/x", dtype=numpy.float32).reshape(features, rows).T.copy()
y = numpy.fromfile(folder + "/y", dtype=numpy.float64)
fit_s, predict_s = [], []
for run in range(runs):
    forest = None
    forest = ExtraTreesRegressor(trees, n_jobs=threads, random_state=run)
    start = time.perf_counter()
    forest.fit(x, y)
    fit_s.append(time.perf_counter() - start)
    start = time.perf_counter()
    predicted = forest.predict(x)
    predict_s.append(time.perf_counter() - start)
peak_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
r2 = 1 - ((y - predicted) ** 2).sum() / ((y - y.mean()) ** 2).sum()
print(statistics.median(fit_s), statistics.median(predict_s), peak_bytes, r2)
