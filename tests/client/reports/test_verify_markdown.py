"""`verify FILE.md`: any text, with no server and no store."""

from pathlib import Path

from tests.client.harness import Ran
from tests.client.shelf import command

BAD = "Water is wet [1].\n\n## References\n\n1. Doe. One\n2. Roe. Two\n"


def verify(tmp_path: Path, text: bytes, *flags: str) -> Ran:
    path = tmp_path / "theirs.md"
    path.write_bytes(text)
    return command("verify", str(path), *flags)


def test_what_is_wrong_is_printed_and_the_exit_code_says_so(home: Path, tmp_path: Path) -> None:
    ran = verify(tmp_path, BAD.encode())
    assert ran.code == 1
    assert [line.split()[0] for line in ran.out.splitlines()] == ["FAILS", "citations"]
    assert "do NOT match: 1 citation, 2 references; a text file has no evidence, so no quote" in ran.out
    data = verify(tmp_path, BAD.encode(), "--json").json()
    assert (data["holds"], data["citations"], data["references"]) == (False, 1, 2)
    assert [p["code"] for p in data["problems"]] == ["reference_never_cited"]
    assert verify(tmp_path, BAD.replace("[1]", "[1, 2]").encode()).code == 0


def test_a_text_with_nothing_to_check_is_not_called_sound(home: Path, tmp_path: Path) -> None:
    assert verify(tmp_path, b"# Nothing\n").code == 2
    assert verify(tmp_path, b"\xff\xfe\x00").code == 2
    assert command("verify", str(tmp_path / "missing.md")).code == 2
