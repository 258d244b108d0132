"""Ask the trained model of the tinkerers' tutorial in llama.cpp, with the words and the example of its training.

python docs/examples/months_llama.py MODEL.gguf ADAPTER.gguf "Which month is 1988-07-04 in?"
"""

import sys

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
    trained = Llama(model, lora_path=adapter, n_ctx=512, verbose=False)
    answer = trained.create_chat_completion(chat, max_tokens=24, temperature=0.0, repeat_penalty=1.0)
    print(answer["choices"][0]["message"]["content"])  # type: ignore[index]


if __name__ == "__main__":
    main(*sys.argv[1:])
