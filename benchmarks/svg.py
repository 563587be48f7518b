"""A drawing as SVG text: rectangles, lines and text on white, readable on any page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Literal

Anchor = Literal["start", "middle", "end"]


class Drawing:
    """Shapes are drawn in the order in which they are added. Lengths are in pixels from the upper left."""

    def __init__(self, width: float, height: float) -> None:
        self._head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
            f' height="{height:g}" font-family="sans-serif" font-size="12">'
        )
        self._parts: list[str] = []
        self.rectangle(0, 0, width, height, "#ffffff")

    def rectangle(self, x: float, y: float, width: float, height: float, color: str) -> None:
        self._parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}"/>')

    def line(self, points: Sequence[tuple[float, float]], color: str, width: float = 1, dashes: str = "") -> None:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self._parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="{width:g}"{dashed}/>')

    def dot(self, x: float, y: float, color: str) -> None:
        self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}"/>')

    def words(
        self, x: float, y: float, text: str, *, anchor: Anchor = "start", color: str = "#24292f", bold: bool = False
    ) -> None:
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}"{weight}>{escape(text)}</text>'
        )

    def __str__(self) -> str:
        return "\n".join((self._head, *self._parts, "</svg>")) + "\n"
