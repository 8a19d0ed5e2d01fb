import CMS
import Foundation
import TestSupport
import Testing

/// PKCS#12 files and certificates made by others.
///
/// A file in which no key belongs to a certificate must be refused, whatever its source expects of it.
@Suite struct CorpusKeyTests {
    @Test func `every PKCS#12 file of the corpora gets its verdict`() throws {
        var figures = Figures("PKCS#12")
        for item in try Corpus.cases("p12") {
            let bytes = try Fixtures.corpus(item.file)
            let outcome = Result { () throws(CMSError) in try open(bytes, item.needs?.password) }
            figures.count(item, outcome)
            switch (item.expect, outcome) {
            case ("ok", .success(let file)):
                if let keys = item.want?.keys { #expect(file.identities.count == keys, "\(item.id)") }
            case ("ok", .failure(let error)):
                #expect(error == .noKeyPair, "\(item.id)")
            case ("fail", .success): Issue.record("\(item.id) was accepted")
            default: break
            }
        }
        figures.report()
    }

    @Test func `every certificate of the corpora is read, with its addresses`() throws {
        var figures = Figures("certificates")
        for item in try Corpus.cases("cert") {
            let bytes = try Fixtures.corpus(item.file)
            let outcome = Result { () throws(CMSError) in try KeyMaterial.read(bytes) }
            figures.count(item, outcome)
            let first = try #require(try? outcome.get().first, "\(item.id): \(outcome)")
            guard case .certificate(let certificate) = first else {
                Issue.record("\(item.id) is no certificate")
                continue
            }
            if let wanted = item.want?.emails { #expect(certificate.addresses == wanted, "\(item.id)") }
        }
        figures.report()
    }

    private func open(_ bytes: [UInt8], _ password: String?) throws(CMSError) -> PKCS12 {
        guard let password else { return try PKCS12(bytes, passphrase: nil) }
        return try PKCS12(bytes, passphrase: Passphrase(Array(password.utf8)))
    }
}

/// The index of the corpora.
enum Corpus {
    struct Case: Decodable {
        struct Needs: Decodable { let password: String? }
        struct Want: Decodable {
            let keys: Int?
            let emails: [String]?
        }
        let id, set, file, kind, expect: String
        let needs: Needs?
        let want: Want?
    }

    /// The cases of one kind; none, and a line that says so, where the corpora are missing.
    static func cases(_ kind: String) throws -> [Case] {
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
struct Figures {
    private let title: String
    private var counts: [String: [String: Int]] = [:]
    private var notes: [String] = []

    init(_ title: String) { self.title = title }

    mutating func count<Value>(_ item: Corpus.Case, _ outcome: Result<Value, CMSError>) {
        let verdict =
            switch outcome {
            case .success: "ok"
            case .failure(.noKeyPair): "no key pair"
            case .failure(.unsupported): "unsupported"
            case .failure: "refused"
            }
        counts[item.set, default: [:]][verdict, default: 0] += 1
        if case .failure(let error) = outcome { notes.append("  \(item.id) (\(item.expect)): \(error)") }
    }

    func report() {
        for (set, verdicts) in counts.sorted(by: { $0.key < $1.key }) {
            let line = verdicts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
            print("\(title), \(set): \(line)")
        }
        for note in notes { print(note) }
    }
}
