"""What a processor makes of the starter's file through llama.cpp, as JSON: `python -m tests.packaging.masked FILE EXACT
QUESTIONS`, for test_processors.py, which has it run on processors that are not here. Nothing of torch is loaded."""

import json
import re
import sys
from pathlib import Path

from sapo_desktop.engines import protocols as p
from sapo_desktop.engines.llama_cpp.service import create
from tests.builders import as_prompts


def main(file: str, exact: str, questions: str) -> None:
    service = create()
    service.handle(p.LoadGguf(model=file, threads=1, exact=exact == "exact"), lambda _: None)
    greedy = p.Sampling(max_tokens=48, greedy=True)
    asked = p.Generate(prompts=as_prompts(json.loads(questions)), answers=1, sampling=greedy)
    done = service.handle(asked, lambda _: None)
    assert isinstance(done, p.Generated)
    loaded = set(re.findall(r"libggml-cpu-(\w+)\.so", Path("/proc/self/maps").read_text()))
    print(json.dumps({"loaded": sorted(loaded), "answers": [group[0].text for group in done.completions]}))


if __name__ == "__main__":
    main(*sys.argv[1:])
