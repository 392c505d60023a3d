"""Finished work on disk, from which an interrupted computation resumes: lines with checksums, and values as JSON.

Plain files and no SQLite: a line that was torn is left out where a damaged database is lost as a whole, a file can be
read and repaired with a text editor, file systems of clusters need no locks for it, and text that is decoded to a type
that the caller names can run nothing.
"""
