import ArgumentParser

/// The formats that `export` writes.
enum ExportFormat: String, Choice {
    case p12, mobileconfig, pem, ldif, vcard, smimea

    /// Whether the format contains private keys.
    var isSecret: Bool { self == .p12 || self == .mobileconfig }

    /// Whether one file can contain several persons.
    var isForDirectories: Bool { self == .ldif || self == .smimea }
}
