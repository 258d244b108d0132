"""A person's own tasks: each file of questions and answers in the node's folder `tasks/` is a family.

    question,answer,level        the header; `level` (easy, middle, hard) is optional
    "What is the capital of Portugal?",Lisbon,easy

`table` reads the bytes, `answers` detects how the answers are meant or asks (`choices`), `family` checks the result,
and `folder` stores the files. The stored copy has the rows in UTF-8, and its header says how to read the answers, so
the owner is asked once per file. Files are read when a node is built. The examiner gets what was read, so a later
change to a file has no effect before that. No peer can name a file or send one.
"""
