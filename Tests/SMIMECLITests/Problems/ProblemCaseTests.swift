import PKIX
import TestSupport
import Testing

/// Every problem code can be provoked, and has the level given in the table.
@Suite struct ProblemCaseTests {
    typealias Recipe = @Sendable () async throws -> [Problem]

    /// One way to provoke each problem. The test fails for a code without one.
    private static let recipes: [[ProblemCode: Recipe]] = [
        SignatureProblemCases.recipes, ChainProblemCases.recipes, MessageProblemCases.recipes,
        PKCS12ProblemCases.recipes,
        CommandProblemCases.recipes, OpeningProblemCases.recipes,
    ]

    @Test(arguments: ProblemCode.allCases)
    func `every problem code occurs in some report`(code: ProblemCode) async throws {
        let recipe = try #require(Self.recipes.compactMap { $0[code] }.first, "nothing provokes \(code)")
        let problems = try await recipe()
        let met = try #require(problems.first { $0.kind == code }, "\(problems.map(\.code))")
        #expect(met.level == code.level || met.level == .warning)
        #expect(!met.text.isEmpty && !met.text.hasSuffix("."))
    }
}
