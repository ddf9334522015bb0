"""Encoders: turn raw values into rows of numbers."""
