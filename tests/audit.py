"""Check each package that tests/requirements pins for known vulnerabilities, and list those that cannot be checked.

``make audit`` runs it. pip-audit queries PyPI, or the service in its options, such as
``make audit ARGS='--vulnerability-service osv'``. A package that the service does not know
is listed and does not fail the audit.

Exit code: 0 no known vulnerability, 1 a known vulnerability, 69 the service answered for no package.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("requirements")
PIP_AUDIT = ("-m", "pip_audit", "--format", "json", "--progress-spinner", "off", "--disable-pip", "--require-hashes")


def main() -> int:
    """Print the findings of all files, and return the exit code."""
    checked: set[str] = set()
    unknown: dict[str, str] = {}
    vulnerable: dict[str, str] = {}
    # One file at a time: the pins of the sites differ from the others, and pip-audit refuses different pins.
    for file in sorted(FOLDER.glob("*.txt")):
        for package in audited(file):
            if "skip_reason" in package:
                unknown[package["name"]] = f"{file.name}: {package['skip_reason']}"
                continue
            name = f"{package['name']} {package['version']}"
            checked.add(name)
            for found in package["vulns"]:
                fixed = ", ".join(found["fix_versions"]) or "no version"
                vulnerable[f"{name} {found['id']}"] = f"{file.name}: {name} has {found['id']}, fixed in {fixed}"
    for lines in (unknown, vulnerable):
        print(*lines.values(), sep="\n", end="\n" if lines else "")
    print(f"packages checked: {len(checked)}, not checked: {len(unknown)}, known vulnerabilities: {len(vulnerable)}")
    if vulnerable:
        print("make audit: raise the versions with make lock ARGS=--upgrade", file=sys.stderr)
        return 1
    if not checked:
        print(
            "make audit: nothing was checked, because the service knows no pinned package. A mirror of PyPI can lack "
            "the data on vulnerabilities. Run it where pypi.org answers, or choose another service: "
            "make audit ARGS='--vulnerability-service osv'",
            file=sys.stderr,
        )
        return 69
    return 0


def audited(file: Path) -> list[dict[str, Any]]:
    """Return one object for each package of a file, as pip-audit reports it. Ends the program if it reports nothing."""
    command = [sys.executable, *PIP_AUDIT, "--requirement", str(file), *sys.argv[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        reason = next(reversed(done.stderr.splitlines()), "no output")
        print(f"make audit: the service could not be asked about {file.name}: {reason}", file=sys.stderr)
        sys.exit(69)
    return json.loads(done.stdout)["dependencies"]


if __name__ == "__main__":
    sys.exit(main())
