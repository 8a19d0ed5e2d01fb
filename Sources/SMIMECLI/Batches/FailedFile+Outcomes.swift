extension [FailedFile] {
    /// Creates the reports on the inputs that failed.
    init<Value>(_ outcomes: [Batch.Outcome<Value>]) {
        self = outcomes.filter { $0.value == nil }.map { Element(file: InputFile.name($0.path), $0.failure) }
    }
}
