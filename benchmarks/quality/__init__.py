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
    seven others     cut into passages of at most about 1500 characters, titles as they are:
                     - github.com/cchang-vassar/Semantic-Relations-in-Vector-Embeddings, ArguAna's
                       arguana-counterargs-corpus (idebate.org), test part: 3,244 points of debates
                       with the motion as title; 1,142 headings of points are the questions
                     - github.com/Jun-jie-Huang/CoCLR, data/search (C-UDA), CoSQA: 6,267 Python
                       functions, without titles; 1,000 web queries
                     - github.com/fabianobie/luppar, data/cran, Cranfield: 1,398 abstracts of
                       aerodynamics; 225 questions with graded judgements
                     - github.com/McGill-NLP/feedbackqa, test parts, FeedbackQA: 3,068 sections on
                       COVID-19 of four authorities; 1,118 questions
                     - github.com/RegNLP/ObliQADataset, group 1, ObliQA: 11,524 numbered rules of
                       40 documents; 1,500 questions, written by a language model
                     - github.com/emorynlp/selqa (Apache-2.0, CC BY-SA), SelQA: 2,318 sections of
                       Wikipedia; the 1,183 questions that were reworded
                     - github.com/ML-Recipes/BERT-FAQ (CC BY-SA), StackFAQ: 744 answers of 125
                       threads with the question as title; 625 rewordings
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
