import PKIX
import SMIME

extension VerificationOptions {
    /// The result of checking `--assert-signer`; nil if the option is not given.
    func assertion(on report: VerificationReport) -> VerificationOutput.Assertion? {
        assertSigner.map { .init(signer: $0, ok: AssertedSigner($0).map(report.isSigned) ?? false) }
    }

    /// The exit status for a report. Without `--assert-signer`, this is `status`; with that option, the assertion decides
    /// instead of the verdict. If the assertion fails, the reason is reported.
    func check(_ report: VerificationReport, of path: String, _ status: ExitStatus) -> ExitStatus {
        guard let assertion = assertion(on: report) else { return status }
        let verdict = report.status == .valid ? nil : "the verdict on the message is \(report.status.rawValue)"
        let (file, signer) = (InputFile.name(path), assertion.signer)
        guard assertion.ok else {
            if !quiet {
                Console.error("\(file): not validly signed by \(signer)\(verdict.map { "; \($0)" } ?? "")")
            }
            return max(status, .negative)
        }
        if let verdict {
            let isName = report.signers.allSatisfy(\.isGoodExceptDisplayName)
            let why = isName ? "because the name in From shows another address" : "for another signature in it"
            Console.warning("\(file): signed by \(signer), but \(verdict), \(why)")
        }
        return status == .negative ? .success : status
    }
}
