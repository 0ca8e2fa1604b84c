"""Numbers with their nouns, and times, as every line for people has them."""


def plural(count: int, thing: str) -> str:
    """`1 claim`, `2 claims`, `2 searches`, `2 studies`; of several words the last is the noun."""
    if count == 1:
        return f"1 {thing}"
    if thing.endswith("y") and thing[-2] not in "aeiou":
        return f"{count} {thing[:-1]}ies"
    return f"{count} {thing}{'es' if thing.endswith(('ch', 's')) else 's'}"


def counted(number: int, one: str, many: str = "") -> str:
    """`1 claim`, `2,000 claims`; `many` where the plural is not made by an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def clock(seconds: float) -> str:
    """`1:02:03` or `2:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
