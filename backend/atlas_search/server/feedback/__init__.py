"""What readers say of answers: kept on disk, shown in Phoenix, exported as labels.

votes     what somebody says of an answer
rated     what is kept of an answer, so that it can be rated
store     both, in a file
noting    answers on their way into the file
feedback  all of it, as the server has it
routes    the API

outbox       votes that Phoenix does not have yet
annotations  votes in the form of Phoenix
phoenix      its API
delivery     sends them, however late Phoenix comes

labels  votes as labels for the evaluation
export  files of labels and of votes
"""
