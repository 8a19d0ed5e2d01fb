extension UnsafeRawBufferPointer {
    /// The end of the run of bytes from `start` that are the same in quoted-printable: printable ASCII except =, and spaces
    /// that are followed by such characters.
    func endOfPlainText(from start: Int, to end: Int) -> Int {
        var index = start
        while index + 8 <= end {
            let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let others = word.bytesThatAreNotPlain
            index += others.trailingZeroBitCount / 8
            guard others == 0 else { break }
        }
        while index < end, UInt64(self[index]).bytesThatAreNotPlain & 0x80 == 0 { index += 1 }
        // The byte after a space shows whether the space is at the end of the line.
        let isFollowed =
            index < count && self[index] != UInt8(ascii: " ") && UInt64(self[index]).bytesThatAreNotPlain & 0x80 == 0
        while !isFollowed, index > start, self[index - 1] == UInt8(ascii: " ") { index -= 1 }
        return index
    }
}

extension UInt64 {
    /// Marks the highest bit of each byte that is = or neither printable ASCII nor a space. Bytes above the lowest marked
    /// byte may be marked wrongly.
    fileprivate var bytesThatAreNotPlain: UInt64 {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let isBelowSpace = ~((self | highs) &- 0x20 &* ones)
        let isEquals = ~((self ^ 0x3D &* ones) &+ 0x7F &* ones)
        return (self | self &+ ones | isBelowSpace | isEquals) & highs
    }
}
