import CertificateDiscovery
import Testing

@Suite struct QueryQueueTests {
    private func names(_ count: Int, at domain: String) -> [String] {
        (0..<count).map { "n\($0)._smimecert.\(domain)" }
    }

    /// The names whose lookup begins.
    private func begin(_ queue: inout QueryQueue) -> [Int] {
        var begun: [Int] = []
        while let index = queue.next() { begun.append(index) }
        return begun
    }

    @Test func `a domain with many names does not keep another one waiting`() {
        let maximum = QueryQueue.maximumOpenInDomain
        var queue = QueryQueue(names(100, at: "evil.example") + names(2, at: "Example.com"))
        let begun = begin(&queue)
        #expect(begun.prefix(4) == [0, 100, 1, 101])
        #expect(begun.count == maximum + 2)
        queue.end(100)
        let afterOther = begin(&queue)
        #expect(afterOther.isEmpty)
        queue.end(0)
        let afterOwn = begin(&queue)
        #expect(afterOwn == [maximum])
    }

    @Test func `all names get a turn, and not too many at a time`() {
        let names = (0..<300).flatMap { self.names(2, at: "d\($0).example") }
        var queue = QueryQueue(names)
        let first = begin(&queue)
        #expect(first.count == QueryQueue.maximumOpen)
        for index in first { queue.end(index) }
        let rest = begin(&queue)
        #expect(Set(first + rest) == Set(names.indices))
        var empty = QueryQueue([])
        let none = begin(&empty)
        #expect(none.isEmpty)
    }

    @Test func `a name without a turn holds mail unless its own domain is silent`() {
        let queue = QueryQueue(
            names(3, at: "silent.example") + names(3, at: "busy.example") + names(1, at: "example.com")
        )
        let outages = queue.outages(of: [0, 1, 2, 4, 5, 6], hadTurn: [0, 1, 3, 4], answered: [3])
        let late = outages.filter { $0.value == .timeLimit }.keys.sorted()
        let waiting = outages.filter { $0.value == .noTurn }.keys.sorted()
        #expect(late == [0, 1, 2, 4])
        #expect(waiting == [5, 6])
        #expect(DiscoveryOutage.noTurn.holdsMail && !DiscoveryOutage.timeLimit.holdsMail)
    }
}
