"""The examples of docs/ezid-api.md, sent with curl to a real server."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import Service

PAGE = (Path(__file__).parents[3] / "docs" / "ezid-api.md").read_text("utf-8")
SECTION = PAGE.split("## Examples\n")[1].split("\n## ")[0]


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", SECTION, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_every_example_succeeds_with_the_documented_answer(service: Service, tmp_path: Path) -> None:
    service.accounts.add("repository", "curator", ["ark:12345/x5"])
    (tmp_path / "token.txt").write_text(service.accounts.tokens.create("repository", "repository")[1], "utf-8")
    (tmp_path / ".curlrc").write_text("silent\nshow-error\nfail-with-body\n", "utf-8")
    examples = block("sh").replace("https://ids.example.org/ezid", service.base)
    done = subprocess.run(
        ["/bin/sh", "-ec", examples],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, (done.stdout, done.stderr)
    successes = re.findall(r"^success: (\S+)$", done.stdout, re.MULTILINE)
    assert len(successes) == examples.count("curl ")
    assert successes[0].startswith("ark:/12345/x5")
    without_times = lambda text: re.sub(r"(?m)^(_created|_updated): \d+$", r"\1", text)  # noqa: E731
    assert without_times(block("text")) in without_times(done.stdout)
