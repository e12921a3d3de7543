"""A host in pure Python whose plans really differ: sums over the rows of a matrix, taken in a loop or by the
interpreter's own sum, scaled by one of two ways, and, as a trap, with a term left out.

Like a training job it has state that every step changes: the vector that the next step multiplies."""
import array

import blazed

ROWS, COLUMNS = 16, 96
GRAPH = blazed.Graph(blazed.digest("summing", ROWS, COLUMNS), "summing", nodes=3)
DECISIONS = (
    blazed.Decision(blazed.digest("sum"), "rows/sum", ("loop", "builtin"), graph=1, sites=ROWS, reorders_sums=True),
    blazed.Decision(blazed.digest("scale"), "rows/scale", ("index", "zip"), graph=1, sites=ROWS),
    blazed.Decision(blazed.digest("terms"), "rows/terms", ("all", "without_last"), graph=1, sites=ROWS),
)
SUM, SCALE, TERMS = range(3)


def _loop(values):
    """The default, and several times slower than sum()."""
    total, i = 0.0, 0
    while i < len(values):
        total = total + values[i]
        i += 1
    return total


def _by_index(row, vector):
    out = []
    for i in range(len(vector)):
        out.append(row[i] * vector[i])
    return out


def _by_zip(row, vector):
    return [a * b for a, b in zip(row, vector)]


class SummingHost:
    def __init__(self):
        self.matrix = [[((i * 31 + j * 17) % 97 + 1) / 97.0 for j in range(COLUMNS)] for i in range(ROWS)]
        self.vector = [1.0] * COLUMNS
        self.plans = {0: {}}
        self.ran = {}
        self.built = []
        self.last_build_step = 0
        self.dropped = []
        self.live = []  # handles of steps that changed the vector
        self.run(0)

    def product(self, options):
        scale = _by_zip if options.get(SCALE) else _by_index
        add = sum if options.get(SUM) else _loop
        out = array.array("d")
        for row in self.matrix:
            terms = scale(row, self.vector)
            out.append(float(add(terms[:-1] if options.get(TERMS) else terms)))
        return out

    def run(self, handle):
        options = self.plans[handle]
        out = self.product(options)
        self.ran[handle] = blazed.digest(*sorted(options.items()), "ran")
        return out

    # ---- what blazed asks for ----

    def build(self, plan):
        handle = len(self.built) + 1
        self.plans[handle] = {choice.decision: choice.option for choice in plan}
        self.built.append(plan)
        self.last_build_step = len(self.live)
        self.run(handle)
        return blazed.Built(handle, self.ran[handle])

    def drop(self, handle):
        self.dropped.append(handle)
        del self.plans[handle]

    def probe(self, handle, emit):
        emit(blazed.ProbeTensor.of_buffer("product", blazed.Role.OUTPUT, self.run(handle)))

    def signature(self, handle):
        return self.ran[handle]

    # ---- a job ----

    def describe(self, session):
        results = [session.describe_graph(GRAPH),
                   session.describe_workload(blazed.Workload("summing", [GRAPH.fingerprint], DECISIONS,
                                                             self.signature(0)))]
        return results

    def step(self, session):
        handle = session.step_begin()
        out = self.run(handle)
        largest = max(out)
        self.vector = [out[i % ROWS] / largest for i in range(COLUMNS)]
        self.live.append(handle)
        session.step_end()
        return handle
