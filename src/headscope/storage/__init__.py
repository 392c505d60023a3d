"""Files: written at once or not at all, locked, hashed; lines with checksums, from which interrupted work resumes.

Plain files and no SQLite: a line that was torn is left out where a damaged database is lost as a whole, a file can be
read and repaired with a text editor, file systems of clusters need no locks for it, and text that is decoded to a type
that the caller names can run nothing.
"""
