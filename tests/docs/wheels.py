"""Whether every package comes as a wheel, so that nothing is compiled: `python -m tests.docs.wheels` (asks an index).

Packages that only another system needs (colorama on Windows) are not seen: pip reads such conditions for this system.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib

from tests.samples.sample import ROOT

SYSTEMS = {
    "Linux (x86-64)": ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64"),
    "macOS (Apple silicon)": ("macosx_14_0_arm64",),
    "Windows (x86-64)": ("win_amd64",),
}
PYTHONS = ("3.11", "3.12", "3.13")
EXTRAS = ("fast", "postgres", "web", "notify")


def requirements() -> list[str]:
    """What the package and its extras need."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *(each for extra in EXTRAS for each in extras[extra])]


def missing(python: str, platforms: tuple[str, ...]) -> str:
    """What pip says if a wheel is missing; "" if all are there."""
    chosen = [word for platform in platforms for word in ("--platform", platform)]
    with tempfile.TemporaryDirectory() as folder:
        words = ("install", "--dry-run", "--quiet", "--ignore-installed", "--only-binary", ":all:", "--target", folder)
        pinned = ("--constraint", str(ROOT / "constraints.txt"), "--python-version", python)
        command = [sys.executable, "-m", "pip", *words, *pinned, *chosen, *requirements()]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in ran.stderr.splitlines() if line.startswith("ERROR")]
    return "" if ran.returncode == 0 else (errors or ["pip failed"])[0]


def main() -> int:
    found = {(system, python): missing(python, SYSTEMS[system]) for system in SYSTEMS for python in PYTHONS}
    for (system, python), error in found.items():
        sys.stdout.write(f"{system:<22} Python {python}  {error or 'all wheels are there'}\n")
    return int(any(found.values()))


if __name__ == "__main__":
    sys.exit(main())
