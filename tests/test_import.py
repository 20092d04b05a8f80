import subprocess
import sys

import pytest


def test_a_missing_openmp_runtime_is_explained(tmp_path):
    broken = "raise OSError('libgomp.so.1: cannot open shared object file')"
    (tmp_path / "lightgbm.py").write_text(broken)
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from squamish import RelevanceSelector"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1
    assert "ImportError: LightGBM cannot find the OpenMP runtime" in run.stderr
    assert "apt-get install libgomp1" in run.stderr


def test_what_is_public_is_listed_and_nothing_else_is_there():
    import squamish

    assert set(squamish.__all__) <= set(dir(squamish))
    with pytest.raises(AttributeError, match="no attribute 'Boruta'"):
        _ = squamish.Boruta


def test_the_package_is_loaded_when_it_is_needed():
    code = "import sys, squamish; print([m for m in ('sklearn', 'lightgbm') if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "[]\n"
