"""The command line as a module: `python -m headscope profile minilm sample`."""

from headscope.front.cli import main

if __name__ == "__main__":
    main()
