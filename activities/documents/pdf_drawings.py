"""Drawings on a page of a PDF: figures, rules of tables, bullets."""

import ctypes
from collections import Counter
from collections.abc import Iterator, Sequence

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage

from activities.documents.pdf_page import RULE, Box, frame_of

MAX_OBJECTS = 20_000
"""Drawn objects of a page that are looked at."""
MIN_DRAWN = 8
"""Lines and areas of a figure that is drawn; a frame or the rules of a table have fewer."""
MIN_SIDE = 40.0
"""Shorter side of a figure in points."""
MAX_RULES = 1_000


def drawings(page: PdfPage) -> tuple[list[Box], list[Box], list[Box]]:
    """Return the places of the figures of a page, its rules, and what may be bullets."""
    width, height = page.get_size()
    boxes: list[Box] = []
    shapes: list[Box] = []
    for kind, box in _objects(page):
        if kind == pdfium.FPDF_PAGEOBJ_TEXT:
            continue
        box_width, box_height = box.right - box.left, box.top - box.bottom
        if box_width > 0.9 * width and box_height > 0.7 * height:
            continue  # a background
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            shapes.append(box)
        elif box_width > MIN_SIDE and box_height > MIN_SIDE:
            boxes.append(box)
    rules = [box for box in shapes if min(box.right - box.left, box.top - box.bottom) <= RULE]
    bullets = [b for b in shapes if abs(b.right - b.left - b.top + b.bottom) < 0.2 and b.top - b.bottom < 8]
    return [*boxes, *_clusters(shapes)], rules[:MAX_RULES], bullets[:MAX_RULES]


def _objects(page: PdfPage) -> Iterator[tuple[int, Box]]:
    """Yield what is drawn on a page: its kind and its place."""
    sides = [ctypes.c_float() for _ in range(4)]
    for number in range(min(pdfium.FPDFPage_CountObjects(page.raw), MAX_OBJECTS)):
        item = pdfium.FPDFPage_GetObject(page.raw, number)
        if pdfium.FPDFPageObj_GetBounds(item, *map(ctypes.byref, sides)):
            yield pdfium.FPDFPageObj_GetType(item), Box(*(side.value for side in sides))


def _clusters(boxes: Sequence[Box]) -> Iterator[Box]:
    """Yield where many lines and areas are drawn beside each other, and not only rules from side to side."""
    cluster: list[Box] = []
    for box in [*sorted(boxes, key=lambda box: -box.top), None]:
        if box is not None and (not cluster or box.top > min(other.bottom for other in cluster[-50:]) - 12):
            cluster.append(box)
            continue
        # areas below each other from one side to the other are the background of words
        sides = Counter((round(b.left), round(b.right)) for b in cluster)
        separate = [b for b in cluster if sides[round(b.left), round(b.right)] == 1]
        areas = [b for b in separate if 2 < b.top - b.bottom < 200 and b.right - b.left > 2]
        if len(cluster) >= MIN_DRAWN and len(areas) >= MIN_DRAWN / 2:
            frame = frame_of(cluster)
            if min(frame.right - frame.left, frame.top - frame.bottom) > MIN_SIDE:
                yield frame
        cluster = [box] if box is not None else []
