"""`PDTopology`: the document whose parts fit each other, and the one validator that runs the rules."""

from collections.abc import Mapping
from typing import Any

from pydantic import GetJsonSchemaHandler, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError
from typing_extensions import Self

from pdtopology.deployment import Deployment
from pdtopology.validation import restated
from pdtopology.violations import FIND_REFUSALS, Violation, errors, warnings


class PDTopology(Deployment):
    """A prefill/decode-disaggregated deployment whose two roles fit each other and the model.

    Validation raises pydantic's `ValidationError` with every violated rule at once, each at its own key and with
    the rule's code as `type`. It reads the config.json that `model.hf_config` names, if any, and fills in what the
    model leaves out. Instances are frozen, except inside the mappings `env`, `engine_args` and
    `extra_config`; `replace` changes a value and validates again.
    """

    def replace(self, **changes: Any) -> "PDTopology":
        """A copy with some values changed, validated like any other topology.

        A mapping changes the keys it names inside a section and leaves the others; anything else, and a connector of
        another kind, replaces the section: `topology.replace(decode={"tensor_parallel_size": 8})`. Use it instead of
        pydantic's `model_copy(update=...)`, which does not validate. Raises `ValidationError`.
        """
        document = self.model_dump(exclude_unset=True)
        for name, change in changes.items():
            known = document.get(name)
            if isinstance(change, Mapping) and isinstance(known, dict) and not self._is_other_connector(name, change):
                document[name] = {**known, **change}
            else:
                document[name] = change
        return type(self).model_validate(document)

    def _is_other_connector(self, name: str, change: Mapping[str, Any]) -> bool:
        return name == "connector" and change.get("kind", self.connector.kind) != self.connector.kind

    def warnings(self) -> list[Violation]:
        """What works with a known cost, or would fail on an older release where none is stated."""
        return warnings(self)

    def fingerprint(self) -> str:
        """64 hexadecimal digits, the same for two documents that say the same of the pair in whatever form.

        Hosts and replicas do not count; `pdtopology.fingerprint` states exactly what does. Two roles that compare it
        before they start cannot run from different files.
        """
        from pdtopology.fingerprint import fingerprint_of

        return fingerprint_of(self)

    @model_validator(mode="wrap")
    @classmethod
    def _satisfies_every_rule(cls, document: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        # A mapping, the usual document, is told from a model by the cheaper test.
        if type(document) is not dict and isinstance(document, Deployment):
            # Validated again, whatever it was made by; pydantic itself would hand `schema_uri` back by that name.
            stated = document.model_fields_set - {"schema_uri"}
            document = {name: getattr(document, name) for name in stated}
        try:
            topology = handler(document)
        except ValidationError as error:
            topology = restated(handler, document, error)
        fields = topology.__dict__
        if FIND_REFUSALS[fields["engine"].name][fields["connector"].kind](topology) is not None:
            _judge(topology)
        return topology

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        from pdtopology.schema.clauses import rule_clauses

        schema = handler(core_schema)
        handler.resolve_ref_schema(schema)["allOf"] = rule_clauses()
        return schema


def _judge(topology: PDTopology) -> None:
    """Complete the model from its own configuration, where that is named, and raise for what is refused then."""
    if topology.model.hf_config is not None:
        from pdtopology.hf_config import complete

        complete(topology)
    if line_errors := [_line_error(violation) for violation in errors(topology)]:
        raise ValidationError.from_exception_data(type(topology).__name__, line_errors)


def _line_error(violation: Violation) -> InitErrorDetails:
    error = PydanticCustomError(violation.clause.rule.code, violation.clause.message, violation.values)
    return InitErrorDetails(type=error, loc=violation.at.parts, input=violation.value)
