internal import Model
internal import RecordBatch
internal import TextFormats

/// The members that no path of a plan matches.
extension Mapper {
    /// Returns the members of an object that no path of the plan matches, as JSON; null when there are none.
    func unknownMembers(of object: BatchValue, _ plan: ResolvedPlan, _ arena: Arena) -> Cell {
        let table = plan.table(of: plan.root)
        let hasPaths = plan.steps[plan.root].hasChildren
        // The last of several members with the same name counts. A map of the last positions avoids comparing all pairs
        // in a large object.
        var last: [UInt32: Int] = [:]
        let isLarge = object.count > 32
        if isLarge { for index in 0..<object.count { last[object[index].keyIndex] = index } }
        var json = ""
        for index in 0..<object.count {
            let member = object[index]
            guard !hasPaths || plan.tables[table + Int(member.keyIndex)] < 0,
                isLarge ? last[member.keyIndex] == index : !isRepeated(member, in: object, after: index)
            else { continue }
            json += json.isEmpty ? "{" : ","
            json.appendJSONString(member.key)
            json += ":" + member.json
        }
        return json.isEmpty ? .null : .json(arena.copy(json + "}"))
    }
}
