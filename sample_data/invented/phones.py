"""Phone numbers that are not assigned, in the many ways in which people write them.

The ranges are reserved by regulators for films and examples (London 020 7946 0xxx, Berlin 030 23125 xxx,
France 01 99 00 xx xx, North America 555-01xx). Turkey reserves none, so its numbers have a block of zeros.
"""

from __future__ import annotations

from invented.cells import Cell
from invented.chance import Chance


def phone(home: str, chance: Chance) -> Cell:
    """One phone number of a country, in one of the forms found in exports; some as a number cell."""
    if home == "TR":
        return _turkish(chance)
    if home in ("DE", "PL"):
        tail = chance.between(100, 999)
        return chance.pick((f"+49 30 23125{tail}", f"0049 30 23125 {tail}", f"+49 (0)30 23125-{tail}"))
    if home == "GB":
        tail = chance.between(100, 999)
        return chance.pick((f"+44 20 7946 0{tail}", f"00442079460{tail}", f"+44 (0)20 7946 0{tail}"))
    if home == "GR":
        return f"+33 1 99 00 {chance.between(10, 99)} {chance.between(10, 99)}"
    return f"+1 (202) 555-01{chance.between(10, 99)}"


def _turkish(chance: Chance) -> Cell:
    operator = chance.pick(("532", "542", "555", "505"))
    first, second = chance.between(10, 99), chance.between(10, 99)
    return chance.pick(
        (
            f"0{operator} 000 {first} {second}",
            f"+90 {operator} 000 {first} {second}",
            f"+90 ({operator}) 000 {first} {second}",
            f"0090{operator}000{first}{second}",
            f"0{operator}-000-{first}-{second}",
            f"{operator}.000.{first}{second}",
            f"0 ({operator}) 000 {first}{second}\u00a0",
            int(f"{operator}000{first}{second}"),
            int(f"90{operator}000{first}{second}"),
        )
    )
