# boosting_peers.py - scikit-learn's side of boosting_peers_test.c and boosting_bench.c.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: boosting_peers.py predict FOLDER ROWS TEST_ROWS FEATURES LEAST QUANTILE
#        boosting_peers.py time FOLDER ROWS FEATURES RUNS
# FOLDER has x and y of the rows, and test of the test rows: single precision by columns, y double.
# "predict" writes the predictions of the test rows to FOLDER/predicted; "time" prints the median of
# the seconds to fit and the root mean squared error of the rows that it learned from.  Threads are OMP_NUM_THREADS.
import statistics
import sys
import time

import numpy
from sklearn.ensemble import HistGradientBoostingRegressor


def columns(name, rows, features):
    return numpy.fromfile(folder + name, dtype=numpy.float32).reshape(features, rows).T


task, folder = sys.argv[1:3]
if task == "predict":
    rows, tests, features, least = (int(word) for word in sys.argv[3:7])
    quantile = float(sys.argv[7])
    loss = {"loss": "quantile", "quantile": quantile} if quantile > 0 else {}
    model = HistGradientBoostingRegressor(min_samples_leaf=least, early_stopping=False, **loss)
    model.fit(columns("/x", rows, features), numpy.fromfile(folder + "/y"))
    model.predict(columns("/test", tests, features)).tofile(folder + "/predicted")
else:
    rows, features, runs = (int(word) for word in sys.argv[3:6])
    x, y = columns("/x", rows, features), numpy.fromfile(folder + "/y")
    fit_s = []
    for run in range(runs):
        model = HistGradientBoostingRegressor(early_stopping=False)
        start = time.perf_counter()
        model.fit(x, y)
        fit_s.append(time.perf_counter() - start)
    print(statistics.median(fit_s), numpy.sqrt(((model.predict(x) - y) ** 2).mean()))
