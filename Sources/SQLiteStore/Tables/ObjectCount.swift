/// The number of an entity's objects in a bookkeeping table, which keeps it current; others check it for each row.
final class ObjectCount {
    var value = 0
}
