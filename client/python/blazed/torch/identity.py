"""Names of graph nodes that are the same in every process.

A node's own name (`op12`) is its position and moves with any change before it. Here a node is known
by what it computes and by what it reads and feeds: its label, refined over the edges of the graph
(Weisfeiler and Leman 1968; three rounds tell apart what real training graphs hold). Nodes that stay
equal, such as the same operation of two equal layers, are one class.
"""

import hashlib
from typing import Dict, Iterable, List, Sequence, Tuple

DIGEST_BYTES = 16
_ROUNDS = 3

Edge = Tuple[str, str, int]  # producer, consumer, at which of the consumer's reads


def digest(*parts: object) -> bytes:
    """16 bytes that depend on the parts' text and on where one ends and the next begins."""
    hasher = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.digest()


def refine(labels: Dict[str, bytes], edges: Iterable[Edge]) -> Dict[str, bytes]:
    """The class of each node: equal where labels and surroundings within three edges are equal."""
    reads: Dict[str, List[Tuple[int, str]]] = {name: [] for name in labels}
    feeds: Dict[str, List[Tuple[int, str]]] = {name: [] for name in labels}
    for producer, consumer, slot in edges:
        reads[consumer].append((slot, producer))
        feeds[producer].append((slot, consumer))
    for around in reads.values():
        around.sort()
    classes = dict(labels)
    for _ in range(_ROUNDS):
        classes = {name: _next(name, classes, reads, feeds) for name in labels}
    return classes


def _next(name: str, classes: Dict[str, bytes], reads: Dict[str, List[Tuple[int, str]]],
          feeds: Dict[str, List[Tuple[int, str]]]) -> bytes:
    above: Sequence[bytes] = [classes[other] for _, other in reads[name]]
    # Readers have no order of their own that two processes would agree on.
    below = sorted(slot.to_bytes(4, "little") + classes[other] for slot, other in feeds[name])
    return digest(classes[name], *above, b"|", *below)
