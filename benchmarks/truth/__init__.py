"""Whether answers hold what is asked, and whether those that do not are held back:
`python -m benchmarks.truth --data FOLDER`.

FOLDER holds public test sets in the layout that `benchmarks.quality` describes. The questions
of four of them are put to their own set alone and to the four together, with the default target and
without a language model: the answer is what the default target would quote if it answered every
question. The other sets in FOLDER are built into the same collection and not searched. A set
that puts the same questions to each of its documents is asked within them.

An answer is right by one of three measures:

    whole    its quotes hold a whole gold answer, word for word
    part     or one of them stands inside a gold answer, which may have several sentences
    cites    it cites a relevant record, in sets whose gold answers are not the text's own words

Three groups of questions are asked of each set:

    answerable      a record answers them
    unanswerable    none does: the trick questions of squad2 (`is_impossible`), of which the right
                    passage is there, and the absent facts of contractnli (`NotMentioned`)
    off-topic       answerable questions of the other sets, put to this one alone

Coverage is the share of answerable questions that are answered, precision the share of these
answers that are right. Answers are ordered by the likelihood the product gives them; those that it
declines for another reason (weak evidence, an unknown name or figure) come after all others.
Thresholds are read from the `dev` half of the questions, everything is reported of the `test` half,
with 95% bootstrap intervals. In the mean of several sets each counts the same.

`python -m benchmarks.truth.fit --data FOLDER` prints the weights that a logistic regression
gives the signs of `atlas_search.answer.quotes.scores` today.

    questions    which are asked, where, and what is known of them
    asking       what each question gets
    judging      which answers are right
    draws        questions drawn anew, for intervals
    figures      what is reported
    tables       and how
    plot         precision over coverage, drawn
    fit          the weights of the likelihood
"""
