"""What a host tells of its step: graphs, decisions, workload.

Each checks itself when it is made and raises ValueError where a digest has not 16 bytes; limits on counts and names
are the shim's, which answers Result.INVALID with a sentence.

Thread: any. Owner: the caller; a session copies what it is given.
"""
import ctypes
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Tuple

from . import abi
from .enums import DecisionKind, Regime


def encoded(text: Optional[str]) -> Optional[bytes]:
    """UTF-8 for the C side, where a zero byte ends a text. None stays None."""
    return None if text is None else text.encode("utf-8", "replace").replace(b"\0", b"?")


def as_digest(raw: bytes) -> Any:
    return abi.Digest.from_buffer_copy(raw)


def check_digest(raw: bytes, what: str) -> None:
    if not isinstance(raw, (bytes, bytearray)) or len(raw) != 16:
        raise ValueError(f"{what} must be 16 bytes; blazed.digest(...) makes some")


@dataclass(frozen=True)
class Graph:
    """One tensor program of the step in one regime."""
    fingerprint: bytes  # 16 bytes, structural, stable across processes
    name: str           # at most 96 bytes
    nodes: int
    regime: Regime = Regime.TRAINING
    description: str = ""  # for people, at most 4096 bytes

    def __post_init__(self) -> None:
        check_digest(self.fingerprint, "a graph's fingerprint")

    def to_c(self) -> abi.Graph:
        return abi.Graph(as_digest(self.fingerprint), self.regime, encoded(self.name), self.nodes,
                         encoded(self.description))


@dataclass(frozen=True)
class Decision:
    """One place where the host could do otherwise."""
    id: bytes               # 16 bytes, stable across processes; equal ids are one class
    name: str               # 1..96 bytes of printable ASCII: "layer.attention/forward"
    options: Tuple[str, ...]  # 2..16 names; the first is the host's own
    kind: DecisionKind = DecisionKind.CHOICE
    graph: int = 0          # 1-based index into Workload.graphs; 0: belongs to the whole step
    sites: int = 1          # places of the graph that follow this decision
    reorders_sums: bool = False  # some option changes the order of sums, so bits may differ
    # Guesses, none or one an option: what building a plan takes that has this option and is the default else; 0: as
    # long as other plans.
    build_ns: Tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_digest(self.id, "a decision's id")
        if self.build_ns and len(self.build_ns) != len(self.options):
            raise ValueError("a decision's build_ns has not one time for each option")

    def to_c(self) -> abi.Decision:
        names = (ctypes.c_char_p * len(self.options))(*map(encoded, self.options))
        decision = abi.Decision(as_digest(self.id), encoded(self.name), self.kind,
                                ctypes.cast(names, ctypes.POINTER(ctypes.c_char_p)), len(self.options), self.graph,
                                self.sites, int(self.reorders_sums))
        decision.kept = names
        if self.build_ns:
            guesses = (ctypes.c_uint64 * len(self.build_ns))(*self.build_ns)
            decision.build_ns = ctypes.cast(guesses, ctypes.POINTER(ctypes.c_uint64))
            decision.kept = names, guesses
        return decision


@dataclass(frozen=True)
class Workload:
    """What is tuned: the graphs of one step in order, and the decisions."""
    name: str                    # at most 96 bytes
    graphs: Sequence[bytes]      # fingerprints that were given to describe_graph, 1..64
    decisions: Sequence[Decision]  # 1..512
    default_signature: bytes     # 16 bytes, of one run under the default plan; not all zero
    default_peak_bytes: int = 0  # 0: not known, then no variant is judged by memory
    default_step_ns: int = 0     # median of the steps so far; 0: none
    default_build_ns: int = 0

    def __post_init__(self) -> None:
        check_digest(self.default_signature, "the default plan's signature")
        for fingerprint in self.graphs:
            check_digest(fingerprint, "a graph's fingerprint")

    def to_c(self) -> abi.Workload:
        graphs = (abi.Digest * len(self.graphs))(*map(as_digest, self.graphs))
        parts = [decision.to_c() for decision in self.decisions]
        decisions = (abi.Decision * len(parts))(*parts)
        workload = abi.Workload(encoded(self.name), ctypes.cast(graphs, ctypes.POINTER(abi.Digest)), len(graphs),
                                ctypes.cast(decisions, ctypes.POINTER(abi.Decision)), ctypes.sizeof(abi.Decision),
                                len(parts), as_digest(self.default_signature), self.default_peak_bytes,
                                self.default_step_ns, self.default_build_ns)
        workload.kept = (graphs, decisions, parts)
        return workload

    def plan_text(self, plan: Sequence[Tuple[int, int]]) -> str:
        """A plan for people: "default", or "attention=streamed, norm=cut"."""
        named = [f"{self.decisions[d].name}={self.decisions[d].options[o]}" for d, o in plan
                 if d < len(self.decisions) and o < len(self.decisions[d].options)]
        return ", ".join(named) or "default"
