"""The words in the headings of museum, library and archive tables, and the weight of each meaning of a heading. They
are in the languages of the public pages, and in the exports of collection systems. A heading is also read without its
qualifiers: ``ObjectNumber``, ``dc.title[en_US]``, ``Title (en)``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from ..bindings.tables.columns import Columns

SECOND = frozenset({"further_numbers", "former_numbers"})
"""The columns of which a table can have several sources without a question."""

WORDS: Mapping[str, Mapping[float, str]] = {
    "identifier": {
        1.0: """
ark|arks|ark id|ark identifier|ark uri|ark url|ark number|ark nummer|ark kennung|numero ark|codice ark|codigo ark
identifiant ark|identificador ark|identificativo ark|pid|urn|persistent id|persistent identifier|identifiant perenne
identificador persistente|identificatore persistente|identifikator persistenter|persistenter identifikator|permalink id
bestandig identifierare|varaktig identifikator|vedvarende identifikator|постоянныи идентификатор
persistente identifier|permanente identifier|trwaly identyfikator|identyfikator trwaly|trvaly identifikator
identifiant unique perenne|identificativo persistente|persistent uri|persistente uri
المعرف الدائم|מזהה קבוע|永続的識別子|永続識別子|永久标识符|持久标识符""",
        0.6: "persistent url|permalink|permalien|handle|identifier|identifiant|identifikator|kennung|uri|url|link|lien",
    },
    "target": {
        1.0: """
landing page|object page|object url|object link|item url|record url|page url|link resource|resource link|web page
permalink|permalien|persistent url|persistent link|persistenter link|persistente link|permanent link|stable url
url to object page|url of the object|online url|public url|public access url|collection url|object web page
weblink objekt|link objekt|objektlink|objektseite|online sammlung|link online sammlung|permalink onlinesammlung
onlinesammlung|sammlung online|collection online|collections online|link to collections online|website url|webpage
lien notice|lien vers la notice|url notice|notice en ligne|lien permanent|url fiche|url de la notice|lien en ligne
link scheda|scheda online|url scheda|link alla scheda|collegamento scheda|url ficha|enlace ficha|ficha en linea
enlace permanente|enlace a la ficha|url del objeto|link naar object|url collectie|objectpagina|link objectpagina
online raadplegen|adres obiektu|url obiektu|stranka predmetu|catalogue url|catalog url|opac url|link opac|opac link
official url|uri record|landing page url|emuseum url|emuseum link|website link|access url|museum digital link
museum digital|museum digital url
url of linked out digital object|permanent lank|lank till objekt|lank till foremal|lank till samlingen|link til objekt
link til samling|link til samlingen|lenke til objekt|permanent lenke|permanent link til objekt|reference url
endereco da ficha|ligacao para a ficha|ligacao permanente|link da ficha|link do item|link do objeto|link do acervo
odnosnik do obiektu|link do obiektu|link do rekordu|trvaly odkaz|odkaz na predmet|ссылка на предмет|ссылка на объект
постоянная ссылка|адрес страницы|страница предмета|ссылка на госкаталог""",
        0.9: """
url|link|web address|website|web link|weblink|webadresse|internetadresse|lien|lien web|adresse web|enlace|enlace web
direccion web|collegamento|indirizzo web|sito web|link web|ligacao|hiperligacao|endereco web|koppeling|webadres
odnosnik|lacze|adres www|odkaz|webova adresa|target url|lank|lanken|webblank|webbadress|webbplats|lenke|webadresse
ссылка|адрес|веб адрес|сайт|посилання|linkki|verkko osoite|new target|href|uri|web|www|internet|homepage|webseite
رابط|الرابط|عنوان الويب|קישור|כתובת אתר|リンク|ウェブアドレス|链接|連結|網址|网址""",
        0.7: "address|adresse|direccion|indirizzo|endereco|adres|adresa|location|source url|handle|doi url|hdl|online",
    },
    "what": {
        1.0: """
title|titel|titre|titulo|titolo|tytul|nazev|main title|title proper|object title|work title|item title|record title
display title|preferred title|preferred labels|preferred label|werktitel|objekttitel|haupttitel|sachtitel
hauptsachtitel|titel des werks|titel werk|titel object|titre principal|titre de l oeuvre|titre propre|intitule
titulo principal|titulo de la obra|titolo dell opera|titolo opera|titolo proprio|hoofdtitel|objecttitel|titr|titles
intitule de l unite|titulo propio|titulo atribuido
titel foremal|verktitel|vaerktitel|tittel|verkstittel|245 a|titulo da obra|titulo da peca|titulo do item|tytul obiektu
название|название произведения|заглавие|заголовок|назва|nimi teoksen|teoksen nimi|nimeke|sgti|sgtt|unit title text
titulo propiamente dicho|tytul dziela|nazev dila|title of work|title statement
العنوان|عنوان|عنوان العمل|כותרת|שם היצירה|タイトル|題名|作品名|資料名|标题|標題|题名|名称|作品名称""",
        0.8: """
bezeichnung|objektbezeichnung|designation|denominacion|denominazione|denominacao|benaming|nazwa|nazwa obiektu
nazev predmetu|designation de l objet|kurztitel|short title|label|caption|unit title|unittitle|name of the object
component title|nombre del objeto|bezeichnung des objekts|appellation|denomination|benamning|betegnelse|betegnelsen
наименование|наименование предмета|naimenovanie|наименування|digital object title""",
        0.6: """
object name|objektname|objectnaam|nom de l objet|nome oggetto|nombre objeto|objeto documento|objeto|oggetto|objet
objekt|object|gegenstand|objname|deno|object names|name|nom|nome|nombre|naam|sachbegriff|item name
foremalsnamn|foremalstyp|gjenstand|gjenstandsnavn|genstand|genstandsnavn|sakord|предмет|ogtd|esine""",
        0.5: "brief description|kurzbeschreibung|short description|description breve|titel beschreibung",
        0.45: "titel varianten|alternative title|title alternative|andere titel|autre titre|otro titulo|altro titolo",
    },
    "who": {
        1.0: """
creator|creators|author|authors|artist|artists|maker|makers|photographer|artist display name|artist name|artist maker
kunstler|kunstlerin|kunstler in|kunstlerinnen|kuenstler|kuenstlerin|kunstler hersteller|urheber|urheberin|autor
autorin|autoren|verfasser|verfasserin|hersteller|herstellerin|fotograf|fotografin|artiste|artistes|auteur|auteurs
createur|auteur executant|auteurs executants|photographe|autora|autores|artista|artistas|artisti|creador|creadora
fotografo|autore|autori|creatore|criador|kunstenaar|kunstenaars|vervaardiger|vervaardigers|maker kunstenaar|fotograaf
tworca|autor tworca|artysta|wykonawca|tvurce|umelec|autr|creator name|creator names|creators name|main author
personal author|kunstler name|name des kunstlers|nom de l artiste|nome autore|nombre del autor|naam maker|artist all
author personal|producer|product author|autor artista|autor creador|auteur createur|creator display|konstnar
tillverkare|upphovsman
upphovsperson|fotograf foto|forfattare|kunstner|kunstneren|ophavsmand|producent maker|forfatter|kunstner produsent
produsent
100 a|aktotworca|autoria|autor da obra|autor tworca dziela|автор|художник|создатель|мастер|изготовитель
автор создатель|художник автор
автори|tekija|taiteilija|valmistaja|autn|object production person|object production people|production person
origination
المؤلف|الفنان|المنشئ|מחבר|המחבר|יוצר|אמן|作者|制作者|作家|著者|創作者|创作者|艺术家|藝術家""",
        0.7: """
display name|constituent|constituents|people|person|personen|beteiligte|beteiligte person|beteiligte personen
personnes|producent|producteur|produttore|productor|contributor|event actors|creation actors|agent|agents
nom du producteur|nombre del productor|attribution|zuschreibung|creator agent|soggetto produttore|made by
provenienz bildner
linked agent|linked agents|event actor|event actors display|collector creator|arkivbildare|arkivskapare
фондообразователь
name of creator|names of creators|manufacturer""",
    },
    "when": {
        1.0: """
date|dates|year|dated|datum|datierung|datierungen|jahr|entstehungszeit|entstehungsjahr|entstehungsdatum|laufzeit
herstellungsdatum|herstellungsjahr|annee|datation|datation de l oeuvre|date de creation|date de fabrication
periode de creation|epoque de creation|periode de fabrication|dates extremes|dates extreme|date extreme|fecha|fechas
fecha de creacion|fechas extremas|ano|datacion|data
date di creazione|anno|datazione|cronologia|estremi cronologici|data di creazione|datacao|datering|datering object
vervaardigingsdatum|jaar|periode|rok|data powstania|datowanie|datace|rok vzniku|date made|date created|creation date
production date|date of production|object date|display date|date display|date expression|dates of creation|date issued
date of creation|date of publication|publication year|publication date|date published|copyrightdate|copyright date
erscheinungsjahr|annee de publication|ano de publicacion|anno di pubblicazione|jaar van uitgave|work date|date of work
event dates|creation dates|dating|object dated|inclusive dates|date s|date text|datum der entstehung|zeitstellung
260 c|264 c|dat|datierung text|dates expression|unit date|unitdate|date original|original date|tillverkningsar
tillverkningstid|tillkomsttid
artal|ar|arstal|ar for tillkomst|aarstal|tid|tidsperiod|datert|ar datering|fremstillingsar|fremstillingstid
produksjonsar
data de producao|data de criacao|data da obra|datas extremas|datas limite|data limite|ano de publicacao|ano de producao
czas powstania|datowanie obiektu|daty skrajne|rok powstania|rok wydania|czas powstania obiektu|doba vzniku
дата|датировка|год|время создания|дата создания|год создания|годы|краиние даты|год издания|датування|рік
ajoitus|vuosi|valmistusaika|date created display|production date group date display date
object production date group date display date
التاريخ|تاريخ|السنة|תאריך|שנה|日付|年|制作年|年代|年月日|日期|年份|创作年代""",
        0.7: """
object begin date|begin date|date begin|datierung von|datering begin|datering van|production date start|start date
earliest date|date from|date early|date debut|year from|jahr von|period|epoche|epoque|siecle|siglo|secolo|eeuw|peri
millesime|mill|zeit|zeitraum|publication|date earliest|year early|epoca|seculo|wiek|век|период|эпоха|århundrade
dtsi|dtzg|dtz""",
    },
    "where": {
        1.0: """
place|place of creation|place made|place of origin|production place|place of production|ort|entstehungsort
herstellungsort|fundort|erscheinungsort|lieu|lieu de creation|lieu de production|lieu d execution|lugar
lugar de creacion|lugar de produccion|luogo|luogo di creazione|luogo di produzione|local|plaats
plaats van vervaardiging|vervaardigingsplaats|plaats vervaardiging|miejsce|miejsce powstania|misto|misto vzniku
creation place|geography|origin|place of publication|herkunft ort|ort der herstellung|place production
plats|tillverkningsort|tillverkningsplats|fyndplats|tilverkningssted|sted|fremstillingssted|fundsted|funnsted
produksjonssted
lugar de origem|local de producao|local de origem|local de criacao|proveniencia lugar|miejsce wykonania|miejsce wydania
место создания|место изготовления|место издания|место|место находки|paikka|valmistuspaikka
المكان|מקום|場所|制作地|地点|地點|产地""",
    },
    "how": {
        1.0: """
object type|type of object|objekttyp|objektart|gattung|type d objet|type de document|tipo de objeto|tipo di oggetto
objectsoort|soort object|typ obiektu|rodzaj obiektu|typ predmetu|druh predmetu|resource type|item type|work type
objekttype|genstandstype|вид предмета|тип предмета|тип объекта|tipo de peca
نوع القطعة|סוג פריט|資料種別|种类|類別""",
    },
    "resource": {
        1.0: """
inventory number|inventory no|inv no|inventory nr|inventory id|inventory code|accession number|accession no|acc no
accession nr|accession|call number|item call number|itemcallnumber|shelf mark|shelfmark|object number|object no
object identifier|objectnumber|idno|museum number|museum no|registration number|registration no|item number|item no
inventarnummer|inventarnr|inventar nr|inv nr|inventar|inventar nummer|objektnummer|objekt nr|objektnr|sammlungsnummer
ident nr|identnr|identnummer|identifikationsnummer|identifizierungsnummer|zugangsnummer|zugangsnr|eingangsnummer
akzessionsnummer|signatur|signatur alt neu|archivsignatur|archivaliensignatur|bestellsignatur|standortsignatur|cote
cotes|cote du document|numero d inventaire|n d inventaire|no d inventaire|nr d inventaire|n inventaire
numero inventaire|inventaire|num inventaire|n inv|no inv|inv|numero d objet|numero d entree|numero d enregistrement
numero de inventario
n inventario|no inventario|num inventario|nro inventario|n de inventario|no de inventario|inventario|numero inventario
signatura|signatura topografica|numero de registro|n registro|n de registro|no de registro|numero di inventario
inventario n|segnatura|collocazione|numero de tombo|cota|numero de inventario geral|inventarisnummer|inventarisnr
inventaris nr|objectnummer|object nr|objectnr|registratienummer|accessienummer|archiefnummer inventarisnummer
numer inwentarzowy|nr inwentarzowy|nr inw|nr inwent|sygnatura|inventarni cislo|inv cislo|inv c
component unique identifier|reference code|code de reference|cote de reference|codigo de referencia
codice di riferimento
reference number|reference no|ref no|refno|ref number|referencecode|catalog number|reg number|reg no|reg nr|work id
inventarienummer|inventarienr|inv nummer|foremalsnummer|foremalsnr|foremals id|accessionsnummer|arkivnummer|referenskod
signum|hyllsignum|genstandsnummer|genstandsnr|museumsnummer|museumsnr|gjenstandsnummer|gjenstandsnr
identifikasjonsnummer
inventarnummer nr|journalnummer|tilvekstnummer|aksesjonsnummer|referencekode|n de inventario geral|n inv geral
n de tombo
n tombo|tombo|numero de registo|n de registo|no de registo|codigo de referencia do item|numer obiektu|nr obiektu
numer katalogowy
nr katalogowy|numer zabytku|inventarni cislo predmetu|инвентарныи номер|инв номер|инв no|инв n|инвентарныи no
учетныи номер|учетное обозначение|шифр|архивныи шифр|номер предмета|номер по кп|інвентарнии номер|esinenumero
inventaarionumero|952 o|hyllypaikka|diaarinumero|catalog number|catalogue number|catalog no
catalogue no
catalogue reference|unit id|unitid|component id|archival reference|archivaliennummer|altrefno|numero de catalogo
numero di catalogo|numero catalogo|nct|catalog nr|catalognumber|specimen number|collection number|inventory num
رقم الجرد|رقم القيد|رقم التسجيل|מספר מלאי|מספר קטלוגי|מספר אוסף|登録番号|資料番号|所蔵番号|整理番号|收藏号
登记号|总登记号|藏品编号|藏品号|馆藏号|館藏號|登錄號""",
        0.9: "identifier",
        0.75: """
sig|invn|katalognummer|catalogusnummer|номер кп|кп номер|номер госкаталога|номер в госкаталоге
номер по главнои инвентарнои книге|katalog nr|numero de catalogue|n de catalogue|verzeichnis nr
werknummer""",
        0.62: "nummer|numero|number|no|nr|n|cislo|numer|nro|номер|eprintid|eprint id|source identifier|signature",
        0.6: """
object id|objectid|objekt id|item id|itemid|record number|record id|identifikator|kennung|identifiant|reference
identificador|identificativo|identificatore|id number|archival id|referenz|ref|legacy id|unique id|local identifier
local id|code|ead id|identificatienummer|identifikation|digital object id|digital object identifier|tunniste
шифр записи""",
        0.5: """
mms id|mmsid|irn|emu irn|csid|gbif id|gbifid|sys nr|sysnr|field id|lido rec id|record identifier
id|biblionumber|biblio number|itemnumber|priref|mkey|obj id|objid|uuid|guid|system id|system number|database id|uid|pk
datensatz id|datensatznummer|record no|id objet|id oggetto|id objeto|id notice|barcode|barcode number|strichcode
code barres|codigo de barras|codice a barre|streepjescode""",
    },
    "former_numbers": {
        0.9: """
former number|former numbers|former inventory number|old number|old inventory number|old accession number
previous number
previous inventory number|previous accession number|former accession number|former call number|old call number
altsignatur|alte signatur|fruhere signatur|fruhere inventarnummer|alte inventarnummer|fruhere nummer|alte nummer
ancien numero|anciens numeros|ancien numero d inventaire|ancienne cote|anciennes cotes|numero anterior|numero antiguo
signatura antigua|numero de inventario anterior|numero precedente|vecchio numero|vecchia segnatura|segnatura antica
inventario precedente|oud nummer|oud inventarisnummer|oude inventarisnummer|vorig nummer|numero antigo|dawny numer
stary numer|stare inv cislo|puvodni inventarni cislo|previous numbers|old numbers|vroeger nummer|n anterior|n ancien"""
    },
    "further_numbers": {
        0.8: """
further number|further numbers|other number|other numbers|other identifier|other identifiers|alternate identifier
alternate identifiers|alternative number|additional number|weitere nummer|weitere nummern|andere nummer|autre numero
autres numeros|otro numero|otros numeros|altro numero|altri numeri|ander nummer|andere nummers|overige nummers
other catalog numbers|other catalogue numbers|other catalog number|andra nummer|ovriga nummer|andre numre|andre nummer
outro numero|outros numeros|inny numer|inne numery|другие номера|другои номер|дополнительныи номер""",
        0.45: "barcode|barcode number|strichcode|code barres|codigo de barras|codice a barre|streepjescode",
    },
    "dc.description": {1.0: "dc description|description abstract"},
    "reason": {1.0: "withdrawal reason"},
}
"""The words for headings by column and weight, without accents and in lower case."""

_NEVER: Mapping[str, str] = {
    "target": """
image images img bild bilder thumbnail thumb thumbnailurl foto fotos photo photos picture afbeelding immagine imagen
imagem obraz licence license lizenz licentie licencia licenza rights rechte droits derechos diritti manifest iiif media
video audio download pdf artist kunstler ulan wikidata viaf gnd tgn aat vocabulary authority person maker creator
constituent place ort geonames logo wiki wikipedia file datei fichier bestand preview vorschau iconclass schema parent
provider institution repository urheber concept begriff norm normdaten digital parentslug
изображение изображения фото фотография лицензия миниатюра скан скана автор автора места zdjecie zdjecia
fotografia skan licencja
autora tworcy miejsca bilden bildlank licens kuva miniatura autor
skany instrument findbuch findmittel finding exhibition exhibitions ausstellung exposition tentoonstelling mostra
exposicion
utstallning wystawa wystawy exposicao выставка выставки loan""",
    "what": """
file image bild series reihe serie collection sammlung exhibition ausstellung language sprache uri url link count
filename subtitle untertitel id number nummer nr numero date level parent artist kunstler author role prefix type
uniform host journal medium creator maker
автора серия серии выставка выставки файл файла коллекция языка wystawy serii pliku utstallning utstilling samling""",
    "who": """
date dates birth death bio biography nationality role rolle id ids url uri gender born died begin end lebensdaten
geboren gestorben gnd ulan viaf wikidata place ort prefix suffix record modified modifier cataloged catalogued entered
cataloguer image rights email alpha sort number nummer nr owner donor lender birthplace nationalitat nationalite
history geschichte type
дата даты рождения смерти владелец хранитель даритель urodzenia smierci wlasciciel donator agare givare eier giver
nascimento morte""",
    "when": """
birth death born died accession acquisition zugang erwerbung erwerb erwerbungsdatum acquired entry record modified
ingreso ingresso adquisicion acquisizione aquisicao entree baja alta restauration restauracion restauro conservation
received catdate recu
notice fiche ficha scheda datensatz erfassung
changed change update updated letzte anderung aanderungsdatum loan exhibition photo digitization digitized scan
valuation insurance inventory inventur entered imported accessioned available submitted artist kunstler lifespan
cataloged catalogued catalogue revision last constituent copyright deaccession location verwerving
acquisitie mutatie wijziging deletion accessdate
поступления поступление приобретения регистрации записи рождения смерти изменения обновления nabycia wpisu
modyfikacji urodzenia smierci
forvarv forvarvsdatum forvarvat registrerad registrering registreringsdatum fodelse fodd dod erhvervelse erhvervet
ervervelse
ervervet ervervsdato incorporacao registo nascimento morte nascita inventariacao digital""",
    "where": """
storage standort current location lager depot birth death birthplace repository shelf regal normal id url uri tgn
geonames permanent room box
хранения рождения смерти przechowywania magazyn urodzenia smierci forvaring fodelse oppbevaring opbevaring lagring
guarda nascimento""",
    "how": "id url uri number level",
    "resource": """
old alt alte alter former ancien ancienne anciens previous vorherige fruhere fruher oud oude antiguo antigua anterior
precedente vecchio vecchia stary parent loan leih leihnummer negative negativ photo foto image bild artist kunstler
constituent exhibition lot batch rights phone storage box file filename media page seite volume band issue isbn
issn doi
person maker creator department place location type level donor set series temporary temp other andere autre otro altro
owner value format language count title titel name set url uri link schema wikidata gnd viaf oclc lccn related
старыи прежнии бывшии временныи телефона папки места хранения коробки выставки негатива dawny poprzedni wystawy
negatywu
pudelka tidigare gammalt gammel gamle tidligere foregaende lada negativnummer anterior antigo provisorio""",
    "identifier": "parent image bild file artist related place person successor isbn issn doi wikidata viaf gnd local",
}
"""Words that take a meaning from a longer heading: "Artist begin date" is not the date of the thing."""

_FORMER = frozenset(
    {
        *(
            "old",
            "alt",
            "alte",
            "alter",
            "former",
            "formerly",
            "previous",
            "ancien",
            "ancienne",
            "anciens",
            "anciennes",
        ),
        *("vorherige", "fruhere", "fruher", "oud", "oude", "vorig", "vorige", "vroeger", "antiguo", "antigua"),
        *("anterior", "anteriores", "antigo", "antiga", "precedente", "precedenti", "vecchio", "vecchia", "stary"),
        *("stare", "dawny", "puvodni"),
        *(
            "poprzedni",
            "poprzednia",
            "dawna",
            "stara",
            "старая",
            "прежняя",
            "tidigare",
            "gammalt",
            "gammel",
            "gamle",
            "tidligere",
            "foregaende",
            "старыи",
            "прежнии",
            "бывшии",
        ),
    }
)
"""Words that make a number a former one."""

_BEGINNINGS = frozenset(
    {
        *("begin", "start", "anfang", "beginn", "von", "from", "debut", "iniziale", "inicial", "inicio", "initiale"),
        *("earliest", "early", "van", "desde", "dal"),
        *("nachalo", "начало", "от", "fra", "fran", "od", "poczatkowa", "dtsi"),
    }
)
"""Words of the first of two columns with dates."""

_ENDS = frozenset(
    {
        "end",
        "ende",
        "eind",
        "fin",
        "bis",
        "final",
        "finale",
        "finales",
        "fine",
        "hasta",
        "latest",
        "late",
        "tot",
        "to",
        "til",
        "till",
        "do",
        "koncowa",
        "конец",
        "dtsf",
    }
)
"""Words of the second of two columns with dates."""

_OR = (" / ", "/", " oder ", " or ", " ou ", " o ")
"""Signs between two headings of one column: "Titre ou sujet"."""

_STEMS = (
    *("inventar", "objekt", "object", "zugang", "eingang", "akzession", "accessie", "sammlungs", "museums", "ident"),
    *("registr", "akzessions", "archivalien", "collectie", "inwent", "invent"),
)
_NUMBERS = ("nummer", "nr", "numer", "number", "num", "no")
_SPACES = frozenset(
    {
        *("dc", "dcterms", "dct", "dublin core", "dublincore", "dcmitype", "schema", "erc", "ca objects", "ca object"),
        *("object", "objects", "objekt", "ca", "mods", "bibo", "edm", "lido", "item", "record", "work", "obj"),
    }
)
_QUALIFIED: Mapping[str, tuple[str, float]] = {
    "title": ("what", 1.0),
    "creator": ("who", 1.0),
    "contributor author": ("who", 1.0),
    "creator author": ("who", 1.0),
    "contributor": ("who", 0.6),
    "date issued": ("when", 1.0),
    "date created": ("when", 0.95),
    "created": ("when", 0.95),
    "issued": ("when", 0.95),
    "date": ("when", 0.95),
    "temporal": ("when", 0.6),
    "identifier uri": ("target", 0.95),
    "identifier": ("resource", 0.9),
    "identifier inventory": ("resource", 1.0),
    "identifier other": ("resource", 0.6),
    "identifier ark": ("identifier", 1.0),
    "spatial": ("where", 0.9),
    "coverage spatial": ("where", 0.9),
    "description": ("dc.description", 0.9),
    "description abstract": ("dc.description", 0.8),
    "abstract": ("dc.description", 0.8),
    "subject": ("dc.subject", 0.9),
    "publisher": ("dc.publisher", 0.9),
    "type": ("dc.type", 0.9),
    "format": ("dc.format", 0.9),
    "medium": ("dc.format", 0.8),
    "language": ("dc.language", 0.9),
    "language iso": ("dc.language", 0.9),
    "rights": ("dc.rights", 0.9),
    "rights uri": ("dc.rights", 0.7),
    "license": ("dc.rights", 0.7),
    "source": ("dc.source", 0.9),
    "relation": ("dc.relation", 0.8),
    "coverage": ("dc.coverage", 0.9),
}
_DUBLIN_CORE = ("dc", "dcterms", "dct", "dublin core", "dublincore")
_ENDINGS = frozenset(("a", "in", "innen", "o", "as", "os", "e", "rice", "r", "s", "trice", "ne", "ka", "kyne"))
_FILLERS = frozenset(
    {
        *("of", "the", "a", "an", "for", "to", "in", "and", "de", "du", "des", "d", "l", "la", "le", "les", "et"),
        *(
            "der",
            "die",
            "das",
            "den",
            "dem",
            "zu",
            "zum",
            "zur",
            "im",
            "und",
            "del",
            "della",
            "dello",
            "di",
            "do",
            "da",
        ),
        *("van", "het", "een", "el", "los", "las", "y", "e", "obj", "ca", "vrt", "txt"),
    }
)
_OF_VALUES = frozenset(("value", "values", "text", "SummaryData"))
_LANGUAGES = frozenset(("EN", "DE", "FR", "IT", "ES", "NL", "PT", "PL", "CS", "RU", "SV", "D", "F", "E", "I"))
_CONTAINED = 0.85
_LEAST_COVERED = 0.33
_SHORTEST_JOINED = 5
_FIRST_DATE = 0.7
_LEAST_OF_NUMBER = 0.6
_LONGEST = 120


def fold_heading(heading: str) -> str:
    """Return a heading for a comparison: lower case, without accents and soft hyphens, with one space for other signs.

    >>> fold_heading(" Künstler*in: "), fold_heading("N° d'inventaire"), fold_heading("Název_předmětu")
    ('kunstler in', 'n d inventaire', 'nazev predmetu')
    """
    lowered = heading.casefold().replace("ł", "l")
    for sign in "°º":
        lowered = lowered.replace(sign, " ")
    letters = unicodedata.normalize("NFKD", lowered.replace("#", " number "))
    plain = "".join(each for each in letters if not unicodedata.combining(each) and unicodedata.category(each) != "Cf")
    # Some accents are letters of their own in other scripts, so that the words are composed again.
    words = "".join(each if each.isalnum() else " " for each in unicodedata.normalize("NFKC", plain))
    return " ".join(words.split())


@cache
def _phrases() -> dict[str, list[tuple[str, float]]]:
    found: dict[str, list[tuple[str, float]]] = {}
    for column, by_weight in WORDS.items():
        for weight, words in by_weight.items():
            for phrase in words.replace("\n", "|").split("|"):
                if phrase and all(column != each for each, _ in found.get(fold_heading(phrase), ())):
                    found.setdefault(fold_heading(phrase), []).append((column, weight))
    # Names of fields have no spaces: "invno", "displaydate".
    joined: dict[str, list[tuple[str, float]]] = {}
    for phrase, meanings in found.items():
        one = phrase.replace(" ", "")
        if len(one) >= _SHORTEST_JOINED and one not in found:
            joined.setdefault(one, meanings)
    return found | joined


@cache
def _never() -> dict[str, frozenset[str]]:
    return {column: frozenset(fold_heading(words).split()) for column, words in _NEVER.items()}


@lru_cache(maxsize=1024)
def weights(heading: str) -> Mapping[str, float]:
    """Return the weight of each meaning that a heading can have: 0 to 1. The weight 0 of a meaning means that the
    heading excludes it, as "Thumbnail" excludes the target.

    >>> dict(weights("ObjectNumber")), weights("Title (en)")["what"], dict(weights("Artist ULAN URL"))
    ({'resource': 1.0}, 1.0, {'target': 0})
    """
    text = heading.strip()[:_LONGEST]
    found: dict[str, float] = {}
    main = _without_qualifiers(text)
    space, element = _divide(main)
    if element:
        rest = fold_heading(_words(element))
        if space in _DUBLIN_CORE:
            if rest in _QUALIFIED:
                column, weight = _QUALIFIED[rest]
                found[column] = weight
                if column == "resource":
                    found["identifier"] = 0.9
                return found
            if rest.split(" ")[0] in ("title", "date", "identifier", "contributor", "creator", "description"):
                return {}
        if space.startswith("ca ") and space not in _SPACES:
            return {"who": 0.7} if space == "ca entities" else {}  # of another record than the object
        parts = [each for each in rest.split() if not each.isdecimal()]
        _add(found, _of_phrase(" ".join(parts)), 0.97 if space in _SPACES else 0.8)
        _add(found, _of_phrase(" ".join([space, *parts])), 0.97)
        if not found and space in _SPACES:
            for each in (element.partition(" ")[0], element.rpartition(" ")[2]):
                _add(found, _of_phrase(fold_heading(_words(each))), 0.8)
    for each in dict.fromkeys((fold_heading(main), fold_heading(_words(main)))):
        _add(found, _of_phrase(each), 1.0)
    for sign in _OR:
        for each in main.split(sign) if sign in main else ():
            _add(found, dict(_phrases().get(fold_heading(_words(each)), ())), 0.95)
    tokens = set(fold_heading(_words(text)).split())
    if tokens & _FORMER:
        _add(found, _weights_of_former(fold_heading(_words(main)).split()), 1.0)
    is_begin, is_end = bool(tokens & _BEGINNINGS), bool(tokens & _ENDS)
    if is_begin != is_end and found.get("when", 0) > (most := _FIRST_DATE if is_begin else 0):
        found["when"] = most
    for column, words in _never().items():
        is_phrase = found.get(column, 0) >= 1 and _is_phrase(main, column)
        if tokens & words and not is_phrase and (column in found or column == "target"):
            found[column] = 0
    return {column: weight for column, weight in found.items() if weight or column == "target"}


def excludes(weight: Mapping[str, float], meaning: str) -> bool:
    """Return whether the result of :func:`weights` for a heading rules out a meaning, even if the values fit."""
    return weight.get(meaning) == 0


def same(heading: str, other: str) -> bool:
    """Return whether two headings differ only in their language or qualifier, as "Title (en)" and "Title (fr)".

    >>> same("Title (en)", "Title (fr)"), same("dc.title", "dc.title[en]"), same("Title", "Object name")
    (True, True, False)
    """
    return fold_heading(_words(_without_qualifiers(heading))) == fold_heading(_words(_without_qualifiers(other)))


def is_own_element(column: str) -> bool:
    """Return whether a heading that is the name of a column of bindings surely means it: without a dot, or with "dc" or
    "erc" before it. Other names with a dot can be those of another system.
    """
    return not any(sign in column for sign in ".") or column.partition(".")[0].lower() in ("dc", "erc")


def meaning(heading: str) -> str:
    """Return the column of bindings that a heading of a spreadsheet means most, or "".

    >>> meaning("Künstler"), meaning("Cote"), meaning("dc.title"), meaning("Versicherungswert")
    ('who', 'resource', 'dc.title', '')
    """
    if found := Columns().find(heading):
        return found
    weighed = weights(heading)
    best = max(weighed, key=lambda column: weighed[column], default="")
    return best if best and weighed[best] >= 0.5 else ""


def _weights_of_former(tokens: Sequence[str]) -> dict[str, float]:
    """Return the weight of former numbers of a heading that is a number with a word for "old"."""
    rest = " ".join(each for each in tokens if each not in _FORMER)
    return {"former_numbers": 0.9} if _of_phrase(rest).get("resource", 0) >= _LEAST_OF_NUMBER else {}


def _add(found: dict[str, float], more: Mapping[str, float], share: float) -> None:
    for column, weight in more.items():
        found[column] = max(found.get(column, 0), round(weight * share, 3))


def _is_phrase(text: str, column: str) -> bool:
    return any(
        column == each
        for form in (fold_heading(text), fold_heading(_words(text)))
        for each, weight in _phrases().get(form, ())
        if weight >= 0.9
    )


def _of_phrase(phrase: str) -> dict[str, float]:
    """Return the weights of a folded heading: of the whole, without an ending for women, and of the words in it."""
    known = _phrases()
    if phrase in known:
        return dict(known[phrase])
    tokens = phrase.split()
    while len(tokens) > 1 and tokens[-1] in _ENDINGS:
        tokens = tokens[:-1]
        if (shorter := " ".join(tokens)) in known:
            return dict(known[shorter])
    if len(tokens) > 1 and tokens[-1].isdecimal():
        return {column: 0.95 * weight for column, weight in _of_phrase(" ".join(tokens[:-1])).items()}
    found: dict[str, float] = {}
    for token in tokens:
        if token.startswith(_STEMS) and token.endswith(_NUMBERS):
            found["resource"] = 0.95
        elif len(token) > 6 and token.endswith(("titel", "title")):
            found["what"] = 0.9
    meant = [each for each in tokens if each not in _FILLERS]
    for first, last in _parts(len(tokens)):
        part = " ".join(tokens[first:last])
        for column, weight in known.get(part, ()):
            covered = sum(each not in _FILLERS for each in tokens[first:last]) / max(len(meant), 1)
            if covered >= _LEAST_COVERED and weight >= 0.7 and covered < 1:
                found[column] = max(found.get(column, 0), round(_CONTAINED * weight * (0.6 + 0.4 * covered), 3))
            elif covered >= 1:
                found[column] = max(found.get(column, 0), weight)
    return found


def _parts(number: int) -> Iterator[tuple[int, int]]:
    if number <= 8:
        for first in range(number):
            for last in range(number, first, -1):
                if last - first < number:
                    yield first, last


def _without_qualifiers(text: str) -> str:
    """Return a heading without a language or a remark in brackets at its end."""
    while text.endswith((")", "]")):
        opening = text.rfind("(" if text.endswith(")") else "[")
        if opening <= 0:
            break
        text = text[:opening].rstrip(" _-")
    text = text.partition(" ^^")[0]  # the data type of Omeka S
    for sign in ("@", "|"):
        head, found, tail = text.rpartition(sign)
        if found and head and len(tail) <= 6:
            text = head
    head, found, tail = text.rpartition(".")
    if found and head and tail in _OF_VALUES:
        text = head.removesuffix("_tab")
    head, found, tail = text.rpartition("_")
    if found and tail.lower() in ("en", "de", "fr", "it", "es", "nl", "pt", "pl", "cs") and head:
        return head
    head, found, tail = text.rpartition(" ")
    return head.rstrip(" -:,") if found and tail in _LANGUAGES else text


def _divide(text: str) -> tuple[str, str]:
    """Return the beginning of a heading such as "dcterms:title", and the rest, or two empty texts."""
    for sign in ("::", ":", " > ", ">", " / ", "/", "."):
        head, found, tail = text.partition(sign)
        if not found or not head.strip() or not tail.strip():
            continue
        if sign == "." and (" " in text or len(head) < 2 or not head.replace("_", "").isalpha() or len(tail) < 3):
            continue
        return fold_heading(_words(head)), tail.strip().replace(".", " ").replace(":", " ").replace("/", " ")
    return "", ""


def _words(text: str) -> str:
    """Return a heading with spaces between the words of camelCase.

    >>> _words("objectNumber"), _words("ObjObjectNumberVrt"), _words("URLNotice"), _words("ARK")
    ('object Number', 'Obj Object Number Vrt', 'URL Notice', 'ARK')
    """
    result = ""
    for place, sign in enumerate(text):
        before, after = text[place - 1 : place], text[place + 1 : place + 2]
        if sign.isupper() and before and (before.islower() or (before.isupper() and after.islower())):
            result += " "
        result += sign
    return result
