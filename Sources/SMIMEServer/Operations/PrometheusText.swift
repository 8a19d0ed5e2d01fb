/// Text in the format that Prometheus reads, version 0.0.4.
struct PrometheusText {
    enum Kind: String {
        case counter, gauge, histogram
    }

    /// The lines written so far.
    private(set) var text = ""
    private var name = ""

    /// Begins a metric. Its values are added next.
    mutating func begin(_ name: String, _ kind: Kind, help: String) {
        self.name = name
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Adds a value of the current metric. Names and values of labels are fixed words, so they are not escaped.
    mutating func add(_ value: Double, _ labels: [(name: String, value: String)] = [], suffix: String = "") {
        let list = labels.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ",")
        let number = value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
        text += name + suffix + (list.isEmpty ? "" : "{\(list)}") + " \(number)\n"
    }

    /// Adds a metric with one value.
    mutating func add(_ name: String, _ kind: Kind, help: String, value: Double) {
        begin(name, kind, help: help)
        add(value)
    }
}
