"""Write months.csv: 400 dates as computers write them, each with the name of its month.

python docs/examples/months.py > docs/examples/months.csv
"""

import csv
import random
import sys
from datetime import date, timedelta

FIRST, LAST = date(1950, 1, 1), date(2029, 12, 31)


def main() -> None:
    draw = random.Random(1)
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("question", "answer"))
    for number in draw.sample(range((LAST - FIRST).days), 400):
        day = FIRST + timedelta(days=number)
        writer.writerow((f"Which month is {day.isoformat()} in?", f"{day:%B}"))


if __name__ == "__main__":
    main()
