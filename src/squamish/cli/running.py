"""Running a command: whatever ends it is answered in a line, and has an exit code."""

from __future__ import annotations

import sys
import traceback

from squamish.cli.streams import prepare_streams

# What exit codes mean beside 0 and that of `compare`, 1.
MISTAKE, CRASH, INTERRUPTED = 2, 3, 130


def run() -> int:
    """Run the command that was given, and return the exit code."""
    try:
        prepare_streams()
        # Only here, so that an interruption meanwhile is answered, too.
        from squamish.cli.commands import app

        code = app(standalone_mode=False) or 0
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        # What cannot be printed is found here, and not when nobody can answer any more.
        sys.stdout.flush()
        return int(code)
    except BaseException as error:
        return _answered(error)


def _answered(error: BaseException) -> int:
    """Say in a line what ended the command, and return the exit code."""
    from squamish.cli.answers import Answer

    answer = Answer.to(error)
    if answer.code == CRASH:
        traceback_of(error)
    answer.say()
    return answer.code


def traceback_of(error: BaseException) -> None:
    """Print where in the program a mistake of our own was found."""
    from squamish.cli.streams import say

    say("".join(traceback.format_exception(error)).rstrip(), err=True)
