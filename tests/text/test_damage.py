"""Texts that a program damaged are recognized; what people write is not."""

from __future__ import annotations

import pytest

from importer.text.damage import code_in, undamaged

_NAMES = (
    *("Ayşe", "Yılmaz", "Gülşen", "Çelik", "Ömer", "Şahin", "İrem", "Doğan", "ALİ", "ÖZGÜR", "Jürgen", "Straße"),
    *("Zoë", "Núñez", "François", "Lefèvre", "JOSÉ", "Łukasz", "Wójcik", "Ďuro", "Žižka", "Đorđe", "Ångström"),
    *("Иван", "Петров", "Ελένη", "O’Brien", "Ana–Lena", "don’t… €"),
)


@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("codec", ["cp1252", "cp1254", "cp1250", "latin-1", "cp1251", "cp1253", "mac-roman", "cp850"])
def test_a_name_that_was_read_in_a_wrong_encoding(name: str, codec: str) -> None:
    """A name in UTF-8 that was read in another encoding, once or twice, is known again; the name itself is none."""
    assert undamaged(name) is None
    damaged = _read_as(codec, name)
    assert undamaged(damaged) == name
    assert undamaged(f"Ada {damaged}, {name}") == f"Ada {name}, {name}"
    if codec in ("cp1252", "cp1254", "latin-1"):
        assert undamaged(_read_as(codec, damaged)) not in (None, damaged)


@pytest.mark.parametrize(
    "name",
    [
        *("Nguyễn", "Thảo", "Trần Thị Hồng", "Võ", "Lễ", "Phạm Đức", "ويدان محمد", "خليل", "דוד כהן", "王 伟", "王伟"),
        *("佐藤 花子", "김 민수", "สมชาย", "अनीता", "さくら", "大", "黄", "高", "马", "박", "정", "신", "황"),
    ],
)
@pytest.mark.parametrize("codec", ["cp1252", "latin-1"])
def test_a_name_of_another_script_that_was_read_in_a_wrong_encoding(name: str, codec: str) -> None:
    """So is a name with letters that no language of Europe has."""
    assert undamaged(name) is None
    assert undamaged(_read_as(codec, name)) == name


def _read_as(codec: str, text: str) -> str:
    """A byte that the encoding does not define becomes the control character, as in web browsers."""
    return "".join(bytes([byte]).decode(codec, "ignore") or chr(byte) for byte in text.encode("utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        *("ORĂŞTIE", "RÎŞNOV", "Îşi", "Ăştia", "Âşık", "SÃO JOÃO", "“CAUÃ”", "«MANHû", "IRMÃ…", "“ESPAÑ”"),
        *("«CAFÉ»", "TRÄ…", "Đặng Thị", "“café…”", "«olá»…", "« ça y é»”", "Weiß’s", "5×’", "Ü–Ö—", "déšť", "академії"),
        *("«La mia casa è…»", "“Non c’è…”", "Marché»…"),
        *("Рівне", "Річка", "Сірко", "«Р»", "класс С», ", "Іљија", "Ђорђе", "Ευρώπη", "«Ο»", "Þjóðólfur", "Ðorð"),
        *("»ökologisch«", "Wien–Ärzte", "‚Ärzte‘", "œuvre", "Œuvre", "5 °C", "1º", "Mª José", "½", "√2", "3 ≈ 4", "£5"),
        *("Åahin", "Ñandú", "李", "नमस्ते", "שלום", "محمد", "Ada 🚀", "Č»", "a²", "©™®", "10 µm"),
    ],
)  # fmt: skip
def test_what_people_write_is_no_damage(text: str) -> None:
    """Letters and signs beside each other that a person may have written stay."""
    assert undamaged(text) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("O&#039;Brien", "&#039;"),
        ("M&uuml;ller", "&uuml;"),
        ("D&#x2f;O", "&#x2f;"),
        ("Kaya&nbsp;", "&nbsp;"),
        ("<b>Kaya</b>", "<b>"),
        ("Line<BR/>two", "<BR/>"),
        ("O\\'Brien", "\\'"),
        ("M\\u00fcller", "\\u00fc"),
        ("M=C3=BCller", "=C3=BC"),
        ("M%C3%BCller", "%C3%BC"),
        ("Kaya_x000D_", "_x000D_"),
        *((text, None) for text in ("R&D;", "AT&T", "Black &Decker;", "a < b > c", "<ada@example.com>", "C:\\users")),
        *((text, None) for text in ("50 %DA", "x = C3", "snake_x_case", "O'Brien", "<3", "Smith & Co;")),
    ],
)
def test_the_codes_of_programs(text: str, code: str | None) -> None:
    """Entities, tags and escapes are codes of programs; ampersands, comparisons, paths and addresses are not."""
    assert code_in(text) == code
