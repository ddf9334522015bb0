"""What a page of the documentation holds: its code blocks, and the commands in its text, in order."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = {"README.md": (ROOT / "README.md").read_text(encoding="utf-8")} | {
    path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in sorted(DOCS.rglob("*.md"))
}
_ITEM = re.compile(r"^```(?P<kind>\w*)\n(?P<block>.*?)^```$|`(?P<command>coalface\s[^`]*)`", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Item:
    """A code block of a kind such as python, or a command in the text, whose kind is "inline"."""

    page: str
    line: int  # of its first line of text, from 1
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}, line {self.line}"

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


def items(page: str) -> list[Item]:
    """The blocks and inline commands of a page, in order."""
    text, found = PAGES[page], []
    for match in _ITEM.finditer(text):
        block = match["block"] is not None
        line = text.count("\n", 0, match.start()) + 1 + block
        content = match["block"] if block else " ".join(match["command"].split())
        found.append(Item(page, line, match["kind"] if block else "inline", content))
    return found


def without_comment(line: str) -> str:
    """A line of a shell session without its prompt and comment."""
    return re.sub(r"\s+# .*", "", line.removeprefix("$ ")).strip()


def command_of(line: str) -> str | None:
    """The words after ``coalface`` in a line of a shell session; None for another line."""
    found = re.match("coalface (.*)", without_comment(line))
    return found and found[1]


def words_of(command: str) -> tuple[list[str], str | None]:
    """The words of a command, and the file after ``>`` if there is one."""
    words = shlex.split(command)
    return (words[: words.index(">")], words[words.index(">") + 1]) if ">" in words else (words, None)
