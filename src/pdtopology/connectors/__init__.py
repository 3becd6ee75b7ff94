"""The KV connectors: each its model and its rules, nothing else's."""
