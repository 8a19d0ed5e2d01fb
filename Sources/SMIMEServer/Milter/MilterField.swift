import InternetMessage

/// A header field as it is in a packet.
///
/// The value begins behind the colon, or behind the one space there where `MilterSteps.leadingSpace` was not negotiated. Line ends in it
/// are line feeds.
package struct MilterField: Hashable, Sendable {
    /// Printable ASCII without a colon; blanks between it and the colon are lost in the mail server.
    package let name: String
    package let value: [UInt8]

    /// - Returns: nil if `name` is no field's name or a zero byte is in `value`.
    package init?(name: String, value: [UInt8]) {
        guard !name.isEmpty, name.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x3A }), !value.contains(0)
        else { return nil }
        self.name = name
        self.value = value
    }
}
