"""The currencies of amounts: ISO 4217 codes, signs, the usual names and short forms."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
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
    "PEN": "s/", "PYG": "₲ gs",
    "RON": "lei", "RSD": "din дин", "RUB": "₽ руб р рубль рубля рублей rub", "SAR": "﷼ sr ريال riyal",
    "SGD": "s$ sg$", "THB": "฿ baht บาท", "TRY": "₺ tl lira türk_lirası türk lirası", "TWD": "nt$",
    "UAH": "₴ грн гривень гривна",
    "USD": "$ us$ u$s dollar dollars", "UZS": "сум soum", "VND": "₫ đ đồng", "ZAR": "r rand",
}  # fmt: skip
# Signs, names and short forms of several currencies; alone, `$` and `¥` have one meaning.
_DOLLARS, _PESOS = "USD AUD CAD NZD HKD SGD TWD MXN ARS CLP COP", "MXN ARS CLP COP PHP UYU DOP CUP"
_OF_SEVERAL: Final = {
    form: frozenset(codes.split())
    for forms, codes in (
        ("$", _DOLLARS), ("¥", "JPY CNY"), ("kr", "SEK NOK DKK ISK"), ("krone kroner", "NOK DKK"), ("kronor", "SEK"),
        ("rs rupee", "INR PKR LKR NPR MUR SCR"), ("£e", "EGP"), ("dinar", "RSD KWD TND DZD JOD IQD BHD LYD MKD"),
        ("peso pesos", _PESOS), ("franc francs", "CHF XAF XOF XPF FRF BEF RWF"), ("mark", "DEM FIM BAM"),
    )
    for form in forms.split()
}  # fmt: skip

_CODE_OF = {
    normalize(form.replace("_", " ")): code for code in _CODES.split() for form in (code, *_FORMS.get(code, "").split())
}
_CODE_OF |= dict.fromkeys(_OF_SEVERAL.keys() - _CODE_OF.keys(), "")


def currency_code(text: str) -> str | None:
    """The ISO 4217 code of a code, sign, name or short form (`TL`, `руб.`); "" if several currencies use it.

    None if it is not a currency: `from`, and words that multiply the number, such as `k`, `TEUR` and `mio`.
    """
    code = _CODE_OF.get(_word(text))
    return "" if code is None and len(text) == 1 and _is_sign(text) else code


def currencies_of(spellings: Iterable[str]) -> tuple[str, ...]:
    """What is declared by these spellings: ISO 4217 codes, or a word that is none. A sign of several currencies has the
    meaning of the code beside it: [CAD, $] are Canadian dollars.
    """
    several = [each for each in spellings if _word(each) not in _OF_SEVERAL] or list(spellings)
    return tuple(dict.fromkeys(currency_code(each) or _word(each) for each in several))


def is_declared(written: str, spellings: Iterable[str]) -> bool:
    """Whether a currency is the one that is declared by these spellings: `€` with EUR, `$` with [CAD]; not CAD with $,
    which alone means US dollars.
    """
    spellings = tuple(spellings)
    if _word(written) in map(_word, spellings):
        return True
    declared = currencies_of(spellings)
    is_one_of_several = not _OF_SEVERAL.get(_word(written), frozenset()).isdisjoint(declared)
    return is_one_of_several or (currency_code(written) or _word(written)) in declared


def _word(text: str) -> str:
    return normalize(text).removesuffix(".")


def _is_sign(character: str) -> bool:
    return unicodedata.category(character) == "Sc"
