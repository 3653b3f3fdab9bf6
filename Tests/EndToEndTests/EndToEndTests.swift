import Testing

/// The built command against the three real servers, one test at a time: each starts servers of its own.
@Suite(.serialized)
struct EndToEndTests {}
