"""Records a run on the CPU operation by operation and replays it, as a CUDA graph does with kernels: memory stays where
it was, numbers of Python are frozen, generators go on, and what reads a number back from a tensor cannot be recorded."""
import contextlib

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from blazed.torch.recorder import RecordingFailed, sentence_of

aten = torch.ops.aten
_READS_BACK = {aten._local_scalar_dense.default, aten.nonzero.default, aten.equal.default, aten.is_nonzero.default}


class OperationRecorder:
    device = "cpu"

    def __init__(self, free_bytes=1 << 40):
        self.free = free_bytes
        self.recordings = []

    def aside(self):
        return contextlib.nullcontext()

    def free_bytes(self):
        return self.free

    def records_on(self, device):
        return device.type == "cpu"

    def record(self, run, generators):
        recording = Recording()
        try:
            with recording:
                run()
        except Exception as error:
            raise RecordingFailed(sentence_of(error)) from None
        self.recordings.append(recording)
        return recording

    @property
    def replays(self):
        return sum(recording.replays for recording in self.recordings)

    @property
    def alive(self):
        return sum(not recording.released for recording in self.recordings)


class Recording(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.operations = []
        self.replays = 0
        self.released = False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if function in _READS_BACK or (function is aten.index.Tensor and any(
                index is not None and index.dtype is torch.bool for index in args[1])):
            raise RuntimeError("operation not permitted when stream is capturing")
        memory = {_memory(t) for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)} - {0}
        results = function(*args, **kwargs)
        made = [isinstance(t, torch.Tensor) and _memory(t) not in memory for t in tree_leaves(results)]
        if any(made) or function._schema.is_mutable:
            self.operations.append((function, args, kwargs, tree_leaves(results), made))
        return results

    def replay(self):
        assert not self.released
        self.replays += 1
        with torch.no_grad():
            for function, args, kwargs, results, made in self.operations:
                again = tree_leaves(function(*args, **kwargs))
                for kept, result, own in zip(results, again, made):
                    if own:
                        kept.copy_(result)

    def release(self):
        self.released = True
        self.operations = []


def _memory(tensor):
    return tensor.untyped_storage().data_ptr()
