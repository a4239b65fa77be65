"""Check `make audit` with a program that answers in place of pip-audit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from . import audit as program

SCRIPT = Path(__file__).with_name("audit.py")
FILES = sorted(path.name for path in SCRIPT.with_name("requirements").glob("*.txt"))
INSTEAD = """
import json, pathlib, sys
options = sys.argv[1:]
file = pathlib.Path(options[options.index("--requirement") + 1]).name
answers = json.loads(pathlib.Path(__file__).with_name("answers.json").read_text())
if file not in answers:
    sys.exit("the name of the service cannot be looked up")
print(json.dumps({"dependencies": answers[file], "fixes": []}))
sys.exit(any(each.get("vulns") for each in answers[file]))
"""
CHECKED = {"name": "flask", "version": "3.1.2", "vulns": []}
UNKNOWN = {"name": "arklet", "skip_reason": "Dependency not found on PyPI and could not be audited: arklet (0.2.3)"}
VULNERABLE = {"name": "idna", "version": "3.6", "vulns": [{"id": "PYSEC-2024-60", "fix_versions": ["3.7"]}]}
UNFIXED = {"name": "idna", "version": "3.6", "vulns": [{"id": "PYSEC-2024-61", "fix_versions": []}]}


def audit(folder: Path, answers: dict[str, list[Any]]) -> subprocess.CompletedProcess[str]:
    (folder / "pip_audit.py").write_text(INSTEAD, "utf-8")
    (folder / "answers.json").write_text(json.dumps(answers), "utf-8")
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run([sys.executable, str(SCRIPT)], env=environ, capture_output=True, text=True, check=False)


@pytest.fixture
def audited(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """audited(answers) runs the program in this process with the answers to all files, which need no processes.

    Returns its exit code, output and errors.
    """

    def run(answers: dict[str, list[Any]]) -> tuple[int, str, str]:
        monkeypatch.setattr(program, "audited", lambda file: answers[file.name])
        code = program.main()
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


SUMMARY = "packages checked: 0, not checked: 1, known vulnerabilities: 0"


@pytest.mark.one_setup
@pytest.mark.parametrize(
    ("found", "code", "lines"),
    [
        pytest.param(
            [UNKNOWN, CHECKED],
            0,
            [
                "bench.txt: Dependency not found on PyPI and could not be audited: arklet (0.2.3)",
                "packages checked: 1, not checked: 1, known vulnerabilities: 0",
            ],
            id="unknown",
        ),
        pytest.param(
            [VULNERABLE, UNFIXED, CHECKED],
            1,
            [
                "bench.txt: idna 3.6 has PYSEC-2024-60, fixed in 3.7",
                "bench.txt: idna 3.6 has PYSEC-2024-61, fixed in no version",
            ],
            id="vulnerable",
        ),
        pytest.param([UNKNOWN], 69, [SUMMARY], id="all unknown"),
    ],
)
def test_make_audit_lists_the_findings(audited: Any, found: list[Any], code: int, lines: list[str]) -> None:
    result, output, errors = audited({file: found if file == "bench.txt" else [] for file in FILES})
    assert (result, [line for line in lines if line not in output.splitlines()]) == (code, []), output
    assert bool(errors) == bool(code)


def test_make_audit_fails_if_the_service_cannot_be_reached(tmp_path: Path) -> None:
    done = audit(tmp_path, {})
    assert (done.returncode, done.stdout) == (69, "")
    assert done.stderr == (
        "make audit: the service could not be asked about bench.txt: the name of the service cannot be looked up\n"
    )


def test_each_file_of_pins_is_checked(audited: Any) -> None:
    answers = {file: [CHECKED | {"name": file}] for file in FILES}
    assert audited(answers) == (0, f"packages checked: {len(FILES)}, not checked: 0, known vulnerabilities: 0\n", "")


def test_the_findings_of_the_process_are_read(tmp_path: Path) -> None:
    done = audit(tmp_path, {FILES[0]: [VULNERABLE]})
    assert f"the service could not be asked about {FILES[1]}: the name of" in done.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path))
        patch.setattr(sys, "argv", [str(SCRIPT)])
        assert program.audited(SCRIPT.parent / "requirements" / FILES[0]) == [VULNERABLE]
