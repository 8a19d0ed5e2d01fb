/// Answers of an LDAP directory to a search, for servers that send other ones than slapd does.
///
/// RFC 4511 §4.5.2
public enum DirectoryMessage {
    /// An entry with this value of the attribute `userCertificate;binary`.
    public static func entry(_ value: [UInt8], to request: [UInt8]) -> [UInt8] {
        let attribute = element(0x30, text("userCertificate;binary") + element(0x31, element(0x04, value)))
        return message(element(0x64, text("cn=x") + element(0x30, attribute)), to: request)
    }

    /// The end of the entries, with a result code.
    public static func end(to request: [UInt8], code: UInt8 = 0) -> [UInt8] {
        message(element(0x65, element(0x0A, [code]) + text("") + text("")), to: request)
    }

    /// Whether `request` contains `text`, such as the address in its filter.
    public static func contains(_ text: String, in request: [UInt8]) -> Bool {
        String(decoding: request, as: UTF8.self).contains(text)
    }

    /// A message with the identifier of `request`, which has less than 128.
    private static func message(_ operation: [UInt8], to request: [UInt8]) -> [UInt8] {
        // The identifier follows the tag and the length of the whole request, and its own tag and length.
        let lengthCount = request[1] < 0x80 ? 1 : 1 + Int(request[1] & 0x7F)
        return element(0x30, element(0x02, [request[lengthCount + 3]]) + operation)
    }

    private static func text(_ text: String) -> [UInt8] { element(0x04, Array(text.utf8)) }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag, 0x84] + withUnsafeBytes(of: UInt32(content.count).bigEndian, Array.init) + content
    }
}
