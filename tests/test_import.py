import subprocess
import sys


def test_a_missing_openmp_runtime_is_explained(tmp_path):
    broken = "raise OSError('libgomp.so.1: cannot open shared object file')"
    (tmp_path / "lightgbm.py").write_text(broken)
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import squamish"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1
    assert "ImportError: LightGBM cannot find the OpenMP runtime" in run.stderr
    assert "apt-get install libgomp1" in run.stderr
