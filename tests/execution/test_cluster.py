"""More than one process, more than one machine: the same verdict, and only time is lost."""

import contextlib
import os
import signal
import socket
import threading
import time
import warnings

import joblib
import numpy as np
import pytest
from sklearn.ensemble import BaggingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.svm import SVR

from attacks.local_cluster import processes
from squamish import CrossfitMethod, InputError, PaperMethod, RelevanceSelector
from squamish.datasets import make_linear
from squamish.errors import ClusterLost
from squamish.execution.cluster import connected
from squamish.execution.workers import Workers
from squamish.models.crossfit import CrossFit

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
QUICK = PaperMethod(n_null_samples=8, n_estimators=20, p=1e-3, boruta_max_iter=20)


@pytest.fixture(scope="module")
def problem():
    return make_linear(300, n_strong=3, group_sizes=[4, 3], n_irrelevant=6, random_state=0)


@pytest.fixture(scope="module")
def cluster():
    """Two processes that wait for work, beside a scheduler."""
    with (
        # A local cluster gives up workers that are away a while after they were killed, and
        # takes those for away that were killed once more by then.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def verdict(problem, method="crossfit", **settings):
    """Everything in a result but its time and place."""
    selector = RelevanceSelector(method, random_state=0, **settings)
    return selector.fit(problem.X, problem.y).result_.to_json().partition('"task"')[0]


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_an_audit_is_the_same_everywhere(problem, backend, client):
    folds = [(np.arange(100, 300), np.arange(100)), (np.arange(200), np.arange(200, 300))]
    # Neither a generator nor what listens has to be sent there.
    selector = RelevanceSelector(
        CrossfitMethod(alpha=0.99), random_state=0, cv=iter(folds), callback=lambda news: None
    )
    with joblib.parallel_config(backend=backend, n_jobs=2):
        there = selector.audit(problem.X, problem.y, 8)
    here = selector.set_params(cv=folds).audit(problem.X, problem.y, 8)
    assert there.n_found > 0
    assert there.shuffles == here.shuffles


@pytest.mark.parametrize("method", ["crossfit", QUICK])
@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_every_backend_gives_the_same_verdict(problem, method, backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        there = verdict(problem, method)
    assert there == verdict(problem, method)


@pytest.mark.parametrize("method", ["crossfit", QUICK])
def test_a_cluster_gives_the_same_verdict(problem, method, client):
    with joblib.parallel_config(backend="dask", client=client):
        there = verdict(problem, method)
    assert there == verdict(problem, method)
    assert work_done(client) > 10


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_learners_of_users_go_where_the_work_is_done(backend, client):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (200, 4))
    y = np.sin(3 * X[:, 0] + 2 * X[:, 1]) + np.sin(3 * X[:, 1] - 2 * X[:, 0])
    # It is random, and gets the same seeds everywhere.
    smooth = GaussianProcessRegressor(RBF() + WhiteKernel(0.01), optimizer=None)
    own = BaggingRegressor(smooth, n_estimators=2)
    selector = RelevanceSelector(CrossfitMethod(learners=(own,)), random_state=0)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        there = selector.fit(X, y).result_.evidence
    here = selector.fit(X, y).result_.evidence
    assert there.learner.startswith("BaggingRegressor(")
    assert there.loss == here.loss
    assert np.array_equal(there.p_removal, here.p_removal, equal_nan=True)
    with (
        joblib.parallel_config(backend=backend, n_jobs=2),
        pytest.raises(InputError, match=r"learners\[0\] is SVR\(C=-1\), whose fit raised"),
    ):
        selector.set_params(method__learners=(SVR(C=-1),)).fit(X, y)


def work_done(client):
    """How many tasks the workers say they have done."""
    finished = client.run(lambda dask_worker: dask_worker.state.transition_counter)
    return min(finished.values())


def test_the_table_is_sent_once_not_once_per_task(problem, client, monkeypatch):
    pickled = []
    state = CrossFit.__getstate__
    monkeypatch.setattr(CrossFit, "__getstate__", lambda self: pickled.append(1) or state(self))
    with joblib.parallel_config(backend="dask", client=client):
        verdict(problem)
    # Once to find out how large it is, once to send it.
    assert len(pickled) <= 2


def test_nothing_of_a_fit_stays_on_the_cluster(problem, client):
    with joblib.parallel_config(backend="dask", client=client):
        verdict(problem)
    deadline = time.monotonic() + 20
    while any(client.has_what().values()):
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.mark.parametrize("n_killed", [1, 2])
def test_workers_that_are_killed_change_nothing(problem, cluster, client, n_killed):
    expected, killed = verdict(problem), []

    def kill(news):
        if news.share > 0.2 and not killed:
            for worker in list(cluster.workers.values())[:n_killed]:
                killed.append(worker.process.pid)
                os.kill(worker.process.pid, signal.SIGKILL)

    with joblib.parallel_config(backend="dask", client=client):
        assert verdict(problem, callback=kill) == expected
    assert len(killed) == n_killed


def test_a_task_that_kills_every_worker_is_given_up(client):
    # Sent as code, because workers cannot import the tests.
    def kill_own_process(shared, task, rng):
        if task == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    with (
        joblib.parallel_config(backend="dask", client=client),
        pytest.raises(distributed.scheduler.KilledWorker),
    ):
        Workers().run(kill_own_process, None, range(6), np.random.default_rng(0))
    client.wait_for_workers(2, timeout=60)


@pytest.mark.parametrize(("version", "said"), [(None, "no squamish"), ("0.0", "squamish 0.0")])
def test_workers_without_this_version_are_refused(problem, version, said):
    def replace_squamish():
        import sys
        from types import SimpleNamespace

        sys.modules["squamish"] = version and SimpleNamespace(__version__=version)

    with (
        distributed.LocalCluster(n_workers=1, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask", client=client),
    ):
        client.run(replace_squamish)
        with pytest.raises(InputError, match=rf"the worker at tcp://\S+ has {said}; install"):
            verdict(problem)


def test_the_command_line_works_on_a_cluster(problem, cluster, client, tmp_path):
    import polars as pl
    from typer.testing import CliRunner

    from squamish.cli import app

    table = pl.DataFrame(problem.X).with_columns(y=problem.y)
    table.write_csv(tmp_path / "table.csv")
    before = work_done(client)
    command = ["fit", str(tmp_path / "table.csv"), "--target", "y", "-q", "--json"]
    there = CliRunner().invoke(app, [*command, "--cluster", cluster.scheduler_address])
    assert there.exit_code == 0, there.output
    assert work_done(client) > before
    here = CliRunner().invoke(app, command)
    assert there.output.partition('"task"')[0] == here.output.partition('"task"')[0]


def test_an_address_without_a_scheduler_is_an_error():
    with (
        warnings.catch_warnings(),
        pytest.raises(InputError, match=r"there is no Dask scheduler at 'tcp://127\.0\.0\.1:1'"),
        connected("tcp://127.0.0.1:1", timeout=1),
    ):
        pass


def silence(connection):
    threading.Event().wait(30)


def garbage(connection):
    while True:
        connection.sendall(os.urandom(4096))


def another_protocol(connection):
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    threading.Event().wait(30)


def a_closed_door(connection):
    connection.close()


@pytest.mark.parametrize("behaves", [silence, garbage, another_protocol, a_closed_door])
def test_a_stranger_at_the_address_is_an_error_in_one_line(behaves):
    def answer():
        while True:
            connection, _ = server.accept()
            connections.append(connection)
            threading.Thread(target=converse, args=(connection,), daemon=True).start()

    def converse(connection):
        with contextlib.suppress(OSError):
            behaves(connection)

    def serve():
        with contextlib.suppress(OSError):
            answer()

    connections = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=serve, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with (
            pytest.raises(InputError, match=f"there is no Dask scheduler at '{address}': ") as told,
            connected(address, timeout=2),
        ):
            pass
        for connection in connections:
            connection.close()
    assert "\n" not in str(told.value)


def test_a_frozen_worker_is_given_up(problem, monkeypatch):
    monkeypatch.setattr("squamish.execution.watch.SILENT", 2.0)
    monkeypatch.setattr("squamish.execution.cluster.PATIENCE", 4.0)
    expected, frozen = verdict(problem), []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask", client=client),
    ):

        def freeze(news):
            if news.share > 0.2 and not frozen:
                frozen.append(cluster.workers[0].process.pid)
                os.kill(frozen[0], signal.SIGSTOP)

        try:
            with pytest.warns(UserWarning, match="has not been heard of for 4 s; it gets no more"):
                assert verdict(problem, callback=freeze) == expected
        finally:
            os.kill(frozen[0], signal.SIGCONT)


def test_a_lost_scheduler_is_named_and_the_checkpoint_goes_on_at_home(problem, tmp_path):
    lost = []

    def kill(news):
        if news.share > 0.2 and not lost:
            lost.append(cluster.address)
            cluster.scheduler.kill()

    with (
        processes(n_workers=1) as cluster,
        connected(cluster.address, timeout=5),
        pytest.raises(ClusterLost, match=r"the Dask scheduler at tcp://\S+ went away"),
    ):
        verdict(problem, callback=kill, checkpoint=tmp_path / "work")
    assert verdict(problem, checkpoint=tmp_path / "work") == verdict(problem)


def test_an_interrupted_fit_leaves_the_cluster_usable(problem, client):
    def stop(news):
        if news.share > 0.3:
            raise KeyboardInterrupt

    with joblib.parallel_config(backend="dask", client=client):
        with pytest.raises(KeyboardInterrupt):
            verdict(problem, callback=stop)
        assert verdict(problem) == verdict(problem)
    assert threading.active_count() < 100


def test_an_error_of_a_task_is_not_taken_for_a_lost_result(client):
    def fail(shared, task, rng):
        raise TimeoutError("the file did not answer")

    with (
        joblib.parallel_config(backend="dask", client=client),
        pytest.raises(TimeoutError, match="did not answer"),
    ):
        Workers().run(fail, None, range(6), np.random.default_rng(0))


def test_a_time_budget_holds_without_workers(problem):
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config(backend="dask", client=client),
    ):
        news = []
        selector = RelevanceSelector(random_state=0, time_budget=4, callback=news.append)
        selector.fit(problem.X, problem.y)
    assert selector.result_.evidence.undecided.all()
    # Whoever watches is told what takes so long.
    waiting = [str(some) for some in news if some.waiting]
    assert f"waiting for workers: the cluster at {cluster.scheduler_address} has none" in waiting[0]
