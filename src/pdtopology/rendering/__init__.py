"""Findings as text for people, and as JSON, SARIF, JUnit XML and GitHub's workflow commands for programs.

Each format is imported where it is asked for.
"""
