"""The command: exit statuses, streams and formats."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from pdtopology import RULES, json_schema, load_topology
from pdtopology.batch import WorkerError
from pdtopology.catalogue import FAMILIES
from pdtopology.cli import main

GOOD = "model: {total_num_kv_heads: 8}\nprefill: {tensor_parallel_size: 4}\ndecode: {tensor_parallel_size: 4}\n"
WARNED = GOOD.replace("size: 4}\n", "size: 8}\n", 1) + "connector: {mode: write}\n"
BAD = GOOD + "connector: {mode: push}\n"


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in a folder with a good, a bad and a warned-of file."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("good.yaml", GOOD), ("bad.yaml", BAD), ("warned.yaml", WARNED)):
        Path(name).write_text(text)


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["good.yaml"], 0),
        (["warned.yaml"], 0),
        (["warned.yaml", "--strict"], 1),
        (["good.yaml", "--strict"], 0),
        (["bad.yaml"], 1),
        (["good.yaml", "bad.yaml"], 1),
        (["missing.yaml"], 2),
        (["bad.yaml", "missing.yaml"], 2),
        (["."], 2),
        (["good.yaml", "--set", "decode.tensor_parallel_size=8"], 1),
        (["bad.yaml", "--set", "connector.mode=read"], 0),
        (["good.yaml", "--set", "decode.tensor_parallel_size=8", "--set", "prefill.tensor_parallel_size=8"], 0),
        (["good.yaml", "--set", "decode.tensor_parallel_size=null"], 1),
    ],
)
def test_check_exits_with_what_it_found(arguments: list[str], status: int) -> None:
    assert main(["check", *arguments]) == status


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["check"],
        ["check", "good.yaml", "--format", "xml"],
        ["check", "good.yaml", "--set", "decode"],
        ["check", "good.yaml", "--set", "=4"],
        ["check", "good.yaml", "--set", "decode..x=4"],
        ["check", "good.yaml", "--set", "decode.port=[1"],
        ["check", "good.yaml", "--set", "decode.port=--- 4\n--- 5"],
        ["unknown"],
        ["schema", "--dialect", "draft-04"],
        ["check", "good.yaml", "--expect-fingerprint", "0123456789a"],
        ["check", "good.yaml", "--jobs", "0"],
        ["check", "good.yaml", "--jobs", "-1"],
        ["check", "good.yaml", "--jobs", "two"],
    ],
)
def test_wrong_usage_exits_with_2_and_says_so_on_standard_error(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    output, error = capsys.readouterr()
    assert (caught.value.code, output, error.startswith("usage: pdtopology")) == (2, "", True)


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The object that `check --format json` prints."""
    main(["check", "--format", "json", *arguments])
    output, error = capsys.readouterr()
    assert error == ""
    return json.loads(output)


def test_json_is_one_object_of_the_pinned_shape(capsys: pytest.CaptureFixture[str]) -> None:
    Path("pd.yaml").write_text(GOOD.replace("size: 4}\n", "size: 8}\n", 1).replace("heads: 8", "heads: 16"))
    assert report(capsys, "pd.yaml", "good.yaml") == {
        "files": ["pd.yaml", "good.yaml"],
        "summary": {"errors": 1, "warnings": 0, "undetermined": 0},
        "diagnostics": [
            {
                "code": "moriio-read-kv-heads-replicated",
                "severity": "error",
                "path": "decode.tensor_parallel_size",
                "message": "prefill TP 8 and decode TP 4 must be equal, or both at least the 16 KV heads",
                "hint": "decode.tensor_parallel_size: 8, or prefill.tensor_parallel_size: 4, or connector.mode: write",
                "file": "pd.yaml",
                "line": 3,
                "column": 32,
                "end_line": 3,
                "end_column": 33,
                "related": [
                    {
                        "path": "prefill.tensor_parallel_size",
                        "value": 8,
                        "file": "pd.yaml",
                        "line": 2,
                        "column": 33,
                    },
                    {"path": "model.total_num_kv_heads", "value": 16, "file": "pd.yaml", "line": 1, "column": 29},
                ],
            }
        ],
    }


def test_json_tells_a_value_put_over_the_file_without_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    [finding] = report(capsys, "good.yaml", "--set", "decode.port=0")["diagnostics"]
    assert (finding["file"], finding["line"]) == ("good.yaml", None)
    assert finding["message"] == "decode.port is 0, but must be greater than 0 (--set decode.port=0)"


@pytest.mark.parametrize(
    "change", ["engine.version=0.30", "decode.env.OMP_NUM_THREADS=8", "model.name=1", "connector.mode=read"]
)
def test_a_field_that_is_text_takes_what_is_typed(change: str) -> None:
    assert main(["check", "good.yaml", "--set", change]) == 0


@pytest.mark.parametrize("name", ["{}", "<environment>"])
def test_a_file_name_is_never_taken_for_anything_else(name: str) -> None:
    assert main(["check", name]) == 2


def test_json_with_surrogate_pairs_is_read_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"model": {"is_mla": True, "name": "\U0001f680"}, "prefill": {}, "decode": {}})
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["check", "-"]) == 0


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["good.yaml"], 0), (["bad.yaml"], 1), (["missing.yaml"], 2), (["warned.yaml", "--strict"], 1)],
)
@pytest.mark.parametrize("form", ["json", "sarif", "github", "junit"])
def test_every_format_exits_as_text_does(form: str, arguments: list[str], status: int) -> None:
    assert main(["check", "--format", form, *arguments]) == status


def output_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command prints."""
    main(arguments)
    output, error = capsys.readouterr()
    assert error == ""
    return output


def test_sarif_is_printed_with_a_result_for_each_finding(capsys: pytest.CaptureFixture[str]) -> None:
    log = json.loads(output_of(capsys, "check", "--format", "sarif", "good.yaml", "bad.yaml", "warned.yaml"))
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["literal_error", "moriio-write-unequal-tp"]


def test_github_is_printed_with_a_line_for_each_finding(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output_of(capsys, "check", "--format", "github", "good.yaml", "bad.yaml", "warned.yaml").splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::error", "::warning"]


def test_github_prints_nothing_about_a_good_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert output_of(capsys, "check", "--format", "github", "good.yaml") == ""


def test_junit_is_printed_with_a_test_for_each_file(capsys: pytest.CaptureFixture[str]) -> None:
    cases = ET.fromstring(output_of(capsys, "check", "--format", "junit", "./bad.yaml", "good.yaml"))[0]  # noqa: S314
    assert [(case.get("name"), [part.tag for part in case]) for case in cases] == [
        ("./bad.yaml", ["failure"]),
        ("good.yaml", []),
    ]


def test_a_file_named_twice_is_checked_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert output_of(capsys, "check", "bad.yaml", "bad.yaml").endswith("\nbad.yaml: 1 error\n")


@pytest.fixture
def tree() -> list[str]:
    """A folder with topologies of every kind in it."""
    files = ["tree/a/bad.pdtopology.yaml", "tree/a/pd.yaml", "tree/b/warned.pdtopology.yaml", "tree/pd.yaml"]
    texts = [BAD, GOOD, WARNED, BAD + "---\n" + GOOD]
    for file, text in zip(files, texts, strict=True):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(text)
    Path("tree/values.yaml").write_text(BAD)
    return files


def test_the_topologies_of_a_folder_are_checked(tree: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = report(capsys, "tree")
    assert found["files"] == tree
    assert [finding["file"] for finding in found["diagnostics"]] == [tree[0], tree[2], tree[3]]


def test_a_folder_without_topologies_is_told_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    assert main(["check", "good.yaml", "empty"]) == 2
    output, error = capsys.readouterr()
    assert (output, error.startswith("pdtopology: no topology file in empty: ")) == ("", True)


def test_a_folder_that_cannot_be_read_is_a_finding(
    tree: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scandir = os.scandir

    def refusing(path: Path) -> Any:
        if path == Path("tree/a"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert main(["check", "tree", "--format", "json"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == [*tree[2:], "tree/a"]
    assert (found["diagnostics"][-1]["code"], found["diagnostics"][-1]["file"]) == ("unreadable-file", "tree/a")


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "junit"])
def test_several_processes_print_what_one_prints(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["check", "missing.yaml", "tree", "bad.yaml", "--format", form, "--set", "decode.port=0"]
    expected = main(arguments), capsys.readouterr()
    assert (main([*arguments, "--jobs", "3"]), capsys.readouterr()) == expected


@pytest.mark.usefixtures("tree")
def test_processes_that_are_not_forked_print_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "tree"])
    code = (
        "import multiprocessing, sys; multiprocessing.set_start_method('spawn');"
        "from pdtopology.cli import main; sys.exit(main())"
    )
    command = [sys.executable, "-c", code, "check", "tree", "--jobs", "2"]
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout, process.stderr) == (1, *capsys.readouterr())


def test_processes_that_end_early_are_one_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: Any) -> None:
        raise WorkerError("--jobs 2: a process was ended")

    monkeypatch.setattr("pdtopology.cli.files.check_all", fail)
    assert main(["check", "good.yaml", "bad.yaml", "--jobs", "2"]) == 2
    assert capsys.readouterr() == ("", "pdtopology: --jobs 2: a process was ended\n")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_long_run_shows_its_progress_on_a_terminal_only(
    jobs: str, tree: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pdtopology.progress.DELAY_SECONDS", 0)
    monkeypatch.setattr("pdtopology.progress.INTERVAL_SECONDS", 0)
    main(["check", "tree", "--jobs", jobs])
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    main(["check", "tree", "--jobs", jobs])
    lines = capsys.readouterr().err.split("\r")
    assert lines[-3].rstrip() == f"{len(tree)} of {len(tree)} files checked"
    assert "topology files found" in lines[1]
    assert (lines[-2].strip(), lines[-1]) == ("", "")


def test_text_ends_with_what_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "good.yaml", "bad.yaml", "warned.yaml"])
    output = capsys.readouterr().out
    assert output.endswith("3 files: 1 error, 1 warning\n")


def test_a_good_file_is_said_to_be_valid(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "good.yaml"])
    assert capsys.readouterr() == ("good.yaml: valid\n", "")


def test_standard_input_is_checked(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    assert main(["check", "-"]) == 1
    assert "<stdin>:4:19" in capsys.readouterr().out


def test_output_to_a_pipe_has_no_color(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "bad.yaml"])
    assert "\033" not in capsys.readouterr().out


@pytest.mark.parametrize(("variable", "colored"), [("", True), ("1", False)])
def test_a_terminal_has_color_unless_no_color_is_set(
    variable: str, *, colored: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_COLOR", variable)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    main(["check", "bad.yaml"])
    assert ("\033[31m" in capsys.readouterr().out) is colored


def test_show_prints_the_fingerprint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "good.yaml", "--fingerprint"]) == 0
    assert capsys.readouterr() == (f"{load_topology(Path('good.yaml')).fingerprint()}\n", "")


def test_show_reads_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert main(["show", "-", "--fingerprint"]) == 0
    assert capsys.readouterr().out == f"{load_topology(GOOD).fingerprint()}\n"


@pytest.mark.parametrize(
    ("file", "status", "told"),
    [("bad.yaml", 1, "error[literal_error]"), ("missing.yaml", 2, "cannot be read"), ("{}", 2, "cannot be read")],
)
def test_show_of_what_is_no_topology_tells_why_on_standard_error(
    file: str, status: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", file, "--fingerprint"]) == status
    output, error = capsys.readouterr()
    assert (output, told in error) == ("", True)


def test_check_compares_the_fingerprint_that_show_prints(capsys: pytest.CaptureFixture[str]) -> None:
    fingerprint = output_of(capsys, "show", "good.yaml", "--fingerprint").strip()
    assert main(["check", "good.yaml", "--expect-fingerprint", fingerprint]) == 0
    assert main(["check", "good.yaml", "--expect-fingerprint", fingerprint[:12]]) == 0
    assert main(["check", "good.yaml", "--expect-fingerprint", fingerprint[1:]]) == 1


def test_explain_lists_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  ")] == [rule.code for rule in RULES]
    assert [line for line in lines if line and not line.startswith("  ")] == list(FAMILIES)


@pytest.mark.parametrize("rule", RULES, ids=[rule.code for rule in RULES])
def test_explain_tells_the_whole_story(rule: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", rule.code]) == 0
    output = capsys.readouterr().out
    parts = [rule.code, rule.title, rule.why, rule.fix, str(rule.source), rule.raised.value]
    assert [part for part in parts if part not in output] == []


def test_explain_of_an_unknown_code_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "tp-not-divisable"]) == 2
    assert capsys.readouterr().err == "pdtopology: no rule tp-not-divisable; did you mean tp-not-divisible?\n"


def test_explain_of_a_code_like_no_other_tells_how_to_list_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "zzz"]) == 2
    assert capsys.readouterr().err == "pdtopology: no rule zzz; `pdtopology explain` lists all\n"


@pytest.mark.parametrize("dialect", ["2020-12", "draft-07"])
def test_schema_prints_the_schema(dialect: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "--dialect", dialect]) == 0
    assert json.loads(capsys.readouterr().out) == json_schema(dialect)


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    command = [sys.executable, "-m", "pdtopology", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert run("--version").stdout == f"pdtopology {version('pdtopology')}\n"


def test_a_key_that_no_terminal_shows_is_escaped() -> None:
    Path("odd.json").write_text('{"\\ud83d\\ude00": 1, "model": {"is_mla": true}, "prefill": {}, "decode": {}}')
    process = run("check", "odd.json", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (process.returncode, process.stderr) == (1, "")
    assert "unknown key \\U0001f600" in process.stdout


def test_a_reader_that_has_read_enough_is_no_traceback() -> None:
    Path("many.yaml").write_text(BAD + ("---\n" + BAD) * 2000)
    command = f"'{sys.executable}' -m pdtopology check many.yaml | head -n 1"
    process = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (process.stdout.startswith("error[literal_error]"), process.stderr) == (True, "")


@pytest.mark.parametrize("arguments", ["check good.yaml", "--version"])
@pytest.mark.parametrize(("redirection", "status"), [(">&-", 0), ("> /dev/full", 2)])
def test_an_output_that_cannot_be_written_is_no_traceback(redirection: str, status: int, arguments: str) -> None:
    command = f"'{sys.executable}' -m pdtopology {arguments} {redirection}"
    process = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (process.returncode, "Traceback" in process.stderr) == (status, False)


def test_checking_a_good_file_imports_nothing_that_only_mistakes_need() -> None:
    code = (
        "import sys; from pdtopology.cli import main; main(['check', 'good.yaml']);"
        "late = ('pydantic_settings', 'difflib', 'pdtopology.findings', 'tomllib', 'multiprocessing');"
        "print([m for m in sys.modules if m in (*late, 'concurrent.futures')])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert process.stdout == "good.yaml: valid\n[]\n"


# The environment


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Set variables of the topology by the rest of their names."""

    def set_variables(**variables: str) -> None:
        for name, value in variables.items():
            monkeypatch.setenv(f"PDTOPOLOGY_{name}", value)

    return set_variables


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["good.yaml"], 0),
        (["--env", "good.yaml"], 1),
        (["--env", "good.yaml", "--set", "decode.tensor_parallel_size=4"], 0),
        (["--env-file", "fits.env", "good.yaml"], 0),
        (["--env-file", "fits.env", "--env", "good.yaml"], 1),
        (["--env-file", "wrong.env", "good.yaml"], 1),
        (["--env-file", "missing.env", "good.yaml"], 2),
    ],
)
def test_the_environment_goes_over_the_file_where_it_is_asked_for(
    arguments: list[str], status: int, environment: Any
) -> None:
    environment(DECODE__TENSOR_PARALLEL_SIZE="6")
    Path("fits.env").write_text("PDTOPOLOGY_DECODE__TENSOR_PARALLEL_SIZE=4\n")
    Path("wrong.env").write_text("PDTOPOLOGY_DECODE_TENSOR_PARALLEL_SIZE=4\n")
    assert main(["check", *arguments]) == status


def test_a_value_of_the_environment_is_told_by_its_variable(
    capsys: pytest.CaptureFixture[str], environment: Any
) -> None:
    environment(DECODE__PORT="0")
    assert output_of(capsys, "check", "--env", "good.yaml") == (
        "error[greater_than]: decode.port is 0, but must be greater than 0\n"
        "  good.yaml PDTOPOLOGY_DECODE__PORT=0\n\n"
        "good.yaml: 1 error\n"
    )


def test_an_unknown_variable_is_told_once_for_all_files(capsys: pytest.CaptureFixture[str], environment: Any) -> None:
    environment(DECODE_PORT="1")
    assert output_of(capsys, "check", "--env", "good.yaml", "warned.yaml").count("unknown variable") == 1


@pytest.mark.parametrize("form", ["json", "sarif", "github", "junit"])
def test_an_unknown_variable_is_told_in_every_format(
    form: str, capsys: pytest.CaptureFixture[str], environment: Any
) -> None:
    environment(DECODE_PORT="1")
    assert "did you mean PDTOPOLOGY_DECODE__PORT?" in output_of(capsys, "check", "--env", "--format", form, "good.yaml")


def test_json_tells_both_sources_in_the_message(capsys: pytest.CaptureFixture[str], environment: Any) -> None:
    environment(DECODE__TENSOR_PARALLEL_SIZE="6", MODEL='{"is_mla": true}')
    [finding] = report(capsys, "--env", "good.yaml", "--set", "prefill.tensor_parallel_size=4")["diagnostics"]
    assert finding["message"] == (
        "prefill TP 4 and decode TP 6: one must be a multiple of the other "
        "(PDTOPOLOGY_DECODE__TENSOR_PARALLEL_SIZE=6, --set prefill.tensor_parallel_size=4)"
    )


def test_an_env_file_that_cannot_be_read_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert output_of(capsys, "check", "--env-file", "missing.env", "good.yaml") == (
        "error[unreadable-file]: cannot be read: No such file or directory\n  missing.env\n\nmissing.env: 1 error\n"
    )


def test_the_environment_names_the_file_where_none_is_given(
    capsys: pytest.CaptureFixture[str], environment: Any
) -> None:
    environment(FILE="good.yaml")
    assert output_of(capsys, "check", "--env") == "good.yaml: valid\n"


def test_the_environment_alone_is_checked_where_no_file_is_named(
    capsys: pytest.CaptureFixture[str], environment: Any
) -> None:
    environment(MODEL__IS_MLA="1", PREFILL="{}", DECODE__TENSOR_PARALLEL_SIZE="2")
    assert output_of(capsys, "check", "--env") == "<environment>: valid\n"


def test_checking_with_the_environment_does_not_wait_for_pydantic_settings() -> None:
    code = (
        "import sys; from pdtopology.cli import main; main(['check', '--env', 'good.yaml']);"
        "print([m for m in sys.modules if m in ('pydantic_settings', 'dotenv', 'difflib', 'pdtopology.findings')])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert process.stdout == "good.yaml: valid\n[]\n"


WRONG_SECRETS = {
    "DECODE_ENV_HF_TOKEN": "s3cret",
    "PREFILL__ENV": '{"HF_TOKEN": "s3cret", "PIN": 1234567}',
    "PREFILL__ENGINE_ARGS": '{"api-key": "s3cret", "tp": "s3cret"}',
    "DECODE__PORT": "0",
}
SECRETS_BESIDE = {
    "PREFILL__ENGINE_ARGS": '{"api-key": "s3cret", "disable-hybrid-kv-cache-manager": true}',
    "MODEL__HAS_SLIDING_WINDOW_LAYERS": "1",
    "CONNECTOR__KIND": "nixl",
}


@pytest.mark.parametrize("variables", [WRONG_SECRETS, SECRETS_BESIDE])
@pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "junit"])
def test_no_format_tells_what_may_be_a_secret(
    form: str, variables: dict[str, str], capsys: pytest.CaptureFixture[str], environment: Any
) -> None:
    environment(**variables)
    told = output_of(capsys, "check", "--env", "--format", form, "good.yaml")
    assert "engine_args" in told
    assert not [secret for secret in ("s3cret", "1234567") if secret in told]
