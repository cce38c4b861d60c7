# surface_reference.py - what scikit-learn and numpy make of points, for surface_test.c.
#
# SPDX-License-Identifier: Apache-2.0
#
# usage: surface_reference.py FILE
#
# FILE has numbers: n points to learn from, m to predict, p variables, the ridge, the noise and p
# lengths; then n rows of variables and a time, and m rows of variables.  stdout: the m times of the
# quadratic surface, the m times of kriging, and the logarithm of its likelihood.
# Exit status 77: numpy or scikit-learn is missing.

import sys

try:
    import numpy
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
except ImportError as error:
    print(error)
    sys.exit(77)


def quadratic(x, y, z, ridge):
    """Least squares of standardised terms, with the ridge as rows of their own."""
    def terms(places):
        p = places.shape[1]
        return numpy.column_stack([places] + [places[:, a] * places[:, b] for a in range(p) for b in range(a, p)])

    known, wanted = terms(x), terms(z)
    mean, unit = known.mean(0), known.std(0)
    known, wanted = (known - mean) / unit, (wanted - mean) / unit
    rows = numpy.vstack([known, numpy.sqrt(ridge) * numpy.eye(known.shape[1])])
    right = numpy.concatenate([y - y.mean(), numpy.zeros(known.shape[1])])
    return y.mean() + wanted @ numpy.linalg.lstsq(rows, right, rcond=None)[0]


def kriging(x, y, z, lengths, noise):
    correlation = Matern(lengths, nu=2.5)(x) + noise * numpy.eye(len(x))
    solved = numpy.linalg.solve(correlation, numpy.column_stack([y, numpy.ones(len(x))])).sum(0)
    mean = solved[0] / solved[1]
    variance = (y - mean) @ numpy.linalg.solve(correlation, y - mean) / len(x)
    kernel = (ConstantKernel(variance, "fixed") * Matern(lengths, "fixed", nu=2.5)
              + WhiteKernel(noise * variance, "fixed"))
    process = GaussianProcessRegressor(kernel, alpha=0, optimizer=None).fit(x, y - mean)
    likelihood = process.log_marginal_likelihood_value_ + len(x) / 2 * (1 + numpy.log(2 * numpy.pi))
    return mean + process.predict(z), likelihood


def main():
    numbers = numpy.array(open(sys.argv[1]).read().split(), float)
    n, m, p = numbers[:3].astype(int)
    ridge, noise, lengths = numbers[3], numbers[4], numbers[5:5 + p]
    learned = numbers[5 + p:5 + p + n * (p + 1)].reshape(n, p + 1)
    x, y = numpy.log(learned[:, :p]), numpy.log(learned[:, p])
    z = numpy.log(numbers[5 + p + n * (p + 1):].reshape(m, p))
    mean, unit = x.mean(0), x.std(0)
    x, z = (x - mean) / unit, (z - mean) / unit
    smooth, likelihood = kriging(x, y, z, lengths, noise)
    for time in numpy.exp(numpy.concatenate([quadratic(x, y, z, ridge), smooth])):
        print(repr(float(time)))
    print(repr(float(likelihood)))


main()
