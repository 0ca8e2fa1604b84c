"""Text of pictures and of scanned pages by optical character recognition (RapidOCR, extra `scans`).

Works without a network: the weights are in the package. What is recognised may have errors, so everything
read here says so (`text_from: ocr`), and a report labels its quotes. Lines are laid out as those of a PDF.
"""

import io
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from activities.documents.pdf import lay_out
from activities.documents.pdf_page import Page, Run
from activities.documents.text import Text, Unreadable, behind_extra
from activities.proxies import refuse_telemetry

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 40_000_000
"""Pixels of one picture: an A4 page at 600 dots an inch has 35 million. One is in memory twice, as it is read
and as it is made smaller."""
MAX_PAGES = 200
OCR_SECONDS = 560.0
"""After which no further page is read; those read are kept."""
FIRST_SECONDS = 35.0
"""The same while no page has had any text: what is no scan is not looked through."""
THREADS = max(1, min(4, (os.cpu_count() or 1) // 2))
DOTS_PER_INCH = 200
"""At which pages of a PDF are drawn."""
MAX_SIDE_PIXELS = 3_000
"""Longer side of what is recognised; larger pictures are made smaller: the memory grows with its square."""
MAX_RATIO = 4
"""The sides of what is recognised at most, one by the other: the engine enlarges a picture until its shorter
side has 736 pixels, so that a line of few pixels would become one of gigabytes. What is narrower gets an
empty margin."""
MIN_SCORE = 0.6
"""Recogniser's score of a line, below which it is left out."""
ASCENT = 0.8
"""Share of the height of a line that stands above the foot of its letters."""
MAX_UNEVEN = 1.4
"""How much higher or lower than most of a page a line is that has letters of the same size."""


def read_picture(data: bytes) -> Text:
    """Return the text of a picture, each frame a page. Raises Unreadable, Lacking without the extra."""
    _engine()
    picture = _open(data)
    count = int(getattr(picture, "n_frames", 1))
    return _recognise(_frames(picture, count), count)


def read_scanned_pdf(data: bytes) -> Text:
    """Return the text of a PDF's pages as pictures. Raises Unreadable, Lacking without the extra."""
    _engine()
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        raise Unreadable(f"it cannot be drawn as a PDF: {error}") from error
    try:
        pages = (_draw(document[number]) for number in range(len(document)))
        return _recognise(pages, len(document))
    finally:
        document.close()


def _recognise(pictures: Iterable["Image"], count: int) -> Text:
    start = time.monotonic()
    pages: list[Page] = []
    scores: list[float] = []
    for picture in pictures:
        lines = _lines(picture)
        scores += [score for _, score in lines]
        pages.append(Page(even_sizes([run for run, _ in lines]), [], picture.height))
        limit = OCR_SECONDS if scores else FIRST_SECONDS
        if len(pages) >= MAX_PAGES or time.monotonic() - start > limit:
            break
    if not scores:
        raise Unreadable("no text was recognised in it")
    cut = f"only the first {len(pages):,} of {count:,} pages were read" if len(pages) < count else ""
    text = lay_out(pages)
    meta = {"text_from": "ocr", "ocr_score": f"{fmean(scores):.2f}"}
    return replace(text, meta=meta, cut="; ".join(filter(None, (cut, text.cut))))


def even_sizes(runs: Sequence[Run]) -> list[Run]:
    """Return the lines of a page with one size where theirs differ only by the letters that they have."""
    size = median(run.size for run in runs) if runs else 0.0
    low, high = size / MAX_UNEVEN, size * MAX_UNEVEN
    return [replace(run, size=size) if low < run.size < high else run for run in runs]


def _lines(picture: "Image") -> list[tuple[Run, float]]:
    """Return the lines of a picture with the scores of their recognition."""
    import numpy as np

    result = _engine()(np.asarray(_pad(picture.convert("RGB")))[:, :, ::-1])  # its networks expect BGR
    if result.boxes is None or result.txts is None or result.scores is None:
        return []
    lines = []
    for box, text, score in zip(result.boxes, result.txts, result.scores, strict=True):
        if score >= MIN_SCORE and text.strip():
            x_values, y_values = [float(x) for x, _ in box], [float(y) for _, y in box]
            height = max(y_values) - min(y_values)
            base = picture.height - max(y_values) + (1 - ASCENT) * height
            lines.append((Run(text.strip(), min(x_values), max(x_values), base, height), float(score)))
    return lines


def _pad(picture: "Image") -> "Image":
    """Return the picture, with a margin where one side is much shorter than the other."""
    from PIL import Image

    min_side = -(-max(picture.size) // MAX_RATIO)
    width, height = max(picture.width, min_side), max(picture.height, min_side)
    if (width, height) == picture.size:
        return picture
    canvas = Image.new("RGB", (width, height), "white")
    canvas.paste(picture, (0, 0))
    return canvas


def _open(data: bytes) -> "Image":
    with _extra():
        from PIL import Image, UnidentifiedImageError
    try:
        picture = Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "TIFF"))
    except UnidentifiedImageError as error:
        raise Unreadable("it is no picture of PNG, JPEG or TIFF") from error
    except (OSError, SyntaxError, ValueError) as error:
        raise Unreadable(f"it cannot be read as a picture: {error}") from error
    if picture.width * picture.height > MAX_PIXELS:
        raise Unreadable(f"it has more than {MAX_PIXELS:,} pixels")
    return picture


def _frames(picture: "Image", count: int) -> Iterator["Image"]:
    from PIL import ImageOps

    for number in range(count):
        try:
            picture.seek(number)
            if picture.width * picture.height > MAX_PIXELS:
                raise Unreadable(f"a page of it has more than {MAX_PIXELS:,} pixels")
            frame = picture
            if max(picture.size) > MAX_SIDE_PIXELS:
                frame = picture.copy()  # the next frame needs the picture in its own size
                frame.thumbnail((MAX_SIDE_PIXELS, MAX_SIDE_PIXELS))
            frame = ImageOps.exif_transpose(frame)
        except (OSError, SyntaxError, ValueError) as error:
            raise Unreadable(f"it cannot be read as a picture: {error}") from error
        yield frame


def _draw(page: Any) -> "Image":  # noqa: ANN401 - pypdfium2 ships no types
    points = max(page.get_width(), page.get_height(), 1.0)
    scale = min(DOTS_PER_INCH / 72, MAX_SIDE_PIXELS / points)
    picture: Image = page.render(scale=scale).to_pil()
    page.close()
    return picture


@cache
def _engine() -> Any:  # noqa: ANN401 - RapidOCR ships no types
    """Return the recogniser, made once a process. Raises Lacking without the extra."""
    with _extra():
        refuse_telemetry()
        import onnxruntime  # noqa: F401 - RapidOCR finds its absence out only when it is used
        from rapidocr import RapidOCR
    threads = {"EngineConfig.onnxruntime.intra_op_num_threads": THREADS, "Global.log_level": "error"}
    return RapidOCR(params=threads)


def _extra() -> AbstractContextManager[None]:
    return behind_extra("a scan or a picture", "scans")
