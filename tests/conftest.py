"""Shared by all tests; that this file is here also lets them import the modules beside it (`tiny`, ...)."""
