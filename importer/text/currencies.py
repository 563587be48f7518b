"""The currencies of amounts: ISO 4217 codes, signs, the usual names and short forms; and those of number formats."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from importer.text.normalize import normalize

# The last line: replaced by the euro, but old exports have them.
_CODES = (
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF "
    "CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG "
    "HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA "
    "MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD "
    "RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX "
    "USD UYU UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG "
    "ATS BEF DEM EEK ESP FIM FRF GRD HRK IEP ITL LTL LVL NLG PTE SIT SKK"
)
_FORMS = {
    "AED": "dh dhs dirham dirhams درهم", "AUD": "a$ au$", "BAM": "km", "BDT": "tk taka", "BGN": "лв lv лева leva",
    "BRL": "r$ reais", "CAD": "c$ ca$", "CHF": "fr sfr franken", "CNY": "元 rmb yuan 人民币 cn¥", "COP": "col$",
    "CZK": "kč kc koruna korun", "DEM": "dm", "EGP": "e£ le", "EUR": "€ euro euros", "GBP": "£ pound pounds pfund",
    "GEL": "₾ lari", "HKD": "hk$", "HRK": "kn", "HUF": "ft forint", "IDR": "rp rupiah", "ILS": "₪ nis shekel",
    "INR": "₹ inr₹ rupees", "JPY": "¥ jp¥ 円 yen", "KES": "ksh", "KRW": "₩ 원 won", "KZT": "₸ тг тенге tenge",
    "MXN": "mx$ mex$", "MYR": "rm ringgit", "NGN": "₦ naira", "NZD": "nz$", "PHP": "₱", "PLN": "zł zl złotych zloty",
    "PYG": "₲ gs", "RON": "lei", "RSD": "din дин", "RUB": "₽ руб р рубль рубля рублей rub", "SAR": "﷼ sr ريال riyal",
    "SGD": "s$ sg$", "THB": "฿ baht บาท", "TRY": "₺ tl lira türk lirası", "TWD": "nt$", "UAH": "₴ грн гривень гривна",
    "USD": "$ us$ u$s dollar dollars", "UZS": "сум soum", "VND": "₫ đ đồng", "ZAR": "r rand",
}  # fmt: skip
_SHARED = "kr krone kroner kronor rs rupee £e dinar peso pesos franc francs mark"  # each used for several currencies

_ISO_4217 = frozenset(_CODES.split())
_CODE_OF = {normalize(form): code for code in _CODES.split() for form in (code, *_FORMS.get(code, "").split())}
_CODE_OF |= dict.fromkeys(_SHARED.split(), "")


def currency_code(text: str) -> str | None:
    """The ISO 4217 code of a code, sign, name or short form (`TL`, `руб.`); "" if several currencies use it.

    None if it is not a currency: `from`, and words that multiply the number, such as `k`, `TEUR` and `mio`.
    """
    code = _CODE_OF.get(normalize(text).removesuffix("."))
    return "" if code is None and len(text) == 1 and _is_sign(text) else code


# Signs and short forms that several currencies have.
_OF_SEVERAL: Final = {"$": re.compile(r".*(?:\$|D)|MXN"), "kr": re.compile("SEK|NOK|DKK|ISK"), "¥": re.compile("CNY")}
_UNITS: Final = frozenset(("km", "ft", "dm", "kn", "r", "gs", "rm"))  # in a number format these are no currencies
# Words after a code that leave the number as it is; `EUR k` is thousands, and of other words that is unknown.
_NOT_MULTIPLYING: Final = frozenset((
    "p.a.", "pa", "per", "pro", "par", "year", "month", "jahr", "monat", "an", "mois", "gross", "net", "brutto", "brut",
))  # fmt: skip
# The pieces of a number format: a currency, a text, a character to show, what shows nothing, another character.
_PIECE: Final = re.compile(r'\[\$([^\]-]*)[^\]]*\]|"([^"]*)"|\\(.)|(\[[^\]]*\]|_.|\*.|General|E[+-])|(.)', re.DOTALL)
_MARK, _END = "\x01", "\x02"  # before what the format itself calls a currency; between its sections


def is_same_currency(one: str, other: str) -> bool:
    """Whether two spellings may mean one currency: `€` and `EUR`, `$` and `CAD`."""
    one, other = one.removesuffix("."), other.removesuffix(".")
    if normalize(one) == normalize(other) or (currency_code(one) or one) == (currency_code(other) or other):
        return True
    pairs = ((one, other.upper()), (other, one.upper()))
    return any(each in _OF_SEVERAL and _OF_SEVERAL[each].fullmatch(code) is not None for each, code in pairs)


@lru_cache(maxsize=4096)
def currency_of_format(number_format: str) -> str:
    r"""The currency that a number format shows, without blanks; "" if it shows none. With words that may multiply the
    number, such as `k€` and `EUR k`, it is the whole text.

    >>> currency_of_format('#,##0.00 "€"'), currency_of_format("[$CHF-807] 0.00"), currency_of_format("General")
    ('€', 'CHF', '')
    >>> currency_of_format(r"0\T\L"), currency_of_format('[$€-407] 0 "k"')
    ('TL', '€k')
    """
    shown = "".join(map(_shown, _PIECE.finditer(number_format)))
    for section in shown.split(_END):
        words = [word for word in section.replace(_MARK, "").partition("/")[0].split() if any(map(_is_named, word))]
        text = "".join(words)
        if any(word in _ISO_4217 for word in words):
            is_plain = words[0] in _ISO_4217 and all(normalize(word) in _NOT_MULTIPLYING for word in words[1:])
            return words[0] if is_plain else text
        is_currency = text.lower() not in _UNITS and currency_code(text) is not None
        if text and (_MARK in section or is_currency or any(map(_is_sign, text))):
            return text
    return ""


def _shown(piece: re.Match[str]) -> str:
    """What a person sees of a piece of a format; blanks for the number and its sign."""
    marked, text, character, _, other = piece.groups(default="")
    if other and not (_is_sign(other) or other.isalpha()):
        return _END if other == ";" else " "
    return _MARK + marked if marked else re.sub("[()+-]", " ", text + character) + other


def _is_sign(character: str) -> bool:
    return unicodedata.category(character) == "Sc"


def _is_named(character: str) -> bool:
    return character.isalpha() or _is_sign(character)
