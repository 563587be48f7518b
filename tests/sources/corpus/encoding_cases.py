"""CSV files in encodings: by a mark, declared, or not declared although required."""

from __future__ import annotations

import codecs

from importer.models import SourceOptions
from tests.sources.corpus.case import Case, Expected

_OR_SAVE = '; or save it as UTF-8 in the program that made it (in Excel: Save As, "CSV UTF-8")'
_TEXT = "Ad,E-posta\nGül,gul@example.com\nİpek,ipek@example.org\n"
_COLUMNS = ("Ad", "E-posta")
_ROWS = {2: ("Gül", "gul@example.com"), 3: ("İpek", "ipek@example.org")}


def _read(id_: str, promise: str, content: bytes, label: str, declared: str | None = None) -> Case:
    reading = f'CSV, {label}, delimiter ",", header found in row 1, 2 columns'
    expected = Expected(_COLUMNS, _ROWS, reading=reading)
    return Case(id_, promise, "a.csv", lambda: content, expected, SourceOptions(encoding=declared))


def _names(id_: str, promise: str, names: str, written: str, declared: str, *warnings: str) -> Case:
    """A file of these names, one in a row, written in one encoding and declared as another one."""
    read = names.encode(written).decode(declared).split()
    reading = f'CSV, {declared}, delimiter ",", header found in row 1, 2 columns'
    rows = {number: (name, "a@example.com") for number, name in enumerate(read, 2)}
    content = "Name,E-mail\n" + "".join(f"{name},a@example.com\n" for name in names.split())
    expected = Expected(("Name", "E-mail"), rows, reading=reading, warnings=warnings)
    return Case(id_, promise, "a.csv", lambda: content.encode(written), expected, SourceOptions(encoding=declared))


def _refused(id_: str, promise: str, content: bytes, message: str, declared: str | None = None) -> Case:
    return Case(id_, promise, "a.csv", lambda: content, Expected(refused=(message,)), SourceOptions(encoding=declared))


ENCODING_CASES = (
    _read("enc-utf8", "reads UTF-8 without a mark", _TEXT.encode(), "UTF-8"),
    _read("enc-utf8-bom", "recognizes UTF-8 by its mark", _TEXT.encode("utf-8-sig"), "UTF-8 with BOM"),
    _read("enc-utf16-le", "recognizes UTF-16 by its mark", codecs.BOM_UTF16_LE + _TEXT.encode("utf-16-le"), "UTF-16"),
    _read(
        "enc-utf16-be",
        "recognizes UTF-16 in the other byte order",
        codecs.BOM_UTF16_BE + _TEXT.encode("utf-16-be"),
        "UTF-16",
    ),
    _read("enc-utf32", "recognizes UTF-32 by its mark", codecs.BOM_UTF32_LE + _TEXT.encode("utf-32-le"), "UTF-32"),
    _read("enc-cp1254", "reads a declared encoding", _TEXT.encode("cp1254"), "cp1254", "cp1254"),
    _read("enc-windows-1254", "recognizes windows-1254", _TEXT.encode("cp1254"), "windows-1254", "windows-1254"),
    _read("enc-iso-8859-9", "reads ISO 8859-9", _TEXT.encode("iso-8859-9"), "iso-8859-9", "iso-8859-9"),
    _read("enc-cp857", "reads the encoding of old Turkish programs", _TEXT.encode("cp857"), "cp857", "cp857"),
    _read(
        "enc-utf16-unmarked",
        "reads declared UTF-16 without a mark",
        _TEXT.encode("utf-16-le"),
        "utf-16-le",
        "utf-16-le",
    ),
    _read(
        "enc-mark-beats-declared",
        "lets the mark of a file beat what the mapping declares",
        _TEXT.encode("utf-8-sig"),
        "UTF-8 with BOM",
        "cp1254",
    ),
    _read("enc-utf8-declared", "reads declared UTF-8", _TEXT.encode(), "UTF-8", "UTF-8"),
    _names(
        "enc-declared-doubtful",
        "warns of a declared encoding that reads letters of no language, and shows its words beside the likely ones",
        "YAÑEZ IBÁÑEZ NÚÑEZ GARCÍA PÉREZ LÓPEZ",
        "cp1252",
        "cp1250",
        "a.csv: the mapping says cp1250, but cp1252 reads more likely words: 'YAŃEZ' ('YAÑEZ'), 'IBÁŃEZ' ('IBÁÑEZ'), "
        "'NÚŃEZ' ('NÚÑEZ'); if the words in parentheses are right, set `encoding: cp1252` under source: in the mapping",
    ),
    *(
        _names(
            f"enc-declared-doubtful-{right}",
            f"warns of {right} that is declared as {declared}",
            words,
            right,
            declared,
            f"a.csv: the mapping says {declared}, but {right} reads more likely words: {shown}; if the words in "
            f"parentheses are right, set `encoding: {right}` under source: in the mapping",
        )
        for right, declared, words, shown in (
            ("cp1254", "cp1252", "Ayşe Şahin Doğan", "'Ayþe' ('Ayşe'), 'Þahin' ('Şahin'), 'Doðan' ('Doğan')"),
            ("cp1251", "cp1252", "Иван Петров Анна", "'Èâàí' ('Иван'), 'Ïåòðîâ' ('Петров'), 'Àííà' ('Анна')"),
        )
    ),
    *(
        _names(f"enc-declared-{name.lower()}", f"does not warn of {name} in its encoding", words, encoding, encoding)
        for name, encoding, words in (
            ("Polish", "cp1250", "Kamiński Wałęsa Żółty Małgorzata Wójcik"),
            ("Czech", "cp1250", "Dvořák Čapek Jiří Šťastný Růžena"),
            ("Hungarian", "cp1250", "Erdős Szűcs Kovács Tóth Dezső"),
            ("Spanish", "cp1252", "YAÑEZ IBÁÑEZ García Güell"),
            ("Icelandic", "cp1252", "Sigurður Þór Guðmundur Ýmir"),
            ("Turkish", "cp1254", "Yıldız Şahin Öğüt Çağlar"),
            ("Russian", "cp1251", "Анна Ольга Сергей Ева"),
            ("Greek", "cp1253", "Μαρία Ελένη Γιώργος"),
            ("Latvian", "cp1257", "Jānis Bērziņš Kārlis Šķēle"),
        )
    ),
    _refused(
        "enc-undeclared-cp1254",
        "proposes Turkish first for Turkish text",
        _TEXT.encode("cp1254"),
        "a.csv:2:1: the file is not UTF-8: the byte 0xFC cannot be read; set its encoding under source: in the "
        "mapping: `encoding: cp1254` (reads 'İpek', 'Gül') or `encoding: cp1252` (reads 'Ýpek', 'Gül') "
        "or `encoding: cp1257` (reads 'Żpek', 'Gül')" + _OR_SAVE,
    ),
    _refused(
        "enc-undeclared-cp1252",
        "proposes both encodings that read the same, the one without Turkish letters first",
        "Name,Ort\nJörg,Köln\n".encode("cp1252"),
        "a.csv:2:1: the file is not UTF-8: the byte 0xF6 cannot be read; set its encoding under source: in the "
        "mapping: `encoding: cp1252` or `encoding: cp1254` (they read the same: 'Jörg', 'Köln')" + _OR_SAVE,
    ),
    _refused(
        "enc-undeclared-spanish",
        "proposes first what has the letters of one language, and shows the words that differ",
        "Teléfono,Móvil,¿Permiso?\nÍÑIGO YAÑEZ,Sí,ZÚÑIGA\nIBÁÑEZ,Sí,GÜELL\n".encode("cp1252"),
        "a.csv:1:1: the file is not UTF-8: the byte 0xE9 cannot be read; set its encoding under source: in the "
        "mapping: `encoding: cp1252` or `encoding: cp1254` (they read the same: '¿Permiso?', 'ÍÑIGO YAÑEZ', 'ZÚÑIGA') "
        "or `encoding: cp1250` (reads 'żPermiso?', 'ÍŃIGO YAŃEZ', 'ZÚŃIGA') or `encoding: cp1257` (reads "
        "'æPermiso?', 'ĶŃIGO YAŃEZ', 'ZŚŃIGA')" + _OR_SAVE,
    ),
    _refused(
        "enc-undeclared-czech",
        "proposes Central European first for Czech text",
        "Jméno,Město\nJiří Dvořák,Plzeň\nRůžena Černá,Olomouc\n".encode("cp1250"),
        "a.csv:1:1: the file is not UTF-8: the byte 0xE9 cannot be read; set its encoding under source: in the "
        "mapping: `encoding: cp1250` (reads 'Město', 'Jiří Dvořák', 'Plzeň') or `encoding: cp1252` (reads 'Mìsto', "
        "'Jiøí Dvoøák', 'Plzeò') or `encoding: cp1257` (reads 'Mģsto', 'Jiųķ Dvoųįk', 'Plzeņ')" + _OR_SAVE,
    ),
    _refused(
        "enc-undeclared-cp1251",
        "proposes Cyrillic for Cyrillic text",
        "Имя,Город\nАнна,Москва\nОльга,Казань\n".encode("cp1251"),
        "a.csv:1:1: the file is not UTF-8: the byte 0xC8 cannot be read; set its encoding under source: in the "
        "mapping: `encoding: cp1251` (reads 'Имя', 'Город', 'Анна') or `encoding: iso-8859-5` (reads 'Шьџ', "
        "'Ую№юф', 'Рээр') or `encoding: mac-cyrillic` (reads '»м€', '√ород', 'јнна')" + _OR_SAVE,
    ),
    _refused(
        "enc-undeclared-koi8-r",
        "proposes the older encodings of Cyrillic text too",
        "Имя,Город\nАнна,Москва\nОльга,Казань\n".encode("koi8-r"),
        "a.csv:1:1: the file is not UTF-8: the byte 0xE9 cannot be read; set its encoding under source: in the "
        "mapping: `encoding: koi8-r` (reads 'Имя', 'Город', 'Анна') or `encoding: cp1256` (reads 'éحر', 'çدزدؤ', "
        "'لخخء') or `encoding: cp1251` (reads 'йНС', 'зПТПД', 'бООБ')" + _OR_SAVE,
    ),
    _refused(
        "enc-undeclared-iso-8859-5",
        "proposes the older encodings of Cyrillic text too",
        "Имя,Город\nАнна,Москва\nОльга,Казань\n".encode("iso-8859-5"),
        "a.csv:1:1: the file is not UTF-8: the byte 0xB8 cannot be read; set its encoding under source: in the "
        "mapping: `encoding: iso-8859-5` (reads 'Имя', 'Город', 'Анна') or `encoding: cp1256` (reads '¸ـï', "
        "'³قàقش', '°ففذ') or `encoding: mac-cyrillic` (reads 'Є№п', '≥ёаё‘', '∞ЁЁ–')" + _OR_SAVE,
    ),
    _refused(
        "enc-undeclared-cp1257",
        "proposes Baltic first for Lithuanian text",
        "Vardas,Miestas\nŽemaitė,Šiauliai\nĄžuolas,Panevėžys\n".encode("cp1257"),
        "a.csv:2:1: the file is not UTF-8: the byte 0xDE cannot be read; set its encoding under source: in the "
        "mapping: `encoding: cp1257` (reads 'Žemaitė', 'Šiauliai', 'Ąžuolas') or `encoding: cp1254` (reads 'Şemaitë', "
        "'Ğiauliai', 'Àşuolas') or `encoding: cp1250` (reads 'Ţemaitë', 'Điauliai', 'Ŕţuolas')" + _OR_SAVE,
    ),
    _refused(
        "enc-undeclared-cp1256",
        "proposes Arabic first for Arabic text",
        "الاسم,المدينة\nفاطمة الزهراء,القاهرة\nمحمد العلي,الإسكندرية\n".encode("cp1256"),
        "a.csv:1:1: the file is not UTF-8: the byte 0xC7 cannot be read; set its encoding under source: in the "
        "mapping: `encoding: cp1256` (reads 'الاسم', 'المدينة', 'فاطمة الزهراء') or `encoding: mac-cyrillic` (reads "
        "'«б«”г', '«бгѕнд…', 'Ё«Ўг… «б“е—«Ѕ') or `encoding: mac-roman` (reads '«·«”„', '«·„œÌ‰…', '›«ÿ„… «·“Â—«¡')"
        + _OR_SAVE,
    ),
    _refused(
        "enc-undeclared-cp1255",
        "proposes Hebrew first for Hebrew text",
        "שם,עיר\nיוסי כהן,תל אביב\nרות לוי,חיפה\n".encode("cp1255"),
        "a.csv:1:1: the file is not UTF-8: the byte 0xF9 cannot be read; set its encoding under source: in the "
        "mapping: `encoding: cp1255` (reads 'שם', 'עיר', 'יוסי כהן') or `encoding: koi8-r` (reads 'ЫМ', 'РИЬ', "
        "'ИЕЯИ КДО') or `encoding: cp1251` (reads 'щн', 'тйш', 'йесй лдп')" + _OR_SAVE,
    ),
    _refused(
        "enc-undeclared-utf16",
        "proposes UTF-16 for UTF-16 without a mark",
        _TEXT.encode("utf-16-le"),
        "a.csv:2:1: the file is not UTF-8: the byte 0xFC cannot be read; set its encoding under source: in the "
        "mapping: `encoding: utf-16-le` (reads 'Gül', 'İpek')" + _OR_SAVE,
    ),
    _refused(
        "enc-undeclared-utf16-ascii",
        "proposes UTF-16 where its bytes could pass for UTF-8",
        "Ad,E-posta\nAda,ada@example.com\nİpek Işık,ipek@example.org\n".encode("utf-16-le"),
        "a.csv: the file looks like UTF-16 without a byte-order mark; set its encoding under source: in the mapping: "
        "`encoding: utf-16-le` (reads 'Ad', 'E-posta', 'Ada')",
    ),
    _refused(
        "enc-undeclared-utf16-be",
        "proposes the other order of UTF-16 too",
        "Ad,E-posta\nAda,ada@example.com\n".encode("utf-16-be"),
        "a.csv: the file looks like UTF-16 without a byte-order mark; set its encoding under source: in the mapping: "
        "`encoding: utf-16-be` (reads 'Ad', 'E-posta', 'Ada')",
    ),
    _refused(
        "enc-late-byte",
        "finds the one wrong byte in the last line of a long file",
        (_TEXT * 2000).encode() + b"Ren\xe9,rene@example.com\n",
        "a.csv:6001:1: a character is damaged (byte 0xE9); the rest of the file is UTF-8; fix the character in that "
        "line, or export the file again",
    ),
    _refused(
        "enc-cut",
        "reports UTF-8 that ends inside a character",
        (_TEXT * 3).encode() + b"G\xc3",
        "a.csv:10:1: a character is damaged (byte 0xC3); the rest of the file is UTF-8; fix the character in that "
        "line, or export the file again",
    ),
    _refused(
        "enc-undeclared-polish-iso",
        "proposes ISO 8859-2 for Polish text of a system that is no Windows program",
        "Miasto,Nazwisko\nŁódź,Wiśniewski\nŚwidnica,Dąbek\n".encode("iso-8859-2"),
        "a.csv:2:1: the file is not UTF-8: the byte 0xA3 cannot be read; set its encoding under source: in the "
        "mapping: `encoding: iso-8859-2` (reads 'Łódź', 'Wiśniewski', 'Świdnica')" + _OR_SAVE,
    ),
    _refused(
        "enc-ascii-inside-letter",
        "reports UTF-8 with ASCII inside a character, which a quick check would accept",
        b"Ad,E-posta\nG\xc3X\xbcl,gul@example.com\n",
        "a.csv:2:1: the file is not UTF-8: the byte 0xC3 cannot be read; set its encoding under source: in the "
        "mapping: `encoding: cp1250` (reads 'GĂXĽl') or `encoding: iso-8859-2` (reads 'GĂXźl')" + _OR_SAVE,
    ),
    _refused(
        "enc-unknown",
        "rejects an unknown encoding",
        _TEXT.encode(),
        "encoding: in the mapping: 'cp12544' is not a known encoding; did you mean 'cp1254'?",
        "cp12544",
    ),
    _refused(
        "enc-no-text",
        "rejects a codec that is not a text encoding",
        _TEXT.encode(),
        "encoding: in the mapping: 'rot13' is not a known encoding; most Turkish files are cp1254, most Western "
        "European files cp1252",
        "rot13",
    ),
    _refused(
        "enc-declared-wrongly",
        "rejects a UTF-8 file that is declared as cp1254, which would silently garble every name",
        _TEXT.encode(),
        "a.csv: the mapping says cp1254, but the file is UTF-8; remove `encoding:` from the mapping; then 'GÃ¼l' "
        "becomes 'Gül', 'Ä°pek' becomes 'İpek'",
        "cp1254",
    ),
    _refused(
        "enc-declared-wrongly-unfit",
        "rejects a UTF-8 file that is declared as cp1254, which cannot read all of it",
        "Ad,E-posta\nŞule,sule@example.com\nAyşe,ayse@example.com\n".encode(),
        "a.csv: the mapping says cp1254, but the file is UTF-8; remove `encoding:` from the mapping; then 'Åule' "
        "becomes 'Şule', 'AyÅŸe' becomes 'Ayşe'",
        "cp1254",
    ),
    _refused(
        "enc-declared-unfit",
        "reports a byte that is not in the declared encoding",
        b"Ad,E-posta\nG\x81l,gul@example.com\n",
        "a.csv:2:1: the file is not cp1252: the byte 0x81 cannot be read; set its encoding under source: in the "
        "mapping: `encoding: cp857` or `encoding: cp850` (they read the same: 'Gül') or `encoding: "
        "mac-turkish` (reads 'GÅl')" + _OR_SAVE,
        "cp1252",
    ),
)
