internal import BridgeHost
internal import Importer
internal import Model
internal import StoreContract

/// The message and the status code of an error.
enum PageFault {
    /// Returns the status code and the message of an error, which never contains a secret.
    static func words(_ error: any Error) -> (status: Int, text: String) {
        switch error {
        case let failure as PageFailure: (failure.status, failure.description)
        // The option of the commands: a page does not wait.
        case let error as StoreError:
            (status(of: error.code), error.description.replacing(", or use --wait", with: ""))
        case let refusal as UndoRefusal: (409, refusal.description)
        case let errors as ConfigurationErrors: (500, errors.description)
        case let failure as BridgeFailure: (502, failure.description)
        default: (500, "\(error)")
        }
    }

    private static func status(of code: StoreError.Code) -> Int {
        switch code {
        case .request: 400
        case .busy: 503
        case .constraint, .superseded: 409
        case .open, .schema, .io, .internal: 500
        }
    }
}
