extension Array<UInt8> {
    /// These bytes, repeated up to a length of `count`. Doubling is used because appending single elements is slow in debug
    /// builds.
    public func flood(_ count: Int) -> [UInt8] {
        var result = self
        while !isEmpty, result.count < count { result.append(contentsOf: result) }
        return Array(result.prefix(count))
    }
}
