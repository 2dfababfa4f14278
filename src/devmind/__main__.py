"""``python -m devmind`` is the command ``devmind``."""

from devmind.cli import main

if __name__ == "__main__":
    main()
