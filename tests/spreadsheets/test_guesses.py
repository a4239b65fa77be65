"""Guess the columns of small tables with the headings of collection systems and of institutions."""

from __future__ import annotations

import csv
import io

import pytest

from ararat.spreadsheets import guesses, heading_words

TABLES = {
    "CollectiveAccess, export of objects": """
Object identifier|Preferred labels|Related entities|Date|Location|Status|Detail page
resource|what||when|||target
1998.12.1|Brass sextant|Harrow (maker)|1820|Store B, shelf 3|accessioned|https://m.example/Detail/objects/411
1998.12.2|Ship's chronometer|Tidewell (maker)|c. 1845|Store B, shelf 4|accessioned|https://m.example/Detail/objects/412
2001.4|Chart of the bay||1790-1795|On loan|pending|https://m.example/Detail/objects/433""",
    "CollectiveAccess, bundle names": """
ca_objects.idno|ca_objects.preferred_labels|ca_objects.type_id|ca_objects.access
resource|what||
1998.12.1|Brass sextant|artifact|public
1998.12.2|Ship's chronometer|artifact|private""",
    "TMS": """
ObjectID|ObjectNumber|ObjectName|Title|DisplayName|Dated|Medium|CreditLine|Location|ObjectStatus
|resource||what|who|when||||
20411|1985.17|Painting|Harbour at dusk|Elin Marsh|1902|Oil on canvas|Gift of the artist|Gallery 4|Accessioned
20412|1985.18|Painting|Two boats|Elin Marsh|1903|Oil on canvas|Gift of the artist|Gallery 4|Accessioned
20977|1991.3a-b|Teapot|Teapot with lid|Unknown|c. 1780|Silver|Bequest|Store|On loan""",
    "eMuseum": """
Object Number|Primary Title|People|Date|Primary Image|Web Page|Credit Line|On View
resource|what|who|when||target||
1985.17|Harbour at dusk|Elin Marsh|1902|https://m.example/media/1.jpg|https://m.example/objects/20411|Gift|true
1985.18|Two boats|Elin Marsh|1903|https://m.example/media/2.jpg|https://m.example/objects/20412|Gift|false""",
    "MuseumPlus": """
Inventarnummer|Objekttitel|Objektbezeichnung|Beteiligte Person|Datierung|Standort|Status|Bild-URL|Link Sammlung Online
resource|what||who|when||||target
K 1901-17|Bildnis einer Frau|Gemälde|Marta Held|1901|Depot 2|inventarisiert|https://m.example/b/1.jpg|https://m.example/objekt/1
K 1901-18|Stillleben|Gemälde|Marta Held|um 1899|Depot 2|in Bearbeitung|https://m.example/b/2.jpg|https://m.example/objekt/2""",
    "MuseumPlus RIA, field names": """
__id|ObjObjectNumberVrt|ObjObjectTitleVrt|ObjPersonVrt|ObjDatingVrt
|resource|what|who|when
5011|K 1901-17|Bildnis einer Frau|Held, Marta|1901
5012|K 1901-18|Stillleben|Held, Marta|1899""",
    "Axiell Collections": """
priref|object_number|title|object_name|creator|production.date.start|current_location|persistent_url
|resource|what||who|when||target
100012|NMK.2004.0012|Mjölksil|sil|Okänd|1850|Magasin A|https://m.example/id/100012
100013|NMK.2004.0013|Smörform|form|Okänd|1860|Magasin A|https://m.example/id/100013""",
    "Omeka S": """
o:id|dcterms:identifier|dcterms:title|dcterms:creator|dcterms:date|dcterms:rights|o:media/file|url
|resource|what|who|when|dc.rights||target
7|MS-17|Letter to the council|Ada Brook|1851-03-02|https://rightsstatements.org/vocab/NoC-US/1.0/|https://m.example/f/1.jpg|https://m.example/s/item/7
9|MS-18|Reply of the council|Council|1851-03-09|https://rightsstatements.org/vocab/NoC-US/1.0/|https://m.example/f/2.jpg|https://m.example/s/item/9""",
    "Omeka Classic": """
Item Id|Item URI|Dublin Core:Title|Dublin Core:Creator|Dublin Core:Date|Dublin Core:Identifier|Dublin Core:Description|tags|file
|target|what|who|when|resource|dc.description||
12|https://m.example/items/show/12|View of the mill|J. Reed|1911|PC-0012|A postcard.|mill|https://m.example/files/1.jpg
13|https://m.example/items/show/13|View of the bridge|J. Reed|1912|PC-0013|A postcard.|bridge|https://m.example/files/2.jpg""",  # noqa: E501
    "DSpace": """
id|collection|dc.contributor.author|dc.date.accessioned|dc.date.issued|dc.identifier.uri|dc.title[en_US]|dc.type
resource||who||when|target|what|dc.type
8d1f|123456789/2|Lund, Eva|2019-04-02T09:11:12Z|2018|https://repo.example/handle/123456789/17|Peat in the north|Thesis
8d20|123456789/2|Berg, Ola|2019-04-03T09:11:12Z|2017|https://repo.example/handle/123456789/18|Moss in the south|Thesis""",  # noqa: E501
    "ArchivesSpace": """
Resource Title|Component Unique Identifier|Title|Level of Description|Date Expression|Begin Date|Digital Object URI|URI
|resource|what||when|||
Mill papers|MS-004-01-01|Accounts|file|1880-1890|1880|https://m.example/do/1.jpg|/repositories/2/archival_objects/41
Mill papers|MS-004-01-02|Letters received|file|1881-1899|1881|https://m.example/do/2.jpg|/repositories/2/archival_objects/42""",
    "AtoM": """
legacyId|parentId|identifier|accessionNumber|title|levelOfDescription|extentAndMedium|eventDates|eventActors|culture
||resource||what|||when|who|
1|0|F-012||Mill fonds|Fonds|2 m|1850-1920|Mill company|en
2|1|F-012-1||Accounts|Series|1 m|1880-1920|Mill company|en""",
    "a French base with dates of records": """
Référence|Numéro d'inventaire|Titre|Auteur|Période de création|Lien site|Date de création notice
|resource|what|who|when|target|
000PE001|INV 1|Portrait d'homme|David Jacques|1er quart 19e siècle|https://musee.example.fr/1|2001-02-03
000PE002|INV 2|Paysage|Corot|2e quart 19e siècle|https://musee.example.fr/2|2001-02-04""",
    "a list with the date of entry first": """
Erfasst am|Sammlung|Sig.|Bezeichnung|Urheber|Entstehungszeit|Permalink|Bemerkung
||resource|what|who|when|target|
03.04.2020|Karten|K 1|Plan der Stadt|Meier|1820|https://a.example/k1|
04.04.2020|Karten|K 2|Plan des Hafens|Meier|1830|https://a.example/k2|beschnitten""",
    "Vernon CMS": """
Record Type|Accession No.|Object Type|Name/Title|Primary Maker|Production Date|Web Image|Public URL|System ID
|resource|how|what|who|when||target|
Object|2004.11.2|Painting|View of the Bay|Jane Roe|c.1890|https://img.example/1.jpg|https://coll.example/881|881
Object|2004.11.3|Painting|Mill|Roe & Son|1891|https://img.example/2.jpg|https://coll.example/882|882""",
    "EPrints": """
eprintid|eprint_status|title|creators_name|date|date_type|official_url
resource||what|who|when||target
3011|archive|Peat in the north|Lund, Eva|2018|published|https://pub.example/3011
3012|archive|Moss in the south|Berg, Ola|2017|published|https://pub.example/3012""",
    "Koha": """
biblionumber|itemnumber|barcode|itemcallnumber|title|author|copyrightdate|location|url
||further_numbers|resource|what|who|when||target
17|21|300017|QL 737 .B7|Bats of the valley|Brown, T.|1931|STACKS|https://lib.example/bib/17
18|22|300018|QL 738 .C2|Cats of the valley|Carr, U.|1932|STACKS|https://lib.example/bib/18""",
    "PastPerfect": """
Object ID|Object Name|Title|Artist|Date|Home Location|Status|Accession#
resource||what|who|when|||
2004.12.1|Quilt|Star quilt|Mary Poole|1860|Room 2|OK|2004.12
2004.12.2|Quilt|Log cabin quilt|Mary Poole|1871|Room 2|OK|2004.12
2005.3.1|Chair|Ladder-back chair||1820|Room 5|OK|2005.3""",
    "Adlib": """
Objectnummer|Titel|Objectnaam|Vervaardiger|Datering begin|Datering eind|Standplaats|Permalink
resource|what||who|when|||target
TM-1234|Schaal met vis|schaal|Anoniem|1750|1800|Depot 3|https://m.example/hdl/1234
TM-1235|Schaal met vogel|schaal|Anoniem|1760|1800|Depot 3|https://m.example/hdl/1235""",
    "a German museum, licence first": """
Inventar-Nr.|Titel|Künstler/in|Datierung|Lizenz|Permalink Onlinesammlung
resource|what|who|when||target
MK 17|Große Glocke|unbekannt|16. Jh.|https://creativecommons.org/licenses/by/4.0/|https://m.example/objekt/17
MK 18|Kleine Glocke|unbekannt|17. Jh.|https://creativecommons.org/licenses/by/4.0/|https://m.example/objekt/18
MK 19|Türklopfer|unbekannt|um 1600|https://creativecommons.org/licenses/by/4.0/|https://m.example/objekt/19""",
    "a German museum with a vocabulary": """
Ident.Nr.|Sachbegriff|Titel|Hersteller|GND Hersteller|Herstellungsort|Zeit|Weblink
resource||what|who||where|when|target
I/17|Krug|Krug mit Ranken|Töpferei Holm|https://d-nb.info/gnd/11|Holm|1820|https://m.example/17
I/18|Krug|Krug mit Punkten|Töpferei Holm|https://d-nb.info/gnd/11|Holm|1830|https://m.example/18""",
    "a German archive": """
Signatur|Altsignatur|Titel|Laufzeit|Provenienz|Digitalisat
resource|former_numbers|what|when||
StA 1/17|A 12|Ratsprotokolle|1612-1655|Rat|https://m.example/d/1.pdf
StA 1/18|A 13|Ratsprotokolle, Entwürfe|1655-1660|Rat|https://m.example/d/2.pdf""",
    "a German list with few columns": """
Nr.|Bezeichnung|Link
resource|what|target
17|Vase, rot|https://m.example/17
18|Vase, blau|https://m.example/18""",
    "a French museum": """
Numéro d'inventaire|Désignation|Titre|Auteur/exécutant|Datation|Statut|Localisation|Lien vers la notice
resource||what|who|when|||target
2003.0.17|tableau|Le port|Inconnu|18e siècle|propriété de l'État|Réserve 2|https://m.example/notice/17
2003.0.18|tableau|Le pont|Inconnu|19e siècle|propriété de l'État|Réserve 2|https://m.example/notice/18""",
    "a French museum, field codes": """
REF|INV|DENO|TITR|AUTR|MILL|IMG
|resource||what|who|when|
M0170001|2003.0.17|tableau|Le port|INCONNU|1790|https://m.example/i/17.jpg
M0170002|2003.0.18|tableau|Le pont|INCONNU|1802|https://m.example/i/18.jpg""",
    "French archives": """
Cote|Intitulé|Dates extrêmes|Importance matérielle|Producteur|Identifiant ark
resource|what|when||who|identifier
1 J 17|Registres|1612-1655|3 volumes|Ville|https://m.example/ark:/12345/f8m017
1 J 18|Liasses|1655-1660|1 liasse|Ville|https://m.example/ark:/12345/f8m018""",
    "a French library": """
N° inventaire;Titre;Auteur;Année de publication;Éditeur;Lien permanent
resource;what;who;when;;target
RV-17;Voyage en mer;Anne Morel;1788;Dupuis;https://m.example/rec/17
RV-18;Voyage en montagne;Anne Morel;1790;Dupuis;https://m.example/rec/18""",
    "an Italian museum": """
N. inventario|Oggetto|Titolo|Autore|Cronologia|Collocazione|Link scheda
resource||what|who|when||target
MC 17|dipinto|Il porto|Ignoto|XVIII secolo|Deposito|https://m.example/scheda/17
MC 18|dipinto|Il ponte|Ignoto|XIX secolo|Deposito|https://m.example/scheda/18""",
    "an Italian archive": """
Segnatura|Titolo|Estremi cronologici|Soggetto produttore|Livello
resource|what|when|who|
b. 17|Corrispondenza|1850-1861|Comune|busta
b. 18|Bilanci|1861-1870|Comune|busta""",
    "a Dutch museum": """
Inventarisnummer|Titel|Kunstenaar|Datering|Afbeelding|Link naar object
resource|what|who|when||target
SK-17|Haven bij avond|Onbekend|1640|https://m.example/a/17.jpg|https://m.example/o/17
SK-18|Twee boten|Onbekend|1645|https://m.example/a/18.jpg|https://m.example/o/18""",
    "a Dutch archive": """
Inventarisnummer|Beschrijving|Titel|Periode|Persistent identifier
resource||what|when|identifier
17|Eén deel|Notulen|1810-1820|ark:12345/f8n017
18|Eén omslag|Rekeningen|1815-1830|ark:12345/f8n018""",
    "a Spanish museum": """
Inventario|Objeto/Documento|Título|Autor/a|Datación|Ubicación|Enlace
resource||what|who|when||target
CE00017|Cuadro|El puerto|Anónimo|1701=1750|Almacén|https://m.example/ficha/17
CE00018|Cuadro|El puente|Anónimo|1801=1850|Almacén|https://m.example/ficha/18""",
    "a Spanish archive": """
Código de referencia|Título|Fechas extremas|Nivel de descripción|Nombre del productor
resource|what|when||who
ES.17.A/1/17|Actas|1612-1655|Serie|Cabildo
ES.17.A/1/18|Cuentas|1655-1660|Serie|Cabildo""",
    "a Polish museum": """
Nr inwentarzowy|Tytuł|Autor|Datowanie|Adres WWW
resource|what|who|when|target
MNX 17|Port|nieznany|XVIII wiek|https://m.example/o/17
MNX 18|Most|nieznany|1820|https://m.example/o/18""",
    "a large art museum": """
Object Number|Is Highlight|Object ID|Gallery Number|Department|AccessionYear|Object Name|Title|Artist Display Name|Artist Begin Date|Artist ULAN URL|Object Date|State|Link Resource|Rights and Reproduction
resource|||||||what|who|||when||target|
04.1a-c|False|1|899|Decorative Arts|1904|Vase|Vase with handles|Made by a workshop|1837|http://vocab.getty.edu/page/ulan/1|1893|New York|http://m.example/search/1|
08.2.1|False|2|774|Decorative Arts|1908|Teapot|Teapot|Made by a workshop|1840|http://vocab.getty.edu/page/ulan/1|1890|New York|http://m.example/search/2|
08.2.2|False|3|774|Decorative Arts|1908|Teapot|Teapot|Made by a workshop|1840|http://vocab.getty.edu/page/ulan/1|1891|New York|http://m.example/search/3|""",  # noqa: E501
    "a museum of modern art": """
Title|Artist|ConstituentID|ArtistBio|Nationality|BeginDate|EndDate|Date|Medium|AccessionNumber|Classification|DateAcquired|Cataloged|ObjectID|URL|ThumbnailURL
what|who||||||when||resource|||||target|
Station|Otto Wald|6210|Austrian, 1841-1918|Austrian|1841|1918|1896|Ink|885.1996|Architecture|1996-04-09|Y|2|https://m.example/works/2|https://m.example/media/2.jpg
Villa|Paul Kranz|7470|French, born 1944|French|1944|0|1987|Paint|1.1995|Architecture|1995-01-17|Y|3|https://m.example/works/3|https://m.example/media/3.jpg""",
    "a gallery of British art": """
id|accession_number|artist|artistRole|artistId|title|dateText|medium|acquisitionYear|thumbnailUrl|url
|resource|who|||what|when||||target
1035|A00001|Blaise, Robert|artist|38|A figure bowing|date not known 1790|Watercolour|1922|http://m.example/t/1.jpg|http://m.example/art/1035
1036|A00002|Blaise, Robert|artist|38|Two drawings|1791|Graphite|1922|http://m.example/t/2.jpg|http://m.example/art/1036""",
    "dates of works beside dates of records": """
Accession no|Title|Created|Changed|URL
resource|what|||target
K 1|Chair|2014-03-01|2019-01-02|https://m.example/1
K 2|Table|2014-03-02|2019-01-05|https://m.example/2""",
    "an export of Ararat": """
identifier|target|kind|resource|status|what|created|changed
identifier|target|kind|resource|status|what|created|changed
ark:12345/x51|https://m.example/1|located|K 1|live|Chair|2026-01-02T10:00:00.000000Z|2026-01-02T10:00:00.000000Z
ark:12345/x52|https://m.example/2|located|K 2|reserved|Table|2026-01-02T10:00:00.000000Z|2026-01-02T10:00:00.000000Z""",
    "an ARK column that is partly empty": """
Inventarnummer|Titel|Künstler|Datierung|Weblink|ARK
resource|what|who|when|target|identifier
INV 17|Skizze|Held|1901|https://m.example/17|ark:12345/f8m017
INV 18|Skizze II|Held|1902|https://m.example/18|
INV 19|Skizze III|Held|1903|https://m.example/19|""",
    "words of museums that are columns of Ararat": """
Catalogue number|Title|Scope|Status|Kind|State|Listed|Reason|URL
resource|what|||||||target
LD 17|Letters|Letters and drafts|on display|print|New York|Grade II|gift|https://m.example/17
LD 18|Drafts|Letters and drafts|in store|print|New York|Grade I|purchase|https://m.example/18""",
    "titles in two languages": """
Object number|Title (en)|Title (de)|Maker|Date made|Collection URL
resource|what||who|when|target
O.17|Harbour|Hafen|Marsh|1902|https://m.example/17
O.18|Bridge|Brücke|Marsh|1903|https://m.example/18""",
    "a natural history collection": """
occurrenceID|catalogNumber|scientificName|recordedBy|eventDate|locality|references
|resource|||when||target
b1e7c0f2|HERB-0017|Salix alba|M. Flood|1899-05-01|North bank|https://m.example/17
b1e7c0f3|HERB-0018|Alnus incana|M. Flood|1899-05-02|North bank|https://m.example/18""",
    "a Portuguese museum": """
N.º de inventário|Denominação|Título|Autor|Datação|Ligação
resource||what|who|when|target
MNX-17|pintura|O porto|Desconhecido|séc. XVIII|https://m.example/17
MNX-18|pintura|A ponte|Desconhecido|1820|https://m.example/18""",
    "a Japanese museum": """
登録番号|作品名|作者|制作年|保管場所|リンク
resource|what|who|when||target
AA-17|港の夕暮れ|不詳|1902年|収蔵庫2|https://m.example/17
AA-18|二艘の舟|不詳|1903年|収蔵庫2|https://m.example/18""",
    "CollectiveAccess, bundles of related records": """
ca_objects.object_id|ca_objects.idno|ca_objects.preferred_labels.name|ca_entities.preferred_labels.displayname|ca_objects.date.dates_value|ca_storage_locations.preferred_labels|ca_object_representations.media.original.url
|resource|what|who|when||
411|1998.12.1|Brass sextant|Harrow|1820|Store B|https://m.example/media/411.jpg
412|1998.12.2|Ship's chronometer|Tidewell|1845|Store B|https://m.example/media/412.jpg""",
    "TMS, field names": """
ObjectID|SortNumber|ObjectNumber|ClassificationID|DateBegin|DateEnd|Dated|Medium|CreditLine|PublicAccess|DisplayName|TitleText|EnteredDate
||resource||||when||||who|what|
20411|1985 17|1985.17|3|1902|1902|1902|Oil|Gift|1|Elin Marsh|Harbour at dusk|2004-01-02
20412|1985 18|1985.18|3|1903|1903|1903|Oil|Gift|1|Elin Marsh|Two boats|2004-01-02""",
    "eMuseum, field names": """
id|invno|title|artistMaker|displayDate|medium|creditline|primaryMedia|sourceURL
|resource|what|who|when||||target
20411|1985.17|Harbour at dusk|Elin Marsh|1902|Oil|Gift|https://m.example/internal/media/dispatcher/1|https://m.example/objects/20411/harbour
20412|1985.18|Two boats|Elin Marsh|1903|Oil|Gift|https://m.example/internal/media/dispatcher/2|https://m.example/objects/20412/boats""",
    "MuseumPlus with titles in two languages": """
ID|Inv.-Nr.|Künstler (Name, Vorname)|Werktitel (deutsch)|Werktitel (englisch)|Dat. (Text)|Material/Technik|Masse|Creditline|Aktueller Standort|Eigentümer|Versicherungswert|URL Sammlung online
|resource|who|what||when|||||||target
5011|G 1901.17|Held, Marta|Bildnis einer Frau|Portrait of a woman|1901|Öl|30 x 40|Schenkung|Depot 2|Stadt|1000|https://sammlung.m.example/de/5011
5012|G 1901.18|Held, Marta|Stillleben|Still life|um 1899|Öl|20 x 30|Ankauf|Depot 2|Stadt|1200|https://sammlung.m.example/de/5012""",  # noqa: E501
    "Axiell Collections, labels": """
Record number|Object number|Title|Object name|Creator|Creator role|Production date (start)|Production date (end)|Current location name|Reproduction reference|Permanent URL
|resource|what||who||when||||target
100012|NMK.2004.0012|Milk strainer|strainer|Unknown|maker|1850|1870|Store A|NMK2004_0012.jpg|https://m.example/obj/100012
100013|NMK.2004.0013|Butter mould|mould|Unknown|maker|1860|1870|Store A|NMK2004_0013.jpg|https://m.example/obj/100013""",  # noqa: E501
    "DSpace with two identifiers": """
uuid|owningCollection|dc.contributor.advisor|dc.contributor.author|dc.date.available|dc.date.issued|dc.identifier.citation|dc.identifier.other|dc.identifier.uri|dc.title|dc.title.alternative|dc.subject
|||who||when||resource|target|dc.title||dc.subject
8d1f-00a|123456789/2|Holm, K.|Lund, Eva|2019-04-02T09:11:12Z|2018|Lund 2018|THES-17|https://hdl.handle.net/123456789/17|Peat in the north||peat
8d1f-00b|123456789/2|Holm, K.|Berg, Ola|2019-04-03T09:11:12Z|2017|Berg 2017|THES-18|https://hdl.handle.net/123456789/18|Moss in the south||moss""",  # noqa: E501
    "ArchivesSpace, paths of fields": """
title|ref_id|component_id|level|dates/0/expression|dates/0/begin|extents/0/number|ead_id|digital_object_link|archival_object_uri
what||resource||when|||||
Accounts|aspace_17ab|MS-004-01-01|file|1880-1890|1880|1|MS004|https://m.example/do/1|/repositories/2/archival_objects/41
Letters|aspace_17ac|MS-004-01-02|file|1881-1899|1881|1|MS004|https://m.example/do/2|/repositories/2/archival_objects/42""",
    "PastPerfect, field names": """
OBJECTID|OBJNAME|TITLE|ARTIST|DATE|EARLYDATE|LATEDATE|HOMELOC|STATUS|ACCESSNO|CATDATE|IMAGEFILE|WEBURL
resource||what|who|when||||||||target
2004.12.1|Quilt|Star quilt|Mary Poole|1860|1855|1865|Room 2|OK|2004.12|2004-05-01|001\\2004121.JPG|https://pp.example/webobject/1
2004.12.2|Quilt|Log cabin quilt|Mary Poole|1871|1870|1872|Room 2|OK|2004.12|2004-05-01|001\\2004122.JPG|https://pp.example/webobject/2""",
    "Adlib with former numbers": """
Priref|Instellingsnaam|Objectnummer|Objectnaam|Titel|Vervaardiger (naam)|Vervaardigingsdatum (begin)|Vervaardigingsdatum (eind)|Vorig nummer|Opmerkingen|Reproductie.referentie|Persistente URL
||resource||what|who|when||former_numbers|||target
10017|Museum Zuid|TM-1234|schaal|Schaal met vis|Anoniem|1750|1800|A 17||TM1234.jpg|https://m.example/hdl/1234
10018|Museum Zuid|TM-1235|schaal|Schaal met vogel|Anoniem|1760|1800|A 18||TM1235.jpg|https://m.example/hdl/1235""",  # noqa: E501
    "a German museum with museum-digital": """
Lfd. Nr.|Inventar-Nr. neu|Inventar-Nr. alt|Objektbezeichnung|Titel / Kurzbeschreibung|Künstler / Hersteller|Datierung (von - bis)|Fundort / Herkunft|Standort (Depot)|Zustand|Erwerbungsdatum|Bilddatei|museum-digital-Link
|resource|former_numbers||what|who|when|where|||||target
1|V 2001/17|A 17|Krug|Krug mit Ranken|Töpferei Holm|1820-1830|Holm|R 2|gut|1990-01-01|a.jpg|https://md.example/object/17
2|V 2001/18|A 18|Krug|Krug mit Punkten|Töpferei Holm|1830-1840|Holm|R 2|gut|1990-01-02|b.jpg|https://md.example/object/18""",  # noqa: E501
    "a French museum with former numbers": """
N° inv.|Ancien n° inv.|Domaine|Dénomination|Titre ou sujet|Artiste(s)|Époque / datation|Lieu de création|Matériaux|Mode d'acquisition|Date d'acquisition|Emplacement|Photo|URL de la fiche
resource|former_numbers|||what|who|when|where||||||target
D 2003.0.17|A 17|peinture|tableau|Le port|Inconnu|18e siècle|Nantes|huile|don|1903|Réserve 2|p17.jpg|https://m.example/fiche/17
D 2003.0.18|A 18|peinture|tableau|Le pont|Inconnu|19e siècle|Nantes|huile|don|1903|Réserve 2|p18.jpg|https://m.example/fiche/18""",  # noqa: E501
    "an Italian archive with former references": """
Fondo|Segnatura attuale|Segnatura precedente|Denominazione o titolo|Data iniziale|Data finale|Consistenza|Link inventario online
|resource|former_numbers|what|when|||target
Comune|b. 17|n. 3|Corrispondenza|1850|1861|1 busta|https://a.example/17
Comune|b. 18|n. 4|Bilanci|1861|1870|1 busta|https://a.example/18""",  # noqa: E501
    "a Dutch museum with former numbers": """
Inv.nr.|Oud inv.nr.|Objectcategorie|Naam object|Titel / beschrijving|Kunstenaar / maker|Datum|Plaats van herkomst|Standplaats|Verwerving|Foto|Website
resource|former_numbers|||what|who|when|where||||target
0017-A|17|schilderij|schilderij|Haven bij avond|Onbekend|1640|Hoorn|Depot|gift 1903|a.jpg|https://m.example/c/17
0018-A|18|schilderij|schilderij|Twee boten|Onbekend|1645|Hoorn|Depot|gift 1904|b.jpg|https://m.example/c/18""",  # noqa: E501
    "a Spanish archive with two dates": """
Signatura|Código de clasificación|Título de la unidad|Fecha inicial|Fecha final|Volumen|Productor|Enlace PARES
resource||what|when|||who|target
MUN,17|1.2|Actas|1612|1655|2|Cabildo|https://pares.example/17
MUN,18|1.2|Cuentas|1655|1660|2|Cabildo|https://pares.example/18""",
    "a Spanish library": """
Número de ejemplar|Signatura topográfica|Título propiamente dicho|Autor personal|Año|Editorial|Código de barras|Enlace al OPAC
|resource|what|who|when||further_numbers|target
1|V-17|Viaje por mar|Ruiz, Ana|1788|Dupuis|300017|https://b.example/17
2|V-18|Viaje por tierra|Ruiz, Ana|1790|Dupuis|300018|https://b.example/18""",  # noqa: E501
    "Mimsy": """
ID Number|Category|Item Name|Title|Maker|Date Made|Place Made|Whole/Part|Credit Line|Home Location|Loan Status|Record View URL
resource|||what|who|when|where|||||target
X.1901.17|Prints|etching|The old bridge|Ann Roe|1880|York|whole|Gift|A1|none|https://m.example/v/17
X.1901.18|Prints|etching|The old mill|Ann Roe|1881|York|whole|Gift|A1|none|https://m.example/v/18""",  # noqa: E501
    "Omeka S with types of values": """
Item ID|Internal item URL|Resource class|dcterms:title ^^literal|dcterms:identifier ^^literal|dcterms:creator ^^literal|dcterms:date ^^literal|o:is_public|Media URL
|target||what|resource|who|when||
61|https://m.example/s/coll/item/61|dctype:StillImage|Mill|PC-61|Reed|1911|1|https://m.example/files/original/a.jpg
62|https://m.example/s/coll/item/62|dctype:StillImage|Bridge|PC-62|Reed|1912|1|https://m.example/files/original/b.jpg""",  # noqa: E501
    "DSpace with handles of collections": """
id|collection|dc.contributor.author[]|dc.date.accessioned|dc.date.issued[es_ES]|dc.identifier.uri|dc.rights.uri[*]|dc.title[es_ES]|dc.identifier.isbn
resource||who||when|target|dc.rights|what|
1a|10261/2|"García, Ana; Ruiz, Luis"|2020-01-02T10:00:00Z|2019|http://hdl.handle.net/10261/11|http://creativecommons.org/licenses/by/4.0/|Turberas del norte|978-1
1b|10261/2|Pérez, Eva|2020-01-02T10:00:00Z|2018|http://hdl.handle.net/10261/12|http://creativecommons.org/licenses/by/4.0/|Musgos del sur|978-2""",  # noqa: E501
    "Darwin Core with URNs of another system": """
gbifID|institutionCode|collectionCode|catalogNumber|otherCatalogNumbers|scientificName|recordedBy|eventDate|locality|license|occurrenceID|references
|||resource|further_numbers|||when||||target
400001|XM|HERB|HERB-17|A 17|Salix alba|M. Flood|1899-05-01|North bank|CC_BY_4_0|urn:catalog:XM:HERB:17|https://x.example/17
400002|XM|HERB|HERB-18|A 18|Alnus incana|M. Flood|1899-05-02|North bank|CC_BY_4_0|urn:catalog:XM:HERB:18|https://x.example/18""",
    "a Swedish museum": """
Inventarienummer|Benämning|Konstnär|Årtal|Förvärv|Permanent länk|Bild
resource|what|who|when||target|
LM 17|Stol|Berg|1820|gåva 1903|https://m.example/o/17|https://m.example/b/17.jpg
LM 18|Bord|Berg|1830|gåva 1904|https://m.example/o/18|https://m.example/b/18.jpg""",
    "a Swedish archive": """
Referenskod|Arkivbildare|Titel|Tid|Volym|Förvaringsplats|Länk till bild|Webbadress
resource|who|what|when||||target
SE/X/17|Staden|Protokoll|1612-1655|3|Depå 2|https://a.example/b/17.jpg|https://a.example/v/17
SE/X/18|Staden|Räkenskaper|1655-1660|2|Depå 2|https://a.example/b/18.jpg|https://a.example/v/18""",
    "a Norwegian museum": """
Identifikasjonsnr.|Betegnelse|Tittel|Produsent|Datering|Produksjonssted|Ervervet dato|Plassering|Tidligere nr.|DigitaltMuseum-lenke
resource||what|who|when|where|||former_numbers|target
HF.1912-017|Stol|Stol med rygg|Ukjent|1820|Oslo|1912-02-03|Magasin 2|17|https://dm.example/17
HF.1912-018|Bord|Bord med skuff|Ukjent|1830|Oslo|1912-02-04|Magasin 2|18|https://dm.example/18""",  # noqa: E501
    "a Danish museum": """
Genstandsnummer|Betegnelse|Kunstner|Datering|Sted|Link til samlingen
resource|what|who|when|where|target
KMS 17|Havn ved aften|Ukendt|1820|Ribe|https://m.example/o/17
KMS 18|To både|Ukendt|1830|Ribe|https://m.example/o/18""",
    "a Finnish museum": """
Inventaarionumero|Nimeke|Tekijä|Ajoitus|Valmistuspaikka|Sijainti|Linkki
resource|what|who|when|where||target
KM 17|Satama|Tuntematon|1820|Turku|Varasto|https://m.example/17
KM 18|Silta|Tuntematon|1830|Turku|Varasto|https://m.example/18""",
    "a Russian museum": """
№ п/п|Учётное обозначение|Номер ГИК|Название|Автор|Время создания|Место создания|Материал, техника|Размер|Дата поступления|Ссылка на изображение|Ссылка на предмет
|resource||what|who|when|where|||||target
1|Ж-17|ГИК-1001|Гавань|Иванов|1820-е|Москва|холст, масло|30х40|12.03.1922|https://m.example/i/17.jpg|https://m.example/o/17
2|Ж-18|ГИК-1002|Лодки|Петров|1830-е|Москва|холст, масло|30х40|12.03.1922|https://m.example/i/18.jpg|https://m.example/o/18""",  # noqa: E501
    "a Ukrainian museum": """
Інвентарний номер|Назва|Автор|Рік|Місце зберігання|Посилання
resource|what|who|when||target
К-17|Гавань|Невідомий|1820|Фонд 2|https://m.example/17
К-18|Човни|Невідомий|1830|Фонд 2|https://m.example/18""",
    "Italian field codes of ICCD": """
TSK|NCTR|NCTN|ROFF|OGTD|OGTN|SGTT|DTZG|DTSI|DTSF|AUTN|AUTA|INVN|INVD|LDCN|PVCC|MTC|FTAN
||||||what||when||who||resource|||||
OA|01|00100017||dipinto|veduta|Il porto|XVIII|1701|1750|Ignoto|1650/1710|MC 17|1920|Museo civico|Torino|tela|F17
OA|01|00100018||dipinto|veduta|Il ponte|XIX|1801|1850|Ignoto|1750/1810|MC 18|1921|Museo civico|Torino|tela|F18""",
    "Tainacan": """
ID|Número de Tombo|Título|Autor|Data de produção|Data de aquisição|Local de guarda|Situação|Miniatura|URL do item
|resource|what|who|when|||||target
901|T-17|O porto|Desconhecido|1820|1990|Sala 3|ativo|https://t.example/17.jpg|https://t.example/item/17
902|T-18|A ponte|Desconhecido|1830|1991|Sala 3|ativo|https://t.example/18.jpg|https://t.example/item/18""",
    "a Polish archive": """
Sygnatura|Tytuł jednostki|Daty skrajne|Aktotwórca|Liczba stron|Dawna sygnatura|Skany
resource|what|when|who||former_numbers|
1/17|Protokoły|1612-1655|Miasto|20|A 17|https://a.example/skany/17
1/18|Rachunki|1655-1660|Miasto|30|A 18|https://a.example/skany/18""",
    "a Polish museum with a place of storage": """
Lp.|Numer inwentarzowy|Nazwa obiektu|Tytuł|Twórca|Czas powstania|Miejsce przechowywania|Stan zachowania|Link do obiektu
|resource||what|who|when|||target
1|MNX/17|obraz|Port o zmierzchu|nieznany|XVIII wiek|Magazyn 2|dobry|https://m.example/o/17
2|MNX/18|obraz|Dwie łodzie|nieznany|1820|Magazyn 2|dobry|https://m.example/o/18""",
    "ArchivesSpace, digital objects": """
ArchivesSpace URI|EAD ID|Ref ID|Digital Object ID|Digital Object Title|URL of Linked-out Digital Object|URL of thumbnail|Publish?
|||resource|what|target||
/repositories/2/archival_objects/1|MS001|aspace_a1|do-1|Ledger 1880|https://d.example/do/1|https://d.example/do/1_t.jpg|TRUE
/repositories/2/archival_objects/2|MS001|aspace_a2|do-2|Ledger 1881|https://d.example/do/2|https://d.example/do/2_t.jpg|TRUE""",  # noqa: E501
    "EMu": """
EMu IRN|CatRegNumber|TitMainTitle|CreCreatorRef_tab.SummaryData|CreDateCreated|LocCurrentLocationRef.LocLocationName|CatStatus|ObjectURL
|resource|what|who|when|||target
90001|REG 2001-11|Bark canoe|Unknown maker|1890|Store 7|Registered|https://emu.example/objects/90001
90002|REG 2001-12|Paddle|Unknown maker|1891|Store 7|Registered|https://emu.example/objects/90002""",  # noqa: E501
    "MARC fields": """
001|245$a|100$a|260$c|952$o|952$p|856$u
|what|who|when|resource||target
17|Bats of the valley|Brown, T.|1931|QL 737|30017|https://lib.example/17
18|Cats of the valley|Carr, U.|1932|QL 738|30018|https://lib.example/18""",
    "a German museum with exhibitions": """
Obj. Nr.|Leihgeber|Leihnummer|Titel|Künstler (GND)|Künstler|Datierung|Ausstellung URL|Objekt URL
resource|||what||who|when||target
A 17|Stadt|L 1|Hafen|https://d-nb.info/gnd/11|Held|1901|https://m.example/ausst/1|https://m.example/o/17
A 18|Stadt|L 2|Brücke|https://d-nb.info/gnd/11|Held|1902|https://m.example/ausst/2|https://m.example/o/18""",
    "MuseumPlus, titles in French and German": """
N° inv.|Auteur(s)|Titre F|Titre D|Date|Technique / matériaux|Mode d'acquisition|Année d'acquisition|Ayant droit|N° négatif|Lien public
resource|who|what||when||||||target
1988-017|Roth, Marie|Le lac|Der See|1901|huile|achat|1988|Ville|N 17|https://m.example/f/17
1988-018|Roth, Marie|Le mont|Der Berg|1902|huile|achat|1988|Ville|N 18|https://m.example/f/18""",  # noqa: E501
    "EAD, paths of elements": """
c@level|did/unitid|did/unittitle|did/unitdate|did/origination|did/dao@href|scopecontent
|resource|what|when|who||
file|FR-1-17|Registres|1612-1655|Ville|https://a.example/d/17.jpg|Registres reliés.
file|FR-1-18|Liasses|1655-1660|Ville|https://a.example/d/18.jpg|Liasses.""",
    "LIDO, paths of elements": """
lido:lidoRecID|lido:workID|lido:titleSet/lido:appellationValue|lido:objectWorkType|lido:eventActor|lido:displayDate|lido:recordInfoLink|lido:linkResource
|resource|what|how|who|when|target|
DE-1/lido/17|V 17|Krug mit Ranken|Krug|Töpferei Holm|1820|https://m.example/o/17|https://m.example/b/17.jpg
DE-1/lido/18|V 18|Krug mit Punkten|Krug|Töpferei Holm|1830|https://m.example/o/18|https://m.example/b/18.jpg""",
    "Islandora": """
id|file|title|field_model|field_identifier|field_linked_agent|field_edtf_date_issued|field_rights|url_alias|node_url
||what||resource|who|when|||target
001|a.tif|Mill|Image|PC-1|relators:pht:person:Reed|1911|https://rightsstatements.org/vocab/NoC-US/1.0/|/mill|https://i.example/node/1
002|b.tif|Bridge|Image|PC-2|relators:pht:person:Reed|1912|https://rightsstatements.org/vocab/NoC-US/1.0/|/bridge|https://i.example/node/2""",
    "Hyrax": """
model|source_identifier|title|creator|date_created|rights_statement|visibility|parents|file|permanent_url
|resource|what|who|when|||||target
GenericWork|gw-001|Atlas|Holm, P.|1901|http://rightsstatements.org/vocab/InC/1.0/|open|col-1|a.pdf|https://h.example/concern/generic_works/1
GenericWork|gw-002|Chart|Holm, P.|1902|http://rightsstatements.org/vocab/InC/1.0/|open|col-1|b.pdf|https://h.example/concern/generic_works/2""",
    "CollectionSpace": """
objectNumber|numberOfObjects|title|objectName|objectProductionPerson|objectProductionDateGroup_dateDisplayDate|computedCurrentLocation|recordStatus|csid|publicURL
resource||what||who|when||||target
2014.1.1|1|Night train|painting|Roe, Ann|1930|Vault|approved|b1-01|https://cs.example/pub/b1-01
2014.1.2|1|Day train|painting|Roe, Ann|1931|Vault|approved|b1-02|https://cs.example/pub/b1-02""",
    "CONTENTdm": """
Title|Creator|Date Original|Identifier|Publisher Digital|Date Digital|Reference URL|CONTENTdm number|CONTENTdm file name|Date modified
what|who|when|resource|||target|||
Main Street|Lane, F.|1905|photo-017|Library|2010-02-01|http://cdm.example/cdm/ref/collection/p1/id/17|17|18.jp2|2012-01-01
Depot|Lane, F.|1906|photo-018|Library|2010-02-01|http://cdm.example/cdm/ref/collection/p1/id/18|18|19.jp2|2012-01-01""",  # noqa: E501
    "numbers of rows": """
Nr|Objekt
resource|what
1|Vase
2|Bowl
3|Cup""",
    "Alma": """
MMS Id|Title|Author|Publication Date|Permanent Call Number|Barcode|Location Name|Lifecycle|Network Electronic Access URL
|what|who|when|resource|further_numbers|||target
99001|Voyage en mer|Morel, Anne|1788|RV 17|30001|Magasin|Active|https://alma.example/99001
99002|Voyage en montagne|Morel, Anne|1790|RV 18|30002|Magasin|Active|https://alma.example/99002""",
    "Aleph": """
SYS-Nr.|Signatur|Hauptsachtitel|1. Verfasser|Erscheinungsjahr|Verlag|ISBN|Strichcode|Katalog-Link
|resource|what|who|when|||further_numbers|target
000011|8 A 17|Reise zur See|Morel, Anna|1788|Dup||17$11|https://kat.example/F?doc=11
000012|8 A 18|Reise ins Gebirge|Morel, Anna|1790|Dup||17$12|https://kat.example/F?doc=12""",
}
"""Tables: a line of headings, a line of columns of bindings, and rows."""

QUESTIONS = frozenset({"DSpace", "DSpace with handles of collections", "numbers of rows"})
"""The tables with a question: a number of the database is the only key."""


@pytest.mark.parametrize("name", TABLES)
def test_the_columns_of_a_table_are_guessed(name: str) -> None:
    headings, expected, rows = _read(TABLES[name])
    found = guesses.guess(headings, rows)
    assert [each.column for each in found] == expected
    assert any(each.question for each in found) == (name in QUESTIONS)
    assert all(each.why for each in found if each.column)


@pytest.mark.parametrize(
    ("headings", "values", "expected"),
    [
        pytest.param("Location;URL", "Store B;https://m.example/1", ";target", id="a place of storage"),
        pytest.param("Location", "https://m.example/1", "target", id="an address below Location"),
        pytest.param("ARK;Titel", "INV 17;Vase", ";what", id="numbers below ARK"),
        pytest.param("Titel;Bild", "Vase;https://m.example/1.jpg", "what;", id="only pictures"),
        pytest.param("Datum;Titel", "Vase;1901", ";", id="exchanged headings"),
        pytest.param("Künstler;Titel", "https://viaf.example/1;Vase", ";what", id="an address of a person"),
        pytest.param("identifier;status", "ark:12345/x5;on display", "identifier;", id="a status of a museum"),
        pytest.param("identifier;status", "ark:12345/x5;live", "identifier;status", id="a status of Ararat"),
        pytest.param("Inv.-Nr.;Titel", "A 1;Vase|A 1;Bowl|A 1;Cup", "resource;what", id="a few rows with one number"),
        pytest.param("Inv.-Nr.;Titel", "|".join(["A 1;Vase"] * 9), ";what", id="many rows with one number"),
        pytest.param("x;y", "ark:12345/x5;https://m.example/1", "identifier;target", id="values alone"),
    ],
)
def test_a_column_is_guessed_only_if_its_values_fit(headings: str, values: str, expected: str) -> None:
    rows = [row.split(";") for row in values.split("|")]
    assert guesses.columns(headings.split(";"), rows) == expected.split(";")


def test_two_columns_that_fit_as_well_are_a_question() -> None:
    found = guesses.guess(["Titre", "Titel"], [["Le port", "Der Hafen"], ["Le pont", "Die Brücke"]])
    assert [each.column for each in found] == ["what", ""]
    assert "Titel" in found[0].question


@pytest.mark.parametrize("weight", [each for words in heading_words.WORDS.values() for each in words])
def test_the_weight_of_a_word_is_at_most_one(weight: float) -> None:
    assert 0 < weight <= 1


def _read(text: str) -> tuple[list[str], list[str], list[list[str]]]:
    text = text.strip("\n")
    first, *lines = csv.reader(io.StringIO(text), delimiter=";" if ";" in text.partition("\n")[0] else "|")
    expected, *rows = lines
    return first, expected, rows
