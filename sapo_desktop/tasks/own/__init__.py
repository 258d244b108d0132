"""A person's own tasks: each file of questions and answers in the node's folder `tasks/` is a family.

    question,answer,level        the header; `level` (easy, middle, hard) may be left out
    "What is the capital of Portugal?",Lisbon,easy

`table` reads the bytes, `answers` finds out how the answers are meant or asks (`choices`), `family` checks what came of
both, and `folder` keeps the files. What is kept is a copy of the rows in UTF-8. Its header says how the answers are
read, so a file is asked about once. Files are read when a node is put together. The examiner is given what was read, so
a file that changes later changes nothing before the node takes it up. No peer can name a file or send one.
"""
