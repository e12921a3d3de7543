"""How a product of matrices is computed: by the library, or by a template of the compiler.

The compiler would pick a template by timing several, with an answer that changes from run to run.
Here an option names one template and its tiles, and a plan gets that one or is refused.
"""

import contextlib
from typing import Any, Iterator, List, Optional, Tuple

from .fusion_table import Product

LIBRARY, CPP = "library", "template"
NAMES = ("mm", "addmm", "bmm", "baddbmm")
_MOST_TILES = 2  # options of one product beside the library
_TRITON = "triton "
# Rows, columns and length of a tile, pipeline stages, warps: those of the compiler's own list that
# fit a 32-bit product into the shared memory of every GPU it makes templates for.
_TILES = ((32, 32, 128, 2, 4), (32, 64, 32, 5, 8), (64, 32, 32, 5, 8), (64, 64, 32, 2, 4), (64, 128, 32, 3, 4),
          (128, 64, 32, 3, 4), (128, 128, 32, 3, 4))
_LOAD_WEIGHT = 64  # time to bring in one value, in multiply-adds of one thread block


def options_for(product: Product, processors: int) -> Tuple[str, ...]:
    """The library first; alone where no template is known that could serve. `processors`: of the
    GPU, multiprocessors; they decide which tiles leave the fewest idle."""
    if product.device == "cuda" and product.dtype in ("torch.float32", "torch.float16", "torch.bfloat16"):
        return (LIBRARY, *_tiles_for(product, processors))
    if product.device == "cpu" and product.name == "bmm" and product.dtype == "torch.float32":
        return (LIBRARY, CPP) if product.row_by_row and _lets_templates() else (LIBRARY,)
    return (LIBRARY,)


def _tiles_for(product: Product, processors: int) -> List[str]:
    batch, rows, columns, length = product.sizes

    def cost(tile: Tuple[int, int, int, int, int]) -> int:
        blocks = batch * -(-rows // tile[0]) * -(-columns // tile[1])
        waves = -(-blocks // max(1, processors))
        return waves * -(-length // tile[2]) * tile[2] * (tile[0] * tile[1] + _LOAD_WEIGHT * (tile[0] + tile[1]))

    # The compiler cuts tiles that are larger than the product, so those lose their name.
    fitting = [t for t in _TILES if t[0] <= _rounded(rows) and t[1] <= _rounded(columns) and t[2] <= _rounded(length)]
    return [_tile_name(t) for t in sorted(fitting, key=cost)[:_MOST_TILES]]


def _rounded(extent: int) -> int:
    return max(16, 1 << max(0, extent - 1).bit_length())


def _tile_name(tile: Tuple[int, ...]) -> str:
    return _TRITON + "x".join(map(str, tile[:3]))


def _lets_templates() -> bool:
    try:
        from torch._inductor.codegen.cpp_bmm_template import CppBmmTemplate  # noqa: F401
        from torch._inductor.utils import use_cpp_bmm_template  # noqa: F401
    except ImportError:
        return False
    return True


def described(inputs: Any, name: str, node: Any, kind: bytes, done_by: str) -> Optional[Product]:
    """What is asked for, with `inputs` as the compiler gives them; None where sizes are symbolic or
    results are of another type than what is multiplied."""
    try:
        rows, columns, length = (int(extent) for extent in inputs.mnk_symbolic())
        first = inputs.nodes()[-2]
        if inputs.out_dtype() != first.get_dtype():
            return None
        batch = int(first.get_size()[0]) if len(first.get_size()) == 3 else 1
        return Product(node.name, kind, name, (batch, rows, columns, length), first.get_device().type,
                       str(first.get_dtype()), done_by, _row_by_row(first))
    except (AttributeError, NotImplementedError, TypeError, ValueError):
        return None


def _row_by_row(matrix: Any) -> bool:
    size, stride = matrix.get_size(), matrix.get_stride()
    return int(stride[-1]) == 1 and int(stride[-2]) == int(size[-1])


def chosen(base: Any, inputs: Any, name: str, option: str) -> Optional[Any]:
    """The compiler's one choice for `option`; None where it has none here. Raises what it raises."""
    with _templates_on():
        if option == CPP:
            return _cpp(inputs)
        return _triton(base, inputs, name, option[len(_TRITON):])


@contextlib.contextmanager
def _templates_on() -> Iterator[None]:
    """For one product: with this on for a whole graph the others would change as well."""
    from torch._inductor import config

    with config.patch(max_autotune_gemm=True, max_autotune_gemm_backends="ATEN,TRITON,CPP"):
        yield


def _cpp(inputs: Any) -> Optional[Any]:
    from torch._inductor.codegen.cpp_bmm_template import CppBmmTemplate
    from torch._inductor.utils import use_cpp_bmm_template

    layout = inputs.output_layout(flexible=False)
    nodes = inputs.nodes()
    if not use_cpp_bmm_template(layout, nodes[0], nodes[1]):
        return None
    found: List[Any] = []
    CppBmmTemplate.add_choices(found, layout, nodes)
    return found[0] if found else None


def _triton(base: Any, inputs: Any, name: str, tiles: str) -> Optional[Any]:
    from torch._inductor.kernel.bmm import bmm_template
    from torch._inductor.kernel.mm import mm_template

    wanted = next((t for t in _TILES if _tile_name(t) == _TRITON + tiles), None)
    if wanted is None:
        return None
    inputs = _with_whole_bias(inputs, name)
    template = mm_template if name in ("mm", "addmm") else bmm_template
    for candidate in base.get_ktc(inputs, template, name):
        if _tile_of(candidate) == wanted:
            candidate.layout = inputs.output_layout(flexible=False)
            return candidate.choice
    return None


def _tile_of(candidate: Any) -> Tuple[Any, ...]:
    arguments = candidate.params.to_kwargs()
    return tuple(arguments.get(key) for key in ("BLOCK_M", "BLOCK_N", "BLOCK_K", "num_stages", "num_warps"))


def _with_whole_bias(inputs: Any, name: str) -> Any:
    """A template reads the summand of addmm as a matrix; the library takes a row as well."""
    if name != "addmm":
        return inputs
    from torch._inductor.kernel.mm_common import mm_args
    from torch._inductor.kernel_inputs import MMKernelInputs

    summand, first, second = inputs.nodes()
    *_, first, second, summand = mm_args(first, second, summand, layout=inputs.output_layout(flexible=False))
    scalars = {key: inputs.get_scalar(key) for key in ("alpha", "beta")}
    return MMKernelInputs([summand, first, second], scalars=scalars)
