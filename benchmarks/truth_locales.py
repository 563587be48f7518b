# ruff: noqa: E501  (tables: one case on one line)
"""How people of each locale write dates, numbers, names, phone numbers, and yes and no: the data of `truth`.

Names are invented; telephone numbers are from ranges kept for fiction, or end in zeros.
"""

from __future__ import annotations

from dataclasses import dataclass

_ASCII = "0123456789"


@dataclass(frozen=True, slots=True)
class Locale:
    """One locale.

    dates: usual numeric forms, as the mapping declares them. months: the language of month names, and
    the twelve names as written in a date. phones: (country code, trunk prefix, national number with 0 for a random
    digit). surname: the usual order of a full name, as the mapping declares it. particles: before last names.
    """

    code: str
    region: str
    dates: tuple[str, ...]
    decimal: str
    thousands: str
    phones: tuple[tuple[str, str, str], ...]
    yes: tuple[str, ...]
    no: tuple[str, ...]
    first_names: tuple[str, ...]
    last_names: tuple[str, ...]
    months: str = ""
    month_names: tuple[str, ...] = ()
    surname: str = "last_word"
    particles: tuple[str, ...] = ()
    digits: str = _ASCII
    month_format: str = "%d %B %Y"


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.replace("_", " ") for word in text.split())


# fmt: off
LOCALES = (
    Locale("en-US", "US", ("%m/%d/%Y", "%m-%d-%Y"), ".", ",", (("1", "", "20255501NN"), ("1", "1", "41555501NN")),
           _words("yes y Yes"), _words("no n No"), _words("Grace Mary-Ann John Ada"), _words("Doe O'Neil McArthur Nur-Example"),
           "en", _words("January February March April May June July August September October November December"),
           month_format="%B %d, %Y"),
    Locale("en-GB", "GB", ("%d/%m/%Y", "%d-%m-%Y"), ".", ",", (("44", "0", "20794600NN"), ("44", "0", "74000001NN")),
           _words("yes Yes Y"), _words("no No N"), _words("Alan Siân Zoë"), _words("Smythe Ap-Rhys D'Example"),
           "en", _words("Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec"), month_format="%d %b %Y"),
    Locale("de-DE", "DE", ("%d.%m.%Y", "%d. %m. %Y"), ",", ".", (("49", "0", "30231250NN"), ("49", "0", "17139200NN")),
           _words("ja Ja j"), _words("nein Nein n"), _words("Jürgen Käthe Hans-Peter"), _words("Müller Groß Öztürk-Beispiel"),
           "de", _words("Januar Februar März April Mai Juni Juli August September Oktober November Dezember"),
           particles=_words("von zu"), month_format="%d. %B %Y"),
    Locale("de-CH", "CH", ("%d.%m.%Y",), ".", "'", (("41", "0", "4466810NN"), ("41", "0", "7812345NN")),
           _words("ja Ja"), _words("nein Nein"), _words("Urs Reto"), _words("Züger Beispieler"),
           "de", _words("Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez."), month_format="%d. %b %Y"),
    Locale("fr-FR", "FR", ("%d/%m/%Y",), ",", " ", (("33", "0", "1990012NN"), ("33", "0", "6000001NN")),
           _words("oui Oui o"), _words("non Non n"), _words("Zoé Jean-Luc François"), _words("Lefèvre D’Exemple L'Hôte"),
           "fr", _words("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
           surname="capitals"),
    Locale("es-ES", "ES", ("%d/%m/%Y", "%d-%m-%Y"), ",", ".", (("34", "", "9100000NN"), ("34", "", "6000000NN")),
           _words("sí Si SI s"), _words("no No n"), _words("Ana_María José Íñigo"), _words("García_López Núñez Muñoz_Ejemplo"),
           "es", _words("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
           surname="before_comma", month_format="%d de %B de %Y"),
    Locale("it-IT", "IT", ("%d/%m/%Y",), ",", ".", (("39", "", "06000012NN"), ("39", "", "32000000NN")),
           _words("sì si Sì"), _words("no No"), _words("Nicolò Maria_Pia"), _words("Esempio D'Angelo"),
           "it", _words("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
           particles=_words("di della")),
    Locale("pt-BR", "BR", ("%d/%m/%Y",), ",", ".", (("55", "", "11900000NNN"), ("55", "0", "213000000N")),
           _words("sim Sim s"), _words("não Não n"), _words("João Inês"), _words("Silva Conceição"),
           "pt", _words("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
           particles=_words("da dos de"), month_format="%d de %B de %Y"),
    Locale("nl-NL", "NL", ("%d-%m-%Y",), ",", ".", (("31", "0", "2000000NN"), ("31", "0", "6123400NN")),
           _words("ja Ja"), _words("nee Nee"), _words("Anneloes Björn"), _words("Berg Voorbeeld"),
           "nl", _words("januari februari maart april mei juni juli augustus september oktober november december"),
           particles=_words("van der den ten")),
    Locale("pl-PL", "PL", ("%d.%m.%Y", "%Y.%m.%d"), ",", " ", (("48", "", "2200000NN"), ("48", "", "5010000NN")),
           _words("tak Tak t"), _words("nie Nie n"), _words("Łukasz Żaneta"), _words("Przykładowska Wójcik-Źdźbło"),
           "pl", _words("stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia")),
    Locale("cs-CZ", "CZ", ("%d. %m. %Y", "%d.%m.%Y"), ",", " ", (("420", "", "2220000NN"), ("420", "", "6010000NN")),
           _words("ano Ano"), _words("ne Ne"), _words("Jiří Žofie"), _words("Příkladová Dvořák")),
    Locale("tr-TR", "TR", ("%d.%m.%Y", "%d/%m/%Y"), ",", ".", (("90", "0", "55500000NN"), ("90", "0", "21200000NN")),
           _words("evet Evet EVET var"), _words("hayır Hayır HAYIR yok"), _words("İpek Işıl Çağrı"), _words("Öz Yıldız Gül"),
           "tr", _words("Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık"), surname="capitals"),
    Locale("ru-RU", "RU", ("%d.%m.%Y", "%d.%m.%y"), ",", " ", (("7", "8", "49500000NN"), ("7", "8", "91600000NN")),
           _words("да Да"), _words("нет Нет"), _words("Анна_Ивановна Семён_Петрович"), _words("Примерова Ёлкин"),
           "ru", _words("января февраля марта апреля мая июня июля августа сентября октября ноября декабря"),
           surname="first_word"),
    Locale("uk-UA", "UA", ("%d.%m.%Y",), ",", " ", (("380", "0", "4400000NN"), ("380", "0", "5000000NN")),
           _words("так Так"), _words("ні Ні"), _words("Олена_Іванівна Їржик"), _words("Приклад Мар'яненко"),
           surname="first_word"),
    Locale("el-GR", "GR", ("%d/%m/%Y",), ",", ".", (("30", "", "21000000NN"), ("30", "", "69000000NN")),
           _words("ναι Ναι"), _words("όχι Όχι"), _words("Ελένη Γιώργος"), _words("Παραδείγματος Νικολάου")),
    Locale("sv-SE", "SE", ("%Y-%m-%d", "%d/%m/%Y"), ",", " ", (("46", "0", "3139006NN"), ("46", "0", "7017406NN")),
           _words("ja Ja"), _words("nej Nej"), _words("Åsa Björn"), _words("Öberg Exempel"), particles=_words("af von")),
    Locale("da-DK", "DK", ("%d.%m.%Y", "%d-%m-%Y"), ",", ".", (("45", "", "331400NN"), ("45", "", "201200NN")),
           _words("ja Ja"), _words("nej Nej"), _words("Søren Åse"), _words("Eksempel Kjær")),
    Locale("nb-NO", "NO", ("%d.%m.%Y",), ",", " ", (("47", "", "220000NN"), ("47", "", "400000NN")),
           _words("ja Ja"), _words("nei Nei"), _words("Øystein Ingrid"), _words("Eksempelsen Ås")),
    Locale("fi-FI", "FI", ("%d.%m.%Y",), ",", " ", (("358", "0", "90000NN"), ("358", "0", "4570000NN")),
           _words("kyllä Kyllä"), _words("ei Ei"), _words("Päivi Yrjö"), _words("Esimerkki Mäkelä")),
    Locale("hu-HU", "HU", ("%Y. %m. %d.", "%Y.%m.%d."), ",", " ", (("36", "06", "12000NNN"), ("36", "06", "2000000NN")),
           _words("igen Igen"), _words("nem Nem"), _words("Ödön Zsófia"), _words("Példa Szűcs"), surname="first_word"),
    Locale("ro-RO", "RO", ("%d.%m.%Y",), ",", ".", (("40", "0", "2100000NN"), ("40", "0", "7210000NN")),
           _words("da Da"), _words("nu Nu"), _words("Ștefan Ioana"), _words("Exemplu Țăran")),
    Locale("ja-JP", "JP", ("%Y年%m月%d日", "%Y/%m/%d"), ".", ",", (("81", "0", "3123400NN"), ("81", "0", "90123400NN")),
           _words("はい 有"), _words("いいえ 無"), _words("太郎 さくら"), _words("見本 例山"), surname="first_word"),
    Locale("zh-CN", "CN", ("%Y年%m月%d日", "%Y-%m-%d"), ".", ",", (("86", "0", "10000000NN"), ("86", "", "130000000NN")),
           _words("是 有"), _words("否 没有"), _words("小明 丽丽"), _words("例 示"), surname="first_word"),
    Locale("ar-EG", "EG", ("%d/%m/%Y", "%d\u200f/%m\u200f/%Y"), "٫", "٬", (("20", "0", "20000000N"), ("20", "0", "10000000NN")),
           _words("نعم"), _words("لا"), _words("ليلى سامي"), _words("مثال الخطيب"), digits="٠١٢٣٤٥٦٧٨٩", particles=_words("بن")),
    Locale("hi-IN", "IN", ("%d/%m/%Y", "%d-%m-%Y"), ".", ",", (("91", "0", "11200000NN"), ("91", "", "98000000NN")),
           _words("हाँ हां"), _words("नहीं"), _words("आदित्य मीरा"), _words("उदाहरण शर्मा"), digits="०१२३४५६७८९"),
)
# fmt: on
