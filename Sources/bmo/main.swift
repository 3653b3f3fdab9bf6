// The command bmo: all of it is in BMOCommand, where tests reach it.
internal import BMOCommand

BMOCommand.start()
