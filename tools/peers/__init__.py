"""redax beside its peers: the same cases, the same data, the same way of timing, in one run.

On a GPU (`--device cuda:0`) `redax bench` and one worker process for each peer take turns, group of cases by group of cases:

    command -> run: ours | worker torch | worker compile | ... | ours     -> records (one JSON file, merged)
               worker: cases.Case -> peer.make -> harness.measure -> one line of JSON

On the CPU (`--device cpu`) redax, NumPy and torch are called in turn in one process (cpu.py): on a machine that others use too
only the ratio of neighbours means something.

    cases.py    the CASE grammar, layouts, default outputs      data.py       what the inputs hold; what the outputs must be
    harness.py  rotated buffers, replays, medians               worker.py     the process in which a peer lives
    run.py      groups, turns, budgets                          records.py    the JSON file
    peer_*.py   one adapter each; cub.cu is peer_cub's          torch_ops.py  ops as torch spells them
"""
