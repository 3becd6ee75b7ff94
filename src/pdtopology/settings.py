"""The topology from environment variables, over a file, over defaults."""

from __future__ import annotations

import os
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict
from pydantic_settings.sources import ENV_FILE_SENTINEL, DotenvType

from pdtopology.check import findings_of
from pdtopology.diagnostic import Diagnostic, TopologyError
from pdtopology.env_file import read_env_file
from pdtopology.environment import read_environment, variables_of
from pdtopology.findings import source_finding
from pdtopology.load import Case, SourceFault, read_case
from pdtopology.overrides import overrides_at
from pdtopology.paths import Path, is_private, value_at
from pdtopology.rule import Severity
from pdtopology.topology import PDTopology


class PDTopologySettings(BaseSettings, PDTopology):
    """A `PDTopology` whose values come from keyword arguments, environment variables, `.env` files and a file.

    Each goes key by key over those after it. `PDTOPOLOGY_DECODE__TENSOR_PARALLEL_SIZE=8` sets
    `decode.tensor_parallel_size`; `PDTOPOLOGY_DECODE='{"port": 8200}'` sets several keys of a section. A `.env` file is
    read where `_env_file` or `model_config` names it; the file is `file`, or what `PDTOPOLOGY_FILE` names. Empty
    variables count as unset, and text is converted where the key is a number or a truth value. The merged result passes
    every rule.

    Raises pydantic's `ValidationError` as `PDTopology` does, with the messages of `check`, each with what the values
    came from, and a line for each variable that sets nothing. Raises `TopologyError` for a file that cannot be read.
    """

    model_config = SettingsConfigDict(hide_input_in_errors=True)

    def __init__(
        self,
        file: str | os.PathLike[str] | None = None,
        *,
        _env_file: DotenvType | None = ENV_FILE_SENTINEL,
        **values: Any,
    ) -> None:
        env_files = self.model_config.get("env_file") if _env_file == ENV_FILE_SENTINEL else _env_file
        if isinstance(env_files, str | os.PathLike):
            env_files = [env_files]
        try:
            sources = [*map(read_env_file, env_files or ()), variables_of(os.environ)]
            environment = read_environment(*sources, model=type(self))
            overrides = environment.overrides | overrides_at(values, "argument")
            case = read_case(file or environment.file or {}, overrides)
        except SourceFault as fault:
            raise TopologyError([source_finding(fault)]) from None
        case = case._replace(data={} if case.data is None else case.data)
        if not isinstance(case.data, dict):
            raise TopologyError(findings_of(case))
        refused = [_line_error(finding, case) for finding in environment.findings]
        try:
            # Past the sources of pydantic-settings, which know neither the file nor where a value came from.
            super(BaseSettings, self).__init__(**case.anchored)
        except ValidationError as error:
            told = self._line_errors(case, error)
            if not told:  # a subclass has sections of its own
                raise
            refused += told
        if refused:
            raise ValidationError.from_exception_data(type(self).__name__, refused, hide_input=True)

    def replace(self, **changes: Any) -> PDTopology:
        """As `PDTopology.replace`; the copy is a plain topology, which does not read the environment again."""
        return PDTopology.model_validate(self).replace(**changes)

    @classmethod
    def _line_errors(cls, case: Case, error: ValidationError) -> list[InitErrorDetails]:
        """An error with the messages of findings; about the fields that a subclass adds, with pydantic's own."""
        added = cls.model_fields.keys() - PDTopology.model_fields.keys()
        case = case._replace(data={key: value for key, value in case.data.items() if key not in added})
        findings = [finding for finding in findings_of(case) if finding.severity is Severity.ERROR]
        return [
            *(_line_error(finding, case) for finding in findings),
            *(
                InitErrorDetails(type=_custom(line["type"], line["msg"]), loc=line["loc"], input=None)
                for line in error.errors(include_url=False)
                if not line["loc"] or line["loc"][0] in added
            ),
        ]


def _line_error(finding: Diagnostic, case: Case) -> InitErrorDetails:
    custom = _custom(finding.code, finding.message_with_sources)
    return InitErrorDetails(type=custom, loc=finding.loc, input=_shareable(case.data, finding.loc))


def _custom(code: str, message: str) -> PydanticCustomError:
    return PydanticCustomError(code, "{message}", {"message": message})


def _shareable(data: Any, path: Path) -> Any:
    """The value at a path, or None where it is or holds what may be a secret, or is not there."""
    value = value_at(data, path)
    return None if is_private(path) or isinstance(value, dict | list) else value
