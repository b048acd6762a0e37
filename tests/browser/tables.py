"""A table as people have it: dates, zip codes, names, missing values in several words, and forty columns."""

import random

ROWS = 900


def messy_text(rows=ROWS, seed=7):
    """The table as CSV with semicolons."""
    draw = random.Random(seed)
    names = ["Anna", "Björn", "Chloé", "Dmitri", "Eve <b>", "Fatima", 'Gus "G"', "Hélène"]
    jobs = ["nurse", "clerk", "teacher", "driver", "cook", "engineer"]
    header = ["patient id", "full name", "e-mail", "born", "zip", "sex", "job", "height (cm)", "admitted", "diagnosis"]
    header += [f"question {number:02}" for number in range(1, 31)]
    lines = [";".join(header)]
    for number in range(rows):
        name = draw.choice(names)
        born = f"{draw.randint(1940, 2004)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        zips = f"{draw.choice((10, 12, 13))}{draw.randint(0, 9)}{draw.randint(0, 99):02}"
        cells = [
            f"P{100_000 + number}",
            f'"{name.replace(chr(34), chr(34) * 2)} {number}"',
            f"p{number}@example.org" if draw.random() > 0.1 else "",
            born if draw.random() > 0.03 else "",
            zips if draw.random() > 0.05 else "n/a",
            draw.choice("fm") if draw.random() > 0.02 else "?",
            draw.choice(jobs),
            str(draw.randint(150, 199)) if draw.random() > 0.08 else "unknown",
            f"2023-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}",
            draw.choice(("J10", "I10", "E11", "F32", "M54")),
        ]
        answers = [str(draw.randint(1, 5)) if draw.random() > 0.15 else "" for _ in range(30)]
        lines.append(";".join([*cells, *answers]))
    return "\n".join(lines) + "\n"
