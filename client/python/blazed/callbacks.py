"""The host's methods as C functions. Nothing is raised through C: a failure becomes the ABI's failure code.

Thread: the session's. Owner: the session, until its close returned.
"""
import contextlib
import ctypes
import traceback
from typing import Any, Callable, Iterator, List, Optional, Set, Tuple

from . import abi
from .describe import encoded
from .enums import BuildResult, LogLevel, Result
from .host import BuildFailed, Built, Choice, Emit, NoReference, ProbeTensor
from .library import Library
from .log import logger

_NO_ANSWER = 2**32 - 1  # more steps than a host can have in flight: the shim takes it as no answer
_MESSAGE_BYTES = 255


class Failures:
    """What went wrong in callbacks: the last one, each kind logged once, and what must be raised after the call."""

    def __init__(self) -> None:
        self.last: Optional[BaseException] = None
        self.orders: List[BaseException] = []  # to end, such as KeyboardInterrupt
        self._seen: Set[Tuple[str, str, str]] = set()

    def note(self, where: str, error: BaseException) -> str:
        """One sentence. Keeps the error without its frames: these hold the host's tensors."""
        told = isinstance(error, (BuildFailed, NoReference))
        sentence = error.sentence if told else f"{type(error).__name__}: {error}".rstrip(": ")
        kind = (where, type(error).__name__, sentence[:200])
        if isinstance(error, Exception):
            if kind not in self._seen and len(self._seen) < 1000:
                self._seen.add(kind)
                text = "" if told else "\n" + "".join(
                    traceback.format_exception(type(error), error, error.__traceback__)).rstrip()
                logger.warning("the host's %s failed: %s%s", where, sentence, text)
            _forget_frames(error)
            self.last = error
        else:
            self.orders.append(error)
        return sentence

    def raise_orders(self) -> None:
        """The first order to end, after the C call that it came in."""
        order = self.orders[0]
        self.orders.clear()
        raise order


def _forget_frames(error: Optional[BaseException]) -> None:
    for _ in range(32):  # a chain can be a ring
        if error is None:
            return
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


class Callbacks:
    def __init__(self, host: Any, library: Library, failures: Failures):
        self._host = host
        self._library = library
        self._failures = failures
        self.inside = False  # in a callback, where nothing may be asked of the session
        self.log = abi.Log(self._entered(self._log, None))

    def ops(self) -> Optional[abi.HostOps]:
        """Null functions for what the host lacks; None for no host. The result must live as long as the session."""
        if self._host is None:
            return None
        # What each answers where an interrupt comes between the lines that are guarded.
        made = {"build": (abi.Build, self._build, int(BuildResult.FAILED)), "drop": (abi.Drop, self._drop, None),
                "probe": (abi.Probe, self._probe, 1), "signature": (abi.Signature, self._signature, None),
                "drain": (abi.Drain, self._drain, None),
                "device_clock_ns": (abi.DeviceClock, self._device_clock_ns, 0),
                "steps_in_flight": (abi.StepsInFlight, self._steps_in_flight, _NO_ANSWER),
                "reference": (abi.Reference, self._reference, 1),
                "unit_flags": (abi.UnitFlags, self._unit_flags, 0),
                "want_kernels": (abi.WantKernels, self._want_kernels, None)}
        return abi.HostOps(**{name: kind(self._entered(function, otherwise))
                              for name, (kind, function, otherwise) in made.items()
                              if callable(getattr(self._host, name, None))})

    def _entered(self, function: Callable, otherwise: Optional[int]) -> Callable:
        def called(*arguments: Any) -> Any:
            try:
                self.inside = True
                return function(*arguments)
            except BaseException as error:
                self._failures.note("callback", error)
                return otherwise
            finally:
                self.inside = False  # callbacks are never nested
        return called

    def _build(self, _user: Any, choices: int, count: int, out: int) -> int:
        built = None
        to = None
        try:
            to = abi.Built.from_address(out)
            listed = (abi.Choice * count).from_address(choices) if count else ()
            built = self._host.build(tuple(Choice(c.decision, c.option) for c in listed))
            signature = _checked(built)
            to.handle, to.build_ns, to.peak_bytes = built.handle, built.build_ns, built.peak_bytes
            ctypes.memmove(ctypes.addressof(to) + abi.Built.signature.offset, signature, 16)
            return int(BuildResult.OK)
        except BaseException as error:
            sentence = self._failures.note("build", error)
            if to is not None:
                to.message = _message(sentence)
            if isinstance(built, Built):  # nobody will ask for it again
                self._guarded("drop", self._host.drop, built.handle)
            memory = error.memory if isinstance(error, BuildFailed) else isinstance(error, MemoryError)
            return int(BuildResult.MEMORY if memory else BuildResult.FAILED)

    def _drop(self, _user: Any, handle: int) -> None:
        self._guarded("drop", self._host.drop, handle)

    def _probe(self, _user: Any, handle: int, sink: int) -> int:
        try:
            with self._giving_to(sink) as emit:
                self._host.probe(handle, emit)
            return 0
        except Exception as error:
            self._failures.note("probe", error)
            return 1
        except BaseException as error:
            # An order to end says nothing about the variant: a malformed tensor makes the probe inconclusive.
            self._failures.note("probe", error)
            self._library.probe_tensor(sink, abi.Tensor())
            return 0

    def _reference(self, _user: Any, sink: int) -> int:
        try:
            with self._giving_to(sink) as emit:
                self._host.reference(emit)
            return 0
        except BaseException as error:
            self._failures.note("reference", error)
            return 1  # there is none now, which is no fault

    @contextlib.contextmanager
    def _giving_to(self, sink: int) -> Iterator[Emit]:
        """What a host gives its tensors to, as long as the sink lives."""
        alive = True

        def emit(tensor: ProbeTensor) -> bool:
            if not alive:
                return False  # the run has ended, and the sink with it
            given = abi.Tensor(encoded(tensor.name), tensor.dtype, tensor.role, tensor.count, tensor.address,
                               tensor.row, tensor.unit_roundoff)
            return self._library.probe_tensor(sink, given) == Result.OK

        try:
            yield emit
        finally:
            alive = False

    def _signature(self, _user: Any, handle: int, out: int) -> None:
        # All zero is no signature: a variant that has none is unproven.
        ctypes.memset(out, 0, 16)
        raw = self._guarded("signature", self._host.signature, handle)
        if isinstance(raw, (bytes, bytearray)) and len(raw) == 16:
            ctypes.memmove(out, bytes(raw), 16)
        elif raw is not None:
            self._failures.note("signature", TypeError(f"a signature is 16 bytes, not {raw!r:.60}"))

    def _drain(self, _user: Any) -> None:
        self._guarded("drain", self._host.drain)

    def _device_clock_ns(self, _user: Any) -> int:
        return self._number("device_clock_ns", self._host.device_clock_ns, 0, 2**64)  # 0: no device time

    def _steps_in_flight(self, _user: Any) -> int:
        return self._number("steps_in_flight", self._host.steps_in_flight, _NO_ANSWER, 2**32)

    def _unit_flags(self, _user: Any) -> int:
        return self._number("unit_flags", self._host.unit_flags, 0, 2**32)

    def _want_kernels(self, _user: Any, handle: int) -> None:
        self._guarded("want_kernels", self._host.want_kernels, handle)

    def _log(self, _user: Any, level: int, sentence: bytes) -> None:
        self._guarded("log", logger.log, 30 if level == LogLevel.WARNING else 20, "%s",
                      (sentence or b"").decode("utf-8", "replace"))

    def _number(self, where: str, function: Callable, otherwise: int, limit: int) -> int:
        value = self._guarded(where, function)
        if isinstance(value, int) and 0 <= value < limit:
            return value
        if value is not None:
            self._failures.note(where, TypeError(f"{value!r:.60} is no number from 0 to {limit - 1}"))
        return otherwise

    def _guarded(self, where: str, function: Callable, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:
            self._failures.note(where, error)
            return None


def _checked(built: Any) -> bytes:
    """The signature of a build that makes sense."""
    if not isinstance(built, Built):
        raise TypeError(f"build returned {type(built).__name__} and not blazed.Built")
    if not isinstance(built.handle, int) or not 0 < built.handle < 2**64:
        raise ValueError(f"the handle {built.handle!r} is no number above 0")
    if min(built.build_ns, built.peak_bytes) < 0:
        raise ValueError("build_ns or peak_bytes is below 0")
    signature = bytes(built.signature or bytes(16))
    if len(signature) != 16:
        raise ValueError("a signature has 16 bytes")
    return signature


def _message(sentence: str) -> bytes:
    raw = (encoded(" ".join(sentence.split())) or b"")[:_MESSAGE_BYTES]
    return raw.decode("utf-8", "ignore").encode()
