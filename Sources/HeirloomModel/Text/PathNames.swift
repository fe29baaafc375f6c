extension StringProtocol {
  /// Splits a path at a separator, even where a combining mark after it makes one character of both.
  ///
  /// Names come from outside, and Swift compares characters: where a name that begins with an accent follows `a.`,
  /// it sees no `.`.
  ///
  /// - Parameters:
  ///   - separator: The separator.
  ///   - omittingEmptySubsequences: Whether empty names are left out.
  /// - Returns: The names.
  package func names(
    separatedBy separator: Unicode.Scalar, omittingEmptySubsequences: Bool = false
  ) -> [Substring] {
    String(self).unicodeScalars.split(
      separator: separator, omittingEmptySubsequences: omittingEmptySubsequences
    ).map(Substring.init)
  }
}
