"""The structures and functions of blazed.h as ctypes sees them. Field for field; a test compares them with the header.

Thread: any. Owner: whoever makes a structure keeps it, and what it points to, for the length of the call; the host's
callbacks for the life of the session.
"""
import ctypes
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_double, c_int, c_size_t, c_uint8, c_uint32,
                    c_uint64, c_void_p)

Digest = c_uint8 * 16

Build = CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t, c_void_p)
Drop = CFUNCTYPE(None, c_void_p, c_uint64)
Probe = CFUNCTYPE(c_int, c_void_p, c_uint64, c_void_p)
Signature = CFUNCTYPE(None, c_void_p, c_uint64, c_void_p)
Drain = CFUNCTYPE(None, c_void_p)
DeviceClock = CFUNCTYPE(c_uint64, c_void_p)
StepsInFlight = CFUNCTYPE(c_uint32, c_void_p)
Reference = CFUNCTYPE(c_int, c_void_p, c_void_p)
UnitFlags = CFUNCTYPE(c_uint32, c_void_p)
WantKernels = CFUNCTYPE(None, c_void_p, c_uint64)
Log = CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class Sized(Structure):
    """A structure whose first field is its own size."""

    def __init__(self, *arguments, **fields):
        super().__init__(ctypes.sizeof(type(self)), *arguments, **fields)


class Tensor(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("dtype", c_int), ("role", c_int), ("count", c_uint64),
                ("data", c_void_p), ("row", c_uint64), ("unit_roundoff", c_double)]


class Choice(Structure):
    _fields_ = [("decision", c_uint32), ("option", c_uint32)]


class Built(Sized):
    _fields_ = [("struct_size", c_size_t), ("handle", c_uint64), ("signature", Digest), ("build_ns", c_uint64),
                ("peak_bytes", c_uint64), ("message", c_char * 256)]


class HostOps(Sized):
    _fields_ = [("struct_size", c_size_t), ("user", c_void_p), ("build", Build), ("drop", Drop), ("probe", Probe),
                ("signature", Signature), ("drain", Drain), ("device_clock_ns", DeviceClock),
                ("steps_in_flight", StepsInFlight), ("reference", Reference),
                ("unit_flags", UnitFlags), ("want_kernels", WantKernels)]


class Quiet(Sized):
    _fields_ = [("struct_size", c_size_t), ("word", c_void_p), ("value", c_uint32), ("steps", c_uint32),
                ("handle", c_uint64)]


class Label(Structure):
    _fields_ = [("key", c_char_p), ("value", c_char_p)]


class Options(Sized):
    _fields_ = [("struct_size", c_size_t), ("socket", c_char_p), ("mode", c_int), ("contract", c_int),
                ("tune_until_steps", c_uint64), ("tune_until_ns", c_uint64), ("job", c_char_p), ("rank", c_uint32),
                ("world_size", c_uint32), ("host_name", c_char_p), ("device", c_char_p),
                ("environment", POINTER(Label)), ("environment_count", c_size_t), ("extra_memory_bytes", c_uint64),
                ("probe_batches", c_uint32), ("point_budget_ns", c_uint64), ("total_budget_ns", c_uint64),
                ("probe_memory_bytes", c_uint64), ("attach_timeout_ms", c_uint32), ("log", Log),
                ("log_user", c_void_p)]


class Graph(Sized):
    _fields_ = [("struct_size", c_size_t), ("fingerprint", Digest), ("regime", c_int), ("name", c_char_p),
                ("nodes", c_uint32), ("description", c_char_p)]


class Decision(Structure):
    _fields_ = [("id", Digest), ("name", c_char_p), ("kind", c_int), ("options", POINTER(c_char_p)),
                ("option_count", c_uint32), ("graph", c_uint32), ("sites", c_uint32), ("reorders_sums", c_uint32),
                ("build_ns", POINTER(c_uint64))]


class Workload(Sized):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("graphs", POINTER(Digest)), ("graph_count", c_size_t),
                ("decisions", POINTER(Decision)), ("decision_bytes", c_size_t), ("decision_count", c_size_t),
                ("default_signature", Digest), ("default_peak_bytes", c_uint64), ("default_step_ns", c_uint64),
                ("default_build_ns", c_uint64)]


class StatusInfo(Sized):
    _fields_ = [("struct_size", c_size_t), ("state", c_int), ("mode", c_int), ("phase", c_int), ("reason", c_char_p),
                ("session_token", Digest), ("workload", Digest), ("daemon_epoch", c_uint64), ("steps", c_uint64),
                ("champion", c_uint32), ("champion_handle", c_uint64), ("champion_choices", POINTER(Choice)),
                ("champion_choice_count", c_size_t), ("champion_signature", Digest), ("settled", c_uint32),
                ("settlement", c_int), ("settlement_id", c_uint64), ("adopt_reason", c_uint32),
                ("stand_reason", c_uint32), ("candidates", c_uint32), ("dropped", c_uint32), ("builds", c_uint32),
                ("races", c_uint32), ("search_pairs", c_uint64), ("replication_pairs", c_uint64),
                ("window_ns", c_uint64), ("regret_ns", c_uint64), ("gain", c_double), ("note", c_char_p),
                ("forecast_window_ns", c_uint64), ("forecast_builds", c_uint32), ("forecast_regret_ns", c_uint64),
                ("forecast_resolvable", c_double), ("forecast_based_on", c_char_p), ("variants", c_uint32),
                ("variants_built", c_uint32), ("probes", c_uint32), ("rejected", c_uint32), ("refused", c_uint32),
                ("lost_messages", c_uint32), ("reconnects", c_uint32), ("build_ns", c_uint64), ("probe_ns", c_uint64),
                ("drain_ns", c_uint64), ("units", c_uint64), ("in_unit", c_uint32)]


class Kernel(Structure):
    _fields_ = [("name", c_char_p), ("known", c_uint32), ("registers", c_uint32), ("spill_bytes", c_uint32),
                ("shared_bytes", c_uint32), ("launches", c_uint64), ("time_ns", c_uint64), ("read_bytes", c_uint64),
                ("written_bytes", c_uint64)]


class StepKernels(Sized):
    _fields_ = [("struct_size", c_size_t), ("known", c_uint32), ("step_ns", c_uint64), ("busy_ns", c_uint64),
                ("kernel_launches", c_uint64), ("host_launches", c_uint64), ("kernels", POINTER(Kernel)),
                ("kernel_bytes", c_size_t), ("kernel_count", c_size_t)]


# Name in blazed.h -> result, arguments. These may wait or compute for long, so the interpreter's lock is let go.
WAITING = {
    "blz_attach": (c_int, [POINTER(Options), POINTER(HostOps), POINTER(c_void_p)]),
    "blz_probe_tensor": (c_int, [c_void_p, POINTER(Tensor)]),
    "blz_report_json": (c_int, [c_void_p, c_uint32, c_char_p, c_size_t, POINTER(c_size_t)]),
    "blz_close": (None, [c_void_p]),
}
# These are short, or spend their time in the host's callbacks. The lock is kept: to let it go in a settled step could
# cost a thread's turn, some milliseconds, to save nothing.
SHORT = {
    "blz_version": (c_char_p, []),
    "blz_describe_graph": (c_int, [c_void_p, POINTER(Graph)]),
    "blz_describe_workload": (c_int, [c_void_p, POINTER(Workload)]),
    "blz_give_kernels": (c_int, [c_void_p, c_uint64, POINTER(StepKernels), POINTER(StepKernels)]),
    "blz_status": (None, [c_void_p, POINTER(StatusInfo)]),
    "blz_reason": (c_char_p, [c_void_p]),
    "blz_quiet_steps": (c_int, [c_void_p, POINTER(Quiet)]),
    "blz_pass_steps": (None, [c_void_p, c_uint32]),
}
# Without argument types ctypes takes a c_void_p, None or a small number as it is; to look types up takes a third of a
# settled step.
HOT = {"blz_step_begin": c_uint64, "blz_step_end": None}
