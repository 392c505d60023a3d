"""The command line as a module: `python -m headscope profile minilm sample`."""

from headscope.cli import main

if __name__ == "__main__":
    main()
