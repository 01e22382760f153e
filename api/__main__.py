"""`python -m api [PARENT SOCKET_FD]`: see `api.serving`."""

from compiler.collection import imports_that_stay

if __name__ == "__main__":
    with imports_that_stay():
        from api.serving import main
    main()
