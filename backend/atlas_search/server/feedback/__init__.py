"""What readers say of answers: kept on disk, shown in Phoenix, exported as labels.

votes     what somebody says of an answer
rated     what is kept of an answer, so that it can be rated
store     both, in a file
noting    answers on their way into the file
routes    the API
phoenix   votes as annotations
delivery  sends them, however late Phoenix comes
labels    votes as labels for the evaluation
"""
