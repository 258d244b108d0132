"""Ask the trained model of the tinkerers' tutorial in llama.cpp, with the words and the example of its training.

python docs/examples/months_llama.py MODEL ADAPTER "Which month is 1988-07-04 in?"

MODEL and ADAPTER are GGUF files, or folders with one GGUF file each.
"""

import sys
from pathlib import Path

from llama_cpp import ChatCompletionRequestMessage, Llama

SYSTEM = "Work it out, then end with the final answer in this form:\n<answer>the answer</answer>"
SHOWN = "Which month is 1953-05-11 in?"


def main(model: str, adapter: str, question: str) -> None:
    chat: list[ChatCompletionRequestMessage] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": SHOWN},
        {"role": "assistant", "content": "<answer>May</answer>"},
        {"role": "user", "content": question},
    ]
    trained = Llama(gguf(model), lora_path=gguf(adapter), n_ctx=512, verbose=False)
    answer = trained.create_chat_completion(chat, max_tokens=24, temperature=0.0, repeat_penalty=1.0)
    print(answer["choices"][0]["message"]["content"])  # type: ignore[index]


def gguf(path: str) -> str:
    """The file itself, or the one GGUF file in the folder."""
    found = sorted(Path(path).glob("*.gguf")) if Path(path).is_dir() else [Path(path)]
    if len(found) != 1 or not found[0].is_file():
        sys.exit(f"{path} is not a GGUF file or a folder with one. See `sapo-desktop models installed`.")
    return str(found[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
