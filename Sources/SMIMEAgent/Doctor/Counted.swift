/// A number and what there is of it, in one or in many: `1 identity`, `2 identities`.
package func counted(_ number: Int, _ noun: String, _ plural: String? = nil) -> String {
    "\(number) \(number == 1 ? noun : plural ?? noun + "s")"
}
