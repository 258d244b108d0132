"""SAPO Desktop: a node that learns to reason, alone or with a swarm. The version has its one source here."""

from __future__ import annotations

__version__ = "0.1.0"
