/// Assigns new header fields to old ones of the same name, so that as many as possible stay unchanged.
struct FieldAlignment {
    /// The maximum number of cells in the table. For larger headers each new field is assigned to the next old field of the
    /// same name.
    private static let tableLimit = 250_000

    /// For each new field the index of the old field that it is assigned to, in ascending order; nil for fields without one.
    let places: [Int?]

    init(of new: [MilterField], in old: [MilterField]) {
        let (cells, isLarge) = new.count.multipliedReportingOverflow(by: old.count)
        places = isLarge || cells > Self.tableLimit ? Self.nextOfName(new, old: old) : Self.best(new, old: old)
    }

    /// The score for replacing the field `old` by `new`; zero if they do not match.
    private static func worth(_ new: MilterField, old: MilterField) -> Int32 {
        if new == old { return 3 }
        // An empty value would remove the field.
        return new.name == old.name && !new.value.isEmpty ? 1 : 0
    }

    /// Computes a longest common subsequence with weights.
    private static func best(_ new: [MilterField], old: [MilterField]) -> [Int?] {
        let width = old.count + 1
        var table = [Int32](repeating: 0, count: (new.count + 1) * width)
        for row in new.indices.reversed() {
            for column in old.indices.reversed() {
                let worth = worth(new[row], old: old[column])
                let together = worth > 0 ? worth + table[(row + 1) * width + column + 1] : 0
                table[row * width + column] = max(
                    together,
                    table[(row + 1) * width + column],
                    table[row * width + column + 1]
                )
            }
        }
        var places = [Int?](repeating: nil, count: new.count)
        var row = 0
        var column = 0
        while row < new.count, column < old.count {
            let value = table[row * width + column]
            let worth = worth(new[row], old: old[column])
            if worth > 0, value == worth + table[(row + 1) * width + column + 1] {
                places[row] = column
                row += 1
                column += 1
            } else if value == table[(row + 1) * width + column] {
                row += 1
            } else {
                column += 1
            }
        }
        return places
    }

    private static func nextOfName(_ new: [MilterField], old: [MilterField]) -> [Int?] {
        // For each name the indices of its fields, in descending order.
        var open: [String: [Int]] = [:]
        for place in old.indices.reversed() { open[old[place].name, default: []].append(place) }
        var next = 0
        return new.map { field in
            while let place = open[field.name]?.popLast() {
                guard place >= next, worth(field, old: old[place]) > 0 else { continue }
                next = place + 1
                return place
            }
            return nil
        }
    }
}
