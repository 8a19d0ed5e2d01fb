import InternetMessage
import SMIMEAgent

/// Adds the domain to names without a domain, as programs on a host write them: `root` becomes `root@host.example.org`.
package struct AddressQualifier: Sendable {
    private let domain: String

    /// - Parameter domain: the domain for mail from this host.
    package init(domain: HostName) { self.domain = domain.full }

    /// `name` with this host's domain if it is a local name; otherwise unchanged.
    package func qualified(_ name: String) -> String { Self.isLocalName(name) ? "\(name)@\(domain)" : name }

    /// `text` with this host's domain added to local names, for example in `root (Cron Daemon)` and `Root <root>`. A
    /// valid address list is not changed.
    package func qualified(list text: String) -> String {
        guard let list = try? AddressList(text), list.defects.contains(.malformed) else { return text }
        return Self.elements(of: text).map(element).joined(separator: ",")
    }

    private func element(_ text: Substring) -> String {
        if let start = text.lastIndex(of: "<"), let end = text.lastIndex(of: ">"), start < end {
            let inside = text[text.index(after: start)..<end]
            return text[...start] + qualified(String(inside)) + text[end...]
        }
        let name = text.drop(while: \.isWhitespace).prefix { !$0.isWhitespace && $0 != "(" }
        guard Self.isLocalName(String(name)) else { return String(text) }
        let rest = text[name.endIndex...].drop(while: \.isWhitespace)
        guard rest.isEmpty || rest.hasPrefix("(") else { return String(text) }
        return text[..<name.endIndex] + "@\(domain)" + text[name.endIndex...]
    }

    /// The elements of a list between its commas. Commas in quotes, comments and angle brackets do not separate elements.
    private static func elements(of text: String) -> [Substring] {
        var elements: [Substring] = []
        var (start, depth, isQuoted, isEscaped) = (text.startIndex, 0, false, false)
        for index in text.indices {
            switch text[index] {
            case _ where isEscaped: isEscaped = false
            case "\\": isEscaped = isQuoted || depth > 0
            case "\"" where depth == 0: isQuoted.toggle()
            case "(" where !isQuoted: depth += 1
            case ")" where !isQuoted && depth > 0: depth -= 1
            case "," where !isQuoted && depth == 0:
                elements.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        return elements + [text[start...]]
    }

    /// Whether `name` is a plain user name: letters, digits and `._+-`, beginning with a letter or digit.
    private static func isLocalName(_ name: String) -> Bool {
        guard let first = name.utf8.first, Self.isWord(first), name.utf8.count <= 64 else { return false }
        return name.utf8.allSatisfy { isWord($0) || "._+-".utf8.contains($0) }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        0x30...0x39 ~= byte || 0x41...0x5A ~= byte || 0x61...0x7A ~= byte
    }
}
