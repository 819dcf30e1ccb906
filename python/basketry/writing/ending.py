"""The end of the program: files that are still being written are completed, as uproot's are complete at any time, or
given up if an exception ends the program. What a verb has not finished is removed."""

from __future__ import annotations

import atexit
import itertools
import os
import sys
import weakref
from typing import TYPE_CHECKING, Any, Protocol

from .. import _core
from .._shared.names import plain

if TYPE_CHECKING:
    from collections.abc import MutableMapping


class Unfinished(Protocol):
    """A file that is being written."""

    file_path: str

    @property
    def closed(self) -> bool:
        """Whether nothing is left to do."""

    @property
    def is_own(self) -> bool:
        """Whether this process writes it, and not one from which it was forked."""

    def complete(self) -> None:
        """Ends it with all that uses it."""

    def abandon(self, why: str) -> None:
        """Gives it up."""


#: The files that are being written, in the order in which they were begun.
_UNFINISHED: MutableMapping[int, Unfinished] = weakref.WeakValueDictionary()
_NUMBERS = itertools.count()
#: The processes of `multiprocessing` that will complete their files: such a process ends without `atexit`.
_PREPARED: set[int] = set()


def note(file: Unfinished) -> None:
    """Completes a file at the end of this process, unless that is done before."""
    _UNFINISHED[next(_NUMBERS)] = file
    processes: Any = sys.modules.get("multiprocessing.process")
    if processes is not None and processes.parent_process() is not None and os.getpid() not in _PREPARED:
        from multiprocessing import util

        _PREPARED.add(os.getpid())
        util.Finalize(None, _at_end_of_child, exitpriority=0)


def complete_all() -> bool:
    """Completes the files of this process, or gives them up after an exception. Returns whether it could."""
    why, whole = _reason(), True
    for file in list(_UNFINISHED.values()):
        if file.closed or not file.is_own:
            continue
        try:
            if why is None:
                file.complete()
            else:
                file.abandon(why)
                _say(f"{file.file_path} is not written, since the program ended with {why}")
        except BaseException as error:
            # All others still have to be completed.
            whole = False
            _say(f"{file.file_path} could not be completed: {error}")
            file.abandon(str(error))
    return whole


def _reason() -> str | None:
    """The exception that ends this process, if one does. `sys.exit` is none, whatever its code: it is not told here."""
    error = sys.exc_info()[1]
    # At a prompt exceptions end nothing.
    if error is None and not hasattr(sys, "ps1") and not sys.flags.interactive:
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    return None if error is None or isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"


def _say(text: str) -> None:
    if sys.stderr is not None:
        print(f"basketry: {plain(text)}", file=sys.stderr, flush=True)


def _at_end_of_child() -> None:
    if not complete_all():
        sys.stdout.flush()
        os._exit(1)


def _at_exit() -> None:
    whole = complete_all()
    # Interrupted work may still be in a long call into a codec. Temporary folders go as well.
    _core.abandon()
    if not whole:
        _core.fail_at_exit()


atexit.register(_at_exit)
