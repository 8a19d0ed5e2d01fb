import ByteStreams

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One mailbox in an address list.
package struct Mailbox: Hashable, Sendable {
    /// The name before the address and the comments beside it, decoded for display; nil if there are none.
    package let displayName: String?
    /// The address.
    package let address: EmailAddress

    /// A mailbox with the given name and address.
    package init(displayName: String?, address: EmailAddress) {
        self.displayName = displayName
        self.address = address
    }

    /// Whether the name contains an address other than this mailbox's own.
    ///
    /// The name is checked in the forms that different mail programs display: with all encoded words decoded, with
    /// compatibility characters replaced, and without invisible characters. A name with an encoded word in an unknown
    /// character set that may not extend ASCII counts as containing another address.
    package var displayNamePosesAsAddress: Bool {
        guard let displayName else { return false }
        guard let loose = EncodedWord.decodeLoosely(displayName) else { return true }
        return [displayName, EncodedWord.decode(displayName, undecodable: .readAsUTF8), loose].contains { name in
            let seen = Array(
                name.compatiblyComposed.unicodeScalars.filter {
                    $0.properties.isWhitespace || !$0.isUnsafeToDisplay
                }
            )
            // Programs that decode the name before they parse it skip comments.
            return poses(seen) || seen.contains("(") && poses(seen.withoutComments)
        }
    }

    private func poses(_ name: [Unicode.Scalar]) -> Bool {
        let places = name.indices.filter { name[$0] == "@" }
        return places.count > Self.maximumPlaces || places.contains { poses(name, at: $0) }
    }

    /// The maximum number of @ to check. A name with more @ counts as containing another address.
    private static let maximumPlaces = 32

    /// Whether the @ at `place` belongs to an address other than this mailbox's own.
    private func poses(_ name: [Unicode.Scalar], at place: Int) -> Bool {
        func sides(_ isBoundary: (Unicode.Scalar) -> Bool) -> (left: String, right: String) {
            let before = name[..<place].reversed().prefix { !isBoundary($0) }.reversed()
            return (String(before), String(name[(place + 1)...].prefix { !isBoundary($0) }))
        }
        let (left, right) = sides(Self.isBoundary)
        if !left.isEmpty, !right.isEmpty {
            guard !continues(name, around: place) else { return true }
            // `Work@Home` is no address of another domain.
            guard !isPlainWord(name, around: place) else { return false }
            // An apostrophe may be part of the address, or a quotation mark beside it.
            let whole = sides { Self.isBoundary($0) && $0 != "'" }
            return !isOwn(left, at: right) && !isOwn(whole.left, at: whole.right)
        }
        // A comment may be beside the @.
        if name[(place + 1)...].first == "(" || name[..<place].last == ")" { return true }
        // People also read `alice @ example.com` as an address, but not `Carol @ work`.
        let far = name[(place + 1)...].drop(while: Self.isBoundary).prefix { !Self.isBoundary($0) }
        let near = name[..<place].reversed().drop(while: Self.isBoundary).prefix { !Self.isBoundary($0) }
        guard !near.isEmpty, far.dropFirst().dropLast().contains(".") else { return false }
        return !isOwn(String(near.reversed()), at: String(far))
    }

    /// Whether a dot follows or precedes the address around the @ at `place`, with only blanks between them. Some programs
    /// read both as one address.
    private func continues(_ name: [Unicode.Scalar], around place: Int) -> Bool {
        let after = name[(place + 1)...].drop { !Self.isBoundary($0) }.first { !$0.properties.isWhitespace }
        let before = name[..<place].reversed().drop { !Self.isBoundary($0) }.first { !$0.properties.isWhitespace }
        return after == "." || before == "."
    }

    /// Whether the word around the @ at `place` has only ASCII letters, digits and `-_/&+`: without a dot it names no public
    /// domain.
    private func isPlainWord(_ name: [Unicode.Scalar], around place: Int) -> Bool {
        func isPlain(_ scalar: Unicode.Scalar) -> Bool {
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                || "-_/&+".unicodeScalars.contains(scalar)
        }
        let before = name[..<place].reversed().prefix { !$0.properties.isWhitespace }
        let behind = name[(place + 1)...].prefix { !$0.properties.isWhitespace }
        return before.allSatisfy(isPlain) && behind.allSatisfy(isPlain)
    }

    private func isOwn(_ local: String, at domain: String) -> Bool {
        let domain = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        return (try? EmailAddress("\(local)@\(domain)")) == address
    }

    private static func isBoundary(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || "\"'<>()[],;:".unicodeScalars.contains(scalar)
    }
}

extension String {
    fileprivate init(_ scalars: some Sequence<Unicode.Scalar>) {
        var view = UnicodeScalarView()
        view.append(contentsOf: scalars)
        self.init(view)
    }
}
