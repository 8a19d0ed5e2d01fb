import ByteStreams
import CMSSyntax
import InternetMessage
import PKIX
import SMIME
import TestSupport
import Testing

/// CMS objects made by other projects, many of them by fuzzers.
@Suite struct InspectCorpusTests {
    @Test(.timeLimit(.minutes(15))) func `every object of the corpora is inspected or refused`() throws {
        var figures = Figures("inspect")
        for item in try Corpus.cases("inspect") {
            let bytes = try Fixtures.corpus(item.file)
            var verdict = "refused"
            do {
                let inspection = try Inspection(of: MemorySource(bytes))
                verdict = inspection.allProblems.contains { $0.level == .error } ? "damaged" : "ok"
            } catch is CMSError {} catch is MessageError {} catch is MIMEError {}
            figures.count(item, verdict, isGood: verdict == "ok")
        }
        figures.report()
        #expect(figures.surprises == [])
    }

    @Test(arguments: [
        ("rfc4134/4.11.bin", "certs-only"), ("rfc4134/6.0.bin", "digested-data"), ("rfc4134/7.1.bin", "encrypted-data"),
        ("pqc-draft/ML-KEM-512.cms", "authenveloped-data"), ("pqc-draft/mldsa44-signed-attrs.pem", "signed-data"),
    ])
    func `layers that cannot be opened are listed`(file: String, type: String) throws {
        guard Fixtures.corpora != nil else {
            return print("SKIPPED: no corpora beside the checkout, \(file) not inspected")
        }
        guard case .cms(let layer) = try Inspection(of: MemorySource(Fixtures.corpus(file))).subject else {
            Issue.record("not taken for CMS")
            return
        }
        #expect(layer.outline.typeName == type)
        #expect(layer.problems.isEmpty)
    }
}
