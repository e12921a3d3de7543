"""What the examples share: flags, a text to read, and what they say while they train."""
import argparse
import pathlib
import time

import torch

import blazed
import blazed.torch

TEXTS = pathlib.Path("/usr/share/common-licenses")  # on every Debian and Ubuntu


def flags(description, steps):
    """A parser with what all examples know."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--steps", type=int, default=steps, help="training steps, %(default)s without it")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda" if torch.cuda.is_available() else "cpu",
                        help="without it the GPU where there is one")
    parser.add_argument("--backend", choices=("blazed", "inductor", "eager"), default="blazed",
                        help="of torch.compile, %(default)s without it; inductor is PyTorch's own compiler by itself")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers, %(default)s without it")
    return parser


def add_size_flags(parser, **sizes):
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size, help="%(default)s without it")


def add_text_flag(parser):
    parser.add_argument("--text", type=pathlib.Path, action="append", metavar="FILE",
                        help=f"text to learn, may be given again; without it the licences in {TEXTS}")


def read_text(files):
    """Text as token ids of its characters, and how many different ones there are."""
    files = files or sorted(path for path in TEXTS.glob("*") if path.is_file() and not path.is_symlink())
    text = "".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
    if len(text) < 10_000:
        raise SystemExit("there is too little text to learn; name a longer file with --text")
    place = {character: number for number, character in enumerate(sorted(set(text)))}
    return torch.tensor([place[character] for character in text]), len(place)


class Progress:
    """A line now and then, and at the end what blazed did."""

    def __init__(self, options):
        self.options = options
        self.every = max(1, min(100, options.steps // 10))
        self._told = 0
        self._since = time.perf_counter()

    def wanted(self, step):
        """Whether this step, from 1, has a line. Reading a loss waits for the device, so few have one."""
        return step == 1 or step % self.every == 0 or step == self.options.steps

    def tell(self, step, loss):
        took = (time.perf_counter() - self._since) / max(1, step - self._told)
        print(f"step {step:,} of {self.options.steps:,}, loss {loss:.3f}, "
              + (f"{took:.1f} s with compiling" if self._told == 0 else f"{1e3 * took:.2f} ms a step")
              + self._tuning(), flush=True)
        self._told, self._since = step, time.perf_counter()

    def _tuning(self):
        found = blazed.status()
        return f" | {found.phase}, plan {found.champion}" if found.attached else ""

    def end(self):
        """What blazed did."""
        if self.options.backend == "blazed":
            print(blazed.status())
            job = blazed.torch.current_job()
            if job.why_not:
                print(f"not tuned: {job.why_not}")
