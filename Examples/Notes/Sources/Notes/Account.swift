import BMO
import Foundation
import RESTBridge
import SQLiteStore

/// The configuration and the server that a person signs in to.
struct Account: Sendable {
    let config: String
    let url: String

    /// What a sign-in came to.
    enum SignIn {
        /// The notes were fetched.
        case online(RequestManager)
        /// The server is not there; the notes of last time are.
        case offline(RequestManager)
        case refused(String)
    }

    /// Opens the database, and fetches the notes with this name and password.
    func signIn(_ user: String, _ password: String) async -> SignIn {
        // The library takes secrets from the environment, and empties these variables.
        for (name, value) in [("NOTES_URL", url), ("NOTES_USER", user), ("NOTES_PASSWORD", password)] {
            setenv(name, value, 1)
        }
        do {
            let manager = try await RequestManager(
                config: config, stores: SQLiteStores(), bridges: [BridgeExport(RESTBridge.self)])
            do {
                _ = try await manager.fetch(Note.all).remote
                return .online(manager)
            } catch let error as RequestError where error.isUnreachable {
                if try await manager.count(Note.all) > 0 { return .offline(manager) }
                try await manager.close()
                return .refused("the server cannot be reached, and there are no notes here yet")
            } catch {
                try await manager.close()
                throw error
            }
        } catch let error as RequestError {
            return .refused(error.code == "authentication" ? "wrong name or password" : "\(error)")
        } catch {
            return .refused("\(error)")
        }
    }
}
