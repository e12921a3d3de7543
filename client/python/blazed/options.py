"""What a job asks of its session. Every field has a default; see blazed.h for the limits.

Thread: any. Errors: ValueError for a mode or contract that does not exist. What the shim does not like (a device that
is none, too many labels) makes a session that is off, with the sentence in Session.reason().
"""
import ctypes
from dataclasses import dataclass, field
from typing import Mapping, Optional, Union

from . import abi
from .describe import encoded
from .enums import Contract
from .modes import Mode, TuneUntil, mode_of


@dataclass
class Options:
    socket: Optional[str] = None  # None: BLAZED_SOCKET, /run/blazed/blazed.sock, $XDG_RUNTIME_DIR/blazed/blazed.sock
    mode: Union[Mode, TuneUntil, str] = Mode.FROM_ENVIRONMENT
    contract: Contract = Contract.DEFAULT
    job: Optional[str] = None        # at most 96 bytes; None: the daemon makes one
    rank: int = 0
    world_size: int = 1              # above 1 the session only observes
    host_name: str = "python"        # "torch 2.11"; at most 96 bytes
    device: Optional[str] = None     # "cpu" (None reads so) or a GPU's UUID
    environment: Mapping[str, str] = field(default_factory=dict)  # what a measurement is valid for; at most 32
    extra_memory_bytes: int = 0      # peak memory a variant may use above the default's
    probe_batches: int = 0           # live batches a variant must pass; 3 at least
    point_budget_ns: int = 0         # builds and probes begun in one step_begin stop after this; 0: 200 ms
    total_budget_ns: int = 0         # builds and probes of the whole session; 0: no limit
    probe_memory_bytes: int = 0      # copy of the default's tensors during a probe; 0: 1 GiB
    attach_timeout_ms: int = 0       # longest wait for the daemon's answer in attach(); 0: 45, which is the most
    explain_kernels: Optional[bool] = None  # look at two steps of a settled plan for blazectl explain; None: on a CPU alone
    autostart: bool = False          # start a private daemon of this user where no socket answers

    def __post_init__(self) -> None:
        self.mode = mode_of(self.mode)
        self.contract = Contract(self.contract)

    def to_c(self, log: abi.Log) -> abi.Options:
        """`log` must live as long as the session."""
        until = self.mode if isinstance(self.mode, TuneUntil) else None
        labels = (abi.Label * len(self.environment))(
            *((encoded(str(key)), encoded(str(value))) for key, value in self.environment.items()))
        options = abi.Options(
            socket=encoded(self.socket), mode=Mode.TUNE_UNTIL if until else self.mode, contract=self.contract,
            tune_until_steps=until.steps if until else 0, tune_until_ns=until.ns if until else 0,
            job=encoded(self.job), rank=self.rank, world_size=self.world_size, host_name=encoded(self.host_name),
            device=encoded(self.device), environment=ctypes.cast(labels, ctypes.POINTER(abi.Label)),
            environment_count=len(labels), extra_memory_bytes=self.extra_memory_bytes,
            probe_batches=self.probe_batches, point_budget_ns=self.point_budget_ns,
            total_budget_ns=self.total_budget_ns, probe_memory_bytes=self.probe_memory_bytes,
            attach_timeout_ms=self.attach_timeout_ms, log=log)
        options.kept = labels
        return options
