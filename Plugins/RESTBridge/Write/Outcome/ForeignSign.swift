internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit

/// A sign of failure among the members of a reply's object that records of the entity do not have.
///
/// Such a member is about the change. The object may show the sent values nevertheless: some servers answer with what they
/// got.
struct ForeignSign {
    /// The path of the sign in the reply.
    let path: String
    /// The value at that path, in words.
    let value: String
    /// The remote's message, if there is one.
    let words: String?
    /// Whether the change may have been made: the reply shows more than the key and an outcome.
    let isUnclear: Bool
    /// Whether the sign is that the object is not deleted: its deletion may come later.
    var isPending = false

    /// - Parameter record: An object in the reply, with its path.
    init?(in record: (path: String, object: JSONTree), _ request: WriteRequest) {
        let own = OwnValues(request)
        let (isNew, isDelete) = (request.operation == .create, request.operation == .delete)
        let foreign = record.object.members.filter { own.isForeign($0.name) }
        let failure = foreign.first { Self.isFailure($0.name, $0.value) }
        let sign = failure ?? (isDelete ? Self.denial(in: record.object, foreign, own) : nil)
        // A new object may have failed itself, such as a payment.
        let isNewObject = isNew && (own.isIdentified(record.object) || own.areShown(in: record.object))
        let state =
            isNewObject ? nil : foreign.first { OutcomeWords.isFailedState($0.name, $0.value, isForeign: true) }
        guard let found = sign ?? state else { return nil }
        let isOther = isNew || !own.haveKey(of: record.object)
        let rest = Self.members(of: record.object, without: sign?.name)
        let showsValues = !own.isOutcome(rest) || own.hasRecordValue(rest)
        let mayBeDone = own.isIdentified(record.object) && (isOther || showsValues)
        self.init(at: record.path, found, in: record.object, isUnclear: mayBeDone || sign == nil)
        isPending = failure == nil && sign != nil
    }

    /// Errors of a mutation beside its object: the payload's members are not the object's.
    init?(around record: (path: String, object: JSONTree), inMutation root: JSONTree) {
        for (name, payload) in root["data"]?.members ?? [] {
            let place = ReplySurvey.member("$.data", name)
            guard record.path.isPath(inside: place),
                let sign = payload.members.first(where: { Self.isFailure($0.name, $0.value) })
            else { continue }
            self.init(at: place, sign, in: payload, isUnclear: true)
            return
        }
        return nil
    }

    /// A false flag of a mutation's payload that does not hold the object.
    init?(inPayloadsOf root: JSONTree, without record: String?, _ request: WriteRequest) {
        let own = OwnValues(request)
        for (name, payload) in root["data"]?.members ?? [] {
            let place = ReplySurvey.member("$.data", name)
            guard record?.isPath(inside: place) != true, !own.isIdentified(payload), !own.areShown(in: payload),
                let flag = payload.members.first(where: {
                    OutcomeWords.isFalseFlag($0.name, $0.value) && !own.hasName($0.name)
                })
            else { continue }
            let holdsObject = payload.members.contains { $0.value.isObject } || own.hasRecordValue(payload)
            self.init(at: place, flag, in: payload, isUnclear: holdsObject || !own.knowsRecords)
            return
        }
        return nil
    }

    private init(
        at place: String, _ sign: (name: String, value: JSONTree), in object: JSONTree, isUnclear: Bool
    ) {
        let isError = FailedChange.isFailure(sign.name, sign.value)
        path = ReplySurvey.member(place, sign.name)
        value = FailedChange.outline(sign.value, isShort: !isError)
        words = (isError ? FailedChange.words(sign.value) : nil) ?? FailedChange.message(object)
        self.isUnclear = isUnclear
    }

    private static func isFailure(_ name: String, _ value: JSONTree) -> Bool {
        FailedChange.isFailure(name, value) || OutcomeWords.isFalseFlag(name, value)
    }

    /// Returns the member that says that an object was not deleted, if the reply has no other values of the object: a remote
    /// may answer with the object as it was.
    private static func denial(
        in object: JSONTree, _ foreign: [(name: String, value: JSONTree)], _ own: OwnValues
    ) -> (name: String, value: JSONTree)? {
        foreign.first { name, value in
            value == .bool(false) && ["deleted", "removed"].contains(OutcomeWords.plain(name))
                && own.isOutcome(members(of: object, without: name))
        }
    }

    private static func members(of object: JSONTree, without name: String?) -> JSONTree {
        .object(object.members.filter { $0.name != name }.map { ($0.name, $0.value) })
    }
}
