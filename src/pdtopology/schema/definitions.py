"""Which definitions a schema keeps: what is used once stands in its place, which is shorter."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from pdtopology.constraints.schemas import JsonSchema

_CONTAINERS = (dict, list)


def with_shared_definitions(schema: JsonSchema) -> JsonSchema:
    """The schema with those of its `$defs` that it refers to more than once; the others stand where they are used."""
    uses = Counter(re.findall(r'"#/\$defs/([^"]+)"', json.dumps(schema)))
    definitions = schema["$defs"]
    used_once = {f"#/$defs/{name}": definitions[name] for name, count in uses.items() if count == 1}

    def inlined(value: Any) -> Any:
        if isinstance(value, dict):
            definition = used_once.get(value["$ref"]) if "$ref" in value else None
            if definition is not None:
                return inlined(definition)
            return {key: inlined(item) if isinstance(item, _CONTAINERS) else item for key, item in value.items()}
        return [inlined(item) if isinstance(item, _CONTAINERS) else item for item in value]

    kept = {name: definition for name, definition in definitions.items() if uses[name] > 1}
    return {**schema, "allOf": inlined(schema["allOf"]), "$defs": inlined(kept)}
