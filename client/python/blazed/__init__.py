"""blazed for Python: tunes the plan of a training step while it trains. `import blazed` only defines things.

    import blazed
    print(blazed.status())          # what blazed does to this process, and why not more

A host of your own is a class with the methods of blazed.Host, given to blazed.Session; docs/python.md shows one.
`blazed.torch` is the backend for PyTorch. Nothing in here raises into a training script; see session.py for the rules.
"""
import importlib
from typing import Any

from . import current as _current
from . import sockets as _sockets
from .describe import Decision, Graph, Workload
from .enums import Contract, DecisionKind, Dtype, Phase, Regime, Result, Role, Settlement, State, StepFlag
from .host import BuildFailed, Built, Choice, Host, NoReference, ProbeTensor, digest
from .kernels import Kernel, StepKernels
from .library import Unavailable, load
from .modes import Mode, TuneUntil, tune_until
from .options import Options
from .session import Session
from .status import Status
from .tune_run import Tuned, tuned
from .version import VERSION as _VERSION

__all__ = ["BuildFailed", "Built", "Choice", "Contract", "Decision", "DecisionKind", "Dtype", "Graph", "Host",
           "Kernel", "Mode", "NoReference", "Options", "Phase", "ProbeTensor", "Regime", "Result", "Role", "Session",
           "Settlement", "State", "Status", "StepFlag", "StepKernels", "TuneUntil", "Tuned", "Unavailable",
           "Workload", "digest", "load", "status", "tune_until", "tuned"]


def status() -> Status:
    """Of the session that attached last in this process, also after it closed; before the first one it says which
    library and which socket a session would find. Any thread; never raises."""
    session = _current.session()
    if session is not None:
        return session.status()
    if _current.last_picture() is not None:
        return _current.last_picture()
    try:
        library = load()
    except Unavailable as why:
        return Status(why_not=str(why), reason=str(why))
    sentence = "no session has been opened in this process"
    return Status(why_not=sentence, reason=sentence, socket=_sockets.first(), library=library.path,
                  version=library.version)


def __getattr__(name: str) -> Any:
    if name == "torch":
        try:
            return importlib.import_module("blazed.torch")
        except ModuleNotFoundError as error:
            if error.name not in ("blazed.torch", "torch"):
                raise
            raise AttributeError("blazed.torch needs PyTorch and the part of blazed that is made for it; "
                                 f"install them ({error})") from None
    if name == "__version__":
        try:
            return load().version
        except Unavailable:
            return _VERSION  # of this package; there is no library that could say its own
    raise AttributeError(f"module 'blazed' has no attribute {name!r}")
