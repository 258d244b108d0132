"""Exports of models for use in other programs."""
