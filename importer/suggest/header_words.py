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
        "email|email address|mail|mail address|primary email|contact email|personal email|emails|email id"
        "|e-mail id|contact mail|applicant email|mail id|e mail contact",
        "e-posta|eposta|e-posta adresi|mail adresi|elektronik posta|kişisel e-posta|e-posta adresim|e-mail"
        "|mail|iletişim e-posta|e-posta hesabı",
        "E-Mail|E-Mail-Adresse|Mailadresse|Email-Adresse|E-Mail (privat)|private E-Mail|E-Mail Kontakt"
        "|Kontakt-E-Mail|Mail",
    ),
    "second_email": (
        "secondary email|alternative email|other email|second email|alternate email|work email"
        "|business email|company email",
        "ikinci e-posta|diğer e-posta|alternatif e-posta|iş e-postası|ikincil e-posta|iş e-posta adresi",
        "zweite E-Mail|weitere E-Mail|alternative E-Mail|geschäftliche E-Mail|dienstliche E-Mail",
    ),
    "first_name": (
        "first name|given name|forename|fname|first|given names|given|christian name|name first",
        "ilk ad|ilk isim|önad|ad (ilk)|adı (ilk)|birinci ad",
        "Vorname|Vornamen|Rufname",
    ),
    "last_name": (
        "last name|surname|family name|lname|last|second name|name last|family",
        "soyad|soyadı|soyisim|soyismi|soy ad|aile adı",
        "Nachname|Familienname|Zuname|Nachnamen",
    ),
    "bare_name": ("name|names", "ad|adı|isim|ismi", ""),
    "full_name": (
        "full name|first and last name|name surname|name and surname|complete name|person name"
        "|name and family name|firstname lastname|last name first name|contact name|display name"
        "|legal name",
        "ad soyad|adı soyadı|adınız soyadınız|isim soyisim|ad ve soyad|tam ad|ismi soyismi|adı ve soyadı"
        "|ad-soyad|isim soyad|adı soyad|isim ve soyisim|ad soy ad|ismi ve soyismi|soyad ad",
        "Vor- und Nachname|Vorname Nachname|vollständiger Name|Vor- und Zuname|Name Vorname"
        "|Vorname und Nachname|Vorname Name|Nachname Vorname|Name und Vorname|kompletter Name"
        "|Vorname Zuname",
    ),
    "cv": (
        "cv|cv document|cv id|cv no|resume|résumé|resume id|cv document id|resume document|cv number"
        "|curriculum vitae|cv file id|document id cv|cv doc|resume document id|cv reference|resume ref"
        "|cv file no|resume no|uploaded cv|cv upload|resume file id",
        "cv numarası|özgeçmiş|özgeçmiş no|cv belge no|özgeçmiş belge no|cv dosya no|özgeçmiş belgesi"
        "|cv dosyası|yüklenen cv|cv id|özgeçmiş id",
        "Lebenslauf|Lebenslauf-ID|Lebenslauf Dokument|CV-Nr|Lebenslauf Nr|CV Dokument"
        "|Lebenslauf Dokument-ID|Lebenslauf-Nummer|CV-Datei|Lebenslauf (ID)|Lebenslauf-Nr.",
    ),
    "terms_of_use": (
        "consent|terms accepted|terms of use|gdpr consent|accepted terms|privacy consent|data consent|gdpr"
        "|agreed to terms|terms|privacy policy accepted|data protection consent|i accept the terms"
        "|accept terms|privacy accepted|data processing consent",
        "onay|kvkk onayı|kvkk|açık rıza|aydınlatma metni onayı|rıza|kvkk onay|kvkk metni|kvkk onay durumu"
        "|kvkk rızası|kişisel veri onayı|aydınlatma metni|açık rıza beyanı|kullanım koşulları",
        "Einwilligung|DSGVO|DSGVO-Einwilligung|Datenschutz|Zustimmung|AGB akzeptiert|Einverständnis"
        "|Datenschutz akzeptiert|Datenschutzerklärung|Datenschutzeinwilligung|DSGVO-Zustimmung"
        "|Datenschutzerklärung akzeptiert|Nutzungsbedingungen",
    ),
    "source_platform": (
        "source|source platform|candidate source|origin|sourcing channel|channel|application source"
        "|lead source|recruitment source|applicant source|source of application|sourced from"
        "|source channel",
        "kaynak|başvuru kaynağı|aday kaynağı|başvuru kanalı|ilan kaynağı|kaynak kanal|geliş kanalı|başvuru platformu",
        "Quelle|Bewerbungsquelle|Herkunft|Kanal|Bewerbungskanal|Bewerberquelle|Recruiting-Kanal"
        "|Kanal der Bewerbung|Bewerbungseingang über",
    ),
    "heard_from": (
        "how did you hear about us|how did you hear|heard from|where did you hear about us|referral source"
        "|how did you find us|how did you find out about us|where did you find us|found us via|how heard"
        "|heard about us",
        "bizi nereden duydunuz|bizi nasıl buldunuz|ilanı nereden gördünüz|bizden nasıl haberdar oldunuz"
        "|bizi nereden duydu|ilanı nereden duydunuz|nereden duydunuz|bizden nereden haberdar oldunuz"
        "|nereden ulaştınız",
        "Wie haben Sie von uns erfahren|Wie sind Sie auf uns aufmerksam geworden|aufmerksam geworden durch"
        "|Woher kennen Sie uns|Wie haben Sie uns gefunden|Wo haben Sie von uns gehört"
        "|wie aufmerksam geworden",
    ),
    "phone": (
        "mobile|mobile phone|cell|cell phone|mobile number|phone|phone number|telephone|tel|contact number"
        "|cellphone|mobile no|phone no|gsm|contact phone|primary phone|phones|telephone number"
        "|whatsapp number|cell number|contact no|mobile tel|handphone|phone mobile|telephone mobile"
        "|mobile telephone|best number to reach you|mob no|mob|tel no|contact tel",
        "cep telefonu|cep|cep tel|gsm no|telefon|telefon numarası|tel no|telefon no|cep no"
        "|cep telefonu numarası|iletişim numarası|irtibat telefonu|cep telefonunuz|cep numarası"
        "|cep telefon|cep telefonu no|telefon (cep)|irtibat no|iletişim no|iletişim telefonu"
        "|irtibat numarası|gsm numarası|tel|telefonu",
        "Mobil|Handy|Handynummer|Mobilnummer|Mobiltelefon|Telefon|Telefonnummer|Rufnummer|Tel.-Nr."
        "|Mobilfunknummer|Mobilfunk|Handy-Nr.|Telefon (mobil)|Mobil-Nr.|Tel.|Telefon-Nr.|Kontaktnummer"
        "|Rückrufnummer|Telefon mobil|Mobile|Rufnummer mobil",
    ),
    "other_phone": (
        "home phone|work phone|landline|second phone|other phone|secondary phone|alternative phone"
        "|office phone|home telephone|evening phone|daytime phone|business phone|alternate phone"
        "|home number|work number",
        "ev telefonu|iş telefonu|sabit telefon|diğer telefon|ev tel|iş tel|ikinci telefon"
        "|ev telefon no|alternatif telefon",
        "Festnetz|Telefon privat|Telefon geschäftlich|Festnetznummer|Telefon Festnetz|Tel. privat"
        "|Privattelefon|Tel. geschäftlich|weitere Telefonnummer|zweite Telefonnummer",
    ),
    "address": (
        "address|full address|home address|postal address|mailing address|current address"
        "|residential address|permanent address|present address|address line|address line 1"
        "|contact address",
        "adres|adresi|ev adresi|açık adres|ikametgah|ikamet adresi|yaşadığınız adres|yazışma adresi"
        "|tebligat adresi|posta adresi|oturduğu adres|adres bilgisi|ikamet adres",
        "Adresse|Anschrift|Wohnadresse|Postanschrift|Wohnanschrift|Wohnsitz Adresse|Privatadresse"
        "|Kontaktadresse|postalische Adresse|Adresse privat|Meldeadresse",
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
        "city|town|home city|city of residence|address city|current city|location city|residence city|municipality",
        "şehir|il|ilçe|yaşadığınız şehir|ikamet ettiği şehir|yaşadığı şehir|ikamet şehri|yaşadığınız il"
        "|yaşadığı il|yaşadığı kent|oturduğu il|oturduğu şehir|ikamet ettiği il|ikamet ili|şehir ilçe"
        "|bulunduğu şehir",
        "Stadt|Ort|Wohnort|Stadt Ort|Wohnstadt|PLZ Ort|aktueller Wohnort",
    ),
    "country": (
        "country|country of residence|home country|address country name|country name|country code|nation",
        "ülke|yaşadığı ülke|ikamet ülkesi|yaşadığınız ülke|bulunduğu ülke",
        "Land|Wohnsitzland|Staat|Wohnland|Land (Wohnsitz)",
    ),
    "location": (
        "location|current location|place of residence|area|region|city country|town country",
        "konum|ikamet yeri|yaşadığı yer|lokasyon|bölge|yaşadığınız yer|il ilçe",
        "Standort|Wohnsitz|Region|Wohngegend|Ort Land",
    ),
    "photo": (
        "photo|photo id|picture|profile photo|profile picture|candidate photo|headshot|photo document"
        "|picture id|photo no|photograph",
        "fotoğraf|foto|vesikalık|fotoğraf no|profil fotoğrafı|resim|fotoğraf id|fotoğraf dosyası|resim no",
        "Foto|Bewerbungsfoto|Lichtbild|Profilbild|Bild|Foto-ID|Passfoto|Foto Nr",
    ),
    "linkedin": (
        "linkedin|linkedin url|linkedin profile|linkedin profile url|linked in|linkedin link"
        "|linkedin account|linkedin page|linkedin id|linkedin address|linkedin account url",
        "linkedin profili|linkedin adresi|linkedin hesabı|linkedin linki|linkedin bağlantısı"
        "|linkedin sayfası|linkedin profil linki|linkedin url",
        "LinkedIn-Profil|LinkedIn-Link|LinkedIn Adresse|LinkedIn|LinkedIn-URL|Profil LinkedIn",
    ),
    "github": (
        "github|github url|github profile|git hub|github link|github account|github page|github handle"
        "|github username|github address",
        "github profili|github adresi|github hesabı|github linki|github sayfası|github url",
        "GitHub-Profil|GitHub-Link|GitHub-URL|GitHub-Seite",
    ),
    "portfolio": (
        "portfolio|portfolio url|portfolio link|portfolio website|personal website|website|homepage"
        "|web site|personal site|portfolio page|blog|web page|personal page|personal url",
        "portfolyo|portföy|kişisel web sitesi|web sitesi|portfolyo linki|portföy linki|web sayfası"
        "|kişisel site|kişisel sayfa|internet sitesi|blog",
        "Portfolio-Link|Webseite|persönliche Webseite|Arbeitsproben|eigene Webseite|Homepage|Internetseite"
        "|Portfolio-Seite|eigene Homepage",
    ),
    "behance": ("behance|behance url|behance profile|behance link", "behance profili|behance adresi", "Behance-Profil"),
    "dribbble": (
        "dribbble|dribbble url|dribbble profile|dribble|dribbble link",
        "dribbble profili|dribbble adresi",
        "Dribbble-Profil",
    ),
    "language": (
        "languages|language|language skills|spoken languages|languages you speak|languages spoken"
        "|foreign languages|language knowledge|language proficiency|mother tongue and languages"
        "|languages known|known languages",
        "diller|yabancı dil|yabancı diller|bildiği diller|dil bilgisi|bildiğiniz diller|dil"
        "|konuştuğunuz diller|dil bilgileri|konuştuğu diller|bildiği yabancı diller|lisan|lisan bilgisi"
        "|bildiği dil|yabancı dil bilgisi",
        "Sprachen|Sprachkenntnisse|Fremdsprachen|gesprochene Sprachen|Sprache|Fremdsprachenkenntnisse"
        "|Sprache(n)|Sprachen und Niveau|gesprochene Sprache",
    ),
    "salary": (
        "salary|expected salary|salary expectation|desired salary|expected monthly salary"
        "|salary expectations|expected pay|monthly salary expectation|expected annual salary"
        "|expected net salary|salary wish|pay expectation|target salary|expected compensation"
        "|requested salary|salary requirement|salary requirements|desired pay|expected ctc|asking salary"
        "|minimum salary",
        "ücret beklentisi|maaş beklentisi|beklenen maaş|beklenen ücret|net ücret beklentisi|maaş"
        "|ücret talebi|net maaş beklentisi|talep edilen ücret|aylık ücret beklentisi|ücret"
        "|ücret talebi (net)|talep ettiği ücret|talep ettiği maaş|istediği ücret|istenen maaş"
        "|beklediği ücret|beklenen net maaş|beklediği maaş",
        "Gehaltsvorstellung|Gehaltswunsch|Wunschgehalt|Gehaltserwartung|Gehaltsvorstellung brutto"
        "|gewünschtes Gehalt|Gehaltsvorstellungen|Gehalt|gewünschte Vergütung|Gehaltsangabe|Zielgehalt"
        "|Gehaltsvorstellung p.a.|Lohnvorstellung|Wunschgehalt brutto|Gehaltsforderung"
        "|gewünschtes Jahresgehalt|Jahresgehalt Wunsch",
    ),
    "notice": (
        "notice|notice period|notice weeks|notice period in weeks|notice period weeks|notice (weeks)"
        "|weeks notice|notice required",
        "ihbar süresi|ihbar süresi hafta|ihbar|ihbar hafta|ihbar süresi (hafta)|ihbar süresi gün",
        "Kündigungsfrist|Kündigungsfrist Wochen|Kündigungsfrist in Wochen|Frist Wochen|Kündigungsfrist (Wochen)",
    ),
    "available_from": (
        "available from|availability|earliest start date|available start date|start availability"
        "|can start from|availability date|earliest start|date available|available date|when can you start"
        "|when could you start|start availability date|ready to start|joining date|possible start date"
        "|can join from|available to start|earliest joining date|expected start date|expected joining date",
        "işe başlama tarihi|başlayabileceği tarih|en erken başlama tarihi|müsaitlik tarihi"
        "|işe başlayabileceğiniz tarih|ne zaman başlayabilirsiniz|en erken başlangıç tarihi|müsaitlik"
        "|işe başlayabileceği tarih|ne zaman başlayabilir|iş başı tarihi|işbaşı tarihi|uygunluk tarihi"
        "|başlayabilme tarihi|en erken başlama",
        "verfügbar ab|Eintrittsdatum|frühester Eintrittstermin|Eintrittstermin|Verfügbarkeit"
        "|frühestmöglicher Eintritt|möglicher Eintrittstermin|frühestes Eintrittsdatum"
        "|frühester Starttermin|wann können Sie anfangen|Einstieg ab|Einstiegsdatum|Starttermin"
        "|frühestmöglicher Starttermin|Eintritt ab|möglicher Starttermin|Wunschtermin Eintritt"
        "|Einstiegstermin|frühester Beginn|möglicher Beginn|Eintrittsdatum frühestens",
    ),
    "work_permit": (
        "work permit|do you have a work permit|right to work|work authorization|work authorisation"
        "|permit to work|authorized to work|legally authorized to work|has work permit|work visa"
        "|work permit status|eligible to work|eligibility to work|rtw|valid work permit"
        "|right to work status|work eligibility|employment authorization",
        "çalışma izni|çalışma izniniz var mı|çalışma izni var mı|çalışma izni durumu|çalışma izin"
        "|oturma ve çalışma izni",
        "Arbeitserlaubnis|Arbeitserlaubnis vorhanden|Haben Sie eine Arbeitserlaubnis|Arbeitsgenehmigung"
        "|Arbeitserlaubnis ja nein|Arbeitsbewilligung|gültige Arbeitserlaubnis|Arbeitsberechtigung",
    ),
    "level": (
        "level|seniority|seniority level|experience level|career level|job level|seniority grade"
        "|career stage|experience grade",
        "kıdem|seviye|deneyim seviyesi|kariyer seviyesi|kıdem seviyesi|kıdem düzeyi|kademe|pozisyon seviyesi",
        "Erfahrungsstufe|Karrierestufe|Karrierelevel|Senioritätsstufe|Erfahrungslevel|Seniorität|Level"
        "|Erfahrungsniveau|Hierarchieebene",
    ),
    "skills": (
        "skills|skill set|skillset|technical skills|key skills|technologies|tech stack|competencies"
        "|skills list|core skills|main skills|it skills|computer skills|software skills|hard skills"
        "|expertise|tools|programming languages|tech skills|knowledge",
        "yetenekler|beceriler|teknik beceriler|yetkinlikler|teknolojiler|bildiği teknolojiler"
        "|bildiğiniz teknolojiler|bilgisayar bilgisi|teknik yetkinlik|yetkinlikleri|uzmanlık alanları"
        "|kullandığı programlar|programlama dilleri|nitelikler",
        "Fähigkeiten|Kenntnisse|Kompetenzen|Technologien|IT-Kenntnisse|Fachkenntnisse"
        "|Skills und Kenntnisse|Skills|EDV-Kenntnisse|Softwarekenntnisse|Qualifikationen|Fachkompetenzen"
        "|Programmiersprachen|Computerkenntnisse",
    ),
    "cover_letter": (
        "cover letter|motivation letter|letter of motivation|motivation|cover note"
        "|why do you want to work with us|personal statement|motivational letter|message to employer"
        "|statement of purpose|letter",
        "ön yazı|önyazı|motivasyon mektubu|niyet mektubu|kapak yazısı|başvuru mektubu|motivasyon yazısı"
        "|kendini tanıtma yazısı",
        "Anschreiben|Motivationsschreiben|Begleitschreiben|Begleittext|Bewerbungsschreiben|Motivationstext"
        "|Bewerbungstext",
    ),
    "certificate": (
        "certificate|certificates|certificate id|certificate document|certifications|certificate file",
        "sertifika|sertifikalar|sertifika belgesi|sertifika no|sertifika belge no",
        "Zertifikat|Zertifikate|Zeugnis|Zertifikat Dokument|Zeugnisse",
    ),
    "birth_date": (
        "date of birth|birth date|dob|birthday|birthdate|born on|date born|birth dt|d o b",
        "doğum tarihi|doğum günü|d tarihi|doğum tar|dğ tarihi|doğum",
        "Geburtsdatum|Geburtstag|geboren am|geb|geb am|Geb.-Dat.|Geburtsdat.|geboren",
    ),
    "gender": (
        "gender|sex|gender identity|m f",
        "cinsiyet|cinsiyeti|k e",
        "Geschlecht|Geschlecht (m/w/d)|m w d",
    ),
    "nationality": (
        "nationality|citizenship|country of citizenship",
        "uyruk|vatandaşlık|uyruğu|tabiiyeti|milliyeti",
        "Nationalität|Staatsangehörigkeit|Staatsbürgerschaft",
    ),
    "military": (
        "military service|military status|military obligation|military service status",
        "askerlik|askerlik durumu|askerlik hizmeti|askerlik durumunuz|askerlik hizmet durumu|tecil durumu",
        "Wehrdienst|Wehrdienst geleistet",
    ),
    "driving_licence": (
        "driving licence|driving license|drivers license|driver license|driving licence class"
        "|driver licence class|has driving licence|licence class",
        "ehliyet|sürücü belgesi|ehliyet sınıfı|sürücü belgesi var mı|ehliyet var mı|ehliyet türü"
        "|ehliyet durumu|b ehliyet",
        "Führerschein|Führerscheinklasse|Führerschein vorhanden|Führerschein Klasse B|Führerschein Klassen"
        "|Fahrerlaubnis|Fahrerlaubnis Klasse B|Führerschein (Klasse)",
    ),
    "years_of_experience": (
        "years of experience|experience in years|total experience|total years of experience"
        "|experience years|total work experience|exp years|total exp|yrs of experience|experience (years)",
        "deneyim yılı|toplam deneyim|tecrübe yılı|toplam tecrübe|kaç yıl deneyim|deneyim süresi"
        "|tecrübe (yıl)|deneyim (yıl)|çalışma yılı",
        "Berufserfahrung in Jahren|Jahre Berufserfahrung|Berufsjahre|Berufserfahrung Jahre"
        "|Erfahrung in Jahren|Erfahrung (Jahre)",
    ),
    "current_salary": (
        "current salary|present salary|current pay|current ctc|last salary|present ctc",
        "mevcut maaş|mevcut ücret|güncel maaş|şu anki maaş|aldığı maaş|son maaş|son aldığı ücret|şimdiki maaş",
        "aktuelles Gehalt|derzeitiges Gehalt|bisheriges Gehalt|jetziges Gehalt|letztes Gehalt|Gehalt aktuell",
    ),
    "relocation": (
        "willing to relocate|relocation|open to relocation|relocate|ready to relocate|relocation possible",
        "şehir değişikliği|taşınabilir mi|şehir değiştirebilir|taşınma durumu|il değişikliği|şehir dışı",
        "Umzugsbereitschaft|umzugsbereit|Umzug möglich|Umzugsbereit?|Bereitschaft zum Umzug",
    ),
    "travel": (
        "willing to travel|travel|travel readiness|ready to travel|travel possible|business travel",
        "seyahat engeli|seyahat edebilir mi|seyahat|seyahat durumu|seyahat engeli var mı",
        "Reisebereitschaft|reisebereit|Bereitschaft zu Reisen|Dienstreisen",
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
        "id|candidate id|applicant id|record id|application id|no|nr|row|external id|reference number"
        "|unnamed|ref|ref no|reference no|serial no|s no|applicant no|candidate no|person id|uuid|guid"
        "|system id|registration number|badge number|record no|application no",
        "aday no|başvuru no|sıra no|kayıt no|sıra|tc kimlik no|tckn|sicil no|tc no|ref no"
        "|başvuru kodu|aday kodu|dosya no|öğrenci no|kayıt numarası|form no|sn|s n|başvuru numarası",
        "Bewerber-ID|Bewerbernummer|Kandidaten-ID|lfd Nr|Bewerbungsnummer|Kandidatennummer|Vorgangsnummer"
        "|Ref.-Nr.|Kennziffer|Referenznummer|Satz-Nr.|Bewerber-Nr.|Bew.-Nr.|Datensatz|Aktenzeichen"
        "|Stand-Nr.|Nummer der Bewerbung",
    ),
    "time_stamp": (
        "timestamp|created|created at|created time|creation time|modified|modified time|last change"
        "|updated at|application date|applied on|applied date|created date|last modified|date applied"
        "|submitted at|last updated|submission date|received|received on|date received|entry date"
        "|imported on|updated on|last contact|last activity|date of application|registered at"
        "|registration date|interview date|date added|added on|scanned on",
        "zaman damgası|başvuru tarihi|kayıt tarihi|oluşturma tarihi|güncelleme tarihi|son değişiklik"
        "|son güncelleme|gönderim tarihi|geliş tarihi|tarih|mülakat tarihi|görüşme tarihi|son iletişim"
        "|güncellenme|başvuru zamanı|form tarihi",
        "Zeitstempel|Bewerbungsdatum|Eingangsdatum|erstellt am|geändert am|Bewerbung eingegangen am"
        "|letzte Änderung|Eingang am|Beworben am|Eingang|Eingegangen am|Interviewtermin|Gesprächstermin"
        "|Absage am|Datum|letzter Kontakt|angelegt am|Erfassungsdatum|Stand vom|Datum der Bewerbung"
        "|Eingang der Bewerbung",
    ),
    "status": (
        "status|stage|candidate status|candidate stage|pipeline stage|state|result|is locked|rating|score"
        "|outcome|application status|decision|current status|application stage|pipeline|step"
        "|interview result|evaluation|grade given|test score|shortlisted|hired|rejected reason"
        "|rejection reason",
        "durum|aşama|başvuru durumu|aday durumu|sonuç|puan|değerlendirme|mülakat sonucu|görüşme sonucu"
        "|süreç durumu|değerlendirme puanı|ret nedeni|uygunluk|test sonucu",
        "Bewerbungsstatus|Phase|Bewertung|Ergebnis|Stand|Bearbeitungsstatus|Entscheidung|Prozessschritt"
        "|Bewerbungsphase|Absagegrund|Bewertung intern|interne Bewertung|Eignung|Prozessstatus"
        "|Gesprächsergebnis",
    ),
    "owner": (
        "recruiter|owner|hiring manager|created by|modified by|interviewer|contact person|agency"
        "|candidate owner|assigned to|assignee|responsible|handled by|account manager|booth staff|added by"
        "|consultant|agency consultant",
        "işe alım uzmanı|sorumlu|görüşmeci|ik uzmanı|mülakatı yapan|ik sorumlusu|görevli|danışman"
        "|ilgilenen kişi|kaydeden",
        "Personalreferent|Ansprechpartner|Sachbearbeiter|Recruiter in|Personaler|zuständig|Interviewer in"
        "|Betreuer|Personalreferentin|verantwortlich|Bearbeiter|betreut von",
    ),
    "applied_for": (
        "job|position applied|position applied for|applied position|job post|job posting|department"
        "|vacancy|applied for|posting title|requisition|office|contest number|posting|job opening"
        "|which position|applied role|role applied for|job title applied|vacancy title|desired position"
        "|vacancy name|campaign|job requisition|requisition id|job code|team",
        "departman|başvurulan pozisyon|başvurduğunuz departman|başvurduğunuz pozisyon|ilan"
        "|başvurduğu pozisyon|başvurulan departman|başvurduğunuz departman pozisyon|bölüm|ilan adı"
        "|başvurduğu ilan|talep edilen pozisyon|başvuru yapılan pozisyon|ilgilendiği pozisyon|ilan kodu"
        "|birim|başvurduğu bölüm|başvurduğu birim|şube",
        "Abteilung|Stelle|Stellenausschreibung|beworben auf|Bewerbung als|ausgeschriebene Stelle"
        "|Stellenbezeichnung|beworbene Stelle|Stellenanzeige|Anzeige|Zielposition|gewünschte Position"
        "|Stellen-ID|Standort der Stelle|Vakanz|Stellentitel Bewerbung|Team|Bereich|Ausschreibung"
        "|Stellennummer",
    ),
    "emergency": (
        "emergency phone|emergency contact|emergency contact number|emergency contact phone|emergency contact name",
        "acil telefon|acil durum telefonu|acil durum kişisi|yakınının telefonu|acil durumda aranacak kişi",
        "Notfallkontakt|Notfallnummer|Notfalltelefon|Notfall-Telefon",
    ),
    "reference": (
        "reference|references|referee|reference name|reference phone|reference email|referred by"
        "|who gets credit|referrer|referee email|referrer email|references available|referee contact"
        "|reference contact|reference person|recommended by",
        "referans|referanslar|referans adı|referans telefonu|referans olan kişi|tavsiye eden"
        "|referans bilgisi|referans kişi|referans kişi telefonu|tavsiye",
        "Referenz|Referenzen|empfohlen von|Referenzgeber|Referenzperson|Empfehlung|Referenzkontakt"
        "|Empfehlung von|geworben von",
    ),
    "note": (
        "note|notes|comment|comments|remarks|tags|labels|additional info|additional information|keywords"
        "|internal note|associated tags|interview notes|feedback|memo|message|description|other comments"
        "|internal comments|recruiter notes|observations|tag|reviewer comment|additional comments|other",
        "not|notlar|açıklama|yorum|etiketler|eklemek istedikleriniz|ek bilgi|görüşme notları|görüşme notu"
        "|notunuz|mesaj|diğer|ek notlar|düşünceler|ekler|eklemek istediğiniz",
        "Bemerkung|Bemerkungen|Notiz|Notizen|Anmerkung|Anmerkungen|Kommentar|Schlagworte|interne Notiz"
        "|Sonstiges|Hinweis|Hinweise|Gesprächsnotiz|Bemerkung intern|Vermerk|weitere Angaben|Freitext"
        "|Interviewnotizen",
    ),
    "salutation": ("salutation|mr mrs|prefix", "hitap", "Anrede|Titel"),
    "middle_name": (
        "middle name|maiden name|nickname|suffix|preferred name",
        "ikinci ad|kızlık soyadı|göbek adı|baba adı|anne adı",
        "Zweitname|Geburtsname|zweiter Vorname|Spitzname",
    ),
    "age": ("age|age group", "yaş|yaşı|yaş grubu", "Alter|Altersgruppe"),
    "birth_place": (
        "place of birth|birth place|birthplace|city of birth|country of birth",
        "doğum yeri|doğduğu yer|doğum ili",
        "Geburtsort|Geburtsland",
    ),
    "body": ("height|weight|height weight|blood type", "boy|kilo|boy kilo|kan grubu", "Größe|Gewicht|Blutgruppe"),
    "leisure": ("hobbies|interests|hobby", "hobiler|ilgi alanları|hobi", "Hobbys|Interessen|Freizeit"),
    "grade_average": (
        "gpa|grade average|final grade|marks|percentage",
        "not ortalaması|ortalama|diploma notu|mezuniyet notu",
        "Notendurchschnitt|Abschlussnote|Durchschnittsnote",
    ),
    "health": (
        "disability|smoker|health condition|criminal record",
        "engel durumu|engelli mi|sağlık durumu|sigara|sabıka kaydı|adli sicil",
        "Schwerbehinderung|Behinderung|Raucher|Führungszeugnis",
    ),
    "account": (
        "iban|bank account|ssn|tax number|passport number",
        "iban|banka hesabı|sgk no|vergi no|pasaport no",
        "Kontonummer|Steuernummer|Sozialversicherungsnummer|Passnummer|Bankverbindung",
    ),
    "reason": (
        "reason for leaving|leaving reason",
        "ayrılma nedeni|ayrılış nedeni|işten ayrılma nedeni",
        "Kündigungsgrund|Wechselgrund|Grund des Wechsels",
    ),
    "fax": ("fax|fax number", "faks|faks no", "Faxnummer|Telefax"),
    "marital": (
        "marital status|family status",
        "medeni durum|medeni hali|evli mi|çocuk sayısı|medeni",
        "Familienstand|Kinder|verheiratet|Zivilstand",
    ),
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
        "range": (
            "dates|period|date range|time period|duration|from to|start end|years|timeframe",
            "dönem|tarih aralığı|tarihler|süre|yıllar|başlangıç bitiş|zaman aralığı|dönemi",
            "Zeitraum|von bis|Dauer|Zeitspanne|Jahre|Daten",
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
