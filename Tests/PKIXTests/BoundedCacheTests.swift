import PKIX
import Testing

@Suite struct BoundedCacheTests {
    @Test func `a cached value is computed once, and the cache never exceeds two generations`() {
        let recent = BoundedCache<Int, Int>(capacity: 10)
        var made = 0
        func value(_ key: Int) -> Int {
            recent.value(for: key) {
                made += 1
                return -key
            }
        }
        for key in 0..<1000 { #expect(value(key) == -key && value(0) == 0) }
        #expect(made == 1000)
        #expect((0..<1000).count { recent[$0] != nil } <= 20)
    }
}
