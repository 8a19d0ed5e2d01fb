/// A number with its noun in the singular or plural: `1 identity`, `2 identities`.
package func counted(_ number: Int, _ noun: String, plural: String? = nil) -> String {
    "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
}
