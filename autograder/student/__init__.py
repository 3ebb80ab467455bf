"""The process that runs a student's notebook.

It is started as ``python autograder/student``, a folder and not a module of this package: it imports NumPy, IPython and
the files beside this one, and never a check or a solution. ``autograder.session`` is the other side.
"""
