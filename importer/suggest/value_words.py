"""The table of value words: how people write degrees, kinds of employment, levels and the like.

On the left the option that the service may list, on the right what cells say (English, Turkish, German, and more
where a word is clear). A word is compared without case, accents and punctuation, and only in whole.
"""

from __future__ import annotations

VALUE_WORDS: dict[str, str] = {
    "high_school_diploma": "high school|high school diploma|secondary school|a levels|lise|lise mezunu|anadolu lisesi"
    "|meslek lisesi|abitur|gymnasium|fachabitur|realschule|matura|hauptschule|fachhochschulreife|hochschulreife|ged",
    "associate_degree": "associate|associate degree|associates|ön lisans|önlisans|meslek yüksekokulu|myo|aa|as",
    "bachelors_degree": "bachelor|bachelors|bachelors degree|bachelor degree|ba|bs|bsc|b sc|beng|lisans|undergraduate"
    "|bachelor of science|bachelor of arts|bachelor of engineering|üniversite|licencjat|inżynier|бакалавр|бакалавриат"
    "|lisans mezunu|bachelor sc|b eng|b a|fakülte",
    "masters_degree": "master|masters|masters degree|master degree|ma|ms|msc|m sc|mba|meng|yüksek lisans|yükseklisans"
    "|master of science|master of arts|diplom|magister|магистр|postgraduate|tezli yüksek lisans|m eng|m a|dipl ing"
    "|yl|y lisans|tezsiz yüksek lisans|magister artium",
    "doctorate_degree": "doctorate|phd|ph d|doctor|doctoral|doktora|promotion|doktor|dr|doctor of philosophy"
    "|doctoral degree",
    "certificate_or_diploma": "certificate|diploma|sertifika|zertifikat|certification|bootcamp|certificate or diploma"
    "|ausbildung|berufsausbildung|kurs|course|lehre",
    "full_time": "full time|fulltime|permanent|tam zamanlı|vollzeit|festanstellung|unbefristet|ft|tam zaman|tz|etat",
    "part_time": "part time|parttime|yarı zamanlı|teilzeit|minijob|pt|werkstudent|yarı zaman",
    "contract": "contract|contractor|freelance|freelancer|temporary|fixed term|sözleşmeli|serbest|freiberuflich"
    "|befristet|selbstständig|selbständig|proje bazlı|freier mitarbeiter|consultant|zeitarbeit",
    "intern": "intern|internship|trainee|staj|stajyer|praktikum|praktikant|praktikantin|stajer|zorunlu staj",
    "junior": "jr|junior|entry|entry level|berufseinsteiger|einsteiger|acemi|yeni mezun|uzman yardımcısı|jun",
    "mid": "mid|middle|mid level|midlevel|medior|intermediate|orta|orta seviye|orta düzey|fortgeschritten",
    "senior": "sr|senior|kıdemli|experienced|erfahren|sen|kıdemli uzman",
    "lead": "lead|team lead|teamlead|lider|takım lideri|teamleiter|leiter|leiterin|tech lead|ekip lideri",
    "yes": "yes|y|evet|ja|true|var|wahr|vorhanden",
    "no": "no|n|hayır|nein|false|yok|falsch|nicht vorhanden",
    "male": "male|m|man|erkek|männlich|bay|mann|herr",
    "female": "female|f|w|woman|kadın|weiblich|bayan|frau",
}
