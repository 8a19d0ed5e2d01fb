import Foundation

/// The index of corpora made by other projects, which are beside the checkout.
public enum Corpus {
    /// One case of index.json.
    public struct Case: Decodable, Sendable {
        /// The requirements for running the case.
        public struct Needs: Decodable, Sendable {
            public let password: String?
            public let p12: String?
            public let cert: String?
            public let key: String?
            public let ca: String?
            public let extra: String?
            public let content: String?
            /// The time for judging certificates, in seconds since 1970.
            public let at: Double?
            /// Whether certificates for other purposes than mail are accepted.
            public let anyPurpose: Bool?
            /// Whether only the signature is checked, without a chain.
            public let cryptoOnly: Bool?
            /// Whether the revocation lists in the message are used.
            public let crl: Bool?

            private enum CodingKeys: String, CodingKey {
                case password, p12, cert, key, ca, extra, content, at, crl
                case anyPurpose = "any_purpose"
                case cryptoOnly = "crypto_only"
            }
        }

        /// The contents of a certificate or PKCS#12 file.
        public struct Want: Decodable, Sendable {
            public let keys: Int?
            public let emails: [String]?
        }

        /// Properties of the plaintext.
        public struct Then: Decodable, Sendable {
            public let contains: String?
        }

        public let id, set, file, kind, expect: String
        public let needs: Needs?
        public let want: Want?
        public let then: Then?
    }

    /// The cases of one kind. If the corpora are missing, prints a note and returns none.
    public static func cases(_ kind: String) throws -> [Case] {
        guard Fixtures.corpora != nil else {
            print("SKIPPED: no corpora beside the checkout, \(kind) not tested")
            return []
        }
        let all = try JSONDecoder().decode([Lenient<Case>].self, from: Data(Fixtures.corpus("index.json")))
        return all.compactMap(\.value).filter { $0.kind == kind }
    }

    /// Nil for a case of another kind, which may have another structure.
    private struct Lenient<Value: Decodable>: Decodable {
        let value: Value?
        init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
    }
}

/// The results for the cases of one kind.
public struct Figures {
    private struct Row {
        let item: Corpus.Case
        let outcome: String
        let isAsExpected: Bool
        let note: String?
    }

    private let title: String
    private var rows: [Row] = []

    /// Results that are printed under `title`.
    public init(_ title: String) { self.title = title }

    /// Records that `item` ended with `outcome`.
    ///
    /// - Parameters:
    ///   - isGood: whether the outcome corresponds to `ok` in the index (otherwise to `fail`); any other word in the index
    ///     allows both.
    ///   - note: a comment about the outcome.
    public mutating func count(_ item: Corpus.Case, _ outcome: String, isGood: Bool, note: String? = nil) {
        let isAsExpected = item.expect == "ok" ? isGood : item.expect == "fail" ? !isGood : true
        rows.append(Row(item: item, outcome: outcome, isAsExpected: isAsExpected, note: note))
    }

    /// Prints the number of outcomes for each set, and the cases that differ from the index. If SMIME_TEST_TABLE is set,
    /// prints every case.
    public func report() {
        let isWhole = ProcessInfo.processInfo.environment["SMIME_TEST_TABLE"] != nil
        for (set, rows) in Dictionary(grouping: rows, by: \.item.set).sorted(by: { $0.key < $1.key }) {
            let counts = Dictionary(
                rows.map { ("\($0.outcome) where \($0.item.expect) is expected", 1) },
                uniquingKeysWith: +
            )
            let line = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            print("\(title), \(set): \(line)")
            for row in rows where isWhole || !row.isAsExpected {
                let why = row.note ?? Corpus.exceptions[row.item.id] ?? ""
                print("| \(row.item.id) | \(row.item.expect) | \(row.outcome) | \(why) |")
            }
        }
    }

    /// The cases that differ from the index without being listed as exceptions, and listed exceptions that agree with the
    /// index.
    public var surprises: [String] {
        rows.filter { $0.isAsExpected == (Corpus.exceptions[$0.item.id] != nil) }
            .map { "\($0.item.id): \($0.outcome), \($0.note ?? "")" }
    }
}
