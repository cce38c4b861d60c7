# expression_bench.py - the trees of expression_bench.c with DEAP: numpy's functions on 1,000 points.
#
# SPDX-License-Identifier: Apache-2.0
import operator
import random
import sys
import time

try:
    import numpy
    from deap import __version__, gp
except ImportError:
    sys.exit(1)

N_TREES, N_POINTS, LEVELS = 200, 1000, 4
BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": numpy.divide,
          "^": numpy.power}
UNARY = {"log": numpy.log, "exp": numpy.exp}


def primitives(names):
    """A set of primitives of three variables and random numbers."""
    found = gp.PrimitiveSet("formula%d" % len(names), 3)
    for name in names:
        if name in BINARY:
            found.addPrimitive(BINARY[name], 2, name="f%d" % len(found.primitives[object]))
        else:
            found.addPrimitive(UNARY[name], 1, name="f%d" % len(found.primitives[object]))
    found.addTerminal(0.75)
    return found


def measure(names):
    """Node evaluations per second, with and without compiling the trees."""
    random.seed(1)
    pset = primitives(names)
    trees = [gp.PrimitiveTree(gp.genFull(pset, LEVELS, LEVELS)) for _ in range(N_TREES)]
    nodes = sum(len(tree) for tree in trees)
    columns = 1 + numpy.random.RandomState(1).rand(3, N_POINTS)
    start = time.process_time()
    functions = [gp.compile(tree, pset) for tree in trees]
    compiled = time.process_time()
    with numpy.errstate(all="ignore"):
        for function in functions:
            function(*columns)
    end = time.process_time()
    work = nodes * N_POINTS
    return nodes / N_TREES, work / (end - compiled), work / (end - start)


print("DEAP %s with numpy %s, %d points: values, and with the compilation of the trees"
      % (__version__, numpy.__version__, N_POINTS))
for names in ("+-*/", ["+", "-", "*", "/", "log", "exp"], ["+", "-", "*", "/", "^", "log", "exp"]):
    print("%-20s %6.1f %6d %12.3g %16.3g" % ((" ".join(names),) + (measure(names)[0], N_POINTS)
                                             + measure(names)[1:]))
