"""One module a KV connector: its model and its rules."""
