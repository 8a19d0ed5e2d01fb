import ByteStreams
import LibCrypto

extension [UInt8] {
    /// What pairs of hexadecimal digits stand for; nil if something else is among them, or half a pair.
    ///
    /// Never by way of a String, of which copies would stay in memory: the digits may be those of a secret.
    ///
    /// - Parameter separators: characters that do not count, wherever they stand.
    package init?(hexadecimal digits: some Collection<UInt8>, ignoring separators: String) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2 + 1)
        var isHalf = false
        for character in digits where !separators.utf8.contains(character) {
            guard let digit = character.hexadecimalValue else {
                bytes.wipe()
                return nil
            }
            if isHalf { bytes[bytes.count - 1] |= digit } else { bytes.append(digit << 4) }
            isHalf.toggle()
        }
        guard !isHalf else {
            bytes.wipe()
            return nil
        }
        self = bytes
    }
}
