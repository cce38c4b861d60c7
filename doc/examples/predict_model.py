#!/usr/bin/python3
# predict_model.py - what a model of hopcast predicts, in Python with NumPy.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: predict_model.py MODEL.json TABLE.csv      prints a prediction per row
import base64, csv, json, sys
import numpy as np

model = json.load(open(sys.argv[1]))
rows = list(csv.DictReader(open(sys.argv[2])))
x = np.array([[np.float32(row[f["name"]] or "nan") for f in model["features"]] for row in rows], "f4")
learned = model["learned"]
names = [tuple(row[name] for name in model["target"].get("sets", [])) for row in rows]
for one in set(names) if "sets" in model["target"] else []:
    rows_of = [i for i, name in enumerate(names) if name == one]
    means = x[rows_of].astype("f8").mean(axis=0)
    x[rows_of] = x[rows_of] / np.where(means == 0, 1, means)

def packed(part, name, kind):
    return np.frombuffer(base64.b64decode(part[name]), kind)

def standardised(part, x):
    means, sds = np.array(part["means"]), np.array(part["sds"])
    return np.where(sds > 0, (x - means) / np.where(sds > 0, sds, 1), 0)

if "forest" in learned:
    boosting = learned.get("boosting", {"missing": []})
    twins = x[:, boosting["missing"]]
    x = np.hstack([x, np.where(np.isnan(twins), np.float32("-inf"), twins)])
    forest, y, first = learned["forest"], np.zeros(len(x)), 0
    feature, right = packed(forest, "feature", "<i4"), packed(forest, "right", "<u4")
    cut, value = packed(forest, "cut", "<f4"), packed(forest, "value", "<f8")
    for n_nodes in forest["nodes_of_trees"]:
        node = np.zeros(len(x), int)
        while (inner := feature[first + node] >= 0).any():
            below = x[np.arange(len(x)), feature[first + node]] <= cut[first + node]
            node = np.where(inner, np.where(below, node + 1, right[first + node]), node)
        y += value[first + node]
        first += n_nodes
    y = y + boosting["constant"] if "constant" in boosting else y / len(forest["nodes_of_trees"])
elif "linear" in learned:
    line = learned["linear"]
    y = line["constant"] + (x - np.array(line["means"])) @ np.array(line["coefficients"])
elif "svr" in learned:
    svr, z = learned["svr"], standardised(learned["svr"], x)
    vectors = standardised(svr, packed(svr, "vectors", "<f4").reshape(-1, len(x[0])))
    distance2 = ((z[:, None, :] - vectors[None, :, :]) ** 2).sum(axis=2)
    sums = np.exp(-svr["gamma"] * distance2) @ packed(svr, "coefficients", "<f8") + svr["bias"]
    y = svr["target_mean"] + svr["target_sd"] * sums
else:
    y = np.full(len(x), learned["mean"])
for value in np.exp(y) if model["target"]["log"] else y:
    print(repr(float(value)))
