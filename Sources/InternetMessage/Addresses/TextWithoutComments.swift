extension Sequence<Unicode.Scalar> {
    /// The scalars outside of comments in parentheses, which may be nested. A closing parenthesis without an opening one stays.
    ///
    /// RFC 5322 §3.2.2
    package var withoutComments: [Unicode.Scalar] {
        var depth = 0
        return filter { scalar in
            if scalar == "(" { depth += 1 }
            if scalar == ")", depth > 0 {
                depth -= 1
                return false
            }
            return depth == 0
        }
    }
}
