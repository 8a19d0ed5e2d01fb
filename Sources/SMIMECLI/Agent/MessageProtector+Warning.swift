import InternetMessage
import SMIME

extension MessageProtector {
    /// Says which fields stay unprotected though they should not.
    func warnOfUnprotected(_ name: String, isEncrypted: Bool) {
        let names = unprotectedNames(isEncrypted: isEncrypted)
        guard !names.isEmpty else { return }
        Console.warning("\(name): header fields that stay unprotected: \(names.listedForDisplay)")
    }
}
