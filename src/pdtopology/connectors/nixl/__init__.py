"""NIXL, vLLM's connector over NVIDIA's transfer library: its part of the document and its rules.

In vLLM's code the side that transfers is local and the other remote: decode is local in pull mode and prefill in push
mode, so what is asymmetric turns round with the mode.
"""

from pdtopology.connectors.nixl.connector import NixlConnector, NixlRole

__all__ = ["NixlConnector", "NixlRole"]
