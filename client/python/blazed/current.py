"""The session that blazed.status() speaks of: the one that attached last in this process.

Thread: any. Owner: nobody; a session that was dropped leaves its last picture.
"""
import weakref
from typing import Any, Callable, Optional

_session: Optional[Callable[[], Any]] = None
_last_picture: Optional[Callable[[], Any]] = None


def remember(session: Any) -> None:
    global _session
    _session = weakref.ref(session)


def keep(picture: Any) -> None:
    """Of a session that is closed."""
    global _last_picture
    _last_picture = picture


def session() -> Any:
    return _session() if _session is not None else None


def last_picture() -> Any:
    return _last_picture
