import Foundation

/// The index of the corpora made by others, which stand beside the checkout.
public enum Corpus {
    /// One case of index.json.
    public struct Case: Decodable, Sendable {
        /// What the case needs to be run.
        public struct Needs: Decodable, Sendable {
            public let password: String?
            public let p12: String?
            public let cert: String?
            public let key: String?
            public let ca: String?
            public let extra: String?
            public let content: String?
            /// Seconds since 1970 at which certificates are judged.
            public let at: Double?
            /// Whether certificates made for other purposes than mail count.
            public let anyPurpose: Bool?
            /// Whether only the signature counts, and no chain.
            public let cryptoOnly: Bool?
            /// Whether the revocation lists inside the message count.
            public let crl: Bool?

            private enum CodingKeys: String, CodingKey {
                case password, p12, cert, key, ca, extra, content, at, crl
                case anyPurpose = "any_purpose"
                case cryptoOnly = "crypto_only"
            }
        }

        /// What a certificate or PKCS#12 file holds.
        public struct Want: Decodable, Sendable {
            public let keys: Int?
            public let emails: [String]?
        }

        /// What the plaintext is like.
        public struct Then: Decodable, Sendable {
            public let contains: String?
        }

        public let id, set, file, kind, expect: String
        public let needs: Needs?
        public let want: Want?
        public let then: Then?
    }

    /// The cases of one kind; none, and a line that says so, where the corpora are missing.
    public static func cases(_ kind: String) throws -> [Case] {
        guard Fixtures.corpora != nil else {
            print("SKIPPED: no corpora beside the checkout, \(kind) not tested")
            return []
        }
        let all = try JSONDecoder().decode([Lenient<Case>].self, from: Data(Fixtures.corpus("index.json")))
        return all.compactMap(\.value).filter { $0.kind == kind }
    }

    /// A case of another kind may have another shape.
    private struct Lenient<Value: Decodable>: Decodable {
        let value: Value?
        init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
    }
}

/// How many cases of each set ended how.
public struct Figures {
    private let title: String
    private var counts: [String: [String: Int]] = [:]
    private var notes: [String] = []

    /// Figures printed under `title`.
    public init(_ title: String) { self.title = title }

    /// Counts that `item` ended with `verdict`, and keeps what is to be said about it.
    public mutating func count(_ item: Corpus.Case, _ verdict: String, note: String? = nil) {
        counts[item.set, default: [:]][verdict, default: 0] += 1
        if let note { notes.append("  \(item.id) (\(item.expect)): \(note)") }
    }

    /// Prints a line for each set, and the notes.
    public func report() {
        for (set, verdicts) in counts.sorted(by: { $0.key < $1.key }) {
            let line = verdicts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            print("\(title), \(set): \(line)")
        }
        for note in notes { print(note) }
    }
}
