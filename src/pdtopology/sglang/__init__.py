"""What SGLang demands of the two roles, whose connector it calls the transfer backend; read from SGLang 0.5.23.

A role's TP size is SGLang's attention TP size: `--tp-size` divided by the attention data-parallel size.
"""

from pdtopology.sglang import caches, features, parallelism

RULES = (*caches.RULES, *parallelism.RULES, *features.RULES)

__all__ = ["RULES"]
