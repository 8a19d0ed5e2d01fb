import LibCrypto
import SwiftASN1

/// Parses RSA keys and passes their numbers to libcrypto one by one.
///
/// libcrypto's own readers try every decoder of every provider for each key, which takes longer than verifying a signature.
/// libcrypto's readers are still used for keys that are not plain DER of an RSA key.
///
/// RFC 8017 §A.1, EVP_PKEY-RSA(7)
struct RSAKey {
    let handle: Handle<EVP_PKEY>
    /// The DER of the SubjectPublicKeyInfo.
    let publicKeyInfo: [UInt8]

    /// The DER of the AlgorithmIdentifier rsaEncryption with NULL parameters.
    private static let algorithm: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
    ]
    private static let zero: [UInt8] = [0x02, 0x01, 0x00]

    /// The private key in a PKCS#8 PrivateKeyInfo of version 1; nil unless it is a plain RSA key of two primes.
    init?(pkcs8: [UInt8]) {
        guard let fields = Self.elements(of: pkcs8, in: pkcs8.indices), (3...4).contains(fields.count),
            pkcs8[fields[0]] == Self.zero[...], pkcs8[fields[1]] == Self.algorithm[...],
            let key = Self.content(of: pkcs8, at: fields[2], identifier: 0x04),
            let numbers = Self.elements(of: pkcs8, in: key), numbers.count == 9, pkcs8[numbers[0]] == Self.zero[...],
            let handle = Self.handle(numbers.dropFirst(), of: pkcs8, isPrivate: true)
        else { return nil }
        self.handle = handle
        let bits = DERFrame.sequence(pkcs8[numbers[1].lowerBound..<numbers[2].upperBound])
        let wrapped = DERFrame.header(.bitString, isConstructed: false, length: bits.count + 1) + [0] + bits
        publicKeyInfo = DERFrame.sequence(Self.algorithm + wrapped)
    }

    /// The public key in a SubjectPublicKeyInfo; nil unless it is a plain RSA key.
    init?(publicKeyInfo: [UInt8]) {
        guard let fields = Self.elements(of: publicKeyInfo, in: publicKeyInfo.indices), fields.count == 2,
            publicKeyInfo[fields[0]] == Self.algorithm[...],
            let bits = Self.content(of: publicKeyInfo, at: fields[1], identifier: 0x03),
            let unused = bits.first, publicKeyInfo[unused] == 0,
            let numbers = Self.elements(of: publicKeyInfo, in: bits.dropFirst()), numbers.count == 2,
            let handle = Self.handle(numbers[...], of: publicKeyInfo, isPrivate: false)
        else { return nil }
        self.handle = handle
        self.publicKeyInfo = publicKeyInfo
    }

    /// The ranges of the elements in the SEQUENCE that fills `range`; nil if there is no SEQUENCE.
    private static func elements(of bytes: [UInt8], in range: Range<Int>) -> [Range<Int>]? {
        guard var content = content(of: bytes, at: range, identifier: 0x30) else { return nil }
        var elements: [Range<Int>] = []
        while !content.isEmpty {
            guard elements.count < 10,
                let header = try? ElementExtent.Header(bytes, at: content.lowerBound, limit: content.upperBound),
                let end = header.end
            else { return nil }
            elements.append(content.lowerBound..<end)
            content = end..<content.upperBound
        }
        return elements
    }

    /// The range of the content of the element that fills `range`; nil if its identifier differs.
    private static func content(of bytes: [UInt8], at range: Range<Int>, identifier: UInt8) -> Range<Int>? {
        guard let header = try? ElementExtent.Header(bytes, at: range.lowerBound, limit: range.upperBound),
            header.identifier == identifier, header.end == range.upperBound
        else { return nil }
        return header.content..<range.upperBound
    }

    /// Builds libcrypto's key; nil if an INTEGER is not positive or not in its shortest encoding.
    private static func handle(_ integers: ArraySlice<Range<Int>>, of bytes: [UInt8], isPrivate: Bool)
        -> Handle<EVP_PKEY>?
    {
        let numbers = integers.compactMap { magnitude(of: bytes, at: $0) }
        guard numbers.count == integers.count else { return nil }
        let storage = SecretBytes(count: numbers.reduce(0) { $0 + $1.count }) { buffer in
            for (offset, index) in numbers.lazy.flatMap(inProcessorOrder).enumerated() { buffer[offset] = bytes[index] }
        }
        return Handle(rsaNumbers: storage, counts: numbers.map(\.count), isPrivate: isPrivate)
    }

    /// The octets of a positive INTEGER without the leading zero; nil if it is not positive or not in its shortest encoding.
    private static func magnitude(of bytes: [UInt8], at range: Range<Int>) -> Range<Int>? {
        guard let content = content(of: bytes, at: range, identifier: 0x02), let first = content.first,
            bytes[first] < 0x80
        else { return nil }
        guard bytes[first] == 0 else { return content }
        return content.count > 1 && bytes[first + 1] >= 0x80 ? content.dropFirst() : nil
    }

    /// Reverses the byte order if needed: DER puts the highest byte first, OSSL_PARAM uses the processor's order.
    private static func inProcessorOrder(_ number: Range<Int>) -> [Int] {
        #if _endian(little)
        number.reversed()
        #else
        Array(number)
        #endif
    }
}

extension DERFrame {
    /// The DER of a SEQUENCE that contains `elements`.
    fileprivate static func sequence(_ elements: some Collection<UInt8>) -> [UInt8] {
        header(.sequence, isConstructed: true, length: elements.count) + elements
    }
}
