"""Numbered tasks, such as the shards of a pass, done by several processes; their values come back in order.

A worker and the coordinator exchange lines as of `journal.lines`, never pickles. From the coordinator come `task`, a
number, and `preceding`. From a worker come `done` (how much of its task, for a progress bar), `size`, and at the end
`value`, `refused` (a `HeadscopeError`) or `error`.
"""
