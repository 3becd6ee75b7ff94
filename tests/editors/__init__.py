"""The real engines that editors and pipelines run, driven on a document and the exported JSON Schema."""
