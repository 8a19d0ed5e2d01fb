extension UnsafeRawBufferPointer {
    /// Where the run of bytes ends that starts at `start` and is the same in quoted-printable: printable ASCII
    /// without =, and spaces with such characters behind them.
    func endOfPlainText(from start: Int, to end: Int) -> Int {
        var index = start
        while index + 8 <= end {
            let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let others = word.bytesThatAreNotPlain
            index += others.trailingZeroBitCount / 8
            guard others == 0 else { break }
        }
        while index < end, UInt64(self[index]).bytesThatAreNotPlain & 0x80 == 0 { index += 1 }
        // Whether a space ends the line is to be seen from what follows it.
        let isFollowed =
            index < count && self[index] != UInt8(ascii: " ") && UInt64(self[index]).bytesThatAreNotPlain & 0x80 == 0
        while !isFollowed, index > start, self[index - 1] == UInt8(ascii: " ") { index -= 1 }
        return index
    }
}

extension UInt64 {
    /// The highest bit of each byte that is neither printable ASCII nor a space, or is =. Bytes above the lowest of them may be
    /// marked wrongly.
    fileprivate var bytesThatAreNotPlain: UInt64 {
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        let isBelowSpace = ~((self | highs) &- 0x20 &* ones)
        let isEquals = ~((self ^ 0x3D &* ones) &+ 0x7F &* ones)
        return (self | self &+ ones | isBelowSpace | isEquals) & highs
    }
}
