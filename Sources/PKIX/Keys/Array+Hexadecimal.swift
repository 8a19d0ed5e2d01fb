import ByteStreams
import LibCrypto

extension [UInt8] {
    /// Parses pairs of hexadecimal digits; nil if there are other characters or an odd number of digits.
    ///
    /// Never converts the digits to a String, whose copies would stay in memory: the digits may be secret.
    ///
    /// - Parameter separators: characters that are ignored anywhere.
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
