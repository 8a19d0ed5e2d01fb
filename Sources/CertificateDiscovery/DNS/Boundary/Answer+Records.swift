import CUnbound

extension ub_result {
    /// Copies of the records of an answer, at most the first `limit`.
    func records(limit: Int) -> [[UInt8]] {
        var records: [[UInt8]] = []
        while records.count < limit, let data = data?[records.count] {
            let count = Int(len?[records.count] ?? 0)
            records.append([UInt8](UnsafeRawBufferPointer(start: data, count: max(0, count))))
        }
        return records
    }
}
