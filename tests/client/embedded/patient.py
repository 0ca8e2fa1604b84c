"""The launcher, waiting for its server as long as a busy machine needs: else it executes a command itself."""

from client import launch

if __name__ == "__main__":
    launch.HELLO_SECONDS = launch.BUSY_SECONDS = 60.0
    launch.main()
