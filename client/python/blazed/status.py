"""A picture of a session: what blazed does to this job, and why not more.

Thread: a picture is plain values and may be read anywhere.
"""
from dataclasses import asdict, dataclass, field
from typing import Any, Dict, Optional, Tuple

from . import abi
from .describe import Workload
from .enums import Phase, Settlement, State
from .host import Choice
from .modes import Mode

_COPIED = ("candidates", "dropped", "builds", "races", "search_pairs", "replication_pairs", "window_ns", "regret_ns",
           "forecast_window_ns", "forecast_builds", "forecast_regret_ns", "forecast_resolvable", "variants",
           "variants_built", "probes", "rejected", "refused", "lost_messages", "reconnects", "build_ns", "probe_ns",
           "drain_ns", "units", "in_unit", "settlement_id", "adopt_reason", "stand_reason", "champion_handle")


@dataclass(frozen=True)
class Status:
    """`state`: off, attaching, attached, reconnecting or closed; off where no session was ever opened. `mode`: what is
    granted. Durations are in nanoseconds (_ns). All text is for people."""
    state: str = "off"
    why_not: str = ""       # one sentence where nothing is tuned: why; empty where all is well
    reason: str = ""        # the shim's latest sentence, whatever it is about
    note: str = ""          # the daemon's latest sentence on progress
    socket: Optional[str] = None   # of the daemon; None where none was met
    daemon_epoch: int = 0
    library: Optional[str] = None  # path of libblazed; None where there is none
    version: Optional[str] = None  # of libblazed
    mode: str = "off"
    phase: str = "none"
    steps: int = 0          # not counted where the session was off from its start
    champion: str = "default"  # the plan in use outside units, by names
    plan: Tuple[Choice, ...] = ()  # the same as choices
    gain: float = 0.0       # 0.031: 3.1 % less time a step than the default
    settled: bool = False   # nothing further is explored
    settlement: str = "none"  # none, in_job, replicated or no_winner
    workload: str = ""      # fingerprint, hex; empty before describe_workload
    session: str = ""       # token, hex; empty before the daemon answered
    counts: Dict[str, float] = field(default_factory=dict)  # all numbers of blz_status_info that are not above

    @property
    def attached(self) -> bool:
        return self.state == "attached"

    def as_dict(self) -> Dict[str, Any]:
        """For JSON."""
        out = asdict(self)
        out["plan"] = [list(choice) for choice in self.plan]
        out["attached"] = self.attached
        return out

    def __str__(self) -> str:
        place = f" at {self.socket}" if self.socket else ""
        text = f"blazed is {self.state}{place}, mode {self.mode}, phase {self.phase}, plan {self.champion}"
        if self.gain:
            text += f", saves {100 * self.gain:.1f} %"
        return text + (f": {self.why_not}" if self.why_not else "")


def _name(kind: Any, value: int) -> str:
    """Values of a later library have no name here."""
    try:
        return kind(value).name.lower()
    except ValueError:
        return str(value)


def _text(raw: Optional[bytes]) -> str:
    return (raw or b"").decode("utf-8", "replace")


def _hex(digest: Any) -> str:
    raw = bytes(digest)
    return raw.hex() if any(raw) else ""


def why_not(info: abi.StatusInfo) -> str:
    """One sentence where nothing is tuned, "" where tuning goes on or has ended well."""
    reason, note = _text(info.reason), _text(info.note)
    if info.state == State.ATTACHING:
        return reason or "the daemon has not answered yet; the job trains on and the shim tries again"
    if info.state == State.RECONNECTING:
        return reason or "the daemon went away; the plan in use stays, and the shim tries again"
    if info.state != State.ATTACHED:
        return reason or "the session is off"
    if info.mode == Mode.OBSERVE:
        return reason or "the session only observes"
    if info.phase in (Phase.WAITING, Phase.STANDING):
        return note or reason or f"the daemon says {_name(Phase, info.phase)}"
    if not any(info.workload):
        return reason or "no workload has been described"
    return ""


def picture(info: abi.StatusInfo, workload: Optional[Workload], socket: Optional[str], library: Any) -> Status:
    plan = tuple(Choice(info.champion_choices[i].decision, info.champion_choices[i].option)
                 for i in range(info.champion_choice_count))
    return Status(
        state=_name(State, info.state), why_not=why_not(info), reason=_text(info.reason), note=_text(info.note),
        socket=socket, daemon_epoch=info.daemon_epoch, library=library.path, version=library.version,
        mode=_name(Mode, info.mode), phase=_name(Phase, info.phase), steps=info.steps,
        champion=workload.plan_text(plan) if workload is not None else "default", plan=plan, gain=info.gain,
        settled=bool(info.settled), settlement=_name(Settlement, info.settlement), workload=_hex(info.workload),
        session=_hex(info.session_token), counts={name: getattr(info, name) for name in _COPIED})
