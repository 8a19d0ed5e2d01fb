extension Hasher {
    /// Hashes all of `bytes`, without their number.
    package mutating func combine(all bytes: [UInt8]) { bytes.withUnsafeBytes { combine(bytes: $0) } }

    /// Hashes the UTF-8 of `text`, without its length.
    package mutating func combine(utf8Of text: String) {
        var text = text
        text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
