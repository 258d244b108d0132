"""Names, units and goals of figures as the pages have them, where a script's are longer than a reader needs.

A page puts what stands before the first comma of several names once.
"""

from __future__ import annotations

import re

SHORTER = {
    r"^[a-z]+/([^/]+)/(.+)": r"\2, \1",
    r"^[a-z]+/|^guest: |^hours: ": "",
    r"^(starter|smaller|50M|lora|full)[:,] (.+)": r"\2, \1",
    r"^(?:at most|<=) ([\d.]+%?).*": r"≤\1",
    r"^at least ([\d.]+).*": r"≥\1",
    r"^(?:below|<) (\d.*)": r"<\1",
    r"^(4,000|200)$": r"≥\1",
    r"^(share|times|times TRL's best|exponent|solved)$": "",
    # docs/figures.md
    r"asked while it trains, ": "",
    r"that end worse": "worse",
    r"that a relay gets that floods": "of a relay that floods",
    r"asked for beside a link that filled": "wanted beside a link that filled",
    r"^(measured|simulated): ": r"traffic of a node, \1, ",
    r"no more than one relay of 5: ": "",
    r"busy computer: run to": "to the",
    r"how often one question counts": "times one question counts",
    r"places nearby that an invite has dialled unasked": "addresses that an invite dialled unasked",
    r"answers that got out of a marker that evaluates them, of (\d+)": r"of \1 answers, got out of their marker",
    r"about which nothing was said": "not told",
    r"between the honest 28th and 72nd percentile, (.+) and (.+)": r"\1 to \2",
    r"shift of the swarm's reward by 30% that are": "shift of the reward by 30%,",
    r"\.\.\. with 4 wrong groups as taken": "normaliser with 4 wrong groups",
    r"honest opening under (.+?)(, before HELLO)?$": r"median honest opening, under \1",
    r"as fast as it takes them": "at full speed",
    r", median$": "",
    r"CPU of the node, a proven link pings at": "CPU under a proven link's PINGs at",
    r"% of a core": "%",
    r"log written in 10 s of peers that reset their connections amidst": "log of 10 s of resets amidst",
    r"% of runs": "%",
    r"alarms while": "alarms, while",
    r"loss of (.+), (.+): found after, 95th percentile": r"evaluations until 95% of losses of \1 are found, \2",
    r"memory of (\w+), drift": r"drift of memory, \1",
    r"come again after a partition of 300 s": "come again after it",
    r"links made anew at 10% loss and 200 ms": "links made anew",
    r"([\d,]+ sessions), (\d+ s): sessions that ended, or were": r"of \1, after \2, ended or",
    r"[\d,]+ sessions, \d+ s: ": "",
    r"that a flooding tenth gets": "of a flooding tenth",
    r"own answers with a planted word after 100 rounds": "answers with a planted word",
    r"a quarter of an hour off": "15 minutes off",
    r", the least of all nodes": ", fewest of a node",
    r"in which the recording differs": "differing",
    r"in which something could not be read": "with something unreadable",
    r"that complained as they went on": "that complained",
    r" for each honest node": " to 1",
    r"each from a part of its own": "a part each",
    r"from two parts of the internet": "two parts of the internet",
    r", 80% of addresses hostile, .+": " while 80% of addresses are hostile (six ways)",
    r"two parts that answer": "two parts",
    r"because others replayed them": "for others' replays",
    r"beside 1000 links of": "beside 1000 links, of",
    r"^≤0$": "0",
    r"of a replayed day that a new node takes beyond the last hour": "over an hour old taken of a replay",
    r"of which nothing is said": "not told",
    r"that all relays serve beside the flood": "that all relays serve",
    r"^lines of logs with a path or a name": "log lines with a path or name",
    r"that were drawn and not fit": "not fit",
    r"that were left out of the step": "left out",
    r" by the killed node": "",
    r"(first .+), wall$": r"\1",
    r"by a link that mints (.+), beside six peers": r"by one link of seven that mints \1",
    r"taken a second time": "taken twice",
    r"that are not put right": "not put right",
    r" an hour or a day off that are blamed for it": " blamed for a wrong clock",
    r"that come by a relay that mints tags, of three": "by one relay of three that mints tags",
    r"from a part of their own each": "of a part each",
    r", mean over the relay's starts": "",
    r"shared\.p99\.9": "99.9% made and marked",
    r"to the first picture, (\w+), (against a bare pyqtgraph window)": r"first picture \2, \1",
    r"memory with": "memory, with",
    r" while the node works": "",
    # docs/speed.md
    r"speed by": "times TRL's best speed by",
    r"of TRL's where it is fastest by cpu": "of TRL's",
    r", up to 2 threads,": "",
    r"^torch engine, (\S+)$": r"tokens per CPU-s of the torch engine, \1",
    r"12 rounds, engine, resident": "memory of the engine",
    r"\d+ rounds, ": "",
    r"what is chosen against the faster": "number format chosen against the faster",
    r"^(a round|filling a pool|drawing from a pool), ": r"exponent of \1, by ",
}


def short(text: str) -> str:
    for long, said in SHORTER.items():
        text = re.sub(long, said, text)
    return text
