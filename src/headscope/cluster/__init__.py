"""Numbered tasks, such as the shards of a pass, done by several processes; their values come back in order.

A worker and the coordinator exchange messages as of `messages`, never pickles. From the coordinator come `task`, a
number, `preceding`, `total`, after which the worker goes on, and `end`. From a worker come `ready`, `done` (how much of
its task, for a progress bar), `size`, `piece` (of a file), and at the end `value`, `refused` (a `HeadscopeError`) or
`error`.
"""
