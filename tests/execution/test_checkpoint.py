"""Nothing is lost: a fit that was killed goes on where it was."""

import errno
import hashlib
import io
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import TimeSeriesSplit

from squamish import CrossfitMethod, InputError, PaperMethod, RelevanceResult, RelevanceSelector
from squamish.datasets import make_linear
from squamish.execution.checkpoint import Checkpoint

QUICK = PaperMethod(n_null_samples=8, n_estimators=20, p=1e-3, boruta_max_iter=20)
KILLS = 6


@pytest.fixture(scope="module")
def problem():
    return make_linear(300, n_strong=3, group_sizes=[4], n_irrelevant=6, random_state=0)


def findings(result):
    """Everything in a result but its time and place."""
    return result.to_json().partition('"task"')[0]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("method", ["crossfit", QUICK])
def test_an_interrupted_fit_goes_on_and_does_nothing_twice(
    problem, method, n_jobs, tmp_path, monkeypatch
):
    kept = []
    keep = Checkpoint.keep
    monkeypatch.setattr(
        Checkpoint, "keep", lambda self, *key: kept.append(key[:2]) or keep(self, *key)
    )

    def stop(news):
        if news.share > 0.6:
            raise KeyboardInterrupt

    path = tmp_path / "work.checkpoint"
    selector = RelevanceSelector(
        method, random_state=0, n_jobs=n_jobs, callback=stop, checkpoint=path
    )
    with pytest.raises(KeyboardInterrupt):
        selector.fit(problem.X, problem.y)
    before = len(kept)
    selector.set_params(callback=None).fit(problem.X, problem.y)
    assert 0 < before < len(kept)
    assert len(kept) == len(set(kept))
    plain = RelevanceSelector(method, random_state=0).fit(problem.X, problem.y)
    assert findings(selector.result_) == findings(plain.result_)
    n_done = len(kept)
    selector.fit(problem.X, problem.y)
    assert len(kept) == n_done


SCRIPT = """
import sys
from squamish import PaperMethod, RelevanceSelector
from squamish.datasets import load_preset
problem = load_preset("Set 4", random_state=0)
method = "crossfit" if sys.argv[1] == "crossfit" else PaperMethod(n_null_samples=20)
selector = RelevanceSelector(method, random_state=0, n_jobs=2, checkpoint=sys.argv[2] or None)
print("ready", flush=True)
selector.fit(problem.X, problem.y).result_.to_json(sys.argv[3])
"""


def start(method, checkpoint, out):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, method, str(checkpoint), str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    return process


@pytest.mark.skipif(os.name == "nt", reason="signals are for Unix")
@pytest.mark.parametrize("method", ["crossfit", "paper"])
def test_killed_at_any_moment_it_goes_on_to_the_same_verdict(method, tmp_path):
    plain, out, checkpoint = (tmp_path / name for name in ("plain.json", "out.json", "work"))
    with start(method, "", plain) as process:
        begin = time.perf_counter()
        assert process.wait(300) == 0
    usual = time.perf_counter() - begin
    expected = findings(RelevanceResult.from_json(plain))
    luck = random.Random(0)
    kills = 0
    while kills < KILLS:
        with start(method, checkpoint, out) as process:
            time.sleep(luck.uniform(0, 0.3 * usual))
            process.send_signal(signal.SIGKILL)
            killed = process.wait(60) == -signal.SIGKILL
        kills += killed
        if not killed:
            assert findings(RelevanceResult.from_json(out)) == expected
            checkpoint.unlink()
    with start(method, checkpoint, out) as process:
        assert process.wait(300) == 0, process.stderr.read()
    assert findings(RelevanceResult.from_json(out)) == expected


@pytest.fixture(scope="module")
def finished(problem, tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint") / "work"
    RelevanceSelector(random_state=0, checkpoint=path).fit(problem.X, problem.y)
    return path.read_bytes()


def refit(problem, path, **settings):
    settings = {"random_state": 0, "checkpoint": path} | settings
    return RelevanceSelector(**settings).fit(problem.X, problem.y)


def test_a_checkpoint_of_something_else_is_refused(problem, finished, tmp_path):
    path = tmp_path / "work"
    path.write_bytes(finished)
    with pytest.raises(InputError, match="was made with other settings; give another file"):
        refit(problem, path, random_state=1)
    with pytest.raises(InputError, match="was made with other settings"):
        refit(problem, path, method=CrossfitMethod(alpha=0.05))
    with pytest.raises(InputError, match="was made with other data"):
        RelevanceSelector(random_state=0, checkpoint=path).fit(problem.X[:-1], problem.y[:-1])
    with pytest.raises(InputError, match="was made with other data"):
        RelevanceSelector(random_state=0, checkpoint=path).fit(
            problem.X, problem.y, sample_weight=np.arange(1, 301)
        )
    with pytest.raises(InputError, match="was made with other data"):
        RelevanceSelector(random_state=0, checkpoint=path).fit(
            problem.X, problem.y, groups=np.arange(300) // 2
        )
    for other in ({"cv": 4}, {"cv": TimeSeriesSplit()}, {"feature_groups": [[0, 1]]}):
        with pytest.raises(InputError, match="was made with other data"):
            refit(problem, path, **other)
    about = json.loads(finished[: finished.index(b"\n")])["about"]
    path.unlink()
    with Checkpoint(path, about | {"versions": "numpy 0.9"}, seed=0) as checkpoint:
        checkpoint.keep(0, 0, 0.5)
    with pytest.raises(InputError, match="was made with other versions"):
        refit(problem, path)
    assert path.exists()


@pytest.mark.parametrize(
    "text", ["Dear reader,\nthis is a letter.\n", "one line", '{"format"}', "[]\n"]
)
def test_what_is_no_checkpoint_is_refused_and_left_alone(problem, tmp_path, text):
    path = tmp_path / "letter.txt"
    path.write_text(text)
    with pytest.raises(InputError, match="is no checkpoint of this version of squamish"):
        refit(problem, path)
    assert path.read_text() == text
    with pytest.raises(InputError, match="cannot be opened: Is a directory"):
        refit(problem, tmp_path)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_a_torn_end_is_dropped_and_any_other_change_is_refused(problem, finished, tmp_path, data):
    path = tmp_path / "work"
    first = finished.index(b"\n") + 1
    cut = data.draw(st.integers(0, len(finished)))
    path.write_bytes(finished[:cut])
    expected = RelevanceSelector(random_state=0).fit(problem.X, problem.y).relevance_classes_
    assert np.array_equal(refit(problem, path).relevance_classes_, expected)
    assert len(path.read_bytes()) == len(finished)
    # In the last record a change cannot be told from one that was not finished.
    place = data.draw(st.integers(first, len(finished) - 3000))
    path.write_bytes(finished[:place] + bytes([finished[place] ^ 1]) + finished[place + 1 :])
    with pytest.raises(InputError, match="is damaged at byte"):
        refit(problem, path)


def test_nothing_is_unpickled(problem, finished, tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trapped"),)

    buffer = io.BytesIO()
    np.save(buffer, np.array([Trap()], dtype=object), allow_pickle=True)
    text = b'[0, 0, "array"]\n' + buffer.getvalue()
    line = finished[: finished.index(b"\n")]
    path = tmp_path / "work"
    path.write_bytes(line + b"\n" + record(line, b'[0, 1, "json"]\n0.5'))
    with Checkpoint(path, json.loads(line)["about"], 0) as checkpoint:
        assert checkpoint.recall(0) == {1: 0.5}
    path.write_bytes(line + b"\n" + record(line, text))
    with pytest.raises(InputError, match="is damaged"):
        refit(problem, path)
    assert not (tmp_path / "trapped").exists()


def record(line, text):
    """Return the first record behind a first line, with all its hashes right."""
    size, before = struct.pack(">Q", len(text)), hashlib.sha256(line).digest()
    return (
        size
        + hashlib.sha256(before + size).digest()[:8]
        + hashlib.sha256(before + text).digest()
        + text
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [(b'"seed": 0', b'"seed": 1'), (b'"seed": 0', b'"seed": Infinity'), (b"numpy ", b"numpy 9")],
)
def test_a_first_line_that_was_changed_is_refused(problem, finished, tmp_path, before, after):
    path, line = tmp_path / "work", finished[: finished.index(b"\n") + 1]
    # Also if nothing comes behind it.
    for content in (line, finished):
        path.write_bytes(content.replace(before, after, 1))
        with pytest.raises(InputError, match="is damaged at byte 0; delete it"):
            refit(problem, path)


@pytest.mark.parametrize(
    "text",
    [
        b'[0, 0, "json"]\n' + b"[" * 100_000,
        b'[Infinity, 0, "json"]\n0.5',
        b'[0, -1, "json"]\n0.5',
        b'[0, true, "json"]\n0.5',
        b'[0, 0, "pickle"]\n0.5',
        b'[0, 0, "array"]\nNUMPY',
        b"[" * 100_000,
    ],
)
def test_records_that_make_no_sense_are_refused_though_their_hashes_are_right(
    problem, finished, tmp_path, text
):
    path, line = tmp_path / "work", finished[: finished.index(b"\n")]
    path.write_bytes(line + b"\n" + record(line, text))
    with pytest.raises(InputError, match="is damaged at byte"):
        refit(problem, path)


@pytest.mark.parametrize("result", [b'"nonsense"', b"[]", b"7", b'{"a": 1}', b"[[1, 2], [3]]"])
def test_results_of_something_else_are_refused_though_their_hashes_are_right(
    problem, finished, tmp_path, result
):
    path, line = tmp_path / "work", finished[: finished.index(b"\n")]
    path.write_bytes(line + b"\n" + record(line, b'[0, 0, "json"]\n' + result))
    with pytest.raises(InputError, match=r"cannot go on from the checkpoint .*; delete it"):
        refit(problem, path)


def test_errors_of_a_callback_are_not_blamed_on_the_file(problem, finished, tmp_path):
    def stop(news):
        raise ValueError("enough")

    path = tmp_path / "work"
    path.write_bytes(finished)
    with pytest.raises(ValueError, match=r"^enough$"):
        refit(problem, path, callback=stop)


@given(st.data())
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_zeros_that_a_power_cut_left_are_dropped(tmp_path, data):
    path = tmp_path / "work"
    path.unlink(missing_ok=True)
    with Checkpoint(path, {"data": "a"}, seed=1) as checkpoint:
        for task in range(6):
            checkpoint.keep(0, task, np.zeros(3) if task % 2 else (task, "done"))
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut] + bytes(data.draw(st.integers(0, 400))))
    with Checkpoint(path, {"data": "a"}, seed=1) as checkpoint:
        n_known = len(checkpoint.recall(0))
        for task in range(n_known, 6):
            checkpoint.keep(0, task, np.zeros(3) if task % 2 else (task, "done"))
    assert path.read_bytes() == whole


@pytest.mark.skipif(os.name == "nt", reason="devices and pipes of Unix")
def test_devices_and_pipes_are_no_checkpoints(problem, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        with pytest.raises(InputError, match="is a device or a pipe; it must be a file"):
            refit(problem, path)


def test_what_is_no_path_is_no_checkpoint(problem):
    with pytest.raises(InputError, match="checkpoint is 5; it must be None, or the path of a file"):
        refit(problem, 5)
    with pytest.raises(InputError, match="cannot be opened: embedded null byte"):
        refit(problem, "a\0b")


@pytest.mark.skipif(os.name == "nt", reason="limits of Unix")
@pytest.mark.parametrize("room", [0, 10, 1000])
def test_a_full_disk_is_told_with_the_name_of_the_file(room, tmp_path):
    script = (
        "import resource, sys\n"
        "from squamish.execution.checkpoint import Checkpoint\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)\n"
        "with Checkpoint(sys.argv[1], {}, 0) as checkpoint:\n"
        "    checkpoint.keep(0, 0, 'x' * 2000)\n"
    )
    path = tmp_path / "work"
    command = [sys.executable, "-c", script, str(path), str(room)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert f"the checkpoint {str(path)!r} cannot be written: File too large" in told.stderr
    with Checkpoint(path, {}, 0) as checkpoint:
        assert not checkpoint.has_records


@pytest.mark.parametrize("step", ["read", "truncate", "write", "close"])
def test_whatever_fails_the_file_is_named(step, tmp_path, monkeypatch):
    class FullDisk(io.FileIO):
        """A file whose disk has no room at one step."""

    def fail(file, *_):
        io.FileIO.close(file)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "work"
    with Checkpoint(path, {}, 0) as checkpoint:
        checkpoint.keep(0, 0, 1)
    setattr(FullDisk, step, fail)
    monkeypatch.setattr(
        "squamish.execution.checkpoint.open",
        lambda path, *_, **__: FullDisk(path, "a+"),
        raising=False,
    )
    with (
        pytest.raises(OSError, match=rf"the checkpoint '{path}' cannot be (read|written): "),
        Checkpoint(path, {}, 0) as checkpoint,
    ):
        checkpoint.keep(0, 1, 2)


def test_without_a_seed_the_file_remembers_one(problem, tmp_path):
    path = tmp_path / "work"
    first = refit(problem, path, random_state=None).result_
    again = refit(problem, path, random_state=None).result_
    assert findings(first) == findings(again)
    with pytest.raises(InputError, match="with a checkpoint it must be an int or None"):
        refit(problem, path, random_state=np.random.default_rng(0))


def test_two_fits_do_not_share_a_file(problem, tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "work"
    with Checkpoint(path, {}, 0), pytest.raises(InputError, match="is in use by another fit"):
        refit(problem, path)


def test_a_fit_that_was_refused_leaves_no_checkpoint_that_refuses(problem, tmp_path):
    path, y = tmp_path / "work", problem.y.astype(str)
    y[0] = "alone"
    with pytest.raises(InputError, match="one row only of class alone"):
        RelevanceSelector(random_state=0, checkpoint=path).fit(problem.X, y)
    assert refit(problem, path).result_.strong


def test_a_file_system_without_locks_will_do(problem, tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def unknown(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", unknown)
    assert refit(problem, tmp_path / "work").result_.strong
