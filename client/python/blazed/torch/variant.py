"""One compiled result of one direction of a graph, and how it is made.

Every variant of a direction starts from one copy of what the compiler was first given and has to
keep its calling convention: as many results, the same strides, the same inputs changed in place.
What differs there is refused, since the other direction and the framework rely on it.
"""

import contextlib
import copy
import dataclasses
import re
import time
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import autocast, honoured, identity, kernel_traffic, materialise, tables_on_disk
from .choices import FusionHandler
from .fusion_table import FusionTable
from .honoured import Refused
from .recipe import Recipe


@dataclasses.dataclass(frozen=True)
class Variant:
    recipe: Recipe
    call: Callable[[List[Any]], Sequence[Any]]  # boxed: empties the list that it is given
    signature: bytes  # digest of the generated code; equal ones run the same
    table: Optional[FusionTable]
    build_ns: int  # of a compile, also where the compiler's cache had it
    strides: Tuple[Any, ...]
    mutated: Tuple[int, ...]
    recorded: bool = False  # the compiler runs it through a CUDA graph of its own, as far as it says when it has compiled
    why_not_recorded: str = ""  # where that was asked for


@dataclasses.dataclass
class Source:
    """What the compiler was given for one direction, untouched. Lives as long as its graph. `boxes`: those of the
    arguments that the compiler writes to, as they were: they are shared by both directions, and one that turns its CUDA
    graph off must not turn it off for what is compiled later."""

    module: Any
    inputs: Sequence[Any]
    arguments: Dict[str, Any]
    compile: Callable[..., Any]  # the compiler's inner entry
    context: Any  # the tracing context of the first compile, which later ones enter again
    boxes: Dict[str, Any] = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.boxes = self.own_boxes(self.arguments)

    @staticmethod
    def own_boxes(given: Dict[str, Any]) -> Dict[str, Any]:
        return {name: copy.copy(given[name]) for name in ("cudagraphs", "boxed_forward_device_index")
                if given.get(name) is not None}


def compile_default(source: Source) -> Variant:
    """As the framework would have done it. Raises whatever the compiler raises."""
    variant = _compile(source, Recipe(), check=None)
    return variant


def compile_variant(source: Source, recipe: Recipe, default: Variant) -> Variant:
    """Raises Refused where the result differs in its calling convention or does not do what was
    asked, else whatever the compiler raises. Session's thread; takes seconds."""
    return _compile(source, recipe, check=default)


def _compile(source: Source, recipe: Recipe, check: Optional[Variant]) -> Variant:
    began = time.monotonic_ns()
    arguments = source.arguments if check is None else {**source.arguments, **source.own_boxes(source.boxes)}
    compiled, handler = _run(source, recipe, arguments, first=check is None)
    key = _cache_key(compiled)
    table = handler.table()
    if table is None and key:
        table = tables_on_disk.read(key)
        if table is None:
            compiled, handler = _run(source, recipe, arguments, first=check is None, cached=False)
            table = handler.table()
    if table is not None:
        honoured.look(table, recipe)
        if key:
            tables_on_disk.write(key, table)
    took = max(time.monotonic_ns() - began, _took_when_compiled(compiled))
    variant = Variant(recipe, compiled, signature_of(compiled, source.module), table, took,
                      _strides(compiled), tuple(sorted(getattr(compiled, "mutated_input_idxs", ()))),
                      *_recorded(compiled, arguments))
    if check is not None:
        _look_at_convention(variant, check)
    return variant


def _run(source: Source, recipe: Recipe, arguments: Dict[str, Any], first: bool,
         cached: bool = True) -> Tuple[Any, FusionHandler]:
    import torch
    from torch._inductor import config
    from torch._inductor.virtualized import V

    handler = FusionHandler(V.choices, recipe)
    settings = dict(recipe.settings)
    if not cached:
        # Of this cache alone: force_disable_caches is written into the generated code as well.
        settings["fx_graph_cache"] = False
    with contextlib.ExitStack() as stack:
        if not (first and cached):
            stack.enter_context(entered(source.context))
            stack.enter_context(autocast.off())
        stack.enter_context(config.patch(settings))
        stack.enter_context(torch.compiler.config.patch(cache_key_tag=recipe.tag()))
        stack.enter_context(V.set_choices_handler(handler))
        stack.enter_context(kernel_traffic.noted(handler.notes))
        module = copy_of(source.module)
        materialise.mark(module, recipe.written)
        compiled = source.compile(module, source.inputs, **arguments)
    return compiled, handler


def copy_of(module: Any) -> Any:
    """A graph of its own. Constants of a graph are real, and are none to the fake mode that a compile may be in."""
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    with unset_fake_temporarily():
        return copy.deepcopy(module)


@contextlib.contextmanager
def entered(context: Any) -> Any:
    """The first compile's tracing context, with a stride report of its own: the compiler asserts
    that nobody has reported before."""
    from torch._guards import TracingContext, tracing

    if context is None:
        yield
        return
    with tracing(context), TracingContext.report_output_strides():
        yield


def _recorded(compiled: Any, arguments: Dict[str, Any]) -> Tuple[bool, str]:
    """Read back: the compiler turns the box off where it gives up the CUDA graph that it was asked for."""
    known = getattr(compiled, "cudagraph_info", None)
    if known is not None and arguments.get("cudagraphs"):
        return True, ""
    reasons = [getattr(compiled, "disabled_cudagraphs_reason", None), *getattr(known, "cudagraph_fail_reasons", ())]
    lines = [line.strip(" :") for reason in reasons if reason for line in str(reason).splitlines()[:1]]
    return False, "; ".join(lines)[:160]


def _took_when_compiled(compiled: Any) -> int:
    """Of one that came from the compiler's cache, as the cache has it; 0 where it does not say."""
    took = getattr(compiled, "_time_taken_ns", None)
    return took if isinstance(took, int) else 0


def _cache_key(compiled: Any) -> str:
    key = getattr(compiled, "_fx_graph_cache_key", None)
    return key if isinstance(key, str) else ""


def _strides(compiled: Any) -> Tuple[Any, ...]:
    strides = getattr(compiled, "output_strides", None) or ()
    return tuple(None if stride is None else tuple(map(str, stride)) for stride in strides)


def _look_at_convention(variant: Variant, default: Variant) -> None:
    if variant.strides != default.strides:
        raise Refused("this plan lays a result out in memory in another way than the default does")
    if variant.mutated != default.mutated:
        raise Refused("this plan changes other inputs in place than the default does")


# What generated code holds that differs between two compiles of the same kernels: comments on lines
# of their own, where a constant lies in memory, and the files that it was written to or includes.
_PASSING = re.compile(r"""^[ \t]*(?:\#(?!pragma|include|define)|//)[^\n]*$
                      |^\w+[ ]=[ ]None[ ]+\#[^\n]*$
                      |'[^'\n]*/[^'\n]*\.(?:py|cpp|h|so)'
                      |"[^"\n]*/[^"\n]*\.(?:py|cpp|h|so)\"""", re.MULTILINE | re.VERBOSE)


def signature_of(compiled: Any, module: Any) -> bytes:
    """16 bytes that are equal where two results run the same kernels in the same order. `module`: what was compiled,
    by which one without a kernel is known."""
    code = getattr(compiled, "source_code", None)
    if not isinstance(code, str):
        return identity.digest("no kernel", module.code)
    return identity.digest(" ".join(_PASSING.sub("", code).split()))
