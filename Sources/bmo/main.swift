internal import BMOCommand

await BMOCommand.run()
