internal import BMOCommand

BMOCommand.start()
