"""How well search ranks: `python -m benchmarks.quality --data FOLDER`.

FOLDER has a sub-folder for each test set. All sets are built into one collection, each a corpus,
and the judged questions of each set are put to it alone, to all sets together, and within their
own document where the set says which it is. Each time the rankings are compared that two single
legs, fusions of both, the ATLAS table and the default give for the same candidates. With `--shown`
the passages that a search returns in the end are measured too.

Terms are weighed by the corpora that are searched; the keyword leg alone (`BM25`) by all of them.

The layout of a set:

    docs.jsonl      a record a line: {"id", "title", "text", "metadata": {...}}
    queries.jsonl   a question a line: {"id", "text", "metadata": {...}}
    qrels.tsv       query id, record id and relevance, with tabs between

Records are passages, and stay so. The part of a record's id before its last `#` names the document
it is from (`Normans#3`); the records of a document are given in their order. A metadata field with
the same name and value in a question and in the documents of all its relevant records says where
the question is to be answered. Questions without a relevant record are left out.

The sets this was made for are public; each has to be cut into records and put into this layout:

    chunkeval        github.com/brandonstarxel/chunking_evaluation (MIT)
                     chunking_evaluation/evaluation_framework/general_evaluation_data: the five
                     texts in corpora/, cut into passages of at most about 1000 characters; a
                     passage is relevant to a question of questions_df.csv if it overlaps one of
                     its references. `corpus` names the text.
    contractnli      github.com/shu7bh/Contract-NLI (CC BY 4.0)
                     dataset/{dev,test}.json: contracts, cut at the given spans into passages of
                     several; the hypotheses are the questions, put to each contract, and a passage
                     with a span of evidence is relevant. `contract` names the contract.
    qmsum_committee  github.com/Yale-LILY/QMSum (MIT)
                     data/Committee/all/*.json: meetings, a passage for some turns of speech; the
                     specific queries with their `relevant_text_span`. `meeting` names the meeting.
    seven others     debates, code, abstracts, FAQ, rules, Wikipedia and Stack Exchange, as
                     docs/public-sets.md lists them; cut into passages of at most about 1500
                     characters, titles as they are
    squad2           github.com/chrischute/squad (SQuAD 2.0: CC BY-SA 4.0)
                     data/dev-v2.0.json: a passage for each paragraph, relevant to its own
                     questions that have an answer.

    records        records joined into the documents they were cut from
    sets           test sets on disk, samples and splits of their questions
    collection     the collection built of them
    embedder       a question is embedded once
    scopes         where a question is searched
    runs           the orders that are compared
    asking         every question, everywhere
    measures       metrics, by ir-measures
    statistics     intervals and significance
    figures        what is reported
    context        parts of the context tried in either leg
    tune           weights tried on the development questions
    tables         and how
"""
