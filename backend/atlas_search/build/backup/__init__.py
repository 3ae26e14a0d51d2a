"""A collection as an open export that survives versions of Atlas, and the way back.

form       what each file of an export holds
container  the files, in a folder or a .zip, with their digests
write      a collection into an export
check      an export read whole, and refused unless all of it holds
load       an export into a collection
"""
