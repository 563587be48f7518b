"""The table of single words that say the same in a header, and of words that say nothing about what a column holds.

A header of several words is understood by it where no phrase of the table of header words is the header as a whole:
`Höchster Abschluss`, `Tel. mobil`, `Name des Bewerbers`. What is found so is likely and never certain.
"""

from __future__ import annotations

# On the left the word that stands for all of them: one of those that the phrases of header_words.py are made of.
SYNONYMS: dict[str, str] = {
    "phone": "phone phones telephone tel telefon telefonu fon telefonnr rufnummer call",
    "mobile": "mobile cell cellphone cellular gsm cep mobil handy mobiltelefon mobilfunk whatsapp mob",
    "no": "no number num nr nummer numara numarası id ids kennung kodu code",
    "email": "email emails mail mails eposta epostası emailadresse mailadresse",
    "address": "address addresses addr adres adresi adresse anschrift",
    "date": "date tarih tarihi datum zeitpunkt dated",
    "birth": "birth born geboren geburt geburts geb doğum",
    "name": "name names ad adı isim ismi namen",
    "first": "first given vor ilk",
    "firstname": "firstname forename vorname vornamen rufname givenname önad",
    "surname": "surname soyad soyadı soyisim soyismi nachname familienname zuname lastname",
    "salary": "salary gehalt gehalts maaş maaşı ücret ücreti lohn pay wage wages compensation remuneration vergütung",
    "expected": "expected expectation expectations desired wish wished wanted requested beklenen beklentisi beklenti"
    " talep edilen ettiği istenen erwartet erwartung erwartetes vorstellung vorstellungen wunsch gewünscht gewünschtes",
    "current": "current present mevcut güncel şuanki aktuell aktuelle aktueller aktuelles derzeitig derzeitige"
    " derzeitiger derzeitiges gegenwärtig jetzig",
    "last": "last latest recent letzte letzter letztes zuletzt son",
    "school": "school schools university universities college univ uni üniversite üniversitesi okul okulu schule"
    " hochschule universität fh academy akademie akademi institution institute institut fakülte fachhochschule",
    "degree": "degree degrees qualification qualifications abschluss abschlüsse derece derecesi bildungsabschluss"
    " diploma schulabschluss",
    "major": "major subject fach fachrichtung studienfach studiengang studienrichtung branş branşı discipline"
    " hauptfach specialisation specialization",
    "education": "education eğitim eğitimi öğrenim öğrenimi bildung ausbildung schulbildung studium tahsil",
    "experience": "experience experiences deneyim deneyimi tecrübe tecrübesi erfahrung berufserfahrung",
    "company": "company companies employer firm firma firması şirket şirketi unternehmen arbeitgeber betrieb"
    " organization organisation işyeri workplace işveren kuruluş",
    "position": "position positions title role pozisyon pozisyonu unvan unvanı ünvan ünvanı görev görevi"
    " tätigkeit funktion rolle berufsbezeichnung designation occupation",
    "start": "start starting started begin beginn from von başlangıç başlangıcı giriş eintritt since seit anfang"
    " başlama einstieg eintritts beginning commencement",
    "end": "end ending ended ende to bis until till finish finished bitiş bitişi çıkış ayrılış austritt leaving",
    "year": "year years yıl yılı jahr jahre",
    "graduation": "graduation graduated grad mezuniyet mezun",
    "language": "language languages sprache sprachen dil diller dilleri lang fremdsprache fremdsprachen",
    "skill": "skill skills yetenek yetenekler yetenekleri beceri beceriler becerileri kenntnisse fähigkeiten"
    " kompetenzen competencies competences yetkinlik yetkinlikler",
    "technology": "technology technologies teknoloji teknolojiler technologien tech technical teknik",
    "licence": "licence license ehliyet ehliyeti führerschein fahrerlaubnis licences driverslicense",
    "driver": "driving driver drivers sürücü fahrer",
    "permit": "permit permission authorization authorisation visa izin izni erlaubnis genehmigung",
    "city": "city town şehir şehri il ili stadt ort wohnort kent ilçe ilçesi",
    "country": "country ülke ülkesi land staat",
    "street": "street sokak cadde straße strasse str",
    "postcode": "postcode plz postleitzahl zip zipcode postalcode",
    "nationality": "nationality citizenship nationalität staatsangehörigkeit staatsbürgerschaft uyruk uyruğu"
    " vatandaşlık vatandaşlığı tabiiyet",
    "gender": "gender sex cinsiyet cinsiyeti geschlecht",
    "military": "military askerlik wehrdienst militär",
    "notice": "notice ihbar kündigungsfrist kündigung",
    "available": "available availability verfügbar verfügbarkeit müsait müsaitlik startdate",
    "earliest": "earliest frühest frühester frühestes frühestens frühestmöglich frühestmöglicher möglicher mögliches"
    " nächstmöglich nächstmöglicher erken",
    "photo": "photo picture foto fotoğraf fotoğrafı fotografie bild lichtbild image headshot resim",
    "certificate": "certificate certificates certification sertifika sertifikası zertifikat zertifikate zeugnis",
    "consent": "consent onay onayı rıza rızası einwilligung zustimmung einverständnis agree agreement kvkk gdpr dsgvo"
    " datenschutz privacy",
    "source": "source kaynak kaynağı quelle channel kanal kanalı origin herkunft",
    "website": "website web homepage webseite internetseite site sitesi page",
    "link": "link url linki bağlantı bağlantısı profile profil profili account hesap hesabı handle",
    "cv": "cv resume résumé özgeçmiş özgeçmişi lebenslauf vita",
    "document": "document belge belgesi dokument file dosya dosyası doc upload attachment",
    "level": "level seviye seviyesi stufe düzey düzeyi niveau grade",
    "type": "type tür türü art tipi şekli kind",
    "letter": "letter yazı yazısı mektubu schreiben anschreiben",
    "work": "work working worked works çalıştığı çalışılan gearbeitet iş işi arbeit arbeits çalışma beruf berufs",
    "history": "history geçmiş geçmişi werdegang background verlauf",
    "status": "status stage durum durumu aşama phase stand",
    "application": "application applications başvuru başvurusu bewerbung bewerbungs applied",
    "alternative": "alternative alternate alt other second secondary diğer ikinci zweite weitere alternatif additional",
    "home": "home ev landline festnetz sabit",
    "job": "job jobs employment",
}

# Words of a header that say nothing about what the column holds: whose it is, how it is asked for, in which unit.
NEUTRAL = (
    # people
    "candidate candidates applicant applicants student students participant participants attendee person persons people"
    " member employee trainee aday adayın adaylar başvuran başvuranın öğrenci öğrencinin kursiyer katılımcı personel"
    " kişi kişinin üye müracaatçı bewerber bewerbers bewerberin bewerbenden kandidat kandidaten kandidatin teilnehmer"
    " teilnehmers teilnehmerin studierende studenten schüler interessent person mitarbeiter"
    # how it is asked for
    " your you my please enter provide write give tell us about what which how where is are do does did have has can"
    " could would will own hold possess live based when the"
    " a an of for and or in on at as per it this that all if any with"
    " lütfen giriniz yazınız belirtiniz ve veya ile için olan var mı mi mu mü misiniz mısınız ne nedir hangi bir"
    " bildiği bildiğiniz konuştuğu konuştuğunuz kullandığı kullandığınız"
    " kaç size sizin sahip musunuz bulunuyor yaşıyorsunuz oturuyorsunuz zaman"
    " bitte angeben ihr ihre ihren ihrer dein deine und oder der die das des dem den ein eine einer eines im am zum zur"
    " einen einem wann besitzen besitzt verfügen über können wohnen leben liegt"
    " vorhanden haben sie welche welcher wie was wo ist für mit zu gem"
    " required optional mandatory zorunlu opsiyonel pflichtfeld optionell checked confirmed"
    # how it is meant
    " primary main preferred legal official personal private privat private privater best valid full complete"
    " birincil asıl geçerli resmi kişisel tam açık haupt bevorzugt bevorzugte persönliche vollständige höchste höchster"
    " höchstes highest top en yüksek possible"
    " estimated approx ungefähr yaklaşık"
    " info information details detail data value entry bilgi bilgisi bilgileri angabe angaben daten kontakt contact"
    " contacts iletişim irtibat user profile general genel allgemein"
    # units
    " brutto netto gross net monthly month aylık monatlich monat annual yearly yıllık jährlich per p pa eur euro euros"
    " try tl usd gbp chf klasse class sınıf sınıfı kl b"
)
