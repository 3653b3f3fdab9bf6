internal import StoreContract
internal import SystemCalls

/// The kind of database of this process, which the program chooses when it starts.
///
/// The argument parser makes the commands, so that it cannot be handed to them.
enum Stores {
    private static let choice = Mutex<(any StoreProvider)?>(nil)

    static func choose(_ stores: any StoreProvider) { choice.withLock { $0 = stores } }

    /// The program's choice.
    ///
    /// - Throws: ``CommandFailure`` if the program has made none.
    static var chosen: any StoreProvider {
        get throws {
            guard let stores = choice.withLock({ $0 }) else {
                throw CommandFailure("this program has no database: it must call BMOCommand.start(stores:)")
            }
            return stores
        }
    }
}
