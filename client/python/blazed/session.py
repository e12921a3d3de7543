"""One training process's life with the daemon.

    session = Session(host, Options(host_name="mine 1")).attach()
    session.describe_graph(Graph(...))
    session.describe_workload(Workload(...))
    for batch in data:
        handle = session.step_begin()      # 0: the default plan
        run(batch, handle)
        session.step_end()
    session.close()

Thread: one thread, the one that attaches, makes all calls. A call from another one is a bug of the host; with
BLAZED_DEBUG=1 it raises RuntimeError. Only status() and reason() may be asked anywhere: another thread, or a callback
of the host, gets the latest picture that the session's own calls took.
Errors: no call fails the host. What goes wrong is a Result and a sentence in reason(). Only an order to end that came
while a callback of the host ran (KeyboardInterrupt, SystemExit) is raised, after the call's work is done.
Fork: a child finds every session of its parent off and may attach one of its own.
"""
import ctypes
import dataclasses
import json
import os
import sys
import threading
from typing import Any, Dict, Optional

from . import abi, autostart, current, sockets, tune_run
from .callbacks import Callbacks, Failures
from .describe import Graph, Workload
from .enums import Result
from .kernels import StepKernels
from .library import Library, Unavailable, load
from .log import debugging, logger, show_if_debugging
from .options import Options
from .status import Status, picture

_CLOSED = "the session is closed"


class Quiet:
    """`steps` coming steps run `handle` as long as `word.value` is `value` at the begin of each."""

    __slots__ = ("word", "value", "steps", "handle")

    def __init__(self, word: ctypes.c_uint32, value: int, steps: int, handle: int) -> None:
        self.word, self.value, self.steps, self.handle = word, value, steps, handle

    def end(self) -> None:
        """The word that was read is about to go."""
        self.word = ctypes.c_uint32(self.value + 1)


def _begin_off() -> int:
    return 0


def _end_off(flags: int = 0) -> None:
    pass


class Session:
    def __init__(self, host: Any = None, options: Optional[Options] = None):
        """Nothing happens before attach(). `host` has the methods of host.Host; None: the session only observes."""
        self.host = host
        self.options = options or Options()
        self.workload: Optional[Workload] = None
        self._failures = Failures()
        self._library: Optional[Library] = None
        self._callbacks: Optional[Callbacks] = None
        self._ops: Optional[abi.HostOps] = None
        self._pointer: Optional[ctypes.c_void_p] = None
        self._orders = self._failures.orders
        self._owner = 0
        self._pid = 0
        self._why_off = "the session has not attached"
        self._why_not_started = ""  # a private daemon
        self._picture = Status(why_not=self._why_off, reason=self._why_off)
        self._socket: Optional[str] = None
        self._quiet: Optional[Quiet] = None  # the latest that was told
        self._rest()

    # ---- the step ----

    def step_begin(self) -> int:
        """The handle to run this step: 0 is the host's default plan, others came from Host.build. Call it when the
        step's batch is ready. Never waits for the daemon; may run builds and probes (Options.point_budget_ns)."""
        handle = self._begin(self._pointer)
        if self._orders:
            self._failures.raise_orders()
        return handle

    def step_end(self, flags: int = 0) -> None:
        """Ends the step of the latest step_begin. `flags`: StepFlag bits, 0 for a fair step. A step begun and not ended
        is not counted."""
        self._end(self._pointer, flags)
        if self._orders:
            self._failures.raise_orders()

    def quiet(self) -> Optional[Quiet]:
        """Between steps: how many of the coming ones need neither step_begin nor step_end, where some do; for hosts to
        whom two calls a step are dear. None while something is asked of the host, and where the session is off."""
        if self._pointer is None or self._callbacks.inside:
            return None
        told = abi.Quiet()
        if self._library.quiet_steps(self._pointer, told) != Result.OK or not told.steps:
            return None
        self._quiet = Quiet(ctypes.c_uint32.from_address(told.word), told.value, told.steps, told.handle)
        return self._quiet

    def pass_steps(self, steps: int) -> None:
        """Counts steps that ran without calls, before the next step_begin."""
        if self._pointer is not None:
            self._library.pass_steps(self._pointer, steps)

    def _rest(self) -> None:
        """From here on a step costs two empty functions."""
        if self._quiet is not None:
            self._quiet.end()
        self.step_begin = _begin_off  # type: ignore[method-assign]
        self.step_end = _end_off      # type: ignore[method-assign]

    def _wake(self) -> None:
        del self.step_begin, self.step_end
        self._begin, self._end = self._library.step_begin, self._library.step_end
        if debugging():
            self.step_begin = self._owned(self.step_begin)  # type: ignore[method-assign]
            self.step_end = self._owned(self.step_end)      # type: ignore[method-assign]
        tune_run.watch(self)

    # ---- life ----

    def attach(self) -> "Session":
        """Opens the session, in at most 50 ms (with Options.autostart about a second). It may be off afterwards;
        reason() says why. A second call does nothing."""
        if self._pointer is not None or self._owner:
            return self
        show_if_debugging()
        self._owner, self._pid = threading.get_ident(), os.getpid()
        try:
            self._attach()
        except Unavailable as why:
            self._why_off = str(why)
        except Exception as error:
            self._why_off = "the session could not attach: " + self._failures.note("attach", error)
        if self._pointer is None:
            logger.info("%s", self._why_off)
        current.remember(self)
        self.status()
        self._raise_orders()
        return self

    def _attach(self) -> None:
        self._library = load()
        if self.options.autostart:
            self._why_not_started = autostart.ensure(self.options)
            if self._why_not_started:
                logger.warning("%s", self._why_not_started)
        self._callbacks = Callbacks(self.host, self._library, self._failures)
        self._ops = self._callbacks.ops()
        options = self.options.to_c(self._callbacks.log)
        pointer = ctypes.c_void_p()
        try:
            result = self._library.attach(options, self._ops, ctypes.byref(pointer))
        finally:  # also where an interrupt came meanwhile: close() must find it
            self._pointer = pointer if pointer.value else None
        if self._pointer is None:
            self._why_off = "there was no memory for a session"
        elif result == Result.OK:
            self._wake()

    def close(self) -> None:
        """Says goodbye (at most 150 ms), drops every built handle and lets go of the host. In a forked child it only
        forgets the session. A second call does nothing."""
        pointer = self._pointer
        if pointer is None or self._inside("close"):
            return
        self._check_thread()
        if os.getpid() == self._pid:
            tune_run.ending(self)
        last = self.status()
        self._rest()
        self._pointer = None
        self._library.close(pointer)
        self.host = self._callbacks = self._ops = None
        self._why_off = last.why_not if last.state == "off" else _CLOSED
        if last.state != "off":
            last = dataclasses.replace(last, state="closed", why_not=_CLOSED)
        self._picture = last
        current.keep(last)
        self._raise_orders()

    def __enter__(self) -> "Session":
        return self.attach()

    def __exit__(self, *_exception: Any) -> None:
        self.close()

    def __del__(self) -> None:
        # A session that was dropped must not stay with the daemon. One that is dropped on another thread stays until
        # the process ends, and so does one that the interpreter's end finds: nothing runs there.
        if getattr(self, "_pointer", None) is not None and not sys.is_finalizing():
            if threading.get_ident() == self._owner:
                self.close()

    # ---- descriptions ----

    def describe_graph(self, graph: Graph) -> Result:
        """Names one tensor program of the step, before describe_workload; a repeat is harmless."""
        return self._describe("describe_graph", graph)

    def describe_workload(self, workload: Workload) -> Result:
        """Names what is tuned. Once a session. Result.INVALID: the session then only observes."""
        result = self._describe("describe_workload", workload)
        if result == Result.OK:
            self.workload = workload
        return result

    def give_kernels(self, handle: int, before: StepKernels, after: StepKernels) -> Result:
        """The answer to Host.want_kernels: what a step runs under the default plan, and under `handle`. Between steps;
        never waits. Result.NOT_FOUND: nobody asks for this plan any more."""
        if self._pointer is None or self._inside("give_kernels"):
            return Result.OFF
        self._check_thread()
        try:
            return Result(self._library.give_kernels(self._pointer, handle, before.to_c(), after.to_c()))
        except Exception as error:
            self._failures.note("give_kernels", error)
            return Result.INVALID

    def in_unit(self) -> bool:
        """Whether what runs is timed, or is about to be. Some microseconds; the session's thread."""
        if self._pointer is None:
            return False
        info = abi.StatusInfo()
        self._library.status(self._pointer, info)
        return bool(info.in_unit)

    def _describe(self, name: str, what: Any) -> Result:
        if self._pointer is None or self._inside(name):
            return Result.OFF
        self._check_thread()
        try:
            result = Result(getattr(self._library, name)(self._pointer, what.to_c()))
        except Exception as error:
            self._failures.note(name, error)
            result = Result.INVALID
        self.status()
        self._raise_orders()
        return result

    # ---- questions ----

    @property
    def off(self) -> bool:
        """Handle 0 for ever."""
        return self.status().state in ("off", "closed")

    @property
    def last_error(self) -> Optional[BaseException]:
        """The latest exception of a callback of the host, without its frames."""
        return self._failures.last

    def reason(self) -> str:
        """One sentence, "" where all is well."""
        return self.status().reason

    def status(self) -> Status:
        """No I/O but a connect to the socket, where it is not known yet which one the shim took."""
        if self._pointer is None:
            if self._picture.state == "off":
                self._picture = Status(why_not=self._why_off, reason=self._why_off,
                                       library=self._library and self._library.path,
                                       version=self._library and self._library.version)
            return self._picture
        if self._callbacks.inside or (threading.get_ident() != self._owner and os.getpid() == self._pid):
            return self._picture
        info = abi.StatusInfo()
        self._library.status(self._pointer, info)
        if info.state == 0:
            self._socket = None
        elif self._socket is None:
            self._socket = sockets.first(self.options.socket)
        self._picture = self._with_start(picture(info, self.workload, self._socket, self._library))
        return self._picture

    def _with_start(self, seen: Status) -> Status:
        """What the shim cannot know: why nobody was started to listen. Somebody may have come since."""
        if not self._why_not_started or seen.state in ("attached", "reconnecting"):
            return seen
        return dataclasses.replace(seen, why_not=f"{seen.why_not}; none was started: {self._why_not_started}")

    def report_json(self, timeout_ms: int = 2000) -> str:
        """The daemon's report of this session as JSON text (docs/report.md); "" where there is none. Waits; not for the
        hot path; before close."""
        if self._pointer is None or self._inside("report"):
            return ""
        self._check_thread()
        length, capacity = ctypes.c_size_t(), 1 << 16
        for _ in range(4):  # it may grow between two calls
            buffer = ctypes.create_string_buffer(capacity)
            result = self._library.report_json(self._pointer, timeout_ms, buffer, capacity, length)
            if result != Result.TOO_SMALL:
                break
            capacity = length.value + 4096
        self._raise_orders()
        return buffer.value.decode("utf-8", "replace") if result == Result.OK else ""

    def report(self, timeout_ms: int = 2000) -> Optional[Dict[str, Any]]:
        """The same as an object; None where there is none."""
        try:
            return json.loads(self.report_json(timeout_ms) or "null")
        except ValueError as error:
            self._failures.note("report", error)
            return None

    # ---- rules ----

    def _raise_orders(self) -> None:
        if self._orders:
            self._failures.raise_orders()

    def _inside(self, name: str) -> bool:
        """A callback of the host asked for what only the job may: nothing is done."""
        if self._callbacks.inside:
            self._failures.note(name, RuntimeError("a callback of the host may not call this; call it between steps"))
        return self._callbacks.inside

    def _check_thread(self) -> None:
        if debugging() and threading.get_ident() != self._owner:
            raise RuntimeError("this session belongs to another thread; make all its calls on the one that attached")

    def _owned(self, function: Any) -> Any:
        def checked(*arguments: Any) -> Any:
            self._check_thread()
            return function(*arguments)
        return checked
