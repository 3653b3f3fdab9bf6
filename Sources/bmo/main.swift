// The command bmo: chooses the kind of database. The code is in BMOCommand, where tests can reach it.
internal import BMOCommand

BMOCommand.start(stores: ChosenStores())
