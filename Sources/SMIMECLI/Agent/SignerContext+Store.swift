import InternetMessage
import PKIX
import SMIME
import SMIMEAgent
import SMIMEStore

extension Store {
    /// What the store knows about the signer that decides the verdict of `report`. Empty unless the verdict is `untrusted`.
    func context(of report: VerificationReport) async throws(KeystoreError) -> SignerContext {
        var context = SignerContext()
        guard report.status == .untrusted, exists, let signer = report.decidingSigner,
            let certificate = signer.certificate, let address = signer.address.flatMap({ try? EmailAddress($0) })
        else { return context }
        let account = try await accounts.account(ifAnyFor: address)
        context.isAccount = account != nil
        context.isOwn = account?.identities.contains { $0.certificate == certificate } == true
        guard !context.isOwn else {
            context.chainEnd = try await anchors.chainEnd(above: certificate)
            return context
        }
        context.difference = try await otherCertificates(than: certificate, of: AddressScope(address)).text
        return context
    }
}
