"""The jobs that are measured. `job.make(device)` gives model, optimiser, batches and loss; the same seed gives the same
weights and batches in every arm and in both forms of a job.

Storage is float32. TF32: matrix products may round their inputs to TF32. BF16: autocast to bfloat16.
Optimiser: Adam with fused=True and capturable=True on a GPU. PyTorch 2.11 does not compile a fused optimiser (it leaves
the compiled region), so arms that compile the optimiser's step have fused=False, foreach=True: same mathematics.
"""
import dataclasses
import functools
from typing import Any, Callable, List, NamedTuple, Tuple

import torch
from torch.nn import functional as F

import corpus
import language_models as language
import small_models as small
from small_models import HAND, STOCK

SEED = 20261129
BATCHES = 8
TF32, BF16 = "tf32", "bf16"

Batch = Tuple[torch.Tensor, torch.Tensor]


class Made(NamedTuple):
    model: torch.nn.Module
    optimiser: torch.optim.Optimizer
    batches: List[Batch]
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclasses.dataclass(frozen=True)
class Job:
    """`model(sizes, form)` on the device in force; `data(sizes)` on the CPU. `stock_form`: what the other form is called,
    empty where the model is already what PyTorch brings."""

    name: str
    what: str
    precision: str
    model: Callable[[Any, str], torch.nn.Module]
    data: Callable[[Any], List[Batch]]
    sizes: dict
    tiny: dict
    rate: float = 1e-3
    stock_form: str = ""
    heavy: bool = False  # one step fills the GPU for a tenth of a second

    def make(self, device: str, form: str = "", tiny: bool = False, fused: bool = True) -> Made:
        """`form` left out: the main one."""
        sizes, form = self.tiny if tiny else self.sizes, form or main_form(self)
        torch.manual_seed(SEED)
        with torch.device(device):
            model = self.model(dict(sizes), form)
        batches = [(inputs.to(device), targets.to(device)) for inputs, targets in _data_of(self, tiny)]
        return Made(model, adam(model, self.rate, device, fused), batches, cross_entropy)

    def stream(self, device: str, tiny: bool, count: int) -> List[Batch]:
        """So many batches, those of `make` first: for a run that is longer than a measurement."""
        drawn = self.data({**(self.tiny if tiny else self.sizes), "batches": count})
        return [(inputs.to(device), targets.to(device)) for inputs, targets in drawn]


def adam(model: torch.nn.Module, rate: float, device: str, fused: bool) -> torch.optim.Optimizer:
    ways = {"fused": True} if fused else {"foreach": True}
    return torch.optim.Adam(model.parameters(), lr=rate, capturable=device.startswith("cuda"), **ways)


def cross_entropy(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(outputs.flatten(0, -2).float(), targets.flatten())


@functools.lru_cache(maxsize=4)
def _data_by_name(name: str, tiny: bool) -> List[Batch]:
    job = BY_NAME[name]
    return job.data(dict(job.tiny if tiny else job.sizes))


def _data_of(job: Job, tiny: bool) -> List[Batch]:
    return _data_by_name(job.name, tiny)


@functools.lru_cache(maxsize=1)
def _corpus() -> Tuple[torch.Tensor, int]:
    text = corpus.read()
    return torch.tensor(corpus.ids(text), dtype=torch.long), len(corpus.vocabulary(text))


def characters() -> int:
    """Of the vocabulary of the text."""
    return _corpus()[1]


def _windows(sizes: Any) -> List[Batch]:
    """Windows of the text at drawn places; the targets are one character further."""
    ids, length = _corpus()[0], sizes["length"]
    generator = torch.Generator().manual_seed(SEED)
    batches = []
    for _ in range(sizes.get("batches", BATCHES)):
        starts = torch.randint(len(ids) - length - 1, (sizes["batch"],), generator=generator)
        rows = ids[starts[:, None] + torch.arange(length + 1)]
        batches.append((rows[:, :-1].contiguous(), rows[:, 1:].contiguous()))
    return batches


def _points(sizes: Any) -> List[Batch]:
    """Rows or images around the centres of ten classes."""
    generator = torch.Generator().manual_seed(SEED)
    shape = sizes["shape"]
    centres = torch.randn(10, *shape, generator=generator)
    batches = []
    for _ in range(sizes.get("batches", BATCHES)):
        targets = torch.randint(10, (sizes["batch"],), generator=generator)
        batches.append((centres[targets] + torch.randn(sizes["batch"], *shape, generator=generator), targets))
    return batches


def _attention(sizes: Any, form: str) -> torch.nn.Module:
    return small.AttentionLM(characters(), sizes["width"], sizes["length"], sizes["layers"], form)


def _mlp(sizes: Any, _form: str) -> torch.nn.Module:
    return small.ResidualMLP(sizes["shape"][0], sizes["width"], sizes["layers"], 10)


def _experts(sizes: Any, _form: str) -> torch.nn.Module:
    return small.ExpertsModel(sizes["shape"][0], sizes["width"], sizes["hidden"], sizes["experts"], sizes["layers"], 10)


def _cnn(sizes: Any, _form: str) -> torch.nn.Module:
    return small.SmallCNN(sizes["channels"], 10)


def _lstm(sizes: Any, form: str) -> torch.nn.Module:
    return small.CharLSTM(characters(), sizes["width"], form)


def _gpt(sizes: Any, form: str) -> torch.nn.Module:
    return language.GPT(sizes["vocabulary"] or characters(), sizes["width"], sizes["heads"], sizes["layers"],
                        sizes["length"], form)


def _rotary(block: type, sizes: Any, _form: str) -> torch.nn.Module:
    return language.RotaryLM(block, sizes["vocabulary"], sizes["width"], sizes["hidden"], sizes["heads"],
                             sizes["groups"], sizes["layers"], sizes["length"])


_llama = functools.partial(_rotary, language.LlamaBlock)
_squared = functools.partial(_rotary, language.SquaredBlock)

_TINY_TEXT = {"batch": 2, "length": 16, "layers": 1}
_TINY_GPT = {**_TINY_TEXT, "width": 16, "heads": 2, "vocabulary": 128}
_TINY_ROTARY = {**_TINY_GPT, "hidden": 32, "groups": 1}


def _attention_job(width: int, tiny_width: int) -> Job:
    return Job(f"attn{width}", f"attention language model over characters, 2 layers, one head, width {width}", TF32,
               _attention, _windows, {"batch": 32, "length": 256, "layers": 2, "width": width},
               {**_TINY_TEXT, "width": tiny_width}, stock_form="sdpa")


JOBS = (
    _attention_job(257, 17),
    _attention_job(256, 16),
    Job("mlp1025", "residual MLP, 8 blocks, width 1025", TF32, _mlp, _points,
        {"batch": 4096, "shape": (1025,), "width": 1025, "layers": 8}, {"batch": 8, "shape": (17,), "width": 17, "layers": 2}),
    Job("moe", "mixture of 8 experts, 2 chosen, 2 layers, width 256", TF32, _experts, _points,
        {"batch": 2048, "shape": (256,), "width": 256, "hidden": 512, "experts": 8, "layers": 2},
        {"batch": 8, "shape": (16,), "width": 16, "hidden": 32, "experts": 4, "layers": 1}),
    Job("cnn", "six convolutions with batch norm, images of 32 x 32", TF32, _cnn, _points,
        {"batch": 256, "shape": (3, 32, 32), "channels": 32}, {"batch": 2, "shape": (3, 16, 16), "channels": 4}),
    Job("gpt4", "GPT, 4 layers, width 768, over characters", TF32, _gpt, _windows,
        {"batch": 16, "length": 512, "layers": 4, "width": 768, "heads": 12, "vocabulary": 0}, _TINY_GPT, stock_form="sdpa"),
    Job("lstm", "LSTM over characters, 48 steps unrolled, width 256", TF32, _lstm, _windows,
        {"batch": 64, "length": 48, "width": 256}, {"batch": 2, "length": 4, "width": 16}, stock_form="cudnn"),
    Job("gpt124m", "GPT of 124 million parameters, bfloat16 autocast, 24 sequences of 1,024", BF16, _gpt, _windows,
        {"batch": 24, "length": 1024, "layers": 12, "width": 768, "heads": 12, "vocabulary": 50304}, _TINY_GPT,
        rate=3e-4, heavy=True),
    Job("llama", "4 Llama-like blocks of width 2,048, bfloat16 autocast, 12 sequences of 2,048", BF16, _llama, _windows,
        {"batch": 12, "length": 2048, "layers": 4, "width": 2048, "hidden": 5632, "heads": 16, "groups": 4,
         "vocabulary": 8192}, _TINY_ROTARY, rate=3e-4, heavy=True),
    Job("squared", "11 blocks as in PyTorch issue #179423 (weightless RMS norms, squared leaky rectifier, grouped "
        "attention), width 512, bfloat16 autocast, 24 sequences of 2,048", BF16, _squared, _windows,
        {"batch": 24, "length": 2048, "layers": 11, "width": 512, "hidden": 2048, "heads": 8, "groups": 4,
         "vocabulary": 1024}, _TINY_ROTARY, rate=3e-4, heavy=True),
)
BY_NAME = {job.name: job for job in JOBS}


def forms_of(job: Job) -> Tuple[str, ...]:
    # The large models are written in the stock form alone.
    return (HAND, STOCK) if job.stock_form else (STOCK,) if job.heavy else (HAND,)


def main_form(job: Job) -> str:
    return forms_of(job)[0]


def prepare() -> None:
    """Settings of the process. TF32 for matrix products and convolutions of float32; autocast regions are not concerned.
    Code that arms share, such as that around an operation that is not captured, is compiled anew for each of them."""
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = True
    torch._dynamo.config.recompile_limit = 64
