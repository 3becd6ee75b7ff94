"""`check --fix`: the nearest fix of each refused document of a file, put into it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from pdtopology.deployment import Deployment
from pdtopology.edits import EditError, edited
from pdtopology.files import write_whole
from pdtopology.fixes import Fix, nearest_fixes
from pdtopology.formats.place import Fault
from pdtopology.load import Case, SourceFault, read_cases


class UnmendedError(Exception):
    """A file that was left as it is; the message says why, and what to do."""


def mend(path: Path, pick: int | None = None) -> list[Fix]:
    """Mend what the rules refuse in a file, and return the fixes that were made; none where nothing is refused.

    A document has its nearest fix put in, or that of number `pick`, from 1 in the order of the hint. The file is
    written once, whole or not at all. Raises `UnmendedError` where a document has no fix or several that are equally
    near, or where the text cannot be changed without guessing; `OSError` where the file cannot be written.
    """
    try:
        cases = read_cases(path, {})
        text = path.read_bytes().decode()
        made = []
        for case in cases:
            if fixes := _fixes(case):
                assert case.document
                fix = _chosen(fixes, pick)
                text = edited(text, case.document.text.format, case.document.number, fix.changes)
                made.append(fix)
    except (SourceFault, Fault):
        return []  # which is told of as any other fault of a file is
    except EditError as error:
        raise UnmendedError(str(error)) from None
    if made:
        write_whole(path, text)
    return made


def _fixes(case: Case) -> list[Fix]:
    try:
        return nearest_fixes(Deployment.of(case.data))
    except ValidationError:
        return []


def _chosen(fixes: Sequence[Fix], pick: int | None) -> Fix:
    if pick is not None:
        if pick <= len(fixes):
            return fixes[pick - 1]
        raise UnmendedError(f"there is no fix {pick}: {_listed(fixes)}")
    if len(fixes) > 1 and fixes[0].cost == fixes[1].cost:
        raise UnmendedError(f"several fixes are equally near, choose one with --pick: {_listed(fixes)}")
    return fixes[0]


def _listed(fixes: Sequence[Fix]) -> str:
    return ", ".join(f"{number}: {fix}" for number, fix in enumerate(fixes, 1))
