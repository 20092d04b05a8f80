"""However a command ends, there is one line that says why, and an exit code of its own."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

needs_signals = pytest.mark.skipif(
    not hasattr(signal, "sigwaitinfo"),
    reason="the child is watched where signals tell their sender",
)


def python(code, **settings):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, **settings
    )


def supervised(work):
    return python(
        f"import os, sys, signal\nfrom squamish.cli.supervision import supervised\n{work}"
    )


@needs_signals
@pytest.mark.parametrize(
    ("work", "code", "line"),
    [
        (
            "os.abort()",
            3,
            "squamish: a library crashed (SIGABRT), as some do when a file is damaged",
        ),
        (
            "(os.write(2, b'memory allocation of 8 bytes failed\\nmore\\n'), os.abort())",
            2,
            "squamish: there is not enough memory, or the file is damaged",
        ),
        (
            "os.kill(os.getpid(), signal.SIGKILL)",
            137,
            "squamish: killed from outside, as systems do when memory ends",
        ),
        ("(os.write(2, b'noise of a library'), 0)[1]", 0, ""),
        ("1", 1, ""),
    ],
)
def test_an_end_inside_of_compiled_code_is_answered_in_one_line(work, code, line):
    done = supervised(f"sys.exit(supervised(lambda: {work}))")
    assert done.returncode == code
    assert done.stderr.rstrip("\n") == line


@needs_signals
def test_what_libraries_print_is_shown_with_a_crash_only_and_is_legible():
    done = supervised(
        "sys.exit(supervised(lambda: (os.write(2, b'a\\x1b[31mb\\n'), os.abort())[0]))"
    )
    assert done.stderr == (
        "squamish: a library crashed (SIGABRT), as some do when a file is damaged: a\\x1b[31mb\n"
    )


@needs_signals
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_work_and_whoever_waits_for_it(name):
    # Whoever runs the tests may ignore the signal, as nohup does, and so would the work.
    code = (
        "import signal, sys, time\nfrom squamish.cli.supervision import supervised\n"
        f"signal.signal(signal.{name}, signal.SIG_DFL)\n"
        "sys.exit(supervised(lambda: (print('at work', flush=True), time.sleep(60))[0] or 0))"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as begun:
        assert begun.stdout.readline() == "at work\n"
        begun.send_signal(getattr(signal, name))
        assert begun.wait() == -getattr(signal, name)


@needs_signals
def test_the_work_ends_with_whoever_waits_for_it():
    code = (
        "import os, sys, time\nfrom squamish.cli.supervision import supervised\n"
        "sys.exit(supervised(lambda: (print(os.getpid(), flush=True), time.sleep(60))[0] or 0))"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as begun:
        assert int(begun.stdout.readline()) != begun.pid
        begun.kill()
        # The pipe is closed when nobody is left that could write to it.
        assert begun.stdout.read() == ""


@needs_signals
@pytest.mark.parametrize("delay", [0.0, 0.1, 0.4])
def test_an_interruption_at_any_time_gets_one_line(folder, tmp_path, delay):
    command = [sys.executable, "-m", "squamish.cli", "fit", folder / "patients.csv.gz"]
    more = ["--target", "outcome", "--quiet", "--out", tmp_path / "out", "--audit", "50"]
    with subprocess.Popen([*command, *more], stderr=subprocess.PIPE, text=True) as begun:
        # Before there is a child, Python itself has not begun.
        children = Path(f"/proc/{begun.pid}/task/{begun.pid}/children")
        while children.exists() and not children.read_text():
            time.sleep(0.001)
        time.sleep(delay)
        begun.send_signal(signal.SIGINT)
        _, said = begun.communicate()
    assert begun.returncode == 130
    assert said == "squamish: interrupted; no file is half-written\n"


def test_a_mistake_of_our_own_is_no_difference_of_verdicts(monkeypatch, capsys):
    from squamish.cli import commands, running

    def broken(**_):
        raise AttributeError("\x1b[31moops")

    monkeypatch.setattr(commands, "app", broken)
    assert running.run() == 3
    said = capsys.readouterr().err
    last = said.splitlines()[-1]
    assert "this is a mistake in squamish itself, please report it: AttributeError" in last
    assert "\x1b" not in said


@pytest.mark.parametrize(
    "arguments",
    [["fit"], ["fit", "a.csv", "--nope"], ["fit", "a.csv", "--target", "y", "--seed", "\x1b[31m"]],
)
def test_wrong_arguments_get_one_legible_line(squamish, arguments):
    done = squamish(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("squamish: ")
    assert "--help tells more" in done.stderr
    assert "\x1b" not in done.stderr
