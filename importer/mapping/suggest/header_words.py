"""The table of header words: what people and vendors write above a column, for each thing it may hold.

English, Turkish, German, in this order; more words are welcome. A word is found whatever its case, spaces,
punctuation, accents or Turkish possessive ending (`Adınız` is `Ad`). A word that means two things does not belong here.
"""

from __future__ import annotations

LANGUAGES = ("en", "tr", "de")
_Words = tuple[str, str, str]


def _split(words: _Words) -> dict[str, tuple[str, ...]]:
    pairs = zip(LANGUAGES, words, strict=True)
    return {language: tuple(word.strip() for word in text.split("|") if word.strip()) for language, text in pairs}


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What goes into the request itself or into an answer.
_CONCEPTS: dict[str, _Words] = {
    "email": (
        "email|email address|mail|mail address|primary email|contact email|personal email|emails|email id",
        "e-posta|eposta|e-posta adresi|mail adresi|elektronik posta|kişisel e-posta|e-posta adresim",
        "E-Mail|E-Mail-Adresse|Mailadresse|Email-Adresse|E-Mail (privat)|private E-Mail",
    ),
    "second_email": (
        "secondary email|alternative email|other email|second email",
        "ikinci e-posta|diğer e-posta|alternatif e-posta",
        "zweite E-Mail|weitere E-Mail",
    ),
    "first_name": (
        "first name|given name|forename|fname|first|given names",
        "ilk ad|ilk isim|önad|ad (ilk)",
        "Vorname|Vornamen|Rufname",
    ),
    "last_name": (
        "last name|surname|family name|lname|last",
        "soyad|soyadı|soyisim|soyismi|soy ad",
        "Nachname|Familienname|Zuname|Nachnamen",
    ),
    "bare_name": ("name|names", "ad|adı|isim|ismi", ""),
    "full_name": (
        "full name|first and last name|name surname|name and surname|complete name|person name",
        "ad soyad|adı soyadı|adınız soyadınız|isim soyisim|ad ve soyad|tam ad|ismi soyismi|adı ve soyadı|ad-soyad",
        "Vor- und Nachname|Vorname Nachname|vollständiger Name|Vor- und Zuname|Name Vorname|Vorname und Nachname",
    ),
    "cv": (
        "cv|cv document|cv id|cv no|resume|résumé|resume id|cv document id|resume document|cv number|curriculum vitae"
        "|cv file id|document id cv|cv doc|resume document id",
        "cv numarası|özgeçmiş|özgeçmiş no|cv belge no|özgeçmiş belge no|cv dosya no|özgeçmiş belgesi",
        "Lebenslauf|Lebenslauf-ID|Lebenslauf Dokument|CV-Nr|Lebenslauf Nr|CV Dokument|Lebenslauf Dokument-ID",
    ),
    "terms_of_use": (
        "consent|terms accepted|terms of use|gdpr consent|accepted terms|privacy consent|data consent|gdpr"
        "|agreed to terms|terms",
        "onay|kvkk onayı|kvkk|açık rıza|aydınlatma metni onayı|rıza|kvkk onay",
        "Einwilligung|DSGVO|DSGVO-Einwilligung|Datenschutz|Zustimmung|AGB akzeptiert|Einverständnis"
        "|Datenschutz akzeptiert",
    ),
    "source_platform": (
        "source|source platform|candidate source|origin|sourcing channel|channel|application source",
        "kaynak|başvuru kaynağı|aday kaynağı|başvuru kanalı",
        "Quelle|Bewerbungsquelle|Herkunft|Kanal|Bewerbungskanal",
    ),
    "heard_from": (
        "how did you hear about us|how did you hear|heard from|where did you hear about us|referral source",
        "bizi nereden duydunuz|bizi nasıl buldunuz|ilanı nereden gördünüz|bizden nasıl haberdar oldunuz",
        "Wie haben Sie von uns erfahren|Wie sind Sie auf uns aufmerksam geworden|aufmerksam geworden durch",
    ),
    "phone": (
        "mobile|mobile phone|cell|cell phone|mobile number|phone|phone number|telephone|tel|contact number|cellphone"
        "|mobile no|phone no|gsm|contact phone|primary phone|phones|telephone number|whatsapp number",
        "cep telefonu|cep|cep tel|gsm no|telefon|telefon numarası|tel no|telefon no|cep no|cep telefonu numarası"
        "|iletişim numarası|irtibat telefonu|cep telefonunuz",
        "Mobil|Handy|Handynummer|Mobilnummer|Mobiltelefon|Telefon|Telefonnummer|Rufnummer|Tel.-Nr.|Mobilfunknummer",
    ),
    "other_phone": (
        "home phone|work phone|landline|second phone|other phone|secondary phone|alternative phone|office phone",
        "ev telefonu|iş telefonu|sabit telefon|diğer telefon",
        "Festnetz|Telefon privat|Telefon geschäftlich|Festnetznummer",
    ),
    "address": (
        "address|full address|home address|postal address|mailing address|current address",
        "adres|adresi|ev adresi|açık adres|ikametgah|ikamet adresi|yaşadığınız adres",
        "Adresse|Anschrift|Wohnadresse|Postanschrift|Wohnanschrift",
    ),
    "street": (
        "street|street address|home street",
        "sokak|cadde|mahalle|sokak cadde",
        "Straße|Strasse|Straße und Hausnummer|Straße Hausnr|Str.|Straße Nr",
    ),
    "postcode": (
        "zip|zip code|postal code|postcode|home zip",
        "posta kodu",
        "PLZ|Postleitzahl",
    ),
    "city": (
        "city|town|home city|city of residence|address city",
        "şehir|il|ilçe|yaşadığınız şehir|ikamet ettiği şehir|yaşadığı şehir|ikamet şehri|yaşadığınız il|yaşadığı il",
        "Stadt|Ort|Wohnort|Stadt Ort",
    ),
    "country": (
        "country|country of residence|home country|address country name|country name",
        "ülke|yaşadığı ülke|ikamet ülkesi",
        "Land|Wohnsitzland|Staat",
    ),
    "location": ("location|current location|place of residence", "konum|ikamet yeri|yaşadığı yer", "Standort|Wohnsitz"),
    "photo": (
        "photo|photo id|picture|profile photo|profile picture|candidate photo|headshot|photo document",
        "fotoğraf|foto|vesikalık|fotoğraf no|profil fotoğrafı|resim",
        "Foto|Bewerbungsfoto|Lichtbild|Profilbild|Bild",
    ),
    "linkedin": (
        "linkedin|linkedin url|linkedin profile|linkedin profile url|linked in|linkedin link|linkedin account",
        "linkedin profili|linkedin adresi|linkedin hesabı|linkedin linki|linkedin bağlantısı",
        "LinkedIn-Profil|LinkedIn-Link|LinkedIn Adresse",
    ),
    "github": (
        "github|github url|github profile|git hub|github link|github account",
        "github profili|github adresi|github hesabı|github linki",
        "GitHub-Profil|GitHub-Link",
    ),
    "portfolio": (
        "portfolio|portfolio url|portfolio link|portfolio website|personal website|website|homepage|web site",
        "portfolyo|portföy|kişisel web sitesi|web sitesi|portfolyo linki|portföy linki",
        "Portfolio-Link|Webseite|persönliche Webseite|Arbeitsproben|eigene Webseite",
    ),
    "behance": ("behance|behance url|behance profile|behance link", "behance profili|behance adresi", "Behance-Profil"),
    "dribbble": (
        "dribbble|dribbble url|dribbble profile|dribble|dribbble link",
        "dribbble profili|dribbble adresi",
        "Dribbble-Profil",
    ),
    "language": (
        "languages|language|language skills|spoken languages|languages you speak|languages spoken|foreign languages",
        "diller|yabancı dil|yabancı diller|bildiği diller|dil bilgisi|bildiğiniz diller|dil|konuştuğunuz diller",
        "Sprachen|Sprachkenntnisse|Fremdsprachen|gesprochene Sprachen|Sprache",
    ),
    "salary": (
        "salary|expected salary|salary expectation|desired salary|expected monthly salary|salary expectations"
        "|expected pay|monthly salary expectation|expected annual salary|expected net salary",
        "ücret beklentisi|maaş beklentisi|beklenen maaş|beklenen ücret|net ücret beklentisi|maaş|ücret talebi"
        "|net maaş beklentisi|talep edilen ücret|aylık ücret beklentisi|ücret",
        "Gehaltsvorstellung|Gehaltswunsch|Wunschgehalt|Gehaltserwartung|Gehaltsvorstellung brutto|gewünschtes Gehalt"
        "|Gehaltsvorstellungen",
    ),
    "notice": (
        "notice|notice period|notice weeks|notice period in weeks|notice period weeks",
        "ihbar süresi|ihbar süresi hafta|ihbar|ihbar hafta",
        "Kündigungsfrist|Kündigungsfrist Wochen|Kündigungsfrist in Wochen",
    ),
    "available_from": (
        "available from|availability|earliest start date|available start date|start availability|can start from"
        "|availability date|earliest start|date available|available date|when can you start|when could you start",
        "işe başlama tarihi|başlayabileceği tarih|en erken başlama tarihi|müsaitlik tarihi|işe başlayabileceğiniz tarih"
        "|ne zaman başlayabilirsiniz|en erken başlangıç tarihi|müsaitlik",
        "verfügbar ab|Eintrittsdatum|frühester Eintrittstermin|Eintrittstermin|Verfügbarkeit|frühestmöglicher Eintritt"
        "|möglicher Eintrittstermin|frühestes Eintrittsdatum|frühester Starttermin|wann können Sie anfangen",
    ),
    "work_permit": (
        "work permit|do you have a work permit|right to work|work authorization|work authorisation|permit to work"
        "|authorized to work|legally authorized to work|has work permit|work visa",
        "çalışma izni|çalışma izniniz var mı|çalışma izni var mı",
        "Arbeitserlaubnis|Arbeitserlaubnis vorhanden|Haben Sie eine Arbeitserlaubnis|Arbeitsgenehmigung",
    ),
    "level": (
        "level|seniority|seniority level|experience level|career level|job level",
        "kıdem|seviye|deneyim seviyesi|kariyer seviyesi|kıdem seviyesi",
        "Erfahrungsstufe|Karrierestufe|Karrierelevel|Senioritätsstufe|Erfahrungslevel|Seniorität",
    ),
    "skills": (
        "skills|skill set|skillset|technical skills|key skills|technologies|tech stack|competencies|skills list",
        "yetenekler|beceriler|teknik beceriler|yetkinlikler|teknolojiler|bildiği teknolojiler|bildiğiniz teknolojiler",
        "Fähigkeiten|Kenntnisse|Kompetenzen|Technologien|IT-Kenntnisse|Fachkenntnisse|Skills und Kenntnisse",
    ),
    "cover_letter": (
        "cover letter|motivation letter|letter of motivation|motivation|cover note|why do you want to work with us",
        "ön yazı|önyazı|motivasyon mektubu|niyet mektubu|kapak yazısı",
        "Anschreiben|Motivationsschreiben|Begleitschreiben",
    ),
    "certificate": (
        "certificate|certificates|certificate id|certificate document|certifications|certificate file",
        "sertifika|sertifikalar|sertifika belgesi|sertifika no|sertifika belge no",
        "Zertifikat|Zertifikate|Zeugnis|Zertifikat Dokument|Zeugnisse",
    ),
    "birth_date": (
        "date of birth|birth date|dob|birthday|birthdate",
        "doğum tarihi|doğum günü",
        "Geburtsdatum|Geburtstag|geboren am",
    ),
    "gender": ("gender|sex", "cinsiyet", "Geschlecht"),
    "nationality": ("nationality|citizenship", "uyruk|vatandaşlık", "Nationalität|Staatsangehörigkeit"),
    "military": ("military service|military status", "askerlik|askerlik durumu|askerlik hizmeti", "Wehrdienst"),
    "driving_licence": (
        "driving licence|driving license|drivers license|driver license|driving licence class",
        "ehliyet|sürücü belgesi|ehliyet sınıfı|sürücü belgesi var mı",
        "Führerschein|Führerscheinklasse|Führerschein vorhanden",
    ),
    "years_of_experience": (
        "years of experience|experience in years|total experience|total years of experience|experience years"
        "|total work experience",
        "deneyim yılı|toplam deneyim|tecrübe yılı|toplam tecrübe|kaç yıl deneyim|deneyim süresi",
        "Berufserfahrung in Jahren|Jahre Berufserfahrung|Berufsjahre|Berufserfahrung Jahre",
    ),
    "current_salary": (
        "current salary|present salary|current pay",
        "mevcut maaş|mevcut ücret|güncel maaş|şu anki maaş",
        "aktuelles Gehalt|derzeitiges Gehalt|bisheriges Gehalt",
    ),
    "relocation": (
        "willing to relocate|relocation|open to relocation|relocate",
        "şehir değişikliği|taşınabilir mi|şehir değiştirebilir",
        "Umzugsbereitschaft|umzugsbereit|Umzug möglich",
    ),
    "travel": (
        "willing to travel|travel|travel readiness",
        "seyahat engeli|seyahat edebilir mi|seyahat",
        "Reisebereitschaft|reisebereit",
    ),
    "summary": (
        "summary|profile summary|about|about me|bio|headline",
        "özet|hakkında|hakkımda|profil özeti|kendinizden bahsedin",
        "Zusammenfassung|Kurzprofil|Über mich|Profil",
    ),
    # Whole histories in one cell, and the questions that take them.
    "education": (
        "education|educations|education history|educational background|academic background|education details",
        "eğitim|eğitim bilgileri|öğrenim bilgileri|eğitim geçmişi",
        "Ausbildung|Bildungsweg|Ausbildungsweg|Bildung|schulischer Werdegang",
    ),
    "experience": (
        "experience|experiences|work experience|work history|employment history|professional experience|job history",
        "deneyim|iş deneyimi|iş deneyimleri|iş tecrübesi|tecrübe|çalışma geçmişi|iş geçmişi|deneyimler",
        "Berufserfahrung|Werdegang|beruflicher Werdegang|Berufspraxis|Arbeitserfahrung|bisherige Tätigkeiten",
    ),
}

# What no mapping should take by itself, however like another word it looks.
_NOT_IMPORTED: dict[str, _Words] = {
    "identifier": (
        "id|candidate id|applicant id|record id|application id|no|nr|row|external id|reference number|unnamed",
        "aday no|başvuru no|sıra no|kayıt no|sıra|tc kimlik no|tckn|sicil no|tc no",
        "Bewerber-ID|Bewerbernummer|Kandidaten-ID|lfd Nr|Bewerbungsnummer|Kandidatennummer|Vorgangsnummer",
    ),
    "time_stamp": (
        "timestamp|created|created at|created time|creation time|modified|modified time|last change|updated at"
        "|application date|applied on|applied date|created date|last modified|date applied|submitted at|last updated",
        "zaman damgası|başvuru tarihi|kayıt tarihi|oluşturma tarihi|güncelleme tarihi|son değişiklik|son güncelleme",
        "Zeitstempel|Bewerbungsdatum|Eingangsdatum|erstellt am|geändert am|Bewerbung eingegangen am|letzte Änderung"
        "|Eingang am|Beworben am|Eingang",
    ),
    "status": (
        "status|stage|candidate status|candidate stage|pipeline stage|state|result|is locked|rating|score|outcome"
        "|application status|decision",
        "durum|aşama|başvuru durumu|aday durumu|sonuç|puan|değerlendirme",
        "Bewerbungsstatus|Phase|Bewertung|Ergebnis|Stand|Bearbeitungsstatus|Entscheidung",
    ),
    "owner": (
        "recruiter|owner|hiring manager|created by|modified by|interviewer|contact person|agency|candidate owner",
        "işe alım uzmanı|sorumlu|görüşmeci|ik uzmanı|mülakatı yapan|ik sorumlusu",
        "Personalreferent|Ansprechpartner|Sachbearbeiter|Recruiter in|Personaler|zuständig|Interviewer in",
    ),
    "applied_for": (
        "job|position applied|position applied for|applied position|job post|job posting|department|vacancy"
        "|applied for|posting title|requisition|office|contest number|posting|job opening|which position",
        "departman|başvurulan pozisyon|başvurduğunuz departman|başvurduğunuz pozisyon|ilan|başvurduğu pozisyon"
        "|başvurulan departman|başvurduğunuz departman pozisyon|bölüm|ilan adı",
        "Abteilung|Stelle|Stellenausschreibung|beworben auf|Bewerbung als|ausgeschriebene Stelle|Stellenbezeichnung"
        "|beworbene Stelle|Stellenanzeige|Anzeige",
    ),
    "emergency": (
        "emergency phone|emergency contact|emergency contact number|emergency contact phone|emergency contact name",
        "acil telefon|acil durum telefonu|acil durum kişisi|yakınının telefonu|acil durumda aranacak kişi",
        "Notfallkontakt|Notfallnummer|Notfalltelefon|Notfall-Telefon",
    ),
    "reference": (
        "reference|references|referee|reference name|reference phone|reference email|referred by|who gets credit"
        "|referrer|referee email|referrer email",
        "referans|referanslar|referans adı|referans telefonu|referans olan kişi|tavsiye eden",
        "Referenz|Referenzen|empfohlen von|Referenzgeber|Referenzperson",
    ),
    "note": (
        "note|notes|comment|comments|remarks|tags|labels|additional info|additional information|keywords|internal note"
        "|associated tags|interview notes|feedback",
        "not|notlar|açıklama|yorum|etiketler|eklemek istedikleriniz|ek bilgi|görüşme notları|görüşme notu",
        "Bemerkung|Bemerkungen|Notiz|Notizen|Anmerkung|Anmerkungen|Kommentar|Schlagworte|interne Notiz",
    ),
    "salutation": ("salutation|mr mrs|prefix", "hitap", "Anrede|Titel"),
    "middle_name": (
        "middle name|maiden name|nickname|suffix|preferred name",
        "ikinci ad|kızlık soyadı|göbek adı|baba adı|anne adı",
        "Zweitname|Geburtsname|zweiter Vorname|Spitzname",
    ),
    "fax": ("fax|fax number", "faks|faks no", "Faxnummer|Telefax"),
    "marital": ("marital status", "medeni durum|medeni hali", "Familienstand"),
}

# Words that make a column of somebody or something else out of it: such a column is never proposed for a likeness.
FOREIGN_WORDS = _word_set(
    "emergency acil notfall reference referans referenz referee referrer referred manager recruiter "
    "father mother baba anne spouse es fax faks agency previous old eski vorherige interviewer yakin "
    "guardian veli supervisor ansprechpartner internal"
)
# Words that say nothing about what a column holds.
NOISE_WORDS = _word_set(
    "candidate candidates applicant applicants aday adayin bewerber bewerbers kandidat kandidaten your "
    "please enter the of a ihre ihr ihren deine dein bitte personal kisisel lutfen what is my giriniz "
    "yaziniz angeben and ve und optional required zorunlu optionell pflichtfeld user contact q"
)

CONCEPTS: dict[str, dict[str, tuple[str, ...]]] = {name: _split(words) for name, words in _CONCEPTS.items()}
NOT_IMPORTED: dict[str, dict[str, tuple[str, ...]]] = {name: _split(words) for name, words in _NOT_IMPORTED.items()}

# The fields of entries (service description 2.3 and 2.4), by kind; "" holds words that fit either kind.
_ENTRY_FIELDS: dict[str, dict[str, _Words]] = {
    "education": {
        "school_name": (
            "school|school name|university|college|institution|institute|institute school|educational institution"
            "|education|university name|last school|school university|alma mater|college university",
            "okul|okul adı|üniversite|mezun olduğunuz okul|mezun olduğunuz üniversite|mezun olduğu üniversite"
            "|üniversite adı|mezun olduğu okul|mezun olunan okul"
            "|öğrenim kurumu",
            "Schule|Hochschule|Universität|Bildungseinrichtung|Uni|Hochschule Schule|Name der Hochschule"
            "|Ausbildungsstätte",
        ),
        "degree": (
            "degree|qualification|degree name|education level|highest degree|degree type|level of education|diploma",
            "derece|öğrenim durumu|eğitim durumu|mezuniyet derecesi|diploma derecesi|eğitim seviyesi"
            "|öğrenim seviyesi|diploma",
            "Abschluss|akademischer Grad|Bildungsabschluss|höchster Abschluss|Abschlussart|Hochschulabschluss",
        ),
        "major": (
            "major|field of study|fos|subject|subject major|major department|study field|specialization|area of study"
            "|degree spec|program of study|course of study",
            "bölümü|alan|branş|okuduğu bölüm|mezun olduğu bölüm|okuduğunuz bölüm|üniversite bölümü|mezun olunan bölüm",
            "Fachrichtung|Studiengang|Studienfach|Fach|Hauptfach|Studienrichtung|Schwerpunkt",
        ),
        "end_date": (
            "graduation|graduation date|graduated|graduation year|year of graduation|graduated on|date of graduation",
            "mezuniyet|mezuniyet tarihi|mezuniyet yılı|mezun olduğu yıl",
            "Abschlussdatum|Abschlussjahr|Studienende|Jahr des Abschlusses",
        ),
        "currently_pursuing": (
            "currently pursuing|still studying|is student|ongoing study",
            "öğrenci mi|okuyor mu|halen okuyor",
            "studiert noch|noch im Studium|laufendes Studium",
        ),
    },
    "experience": {
        "company_name": (
            "company|employer|organization|organisation|company name|employer name|current employer|current company"
            "|last employer|organization name|last company|firm|workplace",
            "firma|şirket|son firma|son şirket|işveren|iş yeri|şirket adı|firma adı"
            "|son çalıştığı şirket|çalıştığı firma|çalıştığı şirket"
            "|son iş yeri|son çalıştığınız firma",
            "Arbeitgeber|Unternehmen|Firmenname|letzter Arbeitgeber|aktueller Arbeitgeber|Betrieb",
        ),
        "position_title": (
            "title|job title|position|role|position title|current title|current job title|last position|designation"
            "|current position|current role|job role|last title|start title",
            "pozisyon|unvan|görev|ünvan|son pozisyon|görevi|pozisyonu|iş unvanı|mevcut pozisyon|son görevi",
            "Funktion|Berufsbezeichnung|Tätigkeit|Jobtitel|aktuelle Position|letzte Position|Rolle|Stellentitel",
        ),
        "employment_type": (
            "type|employment type|contract type|job type|type of employment|type of contract",
            "çalışma şekli|istihdam türü|çalışma tipi|çalışma türü|sözleşme türü|iş türü",
            "Beschäftigungsart|Anstellungsart|Vertragsart|Art der Beschäftigung|Beschäftigungsverhältnis",
        ),
        "currently_employed": (
            "i currently work here|currently employed|still employed|currently working|current job|is current job"
            "|still working here|currently work here",
            "halen çalışıyor|çalışmaya devam ediyor|hala çalışıyor|halen çalışıyor mu",
            "noch beschäftigt|aktuell beschäftigt|derzeit beschäftigt|in ungekündigter Stellung",
        ),
    },
    "": {
        "start_date": (
            "start|start date|from|started|started on|begin|begin date|duration from|date from|since|started at",
            "başlangıç|başlangıç tarihi|başlama|başlama tarihi|giriş|giriş tarihi|giriş yılı|başlama yılı"
            "|başlangıç yılı",
            "von|Beginn|Startdatum|ab|Anfang|Eintritt|seit|Start Datum|beginnt",
        ),
        "end_date": (
            "end|end date|to|until|till|finished on|finish|finished|duration to|date to|ended|end on|finish date",
            "bitiş|bitiş tarihi|ayrılış|ayrılış tarihi|çıkış|çıkış tarihi|bitirme|ayrılma tarihi|bitiş yılı|ayrılma",
            "bis|Ende|Enddatum|Austritt|endet|Ende Datum",
        ),
        "current": (
            "current|present|is current|currently|ongoing|still there|still|now",
            "devam|devam ediyor|devam ediyor mu|halen|halen devam|hala devam ediyor",
            "aktuell|derzeit|laufend|noch dort|dauert an|bis heute",
        ),
    },
}  # fmt: skip
ENTRY_FIELDS: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {
    kind: {field: _split(words) for field, words in fields.items()} for kind, fields in _ENTRY_FIELDS.items()
}
# Words beside a field that say which kind of entry it is of (`Education 1 start`, `İş 2 çıkış`).
ENTRY_QUALIFIERS: dict[str, frozenset[str]] = {
    "education": _word_set(
        "education educational edu school university college study studies egitim okul ogrenim universite "
        "ausbildung studium schule hochschule institution profile institute bildung"
    ),
    "experience": _word_set(
        "work job company employer experience employment exp position organization organisation is sirket "
        "deneyim tecrube firma arbeit beruf arbeitgeber pozisyon isyeri stelle taetigkeit profile career"
    ),
}

# The markers of service description 2.1 that say what a question asks for.
OF_QUESTION_TYPE = {
    "photo": "photo", "phone": "phone", "address": "address", "linkedin_url": "linkedin", "github_url": "github",
    "portfolio_url": "portfolio", "behance_url": "behance", "dribbble_url": "dribbble", "language": "language",
    "salary": "salary",
}  # fmt: skip
# Concepts whose columns stand in for another's, after it: an alternative that is taken where the first is empty.
STANDS_IN = {"other_phone": "phone", "second_email": "email", "source_platform": "heard_from"}
