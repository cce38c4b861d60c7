# correction_bench.py - the trials of correction_bench.c with DEAP.
#
# SPDX-License-Identifier: Apache-2.0
#
# Usage: correction_bench.py POINTS GENERATIONS
# POINTS has lines T nx np t_comm observed.  3,000 trees of the paper's functions for
# observed - t_comm (case 2); the time of 100 generations is that of a few, scaled.
import operator
import random
import sys
import time

try:
    import numpy
    from deap import __version__, algorithms, base, creator, gp, tools
except ImportError:
    sys.exit(1)

POPULATION, PAPER_GENERATIONS, MOST_NODES = 3000, 100, 127
points, generations = numpy.loadtxt(sys.argv[1]).T, int(sys.argv[2])
columns, base_time, observed = points[:3], points[3], points[4]


def loss(tree):
    """RMSE; what has no value has the worst."""
    with numpy.errstate(all="ignore"):
        error = observed - base_time - gp.compile(tree, formulas)(*columns)
        found = numpy.sqrt((error * error).mean())
    return (found if numpy.isfinite(found) else numpy.inf,)


random.seed(1)
formulas = gp.PrimitiveSet("term", 3)
for function, operands in [(operator.add, 2), (operator.sub, 2), (operator.mul, 2),
                           (numpy.divide, 2), (numpy.power, 2), (numpy.log, 1), (numpy.exp, 1)]:
    formulas.addPrimitive(function, operands)
formulas.addEphemeralConstant("number", lambda: random.uniform(-1, 1))
creator.create("Loss", base.Fitness, weights=(-1,))
creator.create("Tree", gp.PrimitiveTree, fitness=creator.Loss)
breeding = base.Toolbox()
breeding.register("grow", gp.genHalfAndHalf, pset=formulas, min_=1, max_=6)
breeding.register("tree", tools.initIterate, creator.Tree, breeding.grow)
breeding.register("evaluate", loss)
breeding.register("select", tools.selTournament, tournsize=3)
breeding.register("mate", gp.cxOnePoint)
breeding.register("replacement", gp.genFull, min_=0, max_=2)
breeding.register("mutate", gp.mutUniform, expr=breeding.replacement, pset=formulas)
for name in ("mate", "mutate"):
    breeding.decorate(name, gp.staticLimit(len, MOST_NODES))

start = time.process_time()
first = [breeding.tree() for _ in range(POPULATION)]
last, _ = algorithms.eaSimple(first, breeding, 0.9, 0.1, generations, verbose=False)
seconds = (time.process_time() - start) * (PAPER_GENERATIONS + 1) / (generations + 1)
print("DEAP %s with numpy %s, %d of %d generations, scaled (later ones have larger trees):"
      % (__version__, numpy.__version__, generations, PAPER_GENERATIONS))
print("%-6s %4d %6d x %3d %10.3f %12.3g %10.3g"
      % ("DEAP", 2, POPULATION, PAPER_GENERATIONS, seconds,
         POPULATION * (PAPER_GENERATIONS + 1) / seconds,
         min(tree.fitness.values[0] for tree in last)))
