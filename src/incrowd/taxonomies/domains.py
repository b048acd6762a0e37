"""Values that everybody knows: diagnoses in chapters, and countries in the regions that the United Nations use.

Countries are known by their codes (ISO 3166) and English names.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from functools import cache

UNKNOWN = "elsewhere"  # what the domain does not know

_ICD10 = re.compile(r"([A-Za-z])([0-9])([0-9A-Za-z])(\.?[0-9A-Za-z]{1,4})?")
_CHAPTERS = (  # of the 10th revision of the International Classification of Diseases, by their first code
    ("A00", "A00-B99 infections"),
    ("C00", "C00-D49 neoplasms"),
    ("D50", "D50-D89 blood and immune system"),
    ("E00", "E00-E90 endocrine, nutritional, metabolic"),
    ("F00", "F00-F99 mental and behavioural"),
    ("G00", "G00-G99 nervous system"),
    ("H00", "H00-H59 eye"),
    ("H60", "H60-H95 ear"),
    ("I00", "I00-I99 circulatory system"),
    ("J00", "J00-J99 respiratory system"),
    ("K00", "K00-K95 digestive system"),
    ("L00", "L00-L99 skin"),
    ("M00", "M00-M99 musculoskeletal system"),
    ("N00", "N00-N99 genitourinary system"),
    ("O00", "O00-O99 pregnancy and childbirth"),
    ("P00", "P00-P96 perinatal period"),
    ("Q00", "Q00-Q99 congenital"),
    ("R00", "R00-R99 symptoms and findings"),
    ("S00", "S00-T98 injury and poisoning"),
    ("U00", "U00-U99 special purposes"),
    ("V00", "V00-Y99 external causes"),
    ("Z00", "Z00-Z99 contact with health services"),
)


def icd10_chapter(code: str) -> str | None:
    """The chapter of a diagnosis in ICD-10, None if the text is not such a code."""
    if not _ICD10.fullmatch(code.strip()):
        return None
    place = bisect_right([first for first, _ in _CHAPTERS], code.strip()[:3].upper())
    return _CHAPTERS[place - 1][1]


def _of_diagnosis(value: str) -> tuple[str, ...] | None:
    chapter = icd10_chapter(value)
    return None if chapter is None else (f"{value.strip()[:3].upper()}.-", chapter)


# Continent, region: two letters, three letters and names of each country, names separated by slashes.
_TABLE = """
Africa, Northern Africa: DZ DZA Algeria; EG EGY Egypt; LY LBY Libya; MA MAR Morocco; SD SDN Sudan; TN TUN Tunisia;
 EH ESH Western Sahara
Africa, Eastern Africa: BI BDI Burundi; KM COM Comoros; DJ DJI Djibouti; ER ERI Eritrea; ET ETH Ethiopia; KE KEN Kenya;
 MG MDG Madagascar; MW MWI Malawi; MU MUS Mauritius; YT MYT Mayotte; MZ MOZ Mozambique; RE REU Reunion; RW RWA Rwanda;
 SC SYC Seychelles; SO SOM Somalia; SS SSD South Sudan; UG UGA Uganda; TZ TZA Tanzania; ZM ZMB Zambia;
 ZW ZWE Zimbabwe; IO IOT British Indian Ocean Territory
Africa, Middle Africa: AO AGO Angola; CM CMR Cameroon; CF CAF Central African Republic; TD TCD Chad;
 CG COG Congo; CD COD Democratic Republic of the Congo/DR Congo; GQ GNQ Equatorial Guinea; GA GAB Gabon;
 ST STP Sao Tome and Principe
Africa, Southern Africa: BW BWA Botswana; SZ SWZ Eswatini/Swaziland; LS LSO Lesotho; NA NAM Namibia;
 ZA ZAF South Africa
Africa, Western Africa: BJ BEN Benin; BF BFA Burkina Faso; CV CPV Cabo Verde/Cape Verde;
 CI CIV Cote d'Ivoire/Ivory Coast; GM GMB Gambia; GH GHA Ghana; GN GIN Guinea; GW GNB Guinea-Bissau;
 LR LBR Liberia; ML MLI Mali; MR MRT Mauritania;
 NE NER Niger; NG NGA Nigeria; SH SHN Saint Helena; SN SEN Senegal; SL SLE Sierra Leone; TG TGO Togo
America, Northern America: BM BMU Bermuda; CA CAN Canada; GL GRL Greenland; PM SPM Saint Pierre and Miquelon;
 US USA United States/United States of America/America
America, Central America: BZ BLZ Belize; CR CRI Costa Rica; SV SLV El Salvador; GT GTM Guatemala; HN HND Honduras;
 MX MEX Mexico; NI NIC Nicaragua; PA PAN Panama
America, Caribbean: AI AIA Anguilla; AG ATG Antigua and Barbuda; AW ABW Aruba; BS BHS Bahamas; BB BRB Barbados;
 BQ BES Bonaire; VG VGB British Virgin Islands; KY CYM Cayman Islands; CU CUB Cuba; CW CUW Curacao; DM DMA Dominica;
 DO DOM Dominican Republic; GD GRD Grenada; GP GLP Guadeloupe; HT HTI Haiti; JM JAM Jamaica; MQ MTQ Martinique;
 MS MSR Montserrat; PR PRI Puerto Rico; BL BLM Saint Barthelemy; KN KNA Saint Kitts and Nevis; LC LCA Saint Lucia;
 MF MAF Saint Martin; VC VCT Saint Vincent and the Grenadines; SX SXM Sint Maarten;
 TT TTO Trinidad and Tobago/Trinidad&Tobago; TC TCA Turks and Caicos Islands; VI VIR US Virgin Islands
America, South America: AR ARG Argentina; BO BOL Bolivia; BR BRA Brazil; CL CHL Chile; CO COL Colombia; EC ECU Ecuador;
 FK FLK Falkland Islands; GF GUF French Guiana; GY GUY Guyana; PY PRY Paraguay; PE PER Peru; SR SUR Suriname;
 UY URY Uruguay; VE VEN Venezuela; BV BVT Bouvet Island; GS SGS South Georgia
Asia, Central Asia: KZ KAZ Kazakhstan; KG KGZ Kyrgyzstan; TJ TJK Tajikistan; TM TKM Turkmenistan; UZ UZB Uzbekistan
Asia, Eastern Asia: CN CHN China; HK HKG Hong Kong; MO MAC Macao/Macau; JP JPN Japan; MN MNG Mongolia;
 KP PRK North Korea; KR KOR South Korea/Korea/Republic of Korea; TW TWN Taiwan
Asia, South-eastern Asia: BN BRN Brunei; KH KHM Cambodia; ID IDN Indonesia; LA LAO Laos; MY MYS Malaysia;
 MM MMR Myanmar/Burma; PH PHL Philippines; SG SGP Singapore; TH THA Thailand; TL TLS Timor-Leste;
 VN VNM Vietnam/Viet Nam
Asia, Southern Asia: AF AFG Afghanistan; BD BGD Bangladesh; BT BTN Bhutan; IN IND India; IR IRN Iran; MV MDV Maldives;
 NP NPL Nepal; PK PAK Pakistan; LK LKA Sri Lanka
Asia, Western Asia: AM ARM Armenia; AZ AZE Azerbaijan; BH BHR Bahrain; CY CYP Cyprus; GE GEO Georgia; IQ IRQ Iraq;
 IL ISR Israel; JO JOR Jordan; KW KWT Kuwait; LB LBN Lebanon; OM OMN Oman; QA QAT Qatar; SA SAU Saudi Arabia;
 PS PSE Palestine; SY SYR Syria; TR TUR Turkey/Turkiye; AE ARE United Arab Emirates; YE YEM Yemen
Europe, Eastern Europe: BY BLR Belarus; BG BGR Bulgaria; CZ CZE Czechia/Czech Republic; HU HUN Hungary; PL POL Poland;
 MD MDA Moldova; RO ROU Romania; RU RUS Russia/Russian Federation; SK SVK Slovakia; UA UKR Ukraine
Europe, Northern Europe: AX ALA Aland Islands; DK DNK Denmark; EE EST Estonia; FO FRO Faroe Islands; FI FIN Finland;
 GG GGY Guernsey; IS ISL Iceland; IE IRL Ireland; IM IMN Isle of Man; JE JEY Jersey; LV LVA Latvia; LT LTU Lithuania;
 NO NOR Norway; SJ SJM Svalbard; SE SWE Sweden;
 GB GBR United Kingdom/Great Britain/England/Scotland/Wales/Northern Ireland
Europe, Southern Europe: AL ALB Albania; AD AND Andorra; BA BIH Bosnia and Herzegovina; HR HRV Croatia;
 GI GIB Gibraltar; GR GRC Greece; VA VAT Vatican/Holy See; IT ITA Italy; XK XKX Kosovo; MT MLT Malta; ME MNE Montenegro;
 MK MKD North Macedonia/Macedonia; PT PRT Portugal; SM SMR San Marino; RS SRB Serbia/Yugoslavia; SI SVN Slovenia;
 ES ESP Spain
Europe, Western Europe: AT AUT Austria; BE BEL Belgium; FR FRA France; DE DEU Germany; LI LIE Liechtenstein;
 LU LUX Luxembourg; MC MCO Monaco; NL NLD Netherlands/Holland; CH CHE Switzerland
Oceania, Australia and New Zealand: AU AUS Australia; CX CXR Christmas Island; CC CCK Cocos Islands;
 HM HMD Heard Island; NZ NZL New Zealand; NF NFK Norfolk Island
Oceania, Pacific islands: AS ASM American Samoa; CK COK Cook Islands; FJ FJI Fiji; PF PYF French Polynesia; GU GUM Guam;
 KI KIR Kiribati; MH MHL Marshall Islands; FM FSM Micronesia; NR NRU Nauru; NC NCL New Caledonia; NU NIU Niue;
 MP MNP Northern Mariana Islands; PW PLW Palau; PG PNG Papua New Guinea; PN PCN Pitcairn; WS WSM Samoa;
 SB SLB Solomon Islands; TK TKL Tokelau; TO TON Tonga; TV TUV Tuvalu; UM UMI US Minor Outlying Islands; VU VUT Vanuatu;
 WF WLF Wallis and Futuna
Antarctica, Antarctic: AQ ATA Antarctica; TF ATF French Southern Territories
"""


def regions_of(value: str) -> tuple[str, str] | None:
    """The region and the continent of a country by its code or English name, None where it is unknown."""
    codes, names = _countries()
    text = value.strip()
    return codes.get(text.upper()) if len(text) <= 3 else names.get(_letters(text))


def is_code(value: str) -> bool:
    """Whether a text is the code of a country, of two or three letters."""
    return value.strip().upper() in _countries()[0]


@cache
def _countries() -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    codes: dict[str, tuple[str, str]] = {}
    names: dict[str, tuple[str, str]] = {}
    for line in _TABLE.replace("\n ", " ").strip().splitlines():
        place, _, countries = line.partition(": ")
        continent, _, region = place.partition(", ")
        for country in countries.split("; "):
            two, three, spelled = country.strip(" ;").split(" ", 2)
            codes[two] = codes[three] = region, continent
            names |= {_letters(name): (region, continent) for name in spelled.split("/")}
    return codes, names


def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


DOMAINS: dict[str, Callable[[str], tuple[str, ...] | None]] = {"country": regions_of, "icd10": _of_diagnosis}
