"""Write dates.csv: 800 dates as people write them, each with the form that a computer sorts.

python docs/examples/dates.py > docs/examples/dates.csv
"""

import csv
import random
import sys
from datetime import date, timedelta

STYLES = (
    "{day} {month} {year}",
    "{month} {day}, {year}",
    "{month} {day}{th} {year}",
    "the {day}{th} of {month} {year}",
)
FIRST, LAST = date(1950, 1, 1), date(2029, 12, 31)


def written(day: date, style: str) -> str:
    """A date in words: the 3rd of May 1987."""
    th = "th" if day.day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return style.format(day=day.day, th=th, month=f"{day:%B}", year=day.year)


def main() -> None:
    draw = random.Random(1)
    days = draw.sample(range((LAST - FIRST).days), 800)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("question", "answer"))
    for number in days:
        day = FIRST + timedelta(days=number)
        writer.writerow((f"Write {written(day, draw.choice(STYLES))} in the form YYYY-MM-DD.", day.isoformat()))


if __name__ == "__main__":
    main()
