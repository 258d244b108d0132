"""The fixed phrases of the catalogue's questions; each becomes one token of the starter.

Only text that the datasets print word for word. Hugging Face takes the leftmost longest phrase, llama.cpp the longest
one anywhere; they agree where phrases do not overlap in a text. So no phrase begins with a space, and a test reads the
catalogue's questions both ways. A run of one character is one token, for every length up to the longest.
"""

from __future__ import annotations

import calendar

from sapo_desktop.tasks.worked.sums import LEGS

MONTHS = list(calendar.month_name)[1:]
WEEKDAYS = list(calendar.day_name)

BOILERPLATE = [
    # arc_1d
    "Find the common rule that maps an input grid to an output grid, given the examples below.\n\nExample 1:\nInput:  ",
    "\nOutput: ",
    "\n\nExample 2:\nInput:  ",
    "\n\nExample 3:\nInput:  ",
    "\n\nBelow is a test input grid. Predict the corresponding output grid by applying the rule you found. "
    "Describe how you derived the rule and your overall reasoning process in detail before you submit your answer. "
    "Your final answer should be just the test output grid itself.\n\nInput:\n",
    # basic_arithmetic, base_conversion, bf
    "What is ",
    "Solve ",
    "Compute ",
    "Evaluate: ",
    "Your task is to convert a number between two different bases.\n\n"
    "If the target base is > 10, use lowercase letters a-z for digits above 9.\n\nNow, convert the ",
    "base-",
    "binary",
    "hexadecimal",
    "number ",
    "This is a BF (Brainf*ck) computer program. What is the output?\n\n",
    "Consider the following BF (Brainf*ck) code. What would it output?\n\n",
    "\n\nRespond only with the exact output of the program.",
    "\n\nProvide only the exact output of the code.",
    ">[-]>[-]<",
    # binary_matrix
    "Given a square matrix, your job is to find the taxicab (Manhattan) distance of the nearest 0 for each cell.\n\n"
    "The output should be a matrix of the same size as the input matrix, where each cell contains the distance to the "
    "nearest 0.\n\nFind the distance to the nearest 0 for each cell in the matrix below:\n",
    # calendar_arithmetic
    "Answer with the weekday's name (e.g., Monday, Tuesday, etc.).",
    "Provide the full name of the weekday.",
    "State the weekday (Monday through Sunday).",
    "Give the weekday name in full.",
    "Reply with just the weekday name.",
    "Write out the full weekday name.",
    "Respond with the weekday (Monday-Sunday).",
    "Answer using the complete weekday name.",
    "Name the day of the week in full.",
    "Answer with a number.",
    "Provide the count as a number.",
    "Respond with just the number.",
    "Write the total number.",
    "Give the count numerically.",
    "State the amount as a number.",
    "Reply with the numerical value.",
    "Express your answer as a number.",
    "What day of the week was ",
    "On which weekday did ",
    "fall?",
    "Name the day of the week for ",
    "If a meeting is scheduled on the ",
    ", on which day of the month does it occur?",
    "In ",
    ", if an event recurs on the ",
    ", what is the date (day of the month) of the event?",
    "Determine the day of the month for the ",
    "Answer with -1 if the ordinal does not exist in the month.",
    "How many ",
    "s are there from ",
    "(inclusive of both dates)?",
    "Count the occurrences of ",
    "(including both start and end dates).",
    "Between ",
    "(counting both dates), how many times does ",
    "occur?",
    "Determine if the year ",
    "is a leap year.",
    "a leap year?",
    "Tell me whether ",
    "Answer with Yes or No.",
    "first",
    "second",
    "third",
    "fourth",
    "last",
    "If today is ",
    "Starting from ",
    "Count forward ",
    "Count backward ",
    ", what day of the week will it be in ",
    ", what day of the week was it ",
    ", which weekday falls after a ",
    ", which weekday was it ",
    "days ago?",
    "days before?",
    "-day jump?",
    "- what's the weekday?",
    # decimal_arithmetic, fraction_simplification
    "Please solve this problem to a maximum of 5 significant digits, rounding up from the half. "
    "Only reply with the final value.\n",
    "= ?",
    "Simplify the fraction ",
    "to its lowest terms. Give only the simplified fraction as your final answer.",
    "$\\frac{",
    "$\\dfrac{",
    "}{",
    "}$",
    # propositional_logic
    "The following question is a propositional logic reasoning question.\n\n"
    "In the question we provide a list of premises. The task is to infer a correct conclusion from the premise.\n\n"
    "FORMAT INSTRUCTIONS:\n- Return the conclusion logic statement, as your final answer.\n"
    "- Use the following notation to denote symbols\n"
    "    - OR = ∨\n    - AND = ∧\n    - IMPLIES = →\n    - IFF = ↔\n    - NOT = ¬\n\nHere is the question:\nGiven:\n",
    "\n.What can we conclude from the above statements?",
    "∨",
    "∧",
    "→",
    "↔",
    "¬",
    # the other families
    "Find the Greatest Common Divisor (GCD) of these numbers: ",
    ". Give only the GCD as your final answer.",
    "Find the Least Common Multiple (LCM) of these numbers: ",
    "How many 1 bits are there in the binary representation of the number ",
    "Spell this word backward (example: sun -> nus): ",
    'How many times does the letter "',
    '" appear in the text: "',
    '"?',
    "State the final answer to the following arithmetic problem: ",
    "Your task is to count how many legs there are in total when given a list of animals.\n\n"
    "Now, how many legs are there in total if you have ",
    "Solve the following multiplication: ",
    ". Give only the result as your final answer.",
    "Find the value of ",
    "in the equation: ",
    "Solve for ",
    "Determine the value of ",
    "that satisfies: ",
    "Find the prime factorization of ",
    ". Write the factors separated by × (Example: for 12 the answer would be: 2 × 2 × 3)",
    "×",
    "Given a convex polygon with ",
    "sides, its first ",
    "interior angles are: ",
    ". What is the measure of the remaining interior angle (in degrees)?"
    "Return only the angle as your answer.Do not give the units in your answer.",
    "A convex polygon has ",
    "sides. The measures of the first ",
    ". Find the measure of the last interior angle."
    "Return only the angle as your answer.Do not give the units in your answer.",
    "Consider a convex ",
    "-gon whose first ",
    ". Determine the measure of the remaining angle."
    "Return only the angle as your answer.Do not give the units in your answer.",
    ".0°",
    "A::B is a system with 4 tokens: `A#`, `#A`, `B#` and `#B`.\n\n"
    "An A::B program is a sequence of tokens. Example:\n\n"
    "    B# A# #B #A B#\n\nTo *compute* a program, we must rewrite neighbor tokens, using the rules:\n\n"
    "    A# #A ... becomes ... nothing\n    A# #B ... becomes ... #B A#\n    B# #A ... becomes ... #A B#\n"
    "    B# #B ... becomes ... nothing\n\n"
    "In other words, whenever two neighbor tokens have their '#' facing each-other,\n"
    "they must be rewritten according to the corresponding rule.\n\nNow, consider the following program:\n\n",
    "\n\nReturn the final state of the program.\n",
    "Decrypt this Caesar cipher text: ",
    ". Provide only the decrypted text as your final answer.",
]  # fmt: skip

STEP_WORDS = [
    "move ", "turn ", "pack left", "pack right", "count left", "count right", "other", "five", "fill",
    "bare", "law", "says", "century ",
]  # fmt: skip

LONGEST_RUN = 32


def phrases() -> list[str]:
    """All phrases, longest first, none twice."""
    runs = [sign * length for sign in "+-" for length in range(2, LONGEST_RUN + 1)]
    animals = [name + plural for name in LEGS for plural in ("", "s")]
    unique = dict.fromkeys([*BOILERPLATE, *STEP_WORDS, *MONTHS, *WEEKDAYS, *animals, *runs])
    return sorted(unique, key=lambda phrase: (-len(phrase), phrase))
