"""What all commands share: help, completion, extras, output that is closed or full."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from squamish import __version__

COMMANDS = ["fit", "demo", "report", "signatures", "path", "compare", "generate"]
OPTIONS_OF_FIT = (
    "--target --time --event --exposure --out --method --alpha --error-rate --task --order --drop "
    "--groups --weights --categorical --adjust-for --cv --missing --infinite --missing-target "
    "--select --reduced --costs --checkpoint --time-budget --stability --audit --cluster "
    "--max-size --seed --jobs --quiet --json --help"
)


def python(code, **settings):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, **settings
    )


def completing(words):
    """Return the environment in which bash asks how to complete what is typed."""
    return os.environ | {
        "_SQUAMISH_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }


def completed(words):
    code = "from squamish.cli import app; app(prog_name='squamish')"
    return python(code, env=completing(words)).stdout.split()


def test_the_version_is_told(squamish):
    assert squamish("--version").stdout == f"squamish {__version__}\n"


def test_help_is_there_for_all_commands(squamish):
    assert "Exit codes" in squamish("--help").stdout
    for command in COMMANDS:
        page = squamish(command, "--help").stdout
        assert "Example" in page, page


def test_the_help_of_fit_lists_its_options_in_order(squamish):
    page = squamish("fit", "--help", env=os.environ | {"COLUMNS": "200"}).stdout
    listed = re.findall(r"^\W+(--[a-z-]+)", page, re.MULTILINE)
    assert " ".join(listed) == OPTIONS_OF_FIT


def test_commands_options_and_their_values_are_completed():
    assert completed("squamish ge") == ["generate"]
    assert completed("squamish ") == COMMANDS
    assert " ".join(completed("squamish fit --")) == OPTIONS_OF_FIT
    assert completed("squamish fit --method ") == ["crossfit", "paper"]
    assert completed("squamish fit --task r") == ["regression"]
    assert completed("squamish fit --error-rate fd") == ["fdr"]
    assert completed("squamish fit --select mi") == ["minimal"]
    assert completed("squamish fit --select c") == ["cover"]
    assert completed("squamish sig") == ["signatures"]
    assert completed("squamish signatures --") == [
        "--costs",
        "--without",
        "--most",
        "--json",
        "--help",
    ]
    assert completed("squamish generate XO")[0] == "XOR"


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["--version"], os.environ),
        (["fit", "--help"], os.environ),
        ([], completing("squamish fit --m")),
    ],
    ids=["version", "help", "completion"],
)
def test_nothing_heavy_is_loaded_before_there_is_work(arguments, environment):
    code = f"""
import sys
from squamish.cli import app
try:
    app({arguments}, prog_name="squamish")
except SystemExit:
    pass
print(sorted({{"numpy", "polars", "sklearn"}} & set(sys.modules)))
"""
    done = python(code, env=environment)
    *answer, loaded = done.stdout.splitlines()
    assert answer, done.stderr
    assert loaded == "[]"


def test_a_reader_that_ends_and_a_closed_output_are_no_errors():
    command = f"{sys.executable} -m squamish.cli generate --list"
    for more in ("| head -1", ">&-"):
        done = subprocess.run(
            f"{command} {more}", shell=True, capture_output=True, text=True, check=False
        )
        assert done.stderr == ""
        assert done.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="signals are for Unix")
def test_an_interruption_while_modules_are_loaded_is_told_in_one_line():
    # The interruption comes when the first module of the command line is asked for.
    code = """
import os, signal, sys
from importlib.abc import MetaPathFinder

class Interrupt(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "squamish.cli.commands":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from squamish.cli import main
main()
"""
    done = python(code)
    assert done.stderr == "squamish: interrupted; no file is half-written\n"
    assert done.returncode == 130


def test_importing_the_command_line_leaves_signals_alone():
    code = """
import signal
from squamish.cli import app
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""
    assert python(code).stdout == "True\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is always full")
def test_a_full_disk_is_told_in_one_line():
    command = f"{sys.executable} -m squamish.cli generate --list > /dev/full"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == "squamish: No space left on device\n"
    assert done.returncode == 2


def test_an_output_that_cannot_show_a_letter_shows_another(squamish, tmp_path):
    settings = {"cwd": tmp_path, "env": os.environ | {"PYTHONIOENCODING": "latin-1"}}
    done = squamish("generate", "Set 1", "łąka.csv", **settings)
    assert done.stdout.startswith("??ka.csv: Problem(")
    assert done.returncode == 0


@pytest.mark.parametrize("library", ["typer", "polars", "jinja2"])
def test_without_its_extra_the_command_line_says_how_to_get_it(library):
    done = python(f"import sys; sys.modules['{library}'] = None; import squamish.cli")
    assert done.returncode == 2
    assert "pip install 'squamish[cli]'" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="signals are for Unix")
def test_a_lost_cluster_does_not_end_us_as_a_closed_output_does():
    code = """
import os, sys
from squamish.cli.streams import lost_connections_are_errors, prepare_streams
prepare_streams()
read, write = os.pipe()
os.close(read)
with lost_connections_are_errors(None):
    pass
try:
    with lost_connections_are_errors("tcp://127.0.0.1:1"):
        os.write(write, b"for the cluster")
except BrokenPipeError:
    print("an error", flush=True)
os.write(write, b"for a reader")
print("still here")
"""
    done = python(code)
    assert done.stdout == "an error\n", done.stderr
    assert done.returncode == -signal.SIGPIPE
