// The command bmo; its code is in BMOCommand, where tests can reach it.
internal import BMOCommand

BMOCommand.start()
