extension ConfigurationReader {
    /// Reads the `hook` of a bridge; reports a fault and returns nil for an invalid one.
    mutating func hook(_ member: Member, of bridge: String) -> HookConfiguration? {
        let what = "the hook of \(bridge)"
        guard let section = section(member.value, HookKeys.shape, what),
            let given = required(HookKeys.secret, of: section, at: member.key.mark)
        else { return nil }
        guard let secret = SecretReference(given.value) else {
            // The value is not shown: it may be the secret itself.
            error(
                at: given.value.mark, "\"secret\" of \(what) is a secret and must not be a literal",
                "write {env: NAME} or {file: PATH}")
            return nil
        }
        var hook = HookConfiguration(secret: secret)
        if let name = field(HookKeys.signature, of: section) { hook.signature = name }
        hook.timestamp = field(HookKeys.timestamp, of: section)
        if let path = value(HookKeys.key, of: section) { hook.key = path }
        return hook
    }

    private mutating func field(_ key: Key<String>, of section: Section) -> String? {
        guard let member = section[key], let name = text(member, of: section.what) else { return nil }
        guard name.wholeMatch(of: /[A-Za-z][A-Za-z0-9-]*/) != nil else {
            error(
                at: member.value.mark, "\(quoted(key.name)) of \(section.what) is not the name of a header field",
                "write one, such as \(HookConfiguration.usualSignature)")
            return nil
        }
        return name
    }
}
