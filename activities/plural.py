"""A number with its noun, as every line for people has it."""


def plural(count: int, thing: str) -> str:
    """`1 claim`, `2 claims`, `2 searches`, `2 studies`; of several words the last is the noun."""
    if count == 1:
        return f"1 {thing}"
    if thing.endswith("y") and thing[-2] not in "aeiou":
        return f"{count} {thing[:-1]}ies"
    return f"{count} {thing}{'es' if thing.endswith(('ch', 's')) else 's'}"
