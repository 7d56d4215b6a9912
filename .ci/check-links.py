#!/usr/bin/env python3
"""Every file that the documentation names must exist.

Checked in all Markdown files under version control: relative links and pictures, the headings that links point to, and
paths in code quotes such as `taffeta/src/step.rs`, which may also be the end of a path (`step.rs`) or a folder (`scenes/`).
In Rust sources: mentions of docs/*.md.
"""

import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.M | re.S)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.M)
SOURCE = r"(?:rs|md|py|mjs|toml|lock|png|wgsl|glsl|css)"
FILE = re.compile(rf"^\.?[\w-][\w./-]*\.{SOURCE}$")
FOLDER = re.compile(r"^\.?[\w-][\w.-]*(?:/[\w.-]+)*/$")
DOC = re.compile(r"\bdocs/[\w-]+\.md\b")


def slug(heading):
    """The anchor that a heading gets on the usual hosts."""
    plain = re.sub(r"`|\*\*?|\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def anchors(path):
    found = {}
    for heading in HEADING.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
        name = slug(heading)
        count = found.get(name, -1) + 1
        found[name] = count
        if count:
            found[f"{name}-{count}"] = 0
    return set(found)


def main():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], check=True, capture_output=True, text=True
    )
    files = [name for name in listed.stdout.splitlines() if Path(name).is_file()]
    folders = {f"{parent}/" for name in files for parent in Path(name).parents if str(parent) != "."}
    faults, checked = [], 0

    def exists(name, beside):
        if name in files or name in folders or (beside / name).exists():
            return True
        return any(known.endswith("/" + name) for known in [*files, *folders])

    for name in (f for f in files if f.endswith(".md")):
        path = Path(name)
        text = path.read_text(encoding="utf-8")
        # Fenced code keeps its lines, so that line numbers stay right.
        prose = FENCE.sub(lambda m: "\n" * m.group().count("\n"), text)

        def fault(at, problem):
            faults.append(f"{name}:{prose.count(chr(10), 0, at) + 1}: {problem}")

        for match in LINK.finditer(prose):
            target, _, anchor = match.group(1).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            checked += 1
            other = path.parent / target if target else path
            if not other.exists():
                fault(match.start(), f"there is no {target}")
            elif anchor and other.suffix == ".md" and anchor not in anchors(other):
                fault(match.start(), f"{other} has no heading for #{anchor}")
        for match in CODE.finditer(prose):
            quoted = match.group(1)
            if FILE.match(quoted) or FOLDER.match(quoted):
                checked += 1
                if not exists(quoted, path.parent):
                    fault(match.start(), f"there is no {quoted}")

    for name in (f for f in files if f.endswith(".rs")):
        text = Path(name).read_text(encoding="utf-8")
        for match in DOC.finditer(text):
            checked += 1
            if match.group() not in files:
                faults.append(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: there is no {match.group()}")

    print("\n".join(faults) or f"{checked} paths and links exist")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
