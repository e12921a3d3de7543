"""Where blazed speaks in a training process: the logger "blazed", which is silent until the program configures logging.

BLAZED_DEBUG=1 in the environment shows it on standard error and makes a session refuse calls from other threads.
"""
import logging
import os

logger = logging.getLogger("blazed")
logger.addHandler(logging.NullHandler())


def debugging() -> bool:
    return os.environ.get("BLAZED_DEBUG", "") not in ("", "0")


def show_if_debugging() -> None:
    """Called where a session attaches."""
    if debugging() and all(isinstance(handler, logging.NullHandler) for handler in logger.handlers):
        shown = logging.StreamHandler()
        shown.setFormatter(logging.Formatter("blazed: %(message)s"))
        logger.addHandler(shown)
        logger.setLevel(logging.INFO)
