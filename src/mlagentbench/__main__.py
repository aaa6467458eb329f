"""`python -m mlagentbench` is `mlab`."""

from mlagentbench.cli.main import main

if __name__ == "__main__":
    main()
