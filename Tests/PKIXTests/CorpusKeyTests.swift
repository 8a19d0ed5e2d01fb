import Foundation
import LibCrypto
import PKIX
import TestSupport
import Testing

/// PKCS#12 files and certificates made by other projects.
///
/// A file in which no key belongs to a certificate must be rejected, even if its source expects otherwise.
@Suite struct CorpusKeyTests {
    @Test func `every PKCS#12 file of the corpora has its expected result`() throws {
        var figures = Figures("PKCS#12")
        for item in try Corpus.cases("p12") {
            let bytes = try Fixtures.corpus(item.file)
            let outcome = Result { () throws(CMSError) in try open(bytes, item.needs?.password) }
            figures.count(item, outcome)
            switch (item.expect, outcome) {
            case ("ok", .success(let file)):
                if let keys = item.want?.keys { #expect(file.identities.count == keys, "\(item.id)") }
            case ("ok", .failure(let error)): #expect(error == .noKeyPair, "\(item.id)")
            default: break
            }
        }
        figures.report()
        #expect(figures.surprises == [])
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

extension Figures {
    fileprivate mutating func count<Value>(_ item: Corpus.Case, _ outcome: Result<Value, CMSError>) {
        switch outcome {
        case .success: count(item, "ok", isGood: true)
        case .failure(.noKeyPair): count(item, "no key pair", isGood: false)
        case .failure(.unsupported(let what)): count(item, "unsupported", isGood: false, note: what)
        case .failure(let error): count(item, "refused", isGood: false, note: "\(error)")
        }
    }
}
