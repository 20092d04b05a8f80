"""What is released can be built, installed and used, and says the same everywhere."""

import json
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import squamish

ROOT = Path(__file__).parents[2]
USE = """
import json, squamish
from squamish import RelevanceSelector
from squamish.datasets import make_linear
problem = make_linear(100, n_strong=2, group_sizes=[], n_irrelevant=1, random_state=0)
result = RelevanceSelector(random_state=0).fit(problem.X, problem.y).result_
page = result.to_html()
print(json.dumps([squamish.__file__, squamish.__version__, result.strong, len(page)]))
"""


def run(*command, **options):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(folder):
    """Build the source distribution, and the wheel from it."""
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)


@pytest.fixture(scope="session")
def distribution(made_once):
    folder = made_once("dist", build)
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return source, wheel


@pytest.fixture(scope="session")
def fresh(distribution, made_once):
    """An environment with the wheel, beside the dependencies of this one but not its squamish."""

    def install(folder):
        venv.create(folder, with_pip=False, symlinks=True)
        python = folder / "bin" / "python"
        code = "import sysconfig; print(sysconfig.get_path('purelib'))"
        # A folder that is named in such a file is searched, and such files in it are not read:
        # this environment's own squamish, which is installed as a link, stays out.
        links = Path(run(python, "-c", code).strip(), "dependencies.pth")
        links.write_text(sysconfig.get_path("purelib"))
        options = ["--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
        pip = [sys.executable, "-m", "pip", "--python", python]
        run(*pip, "install", *options, distribution[1])

    return made_once("fresh", install)


def test_the_wheel_holds_the_package_and_nothing_else(distribution):
    source, wheel = distribution
    name = f"squamish-{squamish.__version__}"
    assert source.name == f"{name}.tar.gz"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(f"{name}.dist-info/METADATA").decode()
    assert {Path(file).parts[0] for file in names} == {"squamish", f"{name}.dist-info"}
    package = ROOT / "src" / "squamish"
    for file in package.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            assert f"squamish/{file.relative_to(package)}" in names
    assert f"{name}.dist-info/licenses/LICENSE" in names
    assert "not endorsed by" in metadata


def test_the_source_distribution_holds_what_is_needed_to_test_it(distribution):
    with tarfile.open(distribution[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "Makefile",
        "constraints.txt",
        "CHANGELOG.md",
        "docs/conf.py",
        "examples/data/alarm.csv.gz",
        "tests/release/test_distribution.py",
    } <= names


def test_the_wheel_works_in_a_fresh_environment(fresh, tmp_path):
    said = run(fresh / "bin" / "python", "-W", "error", "-c", USE, cwd=tmp_path)
    place, version, strong, size = json.loads(said)
    assert Path(place).is_relative_to(fresh)
    assert version == squamish.__version__
    assert sorted(strong) == ["0", "1"]
    assert size > 10_000


def test_the_command_line_works_in_a_fresh_environment(fresh, tmp_path):
    command = fresh / "bin" / "squamish"
    assert run(command, "--version", cwd=tmp_path) == f"squamish {squamish.__version__}\n"
    assert "Set 3" in run(command, "generate", "--list", cwd=tmp_path)


def test_all_files_have_the_version_of_the_changelog():
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
    assert squamish.__version__ == newest
    assert f"\nversion: {newest}\n" in (ROOT / "CITATION.cff").read_text()
    assert f'set version = "{newest}"' in (ROOT / "conda" / "meta.yaml").read_text()


def test_the_recipe_asks_for_what_the_package_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *extras["report"], *extras["cli"]]
    recipe = (ROOT / "conda" / "meta.yaml").read_text()
    for requirement in needed:
        name, least = re.match(r"([\w-]+)(?:\[.*\])?(>=.*)?", requirement).groups()
        # What has another name there.
        name = {"boruta": "boruta_py", "squamish": ""}.get(name, name)
        assert f"- {name} {least}\n" in recipe or not name


def test_every_version_of_python_that_is_named_is_tested():
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    named = {c.rpartition(" ")[2] for c in classifiers if re.search(r":: 3\.\d+$", c)}
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    assert named == set(re.findall(r'python: "([\d.]+)"', workflow))
