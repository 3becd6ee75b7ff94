"""The commands that tell or write something: explain, init, show and schema."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pdtopology.check import load_topology
from pdtopology.cli.status import UNUSABLE, VALID, source_of, status_of


def explain(options: argparse.Namespace) -> int:
    """Tell about a rule, or list all."""
    from pdtopology import explain as rules_in_words
    from pdtopology.catalogue import FAMILIES, RULE_BY_CODE

    if options.code is None:
        print(rules_in_words.list_rules(FAMILIES))
        return VALID
    rule = RULE_BY_CODE.get(options.code)
    if rule is None:
        from difflib import get_close_matches

        near = get_close_matches(options.code, RULE_BY_CODE, 1)
        meant = f"did you mean {near[0]}?" if near else "`pdtopology explain` lists all"
        print(f"pdtopology: no rule {options.code}; {meant}", file=sys.stderr)
        return UNUSABLE
    print(rules_in_words.explain(rule))
    return VALID


def init(options: argparse.Namespace) -> int:
    """Write a starter file and its schema."""
    from pdtopology.starter import EXAMPLE_MODEL, model_from_config, starter_for

    try:
        model = model_from_config(options.hf_config) if options.hf_config else EXAMPLE_MODEL
        started = starter_for(Path(options.path), model)
        started.write(force=options.force)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None)
        told = f"{options.path} cannot be written: {reason}" if reason else error
        print(f"pdtopology: {told}", file=sys.stderr)
        return UNUSABLE
    print(f"wrote {started.path} and {started.schema_path}")
    return VALID


def show(options: argparse.Namespace) -> int:
    """Print a valid topology with every default filled in, or its fingerprint."""
    from pdtopology.diagnostic import TopologyError

    try:
        topology = load_topology(source_of(options.file))
    except TopologyError as error:
        from pdtopology.rendering.text import render_text

        print(render_text(error.diagnostics), file=sys.stderr)
        return status_of(error.diagnostics)
    if options.fingerprint:
        print(topology.fingerprint())
        return VALID
    from pdtopology.hf_config import complete
    from pdtopology.show import as_json, as_yaml

    config = complete(topology) if options.model and topology.model.hf_config is not None else None
    try:
        text = as_json(topology, config) if options.format == "json" else as_yaml(topology, config)
    except ValueError as error:
        print(f"pdtopology: no {options.format} holds this topology: {error}", file=sys.stderr)
        return UNUSABLE
    print(text, end="")
    return VALID


def schema(options: argparse.Namespace) -> int:
    """Print the JSON Schema."""
    from pdtopology.schema import dump, json_schema

    print(dump(json_schema(options.dialect)), end="")
    return VALID
