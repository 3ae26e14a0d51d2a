"""What the product costs, beside other libraries: `python -m benchmarks.performance`.

Generated text of any size with vectors at hand, so that no model decides what is measured; only the
rows about the model itself and about answers are measured over the bundled demo. Each row is a
function in `rows/` that gives records. Each result is written at once, and what has been measured
is not measured again: a run that was ended goes on where it was.

Other systems do the same balanced job in `systems/`: for a question and its vector, 200 candidates
from every corpus by meaning and by words, fused, and the best ten. Each runs in a process of its
own, in turns with the product: what else the machine does slows both.

Costs are seconds of processor, those of child processes included, unless a row says otherwise.
"""
