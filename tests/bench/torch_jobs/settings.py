"""Arguments that the programs here share, and the folder of the compiler's caches."""
import argparse
import contextlib
import os
import pathlib
import sys
import tempfile
from typing import Iterator, List, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent


class Defaults(NamedTuple):
    seconds: float
    rounds: int


def _words(text: str) -> List[str]:
    return [word for word in text.split(",") if word]


def _cache_folder(folder: pathlib.Path) -> None:
    """Set before PyTorch's compiler reads it. A value of the caller's wins."""
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(folder / "inductor"))
    os.environ.setdefault("TRITON_CACHE_DIR", str(folder / "triton"))


def parser(description: str, defaults: Defaults) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--jobs", type=_words, default=[], help="names, with commas; all where left out")
    made.add_argument("--arms", type=_words, default=[], help="names, with commas, or all; where left out the usual ones, which is all but max-autotune")
    made.add_argument("--seconds", type=float, default=defaults.seconds, help="for each job, all of its arms included")
    made.add_argument("--rounds", type=int, default=defaults.rounds, help="at most, where the time allows")
    made.add_argument("--device", default="cuda")
    made.add_argument("--tiny", action="store_true", help="small sizes, to try the programs without a GPU")
    made.add_argument("--out", type=pathlib.Path, default=pathlib.Path(os.environ.get("OUT", "out")))
    made.add_argument("--cache", type=pathlib.Path, help="folder of the compiler's caches, kept between calls",
                      default=os.environ.get("BLAZED_BENCH_CACHE", f"{tempfile.gettempdir()}/blazed-bench-cache"))
    made.add_argument("--blazed", type=pathlib.Path, default=os.environ.get("BLAZED_BENCH_ROOT"),
                      help="folder that holds bin/blazed; without it blazed's arms are left out")
    made.add_argument("--config", default="", help="the private daemon's configuration, TOML")
    return made


def parsed(description: str, defaults: Defaults) -> argparse.Namespace:
    return filled(parser(description, defaults).parse_args())


def filled(args: argparse.Namespace) -> argparse.Namespace:
    """With jobs in place of names. Ends the program where one is unknown."""
    _cache_folder(args.cache)
    import arms
    import jobs

    unknown = [name for name in args.jobs if name not in jobs.BY_NAME]
    if unknown:
        raise SystemExit(f"no job is named {unknown[0]}; there are {', '.join(jobs.BY_NAME)}")
    args.jobs = [jobs.BY_NAME[name] for name in args.jobs] or list(jobs.JOBS)
    try:
        arms.chosen(args.jobs[0], args.arms, True)
    except ValueError as error:
        raise SystemExit(str(error)) from None
    args.blazed = pathlib.Path(args.blazed) if args.blazed else None
    if args.blazed and not (args.blazed / "bin/blazed").exists():
        raise SystemExit(f"there is no bin/blazed in {args.blazed}; name a build's or a bundle's folder")
    return args


@contextlib.contextmanager
def daemon_of(args: argparse.Namespace) -> Iterator[None]:
    """A private daemon with a store of its own, its socket in BLAZED_SOCKET."""
    sys.path.insert(0, str(ROOT.parent))
    from private_daemon import daemon

    before = os.environ.get("BLAZED_SOCKET")
    with daemon(args.blazed, args.config) as (_, socket):
        os.environ["BLAZED_SOCKET"] = str(socket)
        try:
            yield
        finally:
            os.environ.pop("BLAZED_SOCKET")
            if before is not None:
                os.environ["BLAZED_SOCKET"] = before
