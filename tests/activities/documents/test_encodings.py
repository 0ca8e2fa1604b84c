"""Bytes of a text as characters: the letters that were written, or a refusal, and never other letters."""

# ruff: noqa: RUF001 - letters of many scripts are meant

import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from activities.documents.encodings import REPLACEMENT, decode, decode_page, decode_text
from activities.documents.html_page import read_html
from activities.documents.plain import read_mail
from activities.documents.text import Unreadable
from tests.activities.documents.test_generated import generated

WRITTEN = {
    "German": (
        "Das Ölbad verkürzte die Müdigkeit um 3 Tage; übermäßige Belastung war größtenteils überflüssig.",
        ("cp1252", "mac-roman", "cp850"),
    ),
    "French": (
        "L'étude a montré que la fièvre était fréquente chez les patients âgés à l'hôpital, où elle a cessé.",
        ("cp1252", "mac-roman"),
    ),
    "Polish": (
        "Leczenie zmniejszyło częstość bólów głowy; działania niepożądane były rzadkie, czuli się lepiej.",
        ("cp1250", "iso8859-2"),
    ),
    "Romanian": (
        "Tratamentul a scăzut frecvenţa durerilor şi a fost bine suportat de cei doi sute de bolnavi.",
        ("cp1250",),
    ),
    "Lithuanian": (
        "Gydymas sumažino galvos skausmų dažnį, o pacientai jautėsi geriau jau po trijų mėnesių.",
        ("cp1257",),
    ),
    "Russian": (
        "Лечение снизило частоту приступов у взрослых, и через 3 месяца больные чувствовали себя лучше.",
        ("koi8-r", "cp1251", "cp866", "iso8859-5"),
    ),
    "Greek": ("Η θεραπεία μείωσε τη συχνότητα των κρίσεων κατά 12 % σε ενήλικες ασθενείς.", ("cp1253",)),
    "Chinese": (
        "本研究纳入一百二十名患者，瓦伦新使头痛天数减少了百分之三十。\n对照组没有变化。",
        ("gbk", "gb18030"),
    ),
    "Traditional Chinese": (
        "本研究納入一百二十名患者，頭痛天數減少了百分之三十。\n對照組沒有變化。",
        ("big5",),
    ),
    "Japanese": (
        "本研究では120名の患者を対象とし、頭痛の日数が三十パーセント減少した。\n対照群では変化がなかった。",
        ("shift_jis", "euc_jp", "iso2022_jp"),
    ),
    "Korean": ("이 연구는 환자를 대상으로 하였으며 두통 일수가 30 퍼센트 감소하였다.", ("euc_kr",)),
}
CASES = [(text, encoding) for text, encodings in WRITTEN.values() for encoding in encodings]
ENGLISH = "The trial was done in three hospitals, and no difference was seen between the groups. "


@pytest.mark.parametrize(("text", "encoding"), CASES)
def test_a_text_without_a_declared_encoding_is_read(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text
    among_english = f"{ENGLISH * 20}\n{text}\n{ENGLISH * 20}"
    assert decode(among_english.encode(encoding)) == among_english


@pytest.mark.parametrize("said", ["a field of 3 m³", "about ¼ of it", "5 µg ± 2", "at 37 °C – or more", "£7"])
def test_signs_among_english_words_are_those_of_windows(said: str) -> None:
    text = f"The boats were given {said}."
    assert decode(text.encode("cp1252")) == text


@pytest.mark.parametrize("place", range(0, 90, 7))
def test_a_broken_byte_costs_no_other_letter(place: int) -> None:
    text = "Das Ölbad verkürzte die Müdigkeit um 3 Tage.\nDie Fläche war größer, und die Übelkeit ließ nach."
    data = text.encode()
    broken = data[:place] + b"\xff" + data[place:]
    read = decode_text(broken)
    assert read.encoding == "utf-8"
    assert read.text.count(REPLACEMENT) == read.replacements >= 1
    before = data[:place].decode(errors="ignore")
    assert read.text.startswith(before)
    assert read.text.endswith(data[place:].decode(errors="ignore"))


def test_lines_of_several_encodings_are_each_read() -> None:
    german, russian = "Das Ölbad verkürzte die Müdigkeit.", "Лечение снизило частоту приступов у взрослых."
    chinese = "本研究纳入一百二十名患者，瓦伦新使头痛天数减少了百分之三十。"
    lines = (german.encode(), german.encode("cp1252"), chinese.encode("gbk"), russian.encode(), b"plain")
    read = decode_text(b"\n".join(lines))
    assert read.text.split("\n") == [german, german, chinese, russian, "plain"]
    assert "UTF-8" in read.note


@generated
@given(
    st.text().filter(lambda text: "\0" not in text and not text.startswith("\ufeff") and "\x1b$" not in text)
)
def test_utf8_is_read_as_it_is(text: str) -> None:
    data = text.encode("utf-8", errors="replace")
    assert decode_text(data).text == data.decode()
    assert decode_text(codecs.BOM_UTF8 + data).text == data.decode()
    assert not decode_text(data).note


@generated
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        text = decode(data)
    except Unreadable as refused:
        assert "\n" not in str(refused)  # noqa: PT017 - both ends are right
    else:
        assert text or not data.strip(b"\0\xef\xbb\xbf\xff\xfe")


def test_what_fits_no_encoding_is_refused_with_how_to_mend_it() -> None:
    with pytest.raises(Unreadable, match="save it as UTF-8"):
        decode(random.Random(1).randbytes(600).replace(b"\0", b""))
    with pytest.raises(Unreadable, match="binary"):
        decode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1")


def test_a_stray_nul_does_not_make_a_text_binary() -> None:
    assert (
        decode(("Das Ölbad war warm. " * 5).encode() + b"\0 Ende.") == "Das Ölbad war warm. " * 5 + " Ende."
    )


@pytest.mark.parametrize(
    ("declared", "written"),
    [
        ("utf-8", "cp1252"),
        ("iso-8859-1", "utf-8"),
        ("iso-8859-1", "cp1252"),
        ("gb2312", "gb18030"),
        ("", "koi8-r"),
        ("no-such-charset", "utf-8"),
    ],
)
def test_a_page_is_read_whatever_it_declares(declared: str, written: str) -> None:
    words = {
        "gb18030": "瓦伦新使头痛天数减少了百分之三十，对照组没有变化。",
        "koi8-r": "Лечение снизило частоту приступов у взрослых.",
    }.get(written, "Die Müdigkeit ließ nach – um 3 Tage – bei größerer Fläche.")
    meta = f'<meta charset="{declared}">' if declared else ""
    page = f"<html><head>{meta}<title>Seite</title></head><body><p>{words}</p></body></html>".encode(written)
    assert words in decode_page(page).text
    assert words in read_html(page).text


@pytest.mark.parametrize("charset", ["", "; charset=us-ascii", "; charset=utf-8"])
def test_a_message_without_its_own_character_set_is_read(charset: str) -> None:
    head = f"From: a@b.example\nTo: c@d.example\nSubject: Bad\nContent-Type: text/plain{charset}\n"
    body = "Das Ölbad verkürzte die Müdigkeit um 3 Tage."
    message = f"{head}Content-Transfer-Encoding: 8bit\n\n{body}\n".encode("cp1252")
    assert body in read_mail(message).text
