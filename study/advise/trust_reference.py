#!/usr/bin/python3
"""trust_reference.py - the numbers of advise_test.c by numpy: nested leave-one-out of a ridge.

SPDX-License-Identifier: Apache-2.0

Nothing is shared with trust.c: each ridge is tried on each sample left out by solving the normal
equations anew.
"""
import numpy as np

x = np.array([0.1, 1.2, 0.4, 0.3, 0.9, 0.8, 1.3, 1.9, 1.6, 0.2, 2.2, 1.1,
              2.4, 0.6, 2.9, 1.7, 3.1, 0.9, 3.6, 1.4, 1.0, 1.0, 4.0, 2.0]).reshape(12, 2)
x = x.astype(np.float32).astype(float)
y = np.array([-0.27, 0.06, 0.23, 0.14, 0.71, 0.76, 1.07, 0.88, 1.29, 1.35])


def fit(a, b, ridge, scale_of=None):
    """Coefficients for features that are standardised by all samples of scale_of."""
    of = a if scale_of is None else scale_of
    mean, sd = of.mean(axis=0), of.std(axis=0)
    z = np.column_stack([np.ones(len(a)), (a - mean) / sd])
    penalty = np.diag([0] + [ridge] * a.shape[1])
    beta = np.linalg.solve(z.T @ z + penalty, z.T @ b)
    return lambda c: np.column_stack([np.ones(len(c)), (c - mean) / sd]) @ beta


def choose(a, b):
    """The ridge that predicts samples best from the others."""
    ridges = [len(a) * 10 ** (k / 2) for k in range(2, -17, -1)] + [0]
    losses = []
    for ridge in ridges:
        missed = [b[i] - fit(np.delete(a, i, 0), np.delete(b, i), ridge, a)(a[i:i + 1])[0]
                  for i in range(len(a))]
        losses.append(np.sum(np.square(missed)))
    return ridges[int(np.argmin(losses))]


known = x[:10]
nested = []
for i in range(10):
    a, b = np.delete(known, i, 0), np.delete(y, i)
    nested.append(fit(a, b, choose(a, b))(known[i:i + 1])[0])
missed = y - np.array(nested)
everything = fit(known, y, choose(known, y))
print("R2", 1 - np.sum(missed ** 2) / np.sum((y - y.mean()) ** 2))
print("ERROR", np.expm1(np.sqrt(np.mean(missed ** 2))))
print("SPREAD", np.expm1(y.std(ddof=1)))
print("FIRST", nested[0])
print("ELEVENTH", everything(x[10:11])[0])
print("TWELFTH", everything(x[11:])[0])
