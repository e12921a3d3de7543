"""The ways to run a job's training step that are compared.

Stock: what a user of PyTorch can write without blazed. `graph-by-hand` is a reference, not stock: nothing in PyTorch
captures a whole step by itself. An arm of a job's other form reads `sdpa/compile`.
"""
import dataclasses
from typing import Any, Dict, List, Tuple

import jobs
from small_models import STOCK

BLAZED_BACKEND, BLAZED_STEP = "backend", "train_step"


@dataclasses.dataclass(frozen=True)
class Arm:
    """`compile`: arguments of torch.compile; None: eager. `stock`: counts where the best stock arm is looked for."""

    name: str
    compile: Any = None
    compiled_optimiser: bool = False
    by_hand: bool = False
    blazed: str = ""
    form: str = ""
    graphs: bool = False  # keeps a pool of memory of its own

    @property
    def stock(self) -> bool:
        return not self.by_hand and not self.blazed


def _pair(name: str, compile: Dict[str, Any], graphs: bool = False) -> Tuple[Arm, Arm]:
    return (Arm(name, compile, graphs=graphs), Arm(f"{name}+opt", compile, compiled_optimiser=True, graphs=graphs))


_PADDED = {"force_shape_pad": True}
EAGER = Arm("eager")
COMPILE, COMPILE_OPT = _pair("compile", {})
FIRST = (EAGER, COMPILE)
OTHER_STOCK = (
    COMPILE_OPT,
    *_pair("reduce-overhead", {"mode": "reduce-overhead"}, graphs=True),
    *_pair("padded", {"options": _PADDED}),
    *_pair("padded-graphs", {"options": {**_PADDED, "triton.cudagraphs": True}}, graphs=True),
    *_pair("max-autotune-no-cudagraphs", {"mode": "max-autotune-no-cudagraphs"}),
    *_pair("max-autotune", {"mode": "max-autotune"}, graphs=True),
)
STOCK_ARMS = FIRST + OTHER_STOCK
REFERENCES = (Arm("graph-by-hand", {}, by_hand=True, graphs=True),
              Arm("graph-by-hand-padded", {"options": _PADDED}, by_hand=True, graphs=True))
BLAZED_ARMS = (Arm("blazed", blazed=BLAZED_BACKEND), Arm("blazed step", blazed=BLAZED_STEP, graphs=True))
OTHER_FORM = ("eager", "compile", "reduce-overhead", "reduce-overhead+opt", "max-autotune")
# Where no arms are named. Without max-autotune, which takes minutes to compile.
USUAL = ("eager", "compile", "compile+opt", "reduce-overhead", "reduce-overhead+opt", "padded", "padded-graphs+opt",
         "graph-by-hand", "blazed", "blazed step")
USUAL_OTHER_FORM = ("compile", "reduce-overhead+opt")
# A step that fills the GPU gains nothing from graphs of its optimiser, and every pool of one takes tens of GiB.
USUAL_HEAVY = ("eager", "compile", "compile+opt", "reduce-overhead", "padded", "graph-by-hand", "blazed", "blazed step")


def all_of(job: jobs.Job) -> List[Arm]:
    """In the order in which they are built: what time is too short for comes last."""
    main = jobs.main_form(job)
    arms = [dataclasses.replace(arm, form=main) for arm in (*FIRST, *BLAZED_ARMS, *OTHER_STOCK, *REFERENCES)]
    if job.stock_form:
        arms += [dataclasses.replace(arm, name=f"{job.stock_form}/{arm.name}", form=STOCK)
                 for arm in STOCK_ARMS if arm.name in OTHER_FORM]
    return arms


def chosen(job: jobs.Job, names: List[str], blazed: bool) -> List[Arm]:
    """Those named, "all", or the usual ones. Raises ValueError for a name that no job knows."""
    arms = all_of(job)
    known = {arm.name for arm in arms}
    if names and names != ["all"]:
        everywhere = {arm.name for one in jobs.JOBS for arm in all_of(one)}
        unknown = [name for name in names if name not in everywhere]
        if unknown:
            raise ValueError(f"no arm is named {unknown[0]}; there are {', '.join(sorted(everywhere))}")
    wanted = known if names == ["all"] else names or _usual(job, arms)
    return [arm for arm in arms if arm.name in wanted and (blazed or not arm.blazed)]


def _usual(job: jobs.Job, of_job: List[Arm]) -> List[str]:
    if job.heavy:
        return list(USUAL_HEAVY)
    return [arm.name for arm in of_job
            if (arm.name in USUAL if "/" not in arm.name else arm.name.split("/")[-1] in USUAL_OTHER_FORM)]
