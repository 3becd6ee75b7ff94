"""`.env` files: which of their variables are taken, and from which line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pdtopology.env_file import read_env_file
from pdtopology.environment import Variable
from pdtopology.load import SourceFault


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(content: str) -> list[Variable]:
    """The variables of a file."""
    Path(".env").write_text(content, newline="")
    return read_env_file(".env")


def test_a_variable_knows_its_line() -> None:
    assert read("# ports\n\nPDTOPOLOGY_DECODE__PORT=8200\n") == [Variable("PDTOPOLOGY_DECODE__PORT", "8200", ".env:3")]


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("PDTOPOLOGY_A=1", 1),
        ("\n\n\nPDTOPOLOGY_A=1", 4),
        ("X=1\r\n\r\nPDTOPOLOGY_A=1\r\n", 3),
        ("X='a\nb'\nexport PDTOPOLOGY_A=1", 3),
        ("  # a comment\n  PDTOPOLOGY_A=1", 2),
        ("PDTOPOLOGY_A=0\nPDTOPOLOGY_A=1", 2),
        ("\ufeffPDTOPOLOGY_A=1", 1),
    ],
)
def test_a_line_is_counted_as_editors_do(content: str, line: int) -> None:
    assert read(content) == [Variable("PDTOPOLOGY_A", "1", f".env:{line}")]


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ('PDTOPOLOGY_A="a b" # why', "a b"),
        ("PDTOPOLOGY_A='{\"port\": 1}'", '{"port": 1}'),
        ("BASE=82\nPDTOPOLOGY_A=${BASE}00", "8200"),
        ("PDTOPOLOGY_A=${NOT_SET_ANYWHERE:-7}", "7"),
    ],
)
def test_a_value_is_read_as_python_dotenv_does(statement: str, text: str) -> None:
    assert [variable.text for variable in read(statement)] == [text]


@pytest.mark.parametrize("statement", ["PDTOPOLOGY_A=", "PDTOPOLOGY_A", 'PDTOPOLOGY_A=""', "PDTOPOLOGY_A=${NOT_SET}"])
def test_an_empty_variable_is_unset(statement: str) -> None:
    assert read(statement) == []


@pytest.mark.parametrize("statement", ["HF_TOKEN=x", "UCX_TLS=cuda_ipc,tcp", "what is this", "X='unfinished", "=x"])
def test_what_does_not_concern_a_topology_is_left_alone(statement: str) -> None:
    assert read(f"{statement}\nPDTOPOLOGY_A=1\n") == [Variable("PDTOPOLOGY_A", "1", ".env:2")]


@pytest.mark.parametrize("statement", ["PDTOPOLOGY_A='s3cret", "PDTOPOLOGY_A B=s3cret", "export PDTOPOLOGY_A: s3cret"])
def test_a_line_that_sets_nothing_is_told_without_what_it_holds(statement: str) -> None:
    with pytest.raises(SourceFault, match=r"^\.env: line 3 is not NAME=value$") as caught:
        read(f"X=1\n\n{statement}\n")
    assert caught.value.fault.code == "syntax-error"


@pytest.mark.parametrize("name", ["missing.env", "."])
def test_a_file_that_cannot_be_read_is_refused(name: str) -> None:
    with pytest.raises(SourceFault) as caught:
        read_env_file(name)
    assert (caught.value.name, caught.value.fault.code) == (name, "unreadable-file")
