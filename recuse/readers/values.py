"""What the cells say: numbers, labels or sets of labels, and the scale they suggest."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from unicodedata import normalize

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recuse.ratings.scale import Nominal, Numeric, Ordinal, ResponseSets, Scale
from recuse.readers.column_names import SETS, WORDS, plain
from recuse.readers.json_records import parsed
from recuse.schema import RecuseError, factors
from recuse.schema.arrays import Floats

EMPTY: tuple[str, ...] = tuple(WORDS["answers"]["empty"])
STATUSES = {"refused": "refused", "refusal": "refused", "error": "error", "unparsed": "unparsed"}
"""Words that stand in the place of an answer, and the status they say."""
DEGREES: tuple[str, ...] = tuple(WORDS["answers"]["degrees"])  # beside two of these, "none" is an answer: no severity
ORDERS: tuple[tuple[str, ...], ...] = tuple(tuple(order.split(" < ")) for order in WORDS["answers"]["orders"])
"""Labels whose order needs no telling, from worst to best."""
KNOWN = {label for order in ORDERS for label in order}
VERDICTS: tuple[tuple[str, ...], ...] = (tuple(WORDS["answers"]["worse"]), tuple(WORDS["answers"]["better"]))
"""Words that say one thing: the worse verdict, and the better."""
CHOICE_WORDS = {word: side for side in ("first", "second", "tie") for word in WORDS["answers"][side]}
"""What people write for the first of two, the second, and neither."""
SIDE = re.compile(
    r"^(?:the )?(?:response|model|assistant|option|answer|output|system|candidate|reply|summary|text|choice|bot|"
    r"sentence|story|translation)[ _-]?(?=\w+)"
)
WINS = re.compile(r" (?:is )?(?:the )?(?:clearly |much |slightly )?(?:better|best|wins|won|preferred|winner)$")
"""What stands around a side: "Response A", "B is better"."""
ENDS = ((0, 1), (0, 2), (1, 3), (0, 3), (1, 4), (0, 4), (1, 5), (0, 5), (1, 6), (1, 7), (1, 10), (0, 10), (1, 100),
        (0, 100))  # fmt: skip
KNOWN_SHARE = 0.9
STRAYS, CODES, FEWEST = 0.02, 2, 50  # outside a scale, so few numbers, so few different ones, of so many, are slips
NUMERIC = re.compile(r"[\d★⭐]")  # every spelling of a number holds one
STARS = r"^(?:[★⭐]\ufe0f?)+☆*$"
COUNTED = r"(?i)^(-?\d+(?:[.,]\d+)?)\s*(?:[★⭐]|stars?|points?|pts?\.?|st|nd|rd|th)$"
SAID = re.compile(
    r"(?i)^\W{0,3}(?:(?:my|the|final|overall)\s+)*"
    r"(?:score|rating|grade|mark|verdict|answer|stars|label|judge?ment|decision|result|overall|note|bewertung)"
    r"\s*(?:is\b|[:=])\W*?(?=[-\w★⭐\[<])"
)  # what judges write before an answer: "Rating: 4/5", "**Score:** 4", "The final rating is 3", "Verdict: pass"
WRAPPED = re.compile(
    r"^(?:\[\[(.+)\]\]|\*\*(.+)\*\*|\\boxed\{(.+)\}|\((-?\d[^()]*|[a-z])\)|"
    r"<(score|rating|grade|verdict|answer)>(.+)</(?:score|rating|grade|verdict|answer)>)$"
)  # what they wrap it in: "[[4]]", "**4**", "(4)", "(b)"
NAMED_POINT = r"(?i)^(?:grade|level|score|rating|note|stufe|niveau|nivel|points?)\s+(-?\d+(?:[.,]\d+)?)$"
POINT = r"^(-?\d+)\s*[-–—:=.(]\s*([^\W\d][^\d]*)$"
POINT_BEHIND = r"^([^\W\d][^\d]*)\((-?\d+)\)$"
MOST_POINTS = 11
MOST_KEPT = 2_000  # different values of a column whose numbers are kept: beyond, they take more room than time
THOUSANDS = re.compile(
    r"-?\d{1,3}(?:(?:[\s'’]\d{3})+(?:[.,]\d+)?|(?:,\d{3})+\.\d+|(?:\.\d{3})+,\d+|(?:,\d{3}){2,}|(?:\.\d{3}){2,})"
)  # numbers with a separator of thousands, and with nothing else that it may be
MONTHS = tuple(dict.fromkeys(name[:3] for name in factors.MONTHS))
OUT_OF = r"^(-?\d+(?:[.,]\d+)?)\s*(?:/|out of|of)\s*(\d+)(?:\s*(?:stars?|points?|pts?\.?))?$"
TOLD = re.compile(r"[/%]|of|[^\x00-\x7f]")  # what says that there is a best, or a sign that may stand for it
BOTH = ("both", "either", "both could be right", "either could be right")
MOST_OPTIONS, LONGEST, MANY = 20, 40, 25
WEAK = re.compile(r"\s*[,;/+&]\s*|\s+and\s+|\s+or\s+")  # if each part is an answer of its own elsewhere
PAIR, HALVES = re.compile(r"(\d+),(\d+)"), 3


def is_empty(cells: pd.Series[Any], answers: Collection[str] = ()) -> pd.Series[bool]:
    """Cells that say nothing: empty, NaN, n/a and the like, but for those that somebody says are `answers`."""
    codes, values = pd.factorize(cells)
    return pd.Series(np.append(say_nothing(values.tolist(), answers), True)[codes], index=cells.index)


def say_nothing(values: Sequence[Any], answers: Collection[str] = ()) -> NDArray[np.bool_]:
    """The same of a column's different values."""
    words = [str(v).strip()[:40].lower() for v in values]  # what says nothing is shorter
    degrees = len({*words} & {*DEGREES}) > 1 and {*words} <= {*DEGREES, *EMPTY}
    nothing = {*EMPTY} - {*answers, *(["none"] if degrees else [])}
    return np.array([word in nothing for word in words], dtype=bool)


def as_numbers(cells: pd.Series[Any]) -> pd.Series[float]:
    """Cells as numbers, NaN where they are none; "3,5", "85 %", "4/5", "3 Stars", "2nd", "★★★☆☆", "4 - good", "[[4]]"
    and "Rating: 4/5" and "Grade 4" are numbers, infinite ones are not."""
    codes, values = pd.factorize(cells)
    words = tuple(map(str, values.tolist()))
    numbers = _numbers_of(words) if len(words) <= MOST_KEPT else _numbers_of.__wrapped__(words)
    numbers = np.append(np.where(np.isfinite(numbers), numbers, np.nan), np.nan)
    return pd.Series(numbers[codes], index=cells.index)


@lru_cache(maxsize=256)
def _numbers_of(words: tuple[str, ...]) -> Floats:
    """Each as a number: a column is looked at by a dozen questions that ask the same."""
    plain = _half_width(pd.Series(words, dtype=object))
    numbers = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=float, copy=True)
    lost = np.isnan(numbers)
    if any(NUMERIC.search(word) for word in plain[lost]):
        mended = plain[lost].map(unwrapped).str.replace(r"\s*%$", "", regex=True)
        if told_top(plain) is not None:
            mended = mended.str.replace(OUT_OF, r"\1", regex=True)
        sure = mended.str.fullmatch(THOUSANDS)
        mended = mended.mask(sure, mended.str.replace(r"[.,](?=\d{3}(?!\d))|[\s'’]", "", regex=True))
        mended = mended.str.replace(r"^(-?\d+),(\d+)$", r"\1.\2", regex=True)
        numbers[lost] = pd.to_numeric(_counted(mended), errors="coerce").to_numpy(dtype=float)
    return numbers


def _half_width(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Cells with digits and signs as they stand in ASCII: ４／５ is 4/5, 2½ is 2.5, and a minus sign a hyphen."""
    plain = cells.astype(str).str.strip().str.replace("½", ".5")
    return plain.map(lambda word: word if word.isascii() else normalize("NFKC", word).replace("\u2212", "-"))


def _counted(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Stars counted, ranks as numbers, and labelled points ("4 - good") if every number has one label; else as is."""
    stars = cells.str.fullmatch(STARS)
    numbers = cells.mask(stars, cells.str.count("[★⭐]").astype(str)) if stars.any() else cells
    numbers = numbers.str.replace(COUNTED, r"\1", regex=True).str.replace(NAMED_POINT, r"\1", regex=True)
    ahead, behind = numbers.str.extract(POINT), numbers.str.extract(POINT_BEHIND)
    number = ahead[0].fillna(behind[1])
    label = ahead[1].fillna(behind[0]).astype("string").str.lower().str.strip(" )")
    pairs = {*zip(number.dropna(), label.dropna(), strict=True)}
    days = all(str(label)[:3] in MONTHS for _, label in pairs)  # what a spreadsheet makes of 4/5
    if days or not 2 <= len(pairs) <= MOST_POINTS or len({n for n, _ in pairs}) < len(pairs):
        return numbers
    return numbers.mask(number.notna(), number)


def chosen(word: str, *, from_0: bool = False) -> str:
    """ "first", "second" or "tie" for what somebody wrote of two, in lower case ("[[A]]", "response b", "a>>b", "1 is
    better"); "" for what is none of them. `from_0`: the two are numbered 0 and 1."""
    if from_0 and word in ("0", "1"):
        return ("first", "second")[int(word)]
    bare = re.sub(r"\s*([<>=]+)\s*", r"\1", WINS.sub("", unwrapped(word)))
    forms = (bare, bare.replace("_", " "), SIDE.sub("", bare))  # both_bad
    return next((CHOICE_WORDS[form] for form in forms if form in CHOICE_WORDS), "")


def told_top(cells: pd.Series[Any]) -> float | None:
    """The best that cells say they are out of: 5 for "4/5", "3 out of 5" and "★★★☆☆", 100 for "85 %"; None where none
    says it, where they do not say the same, or where one is above it."""
    if not any(TOLD.search(str(cell)) for cell in cells):
        return None
    plain = _half_width(pd.Series(pd.unique(cells), dtype=object)).map(unwrapped)
    fractions = plain.str.extract(OUT_OF).dropna()
    shares = pd.to_numeric(plain[plain.str.endswith("%")].str.rstrip("% ").str.replace(",", "."), errors="coerce")
    stars = plain[plain.str.fullmatch(STARS) & plain.str.contains("☆")].str.count("[★⭐☆]")
    tops = {*fractions[1].astype(float), *stars.astype(float), *([100.0] if len(shares) else [])}
    values = [*fractions[0].str.replace(",", ".").astype(float), *shares.dropna()]
    return tops.pop() if len(tops) == 1 and max(values, default=0.0) <= max(tops) else None


def unwrapped(answer: str) -> str:
    """An answer without what judges write around it: "Verdict: **pass**." is pass, "Rating: [[4]]" is 4."""
    bare = SAID.sub("", answer).strip().strip("`\"'").strip()
    while match := WRAPPED.fullmatch(bare):
        bare = match[match.lastindex or 0].strip().strip("`\"'").strip()
    bare = re.sub(r"(?<=\d)[\s.*]+$", "", bare)
    return (bare[:-1] if bare.endswith(".") and bare[:-1].replace(" ", "").isalpha() else bare) or answer


def spelled(label: object) -> str:
    """A label in one spelling, whatever its case, blanks, what judges write around it, and accents as characters of
    their own; of a verdict with something else below it, as "unsafe" above "S1", the verdict."""
    lines = [unwrapped(normalize("NFC", " ".join(line.split()).lower())) for line in str(label).split("\n")]
    if len(lines) > 1 and lines[0] in KNOWN and KNOWN.isdisjoint(lines[1:]):
        return lines[0]
    return lines[0] if len(lines) == 1 else unwrapped(normalize("NFC", " ".join(str(label).split()).lower()))


def labels_of(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Labels in one spelling (`spelled`)."""
    codes, values = pd.factorize(cells)
    return pd.Series(np.array([*map(spelled, values.tolist()), None], dtype=object)[codes], index=cells.index)


def is_verdict(words: Collection[str]) -> bool:
    """Whether all of these words are among those that say one of two verdicts: pass, yes, true, 1, ..."""
    return bool(words) and {*words} <= {word for each in VERDICTS for word in each}


def same_verdicts(labels: Iterable[str]) -> dict[str, str]:
    """Label -> the first used word of `VERDICTS` that says the same, where pass stands beside yes; empty elsewhere."""
    used = set(labels)
    worse, better = ([word for word in words if word in used] for words in VERDICTS)
    if not (worse and better) or len(used) < 3 or used - {*worse, *better}:
        return {}
    ends = next(((w, b) for w in worse for b in better if (w, b) in ORDERS), (worse[0], better[0]))
    return {word: ends[k] for k, words in enumerate((worse, better)) for word in words}


def scale_of_numbers(values: pd.Series[float], top: float | None = None) -> Numeric:
    """The usual scale that the numbers fit into (1 to 5, 0 to 10, ...), or from the smallest to the largest; up to
    `top` where cells say it. One or two strays in a hundred are outside of one whose both ends are used, as a 99 is."""
    seen = np.sort(values.dropna().unique())
    if top is None and (usual := _but_for_strays(values.dropna().to_numpy(dtype=float))):
        seen = seen[(usual[0] <= seen) & (seen <= usual[1])]
    low, high = float(seen[0]), float(seen[-1])
    step = next((step for step in (1.0, 0.5) if (seen % step == 0).all()), None)
    if top is not None and low >= 0 and high <= top:
        return Numeric(0.0 if low < 1 or top >= 100 else 1.0, top, step)
    fitting = [(a, b) for a, b in ENDS if a <= low and high <= b and (a == 0) == (low < 1) and high > 0.5 * b]
    if fitting:
        least, most = min(fitting, key=lambda ends: ends[1] - ends[0])
        low, high = float(least), float(most)
        return Numeric(low, high, None if (low, high) == (0.0, 1.0) else step)
    return Numeric(low, high if high > low else low + 1.0, step)


def _but_for_strays(values: Any) -> tuple[float, float] | None:
    """Ends of the smallest usual scale that all but `STRAYS` of whole numbers fill; None if all do, or are 0 to 10."""
    if len(values) < FEWEST or (values.min() >= 0 and values.max() <= 10):
        return None
    for low, high in sorted(ENDS[1:], key=lambda ends: ends[1] - ends[0]):
        inside = values[(low <= values) & (values <= high)]
        outside = values[(values < low) | (values > high)]
        filled = {low, high} <= set(inside) and bool((inside == inside.round()).all())
        few = len(outside) <= STRAYS * len(values) and len(set(outside)) <= CODES and outside.any()  # 0 is no stray
        if filled and few and high - low > 1:
            return float(low), float(high)
    return None


def scale_of_labels(counts: pd.Series[int], meant: Collection[str] = ()) -> tuple[Ordinal | Nominal, set[str]]:
    """The scale of labels with their counts, and the labels that do not belong to it: the shortest known order that has
    them all, else one with nine answers in ten and all that are `meant`; otherwise every label is an option."""
    total = int(counts.sum())
    options = {word for word in counts.index if chosen(word) != "tie"} <= {*"abcd"}  # of a question, and no grades
    orders = [order for order in sorted(ORDERS, key=len) if not (options and "f" in order)]
    if whole := [order for order in orders if {*counts.index} <= {*order}]:
        return Ordinal(whole[0]), set()
    for order in orders:
        inside = counts.index.isin(order)
        if {*meant} <= {*order} and int(counts[inside].sum()) >= KNOWN_SHARE * total:
            return Ordinal(order), {*map(str, counts.index[~inside])}
    return Nominal(tuple(sorted(map(str, counts.index)))), set()


def scale_from_text(text: str) -> Scale:
    """ "1-5", "0 to 10", "1-5 lowest best", "fail<pass", "a,b,c" (no order), "a|b|c" (sets); else `RecuseError`."""
    number = r"(-?\d{1,15}(?:\.\d+)?)"
    if match := re.fullmatch(rf"\s*{number}\s*(?:-|to|\.\.)\s*{number}\s*(,?\s*lowest (?:is )?best)?\s*", text):
        low, high = float(match[1]), float(match[2])
        if low >= high:
            raise RecuseError(
                f"a scale has two ends, the lower first: {high:g}-{low:g} or, where {high:g} is best, "
                f'"{high:g}-{low:g} lowest best"; got {text!r}'
            )
        return Numeric(low, high, None, reversed=bool(match[3]))
    for sign, made in (("<", Ordinal), ("|", ResponseSets), (",", Nominal)):
        parts = tuple(" ".join(part.split()).lower() for part in text.split(sign))
        if len(set(parts)) < len(parts):
            raise RecuseError(f"a scale names every answer once; got {text!r}")
        if len(parts) > 1 and all(parts):
            return made(parts)
    raise RecuseError(
        f'a scale is written "1-5", "fail<pass" (worst first), "a,b,c" (no order) or "a|b|c" (sets of them); '
        f"got {text!r}"
    )


def decimal_commas(labels: Sequence[str]) -> bool:
    """Whether labels are numbers of which some have a decimal comma, and no sets of numbered options: where "3,3" would
    name one twice, a part is nobody's answer alone, or all are halves. `RecuseError` where "4,5" may be either."""
    pairs = [match.groups() for label in labels if (match := PAIR.fullmatch(label))]
    if any(map(THOUSANDS.fullmatch, labels)):
        return True
    alone = {label for label in labels if label.isdecimal()}
    if not pairs or any(re.fullmatch(r"\d+(,\s*\d+){2,}|\d+, +\d+", label) for label in labels):
        return False
    halves = {b for _, b in pairs} == {"5"}
    if any(a == b or not {a, b} <= alone for a, b in pairs) or (halves and len(pairs) >= HALVES):
        return True
    if halves or any(int(a) > int(b) for a, b in pairs):
        a, b = pairs[0]
        low, high = min(map(int, alone)), max(map(int, alone))
        raise RecuseError(
            f"{a},{b} may be the number {a}.{b}, or the options {a} and {b}; say which (--scale {low}-{high}, or "
            f'--scale "{"|".join(sorted(alone, key=int))}")'
        )
    return False


class FoundSets(NamedTuple):
    """`written`: label -> its set as the ratings table has it, for those that are sets; `strange`: label -> what is
    wrong with it, for the others; `words`: how sets were recognised."""

    scale: ResponseSets
    written: Mapping[str, str]
    strange: Mapping[str, str]
    words: str


def find_sets(labels: Sequence[str], criterion: str = "", declared: ResponseSets | None = None) -> FoundSets | None:
    """The sets that different labels (in lower case) stand for; None where they are options, each by itself. They are
    sets where some label is a JSON list or holds bars, where some label consists of other labels ("toxic, not toxic";
    of many labels, of parts that come again), where "both" stands beside two others, or where the criterion is called
    so. Options are all that is named, in alphabetical order, unless a scale says more."""
    parted = {label: parts for label in labels if (parts := _strong(label)) is not None}
    alone = set(labels) - set(parted) - set(BOTH)
    options = declared.options if declared else tuple(sorted(alone.union(*parted.values())))
    times = Counter(part for label in alone for part in {*_parts(WEAK.split(label))}) if len(labels) > MANY else {}
    known = {*alone, *options, *(part for part, n in times.items() if n > 1)}
    for label in alone:
        parts = [] if re.match(OUT_OF, label) else _parts(WEAK.split(label))  # "4/5" is a number out of five
        if len(parts) > 1 and {*parts} <= known - {label}:
            parted[label] = parts
    if declared is None:
        options = tuple(sorted({*options}.union(*parted.values()) - {*parted}))
    if len(options) == 2:
        parted |= {label: list(options) for label in BOTH if label in labels and label not in options}
    several = plain(criterion) in SETS or any(len(parts) > 1 for parts in parted.values())
    fitting = 1 < len(options) <= MOST_OPTIONS and all(len(option) <= LONGEST for option in options)
    if declared is None and not (fitting and several):
        return None
    scale = declared or ResponseSets(options)
    strange = {label: why for label in labels if (why := _fault(parted.get(label, [label]), options))}
    written = {label: scale.written(parted.get(label, [label])) for label in labels if label not in strange}
    words = f"sets of {', '.join(scale.options)}"
    if both := [word for word in BOTH if word in parted and declared is None]:
        single = ",".join((*scale.options, both[0]))
        words += f'; "{both[0]}" is read as both (if it is an option of its own, say --scale "{single}")'
    return FoundSets(scale, written, strange, words)


def _strong(label: str) -> list[str] | None:
    """The parts of a list ("[]" has none) or between bars; None for a label that is neither."""
    if not (label.startswith("[") and label.endswith("]")):
        return _parts(label.split("|")) if "|" in label else None
    try:
        options = parsed(label)
    except ValueError:
        inner = re.findall(r"""'([^']*)'|"([^"]*)\"""", label[1:-1])  # as Python writes a list
        return _parts(a or b for a, b in inner) if inner else None
    return _parts(options) if all(isinstance(part, str | int | float | bool) for part in options) else None


def _parts(parts: Iterable[object]) -> list[str]:
    return [text for part in parts if (text := " ".join(str(part).split()).lower())]


def _fault(parts: Sequence[str], options: Sequence[str]) -> str:
    if not parts:
        return "an empty set"
    if strange := [part for part in parts if part not in options]:
        return f"{strange[0]!r} is none of {', '.join(options)}"
    return f"{parts[0]!r} is named twice" if len(set(parts)) < len(parts) else ""


def as_whole_numbers(names: pd.Series[Any]) -> pd.Series[Any]:
    """Names without ".0" where all of them are whole numbers: pandas writes 12 as 12.0 in a column that has a hole."""
    codes, values = pd.factorize(names)
    known = [str(value) for value in values if value != "(empty)"]
    if not any(value.endswith(".0") for value in known) or not all(re.fullmatch(r"-?\d+(?:\.0)?", v) for v in known):
        return names
    return pd.Series(np.array([value.removesuffix(".0") for value in values], dtype=object)[codes], index=names.index)


def written_otherwise(items: Collection[str], others: Collection[str]) -> tuple[str, str] | None:
    """The first of the items that the others write with more or fewer zeros in front, and how: 0012 for 12."""
    padded = {item.lstrip("0"): item for item in others}
    alike = ((item, padded.get(item.lstrip("0"), item)) for item in items if item not in others)
    return next(((item, other) for item, other in alike if item != other and other not in items), None)
