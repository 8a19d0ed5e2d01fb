/// The part of an address after the @.
enum DomainName {
    /// `domain` in lower case with A-labels; nil if it is neither a domain name nor an address literal.
    ///
    /// The only mapping before IDNA 2008 is to lower case: ß is kept, and a full-width character makes the name invalid.
    static func ascii(_ domain: String) -> String? {
        guard !domain.isEmpty, domain.utf8.count <= 255 else { return nil }
        if domain.hasPrefix("["), domain.hasSuffix("]") { return literal(domain) }
        let isASCII = domain.utf8.allSatisfy { $0 < 128 }
        guard let ascii = isASCII ? domain.lowercased() : IDNLibrary.ascii(domain.foldedForMail) else {
            return nil
        }
        let labels = ascii.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return ascii.utf8.count <= 255 && labels.allSatisfy(isLabel) ? ascii : nil
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return !label.isEmpty && label.count <= 63 && label.first != hyphen && label.last != hyphen
            && label.allSatisfy { byte in
                byte == hyphen || byte == UInt8(ascii: "_") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            }
    }

    /// Reads an address literal (RFC 5321 §4.1.3). Its content is not checked.
    private static func literal(_ domain: String) -> String? {
        let content = domain.utf8.dropFirst().dropLast()
        let isText = content.allSatisfy { 33...126 ~= $0 && !"[]\\".utf8.contains($0) }
        return isText && !content.isEmpty ? domain.lowercased() : nil
    }
}
