"""Draws the pictures of docs/, the first screens of eight reports: `python tests/pictures/draw.py [NAME...]` writes
docs/NAME.png and needs chromium."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from scenes import ROOT, SCENES, decision, run_pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SCREEN = "1000,760"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", choices=[*SCENES, []], help="of a scene; all of them where none is named")
    names = parser.parse_args().name or SCENES
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        print(f"No browser: install one of {', '.join(BROWSERS)}.")
        return 1
    for name in names:
        make, said = SCENES[name]
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder, "repository"), run_pytest)
            found = decision(Path(folder, "repository"))
            if found != said:
                print(f"{name}: the report begins with {found!r}, not with {said!r}; no picture was drawn.")
                return 1
            page, picture = Path(folder, "repository", "reports", "index.html"), ROOT / "docs" / f"{name}.png"
            command = [browser, *FLAGS, f"--user-data-dir={folder}/profile", f"--window-size={SCREEN}"]
            subprocess.run([*command, f"--screenshot={picture}", page.as_uri()], check=True, capture_output=True)
            print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size} bytes. {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
