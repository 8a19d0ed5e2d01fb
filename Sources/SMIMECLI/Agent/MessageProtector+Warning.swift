import InternetMessage
import SMIME

extension MessageProtector {
    /// Warns of fields that stay unprotected although the header protection policy covers them.
    func warnOfUnprotected(_ name: String, isEncrypted: Bool) {
        let names = unprotectedNames(isEncrypted: isEncrypted)
        guard !names.isEmpty else { return }
        Console.warning("\(name): header fields that stay unprotected: \(names.listedForDisplay)")
    }
}
