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

/// How the cases of one kind ended.
public struct Figures {
    private struct Row {
        let item: Corpus.Case
        let outcome: String
        let isAsExpected: Bool
        let note: String?
    }

    private let title: String
    private var rows: [Row] = []

    /// Figures printed under `title`.
    public init(_ title: String) { self.title = title }

    /// Counts that `item` ended with `outcome`.
    ///
    /// - Parameters:
    ///   - isGood: whether that is what `ok` in the index stands for, and not `fail`; any other word allows both.
    ///   - note: what is to be said about it.
    public mutating func count(_ item: Corpus.Case, _ outcome: String, isGood: Bool, note: String? = nil) {
        let isAsExpected = item.expect == "ok" ? isGood : item.expect == "fail" ? !isGood : true
        rows.append(Row(item: item, outcome: outcome, isAsExpected: isAsExpected, note: note))
    }

    /// Prints how many of each set ended how, and which ended otherwise than the index says; with SMIME_TEST_TABLE set
    /// in the environment every case.
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

    /// The cases that ended otherwise than the index says without being in the list of those, and those of the list that
    /// ended as it says.
    public var surprises: [String] {
        rows.filter { $0.isAsExpected == (Corpus.exceptions[$0.item.id] != nil) }
            .map { "\($0.item.id): \($0.outcome), \($0.note ?? "")" }
    }
}
