"""The lab: many nodes in one process, each with the product's own learning, engine, pool, draw, checks and scores.

`sapo-desktop lab paper` plays the experiment of SAPO's paper and its controls, `lab table` and `lab plot` show the
results (docs/lab.md). Read it in this order:

- `arm.py`: the things compared. An *arm* is one configuration with one seed: a mix, a weighting, a number of nodes;
- `node.py`: one node, built from the product's parts without separate processes;
- `swarm.py`: how groups get from one node's memory into another's pool, signed and checked as over a wire;
- `play.py`: an arm from its first round to its last, and the order of everything;
- `folder.py`: an arm on disk: manifest, CSV files, the state from which a killed run continues;
- `table.py`, `plot.py`: the figures, from the files alone;
- `__main__.py`: the process that `sapo-desktop lab` starts.

The lab has no sockets, processes, time of day or guard. Nodes take turns and a round takes one slot of the protocol, so
the same seed gives the same files, except for seconds. Its messages are for the command line and not translated.
"""
