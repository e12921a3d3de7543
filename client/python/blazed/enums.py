"""The numbers of blazed.h by name. Values are those of the C ABI and never change within a major version.

Thread: any. Nothing here has state.
"""
import enum


class Result(enum.IntEnum):
    """What a call did. Nothing needs to be undone after any of them."""
    OK = 0
    OFF = 1         # the session is off: nothing was done, handle 0 is in use
    INVALID = 2     # a limit was broken; Session.reason() says which
    TIMEOUT = 3     # the daemon did not answer in the time given
    TOO_SMALL = 4   # the buffer is too small
    NOT_FOUND = 5   # the daemon knows no report for this session (yet), or asks for no kernels of this plan


class Contract(enum.IntEnum):
    """How strictly a variant's numbers must agree with the default plan's."""
    DEFAULT = 0     # read as ROUNDING
    BITWISE = 1
    ROUNDING = 2
    PREDICTION = 3


class Regime(enum.IntEnum):
    TRAINING = 1
    FORWARD = 2


class DecisionKind(enum.IntEnum):
    BOUNDARY = 1
    CHOICE = 2


class Dtype(enum.IntEnum):
    F32 = 1
    F64 = 2
    F16 = 3
    BF16 = 4
    I32 = 5
    I64 = 6


class Role(enum.IntEnum):
    """What a tensor of a check computation is."""
    OUTPUT = 1
    GRADIENT = 2
    PREDICTION = 3  # scores (the largest of each row is the prediction) or, for integers, predictions
    LOSS = 4


class StepFlag(enum.IntFlag):
    """Why a step is no fair sample; given to Session.step_end."""
    CHECKPOINT = 1
    EVALUATION = 2
    PROFILER = 4
    RECOMPILE = 8
    CLOCK_EVENT = 16
    NEIGHBOUR = 64  # another process used the device


class BuildResult(enum.IntEnum):
    OK = 0
    FAILED = 1
    MEMORY = 2      # did not fit


class LogLevel(enum.IntEnum):
    INFO = 1
    WARNING = 2


class State(enum.IntEnum):
    OFF = 0           # for good; the reason says why
    ATTACHING = 1     # connected or trying, no answer yet; the default runs
    ATTACHED = 2
    RECONNECTING = 3  # the daemon went away; the champion keeps running
    CLOSED = 4


class Phase(enum.IntEnum):
    NONE = 0
    WAITING = 1
    FORECAST = 2
    SEARCH = 3
    VERIFY = 4
    REPLICATE = 5
    SETTLED = 6
    STANDING = 7
    SERVED = 8


class Settlement(enum.IntEnum):
    NONE = 0
    IN_JOB = 1
    REPLICATED = 2
    NO_WINNER = 3


class KernelFact(enum.IntFlag):
    """Which numbers of a kernel are known."""
    LAUNCHES = 1
    TIME = 2
    BYTES = 4  # read and written
    REGISTERS = 8
    SPILLS = 16
    SHARED = 32


class TotalFact(enum.IntFlag):
    """Which totals of a step are known."""
    STEP = 1
    BUSY = 2
    KERNEL_LAUNCHES = 4
    HOST_LAUNCHES = 8
