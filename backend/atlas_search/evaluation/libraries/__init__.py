"""The metrics of RAGAS and DeepEval themselves, in a process and an environment of their own.

What the two need cannot be installed beside Atlas, so `worker` is run by the Python of another
environment, without a network. `process` holds that process, and asks the judge's model whatever
the libraries ask; `measures` says what is put to them, and reads what they find.

Both sides send lines of JSON. Each belongs to a `job`, a metric of one question:

    Atlas                                  libraries
    {job, metric, sample}             ->
                                      <-   {job, ask, library}     a prompt
    {job, check: text}                ->                           a reply that could be kept
                                      <-   {job, usable}
    {job, reply: text}                ->                           the reply that counts
                                      <-   {job, embed: [text]}
    {job, vectors: [[number]]}        ->
                                      <-   {job, found: {value, decisions}} or {job, failed: why}
    {job, cancel: true}               ->                           in place of what was asked for

The first line of the libraries has their `versions`. `{refused: event}` tells of a connection that
they tried to open.
"""
