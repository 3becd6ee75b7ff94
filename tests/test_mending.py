"""`check --fix`: the nearest fix put into a file."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from pdtopology import check
from pdtopology.cli import main
from pdtopology.mending import UnmendedError, mend
from pdtopology.rule import Severity

YAML = """\
# keep me
{model}model: {{num_attention_heads: 64, total_num_kv_heads: 8}}  # and me
prefill:
  tensor_parallel_size: {prefill}{space}# of prefill

  port: 8100
decode:   # the role that generates
  port: 8200
  tensor_parallel_size: {decode}{space}# of decode
# the end
"""
TOML = """\
# keep me
[model]
num_attention_heads = 64 # and me
total_num_kv_heads = 8

[prefill]
tensor_parallel_size = {prefill}{space}# of prefill
port = 8100

[decode]   # the role that generates
port = 8200
tensor_parallel_size={decode}{space}# of decode
# the end
"""
JSON = """\
{{
  "model": {{"num_attention_heads": 64, "total_num_kv_heads": 8}},
  "prefill": {{ "tensor_parallel_size": {prefill}, "port": 8100 }},

  "decode": {{
    "port": 8200,{space}"tensor_parallel_size": {decode} }}
}}
"""
FORMS = {".yaml": YAML, ".toml": TOML, ".json": JSON}


def files() -> list[tuple[str, str, int, int]]:
    """Two hundred files in three formats, some of them valid."""
    random = Random(7)
    found = []
    for _ in range(200):
        suffix = random.choice(list(FORMS))
        prefill, decode = random.choice((1, 2, 4, 6, 8, 16)), random.choice((1, 2, 3, 4, 8, 12))
        space = random.choice((" ", "   "))
        text = FORMS[suffix].format(prefill=prefill, decode=decode, space=space, model="")
        found.append((suffix, text.replace("\n", random.choice(("\n", "\r\n"))), prefill, decode))
    return found


@pytest.mark.parametrize(("suffix", "text", "prefill", "decode"), files())
def test_a_file_is_mended_and_only_its_sizes_change(
    tmp_path: Path, suffix: str, text: str, prefill: int, decode: int
) -> None:
    path = tmp_path / f"pd{suffix}"
    path.write_bytes(text.encode())
    fixes = mend(path, pick=1)
    changed = {section: value for fix in fixes for (section, _), value in fix.changes.items()}
    new_prefill, new_decode = changed.get("prefill", prefill), changed.get("decode", decode)
    sizes = FORMS[suffix].replace("\n", "\r\n" if "\r" in text else "\n")
    space = "   " if any(f"{size}   #" in text for size in (prefill, decode)) or ",   " in text else " "
    assert set(changed) <= {"prefill", "decode"}
    assert path.read_bytes().decode() == sizes.format(prefill=new_prefill, decode=new_decode, space=space, model="")
    assert [finding for finding in check(path) if finding.severity is Severity.ERROR] == []


def test_a_file_that_needs_nothing_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "pd.yaml"
    path.write_text(YAML.format(prefill=8, decode=8, space=" ", model=""))
    path.chmod(0o444)
    before = path.stat()
    assert main(["check", str(path), "--fix"]) == 0
    after = path.stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_of_fixes_that_are_equally_near_one_is_chosen_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "pd.yaml"
    path.write_text(YAML.format(prefill=4, decode=8, space=" ", model=""))
    with pytest.raises(UnmendedError, match=r"several .* --pick: 1: decode\.tensor_parallel_size: 4, 2: prefill"):
        mend(path)
    with pytest.raises(UnmendedError, match="there is no fix 9: 1: decode"):
        mend(path, pick=9)
    [fix] = mend(path, pick=2)
    assert fix.changes == {("prefill", "tensor_parallel_size"): 8}


def test_every_document_of_a_stream_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "pd.yaml"
    text = YAML.format(prefill=4, decode=6, space=" ", model="")
    path.write_text(f"{text}---\n{text}")
    assert len(mend(path)) == 2
    assert check(path) == []


def test_what_has_no_fix_is_left(tmp_path: Path) -> None:
    path = tmp_path / "pd.yaml"
    path.write_text("model: {}\nprefill: {}\ndecode: {}\n")
    assert mend(path) == []


def test_a_file_with_wrong_values_is_left(tmp_path: Path) -> None:
    path = tmp_path / "pd.yaml"
    path.write_text("model: {is_mla: maybe}\n")
    assert mend(path) == []


def test_a_value_that_cannot_be_changed_alone_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pd.yaml"
    path.write_text(
        "model: {num_attention_heads: 64, total_num_kv_heads: 8}\n"
        "decode: {tensor_parallel_size: &six 6}\nprefill: {tensor_parallel_size: 4, replicas: *six}\n"
    )
    assert main(["check", str(path), "--fix"]) == 1
    assert "not changed: decode.tensor_parallel_size (line 2)" in capsys.readouterr().err
    assert "&six 6" in path.read_text()


def test_the_command_says_what_it_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pd.json"
    path.write_text(JSON.format(prefill=4, decode=6, space=" "))
    assert main(["check", str(path), "--fix"]) == 0
    output = capsys.readouterr()
    assert (output.out, output.err) == (f"{path}: valid\n", f"{path}: set decode.tensor_parallel_size: 4\n")
    assert json.loads(path.read_text())["decode"]["tensor_parallel_size"] == 4


def test_a_file_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "pd.yaml"
    path.write_text(YAML.format(prefill=4, decode=6, space=" ", model=""))
    monkeypatch.setattr("pdtopology.mending.write_whole", refuse)
    assert main(["check", str(path), "--fix"]) == 1
    assert f"{path}: not changed: No space left on device" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["-", "--fix"],
        ["pd.yaml", "--fix", "--set", "decode.port=1"],
        ["pd.yaml", "--pick", "1"],
    ],
)
def test_what_has_no_file_to_change_is_a_wrong_use(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["check", *arguments])
    assert caught.value.code == 2
    assert "error: --" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["0", "-1", "two"])
def test_the_number_of_a_fix_counts_from_one(number: str) -> None:
    with pytest.raises(SystemExit):
        main(["check", "pd.yaml", "--fix", "--pick", number])
