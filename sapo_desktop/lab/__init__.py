"""The lab: many nodes in one process, each with the product's own learning, engine, pool, draw, checks and marks.

`sapo-desktop lab paper` plays the experiment of SAPO's paper and its controls, `lab table` and `lab plot` show what
came of it (docs/lab.md). Read it in this order:

- `arm.py`: what is compared. An *arm* is one way to play under one seed: a mix, a weighting, so many nodes;
- `node.py`: one node, put together of the product's parts without processes around them;
- `swarm.py`: how groups get from one node's memory into another's pool, signed and checked as over a wire;
- `play.py`: an arm from its first round to its last, and the order of everything;
- `folder.py`: an arm on disk: manifest, CSV files, the state that a killed run goes on from;
- `table.py`, `plot.py`: the figures, from the files alone;
- `__main__.py`: the process that `sapo-desktop lab` starts.

Not here: sockets, processes, time of day, the guard. Nodes play by turns and a round takes one slot of the protocol, so
the same seed gives the same files, seconds aside. What it says is for the command line, so no sentence is translated.
"""
