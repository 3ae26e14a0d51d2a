"""Ratings of answers: kept on disk, shown in Phoenix, exported as labels.

store     votes, and the answers they are about, in a file
delivery  votes on their way to Phoenix, and ratings as the server has them
routes    the API, and ratings as labels and as files
"""
